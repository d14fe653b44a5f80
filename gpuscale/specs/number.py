"""A number of the data: ``{ value, unit, basis, source }``, and where they help a note, a printed form, a date, and
the values of other sources with the reason why they are not used. ``single`` marks one that nothing else in the data
confirms: no relation to other numbers, no second source.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpuscale.units import NBSP, SCALE, base_unit, show, spelled

DATA = Path(__file__).parent / "data"
MISSING = "-"


@dataclass(frozen=True)
class Spec:
    """One number: ``value`` and ``unit`` as written, ``base`` in base units, and where it comes from.

    ``others`` are the values that other sources have, each with ``why`` it is not the one used.
    """

    field: str
    value: float
    unit: str
    basis: str
    source: str
    note: str = ""
    printed: str = ""
    date: str = ""
    others: tuple["Spec", ...] = ()
    single: bool = False
    why: str = ""

    @property
    def base_unit(self) -> str:
        """The base unit, such as ``"B/s"``."""
        return base_unit(self.unit)

    @property
    def base(self) -> float:
        """The value in base units; a whole count is an int."""
        size = self.value * SCALE[self.unit][0]
        return int(size) if self.base_unit == "1" and float(size).is_integer() else float(size)

    @property
    def text(self) -> str:
        """The value for people: ``989 TFLOP/s``, ``228 KiB``, ``65,536``."""
        return amount(self.base, self.unit)

    @property
    def as_printed(self) -> str:
        """What the source prints, where it differs from the value; else the value in its own unit."""
        number = f"{self.value:,.10g}" if abs(self.value) < 1e15 else f"{self.value:.10g}"
        return self.printed or (number if self.unit == "1" else number + NBSP + spelled(self.unit))


def amount(base: float, unit: str) -> str:
    """``base`` (in base units) as text; binary and per-cycle units are kept, counts are exact."""
    home = base_unit(unit)
    if home == "1":
        return show(base, "count") if float(base).is_integer() else show(base, "1", short=True)
    if "iB" in unit or "cycle" in unit:
        whole = len(str(abs(int(base / SCALE[unit][0]))))
        return show(base, unit, short=True, digits=max(3, whole))
    return show(base, home, short=True)


@cache
def known_fields() -> dict[str, dict[str, dict]]:
    """What each kind of part can state: name -> unit, title, meaning (``data/fields.toml``)."""
    tables = tomllib.loads((DATA / "fields.toml").read_text(encoding="utf-8"))
    return {**tables, "capability": tables["chip"]}
