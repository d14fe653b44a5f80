"""PyTorch without its processes: collectives, memory and FLOPs as the first of up to 1,024 ranks, in one process.

A fake process group answers every collective at once and sends nothing. All that PyTorch decides before it sends (which
collective, over which ranks, of how many bytes) is as in a real run.
"""

import warnings
from collections.abc import Iterator

import torch
from engines import fake_flops, fake_programs, fake_saved, fake_state

PARTS = {
    "calls": fake_programs.PROGRAMS,
    "state": (fake_state.state,),
    "saved": (fake_saved.one_rank, fake_saved.many_ranks),
    "flops": (fake_flops.flops,),
}


def measure() -> Iterator[tuple[str, list]]:
    """The rows of each family."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # there is little to compute
    for name, parts in PARTS.items():
        for part in parts:
            for family, row in part():
                yield f"fake_{name}_{family}", [row]
