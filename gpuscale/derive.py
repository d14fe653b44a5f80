"""Derivations: a chain of steps, each proved by sympy before it is shown."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import sympy
from sympy.codegen.cfunctions import log2

from gpuscale.formula import Formula, _check_side, inputs
from gpuscale.symbols import Quantity, flop
from gpuscale.typeset import tex

_BRANCH = (sympy.Max, sympy.Min)
_POINTS = 8


class StepError(ValueError):
    """A step that does not follow from the one before it."""


@dataclass(frozen=True)
class Step:
    """One row: left side, relation, expression, reason, and how it was proved ("" where it was given)."""

    left: str
    relation: str
    expr: sympy.Basic
    why: str
    proof: str


def _points(symbols, count=_POINTS):
    """Exact points: different rationals for each symbol, so that an accident at one point is no proof."""
    primes = [sympy.prime(i + 2) for i in range(64)]
    for k in range(count):
        yield {q: sympy.Rational(primes[(7 * i + 5 * k) % 64] * (k + 2), 3 + (i * k) % 5) for i, q in enumerate(symbols)}


def _ordered(*exprs):
    return sorted(set().union(*(e.free_symbols for e in exprs)), key=str)


def proof_of_equality(a, b) -> str:
    """How a = b was proved: by simplification or at exact points; "" if it is false."""
    gap = sympy.simplify(a - b) if not (a - b).has(log2, sympy.floor, sympy.ceiling) else a - b
    if gap == 0:
        return "equal"
    for point in _points(_ordered(a, b)):
        if sympy.simplify((a - b).subs(point)) != 0:
            return ""
    return f"equal at {_POINTS} exact points"


def _branches(expr):
    """The expression with each Max and Min replaced by one of its arguments, in every combination."""
    joins = sorted(expr.atoms(*_BRANCH), key=str)
    if not joins:
        return [expr]
    return [expr.subs(dict(zip(joins, pick, strict=True))) for pick in itertools.product(*(j.args for j in joins))]


def _far(target, k):
    """A point on the way to the limit: 10^k, or its inverse on the way to zero."""
    if target == sympy.oo:
        return sympy.Integer(10) ** k
    return target + sympy.Rational(1, 10**k)


def _confirmed(ratio, regime) -> bool:
    """The exact ratio closes in on 1 along the regime, its symbols going out in order (the first one farthest)."""
    others = [q for q in _ordered(ratio) if q not in [s for s, _ in regime]]
    base = next(_points(others, 1)) if others else {}
    base[flop] = sympy.Integer(1)
    gaps = []
    for k in (3, 6, 12):
        far = {q: _far(target, k * (len(regime) - i)) for i, (q, target) in enumerate(regime)}
        gaps.append(abs(sympy.N(ratio.subs({**base, **far}) - 1, 30)))
    return gaps[-1] < 1e-3 and gaps[0] >= gaps[1] >= gaps[2]


def tends_to(a, b, regime) -> bool:
    """Whether a/b tends to 1 along ``regime``, proved branch by branch and confirmed at exact growing points."""
    a, b = (sympy.sympify(e).subs(flop, 1) for e in (a, b))
    if not _confirmed(a / b, regime):
        return False
    for branch in _branches(a):
        ratio = branch / b
        if not _confirmed(ratio, regime):
            continue  # this branch does not hold out there
        for symbol, target in regime:
            ratio = sympy.limit(sympy.together(ratio), symbol, target, "+" if target != sympy.oo else "-")
        if sympy.simplify(ratio - 1) == 0:
            return True
    return False


class Derivation:
    """How a formula comes about.

    ``Derivation(T_mem).given(V/W, "...").equal(...).limit(expr, "...", (N, oo))``: each ``equal`` step is proved
    equal to the one before, each ``limit`` step as a limit in the stated order, each ``solved`` step by putting the
    solution back. A step that does not follow raises StepError. ``f = d.matches(formula)`` proves that the chain
    holds a library formula.
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
        """A new chain: ``equation`` (an Eq of two costs) solved for ``symbol``, the solution put back to prove it."""
        gap = (equation.lhs - equation.rhs).subs(flop, 1)
        found = [s for s in sympy.solve(gap, symbol) if s != 0] if expr is None else [sympy.sympify(expr)]
        if len(found) != 1:
            raise StepError(f"{equation} has {len(found)} solutions for {symbol}; expected one")
        if not proof_of_equality(gap.subs(symbol, found[0].subs(flop, 1)), sympy.Integer(0)):
            raise StepError(f"{found[0]} does not solve {equation} for {symbol}")
        self.steps.append(Step(tex(equation.lhs), "=", equation.rhs, "set equal", ""))
        self.lhs = symbol
        self.steps.append(Step(tex(symbol), "=", found[0], why, "solved"))
        return self

    def matches(self, formula: Formula) -> Derivation:
        """Proves that the expression reached is that formula's right side (with ``flop`` as 1)."""
        if not proof_of_equality(self.expr.subs(flop, 1), formula.rhs.subs(flop, 1)):
            raise StepError(f"the derivation gives {self.expr}, the library {formula.rhs}")
        return self

    def _add(self, relation, expr, why, proof) -> Derivation:
        left = tex(self.lhs) if not self.steps else ""
        self.steps.append(Step(left, relation, expr, why, proof))
        return self

    def _repr_html_(self) -> str:
        from gpuscale.display import derivation_html

        return derivation_html(self)

    def __repr__(self) -> str:
        rows = [f"{s.relation} {s.expr}    ({s.why}{'; ' + s.proof if s.proof else ''})" for s in self.steps]
        return f"{self.lhs} " + "\n  ".join(rows)


__all__ = ["Derivation", "StepError", "inputs", "proof_of_equality", "tends_to"]
