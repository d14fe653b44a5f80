"""Reading HLO: each form in which XLA prints groups, pairs and matmuls."""

import pytest
from engines.tally import Collective
from engines.xla_hlo import collectives, matmul_flops

REDUCE = "  %r = f32[4,6]{1,0} all-reduce(%x), channel_id=1, replica_groups=GROUPS, to_apply=%add"


@pytest.mark.parametrize(
    ("groups", "ranks", "step"),
    [
        ("{{0,1,2,3},{4,5,6,7}}", 4, 1),
        ("{{0,4},{1,5},{2,6},{3,7}}", 2, 4),
        ("[2,4]<=[8]", 4, 1),
        ("[4,2]<=[2,4]T(1,0)", 2, 4),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_1'}", 4, 1),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_0'}", 2, 4),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_0','axis_1'}", 8, 1),
    ],
)
def test_groups_in_every_form(groups, ranks, step):
    sent = 2 * 96 * (ranks - 1) // ranks
    assert collectives(REDUCE.replace("GROUPS", groups)) == [Collective("all-reduce", ranks, step, sent, False)]


def test_groups_that_are_no_axis_are_refused():
    with pytest.raises(ValueError, match="not equally far apart"):
        collectives(REDUCE.replace("GROUPS", "{{0,1,3,4}}"))
    with pytest.raises(ValueError, match="unknown form"):
        collectives(REDUCE.replace("GROUPS", "all"))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%g = f32[8,6]{1,0} all-gather(%x), replica_groups={{0,1}}", ("all-gather", 2, 1, 96)),
        ("%s = f32[4,6]{1,0} reduce-scatter(%x), replica_groups={{0,1}}", ("reduce-scatter", 2, 1, 96)),
        ("%a = (f32[2,6]{1,0}, f32[2,6]{1,0}) all-to-all(%x, %y), replica_groups={{0,1}}", ("all-to-all", 2, 1, 48)),
        ("%p = f32[4]{0} collective-permute(%x), source_target_pairs={{0,1},{1,2}}", ("collective-permute", 3, 1, 16)),
        (
            "%p = f32[4]{0} collective-permute(%x), source_target_pairs={{0,2},{1,0},{2,1}}",
            ("collective-permute", 3, -1, 16),
        ),
    ],
)
def test_each_kind_and_what_a_rank_sends(line, found):
    assert collectives("  ROOT " + line) == [Collective(*found, False)]
    assert collectives(f'  {line}, metadata={{op_name="jit(f)/transpose(jvp())/g"}}') == [Collective(*found, True)]


def test_a_scalar_is_left_out():
    assert collectives("  %r = f32[] all-reduce(%x), replica_groups={{0,1}}, to_apply=%add") == []


def test_matmuls_of_all_computations():
    text = """
%fused (p: f32[2,3,5], q: f32[2,5,7]) -> f32[2,3,7] {
  %p = f32[2,3,5]{2,1,0} parameter(0)
  %q = f32[2,5,7]{2,1,0} parameter(1)
  ROOT %d = f32[2,3,7]{2,1,0} dot(%p, %q), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}

ENTRY %main (p: f32[4,6]) -> f32[4,4] {
  %p = f32[4,6]{1,0} parameter(0)
  ROOT %d = f32[4,4]{1,0} dot(f32[4,6]{1,0} %p, f32[4,6]{1,0} %p), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"""
    assert matmul_flops(text) == 2 * (2 * 3 * 5 * 7 + 4 * 6 * 4)
    with pytest.raises(ValueError, match="hide"):
        matmul_flops('  %c = f32[4] custom-call(%x), custom_call_target="matmul"')
