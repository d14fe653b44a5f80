"""Counting a transformer: published parameters, operations, utilizations and activations beside ours."""

from published.rows import Row

from gpuscale.llm import activations, counts, given, kv_caches, pipeline, training_compute, training_memory, transformer
from gpuscale.specs import chip, measured, model, part
from gpuscale.units import GiB

SIZES = "playbook, sizes in LLM training"
MEGATRON, KORTH, LLAMA, DEEP = "megatron2021", "korthikanti2022", "llama3", "deepseek-v3"
H = 8192  # the width in the playbook's crash course: that of Llama 3 70B
ONE = {"n_seq": 1, "S": 4096, "b": 1}
DAY, HOUR = 86400.0, 3600.0


def row(where, says, published, compute, ours=None, outcome="rounds", limit=None):
    """A row that agrees, or, where our own value is given, one that does not."""
    return Row(where, says, published, compute, "agrees" if ours is None else outcome, ours, limit)


def heads(n_kv=64):
    return transformer.attention_params(D=H, d_head=128, n_q=64, n_kv=n_kv)


def mlp(n_mat, width=4 * H):
    return transformer.mlp_params(n_mat=n_mat, D=H, F=width)


def elements(b_master, b_mom):
    return training_memory.optimizer_bytes(b_master=b_master, b_mom=b_mom) / 4


PLAYBOOK = [
    row(SIZES, "tokens of a microbatch", 4096, lambda: activations.checkpoint_activations(D=1, **ONE)),
    row(SIZES, "hidden state of a layer", 4096 * H, lambda: activations.checkpoint_activations(D=H, **ONE)),
    row(SIZES, "a weight matrix, h^2", H**2, lambda: mlp(1, H)),
    row(
        SIZES,
        "elements of Adam's state for h^2 weights, 6 h^2",
        6 * H**2,
        lambda: elements(4, 4) * H**2,
        3 * H**2,
        "disagrees",
    ),
    row(SIZES, "query, key and value, 3 h^2", 3 * H**2, lambda: heads() * 3 / 4),
    row(SIZES, "output projection, h^2", H**2, lambda: heads() / 4),
    row(SIZES, "gate and up, 8 h^2", 8 * H**2, lambda: mlp(2)),
    row(SIZES, "down, 4 h^2", 4 * H**2, lambda: mlp(1)),
    row(
        SIZES,
        "a block with GLU of width 4 h, 16 h^2",
        16 * H**2,
        lambda: transformer.layer_matrices(P_attn=heads(), P_mlp=mlp(3)),
    ),
    row(
        SIZES,
        "the same block for a GLU of the usual width, 8 h / 3",
        16 * H**2,
        lambda: transformer.layer_matrices(P_attn=heads(), P_mlp=mlp(3, 8 * H / 3)),
        12 * H**2,
        "disagrees",
    ),
    row(
        SIZES,
        "the same block for Llama 3 70B",
        16 * H**2,
        lambda: counts("llama3_70b").P_layer,
        12.75 * H**2,
        "disagrees",
    ),
    row(
        SIZES,
        "all blocks of Llama 3 70B, 16 h^2 each",
        16 * H**2 * 80,
        lambda: counts("llama3_70b").P_layer * counts("llama3_70b").layers_dense,
        68_451_041_280,
        "disagrees",
    ),
    row(
        SIZES,
        "a block without GLU, 12 h^2",
        12 * H**2,
        lambda: transformer.layer_matrices(P_attn=heads(), P_mlp=mlp(2)),
    ),
    row(
        SIZES,
        "input embeddings",
        128256 * H,
        lambda: transformer.embedding_params(n_emb=1, n_vocab=128256, n_pos=0, D=H),
    ),
    row(SIZES, "head, not tied", 128256 * H, lambda: counts("llama3_70b").P_emb / 2),
    row(
        SIZES,
        "learned positions",
        4096 * H,
        lambda: transformer.embedding_params(n_emb=1, n_vocab=1, n_pos=4096, D=H) - H,
    ),
    row(
        SIZES,
        "operations forward, 2 for each parameter and token",
        2 * 4096 * 70e9,
        lambda: training_compute.training_flops(P_act=70e9, B=4096) / 3,
    ),
    row(
        SIZES,
        "operations backward, 4 for each parameter and token",
        4 * 4096 * 70e9,
        lambda: training_compute.training_flops(P_act=70e9, B=4096) * 2 / 3,
    ),
    row(SIZES, "bytes of bf16", 2, lambda: part("recipe", "bf16_fp32_grads").weights),
    row(SIZES, "bytes of fp32", 4, lambda: part("recipe", "bf16_fp32_grads").master),
]

# Megatron-LM, table 1: our parameters, share of the peak, FLOP/s of all GPUs; None where the print is within 0.2%
WEAK = {
    "megatron_1_7b": (1.652231e09, 0.4391026, 4.384e15),
    "megatron_3_6b": (3.562168e09, 0.4423077, 8.832e15),
    "megatron_7_5b": (7.467786e09, 0.4551282, None),
    "megatron_18_4b": (1.844976e10, 0.4326923, None),
    "megatron_39_1b": (None, 0.4423077, 7.0656e16),
    "megatron_76_1b": (None, 0.4487179, 1.4336e17),
    "megatron_145_6b": (None, 0.474359, None),
    "megatron_310_1b": (None, 0.4967949, None),
    "megatron_529_6b": (None, 0.5224359, None),
    "megatron_1008b": (None, 0.5224359, 5.00736e17),
}


def weak(pins):
    """Three rows for each of the table's. The share is one of the hardware: repeated operations are counted."""
    peak = chip("a100_sxm").bf16
    for line in measured("megatron_weak_scaling").rows:
        key, gpus, rate = line["model"], line["gpus"], line["rate"]
        title, mine = model(key).title, pins.get(line["model"], (None, None, None))
        yield row(
            f"{MEGATRON}, table 1", f"{title}: parameters", line["params"] * 1e9, lambda key=key: counts(key).P, mine[0]
        )
        yield row(
            f"{MEGATRON}, table 1",
            f"{title}: share of the peak",
            line["share"],
            lambda rate=rate: training_compute.hfu(ops_run=rate, C=peak, N_gpu=1, T_step=1),
            mine[1],
        )
        yield row(
            f"{MEGATRON}, table 1",
            f"{title}: FLOP/s of all GPUs",
            line["aggregate"],
            lambda g=gpus, r=rate: 1 / training_compute.mfu_step_time(ops=1, N_gpu=g, C=r, MFU=1),
            mine[2],
        )


def days(tokens, params, gpus, rate):
    """A run with full recomputation at a measured rate of operations done."""
    done = training_compute.recompute_flops(P_act=params, B=tokens)
    return training_compute.mfu_step_time(ops=done, N_gpu=gpus, C=rate, MFU=1) / DAY


TEXT = [
    row(
        f"{MEGATRON}, section 5.1", "GPT-3 on 1,024 A100: days", 34, lambda: days(300e9, 175e9, 1024, 140e12), 33.90842
    ),
    row(
        f"{MEGATRON}, section 5.1",
        "1 trillion parameters on 3,072 A100: days",
        84,
        lambda: days(450e9, 1008e9, 3072, 163e12),
    ),
    row(
        f"{MEGATRON}, section 5.10",
        "checkpoint of the model of 1 trillion parameters",
        13.8e12,
        lambda: training_memory.replicated_state(P=counts("megatron_1008b").P, b_w=2, b_grad=0, b_opt=12),
        1.411254e13,
    ),
    row(
        f"{MEGATRON}, equation 2",
        "parameters of the model of 145.6 billion",
        145.6e9,
        lambda: given(transformer.gpt_parameters, "megatron_145_6b"),
    ),
    row(
        f"{MEGATRON}, equation 3",
        "operations of its step of 2,304 sequences",
        96 * 2304 * 2048 * 80 * 12288**2 * (1 + 2048 / (6 * 12288) + 51200 / (16 * 80 * 12288)),
        lambda: done("megatron_145_6b", 2304 * 2048, 2048),
    ),
]


def done(key, tokens, seq):
    """The operations of a step part by part, not by Megatron's formula."""
    ops = given(transformer.attention_flops, key, S=seq)
    again = given(training_compute.repeated_flops, key, ops_attn=ops)
    return given(training_compute.hardware_flops, key, B=tokens, ops_attn=ops, ops_recompute=again)


def stage(i):
    return measured("llama3_stages").rows[i]


def ranks(i, dp=None):
    s = stage(i)
    return s["tp"] * s["cp"] * s["pp"] * (dp or s["dp"])


def tokens(i, dp=None):
    s = stage(i)
    return activations.checkpoint_activations(n_seq=s["batch"] * (dp or s["dp"]), S=s["seq"], D=1, b=1)


def share(i):
    return training_compute.mfu(ops=stage(i)["rate"], C=chip("h100_sxm").bf16, N_gpu=1, T_step=1)


HERD = [
    row(f"{LLAMA}, table 4", "8k GPUs: 8 x 1 x 16 x 64", 8192, lambda: ranks(0)),
    row(f"{LLAMA}, table 4", "16k GPUs: 8 x 1 x 16 x 128", 16384, lambda: ranks(1)),
    row(
        f"{LLAMA}, table 4", "long context: 8 x 16 x 16 x 4 for 16,384 GPUs", 16384, lambda: ranks(2), 8192, "disagrees"
    ),
    row(f"{LLAMA}, table 4", "long context, with 8 data parallel ranks", 16384, lambda: ranks(2, 8)),
    row(f"{LLAMA}, table 4", "8k GPUs: tokens of a step", 16e6, lambda: tokens(0), 16_777_216),
    row(f"{LLAMA}, table 4", "16k GPUs: tokens of a step", 16e6, lambda: tokens(1), 16_777_216),
    row(f"{LLAMA}, table 4", "long context: tokens of a step", 16e6, lambda: tokens(2), 8_388_608, "disagrees"),
    row(f"{LLAMA}, table 4", "long context, tokens with 8 data parallel ranks", 16e6, lambda: tokens(2, 8), 16_777_216),
    row(f"{LLAMA}, table 4", "8k GPUs: MFU", 0.43, lambda: share(0), 0.4346068),
    row(f"{LLAMA}, table 4", "16k GPUs: MFU", 0.41, lambda: share(1), 0.4042854),
    row(f"{LLAMA}, table 4", "long context: MFU", 0.38, lambda: share(2), 0.3840712),
    *(
        row(f"{LLAMA}, table 3", f"{name}: parameters", model(key).params, lambda key=key: counts(key).P, pin)
        for key, name, pin in (
            ("llama3_8b", "8B", 8.030261e09),
            ("llama3_70b", "70B", 7.055371e10),
            ("llama3_405b", "405B", 4.058534e11),
        )
    ),
    row(
        f"{LLAMA}, section 3.2",
        "operations of pre-training, as stated",
        3.8e25,
        lambda: training_compute.training_flops(P_act=counts("llama3_405b").P_act, B=model("llama3_405b").train_tokens),
        3.77908e25,
    ),
    row(
        f"{LLAMA}, section 3.2",
        "6 for each of 405 billion parameters and token",
        3.79e25,
        lambda: training_compute.training_flops(P_act=405e9, B=model("llama3_405b").train_tokens),
    ),
]

# Activations of a GPT layer in the paper's own letters, at its model of 22 billion parameters
A22 = {"n_seq": 4, "S": 2048, "D": 6144, "b": 2, "b_mask": 1}
SBH, TERM = 2048 * 4 * 6144, 5 * 64 * 2048 / 6144
KEPT = [
    row(
        f"{KORTH}, table 2",
        f"bytes of a layer, {says}",
        SBH * printed,
        lambda f=f, more=more: f(
            **{k: v for k, v in (A22 | {"F": 4 * 6144, "n_q": 64} | more).items() if k in {q.name for q in f.inputs}}
        ),
    )
    for says, printed, f, more in (
        ("no parallelism", 34 + TERM, activations.gpt_activations, {}),
        ("tensor parallel", 10 + 24 / 8 + TERM / 8, activations.gpt_activations_tp, {"Y": 8}),
        ("tensor and sequence parallel", 34 / 8 + TERM / 8, activations.gpt_activations_sp, {"Y": 8}),
        ("tensor parallel, selective", 10 + 24 / 8, activations.gpt_activations_tp_selective, {"Y": 8}),
        ("tensor and sequence parallel, selective", 34 / 8, activations.gpt_activations_sp_selective, {"Y": 8}),
        ("full recomputation", 2, activations.checkpoint_activations, {}),
    )
]


def first(n, f, **shape):
    """GiB of the first stage: n layers' worth of a layer's activations on 8 tensor parallel ranks."""
    layer = f(
        **{
            k: v
            for k, v in (shape | {"S": 2048, "b": 2, "b_mask": 1, "Y": 8, "F": 4 * shape["D"]}).items()
            if k in {q.name for q in f.inputs}
        }
    )
    return activations.first_stage_activations(L=n, V_act=layer) / GiB


def held():
    return pipeline.first_stage_layers(L=105, N_stages=35, n_virt=3, N_MB=280)


def state(L, D, ranks, pos):
    """GiB of weights, gradients and optimizer on one of the ranks that the model alone is cut over."""
    p = transformer.gpt_parameters(L=L, D=D, n_vocab=51200, n_pos=pos)
    return training_memory.replicated_state(P=p, b_w=2, b_grad=4, b_opt=12) / ranks / GiB


def matrices(L, D, ranks):
    p = L * transformer.layer_matrices(P_attn=4 * D**2, P_mlp=8 * D**2)
    return training_memory.replicated_state(P=p, b_w=2, b_grad=4, b_opt=12) / ranks / GiB


B22, B530 = {"n_seq": 4, "D": 6144, "n_q": 64}, {"n_seq": 1, "D": 20480, "n_q": 128}
FIGURE = [
    row(
        f"{KORTH}, figure 1",
        "22B: activations of the first stage, GiB",
        59.25,
        lambda: first(48, activations.gpt_activations_tp, **B22),
    ),
    row(
        f"{KORTH}, figure 1",
        "22B: with sequence parallelism and selective recomputation, GiB",
        9.5625,
        lambda: first(48, activations.gpt_activations_sp_selective, **B22),
    ),
    row(
        f"{KORTH}, figure 1",
        "530B: activations of the first stage, GiB",
        114.0234375,
        lambda: first(held(), activations.gpt_activations_tp, **B530),
    ),
    row(
        f"{KORTH}, figure 1",
        "530B: with sequence parallelism and selective recomputation, GiB",
        23.076171875,
        lambda: first(held(), activations.gpt_activations_sp_selective, **B530),
    ),
    row(
        f"{KORTH}, figure 1",
        "22B: weights, gradients and optimizer, GiB",
        45.5625,
        lambda: state(48, 6144, 8, 2048),
        46.25608,
        limit=lambda: matrices(48, 6144, 8),
    ),
    row(
        f"{KORTH}, figure 1",
        "530B: weights, gradients and optimizer, GiB",
        31.640625,
        lambda: state(105, 20480, 280, 2048),
        31.70759,
        limit=lambda: matrices(105, 20480, 280),
    ),
    row(
        f"{KORTH}, table 2",
        "layers' worth held by the first stage, one forward, one backward",
        48,
        lambda: activations.first_stage_activations(L=48, V_act=1),
    ),
    row(
        f"{KORTH}, section 4.2.3", "layers' worth held by the first stage, interleaved", 105 * (1 + 34 / (35 * 3)), held
    ),
]


def hours(tokens):
    """GPU-hours at 180 thousand for each trillion tokens."""
    return training_compute.run_time(T_step=180e3 * HOUR, B_run=tokens, B=1e12) / HOUR


COST = [
    row(f"{DEEP}, table 1", "GPU-hours of pre-training", 2664e3, lambda: hours(14.8e12)),
    row(
        f"{DEEP}, section 1", "days for a trillion tokens on 2,048 GPUs", 3.7, lambda: hours(1e12) / 2048 / 24, 3.662109
    ),
    row(
        f"{DEEP}, table 1",
        "GPU-hours in all",
        2788e3,
        lambda: hours(14.8e12) + sum(measured("deepseek_v3_cost").gpu_hours[1:3]),
    ),
    row(f"{DEEP}, table 1", "dollars of pre-training", 5.328e6, lambda: 2 * hours(14.8e12)),
    row(f"{DEEP}, table 1", "dollars in all", 5.576e6, lambda: 2 * sum(measured("deepseek_v3_cost").gpu_hours[:3])),
    row(f"{DEEP}, section 1", "parameters", 671e9, lambda: counts("deepseek_v3").P),
    row(f"{DEEP}, section 1", "parameters that work on a token", 37e9, lambda: counts("deepseek_v3").P_act, 3.66246e10),
    row(
        "deepseek-v3-weights, structure",
        "parameters that work on a token",
        36.7e9,
        lambda: counts("deepseek_v3").P_act,
        3.66246e10,
    ),
]

OTHERS = [
    row("gpt3, table 2.1", "parameters of GPT-3, 175.0 billion", 175e9, lambda: counts("gpt3_175b").P, 1.746043e11),
    row("gpt3, table D.1", "parameters of GPT-3", 174.6e9, lambda: counts("gpt3_175b").P),
    row(
        "gpt3, table D.1",
        "operations of its training",
        3.14e23,
        lambda: training_compute.training_flops(P_act=counts("gpt3_175b").P_act, B=model("gpt3_175b").train_tokens),
    ),
    row("gpt-oss, table 1", "parameters", 116.83e9, lambda: counts("gpt_oss_120b").P),
    row(
        "gpt-oss, table 1",
        "parameters of the experts",
        114.71e9,
        lambda: counts("gpt_oss_120b").P_moe * counts("gpt_oss_120b").layers_moe,
    ),
    row(
        "gpt-oss, table 1",
        "parameters of attention",
        0.96e9,
        lambda: counts("gpt_oss_120b").P_attn * counts("gpt_oss_120b").layers_moe,
        9.555149e08,
    ),
    row("gpt-oss, table 1", "embedding and head", 1.16e9, lambda: counts("gpt_oss_120b").P_emb),
    row("gpt-oss, table 1", "parameters that work on a token", 5.13e9, lambda: counts("gpt_oss_120b").P_act),
    row("mixtral, section 1", "parameters", 47e9, lambda: counts("mixtral_8x7b").P, 4.670279e10),
    row(
        "mixtral, section 1", "parameters that work on a token", 13e9, lambda: counts("mixtral_8x7b").P_act, 1.274859e10
    ),
    row(
        "cs336, lecture 10",
        "intensity of attention in prefill, S/2",
        4096 / 2,
        lambda: kv_caches.attention_intensity(n_ask=4096, S=4096, n_q=32, n_kv=32, b=2),
    ),
    row(
        "cs336, lecture 10",
        "intensity of attention in decode, at most 1",
        1,
        lambda: kv_caches.attention_intensity(n_ask=1, S=4096, n_q=32, n_kv=32, b=2),
    ),
]

ROWS = [*PLAYBOOK, *weak(WEAK), *TEXT, *HERD, *KEPT, *FIGURE, *COST, *OTHERS]
