"""The best choices of a plan as bars: what their steps consist of."""

from __future__ import annotations

from gpuscale.plan import text
from gpuscale.plotting import still
from gpuscale.plotting.drawing.ink import fold, width
from gpuscale.units import show

# What a step consists of, in order: words and hue.
PARTS = {
    "what the model needs": "compute",
    "recomputed, uneven, memory-bound": "memory",
    "TP and CP": "scaleup",
    "EP, DP and hops": "scaleout",
    "bubble": "wait",
}
_ROW, _BAR, _LINE = 44, 15, 18  # pixels: a choice with one line of words, its bar, a line


def seconds(row) -> dict[str, float]:
    """Seconds of each part of a step, at the rates that are reached."""
    t = row.costs.reached
    parts = t.need, t.extra + t.kernels, t.tp_wait + t.cp_wait, t.ep_wait + t.dp_wait + t.pp_wait, t.bubble
    return {said: max(part, 0.0) for said, part in zip(PARTS, parts, strict=True)}


def picture(plan, rows: int = 8, name: str = "plan", caption: str = "", alt: str = ""):
    """A static figure of the first rows. Raises Refusal where nothing fits."""
    best, shown = plan.best, plan.rows[:rows]
    top = show(best.mfu[1], "%")
    told = [f"{r.choice}: {show(r.step[1], 's')}, {show(r.mfu[1], '%')} of the peak, {r.binds}" for r in shown]
    tall = lambda across: _rows(shown, across)[-1][1]  # noqa: E731
    return still(
        lambda ax, narrow: _draw(ax, shown),
        name=name,
        caption=caption or f"The best of {plan.fit:,} choices that fit reaches {top} of the peak: {best.binds}.",
        alt=alt or f"{text.heading(plan.ask)}. {'; '.join(told)}.",
        height=tall,
        narrow_height=tall,
        axes=False,
        table=(
            ["choice", "part of the step", "time"],
            [(str(row.choice), said, show(t, "s")) for row in shown for said, t in seconds(row).items()],
        ),
    )


def _keys(shown, across: float) -> list[tuple[float, float, str]]:
    """The parts that occur, each with where its key stands."""
    out, x, y = [], 0.0, 4.0
    for said in PARTS:
        if any(seconds(row)[said] > 0 for row in shown):
            if x and x + width(said) + 15 > across:
                x, y = 0.0, y + _LINE
            out.append((x, y, said))
            x += width(said) + 30
    return out


def _rows(shown, across: float) -> list[tuple[list[str], float]]:
    """The words of each row, in as many lines as they take, and where it begins; at last, where all ends."""
    y, out = _keys(shown, across)[-1][1] + 20, []
    for row in shown:
        lines = fold(str(row.choice), across)
        out.append((lines, y))
        y += _ROW + _LINE * (len(lines) - 1)
    return [*out, ([], y)]


def _draw(ax, shown):
    sheet = ax.figure
    ends = [f"{show(row.step[1], 's')}, {show(row.mfu[1], '%')}" for row in shown]
    per = (sheet.across - max(width(end) for end in ends) - 14) / max(row.step[1] for row in shown)
    for x, y, said in _keys(shown, sheet.across):
        sheet.area(x, y, x + 11, y + 11, PARTS[said])
        sheet.write(x + 15, y + 10, said, "soft", say=False)
    for row, end, (lines, top) in zip(shown, ends, _rows(shown, sheet.across)[:-1], strict=True):
        for i, line in enumerate(lines):
            sheet.write(0, top + 14 + _LINE * i, line, "plain")
        x, y = 0.0, top + _LINE * (len(lines) - 1)
        for said, t in seconds(row).items():
            if t > 0:
                sheet.area(x, y + 20, x + t * per, y + 20 + _BAR, PARTS[said])
            x += t * per
        sheet.write(x + 6, y + 32, end, "plain", say=False)
        sheet.records.append(f"step of {row.choice} [s]: " + ", ".join(f"{t:.6g}" for t in seconds(row).values()))
