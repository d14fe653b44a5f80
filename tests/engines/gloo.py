"""gloo over the loopback interface: its own collectives, and the schedules of the library played with send and recv.

The kernel counts what each rank sends to each other. A message is counted with what gloo adds to it.
"""

import tempfile
from collections.abc import Callable, Iterator

import numpy as np
from engines.counting import Meeting, Ports, matrix, more

from gpuscale.labs import run
from gpuscale.schedules.collectives import (
    bruck,
    direct,
    doubling,
    exchange,
    folds,
    hierarchical,
    in_network,
    primitives,
    ring,
    switched,
    torus,
    trees,
)

NODES = range(2, 9)
V = 4 * 840**2  # bytes of 32-bit numbers, so many that each rank's part for each rank is whole for up to eight of them
SENT = ("all_gather", "all_reduce", "all_to_all")  # those of which the book has a formula for each rank
UNIT = 240  # bytes of a schedule's unit

# Every generator of the library by its primitive, with the inputs that make at most eight nodes.
_ANY = [(n,) for n in NODES]
_LESS = [(n,) for n in range(2, 8)]  # one node is the switch
_EVEN = [(n,) for n in (2, 4, 6, 8)]
_POWERS = [(n,) for n in (2, 4, 8)]
_DEGREES = [((2, 2),), ((3, 2),), ((2, 3),), ((4, 2),), ((2, 4),), ((2, 2, 2),)]
_SWITCHES = [((2, 2),), ((4,),), ((7,),)]
_AXES = [((4,),), ((5,),), ((2, 3),), ((4, 2),), ((2, 2, 2),)]
_ROUTED = [(n, 0) for n in NODES] + [(4, 2), (6, 2), (6, 3), (8, 2), (8, 4)]  # shards, and those of a node


def picks(shards: int) -> tuple:
    """Two of the experts for each of two tokens per shard; two experts are on a shard."""
    return tuple(map(tuple, exchange.random_choice(2 * shards, 2 * shards, 2).tolist()))


PLAYED = {
    "all_gather": [
        (ring.all_gather, _ANY),
        (ring.neighbor_all_gather, _EVEN),
        (direct.all_gather, _ANY),
        (doubling.all_gather, _POWERS),
        (bruck.all_gather, _ANY),
        (bruck.sparbit_all_gather, _ANY),
        (in_network.all_gather, _LESS),
        (hierarchical.all_gather, _DEGREES),
        (hierarchical.ring_of_nodes, _DEGREES[:5]),
        (switched.all_gather, _SWITCHES),
        (torus.all_gather, _AXES),
    ],
    "reduce_scatter": [
        (ring.reduce_scatter, _ANY),
        (direct.reduce_scatter, _ANY),
        (doubling.reduce_scatter, _POWERS),
        (doubling.butterfly_reduce_scatter, _POWERS),
        (folds.reduce_scatter, _ANY),
        (in_network.reduce_scatter, _LESS),
        (hierarchical.reduce_scatter, _DEGREES),
        (switched.reduce_scatter, _SWITCHES),
        (torus.reduce_scatter, _AXES),
    ],
    "all_reduce": [
        (ring.all_reduce, _ANY),
        (direct.all_reduce, _ANY),
        (doubling.all_reduce, _POWERS),
        (doubling.halving_doubling, _POWERS),
        (folds.all_reduce, _ANY),
        (folds.rabenseifner, _ANY),
        (trees.all_reduce, _ANY),
        (trees.double_tree_all_reduce, [(n, 4) for n in NODES]),
        (in_network.all_reduce, _LESS),
        (hierarchical.all_reduce, _DEGREES),
        (switched.all_reduce, _SWITCHES),
        (torus.all_reduce, _AXES),
    ],
    "all_to_all": [
        (exchange.all_to_all, _ANY),
        (direct.all_to_all, _ANY),
        (bruck.all_to_all, _ANY),
        (torus.all_to_all, _AXES),
    ],
    "dispatch": [(exchange.dispatch, [(picks(n), 2 * n, n, node) for n, node in _ROUTED])],
    "broadcast": [
        (direct.broadcast, _ANY),
        (ring.broadcast, [(n, 3) for n in NODES]),
        (trees.broadcast, _ANY),
        (trees.scattered_broadcast, _ANY),
    ],
    "reduce": [(direct.reduce, _ANY), (trees.reduce, _ANY), (folds.reduce, _ANY)],
    "scatter": [(direct.scatter, _ANY), (trees.scatter, _ANY)],
    "gather": [(direct.gather, _ANY), (trees.gather, _ANY)],
    "barrier": [(direct.barrier, _ANY)],
    "send_recv": [(direct.send_recv, _ANY)],
}


def measure() -> Iterator[tuple[str, list]]:
    """The families and their rows."""
    schedules = {
        (kind, f"{make.__module__.rpartition('.')[2]}.{make.__name__}", inputs): make(*inputs)
        for kind, makers in PLAYED.items()
        for make, cases in makers
        for inputs in cases
    }
    for nodes in NODES:
        here = {key: one for key, one in schedules.items() if one.nodes == nodes}
        with tempfile.NamedTemporaryFile() as file:
            Meeting.place(file.name, nodes)
            counts = run(count, file.name, here, ranks=nodes, output="none", seconds=200)
        for key in counts[0]:
            links = matrix(one[key] for one in counts)
            if key in here:
                kind, name, inputs = key
                yield f"gloo.played.{kind}", [[name, inputs, here[key].whole * UNIT, links]]
            else:
                yield f"gloo.{key}", [[nodes, V, links]]
                if key in SENT:
                    yield f"gloo.sent.{key}", [[nodes, V, [sum(row) for row in links]]]


def count(path: str, schedules: dict) -> dict[object, Ports]:
    """On each rank: what it sends in each collective of gloo, and in each schedule."""
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    meeting, found = Meeting(path, rank, ranks), {}
    for key, act in [*collectives(rank, ranks).items(), *((key, player(key, s)) for key, s in schedules.items())]:
        before = meeting.sent()
        act()
        found[key] = more(before, meeting.sent())
    return found


def collectives(rank: int, ranks: int) -> dict[str, Callable[[], None]]:
    """Collectives of gloo, each of which checks what it got."""
    import torch
    import torch.distributed as dist

    whole, part = V // 4, V // 4 // ranks
    mine = [torch.arange(whole, dtype=torch.int32) % (7 + r) for r in range(ranks)]  # the input of each rank
    total = sum(mine)
    shards = [one[:part].clone() for one in mine]

    def same(got, expected) -> None:
        assert torch.equal(got, expected)

    def broadcast():
        got = mine[rank].clone()
        dist.broadcast(got, 0)
        same(got, mine[0])

    def reduce():
        got = mine[rank].clone()
        dist.reduce(got, 0)
        if rank == 0:
            same(got, total)

    def all_reduce():
        got = mine[rank].clone()
        dist.all_reduce(got)
        same(got, total)

    def scatter():
        got = torch.empty_like(shards[0])
        dist.scatter(got, list(mine[0].chunk(ranks)) if rank == 0 else None)
        same(got, mine[0].chunk(ranks)[rank])

    def gather():
        got = [torch.empty_like(one) for one in shards] if rank == 0 else None
        dist.gather(shards[rank], got)
        if rank == 0:
            same(torch.cat(got), torch.cat(shards))

    def all_gather():
        got = [torch.empty_like(one) for one in shards]
        dist.all_gather(got, shards[rank])
        same(torch.cat(got), torch.cat(shards))

    def reduce_scatter():
        got = torch.empty_like(shards[0])
        dist.reduce_scatter_single(got, mine[rank])
        same(got, total.chunk(ranks)[rank])

    def all_to_all():
        got = torch.empty_like(shards[0])
        dist.all_to_all_single(got, shards[rank])
        same(got, torch.cat([one.chunk(ranks)[rank] for one in shards]))

    def send_recv():
        got = mine[rank].clone()
        if rank == 0:
            dist.send(got, 1)
        elif rank == 1:
            dist.recv(got, 0)
            same(got, mine[0])

    acts = (broadcast, reduce, all_reduce, scatter, gather, all_gather, reduce_scatter, all_to_all, send_recv)
    return {act.__name__: act for act in acts} | {"barrier": dist.barrier}


def routed(inputs: list, choice: tuple, experts: int, shards: int, _) -> list:
    """What each shard ends with by definition: every token that picked an expert there, once."""
    tokens = np.concatenate(inputs).reshape(len(choice), UNIT)
    reached = [{expert * shards // experts for expert in picked} for picked in choice]
    return [tokens[[shard in some for some in reached]].ravel() for shard in range(shards)]


def player(key: tuple, schedule) -> Callable[[], None]:
    """Play a schedule: in each step one message to each partner, with all chunks for it; switches are ranks too."""
    import torch
    import torch.distributed as dist

    (kind, _, made), me, dice = key, dist.get_rank(), np.random.default_rng(1)
    length = int(max(schedule.start @ schedule.size)) * UNIT
    inputs = [dice.integers(0, 9, length, dtype=np.uint8) for _ in range(schedule.ranks)]
    sizes = [UNIT * int(size) for size in schedule.size]
    held = {}
    if me < schedule.ranks:
        chunks = np.flatnonzero(schedule.start[me])
        ends = np.cumsum([sizes[chunk] for chunk in chunks])
        held = dict(zip(chunks.tolist(), map(torch.from_numpy, np.split(inputs[me], ends[:-1])), strict=False))

    def play():
        for step in range(schedule.steps):
            out, into, waiting = {}, {}, []
            for transfer in schedule[step]:
                if transfer.source == me:
                    out.setdefault(transfer.target, []).append(held[transfer.chunk])
                if transfer.target == me:
                    into.setdefault(transfer.source, []).append(transfer)
            messages = {
                source: torch.empty(sum(sizes[t.chunk] for t in transfers), dtype=torch.uint8)
                for source, transfers in into.items()
            }
            waiting += [dist.irecv(message, source, tag=step) for source, message in messages.items()]
            waiting += [dist.isend(torch.cat(parts), target, tag=step) for target, parts in out.items()]
            for work in waiting:
                work.wait()
            for source, transfers in into.items():
                parts = messages[source].split([sizes[t.chunk] for t in transfers])
                for transfer, part in zip(transfers, parts, strict=True):
                    adds = transfer.reduce and transfer.chunk in held
                    held[transfer.chunk] = held[transfer.chunk] + part if adds else part
        if me < schedule.ranks:
            got = [held[chunk].numpy() for chunk in np.flatnonzero(schedule.end[me]).tolist()]
            results = routed(inputs, *made) if kind == "dispatch" else getattr(primitives, kind)(inputs)
            expected = results[me]
            assert np.array_equal(np.concatenate([*got, expected[:0]]), expected), schedule.title

    return play
