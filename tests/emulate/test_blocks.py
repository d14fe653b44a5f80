"""The pool of cache blocks: random requests come, grow and go, and every block has one owner throughout."""

import numpy as np
import pytest

from gpuscale.emulate.blocks import Pool


def test_blocks_are_given_out_once_and_come_back():
    draw, pool, lengths = np.random.default_rng(3), Pool(40, 4), {}
    for turn in range(400):
        if lengths and draw.random() < 0.1:
            gone = int(draw.choice(list(lengths)))
            pool.release(gone)
            del lengths[gone]
        sequence = turn if draw.random() < 0.2 or not lengths else int(draw.choice(list(lengths)))
        more = int(draw.integers(1, 7))
        wanted = -(-(lengths.get(sequence, 0) + more) // 4) - pool.held(sequence)
        before = pool.owner.copy()
        if pool.append(sequence, more):
            lengths[sequence] = lengths.get(sequence, 0) + more
        else:
            assert wanted > pool.free and np.array_equal(before, pool.owner)
        assert pool.tokens == lengths
        assert {s: pool.held(s) for s in lengths} == {s: -(-n // 4) for s, n in lengths.items()}
        assert pool.free == 40 - sum(map(pool.held, lengths))
        assert pool.empty_slots == sum(4 * pool.held(s) - n for s, n in lengths.items())
    for sequence in list(lengths):
        pool.release(sequence)
    assert (pool.free, pool.empty_slots) == (40, 0)


def test_what_no_pool_has_is_refused():
    with pytest.raises(ValueError, match="page: expected a whole number, 1 or more; got 0"):
        Pool(4, 0)
    with pytest.raises(KeyError):
        Pool(4, 1).release(0)
