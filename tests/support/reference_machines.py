"""Machines that do the work step by step and count: loops, queues, allocators, and no formula."""

from __future__ import annotations

import functools
import itertools
import random
from dataclasses import dataclass

from gpuscale.schedules.timelines import warp


class Cells:
    """A matrix in far memory: the first read of an element and each write cost bytes, a second read none."""

    def __init__(self, values, width, traffic):
        self.values, self.width, self.traffic, self.near = values, width, traffic, set()

    def read(self, *place):
        if place not in self.near:
            self.near.add(place)
            self.traffic.append(self.width)
        return self.values[place]

    def write(self, value, *place):
        self.values[place] = value
        self.traffic.append(self.width)


def product(rows, inner, columns, width, weight_width):
    """[rows, inner] times [inner, columns] by three loops: the matrices, FLOPs and bytes."""
    draw, traffic, operations = random.Random(1), [], 0
    fill = lambda r, c: {(i, j): draw.randint(-9, 9) for i in range(r) for j in range(c)}  # noqa: E731
    left, right = Cells(fill(rows, inner), width, traffic), Cells(fill(inner, columns), weight_width, traffic)
    out = Cells({}, width, traffic)
    for i in range(rows):
        for j in range(columns):
            total = 0
            for k in range(inner):
                total += left.read(i, k) * right.read(k, j)
                operations += 2
            out.write(total, i, j)
    return (left.values, right.values, out.values), operations, sum(traffic)


def vector_sum(length, width):
    """Two vectors added element by element: FLOPs and bytes."""
    traffic, operations = [], 0
    a, c, out = (Cells({(i,): float(i) for i in range(length)}, width, traffic) for _ in range(3))
    for i in range(length):
        out.write(a.read(i) + c.read(i), i)
        operations += 1
    return operations, sum(traffic)


def pipeline(tiles, load, work, buffers=2):
    """Tiles streamed through buffers: loaded in turn, worked on in turn, both at once if there is room."""
    bus = unit = 0.0
    done = []
    for i in range(tiles):
        bus = max(bus, done[i - buffers] if i >= buffers else 0.0) + load
        unit = max(unit, bus) + work
        done.append(unit)
    return unit


def transfer(size, wait, rate, pieces=512):
    """A latency, then the bytes piece by piece."""
    clock = wait
    for _ in range(pieces):
        clock += size / pieces / rate
    return clock


def bisected(gap, low, high):
    """Where a rising function crosses zero; infinity if it is still below at the upper end."""
    if gap(high) < 0:
        return float("inf")
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    return high


# The SM


@dataclass(frozen=True)
class Limits:
    """What an SM has to give to its blocks; None for a resource that is not counted."""

    registers: int | None
    smem: int | None
    slots: int | None
    blocks: int | None
    reserve: int
    smem_unit: int
    register_unit: int = 256
    parts: int = 4
    lanes: int = 32


def in_units(amount, unit):
    """An allocation in units: one more until it is enough."""
    got = 0
    while got < amount:
        got += unit
    return got


def warps_of(threads, lanes=32):
    """Threads dealt out to warps."""
    return len({thread // lanes for thread in range(threads)})


@functools.cache
def allocated(limits, registers, threads, smem):
    """Warps resident when blocks come one by one until one does not fit; a block comes as a whole."""
    files = [limits.registers // limits.parts if limits.registers else 10**9] * limits.parts
    slots = [limits.slots // limits.parts if limits.slots else 10**9] * limits.parts
    memory, resident, warps = limits.smem, 0, warps_of(threads, limits.lanes)
    per_warp, per_block = (
        in_units(registers * limits.lanes, limits.register_unit),
        in_units(smem + limits.reserve, limits.smem_unit),
    )
    for _ in range(limits.blocks or 10**4):
        for _ in range(warps):
            place = max((p for p in range(limits.parts) if slots[p]), key=files.__getitem__, default=None)
            if place is None or files[place] < per_warp:
                return resident
            files[place] -= per_warp
            slots[place] -= 1
        if memory is not None:
            if memory < per_block:
                return resident
            memory -= per_block
        resident += warps
    return resident


def branch(then, other, taken, lanes):
    """A branch whose condition holds in ``taken`` lanes: issue slots, and the fraction of lanes that are idle."""
    up, down = warp.Op("up", lambda v: v + 1), warp.Op("down", lambda v: v - 1)
    done = warp.run(
        [warp.Branch("x > 0", lambda v: v > 0, [up] * then, [down] * other)],
        [100.0] * taken + [-100.0] * (lanes - taken),
    )
    return len(done.issues), done.idle_after(len(done.issues)) / done.lane_slots


def switch(ways, length, lanes, seed):
    """A warp whose lanes take one of many paths: the fraction of lane slots that are idle."""
    draw = random.Random(seed)
    chosen = list(range(ways)) + [draw.randrange(ways) for _ in range(lanes - ways)]
    program = []
    for way in reversed(range(ways)):
        program = [
            warp.Branch(f"case {way}", lambda v, way=way: v == way, [warp.Op("work", lambda v: v)] * length, program)
        ]
    done = warp.run(program, chosen)
    return done.idle_after(len(done.issues)) / done.lane_slots


def scheduler(warps, run, wait, cycles=20_000):
    """The fraction of cycles in which a scheduler issues; each warp issues ``run`` times, then waits."""
    ready, left, issued = [0] * warps, [run] * warps, 0
    for cycle in range(cycles):
        chosen = next((w for w in range(warps) if ready[w] <= cycle), None)
        if chosen is None:
            continue
        issued += 1
        left[chosen] -= 1
        if not left[chosen]:
            left[chosen], ready[chosen] = run, cycle + 1 + wait
    return issued / cycles


def waves(tiles, sms):
    """Tiles handed out to SMs one at a time: the share of the SMs' time in which one runs."""
    free = [0] * sms
    for _ in range(tiles):
        sm = min(range(sms), key=free.__getitem__)
        free[sm] += 1
    return tiles / (sms * max(free))


def counted(*sizes):
    """How many there are of a thing within a thing within a thing."""
    return sum(1 for _ in itertools.product(*(range(size) for size in sizes)))
