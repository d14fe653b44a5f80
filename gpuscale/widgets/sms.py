"""The SMs of a GPU by hand: tiles of a matrix in waves, and one SM whose warps take turns.

The page deals tiles as ``schedules.timelines.waves`` does, and plays a scheduler as ``schedules.timelines.hiding``
does; times, limits and fractions are formulas.
"""

import math
from collections.abc import Mapping

from gpuscale.one_gpu import (
    block_limit,
    issue_share,
    matmul_math_time,
    occupancy,
    register_limit,
    resident_warps,
    slot_limit,
    smem_limit,
    wave_fill,
)
from gpuscale.schedules.timelines.waves import cut, dealt, used
from gpuscale.symbols import w_block
from gpuscale.units import KiB, show
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

MOST, LEAST = 3072, {"M": 128, "N": 256}  # rows and columns that are drawn
TILES = ((64, 128), (128, 128), (128, 256))
SECONDS = 1.6  # of a wave of middle tiles on the page
BINDS = {
    "registers": ("registers", register_limit),
    "smem": ("shared memory", smem_limit),
    "slots": ("warp slots", slot_limit),
    "blocks": ("block slots", block_limit),
}
KERNEL = dict(R=64, S=16 * KiB, w_block=8)

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
    "open": "Open SM {}",
    "close": "Back to all SMs",
    "period": "A warp issues {} instructions, then waits {} cycles",
    "short": "A warp issues {}, then waits {} cycles",
    "scheduler": "scheduler {}",
    "shared": "shared memory: {} per block",
    "block": "{} per block",
    "registers": "{} registers per thread",
    "n_run": "Instructions that a warp issues before it waits",
    "n_wait": "Cycles for which the warp then waits",
    "R": "Registers per thread",
    "S": "Shared memory per block",
    "cycle": "cycle {} of {}",
    "issue": "Issue slots used",
    "resident": "<b>{} warps</b> are resident, an occupancy of {}.",
    "limit": "The limit: <b>{}</b>.",
    "none": "<b>No block fits</b>, and the kernel does not start. The limit: <b>{}</b>.",
    "need": "To hide the latency, a scheduler needs {} warps, and it has {}.",
    "starves": "It issues nothing in <b class=wait>{} of the cycles</b>.",
    "hidden": "<b>A warp is always ready.</b>",
    "limits": ["Limit", "Warps that it allows"],
}


def sms_stage(
    gpu,
    *,
    name: str,
    title: str,
    caption: str,
    rows: int,
    columns: int,
    loads: Mapping[str, int],
    n_run: int = 32,
    K: int = 4096,
    tile=(128, 128),
    kernels: Mapping[str, Mapping[str, float]] | None = None,
    level: str = "die",
):
    """A result of ``rows`` × ``columns`` elements in tiles on the SMs of ``gpu``, a chip of ``specs``.

    It opens in the last wave, or inside an SM for the ``level`` "sm". ``loads`` are latencies [cycles], by where a
    load finds its data. A warp of an opened SM issues ``n_run`` instructions and then waits for the last of the loads;
    ``kernels`` are presets of it. ``K`` is the inner dimension of the matmul, ``tile`` one of TILES. Returns a widget
    whose ``values`` hold M, N, tile, level, sm, R, S, w_block, n_run, n_wait.
    Raises ValueError for a tile or a level that it does not offer, and for a matrix that does not fit the drawing.
    """
    if level not in ("die", "sm"):
        raise ValueError(f"{name}: level: expected die or sm; got {level}")
    if tuple(tile) not in TILES:
        raise ValueError(f"{name}: tile: expected one of {', '.join(map(str, TILES))}; got {tile}")
    for side, least, given in (("rows", LEAST["M"], rows), ("columns", LEAST["N"], columns)):
        if not least <= given <= MOST:
            raise ValueError(f"{name}: {side}: expected {least} to {MOST}; got {given}")
    sizes = {"x".join(map(str, each)): each for each in TILES}
    key, count = "x".join(map(str, tile)), len(cut(rows, columns, tile))
    turns = dealt(count, gpu.sm)
    said = f"{count} tiles on {gpu.sm} SMs: {turns[-1].wave + 1} waves"
    said += f", {show(float(used(turns, gpu.sm)), '%')} of the SMs' time used"
    limits = limits_of(gpu)
    fits = resident_warps(R=KERNEL["R"], S_block=KERNEL["S"], w_block=KERNEL["w_block"], **limits)
    presets = {
        f"{many} tiles": dict(level="die", M=128 * down, N=128 * across, tile="128x128")
        for many in (gpu.sm, gpu.sm + 1)
        for down, across in [_factors(many)]
        if across <= MOST // 128 and level == "die"
    } | {label: {"level": "sm", **given} for label, given in (kernels or {}).items()}
    peak = dict(D=K, C=gpu.bf16 / gpu.sm)
    return stage_figure(
        "sms",
        name=name,
        title=title,
        caption=caption,
        start=dict(
            M=rows,
            N=columns,
            tile=key,
            level=level,
            sm=gpu.sm // 2,
            **KERNEL,
            n_run=n_run,
            n_wait=[*loads.values()][-1],
        ),
        text=[said if level == "die" else f"{fits:.0f} warps are resident on an SM"],
        sliders={w_block: Slider(4, 32, KERNEL["w_block"], "step:4", log=False, label="warps per block")},
        choices={
            "level": ("Level", {"die": "All SMs", "sm": "One SM"}),
            "tile": ("Tile", {each: f"tile {high} × {wide}" for each, (high, wide) in sizes.items()}),
        },
        presets=presets,
        within={
            **{side: (least, MOST) for side, least in LEAST.items()},
            "sm": (0, gpu.sm - 1),
            "R": (16, 248),
            "S": (0, gpu.smem_per_block),
            "n_run": (1, 64),
            "n_wait": (1, 700),
        },
        formulas={
            "tile": matmul_math_time,
            "fill": wave_fill,
            "warps": resident_warps,
            "occ": occupancy,
            "issue": issue_share,
            **{key: limit for key, (_, limit) in BINDS.items()},
        },
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
            "least": LEAST,
            "peak": peak,
            "pace": SECONDS / float(matmul_math_time(B=128, F=128, **peak)),
            "limits": limits,
            "binds": {key: said for key, (said, _) in BINDS.items()},
            "loads": dict(loads),
            "clock": gpu.boost_clock,
            "most_smem": gpu.smem_per_block,
            "kib": "KiB",
        },
        at=0.97 if level == "die" else 0.1,
        python="from gpuscale.one_gpu import issue_share, resident_warps, wave_fill",
        symbols={"fill": wave_fill.lhs.html, "issue": issue_share.lhs.html},
    )


def limits_of(gpu) -> dict[str, float]:
    """The limits of an SM of a chip, as the formulas of occupancy name them."""
    return {
        "R_sm": gpu.registers_per_sm,
        "n_sub": gpu.subpartitions_per_sm,
        "g_reg": gpu.register_allocation_unit,
        "w_lanes": gpu.warp_size,
        "S_smem": gpu.smem_per_sm,
        "S_res": gpu.smem_reserved_per_block,
        "g_smem": gpu.smem_allocation_unit,
        "n_block": gpu.max_blocks_per_sm,
        "w_max": gpu.max_warps_per_sm,
    }


def _factors(count: int) -> tuple[int, int]:
    """The most even pair of factors, the smaller one first.

    >>> _factors(133)
    (7, 19)
    """
    low = next(k for k in range(math.isqrt(count), 0, -1) if count % k == 0)
    return low, count // low
