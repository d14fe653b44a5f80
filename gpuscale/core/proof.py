"""Proofs by machine: that two expressions are equal, and that one tends to another."""

import itertools
import random

import sympy
from sympy.codegen.cfunctions import log2

from gpuscale.symbols import flop

_BRANCH = (sympy.Max, sympy.Min, sympy.Piecewise)
_POINTS = 24


def _points(symbols, count):
    """Exact points, the same each time: rationals over five decades, so that each cost wins somewhere."""
    draw = random.Random(7)
    for _ in range(count):
        point = {}
        for q in symbols:
            size = sympy.Rational(draw.randint(2, 997), draw.randint(2, 97))
            point[q] = sympy.nsimplify(q.least) + size * sympy.Integer(10) ** draw.randint(-2, 2)
        yield point


def _ordered(*exprs):
    return sorted(set().union(*(e.free_symbols for e in exprs)), key=str)


def proof_of_equality(a, b) -> str:
    """How a = b was proved: by simplification or for sets of exact values; "" if it is false.

    >>> from gpuscale.symbols import N, V
    >>> proof_of_equality(V - V / N, V * (N - 1) / N), proof_of_equality(V, V / N)
    ('equal', '')
    """
    plain = not (a - b).has(log2, sympy.floor, sympy.ceiling)
    if plain and _cancels(a - b):
        return "equal"
    for point in _points(_ordered(a, b), _POINTS):
        rest = _plain_logs((a - b).subs(point))
        if not _cancels(rest) and sympy.simplify(rest) != 0:
            return ""
    return "equal" if plain and sympy.simplify(a - b) == 0 else f"equal for {_POINTS} sets of values"


def _cancels(gap) -> bool:
    """Whether the numerator is zero once multiplied out: takes a fraction of the time of ``simplify``."""
    return sympy.expand(sympy.fraction(sympy.together(gap))[0]) == 0


def _plain_logs(value):
    """A number with its logarithms taken apart into those of primes, so that equal ones cancel."""
    if not value.has(log2, sympy.log):
        return value
    return sympy.expand_log(value.rewrite(sympy.log), factor=True, force=True)


def _branches(expr):
    """The expression with one argument in place of each Max, Min and Piecewise, in all combinations."""
    found = expr.atoms(*_BRANCH)
    outermost = (j for j in found if not any(k.has(j) for k in found - {j}))
    joins = sorted(outermost, key=str)
    if not joins:
        return [expr]
    values = ([value for value, _ in j.args] if isinstance(j, sympy.Piecewise) else j.args for j in joins)
    picks = itertools.product(*values)
    swapped = [expr.xreplace(dict(zip(joins, pick, strict=True))) for pick in picks]
    return [branch for one in swapped for branch in _branches(one)]


def _far(target, k):
    """A point toward the limit: 10^k, or its inverse toward zero."""
    if target == sympy.oo:
        return sympy.Integer(10) ** k
    return target + sympy.Rational(1, 10**k)


def _out_there(symbols, regime):
    """Exact points along the regime, in threes at doubling exponents, the first symbol far the farthest."""
    last = len(regime) - 1
    for base in _points([q for q in symbols if q not in dict(regime)], _POINTS // 2):
        far = ({q: _far(target, k * 4 ** (last - i)) for i, (q, target) in enumerate(regime)} for k in (16, 32, 64))
        yield [base | point for point in far]


def _closes_in(ratio, points) -> bool:
    """Whether the exact ratio gets closer to 1 from point to point, at least as fast as 1/log."""
    gaps = [abs(sympy.N(ratio.subs(point) - 1, 60)) for point in points]
    if not all(gap.is_finite for gap in gaps):
        return False
    return all(far <= near * sympy.Rational(3, 4) for near, far in itertools.pairwise(gaps))


def _limit_is_one(ratio, regime) -> bool:
    for symbol, target in regime:
        try:
            ratio = sympy.limit(sympy.together(ratio), symbol, target, "-" if target == sympy.oo else "+")
        except (NotImplementedError, ValueError):
            return False
    return sympy.simplify(ratio - 1) == 0


def tends_to(a, b, regime) -> bool:
    """Whether a/b tends to 1 along ``regime``.

    Confirmed at exact growing points, for many values of the other symbols; proved by sympy's limit for every
    pair of branches (of a Max, Min or Piecewise) that holds out there.

    >>> from sympy import Max, oo
    >>> from gpuscale.symbols import N, V, W, alpha
    >>> tends_to(Max(alpha, V / W * (N - 1) / N), V / W, ((V, oo), (N, oo)))
    True
    >>> tends_to(2 * V * (N - 1) / N, V, ((N, oo),))
    False
    """
    a, b = (sympy.sympify(e).subs(flop, 1) for e in (a, b))
    pairs = list(itertools.product(_branches(a), _branches(b)))
    proved: dict = {}
    for points in _out_there(_ordered(a, b), regime):
        if not _closes_in(a / b, points):
            return False
        end = points[-1]
        here = [(x, y) for x, y in pairs if x.subs(end) == a.subs(end) and y.subs(end) == b.subs(end)]
        for x, y in here:
            if (x, y) not in proved:
                proved[x, y] = _limit_is_one(x / y, regime)
        if not any(proved[pair] for pair in here):
            return False
    return True
