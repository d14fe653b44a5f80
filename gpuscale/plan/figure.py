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
    from gpuscale.plotting import Still

    best, shown = plan.best, plan.rows[:rows]
    top = show(best.mfu[2], "%", digits=2)
    told = [f"{r.choice}: {_end(r)}, {r.binds}" for r in shown]
    flat = [(str(row.choice), said, show(t, "s")) for row in shown for said, t in seconds(row).items()]
    return Still(
        lambda sheet: _draw(sheet, shown),
        name=name,
        caption=caption
        or f"The best of {plan.fit:,} choices that fit is expected to reach {top} MFU. Largest loss: {best.binds}. "
        "A line spans the band of a step.",
        alt=alt or f"{text.heading(plan.ask)}. {'; '.join(told)}.",
        table=(["choice", "part of the step", "time"], flat),
    )


def _draw(sheet, shown) -> None:
    """The key, and for each choice its words over a bar of its parts."""
    from gpuscale.plotting.drawing.ink import width

    longest = max(row.band[1] for row in shown)
    ends = [_end(row) for row in shown]
    per = (sheet.across - max(width(end) for end in ends) - 14) / longest
    times = [seconds(row) for row in shown]
    occurring = [said for said in PARTS if any(spent[said] > 0 for spent in times)]
    keys = [(said, partial(_swatch, sheet, PARTS[said])) for said in occurring]
    y = sheet.legend(keys, 0, side=11, say=False) + 4
    for row, end, spent in zip(shown, ends, times, strict=True):
        y = sheet.paragraph(str(row.choice), 0, y) + 4
        x = 0.0
        for said, t in spent.items():
            if t > 0:
                sheet.area(x, y, x + t * per, y + _BAR, PARTS[said])
            x += t * per
        low, high = row.band
        sheet.rule((low * per, high * per), (y + _BAR / 2,) * 2)
        sheet.write(high * per + 6, y + 12, end, "plain", say=False)
        sheet.records.append(f"step of {row.choice} [s]: {', '.join(f'{t:.6g}' for t in spent.values())}")
        y += _BAR + 9
    sheet.down = y


def _end(row) -> str:
    """The expected step and its MFU."""
    return f"{show(row.step[2], 's')}, {show(row.mfu[2], '%', digits=2)}"


def _swatch(sheet, hue: str, x: float, y: float) -> None:
    sheet.area(x, y + 2, x + 11, y + 13, hue)


@dataclass(frozen=True)
class Measured:
    """Runs of one kind: seconds of their steps, measured and expected, and the factor of the expected band."""

    label: str
    hue: str
    measured: np.ndarray
    expected: np.ndarray
    band: float

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
        Points(*_apart(kind, hi / lo), kind.label, kind.hue, solid=True, size=3 if len(kind.measured) > 50 else 8)
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
