"""What the page needs to draw one step of decoding: its formulas per GPU, models, GPUs, and runs that were measured.

A step on GPUs that split a model by tensor parallelism reads weights and KV cache, computes, and waits for two
all-reduces per layer. Nothing here is a formula of its own: all are composed of those of the rooms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import sympy
from sympy import Min

from gpuscale.collectives.algorithms import one_shot_all_reduce, two_shot_all_reduce
from gpuscale.core.evaluation import evaluate
from gpuscale.serving import across_gpus, decode_bytes, decode_compute, decode_time
from gpuscale.serving.given_decode import Sustained, decode_inputs, gpt_fast, peak
from gpuscale.specs.measured_serving import serving_rows
from gpuscale.specs.registry import chip, model
from gpuscale.symbols import *
from gpuscale.units import show

# Formats to choose from, by the width of most weights: what dense models take, and models with experts in 4 bits.
_WIDTHS = {"bf16": "bf16", "fp8": "8-bit", "fp4": "4-bit"}
_HALF, _BYTE = {"weights": "bf16"}, {"weights": "fp8"}
_FORMS = {
    "dense": {"bf16": _HALF, "fp8": _BYTE, "fp4": {"weights": "int4_g128"}},
    "mxfp4": {"bf16": _HALF, "fp8": _BYTE | {"head": "bf16"}, "fp4": _HALF | {"experts": "mxfp4"}},
    "nvfp4": {"bf16": _HALF, "fp8": _BYTE | {"head": "bf16"}, "fp4": _HALF | {"experts": "nvfp4"}},
}


class MeasuredStep(NamedTuple):
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
    *,
    latency: float,
    usable: float = 0.9,
    constants: Sustained | None = None,
    runs: Sequence[MeasuredStep] | None = None,
) -> dict:
    """The steps of ``models`` on ``gpus``, keys of the data, for ``widgets.decode_stage``.

    ``latency`` is that of an all-reduce step [s], ``usable`` the fraction of the HBM that an engine may use. The
    estimate has the ``constants`` of gpt-fast, and the runs are all that fit, unless they are given.
    """
    constants = constants or gpt_fast()
    runs = measured_steps(models, gpus) if runs is None else runs
    formulas, known = {}, {}
    for key in models:
        given, (kind, routed) = decode_inputs(key), _kind(key)
        names = {name: f"{name}_{kind}_{'routed' if routed else 'dense'}" for name in _costs(kind, routed)}
        formulas |= {names[name]: expression for name, expression in _costs(kind, routed).items()}
        known[key] = {
            "name": model(key).short,
            "calls": names,
            "given": {name: given[name] for name in _needed(kind, routed) if name in given}
            | {"f_mem": usable, **constants._asdict(), "alpha": latency},
            "formats": {form: _format(key, of) for form, of in _FORMS[_forms(key)].items()},
            "kind": _forms(key),
            "layers": given["L"],
            "experts": given["E"] if routed else 0,
            "latent": kind == "latent",
        }
    return {
        "models": known,
        "weights": _WIDTHS,
        "formulas": formulas,
        "gpus": {
            key: {
                "name": chip(key).short,
                "memory": show(chip(key).hbm, "B", short=True),
                "given": _rates(key),
                "peaks": {
                    kind: {form: _peaks(key, of) for form, of in forms.items()} for kind, forms in _FORMS.items()
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


def measured_steps(models: Sequence[str], gpus: Sequence[str]) -> list[MeasuredStep]:
    """The published steps of ``models`` on ``gpus`` with a stated batch and context, a cache in 16 bits, and weights in
    a format that can be chosen. Of a line over contexts that is its value at 8,192 tokens."""
    found, rows = [], serving_rows()
    slopes = {(r.engine, r.model, r.chip, r.cache): r.base for r in rows if r.metric == "latency_slope"}
    for row in rows:
        fits = (
            row.model in models and row.chip in gpus and row.cache in ("bf16", "fp16") and not (row.draft or row.flag)
        )
        if not fits or row.metric not in ("decode_rate", "time_per_token", "inter_token_latency") or row.batch is None:
            continue
        widths = [width for width in _WIDTHS if _same(row, _FORMS[_forms(row.model)][width])]
        context = row.context if row.context is not None else row.input + row.output / 2
        time = 1 / row.base if row.metric == "decode_rate" else row.base
        if context == 0:
            context = _LINE
            time += _LINE * slopes.get((row.engine, row.model, row.chip, row.cache), math.nan)
        if widths and time > 0:
            found.append(
                MeasuredStep(row.engine, row.model, row.chip, row.gpus, widths[0], row.batch, round(context), time)
            )
    return found


_LINE = 8192
_STEPS = ("decode_rate", "time_per_token", "inter_token_latency")


def _same(row, of: Mapping[str, str]) -> bool:
    """Whether the weights of a row have as many bytes as a format that can be chosen."""
    own = {"weights": row.weights, "experts": row.experts or row.weights, "head": row.head or "bf16"}
    other = {
        "weights": of["weights"],
        "experts": of.get("experts", of["weights"]),
        "head": of.get("head", of["weights"]),
    }
    return _format(row.model, own) == _format(row.model, other)


def split_step(
    model: str, gpu: str, *, gpus: int, batch: int, context: int, weights: str = "bf16", latency: float = 0
) -> float:
    """The least time of a decode step [s] of a model that ``gpus`` GPUs split by tensor parallelism, all-reduces
    included. ``weights`` is "bf16", "fp8" or "fp4", ``latency`` that of an all-reduce step [s].

    >>> round(split_step("llama3_8b", "h100_sxm", gpus=1, batch=12, context=8192) * 1e3, 2)
    8.33
    """
    kind, routed = _kind(model)
    of = _FORMS[_forms(model)][weights]
    known = decode_inputs(model, batch=batch, context=context) | _format(model, of) | _rates(gpu) | _peaks(gpu, of)
    known |= {"N_gpu": gpus, "alpha": latency}
    cost = {name: _value(expression, known) for name, expression in _costs(kind, routed).items() if name in _STEP}
    read = _value(V / W_hbm, known | {"V": cost["weights"] + cost["caches"]})
    return max(read, cost["matmul"] + cost["attention"]) + (cost["comm"] if gpus > 1 else 0)


_STEP = ("weights", "caches", "matmul", "attention", "comm")


def _value(expression: sympy.Expr, known: Mapping[str, float]) -> float:
    return evaluate(expression, **{q.name: known[q.name] for q in expression.free_symbols if q.name in known})


def _kind(key: str) -> tuple[str, bool]:
    """How a model remembers, and whether it has experts."""
    given = decode_inputs(key)
    return "latent" if "r_kv" in given else "windowed" if given["L_win"] else "grouped", given["P_exp"] > 0


def _forms(key: str) -> str:
    kind, routed = _kind(key)
    return ("mxfp4" if kind == "windowed" else "nvfp4") if routed else "dense"


def _format(key: str, of: Mapping[str, str]) -> dict[str, float]:
    given = decode_inputs(key, **of)
    return {name: given[name] for name in ("b_w", "b_exp", "b_head")}


def _peaks(gpu: str, of: Mapping[str, str]) -> dict[str, float]:
    return {"C": peak(chip(gpu), of["weights"]), "C_attn": peak(chip(gpu), "bf16")}


def _rates(gpu: str) -> dict[str, float]:
    return {"W_hbm": chip(gpu).hbm_bw, "S_hbm": chip(gpu).hbm, "W": chip(gpu).nvlink_bw}


def _needed(kind: str, routed: bool) -> list[str]:
    """What the costs need to know of a model itself."""
    decided = {"B_seq", "S", "b_w", "b_exp", "b_head"}
    return sorted({q.name for expression in _costs(kind, routed).values() for q in expression.free_symbols} - decided)


@cache
def _costs(kind: str, routed: bool) -> dict[str, sympy.Expr]:
    """What a step costs one of N_gpu GPUs, as expressions of the model, the batch and the context."""
    touched = decode_bytes.experts_touched.rhs.subs(B, B_seq)
    read = decode_bytes.weights_read_moe.rhs if routed else decode_bytes.weights_read.rhs
    heads = {Y: N_gpu} | ({n_kv: 1} if kind == "latent" else {})
    held = across_gpus.cache_per_gpu.rhs.subs(heads) / V_tok  # the fraction of a sequence's cache on each GPU
    sequence = decode_bytes.cache_token_windowed if kind == "windowed" else decode_bytes.cache_sequence
    attention = decode_compute.attention_flop_absorbed if kind == "latent" else decode_compute.attention_flop_decode
    weights = read.subs(E_hit, touched)
    caches = decode_bytes.cache_read.rhs.subs(V_seq, sequence.rhs) * held
    sent = {V: B_seq * D * 2, N: N_gpu}  # an all-reduce of one vector in 16 bits for each sequence
    reduced = Min(one_shot_all_reduce.rhs.subs(sent), two_shot_all_reduce.rhs.subs(sent))
    made = {
        "weights": weights / N_gpu,
        "caches": caches,
        "matmul": (decode_compute.decode_flop.rhs - ops_kv) / C / N_gpu,
        "attention": attention.rhs / C_attn / N_gpu,
        "comm": across_gpus.decode_tensor_parallel.rhs.subs({T_mem: 0, t_layer: 0, t_ar: reduced}),
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
        made["window"] = caches - caches.subs(S_win, 0)  # what the layers with a window have of it
    return made
