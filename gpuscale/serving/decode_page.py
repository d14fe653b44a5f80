"""What the page needs to draw one step of decoding: its formulas per GPU, models, GPUs, and runs that were measured.

A step on GPUs that split a model by tensor parallelism reads weights and KV cache, computes, and waits for two
all-reduces per layer. Nothing here is a formula of its own: all are composed of those of ``serving`` and ``collectives``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sympy
from sympy import Min

from gpuscale.collectives.algorithms import one_shot_all_reduce, two_shot_all_reduce
from gpuscale.serving import decode_bytes, decode_compute, decode_time
from gpuscale.serving.given_decode import Sustained, decode_inputs, peak
from gpuscale.specs.registry import chip, model
from gpuscale.symbols import *
from gpuscale.units import show

# Formats to choose from, by the width of most weights: what dense models take, and models with experts.
WEIGHTS = {"bf16": "bf16", "fp8": "8-bit", "fp4": "4-bit"}
DENSE = {"bf16": {"weights": "bf16"}, "fp8": {"weights": "fp8"}, "fp4": {"weights": "int4_g128"}}
ROUTED = {
    "bf16": {"weights": "bf16"},
    "fp8": {"weights": "fp8", "head": "bf16"},
    "fp4": {"weights": "bf16", "experts": "mxfp4"},
}
NOT_GIVEN = ("B_seq", "S", "B", "n_ask", "E_hit", "V_tok", "V_seq")  # what a state decides


class Run(NamedTuple):
    """A measured step: who ran it, on what, and its time [s]."""

    name: str
    model: str
    gpu: str
    gpus: int
    weights: str
    batch: int
    context: int
    time: float


def decode_page(
    models: Sequence[str],
    gpus: Sequence[str],
    constants: Sustained,
    *,
    latency: float,
    usable: float = 0.9,
    runs: Sequence[Run] = (),
) -> dict:
    """The steps of ``models`` on ``gpus``, keys of the data, for ``widgets.decode_stage``.

    ``latency`` is that of an all-reduce step [s], ``usable`` the fraction of the HBM that an engine may use.
    """
    formulas = {}
    known = {}
    for key in models:
        given = decode_inputs(key)
        kind = "latent" if "r_kv" in given else "windowed" if given["L_win"] else "grouped"
        routed = "P_exp" in given and given["P_exp"] > 0
        made = _costs(kind, routed)
        names = {name: f"{name}_{kind}_{'routed' if routed else 'dense'}" for name in made}
        formulas |= {names[name]: expression for name, expression in made.items()}
        known[key] = {
            "name": model(key).short,
            "calls": names,
            "given": {k: v for k, v in given.items() if k not in (*NOT_GIVEN, "b_w", "b_exp", "b_head")}
            | {"V_tok": given["V_tok"], "f_mem": usable, **constants._asdict(), "alpha": latency},
            "formats": {
                form: {k: v for k, v in decode_inputs(key, **of).items() if k in ("b_w", "b_exp", "b_head")}
                for form, of in (ROUTED if routed else DENSE).items()
            },
            "layers": given["L"],
            "experts": given["E"] if routed else 0,
            "latent": kind == "latent",
            "kind": "routed" if routed else "dense",
        }
    return {
        "models": known,
        "weights": WEIGHTS,
        "formulas": formulas,
        "gpus": {
            key: {
                "name": chip(key).short,
                "memory": show(chip(key).hbm, "B", short=True),
                "given": {"W_hbm": chip(key).hbm_bw, "S_hbm": chip(key).hbm, "W": chip(key).nvlink_bw},
                "peaks": {
                    kind: {
                        form: {"C": peak(chip(key), of["weights"]), "C_attn": peak(chip(key), "bf16")}
                        for form, of in forms.items()
                    }
                    for kind, forms in (("dense", DENSE), ("routed", ROUTED))
                },
            }
            for key in gpus
        },
        "rows": [
            {
                "name": run.name,
                "T": run.time,
                "set": {
                    "model": run.model,
                    "gpu": run.gpu,
                    "N": run.gpus,
                    "weights": run.weights,
                    "B": run.batch,
                    "S": run.context,
                },
            }
            for run in runs
        ],
    }


def _costs(kind: str, routed: bool) -> dict[str, sympy.Expr]:
    """What a step costs one of N_gpu GPUs, as expressions of the model, the batch and the context."""
    touched = decode_bytes.experts_touched.rhs.subs(B, B_seq)
    read = decode_bytes.weights_read_moe.rhs if routed else decode_bytes.weights_read.rhs
    heads = 1 if kind == "latent" else Min(N_gpu, n_kv)  # GPUs that split a cache; the others have it once more
    sequence = decode_bytes.cache_token_windowed if kind == "windowed" else decode_bytes.cache_sequence
    attention = decode_compute.attention_flop_absorbed if kind == "latent" else decode_compute.attention_flop_decode
    weights = read.subs(E_hit, touched)
    caches = decode_bytes.cache_read.rhs.subs(V_seq, sequence.rhs) / heads
    matmul = (decode_compute.decode_flop.rhs - ops_kv) / C / N_gpu
    scores = attention.rhs / C_attn / N_gpu
    shared = {V: B_seq * D * 2, N: N_gpu}  # an all-reduce of one vector in 16 bits for each sequence
    reduced = Min(one_shot_all_reduce.rhs.subs(shared), two_shot_all_reduce.rhs.subs(shared))
    made = {
        "weights": weights / N_gpu,
        "caches": caches,
        "matmul": matmul,
        "attention": scores,
        "comm": 2 * L * reduced,
        "resident": (read.subs(E_hit, E) + (b_head if routed else b_w) * (P_emb - n_vocab * D)) / N_gpu,
        "usable": f_mem * S_hbm,
        "read": V / W_hbm,
        "estimate": decode_time.decode_estimate.rhs.subs(
            {V_w: weights, V_kv: caches * N_gpu, ops_kv: attention.rhs}, simultaneous=True
        ),
    }
    if routed:
        made |= {"fixed": read.subs(E_hit, 0) / N_gpu, "hit": touched}
    if kind == "windowed":
        far = sequence.rhs.subs(S_win, 0)  # what the layers without a window have of it
        made["window"] = caches - B_seq * far / heads
    return made
