"""The kernels between the matmuls of a layer, written out: the shape of every array that one reads or writes.

Shares no algebra with the formulas: kernels are listed one by one, expert by expert, on one tensor parallel rank. An
array is (shape, whether it is a dropout mask).
"""

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from gpuscale.emulate.shapes import Model


class Kernel(NamedTuple):
    """One kernel: its name, its place ("between" the blocks, "attention", "MLP"), the arrays it reads and writes."""

    name: str
    place: str
    reads: tuple[tuple, ...]
    writes: tuple[tuple, ...]


def plain(*shape: int) -> tuple:
    """An array of elements."""
    return shape, False


def mask(*shape: int) -> tuple:
    """A dropout mask."""
    return shape, True


def forward(m: Model, layer: int, seqs: int, tokens: int, ranks: int = 1, sequence: bool = False) -> list[Kernel]:
    """Those of the forward pass. ``sequence`` shards what is between the blocks along the tokens.

    Raises ValueError if the ranks do not divide what they share, or share latent attention or experts.
    """
    cut = m.heads, m.kv_heads, m.width(layer), tokens if sequence else ranks
    if any(one % ranks for one in cut) or (ranks > 1 and (m.kv_rank or not m.dense(layer))):
        raise ValueError(f"ranks: expected 1, or a divisor of {cut} in a dense layer; got {ranks}")
    here = seqs, (tokens // ranks if sequence else tokens), m.d_model
    x, dropped = plain(*here), (mask(*here),) * m.dropout
    blocks = {"attention": _attention(m, seqs, tokens, ranks), "MLP": _mlp(m, layer, seqs, tokens, ranks)}
    found = []
    for block, inside in blocks.items():
        found.append(Kernel(f"norm before {block}", "between", (x,), (x,)))
        found += inside
        found.append(Kernel(f"addition after {block}", "between", (x, x), (x, *dropped)))
    return found


def _attention(m: Model, seqs: int, tokens: int, ranks: int) -> list[Kernel]:
    latents = [(m.q_rank,), (m.kv_rank,)] if m.kv_rank else []
    turned = [(m.heads, m.rope_dim), (1, m.rope_dim)] if m.kv_rank else []
    turned = turned or [(heads // ranks, m.head_dim) for heads in (m.heads, m.kv_heads)]
    found = []
    for name, shapes in (("norm of a latent vector", latents), ("turning", [] if m.positions else turned)):
        arrays = [plain(seqs, tokens, *shape) for shape in shapes]
        found += [Kernel(name, "attention", (one,), (one,)) for one in arrays]
    if m.dropout:
        scores = seqs, m.heads // ranks, tokens, tokens
        found.append(Kernel("softmax", "attention", (plain(*scores),), (plain(*scores),)))
        found.append(Kernel("dropout of scores", "attention", (plain(*scores),), (plain(*scores), mask(*scores))))
    return found


def _mlp(m: Model, layer: int, seqs: int, tokens: int, ranks: int) -> list[Kernel]:
    wide, token = plain(seqs, tokens, m.width(layer) // ranks), plain(seqs, tokens, m.d_model)
    made = Kernel("activation", "MLP", (wide,) * (m.mlp_matrices - 1), (wide,))
    if m.dense(layer):
        return [made]
    met = m.active_experts + m.shared_experts
    copies = [Kernel(f"copy {i}", "MLP", (token,), (token,)) for i in range(m.active_experts)]
    return [*copies, *[made] * met, Kernel("sum of results", "MLP", (token,) * met, (token,))]


def backward(m: Model, layer: int, seqs: int, tokens: int, ranks: int = 1, sequence: bool = False) -> list[Kernel]:
    """Those of the backward pass, in reverse."""
    found = []
    for one in reversed(forward(m, layer, seqs, tokens, ranks, sequence)):
        found += [Kernel(f"{one.name}, backward", one.place, reads, writes) for reads, writes in _back(m, one)]
    return found


def _back(m: Model, one: Kernel) -> list[tuple]:
    """The counterpart of a kernel in the backward pass: (arrays read, arrays written) of each."""
    first, gradients = one.name.split()[0], tuple(a for a in one.writes if not a[1])
    masks, entered = tuple(a for a in one.writes if a[1]), one.reads
    if first in {"norm", "softmax", "activation"}:  # a gradient for each array that entered
        meet = [(entered * 2, entered)] if one.name.startswith("norm before") else []  # with that of the residual path
        return [((*gradients, *entered), entered), *meet]
    if first == "addition":  # both arrays take the same gradient: nothing to do but dropout
        return [((*gradients, *masks), entered[:1])] if masks else []
    if first == "sum":  # the gradient is copied for each expert that the token was sorted to
        return [(gradients, gradients)] * m.active_experts
    if first == "copy":  # the gradients of all copies, and of those that took the token itself, are added at once
        return [(gradients * (m.active_experts + m.shared_experts), entered)] if one.name == "copy 0" else []
    return [((*gradients, *masks), entered)]


def size(kernels: Iterable[Kernel], width, mask_width=1):
    """Bytes that these kernels read and write."""
    arrays = [a for one in kernels for a in (*one.reads, *one.writes)]
    return sum(prod(shape) * (mask_width if masked else width) for shape, masked in arrays)
