"""What a GPU looks like and how it reads: the whole chip next to a TPU, a tile of a matmul, sectors of memory."""

from __future__ import annotations

from math import ceil, sqrt

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import fold
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.units import show

_STRIP, _GAP = 40, 6  # pixels: a strip of HBM, the space between parts
_SECTOR, _WORD = 32, 4  # bytes: what memory delivers at once, what a thread requests


def chips_figure(gpu, tpu, *, name, caption, **look) -> Still:
    """A GPU and a TPU as plans of a chip, drawn from two parts of the data: processors blue, memories green.

    Areas are not to scale. ``look`` may hold a title.
    """
    told = (
        f"Two chips side by side. The {gpu.short} has {gpu.sm:.0f} small squares, its SMs, above and below a band, its "
        f"L2 cache. The {tpu.short} has {tpu.cores_per_chip:.0f} large cores, each with {tpu.mxu_per_core:.0f} large "
        "matrix units, a vector unit and a memory called VMEM. Both have HBM on two sides."
    )

    def paint(sheet):
        if sheet.narrow:
            y = _gpu(sheet, gpu, 0, 0, sheet.across, 230) + 18
            y = _tpu(sheet, tpu, 0, y, sheet.across, 270)
        else:
            left = 0.6 * sheet.across
            y = _gpu(sheet, gpu, 0, 0, left - 12, 320)
            _tpu(sheet, tpu, left + 12, 0, sheet.across - left - 12, 320)
        items = [("arithmetic", _swatch(sheet, "compute", 0.85)), ("memory", _swatch(sheet, "memory", 0.4))]
        sheet.down = sheet.legend(items, y + 8) + 2

    return Still(paint, name=name, caption=caption, **{"alt": told} | look)


def _swatch(sheet, colour, alpha):
    return lambda x, y: sheet.area(x, y, x + 20, y + 14, colour, alpha)


def _frame(sheet, x, y, w, h, title, hbm):
    """A chip's title, its two strips of HBM and its outline. Returns the room inside as (x, y, width, height)."""
    for line in fold(title, w, bold=True):
        sheet.write(x, y + 12, line, bold=True)
        y += LEADING
    y += 4
    for at, words in ((x + 1, "HBM"), (x + w - _STRIP - 1, f"{hbm} in all")):
        sheet.box(at, y, _STRIP, h, "memory", 0.22)
        sheet.write(at + _STRIP / 2 + 4, y + h / 2, words, "memory", "center", angle=90)
    edge = _STRIP + _GAP + 1
    sheet.box(x + edge, y, w - 2 * edge, h, "edge")
    return x + edge + _GAP, y + _GAP, w - 2 * edge - 2 * _GAP, h - 2 * _GAP


def _gpu(sheet, gpu, x, y, w, h):
    """SMs above and below an L2 cache. Returns where the drawing ends."""
    title = f"{gpu.short}: {show(gpu.sm, 'count')} small processors (SMs)"
    x, top, w, tall = _frame(sheet, x, y, w, h, title, show(gpu.hbm, "B", short=True))
    band = 30
    half = ceil(gpu.sm / 2)
    square = sqrt(half * w / (tall - band) * 2)  # so many in a row would make them square
    columns = min(range(1, half + 1), key=lambda n: (-half % n) + abs(n - square))
    rows = ceil(half / columns)
    across, down = w / columns, (tall - band - 2 * _GAP) / 2 / rows
    for part, count in enumerate((half, int(gpu.sm) - half)):
        at = top + part * ((tall + band) / 2 + _GAP)
        for row in range(rows):
            n = min(columns, count - row * columns)
            if n <= 0:
                continue
            line, high = at + row * down, down - 3
            ends = [x + 1.5, x + n * across - 1.5]
            dash = (across - 3, 3)
            sheet.rule(ends, [line + high * 0.4] * 2, "compute", 0.85, weight=high * 0.8, dash=dash)
            sheet.rule(ends, [line + high * 0.92] * 2, "memory", 1, weight=max(high * 0.24, 5), dash=dash)
    middle = top + (tall - band) / 2
    sheet.area(x, middle, x + w, middle + band, "memory", 0.4)
    sheet.write(x + w / 2, middle + band / 2 + 4, f"L2 cache, {show(gpu.l2, 'MiB', short=True)}", "plain", "center")
    return top + tall + _GAP


def _tpu(sheet, tpu, x, y, w, h):
    """Large cores, one under the other. Returns where the drawing ends."""
    cores = int(tpu.cores_per_chip)
    x, top, w, tall = _frame(sheet, x, y, w, h, f"{tpu.short}: {cores} large cores", show(tpu.hbm, "GiB", short=True))
    each = (tall - _GAP * (cores - 1)) / cores
    for core in range(cores):
        at, n = top + core * (each + _GAP), int(tpu.mxu_per_core)
        sheet.box(x, at, w, each, "line")
        inner, left = w - 2 * _GAP, x + _GAP
        side = min((inner - _GAP * (n - 1)) / n, each / 3.6)
        band = each - side - 20 - 20 - 4 * _GAP
        sheet.area(left, at + _GAP, left + inner, at + _GAP + band, "memory", 0.4)
        sheet.write(x + w / 2, at + _GAP + band / 2 + 5, "VMEM", "plain", "center", say=not core)
        line = at + 2 * _GAP + band
        sheet.area(left, line, left + inner, line + 20, "compute", 0.35)
        sheet.write(x + w / 2, line + 14, "vector unit", "plain", "center", say=not core)
        line += 20 + _GAP
        start = left + (inner - n * side - _GAP * (n - 1)) / 2
        for k in range(n):
            sheet.area(start + k * (side + _GAP), line, start + k * (side + _GAP) + side, line + side, "compute", 0.85)
        sheet.write(x + w / 2, line + side + 14, f"{n} matrix units", "compute", "center", say=not core)
    return top + tall + _GAP


def tile_figure(*, name, caption, alt) -> Still:
    """One step of a tiled matmul: a column of the left operand, a row of the right one, the tile that they update."""

    def paint(sheet):
        k, side, deep = 9, 108, 96
        x0 = max(0, (sheet.across - 380) / 2)
        x, y = x0 + deep + 22, deep + 22
        sheet.area(x0, y, x0 + deep, y + side, "memory", 0.16)
        sheet.area(x, 0, x + side, deep, "memory", 0.16)
        sheet.area(x0 + 4 * k, y, x0 + 5 * k, y + side, "memory")
        sheet.area(x, 4 * k, x + side, 5 * k, "memory")
        sheet.area(x, y, x + side, y + side, "compute", 0.85)
        at = x + side + (12 if sheet.narrow else 28)
        words = {
            34: ("right operand:", "one row of it,", "<i>t</i><sub>cols</sub> elements"),
            y + 34: ("tile of the result:", "<i>t</i><sub>rows</sub> × <i>t</i><sub>cols</sub>,", "all updated"),
        }
        for top, lines in words.items():
            for line, row in enumerate(lines):
                sheet.write(at, top + 18 * line, row, "memory" if top == 34 else "compute")
        for line, row in enumerate(("left operand:", "one column,", "<i>t</i><sub>rows</sub> elements")):
            sheet.write(x0, 50 + 18 * line, row, "memory")

    return Still(paint, name=name, caption=caption, alt=alt, height=228, narrow_height=228)


def sectors_figure(patterns, *, name, caption, **look) -> Still:
    """Which sectors of memory some lanes of a warp touch; ``patterns`` maps a title to the addresses of their words.

    A sector is a box of 32 bytes; one that is touched crosses the memory bus as a whole, and the words that were asked
    for are solid. Every title gets its count of sectors and the fraction of their bytes that is used. Raises ValueError
    for an address that is not the start of a 4-byte word.
    """
    counted = {}
    for title, addresses in patterns.items():
        if odd := [a for a in addresses if a % _WORD or a < 0]:
            raise ValueError(f"{title}: expected addresses of {_WORD}-byte words; got {odd[0]}")
        touched = {a // _SECTOR for a in addresses}
        counted[title] = touched, len(set(addresses)) * _WORD / (len(touched) * _SECTOR)
    most = max(max(touched) for touched, _ in counted.values()) + 1

    def said(title):
        touched, used = counted[title]
        sectors = "1 sector" if len(touched) == 1 else f"{len(touched)} sectors"
        return f"{sectors}, {show(used, '%', short=True)} of the bytes used"

    def paint(sheet):
        y, per = 0.0, sheet.across / most
        word = (per - 4) / (_SECTOR / _WORD)
        for title, addresses in patterns.items():
            y = sheet.paragraph(title, 0, y, bold=True)
            y = sheet.paragraph(said(title), 0, y, "soft") + 4
            for sector in range(most):
                touched = sector in counted[title][0]
                sheet.box(sector * per + 2, y, per - 4, 20, "memory" if touched else "line", 0.2 if touched else 0.0)
            for a in addresses:
                x = a // _SECTOR * per + 2 + a % _SECTOR / _WORD * word
                sheet.area(x + 0.5, y + 2, x + word - 0.5, y + 18, "memory", level=3)
            y += 36
        sheet.down = y - 10

    told = "; ".join(f"{title}: {said(title)}" for title in patterns)
    return Still(paint, name=name, caption=caption, **{"alt": f"Rows of sectors. {told}."} | look)
