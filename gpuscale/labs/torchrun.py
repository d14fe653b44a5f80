"""The same calls under torchrun: ``torchrun --nproc-per-node=4 -m gpuscale.labs chapters/lab_collectives.ipynb``."""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import os
import pickle
import sys

from gpuscale.labs.rank import told

GRACE = 5  # seconds that an answer may take after the time limit: a rank may reach the limit within a collective

_calls = itertools.count()


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

    If every rank has a GPU, the group is NCCL's, and new tensors are created on the rank's own GPU. An error of any
    rank is raised on all of them. At the time limit its message is the backend's, without the lines where ranks stand.
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
    store = dist.PrefixStore(f"call {next(_calls)}", dist.TCPStore(address, port, size, is_master=False, timeout=limit))
    said = _Live(here) if output == "live" else io.StringIO()
    if here < ranks:
        device = own_device()
        backend = "gloo" if device == "cpu" else "nccl"
        group = dist.PrefixStore("group", store)
        try:
            dist.init_process_group(backend, store=group, rank=here, world_size=ranks, timeout=limit)
            with contextlib.redirect_stdout(said), torch.device(device):
                kept = function(*inputs)
            answer = "result", cloudpickle.dumps(kept)
        except Exception as error:
            answer = "error", (store.add("errors", 1), *_explained(error, here, seconds))
            _leave()  # at once, so that ranks that wait for this one get an error, too
        store.set(str(here), pickle.dumps((answer, said.getvalue())))
    try:
        return _answers(store, here, ranks, seconds, output)
    finally:
        _leave()  # not before all have answered: another rank may still connect to this one, or receive from it


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


def _explained(error: Exception, here: int, seconds: float) -> tuple[bool, str]:
    """Whether the time was over, and what to say."""
    if isinstance(error, TimeoutError) or "timed out" in str(error).lower():
        return True, f"rank {here}: no answer within {seconds:g} s: {error}"
    return False, f"rank {here} failed\n{told(error, __file__)}"


def _leave() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


def _answers(store, here: int, ranks: int, seconds: float, output: str) -> list:
    """The results of all ranks on each of them, or the first error. Rank 0 prints what they have said."""
    import torch.distributed as dist

    from gpuscale.labs.launcher import RankError

    found, errors, limit = [], [], datetime.timedelta(seconds=seconds + GRACE)
    for rank in range(ranks):
        try:
            store.wait([str(rank)], limit)
        except dist.DistStoreError:
            raise TimeoutError(f"no answer within {seconds:g} s from rank {rank}") from None
        (kind, content), said = pickle.loads(store.get(str(rank)))
        if here == 0 and output != "none":
            print(_labeled(rank, said), end="", flush=True)
        if kind == "error":
            errors.append(content)
        else:
            found.append(pickle.loads(content))
    if errors:
        _, late, text = min(errors)  # the first of them: the others may be its consequences
        raise TimeoutError(text) if late else RankError(text)
    return found
