"""A schedule in lockstep against arrays that it really adds up, and against what its time has to be."""

import numpy as np
import pytest

from gpuscale.schedules.collectives import direct, doubling, in_network, ring, trees
from gpuscale.schedules.timelines.lockstep import lockstep

MADE = [ring.all_reduce, trees.all_reduce, doubling.all_reduce, doubling.halving_doubling, direct.all_reduce]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_known_counts_the_sums_of_real_numbers(made, ranks):
    schedule = made(ranks)
    run, rng = lockstep(schedule), np.random.default_rng(ranks)
    values = rng.integers(1, 1 << 40, (ranks, schedule.chunks)).astype(object)
    total, now = values.sum(axis=0), values.copy()
    for step in range(schedule.steps + 1):
        counted = [(now[r] == total).mean() for r in range(ranks)]
        assert run.known[step] == pytest.approx(counted), (schedule.title, step)
        if step < schedule.steps:
            before = now.copy()
            busy = np.zeros(ranks)
            for move in schedule[step]:
                now[move.target, move.chunk] = (
                    before[move.source, move.chunk] + move.reduce * now[move.target, move.chunk]
                )
                busy[move.source] += move.units / schedule.whole
            assert run.sent[step] == pytest.approx(busy.max())
            assert not (busy > 0)[~run.active[step]].any()
    assert (run.known[-1] == 1).all()


def test_what_a_step_brings_arrives_after_its_latency():
    run = lockstep(ring.all_reduce(4))
    ends = run.ends(V=4, alpha=1, W=1)
    assert ends.tolist() == [2, 4, 6, 8, 10, 12]
    assert run.partial.tolist() == [True, True, False, False, False, False]
    assert run.known_at(6.9, V=4, alpha=1, W=1).tolist() == [0.25] * 4
    assert run.known_at(7.5, V=4, alpha=1, W=1).tolist() == [0.375] * 4
    assert run.known_at(99, V=4, alpha=1, W=1).tolist() == [1] * 4


def test_a_switch_is_refused():
    with pytest.raises(ValueError, match="expected a schedule between ranks"):
        lockstep(in_network.all_reduce(4))
