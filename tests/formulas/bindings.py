"""Which argument of a Max, Min or Piecewise decides: recorded while checks run."""

import numpy as np
import sympy
from support.exact_rational import exactly

from gpuscale.core.evaluation import compiled
from gpuscale.core.formula import Formula

CHOICES = sympy.Max | sympy.Min | sympy.Piecewise

# Arguments that decide nowhere, with the reason. A test fails where one decides after all.
NEVER: dict[str, dict[str, str]] = {
    "group_network": {"Y in Max(G, Y, X*Y)": "X is one or more: X*Y is as much at least"},
    "dp_network": dict.fromkeys(
        ["Y in Max(G, Y, X*Y*n_cp)", "Z in Max(G, Z, X*Y*n_cp)"],
        "Y and Z divide all ranks of a stage: those are as many at least",
    ),
}


def nodes(expr) -> list:
    """Every Max, Min and Piecewise of an expression."""
    return [node for node in sympy.preorder_traversal(expr) if isinstance(node, CHOICES)]


def arguments(expr) -> list[str]:
    """What the test calls each argument of each of them."""
    return list(dict.fromkeys(_label(node, i) for node in nodes(expr) for i in range(len(node.args))))


def _label(node, i) -> str:
    part = node.args[i]
    return f"{part.expr if isinstance(node, sympy.Piecewise) else part} in {node}"


class Watched(Formula):
    """A formula that remembers which arguments decided."""

    @classmethod
    def of(cls, formula):
        new = cls(**{part: getattr(formula, part) for part in cls.__dataclass_fields__})
        named = [(node, [_label(node, i) for i in range(len(node.args))]) for node in nodes(formula.rhs)]
        object.__setattr__(new, "seen", set())
        object.__setattr__(new, "open", named)
        return new

    def __call__(self, /, **values):
        note(self, values, _by_numpy)
        return super().__call__(**values)


def note(formula, values, value=exactly) -> None:
    """Keeps which arguments of a watched formula decide at these values; where two are equal neither does.

    ``value``: how a part of the formula becomes a number, or an array.
    """
    if not isinstance(formula, Watched):
        return
    for node, labels in formula.open:
        formula.seen.update(labels[i] for i in _deciding(node, values, value))
    formula.open[:] = [(node, labels) for node, labels in formula.open if not formula.seen.issuperset(labels)]


def _deciding(node, values, value) -> set[int]:
    shape = np.broadcast_shapes(*map(np.shape, values.values()))
    parts = [cond for _, cond in node.args] if isinstance(node, sympy.Piecewise) else node.args
    found = np.array([np.broadcast_to(value(part, values), shape) for part in parts])
    if isinstance(node, sympy.Piecewise):
        return set(np.argmax(found.astype(bool), axis=0).flat)
    best = (found.max if isinstance(node, sympy.Max) else found.min)(axis=0)
    decides = found == best
    return set(np.argmax(decides, axis=0)[decides.sum(axis=0) == 1].flat)


def _by_numpy(expr, values):
    function, names = compiled(expr)
    with np.errstate(all="ignore"):
        return function(*(np.asarray(values[q.name], dtype=float) for q in names))
