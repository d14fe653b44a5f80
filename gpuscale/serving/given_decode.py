"""A decode step or a prefill of a model of the data on a GPU of the data: the formulas that fit it, in numbers.

``step("llama3_70b", "h100_sxm", batch=64, context=4096, gpus=8)`` picks the formulas by what the model has: grouped
heads or latent attention, sliding windows, experts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpuscale.core.evaluation import evaluate
from gpuscale.core.formula import Formula
from gpuscale.llm.kv_caches import kv_token, latent_kv_token
from gpuscale.llm.model_counts import counts
from gpuscale.serving import decode_bytes, decode_compute, decode_time
from gpuscale.specs.entry import Part
from gpuscale.specs.registry import chip as _chip
from gpuscale.specs.registry import model as _model


class Format(NamedTuple):
    """A format of weights or of the cache: bytes of an element and of a group's scale, elements of a group.

    ``rates``: whose peak its matmuls may run at, the first that a GPU has.
    """

    code: float
    scale: float
    group: int
    rates: tuple[str, ...]

    @property
    def bytes(self) -> float:
        """Bytes of an element with its part of the scale."""
        return decode_bytes.quantized_bytes(b_code=self.code, b_scale=self.scale, n_group=self.group)


# Scales: 16 bits and a zero point for int4, 32 bits for a block of 128 by 128 in fp8, a byte for the others.
FORMATS = {
    "fp32": Format(4, 0, 1, ("tf32", "fp32")),
    "bf16": Format(2, 0, 1, ("bf16", "fp16")),
    "fp16": Format(2, 0, 1, ("fp16", "bf16")),
    "fp8": Format(1, 0, 1, ("fp8", "bf16", "fp16")),
    "fp8_block": Format(1, 4, 128 * 128, ("fp8", "bf16")),
    "int8": Format(1, 0, 1, ("int8", "bf16", "fp16")),
    "w8a16": Format(1, 0, 1, ("bf16", "fp16")),
    "int4_g32": Format(0.5, 4, 32, ("bf16", "fp16")),
    "int4_g128": Format(0.5, 4, 128, ("bf16", "fp16")),
    "mxfp4": Format(0.5, 1, 32, ("fp4", "fp8", "bf16")),
    "nvfp4": Format(0.5, 1, 16, ("fp4", "fp8", "bf16")),
}


class Sustained(NamedTuple):
    """The two constants of an estimate: a fraction of HBM bandwidth, and seconds per layer that bytes don't explain."""

    eta_hbm: float
    t_layer: float


class DecodeStep(NamedTuple):
    """A decode step: bytes, FLOPs and times, over all GPUs. ``estimate`` is None without the two constants.

    ``limit`` names what the bound follows from: "weights" or "cache" if that is the larger part of the bytes, or
    "compute". ``rate``: tokens per second of all sequences at the bound.
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


def value(formula: Formula, known: Mapping[str, float], **more) -> float:
    """A formula at those of the known quantities that it needs."""
    known = {**known, **more}
    return evaluate(formula, **{q.name: known[q.name] for q in formula.inputs if q.name in known})


def decode_inputs(
    model: Part | str,
    weights: str = "bf16",
    cache: str = "bf16",
    *,
    batch: float = 1,
    context: float = 1,
    tokens: float = 1,
    experts: str | None = None,
    head: str | None = None,
) -> dict[str, float]:
    """Every quantity that the formulas of decode need, by name, for a model or a key of one.

    ``batch`` sequences with ``context`` tokens each decode ``tokens`` at a time. ``experts`` and ``head``: formats of
    the routed experts and of the output head, if they differ from ``weights``.
    """
    part = _model(model) if isinstance(model, str) else model
    found = counts(part)
    known: dict[str, float] = dict(found.inputs)
    known |= {name: n for name, n in found._asdict().items() if name[:2] == "P_" or name == "P"}
    known |= {"b_w": _format(weights).bytes, "b": _format(cache).bytes}
    known |= {"b_exp": _format(experts or weights).bytes, "b_head": _format(head or weights).bytes}
    known |= {"L_win": part.get("window_layers", 0), "S_win": part.get("window", 1)}
    known |= {"B_seq": batch, "S": context, "B": batch * tokens, "n_ask": tokens}
    known |= {} if found.moe else {"E": 1, "k": 1}
    known["E_hit"] = value(decode_bytes.experts_touched, known)
    known["V_tok"] = value(latent_kv_token if found.mla else kv_token, known)
    windowed = decode_bytes.cache_token_windowed
    known["V_seq"] = value(windowed if known["L_win"] else decode_bytes.cache_sequence, known)
    return known


def step(
    model: Part | str,
    gpu: Part | str,
    *,
    batch: float = 1,
    context: float = 1,
    weights: str = "bf16",
    cache: str = "bf16",
    gpus: int = 1,
    tokens: float = 1,
    experts: str | None = None,
    head: str | None = None,
    absorbed: bool = True,
    constants: Sustained | None = None,
) -> DecodeStep:
    """A decode step of ``batch`` sequences with ``context`` tokens each, on ``gpus`` GPUs that split it evenly.

    ``tokens``: tokens of a sequence that a step works on, more than one with speculation. ``absorbed``: the order of
    latent attention. ``constants``: those of the estimate.

    >>> llama = step("llama3_8b", "h100_sxm", batch=8, context=4096)
    >>> llama.limit, round(llama.bound * 1e3, 2)
    ('weights', 5.76)
    """
    chip = _chip(gpu) if isinstance(gpu, str) else gpu
    known = decode_inputs(
        model, weights, cache, batch=batch, context=context, tokens=tokens, experts=experts, head=head
    )
    known |= {"W_hbm": chip.hbm_bw, "C": peak(chip, weights), "C_attn": peak(chip, cache), "N_gpu": gpus}
    known["V_w"] = value(decode_bytes.weights_read_moe, known)
    known["V_kv"] = value(decode_bytes.cache_read, known)
    known["V_read"] = value(decode_bytes.bytes_read, known)
    known["B_seq"] = batch * tokens  # each of a sequence's tokens does the arithmetic of one
    known["ops_kv"] = value(_attention(known, absorbed), known)
    known["ops"] = value(decode_compute.decode_flop, known)
    bound = value(decode_time.decode_bound, known)
    memory = known["V_read"] / chip.hbm_bw / gpus >= bound * (1 - 1e-12)
    larger = "weights" if known["V_w"] >= known["V_kv"] else "cache"
    estimate = constants and value(decode_time.decode_estimate, known, **constants._asdict())
    return DecodeStep(
        *(known[name] for name in ("V_w", "V_kv", "V_read", "ops", "ops_kv")),
        bound=bound,
        summed=value(decode_time.decode_sum, known),
        estimate=estimate,
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


def peak(gpu: Part, form: str) -> float:
    """The peak FLOP/s of matmuls in a format on a GPU, dense. Raises ValueError for a GPU without any."""
    for name in _format(form).rates:
        if name in gpu:
            return getattr(gpu, name)
    raise ValueError(
        f"{gpu.title} ({gpu.key}) has no rate for {form}; expected one of {', '.join(_format(form).rates)}"
    )


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"format: expected one of {', '.join(FORMATS)}; got {name!r}")
    return FORMATS[name]


def _attention(known: Mapping[str, float], absorbed: bool) -> Formula:
    if "r_kv" not in known:
        return decode_compute.attention_flop_decode
    return decode_compute.attention_flop_absorbed if absorbed else decode_compute.attention_flop_unabsorbed
