"""A drawing under construction: axes with units, regions, crossings and notes, laid out when all is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from gpuscale.plotting.drawing.ink import SIZE, hue
from gpuscale.plotting.drawing.ticks import Units, titled
from gpuscale.symbols import Quantity
from gpuscale.units import base_unit

LEADING = 16  # pixels from one line of text to the next


@dataclass(frozen=True)
class Region:
    """Where a bound holds: its name, its meaning, and the x it runs from and to (None: the edge)."""

    name: str
    hue: str
    lo: float | None = None
    hi: float | None = None


@dataclass(frozen=True)
class Crossing:
    """Where two bounds meet: a dotted line at ``x`` with its text; a dot at ``y`` if given, filled, as it is computed.

    The text stands at the top of the line or at its foot, where it covers less; ``low`` asks for the foot.
    """

    x: float
    text: str
    y: float | None = None
    low: bool = False


class Sheet(Figure):
    """A matplotlib figure whose unit is the page's pixel; ``narrow`` says which of the two drawings it is."""

    def __init__(self, width: float, height: float, narrow: bool):
        super().__init__(figsize=(width / 72, height / 72), dpi=72, frameon=False)
        self.across, self.down, self.narrow = width, height, narrow
        self.regions: list[Region] = []
        self.crossings: list[Crossing] = []
        self.notes: list[tuple] = []
        self.grid = True
        self.headroom = 0.0  # more space over the plot, for what is named there
        self.records: list[str] = []  # data that no curve shows, for the digest
        self.words: list[str] = []  # the labels, for the digest

    def write(self, x, y, text, colour="plain", align="left", bold=False, halo=False, angle=0.0, size=SIZE, say=True):
        """Text with its baseline at pixel (x, y), y downwards."""
        if say:
            self.words.append(text)
        style = {"ha": align, "va": "baseline", "rotation": angle, "rotation_mode": "anchor", "zorder": 6}
        style |= {
            "fontsize": size,
            "fontweight": "bold" if bold else "normal",
            "gid": "halo" if halo else None,
        }
        style |= {"color": hue(colour), "parse_math": False, "transform": IdentityTransform()}
        self.add_artist(Text(x, self.down - y, text, **style))

    def rule(self, xs, ys, colour="plain", alpha=1.0, zorder=-0.5, **style):
        """A line through pixels, y downwards."""
        line = Line2D(xs, [self.down - y for y in ys], color=hue(colour), alpha=alpha, label="_", **style)
        line.set_dash_capstyle("butt")
        line.set(transform=IdentityTransform(), zorder=zorder)
        self.add_artist(line)

    def area(self, x0, y0, x1, y1, colour, alpha=1.0, zorder=-1.0):
        """A filled rectangle between pixels, y downwards."""
        self.add_artist(
            Rectangle(
                (x0, self.down - y1),
                x1 - x0,
                y1 - y0,
                facecolor=hue(colour),
                alpha=alpha,
                linewidth=0,
                transform=IdentityTransform(),
                zorder=zorder,
            )
        )


def axis(ax, which, quantity, lo=None, hi=None, log=None, title=None):
    """Give axis ``which`` ("x" or "y") its title, unit, scale and limits.

    ``quantity`` is a Quantity or a pair (title, unit); ``log=None`` takes a logarithmic scale where hi/lo
    is 30 or more. Raises ValueError for limits that are missing on one side, turned round, or not above
    zero on a log scale.
    """
    if which not in {"x", "y"}:
        raise ValueError(f"axis: {which!r} is no axis; expected 'x' or 'y'")
    words, unit = named(quantity, f"{which} axis")
    if (lo is None) != (hi is None):
        raise ValueError(f"{which} axis: expected both limits or none; got {lo} to {hi}")
    if lo is not None:
        lo, hi = limits(lo, hi, f"{which} axis", log)
        log = wide(lo, hi) if log is None else log
        getattr(ax, f"set_{which}scale")("log" if log else "linear")
        getattr(ax, f"set_{which}lim")(lo, hi)
    getattr(ax, f"set_{which}label")(titled(title or words, unit))
    getattr(ax, f"{which}axis").set_major_formatter(Units(unit))


def wide(lo: float, hi: float) -> bool:
    """Whether a range asks for a logarithmic scale."""
    return lo > 0 and hi / lo >= 30


def limits(lo, hi, what: str, log=None) -> tuple[float, float]:
    """A range as floats. Raises ValueError naming it if it is empty, not finite, or not above zero where
    ``log``.
    """
    try:
        lo, hi = float(lo), float(hi)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected two numbers in base units, from low to high; got {lo!r}, {hi!r}") from None
    if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
        raise ValueError(f"{what}: the range is empty; expected a low end below a high end; got {lo:g} to {hi:g}")
    if log and lo <= 0:
        raise ValueError(f"{what}: a logarithmic scale begins above zero; got {lo:g}")
    return lo, hi


def positive(what: str, **values):
    """Raise ValueError naming a value that is not a finite number above zero."""
    for name, value in values.items():
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not (number and 0 < value < math.inf):
            raise ValueError(f"{what}: {name} must be a number above zero, in base units; got {value!r}")


def named(quantity, what: str) -> tuple[str, str]:
    """Title and base unit of a Quantity or of a pair (title, unit). Raises TypeError otherwise."""
    if isinstance(quantity, Quantity):
        return quantity.meaning, quantity.unit
    if isinstance(quantity, tuple) and len(quantity) == 2 and all(isinstance(v, str) for v in quantity):
        return quantity[0], quantity[1] if quantity[1] in {"%", ""} else base_unit(quantity[1])
    raise TypeError(f"{what}: expected a Quantity or a pair (title, unit); got {quantity!r}")


def note(ax, x, y, text, colour="plain", dx=0.0, dy=0.0, anchor="left", bold=False):
    """Words at a point of the data, shifted by pixels (``dy`` downwards); a line break starts a new line."""
    if anchor not in {"left", "center", "right"}:
        raise ValueError(f"note: anchor {anchor!r} is unknown; expected left, center or right")
    ax.figure.notes.append((x, y, text, hue(colour) and colour, dx, dy, anchor, bold))
