"""A decode step, a prefill or a server's memory for a model and a GPU of the data: the formulas that fit, in numbers.

``step("llama3_70b", "h100_sxm", batch=64, context=4096, gpus=8)`` picks the formulas by what the model has: grouped
heads or latent attention, sliding windows, experts. Its two constants of an estimate follow from measured steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache as remembered
from typing import NamedTuple

import numpy as np

from gpuscale.core.evaluation import evaluate
from gpuscale.core.formula import Formula
from gpuscale.llm.model_counts import counts
from gpuscale.serving import across_gpus, cache_memory, decode_bytes, decode_compute, decode_time
from gpuscale.serving.decode_numbers import decode_inputs, peak
from gpuscale.specs.entry import Part
from gpuscale.specs.measured_serving import ServingRow, serving_rows
from gpuscale.specs.registry import chip as _chip

# What the constants of ``gpt_fast`` are fitted to
FITTED = {"engine": "gpt-fast", "model": "llama2_7b", "weights": "bf16"}


class Sustained(NamedTuple):
    """The two constants of an estimate: a fraction of HBM bandwidth, and seconds per layer that bytes don't explain."""

    eta_hbm: float
    t_layer: float


class DecodeStep(NamedTuple):
    """A decode step: bytes and FLOPs of all GPUs, and times. ``estimate`` is None without the two constants.

    ``V_w`` and ``V_kv`` count what several GPUs read as often as it is read. ``limit`` names what the bound follows
    from: "weights" or "cache", whichever is more of the bytes, or "compute". ``rate``: tokens per second of all
    sequences at the bound, one per sequence.
    """

    V_w: float
    V_kv: float
    V_read: float
    ops: float
    ops_kv: float
    bound: float
    summed: float
    estimate: float | None
    limit: str
    rate: float


class Prefill(NamedTuple):
    """The prefill of one prompt: FLOPs, bytes of weights, and the lower bound of its time."""

    ops: float
    V_w: float
    bound: float


class CacheRoom(NamedTuple):
    """What fits into the memory of a server: bytes that its weights and buffers hold, blocks and tokens of the cache,
    and sequences of a given context."""

    V_res: float
    blocks: int
    tokens: int
    sequences: int


def value(formula: Formula, known: Mapping[str, float], **more) -> float:
    """A formula at those of the known quantities that it needs."""
    known = {**known, **more}
    return evaluate(formula, **{q.name: known[q.name] for q in formula.inputs if q.name in known})


def decode_attention(known: Mapping[str, float], absorbed: bool = True) -> Formula:
    """The formula of the FLOPs of attention for a model whose inputs are known."""
    if "r_kv" not in known:
        return decode_compute.attention_flop_decode
    return decode_compute.attention_flop_absorbed if absorbed else decode_compute.attention_flop_unabsorbed


def step(
    model: Part | str,
    gpu: Part | str,
    *,
    batch: float = 1,
    context: float = 1,
    weights: str = "bf16",
    cache: str = "bf16",
    gpus: int = 1,
    group: int | None = None,
    whole_head: bool = False,
    tokens: float = 1,
    experts: str | None = None,
    head: str | None = None,
    absorbed: bool = True,
    constants: Sustained | None = None,
    t_ar: float = 0.0,
) -> DecodeStep:
    """A decode step of ``batch`` sequences with ``context`` tokens each, on ``gpus`` GPUs.

    Bytes and FLOPs are split evenly unless more is said. ``group``: GPUs that share the attention of a sequence by
    tensor parallelism; groups have sequences of their own and copies of attention's weights, and a key-value head is
    stored by several GPUs if there are fewer heads. ``whole_head``: each GPU reads all of the output head. ``tokens``:
    tokens of a sequence that a step works on, more than one with speculation. ``absorbed``: the order of latent
    attention. ``constants``: those of the estimate, which has two all-reduces of ``t_ar`` per layer on top.

    >>> llama = step("llama3_8b", "h100_sxm", batch=8, context=4096)
    >>> llama.limit, round(llama.bound * 1e3, 2)
    ('weights', 5.76)
    """
    chip = _chip(gpu) if isinstance(gpu, str) else gpu
    formats = {"experts": experts, "head": head}
    known = decode_inputs(model, weights, cache, batch=batch, context=context, tokens=tokens, **formats)
    known |= {"W_hbm": chip.hbm_bw, "C": peak(chip, weights), "C_attn": peak(chip, cache), "N_gpu": gpus}
    known["V_w"] = value(decode_bytes.weights_read_moe, known)
    known["V_kv"] = value(decode_bytes.cache_read, known)
    if group:
        known |= {"Y": group, "V_attn": known["b_w"] * known["L"] * known["P_attn"]}
        known["V_w"] = gpus * value(across_gpus.data_parallel_read, known)
        known["V_kv"] *= value(across_gpus.cache_replication, known, n_kv=1 if "r_kv" in known else known["n_kv"])
    if whole_head:
        known["V_w"] = gpus * value(across_gpus.whole_head_read, known, Y=gpus)
    known["V_read"] = value(decode_bytes.bytes_read, known)
    known["B_seq"] = batch * tokens  # each of a sequence's tokens does the arithmetic of one
    known["ops_kv"] = value(decode_attention(known, absorbed), known)
    known["ops"] = value(decode_compute.decode_flop, known)
    bound = value(decode_time.decode_bound, known)
    memory = known["V_read"] / chip.hbm_bw / gpus >= bound * (1 - 1e-12)
    larger = "weights" if known["V_w"] >= known["V_kv"] else "cache"
    expected = None
    if constants:
        alone = value(decode_time.decode_estimate, known, eta_hbm=constants.eta_hbm, t_layer=0)
        reduced = {"Y": 1, "T_mem": alone, "t_ar": t_ar, "t_layer": constants.t_layer}
        expected = value(across_gpus.decode_tensor_parallel, known, **reduced)
    return DecodeStep(
        *(known[name] for name in ("V_w", "V_kv", "V_read", "ops", "ops_kv")),
        bound=bound,
        summed=value(decode_time.decode_sum, known),
        estimate=expected,
        limit=larger if memory else "compute",
        rate=batch / bound,
    )


def prefill(
    model: Part | str,
    gpu: Part | str,
    *,
    prompt: int,
    cached: int = 0,
    weights: str = "bf16",
    gpus: int = 1,
    experts: str | None = None,
    head: str | None = None,
) -> Prefill:
    """The prefill of a prompt, of which ``cached`` tokens are in the cache, on ``gpus`` GPUs that split it evenly.

    >>> round(prefill("llama3_8b", "h100_sxm", prompt=8192).bound * 1e3)
    133
    """
    chip = _chip(gpu) if isinstance(gpu, str) else gpu
    known = decode_inputs(model, weights, tokens=prompt - cached, experts=experts, head=head)
    known |= {"S_in": prompt, "S_hit": cached, "N_gpu": gpus, "W_hbm": chip.hbm_bw, "C": peak(chip, weights)}
    ops = value(decode_compute.prefill_flop_latent if "r_kv" in known else decode_compute.prefill_flop_windowed, known)
    read = value(decode_bytes.weights_read_moe, known)
    return Prefill(ops, read, value(decode_time.prefill_bound, known, ops=ops, V_w=read))


def cache_room(
    model: Part | str,
    gpu: Part | str,
    *,
    context: int,
    weights: str = "bf16",
    cache: str = "bf16",
    gpus: int = 1,
    group: int | None = None,
    usable: float = 0.9,
    buffers: float = 0.0,
    page: int = 16,
    experts: str | None = None,
    head: str | None = None,
) -> CacheRoom:
    """How many sequences of ``context`` tokens fit, in blocks of ``page`` tokens.

    ``usable``: fraction of the HBM that the engine may use. ``buffers``: bytes of activations and graphs on each GPU.
    ``group``: as for a step. Of layers with windows a sequence has no more than the window.

    >>> cache_room("llama3_8b", "h100_sxm", context=8192).sequences
    52
    """
    chip = _chip(gpu) if isinstance(gpu, str) else gpu
    known = decode_inputs(model, weights, cache, context=context, experts=experts, head=head)
    known |= {"N_gpu": gpus, "S_hbm": chip.hbm, "f_mem": usable, "V_fix": buffers, "S_page": page}
    held = value(cache_memory.weights_stored, known)
    known |= {"V_res": held, "V_tok": known["V_seq"] / context, "Y": group or gpus}
    known |= {"V_attn": known["b_w"] * known["L"] * known["P_attn"]}
    if not group:
        known["n_kv"] = gpus  # nothing is stored twice
    elif "r_kv" in known:
        known["n_kv"] = 1  # a latent vector serves all heads
    tokens = value(across_gpus.data_parallel_attention, known)
    blocks = int(tokens // page)
    return CacheRoom(held, blocks, blocks * page, int(value(cache_memory.largest_batch, known, n_pool=blocks)))


# Measured steps


def sustained(rows: Iterable[ServingRow]) -> Sustained:
    """The two constants for which the estimate has the least squared error on measured rates of one sequence.

    Each GPU reads its part of the layers, the whole output head, and its part of the cache. Raises ValueError for
    fewer than two rows.
    """
    bytes_time, layers, measured = [], [], []
    for row in rows:
        bytes_time.append(_of_row(row).bound)
        layers.append(counts(row.model).inputs["L"])
        measured.append(1 / row.base)
    if len(measured) < 2:
        raise ValueError(f"rows: expected two measured steps or more; got {len(measured)}")
    (slow, t_layer), *_ = np.linalg.lstsq(np.array([bytes_time, layers]).T, np.array(measured), rcond=None)
    return Sustained(float(1 / slow), float(t_layer))


@remembered
def gpt_fast() -> Sustained:
    """The constants of gpt-fast on the A100, fitted to its steps of Llama 2 7B in bf16 alone, on one GPU to eight."""
    return sustained(steps())


def steps() -> list[ServingRow]:
    """The rows that they are fitted to."""
    return [row for row in serving_rows() if all(getattr(row, name) == said for name, said in FITTED.items())]


def _of_row(row: ServingRow, constants: Sustained | None = None) -> DecodeStep:
    return step(
        row.model,
        row.chip,
        batch=row.batch,
        context=row.context,
        weights=row.weights,
        experts=row.experts or None,
        head=row.head or None,
        cache=row.cache,
        gpus=row.gpus,
        whole_head=True,
        constants=constants,
    )


class Predicted(NamedTuple):
    """A measured step and the one that the constants predict, both in seconds, and the relative error of the latter."""

    row: ServingRow
    measured: float
    predicted: float
    error: float


def predictions(constants: Sustained | None = None) -> tuple[Predicted, ...]:
    """Rows of gpt-fast that the constants are not fitted to, with what they predict."""
    found = []
    for row in serving_rows():
        if row.engine == "gpt-fast" and any(getattr(row, name) != said for name, said in FITTED.items()):
            time = _of_row(row, constants or gpt_fast()).estimate
            found.append(Predicted(row, 1 / row.base, time, time * row.base - 1))
    return tuple(found)
