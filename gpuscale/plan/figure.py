"""The best choices of a plan as bars: what their steps consist of."""

from __future__ import annotations

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
_ROW, _BAR, _LINE = 44, 15, 18  # pixels: a choice with one line of words, its bar, a line


def seconds(row) -> list[float]:
    """Seconds of each part of a step, at the rates that are reached."""
    n = row.numbers | {"extra": row.numbers["math_reached"] - row.numbers["need_reached"]}
    return [max(sum(n[name] for name in names), 0.0) for names, *_ in PARTS]


def picture(plan, rows: int = 8, name: str = "plan", caption: str = "", alt: str = ""):
    """A static figure of the first rows. Raises Refusal where nothing fits."""
    from gpuscale.plotting import still

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
    tall = lambda across: _rows(shown, across)[-1][1]  # noqa: E731
    return still(
        lambda ax, narrow: _draw(ax, shown),
        name=name,
        caption=caption,
        alt=alt,
        height=tall,
        narrow_height=tall,
        axes=False,
        table=(["choice", "part of the step", "time"], flat),
    )


def _keys(shown, across: float) -> list[tuple]:
    """The parts that occur, each with where its key stands and its hue."""
    from gpuscale.plotting.drawing.ink import width

    out, x, y = [], 0.0, 4.0
    for i, (_, said, hue) in enumerate(PARTS):
        if any(seconds(row)[i] > 0 for row in shown):
            if x and x + width(said) + 15 > across:
                x, y = 0.0, y + _LINE
            out.append((x, y, said, hue))
            x += width(said) + 30
    return out


def _rows(shown, across: float) -> list[tuple[list[str], float]]:
    """The words of each row, in as many lines as they take, and where it begins; at last, where all ends."""
    from gpuscale.plotting.drawing.ink import fold

    y, out = _keys(shown, across)[-1][1] + 20, []
    for row in shown:
        lines = fold(str(row.choice), across)
        out.append((lines, y))
        y += _ROW + _LINE * (len(lines) - 1)
    return [*out, ([], y)]


def _draw(ax, shown):
    from gpuscale.plotting.drawing.ink import width

    sheet = ax.figure
    longest = max(row.step[1] for row in shown)
    ends = [f"{show(row.step[1], 's')}, {show(row.mfu[1], '%')}" for row in shown]
    per = (sheet.across - max(width(end) for end in ends) - 14) / longest
    for x, y, said, hue in _keys(shown, sheet.across):
        sheet.area(x, y, x + 11, y + 11, hue)
        sheet.write(x + 15, y + 10, said, "soft", say=False)
    for row, end, (lines, top) in zip(shown, ends, _rows(shown, sheet.across)[:-1], strict=True):
        for i, line in enumerate(lines):
            sheet.write(0, top + 14 + _LINE * i, line, "plain")
        x, y = 0.0, top + _LINE * (len(lines) - 1)
        for (_, _, hue), t in zip(PARTS, seconds(row), strict=True):
            if t > 0:
                sheet.area(x, y + 20, x + t * per, y + 20 + _BAR, hue)
            x += t * per
        sheet.write(x + 6, y + 32, end, "plain", say=False)
        said = ", ".join(f"{t:.6g}" for t in seconds(row))
        sheet.records.append(f"step of {row.choice} [s]: {said}")
