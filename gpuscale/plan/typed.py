"""Numbers of a request as they are typed: whole ones in a range, amounts with a unit; refused by name."""

from __future__ import annotations

import math

from gpuscale.plan.errors import Refusal
from gpuscale.units import SCALE, parse

LONGEST = 40  # characters of a typed value in a message
FEW = 1000  # a limit below this is said even if it is not exceeded


def some(n: int, what: str) -> str:
    """A number of things: "1 GPU", "4,096 GPUs"."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def shown(value) -> str:
    """A value as it was typed, in one line and short enough for a message."""
    try:
        text = str(value)
    except ValueError:  # Python does not print integers of thousands of digits
        return "an integer of thousands of digits"
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def amount(value, unit: str = "1") -> float:
    """A number in base units: in ``unit`` if it is written without one, else in its own unit. Raises ValueError, and
    TypeError for what is no number."""
    try:
        return float(value) * SCALE[unit][0]
    except OverflowError:
        return math.inf
    except ValueError:
        return parse(value, unit)


def whole(what: str, value, least: int = 1, most: int | None = None, typed=None) -> int:
    """A whole number in a range. Raises Refusal with what was expected and the value as it was typed."""
    try:
        found = math.nan if isinstance(value, bool) else amount(value)
    except (TypeError, ValueError):
        found = math.nan
    top = math.inf if most is None else most
    if least <= found <= top and found < math.inf and found == int(found):
        return int(found)
    limit = f"{least:,} to {most:,}" if top < FEW or found > top else f"{least:,} or more"
    raise Refusal(f"{what}: {shown(value if typed is None else typed)}; expected a whole number, {limit}")


def number(what: str, value, least: float = 0.0, unit: str = "1") -> float:
    """A finite number of at least that much; a text without a unit is in ``unit``. Raises Refusal."""
    try:
        found = amount(value, unit)
    except (TypeError, ValueError):
        found = math.nan
    if not least <= found < math.inf:
        raise Refusal(f"{what}: {shown(value)}; expected a number, {least:g} or more")
    return found
