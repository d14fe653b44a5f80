"""FLOPs of layers of real size, by PyTorch's counter, on tensors without data."""

from collections.abc import Iterator

import torch
from engines.fake_layers import Layer, flash_kernel, none, scores
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from gpuscale import specs

SEQUENCES, TOKENS = 2, 8192


class Repeated(nn.Module):
    """A layer that is recomputed: with autograd running again (reentrant), or stopped where nobody reads on."""

    def __init__(self, layer: nn.Module, reentrant: bool):
        super().__init__()
        self.layer, self.reentrant = layer, reentrant

    def forward(self, x):
        return checkpoint(self.layer, x, use_reentrant=self.reentrant)


def counted(layer: nn.Module, x: torch.Tensor) -> tuple[int, int]:
    """FLOPs of the forward pass, and of both."""
    with FlopCounterMode(display=False) as counter:
        result = layer(x)
        forward = counter.get_total_flops()
        result.backward(torch.empty_like(result))
    return forward, counter.get_total_flops()


def flops() -> Iterator:
    """A layer of each model without experts: forward, trained, recomputed in two ways, and with a fused attention."""
    for name, m in specs.models().items():
        if "experts" in m:
            continue
        row = [name, SEQUENCES, TOKENS]
        with torch.device("meta"):
            layer = Layer(m, lambda q, k, v: scores(q, k, v, none))
            x = torch.empty(SEQUENCES, TOKENS, m.d_model, dtype=torch.bfloat16, requires_grad=True)
            forward, both = counted(layer, x)
            yield "forward", [*row, forward]
            yield "training", [*row, both]
            yield "full", [*row, counted(Repeated(layer, False), x)[1]]
            yield "reentrant", [*row, counted(Repeated(layer, True), x)[1]]
            yield "flash", [*row, counted(Layer(m, flash_kernel), x)[1]]
