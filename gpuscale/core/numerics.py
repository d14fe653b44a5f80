"""Functions that naive floating point gets wrong, made exact in both numpy (``floats``) and JavaScript."""

import sympy
from sympy.codegen.cfunctions import log2

from gpuscale.core.floats import MANY, ceil_log2, log_binomial


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


FUNCTIONS = {"CeilLog2": ceil_log2, "LogBinomial": log_binomial}
SCRIPTS = {
    "CeilLog2": (
        "(x) => { const e = Math.round(Math.log2(x)); return 2 ** e < x ? e + 1 : 2 ** (e - 1) < x ? e : e - 1; }"
    ),
    "LogBinomial": (
        "(n, k) => { const r = n - k; if (r < 0) return -Infinity; if (k < 0) return NaN; let t = 0; "
        "const few = r < k && Number.isInteger(r) ? r : k; "
        f"if (Number.isInteger(few) && few <= {MANY}) "
        "{ for (let i = 1; i <= few; i++) t += Math.log(Math.max(n - few + i, 0.5) / i); return t; } "
        "const f = (m) => { const x = m + 11; let s = (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI)"
        " + (1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - 1 / (1680 * x ** 7)); "
        "for (let i = 1; i < 11; i++) s -= Math.log(m + i); return s; }; "
        "return f(n) - f(k) - f(r); }"
    ),
}
