"""Each formula of one GPU against what does not share its algebra: a count, a simulation, a published figure."""

import pytest
from formulas.harness import FORMULAS, load, of_room, room_tests
from formulas.one_gpu import independent_limits

from gpuscale.specs import chip

load()
(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_mutants_are_noticed,
    test_every_argument_decides_somewhere,
) = room_tests(of_room("one_gpu"))


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
    values = dict(C=getattr(part, peak), n_sm=part.sm, n_tc=part.tensor_cores_per_sm, f_clock=part.tensor_clock)
    assert round(FORMULAS["tensor_core_rate"](**values)) == pytest.approx(printed, abs=1)
    assert part.tensor_flop_per_cycle == printed


@pytest.mark.parametrize("name, key", [("V100", "v100_sxm2"), ("A100", "a100_sxm"), ("H100", "h100_sxm")])
def test_the_limits_of_an_sm_are_those_of_the_data(name, key):
    part, sm = chip(key), independent_limits.SMS[name]
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
