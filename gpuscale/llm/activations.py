"""Bytes that a layer stores from the forward to the backward pass, and the alternatives: recompute or offload them.

The first formulas are for today's layers: attention that never writes its scores to memory, no dropout. Those of
Korthikanti et al. are for a GPT with dropout and scores in memory. Statistics of norms and of softmax, a few bytes per
token, are left out everywhere. With tensor parallelism of Y ranks, "sharded along the sequence" means that norms and
other work between the matmuls are sharded along the sequence too.
"""

# fmt: off

from sympy import oo

from gpuscale.core.conditions import divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_KORTH = "korthikanti2022"
_TOKENS = n_seq * S

# Elements that a part of the layer stores per token
kept_attention = Formula("Activation elements of attention", n_kept_attn, 2 * d_head * (n_q + n_kv),
    source="flashattention2",
    assumes="for queries, keys, values and the result; the scores are recomputed in the backward pass")
kept_latent_attention = Formula("Activation elements of latent attention", n_kept_attn,
    2 * (r_q + r_kv) + d_rope + 2 * n_q * (d_nope + d_rope + d_v), source="deepseek-v3, section 2.1.1",
    assumes="for the latent vectors before and after their norms, queries, keys, values and the result")
kept_mlp = Formula("Activation elements of an MLP", n_kept_mlp, n_mat * F, source=f"{_KORTH}, section 4.1",
    assumes="for the input of the activation function, the gate's factor if any, and the input of the last matrix")
kept_moe = Formula("Activation elements of a layer of experts", n_kept_mlp, (k + n_shared) * n_mat * F + 2 * k * D,
    source="deepseek-v3, section 3.2",
    assumes="for a copy of the token, the elements of an MLP and the result, for each expert of a token; even load")

# A layer on one rank
layer_activations = Formula("Activations of a layer", V_act, b * _TOKENS * (4 * D + n_kept_attn + n_kept_mlp),
    source=f"{_KORTH}, section 4.1",
    assumes="for two norms that store their input and output, all in one precision, nothing recomputed")
layer_activations_tp = Formula("Activations of a layer, tensor parallel", V_act,
    b * _TOKENS * (4 * D + (n_kept_attn + n_kept_mlp) / Y), source=f"{_KORTH}, section 4.2.1",
    assumes="when heads and feed-forward width are sharded over Y ranks, and the norms are replicated",
    approx=4 * b * _TOKENS * D, regime=((Y, oo),))
layer_activations_sp = Formula("Activations of a layer, sharded along the sequence as well", V_act,
    b * _TOKENS * (4 * D + n_kept_attn + n_kept_mlp) / Y, source=f"{_KORTH}, section 4.2.2",
    assumes="when the tensor-parallel ranks also shard the tokens between the matmuls")
llama_activations = layer_activations.where(kept_attention, kept_mlp,
    title="Activations of a layer with grouped heads and a gate")
checkpoint_activations = Formula("Activations with full recomputation", V_act, b * _TOKENS * D,
    source=f"{_KORTH}, section 4.1", assumes="when only the layer's input is stored and everything else is recomputed")
head_activations = Formula("Activations of the output head", V_head, _TOKENS * (2 * b * D + b_logit * n_vocab),
    source=f"{_KORTH}, section 4.3",
    assumes="for the input and output of the last norm, and the logits, on one rank")

# A layer of a GPT with dropout, scores stored
_SCORES = n_seq * n_q * S**2 * (2 * b + b_mask)
_WIDE, _FLAT = 4 * b * D + 2 * b * F, D * (4 * b + 2 * b_mask)
gpt_activations = Formula("Activations of a GPT layer", V_act,
    _TOKENS * (D * (8 * b + 2 * b_mask) + 2 * b * F) + _SCORES, source=f"{_KORTH}, equation 1",
    assumes="for dropout after softmax, attention and MLP, and scores that are stored")
gpt_activations_tp = Formula("Activations of a GPT layer, tensor parallel", V_act,
    _TOKENS * (_FLAT + _WIDE / Y) + _SCORES / Y, source=f"{_KORTH}, equation 2",
    assumes="when heads and feed-forward width are sharded over Y ranks", needs=(divisible(n_q, Y),))
gpt_activations_sp = Formula("Activations of a GPT layer, sharded along the sequence as well", V_act,
    (_TOKENS * (D * (8 * b + 2 * b_mask) + 2 * b * F) + _SCORES) / Y, source=f"{_KORTH}, equation 4",
    assumes="when norms and dropouts are sharded along the sequence too", needs=(divisible(n_q, Y),))
gpt_activations_tp_selective = Formula("Activations of a GPT layer, tensor parallel, selective recomputation", V_act,
    _TOKENS * (_FLAT + _WIDE / Y), source=f"{_KORTH}, table 2",
    assumes="when scores, softmax and its dropout are recomputed")
gpt_activations_sp_selective = Formula("Activations of a GPT layer, sequence too, selective recomputation", V_act,
    _TOKENS * (D * (8 * b + 2 * b_mask) + 2 * b * F) / Y, source=f"{_KORTH}, equation 6",
    assumes="when norms and dropouts are sharded along the sequence, scores and softmax recomputed")

# A stage
first_stage_activations = Formula("Activations of the first stage", V_stage, L * V_act,
    source=f"{_KORTH}, section 4.2.3",
    assumes="for 1F1B: as many microbatches in flight as stages, each in its own stage")
partly_recomputed_activations = Formula("Activations when some layers are recomputed", V_stage,
    b * _TOKENS * L * (D + g_keep * (3 * D + n_kept_attn + n_kept_mlp)) / Y, source=f"{_KORTH}, section 5",
    assumes="for one microbatch in flight, sharded along the sequence as well; a recomputed layer stores its input")

# Instead of storing them
layer_forward_time = Formula("Time of a layer's forward pass", T_math, _TOKENS * (2 * flop * P_layer + ops_attn) / C,
    source=f"{_KORTH}, section 4.2.3",
    assumes="at the peak rate; full recomputation adds this time to the backward pass")
offload_time = Formula("Time to offload a layer's activations to the host", T_comms, V_act / W_host,
    source="rajbhandari2021", assumes="in one direction; they return during the backward pass in the other")

declare(globals())
