"""Functions that naive floating point gets wrong, in numpy alone.

The ceiling of log2 steps exactly at powers of two. Binomials go through their logarithms: a ratio of two huge ones
is an ordinary number.
"""

import math

import numpy as np

MANY = 1000  # with this many factors or more, Stirling's series is exact to a float's last digits


def ceil_log2(x):
    """The least whole e with 2**e >= x, from the bits of x: a float or an array, as floats.

    >>> float(ceil_log2(2.0**29)), float(ceil_log2(2.0**29 + 1))
    (29.0, 30.0)
    """
    fraction, exponent = np.frexp(x)
    return np.where(fraction == 0.5, exponent - 1, exponent).astype(float)


def log_binomial(n, k):
    """Logarithm of n choose k, both 0 or more: exact for whole numbers, the gamma function's continuation
    between them; -inf where k is above n.

    >>> round(float(np.exp(log_binomial(8, 2))), 9)
    28.0
    """
    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    rest = n - k
    few = np.where((rest < k) & (rest == np.floor(rest)), rest, k)
    counted = (few == np.floor(few)) & (few <= MANY)
    out = np.where(rest < 0, -np.inf, np.where(k < 0, np.nan, 0.0))
    steps = np.where(counted & (rest >= 0), few, 0)
    for i in range(1, int(steps.max(initial=0)) + 1):
        out = out + np.where(i <= steps, np.log(np.maximum(n - few + i, 0.5) / i), 0.0)
    if (counted | (rest < 0)).all():
        return out
    gamma = log_factorial(n) - log_factorial(k) - log_factorial(rest)
    return np.where(counted | (rest < 0), out, gamma)


def log_factorial(n):
    """Logarithm of n! by Stirling's series, begun ten places further on.

    >>> round(float(np.exp(log_factorial(5))), 9)
    120.0
    """
    n = np.maximum(n, 0)
    x = n + 11
    series = (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi)
    series += 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - 1 / (1680 * x**7)
    return series - sum(np.log(n + i) for i in range(1, 11))
