"""Amounts for people. The page's twin is ``show`` in widgets/static/numbers.js, with the tables of this room."""

import math

from gpuscale.units.tables import BARE, COUNT, NBSP, ONE, SCALE, SHARE, STEPS, base_unit, spelled

NEVER = "never"  # a value that is not a number, such as the time of something that never ends


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

    ``unit`` is a base unit (prefix chosen), a fixed one such as ``"KiB"`` or ``"us"`` (kept, and spelled µs), ``"%"``
    (a fraction of 1) or ``"count"`` (an exact whole number). ``digits`` are significant, and ``short`` drops trailing
    zeros. Raises UnitError for an unknown unit.
    """
    v = float(value)
    if not math.isfinite(v):
        return NEVER if math.isnan(v) else ("∞" if v > 0 else "−∞")
    if unit == COUNT:
        return _trim(f"{round(v):,}", short=False)
    if unit == SHARE:
        return _trim(_digits(100 * v, digits), short) + SHARE
    if unit and base_unit(unit) != unit:
        size, base = SCALE[unit]
        return _trim(_digits(v / size, digits), short) + (NBSP + spelled(unit) if base != ONE else "")
    x = _rounded(v, digits)
    e = 0 if unit in BARE or not x else min(5, max(-3, math.floor(math.log10(abs(x)) / 3 + 1e-9)))
    text = _trim(_digits(x / 1000.0**e, digits), short)
    label = STEPS[e + 3].strip() + ("" if unit == ONE else unit)
    return text + (NBSP + label if label else "")


def _trim(text: str, short: bool) -> str:
    return (text.rstrip("0").rstrip(".") if short and "." in text else text).replace("-", "−")
