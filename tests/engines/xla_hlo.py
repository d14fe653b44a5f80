"""What a compiled program of XLA holds, read from its text: the collectives, and the FLOPs of all matmuls.

The text is HLO after all passes of the compiler. A loop's body would be counted once, so no program here has loops.
"""

import math
import re
from collections import Counter

import numpy as np
from engines.tally import Collective

SIZES = {"f32": 4, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "pred": 1}
KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter")
_LINE = re.compile(r"^\s*(?:ROOT )?%?([\w.-]+) = (\([^)]*\)|\S+) ([\w-]+)\((.*)$")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
_OPERAND = re.compile(r"(?:\w+\[[\d,]*\](?:\{[\d,]*\})? )?%?([\w.-]+)")  # with or without its shape


def collectives(text: str) -> list[Collective]:
    """All collectives of a program in HLO, but for those that only add up a scalar."""
    found = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match and match[3].removesuffix("-start") in KINDS:
            shapes = _shapes(match[2])
            if any(shape for _, shape in shapes):
                found.append(_collective(match[3].removesuffix("-start"), shapes, line))
    return found


def _collective(kind: str, shapes: list, line: str) -> Collective:
    size = sum(SIZES[name] * math.prod(shape) for name, shape in shapes)
    backward = "transpose(" in line
    if kind == "collective-permute":
        return Collective(kind, *_chain(line), size, backward)
    ranks, step = _group(line)
    whole = size * ranks if kind == "reduce-scatter" else size  # its result is the part of one rank
    sent, rest = divmod(whole * (ranks - 1), ranks)
    if rest:
        raise ValueError(f"{ranks} ranks do not share {whole} bytes evenly: {line}")
    return Collective(kind, ranks, step, 2 * sent if kind == "all-reduce" else sent, backward)


def _shapes(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, tuple(int(n) for n in sizes.split(",") if n)) for name, sizes in _SHAPE.findall(text)]


def _group(line: str) -> tuple[int, int]:
    """Members of a group and the distance between neighbors, which have to be the same in all groups."""
    groups = _replica_groups(line)
    steps = {int(step) for step in np.diff(groups, axis=1).flat}
    if len(steps) > 1:
        raise ValueError(f"the members of a group are not equally far apart: {line}")
    return groups.shape[1], steps.pop() if steps else 0


def _replica_groups(line: str) -> np.ndarray:
    """A row for each group. XLA prints lists of ranks, a reshaped and transposed range, or axes of a mesh."""
    if listed := re.search(r"replica_groups=\{(\{[\d,{}]*\})\}", line):
        return np.array([[int(n) for n in group.split(",")] for group in re.findall(r"\{([\d,]+)\}", listed[1])])
    if shaped := re.search(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", line):
        rows, sizes, order = ([int(n) for n in part.split(",")] if part else None for part in shaped.groups())
        ranks = np.arange(math.prod(sizes)).reshape(sizes)
        return (ranks.transpose(order) if order else ranks).reshape(rows)
    if meshed := re.search(r"replica_groups=mesh\[([^\]]*)\] *\{([^}]*)\}", line):
        sizes = {name: int(size) for name, size in re.findall(r"'(\w+)'=(\d+)", meshed[1])}
        axes, names = re.findall(r"'(\w+)'", meshed[2]), list(sizes)
        ranks = np.arange(math.prod(sizes.values())).reshape(list(sizes.values()))
        order = [names.index(name) for name in names if name not in axes] + [names.index(name) for name in axes]
        return ranks.transpose(order).reshape(-1, math.prod(sizes[name] for name in axes))
    raise ValueError(f"replica groups in an unknown form: {line}")


def _chain(line: str) -> tuple[int, int]:
    """Ranks of a chain or ring of senders and receivers, and the distance from one to the next."""
    pairs = re.search(r"source_target_pairs=\{([\d,{}]*)\}", line)[1]
    follows = {int(source): int(target) for source, target in re.findall(r"\{(\d+),(\d+)\}", pairs)}
    start = min(follows.keys() - follows.values(), default=min(follows))
    seen, here = [start], follows[start]
    while here != start:
        seen.append(here)
        if here not in follows:
            break
        here = follows[here]
    step = Counter(target - source for source, target in follows.items()).most_common(1)[0][0]
    return len(seen), step


def matmul_flops(text: str) -> int:
    """FLOPs of all matmuls of a program in HLO: two for each element of the result and each that is summed over."""
    shapes, total = {}, 0
    for line in text.splitlines():
        if line.endswith("{"):
            shapes = {}  # a computation begins, and names are its own
        if not (match := _LINE.match(line)):
            continue
        shapes[match[1]] = _shapes(match[2])[0][1] if "[" in match[2] else ()
        if match[3] == "dot":
            left = shapes[_OPERAND.match(match[4])[1]]
            summed = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", line)[1]
            total += 2 * math.prod(shapes[match[1]]) * math.prod(left[int(n)] for n in summed.split(",") if n)
        elif match[3] in ("convolution", "custom-call", "while"):
            raise ValueError(f"a matmul could hide in this: {line}")
    return total
