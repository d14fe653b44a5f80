"""The layer of experts that moves real tokens: its gradients, what it refuses."""

import numpy as np
import pytest
from support.other_schedules import complete

from gpuscale.emulate import routed
from gpuscale.schedules.collectives import exchange


def layer(matrices, seed=1):
    draw = np.random.default_rng(seed)
    choice = exchange.random_choice(12, experts=4, k=2, seed=seed)
    tokens, scores = draw.normal(size=(12, 3)), draw.random((12, 2))
    weights = [tuple(m.astype(float) for m in one) for one in routed.make_experts(4, 3, 5, matrices)]
    return tokens, choice, scores, weights


@pytest.mark.parametrize("matrices", [2, 3])
@pytest.mark.parametrize("node", [0, 2])
def test_the_gradients_are_those_of_small_steps(matrices, node):
    tokens, choice, scores, weights = layer(matrices)
    aim = np.random.default_rng(9).normal(size=tokens.shape)
    back = routed.backward(tokens, aim, choice, scores, weights, 4, node)

    def loss():
        return (routed.alone(tokens, choice, scores, weights)[0] * aim).sum()

    def difference(array, place, h=1e-6):
        before = array[place]
        array[place] = before + h
        above = loss()
        array[place] = before - h
        below = loss()
        array[place] = before
        return (above - below) / (2 * h)

    for place in np.ndindex(tokens.shape):
        assert difference(tokens, place) == pytest.approx(back.outputs[place], abs=1e-6)
    for one, found in zip(weights, back.gradients, strict=True):
        for matrix, gradient in zip(one, found, strict=True):
            for place in ((0, 0), (2, 1)):
                assert difference(matrix, place) == pytest.approx(gradient[place], abs=1e-6)


def test_an_expert_that_nobody_chose_has_gradients_of_zero():
    tokens, choice, scores, weights = layer(2)
    back = routed.backward(tokens, tokens, np.zeros_like(choice) + [0, 1], scores, weights, 2)
    assert not np.any(back.gradients[3][0]) and back.flops[1] == 0


def test_what_comes_back_is_what_went_out():
    _, choice, _, _ = layer(2)
    for node in (0, 2):
        out, back = exchange.dispatch(choice, 4, 4, node), routed.combine(choice, 4, 4, node)
        assert complete(out) and complete(back)
        assert back.sent() == out.received() and back.received() == out.sent()


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"matrices": 4}, "matrices: expected 2, or 3 with a gate"),
        ({"width": 0}, "width: expected a whole number"),
    ],
)
def test_flawed_experts_are_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        routed.make_experts(**({"experts": 2, "width": 3, "hidden": 4} | changes))


def test_flawed_tokens_are_refused():
    tokens, choice, scores, weights = layer(2)
    with pytest.raises(ValueError, match="tokens: expected"):
        routed.forward(tokens[:5], choice, scores, weights, 4)
    with pytest.raises(ValueError, match="multiple of the 3 shards"):
        routed.forward(tokens, choice, scores, weights, 3)
