"""The SM: warps, tiles and blocks handed out one by one."""

import dataclasses
import random

import numpy as np
from formulas.harness import FORMULAS, checks, close
from support.reference_machines import Limits, allocated, branch, counted, scheduler, switch, warps_of, waves

KIB = 2**10


@checks("divergence_idle")
def a_warp_that_runs_both_paths(lib):
    draw = random.Random(11)
    for _ in range(60):
        lanes = draw.choice([4, 8, 32, 64])
        taken, then, other = draw.randint(1, lanes - 1), draw.randint(0, 9), draw.randint(1, 9)
        _, waiting = branch(then, other, taken, lanes)
        close(lib.divergence_idle(m_then=taken, n_then=then, n_else=other, w_lanes=lanes) + 1, waiting + 1)


@checks("paths_idle")
def a_warp_that_runs_many_paths(lib):
    for ways in (1, 2, 5, 8, 32):
        for length in (1, 3):
            close(lib.paths_idle(n_ways=ways) + 1, switch(ways, length, 32, ways) + 1)


@checks("issue_share")
def a_scheduler_that_looks_for_a_ready_warp(lib):
    for warps, run, wait in (
        (1, 1, 0),
        (1, 1, 19),
        (4, 1, 19),
        (7, 3, 11),
        (12, 2, 30),
        (16, 1, 10),
        (3, 5, 5),
    ):
        ours = lib.issue_share(w_res=4 * warps, n_sub=4, n_run=run, n_wait=wait)
        close(ours, scheduler(warps, run, wait), 0.01)


@checks("operand_traffic", "fed_tile")
def a_tile_that_reads_its_operands(lib):
    """Each step along the inner width reads a column of one operand and a row of the other."""
    cores, rate = 4, 1024

    def per_cycle(rows, columns, width):
        traffic, operations = 0, 0
        for _ in range(4):
            traffic += sum(width for _ in range(rows)) + sum(width for _ in range(columns))
            operations += 2 * counted(rows, columns)
        return traffic / (operations / (cores * rate))

    for rows, columns, width in ((64, 64, 2), (128, 32, 2), (16, 256, 1)):
        ours = lib.operand_traffic(b=width, n_tc=cores, r_tc=rate, t_rows=rows, t_cols=columns)
        close(ours, per_cycle(rows, columns, width))
    for width in (1, 2):
        side = lib.fed_tile(b=width, n_tc=cores, r_tc=rate, w_sm=128)
        assert side == next(t for t in range(1, 200) if per_cycle(t, t, width) <= 128)


@checks("wave_fill")
def tiles_handed_out_one_by_one(lib):
    for sms in (1, 7, 132):
        for tiles in (1, sms - 1 or 1, sms, sms + 1, 2 * sms, 1000):
            close(lib.wave_fill(n_tiles=tiles, n_sm=sms), waves(tiles, sms))


SMS = {  # registers, shared memory, warp slots, block slots, reserve, unit
    "V100": Limits(65536, 96 * KIB, 64, 32, 0, 256),
    "A100": Limits(65536, 164 * KIB, 64, 32, KIB, 128),
    "H100": Limits(65536, 228 * KIB, 64, 32, KIB, 128),
    "small": Limits(32768, 64 * KIB, 48, 16, KIB, 256),
}
ONE_BY_ONE = {
    "register_limit": ("registers",),
    "smem_limit": ("smem",),
    "slot_limit": ("slots",),
    "block_limit": ("blocks",),
    "resident_warps": ("registers", "smem", "slots", "blocks"),
}


def kernels(count, seed=5):
    """Random kernels that a GPU would accept: registers, threads, shared memory."""
    draw = random.Random(seed)
    for _ in range(count):
        threads = draw.choice([draw.randint(1, 1024), 32 * draw.randint(1, 32), 2 ** draw.randint(5, 10)])
        smem = draw.choice([0, draw.randint(1, 64 * KIB), KIB * draw.randint(1, 63), 128 * draw.randint(1, 500)])
        yield (
            draw.choice([draw.randint(1, 255), 8 * draw.randint(1, 31), 2 ** draw.randint(4, 7)]),
            threads,
            smem,
        )


def inputs_of(lib, sm, rows):
    r, threads, smem = (np.array(column) for column in zip(*rows, strict=True))
    warps = lib.warps_per_block(t_block=threads, w_lanes=sm.lanes)
    return dict(
        R=r,
        S_block=smem,
        w_block=warps,
        w_lanes=sm.lanes,
        n_sub=sm.parts,
        R_sm=sm.registers,
        g_reg=sm.register_unit,
        w_max=sm.slots,
        n_block=sm.blocks,
        S_smem=sm.smem,
        S_res=sm.reserve,
        g_smem=sm.smem_unit,
    )


@checks(
    "resident_warps",
    "occupancy",
    "register_limit",
    "smem_limit",
    "slot_limit",
    "block_limit",
    "warps_per_block",
)
def blocks_placed_one_by_one(lib):
    rows = list(kernels(600))
    for sm in SMS.values():
        values = inputs_of(lib, sm, rows)
        close(values["w_block"], [warps_of(threads) for _, threads, _ in rows])
        for name, counts in ONE_BY_ONE.items():
            f = getattr(lib, name)
            only = dataclasses.replace(
                sm,
                **{k: getattr(sm, k) if k in counts else None for k in ("registers", "smem", "slots", "blocks")},
            )
            some = [(r, t, m) if m or name != "smem_limit" else (r, t, 1) for r, t, m in rows]
            given = values | ({"S_block": np.array([m for *_, m in some])} if name == "smem_limit" else {})
            ours = f(**{q.name: given[q.name] for q in FORMULAS[name].inputs})
            np.testing.assert_array_equal(ours, [allocated(only, *row) for row in some], err_msg=name)
        close(lib.occupancy(**values) * sm.slots, [allocated(sm, *row) for row in rows])


@checks("register_file_warps")
def registers_handed_out_one_by_one(lib):
    for registers in (1, 16, 31, 32, 33, 64, 255, 256):
        left, warps = 65536, 0
        while left >= registers * 32:
            left, warps = left - registers * 32, warps + 1
        assert lib.register_file_warps(R_sm=65536, R=registers, w_lanes=32) == warps
