"""Each formula of one GPU against what does not share its algebra: a count, a simulation, a published figure."""

import pytest
from formulas.harness import load, of_room, room_tests
from formulas.one_gpu import independent_limits

from gpuscale.specs import chip

load()
(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_mutants_are_noticed,
    test_every_argument_decides_somewhere,
) = room_tests(of_room("one_gpu"))


# The data files against the same limits


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
