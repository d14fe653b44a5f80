"""Memory of a training step: parameters, state and activations of the rank that needs the most."""

# fmt: off

from sympy import Max, Min, Piecewise

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.llm import activations, training_memory
from gpuscale.symbols import *

_LLAMA, _MEGATRON, _ZERO = "llama3, section 3.3.2", "megatron2021, section 3", "zero2019, section 7"
_KORTH, _MEMORY, _PLAYBOOK = "korthikanti2022, section 4", "deepseek-v3, section 3.2.3", "playbook"

_ENOUGH = (at_most(L_stage * P_exp, L * P_stage),)
stage_rank_params = training_memory.expert_params.where(N_stages=1, P=P_stage, P_exp=P_exp * L_stage / L,
    title="Parameters of a rank of the fullest stage", needs=_ENOUGH,
    assumes="when routed experts are spread whole over Z ranks, and all else is sharded over Y")
any_stage_params = Formula("Parameters of a stage", P_stage,
    L_stage / L * (P - n_emb * n_vocab * D) + n_end * n_vocab * D
    + L_stage * (n_key - n_kv) * 2 * d_head * (D + n_bias), source=_LLAMA,
    needs=(at_most(n_emb * n_vocab * D, P), at_most(n_kv, n_key)),
    assumes="for L_stage equal layers, copies of key heads included, and n_end embeddings and heads")
stage_params = any_stage_params.where(n_end=Piecewise((n_emb, N_stages < 2), (1, True)),
    title="Parameters of the fullest stage",
    assumes="for equal layers, copies of key heads included; with at least two stages, embedding and output "
    "head are in different ones")
_STATES = (
    training_memory.replicated_state.where(P=training_memory.expert_params.rhs),
    training_memory.expert_zero1_state, training_memory.expert_zero2_state, training_memory.zero3_state.where(P=P / Y))
_fullest = {P: P_stage, P_exp: P_exp * L_stage / L, N_stages: 1, X: X * n_cp}


def _cut(state: Formula):
    """The state of the fullest stage of a model whose replicas split the batch by sequences and by parts of them."""
    return state.rhs.subs(_fullest, simultaneous=True)


stage_state = Formula("Training state of a GPU", V_state,
    Piecewise(*((_cut(f), n_zero < i) for i, f in enumerate(_STATES[:3], 1)), (_cut(_STATES[3]), True)),
    source="zero2019, section 5", needs=_ENOUGH,
    assumes="for the fullest stage, sharded over Y ranks, routed experts over Z, and each part over its replicas by "
    "ZeRO stage")
dualpipe_state = stage_state.where(b_w=2 * b_w, b_grad=2 * b_grad, title="Training state of a rank of DualPipe",
    source="deepseek-v3, section 3.2.1",
    assumes="for two stages, one per direction, that another rank mirrors: the two share the optimizer")
few_attention = Formula("Activation elements of attention, its result recomputed", n_few_attn,
    d_head * (n_q + 2 * n_kv),
    source=_KORTH, assumes="for queries, keys and values; the result is recomputed from them")
few_latent_attention = Formula("Activation elements of latent attention, cheap parts recomputed", n_few_attn,
    r_q + r_kv + d_rope, source=_MEMORY,
    assumes="for the latent vectors; norms, queries, keys, values and the result are recomputed")
latent_up_params = Formula("Parameters that latent attention recomputes", P_up,
    n_q * (Piecewise((D, r_q < 1), (r_q, True)) * (d_nope + d_rope) + r_kv * (d_nope + d_v)), source=_MEMORY,
    assumes="for the matrices that expand the latent vectors to queries, keys and values; those of queries take the "
    "model's vector if they have no latent one")
few_mlp = Formula("Activation elements of an MLP, the activation function recomputed", n_few_mlp, (n_mat - 1) * F,
    source=_MEMORY, assumes="for the input of the activation function, and the gate's factor if any")
few_moe = Formula("Activation elements of experts, the activation function recomputed", n_few_mlp,
    (k + n_shared) * (n_mat - 1) * F + k * D, source=_MEMORY,
    assumes="for a copy of the token and the input of the activation function, for each of its experts; the router's "
    "weight is applied before the last matrix")


def _mean(title: str, dense: Formula, routed: Formula) -> Formula:
    """An average over the first L_dense layers and those with experts."""
    return Formula(
        title, dense.lhs, (L_dense * dense.rhs.subs(F, F_dense) + (L - L_dense) * routed.rhs) / L, source=dense.source,
        assumes="for L_dense layers without experts and experts in all others", needs=(at_most(L_dense, L),))


mean_kept_mlp = _mean("Activation elements of the MLP of an average layer", activations.kept_mlp, activations.kept_moe)
mean_few_mlp = _mean("The same, the activation function recomputed", few_mlp, few_moe)
_flat = Piecewise((1, n_sp < 1), (Y, True))  # ranks that share the work outside the blocks
framework_elements = Formula("Activation elements that a framework stores on top", n_extra,
    n_copy * D + n_wide * (L_dense * F_dense + (L - L_dense) * (k + n_shared) * F) / L, source=_PLAYBOOK,
    assumes="for copies of heads before attention, and results of an activation function that is not fused",
    needs=(at_most(L_dense, L),))


def _whole(title: str, lhs, scores: bool) -> Formula:
    """Activations of a layer of which nothing is recomputed: with attention's scores, if they are in memory, or without
    them."""
    a = activations
    gpt = ((a.gpt_activations_tp, a.gpt_activations_sp) if scores
           else (a.gpt_activations_tp_selective, a.gpt_activations_sp_selective))
    kept = [f.rhs.subs(n_seq, n_seq / n_cp) for f in (a.layer_activations_tp, a.layer_activations_sp, *gpt)]
    by_tokens = [Piecewise((tp, n_sp < 1), (sp, True)) for tp, sp in (kept[:2], kept[2:])]
    return Formula(
        title, lhs, Piecewise((by_tokens[0], n_drop < 1), (by_tokens[1], True)) + b * n_seq * S / n_cp * n_extra / Y,
        source=_KORTH,
        assumes="for fused attention, or a GPT with dropout that stores " + (
            "its scores" if scores else "none of its scores"))


whole_layer = _whole("Activations of a layer, nothing recomputed", V_whole, True)
coreless_layer = _whole("Activations of a layer, the core of attention recomputed", V_coreless, False)
layer_kept = Formula("Activations of a layer, by what is recomputed", V_act,
    Piecewise(
        (V_whole, n_recompute < 1),
        (n_seq * S / n_cp * ((2 * b + 2 * n_drop * b_mask) * D / _flat + b_kept * (n_few_attn + n_few_mlp) / Y),
         n_recompute < 2),
        (activations.checkpoint_activations.rhs.subs(S, S / n_cp) / _flat, n_recompute < 3),
        (V_coreless, True)), source=_KORTH,
    assumes="for nothing recomputed; for norms, activation functions and the result of attention; for whole layers; "
    "for scores, softmax and weighted sum, as Megatron-LM's selective recomputation does")
flying_layers = Formula("Layers whose activations the first rank stores", L_held, n_held * L_stage / n_virt,
    source=_MEGATRON,
    assumes="for n_held microbatches in flight, each in one of the n_virt virtual stages of L_stage layers")
flying_activations = Formula("Activations of the microbatches in flight", V_stage, L_held * V_act, source=_MEGATRON,
    assumes="for a rank that stores those of L_held layers, each of one microbatch")
stage_activations = Formula("Activations of a stage", V_stage, L_held * V_act + n_last * V_head / Y, source=_KORTH,
    assumes="for those of L_held layers, each of one microbatch, and of the head in the last stage")
last_stage_activations = Formula("Activations of the last stage", V_last, L_stage * V_act + V_head / Y, source=_KORTH,
    assumes="for one microbatch in flight and the head, sharded over Y ranks by token or by vocabulary")
_OFFLOADED = "when the activations of all but L_keep layers are offloaded"
kept_activations = flying_activations.where(L_held=Min(L_held, L_keep), source="rajbhandari2021",
    title="Activations in flight that stay on the GPU", assumes=_OFFLOADED)
kept_last_activations = last_stage_activations.where(L_stage=Min(L_stage, L_keep), source="rajbhandari2021",
    title="Activations of the last stage that stay on the GPU", assumes=_OFFLOADED + ", but not those of the head")
working_memory = Formula("Working buffers of a GPU", V_work,
    P_rank / L_stage * Piecewise((0, n_zero < 2), (b_grad, n_zero < 3), (2 * b_w + b_grad, True))
    + Piecewise((0, n_recompute < 1), (V_whole, n_recompute < 3), (V_whole - V_coreless, True)), source=_ZERO,
    needs=(at_most(V_coreless, V_whole),),
    assumes="for the gradients of a layer (ZeRO-2 and 3), two gathered layers (ZeRO-3), what is recomputed at a time")
unfreed_arrays = Formula("Gathered arrays that are not freed yet", V_ahead,
    n_ahead * b * B_mb * D * n_sp * (1 - 1 / Y)
    * Piecewise((1, N_stages < 2), (0, N_stages < 3), (p_calm ** M, True)), source=_PLAYBOOK,
    assumes="for a host that launches further collectives before the GPU has finished earlier ones, whose arrays stay "
    "until then; in a pipeline, two stages keep the host from getting ahead, as does one that stalls",
    means={M: "nodes of the run"})
framework_memory = Formula("Memory that a framework takes on top", V_extra,
    b_bucket * P_rank * Min(X * n_cp - 1, 1) + V_ahead + V_fix, source=_PLAYBOOK,
    assumes="for buckets of all gradients, where there are replicas to add them up with, gathered arrays that are not "
    "freed yet, and what depends on nothing")
gpu_memory = Formula("Memory that a GPU needs", V_gpu, V_state + Max(V_stage, V_last) + V_work + V_extra,
    source=_LLAMA,
    assumes="for the stage that needs the most: the first has the most microbatches in flight, the last has the head")
host_memory = Formula("Bytes that a GPU offloads to its host", V_host, V_state + V_stage, source="rajbhandari2021",
    assumes="for training state and activations, each zero if it stays on the GPU")

declare(globals())
