"""One quantity, one number of digits: counts are whole everywhere, amounts with a unit have three digits."""

import re
from collections import defaultdict

from reading.passages import Passage, passages
from reading.sentences import NAME

COUNT = re.compile(r"(?<![\d.,^])\d{1,3}(?:,\d{3})+(?![\d.]|,\d)")
AMOUNT = re.compile(
    r"(?<![\d.,])(\d[\d,]*(?:\.\d+)?)[  ]?(?:[kMGTPEmnµ]|[KMGT]i)?(FLOP/s|FLOPs?\b(?!/B)|B/s|bit/s|Hz|W\b|B\b|s\b)"
)
# The ledger prints what sources print, with their digits.
LEDGER = ("chapters/published_numbers", "chapters/hardware_tables")

# Counts that are two quantities although one could be the other, rounded: coarse, fine, and why.
TWO: dict[tuple[str, str], str] = {
    ("1,280", "1,283"): "columns of a matrix, and the critical width of an expert",
}
# Amounts of more than three digits: file, amount, and why.
LONG: dict[tuple[str, str], str] = {}


def shown() -> list[Passage]:
    """What the pages print: prose, tables, captions and labels, but no box that quotes a source."""
    pages = [one for one in passages() if one.kind in ("markdown", "output")]
    pages = [
        one for one in pages if one.file.startswith(("chapters/", "exercises/")) and not one.file.startswith(LEDGER)
    ]
    return [one._replace(text=of_a_figure(one.text)) for one in pages if not one.text.startswith("Common mistake")]


def of_a_figure(text: str) -> str:
    """Of what stands for a figure, the caption and the words on it: the rest samples its curves."""
    if not re.match(r"(live )?figure ", text):
        return text
    return "\n".join(line for line in text.splitlines() if re.match(r"(live )?figure |words: ", line))


def value(count: str) -> int:
    return int(count.replace(",", ""))


def rounded(number: int, digits: int) -> int:
    """A whole number to so many significant digits.

    >>> rounded(19_788, 3), rounded(2_474, 3)
    (19800, 2470)
    """
    return int(float(f"{number:.{digits - 1}e}"))


def coarser(counts: set[str]) -> set[tuple[str, str]]:
    """The pairs of which the first is the second with fewer digits, three at least."""
    pairs = set()
    known = {value(one): one for one in counts}
    for number, fine in known.items():
        for digits in range(3, len(str(number))):
            short = rounded(number, digits)
            if short != number and short in known:
                pairs.add((known[short], fine))
    return pairs


def test_counts_have_all_their_digits_everywhere():
    places = defaultdict(set)
    for one in shown():
        for count in COUNT.findall(one.text):
            places[count].add(str(one))
    found = coarser(set(places)) - set(TWO)
    told = [f"{coarse} in {min(places[coarse])}, {fine} in {min(places[fine])}" for coarse, fine in sorted(found)]
    assert told == [], "one quantity, one number of digits ({n:count} in say)"
    assert set(TWO) <= coarser(set(places)), "exceptions that nothing needs any more"


def digits(amount: str) -> int:
    """The significant digits of an amount as printed; a whole number below a thousand has three at most."""
    whole, _, part = amount.replace(",", "").partition(".")
    return len((whole + part).lstrip("0")) if part else len(whole.rstrip("0"))


def exact(match: re.Match) -> bool:
    """Whether an amount is a whole number of bytes or FLOPs, which is a count."""
    return re.fullmatch(r"[\d,]+\s(B|FLOPs?)", match[0]) is not None


def test_amounts_have_three_digits():
    found = set()
    for one in shown():
        for match in AMOUNT.finditer(NAME.sub(" ", one.text)):
            if digits(match[1]) > 3 and not exact(match):
                found.add((one.file, match[0].replace("\N{NO-BREAK SPACE}", " ")))
    assert sorted(found - set(LONG)) == [], "three digits ({x:s} in say), or a reason in LONG"
    assert set(LONG) <= found, "exceptions that nothing needs any more"


def test_what_is_seen():
    assert coarser({"2,470", "2,474", "79,150", "79,152", "4,000", "4,096", "19,800"}) == {
        ("2,470", "2,474"),
        ("79,150", "79,152"),
    }
    assert [digits(one) for one in ("3.35", "0.0123", "1,024", "19,790", "989", "66.91", "4,000")] == [
        3,
        3,
        4,
        4,
        3,
        4,
        1,
    ]
    text = "66.91 TFLOP/s, 3.35 TB/s, 512 tokens, 2,474 FLOP/B and 65,536 B"
    assert [(one[1], exact(one)) for one in AMOUNT.finditer(text)] == [
        ("66.91", False),
        ("3.35", False),
        ("65,536", True),
    ]
