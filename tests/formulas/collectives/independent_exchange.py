"""All-to-all: blocks and tokens counted as they move, shares of shards by listing every case."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from formulas.collectives.independent_algorithms import POWERS, PRICED
from formulas.harness import at, checks, close
from hypothesis import strategies as st

from gpuscale.schedules.collectives import bruck, exchange, torus
from gpuscale.schedules.collectives.routes import TorusRoutes

SIZES = st.integers(1, 20)
# shards, experts on each, experts of a token
ROUTED = st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4)).filter(lambda c: c[2] <= c[0] * c[1])


@checks("all_to_all_block", "all_to_all_bytes", "all_to_all", over=st.tuples(SIZES, PRICED))
def blocks_that_rotate(lib, case):
    n, costs = case
    schedule = exchange.all_to_all(n)
    assert at(lib.all_to_all_bytes, N=n, V=5) == 5 * schedule.busiest()
    assert at(lib.all_to_all, **costs, N=n) == schedule.time(**costs)
    if n > 1:
        assert at(lib.all_to_all_block, N=n, V=5) == 5 * schedule.between([0], [1])


@checks("bruck_all_to_all_bytes", "bruck_all_to_all", over=st.tuples(POWERS, PRICED))
def blocks_that_travel_by_bits(lib, case):
    n, costs = case
    schedule = bruck.all_to_all(n)
    assert at(lib.bruck_all_to_all_bytes, N=n, V=5) == 5 * schedule.busiest()
    assert at(lib.bruck_all_to_all, **costs, N=n) == schedule.time(**costs)


@checks("node_all_to_all", over=st.tuples(st.integers(1, 5), st.integers(1, 4), PRICED))
def blocks_that_leave_their_node(lib, case):
    nodes, gpus, costs = case
    schedule = exchange.all_to_all(nodes * gpus)
    out = schedule.between(range(gpus), range(gpus, nodes * gpus)) if nodes > 1 else 0
    assert at(lib.node_all_to_all, V=costs["V"], M=nodes, W_node=costs["W"]) == out * costs["V"] / costs["W"]


@checks("imbalanced_all_to_all", over=st.tuples(st.integers(2, 9), st.integers(1, 3), PRICED))
def one_shard_that_gets_more(lib, case):
    n, more, costs = case
    size = np.full((n, n), n - 1)
    size[:, 0] += more * (n - 1)  # blocks for shard 0; the others give up as much
    size[:, 1:] -= more
    if size.min() < 0:
        return
    schedule = replace(exchange.all_to_all(n), size=size.ravel(), whole=None)
    fullest = Fraction(int(size[:, 0].sum()), int(size.sum()) // n)
    ours = at(lib.imbalanced_all_to_all, V=costs["V"], W=costs["W"], N=n, g_load=fullest)
    assert ours == schedule.received(0) * costs["V"] / costs["W"] == schedule.time(0, costs["W"], costs["V"])


# Tokens


def every_choice(experts: int, k: int, shards: int) -> np.ndarray:
    """Tokens on each shard that choose every set of k experts once."""
    return np.array(list(combinations(range(experts), k)) * shards)


@checks("hit_top_k", "shards_hit", over=ROUTED)
def every_set_of_experts(lib, case):
    shards, each, k = case
    hit = exchange.expected_shards(shards * each, shards, k)
    assert at(lib.hit_top_k, E=shards * each, Z=shards, k=k) == hit / shards
    assert at(lib.shards_hit, Z=shards, f_hit=hit / shards) == hit


@checks("hit_independent", "hit_bound", over=st.tuples(st.integers(1, 5), st.integers(1, 5)))
def every_roll_of_the_dice(lib, case):
    shards, k = case
    assert at(lib.hit_independent, Z=shards, k=k) == exchange.expected_shards_independent(shards, k) / shards
    most = max(len(set(picks)) for picks in np.ndindex(*[shards] * k))
    assert at(lib.hit_bound, Z=shards, k=k) == Fraction(most, shards)


@checks("hit_top_k", "hit_independent", "hit_bound")
def published_shares(lib):
    """Shares from the GPU chapter of How to Scale Your Model, and recomputed for 256 experts, 8 of them chosen."""
    close(lib.hit_independent(Z=8, k=8) * 7 / 8, 0.5743422, 1e-6)
    close(lib.hit_independent(Z=64, k=8) * 63 / 64, 0.1165, 5e-4)
    close(lib.hit_bound(Z=64, k=8) * 63 / 64, 0.1230, 5e-4)
    for shards, share in ((8, 0.662), (64, 0.1199), (256, 8 / 256)):
        close(lib.hit_top_k(E=256, Z=shards, k=8), share, 6e-4)
    assert lib.hit_bound(Z=8, k=8) == 1


@checks("dispatch", "top_k_dispatch", "sparse_all_to_all", over=ROUTED)
def tokens_sent_once_to_each_shard(lib, case):
    shards, each, k = case
    experts = shards * each
    choice = every_choice(experts, k, shards)
    schedule = exchange.dispatch(choice, experts, shards)
    width, size, rate = 3, 2, 7
    tokens = {"B": len(choice), "D": width, "b": size}
    told = len(choice) * width * size
    took = schedule.busiest() * told / Fraction(rate)
    hit = Fraction(int(exchange.hit_shards(choice, experts, shards).sum()), len(choice) * shards)
    assert at(lib.dispatch, **tokens, Z=shards, W=rate, f_hit=hit) == took
    assert at(lib.top_k_dispatch, **tokens, Z=shards, W=rate, E=experts, k=k) == took
    assert at(lib.sparse_all_to_all, V=told * shards, N=shards, W=rate, f_hit=hit) == took


@checks("node_limited", over=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def tokens_that_may_go_to_few_nodes(lib, case):
    limit, k = case
    nodes, each = 4, 4
    choice = exchange.limited_choice(400, nodes * each, k, nodes, limit)
    reached = exchange.hit_shards(choice, nodes * each, nodes).sum(axis=1)
    assert at(lib.node_limited, M_lim=limit, k=k) == reached.max()


# Rings and tori without a switch


@checks(
    "ring_all_to_all_even",
    "ring_all_to_all_odd",
    "ring_load_even",
    "ring_load_odd",
    over=st.tuples(st.integers(1, 10), PRICED),
)
def the_busiest_link_of_a_ring(lib, case):
    half, costs = case
    for n, kind in ((2 * half, "even"), (2 * half + 1, "odd")):
        schedule = torus.all_to_all((n,))
        load = max(schedule.per_link(TorusRoutes((n,))).values())
        assert at(getattr(lib, f"ring_load_{kind}"), V=costs["V"], N=n) == load * costs["V"]
        ours = at(getattr(lib, f"ring_all_to_all_{kind}"), V=costs["V"], W=costs["W"], N=n)
        assert ours == load * costs["V"] / costs["W"]
        assert (
            schedule.link_time(TorusRoutes((n,)), lambda _: costs["W"], 0, costs["V"]) == load * costs["V"] / costs["W"]
        )


@checks("ring_load_even", "ring_load_odd", over=st.integers(1, 10))
def bytes_on_the_busiest_link_of_a_ring(lib, half):
    for n, name in ((2 * half, "ring_load_even"), (2 * half + 1, "ring_load_odd")):
        loads = torus.all_to_all((n,)).per_link(TorusRoutes((n,)))
        assert set(loads.values()) == {at(getattr(lib, name), V=1, N=n)}


@checks("cube_all_to_all", over=st.sampled_from([(2,), (4,), (6,), (2, 2), (4, 4), (6, 6), (2, 2, 2), (4, 4, 4)]))
def the_busiest_link_of_equal_sides(lib, sides):
    load = max(torus.all_to_all(sides).per_link(TorusRoutes(sides)).values())
    assert at(lib.cube_all_to_all, V=3, W=2, n_x=sides[0], n_dim=len(sides)) == load * 3 / 2


@checks("torus_all_to_all", over=st.tuples(*[st.integers(1, 4)] * 3).filter(lambda sides: max(sides) % 2 == 0))
def the_busiest_link_of_a_torus(lib, sides):
    load = max(torus.all_to_all(sides).per_link(TorusRoutes(sides)).values())
    given = dict(zip(("n_x", "n_y", "n_z"), sides, strict=True))
    assert at(lib.torus_all_to_all, **given, V=3, W=2) == load * 3 / 2


@checks("cube_all_to_all", over=st.sampled_from([(2,), (4,), (6,), (2, 2), (4, 4), (2, 2, 2)]))
def the_busiest_link_of_a_cube(lib, sides):
    load = max(torus.all_to_all(sides).per_link(TorusRoutes(sides)).values())
    assert at(lib.cube_all_to_all, n_x=sides[0], n_dim=len(sides), V=3, W=2) == load * 3 / 2


@checks(
    "torus_all_gather",
    "torus_reduce_scatter",
    "torus_all_reduce",
    over=st.sampled_from([(2,), (5,), (2, 2), (3, 3), (4, 4), (2, 2, 2), (3, 3, 3)]),
)
def all_sides_at_work(lib, sides):
    for name in ("all_gather", "reduce_scatter", "all_reduce"):
        took = getattr(torus, name)(sides).link_time(TorusRoutes(sides), lambda _: Fraction(2), 0, 3)
        formula = getattr(lib, f"torus_{name}")
        assert at(formula, V=3, W=2, n_dim=len(sides), N=int(np.prod(sides))) == took


class OneWay:
    """The links of a ring that lead to the right: link i leaves rank i."""

    def __init__(self, ranks: int):
        self.ranks = ranks

    def ways(self, source: int, target: int):
        hops = (target - source) % self.ranks
        return [(Fraction(1), tuple((source + hop) % self.ranks for hop in range(hops)))]


@checks("ring_all_to_all_one_way", over=st.tuples(st.integers(2, 12), PRICED))
def blocks_that_all_go_to_the_right(lib, case):
    n, costs = case
    loads = exchange.all_to_all(n).per_link(OneWay(n))
    assert len(loads) == n and len(set(loads.values())) == 1
    ours = at(lib.ring_all_to_all_one_way, V=costs["V"], W=costs["W"], N=n)
    assert ours == loads[0] * costs["V"] / costs["W"]
