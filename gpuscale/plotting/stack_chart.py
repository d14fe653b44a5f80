"""Stacked horizontal bars: what fills a memory, part by part, against what the memory holds."""

from __future__ import annotations

from gpuscale.plotting.drawing.axis import positive
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue, width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.specs.number import amount

_BAR, _GAP = 26, 16  # pixels: a bar, the space between bars
_SHADES = (0.62, 0.42, 0.25, 0.1)  # of the parts, in their order


def stacks(bars, *, name, caption, unit="B", colour="memory", limit=None, **look) -> Still:
    """Bars of {title: {part: value}}, all with one scale and the same parts; 0 leaves a part out.

    ``limit`` is (words, value): a line across all bars, such as the memory of a GPU. Raises ValueError for no bar, for
    bars with other parts, or for more parts than there are shades.
    """
    bars = {title: dict(parts) for title, parts in dict(bars).items()}
    names = list(next(iter(bars.values()), {}))
    if not names or len(names) > len(_SHADES) or any(list(parts) != names for parts in bars.values()):
        raise ValueError(f"bars: expected the same parts in each bar, {len(_SHADES)} at most; got {bars}")
    hue(colour)
    for title, parts in bars.items():
        positive(f"bar {title!r}", total=sum(parts.values()))
    flat = [
        (title, part, amount(v, unit) if v else "none") for title, parts in bars.items() for part, v in parts.items()
    ]
    totals = [(title, "all", amount(sum(parts.values()), unit)) for title, parts in bars.items()]
    alt = "; ".join(f"{bare(title)}, {part}: {words}" for title, part, words in flat + totals)
    said = {"alt": f"{alt}.", "table": (["bar", "part", "value"], flat + totals)}

    def paint(sheet):
        _draw(sheet, bars, names, unit, colour, limit)

    return Still(paint, name=name, caption=caption, **said | look)


def _draw(sheet, bars, names, unit, colour, limit):
    most = max([sum(parts.values()) for parts in bars.values()] + ([limit[1]] if limit else []))
    per = (sheet.across - 4) / most
    swatches = [
        (part, lambda x, y, s=shade: sheet.box(x, y, 20, 13, colour, s))
        for part, shade in zip(names, _SHADES, strict=False)
    ]
    top = sheet.legend(swatches, 0) + 8
    at = 1 + limit[1] * per if limit else 0.0
    if limit:
        words = f"{limit[0]}: {amount(limit[1], unit)}"
        align = "right" if at + width(words, True) > sheet.across else "left"
        sheet.write(at + (5 if align == "left" else -5), top + 11, words, "plain", align, bold=True)
        sheet.rule([at, at], [top, top + LEADING], "plain", level=3, weight=1.5)
        top += LEADING + 4
    for title, parts in bars.items():
        total = amount(sum(parts.values()), unit)
        sheet.write(1, top + 12, f"{title}: <b>{total}</b>", "plain", halo=True)
        x, y = 1.0, top + LEADING + 3
        for value, shade in zip(parts.values(), _SHADES, strict=False):
            if not value:
                continue
            w = value * per
            sheet.box(x, y, w, _BAR, colour, shade)
            words = amount(value, unit)
            if width(words) + 6 <= w:
                sheet.write(
                    x + w / 2, y + _BAR / 2 + 4.5, words, "paper" if shade > 0.9 else "plain", "center", say=False
                )
            x += w
        if limit:
            sheet.rule([at, at], [y - 4, y + _BAR + 4], "plain", level=3, weight=1.5)
        top = y + _BAR + _GAP
        said = ", ".join(f"{part} {v:.6g}" for part, v in parts.items())
        sheet.records.append(f"stack {bare(title)} [{unit}]: {said}")
    sheet.down = top - _GAP + 6
