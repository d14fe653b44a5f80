"""Counting a transformer: every tensor and matmul of small models, listed as shapes and added up."""

from fractions import Fraction

from formulas.harness import at, checks, close
from hypothesis import strategies as st

from gpuscale.emulate import shapes
from gpuscale.ledger import claim

# Small models. All dimensions differ, so that none can replace another.
SMALL, TINY = st.integers(1, 7), st.integers(1, 3)
RATES = st.sampled_from([3, 5, Fraction(7, 2)])


@st.composite
def dense(draw, **fixed):
    """A model without experts: grouped heads, any number of matrices, norms and biases."""
    names = ("layers", "d_model", "d_ff", "kv_heads", "head_dim", "vocab")
    values = {name: draw(SMALL) for name in names} | {"heads": 0} | fixed
    values["heads"] = values["heads"] or values["kv_heads"] * draw(TINY)
    options = {
        "mlp_matrices": st.integers(2, 3),
        "vocab_matrices": st.integers(1, 2),
        "positions": st.integers(0, 5),
        "norm_vectors": st.integers(1, 2),
        "biases": st.integers(0, 1),
    }
    return shapes.Model(**{k: draw(v) for k, v in options.items() if k not in values}, **values)


@st.composite
def routed(draw, latent=False):
    """A model with experts; the first layers have none. With ``latent`` its attention is that of DeepSeek."""
    m = draw(dense(layers=draw(st.integers(1, 4)), biases=0) if latent else dense(layers=draw(st.integers(1, 4))))
    experts = draw(st.integers(1, 5))
    values = {"experts": experts, "active_experts": draw(st.integers(1, experts)), "d_ff_dense": draw(SMALL)}
    if latent:
        values |= {name: draw(SMALL) for name in ("kv_rank", "nope_dim", "rope_dim", "value_dim")}
        values["q_rank"] = draw(st.integers(0, 3))
        values |= {"shared_experts": draw(st.integers(0, 2)), "dense_layers": draw(st.integers(0, m.layers))}
    return shapes.Model(**(vars(m) | values))


def letters(m: shapes.Model) -> dict:
    """The book's letters for a model's dimensions."""
    return {
        "L": m.layers,
        "D": m.d_model,
        "F": m.d_ff,
        "n_q": m.heads,
        "n_kv": m.kv_heads,
        "d_head": m.head_dim,
        "n_vocab": m.vocab,
        "n_mat": m.mlp_matrices,
        "n_emb": m.vocab_matrices,
        "n_pos": m.positions,
        "n_norm": m.norm_vectors,
        "n_bias": m.biases,
        "E": m.experts,
        "k": m.active_experts,
        "n_shared": m.shared_experts,
        "L_dense": m.dense_layers,
        "r_q": m.q_rank,
        "r_kv": m.kv_rank,
        "d_nope": m.nope_dim,
        "d_rope": m.rope_dim,
        "d_v": m.value_dim,
    }


def ask(formula, m, **more):
    """A formula at a model's letters and further values; its needs hold there."""
    return at(formula, **(letters(m) | more))


def is_matrix(name):
    """Whether a tensor is a matrix that tokens are multiplied by, or could be."""
    return "norm" not in name and "bias" not in name


def matrices(m, layer, words=()):
    """Elements of a layer's matrices; with ``words`` of those whose name begins with one of them."""
    found = [t for t in shapes.layer_tensors(m, layer) if is_matrix(t[0])]
    return shapes.size(t for t in found if not words or t[0].startswith(tuple(words)))


ATTENTION, MLP = ("query", "key", "value", "output"), ("up", "down")


def parts(m):
    """What a layer's parts hold, from the list of its tensors. The last layer has experts if any has."""
    last = m.layers - 1
    each = [shapes.size(shapes.layer_tensors(m, layer)) for layer in range(m.layers)]
    vectors = shapes.size(t for t in shapes.layer_tensors(m, last) if not is_matrix(t[0]))
    return {"P_attn": matrices(m, last, ATTENTION), "P_mlp": matrices(m, 0, MLP), "P_vec": vectors}, each


# Parameters


@checks("attention_params", "mlp_params", "layer_vectors", "layer_matrices", over=dense())
def a_layer_tensor_by_tensor(lib, m):
    found, each = parts(m)
    assert ask(lib.attention_params, m) == found["P_attn"]
    assert ask(lib.mlp_params, m) == found["P_mlp"]
    assert ask(lib.layer_vectors, m) == found["P_vec"]
    assert ask(lib.layer_matrices, m, **found) == matrices(m, 0)
    assert sum(found.values()) == each[0]


@checks("embedding_params", "parameters", "active_parameters", over=dense())
def a_model_tensor_by_tensor(lib, m):
    found, each = parts(m)
    everything = shapes.tensors(m)
    outside = shapes.size(everything) - sum(each)
    looked_up = m.vocab * m.d_model + m.positions * m.d_model
    tables = shapes.size(t for t in everything if t[0] in ("embedding", "positions", "head"))
    assert ask(lib.embedding_params, m) == tables == outside - m.norm_vectors * m.d_model
    assert ask(lib.parameters, m, P_emb=tables, **found) == shapes.size(everything)
    multiplied = sum(p.inner * p.columns for p in shapes.products(m, 1) if p.weight)
    assert ask(lib.active_parameters, m, **found) == multiplied
    assert looked_up <= tables


@checks("gpt_parameters", over=st.tuples(TINY, TINY, TINY, st.integers(1, 9), st.integers(0, 5)))
def a_gpt_tensor_by_tensor(lib, case):
    layers, heads, width, vocab, positions = case
    m = gpt(layers, heads, width, vocab, positions)
    assert ask(lib.gpt_parameters, m) == shapes.size(shapes.tensors(m)) - 2 * m.d_model


def gpt(layers, heads, width, vocab, positions=0):
    """A GPT: as many key heads as queries, an MLP four times as wide, biases, layer norms."""
    d = heads * width
    return shapes.Model(
        layers,
        d,
        4 * d,
        heads,
        heads,
        width,
        vocab,
        mlp_matrices=2,
        vocab_matrices=1,
        positions=positions,
        norm_vectors=2,
        biases=1,
    )


@checks(
    "moe_layer_params",
    "moe_active_layer_params",
    "moe_layer_vectors",
    "routed_parameters",
    "moe_parameters",
    "moe_active_parameters",
    over=routed(),
)
def a_model_with_experts(lib, m):
    experts_counted(lib, m, {"P_vec": ask(lib.moe_layer_vectors, m)})


@checks(
    "latent_attention_params",
    "latent_layer_vectors",
    "moe_layer_params",
    "moe_parameters",
    "moe_active_parameters",
    "routed_parameters",
    "moe_active_layer_params",
    over=routed(latent=True),
)
def a_model_with_latent_attention(lib, m):
    assert ask(lib.latent_attention_params, m) == matrices(m, 0, ATTENTION)
    experts_counted(lib, m, {"P_vec": ask(lib.latent_layer_vectors, m)})


def experts_counted(lib, m, vectors):
    last = m.layers - 1
    if m.dense(last):  # no layer with experts is left
        return
    found, each = parts(m)
    assert vectors["P_vec"] == found["P_vec"]
    one = matrices(m, last, ["down 0", *(f"up {i} 0" for i in range(2))])
    assert ask(lib.moe_layer_params, m, P_mlp=one) == matrices(m, last) - found["P_attn"]
    met = sum(p.inner * p.columns for p in shapes.layer_products(m, last, 1) if p.weight)
    top = ask(lib.moe_active_layer_params, m, P_mlp=one)
    assert top == met - found["P_attn"]
    routed_only = sum(m.experts for layer in range(m.layers) if not m.dense(layer)) * one
    assert ask(lib.routed_parameters, m, P_mlp=one) == routed_only
    tables = shapes.size(t for t in shapes.tensors(m) if t[0] in ("embedding", "positions", "head"))
    known = found | {"P_moe": matrices(m, last) - found["P_attn"], "P_top": top, "P_emb": tables}
    assert ask(lib.moe_parameters, m, **known) == shapes.size(shapes.tensors(m))
    multiplied = sum(p.inner * p.columns for p in shapes.products(m, 1) if p.weight)
    assert ask(lib.moe_active_parameters, m, **known) == multiplied


# FLOPs


@checks("attention_flops", "causal_attention_flops", over=st.tuples(dense(), SMALL))
def scores_and_sums_head_by_head(lib, case):
    m, tokens = case
    full = shapes.flops(shapes.attention_products(m, tokens))
    seen = shapes.flops(shapes.attention_products(m, tokens, causal=True))
    assert ask(lib.attention_flops, m, S=tokens) == Fraction(full, tokens)
    assert ask(lib.causal_attention_flops, m, S=tokens) == Fraction(seen, tokens)


@checks("latent_attention_flops", "causal_latent_attention_flops", over=st.tuples(routed(latent=True), SMALL))
def latent_scores_and_sums_head_by_head(lib, case):
    m, tokens = case
    full = shapes.flops(shapes.attention_products(m, tokens))
    seen = shapes.flops(shapes.attention_products(m, tokens, causal=True))
    assert ask(lib.latent_attention_flops, m, S=tokens) == Fraction(full, tokens)
    assert ask(lib.causal_latent_attention_flops, m, S=tokens) == Fraction(seen, tokens)


def work(m, tokens, causal=False):
    """The matmuls of one sequence, forward and backward, and the matrices that a token is multiplied by."""
    forward = shapes.products(m, tokens, causal)
    active = sum(p.inner * p.columns for p in shapes.products(m, 1) if p.weight)
    scores = shapes.flops(shapes.attention_products(m, tokens, causal))
    return forward, shapes.backward(forward), active, Fraction(scores, tokens)


@checks(
    "token_flops",
    "model_flops",
    "counted_flops",
    "training_flops",
    over=st.tuples(st.one_of(dense(), routed()), SMALL, st.booleans()),
)
def a_step_product_by_product(lib, case):
    m, tokens, causal = case
    forward, back, active, scores = work(m, tokens, causal)
    known = {"P_act": active, "ops_attn": scores, "B": tokens}
    assert ask(lib.token_flops, m, **known) == Fraction(shapes.flops(forward), tokens)
    assert ask(lib.model_flops, m, **known) == shapes.flops([*forward, *back])
    counted = ask(lib.counted_flops, m, ops_tok=Fraction(shapes.flops(forward), tokens), B=tokens)
    assert counted == shapes.flops([*forward, *back])
    assert ask(lib.training_flops, m, **known) == shapes.flops(p for p in [*forward, *back] if p.weight)


@checks(
    "mean_attention_flops",
    "mean_causal_attention_flops",
    over=st.tuples(dense(), SMALL, SMALL, st.integers(0, 7)),
)
def layers_that_see_a_window(lib, case):
    """Scores and weighted sums, token by token: those that it sees; by MFU's convention always as many as it can."""
    m, tokens, window, narrow = case
    window, narrow = min(window, tokens), min(narrow, m.layers)
    seen, most = 0, 0
    for layer in range(m.layers):
        back = window if layer < narrow else tokens
        most += sum(back for _ in range(tokens))
        seen += sum(len(range(max(0, token + 1 - back), token + 1)) for token in range(tokens))
    pair = shapes.flops(shapes.attention_products(m, 1))  # of a token and one that it sees
    known = {"S": tokens, "S_win": window, "L_win": narrow}
    assert ask(lib.mean_attention_flops, m, **known) == Fraction(pair * most, tokens * m.layers)
    assert ask(lib.mean_causal_attention_flops, m, **known) == Fraction(pair * seen, tokens * m.layers)


@checks(
    "repeated_flops", "selective_repeated_flops", "hardware_flops", "recompute_flops", over=st.tuples(dense(), SMALL)
)
def a_step_with_layers_run_again(lib, case):
    m, tokens = case
    forward, back, active, scores = work(m, tokens)
    layers = [p for layer in range(m.layers) for p in shapes.layer_products(m, layer, tokens)]
    again, attention = shapes.flops(layers), shapes.flops(p for p in layers if not p.weight)
    known = {"P_act": active, "ops_attn": scores, "B": tokens, "P_layer": matrices(m, 0)}
    assert ask(lib.repeated_flops, m, **known) == Fraction(again, tokens)
    assert ask(lib.selective_repeated_flops, m, **known) == Fraction(attention, tokens)
    for extra in (again, attention):
        done = shapes.flops([*forward, *back]) + extra
        assert ask(lib.hardware_flops, m, **known, ops_recompute=Fraction(extra, tokens)) == done
    twice = [p for p in [*forward, *back, *forward] if p.weight]
    assert ask(lib.recompute_flops, m, **known) == shapes.flops(twice)


def read_by_gradients(products):
    """The matmuls whose result something reads in the backward pass; that of a matmul reads its inputs alone.

    Read are: results that enter another matmul or a softmax, and those that are multiplied by something. The result of
    the last matmul of a layer is only added to the layer's input. An expert's is multiplied by its gate.
    """
    return [p for p in products if p.name != "down"]


@checks("early_repeated_flops", "scores_repeated_flops", over=st.tuples(dense(), SMALL))
def a_step_that_repeats_what_gradients_read(lib, case):
    m, tokens = case
    layers = [p for layer in range(m.layers) for p in shapes.layer_products(m, layer, tokens)]
    scores = [p for p in layers if p.name.startswith("scores")]
    known = {"ops_attn": work(m, tokens)[3], "P_layer": matrices(m, 0), "P_last": matrices(m, 0, ["down"]), "S": tokens}
    again = shapes.flops(read_by_gradients(layers))
    assert ask(lib.early_repeated_flops, m, **known) == Fraction(again, tokens)
    assert ask(lib.early_repeated_flops, m, **known | {"P_last": 0}) == Fraction(shapes.flops(layers), tokens)
    assert ask(lib.scores_repeated_flops, m, **known) == Fraction(shapes.flops(scores), tokens)


@checks("megatron_flops", over=st.tuples(TINY, TINY, TINY, st.integers(1, 9), SMALL))
def a_gpt_with_layers_run_again(lib, case):
    layers, heads, width, vocab, tokens = case
    m = gpt(layers, heads, width, vocab)
    forward, back, _, _ = work(m, tokens)
    again = [p for layer in range(layers) for p in shapes.layer_products(m, layer, tokens)]
    assert ask(lib.megatron_flops, m, S=tokens, B=tokens) == shapes.flops([*forward, *back, *again])


@checks(
    "mfu",
    "hfu",
    "mfu_from_hfu",
    "mfu_step_time",
    "run_time",
    "gpu_time",
    "flops_gpu_time",
    over=st.tuples(dense(), SMALL, RATES, st.integers(1, 4)),
)
def a_run_watched_by_the_clock(lib, case):
    """GPUs that do the FLOPs one by one at their rate, and are idle for as long again."""
    m, tokens, rate, gpus = case
    forward, back, _, _ = work(m, tokens)
    needed, done = (shapes.flops(found) for found in ([*forward, *back], [*forward, *back, *forward]))
    step = 2 * sum(Fraction(p.flops, gpus) / rate for p in [*forward, *back, *forward])
    run = {"N_gpu": gpus, "C": rate, "T_step": step}
    assert at(lib.hfu, ops_run=done, **run) == Fraction(1, 2)
    share = at(lib.mfu, ops=needed, **run)
    assert share == Fraction(needed, 2 * done)
    assert at(lib.mfu_from_hfu, HFU=Fraction(1, 2), ops=needed, ops_run=done) == share
    assert at(lib.mfu_step_time, ops=needed, N_gpu=gpus, C=rate, MFU=share) == step
    assert at(lib.run_time, T_step=step, B_run=5 * tokens, B=tokens) == sum([step] * 5)
    clocks = sum(sum([step] * 5) for _ in range(gpus))  # one in each GPU
    assert at(lib.gpu_time, N_gpu=gpus, T_run=sum([step] * 5)) == clocks
    assert at(lib.flops_gpu_time, ops=sum([needed] * 5), C=rate, MFU=share) == clocks


@checks("run_cost", over=st.tuples(st.integers(1, 3), st.integers(1, 4), st.fractions(0, 5, max_denominator=100)))
def every_hour_of_every_gpu_paid(lib, case):
    gpus, hours, price = case
    minutes = range(hours * 60)
    seconds = sum(60 for _ in range(gpus) for _ in minutes)
    assert at(lib.run_cost, p_gpu=price, T_gpu=seconds) == sum(price for _ in range(gpus) for _ in minutes[::60])


@checks("run_cost", "gpu_time")
def published_cost(lib):
    """DeepSeek-V3, table 1: dollars of the pre-training at 2 dollars per GPU-hour."""
    hours, dollars = (claim(f"deepseek-v3:{of}-pretraining").published for of in ("hours", "cost"))
    close(lib.run_cost(p_gpu=2, T_gpu=lib.gpu_time(N_gpu=2048, T_run=hours / 2048)), dollars)
