"""The tiles of a matrix on the SMs of a GPU: wave quantization by hand.

The page deals tiles as ``schedules.timelines.waves`` does; times and fractions are formulas.
"""

import math

from gpuscale.one_gpu import matmul_math_time, wave_fill
from gpuscale.schedules.timelines.waves import cut, dealt, used
from gpuscale.units import show
from gpuscale.widgets.stage import stage_figure

MOST = 3072  # rows and columns that are drawn
TILES = ((64, 128), (128, 128), (128, 256))
SECONDS = 1.6  # of a wave of middle tiles on the page

WORDS = {
    "hbm": "HBM",
    "gpu": "{}: {} SMs",
    "links": "NVLink",
    "matrix": "C, M × N: {} × {}",
    "product": "{} × {} = {} tiles",
    "saw": "SM time used, over N",
    "wave": "{} wave",
    "waves": "{} waves",
    "columns": "N, the columns of C",
    "rows": "M, the rows of C",
    "place": "wave {} of {}",
    "slots": "SM slots used, of {} × {}",
    "or": "{} or {}",
    "tile": "{} tiles",
    "take": "take <b>{} waves</b>.",
    "takes": "take <b>{} wave</b>.",
    "idle": "In the last wave, <b class=wait>{} SMs are idle</b>.",
    "alone": "In the last wave, <b class=wait>{} SM is idle</b>.",
    "full": "<b>No SM is idle</b>, and one more tile would start a new wave.",
    "less": "Without its last tile, the matmul would take {} instead of {}.",
    "without": "Without its last {} tiles, the matmul would take {} instead of {}.",
    "time": "At peak, the matmul takes {}.",
    "outside": "Tiles are whole: {} of their area lies outside C.",
    "heads": ["Wave", "SMs that work", "Idle SMs", "From", "To"],
    "sm": "SM {}",
    "works": "works on tile {} of {}",
    "rests": "has no tile in wave {}",
}


def sms_stage(gpu, *, name: str, title: str, caption: str, rows: int, columns: int, K: int = 4096, tile=(128, 128)):
    """A result of ``rows`` × ``columns`` elements in tiles on the SMs of ``gpu``, a chip of ``specs``.

    It opens in the last wave. ``K`` is the inner dimension of the matmul, ``tile`` one of TILES. Returns a widget
    whose ``values`` hold M, N and tile.
    Raises ValueError for a tile that it does not offer, and for a matrix that is larger than the drawing.
    """
    if tuple(tile) not in TILES:
        raise ValueError(f"{name}: tile: expected one of {', '.join(map(str, TILES))}; got {tile}")
    if not (128 <= rows <= MOST and 256 <= columns <= MOST):
        raise ValueError(f"{name}: rows, columns: expected at most {MOST} each; got {rows} × {columns}")
    sizes = {"x".join(map(str, each)): each for each in TILES}
    key, count = "x".join(map(str, tile)), len(cut(rows, columns, tile))
    turns = dealt(count, gpu.sm)
    said = f"{count} tiles on {gpu.sm} SMs: {turns[-1].wave + 1} waves"
    said += f", {show(float(used(turns, gpu.sm)), '%')} of the SMs' time used"
    peak = dict(D=K, C=gpu.bf16 / gpu.sm)
    return stage_figure(
        "sms",
        name=name,
        title=title,
        caption=caption,
        start=dict(M=rows, N=columns, tile=key),
        text=[said],
        choices={"tile": ("Tile", {each: f"tile {high} × {wide}" for each, (high, wide) in sizes.items()})},
        presets={
            f"{many} tiles": dict(M=128 * down, N=128 * across, tile="128x128")
            for many in (gpu.sm, gpu.sm + 1)
            for down, across in [_factors(many)]
            if across <= MOST // 128
        },
        within={"M": (128, MOST), "N": (256, MOST)},
        formulas={"tile": matmul_math_time, "fill": wave_fill},
        units={"T": "s"},
        words=WORDS,
        data={
            "tiles": sizes,
            "sms": gpu.sm,
            "across": math.ceil(math.sqrt(0.9 * gpu.sm)),
            "links": gpu.nvlink_links,
            "name": gpu.short,
            "l2": f"L2 cache, {show(gpu.l2, 'MiB', short=True)}",
            "most": MOST,
            "peak": peak,
            "pace": SECONDS / float(matmul_math_time(B=128, F=128, **peak)),
        },
        at=0.97,
        python="from gpuscale.one_gpu import wave_fill",
        symbols={"fill": wave_fill.lhs.html},
    )


def _factors(count: int) -> tuple[int, int]:
    """The most even pair of factors, the smaller one first.

    >>> _factors(133)
    (7, 19)
    """
    low = next(k for k in range(math.isqrt(count), 0, -1) if count % k == 0)
    return low, count // low
