"""Fits of measurements: latency and bandwidth from times, and the efficiency of a formula."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fit:
    """A fitted line T = alpha + V/W: latency [s], bandwidth [B/s], and residuals.

    For a collective these are ``alpha_call`` and ``W_fit`` of the formula ``call_time``.

    ``residuals`` are measured over fitted times, less one, in the order of the sizes: 0.1 is 10% slower than the line.
    """

    alpha: float
    W: float
    residuals: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest residual, by size."""
        return max(map(abs, self.residuals))


def alpha_beta(sizes, times) -> Fit:
    """Fits T = alpha + V/W to sizes [B] and times [s] by least squares of the relative error; alpha is not negative.

    Relative, because sizes span many decades: an absolute fit would be dominated by the largest ones. Missing numbers
    (nan) are left out. Raises ValueError for shapes that differ, for fewer than two sizes, for numbers that
    are not positive, and for times that do not grow with the size.
    """
    V, T = np.asarray(sizes, float), np.asarray(times, float)
    if V.ndim != 1 or V.shape != T.shape:
        raise ValueError(f"times: expected one per size; got shapes {V.shape} and {T.shape}")
    known = ~(np.isnan(V) | np.isnan(T))
    V, T = V[known], T[known]
    if len(set(V)) < 2:
        raise ValueError(f"sizes: expected two or more different ones; got {len(set(V))}")
    if V.min() <= 0 or T.min() <= 0:
        raise ValueError(f"sizes, times: expected numbers above zero; got {V.min():g} and {T.min():g}")
    alpha, slope = np.linalg.lstsq(np.column_stack([1 / T, V / T]), np.ones_like(T), rcond=None)[0]
    if alpha < 0:
        alpha, slope = 0.0, (V / T).sum() / ((V / T) ** 2).sum()
    if slope <= 0:
        raise ValueError("times: expected values that grow with the size; the best fit decreases")
    return Fit(float(alpha), float(1 / slope), tuple(float(r) for r in T / (alpha + slope * V) - 1))


def scale(law, measured) -> float:
    """The factor that fits a formula to measurements by least squares: an efficiency, if the formula is a peak.

    ``law`` holds the formula's values at a factor of one, ``measured`` the measurements at the same points.
    Raises ValueError for shapes that differ, for no points, and for a formula that is zero everywhere.
    """
    law, measured = np.asarray(law, float), np.asarray(measured, float)
    if law.ndim != 1 or law.shape != measured.shape:
        raise ValueError(f"measured: expected one per value of the formula; got {law.shape} and {measured.shape}")
    if not law.any():
        raise ValueError("law: expected at least one value that is not zero")
    return float(law @ measured / (law @ law))
