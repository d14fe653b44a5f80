"""Primitives: the mirror images and the identities of its text, for other numbers of ranks than the page shows."""

import numpy as np
import pytest

from gpuscale.schedules.collectives import direct, doubling, primitives, ring, trees
from gpuscale.schedules.collectives.schedule import Schedule

MIRRORS = {
    "broadcast": "reduce",
    "scatter": "gather",
    "all_gather": "reduce_scatter",
    "all_reduce": "all_reduce",
    "all_to_all": "all_to_all",
}


def matrix(define, ranks, given, *roots):
    """A definition as the matrix that takes all inputs to all outputs, ranks with equal room for both."""
    columns = []
    for place in range(ranks * given):
        unit = np.zeros(ranks * given, int)
        unit[place] = 1
        columns.append([np.asarray(out) for out in define(list(unit.reshape(ranks, given)), *roots)])
    room = max(len(out) for out in columns[0])
    padded = [np.concatenate([np.pad(out, (0, room - len(out))) for out in column]) for column in columns]
    return np.array(padded).T


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("name", MIRRORS)
def test_the_definitions_mirror_each_other(name, ranks):
    """Inputs and outputs swap their sizes: a scatter gives each rank one place of N, a gather takes one of each."""
    small, large = (1, 1) if name in ("broadcast", "all_reduce") else (1, ranks)
    given = {"scatter": large, "all_gather": small, "all_to_all": large}.get(name, small)
    back = {"scatter": small, "all_gather": large, "all_to_all": large}.get(name, small)
    ours = matrix(getattr(primitives, name), ranks, given)
    theirs = matrix(getattr(primitives, MIRRORS[name]), ranks, back)

    def square(m):  # rows and columns by rank and place, all with room for the larger side
        out = np.zeros((ranks, large, ranks, large), int)
        rows, cols = m.shape[0] // ranks, m.shape[1] // ranks
        out[:, :rows, :, :cols] = m.reshape(ranks, rows, ranks, cols)
        return out.reshape(ranks * large, -1)

    assert np.array_equal(square(ours).T, square(theirs))


def mirrored(s):
    step, source, target, chunk, _ = (c[::-1] for c in s.columns)
    columns = (s.steps - 1 - step, target, source, chunk, np.ones(step.size, bool))
    return Schedule(s.title, s.ranks, s.chunks, columns, s.end, s.start)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_gather_played_backwards_is_a_reduce_scatter(ranks):
    given = list(np.random.default_rng(ranks).integers(0, 99, (ranks, 2 * ranks)))
    for make in (direct.all_gather, ring.all_gather, doubling.all_gather):
        back = mirrored(make(ranks))
        assert np.array_equal(back.run(given), primitives.reduce_scatter(given))
        assert back.received() == make(ranks).sent()
    assert np.array_equal(mirrored(trees.broadcast(ranks)).run(given)[0], primitives.reduce(given)[0])
