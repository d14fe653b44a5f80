"""Open MPI over the loopback interface, with each algorithm forced in turn; the kernel counts each link.

One launch for all: the tool interface of MPI (MPI_T) changes which algorithm is forced, and a communicator made after
that obeys it. Smaller numbers of ranks are communicators of the first ranks.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
from engines.counting import Meeting, matrix, more

MOST = 8
RANKS = range(2, MOST + 1)
V = 2 * 840**2  # bytes of 16-bit numbers: each rank's part for each rank is whole for up to eight of them
FLAGS = {
    "pml": "ob1",
    "btl": "tcp,self",
    "btl_tcp_if_include": "lo",
    "coll": "^han,adapt,ftagree",
    "coll_tuned_use_dynamic_rules": "1",
    "mpi_yield_when_idle": "1",
}
# The algorithms by their names in `ompi_info --param coll tuned --level 9`, with their numbers there.
FORCED = {
    "allreduce": {"chosen": 0, "basic_linear": 1, "recursive_doubling": 3, "ring": 4, "segmented_ring": 5}
    | {"rabenseifner": 6},
    "allgather": {"bruck": 2, "recursive_doubling": 3, "ring": 4, "neighbor": 5, "sparbit": 7},
    "reduce_scatter": {"recursive_halving": 2, "ring": 3},
    "reduce_scatter_block": {"recursive_halving": 3, "butterfly": 4},
    "alltoall": {"linear": 1, "pairwise": 2, "modified_bruck": 3, "linear_sync": 4},
    "bcast": {"basic_linear": 1, "pipeline": 3, "binomial": 6, "scatter_allgather": 8, "scatter_allgather_ring": 9},
    "reduce": {"linear": 1, "pipeline": 3, "binomial": 5, "rabenseifner": 7},
    "scatter": {"basic_linear": 1, "binomial": 2, "linear_nb": 3},
    "gather": {"basic_linear": 1, "binomial": 2, "linear_sync": 3},
}  # fmt: skip
POWERS = {"allgather recursive_doubling", "reduce_scatter_block butterfly", "bcast scatter_allgather"}
EVEN = {"allgather neighbor"}
# Those of which the book has a formula for each rank.
SENT = {"allreduce ring", "allgather ring", "allgather bruck", "reduce_scatter ring", "alltoall pairwise"}
SENT_OF_POWERS = {"allreduce recursive_doubling", "allreduce rabenseifner", "alltoall modified_bruck"}


def cases() -> Iterator[tuple[str, str, int, int]]:
    """Collective, algorithm, its number, ranks. Elsewhere Open MPI takes another algorithm than the forced one."""
    for ranks in RANKS:
        for collective, algorithms in FORCED.items():
            for name, number in algorithms.items():
                key = f"{collective} {name}"
                power, even = ranks & (ranks - 1) == 0, ranks % 2 == 0
                if (power or key not in POWERS) and (even or key not in EVEN):
                    yield collective, name, number, ranks


def measure() -> Iterator[tuple[str, list]]:
    """The families and their rows."""
    import mpi4py  # noqa: F401  (a clear error here, not in eight processes)

    mpirun = Path(sys.executable).parent / "mpirun"
    with tempfile.TemporaryDirectory() as folder:
        Meeting.place(f"{folder}/turns", MOST)
        for ranks in RANKS:
            Meeting.place(f"{folder}/turns-{ranks}", ranks)
        flags = [word for name, value in FLAGS.items() for word in ("--mca", name, value)]
        command = [mpirun, "-n", str(MOST), "--oversubscribe", *flags, sys.executable, "-m", "engines.open_mpi", folder]
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run(command, check=True, timeout=300, env=os.environ | allowed, stdout=sys.stderr)
        counts = [json.loads(Path(f"{folder}/{rank}.json").read_text()) for rank in range(MOST)]
    taken = [iter(one) for one in counts]  # a rank has counted the cases that it took part in
    for collective, name, _, ranks in cases():
        links = matrix({tuple(ports): sent for ports, sent in next(one)} for one in taken[:ranks])
        key = f"{collective} {name}"
        yield f"open_mpi.{collective}.{name}", [[ranks, V, links]]
        if key in SENT or (key in SENT_OF_POWERS and ranks & (ranks - 1) == 0):
            yield f"open_mpi.sent.{collective}.{name}", [[ranks, V, [sum(row) for row in links]]]
        if name == "chosen" and ranks & (ranks - 1):
            yield f"open_mpi.busiest.{collective}.{name}", [[ranks, V, max(sum(row) for row in links)]]


def count(folder: str) -> None:
    """On each rank: write down what it sends in each case."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, found = world.Get_rank(), []
    everyone = Meeting(f"{folder}/turns", rank, MOST, world.Iprobe, pause=0.02)
    connect(world)
    for ranks, here in groupby(cases(), lambda case: case[-1]):
        everyone.wait()
        first = world.Split(0 if rank < ranks else MPI.UNDEFINED)
        if rank < ranks:
            meeting = Meeting(f"{folder}/turns-{ranks}", rank, ranks, world.Iprobe)
            for collective, _, number, _ in here:
                force(collective, number)
                group, act = first.Dup(), ACTS[collective](rank, ranks)
                before = meeting.sent()
                act(group)
                found.append(list(more(before, meeting.sent()).items()))
                group.Free()
    everyone.wait()
    Path(f"{folder}/{rank}.json").write_text(json.dumps(found))


def connect(world) -> None:
    """A message between every two ranks, so that all connections exist."""
    rank, got = world.Get_rank(), np.zeros(1)
    for distance in range(1, MOST):
        world.Sendrecv(np.ones(1), (rank + distance) % MOST, 0, got, (rank - distance) % MOST)


def force(collective: str, number: int) -> None:
    """Let communicators that are made from now on use this algorithm; 0 lets Open MPI choose."""
    library = next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libmpi.so" in line)
    tools = ctypes.CDLL(library)
    index, handle, many = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    name = f"coll_tuned_{collective}_algorithm".encode()
    steps = (
        lambda: tools.MPI_T_init_thread(0, ctypes.byref(many)),
        lambda: tools.MPI_T_cvar_get_index(name, ctypes.byref(index)),
        lambda: tools.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(many)),
        lambda: tools.MPI_T_cvar_write(handle, ctypes.byref(ctypes.c_int(number))),
        lambda: tools.MPI_T_cvar_handle_free(ctypes.byref(handle)),
    )
    for step in steps:
        if step():
            raise RuntimeError(f"Open MPI does not let {name.decode()} be set to {number}")


@cache
def inputs(ranks: int) -> list[np.ndarray]:
    """The vector of each rank: whole numbers, whose sum fits into 16 bits."""
    return [(np.arange(V // 2) % (7 + rank)).astype(np.int16) for rank in range(ranks)]


def checked(move, mine, expected, *more_):
    """A collective on its buffers, which checks what arrived."""
    got = np.zeros_like(expected)

    def act(group):
        move(group, mine, got, *more_)
        assert np.array_equal(got, expected)

    return act


def allreduce(rank, ranks):
    given = inputs(ranks)
    return checked(lambda group, a, b: group.Allreduce(a, b), given[rank], sum(given))


def allgather(rank, ranks):
    given = [one[: V // 2 // ranks].copy() for one in inputs(ranks)]
    return checked(lambda group, a, b: group.Allgather(a, b), given[rank], np.concatenate(given))


def reduce_scatter(rank, ranks):
    given, part = inputs(ranks), V // 2 // ranks
    expected = np.split(sum(given), ranks)[rank]
    return checked(lambda group, a, b: group.Reduce_scatter(a, b, [part] * ranks), given[rank], expected)


def reduce_scatter_block(rank, ranks):
    given = inputs(ranks)
    return checked(lambda group, a, b: group.Reduce_scatter_block(a, b), given[rank], np.split(sum(given), ranks)[rank])


def alltoall(rank, ranks):
    given = [one[: V // 2 // ranks].copy() for one in inputs(ranks)]
    expected = np.concatenate([np.split(one, ranks)[rank] for one in given])
    return checked(lambda group, a, b: group.Alltoall(a, b), given[rank], expected)


def bcast(rank, ranks):
    given = inputs(ranks)

    def move(group, mine, got):
        got[:] = mine
        group.Bcast(got)

    return checked(move, given[rank], given[0])


def reduce(rank, ranks):
    given = inputs(ranks)
    expected = sum(given) if rank == 0 else given[0][:0]
    return checked(lambda group, a, b: group.Reduce(a, b if rank == 0 else None), given[rank], expected)


def scatter(rank, ranks):
    given = inputs(ranks)[0]
    mine = given if rank == 0 else None
    return checked(lambda group, a, b: group.Scatter(a, b), mine, np.split(given, ranks)[rank])


def gather(rank, ranks):
    given = [one[: V // 2 // ranks].copy() for one in inputs(ranks)]
    expected = np.concatenate(given) if rank == 0 else given[0][:0]
    return checked(lambda group, a, b: group.Gather(a, b if rank == 0 else None), given[rank], expected)


ACTS = {
    act.__name__: act
    for act in (
        allreduce,
        allgather,
        reduce_scatter,
        reduce_scatter_block,
        alltoall,
        bcast,
        reduce,
        scatter,
        gather,
    )
}

if __name__ == "__main__":
    count(sys.argv[1])
