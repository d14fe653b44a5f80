"""The grammar of typed arithmetic and formulas, read into trees. Nothing typed is ever run as code.

The page's twin is widgets/static/grading.js, with the limits, patterns and messages of this room; a test sends the
same texts through both.
"""

import functools
import math
import operator
import re
import unicodedata
from collections.abc import Iterable

from gpuscale.units import messages
from gpuscale.units.tables import UnitError

MAX_TEXT, MAX_DEPTH = 200, 30
FUNCTIONS = {"min": 2, "max": 2, "log2": 1, "ceil": 1, "floor": 1, "sqrt": 1}  # arguments; 2 for two or more
OTHER_NAMES = {"log_2": "log2", "ceiling": "ceil"}

# Patterns mean the same to Python and to the page; {} in one stands for that of a number.
NUMBER = r"(?:(?:[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])|[0-9][0-9,_]*)(?:\.[0-9,_]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
GROUPED = r"^[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?$"
TOKENS = r"({})|\*\*|[^ ]"
SUPERSCRIPTS = r"[⁰¹²³⁴-⁻]+"
TEXT_RULES = (
    (r"[\ud800-\udfff]", "\ufffd"),
    (r"[\u200b-\u200d\u2060\ufeff]", ""),
    (r"[\u0000-\u001f\u00a0\u2000-\u200a\u202f\u205f\u3000]", " "),
    (r"[\u2010-\u2015\u2212\ufe63\uff0d]", "-"),
    (r"[·⋅∙∗]", "*"),
    (r"[∕⁄÷]", "/"),
    (r"^ +| +$", ""),
)
CHAINS = ({"+": "+", "-": "-"}, {"*": "*", "×": "*", "/": "/"})  # what joins parts, the weaker first


class Unreadable(UnitError):
    """A text that cannot be read, which does not count as a wrong answer. The message is plain text."""

    def __init__(self, message: str, *parts: str):
        super().__init__(message.format(*parts) if parts else message)


def rewrite(text: str, rules: Iterable[tuple[str, str]]) -> str:
    """A text after each (pattern, replacement) in turn; $1 is the first group."""
    for pattern, put in rules:
        text = re.sub(pattern, put.replace("$", "\\"), text)
    return text


def normalise(text: str) -> str:
    """The text with one kind of space, minus, product and division sign, and superscripts as powers."""
    text = re.sub(SUPERSCRIPTS, lambda raised: "^" + unicodedata.normalize("NFKC", raised[0]), str(text))
    return rewrite(text, TEXT_RULES)


def brief(text: str) -> str:
    """The typed text, short enough for a message."""
    return text if len(text) <= 40 else text[:40] + "…"


def clean_text(text: str) -> str:
    """The normalized text. Raises Unreadable if there is none, or if it is too long."""
    clean = normalise(text)
    if not clean:
        raise Unreadable(messages.NOTHING)
    if len(clean) > MAX_TEXT:
        raise Unreadable(messages.TOO_LONG, MAX_TEXT)
    return clean


class Parser:
    """Reads a text into a tree of tuples: ("num", 2.0, "2"), ("sym", "V"), ("*", left, right), ...

    One recursive descent for both: numbers may hold + - * / ^ and parentheses, formulas also names.

    ``symbols`` are the names that a formula may hold, ``tokens`` is the pattern of numbers, in a group, and the rest.
    """

    def __init__(self, text: str, symbols: Iterable[str] = (), tokens: str = TOKENS.replace("{}", NUMBER)):
        self.tokens = [(m[0], bool(m[1])) for m in re.finditer(tokens, text)]
        self.symbols, self.at, self.depth = list(symbols), 0, 0

    def tree(self):
        """The whole text as one tree. Raises Unreadable at the first token that does not fit."""
        node = self.chain()
        return node if self.at == len(self.tokens) else self.fail()

    def fail(self, message: str = messages.MISSING):
        """At the end of the text something is missing, by default after the last token."""
        if self.at < len(self.tokens):
            raise Unreadable(messages.OUT_OF_PLACE, self.peek())
        raise Unreadable(message, self.tokens[-1][0]) if self.tokens else Unreadable(messages.NOTHING)

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        found = self.peek()
        self.at += found in wanted
        return found if found in wanted else ""

    def deeper(self, part):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(messages.TOO_DEEP)
        node = part()
        self.depth -= 1
        return node

    def chain(self, level: int = 0):
        """A sum of products of signed factors, in their order."""
        if level == len(CHAINS):
            return self.signed()
        node = self.chain(level + 1)
        while True:
            if sign := self.take(*CHAINS[level]):
                node = (CHAINS[level][sign], node, self.chain(level + 1))
            elif level and self.starts_atom():
                node = ("*", node, self.raised())
            else:
                return node

    def starts_atom(self) -> bool:
        """Whether a factor follows without a sign: 2 V is a product, 2 100 is an error."""
        token = self.peek()
        if token and self.tokens[self.at][1] and self.tokens[self.at - 1][1]:
            raise Unreadable(messages.TWO_NUMBERS, self.tokens[self.at - 1][0], token)
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
        token = self.peek()
        if token and self.tokens[self.at][1]:
            self.at += 1
            return ("num", literal(token), token)
        if self.take("("):
            node = self.deeper(self.chain)
            return ("paren", node) if self.take(")") else self.fail(messages.UNCLOSED)
        return self.name(token) if re.match("[A-Za-z]", token) else self.fail()

    def name(self, token: str):
        self.at += 1
        low = token.lower()
        function = OTHER_NAMES.get(low, low)
        if function in FUNCTIONS and self.take("("):
            return self.call(function)
        same = [s for s in self.symbols if len(s) > 1 and s.lower() == low]
        if token in self.symbols or len(same) == 1:
            return ("sym", token if token in self.symbols else same[0])
        if function in FUNCTIONS:
            raise Unreadable(messages.NO_ARGUMENT, token)
        if all(c in self.symbols for c in token):  # NW is a product, and in V/NW both divide
            return ("paren", functools.reduce(lambda left, right: ("*", left, right), [("sym", c) for c in token]))
        raise Unreadable(messages.NO_NAME, brief(token), ", ".join(self.symbols))

    def call(self, name: str):
        args = [self.deeper(self.chain)]
        while self.take(","):
            args.append(self.deeper(self.chain))
        if not self.take(")"):
            self.fail(messages.UNCLOSED)
        if FUNCTIONS[name] != min(len(args), 2):
            raise Unreadable(messages.ONE_ARGUMENT if len(args) > 1 else messages.MORE_ARGUMENTS, name)
        return ("call", name, args)


def literal(token: str) -> float:
    """The value of a number as typed: commas group thousands. Raises Unreadable if it reads in two ways."""
    if "," in token and not re.search(GROUPED, token):
        raise Unreadable(messages.TWO_WAYS, token, messages.COMMAS)
    if token.endswith("_") or "__" in token:
        raise Unreadable(messages.NO_NUMBER, token)
    return finite(float(re.sub("[,_ ]", "", token)))


def finite(value: float) -> float:
    """The value itself. Raises Unreadable if it is infinite or not a number."""
    if not math.isfinite(value):
        raise Unreadable(messages.NOT_FINITE)
    return value


def parts_of(node) -> tuple:
    """The parts of a sum, a product, a call or the like."""
    return node[2] if node[0] == "call" else node[1:]


def value(node, env: dict[str, float]) -> float:
    """The number of a parsed text, its names taken from ``env``. Raises Unreadable if it is not finite."""
    kind = node[0]
    if kind == "num":
        return node[1]
    if kind == "sym":
        return env[node[1]]
    args = [value(part, env) for part in parts_of(node)]
    try:
        return finite(float(_OPERATIONS[node[1] if kind == "call" else kind](*args)))
    except (ArithmeticError, ValueError):
        return finite(math.nan)


_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": math.pow}
_OPERATIONS |= {"paren": operator.pos, "neg": operator.neg, "min": min, "max": max, "sqrt": math.sqrt}
_OPERATIONS |= {"log2": math.log2, "ceil": math.ceil, "floor": math.floor}
