"""Overlap: which communication hides behind which arithmetic, and how much stays exposed.

A ratio is the time of a communication over the time of the arithmetic it overlaps with; up to 1 it hides. Both come
from the modules of the parallelisms, bytes over bandwidth and FLOPs over the peak, so every ratio is a plain number.
"""

# fmt: off

from sympy import Expr, Max, ceiling, factor, oo, sqrt

from gpuscale.collectives.algorithms import ring_all_reduce
from gpuscale.core.conditions import at_most, below
from gpuscale.core.formula import Formula, declare
from gpuscale.llm import data_parallel, expert_parallel, pipeline, tensor_parallel
from gpuscale.llm.activations import layer_forward_time
from gpuscale.symbols import *

_MATHS = "playbook, appendix A3"
_DDP = "pytorch-ddp, section 3.2"
_PEAK = "at the peak and the full bandwidth, latency left out"

# Communication and arithmetic at the same time
comm_ratio = Formula("Communication over arithmetic", r_comm, T_comms / T_math, source=_MATHS,
    assumes="when both run at the same time; communication is hidden up to a ratio of 1")
serial_time = Formula("Arithmetic, then communication", T, T_math + T_comms, source=_MATHS,
    assumes="when nothing overlaps")
overlapped_time = Formula("Overlapped arithmetic and communication", T, Max(T_math, T_comms), source=_MATHS,
    assumes="when both overlap fully and neither slows the other down")
exposed_time = Formula("Exposed communication", T_exp, Max(T_comms - T_math, 0), source=_MATHS,
    assumes=overlapped_time.assumes)
exposed_fraction = Formula("Exposed fraction of a communication", f_exp, Max(0, 1 - 1 / r_comm), source=_MATHS,
    assumes=overlapped_time.assumes)
overlap_gain = Formula("Speedup by full overlap", g_hide, (1 + r_comm) / Max(1, r_comm), source=_MATHS,
    assumes="at most two, where both take equally long")


# The ratio of each parallelism, from its own two times
def _ratio(title: str, comms: Formula, math: Formula, assumes: str, approx: Expr | None = None, over=None, **units):
    """The ratio of a communication to an arithmetic, factored; ``units`` as in ``Formula.where``."""
    made = comm_ratio.where(comms, math).where(**units)
    limit = {} if approx is None else {"approx": approx, "regime": ((over, oo),)}
    return Formula(title, r_comm, factor(made.rhs), source=_MATHS, assumes=assumes, needs=comms.needs, **limit)


_TOKENS = {"B": X * B_gpu}
_PASS = C / (2 * flop * B_gpu * W)  # seconds of a byte over seconds of a forward pass, per parameter
dp_ratio = _ratio("Overlap ratio of data parallelism", data_parallel.dp_comms, data_parallel.dp_math,
    "for the gradients of one layer during the backward pass of another, " + _PEAK, b_grad * _PASS, X, **_TOKENS)
dp_node_ratio = Formula("Overlap ratio of data parallelism over nodes", r_comm,
    data_parallel.two_level_dp_threshold.rhs / B_gpu, source="scaling-book-gpus, data parallelism, few nodes",
    assumes="for gradients during the backward pass; " + data_parallel.two_level_dp_threshold.assumes,
    needs=data_parallel.two_level_dp_threshold.needs)
zero3_forward_ratio = _ratio("Overlap ratio of ZeRO-3, forward", data_parallel.zero3_forward_comms,
    data_parallel.dp_forward_math, "for the weights of the next layer during the forward pass of this one, " + _PEAK,
    b_w * _PASS, X, **_TOKENS)
zero3_backward_ratio = _ratio("Overlap ratio of ZeRO-3, backward", data_parallel.zero3_backward_comms,
    data_parallel.dp_math,
    "for the next layer's weights and the previous one's gradients during the backward pass of this one, " + _PEAK,
    (b_w + b_grad) / 2 * _PASS, X, **_TOKENS)
tp_ratio = _ratio("Overlap ratio of tensor parallelism", tensor_parallel.tp_comms, tensor_parallel.tp_math,
    "for an MLP in the forward pass, chunked so that the gather of one chunk overlaps with the matmul of another",
    b * C * Y / (n_mat * flop * F * W), Y)
tp_backward_ratio = _ratio("Overlap ratio of tensor parallelism, backward", tensor_parallel.tp_backward_comms,
    tensor_parallel.tp_math.where(B=2 * tensor_parallel.B),
    "for three collectives during the backward pass, which has twice the FLOPs of the forward pass",
    3 * b * C * Y / (4 * n_mat * flop * F * W), Y)
dp_exposed_fraction = exposed_fraction.where(dp_ratio, title="Exposed fraction of the gradients")
tp_exposed_fraction = exposed_fraction.where(tp_ratio, title="Exposed fraction of tensor parallelism")
tp_node_ratio = comm_ratio.where(tensor_parallel.tp_node_comms, tensor_parallel.tp_math,
    title="Overlap ratio of tensor parallelism over nodes", assumes=tensor_parallel.tp_node_comms.assumes)
stage_math = layer_forward_time.where(ops_attn=0, P_layer=L_stage * P_layer,
    title="Forward pass of a stage by its matrices",
    assumes="for L_stage layers at the peak rate, attention scores and weighted sum left out")
pp_hop = pipeline.hop_time.where(pipeline.hop_bytes.where(N_MB=1, B=n_seq * S), lhs=T_comms,
    title="Stage transfer of a microbatch", assumes="for n_seq sequences of S tokens, at the link's full bandwidth")
pp_ratio = _ratio("Overlap ratio of a pipeline", pp_hop, stage_math,
    "for a stage transfer during the forward pass of one microbatch in a stage; in the backward pass half of that")
pp_layers = Formula("Layers of a stage that hide a stage transfer", L_hide, pp_ratio.rhs * L_stage, source=_MATHS,
    assumes="in the forward pass, for equal layers")
ep_ratio = _ratio("Overlap ratio of expert parallelism", expert_parallel.ep_comms, expert_parallel.ep_math,
    "for dispatch and combine during the experts' work on other tokens, forward, behind one switch")
ep_node_ratio = _ratio("Overlap ratio of expert parallelism over nodes", expert_parallel.ep_node_comms,
    expert_parallel.ep_math.where(Z=M * expert_parallel.G),
    "for dispatch and combine across nodes of G ranks, f_hit counting nodes")

# Communication on the critical path: cut into chunks, the link moves one while the next one is multiplied
chunked_time = Formula("Compute and communication in chunks", T, T_math + T_comms / n_chunk,
    source="playbook, tensor parallelism",
    assumes="when compute takes at least as long as communication and all chunks are equal; half of the communication "
    "comes before a chunk's compute, half after it", needs=(at_most(T_comms, T_math),))

# Gradients in buckets: a bucket leaves as soon as its part of the backward pass is done
bucket_count = Formula("Number of gradient buckets", n_bucket, ceiling(V / V_bucket), source=_DDP,
    assumes="for buckets of at most V_bucket")
bucket_time = ring_all_reduce.where(N=X, V=V / n_bucket, lhs=T_bucket, title="All-reduce of a bucket", source=_DDP,
    assumes="for gradients of V bytes in equal buckets, each reduced in a ring with a latency of alpha per step",
    approx=2 * (X - 1) * alpha, regime=((n_bucket, oo),), optional=(),
    means={V: "size of all gradients together", X: "GPUs in the ring", W: "bandwidth of the ring, one direction"})
_EVEN = "for equal buckets that the backward pass finishes one by one, and one all-reduce at a time"
bucketed_exposed = Formula("Exposed communication with buckets", T_exp,
    Max(T_bucket, n_bucket * T_bucket - T_math * (1 - 1 / n_bucket)), source=_DDP, assumes=_EVEN)
ring_bucketed_exposed = bucketed_exposed.where(bucket_time, title="Exposed communication with buckets and rings",
    assumes=_EVEN + ", a ring with a latency of alpha per step")
best_buckets = Formula("Best number of buckets", n_best,
    Max(1, sqrt(T_math / (n_steps * alpha)), (T_math - T_comms) / (n_steps * alpha)), source=_DDP,
    assumes="for an all-reduce of n steps with a latency of alpha each; T_comms is the time of all bytes without it; "
    "up to "
    "rounding", needs=(below(0, n_steps * alpha),))
best_bucket = Formula("Best bucket size", V_bucket, V / n_best, source=_DDP, assumes="for equal buckets")

# Communication kernels that occupy SMs
sm_slowdown = Formula("Slowdown by communication kernels", g_slow, n_sm / (n_sm - n_comm),
    source="deepseek-v3, section 3.2.2", assumes="when arithmetic spreads evenly over the remaining SMs",
    needs=(below(n_comm, n_sm),))
wave_slowdown = Formula("Slowdown by communication kernels, in waves", g_slow,
    ceiling(n_tiles / (n_sm - n_comm)) / ceiling(n_tiles / n_sm), source="nvidia-forum-overlap",
    assumes="when an SM works on one tile at a time, and all tiles take equally long", needs=(below(n_comm, n_sm),))
slowed_time = Formula("Arithmetic slowed by communication", T,
    Max(T_comms, T_math + T_comms * (1 - 1 / g_slow)), source=_MATHS,
    assumes="when arithmetic is slower while communication runs, and communication is not slowed")

declare(globals())
