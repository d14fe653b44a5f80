"""Training memory: every formula against the elements that each rank of a small run stores."""

from fractions import Fraction

import numpy as np
from formulas.harness import at, checks, close
from hypothesis import strategies as st
from support.other_layers import covers

from gpuscale.emulate.stored import STATES, Layout, transformer_arrays
from gpuscale.ledger import claim
from gpuscale.specs import parts

WIDTHS = st.tuples(*[st.fractions(Fraction(1, 4), 8, max_denominator=4)] * 3)
DEGREES = st.integers(1, 3)
# copies, slices, stages, layers of a stage, elements that each rank gets of a matrix
DENSE = st.tuples(DEGREES, DEGREES, st.integers(1, 3), st.integers(1, 2), st.integers(1, 3))


def dense(case, ends: bool, zero: int = 0):
    """A model whose arrays divide evenly, and how it is laid out; its parameters, those of each end."""
    copies, slices, stages, depth, unit = case
    whole = copies * slices * unit
    arrays = transformer_arrays(stages * depth, (2 * whole, whole), ends=3 * whole if ends else 0)
    layout = Layout(arrays, copies, slices, stages, zero=zero)
    assert all(covers(layout, state) for state in STATES)
    return layout, sum(a.size for a in arrays), 3 * whole


def said(widths) -> dict:
    return dict(zip(("b_w", "b_grad", "b_opt"), widths, strict=True))


@checks("replicated_state", "zero1_state", "zero2_state", "zero3_state", over=st.tuples(DEGREES, DEGREES, WIDTHS))
def states_of_every_rank(lib, case):
    copies, unit, widths = case
    for zero, name in enumerate(("replicated_state", "zero1_state", "zero2_state", "zero3_state")):
        layout, params, _ = dense((copies, 1, 1, 2, unit), ends=True, zero=zero)
        assert at(getattr(lib, name), P=params, X=copies, **said(widths)) == layout.fullest(widths)


@checks("zero1_state", "zero2_state", "zero3_state", over=st.tuples(st.integers(1, 5), st.integers(5, 40), WIDTHS))
def shards_that_do_not_come_out_even(lib, case):
    copies, size, widths = case
    arrays = transformer_arrays(2, (size, size + 3))
    for zero, name in ((1, "zero1_state"), (2, "zero2_state"), (3, "zero3_state")):
        ours = at(getattr(lib, name), P=sum(a.size for a in arrays), X=copies, **said(widths))
        over = Layout(arrays, copies, zero=zero).fullest(widths) - ours
        assert 0 <= over < len(arrays) * sum(widths)


@checks("fsdp_padding", over=st.tuples(st.integers(1, 60), st.integers(1, 70)))
def rows_dealt_out_in_blocks(lib, case):
    """Blocks of the rows that numpy would give the fullest rank; every rank sends as many."""
    rows, ranks = case
    blocks = np.array_split(np.arange(rows), ranks)
    assert at(lib.fsdp_padding, n_rows=rows, N=ranks) == Fraction(max(map(len, blocks)) * ranks, rows)


@checks("fsdp_padding")
def a_small_matrix_on_many_ranks(lib, _=None):
    assert at(lib.fsdp_padding, n_rows=64, N=1024) == 16
    assert at(lib.fsdp_padding, n_rows=96, N=64) == Fraction(4, 3)
    assert at(lib.fsdp_padding, n_rows=4096, N=64) == 1


@checks("zero1_state", "zero2_state", "zero3_state")
def zero_of_a_model_of_seven_billion(lib):
    """ZeRO's own example: 7.5 billion parameters on 64 ranks; the paper rounds to three digits."""
    given = {"P": 7_500_000_000, "X": 64, "b_w": 2, "b_grad": 2, "b_opt": 12}
    for stage in (1, 2, 3):
        printed = claim(f"zero2019:7.5b-64-{stage}").published
        close(float(at(getattr(lib, f"zero{stage}_state"), **given)), printed, 3e-3)


@checks("optimizer_bytes", "replicated_state")
def recipes_as_arrays_of_numpy(lib):
    kinds = {1: np.int8, 2: np.float16, 4: np.float32}
    for recipe in parts("recipe").values():
        optimizer = [np.zeros(5, kinds[width]) for width in (recipe.master, *[recipe.moment] * 2) if width]
        rest = [np.zeros(5, kinds[width]) for width in (recipe.weights, recipe.gradients) if width]
        b_opt = at(lib.optimizer_bytes, b_master=Fraction(recipe.master), b_mom=Fraction(recipe.moment))
        assert 5 * b_opt == sum(a.nbytes for a in optimizer)
        widths = (Fraction(recipe.weights), Fraction(recipe.gradients), b_opt)
        stored = sum(a.nbytes for a in optimizer + rest)
        assert at(lib.replicated_state, P=5, **said(widths)) == stored


@checks("zero3_gpus", over=st.tuples(st.integers(1, 60), st.integers(1, 40), st.integers(1, 6)))
def gpus_filled_one_after_another(lib, case):
    params, room, width = case
    gpus, left = 0, params * 3 * width
    while left > 0:
        gpus, left = gpus + 1, left - room
    assert at(lib.zero3_gpus, P=params, S_level=room, b_w=width, b_grad=width, b_opt=width) == gpus


@checks("inner_stage_params", "edge_stage_params", over=DENSE.filter(lambda case: case[2] > 1))
def embedding_and_head_at_the_two_ends(lib, case):
    layout, params, end = dense(case, ends=True)
    given = {"P": params, "P_emb": 2 * end, "Y": layout.slices, "N_stages": layout.stages}
    for rank in layout.ranks:
        name = "edge_stage_params" if rank.stage in (0, layout.stages - 1) else "inner_stage_params"
        assert at(getattr(lib, name), **given) == layout.count(rank, "weights")
    if layout.stages == 2:  # no inner stage: what the ends have besides their embedding
        assert at(lib.inner_stage_params, **given) == layout.count(layout.ranks[0], "weights") - end // layout.slices


# copies, slices, stages, shards, experts of a shard
MIXED = st.tuples(*[st.integers(1, 3)] * 3, st.integers(1, 6), st.integers(1, 2)).filter(
    lambda case: case[0] * case[1] % case[3] == 0
)


def mixed(case, zero: int = 0):
    """A model with experts whose arrays divide evenly, laid out; and what the formulas take."""
    copies, slices, stages, shards, each = case
    whole = copies * slices * 2
    arrays = transformer_arrays(stages, (whole, 3 * whole), experts=shards * each, expert=(2 * whole,))
    layout = Layout(arrays, copies, slices, stages, shards, zero)
    assert all(covers(layout, state) for state in STATES)
    routed = sum(a.size for a in arrays if a.expert is not None)
    given = {"P": sum(a.size for a in arrays), "P_exp": routed, "X": copies, "Y": slices, "Z": shards}
    return layout, given | {"N_stages": stages}


@checks("expert_params", over=MIXED)
def experts_whole_on_their_ranks(lib, case):
    layout, given = mixed(case)
    counts = {layout.count(rank, "weights") for rank in layout.ranks}
    assert counts == {at(lib.expert_params, **given)}


@checks("expert_zero1_state", "expert_zero2_state", over=st.tuples(MIXED, WIDTHS))
def experts_cut_over_their_own_copies(lib, pair):
    case, widths = pair
    for zero, name in ((1, "expert_zero1_state"), (2, "expert_zero2_state")):
        layout, given = mixed(case, zero)
        assert at(getattr(lib, name), **given, **said(widths)) == layout.fullest(widths)


@checks("zero3_state", over=st.tuples(MIXED, WIDTHS))
def experts_do_not_matter_when_all_is_cut(lib, pair):
    case, widths = pair
    layout, given = mixed(case, zero=3)
    per_rank = Fraction(given["P"], given["Y"] * given["N_stages"])
    assert at(lib.zero3_state, **given | {"P": per_rank}, **said(widths)) == layout.fullest(widths)
