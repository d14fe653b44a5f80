"""A layer of a dense model in plain PyTorch: attention and an MLP, each with its norm, added to its input.

Where a GPU has one kernel and a CPU several, the layer calls that kernel: dropout with a mask of one byte, attention
that never writes its scores. Its norm is a layer norm, which is one kernel everywhere.
"""

import functools
from collections.abc import Callable

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

RATE = 0.1


def one_kernel(x: torch.Tensor) -> torch.Tensor:
    """Dropout as on a GPU."""
    return torch.native_dropout(x, RATE, True)[0]


def eager(x: torch.Tensor) -> torch.Tensor:
    """Dropout as on a CPU."""
    return nn.functional.dropout(x, RATE)


def none(x: torch.Tensor) -> torch.Tensor:
    """No dropout."""
    return x


def again(f: Callable) -> Callable:
    """A function that the backward pass repeats, up to what its gradients read."""
    return functools.partial(checkpoint, f, use_reentrant=False)


def gated(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """The activation function of a gated MLP."""
    return nn.functional.silu(gate) * up


def flash(q, k, v) -> torch.Tensor:
    """Attention in one kernel: the scores are repeated in its backward pass."""
    return nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=k.shape[1] < q.shape[1])


def flash_kernel(q, k, v) -> torch.Tensor:
    """The kernel of GPUs by its name; it has a key and a value for each query head."""
    k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], 1) if k.shape[1] < q.shape[1] else one for one in (k, v))
    return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v)[0]


def scores(q, k, v, drop: Callable) -> torch.Tensor:
    """Attention whose scores are written to memory."""
    k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], 1) if k.shape[1] < q.shape[1] else one for one in (k, v))
    return drop(torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)) @ v


class Attention(nn.Module):
    """Queries, keys, values, a core that combines them, and the last matrix."""

    def __init__(self, m, core: Callable):
        super().__init__()
        heads = m.get("kv_heads", m.heads)
        self.width = m.get("head_dim", m.d_model // m.heads)
        linear = functools.partial(nn.Linear, bias=False, dtype=torch.bfloat16)
        self.q, self.o = linear(m.d_model, m.heads * self.width), linear(m.heads * self.width, m.d_model)
        self.k, self.v = (linear(m.d_model, heads * self.width) for _ in range(2))
        self.core = core

    def forward(self, x):
        q, k, v = (one(x).unflatten(-1, (-1, self.width)).transpose(1, 2) for one in (self.q, self.k, self.v))
        return self.o(self.core(q, k, v).transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    """Two matrices, or three with a gate."""

    def __init__(self, m, combine: Callable):
        super().__init__()
        linear = functools.partial(nn.Linear, bias=False, dtype=torch.bfloat16)
        self.up, self.down = linear(m.d_model, m.d_ff), linear(m.d_ff, m.d_model)
        self.gate = linear(m.d_model, m.d_ff) if m.mlp_matrices > 2 else None
        self.combine = combine

    def forward(self, x):
        if self.gate is None:
            return self.down(nn.functional.gelu(self.up(x)))
        return self.down(self.combine(self.gate(x), self.up(x)))


class Layer(nn.Module):
    """Attention and MLP. `core` is how attention combines queries, keys and values."""

    def __init__(self, m, core: Callable, drop: Callable = none, combine: Callable = gated):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(m.d_model, bias=False, dtype=torch.bfloat16) for _ in range(2))
        self.attention, self.mlp, self.drop = Attention(m, core), Mlp(m, combine), drop

    def forward(self, x):
        x = x + self.drop(self.attention(self.norms[0](x)))
        return x + self.drop(self.mlp(self.norms[1](x)))
