"""What is stored: activations, tensor by tensor on each rank, and the cache, layer by layer."""

from fractions import Fraction

from formulas.harness import at, checks, rational
from formulas.llm.independent_counting import RATES, SMALL, TINY, ask, dense, gpt, matrices, routed
from hypothesis import strategies as st

from gpuscale.emulate import shapes

RANKS = st.sampled_from([(1, 1), (2, 4), (3, 6), (4, 4)])  # ranks, and the divisor of everything that is sharded
BYTES = st.sampled_from([2, 4])


@checks(
    "kept_attention",
    "kept_mlp",
    "layer_activations",
    "llama_activations",
    "checkpoint_activations",
    "layer_activations_tp",
    "layer_activations_sp",
    over=st.tuples(dense(), RANKS, TINY, TINY, BYTES),
)
def a_layer_keeps_tensor_by_tensor(lib, case):
    m, (ranks, unit), seqs, tokens, size = case
    cut = {"d_ff": unit * m.d_ff, "heads": unit * m.heads, "kv_heads": unit * m.kv_heads}
    m, tokens = shapes.Model(**(vars(m) | cut)), unit * tokens
    a = {"n_kept_attn": ask(lib.kept_attention, m), "n_kept_mlp": ask(lib.kept_mlp, m)}
    known = a | {"b": size, "n_seq": seqs, "S": tokens, "Y": ranks}
    one = [t for t in shapes.kept(m, 0, 1, 1) if "norm" not in t.name and "enters attention" not in t.name]
    assert a["n_kept_mlp"] == shapes.size(t for t in one if t.name.startswith("MLP"))
    assert a["n_kept_attn"] == shapes.size(t for t in one if not t.name.startswith(("MLP", "enters MLP")))
    whole = size * shapes.size(shapes.kept(m, 0, seqs, tokens))
    assert ask(lib.layer_activations, m, **known) == ask(lib.llama_activations, m, **known) == whole
    assert ask(lib.layer_activations_tp, m, **known) == size * shapes.size(shapes.kept(m, 0, seqs, tokens, ranks))
    fully = size * shapes.size(shapes.kept(m, 0, seqs, tokens, ranks, sequence=True))
    assert ask(lib.layer_activations_sp, m, **known) == fully
    entering = [t for t in shapes.kept(m, 0, seqs, tokens) if t.name == "enters first norm"]
    assert ask(lib.checkpoint_activations, m, **known) == size * shapes.size(entering)


@checks(
    "kept_moe", "kept_latent_attention", "layer_activations", over=st.tuples(routed(latent=True), TINY, SMALL, BYTES)
)
def a_layer_of_experts_keeps_tensor_by_tensor(lib, case):
    m, seqs, tokens, size = case
    if m.dense(m.layers - 1):
        return
    a = {"n_kept_attn": ask(lib.kept_latent_attention, m), "n_kept_mlp": ask(lib.kept_moe, m)}
    found = shapes.kept(m, m.layers - 1, seqs, tokens)
    assert a["n_kept_mlp"] * seqs * tokens == shapes.size(t for t in found if "expert" in t.name)
    assert ask(lib.layer_activations, m, **a, b=size, n_seq=seqs, S=tokens) == size * shapes.size(found)


def kept_gpt(m, seqs, tokens, ranks=1, sequence=False, selective=False):
    """What a GPT layer with dropout stores, with its scores or without (``selective``), and its dropout masks."""
    here = seqs, tokens // ranks if sequence else tokens, m.d_model
    wide = seqs, tokens
    found = [(name, here) for name in ("first norm", "attention", "second norm", "MLP")]
    found += [(name, (*wide, m.heads // ranks, m.head_dim)) for name in ("queries", "keys", "values", "enters output")]
    found += [(name, (*wide, m.d_ff // ranks)) for name in ("result of up", "enters down")]
    masks = [("attention", here), ("MLP", here)]
    if not selective:
        scores = seqs, m.heads // ranks, tokens, tokens
        found += [("softmax", scores), ("softmax after dropout", scores)]
        masks.append(("softmax", scores))
    return found, masks


@checks("mean_kept_mlp", "mean_few_mlp", over=st.one_of(dense(), routed(), routed(latent=True)))
def what_all_mlps_keep(lib, m):
    """Tensors of every layer, with experts or without; the input of the last matmul and the
    output of an expert are recomputed from others."""
    plain = [layer for layer in range(m.layers) if m.dense(layer)]
    known = {"L_dense": len(plain), "F_dense": m.width(0) if plain else 1}
    held = [t for layer in range(m.layers) for t in shapes.kept(m, layer, 1, 1)]
    held = [t for t in held if t.name.startswith("MLP") or "expert" in t.name]
    again = [t for t in held if "enters down" in t.name or t.name.startswith("leaves")]
    assert ask(lib.mean_kept_mlp, m, **known) * m.layers == shapes.size(held)
    assert ask(lib.mean_few_mlp, m, **known) * m.layers == shapes.size(held) - shapes.size(again)


@checks(
    "gpt_activations",
    "gpt_activations_tp",
    "gpt_activations_sp",
    "gpt_activations_tp_selective",
    "gpt_activations_sp_selective",
    over=st.tuples(RANKS, TINY, TINY, TINY, BYTES, st.integers(1, 3)),
)
def a_gpt_layer_keeps_tensor_by_tensor(lib, case):
    (ranks, unit), seqs, tokens, width, size, mask = case
    m = gpt(1, unit, width, 3)
    tokens *= unit
    known = {"b": size, "b_mask": mask, "n_seq": seqs, "S": tokens, "Y": ranks}

    def held(ranks, **how):
        found, masks = kept_gpt(m, seqs, tokens, ranks, **how)
        return size * shapes.size(found) + mask * shapes.size(masks)

    assert ask(lib.gpt_activations, m, **known) == held(1)
    assert ask(lib.gpt_activations_tp, m, **known) == held(ranks)
    assert ask(lib.gpt_activations_sp, m, **known) == held(ranks, sequence=True)
    assert ask(lib.gpt_activations_tp_selective, m, **known) == held(ranks, selective=True)
    assert ask(lib.gpt_activations_sp_selective, m, **known) == held(ranks, sequence=True, selective=True)


@checks("head_activations", "first_stage_activations", over=st.tuples(dense(), TINY, SMALL, BYTES, st.integers(1, 4)))
def the_ends_of_the_model(lib, case):
    m, seqs, tokens, size, stages = case
    elements = sum(seqs * tokens * width for width in (m.d_model, m.d_model))  # into the last norm, out of it
    logits = seqs * tokens * m.vocab
    ours = ask(lib.head_activations, m, n_seq=seqs, S=tokens, b=size, b_logit=4)
    assert ours == size * elements + 4 * logits
    assert at(lib.first_stage_activations, L=stages * m.layers, V_act=size) == size * m.layers * in_flight(stages)


@checks("partly_recomputed_activations", over=st.tuples(dense(), RANKS, TINY, TINY, st.integers(0, 7)))
def some_layers_run_again(lib, case):
    m, (ranks, unit), seqs, tokens, again = case
    cut = {"d_ff": unit * m.d_ff, "heads": unit * m.heads, "kv_heads": unit * m.kv_heads}
    m, tokens, again = shapes.Model(**(vars(m) | cut)), unit * tokens, min(again, m.layers)
    held = 0
    for layer in range(m.layers):
        found = shapes.kept(m, layer, seqs, tokens, ranks, sequence=True)
        held += 2 * shapes.size(found[:1] if layer < again else found)
    one = [t for t in shapes.kept(m, 0, 1, 1) if "norm" not in t.name and "enters attention" not in t.name]
    mlp = shapes.size(t for t in one if t.name.startswith("MLP"))
    attn = shapes.size(t for t in one if not t.name.startswith(("MLP", "enters MLP")))
    share = Fraction(m.layers - again, m.layers)
    known = {"n_kept_attn": attn, "n_kept_mlp": mlp, "g_keep": share, "b": 2, "n_seq": seqs, "S": tokens, "Y": ranks}
    assert ask(lib.partly_recomputed_activations, m, **known) == held


def in_flight(stages: int, microbatches: int = 12) -> int:
    """Most microbatches that the first stage holds when it may start one only while fewer than that many are out.

    Played tick by tick: every stage passes a microbatch on in one tick, forwards, then backwards.
    """
    done, waiting, most, started, clock = 0, {}, 0, 0, 0
    while done < microbatches:
        back = [i for i, tick in waiting.items() if clock - tick >= 2 * stages - 1]
        for i in back[:1]:
            del waiting[i]
            done += 1
        if started < microbatches and len(waiting) < stages:
            waiting[started] = clock
            started += 1
        most = max(most, len(waiting))
        clock += 1
    return most


@checks("layer_forward_time", "offload_time", over=st.tuples(dense(), TINY, SMALL, RATES))
def a_layer_run_again_or_sent_away(lib, case):
    m, seqs, tokens, rate = case
    found = shapes.layer_products(m, 0, tokens)
    scores = Fraction(shapes.flops(p for p in found if not p.weight), tokens)
    took = sum(Fraction(p.flops) / rate for p in found) * seqs
    ours = ask(lib.layer_forward_time, m, n_seq=seqs, S=tokens, P_layer=matrices(m, 0), ops_attn=scores, C=rate)
    assert ours == took
    held = 2 * shapes.size(shapes.kept(m, 0, seqs, tokens))
    assert at(lib.offload_time, V_act=held, W_host=rate) == sum(Fraction(2) / rate for _ in range(held // 2))


# The cache


@checks("kv_token", "kv_cache", "decode_read_time", over=st.tuples(dense(), TINY, SMALL, BYTES, RATES))
def a_cache_layer_by_layer(lib, case):
    m, seqs, tokens, size, rate = case
    assert ask(lib.kv_token, m, b=size) == size * shapes.size(shapes.cached(m, 1))
    held = sum(size * shapes.size(shapes.cached(m, tokens)) for _ in range(seqs))
    assert at(lib.kv_cache, n_seq=seqs, S=tokens, V_tok=size * shapes.size(shapes.cached(m, 1))) == held
    weights = size * shapes.size(shapes.tensors(m))
    ours = at(lib.decode_read_time, b_w=size, P=shapes.size(shapes.tensors(m)), V_kv=held, W_hbm=rate)
    assert ours == Fraction(weights + held) / rate


@checks("latent_kv_token", over=st.tuples(routed(latent=True), BYTES))
def a_latent_cache_layer_by_layer(lib, case):
    m, size = case
    assert ask(lib.latent_kv_token, m, b=size) == size * shapes.size(shapes.cached(m, 1))


@checks("attention_intensity", over=st.tuples(dense(), SMALL, SMALL, BYTES))
def attention_fused(lib, case):
    m, tokens, asking, size = case
    asking = min(asking, tokens)
    ops = sum(2 * 2 * asking * tokens * m.head_dim for _ in range(m.heads))  # scores, and sums of values
    heads = [(asking, m.head_dim)] * 2 * m.heads + [(tokens, m.head_dim)] * 2 * m.kv_heads
    moved = size * shapes.size(("", shape) for shape in heads)
    ours = ask(lib.attention_intensity, m, S=tokens, n_ask=asking, b=size)
    assert ours == Fraction(ops, moved)
    assert rational(lib.attention_intensity, S=1, n_ask=1, n_q=1, n_kv=1, b=1) == 1
