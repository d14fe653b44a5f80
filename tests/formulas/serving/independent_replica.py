"""A replica rank by rank: its shards listed, its key-value heads handed out, its requests replaced one by one."""

from fractions import Fraction
from itertools import product

from formulas.harness import at, checks
from hypothesis import strategies as st

SMALL = st.integers(1, 5)
MODEL = st.tuples(SMALL, SMALL, SMALL, st.integers(1, 3), SMALL)  # layers, sizes of a layer and an expert, rows, width
SPLIT = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))  # ranks of a group, groups, stages


def fullest(layers, stages):
    """Layers of each stage, dealt out one by one, and those of the stage that gets most."""
    dealt = [0] * stages
    for layer in range(layers):
        dealt[layer % stages] += 1
    return max(dealt)


def listed(case):
    """A model of equal layers in the fullest stage of a replica: its symbols, and the ranks with what each holds."""
    (layers, dense, expert, rows, width), (ranks, groups, stages), more = case
    spread = ranks * groups
    experts, own = spread * more, fullest(layers, stages)
    table = rows * width
    known = {"L": layers, "L_stage": own, "Y": ranks, "Z": spread, "n_dpa": groups, "E": experts, "n_vocab": rows}
    known |= {"D": width, "P": layers * (dense + experts * expert) + 2 * table, "P_emb": 2 * table}
    known |= {"P_exp": sum(expert for _ in range(layers) for _ in range(experts))}
    holds = []
    for group, rank in product(range(groups), range(ranks)):
        number = group * ranks + rank
        mine = [e for e in range(experts) if e % spread == number]
        holds.append((Fraction(own * dense, ranks), {(layer, e): expert for layer in range(own) for e in mine}))
    return known, holds, table


CASES = st.tuples(MODEL, SPLIT, st.integers(1, 2))
BYTES = st.sampled_from([Fraction(1, 2), 1, 2])


@checks("replica_weights", over=st.tuples(CASES, BYTES, BYTES))
def what_each_rank_holds(lib, case):
    model, wide, narrow = case
    known, holds, table = listed(model)
    for dense, experts in holds:
        whole = wide * (dense + Fraction(2 * table, known["Y"])) + narrow * sum(experts.values())
        assert at(lib.replica_weights, **known, b_w=wide, b_exp=narrow) == whole


@checks("replica_weights_read", over=st.tuples(CASES, BYTES, BYTES, BYTES, st.sets(st.integers(0, 17), min_size=1)))
def what_the_ranks_read_on_average(lib, case):
    model, wide, narrow, head, chosen = case
    known, holds, table = listed(model)
    hit = {e for e in chosen if e < known["E"]} or {0}
    read = Fraction(0)
    for dense, experts in holds:
        touched = sum(size for (_, e), size in experts.items() if e in hit)
        read += wide * dense + head * Fraction(table, known["Y"]) + narrow * touched
    ours = at(lib.replica_weights_read, **known, b_w=wide, b_exp=narrow, b_head=head, E_hit=len(hit))
    assert ours == read / len(holds)


@checks("replica_params", over=st.tuples(CASES, st.integers(1, 3), st.integers(1, 4)))
def multiplications_of_the_tokens(lib, case):
    """Every token of every group is sent to experts in turn, so that all of them get the same number."""
    model, active, tokens = case
    known, holds, table = listed(model)
    experts = known["E"]
    active = min(active, experts)
    size = model[0][2]
    done = Fraction(0)
    for dense, _ in holds:
        done += tokens * (dense + Fraction(table, known["Y"]))
    for _layer, _group, _token in product(range(known["L_stage"]), range(known["n_dpa"]), range(tokens)):
        done += sum(size for _ in range(active))
    layers, dense = known["L"], model[0][1]
    whole = sum(dense + active * size for _ in range(layers)) + table
    ours = at(lib.replica_params, **known, P_act=whole, k=active)
    assert ours == done / len(holds) / tokens


@checks(
    "replica_cache",
    "replica_attention",
    over=st.tuples(SMALL, SMALL, SMALL, st.sampled_from([(1, 4), (4, 1), (2, 2), (8, 2), (2, 8)]), SPLIT),
)
def heads_dealt_to_the_ranks_of_a_stage(lib, case):
    layers, sequences, size, (heads, ranks), (_, _, stages) = case
    own = fullest(layers, stages)
    queries = 8
    needed = []
    for rank in range(ranks):
        mine = [q for q in range(queries) if q * ranks // queries == rank]
        needed.append({q * heads // queries for q in mine})
    kept = {len(some) for some in needed}
    (each,) = kept  # every rank stores the same number of heads
    stored = sum(size for _ in range(own) for _ in range(sequences) for _ in range(each))
    known = {"L": layers, "L_stage": own, "Y": ranks}
    whole = sum(size for _ in range(layers) for _ in range(heads))
    assert at(lib.replica_cache, **known, B_seq=sequences, V_seq=whole, n_kv=heads) == stored
    work = sum(size for _ in range(own) for _ in range(queries // ranks))
    total = sum(size for _ in range(layers) for _ in range(queries))
    assert at(lib.replica_attention, **known, ops_kv=total) == work


@checks("full_token_time", "full_rate", over=st.tuples(SMALL, st.integers(2, 6), SMALL, SMALL))
def requests_replaced_one_by_one(lib, case):
    """A batch that is always full: whoever is done is replaced, and the prefill of the next one stops all."""
    batch, answer, step, prompt = case
    left = [1 + i % (answer - 1) for i in range(batch)]  # tokens that each sequence still needs
    clock, tokens, finished = 0, 0, 0
    for _ in range(4 * (answer - 1)):
        clock += step
        tokens += batch
        left = [n - 1 for n in left]
        for i, n in enumerate(left):
            if n == 0:
                clock += prompt
                finished += 1
                left[i] = answer - 1
    ours = at(lib.full_token_time, T_dec=step, B_seq=batch, T_pre=prompt, S_out=answer)
    assert ours == Fraction(clock * batch, tokens)
    assert at(lib.full_rate, B_mean=batch, S_out=answer, T_tpot=ours) == Fraction(finished, clock)
