"""Inside a GPU: its formulas against warps that run, blocks that are placed, operands that are counted."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from gpuscale.one_gpu import limits, processor
from gpuscale.schedules.timelines.warp import LANES, Branch, Op, run
from gpuscale.specs import chip, measured
from gpuscale.units import KiB

NOTEBOOK = Path(__file__).parents[2] / "chapters" / "inside_a_gpu.ipynb"
V100, A100, H100, B200 = map(chip, ("v100_sxm2", "a100_sxm", "h100_sxm", "b200_sxm"))
STEP = Op("x + 1", lambda x: x + 1)


def idle(went):
    return went.idle_after(len(went.issues)) / went.lane_slots


@pytest.mark.parametrize("other", [0, 1, 5])
@pytest.mark.parametrize("then", [1, 2, 9])
@pytest.mark.parametrize("m", [1, 7, 16, 31])
def test_a_divergent_warp_idles_as_the_formula_says(m, then, other):
    program = [Branch("x < m", lambda x: x < m, [STEP] * then, [STEP] * other)]
    went = run(program, np.arange(LANES))
    want = processor.divergence_idle(m_then=m, n_then=then, n_else=other, w_lanes=LANES)
    assert idle(went) == pytest.approx(want, abs=1e-12)
    assert len(went.issues) == then + other


@pytest.mark.parametrize("depth", range(6))
def test_nested_branches_idle_as_the_formula_says(depth):
    def nest(bit):
        if not bit:
            return [STEP, STEP]
        inside = nest(bit - 1)
        return [Branch("bit", lambda lane: lane.astype(int) >> bit - 1 & 1, inside, inside)]

    went = run(nest(depth), np.arange(LANES))
    assert len(went.issues) == 2 * 2**depth
    assert idle(went) == pytest.approx(processor.paths_idle(n_ways=2**depth), abs=1e-12)


def issued(warps, n_run, n_wait, rounds=400):
    """One scheduler, cycle by cycle: the fraction of cycles in which it issues.

    It stays with a warp until that waits, then takes the one that has been ready for longest.
    """
    ready, left, busy, last = [0] * warps, [n_run] * warps, 0, 0
    cycles = rounds * (n_run + n_wait)
    for now in range(2 * cycles):
        able = [w for w in range(warps) if ready[w] <= now]
        if not able:
            continue
        last = last if last in able else min(able, key=ready.__getitem__)
        busy += now >= cycles  # the first half gets it under way
        left[last] -= 1
        ready[last] = now + 1
        if not left[last]:
            left[last], ready[last] = n_run, now + 1 + n_wait
    return busy / cycles


LOADS = [(1, 1, 3), (3, 2, 10), (16, 1, 15), (16, 1, 40), (5, 4, 16), (8, 3, 9)]


@pytest.mark.parametrize("warps, n_run, n_wait", LOADS)
def test_a_scheduler_is_as_busy_as_the_formula_says(warps, n_run, n_wait):
    want = processor.issue_share(w_res=4 * warps, n_sub=4, n_run=n_run, n_wait=n_wait)
    assert issued(warps, n_run, n_wait) == pytest.approx(want, abs=2e-3)


def placed(c, registers, warps, shared):
    """Blocks put on an SM one by one, its warps dealt to the subpartitions, until something runs out."""
    free = [c.registers_per_sm // c.subpartitions_per_sm] * c.subpartitions_per_sm
    unit = c.register_allocation_unit
    per_warp = -(-registers * c.warp_size // unit) * unit
    unit = int(c.smem_allocation_unit)
    per_block = -(-int(shared + c.smem_reserved_per_block) // unit) * unit
    blocks, smem = 0, c.smem_per_sm
    most_blocks = min(c.max_blocks_per_sm, c.max_warps_per_sm // warps)
    while blocks < most_blocks and smem >= per_block:
        for _ in range(warps):
            most = max(range(len(free)), key=free.__getitem__)
            if free[most] < per_warp:
                return blocks * warps
            free[most] -= per_warp
        blocks, smem = blocks + 1, smem - per_block
    return blocks * warps


@pytest.mark.parametrize("c", [V100, A100, H100, B200], ids=lambda c: c.key)
def test_resident_warps_are_those_that_can_be_placed(c):
    draw = np.random.default_rng(3)
    for _ in range(400):
        registers, warps = int(draw.integers(1, 256)), int(draw.integers(1, 33))
        shared = float(draw.integers(0, int(c.smem_per_block // KiB) + 1) * KiB)
        want = limits.resident_warps(
            R=registers,
            w_block=warps,
            S_block=shared,
            R_sm=c.registers_per_sm,
            n_sub=c.subpartitions_per_sm,
            g_reg=c.register_allocation_unit,
            w_lanes=c.warp_size,
            S_smem=c.smem_per_sm,
            S_res=c.smem_reserved_per_block,
            g_smem=c.smem_allocation_unit,
            n_block=c.max_blocks_per_sm,
            w_max=c.max_warps_per_sm,
        )
        assert placed(c, registers, warps, shared) == want, (registers, warps, shared)


@pytest.mark.parametrize("share", [0.001, 0.02, 0.0633, 0.3, 0.9])
def test_mixed_work_takes_as_long_as_the_slower_part(share):
    work = 1e15
    time = max((1 - share) * work / H100.bf16, share * work / H100.fp32)
    assert processor.mixed_rate(s_vec=share, C=H100.bf16, C_fp32=H100.fp32) == pytest.approx(work / time)


TILES = [(V100, 16, 16), (A100, 32, 32), (H100, 64, 256), (B200, 128, 128), (B200, 96, 96)]


@pytest.mark.parametrize("c, rows, columns", TILES)
def test_operand_bytes_by_counting_reads(c, rows, columns):
    """A tile of the result, term by term: each element of an operand is read once."""
    depth, read, done = 4, set(), 0
    for i, j, k in itertools.product(range(rows), range(columns), range(depth)):
        read |= {("left", i, k), ("right", k, j)}
        done += 2
    cycles = done / (c.tensor_cores_per_sm * c.tensor_flop_per_cycle)
    given = dict(b=2, n_tc=c.tensor_cores_per_sm, r_tc=c.tensor_flop_per_cycle)
    want = processor.operand_traffic(t_rows=rows, t_cols=columns, **given)
    assert 2 * len(read) / cycles == pytest.approx(want)
    side = processor.fed_tile(w_sm=c.smem_bytes_per_cycle, **given)
    if rows == columns:
        assert (want <= c.smem_bytes_per_cycle) == (rows >= side)


@pytest.mark.parametrize("tiles, sms", [(1, 132), (132, 132), (133, 132), (400, 132), (7, 2), (5, 1)])
def test_waves_by_handing_out_tiles(tiles, sms):
    free, end = [0] * sms, 0
    for _ in range(tiles):
        sm = min(range(sms), key=free.__getitem__)
        free[sm] += 1
        end = max(end, free[sm])
    assert processor.wave_fill(n_tiles=tiles, n_sm=sms) == pytest.approx(tiles / (sms * end))


@pytest.mark.parametrize("c, want", [(V100, 128), (A100, 512), (H100, 1024)], ids=["V100", "A100", "H100"])
def test_tensor_cores_do_a_power_of_two(c, want):
    """Published peak, clock and counts agree with the published rate of a Tensor Core."""
    rate = processor.tensor_core_rate(C=c.fp16, n_sm=c.sm, n_tc=c.tensor_cores_per_sm, f_clock=c.tensor_clock)
    assert rate == pytest.approx(want, rel=3e-3) and want == c.tensor_flop_per_cycle


def test_the_clock_of_the_other_card_does_not_give_a_power_of_two():
    rate = processor.tensor_core_rate(C=990e12, n_sm=132, n_tc=4, f_clock=1.76e9)
    assert rate == pytest.approx(1065, abs=1) and not math.log2(rate).is_integer()


def test_rule_of_doubling_on_published_peaks():
    narrow = [(A100, "tf32", 4), (H100, "tf32", 4), (H100, "fp8", 1), (B200, "fp8", 1), (B200, "fp4", 0.5)]
    for c, name, width in narrow:
        want = processor.precision_doubling(C_ref=c.fp16, b_ref=2, b=width)
        assert c.get(name) == pytest.approx(want, rel=1e-3)


def test_an_instructions_tile_fits_where_its_operands_lie_in_shared_memory():
    for row in measured("matrix_instructions").rows:
        c = chip(row["part"])
        given = dict(b=2, n_tc=c.tensor_cores_per_sm, r_tc=c.tensor_flop_per_cycle)
        traffic = processor.operand_traffic(t_rows=row["tile_rows"], t_cols=row["tile_columns"], **given)
        assert traffic <= c.smem_bytes_per_cycle or row["operands"] == "registers"
        assert row["operands"].startswith("SMEM") or row["issued_by"] == "warp"
        result = row["tile_rows"] * row["tile_columns"] * 4 / row["sms"]
        assert result <= (c.tmem_per_sm if row["result"] == "TMEM" else c.register_file_per_sm)


def test_chip_totals_of_the_published_table():
    for size in (H100.smem_l1_per_sm, H100.register_file_per_sm):
        assert processor.chip_capacity(n_sm=H100.sm, S_sm=size) == 33 * 2**20


def test_the_page_keeps_to_its_measure():
    """At most 60 cells, 1,500 to 3,600 words, and visible code that fits the column."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [c for c in cells if c["cell_type"] == "code"]
    hidden = {"hide-input", "remove-input"}
    visible = ["".join(c["source"]) for c in code if not hidden & set(c["metadata"].get("tags", []))]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    for out in (o for c in code for o in c["outputs"] if "data" in o):
        texts.append("".join(out["data"].get("text/markdown", "")))
    assert len(cells) <= 60
    assert 1500 <= sum(len(text.split()) for text in texts) <= 3600
    assert all(len(source.splitlines()) <= 15 for source in visible)
    assert all(len(line) <= 100 for source in visible for line in source.splitlines())


def test_the_experiment_shows_what_the_page_says():
    """From 4,096 to 4,352 columns the largest tile needs a fifth wave; 1,280 columns fill their waves worst of all."""

    def filled(columns):
        return processor.wave_fill(n_tiles=32 * math.ceil(columns / 256), n_sm=H100.sm)

    assert math.ceil(32 * 16 / 132) == 4 and math.ceil(32 * 17 / 132) == 5
    assert filled(1280) == min(filled(c) for c in range(1025, 8193))
