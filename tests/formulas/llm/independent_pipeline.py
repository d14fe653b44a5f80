"""Pipelines: times, idle times and activations counted in timetables of explicit slots, bytes in arrays and rings."""

from fractions import Fraction

import numpy as np
from formulas.harness import Once, at, checks
from hypothesis import strategies as st
from support import timetables

from gpuscale.schedules.collectives import ring
from gpuscale.schedules.pipelines import both_ways, orders

orders, both_ways, check = Once(orders), Once(both_ways), Once(timetables).check

TIME = st.fractions(Fraction(1, 4), 6, max_denominator=4)
STAGES, MICROBATCHES = st.integers(1, 5), st.integers(1, 9)
PLAIN = st.tuples(STAGES, MICROBATCHES, TIME, TIME)
SPLIT = st.tuples(STAGES, MICROBATCHES, TIME, TIME, TIME)
# ranks, groups of microbatches, virtual stages, times of a stage
PIECES = st.tuples(STAGES, st.integers(1, 3), st.integers(1, 3), TIME, TIME)
# half of the ranks, microbatches beyond the least, t_F, t_B without W, t_W, how much of the passes' sum they need
DUAL = st.tuples(st.integers(1, 3), st.integers(0, 3), TIME, TIME, TIME, st.fractions(0, 1, max_denominator=4))


def hops(moves, kind="F"):
    """When the last transfer of a kind arrives."""
    return max(move.end for move in moves if move.kind == kind)


# Hops


@checks(
    "forward_hops",
    "forward_transfers",
    "layer_transfers",
    "hop_bytes",
    "hop_time",
    over=st.tuples(st.integers(2, 6), MICROBATCHES, st.integers(1, 3), st.integers(1, 4)),
)
def transfers_that_take_one_slot_each(lib, case):
    p, m, tokens, width = case
    run = orders.gpipe(p, m, t_F=0, t_B=0, t_hop=1)
    slots = hops(run.transfers)
    assert at(lib.forward_hops, N_stages=p, N_MB=m) == slots
    hop = np.zeros((tokens, width), np.float16).nbytes
    given = {"N_stages": p, "N_MB": m, "B": m * tokens, "D": width, "b": 2, "W": 7, "L": 3 * p}
    assert at(lib.hop_bytes, **given) == hop
    assert at(lib.hop_time, V_hop=hop, W=7) == ring.all_gather(2).time(0, 7, Fraction(2 * hop))
    taken = hops(orders.gpipe(p, m, 0, 0, Fraction(hop, 7)).transfers)
    assert at(lib.forward_transfers, **given) == taken
    assert at(lib.layer_transfers, **given) == taken / (3 * p)


@checks("sharded_hop_bytes", over=st.tuples(*[st.integers(1, 3)] * 5))
def slices_of_a_hop(lib, case):
    copies, slices, m, tokens, width = case
    batch = np.zeros((copies, m, slices * tokens, width), np.float32)
    mine = np.split(batch[0, 0], slices)[0]
    given = {"B": batch.shape[0] * batch.shape[1] * batch.shape[2], "D": width, "b": 4, "X": copies, "Y": slices}
    assert at(lib.sharded_hop_bytes, **given, N_MB=m) == mine.nbytes


@checks("gpipe_exposed", over=st.tuples(STAGES, MICROBATCHES, TIME, TIME, TIME))
def transfers_that_gpipe_waits_for(lib, case):
    p, m, t_F, t_B, t_hop = case
    run = orders.gpipe(p, m, t_F, t_B, t_hop)
    assert at(lib.gpipe_exposed, N_stages=p, N_MB=m, t_F=t_F, t_B=t_B, T_hop=t_hop) == run.exposed


SHORT = st.tuples(STAGES, st.integers(1, 12), TIME, TIME, st.fractions(Fraction(1, 4), 1, max_denominator=4))


@checks("one_f_one_b_exposed", "pipeline_exposed", "eager_exposed", over=SHORT)
def transfers_that_1f1b_waits_for(lib, case):
    p, m, t_F, t_B, part = case
    t_hop = part * (t_F + t_B) / 2
    run = orders.one_f_one_b(p, m, t_F, t_B, t_hop)
    assert at(lib.one_f_one_b_exposed, N_stages=p, N_MB=m, T_hop=t_hop) == run.exposed
    assert at(lib.pipeline_exposed, N_stages=p, N_MB=m, T_hop=t_hop, n_virt=1) == run.exposed
    if p == 1:
        return
    run = orders.one_f_one_b(p, m, t_F, t_B, t_hop, eager=True)
    assert at(lib.eager_exposed, N_stages=p, T_hop=t_hop) == run.exposed


@checks("one_f_one_b_exposed", "pipeline_exposed")
def transfers_of_long_pipelines(lib):
    """Where a stage or a microbatch less, or a part of one, changes how often transfers are waited for."""
    for p, m in ((8, 9), (8, 17), (5, 16), (3, 19)):
        run = orders.one_f_one_b(p, m, 1, 2, 1)
        assert at(lib.one_f_one_b_exposed, N_stages=p, N_MB=m, T_hop=1) == run.exposed
        assert at(lib.pipeline_exposed, N_stages=p, N_MB=m, T_hop=1, n_virt=1) == run.exposed


@checks(
    "interleaved_exposed",
    "pipeline_exposed",
    over=st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(2, 3), TIME, TIME),
)
def transfers_that_an_interleaved_pipeline_waits_for(lib, case):
    p, groups, v, t_F, t_B = case
    t_hop = min(t_F, t_B)
    run = orders.interleaved(p, groups * p, v, t_F, t_B, t_hop)
    assert at(lib.interleaved_exposed, N_stages=p, n_virt=v, T_hop=t_hop) == run.exposed
    assert at(lib.pipeline_exposed, N_stages=p, N_MB=groups * p, n_virt=v, T_hop=t_hop) == run.exposed


@checks("pipeline_bytes", over=st.tuples(STAGES, st.integers(1, 3), st.integers(1, 3), TIME))
def bytes_between_two_ranks(lib, case):
    """Activations from the first rank to the second, gradients back, one by one."""
    p, groups, v, size = case
    run = orders.interleaved(p, groups * p, v) if v > 1 else orders.one_f_one_b(p, groups * p)
    there = [size for move in run.transfers if (move.kind, move.source, move.target) == ("F", 0, 1)]
    back = [size for move in run.transfers if (move.kind, move.source, move.target) == ("B", 1, 0)]
    assert at(lib.pipeline_bytes, N_stages=p, N_MB=groups * p, n_virt=v, V_hop=size) == sum(there + back)


# Bubbles


@checks("pipeline_step", "bubble_time", "bubble_overhead", over=PLAIN)
def slots_of_gpipe_and_1f1b(lib, case):
    p, m, t_F, t_B = case
    given = {"N_stages": p, "N_MB": m, "t_F": t_F, "t_B": t_B}
    for schedule in (orders.gpipe, orders.one_f_one_b):
        run = schedule(p, m, t_F, t_B)
        check(run)
        assert at(lib.pipeline_step, **given) == run.makespan
        assert {at(lib.bubble_time, **given)} == {run.idle(rank) for rank in range(p)}
        assert at(lib.bubble_overhead, **given) == run.bubble_overhead


@checks("bubble_fraction", over=st.tuples(st.integers(2, 6), MICROBATCHES, TIME, TIME))
def share_of_the_slots_that_are_empty(lib, case):
    p, m, t_F, t_B = case
    for schedule in (orders.gpipe, orders.one_f_one_b):
        assert at(lib.bubble_fraction, N_stages=p, N_MB=m) == schedule(p, m, t_F, t_B).bubble_fraction


@checks("interleaved_step", "interleaved_bubble", "interleaved_overhead", over=PIECES)
def slots_of_an_interleaved_pipeline(lib, case):
    p, groups, v, t_F, t_B = case
    run = orders.interleaved(p, groups * p, v, t_F / v, t_B / v)
    check(run)
    given = {"N_stages": p, "N_MB": groups * p, "n_virt": v, "t_F": t_F, "t_B": t_B}
    assert at(lib.interleaved_step, **given) == run.makespan
    assert {at(lib.interleaved_bubble, **given, T_mb=t_F + t_B)} == {run.idle(rank) for rank in range(p)}
    assert at(lib.interleaved_overhead, **given) == run.bubble_overhead


@checks("interleaved_fraction", over=PIECES)
def share_of_empty_slots_when_interleaved(lib, case):
    p, groups, v, t_F, t_B = case
    run = orders.interleaved(p + 1, groups * (p + 1), v, t_F / v, t_B / v)
    assert at(lib.interleaved_fraction, N_stages=p + 1, N_MB=groups * (p + 1), n_virt=v) == run.bubble_fraction


@checks("zb_bubble", "zb_overhead", over=SPLIT)
def slots_of_zb_h1(lib, case):
    p, m, t_F, t_in, t_W = case
    p += 1  # one stage alone waits for nothing
    run = orders.zb_h1(p, m, t_F, t_in + t_W, t_W)
    check(run)
    given = {"N_stages": p, "N_MB": m, "t_F": t_F, "t_B": t_in + t_W, "t_W": t_W}
    assert {at(lib.zb_bubble, **given)} == {run.idle(rank) for rank in range(p)}
    assert at(lib.zb_overhead, **given) == run.bubble_overhead


@checks("interleaved_zb_bubble", "interleaved_zb_overhead", over=st.tuples(PIECES, TIME))
def slots_of_an_interleaved_zero_bubble(lib, case):
    (p, groups, v, t_F, t_in), t_W = case
    p += 1
    run = orders.interleaved_zb(p, groups * p, v, t_F / v, (t_in + t_W) / v, t_W / v)
    check(run)
    given = {"N_stages": p, "n_virt": v, "t_F": t_F, "t_B": t_in + t_W, "t_W": t_W}
    assert {at(lib.interleaved_zb_bubble, **given)} == {run.idle(rank) for rank in range(p)}
    assert at(lib.interleaved_zb_overhead, **given, N_MB=groups * p) == run.bubble_overhead


@checks("zb_v_bubble", "zb_v_overhead", over=DUAL)
def slots_of_zb_v(lib, case):
    p, more, t_F, extra, t_W, _ = case
    p, t_in = p + 1, max(t_F, t_W) + (extra if more % 2 else 0)
    m = 2 * p - 1 + more
    times = {"t_F": t_F, "t_B": t_in + t_W, "t_W": t_W}
    run = both_ways.zb_v(p, m, **{name: time / 2 for name, time in times.items()})
    check(run)
    assert {at(lib.zb_v_bubble, N_stages=p, **times)} == {run.idle(rank) for rank in range(p)}
    assert at(lib.zb_v_overhead, N_stages=p, N_MB=m, **times) == run.bubble_overhead


def dual(case, both):
    """The times of a case, as a schedule and as a formula take them; ``both``: with passes that overlap in less."""
    *_, t_F, t_in, t_W, part = case
    t_B = t_in + t_W
    t_FB = max(t_F, t_B) + part * min(t_F, t_B) if both else t_F + t_B
    return {"t_F": t_F, "t_B": t_B, "t_W": t_W, "t_FB": t_FB}


@checks("dualpipe_bubble", over=DUAL)
def slots_of_dualpipe(lib, case):
    p, times = 2 * case[0] + 2, dual(case, both=False)
    m = 2 * p + 2 * case[1]
    run = both_ways.dualpipe(p, m, **times)
    check(run)
    assert {at(lib.dualpipe_bubble, N_stages=p, **times)} == {run.idle(rank) for rank in range(p)}


@checks("dualpipe_step", over=DUAL)
def length_of_dualpipe(lib, case):
    p, times = 2 * case[0], dual(case, both=True)
    m = 2 * p + 2 * case[1]
    assert at(lib.dualpipe_step, N_stages=p, N_MB=m, **times) == both_ways.dualpipe(p, m, **times).makespan


@checks("v_bubble", over=DUAL)
def slots_of_a_v(lib, case):
    p, times = case[0] + 1, dual(case, both=False)
    m = 2 * p + case[1]
    run = both_ways.v_schedule(p, m, **{name: time / 2 for name, time in times.items()})
    check(run)
    assert {at(lib.v_bubble, N_stages=p, **times)} == {run.idle(rank) for rank in range(p)}


@checks("v_step", over=DUAL)
def length_of_a_v(lib, case):
    p, times = case[0], dual(case, both=True)
    m = 2 * p + case[1]
    run = both_ways.v_schedule(p, m, **{name: time / 2 for name, time in times.items()})
    assert at(lib.v_step, N_stages=p, N_MB=m, **times) == run.makespan


# Activations


def peaks(run):
    return [run.peak_activations(rank) for rank in range(run.ranks)]


@checks(
    "gpipe_held", "one_f_one_b_held", "first_stage_held", "eager_held", "zb_held", over=st.tuples(STAGES, MICROBATCHES)
)
def activations_between_forward_and_backward(lib, case):
    p, m = case
    every = [{"N_stages": p, "N_MB": m, "i_stage": rank} for rank in range(p)]
    assert [at(lib.gpipe_held, **one) for one in every] == peaks(orders.gpipe(p, m))
    assert [at(lib.one_f_one_b_held, **one) for one in every] == peaks(orders.one_f_one_b(p, m))
    assert at(lib.first_stage_held, **every[0], n_virt=1) == peaks(orders.one_f_one_b(p, m))[0]
    assert [at(lib.eager_held, **one) for one in every] == peaks(orders.one_f_one_b(p, m, eager=True))
    assert [at(lib.zb_held, **one) for one in every] == peaks(orders.zb_h1(p, m))


@checks(
    "interleaved_held",
    "first_stage_held",
    "held_layers",
    "first_stage_layers",
    over=st.tuples(STAGES, st.integers(1, 3), st.integers(2, 3)),
)
def pieces_between_forward_and_backward(lib, case):
    p, groups, v = case
    given = {"N_stages": p, "N_MB": groups * p, "n_virt": v}
    counted = peaks(orders.interleaved(p, groups * p, v))
    assert [at(lib.interleaved_held, **given, i_stage=rank) for rank in range(p)] == counted
    assert at(lib.first_stage_held, **given) == counted[0]
    layers = 5 * p * v  # five in each piece
    assert at(lib.held_layers, **given, n_held=counted[0], L=layers) == 5 * counted[0]
    assert at(lib.first_stage_layers, **given, L=layers) == 5 * counted[0]


@checks("interleaved_zb_held", over=st.tuples(STAGES, st.integers(1, 3), st.integers(1, 3)))
def pieces_between_forward_pass_and_weight_gradients(lib, case):
    p, groups, v = case
    assert {at(lib.interleaved_zb_held, N_stages=p, n_virt=v)} == set(peaks(orders.interleaved_zb(p, groups * p, v)))


@checks("dualpipe_held", "v_held", "zb_v_held", over=st.tuples(st.integers(1, 3), st.integers(0, 3)))
def activations_that_come_from_both_sides(lib, case):
    half, more = case
    run = both_ways.dualpipe(2 * half, 4 * half + 2 * more)
    assert {at(lib.dualpipe_held, N_stages=2 * half)} == set(peaks(run))
    assert {at(lib.zb_v_held, N_stages=half)} == set(peaks(both_ways.zb_v(half, 2 * half - 1 + more)))
    assert {at(lib.v_held, N_stages=half)} == set(peaks(both_ways.v_schedule(half, 2 * half + more)))


# What else it costs


@checks("zero3_regathers", over=st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(2, 6)))
def weights_gathered_for_every_slot(lib, case):
    p, m, copies = case
    params, widths, rate = 12 * p, {"b_w": 2, "b_grad": 4}, Fraction(3)
    passes = [slot.kind for slot in orders.one_f_one_b(p, m).of(p - 1)]
    stage = Fraction(params, p)
    gathers = len(passes) * ring.all_gather(copies).time(0, rate, 2 * stage)
    scatters = passes.count("B") * ring.reduce_scatter(copies).time(0, rate, 4 * stage)
    ours = at(lib.zero3_regathers, N_stages=p, N_MB=m, X=copies, P=params, W=rate, **widths)
    assert ours == gathers + scatters


@checks("regather_tokens", over=st.tuples(st.integers(2, 6), st.integers(1, 3), st.integers(1, 3)))
def arithmetic_that_hides_the_gathers(lib, case):
    copies, rows, columns = case
    params, rate, peak = rows * columns, Fraction(3), Fraction(11)
    moved = 2 * ring.all_gather(copies).time(0, rate, 2 * params)
    moved += ring.reduce_scatter(copies).time(0, rate, 4 * params)
    # forward, gradient of the input, gradient of the weights: a product and a sum for each weight and token
    operations = sum(2 for _ in range(3) for _ in range(rows) for _ in range(columns))
    tokens = at(lib.regather_tokens, X=copies, W=rate, C=peak, b_w=2, b_grad=4)
    assert tokens * operations / peak == moved


@checks("late_reduction", over=PLAIN)
def from_the_last_backward_pass_on(lib, case):
    p, m, t_F, t_B = case
    for schedule in (orders.gpipe, orders.one_f_one_b):
        run = schedule(p, m, t_F, t_B)
        for rank in range(p):
            last = [slot for slot in run.of(rank) if slot.kind == "B"][-1]
            assert at(lib.late_reduction, i_stage=rank, t_B=t_B) == run.makespan - last.start


@checks("uneven_overhead", over=st.tuples(PLAIN, st.fractions(1, 3, max_denominator=4)))
def slots_of_a_slow_last_stage(lib, case):
    (p, m, t_F, t_B), slow = case
    p, slow = p + 1, slow + 1
    given = {"N_stages": p, "N_MB": m, "g_stage": slow}
    for schedule in (orders.gpipe, orders.one_f_one_b):
        run = schedule(p, m, (t_F,) * (p - 1) + (slow * t_F,), (t_B,) * (p - 1) + (slow * t_B,))
        assert at(lib.uneven_overhead, **given) == run.bubble_overhead


@checks("head_stage", over=st.tuples(*[st.integers(1, 4)] * 4))
def operations_of_the_stage_with_the_head(lib, case):
    p, layers, width, vocabulary = case
    stage = [(width, 4 * width), (4 * width, width)] * layers
    token = [2 * rows * columns for rows, columns in stage]
    ratio = Fraction(sum(token) + 2 * width * vocabulary, sum(token))
    every = p * sum(rows * columns for rows, columns in stage)
    assert at(lib.head_stage, N_stages=p, P=every, D=width, n_vocab=vocabulary) == ratio
