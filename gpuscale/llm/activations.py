"""Bytes that a layer keeps from the forward to the backward pass, and what else could be done with them.

The first formulas are for today's layers: attention that never writes its scores out, no dropout. Those of
Korthikanti et al. are for a GPT with dropout and scores in memory. Statistics of norms and of softmax, a few bytes a
token, are left out everywhere. With tensor parallelism of Y ranks, "sharded along the sequence" means that norms and
what lies between the products are cut along the sequence too.
"""

# fmt: off

from sympy import oo

from gpuscale.core.conditions import divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_KORTH = "korthikanti2022"
_TOKENS = n_seq * S

# What a part of the layer keeps of one token
kept_attention = Formula("Numbers that attention keeps", n_kept_attn, 2 * d_head * (n_q + n_kv),
    source="flashattention2",
    assumes="for queries, keys, values and the result; the scores are recomputed in the backward pass")
kept_latent_attention = Formula("Numbers that latent attention keeps", n_kept_attn,
    2 * (r_q + r_kv) + d_rope + 2 * n_q * (d_nope + d_rope + d_v), source="deepseek-v3, section 2.1.1",
    assumes="for the latent vectors before and after their norms, queries, keys, values and the result")
kept_mlp = Formula("Numbers that an MLP keeps", n_kept_mlp, n_mat * F, source=f"{_KORTH}, section 4.1",
    assumes="for what enters the activation function, the gate's factor if any, and what enters the last matrix")
kept_moe = Formula("Numbers that a layer of experts keeps", n_kept_mlp, (k + n_shared) * n_mat * F + 2 * k * D,
    source="deepseek-v3, section 3.2",
    assumes="for each expert of a token its copy of the token, what an MLP keeps, and its result; even load")

# A layer on one rank
layer_activations = Formula("Activations of a layer", V_act, b * _TOKENS * (4 * D + n_kept_attn + n_kept_mlp),
    source=f"{_KORTH}, section 4.1",
    assumes="for two norms that keep what enters and what leaves them, all in one precision, nothing recomputed")
layer_activations_tp = Formula("Activations of a layer, tensor parallel", V_act,
    b * _TOKENS * (4 * D + (n_kept_attn + n_kept_mlp) / Y), source=f"{_KORTH}, section 4.2.1",
    assumes="when heads and feed-forward width are cut in Y, the norms being repeated on all",
    approx=4 * b * _TOKENS * D, regime=((Y, oo),))
layer_activations_sp = Formula("Activations of a layer, sharded along the sequence as well", V_act,
    b * _TOKENS * (4 * D + n_kept_attn + n_kept_mlp) / Y, source=f"{_KORTH}, section 4.2.2",
    assumes="when the tensor parallel ranks also share out the tokens between the products")
llama_activations = layer_activations.where(kept_attention, kept_mlp,
    title="Activations of a layer with grouped heads and a gate")
checkpoint_activations = Formula("Activations with full recomputation", V_act, b * _TOKENS * D,
    source=f"{_KORTH}, section 4.1", assumes="when only what enters the layer is kept and all else is recomputed")
head_activations = Formula("Activations of the output head", V_head, _TOKENS * (2 * b * D + b_logit * n_vocab),
    source=f"{_KORTH}, section 4.3",
    assumes="for what enters the last norm, what leaves it, and the logits, on one rank")

# A layer of a GPT with dropout, scores kept
_SCORES = n_seq * n_q * S**2 * (2 * b + b_mask)
_WIDE, _FLAT = 4 * b * D + 2 * b * F, D * (4 * b + 2 * b_mask)
gpt_activations = Formula("Activations of a GPT layer", V_act,
    _TOKENS * (D * (8 * b + 2 * b_mask) + 2 * b * F) + _SCORES, source=f"{_KORTH}, equation 1",
    assumes="for dropout after softmax, attention and MLP, and scores that are kept")
gpt_activations_tp = Formula("Activations of a GPT layer, tensor parallel", V_act,
    _TOKENS * (_FLAT + _WIDE / Y) + _SCORES / Y, source=f"{_KORTH}, equation 2",
    assumes="when heads and feed-forward width are cut in Y", needs=(divisible(n_q, Y),))
gpt_activations_sp = Formula("Activations of a GPT layer, sharded along the sequence as well", V_act,
    (_TOKENS * (D * (8 * b + 2 * b_mask) + 2 * b * F) + _SCORES) / Y, source=f"{_KORTH}, equation 4",
    assumes="when norms and dropouts are cut along the sequence too", needs=(divisible(n_q, Y),))
gpt_activations_tp_selective = Formula("Activations of a GPT layer, tensor parallel, selective recomputation", V_act,
    _TOKENS * (_FLAT + _WIDE / Y), source=f"{_KORTH}, table 2",
    assumes="when scores, softmax and its dropout are recomputed")
gpt_activations_sp_selective = Formula("Activations of a GPT layer, sequence too, selective recomputation", V_act,
    _TOKENS * (D * (8 * b + 2 * b_mask) + 2 * b * F) / Y, source=f"{_KORTH}, equation 6",
    assumes="when norms and dropouts are cut along the sequence, scores and softmax recomputed")

# A stage
first_stage_activations = Formula("Activations of the first stage", V_stage, L * V_act,
    source=f"{_KORTH}, section 4.2.3",
    assumes="for one forward, one backward: as many microbatches in flight as stages, each on its part of the layers")
partly_recomputed_activations = Formula("Activations when some layers are recomputed", V_stage,
    b * _TOKENS * L * (D + g_keep * (3 * D + n_kept_attn + n_kept_mlp)) / Y, source=f"{_KORTH}, section 5",
    assumes="for one microbatch in flight, sharded along the sequence as well; a recomputed layer keeps what enters it")

# Instead of keeping them
layer_forward_time = Formula("Time of a layer's forward pass", T_math, _TOKENS * (2 * flop * P_layer + ops_attn) / C,
    source=f"{_KORTH}, section 4.2.3",
    assumes="at the peak: what full recomputation of the layer adds to the backward pass")
offload_time = Formula("Time to bring a layer's activations to the host", T_comms, V_act / W_host,
    source="rajbhandari2021", assumes="one way; they come back during the backward pass over the other direction")

declare(globals())
