"""Between the matmuls: every kernel of a layer listed with the arrays that it reads and writes, and added up."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

from formulas.harness import checks
from formulas.llm.independent_counting import SMALL, TINY, ask, dense, gpt, routed
from hypothesis import strategies as st
from support import traffic

RANKS = st.sampled_from([(1, 1), (2, 4), (3, 6), (4, 4)])  # ranks, and the divisor of everything that is sharded
WIDTHS = st.tuples(st.sampled_from([2, 4]), st.integers(1, 3))  # of a number, of an element of a mask


def moved(found, place, widths, but=""):
    """Bytes of the kernels of a place, but those whose names begin so."""
    picked = [one for one in found if one.place == place and not (but and one.name.startswith(but))]
    return traffic.size(picked, *widths)


@checks("between_forward", "between_backward", "norms_forward", over=st.tuples(dense(), TINY, TINY, WIDTHS))
def kernels_between_blocks(lib, case):
    m, seqs, tokens, widths = case
    for dropout in (0, 1):
        m = replace(m, dropout=dropout)
        there, back = (one(m, 0, seqs, tokens) for one in (traffic.forward, traffic.backward))
        known = {"b": widths[0], "b_mask": widths[1], "n_drop": dropout}
        for formula, found in ((lib.between_forward, there), (lib.between_backward, back)):
            assert ask(formula, m, **known) * seqs * tokens == moved(found, "between", widths)
        norms = [one for one in there if one.name.startswith("norm before")]
        assert ask(lib.norms_forward, m, **known) * seqs * tokens == traffic.size(norms, *widths)


@checks("rotary_traffic", over=st.tuples(dense(positions=0), TINY, TINY, WIDTHS))
def queries_and_keys_turned(lib, case):
    m, seqs, tokens, widths = case
    for one in (traffic.forward, traffic.backward):
        ours = ask(lib.rotary_traffic, m, b=widths[0]) * seqs * tokens
        assert ours == moved(one(m, 0, seqs, tokens), "attention", widths)
        learned = replace(m, positions=7)
        assert moved(one(learned, 0, seqs, tokens), "attention", widths) == 0


@checks(
    "latent_norms_forward",
    "latent_norms_backward",
    "rotary_traffic",
    over=st.tuples(routed(latent=True), TINY, TINY, WIDTHS),
)
def latent_vectors(lib, case):
    m, seqs, tokens, widths = case
    m = replace(m, positions=0)
    turned = ask(lib.rotary_traffic, m, b=widths[0], n_kv=1, d_head=m.rope_dim)
    for norms, one in ((lib.latent_norms_forward, traffic.forward), (lib.latent_norms_backward, traffic.backward)):
        ours = (turned + ask(norms, m, b=widths[0])) * seqs * tokens
        assert ours == moved(one(m, m.layers - 1, seqs, tokens), "attention", widths)


@checks("scores_forward", "scores_backward", over=st.tuples(dense(), TINY, SMALL, WIDTHS))
def scores_in_memory(lib, case):
    m, seqs, tokens, widths = case
    m, known = replace(m, dropout=1), {"b": widths[0], "b_mask": widths[1], "S": tokens}
    for formula, one in ((lib.scores_forward, traffic.forward), (lib.scores_backward, traffic.backward)):
        theirs = moved(one(m, 0, seqs, tokens), "attention", widths, but="turning")
        assert ask(formula, m, **known) * seqs * tokens == theirs


@checks("activation_forward", "activation_backward", over=st.tuples(dense(), TINY, TINY, WIDTHS))
def activation_functions(lib, case):
    m, seqs, tokens, widths = case
    for formula, one in ((lib.activation_forward, traffic.forward), (lib.activation_backward, traffic.backward)):
        assert ask(formula, m, b=widths[0]) * seqs * tokens == moved(one(m, 0, seqs, tokens), "MLP", widths)


@checks("sorting_traffic", over=st.tuples(routed(latent=True), TINY, TINY, WIDTHS))
def tokens_sorted_by_expert(lib, case):
    m, seqs, tokens, widths = case
    m = replace(m, dense_layers=0)
    for one in (traffic.forward, traffic.backward):
        theirs = moved(one(m, 0, seqs, tokens), "MLP", widths, but="activation")
        assert ask(lib.sorting_traffic, m, b=widths[0]) * seqs * tokens == theirs


@checks(
    "inside_forward",
    "inside_backward",
    "inside_recompute",
    over=st.tuples(st.one_of(dense(), routed(), routed(latent=True)), TINY, TINY, WIDTHS, st.integers(0, 1)),
)
def kernels_inside_blocks(lib, case):
    """All layers listed, with experts or without; queries and keys are rotated again if they are latent."""
    m, seqs, tokens, widths, dropout = case
    plain = [layer for layer in range(m.layers) if m.dense(layer)]
    known = {"b": widths[0], "b_mask": widths[1], "S": tokens, "n_drop": dropout, "L_dense": len(plain)}
    known["F_dense"] = m.width(0) if plain else 1
    known |= {"n_kv": 1, "d_head": m.rope_dim} if m.kv_rank else {}
    kept = ("copy", "sum") if m.kv_rank else ("copy", "sum", "turning")
    made = (lib.inside_forward, traffic.forward, ()), (lib.inside_backward, traffic.backward, ())
    for positions, (formula, one, but) in product((0, 1, 2), (*made, (lib.inside_recompute, traffic.forward, kept))):
        m = replace(m, dropout=dropout, positions=positions)
        found = [k for layer in range(m.layers) for k in one(m, layer, seqs, tokens)]
        theirs = sum(moved(found, place, widths, but) for place in ("attention", "MLP"))
        more = {"n_pos": 1} if "turning" in but else {}
        assert ask(formula, m, **known | more) * seqs * tokens * m.layers == theirs


@checks("kernels_forward", "kernels_backward", over=st.tuples(RANKS, TINY, TINY, TINY, WIDTHS, st.integers(1, 3)))
def kernels_of_a_rank(lib, case):
    """Layers of a GPT on one rank, the forward kernels once more where they are recomputed."""
    (ranks, unit), seqs, tokens, width, widths, layers = case
    m, tokens = replace(gpt(1, unit, width, 3), dropout=layers % 2), unit * tokens
    alone = {one.__name__: one(m, 0, 1, tokens) for one in (traffic.forward, traffic.backward)}
    known = {
        "L_stage": layers,
        "B_mb": seqs * tokens,
        "Y": ranks,
        "S": tokens,
        "n_drop": m.dropout,
        "b": widths[0],
        "b_mask": widths[1],
    }
    for kind, name in (("forward", "fwd"), ("backward", "bwd"), ("forward", "recompute")):
        found = [one for one in alone[kind] if name != "recompute" or _cheap(one.name)]
        known[f"V_btw_{name}"] = Fraction(moved(found, "between", widths), tokens)
        known[f"V_blk_{name}"] = sum(Fraction(moved(found, place, widths), tokens) for place in ("attention", "MLP"))
    for shared, again in product((0, 1), (0, 1, 2, 3)):
        run = {"seqs": seqs, "tokens": tokens, "ranks": ranks, "sequence": bool(shared)}
        there = [one for _ in range(layers) for one in traffic.forward(m, 0, **run)]
        back = [one for _ in range(layers) for one in traffic.backward(m, 0, **run)]
        back += {
            0: [],
            1: [one for one in there if _cheap(one.name)],
            2: there,
            3: [one for one in there if one.name in {"softmax", "dropout of scores"}],
        }[again]
        for formula, found in ((lib.kernels_forward, there), (lib.kernels_backward, back)):
            ours = ask(formula, m, **known, n_sp=shared, n_recompute=again)
            assert ours == traffic.size(found, *widths)


def _cheap(name):
    return name.startswith(("norm", "activation", "softmax", "dropout"))
