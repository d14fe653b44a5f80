"""A layer on the clock: worked out by hand, and by what has to hold for any times."""

import random

import pytest

from gpuscale.schedules.timelines.layer import Move, layer_on_clock

WORK = {"attention": 2.0, "MLP": 4.0}


def lane(spans, which):
    return [(span.what, span.start, span.end) for span in spans if span.lane == which]


def test_without_transfers_the_backward_pass_takes_twice_as_long_in_reverse():
    spans = layer_on_clock(WORK, [])
    assert lane(spans, 0) == [("attention", 0, 2), ("MLP", 2, 6), ("MLP", 6, 14), ("attention", 14, 18)]
    assert lane(spans, 1) == []


def test_arithmetic_waits_for_what_runs_before_and_after_it():
    moves = [(Move("in", False, "before", "MLP"), 1.0), (Move("out", False, "after", "MLP"), 3.0)]
    spans = layer_on_clock(WORK, moves)
    assert lane(spans, 1) == [("in", 2, 3), ("out", 7, 10)]
    assert lane(spans, 0)[1:3] == [("MLP", 3, 7), ("MLP", 10, 18)]


def test_the_next_block_waits_for_what_runs_during_a_block():
    spans = layer_on_clock(WORK, [(Move("keys", False, "during", "attention"), 3.0)])
    assert lane(spans, 1) == [("keys", 0, 3)] and lane(spans, 0)[1] == ("MLP", 3, 7)


def test_what_is_behind_a_pass_uses_the_link_when_nothing_else_does():
    moves = [(Move("keys", True, "during", "attention"), 1.0), (Move("gradients", True, "behind"), 13.0)]
    spans = layer_on_clock(WORK, moves)
    assert lane(spans, 1) == [("keys", 14, 15), ("gradients", 6, 14), ("gradients", 15, 20)]


def test_the_next_pass_waits_for_what_is_behind():
    spans = layer_on_clock(WORK, [(Move("weights", False, "behind"), 7.0), (Move("more", False, "behind"), 1.0)])
    assert lane(spans, 1) == [("weights", 0, 7), ("more", 7, 8)] and lane(spans, 0)[2] == ("MLP", 8, 16)


@pytest.mark.parametrize("seed", range(20))
def test_all_is_carried_and_no_lane_does_two_things_at_once(seed):
    dice = random.Random(seed)
    work = {name: dice.uniform(0.1, 3) for name in ("a", "b", "c")}
    moves = []
    for i in range(8):
        when = dice.choice(["before", "during", "after", "behind"])
        block = "" if when == "behind" else dice.choice("abc")
        moves.append((Move(f"m{i}", dice.random() < 0.5, when, block), dice.choice([0, dice.uniform(0.1, 4)])))
    spans = layer_on_clock(work, moves)
    for which in (0, 1):
        times = sorted((start, end) for _, start, end in lane(spans, which))
        assert all(b >= a - 1e-9 for (_, a), (b, _) in zip(times, times[1:], strict=False))
    for move, time in moves:
        carried = [span for span in spans if span.lane == 1 and span.what == move.what]
        assert sum(span.end - span.start for span in carried) == pytest.approx(time)
        assert all(span.backward == move.backward for span in carried)
    assert sum(end - start for _, start, end in lane(spans, 0)) == pytest.approx(3 * sum(work.values()))
