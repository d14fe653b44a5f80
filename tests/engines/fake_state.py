"""Bytes that a rank stores to train under FSDP2, as PyTorch's own tracker of its memory counts them."""

from collections.abc import Iterator

import torch
from engines.fake_calls import groups
from engines.fake_programs import LAYERS, D, F, Mlp, by_columns_and_rows, fsdp, layers, linear
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker

RANKS = (2, 64, 1024)
PADDED = ((64, 1024), (96, 64), (1000, 64))
MIXED = ((4, 8), (128, 8))


def stored(model: nn.Module, width: int = D) -> tuple[dict[str, int], dict[str, int]]:
    """Bytes by kind between the forward and the backward pass, and after a step of AdamW."""
    optimizer = torch.optim.AdamW(model.parameters())
    tracker = FSDPMemTracker(model, optimizer)

    def now() -> dict[str, int]:
        (found,) = tracker.get_tracker_snapshot("current").values()
        return {key.name: size for key, size in found.items() if hasattr(key, "name")}

    with tracker:
        result = model(torch.zeros(1, 1, width))
        between = now()
        result.sum().backward()
        optimizer.step()
        return between, now()


def state() -> Iterator:
    """Weights, gradients and optimizer of a rank, and the gathered weights if they are kept."""
    for ranks in RANKS:
        for n_mat, reshard in ((2, True), (3, False)):
            with groups(ranks) as mesh, FakeTensorMode():
                between, after = stored(fsdp(layers(n_mat), mesh, reshard))
            row = [ranks, LAYERS, n_mat, D, F]
            yield "weights", [*row, after["SHARDED_PARAM"]]
            yield "gradients", [*row, after["SHARDED_GRAD"]]
            yield "optimizer", [*row, after["OPT"]]
            if not reshard:
                yield "gathered", [*row, between["UNSHARDED_PARAM"]]
            elif between["UNSHARDED_PARAM"]:
                raise ValueError(f"{between['UNSHARDED_PARAM']} bytes of gathered weights were not dropped")
    for copies, ranks in MIXED:
        with groups(copies, ranks) as mesh:
            blocks = (by_columns_and_rows(Mlp(3), mesh["y"], True) for _ in range(LAYERS))
            _, after = stored(fsdp(nn.Sequential(*blocks), mesh["x"]))
        row = [copies, ranks, LAYERS, D, F]
        yield "tp_weights", [*row, after["SHARDED_PARAM"]]
        yield "tp_gradients", [*row, after["SHARDED_GRAD"]]
        yield "tp_optimizer", [*row, after["OPT"]]
    for rows, ranks in PADDED:
        with groups(ranks) as mesh, FakeTensorMode():
            _, after = stored(fsdp(nn.Sequential(linear(64, rows)), mesh), 64)
        yield "padded_weights", [ranks, rows, 64, after["SHARDED_PARAM"]]
        yield "padded_gradients", [ranks, rows, 64, after["SHARDED_GRAD"]]
