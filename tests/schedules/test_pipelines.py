"""Pipeline timetables: the published orders, what no schedule may do, and what inputs are refused."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.timetables import check

from gpuscale.schedules.pipelines.both_ways import dualpipe, v_schedule, zb_v
from gpuscale.schedules.pipelines.orders import gpipe, interleaved, interleaved_zb, one_f_one_b, zb_h1
from gpuscale.schedules.pipelines.timetable import PipelineRun, PipelineTransfer, Slot, single, timetable

few = settings(deadline=None, derandomize=True, max_examples=15, suppress_health_check=list(HealthCheck))
TIME = st.fractions(0, 4, max_denominator=4).filter(bool)
RUNS = {
    "GPipe": lambda p, m, F, B, W, hop: gpipe(p, m, F, B, hop),
    "1F1B": lambda p, m, F, B, W, hop: one_f_one_b(p, m, F, B, hop),
    "Eager 1F1B": lambda p, m, F, B, W, hop: one_f_one_b(p, m, F, B, hop, eager=True),
    "Interleaved 1F1B": lambda p, m, F, B, W, hop: interleaved(p, m * p, 2, F, B, hop),
    "ZB-H1": lambda p, m, F, B, W, hop: zb_h1(p, m, F, B + W, W, hop),
    "Interleaved zero bubble": lambda p, m, F, B, W, hop: interleaved_zb(p, m * p, 2, F, B + W, W, hop),
    "ZB-V": lambda p, m, F, B, W, hop: zb_v(p, 2 * p + m, F, B + W, W, hop),
    "DualPipe": lambda p, m, F, B, W, hop: dualpipe(2 * p, 4 * p + 2 * m, F, B + W, W, t_hop=hop),
    "DualPipeV": lambda p, m, F, B, W, hop: v_schedule(p, 2 * p + m, F, B + W, W, t_hop=hop),
}


def order(run, rank):
    """What a rank does, as in the papers' figures: kind and number, with a mark for each further piece."""
    return " ".join(f"{s.kind}{s.microbatch}" + "'" * (s.stage // run.ranks) for s in run.of(rank))


@pytest.mark.parametrize("title", RUNS)
@few
@given(st.tuples(st.integers(1, 4), st.integers(1, 5), TIME, TIME, TIME, st.fractions(0, 3, max_denominator=3)))
def test_work_waits_for_what_it_needs(title, case):
    run = RUNS[title](*case)
    check(run)
    assert run.title == title
    p, m = run.ranks, run.microbatches
    assert len(run.slots) % (m * run.stages) == 0 and {s.rank for s in run.slots} == set(range(p))
    assert run.makespan == max(s.end for s in run.slots) and all(isinstance(s.start, Fraction) for s in run.slots)
    assert run.bubble_overhead == run.bubble_fraction / (1 - run.bubble_fraction)
    assert sum(run.idle(r) + run.busy(r) for r in range(p)) == p * run.makespan
    assert run.exposed >= 0 and (case[-1] or run.exposed == 0)
    assert all(run.held(r)[-1][1] == 0 and run.peak_activations(r) <= len(run.of(r)) for r in range(p))


@pytest.mark.parametrize("title", RUNS)
def test_each_piece_of_work_is_done_once_and_handed_on_once(title):
    run = RUNS[title](3, 4, 1, 1, 1, 1)
    for kind in "FB":
        tasks = [(s.microbatch, s.stage) for s in run.slots if s.kind == kind]
        assert len(tasks) == len(set(tasks)) == run.stages * run.microbatches
        sent = [t for t in run.transfers if t.kind == kind]
        near = sum(title in ("ZB-V", "DualPipeV") for _ in range(run.microbatches))  # the turn of a V
        assert len(sent) == (run.stages - 1) * run.microbatches - near
    assert all(abs(t.source - t.target) in (1, run.ranks - 1) for t in run.transfers)


def test_the_orders_are_those_of_the_papers():
    assert order(gpipe(2, 3), 0) == "F0 F1 F2 B2 B1 B0"
    assert order(one_f_one_b(4, 6), 0) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5"
    assert order(one_f_one_b(4, 6), 3) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5"
    assert order(one_f_one_b(3, 5, eager=True), 1) == "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4"
    assert order(interleaved(2, 4, 2), 1).startswith("F0 F1 F0' B0' F1' B1' F2 B0 F3 B1")
    assert order(zb_h1(4, 6), 0).startswith("F0 F1 F2 F3 B0 W0 F4 B1 W1 F5 B2 W2 B3 W3")
    assert order(gpipe(2, 3, oldest_first=True), 0) == "F0 F1 F2 B0 B1 B2"
    assert order(interleaved_zb(2, 4, 2), 1).startswith("F0 F1 F0' B0' F1' B1' W0' F2 B0 W1' F3 B1 W0")
    assert all(interleaved_zb(4, 8, 1).tasks(rank) == zb_h1(4, 8).tasks(rank) for rank in range(4))
    assert order(zb_h1(4, 6), 3).startswith("F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 W3 W4 W5")


def test_zb_v_goes_there_and_back():
    assert order(zb_v(2, 4), 1) == "F0 F0' F1 F1' B0' W0' F2 B0 W0 F2' B1' W1' F3 B1 W1 F3' B2' W2' B2 B3' B3 W2 W3' W3"
    assert order(zb_v(4, 8), 0).startswith("F0 F1 F2 F3 F4 F5 F6 F0' B0' W0' F1' B1' W1'")


def test_the_first_slots_of_dualpipe_are_those_of_its_figure():
    """8 ranks and 20 microbatches: seven forward passes from its own side, then pairs from both; ends in step."""
    run = dualpipe(8, 20)
    first = [(s.kind, s.microbatch) for s in run.of(0)]
    assert first[:8] == [("F", m) for m in range(7)] + [("F", 10)]
    assert [s.start for s in run.of(0)[:8]] == list(range(8))
    mirror = [(s.kind, (s.microbatch + 10) % 20, s.start) for s in run.of(7)]
    assert mirror == [(s.kind, s.microbatch, s.start) for s in run.of(0)]


def test_two_stages_and_two_microbatches():
    run = gpipe(2, 2, 1, 2)
    assert [(s.rank, int(s.start), int(s.end), s.kind, s.microbatch) for s in run.slots] == [
        (0, 0, 1, "F", 0),
        (0, 1, 2, "F", 1),
        (1, 1, 2, "F", 0),
        (1, 2, 3, "F", 1),
        (1, 3, 5, "B", 1),
        (0, 5, 7, "B", 1),
        (1, 5, 7, "B", 0),
        (0, 7, 9, "B", 0),
    ]
    assert (run.idle(0), run.idle(1)) == (3, 3)
    assert (run.bubble_overhead, run.bubble_fraction) == (Fraction(1, 2), Fraction(1, 3))
    assert run.held(0) == [(0, 1), (1, 2), (7, 1), (9, 0)]


def test_transfers_run_beside_the_work_and_queue_on_a_link():
    run = gpipe(2, 3, 1, 1, t_hop=2)
    forward = [(t.start, t.end) for t in run.transfers if t.kind == "F"]
    assert forward == [(1, 3), (3, 5), (5, 7)]
    assert run.exposed == 2 * 2 + 2 * 2 * (2 - 1) and run.bare == gpipe(2, 3, 1, 1).makespan


def test_stages_may_differ():
    run = one_f_one_b(3, 4, t_F=[1, 1, 3], t_B=[2, 2, 6])
    assert run.makespan == 4 * 9 + 2 * 3 and run.idle(2) == 2 * 3


def test_slower_ranks_are_slower_stages_where_each_holds_one():
    pace = [1, 3, 2, 1.5]
    for make in (gpipe, one_f_one_b):
        assert make(4, 6).slowed(pace).slots == make(4, 6, t_F=pace, t_B=[2 * one for one in pace]).slots
    split = zb_h1(4, 6, t_F=pace, t_B=[2 * one for one in pace], t_W=pace)
    assert zb_h1(4, 6).slowed(pace).slots == split.slots
    dealt = interleaved(2, 4, 2, t_F=[1, 3, 1, 3], t_B=[2, 6, 2, 6], t_hop=1)
    assert interleaved(2, 4, 2, t_hop=1).slowed([1, 3]).transfers == dealt.transfers
    assert dualpipe(4, 8).slowed([2] * 4).makespan == 2 * dualpipe(4, 8).makespan


def test_a_pace_is_needed_for_each_rank():
    with pytest.raises(ValueError, match="pace: expected 4 numbers, one per rank; got 3"):
        gpipe(4, 2).slowed([1, 1, 1])
    with pytest.raises(ValueError, match="pace: expected a time of zero or more"):
        gpipe(4, 2).slowed([1, 1, 1, -1])


def test_the_critical_path_of_a_small_pipeline():
    path = [(slot.rank, slot.start, f"{slot.kind}{slot.microbatch}") for slot in gpipe(2, 2).critical_path()]
    assert path == [(0, 0, "F0"), (1, 1, "F0"), (1, 2, "F1"), (1, 3, "B1"), (0, 5, "B1"), (0, 7, "B0")]
    sent = gpipe(2, 1, t_hop=3).critical_path()
    assert [(slot.rank, slot.start, slot.end) for slot in sent] == [(0, 0, 1), (1, 4, 5), (1, 5, 7), (0, 10, 12)]


@pytest.mark.parametrize("title", RUNS)
def test_a_critical_path_has_no_gaps(title):
    run = RUNS[title](3, 4, 1, 1, 1, 0)
    for on in (run, run.slowed([Fraction(3, 2), *[1] * (run.ranks - 1)])):
        path = on.critical_path()
        assert path[0].start == 0 and path[-1].end == on.makespan
        assert all(slot.end == then.start for slot, then in pairwise(path))


def test_passes_that_overlap_share_their_time():
    run = v_schedule(2, 5, 1, 2, 1, t_FB=Fraction(5, 2))
    pairs = [s.end - s.start for s in run.of(0) if s.kind == "F"]
    assert set(pairs) == {1, Fraction(5, 6)}  # alone, and as a third of the pair


def broken(*slots, transfers=()):
    return PipelineRun(
        "Broken",
        2,
        2,
        1,
        tuple(Slot(r, Fraction(a), Fraction(b), k, 0, s) for r, a, b, k, s in slots),
        tuple(transfers),
        Fraction(0),
    )


GOOD = [(0, 0, 1, "F", 0), (1, 1, 2, "F", 1), (1, 2, 3, "B", 1), (0, 3, 4, "B", 0)]
SENT = [
    PipelineTransfer(0, 1, Fraction(1), Fraction(1), "F", 0, 0),
    PipelineTransfer(1, 0, Fraction(3), Fraction(3), "B", 0, 1),
]


@pytest.mark.parametrize(
    "change, message",
    [
        ({3: (0, Fraction(1, 2), 4, "B", 0)}, "rank 0: B of microbatch 0, stage 0 starts before F"),
        ({1: (1, Fraction(1, 2), 2, "F", 1)}, r"F of microbatch 0, stage 1 starts before \('F', 0, 0\) is there"),
        ({3: (0, 2, 4, "B", 0)}, r"B of microbatch 0, stage 0 starts before \('B', 0, 1\) is there"),
        ({3: (0, 3, 4, "W", 0)}, r"slots: \('B', 0, 0\) is never done"),
        ({3: (0, 3, 4, "F", 0)}, "slots: a piece of work is done twice"),
    ],
)
def test_a_wrong_timetable_is_seen(change, message):
    check(broken(*GOOD, transfers=SENT))
    with pytest.raises(ValueError, match=message):
        check(broken(*(change.get(i, slot) for i, slot in enumerate(GOOD)), transfers=SENT))


def test_a_result_that_arrives_late_is_seen():
    run = gpipe(2, 2, 1, 1, t_hop=1)
    late = tuple(t._replace(end=t.end + Fraction(1, 2)) for t in run.transfers)
    with pytest.raises(ValueError, match="starts before"):
        check(replace(run, transfers=late))


def test_ranks_that_wait_for_each_other_are_seen():
    orders = [[(("B", 0, 0),), (("F", 0, 0),)], [(("F", 0, 1),), (("B", 0, 1),)]]
    times = {kind: [Fraction(1)] * 2 for kind in "FB"}
    with pytest.raises(ValueError, match="orders: ranks wait for each other"):
        timetable("Stuck", orders, 2, 1, single(times), Fraction(0))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: gpipe(0, 4), "stages: expected a whole number, 1 or more; got 0"),
        (lambda: gpipe(2.0, 4), "stages: expected a whole number, 1 or more; got 2.0"),
        (lambda: gpipe(True, 4), "stages: expected a whole number"),
        (lambda: one_f_one_b(2, 0), "microbatches: expected a whole number, 1 or more; got 0"),
        (lambda: one_f_one_b(2, 4, t_F=-1), "t_F: expected a time of zero or more; got -1"),
        (lambda: one_f_one_b(2, 4, t_B="2"), "t_B: expected a time of zero or more; got '2'"),
        (lambda: one_f_one_b(2, 4, t_hop=float("nan")), "t_hop: expected a time of zero or more; got nan"),
        (lambda: one_f_one_b(2, 4, t_F=float("inf")), "t_F: expected a time of zero or more; got inf"),
        (lambda: gpipe(3, 4, t_F=[1, 2]), "t_F: expected one time or 3, one per stage; got 2"),
        (lambda: interleaved(4, 6, 2), "microbatches: expected a multiple of the 4 ranks; got 6"),
        (lambda: interleaved_zb(4, 6, 2), "microbatches: expected a multiple of the 4 ranks; got 6"),
        (lambda: interleaved(4, 8, 0), "chunks: expected a whole number, 1 or more; got 0"),
        (lambda: zb_h1(4, 8, 1, 1, 2), "t_W: expected at most t_B, of which it is a part; got 2 of 1"),
        (lambda: dualpipe(3, 8), "ranks, microbatches: expected even numbers; got 3 and 8"),
        (lambda: dualpipe(4, 6), "microbatches: expected at least 8, two per rank; got 6"),
        (lambda: v_schedule(4, 7), "microbatches: expected at least 8"),
        (lambda: zb_v(4, 6), "microbatches: expected at least 7, one less than two per rank; got 6"),
        (lambda: v_schedule(2, 4, t_FB=-1), "t_FB: expected a time of zero or more; got -1"),
        (lambda: gpipe(2, 2).of(2), "rank: expected a rank from 0 to 1; got 2"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
