"""Data parallelism: what the replicas of a model exchange, and how many tokens hide it behind the arithmetic.

Each of X ranks has the whole model (or gathers it, ZeRO-3) and an X-th of the batch of B tokens. A layer is an MLP
of n_mat matrices of D x F; the thresholds hold for any matrix, because its size cancels. B_min is in tokens per GPU.
"""

# fmt: off

from sympy import oo

from gpuscale.collectives import hierarchy
from gpuscale.collectives.algorithms import all_gather_bytes, all_reduce_bytes, ring_all_gather, ring_all_reduce
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, data parallelism"
_MOE = "scaling-book-gpus, data parallelism, mixture of experts"
_FEW = "scaling-book-gpus, data parallelism, few nodes"
_ZERO = "zero2019, section 7"
_RING = "for a reduce-scatter and an all-gather at the full bandwidth, latency left out"
_HIDES = "when the gradients of one layer travel while the backward pass of another computes"

# Who computes what
dp_tokens = Formula("Tokens of a data-parallel rank", B_gpu, B / X, source=_BOOK,
    assumes="when every rank has the same number of tokens")
dp_forward_math = Formula("Forward pass of an MLP layer, data parallel", T_math, 2 * n_mat * flop * B * D * F / (X * C),
    source=_BOOK, assumes="at the peak rate, matrix multiplications alone")
dp_math = Formula("Backward pass of an MLP layer, data parallel", T_math, 4 * n_mat * flop * B * D * F / (X * C),
    source=_BOOK,
    assumes="at the peak rate: two matmuls per matrix, one for its own gradient and one for its input's")
moe_dp_math = Formula("Backward pass of a layer of experts, data parallel", T_math,
    4 * n_mat * k * flop * B * D * F / (X * C), source=_MOE,
    assumes="at the peak rate, when k experts of width F work on each token and the load is even")


# Bytes that a rank sends per step for P parameters
def _traffic(title: str, size, source: str, assumes: str, moved=all_gather_bytes) -> Formula:
    """Bytes of a collective over X ranks of a buffer of that many bytes."""
    limit = moved.approx.subs(V, size)
    return moved.where(N=X, V=size, title=title, source=source, assumes=assumes, approx=limit, regime=((X, oo),))


dp_traffic = _traffic("Bytes a data-parallel rank sends per step", b_grad * P, _ZERO,
    "for one all-reduce of the gradients of P parameters", all_reduce_bytes)
zero2_traffic = _traffic("Bytes a rank sends per step under ZeRO-1 and ZeRO-2", (b_grad + b_w) * P, _ZERO,
    "for a reduce-scatter of the gradients and an all-gather of the new weights")
zero3_traffic = _traffic("Bytes a rank sends per step under ZeRO-3", (2 * b_w + b_grad) * P, _ZERO,
    "when weights are gathered for the forward and again for the backward pass, gradients scattered, one microbatch")


# Time of that for one layer
def _layer_time(title: str, ring: Formula, size, source: str, assumes: str) -> Formula:
    limit = ring.approx.subs(V, size)
    return ring.where(
        alpha=0, N=X, V=size, title=title, source=source, assumes=assumes, approx=limit, regime=((X, oo),))


_MLP = n_mat * D * F
dp_comms = _layer_time("Gradient all-reduce of an MLP layer", ring_all_reduce, b_grad * _MLP, _BOOK, _RING)
moe_dp_comms = _layer_time("Gradient all-reduce of a layer of experts", ring_all_reduce, b_grad * E * _MLP, _MOE,
    "when every rank holds all E experts: " + _RING.removeprefix("for "))
zero3_forward_comms = _layer_time("Weights gathered for the forward pass of an MLP layer", ring_all_gather, b_w * _MLP,
    _ZERO, "under ZeRO-3, for an all-gather at the full bandwidth, latency left out")
zero3_backward_comms = _layer_time("Weights gathered, gradients scattered, backward pass of an MLP layer",
    ring_all_gather, (b_w + b_grad) * _MLP, _ZERO,
    "under ZeRO-3, for an all-gather, then a reduce-scatter, latency left out")

# Where the two times are equal, in tokens per GPU
_RATE = b_grad * C / (2 * flop)
dp_threshold = Formula("Tokens per GPU that hide a gradient all-reduce", B_min, _RATE * (X - 1) / (X * W), source=_BOOK,
    assumes=_HIDES, approx=_RATE / W, regime=((X, oo),))
switch_dp_threshold = Formula("Tokens per GPU that hide an in-network all-reduce", B_min, _RATE / (2 * W),
    source="graham2016", assumes="for two ranks or more; " + _HIDES)
moe_dp_threshold = Formula("Tokens per GPU that hide the gradients of experts", B_min,
    E / k * _RATE * (X - 1) / (X * W), source=_MOE,
    assumes="for k of E experts working on a token, all E on every rank; " + _HIDES, approx=E / k * _RATE / W,
    regime=((X, oo),))
zero3_forward_threshold = Formula("Tokens per GPU that hide ZeRO-3's forward pass", B_min,
    b_w * C * (X - 1) / (2 * flop * X * W), source=_ZERO,
    assumes="when the weights of the next layer are gathered while this one computes, one microbatch a step",
    approx=b_w * C / (2 * flop * W), regime=((X, oo),))
zero3_backward_threshold = Formula("Tokens per GPU that hide ZeRO-3's backward pass", B_min,
    (b_w + b_grad) * C * (X - 1) / (4 * flop * X * W), source=_ZERO,
    assumes="when the weights of the next layer are gathered and the gradients of the previous one scattered meanwhile",
    approx=(b_w + b_grad) * C / (4 * flop * W), regime=((X, oo),))

# Several levels: a collective takes V over the bandwidth that it sees, whichever link is the bottleneck
seen_dp_threshold = Formula("Tokens per GPU from the bandwidth that a collective sees", B_min, _RATE / W_coll,
    source=_FEW, assumes="for a reduce-scatter and an all-gather that each take V/W_coll; " + _HIDES)


def threshold_over(gather: Formula, title: str) -> Formula:
    """The threshold where each all-gather and reduce-scatter of V bytes takes what ``gather`` says."""
    return seen_dp_threshold.where(W_coll=V / gather.rhs, title=title, assumes=gather.assumes, needs=gather.needs)


two_level_dp_threshold = threshold_over(hierarchy.two_level_links, "Tokens per GPU over nodes, NICs at the GPUs")
two_level_dp_transit_threshold = threshold_over(hierarchy.two_level_transit,
    "Tokens per GPU over nodes, network traffic through NVLink")
sharded_dp_threshold = threshold_over(hierarchy.two_level_sharded,
    "Tokens per GPU over nodes, each replica on several GPUs")

# The whole run
dp_batch = Formula("Smallest batch of a run", B, N_gpu * B_min, source=_BOOK,
    assumes="when every GPU needs B_min tokens")
dp_gpus = Formula("Most GPUs that a batch keeps busy", N_gpu, B / B_min, source=_BOOK,
    assumes="when every GPU needs B_min tokens")

declare(globals())
