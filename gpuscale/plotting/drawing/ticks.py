"""Where ticks stand and what they say: decades and SI prefixes, powers of two for counts, 1-2-5 elsewhere."""

from __future__ import annotations

import math

from matplotlib.ticker import Formatter

from gpuscale.units import BARE, NBSP, show


class Units(Formatter):
    """Tick labels in a base unit, as ``show`` writes them; units without prefix stand in the title."""

    def __init__(self, unit: str = "1"):
        self.unit = unit

    def __call__(self, value, pos=None):
        if self.unit in BARE:
            for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
                if self.unit in {"", "1"} and value >= size and (100 * value / size) % 1 == 0:
                    return f"{show(value / size, '1', short=True)}{NBSP}{word}"
            return show(value, "count") if float(value).is_integer() else show(value, "1", short=True)
        return show(value, self.unit, short=True)


def titled(title: str, unit: str) -> str:
    """The title of an axis: it names the unit where the ticks do not."""
    bare = unit in BARE and unit not in {"", "1"}
    return f"{title}, {unit}" if bare and not title.endswith(unit) else title


def two_powers(lo: float, hi: float, unit: str) -> bool:
    """Whether a range of counts runs from one power of two to another, and none of them is hard to read."""
    whole = unit == "1" and lo >= 1 and math.log2(lo).is_integer() and math.log2(hi).is_integer()
    return whole and 4 * lo <= hi <= 2**18


def log_ticks(lo: float, hi: float, fits, unit: str) -> list[float]:
    """Ticks of a logarithmic axis; ``fits(ticks)`` says whether their labels have room."""
    if two_powers(lo, hi, unit):
        first, last = round(math.log2(lo)), round(math.log2(hi))
        rows = [[2.0**k for k in range(first, last + 1, step)] for step in range(1, last - first + 1)]
        return next((r for r in rows if fits(r)), [lo, hi])
    first, last = math.ceil(math.log10(lo) - 1e-9), math.floor(math.log10(hi) + 1e-9)
    rows = []
    if math.log10(hi / lo) < 3:
        spread = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
        rows.append([v for v in spread if lo * (1 - 1e-9) <= v <= hi * (1 + 1e-9)])
    for step in (1, 3, 6, 9):  # every decade, or else every prefix
        start = math.ceil(first / step) * step
        rows.append([float(f"1e{k}") for k in range(start, last + 1, step)])
    rows = [r for r in rows if r]
    return next((r for r in rows if len(r) > 1 and fits(r)), rows[-1] if rows else [lo, hi])


def linear_ticks(lo: float, hi: float, fits) -> list[float]:
    """Ticks of a linear axis, at multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((hi - lo) / 20))
    for scale in (1, 10, 100, 1000):
        for m in (1, 2, 5):
            step = m * scale * power
            first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
            row = [float(f"{k * step:.12g}") for k in range(first, last + 1)]
            if fits(row) or len(row) < 3:
                return row
    return [lo, hi]


def rounded(lo: float, hi: float, log: bool) -> tuple[float, float]:
    """Limits for data from ``lo`` to ``hi``: whole decades, or from zero to a round number."""
    if log:
        low, high = math.floor(math.log10(lo * 1.03)), math.ceil(math.log10(hi / 1.03))
        return float(f"1e{low}"), float(f"1e{max(high, low + 1)}")
    top, low = hi if hi > 0 else 0.0, min(lo, 0.0)
    step = 10.0 ** math.floor(math.log10(max(top - low, 1e-300)))
    nice = next(s * step for s in (0.1, 0.2, 0.25, 0.5, 1, 2) if (top - low) / (s * step) <= 6)
    return math.floor(low / nice + 1e-9) * nice, math.ceil(top / nice - 1e-9) * nice
