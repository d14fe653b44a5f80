"""Amounts as people write them: the one reader of the library. What it reads is read everywhere, in prose and in
answers, in a notebook and on the page; what it refuses is refused everywhere, with the reason.

Capitals count: Mb is bits, MB bytes, Ms megaseconds. Where they are wrong, a unit is taken for another only if no
second one is spelled alike: 65 US is microseconds, but 5 gb/s may be bits or bytes and 5 MS milli or mega.
"""

import re

from gpuscale.units import messages
from gpuscale.units.arithmetic import NUMBER, Parser, Unreadable, brief, clean_text, finite, rewrite, value
from gpuscale.units.formulas import EXPONENTS, kind_word
from gpuscale.units.tables import BYTE, EXAMPLES, MANY, ONE, SCALE, SHARE, WORDS, UnitError, base_unit, dimension_word

# What may precede a number, and the sign of a product: 1.5x10^-5, but not 0x10.
NUMBER_RULES = (
    (r"^(?:[A-Za-z_]+ ?(?==))?[=≈~∼≃] *", ""),
    (r"^(?:[Aa](?:bout|pprox(?:imately)?|round)|[Rr]oughly|[Nn]early|[Cc](?:a|irca))\.? +", ""),
    (r"^\$ *([^ /A-Za-z]*)", "$1 USD"),
    (r"(?<=[0-9)])(?<!^0)(?<![^0-9.]0) ?(?:[xX]|times) ?(?=[0-9(])", "*"),
)
HEAD = r"^(?:{}|[-+*/^×() ])*"
LOST_POWER = r"[*×] ?(10[-+][0-9]+)$"  # a superscript lost in copying: 1.5x10-5
RANGE_HEAD = r"^{} ?- ?{}$"  # 15-20: a range, because as a difference it would be negative
RANGE_UNIT = r"(?<!\^)(?:-|^to | to ) ?[0-9]"  # 15 to 20 us, 15 us - 20 us
# The unit as the table has it: GB / s, GB per second and GB/sec. are GB/s.
UNIT_RULES = (
    (r"^[ *]+", ""),
    (r"^per +(?!cent)", "/"),
    (r" *(?:/| per ) *", "/"),
    (r"/(?:hr|hours?)(?![A-Za-z])", "/h"),
    (r"/(?:sec|seconds?)(?![A-Za-z])", "/s"),
    (r"\$", "USD"),
    (r"[ .]+$", ""),
    (r"^per ?cent$", "%"),
)
JOINT = r"(?<=[A-Za-z%]) ?([*/]) ?(?=[0-9.])"  # between two amounts: 989 TFLOP/s / 3.35 TB/s
NO_DIMENSION = (ONE, "FLOP", "FLOP/B", "/J", "USD", "USD/h")  # a bare number can mean only one thing
BITS = r"(?:^[kKMGTPE]?i?|/)b(?:/s|ps)?$"  # a small b, which some write for bytes


class WrongDimension(UnitError):
    """An amount of another kind: ``found`` and ``wanted`` say both in words."""

    def __init__(self, text: str, found: str, wanted: str, hint: str = ""):
        self.found, self.wanted = dimension_word(found), dimension_word(wanted)
        super().__init__(messages.OTHER_KIND.format(text, self.found, self.wanted) + hint)


def parse(text: str, unit: str) -> float:
    """A typed amount in base units of ``unit``: ``parse("65 us", "s")`` is 6.5e-5.

    Raises Unreadable unless it is a number with a unit, WrongDimension for another kind of amount, UnitError for a
    ``unit`` that is not one. A bare number is accepted only where it can mean one thing.
    """
    return read(text, unit)[0]


def read(text: str, unit: str, expects: str = "", noun: str = "") -> tuple[float, bool]:
    """A typed amount in base units, and whether its unit is written with a small b.

    ``unit`` is what is asked for, ``expects`` says so in words, ``noun`` is what a count counts. Raises as ``parse``.
    """
    want = base_unit(unit)
    try:
        clean = rewrite(clean_text(text), NUMBER_RULES)
        amount, asked, found = _amount(clean, unit, want, noun)
    except Unreadable as reason:
        expects = expects or f"{WORDS[want]}, such as {EXAMPLES[want]}"
        raise Unreadable(messages.EXPECTED, reason, expects) from None
    if found != want:
        raise WrongDimension(brief(clean), found, want, messages.BILLIONS if (asked, want) == (BYTE, ONE) else "")
    return amount, bool(re.search(BITS, asked))


def _amount(clean: str, unit: str, want: str, noun: str) -> tuple[float, str, str]:
    """The amount in base units, its unit as it is written, and the base unit."""
    if len(parts := re.split(JOINT, clean)) > 1:
        return _joined(parts, clean, want), "", want
    head = re.match(HEAD.replace("{}", NUMBER), clean)[0].rstrip(" */×")
    if not head:
        raise Unreadable(messages.NO_START, brief(clean))
    if lost := re.search(LOST_POWER, head):
        raise Unreadable(messages.TWO_WAYS, lost[1], messages.POWERS)
    amount = value(Parser(head).tree(), {})
    asked = rewrite(clean[len(head) :], UNIT_RULES)
    if re.search(RANGE_UNIT, asked) or (amount < 0 and re.search(RANGE_HEAD.replace("{}", NUMBER), head)):
        raise Unreadable(messages.RANGE, brief(clean))
    if asked:
        size, found = _unit(asked, want, noun)
        return finite(amount * size), asked, found
    if unit == SHARE and abs(amount) > 1:
        raise Unreadable(messages.PERCENT, brief(clean))
    if amount and want not in NO_DIMENSION:
        raise Unreadable(messages.NO_UNIT, brief(clean))
    return amount, "", want


def _joined(parts: list[str], clean: str, want: str) -> float:
    """The product or quotient of amounts, with signs between them. As in formulas, FLOPs are plain numbers."""
    size, powers = 1.0, (0, 0)
    for sign, part in zip(["*", *parts[1::2]], parts[::2], strict=True):
        head = re.match(HEAD.replace("{}", NUMBER), part)[0].rstrip(" */×")
        if not head:
            raise Unreadable(messages.NO_START, brief(clean))
        asked = rewrite(part[len(head) :], UNIT_RULES)
        if asked and asked not in SCALE:
            raise Unreadable(messages.NO_SUCH_UNIT, brief(asked))
        each, base = SCALE[asked] if asked else (1.0, ONE)
        amount = value(Parser(head).tree(), {}) * each
        if sign == "/" and amount == 0:
            raise Unreadable(messages.NOT_FINITE)
        size = finite(size / amount if sign == "/" else size * amount)
        powers = tuple(a - b if sign == "/" else a + b for a, b in zip(powers, EXPONENTS[base], strict=True))
    if powers != EXPONENTS[want]:
        raise Unreadable(messages.OTHER_KIND, brief(clean), kind_word(powers), WORDS[want])
    return size


def _unit(text: str, want: str, noun: str) -> tuple[float, str]:
    """Size and base unit; wrong capitals are accepted if only one reading has the dimension asked for."""
    exact = SCALE.get(text)
    if exact and exact[1] == want:
        return exact
    if noun and _stem(text) == _stem(noun):
        return 1.0, ONE
    near = {v[0]: k for k, v in reversed(SCALE.items()) if k.lower() == text.lower() and v[1] == want}
    if len(near) == 1:
        return next(iter(near)), want
    if exact:
        return exact
    if near:
        raise Unreadable(messages.TWO_WAYS, text, messages.OR.join(sorted(near.values())))
    first, _, rest = text.partition(" ")
    if first in MANY and (rest or want == ONE):
        size, found = _unit(rest, want, noun) if rest else (1.0, ONE)
        return MANY[first] * size, found
    left, _, right = text.rpartition("/")
    if left and SCALE.get(right) == (1.0, ONE):
        return _unit(left, want, noun)
    raise Unreadable(messages.NO_SUCH_UNIT, brief(text))


def _stem(word: str) -> str:
    return re.sub("e?s?$", "", word.lower())
