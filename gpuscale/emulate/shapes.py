"""A transformer written out as shapes: every tensor, every matmul, everything stored, only counted.

Shares no algebra with the formulas: shapes are listed layer by layer, head by head, expert by expert, and their
sizes are multiplied and added. Attention is listed query by query where a mask hides part of the sequence.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import NamedTuple


@dataclass(frozen=True)
class Model:
    """The dimensions of a model, by the names that its data have; a part that it does not have is 0."""

    layers: int
    d_model: int
    d_ff: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    mlp_matrices: int = 3
    vocab_matrices: int = 2
    positions: int = 0
    dropout: int = 0
    norm_vectors: int = 1
    biases: int = 0
    experts: int = 0
    active_experts: int = 0
    shared_experts: int = 0
    dense_layers: int = 0
    d_ff_dense: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    nope_dim: int = 0
    rope_dim: int = 0
    value_dim: int = 0

    def dense(self, layer: int) -> bool:
        """Whether a layer, counted from 0, has no experts."""
        return not self.experts or layer < self.dense_layers

    def width(self, layer: int) -> int:
        """The feed-forward width of a layer, or of each of its experts."""
        return self.d_ff_dense if self.experts and layer < self.dense_layers else self.d_ff


class Product(NamedTuple):
    """A matmul: rows x inner times inner x columns. ``weight`` says whether the right one is a parameter."""

    name: str
    rows: int
    inner: int
    columns: int
    weight: bool = True

    @property
    def flops(self) -> int:
        """A multiplication and an addition for each triple."""
        return 2 * self.rows * self.inner * self.columns


class Kept(NamedTuple):
    """A tensor that is stored: its name, and its shape on one rank."""

    name: str
    shape: tuple[int, ...]


# Parameters


def tensors(m: Model) -> list[tuple[str, tuple[int, ...]]]:
    """Every parameter tensor of the model: (name, shape)."""
    found = [("embedding", (m.vocab, m.d_model))]
    found += [("positions", (m.positions, m.d_model))] if m.positions else []
    for layer in range(m.layers):
        found += [(f"layer {layer}: {name}", shape) for name, shape in layer_tensors(m, layer)]
    found += [("last norm", (m.norm_vectors, m.d_model))]
    return found + [("head", (m.d_model, m.vocab))] * (m.vocab_matrices - 1)


def layer_tensors(m: Model, layer: int) -> list[tuple[str, tuple[int, ...]]]:
    """The tensors of one layer; matrices are (inner, columns)."""
    matrices = [(name, (inner, columns)) for name, inner, columns in attention_matrices(m)]
    matrices += [("router", (m.d_model, m.experts))] if not m.dense(layer) else []
    copies = 1 if m.dense(layer) else m.experts + m.shared_experts
    for expert in range(copies):
        matrices += [(f"{name} {expert}", (inner, columns)) for name, inner, columns in mlp_matrices(m, layer)]
    biases = [(f"bias of {name}", shape[1:]) for name, shape in matrices] if m.biases else []
    norms = [("norm before attention", (m.norm_vectors, m.d_model)), ("norm before MLP", (m.norm_vectors, m.d_model))]
    norms += [("norm of latent queries", (m.q_rank,)), ("norm of latent keys", (m.kv_rank,))] if m.kv_rank else []
    return matrices + biases + norms


def attention_matrices(m: Model) -> list[tuple[str, int, int]]:
    """(name, inner, columns) of the matrices of attention."""
    d = m.d_model
    if not m.kv_rank:
        q, kv = m.heads * m.head_dim, m.kv_heads * m.head_dim
        return [("query", d, q), ("key", d, kv), ("value", d, kv), ("output", q, d)]
    key = m.nope_dim + m.rope_dim
    queries = [("query down", d, m.q_rank), ("query up", m.q_rank, m.heads * key)]
    return [
        *(queries if m.q_rank else [("query", d, m.heads * key)]),
        ("key and value down", d, m.kv_rank),
        ("key with position", d, m.rope_dim),
        ("key up", m.kv_rank, m.heads * m.nope_dim),
        ("value up", m.kv_rank, m.heads * m.value_dim),
        ("output", m.heads * m.value_dim, d),
    ]


def mlp_matrices(m: Model, layer: int) -> list[tuple[str, int, int]]:
    """(name, inner, columns) of the matrices of an MLP or of one expert."""
    up = [(f"up {i}", m.d_model, m.width(layer)) for i in range(m.mlp_matrices - 1)]
    return [*up, ("down", m.width(layer), m.d_model)]


def size(shapes: Iterable[tuple[str, tuple[int, ...]]]) -> int:
    """Elements of all these tensors."""
    return sum(prod(shape) for _, shape in shapes)


# Matmuls


def products(m: Model, tokens: int, causal: bool = False) -> list[Product]:
    """Every matmul of the forward pass of one sequence. Each token visits ``active_experts`` of the experts."""
    found = []
    for layer in range(m.layers):
        found += layer_products(m, layer, tokens, causal)
    return [*found, Product("head", tokens, m.d_model, m.vocab)]


def layer_products(m: Model, layer: int, tokens: int, causal: bool = False) -> list[Product]:
    """Those of one layer."""
    found = [Product(name, tokens, inner, columns) for name, inner, columns in attention_matrices(m)]
    found += attention_products(m, tokens, causal)
    if m.dense(layer):
        return found + [Product(name, tokens, inner, columns) for name, inner, columns in mlp_matrices(m, layer)]
    found.append(Product("router", tokens, m.d_model, m.experts))
    for token in range(tokens):
        for visit in range(m.active_experts + m.shared_experts):
            name = f"token {token}, visit {visit}"
            found += [Product(f"{name}: {w}", 1, inner, columns) for w, inner, columns in mlp_matrices(m, layer)]
    return found


def attention_products(m: Model, tokens: int, causal: bool = False) -> list[Product]:
    """Scores and weighted sums, head by head; under a mask query by query, each over what it may see."""
    key, value = (m.nope_dim + m.rope_dim, m.value_dim) if m.kv_rank else (m.head_dim, m.head_dim)
    queries = [(1, seen + 1) for seen in range(tokens)] if causal else [(tokens, tokens)]
    found = []
    for head in range(m.heads):
        for rows, seen in queries:
            found.append(Product(f"scores, head {head}", rows, key, seen, weight=False))
            found.append(Product(f"weighted sum, head {head}", rows, seen, value, weight=False))
    return found


def backward(forward: Iterable[Product]) -> list[Product]:
    """The two matmuls of each one in the backward pass: for the left factor's gradient and for the right one's."""
    found = []
    for p in forward:
        found.append(Product(f"{p.name}, left", p.rows, p.columns, p.inner, p.weight))
        found.append(Product(f"{p.name}, right", p.inner, p.rows, p.columns, p.weight))
    return found


def flops(found: Iterable[Product]) -> int:
    """FLOPs of all these matmuls."""
    return sum(p.flops for p in found)


# What is stored for the backward pass


def kept(m: Model, layer: int, seqs: int, tokens: int, ranks: int = 1, sequence: bool = False) -> list[Kept]:
    """Activations of a layer on one tensor-parallel rank: attention that stores no scores, no dropout.

    ``sequence`` shards the work between the matmuls along the tokens. Raises ValueError if ``ranks`` does not divide.
    """
    here = seqs, _cut(tokens, ranks) if sequence else tokens
    wide, width = (seqs, tokens), m.d_model
    found = [Kept("enters first norm", (*here, width)), Kept("enters attention", (*here, width))]
    found += [Kept(name, (*wide, *shape)) for name, shape in _kept_attention(m, ranks)]
    found += [Kept("enters second norm", (*here, width)), Kept("enters MLP", (*here, width))]
    if m.dense(layer):
        return found + _kept_mlp(m, layer, wide, "MLP", ranks)
    for visit in range(m.active_experts):
        name = f"expert {visit}"
        found += [Kept(f"enters {name}", (*wide, width)), *_kept_mlp(m, layer, wide, name, ranks)]
        found += [Kept(f"leaves {name}", (*wide, width))]
    for expert in range(m.shared_experts):
        found += _kept_mlp(m, layer, wide, f"shared expert {expert}", ranks)
    return found


def _kept_attention(m: Model, ranks: int) -> list[tuple[str, tuple[int, ...]]]:
    q = _cut(m.heads, ranks)
    if not m.kv_rank:
        kv = _cut(m.kv_heads, ranks)
        names = (("queries", q), ("keys", kv), ("values", kv), ("result", q))
        return [(name, (heads, m.head_dim)) for name, heads in names]
    key = m.nope_dim + m.rope_dim
    widths = (("queries", m.q_rank), ("keys", m.kv_rank))
    latent = [(f"latent {what} {when} norm", (r,)) for what, r in widths for when in ("before", "after")]
    heads = [("queries", (q, key)), ("keys", (q, key)), ("values", (q, m.value_dim)), ("result", (q, m.value_dim))]
    return [*latent, ("position part of the key", (m.rope_dim,)), *heads]


def _kept_mlp(m: Model, layer: int, wide: tuple, name: str, ranks: int) -> list[Kept]:
    up = [Kept(f"{name}: result of up {i}", (*wide, _cut(m.width(layer), ranks))) for i in range(m.mlp_matrices - 1)]
    return [*up, Kept(f"{name}: enters down", (*wide, _cut(m.width(layer), ranks)))]


def _cut(whole: int, ranks: int) -> int:
    if whole % ranks:
        raise ValueError(f"ranks: expected a divisor of {whole}; got {ranks}")
    return whole // ranks


def cached(m: Model, tokens: int) -> list[tuple[str, tuple[int, ...]]]:
    """The KV cache of one sequence, layer by layer."""
    if m.kv_rank:
        parts = [("latent", (tokens, m.kv_rank)), ("position part of the key", (tokens, m.rope_dim))]
    else:
        parts = [(name, (tokens, m.kv_heads, m.head_dim)) for name in ("keys", "values")]
    return [(f"layer {layer}: {name}", shape) for layer in range(m.layers) for name, shape in parts]
