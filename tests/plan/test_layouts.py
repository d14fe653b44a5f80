"""Which choices are tried: all that can be laid out on the GPUs, one by one, and no others."""

import json
from itertools import product

import pytest

from gpuscale.plan import evaluation, layouts, request
from gpuscale.plan.choice import MESH, OPTIONS

# model, cluster, GPUs, tokens of a batch and of a sequence
RUNS = {
    "two nodes": ("llama3_8b", "h100_superpod", 16, 24 * 8192, 8192),
    "three nodes": ("llama3_8b", "h100_superpod", 24, 12 * 4096, 4096),
    "halves of odd length": ("qwen3_32b", "h100_superpod", 16, 8 * 2050, 2050),
    "twelve heads": ("", "gb200_nvl72", 12, 12 * 1536, 1536),
    "experts": ("mixtral_8x7b", "h100_superpod", 32, 32 * 2048, 2048),
    "five nodes": ("deepseek_v2", "h800", 40, 10 * 1024, 1024),
    "part of a rack": ("gpt_oss_120b", "gb200_nvl72", 36, 36 * 1024, 1024),
}
VIRTUAL = 1, 2, 3, 4, 5, 6, 8


# 12 heads and 4 key heads, which 6 ranks can neither divide nor copy
TWELVE = {"model_type": "llama", "hidden_size": 1536, "intermediate_size": 6144, "num_hidden_layers": 4}
TWELVE |= {"num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 32000}


def counts_up_to(most):
    return range(1, most + 1)


def on_nodes(size, gpus, node):
    """Whether each group of so many neighbors is within a node, or fills nodes of its own."""
    for first in range(0, gpus - gpus % size, size):
        members = {gpu // node for gpu in range(first, first + size)}
        if len(members) > 1 and (first % node or (first + size) % node):
            return False
    return True


def divided(what, among):
    """Whether each of ``among`` gets as many."""
    each = what // among
    return sum(each for _ in range(among)) == what


def degrees(ask):
    """Every layout of degrees that can be: DP, TP, CP, EP, PP."""
    part, gpus, node = ask.model, ask.gpus, min(ask.cluster.node, ask.gpus)
    possible = [n for n in counts_up_to(gpus) if divided(gpus, n)]
    for tp, cp, pp in product(possible, possible, possible):
        dp = gpus // (tp * cp * pp)
        if tp * cp * pp * dp != gpus or (cp > 1 and ask.seq // cp < 1024):
            continue
        heads = divided(part.heads, tp) and (divided(part.kv_heads, tp) or divided(tp, part.kv_heads))
        pieces = 2 * cp if cp > 1 else 1  # a rank has one from the front and one from the back, for causal attention
        tokens = divided(ask.seq, pieces * tp)
        nodes = all(on_nodes(size, gpus, node) for size in (tp, tp * cp, tp * cp * dp))
        if not (heads and divided(part.d_ff, tp) and tokens and nodes and pp <= part.layers):
            continue
        if not divided(ask.batch // ask.seq, dp):
            continue
        for ep in counts_up_to(part.get("experts", 1)):
            if divided(part.get("experts", 1), ep) and divided(gpus // pp, ep) and on_nodes(ep, gpus, node):
                yield dp, tp, cp, ep, pp


def tried(ask):
    """Every choice by MESH and OPTIONS."""
    for dp, tp, cp, ep, pp in degrees(ask):
        own = ask.batch // ask.seq // dp
        for micro, virtual in product(counts_up_to(8), VIRTUAL):
            if not divided(own, micro) or (virtual > 1 and (pp == 1 or not divided(own // micro, pp))):
                continue
            if virtual * pp > ask.model.layers:
                continue
            zeros = range(4) if dp * cp > 1 else (0,)
            sharded = (0,) if tp == 1 else (1,) if ep > 1 else (0, 1)
            for zero, sp, again in product(zeros, sharded, range(3)):
                yield dp, tp, cp, ep, pp, virtual, micro, zero, sp, again, 0


@pytest.mark.parametrize("run", RUNS)
def test_what_is_tried_is_all_that_can_be_laid_out(run, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TWELVE))
    ask = request(RUNS[run][0] or tmp_path / "config.json", *RUNS[run][1:])
    rows, _ = layouts.layouts(evaluation.model_inputs(ask), ask)
    ours = []
    for part, picks in layouts.parts(rows, layouts.options(ask), ask.pins):
        for i, j in product(range(len(part)), range(len(picks))):
            ours.append((*(int(part[name][i]) for name in MESH), *(int(picks[name][j]) for name in OPTIONS)))
    theirs = list(tried(ask))
    assert len(ours) == len(set(ours)) and len(theirs) > 100
    assert set(ours) == set(theirs)
