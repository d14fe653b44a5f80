"""What both engines of sockets need: ranks that meet without a socket, and the kernel's counts as a matrix of links."""

import mmap
import struct
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from gpuscale.labs import peers_sent

Ports = dict[tuple[int, int], int]


class Meeting:
    """Ranks of one machine that wait for each other through a file, so that no bytes on a socket are theirs."""

    def __init__(self, path: str, rank: int, ranks: int, progress: Callable[[], object] = int, pause: float = 0.0005):
        self._rank, self._ranks, self._turn, self._progress, self._pause = rank, ranks, 0, progress, pause
        with open(path, "r+b") as file:
            self._turns = mmap.mmap(file.fileno(), 8 * ranks)

    @staticmethod
    def place(path: str, ranks: int) -> None:
        """Make the file, once, before the ranks start."""
        Path(path).write_bytes(bytes(8 * ranks))

    def wait(self) -> None:
        """Return when all ranks have come here; meanwhile let the engine move what it still has to send."""
        self._turn += 1
        struct.pack_into("=q", self._turns, 8 * self._rank, self._turn)
        while min(struct.unpack_from(f"={self._ranks}q", self._turns)) < self._turn:
            self._progress()
            time.sleep(self._pause)

    def sent(self) -> Ports:
        """What this rank has sent on each connection when all ranks have come here and the counters stand still."""
        self.wait()
        before, now = None, peers_sent()
        while now != before:
            self._progress()
            time.sleep(0.002)
            before, now = now, peers_sent()
        self.wait()
        return now


def more(before: Ports, after: Ports) -> Ports:
    """What was sent between two counts."""
    return {ports: sent - before.get(ports, 0) for ports, sent in after.items()}


def matrix(counts: Iterable[Ports]) -> list[list[int]]:
    """Bytes from each rank to each other, from the counts of all: a connection has its two ports on both sides."""
    counts = list(counts)
    ends = {ports: rank for rank, one in enumerate(counts) for ports in one}
    bytes_ = [[0] * len(counts) for _ in counts]
    for rank, one in enumerate(counts):
        for (near, far), sent in one.items():
            if (far, near) in ends:
                bytes_[rank][ends[far, near]] += sent
    return bytes_
