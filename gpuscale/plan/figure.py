"""The best choices of a plan as bars: what their steps consist of."""

from __future__ import annotations

from functools import partial

from gpuscale.plan import text
from gpuscale.units import show

# What a step consists of, in order: outputs that are added up, words, hue.
PARTS = (
    (("need_reached",), "what the model needs", "compute"),
    (("extra", "kernels_reached"), "recomputed, uneven, memory-bound", "memory"),
    (("tp_wait_reached", "cp_wait_reached"), "TP and CP", "scaleup"),
    (("ep_wait_reached", "dp_wait_reached", "pp_wait_reached"), "EP, DP and hops", "scaleout"),
    (("bubble_reached",), "bubble", "wait"),
)
_BAR = 15  # pixels


def seconds(row) -> list[float]:
    """Seconds of each part of a step, at the rates that are reached."""
    n = row.numbers | {"extra": row.numbers["math_reached"] - row.numbers["need_reached"]}
    return [max(sum(n[name] for name in names), 0.0) for names, *_ in PARTS]


def picture(plan, rows: int = 8, name: str = "plan", caption: str = "", alt: str = ""):
    """A static figure of the first rows. Raises Refusal where nothing fits."""
    from gpuscale.plotting import Still

    best, shown = plan.best, plan.rows[:rows]
    top = show(best.mfu[1], "%")
    caption = caption or f"The best of {plan.fit:,} choices that fit reaches {top} of the peak: {best.binds}."
    flat = [
        (str(row.choice), said, show(t, "s"))
        for row in shown
        for (_, said, _), t in zip(PARTS, seconds(row), strict=True)
    ]
    alt = (
        alt
        or f"{text.heading(plan.ask)}. "
        + "; ".join(
            f"{row.choice}: {show(row.step[1], 's')}, {show(row.mfu[1], '%')} of the peak, {row.binds}" for row in shown
        )
        + "."
    )
    table = ["choice", "part of the step", "time"], flat
    return Still(lambda sheet: _draw(sheet, shown), name=name, caption=caption, alt=alt, table=table)


def _draw(sheet, shown) -> None:
    """The key, and for each choice its words over a bar of its parts."""
    from gpuscale.plotting.drawing.ink import width

    longest = max(row.step[1] for row in shown)
    ends = [f"{show(row.step[1], 's')}, {show(row.mfu[1], '%')}" for row in shown]
    per = (sheet.across - max(width(end) for end in ends) - 14) / longest
    times = [seconds(row) for row in shown]
    keys = [
        (said, partial(_swatch, sheet, hue))
        for (_, said, hue), spent in zip(PARTS, zip(*times, strict=True), strict=True)
        if any(t > 0 for t in spent)
    ]
    y = sheet.legend(keys, 0, side=11, say=False) + 4
    for row, end, spent in zip(shown, ends, times, strict=True):
        y = sheet.paragraph(str(row.choice), 0, y) + 4
        x = 0.0
        for (_, _, hue), t in zip(PARTS, spent, strict=True):
            if t > 0:
                sheet.area(x, y, x + t * per, y + _BAR, hue)
            x += t * per
        sheet.write(x + 6, y + 12, end, "plain", say=False)
        sheet.records.append(f"step of {row.choice} [s]: {', '.join(f'{t:.6g}' for t in spent)}")
        y += _BAR + 9
    sheet.down = y


def _swatch(sheet, hue: str, x: float, y: float) -> None:
    sheet.area(x, y + 2, x + 11, y + 13, hue)
