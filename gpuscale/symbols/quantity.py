"""What a quantity is: a sympy symbol with unit, meaning, LaTeX and the values it allows."""

import math
import re

import sympy

from gpuscale.units import DIMENSIONS

_GREEK = {"alpha": "α", "eta": "η", "gamma": "γ", "lambda": "λ", "varphi": "φ"}
_registry: "dict[str, Quantity]" = {}


class Quantity(sympy.Symbol):
    """A positive sympy symbol that also knows its ``unit``, ``meaning`` and LaTeX.

    ``least`` and ``most`` bound what an evaluation accepts (a ``least`` of 0 means: anything above zero, and
    zero where ``zero`` is true); ``whole`` says that the quantity counts things; ``also`` lists the names it
    has elsewhere. Names are unique: sympy caches symbols by name, and a second one would be the first.
    """

    __slots__ = ("also", "html", "least", "meaning", "most", "tex", "unit", "whole", "zero")

    def __new__(cls, name, unit, meaning, tex=None, *, least=0.0, most=math.inf, whole=False, zero=False, also=""):
        if name in _registry:
            raise ValueError(f"Quantity {name!r} is declared already ({_registry[name].meaning}); names are unique")
        if unit not in DIMENSIONS:
            raise ValueError(f"Quantity {name!r}: unit {unit!r} is not a base unit; expected one of {list(DIMENSIONS)}")
        if tex is None and len(name) > 1:
            raise ValueError(f"Quantity {name!r}: a name longer than a letter needs its LaTeX")
        self = super().__new__(cls, name, positive=True)
        self.unit, self.meaning, self.tex = unit, meaning, name if tex is None else tex
        self.least, self.most, self.whole, self.zero = float(least), float(most), whole, zero
        self.html, self.also = _html(self.tex), also
        _registry[name] = self
        return self

    def _latex(self, printer):
        return self.tex

    def __reduce__(self):
        return _lookup, (self.name,)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()


def _lookup(name: str) -> Quantity:
    """The quantity of that name. Raises KeyError naming it."""
    if name not in _registry:
        raise KeyError(f"{name!r} is not a quantity of the book; the notation page lists them all")
    return _registry[name]


def quantities() -> dict[str, Quantity]:
    """All declared quantities by name, in order of declaration."""
    return dict(_registry)


def indexed(q: Quantity, level: int) -> Quantity:
    """The same quantity at a level of a hierarchy: ``indexed(W, 3)`` is W_3. Levels count from 1, at the GPUs.

    Raises ValueError for a level below 1.
    """
    if int(level) != level or level < 1:
        raise ValueError(f"indexed: level: expected a whole number of at least 1; got {level}")
    name = f"{q.name}_{level}"
    if name not in _registry:
        base, _, sub = q.tex.partition("_")
        inner = sub.removeprefix("{").removesuffix("}") if sub.startswith("{") else sub
        meaning = f"{_LEVELS.get(q.name, q.meaning)} at level {level}"
        bounds = {"least": q.least, "most": q.most, "whole": q.whole, "zero": q.zero}
        Quantity(name, q.unit, meaning, f"{base}_{{{inner + ',' if inner else ''}{level}}}", **bounds)
    return _registry[name]


# What a letter means with a level's number, where that is more special than the letter alone.
_LEVELS = {
    "G": "children of a unit (degree)",
    "W": "bandwidth of the link above each child, one direction",
    "alpha": "latency of a step or of a call",
}


def _html(tex: str) -> str:
    """The symbol for a label next to a slider: italic letter, upright subscript."""
    base, _, sub = tex.partition("_")
    upright = base.startswith("\\mathrm")
    base, sub = (re.sub(r"\\mathrm|\\text|[\\{}]", "", part) for part in (base, sub))
    base = _GREEK.get(base, base)
    return (base if upright else f"<i>{base}</i>") + (f"<sub>{sub}</sub>" if sub else "")
