"""Figures of plans: the best choices as bars, by the parts of a step; and expected against measured steps."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from gpuscale.plan import text
from gpuscale.units import show

# The parts of a step, in order: label and hue.
PARTS = {
    "matmuls and attention": "compute",
    "memory traffic, optimizer": "memory",
    "TP and CP": "scaleup",
    "EP, DP and PP transfers": "scaleout",
    "bubble, host": "wait",
}
_BAR = 15  # pixels


def seconds(row) -> dict[str, float]:
    """Seconds of each part of the expected step."""
    t = row.costs.expected
    work, traffic = t.matmuls + t.attention + t.experts, t.kernels + t.loss + t.sums + t.update
    parts = work, traffic, t.tp + t.cp, t.ep + t.dp + t.pp, t.bubble + t.host
    return dict(zip(PARTS, parts, strict=True))


def picture(plan, rows: int = 8, name: str = "plan", caption: str = "", alt: str = ""):
    """A static figure of the first rows. Raises Refusal if nothing fits."""
    best = plan.best
    top = show(best.mfu[2], "%", digits=2)
    told = (
        f"The first of {plan.fit:,} plans that fit is expected to reach {top} MFU. Largest loss: {best.binds}. Bars: "
        "expected step, by part. Lines: its band."
    )
    shown = {str(row.choice): row for row in plan.rows[:rows]}
    return compare(shown, name, caption or told, alt or f"{text.heading(plan.ask)}. {_told(shown)}")


def compare(rows: dict, name: str, caption: str, alt: str = ""):
    """A static figure of plans by their names: a bar for the expected step of each, part by part, and its band."""
    from gpuscale.plotting import Still

    flat = [(said, part, show(t, "s")) for said, row in rows.items() for part, t in seconds(row).items()]
    heads = ["plan", "part of the step", "time"]
    return Still(
        lambda sheet: _draw(sheet, rows), name=name, caption=caption, alt=alt or _told(rows), table=(heads, flat)
    )


def _told(rows: dict) -> str:
    return "; ".join(f"{said}: {_end(row)}, {row.binds}" for said, row in rows.items()) + "."


def _draw(sheet, rows: dict) -> None:
    """The key, for each plan its words over a bar of its parts, and an axis of time."""
    from gpuscale.plotting.drawing.ink import width

    longest = max(row.band[1] for row in rows.values())
    per = (sheet.across - 2) / longest
    times = [seconds(row) for row in rows.values()]
    occurring = [said for said in PARTS if any(spent[said] > 0 for spent in times)]
    keys = [(said, partial(_swatch, sheet, PARTS[said])) for said in occurring]
    y = sheet.legend(keys, 0, side=11, say=False) + 4
    for (said, row), spent in zip(rows.items(), times, strict=True):
        y = sheet.paragraph(f"{said}: {_end(row)}", 0, y) + 4
        x = 0.0
        for part, t in spent.items():
            if t > 0:
                sheet.area(x, y, x + t * per, y + _BAR, PARTS[part])
            x += t * per
        low, high = row.band
        sheet.rule((low * per, high * per), (y + _BAR / 2,) * 2)
        sheet.records.append(f"step of {row.choice} [s]: {', '.join(f'{t:.6g}' for t in spent.values())}")
        y += _BAR + 9
    sheet.rule((0, longest * per), (y, y))
    for tick in _ticks(longest):
        sheet.rule((tick * per,) * 2, (y, y + 4))
        mark = show(tick, "s") if tick else "0"
        sheet.write(min(tick * per, sheet.across - width(mark)), y + 18, mark, "plain", say=False)
    sheet.down = y + 24


def _ticks(longest: float) -> list[float]:
    """Three to six round numbers from zero to at most the longest time."""
    step = 10.0 ** np.floor(np.log10(longest))
    step *= next(part for part in (0.2, 0.5, 1, 2) if longest / (part * step) < 6)
    return [i * step for i in range(int(longest / step + 1e-9) + 1)]


def _end(row) -> str:
    """The expected step and its MFU."""
    return f"{show(row.step[2], 's')}, {show(row.mfu[2], '%', digits=2)} MFU"


def _swatch(sheet, hue: str, x: float, y: float) -> None:
    sheet.area(x, y + 2, x + 11, y + 13, hue)


@dataclass(frozen=True)
class Measured:
    """Runs of one kind: seconds of their steps, measured and expected, and the factor of the expected band; ``short``
    is the label on a phone."""

    label: str
    hue: str
    measured: np.ndarray
    expected: np.ndarray
    band: float
    short: str = ""

    def __post_init__(self):
        for name in ("measured", "expected"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), float))


def agreement(kinds, name: str, caption: str, alt: str):
    """A figure of expected against measured steps, with the line where both are equal and the widest band around it."""
    from gpuscale.plotting import Axis, Chart, Curve, Points, Still

    every = np.concatenate([np.concatenate([kind.measured, kind.expected]) for kind in kinds])
    lo, hi = every.min() / 1.3, every.max() * 1.3
    widest = max(kind.band for kind in kinds)
    ends = np.array([lo, hi])
    lines = [Curve((ends, ends), "equal", "plain", "exact")]
    for factor, said in ((widest, ""), (1 / widest, "")):
        lines.append(Curve((ends, ends * factor), said, "plain", "approx"))
    dots = [
        Points(
            *_apart(kind, hi / lo),
            kind.label,
            kind.hue,
            solid=True,
            short=kind.short,
            size=3 if len(kind.measured) > 50 else 8,
        )
        for kind in kinds
    ]
    axes = (Axis(lo, hi, f"{which} step", log=True, unit="s") for which in ("measured", "expected"))
    rows = []
    for kind in kinds:
        off = np.exp(np.abs(np.log(kind.expected / kind.measured)))
        inside = show((off <= kind.band).mean(), "%", digits=2)
        errors = [show(np.quantile(off, q) - 1, "%", digits=2) for q in (0.5, 0.9)]
        rows.append([kind.label, f"{len(off):,}", *errors, f"{kind.band:.2f}", inside])
    heads = ["kind of run", "runs", "median error", "nine in ten within", "band, a factor", "runs inside"]
    return Still(Chart(*axes, lines, dots).paint, name=name, caption=caption, alt=alt, table=(heads, rows), height=480)


def _apart(kind: Measured, span: float) -> tuple[np.ndarray, np.ndarray]:
    """The points of a kind without those that would cover another."""
    step = np.log(span) / 200  # of 200 places along each axis
    places = np.round(np.log(np.stack([kind.measured, kind.expected])) / step)
    _, first = np.unique(places, axis=1, return_index=True)
    return kind.measured[np.sort(first)], kind.expected[np.sort(first)]
