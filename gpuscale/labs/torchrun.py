"""The same calls under torchrun: ``torchrun --nproc-per-node=4 -m gpuscale.labs chapters/lab_collectives.ipynb``."""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import os
import pickle
import re
import sys
import traceback
from pathlib import Path

from gpuscale.labs.errors import INSTALLED, RankError, overdue
from gpuscale.labs.rank import told

_calls = itertools.count()
GRACE = datetime.timedelta(seconds=5)  # a group's limit starts later than that of the ranks that wait for its results
TIMEOUT = re.compile(r"timed out|timeout", re.IGNORECASE)
# What a rank reports whose neighbor has failed or given up.
LOST = re.compile(r"connection (was )?(closed|reset|refused)|broken pipe|pair closure", re.IGNORECASE)


def inside() -> bool:
    """Whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def rank() -> int:
    """The rank of this process among all that torchrun has started; 0 outside torchrun."""
    return int(os.environ.get("RANK", 0)) if inside() else 0


def own_device() -> str:
    """The device of this process: a GPU of its own, if its node has one for every rank there, and otherwise the CPU."""
    import torch

    if not inside() or torch.cuda.device_count() < int(os.environ["LOCAL_WORLD_SIZE"]):
        return "cpu"
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return f"cuda:{os.environ['LOCAL_RANK']}"


def call(function, inputs, ranks: int, seconds: float, output: str) -> list:
    """As `run`, in the processes that are here: the first `ranks` of them call the function, the others wait.

    If every rank has a GPU, the group is NCCL's, and new tensors are created on the rank's own GPU. If a rank fails,
    every process raises the same error, so that a notebook that catches it goes on everywhere.
    """
    import cloudpickle
    import torch
    import torch.distributed as dist

    here, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if ranks > size:
        raise ValueError(f"run: ranks={ranks}, but torchrun has started {size}; raise its --nproc-per-node")
    limit = datetime.timedelta(seconds=seconds)
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    # torchrun's agent keeps the store open; each call has names of its own in it.
    tcp = dist.TCPStore(address, port, size, is_master=False, timeout=limit + GRACE)
    store = dist.PrefixStore(f"call {next(_calls)}", tcp)
    said = _Live(here) if output == "live" else io.StringIO()
    if here < ranks:
        device = own_device()
        backend = "gloo" if device == "cpu" else "nccl"
        group = dist.PrefixStore("group", store)
        try:
            dist.init_process_group(backend, store=group, rank=here, world_size=ranks, timeout=limit)
            with contextlib.redirect_stdout(said), torch.device(device):
                kept = function(*inputs)
            outcome = "result", cloudpickle.dumps(kept)
        except Exception as error:
            outcome = _failure(error, store.add("failures", 1))
            _leave()  # now, so that ranks that wait for this one fail at once
        store.set(str(here), pickle.dumps((outcome, said.getvalue())))
    outcomes = _gathered(store, here, ranks, output)
    _leave()  # not earlier: ranks that still work would report an error that isn't theirs
    _raised(outcomes, seconds)
    return [pickle.loads(result) for _, result in outcomes]


class _Live(io.StringIO):
    """Standard output of a rank that shows each line as soon as it is whole; the value is what has not been shown."""

    def __init__(self, rank: int):
        super().__init__()
        self._rank = rank

    def write(self, text: str) -> int:
        lines, end, rest = (self.getvalue() + text).rpartition("\n")
        self.seek(0)
        self.truncate()
        super().write(rest)
        sys.__stdout__.write(_labeled(self._rank, lines + end))
        sys.__stdout__.flush()
        return len(text)


def _labeled(rank: int, text: str) -> str:
    return "".join(f"rank {rank} | {line}\n" for line in text.splitlines())


def _leave() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


def _failure(error: Exception, order: int) -> tuple:
    """An error as the other ranks can read it: how many had failed, why, the reader's line, and the traceback."""
    said = f"{error}" if isinstance(error, RuntimeError) else ""
    why = "late" if TIMEOUT.search(said) else "lost" if LOST.search(said) else "failed"
    own = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(INSTALLED)]
    stands = [f"{Path(one.filename).name}, line {one.lineno}, in {one.name}: {one.line}" for one in own[-1:]]
    return "error", (order, why, "".join(stands), told(error, __file__))


def _raised(outcomes: list, seconds: float) -> None:
    """Raise what `run` raises if a rank has failed: the first error that isn't the echo of another."""
    failed = {rank: found for rank, (kind, found) in enumerate(outcomes) if kind != "result"}
    if not failed:
        return
    first = min(failed, key=lambda rank: (failed[rank][1] == "lost", failed[rank][0]))
    _, why, _, text = failed[first]
    if why != "late":
        raise RankError(f"rank {first} failed\n{text}")
    raise TimeoutError(overdue(seconds, {rank: stands for rank, (_, _, stands, _) in failed.items()}))


def _gathered(store, here: int, ranks: int, output: str) -> list:
    """The outcomes of all ranks on every rank, through the store; rank 0 prints what the ranks said."""
    import torch.distributed as dist

    names = [str(rank) for rank in range(ranks)]
    with contextlib.suppress(dist.DistStoreError):  # some have not answered in time
        store.wait(names)
    silent = ("error", (ranks, "late", "", "")), ""
    found = [pickle.loads(store.get(name)) if store.check([name]) else silent for name in names]
    if here == 0 and output != "none":
        for rank, (_, said) in enumerate(found):
            print(_labeled(rank, said), end="", flush=True)
    return [outcome for outcome, _ in found]
