"""What PyTorch stores for the backward pass of a layer: every tensor that autograd saves, each memory counted once.

Weights are not counted, nor are statistics of norms and of softmax: tensors of at most one element per token and head.
"""

import functools
from collections.abc import Iterator

import torch
from engines.fake_calls import groups
from engines.fake_layers import Layer, again, eager, flash, gated, one_kernel, scores
from engines.fake_programs import by_columns_and_rows
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.tensor import DTensor

from gpuscale import specs

GPTS = ("megatron_1_7b", "gpt3_175b", "megatron_1008b")
LLAMAS = ("llama3_8b", "llama3_70b", "llama3_405b")
SHAPES = ((1, 2048), (4, 2048))  # sequences, and the tokens of each
RANKS = (2, 8)


def local(t: torch.Tensor) -> torch.Tensor:
    """The part of a tensor that this rank has."""
    t = t._local_tensor if isinstance(t, DTensor) else t
    return getattr(t, "elem", t)


def saved(layer: nn.Module, x: torch.Tensor, heads: int) -> int:
    """Bytes that the forward pass of a layer stores for the backward pass."""
    weights = {local(one).untyped_storage()._cdata for one in layer.parameters()}
    found: dict[int, torch.UntypedStorage] = {}

    def pack(t):
        part = local(t)
        memory = part.untyped_storage()
        if memory._cdata not in weights and part.numel() > x.shape[0] * x.shape[1] * heads:
            found[memory._cdata] = memory
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        layer(x)
    return sum(memory.nbytes() for memory in found.values())


def layers(m) -> Iterator[tuple[str, nn.Module]]:
    """A model's layer in several ways: of a GPT with dropout and stored scores, or of a Llama."""
    if m.mlp_matrices > 2:
        yield "llama_eager", Layer(m, flash)
        yield "llama", Layer(m, flash, combine=again(gated))
        return
    for name, drop in (("gpt", one_kernel), ("gpt_eager", eager)):
        yield name, Layer(m, functools.partial(scores, drop=drop), drop)
    yield "gpt_selective", Layer(m, again(functools.partial(scores, drop=one_kernel)), one_kernel)


def tokens(m, sequences: int, length: int) -> torch.Tensor:
    """The input of a layer, whose gradient is asked for."""
    return torch.empty(sequences, length, m.d_model, dtype=torch.bfloat16, requires_grad=True)


def one_rank() -> Iterator:
    """Layers of real size on one rank."""
    for name in (*GPTS, *LLAMAS):
        m = specs.model(name)
        for sequences, length in SHAPES:
            with FakeTensorMode():
                x = tokens(m, sequences, length)
                for family, layer in layers(m):
                    yield family, [name, sequences, length, saved(layer, x, m.heads)]
                whole = again(layer)
                whole.parameters = layer.parameters
                yield "full", [name, sequences, length, saved(whole, x, m.heads)]


def many_ranks() -> Iterator:
    """The same, sharded by heads and by the width of the MLP; norms on all tokens, or on a part of them."""
    for name in ("gpt3_175b", "llama3_70b"):
        m = specs.model(name)
        for ranks in RANKS:
            for kind in ("tp", "sp"):
                with groups(ranks) as mesh, FakeTensorMode(allow_non_fake_inputs=True):
                    x = tokens(m, 1, 2048 // ranks if kind == "sp" else 2048)
                    for family, layer in layers(m):
                        if "eager" in family:
                            continue
                        for block in (layer.attention, layer.mlp):
                            by_columns_and_rows(block, mesh, True, kind == "sp")
                        yield f"{family}_{kind}", [name, ranks, 2048, saved(layer, x, m.heads)]
