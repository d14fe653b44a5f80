"""The same calls under torchrun: ``torchrun --nproc-per-node=4 -m gpuscale.labs chapters/lab_collectives.ipynb``."""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import os

_calls = itertools.count()


def inside() -> bool:
    """Whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def rank() -> int:
    """The rank of this process among all that torchrun has started; 0 outside torchrun."""
    return int(os.environ.get("RANK", 0)) if inside() else 0


def call(function, inputs, ranks: int, seconds: float, output: str) -> list:
    """As `run`, in the processes that are here: the first `ranks` of them call the function, the others wait.

    With GPUs the group is NCCL's, each rank has a GPU of its own, and new tensors are created on it.
    """
    import torch
    import torch.distributed as dist

    here, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if ranks > size:
        raise ValueError(f"run: ranks={ranks}, but torchrun has started {size}; raise its --nproc-per-node")
    limit = datetime.timedelta(seconds=seconds)
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    # torchrun's agent keeps the store open; each call has names of its own in it.
    store = dist.PrefixStore(f"call {next(_calls)}", dist.TCPStore(address, port, size, is_master=False, timeout=limit))
    said, kept, device = io.StringIO(), None, "cpu"
    if torch.cuda.is_available():
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    if here < ranks:
        backend = "gloo" if device == "cpu" else "nccl"
        group = dist.PrefixStore("group", store)
        dist.init_process_group(backend, store=group, rank=here, world_size=ranks, timeout=limit)
        try:
            with contextlib.redirect_stdout(said), torch.device(device):
                kept = function(*inputs)
        finally:
            dist.destroy_process_group()
    return _gathered(store, here, size, (kept, said.getvalue()), ranks, output)


def _gathered(store, here: int, size: int, mine: tuple, ranks: int, output: str) -> list:
    """All results on every rank, through the store; rank 0 prints what the ranks said."""
    import cloudpickle

    store.set(str(here), cloudpickle.dumps(mine))
    found = [cloudpickle.loads(store.get(str(rank))) for rank in range(ranks)]
    if here == 0 and output != "none":
        for rank, (_, said) in enumerate(found):
            print("".join(f"rank {rank} | {line}\n" for line in said.splitlines()), end="", flush=True)
    return [result for result, _ in found]
