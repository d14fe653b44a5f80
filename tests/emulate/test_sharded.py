"""Layers on several ranks: the arithmetic itself, against plain numpy and against differences."""

import numpy as np
import pytest
from support.other_layers import exchanged_attention, gathered_attention, whole_mlp

from gpuscale.emulate import ring_attention, sharded


def numbers(*shape):
    return np.random.default_rng(3).normal(size=shape)


def plain(q, k, v, causal):
    """Attention with all scores at once, one head at a time."""
    out = np.empty(q.shape)
    for h in range(q.shape[1]):
        shared = h * k.shape[1] // q.shape[1]
        scores = q[:, h] @ k[:, shared].T / np.sqrt(q.shape[2])
        if causal:
            scores[np.triu_indices(len(q), 1)] = -np.inf
        weights = np.exp(scores)
        out[:, h] = weights / weights.sum(axis=1, keepdims=True) @ v[:, shared]
    return out


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("key_heads", [1, 2, 4])
def test_attention_on_any_ranks_is_attention(causal, key_heads):
    q, k, v = numbers(24, 4, 3), numbers(24, key_heads, 3), numbers(24, key_heads, 3) + 1
    expected = plain(q, k, v, causal)
    np.testing.assert_allclose(ring_attention.attention(q, k, v, causal), expected)
    for ranks in (1, 2, 3, 4):
        for zigzag in (True, False):
            found, _ = ring_attention.ring_attention(q, k, v, ranks, causal, zigzag)
            np.testing.assert_allclose(found, expected)
            found, _, _ = gathered_attention(q, k, v, ranks, causal, zigzag)
            np.testing.assert_allclose(found, expected)
        if key_heads % ranks == 0:
            np.testing.assert_allclose(exchanged_attention(q, k, v, ranks, causal)[0], expected)


def test_large_scores_do_not_overflow():
    q, k, v = 40 * numbers(8, 1, 4), 40 * numbers(8, 1, 4), numbers(8, 1, 4)
    found, _ = ring_attention.ring_attention(q, k, v, 2)
    assert np.isfinite(found).all()


def test_heads_on_any_ranks_are_the_block():
    x, width = numbers(6, 5), 3
    wq, wk, wv, wo = (numbers(*shape) for shape in ((5, 12), (5, 6), (5, 6), (12, 5)))
    q, k, v = ((x @ w).reshape(6, -1, width) for w in (wq, wk, wv))
    expected = plain(q, k, v, True).reshape(6, -1) @ wo
    for ranks in (1, 2):
        shares, _ = ring_attention.heads(x, wq, wk, wv, wo, ranks, width)
        np.testing.assert_allclose(np.concatenate(shares), expected)


def test_gradients_are_differences():
    x, into, out, gradient = numbers(4, 3), numbers(3, 8), numbers(8, 3), numbers(4, 3) + 1
    found, _ = sharded.mlp_backward(x, into, out, gradient, 4)
    ours = {name: np.concatenate(found[name], axis) for name, axis in (("x", 0), ("into", 1), ("out", 0))}
    for name, array in (("x", x), ("into", into), ("out", out)):
        for at in np.ndindex(array.shape):
            before, step = array[at], 1e-6
            sides = []
            for shift in (step, -step):
                array[at] = before + shift
                sides.append((gradient * whole_mlp(x, [into], out)).sum())
            array[at] = before
            assert ours[name][at] == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-5, abs=1e-7)


def test_a_gate_multiplies():
    x, up, gate, out = numbers(4, 3), numbers(3, 8), numbers(3, 8), numbers(8, 3)
    shares, _ = sharded.mlp(x, [up, gate], out, 2)
    np.testing.assert_allclose(np.concatenate(shares), (np.maximum(x @ up, 0) * (x @ gate)) @ out)


@pytest.mark.parametrize("tokens, ranks, zigzag", [(12, 5, True), (12, 4, True), (9, 2, False)])
def test_tokens_that_do_not_divide_are_refused(tokens, ranks, zigzag):
    with pytest.raises(ValueError, match="tokens: expected a multiple of"):
        ring_attention.places(tokens, ranks, zigzag)


def test_what_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="ranks: expected a divisor of 8, the length of axis -1; got 3"):
        sharded.mlp(numbers(6, 4), [numbers(4, 8)], numbers(8, 4), 3)
    with pytest.raises(ValueError, match="ranks: expected a divisor or a multiple of the 2 key heads; got 3"):
        ring_attention.heads(numbers(6, 4), numbers(4, 12), numbers(4, 4), numbers(4, 4), numbers(12, 4), 3, 2)
    with pytest.raises(ValueError, match="ranks: expected a whole number, 1 or more; got 0"):
        sharded.Work(0)
