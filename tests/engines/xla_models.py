"""Every model of the data as a program: two of its layers and its output head, at their real sizes.

The program is compiled for one rank and never run, so that the largest model costs no more than the smallest. Weights
are drawn up here from the dimensions of the data, and the FLOPs are those of the matmuls in the compiled program.

Where layers are recomputed, the compiler must not merge what runs twice. What it removes is what nobody reads.
"""

import functools
import math
from collections.abc import Iterator

import jax
import jax.numpy as jnp
from engines.xla_compile import MERGES, array, built
from engines.xla_hlo import matmul_flops

from gpuscale import specs

LAYERS = 2
SHAPES = ((1, 4096), (2, 1024))  # sequences, and the tokens of each
HOW = ("forward", "training", "full", "selective", "result")


def attention_weights(m) -> dict:
    """The matrices of attention: plain, with fewer key heads than query heads, or latent."""
    d, heads = m.d_model, m.heads
    if "kv_rank" not in m:
        width, groups = m.get("head_dim", d // heads), m.get("kv_heads", heads)
        shapes = {"q": (d, groups, heads // groups, width), "k": (d, groups, width), "v": (d, groups, width)}
        return {name: array(*shape) for name, shape in shapes.items()} | {"o": array(groups, heads // groups, width, d)}
    query, key, value, near, turned = m.q_rank, m.kv_rank, m.value_dim, m.nope_dim, m.rope_dim
    shapes = {"q_down": (d, query), "q_up": (query, heads, near + turned), "down": (d, key), "turned": (d, turned)}
    shapes |= {"k_up": (key, heads, near), "v_up": (key, heads, value), "o": (heads, 1, value, d)}
    return {name: array(*shape) for name, shape in shapes.items()}


def mlp_weights(m, width: int, *copies: int) -> dict:
    """The matrices of an MLP, or of several experts."""
    names = ("up", "gate")[: m.mlp_matrices - 1]
    return {name: array(*copies, m.d_model, width) for name in names} | {"out": array(*copies, width, m.d_model)}


def layer_weights(m, layer: int) -> dict:
    """The matrices of a layer. In a model with experts, a first layer without any stands for all of those."""
    found = {"attention": attention_weights(m)}
    if "experts" not in m:
        return found | {"mlp": mlp_weights(m, m.d_ff)}
    if layer < min(1, m.get("dense_layers", 0)):
        return found | {"mlp": mlp_weights(m, m.d_ff_dense)}
    found |= {"router": array(m.d_model, m.experts), "experts": mlp_weights(m, m.d_ff, m.experts)}
    shared = m.get("shared_experts", 0)
    return found | ({"shared": mlp_weights(m, shared * m.d_ff)} if shared else {})


def core(q, k, v):
    """Scores, softmax and weighted sum over the whole sequence."""
    weights = jax.nn.softmax(jnp.einsum("btngh,bsnh->bngts", q, k))
    return jnp.einsum("bngts,bsnh->btngh", weights, v)


def attention(w: dict, x, how: str):
    """Attention of a layer. The backward pass repeats its core if it is `selective`; for the `result`, which the last
    matrix is multiplied with, it repeats that as well."""
    inner = jax.checkpoint(core) if how == "selective" else core

    def end(q, k, v, out):
        return jnp.einsum("btngh,nghd->btd", inner(q, k, v), out)

    end = jax.checkpoint(end) if how == "result" else end
    if "down" not in w:
        q = jnp.einsum("btd,dngh->btngh", x, w["q"])
        k, v = (jnp.einsum("btd,dnh->btnh", x, w[name]) for name in "kv")
        return end(q, k, v, w["o"])
    q = jnp.einsum("btr,rnh->btnh", jnp.square(x @ w["q_down"]), w["q_up"])[:, :, :, None]
    latent = jnp.square(x @ w["down"])
    near, v = (jnp.einsum("btr,rnh->btnh", latent, w[name]) for name in ("k_up", "v_up"))
    turned = (x @ w["turned"])[:, :, None]
    k = jnp.concatenate([near, jnp.broadcast_to(turned, (*near.shape[:3], turned.shape[3]))], axis=3)
    return end(q, k, v, w["o"])


def mlp(w: dict, x):
    """An MLP; with a leading dimension of the weights, one for each expert."""
    hidden = jax.nn.relu(x @ w["up"])
    return (hidden * (x @ w["gate"]) if "gate" in w else hidden) @ w["out"]


def experts(w: dict, x, active: int):
    """Each token at `active` experts, the load even, and their results weighted by the router."""
    rows = x.reshape(-1, x.shape[-1])
    tokens, count = len(rows), w["router"].shape[1]
    scores = jax.nn.softmax(rows @ w["router"])
    to = (jnp.arange(active * tokens) * count // (active * tokens)).reshape(active, tokens)
    sent = jnp.broadcast_to(rows, (active, *rows.shape)).reshape(count, -1, rows.shape[1])
    back = mlp(w["experts"], sent).reshape(active, *rows.shape)
    weights = jnp.where(to[:, :, None] == jnp.arange(count), scores, 0).sum(-1, keepdims=True)
    return (weights * back).sum(0).reshape(x.shape)


def layer(w: dict, x, active: int, how: str):
    """Attention, then an MLP or experts, each added to its input."""
    x = x + attention(w["attention"], jnp.square(x), how)
    into = jnp.square(x)  # in place of a norm
    if "mlp" in w:
        return x + mlp(w["mlp"], into)
    return x + experts(w, into, active) + (mlp(w["shared"], into) if "shared" in w else 0)


def even(m, sequences: int, tokens: int) -> int:
    """The tokens of a sequence, less those that keep the experts from an even load."""
    count = m.get("experts", 1)
    return tokens - tokens % (count // math.gcd(count, sequences * m.get("active_experts", 1)))


def program(m, how: str):
    """A function of the weights, the head, the embedded tokens and, to train, the gradient of the logits."""
    one = functools.partial(layer, active=m.get("active_experts", 0), how=how)
    one = jax.checkpoint(one) if how == "full" else one

    def forward(weights, head, x):
        for w in weights:
            x = one(w, x)
        return x @ head

    def training(weights, head, x, gradient):
        logits, back = jax.vjp(forward, weights, head, x)
        return logits, back(gradient)

    return forward if how == "forward" else training


def flops() -> Iterator:
    """FLOPs of the forward pass, of a training step, and with recomputation of layers or of attention."""
    for name, m in specs.models().items():
        weights = [layer_weights(m, number) for number in range(LAYERS)]
        latent, sparse = "kv_rank" in m, "experts" in m
        kind = "latent" if latent else "experts" if sparse else "dense"
        for sequences, most in SHAPES:
            tokens = even(m, sequences, most)
            x, logits = array(sequences, tokens, m.d_model), array(sequences, tokens, m.vocab)
            inputs = weights, array(m.d_model, m.vocab), x
            for how in HOW if sequences > 1 else HOW[:2]:
                given = inputs if how == "forward" else (*inputs, logits)
                compiled = built(jax.jit(program(m, how)).lower(*given), MERGES)
                yield f"{how}_{kind}", [name, sequences, tokens, matmul_flops(compiled.as_text())]
