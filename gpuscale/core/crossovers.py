"""Where two costs are equal: solved by sympy where it can, else bracketed and bisected."""

from dataclasses import dataclass

import numpy as np
import sympy

from gpuscale.core.dimension import dimension
from gpuscale.core.evaluation import as_number, evaluate, inputs, must_name
from gpuscale.core.formula import Formula
from gpuscale.core.latex import tex
from gpuscale.symbols import Quantity, flop

_HARD = (sympy.Max, sympy.Min, sympy.Piecewise, sympy.floor, sympy.ceiling, sympy.Function)


@dataclass(frozen=True)
class Crossover:
    """The point along ``symbol`` where costs ``f`` and ``g`` are equal.

    ``exprs`` holds the solutions in closed form (empty where sympy finds none). ``at(**values)`` gives them
    in numbers.
    """

    f: sympy.Expr
    g: sympy.Expr
    symbol: Quantity
    exprs: tuple

    @property
    def expr(self):
        """The closed form when there is exactly one, else None."""
        return self.exprs[0] if len(self.exprs) == 1 else None

    def _repr_latex_(self) -> str:
        """The closed forms; where there is none, the equation."""
        if self.exprs:
            return r"$\displaystyle " + r",\quad ".join(f"{tex(self.symbol)} = {tex(e)}" for e in self.exprs) + "$"
        return rf"$\displaystyle {tex(self.f)} = {tex(self.g)}$"

    def at(self, lo: float = 1e-12, hi: float = 1e18, **values) -> list[float]:
        """The crossing points in numbers, ascending; empty if the costs never meet between ``lo`` and ``hi``.

        Where two costs are equal along a stretch, its two ends are given. Raises TypeError for a missing or
        unknown name.
        """
        wanted = [q for q in inputs(sympy.Tuple(self.f, self.g)) if q != self.symbol]
        must_name(f"crossing along {self.symbol}", wanted, values)
        for q in wanted:
            as_number(q, values[q.name])
        lo = max(lo, self.symbol.least)
        if self.exprs:
            found = [_real(e, values) for e in self.exprs]
            return sorted(x for x in found if x is not None and lo <= x <= hi)
        return _bisected(lambda x: self._gap(x, values), lo, hi)

    def _gap(self, x, values):
        out = []
        for expr in (self.f, self.g):
            given = {q.name: x if q == self.symbol else values[q.name] for q in inputs(expr)}
            out.append(np.broadcast_to(evaluate(expr, **given), np.shape(x)))
        with np.errstate(invalid="ignore"):  # two infinite costs neither cross nor differ
            return out[0] - out[1]


def crossover(f, g, symbol: Quantity) -> Crossover:
    """Where two costs are equal along ``symbol``. ``f`` and ``g`` are formulas or expressions.

    Raises ValueError when neither depends on the symbol, TypeError when the costs are of different kinds.

    >>> from gpuscale.symbols import V, W, W_nvl, alpha
    >>> meeting = crossover(alpha + V / W, V / W_nvl, V)
    >>> meeting.expr
    W*W_nvl*alpha/(W - W_nvl)
    >>> meeting.at(alpha=1e-6, W=4.0, W_nvl=2.0)
    [4e-06]
    """
    f, g = (e.rhs if isinstance(e, Formula) else sympy.sympify(e) for e in (f, g))
    if not (f.has(symbol) or g.has(symbol)):
        raise ValueError(f"crossover: neither cost depends on {symbol}; expected one that does")
    dimension(f - g)  # unlike costs are refused here, with both named
    exprs: tuple = ()
    if not (f - g).has(*_HARD):
        numerator = sympy.numer(sympy.together((f - g).subs(flop, 1)))
        exprs = tuple(tidy(s) for s in sympy.solve(numerator, symbol) if s != 0 and s.is_negative is not True)
    return Crossover(f, g, symbol, exprs)


def tidy(expr):
    """A solution with as few minus signs as possible.

    >>> from gpuscale.symbols import D, F, M
    >>> tidy(-D * F / (M - D * F))
    D*F/(D*F - M)
    """
    over, under = sympy.fraction(sympy.factor(sympy.simplify(expr)))
    forms = [over / under, (-over) / sympy.expand(-under)]
    return min(forms, key=lambda e: (str(e).startswith("-"), str(e).count("-")))


def _real(expr, values) -> float | None:
    known = {q: values[q.name] for q in inputs(expr)}
    exact = sympy.N(expr.subs(known).subs(flop, 1))
    if not exact.is_finite:  # the solution diverges: for these values the costs never meet
        return None
    value = complex(exact)
    return value.real if abs(value.imag) <= 1e-12 * abs(value.real) and value.real > 0 else None


def _bisected(gap, lo: float, hi: float, samples: int = 4000, steps: int = 80) -> list[float]:
    """Sign changes on a logarithmic grid, each halved until it is as sharp as floats allow."""
    grid = np.geomspace(lo, hi, samples)
    sign = np.sign(gap(grid))
    found = []
    for i in np.flatnonzero(sign[:-1] * sign[1:] < 0):
        a, c = grid[i], grid[i + 1]
        for _ in range(steps):
            mid = np.sqrt(a * c)
            a, c = (mid, c) if np.sign(gap(np.array([mid]))[0]) == sign[i] else (a, mid)
        found.append(float(np.sqrt(a * c)))
    zero = sign == 0
    inside = np.r_[False, zero[:-1]] & np.r_[zero[1:], False]  # a stretch gives only its two ends
    return sorted(found + [float(x) for x in grid[zero & ~inside]])
