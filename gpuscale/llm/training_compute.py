"""FLOPs of training, the utilization that they reach, and the time of a run.

``ops`` are the FLOPs that the model needs; ``ops_run`` are those that the GPUs do, recomputation included.

What recomputation repeats depends on what is stored and on who decides. The gradients of a matmul A B are G B' and A'
G, where G is the gradient of its result: they read its inputs, not the result. So no gradient reads the result of a
layer's last matmul, which is only added to the layer's input. Neither does one read the weighted sum of attention, if
its result is stored for the matmul that follows. The result of an expert is multiplied by a gate, whose gradient reads
it. A framework that repeats a whole block repeats all of its matmuls. One that stops as soon as it has what the
gradients read does not, nor does a compiler that removes what nobody reads.
"""

# fmt: off

from sympy import oo

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_EARLY = "pytorch-checkpoint"
_PALM, _KORTH = "palm2022, appendix B", "korthikanti2022, section 4.2.3"

training_flops = Formula("FLOPs of training, parameters alone", ops, 6 * flop * P_act * B,
    source="kaplan2020, section 2.1",
    assumes="for 2 FLOPs forward and 4 backward per token per active parameter, attention left out")
counted_flops = Formula("FLOPs of training, as reports count them", ops, 3 * B * ops_tok, source=_PALM,
    assumes="for B tokens, a backward pass of twice the FLOPs of the forward pass, nothing recomputed")
model_flops = Formula("FLOPs that the model needs", ops, 3 * B * (2 * flop * P_act + L * ops_attn), source=_PALM,
    assumes="for B tokens, a backward pass of twice the FLOPs of the forward pass, nothing recomputed",
    approx=training_flops.rhs, regime=((P_act, oo),))
repeated_flops = Formula("FLOPs of full recomputation", ops_recompute, L * (2 * flop * P_layer + ops_attn),
    source=_KORTH, assumes="when the backward pass recomputes every layer, but not the output head",
    approx=2 * flop * L * P_layer, regime=((P_layer, oo),))
selective_repeated_flops = Formula("FLOPs of selective recomputation", ops_recompute, L * ops_attn, source=_KORTH,
    assumes="when only scores, softmax and weighted sum are recomputed")
early_repeated_flops = Formula("FLOPs of full recomputation that stops early", ops_recompute,
    L * (2 * flop * (P_layer - P_last) + ops_attn), source=_EARLY,
    assumes="when a layer is recomputed up to what its gradients read, without the last matmuls, of P_last parameters",
    approx=2 * flop * L * (P_layer - P_last), regime=((P_layer, oo),), needs=(at_most(P_last, P_layer),))
scores_repeated_flops = Formula("FLOPs of selective recomputation that stops early", ops_recompute,
    2 * flop * L * S * n_q * d_head, source="flashattention2",
    assumes="when only scores and softmax are recomputed, and the result of attention is stored")
hardware_flops = Formula("FLOPs that the GPUs do", ops_run,
    3 * B * (2 * flop * P_act + L * ops_attn) + B * ops_recompute, source=_KORTH,
    assumes="for B tokens, recomputation included")
recompute_flops = Formula("FLOPs with full recomputation, parameters alone", ops_run, 8 * flop * P_act * B,
    source="megatron2021, appendix", assumes="for one more forward pass through every matrix, attention left out")
megatron_flops = Formula("FLOPs of a GPT with full recomputation", ops_run,
    96 * flop * B * L * D**2 * (1 + S / (6 * D) + n_vocab / (16 * L * D)),
    source="megatron2021, section 5.1, equation 3",
    assumes="for as many key heads as queries, an MLP of width 4 D in two matrices, attention over all S tokens",
    approx=96 * flop * B * L * D**2, regime=((D, oo),))

mfu = Formula("Model FLOPs utilization", MFU, ops / (N_gpu * C * T_step), source=_PALM,
    assumes="for the FLOPs that the model needs and the dense peak of the precision in use")
hfu = Formula("Hardware FLOPs utilization", HFU, ops_run / (N_gpu * C * T_step), source=_PALM,
    assumes="for all FLOPs done, recomputation included")
mfu_from_hfu = Formula("Model FLOPs utilization from hardware utilization", MFU, HFU * ops / ops_run, source=_PALM,
    assumes="for one run and one peak")
mfu_step_time = Formula("Time of a step at a given utilization", T_step, ops / (N_gpu * C * MFU),
    source="llama3, table 4", assumes="when the utilization is known from this run or a similar one")
run_time = Formula("Time of a run", T_run, T_step * B_run / B, source="megatron2021, section 5.1",
    assumes="for steps of equal length")
gpu_time = Formula("GPU-hours of a run", T_gpu, N_gpu * T_run, source="megatron2021, section 5.1",
    assumes="for GPUs that all belong to the run from its start to its end, idle or not")
flops_gpu_time = Formula("GPU-hours of a run from its FLOPs", T_gpu, ops / (C * MFU),
    source="megatron2021, section 5.1",
    assumes="for the FLOPs of the whole run; the number of GPUs cancels where the utilization does not depend on it")
run_cost = Formula("Cost of a run", cost, p_gpu * T_gpu / 3600, source="deepseek-v3, table 1",
    assumes="for a price per GPU-hour; T_gpu counts seconds, of which an hour has 3600; other money than dollars "
    "works alike")

declare(globals())
