"""Two ways to keep a unit busy: warps that take turns on a scheduler, and copies that run ahead of the arithmetic.

Both are played cycle by cycle or tile by tile, and share no algebra with the formulas.
"""

from dataclasses import dataclass


def turns(warps: int, n_run: int, n_wait: int, cycles: int) -> list[list[str]]:
    """One scheduler: what each warp does in each cycle, "issues", "waits" or "is ready".

    A warp issues ``n_run`` instructions and then waits ``n_wait`` cycles. The scheduler keeps to a warp until it
    waits, then takes the one that has been ready for longest.
    """
    ready, left, last, seen = [0] * warps, [n_run] * warps, 0, []
    for now in range(cycles):
        able = [w for w in range(warps) if ready[w] <= now]
        seen.append(["is ready" if w in able else "waits" for w in range(warps)])
        if not able:
            continue
        last = last if last in able else min(able, key=ready.__getitem__)
        seen[-1][last] = "issues"
        left[last], ready[last] = left[last] - 1, now + 1
        if not left[last]:
            left[last], ready[last] = n_run, now + 1 + n_wait
    return seen


@dataclass(frozen=True)
class Staged:
    """When the copy of each tile and the arithmetic on it start and end, and when all is done."""

    copies: tuple[tuple[int, int], ...]
    work: tuple[tuple[int, int], ...]

    @property
    def time(self) -> int:
        return self.work[-1][1]


def staged(tiles: int, copy: int, work: int, buffers: int) -> Staged:
    """Tiles that are copied into one of several buffers and worked on in order.

    A copy waits for the copy before it and for a buffer whose tile is done. Raises ValueError without tiles or buffers.
    """
    if tiles < 1 or buffers < 1:
        raise ValueError(f"expected at least one tile and one buffer; got {tiles} tiles, {buffers} buffers")
    copies, done = [], []
    for k in range(tiles):
        free = done[k - buffers][1] if k >= buffers else 0
        start = max(copies[-1][1] if copies else 0, free)
        copies.append((start, start + copy))
        start = max(copies[-1][1], done[-1][1] if done else 0)
        done.append((start, start + work))
    return Staged(tuple(copies), tuple(done))
