"""Functions that naive floating point gets wrong, made exact in both numpy and JavaScript.

The ceiling of log2 steps exactly at powers of two. Binomials go through their logarithms: a ratio of two huge ones
is an ordinary number.
"""

import math

import numpy as np
import sympy
from sympy.codegen.cfunctions import log2

_MANY = 1000  # with this many factors or more, Stirling's series is exact to a float's last digits


class CeilLog2(sympy.Function):
    """The ceiling of log2 of a positive number."""

    nargs = 1


class LogBinomial(sympy.Function):
    """The natural logarithm of a binomial; -oo where the binomial is 0."""

    nargs = 2


def steady(expr):
    """The expression with ceil(log2) and binomials in the form that ``FUNCTIONS`` and ``SCRIPTS`` compute.

    >>> from gpuscale.symbols import N
    >>> steady(sympy.ceiling(log2(N)))
    CeilLog2(N)
    """
    if expr.has(sympy.ceiling):
        expr = expr.replace(_is_ceiling, lambda e: CeilLog2(e.args[0].args[0]))
    if expr.has(sympy.binomial):
        expr = expr.replace(lambda e: e.is_Mul and any(map(_is_binomial, e.args)), _ratio)
        expr = expr.replace(_is_binomial, _ratio)
    return expr


def _is_ceiling(expr) -> bool:
    return isinstance(expr, sympy.ceiling) and isinstance(expr.args[0], log2)


def _is_binomial(factor) -> bool:
    return isinstance(factor.base if factor.is_Pow else factor, sympy.binomial)


def _ratio(expr):
    """A product with its binomials as one exponential."""
    log, rest = sympy.S.Zero, sympy.S.One
    for factor in sympy.Mul.make_args(expr):
        base, power = factor.as_base_exp()
        if isinstance(base, sympy.binomial):
            log += power * LogBinomial(*base.args)
        else:
            rest *= factor
    return rest * sympy.exp(log)


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
    counted = (few == np.floor(few)) & (few <= _MANY)
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


FUNCTIONS = {"CeilLog2": ceil_log2, "LogBinomial": log_binomial}
SCRIPTS = {
    "CeilLog2": (
        "(x) => { const e = Math.round(Math.log2(x)); return 2 ** e < x ? e + 1 : 2 ** (e - 1) < x ? e : e - 1; }"
    ),
    "LogBinomial": (
        "(n, k) => { const r = n - k; if (r < 0) return -Infinity; if (k < 0) return NaN; let t = 0; "
        "const few = r < k && Number.isInteger(r) ? r : k; "
        f"if (Number.isInteger(few) && few <= {_MANY}) "
        "{ for (let i = 1; i <= few; i++) t += Math.log(Math.max(n - few + i, 0.5) / i); return t; } "
        "const f = (m) => { const x = m + 11; let s = (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI)"
        " + (1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - 1 / (1680 * x ** 7)); "
        "for (let i = 1; i < 11; i++) s -= Math.log(m + i); return s; }; "
        "return f(n) - f(k) - f(r); }"
    ),
}
