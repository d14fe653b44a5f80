"""The fixed points at which formula answers are compared: the same for the page and for Python."""

import random

import sympy

from gpuscale.core.evaluation import evaluate, inputs
from gpuscale.quiz import grading

POINTS = 5


def values_at(expr, points) -> list[float]:
    """An expression at each point; the points may hold more symbols than it needs."""
    names = [q.name for q in inputs(expr)]
    return [evaluate(expr, **{n: p[n] for n in names}) for p in points]


def fixed_points(question, exprs: list) -> list[dict[str, float]]:
    """Points where every outcome lies mid-bucket, and which reach every branch of a Max or Min of the answer.

    They depend on the question alone. Raises ValueError if none are found: then give ``points``.
    """
    dice = random.Random(question.ask)
    for _ in range(200):
        points = [p for p in (_point(question, exprs, dice) for _ in range(POINTS)) if p]
        if len(points) == POINTS and _all_branches(question.expr, points):
            return points
    raise ValueError(
        "no points found that its quantities allow and that tell its branches apart; give points=[{...}, ...]"
    )


def _point(question, exprs: list, dice: random.Random) -> dict[str, float] | None:
    for _ in range(100):
        point = {q.name: _draw(q, dice) for q in question.may_use}
        try:
            if all(grading.mid_bucket(v) for e in exprs for v in values_at(e, [point])):
                return point
        except ValueError:
            continue
    return None


def _draw(quantity, dice: random.Random) -> float:
    if quantity.whole:
        least = max(int(quantity.least), 2)
        return float(dice.randint(least, least + 46))
    return float(f"{max(quantity.least, 1) * 10 ** (0.1 + 1.5 * dice.random()):.3g}")


def _all_branches(expr, points) -> bool:
    for join in expr.atoms(sympy.Max, sympy.Min):
        best = max if isinstance(join, sympy.Max) else min
        rows = zip(*(values_at(arg, points) for arg in join.args), strict=True)
        if len({row.index(best(row)) for row in rows}) < len(join.args):
            return False
    return True
