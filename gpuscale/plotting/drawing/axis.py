"""What an axis is, in a still figure and in a live one: its range, title, scale, unit, and the ticks to choose from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gpuscale.symbols import Quantity
from gpuscale.units import BARE, NBSP, base_unit, show


@dataclass(frozen=True)
class Axis:
    """An axis: its range in base units, its title, logarithmic or not, its unit, and whether it counts whole things.

    Missing parts come from its quantity (title and unit) and from the values (range). A scale
    is logarithmic where hi/lo is 30 or more, unless ``log`` says otherwise.
    """

    lo: float | None = None
    hi: float | None = None
    title: str = ""
    log: bool | None = None
    unit: str = ""
    whole: bool = False

    def of(self, quantity: Quantity | None, what: str, values=()) -> Axis:
        """The axis with all that a drawing needs. Raises TypeError without title and unit, ValueError for limits that
        are not two numbers, are reversed, or are not positive on a logarithmic scale; both name ``what``.
        """
        if quantity is not None and not isinstance(quantity, Quantity):
            raise TypeError(f"{what}: expected a Quantity of gpuscale.symbols; got {quantity!r}")
        if quantity is None and not (self.title and self.unit):
            raise TypeError(f"{what}: expected a Quantity, or an axis with title and unit; got {self}")
        given = (self.lo, self.hi) if (self.lo, self.hi) != (None, None) else (min(values), max(values))
        try:
            lo, hi = map(float, given)
        except (TypeError, ValueError):
            raise ValueError(f"{what}: expected two numbers in base units; got {self.lo!r}, {self.hi!r}") from None
        log = (lo > 0 and hi / lo >= 30) if self.log is None else self.log
        if self.lo is None:
            lo, hi = rounded(lo, hi, log)
        if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
            raise ValueError(f"{what}: the range is empty; expected a low end below a high end; got {lo:g} to {hi:g}")
        if log and lo <= 0:
            raise ValueError(f"{what}: a logarithmic scale begins above zero; got {lo:g}")
        unit = self.unit or quantity.unit
        whole = self.whole or (quantity is not None and quantity.whole)
        return Axis(lo, hi, self.title or quantity.meaning, log, unit if unit == "%" else base_unit(unit), whole)

    @property
    def heading(self) -> str:
        """The title; it names the unit where the ticks do not."""
        bare = self.unit in BARE and self.unit not in {"", "1"}
        return f"{self.title}, {self.unit}" if bare and not self.title.endswith(self.unit) else self.title

    def scale(self, values):
        """Values as the axis spaces them."""
        with np.errstate(all="ignore"):
            return np.log10(values) if self.log else np.asarray(values, dtype=float)

    def place(self, values, start: float, end: float):
        """Where values stand on an axis that runs from the pixel ``start`` to ``end``."""
        lo, hi = self.scale((self.lo, self.hi))
        return start + (self.scale(values) - lo) / (hi - lo) * (end - start)

    def grid(self, count: int) -> np.ndarray:
        """So many values from end to end, as the axis spaces them."""
        values = np.geomspace(self.lo, self.hi, count) if self.log else np.linspace(self.lo, self.hi, count)
        values[0], values[-1] = self.lo, self.hi
        return values

    def tick(self, value: float) -> str:
        """The text of a tick; units without prefix are in the title."""
        if self.unit in {"", "1"}:
            for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
                if value >= size and (100 * value / size) % 1 == 0:
                    return f"{show(value / size, '1', short=True)}{NBSP}{word}"
        return said(value, "1" if self.unit in BARE else self.unit, short=True)

    def rows(self) -> list[list[float]]:
        """The ticks to choose from, the fullest row first: powers of two for counts; decades, SI prefixes, or 1-2-5
        where there are few decades; multiples of 1, 2 or 5 times a power of ten on a linear axis.
        """
        lo, hi, rows = self.lo, self.hi, []
        if not self.log:
            power = 10.0 ** math.floor(math.log10((hi - lo) / 20))
            for size in (m * scale * power for scale in (1, 10, 100, 1000) for m in (1, 2, 5)):
                if self.whole and size < 1:
                    continue  # no tick at 1.5 GPUs
                first, last = math.ceil(lo / size - 1e-9), math.floor(hi / size + 1e-9)
                rows.append([float(f"{k * size:.12g}") for k in range(first, last + 1)])
                if len(rows[-1]) < 3:
                    break
            return rows
        if self.unit == "1" and lo >= 1 and 4 * lo <= hi <= 2**18 and all(math.log2(v).is_integer() for v in (lo, hi)):
            first, last = round(math.log2(lo)), round(math.log2(hi))
            return [[2.0**k for k in range(first, last + 1, step)] for step in range(1, last - first + 1)]
        first, last = math.ceil(math.log10(lo) - 1e-9), math.floor(math.log10(hi) + 1e-9)
        if math.log10(hi / lo) < 3:
            spread = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
            rows.append([v for v in spread if lo * (1 - 1e-9) <= v <= hi * (1 + 1e-9)])
        for step in (1, 3, 6, 9):
            start = math.ceil(first / step) * step
            rows.append([float(f"1e{k}") for k in range(start, last + 1, step)])
        return [row for row in rows if len(row) > 1] or [[lo, hi]]

    def ticks(self, fits) -> list[float]:
        """The first row for which ``fits(row)`` is true, or else the last."""
        rows = self.rows()
        return next((row for row in rows if fits(row)), rows[-1])

    def few(self) -> np.ndarray:
        """Round values for a table."""
        return np.array(self.ticks(lambda row: len(row) <= 8), dtype=float)

    def spaced(self, length: float, need) -> list[float]:
        """The ticks that have room on ``length`` pixels; ``need(label)`` is what one takes. The twin of ``ticks`` in
        plot.js."""

        def fits(row):
            at, needs = self.place(row, 0, length), [need(self.tick(v)) for v in row]
            return all(at[i + 1] - at[i] >= (needs[i] + needs[i + 1]) / 2 for i in range(len(row) - 1))

        return self.ticks(fits)

    def spec(self) -> dict:
        """As a page takes it: each tick with what it says; no page has room for more than 16."""
        rows = [[[v, self.tick(v)] for v in row] for row in self.rows() if len(row) <= 16]
        return {"title": self.heading, "unit": self.unit, "lo": self.lo, "hi": self.hi, "log": self.log, "ticks": rows}

    def cut(self, lo=None, hi=None) -> Axis:
        """The part of the axis between two values, where they are given and lie on it."""
        least = self.lo if lo is None else max(lo, self.lo)
        return replace(self, lo=least, hi=self.hi if hi is None else min(hi, self.hi))


def rounded(lo: float, hi: float, log: bool) -> tuple[float, float]:
    """Limits for data from ``lo`` to ``hi``: whole decades, or from zero to a round number."""
    if log:
        low, high = math.floor(math.log10(lo * 1.03)), math.ceil(math.log10(hi / 1.03))
        return float(f"1e{low}"), float(f"1e{max(high, low + 1)}")
    top, low = hi if hi > 0 else 0.0, min(lo, 0.0)
    step = 10.0 ** math.floor(math.log10(max(top - low, 1e-300)))
    nice = next(s * step for s in (0.1, 0.2, 0.25, 0.5, 1, 2) if (top - low) / (s * step) <= 6)
    return math.floor(low / nice + 1e-9) * nice, math.ceil(top / nice - 1e-9) * nice


def said(value: float, unit: str = "1", short: bool = False) -> str:
    """A number as figures say it: counts are exact. The twin of ``say`` in numbers.js."""
    whole = unit in {"", "1"} and math.isfinite(value) and float(value).is_integer()
    return show(value, "count" if whole else unit, short=short)


def positive(what: str, **values) -> None:
    """Raise ValueError naming a value that is not a finite number above zero."""
    for name, value in values.items():
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not (number and 0 < value < math.inf):
            raise ValueError(f"{what}: {name} must be a number above zero, in base units; got {value!r}")
