"""Pipeline parallelism: transfers between stages, bubbles and stored activations of each schedule, and other costs.

t_F, t_B and t_W are times of one microbatch on one rank, which holds 1/N_stages of the layers, however many
virtual stages they are in; t_B is the whole backward pass. ``schedules/pipelines`` plays the same schedules slot
by slot.
"""

# fmt: off

from sympy import Eq, Max, Min, Mod, Piecewise, ceiling, oo

from gpuscale.core.conditions import Condition, at_least, at_most, divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, pipeline parallelism"
_MEGATRON, _ZERO_BUBBLE = "megatron2021, section 2.2", "zero-bubble2023, section 2"
_DUAL, _V = "deepseek-v3, section 3.2.1", "dualpipe, schedules"
_TWO = (at_least(N_stages, 2),)
_PART = (at_most(t_W, t_B),)
_IN = t_B - t_W  # the backward pass without the gradients of the weights

# Transfers between stages
forward_hops = Formula("Transfers of the forward pass", n_hops, N_MB + N_stages - 2, source=_BOOK, needs=_TWO,
    assumes="with one microbatch on each link at a time, counting only transfers; the backward pass has as many")
hop_bytes = Formula("Bytes of one stage transfer", V_hop, b * B * D / N_MB, source=_BOOK,
    assumes="for a batch of B tokens on one replica of the model, one rank per stage")
sharded_hop_bytes = Formula("Bytes of one stage transfer of a rank", V_hop, b * B * D / (X * Y * N_MB),
    source=_MEGATRON, assumes="when X replicas share the batch and each of the Y ranks of a stage sends its own slice")
hop_time = Formula("Time of one stage transfer", T_hop, V_hop / W, source=_BOOK, assumes="at the link's full bandwidth")
forward_transfers = Formula("Transfers of the forward pass, one after another", T_comms,
    b * B * D * (N_MB + N_stages - 2) / (N_MB * W), source=_BOOK, assumes="when nothing hides them",
    approx=b * B * D / W, regime=((N_MB, oo),), needs=_TWO)
layer_transfers = Formula("Transfers of the forward pass, per layer", T_comms,
    b * B * D * (1 + (N_stages - 2) / N_MB) / (L * W), source=_BOOK,
    assumes="when nothing hides them; a rough estimate takes 1.5 for the bracket", approx=b * B * D / (L * W),
    regime=((N_MB, oo),), needs=_TWO)
_HIDDEN = "when transfers overlap with compute, each taking at most half of t_F + t_B"
gpipe_exposed = Formula("Exposed transfers, GPipe", T_pp,
    2 * (N_stages - 1) * T_hop
    + Min(N_stages - 1, 1) * (N_MB - 1) * (Max(T_hop - t_F, 0) + Max(T_hop - t_B, 0)),
    source="gpipe2018", assumes="when transfers overlap with compute; a single stage has none")
one_f_one_b_exposed = Formula("Exposed transfers, 1F1B", T_pp,
    2 * T_hop * (N_stages - 1 + ceiling((N_MB - 2) * (N_stages - 1) / N_stages)), source=_MEGATRON, assumes=_HIDDEN)
eager_exposed = Formula("Exposed transfers, eager 1F1B", T_pp, 2 * (N_stages - 1) * T_hop,
    source="zhuang2022, eager-1F1B", assumes=_HIDDEN, needs=_TWO)
interleaved_exposed = Formula("Exposed transfers, interleaved", T_pp, 2 * (n_virt * N_stages - 1) * T_hop,
    source=_MEGATRON,
    assumes="when transfers overlap with compute, each shorter than the forward pass of a virtual stage",
    needs=(*_TWO, at_least(n_virt, 2)))
pipeline_exposed = Formula("Exposed transfers, 1F1B, interleaved or not", T_pp,
    Piecewise((one_f_one_b_exposed.rhs, n_virt < 2), (interleaved_exposed.rhs, True)), source=_MEGATRON,
    assumes=f"{_HIDDEN}, or less than the forward pass of a virtual stage if there are several",
    needs=(at_least(N_stages, Min(n_virt, 2)),))
pipeline_bytes = Formula("Bytes of a step between stages", V_step,
    Piecewise((0, N_stages < 2), (2 * n_virt * N_MB * V_hop, True)), source=_MEGATRON,
    assumes="between a rank and the next: each virtual stage sends each microbatch forward and its gradient back")

# Bubbles: idle time, idle over total time, idle over busy time
pipeline_step = Formula("Step of a pipeline, GPipe or 1F1B", T_step, (N_MB + N_stages - 1) * (t_F + t_B),
    source=_MEGATRON, assumes="for equal stages and transfers that cost nothing", approx=N_MB * (t_F + t_B),
    regime=((N_MB, oo),))
bubble_time = Formula("Bubble of GPipe and 1F1B", T_idle, (N_stages - 1) * (t_F + t_B), source=_MEGATRON,
    assumes="for equal stages and transfers that cost nothing")
bubble_fraction = Formula("Bubble fraction of GPipe and 1F1B", f_bub, (N_stages - 1) / (N_MB + N_stages - 1),
    source="gpipe2018", assumes="for equal stages", approx=(N_stages - 1) / N_MB,
    regime=((N_MB, oo),), needs=_TWO)
bubble_overhead = Formula("Bubble overhead of GPipe and 1F1B", r_bub, (N_stages - 1) / N_MB, source=_MEGATRON,
    assumes="for equal stages")
_GROUPS = (divisible(N_MB, N_stages),)


def _grouped(microbatches, stages, cut):
    return Eq(Mod(microbatches, stages ** Min(cut - 1, 1)), 0)


_CUT_GROUPS = (Condition("{0} is divisible by {1} if {2} is at least 2", (N_MB, N_stages, n_virt), _grouped),)
interleaved_step = Formula("Step of an interleaved pipeline", T_step, (N_MB + (N_stages - 1) / n_virt) * (t_F + t_B),
    source=_MEGATRON, assumes="for equal virtual stages, microbatches in groups of N_stages", needs=_GROUPS)
interleaved_fraction = Formula("Bubble fraction, interleaved", f_bub, (N_stages - 1) / (n_virt * N_MB + N_stages - 1),
    source=_MEGATRON, assumes="for equal virtual stages", approx=(N_stages - 1) / (n_virt * N_MB),
    regime=((N_MB, oo),), needs=(*_TWO, *_GROUPS))
interleaved_bubble = Formula("Bubble of 1F1B, interleaved or not", T_idle, (N_stages - 1) * T_mb / n_virt,
    source=_MEGATRON, assumes="for equal virtual stages, microbatches in groups of N_stages if there are several")
interleaved_overhead = Formula("Bubble overhead, interleaved", r_bub, (N_stages - 1) / (n_virt * N_MB),
    source=_MEGATRON, assumes="for equal virtual stages", needs=_GROUPS)
_ZB = (N_stages - 1) * (t_F + _IN) - (Min(N_MB, N_stages) - 1) * Min(t_F, _IN, t_W)
_CUT = "when weight gradients are deferred, in stage i by i microbatches"
zb_bubble = Formula("Bubble of ZB-H1", T_idle, _ZB, source=_ZERO_BUBBLE, assumes=_CUT, needs=_PART)
zb_overhead = Formula("Bubble overhead of ZB-H1", r_bub, _ZB / (N_MB * (t_F + t_B)), source=_ZERO_BUBBLE, assumes=_CUT,
    needs=_PART)
_DEALT = (N_stages - 1) * (t_F + _IN - Min(t_F, _IN, t_W)) / n_virt
_CUT_DEALT = "for equal virtual stages, microbatches in groups of N_stages; rank i defers weight gradients by i passes"
_TORCH = f"{_ZERO_BUBBLE}; pytorch-pipelining, ScheduleInterleavedZeroBubble"
interleaved_zb_bubble = Formula("Bubble of interleaved zero bubble", T_idle, _DEALT, source=_TORCH, assumes=_CUT_DEALT,
    needs=_PART)
interleaved_zb_overhead = Formula("Bubble overhead of interleaved zero bubble", r_bub, _DEALT / (N_MB * (t_F + t_B)),
    source=_TORCH, assumes=_CUT_DEALT, needs=(*_PART, *_GROUPS))
_FOLD = (N_stages - 1) * Max(_IN, 2 * (_IN - t_W)) / 2
_SLOW = (at_least(t_B, t_F + t_W), at_least(t_B, 2 * t_W))
_MANY = (at_least(N_MB, 2 * N_stages - 1),)
_FOLDED = "for N_MB >= 2 N_stages - 1, when input gradients take longest: t_B - t_W >= t_F and t_B - t_W >= t_W"
zb_v_bubble = Formula("Bubble of ZB-V", T_idle, _FOLD, source=_ZERO_BUBBLE, assumes=_FOLDED,
    needs=(at_least(t_B, 2 * t_W),))
zb_v_overhead = Formula("Bubble overhead of ZB-V", r_bub, _FOLD / (N_MB * (t_F + t_B)), source=_ZERO_BUBBLE,
    assumes=_FOLDED, needs=(*_SLOW, *_MANY))


def _both_ways(half, overlapped):
    """Idle time of schedules that run in both directions; ``half`` is the number of ranks between an end and the "
    "middle."""
    wait = overlapped + Max(t_F, _IN) - t_W - Min(t_W, _IN)
    return half * wait - Min(t_F, half * Max(_IN - t_F, 0))


_APART = t_F + t_B
_FITS = (at_most(t_FB, _APART), at_least(t_FB, Max(t_F, t_B)))
_EVEN = (divisible(N_stages, 2), divisible(N_MB, 2), at_least(N_MB, 2 * N_stages))
_ENOUGH = (at_least(N_MB, 2 * N_stages),)
_TOLD = "for at least two microbatches per stage; only communication hides where passes overlap (t_FB = t_F + t_B)"
dualpipe_bubble = Formula("Bubble of DualPipe", T_idle, _both_ways(N_stages / 2 - 1, _APART), source=_DUAL,
    assumes=_TOLD, needs=(*_PART, divisible(N_stages, 2)))
dualpipe_step = Formula("Step of DualPipe", T_step,
    (N_MB - N_stages - 1) * t_FB + (N_stages + 1) * _APART + _both_ways(N_stages / 2 - 1, t_FB), source=_DUAL,
    assumes="when two overlapping passes take t_FB together", needs=(*_PART, *_FITS, *_EVEN))
v_bubble = Formula("Bubble of DualPipeV", T_idle, _both_ways(N_stages - 1, _APART) / 2, source=_V, assumes=_TOLD,
    needs=_PART)
v_step = Formula("Step of DualPipeV", T_step,
    ((2 * (N_MB - N_stages) - 1) * t_FB + (2 * N_stages + 1) * _APART + _both_ways(N_stages - 1, t_FB)) / 2, source=_V,
    assumes="when two overlapping passes take t_FB together", needs=(*_PART, *_FITS, *_ENOUGH))

# Activations: one unit is those of a microbatch in a stage, or in a virtual stage if a stage has several
gpipe_held = Formula("Activations stored, GPipe", n_held, N_MB, source="gpipe2018",
    assumes="for every stage, without recomputation")
_ROOM = (at_least(N_stages, i_stage + 1),)
one_f_one_b_held = Formula("Activations stored, 1F1B", n_held, Min(N_stages - i_stage, N_MB), source=_MEGATRON,
    assumes="if each stage runs ahead by one microbatch for every stage after it", needs=_ROOM)
eager_held = Formula("Activations stored, eager 1F1B", n_held, Min(2 * (N_stages - i_stage) - 1, N_MB),
    source="zhuang2022, eager-1F1B", needs=_ROOM,
    assumes="if each stage runs ahead by two microbatches for every stage after it")
interleaved_held = Formula("Activations stored by virtual stage, interleaved", n_held,
    Min((n_virt + 1) * N_stages - 2 * i_stage - 1, n_virt * N_MB), source=_MEGATRON,
    assumes="for at least two virtual stages per rank", needs=(*_ROOM, *_GROUPS, at_least(n_virt, 2)))
first_stage_held = Formula("Activations stored in the first stage, 1F1B, interleaved or not", n_held,
    Piecewise((one_f_one_b_held.rhs.subs(i_stage, 0), n_virt < 2), (interleaved_held.rhs.subs(i_stage, 0), True)),
    source=_MEGATRON, assumes="for activations counted per microbatch and virtual stage", needs=_CUT_GROUPS)
zb_held = Formula("Activations stored, ZB-H1", n_held, Min(N_stages, N_MB), source=_ZERO_BUBBLE,
    assumes="for every stage; an activation is stored until its weight gradients are done")
interleaved_zb_held = Formula("Activations stored by virtual stage, interleaved zero bubble", n_held,
    n_virt * N_stages, source=_TORCH,
    assumes="for every rank; microbatches in groups of N_stages")
zb_v_held = Formula("Activations stored by virtual stage, ZB-V", n_held, 2 * N_stages, source=_ZERO_BUBBLE,
    assumes="for every rank, two virtual stages per stage; N_MB >= 2 N_stages - 1")
dualpipe_held = Formula("Activations stored, DualPipe", n_held, N_stages + 1, source=_DUAL,
    assumes="for every rank, over the two stages that it holds; at least two microbatches per stage",
    needs=(divisible(N_stages, 2),))
v_held = Formula("Activations stored by virtual stage, DualPipeV", n_held, 2 * N_stages + 1, source=_V,
    assumes="for every rank, two virtual stages per stage; at least two microbatches per stage")
held_layers = Formula("Layers with stored activations", L_held, n_held * L / (n_virt * N_stages),
    source="korthikanti2022, section 4.2.3", assumes="for n_held virtual stages, of which a stage has n_virt")
first_stage_layers = Formula("Layers with stored activations, first stage, interleaved", L_held,
    L * Min(1 + (N_stages - 1) / (n_virt * N_stages), N_MB / N_stages), source="korthikanti2022, section 4.2.3",
    assumes="for at least two virtual stages per rank", needs=(*_GROUPS, at_least(n_virt, 2)))

# Other costs of a pipeline
zero3_regathers = Formula("Communication of ZeRO-3 in a pipeline", T_comms,
    N_MB * (2 * b_w + b_grad) * P * (X - 1) / (N_stages * X * W), source=_BOOK,
    assumes="when each pass of a microbatch gathers weights, and each backward one scatters gradients")
regather_tokens = Formula("Tokens per microbatch that hide ZeRO-3", B_mb,
    (2 * b_w + b_grad) * C * (X - 1) / (6 * flop * X * W), source=_BOOK,
    assumes="for 6 FLOPs per token per parameter, all of it overlapped")
late_reduction = Formula("Time left to reduce the gradients", T_late, (i_stage + 1) * t_B, source=_BOOK,
    assumes="in GPipe and 1F1B, where a stage's gradients are final only in its last backward pass")
uneven_overhead = Formula("Overhead of a pipeline with a slow last stage", r_bub,
    N_stages * (g_stage * N_MB + N_stages - 1) / (N_MB * (g_stage + N_stages - 1)) - 1,
    source="llama3, section 3.3.2",
    assumes="when the last stage takes g_stage times as long as each of the others, and they wait for it")
head_stage = Formula("Work of the stage with the output head", g_stage, 1 + N_stages * n_vocab * D / P,
    source="llama3, section 3.3.2",
    assumes="for P parameters in the layers, spread evenly over the stages, and 2 FLOPs per parameter per token")

declare(globals())
