"""The KV cache in memory: a pool that gives out blocks as sequences grow, and takes no token that does not fit."""

from fractions import Fraction

from formulas.harness import at, checks
from formulas.llm.independent_counting import routed
from formulas.serving.independent_decode_bytes import expert_of, whole
from hypothesis import strategies as st

from gpuscale.emulate import shapes
from gpuscale.emulate.blocks import Pool

PAGE, SMALL = st.integers(1, 5), st.integers(1, 12)


@st.composite
def servers(draw):
    """Bytes are counted one by one; a part of the memory is taken by the weights."""
    gpus, memory, token = draw(st.integers(1, 3)), draw(st.integers(8, 40)), draw(st.integers(1, 3))
    used = draw(st.sampled_from([Fraction(1, 2), Fraction(3, 4), 1]))
    taken = draw(st.integers(1, int(gpus * memory * used)))
    x = {"N_gpu": gpus, "S_hbm": memory, "f_mem": used, "V_res": taken, "V_tok": token, "S_page": draw(PAGE)}
    return x | {"S": draw(SMALL)}


def blocks_by_bytes(x):
    """Blocks taken out of memory until one does not fit any more."""
    left, found = x["N_gpu"] * x["S_hbm"] * x["f_mem"] - x["V_res"], 0
    while left >= x["S_page"] * x["V_tok"]:
        left -= x["S_page"] * x["V_tok"]
        found += 1
    return found


@checks("pool_blocks", "blocks_of_sequence", "largest_batch", over=servers(), examples=80)
def sequences_until_one_does_not_fit(lib, x):
    pool = Pool(blocks_by_bytes(x), x["S_page"])
    assert at(lib.pool_blocks, **x) == pool.free
    running = 0
    while all(pool.append(running) for _ in range(x["S"])):
        running += 1
    assert at(lib.largest_batch, **x, n_pool=blocks_by_bytes(x)) == running
    if running:
        assert at(lib.blocks_of_sequence, **x) == pool.held(0)


@checks("weights_stored", over=st.tuples(routed(), st.tuples(SMALL, SMALL, SMALL), st.integers(1, 3), SMALL))
def every_tensor_in_memory(lib, case):
    m, (width, routed_width, table_width), gpus, buffers = case
    stored = sum(buffers for _ in range(gpus))
    for name, shape in shapes.tensors(m):
        tables = name in ("embedding", "positions", "head")
        of = table_width if tables else routed_width if expert_of(m, name) >= 0 else width
        stored += of * shapes.size([(name, shape)])
    known = {"b_w": width, "b_exp": routed_width, "b_head": table_width, "N_gpu": gpus, "V_fix": buffers}
    assert at(lib.weights_stored, **known, **whole(m)) == stored


@checks("paging_waste", over=st.tuples(PAGE, st.integers(0, 6)))
def sequences_of_every_length(lib, case):
    page, full = case
    pool = Pool(page * (full + 1), page)
    lengths = range(full * page + 1, (full + 1) * page + 1)
    assert all(pool.append(i, tokens) for i, tokens in enumerate(lengths)) and pool.free == 0
    mean = Fraction(sum(lengths), len(lengths))
    assert at(lib.paging_waste, S=mean, S_page=page) == Fraction(pool.empty_slots, page * len(pool.owner))


@checks("contiguous_waste", over=st.tuples(SMALL, SMALL))
def room_for_the_longest(lib, case):
    tokens, spare = case
    row = [True] * tokens + [False] * spare
    assert at(lib.contiguous_waste, S=tokens, S_max=len(row)) == Fraction(row.count(False), len(row))


@checks("longest_concurrency", over=st.tuples(SMALL, PAGE, st.integers(1, 4)))
def sequences_as_long_as_allowed(lib, case):
    blocks, page, pages = case
    pool, running = Pool(blocks, page), 0
    while pool.append(running, pages * page):
        running += 1
    left = Fraction(pool.free, pages)  # of one more
    assert at(lib.longest_concurrency, n_pool=blocks, S_page=page, S_max=pages * page) == running + left
