"""Expressions of sympy at whole numbers and Fractions, exact: as plain Python, with sympy's own substitution behind it.

Nothing of the library's numpy or JavaScript is in it. What plain Python cannot say exactly goes to sympy.
"""

import functools
import math
from fractions import Fraction

import sympy
from sympy.codegen.cfunctions import log2

from gpuscale.symbols import flop


class Inexact(Exception):
    """A part of an expression that fractions cannot say."""


def _power(base, exponent) -> Fraction:
    if Fraction(exponent).denominator != 1:
        raise Inexact
    return Fraction(base) ** int(exponent)


def _log2(x) -> Fraction:
    x = Fraction(x)
    out = x.numerator.bit_length() - x.denominator.bit_length()
    if x <= 0 or Fraction(2) ** out != x:
        raise Inexact
    return Fraction(out)


def _ceil_log2(x) -> Fraction:
    if x <= 0:
        raise Inexact
    out = x.numerator.bit_length() - x.denominator.bit_length() - 1  # at most the answer
    while Fraction(2) ** out < x:
        out += 1
    return Fraction(out)


def _no_piece():
    raise Inexact


TOOLS = {
    "Fraction": Fraction,
    "power": _power,
    "log2": _log2,
    "ceil_log2": _ceil_log2,
    "no_piece": _no_piece,
    "max": max,
    "min": min,
    "abs": abs,
    "floor": lambda x: Fraction(math.floor(x)),
    "ceiling": lambda x: Fraction(math.ceil(x)),
}
CALLS = {
    sympy.Max: "max",
    sympy.Min: "min",
    sympy.Abs: "abs",
    sympy.floor: "floor",
    sympy.ceiling: "ceiling",
    sympy.Pow: "power",
    log2: "log2",
}
BETWEEN = {
    sympy.Add: "+",
    sympy.Mul: "*",
    sympy.Mod: "%",
    sympy.Eq: "==",
    sympy.Ne: "!=",
    sympy.Lt: "<",
    sympy.Le: "<=",
    sympy.Gt: ">",
    sympy.Ge: ">=",
    sympy.And: "and",
    sympy.Or: "or",
}


def _code(expr, names) -> str:
    """An expression in Python, its symbols by the given names."""
    if expr.is_Symbol:
        return names[expr]
    if expr.is_Rational:
        return f"Fraction({expr.p}, {expr.q})"
    if expr in (sympy.true, sympy.false):
        return str(bool(expr))
    if isinstance(expr, sympy.Piecewise):
        pairs = [(_code(value, names), _code(condition, names)) for value, condition in expr.args]
        return "(" + "".join(f"{value} if {condition} else " for value, condition in pairs) + "no_piece())"
    if isinstance(expr, sympy.ceiling) and isinstance(expr.args[0], log2):
        return f"ceil_log2({_code(expr.args[0].args[0], names)})"
    parts = [_code(part, names) for part in expr.args]
    if expr.func in BETWEEN:
        return "(" + f" {BETWEEN[expr.func]} ".join(parts) + ")"
    if expr.func is sympy.Not:
        return f"(not {parts[0]})"
    if expr.func in CALLS:
        return f"{CALLS[expr.func]}({', '.join(parts)})"
    raise Inexact


@functools.lru_cache(maxsize=4096)
def _compiled(expr):
    """The symbols to be given, and the function of them, or None where Python cannot say it exactly."""
    symbols = sorted(expr.free_symbols - {flop}, key=str)
    names = {q: f"x{i}" for i, q in enumerate(symbols)}
    try:
        code = _code(expr, names | {flop: "Fraction(1, 1)"})
    except Inexact:
        return symbols, None
    return symbols, eval(f"lambda {', '.join(names.values())}: {code}", dict(TOOLS))  # noqa: S307


def fraction(value) -> Fraction:
    """A value as the fraction that it is, of Python's own integers (numpy's overflow)."""
    out = Fraction(value)
    return Fraction(int(out.numerator), int(out.denominator))


def exactly(expr, values):
    """An expression at values by name: a Fraction or truth value, or whatever sympy finds where it is neither."""
    symbols, function = _compiled(expr)
    given = [fraction(values[q.name]) for q in symbols]
    if function:
        try:
            return function(*given)
        except (Inexact, ZeroDivisionError):
            pass
    return by_sympy(expr, dict(zip(symbols, given, strict=True)))


def by_sympy(expr, given):
    """The same by sympy's substitution alone."""
    out = expr.xreplace({q: sympy.Rational(value) for q, value in given.items()} | {flop: sympy.S.One})
    return Fraction(int(out.p), int(out.q)) if out.is_Rational else out
