"""A matrix multiplication drawn to scale: its three matrices, and its two times as bars on one time axis."""

from __future__ import annotations

from gpuscale.one_gpu.roofline import matmul_bytes, matmul_math_time, memory_time
from gpuscale.plotting.drawing.axis import positive
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import width
from gpuscale.units import show

# Pixels: columns of the weights, between matrices, a bar, between bars, between panels; least height of a matrix.
_COLUMNS, _GAP, _BAR, _STEP, _SPACE, _LEAST = 168, 5, 15, 21, 22, 1.4


def two_clocks(part, *, rows, D, F, name, caption, b=2, **look) -> Still:
    """A matmul of [B, D] by [D, F] on a chip, for each B of ``rows``: what it multiplies, and how long it computes and
    reads.

    All matrices have the format bf16, with ``b`` bytes per element. The bar of the memory time is divided into weights
    and the rest. ``look`` may hold a title. Raises ValueError for sizes that are not above zero.
    """
    positive("two_clocks", D=D, F=F, **{f"rows {B}": B for B in rows})
    cases = [(B, *_times(part, B, D, F, b)) for B in rows]
    table = [
        [f"{B:,}", *(show(t, "s") for t in times), show(max(times[0], sum(times[1:])), "s")] for B, *times in cases
    ]
    heads = ["rows", "compute time", "reading the weights", "inputs and outputs", "kernel time"]
    alt = f"A batch of B rows times weights of {D:,} by {F:,} on an {part.short}. " + " ".join(
        f"{B:,} rows: compute time {show(math, 's')}, memory time {show(weights + rest, 's')}, of which the weights "
        f"take {show(weights, 's')}."
        for B, math, weights, rest in cases
    )

    def paint(sheet):
        top = _key(sheet)
        for case in cases:
            top = _panel(sheet, case, D, F, max(max(m, w + r) for _, m, w, r in cases), top, case is cases[0])
            B, *times = case
            sheet.records.append(f"{B} rows: " + ", ".join(f"{t:.4g}" for t in times))
        sheet.down = top - _SPACE

    return Still(paint, name=name, caption=caption, **{"alt": alt, "table": (heads, table)} | look)


def _times(part, B, D, F, b) -> tuple[float, float, float]:
    """Compute time, the memory time of the weights, and that of inputs and outputs."""
    whole = memory_time(V=matmul_bytes(B=B, D=D, F=F, b=b, b_w=b), W_hbm=part.hbm_bw)
    weights = memory_time(V=b * D * F, W_hbm=part.hbm_bw)
    return matmul_math_time(B=B, D=D, F=F, C=part.bf16), weights, whole - weights


def _key(sheet) -> float:
    def swatch(colour, alpha=1.0):
        return lambda x, y: sheet.area(x, y, x + 22, y + 14, colour, alpha)

    items = [
        ("Tensor Cores: FLOPs", swatch("compute")),
        ("HBM: weights", swatch("memory")),
        ("HBM: inputs and outputs", swatch("memory", 0.4)),
    ]
    return sheet.legend(items, 0) + 8


def _panel(sheet, case, D, F, longest, top, first) -> float:
    """One number of rows: its matrices at the left or, on a phone, over its bars. Returns where it ends."""
    B, math, weights, rest = case
    scale = _COLUMNS / F
    d, rows = D * scale, max(B * scale, _LEAST)
    left, right = 1.0, 1.0 + d + _GAP
    sheet.write(0, top + 12, f"{B:,} rows", bold=True)
    top += 20
    low = top + d + _GAP
    sheet.area(right, top, right + _COLUMNS, top + d, "memory")
    sheet.area(left, low, left + d, low + rows, "memory", 0.4)
    sheet.area(right, low, right + _COLUMNS, low + rows, "memory", 0.4)
    sheet.write(right + _COLUMNS / 2, top + d / 2 + 4, "weights, D × F", "paper", "center", bold=True, say=first)
    under = low + rows + 13
    sheet.write(left, under, "B × D", "soft", say=first)
    sheet.write(right + _COLUMNS / 2, under, "outputs, B × F", "soft", "center", say=first)
    if sheet.narrow:
        x0, y0 = 0.0, under + 10
    else:
        x0, y0 = right + _COLUMNS + 36, top + (d - _STEP - _BAR) / 2 + 4
    unit = (sheet.across - x0 - width("compute 999 µs", bold=True) - 10) / longest
    memory = weights + rest
    for i, (what, length, colour) in enumerate((("compute", math, "compute"), ("memory", memory, "memory"))):
        y, end = y0 + i * _STEP, x0 + length * unit
        if colour == "memory":
            sheet.area(x0, y, x0 + weights * unit, y + _BAR, colour)
            sheet.area(x0 + weights * unit, y, end, y + _BAR, colour, 0.4)
        else:
            sheet.area(x0, y, end, y + _BAR, colour)
        longer = length >= max(math, memory) * (1 - 1e-3)
        sheet.write(end + 6, y + 12, f"{what} {show(length, 's')}", colour if longer else "soft", bold=longer)
    sheet.rule([x0, x0], [y0 - 4, y0 + _STEP + _BAR + 4], "edge", level=1)
    return max(y0 + _STEP + _BAR + 6, under + 4) + _SPACE
