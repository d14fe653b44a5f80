"""One layer of a model, split over GPUs in six ways: what each GPU stores, what it sends, and from when it pays.

Expressions of the formulas of this folder, for a figure that puts them on one clock
(``schedules.timelines.layer``). Tensor parallelism all-reduces the activations of both halves, forward and backward,
without sequence parallelism. Latency is left out, and all units reach their peak rates.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpuscale.collectives.algorithms import all_gather_bytes, all_reduce_bytes
from gpuscale.collectives.exchange import top_k_dispatch
from gpuscale.llm import context_parallel as cp
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import expert_parallel as ep
from gpuscale.llm import pipeline as pp
from gpuscale.llm import tensor_parallel as tp
from gpuscale.llm.model_counts import counts
from gpuscale.specs import Part
from gpuscale.symbols import N_MB as microbatches
from gpuscale.symbols import B, E, F, L, N, P, P_attn, S, V, W, X, Y, Z, b, b_combine, b_dispatch, b_grad, b_w, k, n_cp
from gpuscale.symbols import N_stages as stages

BYTES = 2  # per weight, gradient and activation: bf16
BUBBLE = 0.1  # a pipeline pays from as many microbatches as bring its bubble below this

_SCORES = cp.cp_math.rhs * B / S


class LayerSplit(NamedTuple):
    """One way to split the layer over n GPUs: what is split, over which link, what moves by which formula [B], what a
    GPU stores [B], from when it pays, and the input with which a hand gets there ("" for none).

    A move is what moves, whether in the backward pass, when, at which block, and its amount, as
    ``schedules.timelines.layer.Move`` says. ``tokens`` and ``weights`` are the dimension in which they are split:
    "rows", "columns", "experts" or "".
    """

    name: str
    tokens: str
    weights: str
    link: str
    moves: Sequence[tuple[str, bool, str, str, str]]
    stored: Any
    threshold: Any
    here: Any
    pull: str


def _gathered(size):
    """Bytes that a rank sends when an array is gathered, or scattered."""
    return all_gather_bytes.rhs.subs({V: size, N: X})


_WHOLE = b_w * P * L
_GRADIENTS = ("gradients", True, "behind", "", "gradients")
_ENDS = (False, "attention"), (False, "MLP"), (True, "MLP"), (True, "projections")  # of the halves of a layer
_PASSES = False, True
SPLITS = {
    "dp": LayerSplit("Data", "rows", "", "network", [_GRADIENTS], _WHOLE, dp.moe_dp_threshold, dp.dp_tokens, "seqs"),
    "zero": LayerSplit("ZeRO-3", "rows", "columns", "network",
        [*(("weights", back, "behind", "", "weights") for back in _PASSES),
         ("gradients", True, "behind", "", "scattered")],
        _WHOLE / X, dp.zero3_forward_threshold.rhs * E / k, dp.dp_tokens, "seqs"),
    "tp": LayerSplit("Tensor", "", "columns", "NVLink",
        [("activations", back, "after", block, "activations") for back, block in _ENDS],
        _WHOLE / X, tp.tp_layer_limit.rhs.subs(F, k * F), Y, "n"),
    "pp": LayerSplit("Pipeline", "", "rows", "network",
        [("activations", back, "behind", "", "hops") for back in _PASSES], _WHOLE / X, None, microbatches, "seqs"),
    "cp": LayerSplit("Context", "columns", "", "NVLink",
        [("keys and values", False, "during", "attention", "keys"),
         ("keys and values", True, "during", "attention", "keys_back"), _GRADIENTS],
        _WHOLE, cp.ring_attention_limit, S / n_cp, "S"),
    "ep": LayerSplit("Expert", "rows", "experts", "NVLink",
        [*(("tokens", back, when, "MLP", "tokens") for when in ("before", "after") for back in _PASSES),
         ("gradients", True, "behind", "", "attention_gradients")],
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
_TRAFFIC = "dp_traffic(P={}, b_grad={}, X={})"
CALLS = {
    "dp": (_TRAFFIC, "P b_grad X"),
    "zero": ("zero3_traffic(P={}, b_w={}, b_grad={}, X={})", "P b_w b_grad X"),
    "tp": ("4 * all_reduce_bytes(V=block_activations(b={}, B={}, D={}), N={})", "b B D N"),
    "pp": ("2 * {} * hop_bytes(b={}, B={}, D={}, N_MB={}) * {} / {}", "N_MB b B D N_MB N_stages L"),
    "cp": ("3 * all_gather_bytes(V=gathered_kv_held(b={}, S={}, n_kv={}, d_head={}), N={}) + " + _TRAFFIC,
           "b B n_kv d_head N P b_grad X"),
    "ep": ("4 * {} * top_k_dispatch(b={}, B={}, D={}, Z={}, W={}, E={}, k={}) + " + _TRAFFIC,
           "W b B D Z W E k P_attn b_grad X"),
}  # fmt: skip


def split_page(models: Mapping[str, str], chip: Part) -> dict:
    """What the page needs to split a layer of ``models``, {"Llama 3 70B": "llama3_70b"}, over GPUs like ``chip``.

    The formulas, and the data of models, splits and links. Raises ValueError without a model that has experts.
    """
    data = [{"name": name} | _model(key) for name, key in models.items()]
    if all(each["E"] == 1 for each in data):
        raise ValueError(f"split_page: models: expected one with experts; got {', '.join(models)}")
    rates = {"network": chip.nic_bw, "NVLink": chip.nvlink_bw}
    return {
        "formulas": FORMULAS,
        "C": chip.bf16,
        "data": {
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
                    "moves": [list(move) for move in each.moves],
                    "pull": each.pull,
                }
                for key, each in SPLITS.items()
            },
            "work": list(_WORK),
            "patterns": PATTERNS,
            "near": "NVLink",
            "memory": chip.hbm,
            "few": {str(many): _few(many) for many in (2, 4, 8)},
            "calls": {key: [call, names.split()] for key, (call, names) in CALLS.items()},
        },
    }


def _few(many: int) -> int:
    """Microbatches from which the bubble of so many stages is small."""
    return next(m for m in range(1, 1000) if float(pp.bubble_fraction(N_stages=many, N_MB=m)) <= BUBBLE)


def _model(key: str) -> dict:
    """Inputs of the formulas. A layer counts its matrices; one without experts is one expert, and each token's."""
    count, given = counts(key), counts(key).inputs
    experts, active = given.get("E", 1), given.get("k", 1)
    out = {key: given[key] for key in ("L", "D", "F", "n_q", "n_kv", "d_head", "n_mat")}
    mlp = count.P_expert or count.P_mlp
    return out | {
        "E": experts,
        "k": active,
        "P_attn": int(count.P_attn),
        "P": int(count.P_attn + experts * mlp),
    }
