"""Distances that double or halve, for any number of ranks: each rank sends in one direction around the ring.

Bruck's schedules take ceil(log2 N) steps, also where N is no power of two.
"""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, exchange, gathering
from gpuscale.schedules.counts import need_count


def all_gather(ranks: int) -> Schedule:
    """Bruck's all-gather: in step k, rank r sends all that rank r - 2^k lacks; ceil(log2 N) steps for any N."""
    table, step, distance = TransferTable(), 0, 1
    while distance < need_count(ranks):
        rank, ahead = (a.ravel() for a in np.indices((ranks, min(distance, ranks - distance))))
        table.add(step, rank, (rank - distance) % ranks, (rank + ahead) % ranks)
        step, distance = step + 1, 2 * distance
    return gathering("Bruck all-gather", ranks, table.done())


def sparbit_all_gather(ranks: int) -> Schedule:
    """Sparbit: the same number of steps with the largest distance first, so that no rank has to rotate its chunks.

    At distance d, rank r sends to rank r + d the chunks that it holds and the other lacks: r, r - 2d, r - 4d, ...
    """
    table, steps = TransferTable(), (need_count(ranks) - 1).bit_length()
    for step in range(steps):
        distance = 1 << (steps - 1 - step)
        rank, back = np.meshgrid(np.arange(ranks), np.arange(0, ranks - distance, 2 * distance), indexing="ij")
        table.add(step, rank, (rank + distance) % ranks, (rank - back) % ranks)
    return gathering("Sparbit all-gather", ranks, table.done())


def all_to_all(ranks: int) -> Schedule:
    """Bruck's all-to-all: a block that has to go d ranks on travels by the bits of d; ceil(log2 N) steps, any N.

    Few steps, but a block is sent once for each set bit: log2(N)/2 times for a power of two.
    """
    table = TransferTable()
    source, far = (a.ravel() for a in np.indices((need_count(ranks), ranks)))
    for step in range((ranks - 1).bit_length()):
        bit = 1 << step
        goes = (far & bit) > 0
        here = (source + far % bit) % ranks
        table.add(step, here[goes], ((here + bit) % ranks)[goes], (source * ranks + (source + far) % ranks)[goes])
    return exchange("Bruck all-to-all", ranks, table.done())
