"""The grammar of typed answers: arithmetic and formulas. Nothing typed is ever run as code.

The page's twin is widgets/static/grading.js; a test sends the same texts through both.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable

from gpuscale.units import DIMENSIONS

MAX_TEXT, MAX_DEPTH = 200, 30
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "η": "eta", "μ": "mu", "τ": "tau", "φ": "phi"}
FUNCTIONS = {
    "min": "min",
    "max": "max",
    "log2": "log2",
    "log_2": "log2",
    "ceil": "ceil",
    "ceiling": "ceil",
    "floor": "floor",
    "sqrt": "sqrt",
}
KINDS = {(): "a plain number", (("B", 1),): "a number of bytes", (("s", 1),): "a time"}
KINDS |= {(("B", 1), ("s", -1)): "a bandwidth", (("s", -1),): "a rate"}

_DIGITS = r"(?:[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])|[0-9][0-9,_]*)"
NUMBER = rf"(?:{_DIGITS}(?:\.[0-9,_]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
TOKEN = re.compile(rf"({NUMBER})|\*\*|[^ ]")
_PLAIN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?"  # E is a symbol of the book
_FORMULA_TOKEN = re.compile(rf"({_PLAIN})|[A-Za-z][A-Za-z0-9_]*|\*\*|[^ ]")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"


class Unclear(ValueError):
    """A text that cannot be graded: it is not held against the reader. The message is plain text."""


def normalise(text: str) -> str:
    """The text with one kind of space, minus, product and division sign, and superscripts as powers."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", str(text))
    text = re.sub("[\u200b-\u200d\u2060\ufeff]", "", text)
    text = re.sub("[\u0000-\u001f\u00a0\u2000-\u200a\u202f\u205f\u3000]", " ", text)
    text = re.sub("[\u2010-\u2015\u2212\ufe63\uff0d]", "-", text)
    text = re.sub("[∕⁄÷]", "/", re.sub("[·⋅∙∗]", "*", text))
    return re.sub(f"[{_SUPER}]+", _power_sign, text).strip(" ")


def _power_sign(raised: re.Match) -> str:
    return "^" + "".join("0123456789-+"[_SUPER.index(c)] for c in raised[0])


def brief(text: str) -> str:
    """What was typed, short enough for a message."""
    return text if len(text) <= 40 else text[:40] + "…"


def clean_text(text: str) -> str:
    """The normalised text. Raises Unclear where there is none, or far too much."""
    clean = normalise(text)
    if not clean:
        raise Unclear("nothing is typed yet")
    if len(clean) > MAX_TEXT:
        raise Unclear(f"that is longer than an answer needs ({MAX_TEXT} characters)")
    return clean


# One recursive descent for both: numbers may hold + - * / ^ and parentheses, formulas also names.


class Parser:
    """Reads a text into a tree of tuples: ("num", 2.0, "2"), ("sym", "V"), ("*", left, right), ..."""

    def __init__(self, text: str, symbols: Iterable[str], token: re.Pattern):
        self.tokens = [(m[0], bool(m[1])) for m in token.finditer(text)]
        self.symbols, self.at, self.depth = list(symbols), 0, 0

    def tree(self):
        """The whole text as one tree. Raises Unclear at the first token that does not fit."""
        node = self.sum()
        return node if self.at == len(self.tokens) else self.fail()

    def fail(self):
        if self.at < len(self.tokens):
            raise Unclear(f"“{self.tokens[self.at][0]}” is out of place")
        if not self.tokens:
            raise Unclear("nothing is typed yet")
        raise Unclear(f"after “{self.tokens[-1][0]}” something is missing")

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        found = self.peek()
        self.at += found in wanted
        return found if found in wanted else ""

    def deeper(self, part):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unclear("the parentheses and powers are nested too deeply")
        node = part()
        self.depth -= 1
        return node

    def sum(self):
        node = self.product()
        while op := self.take("+", "-"):
            node = (op, node, self.product())
        return node

    def product(self):
        node = self.signed()
        while True:
            if op := self.take("*", "/", "×"):
                node = ("/" if op == "/" else "*", node, self.signed())
            elif self.starts_atom():
                node = ("*", node, self.raised())
            else:
                return node

    def starts_atom(self) -> bool:
        """Whether a factor follows without a sign: 2 V is a product, 2 100 is a slip."""
        token = self.peek()
        if self.at < len(self.tokens) and self.tokens[self.at][1] and self.tokens[self.at - 1][1]:
            raise Unclear(f"“{self.tokens[self.at - 1][0]}” and “{token}” are two numbers in a row")
        return bool(re.match(r"[A-Za-z0-9.(]", token))

    def signed(self):
        sign = self.take("-", "+")
        if not sign:
            return self.raised()
        node = self.deeper(self.signed)
        return ("neg", node) if sign == "-" else node

    def raised(self):
        base = self.atom()
        return ("^", base, self.deeper(self.signed)) if self.take("^", "**") else base

    def atom(self):
        if self.at == len(self.tokens):
            self.fail()
        token, number = self.tokens[self.at]
        if number:
            self.at += 1
            return ("num", literal(token), token)
        if self.take("("):
            node = self.deeper(self.sum)
            return ("paren", node) if self.take(")") else self.unclosed()
        return self.name(token) if re.match("[A-Za-z]", token) else self.fail()

    def unclosed(self):
        if self.at == len(self.tokens):
            raise Unclear("a parenthesis is not closed")
        self.fail()

    def name(self, token: str):
        self.at += 1
        if token.lower() in FUNCTIONS and self.peek() == "(":
            return self.call(FUNCTIONS[token.lower()])
        same = [s for s in self.symbols if len(s) > 1 and s.lower() == token.lower()]
        if token in self.symbols or len(same) == 1:
            return ("sym", token if token in self.symbols else same[0])
        if token.lower() in FUNCTIONS:
            raise Unclear(f"“{token}” needs its argument in parentheses")
        if all(c in self.symbols for c in token):  # NW is a product, and in V/NW both divide
            node = ("sym", token[0])
            for c in token[1:]:
                node = ("*", node, ("sym", c))
            return ("paren", node)
        raise Unclear(f"“{brief(token)}” is not one of {', '.join(self.symbols)}")

    def call(self, name: str):
        self.take("(")
        args = [self.deeper(self.sum)]
        while self.take(","):
            args.append(self.deeper(self.sum))
        if not self.take(")"):
            self.unclosed()
        if name in ("min", "max") and len(args) == 1:
            raise Unclear(f"{name} compares two or more, with commas between them")
        if name not in ("min", "max") and len(args) > 1:
            raise Unclear(f"{name} takes one argument")
        return ("call", name, args)


def literal(token: str) -> float:
    """The value of a number as typed: commas group thousands. Raises Unclear if it reads in two ways."""
    if "," in token and not _GROUPED.fullmatch(token):
        rule = "write 1.5 for one and a half, 1,500 for fifteen hundred"
        raise Unclear(f"“{token}” can be read in two ways: {rule}")
    if token.endswith("_") or "__" in token:
        raise Unclear(f"“{token}” is no number")
    return finite(float(re.sub("[,_ ]", "", token)))


def finite(value: float) -> float:
    """The value itself. Raises Unclear where it is infinite or not a number."""
    if not math.isfinite(value):
        raise Unclear("that does not come out as a finite number")
    return value


def value(node, env: dict[str, float]) -> float:
    """The number of a parsed text, its names taken from ``env``. Raises Unclear where it is not finite."""
    kind = node[0]
    if kind == "num":
        return node[1]
    if kind == "sym":
        return env[node[1]]
    args = [value(part, env) for part in (node[2] if kind == "call" else node[1:])]
    try:
        return finite(float(_OPERATIONS[node[1] if kind == "call" else kind](*args)))
    except (ArithmeticError, ValueError):
        return finite(math.nan)


_OPERATIONS = {
    "paren": lambda a: a,
    "neg": operator.neg,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": math.pow,
    "min": min,
    "max": max,
    "log2": math.log2,
    "ceil": math.ceil,
    "floor": math.floor,
    "sqrt": math.sqrt,
}


def formula(text: str, symbols: Iterable[str]):
    """The tree of a typed formula in the given symbols; a leading "T =" is dropped. Raises Unclear."""
    clean = re.sub(r"^[A-Za-z][A-Za-z0-9_{}\\]* *= *", "", clean_text(text))
    clean = re.sub(r"\\([A-Za-z])", r"\1", re.sub(r"_\{([A-Za-z0-9]+)\}", r"_\1", clean))
    for letter, name in GREEK.items():
        clean = clean.replace(letter, f" {name} ")
    return Parser(clean, symbols, _FORMULA_TOKEN).tree()


def dimension(node, units: dict[str, str]) -> dict[str, float] | None:
    """Exponents of byte and second (operations count as plain numbers); None fits anything.

    ``units`` gives the base unit of each symbol. Raises Unclear for a sum of unlike parts.
    """
    kind = node[0]
    if kind == "num":
        return {} if node[1] else None
    if kind == "sym":
        return unit_dimension(units[node[1]])
    parts = [dimension(part, units) for part in (node[2] if kind == "call" else node[1:])]
    if kind in ("paren", "neg"):
        return parts[0]
    if kind in ("*", "/"):
        return _joined(parts[0] or {}, parts[1] or {}, 1 if kind == "*" else -1)
    if kind == "^":
        return _power(node, parts[0])
    if kind == "call" and node[1] == "sqrt":
        return _joined({}, parts[0] or {}, 0.5)
    if kind == "call" and node[1] in ("log2", "ceil", "floor"):
        return {}
    return _like(parts, "compared" if kind == "call" else "added")


def unit_dimension(unit: str) -> dict[str, float]:
    """Exponents of byte and second of a base unit; a FLOP counts as a plain number."""
    return {k: v for k, v in DIMENSIONS[unit].items() if k in ("B", "s")}


def _joined(a: dict, b: dict, sign: float) -> dict[str, float]:
    total = {k: a.get(k, 0) + sign * b.get(k, 0) for k in ("B", "s")}
    return {k: v for k, v in total.items() if v}


def _power(node, base: dict | None) -> dict[str, float]:
    if not base:
        return {}
    try:
        return _joined({}, base, value(node[2], {}))
    except KeyError:
        raise Unclear(f"a power of {word(base)} needs a plain number as exponent") from None


def _like(parts: list, verb: str) -> dict[str, float] | None:
    known = [p for p in parts if p is not None]
    for other in known[1:]:
        if other != known[0]:
            raise Unclear(f"{word(known[0])} and {word(other)} cannot be {verb}")
    return known[0] if known else None


def word(dim: dict[str, float]) -> str:
    """A dimension in words."""
    return KINDS.get(tuple(sorted(dim.items())), "a quantity of another kind")
