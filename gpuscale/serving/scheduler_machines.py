"""What the page needs to draw a scheduler: the time of a step, and the steady state of continuous batching.

Nothing here is a formula of its own: all are composed of those of ``serving`` and ``collectives``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy import Min

from gpuscale.collectives.algorithms import one_shot_all_reduce, two_shot_all_reduce
from gpuscale.core.evaluation import compiled
from gpuscale.serving import batching, cache_memory, chunked_prefill, decode_bytes, decode_compute
from gpuscale.serving.given_decode import decode_inputs, peak, value
from gpuscale.specs.registry import chip, model
from gpuscale.symbols import *
from gpuscale.units import show

_SPREAD = 0.5**0.5  # standard deviation over mean of lengths drawn from a gamma distribution of shape 2


def scheduler_page(machines: Mapping[str, tuple[str, str, int]], *, latency: float, weights: str = "bf16") -> dict:
    """Machines {"one": ("llama3_8b", "h100_sxm", 1)}, dense models on GPUs that split them, for ``scheduler_stage``.

    ``latency`` is that of an all-reduce step [s]. Raises ValueError for a model with experts, windows or latent
    attention.
    """
    return {
        "machines": {key: _machine(*each, latency, weights) for key, each in machines.items()},
        "formulas": _costs(),
    }


def step_time(
    model: str, gpu: str, gpus: int = 1, *, latency: float, weights: str = "bf16"
) -> Callable[[int, int, int, int], float]:
    """The time of a step [s] by its sequences that decode, tokens of prompts, cached tokens that are read, and pairs of
    query and key: what ``emulate.requests.serve`` asks for. Raises ValueError as ``scheduler_page``.

    >>> from gpuscale.units import us
    >>> round(step_time("llama3_8b", "h100_sxm", latency=3 * us)(1, 0, 1000, 1000) * 1000, 2)
    4.52
    """
    given = _machine(model, gpu, gpus, latency, weights)["given"]
    function, names = compiled(_costs()["step"])
    changing = [quantity.name for quantity in (B_seq, S_chunk, S, n_ask)]
    return lambda *step: float(
        function(*((given | dict(zip(changing, step, strict=True)))[each.name] for each in names))
    )


def _machine(key: str, gpu: str, gpus: int, latency: float, weights: str) -> dict[str, Any]:
    given, part = decode_inputs(key, weights), chip(gpu)
    if given["E"] > 1 or given["L_win"] or "r_kv" in given:
        raise ValueError(f"{model(key).title}: expected a dense model that remembers every token in each layer")
    given |= {
        "V_w": value(decode_bytes.weights_read, given),
        "V_res": given["b_w"] * given["P"],
        "W_hbm": gpus * part.hbm_bw,
        "C": gpus * peak(part, weights),
        "S_hbm": part.hbm,
        "N_gpu": gpus,
        "W": part.nvlink_bw,
        "alpha": latency,
        "c_var": _SPREAD,
    }
    names = "V_w V_res V_tok W_hbm C S_hbm N_gpu W alpha c_var P_act n_vocab D L L_win S_win n_q d_head b".split()
    memory, each = gpus * part.hbm, show(part.hbm, "B", short=True)
    return {
        "call": [key, gpu, gpus, weights],
        "name": f"{model(key).short}, {gpus} {part.short.split()[0]}",
        "words": f"{gpus} × {each} HBM" if gpus > 1 else f"{each} HBM",
        "short": show(memory, "B", short=True),
        "given": {name: given[name] for name in names},
        "memory": memory,
        "resident": given["V_res"],
    }


def _costs() -> dict[str, sympy.Expr]:
    """The time of a step with B_seq sequences that decode and S_chunk tokens of prompts, and the closed forms.

    A step reads the keys and values of S tokens; its new tokens look at n_ask tokens in all.
    """
    cache = V_tok * S
    pairs = decode_compute.attention_flop_decode.rhs.subs({B_seq: 1, S: n_ask})
    sent = {V: (B_seq + S_chunk) * D * 2, N: N_gpu}  # an all-reduce of one vector in 16 bits for each token
    reduced = sympy.Piecewise(
        (0, sympy.Eq(N_gpu, 1)),
        (2 * L * Min(one_shot_all_reduce.rhs.subs(sent), two_shot_all_reduce.rhs.subs(sent)), True),
    )
    step = chunked_prefill.mixed_step.rhs.subs({V_read: V_w + cache, ops_kv: pairs}, simultaneous=True)
    full = S_chunk / (S_in * T_mix)  # requests per second, if every step has a chunk
    return {
        "step": step + reduced,
        "comm": reduced,
        "kv": cache,
        "read": V_read / W_hbm,
        "block": S_page * V_tok,
        "pool": cache_memory.pool_blocks,
        "context": batching.mean_context_mixed,
        "largest": batching.largest_rate,
        "batch": batching.steady_batch,
        "steady": batching.steady_step,
        "chunks": full,
        "filled": batching.little.rhs.subs({lambda_req: full, T_dec: T_mix}),
    }
