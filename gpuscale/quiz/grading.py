"""Verdicts: the typed value falls into a fine bucket, and the bucket's hash says which outcome that is.

A question is graded from its spec alone, here and on the page (widgets/static/grading.js) alike. The spec
holds no answer: for each outcome (right answer, likely mistakes) the salted hash of its bucket, and its
message, sealed with a key from that bucket. A bucket is a sixteenth of the tolerance wide, on a logarithmic
scale; zero and whole numbers of exact questions are compared as they are.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping

from gpuscale.core.html import escape
from gpuscale.units import WORDS, UnitError, Unreadable
from gpuscale.units.arithmetic import finite, normalise, value
from gpuscale.units.formulas import EXPONENTS, dimension, formula, kind_word
from gpuscale.units.messages import OTHER_KIND, THAT
from gpuscale.units.reading import read
from gpuscale.widgets.shared import FINE, NO_OPTION, REACH, SMALL_B


def bucket(value: float, tolerance: float) -> int:
    """The number of the bucket of ``abs(value)``: its logarithm in sixteenths of the tolerance."""
    return math.floor(math.log(abs(value)) * REACH / tolerance + 0.5)


def token(value: float, tolerance: float, exact: bool = False) -> str:
    """The bucket of a value as text; whole numbers of an exact question, and zero, stand for themselves."""
    if value == 0 or (exact and _whole(value)):
        return f"={math.floor(value + 0.5)}"
    return f"{'-' if value < 0 else '+'}{bucket(value, tolerance)}"


def near_tokens(value: float, tolerance: float, exact: bool = False) -> list[str]:
    """All buckets within the tolerance of a value, the nearest first."""
    out = [token(value, tolerance, exact)]
    if value == 0:
        return out
    middle, sign = bucket(value, tolerance), "-" if value < 0 else "+"
    steps = [0] + [d for i in range(1, REACH + 1) for d in (i, -i)]
    return out + [f"{sign}{middle + d}" for d in steps if f"{sign}{middle + d}" not in out]


def _whole(value: float) -> bool:
    return abs(value - math.floor(value + 0.5)) <= 1e-9 * abs(value) and abs(value) < 2**53


def formula_token(values: Iterable[float]) -> str:
    """The buckets of a formula at the fixed points, as one text."""
    return "f" + ",".join(token(v, REACH / FINE) for v in values)


def mid_bucket(value: float) -> bool:
    """Whether a formula's value is so far from its bucket's edges that rounding cannot push it out."""
    return value == 0 or abs((math.log(abs(value)) * FINE + 0.5) % 1 - 0.5) < 0.4


# --- hashes and seals ---


def salted_hash(salt: str, text: str) -> str:
    """The salted hash of a bucket."""
    return hashlib.sha256(f"{salt}|{text}".encode()).hexdigest()[:16]


def _mask(data: bytes, salt: str, text: str) -> bytes:
    blocks = range(len(data) // 32 + 1)
    stream = b"".join(hashlib.sha256(f"{salt}|{text}|{i}".encode()).digest() for i in blocks)
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


def seal(message: str, salt: str, text: str) -> str:
    """A message that can be read only with the bucket, as hexadecimal digits."""
    return _mask(message.encode(), salt, text).hex()


def unseal(sealed: str, salt: str, text: str) -> str:
    """The message of a seal."""
    return _mask(bytes.fromhex(sealed), salt, text).decode()


def grade_data(salt: str, outcomes: Iterable[tuple[str, bool, str]], wrong: str, **more) -> dict:
    """What a variant is graded by: outcomes (bucket, right, message) as hashes with sealed messages."""
    sealed = {salted_hash(salt, t): seal(("r" if right else "w") + html, salt, t) for t, right, html in outcomes}
    return {"salt": salt, "outcomes": dict(sorted(sealed.items())), "wrong": wrong, **more}


# --- verdicts ---

Verdict = tuple[str, str]


def judge(spec: Mapping, variant: int, text: str) -> Verdict:
    """The verdict ("right", "wrong" or "unclear") on a typed answer, and the reason as HTML.

    For a choice ``text`` is the index of the option. Never raises for any text.
    """
    try:
        if spec["kind"] == "choice":
            return outcome(spec["variants"][variant]["grade"], ["#" + normalise(text)]) or ("unclear", f"{NO_OPTION}.")
        if spec["kind"] == "formula":
            return judge_formula(spec, variant, text)
        amount, small_b = read(text, spec["unit"], spec["expects"], spec.get("noun", ""))
        return judge_value(spec, variant, amount, SMALL_B if small_b else "")
    except UnitError as reason:
        return "unclear", f"{escape(reason)}."


def judge_value(spec: Mapping, variant: int, value: float, note: str = "") -> Verdict:
    """The verdict on a number in base units; ``note`` is added to what is not right."""
    grade = spec["variants"][variant]["grade"]
    found = outcome(grade, near_tokens(finite(value), grade["tolerance"], grade["exact"]))
    verdict, message = found or ("wrong", grade["wrong"])
    return verdict, message + (note if verdict == "wrong" else "")


def judge_formula(spec: Mapping, variant: int, text: str) -> Verdict:
    """The verdict on a typed formula. Raises Unreadable if it cannot be read or is of another kind."""
    tree = formula(text, spec["symbols"])
    grade = spec["variants"][variant]["grade"]
    if found := outcome(grade, [formula_token(value(tree, point) for point in grade["points"])]):
        return found
    kind = dimension(tree, {name: about["unit"] for name, about in spec["letters"].items()})
    if kind is not None and kind != EXPONENTS[spec["unit"]]:
        raise Unreadable(OTHER_KIND, THAT, kind_word(kind), WORDS[spec["unit"]])
    return "wrong", grade["wrong"]


def outcome(grade: Mapping, tokens: Iterable[str]) -> Verdict | None:
    """The right answer if it is among the buckets, else the nearest known mistake."""
    found = [t for t in tokens if salted_hash(grade["salt"], t) in grade["outcomes"]]
    read = [unseal(grade["outcomes"][salted_hash(grade["salt"], t)], grade["salt"], t) for t in found]
    for message in sorted(read, key=lambda m: m[0]):  # stable: "r" comes before "w"
        return "right" if message[0] == "r" else "wrong", message[1:]
    return None
