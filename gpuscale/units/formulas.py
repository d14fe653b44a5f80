"""Typed formulas: how they are read, and what they measure. The page's twin is widgets/static/grading.js."""

from collections.abc import Iterable, Mapping

from gpuscale.units import messages
from gpuscale.units.arithmetic import TOKENS, Parser, Unreadable, clean_text, parts_of, rewrite, value
from gpuscale.units.tables import DIMENSIONS, WORDS

PLAIN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?"  # E is a symbol of the book
NAMES = rf"[A-Za-z][A-Za-z0-9_]*|{TOKENS}"
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "η": "eta", "μ": "mu", "τ": "tau", "φ": "phi"}
FORMULA_RULES = (
    (r"^[A-Za-z][A-Za-z0-9_\{\}\\]* *= *", ""),
    (r"_\{([A-Za-z0-9]+)\}", "_$1"),
    (r"\\([A-Za-z])", "$1"),
    *((letter, f" {name} ") for letter, name in GREEK.items()),
)
# Exponents of byte and second of each base unit: in a typed formula FLOPs count as plain numbers. Units without
# FLOPs come first, because they give such exponents their name.
_UNITS = sorted(DIMENSIONS, key=lambda unit: "FLOP" in unit)
EXPONENTS = {unit: (DIMENSIONS[unit].get("B", 0), DIMENSIONS[unit].get("s", 0)) for unit in _UNITS}
OTHER_MEASURE = "a quantity of another kind"

Exponents = tuple[float, float]


def formula(text: str, symbols: Iterable[str]):
    """The tree of a typed formula in the given symbols; a leading "T =" is dropped. Raises Unreadable."""
    return Parser(rewrite(clean_text(text), FORMULA_RULES), symbols, NAMES.replace("{}", PLAIN)).tree()


def dimension(node, units: Mapping[str, str]) -> Exponents | None:
    """Exponents of byte and second of a typed formula; None fits anything.

    ``units`` gives the base unit of each symbol. Raises Unreadable for a sum of unlike parts.
    """
    kind = node[0]
    if kind == "num":
        return (0, 0) if node[1] else None
    if kind == "sym":
        return EXPONENTS[units[node[1]]]
    parts = [dimension(part, units) for part in parts_of(node)]
    if kind in ("paren", "neg"):
        return parts[0]
    (a, b), (c, d) = (parts[at] or (0, 0) for at in (0, -1))
    if kind == "*":
        return a + c, b + d
    if kind == "/":
        return a - c, b - d
    if kind == "^":
        exponent = _power(node[2], (a, b))
        return exponent * a, exponent * b
    if node[1] == "sqrt":
        return a / 2, b / 2
    if node[1] in ("log2", "ceil", "floor"):
        return 0, 0
    known = [part for part in parts if part is not None]
    for other in known[1:]:
        if other != known[0]:
            message = messages.NOT_COMPARED if kind == "call" else messages.NOT_ADDED
            raise Unreadable(message, kind_word(known[0]), kind_word(other))
    return known[0] if known else None


def _power(node, base: Exponents) -> float:
    if base == (0, 0):
        return 0
    try:
        return value(node, {})
    except KeyError:
        raise Unreadable(messages.NO_POWER, kind_word(base)) from None


def kind_word(found: Exponents) -> str:
    """What exponents of byte and second measure, in words."""
    return next((WORDS[unit] for unit, powers in EXPONENTS.items() if powers == found), OTHER_MEASURE)
