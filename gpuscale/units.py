"""Units at the door: plain floats in base units inside, text with a unit outside.

Base units are the byte, the FLOP and the second (and what is made of them); a count has the unit "1".
``64*MB``, ``3*us`` and ``400*Gbit`` convert on the way in, ``show`` and ``parse`` on the way out and back.
Decimal prefixes are powers of 1000 (GB is 1e9 bytes); binary ones say so (GiB is 2**30 bytes).
"""

from __future__ import annotations

import math
import re

B = 1.0
kB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KiB, MiB, GiB, TiB = 2.0**10, 2.0**20, 2.0**30, 2.0**40
bit, kbit, Mbit, Gbit, Tbit = 1 / 8, 1e3 / 8, 1e6 / 8, 1e9 / 8, 1e12 / 8
s, ms, us, ns = 1.0, 1e-3, 1e-6, 1e-9
minute, hour, day = 60.0, 3600.0, 86400.0
FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP = 1.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18
Hz, kHz, MHz, GHz = 1.0, 1e3, 1e6, 1e9

NBSP = "\u00a0"
PREFIXES = ["n", "µ", "m", "", "k", "M", "G", "T", "P"]
BARE = frozenset({"", "1", "FLOP/B", "USD/h"})  # shown without an SI prefix

# What each base unit measures: exponents of the base dimensions, and the words for a message.
DIMENSIONS: dict[str, dict[str, int]] = {
    "1": {},
    "B": {"B": 1},
    "B/s": {"B": 1, "s": -1},
    "s": {"s": 1},
    "FLOP": {"FLOP": 1},
    "FLOP/s": {"FLOP": 1, "s": -1},
    "FLOP/B": {"FLOP": 1, "B": -1},
    "Hz": {"s": -1},
    "W": {"W": 1},
    "USD/h": {"USD": 1, "s": -1},
}
WORDS = {
    "1": "a number",
    "B": "a number of bytes",
    "B/s": "a bandwidth",
    "s": "a time",
    "FLOP": "a number of FLOPs",
    "FLOP/s": "a rate of arithmetic",
    "FLOP/B": "an arithmetic intensity",
    "Hz": "a frequency",
    "W": "a power",
    "USD/h": "a price per hour",
}
EXAMPLES = {
    "1": "512",
    "B": "64 MB",
    "B/s": "3.35 TB/s",
    "s": "65 us",
    "FLOP": "2 GFLOP",
    "FLOP/s": "990 TFLOP/s",
    "FLOP/B": "40 FLOP/B",
    "Hz": "1.83 GHz",
    "W": "700 W",
    "USD/h": "2 USD/h",
}
COUNTS = (
    "1 GPU GPUs SM SMs core cores unit units lane lanes warp warps thread threads block blocks "
    "register registers word words link links port ports token tokens element elements parameter parameters "
    "layer layers head heads ALU ALUs row rows cycle cycles half halves USD".split()
)


class UnitError(ValueError):
    """A text that is no quantity of the kind asked for."""


class Unreadable(UnitError):
    """A text that is no number with a unit."""


class WrongDimension(UnitError):
    """A quantity of another kind: ``found`` and ``wanted`` say both in words."""

    def __init__(self, text: str, found: str, wanted: str):
        self.found, self.wanted = dimension_word(found), dimension_word(wanted)
        super().__init__(f"{text.strip()} is {self.found}; {self.wanted} is asked")


def dimension_word(unit: str) -> str:
    """What a base unit measures, in words: ``"B/s"`` is "a bandwidth"."""
    return WORDS.get(base_unit(unit), f"a quantity in {unit}")


def _scales() -> dict[str, tuple[float, str]]:
    """Every unit that can be written: its size in base units, and the base unit."""
    si = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
    small = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}
    binary = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
    out: dict[str, tuple[float, str]] = {word: (1.0, "1") for word in COUNTS}
    out |= {
        "x": (1.0, "1"),
        "×": (1.0, "1"),
        "%": (0.01, "1"),
        "us$/h": (1.0, "USD/h"),
        "USD/h": (1.0, "USD/h"),
    }
    out |= {"min": (60.0, "s"), "h": (3600.0, "s"), "hour": (3600.0, "s"), "hours": (3600.0, "s")}
    out |= {"day": (86400.0, "s"), "days": (86400.0, "s"), "sec": (1.0, "s"), "seconds": (1.0, "s")}
    for p, v in {**si, **binary}.items():
        for name, size in (
            ("B", 1.0),
            ("byte", 1.0),
            ("bytes", 1.0),
            ("bit", 1 / 8),
            ("bits", 1 / 8),
            ("b", 1 / 8),
        ):
            out[p + name] = (v * size, "B")
            out[f"{p}{name}/s"] = (v * size, "B/s")
        out[f"{p}bps"], out[f"{p}Bps"] = (v / 8, "B/s"), (v, "B/s")
    for p, v in si.items():
        out[f"{p}Hz"], out[f"{p}W"] = (v, "Hz"), (v, "W")
        for name in ("FLOP", "FLOPs", "flop", "flops"):
            out[p + name], out[f"{p}{name}/s"] = (v, "FLOP"), (v, "FLOP/s")
            out[f"{p}{name}/cycle"] = (v, "FLOP")
            for byte in ("B", "byte"):
                out[f"{p}{name}/{byte}"] = (v, "FLOP/B")
        out[f"{p}FLOPS"] = (v, "FLOP/s")
    for p, v in small.items():
        out[f"{p}s"] = (v, "s")
    out["B/cycle"], out["bytes/cycle"] = (1.0, "B"), (1.0, "B")
    return out


SCALE = _scales()


def base_unit(unit: str) -> str:
    """The base unit of a unit: ``"GB/s"`` gives ``"B/s"``. Raises UnitError for an unknown one."""
    if unit in DIMENSIONS:
        return unit
    if unit in SCALE:
        return SCALE[unit][1]
    raise UnitError(f"unit: {unit!r} is not known; expected one such as {', '.join(list(DIMENSIONS)[1:8])}")


def _digits(x: float, n: int) -> str:
    """``n`` significant digits without an exponent, thousands with commas."""
    x = _rounded(x, n)  # first, so that 9.999 gives 10.0 and not 10.00
    if x == 0 or not math.isfinite(x):
        return f"{0:.{n - 1}f}" if x == 0 else ("∞" if x > 0 else "−∞")
    places = n - 1 - math.floor(math.log10(abs(x)) + 1e-12)
    return f"{x:,.{max(places, 0)}f}"


def _rounded(x: float, n: int) -> float:
    """``x`` to ``n`` significant digits; a value at the end of the float range stays as it is."""
    nearest = float(f"{x:.{n - 1}e}")
    return nearest if math.isfinite(nearest) else x


def show(value: float, unit: str = "", short: bool = False, digits: int = 3) -> str:
    """A number for people: ``show(0.00393, "s")`` is ``3.93 ms``.

    ``unit`` is a base unit (prefix chosen), a fixed one such as ``"KiB"`` (kept), ``"%"`` (a share of 1) or
    ``"count"`` (an exact whole number). ``digits`` are significant; ``short`` drops trailing zeros.
    Raises UnitError for an unknown unit.
    """
    v = float(value)
    if not math.isfinite(v):
        return "never" if math.isnan(v) else ("∞" if v > 0 else "−∞")
    if unit == "count":
        return _trim(f"{round(v):,}", short=False)
    if unit == "%":
        return _trim(_digits(100 * v, digits), short) + "%"
    if unit and base_unit(unit) != unit:
        return _trim(_digits(v / SCALE[unit][0], digits), short) + (NBSP + unit if unit not in COUNTS else "")
    x = _rounded(v, digits)
    e = 0 if unit in BARE or not x else min(5, max(-3, math.floor(math.log10(abs(x)) / 3 + 1e-9)))
    text = _trim(_digits(x / 1000.0**e, digits), short)
    label = "" if unit == "1" else unit
    return text + (NBSP + PREFIXES[e + 3] + label if label or e else "")


def _trim(text: str, short: bool) -> str:
    return (text.rstrip("0").rstrip(".") if short and "." in text else text).replace("-", "−")


_NUMBER = re.compile(
    r"\s*(?P<sign>[-+−]?)\s*(?:(?P<base>\d+)\s*(?:\^|\*\*)\s*(?P<power>[-−]?\d+)"
    r"|(?P<number>(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+−]?\d+)?))\s*(?P<unit>\S.*?)?\s*$"
)


def parse(text: str, unit: str) -> float:
    """A typed quantity in base units of ``unit``: ``parse("65 us", "s")`` is 6.5e-5.

    Raises Unreadable for what is no number with a unit, WrongDimension for another kind of quantity.
    A bare number is taken only where a count is asked.
    """
    want = base_unit(unit)
    clean = re.sub("[\u00a0\u2009\u202f]", " ", str(text))
    found = _NUMBER.match(clean)
    if not found:
        raise Unreadable(
            f"{clean.strip()!r} is no number with a unit; expected {WORDS[want]}, such as {EXAMPLES[want]}"
        )
    value = _number(found)
    name = re.sub(r"\s*/\s*", "/", found["unit"] or "1")
    if name not in SCALE:
        raise Unreadable(f"unit {name!r} is not known; expected {WORDS[want]}, such as {EXAMPLES[want]}")
    size, have = SCALE[name]
    if found["unit"] is None and want != "1":
        raise Unreadable(f"{clean.strip()} has no unit; expected {WORDS[want]}, such as {EXAMPLES[want]}")
    if have != want:
        raise WrongDimension(clean, have, want)
    return _finite(value * size, clean)


def _finite(value: float, text: str) -> float:
    if math.isinf(value):
        raise Unreadable(f"{text.strip()[:40]} is out of range; expected a number below 10^300")
    return value


def _number(found: re.Match) -> float:
    sign = -1.0 if found["sign"] in {"-", "−"} else 1.0
    if found["base"]:
        try:
            return sign * float(found["base"]) ** float(found["power"].replace("−", "-"))
        except (OverflowError, ZeroDivisionError):
            return math.inf
    digits = found["number"].replace("−", "-")
    if "," in digits and not re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d*)?(e[-+]?\d+)?", digits, re.I):
        raise Unreadable(f"{digits!r} can be read in two ways; write 1.5 for one and a half, 1,500 for fifteen hundred")
    return sign * float(digits.replace(",", ""))
