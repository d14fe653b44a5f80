"""Each formula against something that does not share its algebra: a count, a simulation, a published figure.

A check names the formulas it judges and gets them through a ``Book``,
which can also hold a copy with an error in it.
So the last tests can show that every formula is judged, and that a factor of two or of 1.07 would be noticed.
"""

import dataclasses
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from machines import (
    Limits,
    allocated,
    bisected,
    branch,
    counted,
    pipeline,
    product,
    scheduler,
    switch,
    transfer,
    vector_sum,
    warps_of,
    waves,
)  # fmt: skip

from gpuscale import catalogue
from gpuscale.schedules import requests
from gpuscale.specs import chip

FORMULAS = {key.rpartition(".")[2]: f for key, f in catalogue.formulas().items()}
CHECKS: dict = {}


class Book:
    """The library's formulas by name; one of them may have its right side multiplied by a factor."""

    def __init__(self, name="", factor=1):
        self._wrong = (
            {
                name: dataclasses.replace(
                    FORMULAS[name], rhs=FORMULAS[name].rhs * factor, approx=None, regime=()
                )
            }
            if name
            else {}
        )

    def __getattr__(self, name):
        return self._wrong.get(name) or FORMULAS[name]


def judges(*names):
    """Marks a check with the names of the formulas whose error it would find."""

    def mark(check):
        CHECKS[check.__name__] = (check, names)
        return check

    return mark


def close(ours, theirs, rel=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=rel, atol=0)


# Published figures: formula, inputs, what is printed, how far the printed digits reach, where

GIB, KIB = 2**30, 2**10
BOOK, CLOCKS = "the GPU chapter of How to Scale Your Model", "the clock table of ML Engineering"
QUIZ = "Quiz 1 of the GPU chapter of How to Scale Your Model"
CVW, TUNING = "Cornell Virtual Workshop, Tesla V100", "CUDA C++ Best Practices Guide, occupancy"
SHEET, GUIDE = "NVIDIA H100 product page", "CUDA C++ Programming Guide, one register more than fits"
FIX = "recomputed from that chapter's inputs, where its printed figure is rounded or an approximation"
SM70 = dict(
    n_sub=4,
    R_sm=65536,
    g_reg=256,
    w_lanes=32,
    w_max=64,
    n_block=32,
    S_smem=96 * KIB,
    S_block=0,
    S_res=0,
    g_smem=256,
)
REGISTERS = dict(n_sub=4, R_sm=65536, g_reg=256, w_lanes=32)
PUBLISHED = [
    ("ridge_point", dict(C=990e12, W_hbm=3.35e12), 295, 1, QUIZ),
    ("ridge_point", dict(C=2250e12, W_hbm=8e12), 281, 1, QUIZ),
    ("ridge_point", dict(C=2 * 990e12, W_hbm=3.35e12), 590, 2, QUIZ),
    ("ridge_point", dict(C=4500e12, W_hbm=8e12), 562, 1, QUIZ),
    ("ridge_point", dict(C=1.97e14, W_hbm=8.2e11), 240, 1, QUIZ),
    ("ridge_point", dict(C=33.5e12, W_hbm=3.35e12), 10, 0.1, QUIZ),
    ("rule_batch", dict(b_w=2, I_ridge=2250e12 / 8e12), 280, 2, QUIZ),
    ("critical_batch", dict(B_rule=281.25, D=4096, F=8192), 313.5, 0.1, FIX),
    ("critical_batch", dict(B_rule=990e12 / 3.35e12, D=4096, F=4096), 345, 1, FIX),
    ("critical_batch", dict(B_rule=990e12 / 3.35e12, D=1024, F=1024), 699, 1, FIX),
    ("matmul_bytes", dict(B=64, D=4096, F=8192, b=2, b_w=2), 68_681_728, 0, QUIZ),
    ("matmul_memory_time", dict(B=64, D=4096, F=8192, b=2, b_w=2, W_hbm=8e12), 8.585e-6, 1e-9, FIX),
    ("matmul_time", dict(B=64, D=4096, F=8192, b=2, b_w=2, C=2.25e15, W_hbm=8e12), 8.6e-6, 1e-7, QUIZ),
    ("matmul_math_time", dict(B=512, D=4096, F=8192, C=2.25e15), 15.27e-6, 1e-8, FIX),
    ("matmul_math_time", dict(B=512, D=4096, F=8192, C=2.3e15), 15e-6, 1e-6, QUIZ),
    ("matmul_time", dict(B=512, D=4096, F=8192, b=2, b_w=2, C=2.25e15, W_hbm=8e12), 15.27e-6, 1e-8, FIX),
    ("vector_add_intensity", dict(b=4), 1 / 12, 1e-9, QUIZ),
    ("vector_add_time", dict(alpha=0, b=4, n=1024, W_hbm=3.35e12), 3.67e-9, 1e-11, FIX),
    ("vector_add_time", dict(alpha=0, b=4, n=65536, W_hbm=3.35e12), 0.235e-6, 1e-9, QUIZ),
    ("vector_add_time", dict(alpha=0, b=4, n=2**30, W_hbm=3.35e12), 3.85e-3, 1e-5, QUIZ),
    ("cuda_cores", dict(n_sm=132, n_lane=4 * 32), 16_896, 0, QUIZ),
    ("cuda_cores", dict(n_sm=148, n_lane=4 * 32), 18_944, 0, QUIZ),
    ("cuda_cores", dict(n_sm=2, n_lane=4 * 8 * 128), 8_192, 0, QUIZ),
    ("vector_peak", dict(n_sm=132, n_lane=128, k_op=1, f_clock=1.59e9), 26.9e12, 1e11, QUIZ),
    ("vector_peak", dict(n_sm=132, n_lane=128, k_op=1, f_clock=1.98e9), 33.5e12, 1e11, QUIZ),
    ("vector_peak", dict(n_sm=132, n_lane=128, k_op=2, f_clock=1.98e9), 66.9e12, 1e11, SHEET),
    ("implied_clock", dict(P_run=80e12, n_sm=148, n_lane=128, k_op=2), 2.11e9, 1e7, QUIZ),
    ("tensor_speedup", dict(C=990e12, P_run=33.5e12), 30, 1, QUIZ),
    ("tensor_core_rate", dict(C=125e12, n_sm=80, n_tc=8, f_clock=1.53e9), 128, 1, CVW),
    ("tensor_core_rate", dict(C=312e12, n_sm=108, n_tc=4, f_clock=1.41e9), 512, 1, BOOK),
    ("tensor_core_rate", dict(C=989.4e12, n_sm=132, n_tc=4, f_clock=1.83e9), 1024, 1, BOOK),
    ("tensor_core_rate", dict(C=2250e12, n_sm=148, n_tc=4, f_clock=1.86e9), 2043, 1, BOOK),
    ("tensor_peak", dict(n_sm=80, n_tc=8, r_tc=128, f_clock=1.53e9), 125e12, 1e12, CVW),
    ("tensor_peak", dict(n_sm=108, n_tc=4, r_tc=512, f_clock=1.41e9), 312e12, 1e12, CLOCKS),
    ("tensor_peak", dict(n_sm=132, n_tc=4, r_tc=1024, f_clock=1.83e9), 989.4e12, 1e11, CLOCKS),
    ("precision_doubling", dict(C_ref=989.4e12, b_ref=2, b=1), 1979e12, 1e12, "NVIDIA H100 product page"),
    ("precision_doubling", dict(C_ref=2250e12, b_ref=2, b=0.5), 9000e12, 0, BOOK),
    ("chip_capacity", dict(n_sm=132, S_sm=256 * KIB), 33 * 2**20, 0, QUIZ),
    ("bandwidth_ratio", dict(W_ref=5.5e12, W=3.35e12), 1.6, 0.05, BOOK),
    ("register_file_warps", dict(R_sm=65536, R=256, w_lanes=32), 8, 0, BOOK),
    ("occupancy", SM70 | dict(R=256, w_block=1), 8 / 64, 0, BOOK),
    ("occupancy", SM70 | dict(R=37, w_block=4), 0.75, 0, TUNING),
    ("occupancy", SM70 | dict(R=37, w_block=10), 0.63, 0.006, TUNING),
    ("resident_warps", SM70 | dict(R=37, w_block=4), 12 * 4, 0, TUNING),
    ("resident_warps", SM70 | dict(R=37, w_block=10), 4 * 10, 0, TUNING),
    ("resident_warps", SM70 | dict(R=32, w_block=8), 64, 0, TUNING),
    ("register_limit", REGISTERS | dict(R=64, w_block=16), 32, 0, GUIDE),
    ("register_limit", REGISTERS | dict(R=65, w_block=16), 16, 0, GUIDE),
    ("sweep_time", dict(S_level=80e9, W=3.35e12), 23.9e-3, 1e-4, SHEET),
]  # fmt: skip


@judges(*{row[0] for row in PUBLISHED})
def published_figures(book):
    for name, values, printed, reach, where in PUBLISHED:
        ours = getattr(book, name)(**values)
        assert abs(ours - printed) <= reach * (1 + 1e-9), f"{name}: {ours:g}, printed {printed:g} in {where}"


# Counting


@judges(
    "matmul_ops",
    "matmul_bytes",
    "matmul_intensity",
    "arithmetic_intensity",
    "matmul_math_time",
    "matmul_memory_time",
    "matmul_time",
)
def a_product_counted_element_by_element(book):
    for shape in ((1, 1, 1), (2, 3, 4), (5, 2, 3), (1, 7, 2), (4, 4, 1)):
        b, d, f = shape
        for width, weight in ((2, 2), (2, 1), (4, 0.5)):
            (left, right, out), ops, moved = product(*shape, width, weight)
            assert all(
                out[i, j] == sum(left[i, k] * right[k, j] for k in range(d))
                for i in range(b)
                for j in range(f)
            )
            sizes = dict(B=b, D=d, F=f)
            close(book.matmul_ops(**sizes), ops)
            close(book.matmul_bytes(**sizes, b=width, b_w=weight), moved)
            close(book.arithmetic_intensity(ops=ops, V=moved), ops / moved)
            close(book.matmul_math_time(**sizes, C=3.0), ops / 3)
            close(book.matmul_memory_time(**sizes, b=width, b_w=weight, W_hbm=5.0), moved / 5)
            for rate in (0.01, 1e4):
                slower = max(ops / rate, moved / 5)
                close(book.matmul_time(**sizes, b=width, b_w=weight, C=rate, W_hbm=5.0), slower)
            if width == weight:
                close(book.matmul_intensity(**sizes, b=width), ops / moved)


@judges(
    "vector_add_ops", "vector_add_bytes", "vector_add_intensity", "vector_add_time", "launch_bound_length"
)
def a_vector_sum_counted_element_by_element(book):
    for length, width in ((1, 4), (17, 2), (64, 8)):
        ops, moved = vector_sum(length, width)
        close(book.vector_add_ops(n=length), ops)
        close(book.vector_add_bytes(n=length, b=width), moved)
        close(book.vector_add_intensity(b=width), ops / moved)
        close(book.vector_add_time(alpha=7, n=length, b=width, W_hbm=3), transfer(moved, 7, 3))
        launch = moved / 3  # a launch that takes as long as this sum's traffic
        close(book.launch_bound_length(alpha=launch, b=width, W_hbm=3), length)


@judges(
    "cuda_cores",
    "vector_peak",
    "tensor_peak",
    "tensor_core_rate",
    "implied_clock",
    "chip_capacity",
    "chip_bandwidth",
    "loads_in_flight",
)
def units_counted_one_by_one(book):
    sms, lanes, cores, cycles = 5, 16, 3, 11
    close(book.cuda_cores(n_sm=sms, n_lane=lanes), counted(sms, lanes))
    for per_lane in (1, 2):  # operations in a second of a clock that ticks eleven times a second
        peak = counted(cycles, sms, lanes, per_lane)
        close(book.vector_peak(n_sm=sms, n_lane=lanes, k_op=per_lane, f_clock=cycles), peak)
        close(book.implied_clock(P_run=peak, n_sm=sms, n_lane=lanes, k_op=per_lane), cycles)
    multiply_adds = counted(4, 4, 4)  # a small Tensor Core: a 4 x 4 x 4 product in a cycle
    peak = counted(cycles, sms, cores, multiply_adds, 2)
    close(book.tensor_peak(n_sm=sms, n_tc=cores, r_tc=2 * multiply_adds, f_clock=cycles), peak)
    close(book.tensor_core_rate(C=peak, n_sm=sms, n_tc=cores, f_clock=cycles), 2 * multiply_adds)
    close(book.chip_capacity(n_sm=sms, S_sm=100), counted(sms, 100))
    close(book.chip_bandwidth(n_sm=sms, w_sm=32, f_clock=cycles), counted(cycles, sms, 32))
    close(book.loads_in_flight(n_sm=sms, w_res=2, w_lanes=8, n_load=3, b_load=4), counted(sms, 2, 8, 3, 4))


@judges("precision_doubling")
def halves_fit_twice(book):
    """A register of fixed width holds as many elements as fit, and the unit works on all of them at once."""
    for width in (0.5, 1, 2, 4):
        elements = len(range(0, 64, int(8 * width)))  # elements in 64 bits
        reference = len(range(0, 64, 16))
        close(book.precision_doubling(C_ref=reference, b_ref=2, b=width), elements)


@judges("tensor_speedup", "bandwidth_ratio")
def the_slower_one_takes_as_many_times_longer(book):
    for fast, slow in ((990.0, 33.5), (3.0, 2.0), (5.5, 3.35)):
        close(book.tensor_speedup(C=fast, P_run=slow), transfer(1, 0, slow) / transfer(1, 0, fast))
        close(book.bandwidth_ratio(W_ref=fast, W=slow), transfer(1, 0, slow) / transfer(1, 0, fast))


# Simulation


@judges("roofline_time", "compute_time", "memory_time", "attainable", "fed_rate", "ridge_point", "mixed_rate")
def tiles_streamed_through_two_buffers(book):
    draw, tiles = random.Random(3), 4000
    for _ in range(12):
        ops, moved, peak, bus = (10 ** draw.uniform(0, 3) for _ in range(4))
        took = pipeline(tiles, moved / bus / tiles, ops / peak / tiles)
        both = dict(T_math=ops / peak, T_mem=moved / bus)
        close(book.roofline_time(**both), took, 1e-3)
        assert (
            book.roofline_time(**both)
            <= took
            <= pipeline(tiles, moved / bus / tiles, ops / peak / tiles, buffers=1) * (1 + 1e-9)
        )
        close(book.compute_time(ops=ops, C=peak), pipeline(tiles, 0.0, ops / peak / tiles), 1e-6)
        close(book.memory_time(V=moved, W_hbm=bus), pipeline(tiles, moved / bus / tiles, 0.0), 1e-6)
        close(book.attainable(I=ops / moved, C=peak, W_hbm=bus), ops / took, 1e-3)
        close(book.fed_rate(I=ops / moved, C=peak, W=bus), ops / took, 1e-3)
        ridge = bisected(
            lambda x, bus=bus, peak=peak: pipeline(99, 0.0, x / peak) - pipeline(99, 1 / bus, 0.0), 1e-6, 1e6
        )
        close(book.ridge_point(C=peak, W_hbm=bus), ridge, 1e-6)
        share = draw.random()
        close(
            book.mixed_rate(C=peak, C_fp32=bus, s_vec=share),
            1 / pipeline(tiles, share / bus / tiles, (1 - share) / peak / tiles),
            1e-3,
        )


@judges("critical_batch", "critical_batch_mixed", "rule_batch")
def the_batch_at_which_two_clocks_agree(book):
    """Bisection on the two times, each written out from the counts of a product."""
    peak, bus = 990e12, 3.35e12
    for d, f, width, weight in (
        (4096, 4096, 2, 2),
        (1024, 1024, 2, 2),
        (8192, 28672, 2, 1),
        (4096, 14336, 1, 1),
        (4096, 64, 2, 2),
        (590, 590, 2, 2),
        (591, 592, 2, 2),
    ):  # noqa: E501

        def gap(batch, d=d, f=f, width=width, weight=weight):
            moved = width * batch * d + weight * d * f + width * batch * f
            return 2 * batch * d * f / peak - moved / bus

        batch = bisected(gap, 1e-3, 1e15)
        rule = book.rule_batch(b_w=weight, I_ridge=peak / bus)
        close(book.critical_batch_mixed(B_rule=rule, D=d, F=f, b=width, I_ridge=peak / bus), batch, 1e-6)
        if width == weight:
            close(book.critical_batch(B_rule=rule, D=d, F=f), batch, 1e-6)
    close(book.critical_batch(B_rule=295.5, D=591, F=591), float("inf"))
    wide = bisected(lambda x: 2 * x * 1e18 / peak - (2 * x * 2e9 + 1e18) / bus, 1e-3, 1e15)
    close(book.rule_batch(b_w=1, I_ridge=peak / bus), wide, 1e-5)


@judges("transfer_time", "effective_bandwidth", "half_size", "sweep_time")
def bytes_that_wait_and_then_flow(book):
    for size, wait, rate in ((1e6, 1e-6, 1e9), (3.0, 2.0, 5.0), (64e6, 3e-6, 450e9)):
        took = transfer(size, wait, rate)
        close(book.transfer_time(alpha=wait, V=size, W=rate), took)
        close(book.effective_bandwidth(alpha=wait, V=size, W=rate), size / took)
        half = bisected(lambda v, wait=wait, rate=rate: v / transfer(v, wait, rate) - rate / 2, 1e-9, 1e15)
        close(book.half_size(alpha=wait, W=rate), half, 1e-6)
        close(book.sweep_time(S_level=size, W=rate), transfer(size, 0.0, rate))


@judges("concurrent_bandwidth", "bytes_in_flight", "warp_bandwidth")
def requests_kept_in_flight(book):
    """An event queue: a request is made when one has arrived, and the link hands over one at a time.

    The latency of a request alone is its start-up and its own bytes on the link.
    """
    latency, link, size = 600e-9, 1e9, 32.0
    reached = []
    for window in (1, 2, 5, 12, 18, 19, 25, 60):
        seen = requests.run(window, size, latency - size / link, link, rounds=80).bandwidth
        close(book.concurrent_bandwidth(Q=window * size, alpha=latency, W=link), seen, 0.03)
        reached += [window] if seen > 0.999 * link else []
    assert (
        abs(book.bytes_in_flight(alpha=latency, W=link) - reached[0] * size) <= size
    )  # to within one request
    for warps in (1, 3, 8):
        seen = requests.run(2 * warps * 2 * 3, 4.0, latency - 4.0 / link, link, rounds=80).bandwidth
        ours = book.warp_bandwidth(
            n_sm=2, w_res=warps, w_lanes=2, n_load=3, b_load=4.0, alpha=latency, W=link
        )
        close(ours, seen, 0.03)


# The SM


@judges("divergent_slots", "divergence_idle")
def a_warp_that_runs_both_paths(book):
    draw = random.Random(11)
    for _ in range(60):
        lanes = draw.choice([4, 8, 32, 64])
        taken, then, other = draw.randint(1, lanes - 1), draw.randint(0, 9), draw.randint(1, 9)
        slots, waiting = branch(then, other, taken, lanes)
        close(book.divergent_slots(n_then=then, n_else=other), slots)
        close(book.divergence_idle(m_then=taken, n_then=then, n_else=other, w_lanes=lanes) + 1, waiting + 1)


@judges("paths_idle")
def a_warp_that_runs_many_paths(book):
    for ways in (1, 2, 5, 8, 32):
        for length in (1, 3):
            close(book.paths_idle(n_ways=ways) + 1, switch(ways, length, 32, ways) + 1)


@judges("issue_share")
def a_scheduler_that_looks_for_a_ready_warp(book):
    for warps, run, wait in (
        (1, 1, 0),
        (1, 1, 19),
        (4, 1, 19),
        (7, 3, 11),
        (12, 2, 30),
        (16, 1, 10),
        (3, 5, 5),
    ):
        ours = book.issue_share(w_res=4 * warps, n_sub=4, n_run=run, n_wait=wait)
        close(ours, scheduler(warps, run, wait), 0.01)


@judges("operand_traffic", "fed_tile")
def a_tile_that_reads_its_operands(book):
    """Each step along the inner width reads a column of one operand and a row of the other."""
    cores, rate = 4, 1024

    def per_cycle(rows, columns, width):
        traffic, operations = 0, 0
        for _ in range(4):
            traffic += sum(width for _ in range(rows)) + sum(width for _ in range(columns))
            operations += 2 * counted(rows, columns)
        return traffic / (operations / (cores * rate))

    for rows, columns, width in ((64, 64, 2), (128, 32, 2), (16, 256, 1)):
        ours = book.operand_traffic(b=width, n_tc=cores, r_tc=rate, t_rows=rows, t_cols=columns)
        close(ours, per_cycle(rows, columns, width))
    for width in (1, 2):
        side = book.fed_tile(b=width, n_tc=cores, r_tc=rate, w_sm=128)
        assert side == next(t for t in range(1, 200) if per_cycle(t, t, width) <= 128)


@judges("wave_fill")
def tiles_handed_out_one_by_one(book):
    for sms in (1, 7, 132):
        for tiles in (1, sms - 1 or 1, sms, sms + 1, 2 * sms, 1000):
            close(book.wave_fill(n_tiles=tiles, n_sm=sms), waves(tiles, sms))


SMS = {  # registers, shared memory, warp slots, block slots, reserve, unit
    "V100": Limits(65536, 96 * KIB, 64, 32, 0, 256),
    "A100": Limits(65536, 164 * KIB, 64, 32, KIB, 128),
    "H100": Limits(65536, 228 * KIB, 64, 32, KIB, 128),
    "small": Limits(32768, 64 * KIB, 48, 16, KIB, 256),
}
ONE_BY_ONE = {
    "register_limit": ("registers",), "smem_limit": ("smem",), "slot_limit": ("slots",),
    "block_limit": ("blocks",),
    "resident_warps": ("registers", "smem", "slots", "blocks"),
}  # fmt: skip


def kernels(count, seed=5):
    """Random kernels that a GPU would accept: registers, threads, shared memory."""
    draw = random.Random(seed)
    for _ in range(count):
        threads = draw.choice([draw.randint(1, 1024), 32 * draw.randint(1, 32), 2 ** draw.randint(5, 10)])
        smem = draw.choice(
            [0, draw.randint(1, 64 * KIB), KIB * draw.randint(1, 63), 128 * draw.randint(1, 500)]
        )
        yield (
            draw.choice([draw.randint(1, 255), 8 * draw.randint(1, 31), 2 ** draw.randint(4, 7)]),
            threads,
            smem,
        )


def inputs_of(book, sm, rows):
    r, threads, smem = (np.array(column) for column in zip(*rows, strict=True))
    warps = book.warps_per_block(t_block=threads, w_lanes=sm.lanes)
    return dict(
        R=r, S_block=smem, w_block=warps, w_lanes=sm.lanes, n_sub=sm.parts, R_sm=sm.registers,
        g_reg=sm.register_unit, w_max=sm.slots, n_block=sm.blocks, S_smem=sm.smem, S_res=sm.reserve,
        g_smem=sm.smem_unit,
    )  # fmt: skip


@judges(
    "resident_warps",
    "occupancy",
    "register_limit",
    "smem_limit",
    "slot_limit",
    "block_limit",
    "warps_per_block",
)
def blocks_placed_one_by_one(book):
    rows = list(kernels(600))
    for sm in SMS.values():
        values = inputs_of(book, sm, rows)
        close(values["w_block"], [warps_of(threads) for _, threads, _ in rows])
        for name, counts in ONE_BY_ONE.items():
            f = getattr(book, name)
            only = dataclasses.replace(
                sm,
                **{
                    k: getattr(sm, k) if k in counts else None
                    for k in ("registers", "smem", "slots", "blocks")
                },
            )
            some = [(r, t, m) if m or name != "smem_limit" else (r, t, 1) for r, t, m in rows]
            given = values | ({"S_block": np.array([m for *_, m in some])} if name == "smem_limit" else {})
            ours = f(**{q.name: given[q.name] for q in FORMULAS[name].inputs})
            np.testing.assert_array_equal(ours, [allocated(only, *row) for row in some], err_msg=name)
        close(book.occupancy(**values) * sm.slots, [allocated(sm, *row) for row in rows])


@judges("register_file_warps")
def registers_handed_out_one_by_one(book):
    for registers in (1, 16, 31, 32, 33, 64, 255, 256):
        left, warps = 65536, 0
        while left >= registers * 32:
            left, warps = left - registers * 32, warps + 1
        assert book.register_file_warps(R_sm=65536, R=registers, w_lanes=32) == warps


# The checks as tests


@pytest.mark.parametrize("name", CHECKS)
def test_the_library_agrees_with(name):
    CHECKS[name][0](Book())


def test_every_formula_meets_something_independent():
    judged = {name for _, names in CHECKS.values() for name in names}
    assert judged == set(FORMULAS), f"not judged: {set(FORMULAS) - judged}; unknown: {judged - set(FORMULAS)}"


@pytest.mark.parametrize("slip", [2, Fraction(GIB, 10**9)], ids=["twice", "GiB for GB"])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_slip_is_noticed_by_every_check_that_judges_the_formula(name, slip):
    wrong = Book(name, sympy.Rational(slip.numerator, slip.denominator))
    for check, names in CHECKS.values():
        if name in names:
            with pytest.raises(AssertionError):
                check(wrong)


def test_a_factor_of_one_is_no_slip():
    for check, _ in CHECKS.values():
        check(Book("matmul_time", 1))


# The data files against the same published figures


def test_figures_follow_from_the_data():
    h100, b200, v5e, v5p = (chip(key) for key in ("h100_sxm", "b200_sxm", "tpu_v5e", "tpu_v5p"))
    for part, peak, printed in (
        (h100, "bf16", 295),
        (b200, "bf16", 281),
        (h100, "fp8", 590),
        (b200, "fp8", 562),
        (v5e, "bf16", 240),
    ):
        assert abs(FORMULAS["ridge_point"](C=getattr(part, peak), W_hbm=part.hbm_bw) - printed) < 1.1
    assert FORMULAS["cuda_cores"](n_sm=h100.sm, n_lane=h100.fp32_lanes_per_sm) == 16_896
    assert FORMULAS["cuda_cores"](n_sm=b200.sm, n_lane=b200.fp32_lanes_per_sm) == 18_944
    assert FORMULAS["chip_capacity"](n_sm=h100.sm, S_sm=h100.smem_l1_per_sm) == 33 * 2**20
    assert v5p.cores_per_chip == 2


@pytest.mark.parametrize(
    "key, peak, printed", [("v100_sxm2", "fp16", 128), ("a100_sxm", "bf16", 512), ("h100_sxm", "bf16", 1024)]
)
def test_the_rate_of_a_tensor_core_follows_from_the_data(key, peak, printed):
    part = chip(key)
    values = dict(
        C=getattr(part, peak), n_sm=part.sm, n_tc=part.tensor_cores_per_sm, f_clock=part.tensor_clock
    )
    assert round(FORMULAS["tensor_core_rate"](**values)) == pytest.approx(printed, abs=1)
    assert part.tensor_flop_per_cycle == printed


@pytest.mark.parametrize("name, key", [("V100", "v100_sxm2"), ("A100", "a100_sxm"), ("H100", "h100_sxm")])
def test_the_limits_of_an_sm_are_those_of_the_data(name, key):
    part, sm = chip(key), SMS[name]
    assert (part.registers_per_sm, part.smem_per_sm, part.max_warps_per_sm, part.max_blocks_per_sm) == (
        sm.registers,
        sm.smem,
        sm.slots,
        sm.blocks,
    )
    assert (part.smem_reserved_per_block, part.smem_allocation_unit, part.register_allocation_unit) == (
        sm.reserve,
        sm.smem_unit,
        sm.register_unit,
    )
    assert (part.subpartitions_per_sm, part.warp_size) == (sm.parts, sm.lanes)
