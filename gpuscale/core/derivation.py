"""Derivations: a chain of steps, each proved by sympy before it is shown."""

from dataclasses import dataclass

import sympy

from gpuscale.core.cards import derivation_html
from gpuscale.core.crossovers import tidy
from gpuscale.core.dimension import dimension, must_fit
from gpuscale.core.formula import Formula
from gpuscale.core.latex import tex
from gpuscale.core.proof import proof_of_equality, tends_to
from gpuscale.symbols import Quantity, flop, quantities


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


class Derivation:
    """How a formula is derived.

    ``Derivation(T_mem).given(V/W, "...").equal(...).limit(expr, "...", (N, oo))``: each ``equal`` step is
    proved equal to the one before, each ``limit`` step as a limit in the stated order, each ``solved`` step
    by putting the solution back. A step that does not follow raises StepError. ``d.matches(formula)`` proves
    that the chain holds a library formula.

    >>> from sympy import oo
    >>> from gpuscale.collectives import all_gather_bytes
    >>> from gpuscale.symbols import N, V, V_rank, n_steps
    >>> chain = Derivation(V_rank).given(n_steps * V / N, "a chunk of V/N in each step")
    >>> chain = chain.put("until each chunk has visited all", n_steps=N - 1).matches(all_gather_bytes)
    >>> chain.limit(V, "for many ranks", (N, oo))
    V_rank = V*n_steps/N    (a chunk of V/N in each step)
    = V*(N - 1)/N    (until each chunk has visited all; put in)
    -> V    (for many ranks; limit)
    >>> chain.equal(2 * V, "the same")
    Traceback (most recent call last):
    gpuscale.core.derivation.StepError: V is not equal to 2*V; expected the same value in another form
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

    def given(self, expr, why: str) -> "Derivation":
        """The starting point, which the reasoning in words gives (a Formula gives its right side)."""
        return self._add("=", self._side(expr, f"given {self.lhs}"), why, "")

    def equal(self, expr, why: str) -> "Derivation":
        """The same value in another form."""
        expr = self._side(expr)
        proof = proof_of_equality(self.expr, expr)
        if not proof:
            raise StepError(f"{self.expr} is not equal to {expr}; expected the same value in another form")
        return self._add("=", expr, why, proof)

    def put(self, why: str, *formulas: Formula, **values) -> "Derivation":
        """Formulas in place of their left-hand side, expressions in place of symbols: computed, not typed."""
        swaps = {f.lhs: f.rhs for f in formulas} | {quantities()[k]: sympy.sympify(v) for k, v in values.items()}
        for symbol, expr in swaps.items():
            must_fit(f"put {symbol}", symbol, expr)
            if symbol not in self.expr.free_symbols:
                raise StepError(f"put: {symbol} does not occur in {self.expr}")
        return self._add("=", self.expr.subs(swaps, simultaneous=True), why, "put in")

    def limit(self, expr, why: str, *regime) -> "Derivation":
        """The limit of the expression along (symbol, target) pairs, taken in order."""
        expr = self._side(expr)
        if not regime or not tends_to(self.expr, expr, regime):
            raise StepError(f"{self.expr} does not tend to {expr} along {regime}")
        return self._add("->", expr, why, "limit")

    def solved(self, equation, symbol: Quantity, why: str, expr=None) -> "Derivation":
        """A new chain: ``equation`` (an Eq of two costs) solved for ``symbol``, proved by putting it back."""
        if not isinstance(equation, sympy.Eq):
            raise StepError(f"{equation} is not an equation to solve; expected Eq of two costs")
        gap = equation.lhs - equation.rhs
        dimension(gap)  # unlike sides are refused here, with both named
        found = [sympy.sympify(expr)]
        if expr is None:
            found = [tidy(s) for s in sympy.solve(gap, symbol) if s != 0]
        if len(found) != 1:
            raise StepError(f"{equation} has {len(found)} solutions for {symbol}; expected one")
        must_fit(f"solved {symbol}", symbol, found[0])
        if not proof_of_equality(gap.subs(symbol, found[0]), sympy.Integer(0)):
            raise StepError(f"{found[0]} does not solve {equation} for {symbol}")
        self.steps.append(Step(str(equation.lhs), tex(equation.lhs), "=", equation.rhs, "set equal", ""))
        self.lhs = symbol
        self.steps.append(Step(str(symbol), tex(symbol), "=", found[0], why, "solved"))
        return self

    def matches(self, formula: Formula) -> "Derivation":
        """Proves that the expression reached is that formula's right side (with ``flop`` as 1)."""
        if not proof_of_equality(self.expr.subs(flop, 1), formula.rhs.subs(flop, 1)):
            raise StepError(f"the derivation gives {self.expr}, the library {formula.rhs}")
        return self

    def _side(self, expr, what: str = "") -> sympy.Expr:
        """An expression, or the right side of a formula, that can stand for what is derived."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        must_fit(what or f"step {expr}", self.lhs, expr)
        return expr

    def _add(self, relation, expr, why, proof) -> "Derivation":
        name, left = (str(self.lhs), tex(self.lhs)) if not self.steps else ("", "")
        self.steps.append(Step(name, left, relation, expr, why, proof))
        return self

    def _repr_html_(self) -> str:
        return derivation_html(self)

    def __repr__(self) -> str:
        rows = []
        for s in self.steps:
            reason = f"{s.why}; {s.proof}" if s.proof else s.why
            rows.append(f"{s.name} {s.relation} {s.expr}    ({reason})".strip())
        return "\n".join(rows)
