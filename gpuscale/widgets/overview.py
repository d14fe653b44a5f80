"""One layer of a model, split over GPUs in six ways: what each GPU stores, what it sends, and how long it is idle.

Every amount and time is a formula of the library; ``schedules.timelines.layer`` puts them on one clock.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuscale.collectives.algorithms import all_gather_bytes, all_reduce_bytes
from gpuscale.collectives.exchange import top_k_dispatch
from gpuscale.llm import context_parallel as cp
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import expert_parallel as ep
from gpuscale.llm import pipeline as pp
from gpuscale.llm import tensor_parallel as tp
from gpuscale.llm.model_counts import counts
from gpuscale.schedules.timelines.layer import Move
from gpuscale.specs import Part
from gpuscale.symbols import N_MB as microbatches
from gpuscale.symbols import B, E, F, L, N, P, P_attn, S, V, W, X, Y, Z, b, b_combine, b_dispatch, b_grad, b_w, k, n_cp
from gpuscale.symbols import N_stages as stages
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

DEGREES, SEQUENCES, LENGTHS = (2, 8), (8, 256), (2048, 131072)
BYTES = 2  # per weight, gradient and activation: bf16
BUBBLE = 0.1  # a pipeline pays from as many microbatches as bring its bubble below this

_SCORES = cp.cp_math.rhs * B / S


class Split(NamedTuple):
    """One way to split the layer over n GPUs: what is split, over which link, what moves by which formula [B], what a
    GPU stores [B], from when it pays, and the input with which a hand gets there ("" for none).

    ``tokens`` and ``weights`` are the dimension in which they are split: "rows", "columns", "experts" or "".
    """

    name: str
    tokens: str
    weights: str
    link: str
    moves: Sequence[tuple[Move, str]]
    stored: Any
    threshold: Any
    here: Any
    pull: str


def _gathered(size):
    """Bytes that a rank sends when an array is gathered, or scattered."""
    return all_gather_bytes.rhs.subs({V: size, N: X})


def _both(what: str, *when: str) -> list[Move]:
    return [Move(what, back, *when) for back in (False, True)]


_WHOLE = b_w * P * L
SPLITS = {
    "dp": Split("Data", "rows", "", "network", [(Move("gradients", True, "behind"), "gradients")],
        _WHOLE, dp.moe_dp_threshold, dp.dp_tokens, "seqs"),
    "zero": Split("ZeRO-3", "rows", "columns", "network",
        [*((move, "weights") for move in _both("weights", "behind")), (Move("gradients", True, "behind"), "scattered")],
        _WHOLE / X, dp.zero3_forward_threshold.rhs * E / k, dp.dp_tokens, "seqs"),
    "tp": Split("Tensor", "", "columns", "NVLink",
        [(Move("activations", back, "after", block), "activations") for back, block in
         ((False, "attention"), (False, "MLP"), (True, "MLP"), (True, "projections"))],
        _WHOLE / X, tp.tp_layer_limit.rhs.subs(F, k * F), Y, "n"),
    "pp": Split("Pipeline", "", "rows", "network", [(move, "hops") for move in _both("activations", "behind")],
        _WHOLE / X, None, microbatches, "seqs"),
    "cp": Split("Context", "columns", "", "NVLink",
        [(Move("keys and values", False, "during", "attention"), "keys"),
         (Move("keys and values", True, "during", "attention"), "keys_back"),
         (Move("gradients", True, "behind"), "gradients")],
        _WHOLE, cp.ring_attention_limit, S / n_cp, "S"),
    "ep": Split("Expert", "rows", "experts", "NVLink",
        [*((move, "tokens") for when in ("before", "after") for move in _both("tokens", when, "MLP")),
         (Move("gradients", True, "behind"), "attention_gradients")],
        b_w * L * (P_attn + ep.ep_params.rhs), ep.ep_width_top_k.rhs.subs({b_dispatch: b, b_combine: b}), F, ""),
}  # fmt: skip
_AMOUNTS = {
    "gradients": dp.dp_traffic,
    "attention_gradients": dp.dp_traffic.rhs.subs(P, P_attn),
    "weights": _gathered(b_w * P),
    "scattered": _gathered(b_grad * P),
    "activations": all_reduce_bytes.rhs.subs({V: tp.block_activations.rhs, N: Y}),
    "hops": pp.hop_bytes.rhs * microbatches * stages / L,  # a stage of L / N_stages layers sends once
    "keys": _gathered(cp.gathered_kv_held.rhs.subs(S, B)),
    "keys_back": 2 * _gathered(cp.gathered_kv_held.rhs.subs(S, B)),  # they come again, and their gradients go back
    "tokens": top_k_dispatch.rhs * W,
}
# How each moves: in a ring, twice around it, from all to all, or to the next stage
PATTERNS = dict.fromkeys(("weights", "scattered", "keys", "keys_back"), "ring") | {
    "gradients": "twice",
    "attention_gradients": "twice",
    "activations": "twice",
    "tokens": "all",
    "hops": "next",
}
_WORK = {
    "projections": tp.tp_attention_math.rhs - _SCORES,
    "attention": _SCORES,
    "MLP": tp.tp_math.rhs.subs(F, k * F),
}
FORMULAS = {
    **_AMOUNTS,
    **_WORK,
    "bubble": pp.bubble_overhead,
    **{f"stored_{key}": each.stored for key, each in SPLITS.items()},
    **{f"from_{key}": each.threshold for key, each in SPLITS.items() if each.threshold is not None},
    **{f"here_{key}": each.here for key, each in SPLITS.items()},
}
# The bytes that a GPU sends per layer, as they are called, and the inputs that fill the gaps
_GRADIENTS = "dp_traffic(P={}, b_grad={}, X={})"
CALLS = {
    "dp": (_GRADIENTS, "P b_grad X"),
    "zero": ("zero3_traffic(P={}, b_w={}, b_grad={}, X={})", "P b_w b_grad X"),
    "tp": ("4 * all_reduce_bytes(V=block_activations(b={}, B={}, D={}), N={})", "b B D N"),
    "pp": ("2 * {} * hop_bytes(b={}, B={}, D={}, N_MB={}) * {} / {}", "N_MB b B D N_MB N_stages L"),
    "cp": ("3 * all_gather_bytes(V=gathered_kv_held(b={}, S={}, n_kv={}, d_head={}), N={}) + " + _GRADIENTS,
           "b B n_kv d_head N P b_grad X"),
    "ep": ("4 * {} * top_k_dispatch(b={}, B={}, D={}, Z={}, W={}, E={}, k={}) + " + _GRADIENTS,
           "W b B D Z W E k P_attn b_grad X"),
}  # fmt: skip
WORDS = {
    "split": "Split",
    "model": "Model",
    "seqs": "sequences per step",
    "length": "tokens per sequence",
    "degree": "GPUs",
    "tokens": "tokens",
    "weights": "weights",
    "attn": "attention",
    "up": "MLP in",
    "down": "MLP out",
    "experts": "{} experts",
    "knives": {"dp": "batch", "cp": "sequence", "tp": "width", "pp": "layers", "zero": "storage", "ep": "experts"},
    "knife": "{}: split the {}",
    "stored": "Weights per GPU: {} (memory {})",
    "repeated": {
        "dp": "repeated: all weights",
        "zero": "repeated: none, but gathered for a while",
        "tp": "repeated: tokens",
        "pp": "repeated: none",
        "cp": "repeated: all weights",
        "ep": "repeated: attention",
    },
    "copies": {
        "dp": "all weights",
        "zero": "none",
        "tp": "tokens",
        "pp": "none",
        "cp": "all weights",
        "ep": "attention",
    },
    "named": {
        "projections": "projections",
        "attention": "attention",
        "MLP": "MLP",
        "gradients": "gradients",
        "weights": "weights",
        "activations": "activations",
        "keys and values": "keys and values",
        "tokens": "tokens",
    },
    "gpu": "GPU {}",
    "wire": "{}, {}",
    "moves": {
        "dp": "all-reduce of gradients",
        "zero": "all-gather of weights, reduce-scatter of gradients",
        "tp": "all-reduce of activations",
        "pp": "activations to the next stage",
        "cp": "ring of keys and values, all-reduce of gradients",
        "ep": "all-to-all of tokens, all-reduce of gradients",
    },
    "axis": {
        "dp": "tokens per GPU",
        "zero": "tokens per GPU",
        "tp": "GPUs",
        "pp": "microbatches",
        "cp": "tokens of a sequence per GPU",
        "ep": "width of an expert",
    },
    "marks": {
        "dp": "matmuls alone hide it from {}",
        "zero": "matmuls alone hide it from {}",
        "tp": "shorter than the arithmetic up to {}",
        "pp": "bubble below a tenth from {}",
        "cp": "attention hides keys and values from {}",
        "ep": "shorter than the arithmetic from {}",
    },
    "arithmetic": "arithmetic of one layer on one GPU",
    "idle": "idle {}",
    "never": "never idle",
    "sent": "{} per layer",
    "forward": "forward {}",
    "backward": "backward {}",
    "bubble": "bubble",
    "pass": "{}, {}",
    "passes": ["forward", "backward"],
    "at": "{} of {}",
    "says": {
        "dp": "<b>Data parallelism</b> splits the batch and repeats all weights.",
        "zero": "<b>ZeRO-3</b> splits the batch, and each GPU stores a part of each matrix. "
        "It gathers the rest when it needs them.",
        "tp": "<b>Tensor parallelism</b> splits each matrix and repeats the tokens.",
        "pp": "<b>Pipeline parallelism</b> splits the layers. Every microbatch passes through all GPUs.",
        "cp": "<b>Context parallelism</b> splits each sequence and repeats all weights.",
        "ep": "<b>Expert parallelism</b> splits the experts and the batch, and repeats the attention weights.",
    },
    "over": "the network",
    "sends": "With {}, a GPU sends {} per layer and {} per step over {}.",
    "pays": {
        "dp": "Its matmuls alone hide that from {} tokens per GPU; here a GPU has {}.",
        "zero": "Its matmuls alone hide that from {} tokens per GPU; here a GPU has {}.",
        "tp": "The forward transfers take less time than the arithmetic up to {} GPUs; here there are {}.",
        "pp": "Its bubble is below a tenth from {} microbatches; here there are {}.",
        "cp": "Attention alone hides keys and values from {} tokens of a sequence per GPU; here a GPU has {}.",
        "ep": "The experts take longer than the all-to-alls from a width of {}; here it is {}.",
    },
    "waits": "The GPU is <b class='wait'>idle {}</b> of the time.",
    "works": "The GPU is never idle.",
    "heads": ["Split", "Repeated", "Link", "Per layer", "Per step", "Threshold", "Here", "Idle"],
}


def overview_stage(
    models: Sequence[Part],
    *,
    name: str,
    title: str,
    caption: str,
    chip: Part,
    cut: str = "dp",
    n: int = 4,
    seqs: int = 16,
    S: int = 8192,
    at: float = 0.5,
):
    """One layer of a model split in six ways, with the numbers of ``chip``. One model at least has experts.

    Each split uses the link it usually gets. Tensor parallelism all-reduces the activations of both halves, forward and
    backward, without sequence parallelism. Latency is left out, and all units reach their peak rates.

    It opens on the first model, the split ``cut`` over ``n`` GPUs, and ``seqs`` sequences of ``S`` tokens per step.
    Returns a widget whose ``values`` hold them.
    Raises ValueError for another split, for a degree that it does not draw, and without a model that has experts.
    """
    data = [_model(each) for each in models]
    if cut not in SPLITS:
        raise ValueError(f"{name}: cut: expected one of {', '.join(SPLITS)}; got {cut}")
    if n not in (2, 4, 8):
        raise ValueError(f"{name}: n: expected 2, 4 or 8; got {n}")
    if all(each["E"] == 1 for each in data):
        raise ValueError(f"{name}: models: expected one with experts; got {', '.join(each['name'] for each in data)}")
    rates = {"network": chip.nic_bw, "NVLink": chip.nvlink_bw}
    return stage_figure(
        "overview",
        name=name,
        title=title,
        caption=caption,
        start={"cut": cut, "model": 0, "n": n, "seqs": seqs, "S": S, "C": chip.bf16},
        text=[f"{each.name}: {WORDS['moves'][key]} over {each.link}" for key, each in SPLITS.items()],
        choices={
            "cut": (WORDS["split"], {key: each.name for key, each in SPLITS.items()}),
            "model": (WORDS["model"], {i: each["name"] for i, each in enumerate(data)}),
        },
        sliders={
            "n": Slider(*DEGREES, n, "power", label=WORDS["degree"]),
            "seqs": Slider(*SEQUENCES, seqs, "power", label=WORDS["seqs"]),
            "S": Slider(*LENGTHS, S, "power", label=WORDS["length"]),
        },
        formulas=FORMULAS,
        units={"V": "B", "T": "s", "W": "B/s"},
        words=WORDS,
        data={
            "models": data,
            "bytes": dict.fromkeys((b.name, b_w.name, b_grad.name), BYTES),
            "degrees": [each.name for each in (N, X, Y, Z, n_cp, stages)],
            "micro": microbatches.name,
            "splits": {
                key: {
                    "name": each.name,
                    "tokens": each.tokens,
                    "weights": each.weights,
                    "link": each.link,
                    "W": rates[each.link],
                    "moves": [[*move, amount] for move, amount in each.moves],
                    "pull": each.pull,
                }
                for key, each in SPLITS.items()
            },
            "work": list(_WORK),
            "patterns": PATTERNS,
            "near": "NVLink",
            "memory": chip.hbm,
            "few": {str(many): _few(many) for many in (2, 4, 8)},
            "bounds": {"n": DEGREES, "seqs": SEQUENCES, "S": LENGTHS},
            "calls": {key: [call, names.split()] for key, (call, names) in CALLS.items()},
        },
        at=at,
        python="from gpuscale.collectives import all_gather_bytes, all_reduce_bytes, top_k_dispatch\n"
        "from gpuscale.llm import block_activations, dp_traffic, gathered_kv_held, hop_bytes, zero3_traffic",
    )


def _few(many: int) -> int:
    """Microbatches from which the bubble of so many stages is small."""
    return next(m for m in range(1, 1000) if float(pp.bubble_fraction(N_stages=many, N_MB=m)) <= BUBBLE)


def _model(part: Part) -> dict:
    """Inputs of the formulas. A layer counts its matrices; one without experts is one expert, and each token's."""
    count, given = counts(part), counts(part).inputs
    experts, active = given.get("E", 1), given.get("k", 1)
    out = {key: given[key] for key in ("L", "D", "F", "n_q", "n_kv", "d_head", "n_mat")}
    mlp = count.P_expert or count.P_mlp
    return out | {
        "name": part.title,
        "E": experts,
        "k": active,
        "P_attn": int(count.P_attn),
        "P": int(count.P_attn + experts * mlp),
    }
