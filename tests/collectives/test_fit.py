"""Fitting latency and bandwidth: exact lines, noise, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscale.collectives import alpha_beta, scale

SIZES = np.geomspace(1e3, 1e10, 15)


@given(st.floats(1e-7, 1e-3), st.floats(1e9, 1e12))
def test_a_line_is_found_again(alpha, W):
    fit = alpha_beta(SIZES, alpha + SIZES / W)
    assert fit.alpha == pytest.approx(alpha, rel=1e-6) and fit.W == pytest.approx(W, rel=1e-6)
    assert fit.worst < 1e-6


def test_no_other_line_is_nearer():
    times = (5e-6 + SIZES / 4e11) * (1 + 0.1 * np.sin(np.arange(15)))
    fit = alpha_beta(SIZES, times)

    def miss(alpha, W):
        return (((alpha + SIZES / W) / times - 1) ** 2).sum()

    best = miss(fit.alpha, fit.W)
    for da in (0.99, 1, 1.01):
        for dw in (0.99, 1, 1.01):
            assert miss(fit.alpha * da, fit.W * dw) >= best
    assert fit.residuals == pytest.approx(times / (fit.alpha + SIZES / fit.W) - 1)


def test_latency_is_never_below_zero_and_gaps_are_left_out():
    sizes = np.array([1e6, 2e6, np.nan, 4e6])
    fit = alpha_beta(sizes, np.array([1e-6, 3e-6, 1e-3, 9e-6]))
    assert fit.alpha == 0 and fit.W > 0 and len(fit.residuals) == 3


@pytest.mark.parametrize(
    "sizes, times, told",
    [
        ([1e3, 1e4], [1e-6], "one per size"),
        ([1e3, 1e3], [1e-6, 2e-6], "two or more different"),
        ([1e3, 0], [1e-6, 2e-6], "above zero"),
        ([1e3, 1e4], [1e-6, -2e-6], "above zero"),
        ([1e3, 1e6], [1e-3, 1e-9], "grow with the size"),
    ],
)
def test_what_cannot_be_fitted_is_refused(sizes, times, told):
    with pytest.raises(ValueError, match=told):
        alpha_beta(sizes, times)


def test_a_factor_is_found_again_and_no_other_is_nearer():
    law = np.array([1.0, 2.0, 5.0])
    assert scale(law, 0.7 * law) == pytest.approx(0.7)
    measured = 0.7 * law + [0.1, -0.2, 0.05]
    best = scale(law, measured)
    assert best != pytest.approx(0.7)
    for factor in (best - 1e-3, best + 1e-3):
        assert ((factor * law - measured) ** 2).sum() > ((best * law - measured) ** 2).sum()


@pytest.mark.parametrize(
    "law, measured, told", [([1.0], [1.0, 2.0], "expected one per"), ([], [], "one value"), ([0.0], [1.0], "zero")]
)
def test_a_law_that_cannot_be_scaled_is_refused(law, measured, told):
    with pytest.raises(ValueError, match=told):
        scale(law, measured)
