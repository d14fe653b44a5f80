"""PyTorch's own sharding of an MLP and of attention, as the first of many ranks: FSDP2, tensor parallelism, both."""

from collections.abc import Iterator

import torch
from engines.fake_calls import Calls, groups, passes
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

LAYERS = 2
RANKS = (2, 8, 64, 256, 1024)
HYBRID = ((2, 8), (4, 8), (16, 8), (128, 8), (16, 64))
TENSOR = (2, 8, 64)
MIXED = ((2, 2), (4, 8), (128, 8))
THREE = ((2, 2, 2), (16, 8, 8))
PADDED = ((64, 128), (64, 1024), (96, 64), (1000, 64), (1000, 1024), (7, 4))  # rows of a matrix, and ranks
HALF = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
B, D, F = 128, 1024, 1024
NARROW = 256  # the width of the MLPs in meshes, which no axis is longer than
HEAD = 8


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A matrix that nobody has drawn: no count depends on a weight."""
    found = nn.Linear(inputs, outputs, bias=False, device="meta")
    found.weight = nn.Parameter(torch.empty(outputs, inputs))
    return found


class Mlp(nn.Module):
    """Two matrices, or three with a gate, each with a matmul of its own."""

    def __init__(self, n_mat: int, width: int = D, hidden: int = F):
        super().__init__()
        self.up, self.down = linear(width, hidden), linear(hidden, width)
        self.gate = linear(width, hidden) if n_mat > 2 else None

    def forward(self, x):
        hidden = nn.functional.silu(self.up(x))
        return self.down(hidden if self.gate is None else hidden * self.gate(x))


class Attention(nn.Module):
    """A matrix each for queries, keys, values and result; a rank has some of the heads."""

    def __init__(self, heads: int):
        super().__init__()
        self.q, self.k, self.v = (linear(D, heads * HEAD) for _ in range(3))
        self.o = linear(heads * HEAD, D)

    def forward(self, x):
        q, k, v = (one(x).unflatten(-1, (-1, HEAD)).transpose(1, 2) for one in (self.q, self.k, self.v))
        return self.o((torch.softmax(q @ k.mT, -1) @ v).transpose(1, 2).flatten(2))


class Again(nn.Module):
    """A block whose forward pass the backward pass repeats, up to what its gradients read."""

    def __init__(self, block: nn.Module):
        super().__init__()
        self.block = block

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


def layers(n_mat: int) -> nn.Sequential:
    """Some MLPs, one after another."""
    return nn.Sequential(*(Mlp(n_mat) for _ in range(LAYERS)))


def fsdp(model: nn.Sequential, mesh, reshard: bool = True) -> nn.Module:
    """Weights in shards of 32 bits, gathered in 16, gradients reduced in 32; each layer is a unit."""
    for layer in model:
        fully_shard(layer, mesh=mesh, reshard_after_forward=reshard, mp_policy=HALF)
    return fully_shard(model, mesh=mesh)


def reduced(_, bucket):
    """What DDP does with a bucket of gradients; a call of a fake group has no result to wait for."""
    torch.distributed.all_reduce(bucket.buffer())
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def data_parallel() -> Iterator:
    """Weights on every rank: the gradients are reduced."""
    for ranks in RANKS:
        with groups(ranks):
            model = DistributedDataParallel(layers(3))
            model.register_comm_hook(None, reduced)
            calls = passes(model, torch.zeros(1, D))
        yield "dp", [ranks, LAYERS, 3, D, F, calls.one("all-reduce", True)]
        calls.empty()


def zero() -> Iterator:
    """Shards of the weights on every rank: gathered for each pass, or kept from the forward to the backward pass."""
    for ranks in RANKS:
        for family, n_mat, reshard in (("zero3", 2, True), ("zero3", 3, True), ("zero2", 2, False)):
            with groups(ranks) as mesh:
                calls = passes(fsdp(layers(n_mat), mesh, reshard), torch.zeros(1, D))
            row = [ranks, LAYERS, n_mat, D, F]
            yield f"{family}_gather", [*row, calls.one("all-gather")]
            yield f"{family}_scatter", [*row, calls.one("reduce-scatter", True)]
            calls.empty()


def padded() -> Iterator:
    """A matrix whose rows the ranks do not divide."""
    for rows, ranks in PADDED:
        with groups(ranks) as mesh:
            calls = passes(fsdp(nn.Sequential(linear(64, rows)), mesh), torch.zeros(1, 64))
        yield "padded_gather", [ranks, rows, 64, calls.one("all-gather")]
        yield "padded_scatter", [ranks, rows, 64, calls.one("reduce-scatter", True)]
        calls.empty()


def hybrid() -> Iterator:
    """ZeRO-3 in a node, replicas over nodes."""
    for nodes, node in HYBRID:
        with groups(nodes, node) as mesh:
            calls = passes(fsdp(layers(2), mesh), torch.zeros(1, D))
        row = [nodes, node, LAYERS, D, F]
        yield "hybrid_gather", [*row, calls.one("all-gather")]
        yield "hybrid_scatter", [*row, calls.one("reduce-scatter", True)]
        yield "hybrid_reduce", [*row, calls.one("all-reduce", True)]
        calls.empty()


def by_columns_and_rows(mlp: nn.Module, mesh, prepared: bool = False, sequence: bool = False) -> nn.Module:
    """PyTorch's plan of a block: columns, then rows; its input is one for all matmuls if it is prepared."""
    plan = {name: ColwiseParallel() for name in ("up", "gate", "q", "k", "v") if getattr(mlp, name, None) is not None}
    last = "down" if "up" in plan else "o"
    plan[last] = RowwiseParallel(output_layouts=Shard(1)) if sequence else RowwiseParallel()
    mlp = parallelize_module(mlp, mesh, plan)
    if not prepared and not sequence:
        return mlp
    here = Shard(1) if sequence else Replicate()
    ready = PrepareModuleInput(input_layouts=here, desired_input_layouts=Replicate())
    return parallelize_module(mlp, mesh, ready)


def tokens(number: int = B, width: int = D) -> torch.Tensor:
    """One sequence, whose gradient is asked for."""
    return torch.zeros(1, number, width, requires_grad=True)


def tensor_parallel() -> Iterator:
    """A block by columns, then rows; every rank has all tokens."""
    for ranks in TENSOR:
        row = [ranks, B, D]
        for n_mat, prepared, family in ((2, False, "backward"), (3, False, "separate"), (3, True, "prepared")):
            with groups(ranks) as mesh:
                calls = passes(by_columns_and_rows(Mlp(n_mat), mesh, prepared), tokens())
            yield "tp_forward", [family, *row, calls.one("all-reduce", False)]
            yield f"tp_{family}", [*row, calls.one("all-reduce", True)]
            calls.empty()
        for prepared, family in ((False, "separate"), (True, "prepared")):
            with groups(ranks) as mesh:
                calls = passes(by_columns_and_rows(Attention(64), mesh, prepared), tokens())
            yield "attention_forward", [family, *row, calls.one("all-reduce", False)]
            yield f"attention_{family}", [*row, calls.one("all-reduce", True)]
            calls.empty()


def sequence_parallel() -> Iterator:
    """Between the blocks each rank has a part of the tokens. The gathered input is stored, or gathered again."""
    for ranks in TENSOR:
        row = [ranks, B, D]
        for how, block in (("two", Mlp(2)), ("gated", Mlp(3)), ("attention", Attention(64))):
            with groups(ranks) as mesh:
                calls = passes(by_columns_and_rows(block, mesh, sequence=True), tokens(B // ranks))
            yield "sp_forward_gather", [how, *row, calls.one("all-gather", False)]
            yield "sp_forward_scatter", [how, *row, calls.one("reduce-scatter", False)]
            yield "sp_stored_gather", [how, *row, calls.one("all-gather", True)]
            yield "sp_stored_scatter", [how, *row, calls.one("reduce-scatter", True)]
            calls.empty()
        with groups(ranks) as mesh:
            calls = passes(Again(by_columns_and_rows(Mlp(3), mesh, sequence=True)), tokens(B // ranks))
        calls.take("all-gather", False), calls.take("reduce-scatter", False)  # as before
        yield "sp_again_gather", ["gated", *row, calls.one("all-gather", True)]
        yield "sp_again_scatter", ["gated", *row, calls.one("reduce-scatter", True)]
        calls.empty()


def norm() -> Iterator:
    """A norm between the blocks: each rank has a part of the tokens, and all of the norm's weight."""
    for ranks in TENSOR:
        with groups(ranks) as mesh:
            block = parallelize_module(nn.Sequential(nn.RMSNorm(D)), mesh, {"0": SequenceParallel()})
            passes(block, tokens(B // ranks)).empty()
            with Calls() as calls:
                torch.optim.AdamW(block.parameters()).step()
        yield "sp_norm", [ranks, D, calls.one("all-reduce")]
        calls.empty()


def mixed() -> Iterator:
    """FSDP2 around tensor parallelism, with and without sequence parallelism, in meshes of two or three axes."""
    for shape in (*MIXED, *THREE):
        nodes, copies, ranks = (1, *shape) if len(shape) == 2 else shape
        outer = ("x",) if nodes == 1 else ("x", "y")
        inner = "y" if nodes == 1 else "z"
        for name in ("tp", "sp"):
            with groups(*shape) as mesh:
                blocks = (by_columns_and_rows(Mlp(3, NARROW), mesh[inner], True, name == "sp") for _ in range(LAYERS))
                x = tokens(B // ranks if name == "sp" else B, NARROW)
                calls = passes(fsdp(nn.Sequential(*blocks), mesh[outer]), x)
            family, row = f"zero_{name}", [nodes, copies, ranks, LAYERS, B, NARROW, F]
            first, second = calls.take("all-gather", False), calls.take("all-gather", True)
            scattered = calls.take("reduce-scatter", True)
            yield f"{family}_weights_forward", [*row, first.pop()]
            yield f"{family}_weights_backward", [*row, second.pop()]
            yield f"{family}_gradients", [*row, scattered.pop()]
            reduced = calls.take("all-reduce", True)
            if nodes > 1:
                yield f"{family}_replicas", [*row, reduced.pop()]
            if name == "tp":
                yield f"{family}_forward", [*row, calls.one("all-reduce", False)]
                yield f"{family}_backward", [*row, reduced.pop()]
            else:
                yield f"{family}_forward_gather", [*row, first.pop()]
                yield f"{family}_forward_scatter", [*row, calls.one("reduce-scatter", False)]
                yield f"{family}_backward_gather", [*row, second.pop()]
                yield f"{family}_backward_scatter", [*row, scattered.pop()]
            calls.empty()


PROGRAMS = (data_parallel, zero, padded, hybrid, tensor_parallel, sequence_parallel, norm, mixed)
