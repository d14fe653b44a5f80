"""What the formulas of decode need of a model and a GPU of the data, in numbers: formats, peaks, bytes of a cache.

It needs no sympy, so that a plan starts quickly: formulas are the printed ones.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscale.llm.model_counts import counts
from gpuscale.printed import formulas, serving
from gpuscale.printed.calling import value
from gpuscale.specs.entry import Part
from gpuscale.specs.registry import model as _model

WHOLE = ("bf16", "fp16")  # formats of weights that kernels need not unpack


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
        return value(serving.quantized_bytes, {"b_code": self.code, "b_scale": self.scale, "n_group": self.group})


# Scales: 16 bits and a zero point for int4, 32 bits for a block of 128 by 128 in fp8, a byte for the others.
FORMATS = {
    "fp32": Format(4, 0, 1, ("tf32", "fp32")),
    "bf16": Format(2, 0, 1, ("bf16", "fp16")),
    "fp16": Format(2, 0, 1, ("fp16", "bf16")),
    "fp8": Format(1, 0, 1, ("fp8", "bf16", "fp16")),
    "fp8_block": Format(1, 4, 128 * 128, ("fp8", "bf16", "fp16")),
    "int8": Format(1, 0, 1, ("int8", "bf16", "fp16")),
    "w8a16": Format(1, 0, 1, ("bf16", "fp16")),
    "int4_g32": Format(0.5, 4, 32, ("bf16", "fp16")),
    "int4_g128": Format(0.5, 4, 128, ("bf16", "fp16")),
    "mxfp4": Format(0.5, 1, 32, ("fp4", "fp8", "bf16", "fp16")),
    "nvfp4": Format(0.5, 1, 16, ("fp4", "fp8", "bf16", "fp16")),
}


class Constants(NamedTuple):
    """Constants of estimates, which ``estimates`` fits to published rows.

    HBM sustains ``eta_hbm`` of its bandwidth; a layer takes ``t_layer`` seconds more, and ``t_unpack`` on top if it
    unpacks weights or routes to experts; matmuls reach ``eta_wide`` of their peak in 16 bits and ``eta_few`` in fewer.
    """

    eta_hbm: float
    t_layer: float
    t_unpack: float
    eta_wide: float
    eta_few: float

    def layer(self, experts: bool, *formats: str) -> float:
        """The time of a layer in a decode step that bytes don't explain, with weights in these formats."""
        return self.t_layer + (self.t_unpack if experts or not {*formats} <= {*WHOLE} else 0)

    def matmuls(self, gpu: Part, form: str) -> float:
        """The fraction of the peak that matmuls reach in a format."""
        return self.eta_wide if rate_name(gpu, form) in WHOLE else self.eta_few


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
    known["E_hit"] = value(serving.experts_touched, known)
    known["V_tok"] = value(formulas.latent_kv_token if found.mla else formulas.kv_token, known)
    known["V_seq"] = value(serving.cache_token_windowed if known["L_win"] else serving.cache_sequence, known)
    return known


def peak(gpu: Part, form: str) -> float:
    """The peak FLOP/s of matmuls in a format on a GPU, dense. Raises ValueError for a GPU without any."""
    return getattr(gpu, rate_name(gpu, form))


def rate_name(gpu: Part, form: str) -> str:
    """The name of the rate that ``peak`` takes."""
    rates = _format(form).rates
    for name in rates:
        if name in gpu:
            return name
    raise ValueError(f"{gpu.title} ({gpu.key}) has no rate for {form}; expected one of {', '.join(rates)}")


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"format: expected one of {', '.join(FORMATS)}; got {name!r}")
    return FORMATS[name]
