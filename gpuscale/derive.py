"""Derivations: a chain of steps, each proved by sympy before it is shown."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import sympy
from sympy.codegen.cfunctions import log2

from gpuscale.crossing import tidy
from gpuscale.dimension import dimension
from gpuscale.formula import Formula, _check_side, inputs
from gpuscale.symbols import Quantity, flop
from gpuscale.typeset import tex

_BRANCH = (sympy.Max, sympy.Min, sympy.Piecewise)
_POINTS = 24


class StepError(ValueError):
    """A step that does not follow from the one before it."""


@dataclass(frozen=True)
class Step:
    """One row: left side as text and LaTeX, relation, expression, reason, proof ("" where it was given)."""

    name: str
    left: str
    relation: str
    expr: sympy.Basic
    why: str
    proof: str


def _points(symbols, count=_POINTS):
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
    """How a = b was proved: by simplification or at exact points; "" if it is false."""
    gap = sympy.simplify(a - b) if not (a - b).has(log2, sympy.floor, sympy.ceiling) else a - b
    if gap == 0:
        return "equal"
    for point in _points(_ordered(a, b)):
        rest = _plain_logs((a - b).subs(point))
        if sympy.expand(sympy.fraction(sympy.together(rest))[0]) != 0 and sympy.simplify(rest) != 0:
            return ""
    return f"equal at {_POINTS} exact points"


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
    picks = itertools.product(*(_arguments(j) for j in joins))
    swapped = [expr.xreplace(dict(zip(joins, pick, strict=True))) for pick in picks]
    return [branch for one in swapped for branch in _branches(one)]


def _arguments(join):
    return [value for value, _ in join.args] if isinstance(join, sympy.Piecewise) else join.args


def _far(target, k):
    """A point on the way to the limit: 10^k, or its inverse on the way to zero."""
    if target == sympy.oo:
        return sympy.Integer(10) ** k
    return target + sympy.Rational(1, 10**k)


def _out_there(symbols, regime):
    """Exact points along the regime, in threes at doubling exponents, the first symbol far the farthest."""
    last = len(regime) - 1
    for base in _points([q for q in symbols if q not in dict(regime)], _POINTS // 2):
        yield [
            base | {q: _far(target, k * 4 ** (last - i)) for i, (q, target) in enumerate(regime)} for k in (16, 32, 64)
        ]


def _closes_in(ratio, points) -> bool:
    """Whether the exact ratio comes nearer to 1 from point to point, at least as fast as 1/log."""
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


class Derivation:
    """How a formula comes about.

    ``Derivation(T_mem).given(V/W, "...").equal(...).limit(expr, "...", (N, oo))``: each ``equal`` step is
    proved equal to the one before, each ``limit`` step as a limit in the stated order, each ``solved`` step
    by putting the solution back. A step that does not follow raises StepError. ``d.matches(formula)`` proves
    that the chain holds a library formula.
    """

    def __init__(self, lhs: Quantity):
        self.lhs, self.steps = lhs, []
        self._equation: sympy.Eq | None = None

    @property
    def expr(self):
        """The expression reached so far."""
        if not self.steps:
            raise StepError("a derivation starts with given(...)")
        return self.steps[-1].expr

    def given(self, expr, why: str) -> Derivation:
        """The starting point: what the reasoning in words gives (a Formula gives its right side)."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        _check_side(f"given {self.lhs}", self.lhs, expr)
        return self._add("=", expr, why, "")

    def equal(self, expr, why: str) -> Derivation:
        """The same value in another form."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        _check_side(f"step {expr}", self.lhs, expr)
        proof = proof_of_equality(self.expr, expr)
        if not proof:
            raise StepError(f"{self.expr} is not equal to {expr}; expected the same value in another form")
        return self._add("=", expr, why, proof)

    def put(self, why: str, *formulas: Formula, **values) -> Derivation:
        """Formulas in place of their left-hand side, expressions in place of symbols: computed, not typed."""
        from gpuscale.symbols import quantities

        swaps = {f.lhs: f.rhs for f in formulas} | {quantities()[k]: sympy.sympify(v) for k, v in values.items()}
        for symbol, expr in swaps.items():
            _check_side(f"put {symbol}", symbol, expr)
            if symbol not in self.expr.free_symbols:
                raise StepError(f"put: {symbol} does not occur in {self.expr}")
        return self._add("=", self.expr.subs(swaps, simultaneous=True), why, "put in")

    def limit(self, expr, why: str, *regime) -> Derivation:
        """What the expression tends to along (symbol, target) pairs, taken in order."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        _check_side(f"step {expr}", self.lhs, expr)
        if not regime or not tends_to(self.expr, expr, regime):
            raise StepError(f"{self.expr} does not tend to {expr} along {regime}")
        return self._add("->", expr, why, "limit")

    def solved(self, equation, symbol: Quantity, why: str, expr=None) -> Derivation:
        """A new chain: ``equation`` (an Eq of two costs) solved for ``symbol``, proved by putting it back."""
        if not isinstance(equation, sympy.Eq):
            raise StepError(f"{equation} is no equation with something to solve; expected Eq of two costs")
        gap = equation.lhs - equation.rhs
        dimension(gap)  # unlike sides are refused here, with both named
        found = [sympy.sympify(expr)]
        if expr is None:
            found = [tidy(s) for s in sympy.solve(gap, symbol) if s != 0]
        if len(found) != 1:
            raise StepError(f"{equation} has {len(found)} solutions for {symbol}; expected one")
        _check_side(f"solved {symbol}", symbol, found[0])
        if not proof_of_equality(gap.subs(symbol, found[0]), sympy.Integer(0)):
            raise StepError(f"{found[0]} does not solve {equation} for {symbol}")
        self.steps.append(Step(str(equation.lhs), tex(equation.lhs), "=", equation.rhs, "set equal", ""))
        self.lhs = symbol
        self.steps.append(Step(str(symbol), tex(symbol), "=", found[0], why, "solved"))
        return self

    def matches(self, formula: Formula) -> Derivation:
        """Proves that the expression reached is that formula's right side (with ``flop`` as 1)."""
        if not proof_of_equality(self.expr.subs(flop, 1), formula.rhs.subs(flop, 1)):
            raise StepError(f"the derivation gives {self.expr}, the library {formula.rhs}")
        return self

    def _add(self, relation, expr, why, proof) -> Derivation:
        name, left = (str(self.lhs), tex(self.lhs)) if not self.steps else ("", "")
        self.steps.append(Step(name, left, relation, expr, why, proof))
        return self

    def _repr_html_(self) -> str:
        from gpuscale.display import derivation_html

        return derivation_html(self)

    def __repr__(self) -> str:
        rows = []
        for s in self.steps:
            reason = f"{s.why}; {s.proof}" if s.proof else s.why
            rows.append(f"{s.name} {s.relation} {s.expr}    ({reason})".strip())
        return "\n".join(rows)


__all__ = ["Derivation", "StepError", "inputs", "proof_of_equality", "tends_to"]
