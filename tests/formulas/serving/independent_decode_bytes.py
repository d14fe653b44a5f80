"""What a decode step reads: every tensor of small models that a step touches, and every vector of the cache."""

from collections import deque
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from formulas.harness import at, checks, close
from formulas.llm.independent_counting import SMALL, TINY, dense, letters, routed
from hypothesis import strategies as st

from gpuscale.emulate import shapes

WIDTHS = st.sampled_from([Fraction(1, 2), 1, 2, Fraction(9, 16), 3])
TABLES = ("embedding", "positions")


def whole(m):
    """Parameters of a model and of its tables, from the list of its tensors; routed experts apart."""
    every = shapes.tensors(m)
    tables = shapes.size(t for t in every if t[0] in (*TABLES, "head"))
    return {"P": shapes.size(every), "P_emb": tables, "P_exp": shapes.size(t for t in every if expert_of(m, t[0]) >= 0)}


def expert_of(m, name):
    """The number of the routed expert that a matrix belongs to, or -1."""
    layer, _, rest = name.partition(": ")
    if not rest or not rest.startswith(("up", "down")) or m.dense(int(layer.split()[1])):
        return -1
    number = int(rest.split()[-1])
    return number if number < m.experts else -1


def multiplied(m):
    """The tensors of a step, each once: no table but the head, which may be the embedding used again."""
    head = ("head", (m.d_model, m.vocab))
    return [t for t in shapes.tensors(m) if t[0] not in (*TABLES, "head")] + [head]


@checks("quantized_bytes", over=st.tuples(TINY, st.integers(1, 4), st.integers(0, 3), st.sampled_from([4, 8, 16])))
def a_checkpoint_of_packed_codes(lib, case):
    groups, half, scale, bits = case
    group = 2 * half  # codes of 4 bits fill whole bytes
    codes = np.zeros((groups, group * bits // 8), np.uint8)
    scales = np.zeros((groups, scale), np.uint8)
    each = at(lib.quantized_bytes, b_code=Fraction(bits, 8), b_scale=scale, n_group=group)
    assert each * groups * group == codes.nbytes + scales.nbytes


@checks("weights_read", over=st.tuples(dense(), WIDTHS))
def every_tensor_of_a_step_but_the_tables(lib, case):
    m, width = case
    read = width * shapes.size(multiplied(m))
    assert at(lib.weights_read, **letters(m) | whole(m), b_w=width) == read


@checks(
    "weights_read_moe",
    over=st.tuples(routed(), st.tuples(WIDTHS, WIDTHS, WIDTHS), st.lists(st.integers(0, 99), min_size=1, max_size=4)),
    examples=60,
)
def tensors_of_experts_that_are_met(lib, case):
    """Tokens pick experts layer by layer; an expert's matrices are read once if anyone picked it."""
    m, (width, routed_width, head_width), seeds = case
    met = {
        layer: {(seed * (layer + 3) + i) % m.experts for seed in seeds for i in range(m.active_experts)}
        for layer in range(m.layers)
        if not m.dense(layer)
    }
    read = 0
    for name, shape in multiplied(m):
        expert = expert_of(m, name)
        if expert < 0:
            read += (head_width if name == "head" else width) * shapes.size([(name, shape)])
        elif expert in met[int(name.split(":")[0].split()[1])]:
            read += routed_width * shapes.size([(name, shape)])
    mean = Fraction(sum(map(len, met.values())), len(met)) if met else 1
    known = letters(m) | whole(m) | {"b_w": width, "b_exp": routed_width, "b_head": head_width, "E_hit": mean}
    assert at(lib.weights_read_moe, **known) == read


@checks("experts_touched", over=st.tuples(st.integers(1, 5), st.integers(1, 5), TINY))
def every_way_to_route_a_batch(lib, case):
    experts, active, tokens = case
    active = min(experts, active)
    choices = list(combinations(range(experts), active))
    tokens = min(tokens, 2) if len(choices) > 6 else tokens
    met = [len(set().union(*found)) for found in product(choices, repeat=tokens)]
    assert at(lib.experts_touched, E=experts, k=active, B=tokens) == Fraction(sum(met), len(met))


@checks("experts_touched")
def experts_drawn_at_random(lib):
    draw = np.random.default_rng(7)
    for experts, active, tokens in ((8, 2, 3), (32, 4, 8), (256, 8, 32)):
        ranked = draw.random((4000, tokens, experts)).argpartition(active, axis=-1)[..., :active]
        met = np.mean([np.unique(one).size for one in ranked])
        close(lib.experts_touched(E=experts, k=active, B=tokens), met, rel=5e-3)


# The cache


@checks("cache_sequence", "cache_read", "bytes_read", over=st.tuples(dense(), st.lists(SMALL, min_size=1, max_size=3)))
def keys_and_values_of_every_sequence(lib, case):
    m, (tokens, *others) = case
    token = shapes.size(shapes.cached(m, 1))
    one = shapes.size(shapes.cached(m, tokens))
    assert at(lib.cache_sequence, S=tokens, V_tok=token) == one
    every = sum(one for _ in (tokens, *others))
    assert at(lib.cache_read, B_seq=1 + len(others), V_seq=one) == every
    weights = shapes.size(multiplied(m))
    assert at(lib.bytes_read, V_w=weights, V_kv=every) == sum([weights, *(one for _ in (tokens, *others))])


@checks("cache_token_windowed", over=st.tuples(dense(), SMALL, SMALL, st.integers(0, 7), WIDTHS), examples=60)
def layers_that_forget(lib, case):
    m, tokens, window, narrow, width = case
    narrow = min(narrow, m.layers)
    layers = [deque(maxlen=window) for _ in range(narrow)] + [deque() for _ in range(m.layers - narrow)]
    for _ in range(tokens):
        for layer in layers:
            layer.append(shapes.size(shapes.cached(replace(m, layers=1), 1)))
    stored = sum(width * sum(layer) for layer in layers)
    known = letters(m) | {"S": tokens, "S_win": window, "L_win": narrow, "b": width}
    assert at(lib.cache_token_windowed, **known) == stored


@checks("cache_latent_unfolded", over=st.tuples(routed(latent=True), WIDTHS))
def keys_and_values_of_every_head(lib, case):
    m, width = case
    stored = [(m.nope_dim,), (m.rope_dim,), (m.value_dim,)] * m.heads * m.layers
    assert at(lib.cache_latent_unfolded, **letters(m), b=width) == width * sum(map(np.prod, stored)).item()
