"""All-to-all: dense by rotation, and tokens that are sent to the shards of their experts."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, close_gaps, columns, exchange
from gpuscale.schedules.counts import need_count


def all_to_all(ranks: int) -> Schedule:
    """Dense all-to-all by rotation: in step t, rank s sends its block for rank s + t + 1 straight there.

    Chunk s N + t is what rank s has for rank t; V is the whole array, N^2 chunks.
    """
    step, source = (a.ravel() for a in np.indices((need_count(ranks) - 1, ranks)))
    target = (source + step + 1) % ranks
    return exchange("All-to-all by rotation", ranks, columns(step, source, target, source * ranks + target))


# Tokens and experts


def _need_experts(experts: int, shards: int, k: int) -> int:
    """Experts on each shard."""
    need_count(shards, "shards")
    need_count(experts, "experts")
    need_count(k, "k")
    if experts % shards:
        raise ValueError(f"experts: expected a multiple of the {shards} shards; got {experts}")
    if k > experts:
        raise ValueError(f"k: expected no more than the {experts} experts; got {k}")
    return experts // shards


def random_choice(tokens: int, experts: int, k: int, seed: int = 0) -> np.ndarray:
    """Experts of each token, shape (tokens, k): k distinct ones, all sets equally likely."""
    _need_experts(experts, 1, k)
    scores = np.random.default_rng(seed).random((need_count(tokens, "tokens"), experts))
    return np.sort(np.argsort(scores, axis=1)[:, :k], axis=1)


def limited_choice(tokens: int, experts: int, k: int, nodes: int, limit: int, seed: int = 0) -> np.ndarray:
    """Node-limited routing, shape (tokens, k): the best k experts on the ``limit`` nodes that score best.

    A node's score is the sum of its best k/limit expert scores (at least one), as DeepSeek-V3 does it; expert
    scores are random, independent and of one distribution.
    """
    scores = np.random.default_rng(seed).random((need_count(tokens, "tokens"), experts))
    return best_choice(scores, k, nodes, limit)


def best_choice(scores: np.ndarray, k: int, nodes: int = 1, limit: int = 1) -> np.ndarray:
    """Node-limited routing by given scores of shape (tokens, experts); with one node, the k best experts.

    Of equal scores the first counts as better.
    """
    scores = np.array(scores, float)
    tokens, experts = scores.shape
    each = _need_experts(experts, nodes, k)
    need_count(limit, "limit")
    if limit > nodes or k > limit * each:
        raise ValueError(f"limit: expected at most {nodes} nodes with {k} experts or more on them; got {limit}")
    by_node = np.sort(scores.reshape(tokens, nodes, each), axis=2)
    best = by_node[:, :, -max(1, min(k // limit, each)) :].sum(axis=2)
    open_nodes = np.argsort(-best, axis=1, kind="stable")[:, :limit]
    allowed = np.zeros((tokens, nodes), bool)
    np.put_along_axis(allowed, open_nodes, True, axis=1)
    scores[~np.repeat(allowed, each, axis=1)] = -1
    return np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :k], axis=1)


def hashed(counts: np.ndarray) -> np.ndarray:
    """Random numbers in [0, 1) by their place in a sequence: the same ones in Python and in a script of a page.

    The last steps of MurmurHash3 on multiples of 2^32 over the golden ratio, in 32 bits.
    """
    bits = np.asarray(counts).astype(np.uint32) * np.uint32(0x9E3779B9)
    bits = (bits ^ bits >> 16) * np.uint32(0x85EBCA6B)
    bits = (bits ^ bits >> 13) * np.uint32(0xC2B2AE35)
    return (bits ^ bits >> 16) / 2**32


def router_scores(tokens: int, experts: int, popular: int = 0, fraction: float = 0.0) -> np.ndarray:
    """Scores of a router, shape (tokens, experts): independent, but a fraction of the tokens picks one expert for sure.

    A token picks expert ``popular`` if its own random number is below ``fraction``. Without that, all sets of experts
    are equally likely.
    """
    _need_experts(experts, 1, 1)
    need_count(tokens, "tokens")
    if not (0 <= popular < experts and 0 <= fraction <= 1):
        raise ValueError(
            f"popular, fraction: expected an expert below {experts}, from 0 to 1; got {popular}, {fraction}"
        )
    scores = hashed(np.arange(tokens * experts)).reshape(tokens, experts)
    sure = hashed(tokens * experts + np.arange(tokens)) < fraction
    scores[sure, popular] = experts  # above the sum of all the others
    return scores


def capped_choice(choice: np.ndarray, experts: int, shards: int, capacity: float) -> np.ndarray:
    """The experts of each token, with -1 for those on a shard that is full: their rows are dropped.

    Each shard takes ``capacity`` times the mean number of rows, rounded up, as they come. The tokens come in a random
    order, which is always the same.
    """
    choice = np.asarray(choice)
    hit_shards(choice, experts, shards)
    if not capacity > 0:
        raise ValueError(f"capacity: expected a number above 0, in mean loads of a shard; got {capacity}")
    turns = np.argsort(hashed(np.arange(len(choice))))
    at = choice[turns].ravel() // (experts // shards)
    order = np.argsort(at, kind="stable")
    before = np.empty(at.size, int)  # rows for the same shard
    before[order] = np.arange(at.size) - np.searchsorted(at[order], at[order])
    full = np.empty(choice.shape, bool)
    full[turns] = (before >= np.ceil(capacity * (choice.size / shards))).reshape(choice.shape)
    return np.where(full, -1, choice)


def crossings(choice: np.ndarray, experts: int, nodes: int, per_expert: bool = False) -> np.ndarray:
    """Copies of each token that go from its own node to the others, shape (tokens,).

    One copy per node that holds an expert of the token, or one per expert. The tokens of the first node come first.
    """
    choice = np.asarray(choice)
    hit = hit_shards(choice, experts, nodes)
    tokens = hit.shape[0]
    if tokens % nodes:
        raise ValueError(f"choice: expected a multiple of {nodes} tokens; got {tokens}")
    home = np.arange(tokens) // (tokens // nodes)
    if per_expert:
        return ((choice // (experts // nodes) != home[:, None]) & (choice >= 0)).sum(axis=1)
    return hit.sum(axis=1) - hit[np.arange(tokens), home]


def hit_shards(choice: np.ndarray, experts: int, shards: int) -> np.ndarray:
    """Which shards hold an expert of a token: true or false, shape (tokens, shards). -1 is no expert."""
    choice = np.asarray(choice)
    each = _need_experts(experts, shards, 1)
    if choice.ndim != 2 or (choice < -1).any() or (choice >= experts).any():
        raise ValueError(f"choice: expected expert numbers below {experts}, shape (tokens, k); got {choice.shape}")
    hit = np.zeros((choice.shape[0], shards), bool)
    token, place = np.nonzero(choice >= 0)
    hit[token, choice[token, place] // each] = True
    return hit


def dispatch(choice: np.ndarray, experts: int, shards: int, node: int = 0) -> Schedule:
    """Sends each token once to each shard that holds one of its experts. V: one copy of every token.

    ``choice``: experts of each token, shape (tokens, k), as many tokens on each shard, those of shard 0 first. Expert
    e is on shard e // (experts/shards). By rotation: in step t, shard s sends to shard s + t + 1. With ``node``
    shards in a node, a token crosses to a node once, to the shard with the sender's place there, which forwards it.
    """
    hit = hit_shards(choice, experts, shards)
    tokens = hit.shape[0]
    if tokens % shards or (node and shards % node):
        raise ValueError(f"choice: expected a multiple of {shards} tokens and whole nodes; got {tokens}, {node}")
    home = np.arange(tokens) // (tokens // shards)
    start = home == np.arange(shards)[:, None]
    token, target = np.nonzero(hit)
    table = TransferTable()
    if node:
        _by_node(table, hit, home, node)
    else:
        away = home[token] != target
        token, target = token[away], target[away]
        table.add((target - home[token]) % shards - 1, home[token], target, token)
    return Schedule("Top-k dispatch", shards, tokens, close_gaps(table.done()), start, hit.T, group=node)


def _by_node(table: TransferTable, hit: np.ndarray, home: np.ndarray, node: int) -> None:
    """First between nodes, among equal positions, then inside the nodes."""
    tokens, shards = hit.shape
    nodes, place = shards // node, home % node
    reached = hit.reshape(tokens, nodes, node).any(axis=2)
    token, where = np.nonzero(reached)
    far = where != home[token] // node
    token, where = token[far], where[far]
    turn = (where - home[token] // node) % nodes - 1
    table.add(turn, home[token], where * node + place[token], token)
    token, target = np.nonzero(hit)
    inside = target % node != place[token]
    token, target = token[inside], target[inside]
    source = target // node * node + place[token]
    table.add(nodes - 1 + (target - source) % node - 1, source, target, token)


def load(choice: np.ndarray, experts: int, shards: int) -> np.ndarray:
    """Token copies that each shard receives, its own included, shape (shards,)."""
    return hit_shards(choice, experts, shards).sum(axis=0)


# Expected number of shards that a token reaches, by listing every case


def expected_shards(experts: int, shards: int, k: int) -> Fraction:
    """Mean number of distinct shards hit by k distinct experts, over all C(experts, k) choices."""
    each = _need_experts(experts, shards, k)
    counts = [len({e // each for e in chosen}) for chosen in combinations(range(experts), k)]
    return Fraction(sum(counts), len(counts))


def expected_shards_independent(shards: int, k: int) -> Fraction:
    """Mean number of distinct shards hit by k independent picks, over all shards^k of them."""
    need_count(shards, "shards")
    need_count(k, "k")
    counts = [len(set(picks)) for picks in product(range(shards), repeat=k)]
    return Fraction(sum(counts), len(counts))
