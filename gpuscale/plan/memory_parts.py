"""What the memory of one GPU holds, taken apart: the planner's memory by kind, and how long each pass of a step takes.

The tape is the planner's own, put together from the same formulas. One sequence is a microbatch, and a step has as many
microbatches as stages. What is offloaded lives in the host's memory: the optimizer's state, or all activations but
those of the two layers that are on their way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple

import sympy

from gpuscale import llm, specs
from gpuscale import symbols as q
from gpuscale.core import javascript
from gpuscale.llm.model_counts import counts
from gpuscale.plan import costs
from gpuscale.plan.calibration import DEFAULTS
from gpuscale.plan.choice import RECOMPUTE
from gpuscale.plan.evaluation import B_MASK, recipe_inputs

ON_THE_WAY = 2  # layers that stay on the GPU when activations are offloaded
DIMS = "L", "D", "F", "n_q", "n_kv", "d_head", "n_vocab", "P", "P_act"
_FIXED = {
    q.n_mat: 3,
    q.n_emb: 2,
    q.n_bias: 0,
    q.n_shared: 0,
    q.k: 1,
    q.P_exp: 0,
    q.Z: 1,
    q.L_dense: q.L,
    q.F_dense: q.F,
}
_FIXED |= {q.n_drop: 0, q.n_sp: 1, q.n_virt: 1, q.n_even: 0, q.n_seq: 1, q.b_mask: int(B_MASK)}
_FIXED |= {getattr(q, name): int(value) for name, value in DEFAULTS.items()}


class GpuBytes(NamedTuple):
    """Bytes on a GPU of the fullest stage at the peak of a step. ``activations`` include the logits, ``working`` are
    gathered layers, a layer's gradients and what is recomputed at a time; ``memory`` is all that is on the GPU, and
    ``host`` is in the host's memory."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    working: float
    memory: float
    host: float


@cache
def steps() -> tuple[list[costs.TapeStep], dict[str, sympy.Symbol]]:
    """The steps of the tape, and the values by name."""
    tape = costs.work(latent=False)
    tape.known[q.N_MB] = q.N_stages
    found = costs.memory(tape, llm.stage_state, llm.first_stage_held)
    state = {"b_w": found["weights"], "b_grad": found["gradients"], "b_opt": found["optimizer"]}
    none = {"b_w": 0, "b_grad": 0, "n_recompute": 0}

    def buffers(of: str):
        """The working buffers of one cause alone."""
        return tape.value(llm.working_memory, **{name: 0 for name in none if name != of})

    def kept(**none: int):
        """Activations of a layer without those of its MLP, or without those of its attention as well."""
        whole = tape.value(llm.whole_layer, **{f"n_kept_{name}": n for name, n in none.items()})
        return tape.value(llm.layer_kept, V_whole=whole, **{f"n_few_{name}": n for name, n in none.items()})

    forward, backward = tape.value(llm.stage_forward, V_fwd=0), tape.value(llm.stage_backward, V_bwd=0)
    update = tape.value(llm.update_time, b_upd=tape.value(llm.update_bytes), t_fix=0)
    micro = tape.value(llm.microbatch_time, T_fwd=forward, T_bwd=backward, T_tp=0, T_cp=0, T_ep=0)
    one = tape.value(llm.expected_step, N_MB=1, T_mb=micro, T_idle=0, T_pp=0, T_dp=0, T_upd=update)
    stored_last = tape.value(llm.last_stage_activations, V_head=0)
    first, kept_last = tape.value(llm.kept_activations), tape.value(llm.kept_last_activations)
    here = {"V_stage": first, "V_last": kept_last}
    return tape.steps, {
        "forward": forward,
        "backward": backward,
        "update": update,
        "one": one,
        "offload": tape.value(llm.offload_time, V_act=stored_last),
        "host_update": tape.value(llm.host_update_time),
        "weights": found["weights"],
        "gradients": found["gradients"],
        "optimizer": found["optimizer"],
        "master": tape.value(llm.stage_state, b_w=0, b_grad=0, b_opt=q.b_master),
        "moment": tape.value(llm.stage_state, b_w=0, b_grad=0, b_opt=q.b_mom),  # of two
        "layer": tape.known[q.V_act],
        "norms": kept(attn=0, mlp=0),
        "attended": kept(mlp=0),  # norms and attention
        "layers": tape.known[q.L_stage],
        "held": tape.known[q.L_held],
        "params": tape.known[q.P_rank],
        "first": first,
        "last": tape.value(llm.kept_last_activations, V_head=0),
        "kept_last": kept_last,
        "logits": tape.value(llm.last_stage_activations, V_act=0),
        "stored_first": tape.value(llm.flying_activations),
        "stored_last": stored_last,
        "gathered": buffers("b_w"),
        "bucket": buffers("b_grad"),
        "again": buffers("n_recompute"),
        "working": tape.known[q.V_work],
        "memory": tape.value(llm.gpu_memory, **here),
        "memory_less": tape.value(
            llm.gpu_memory, V_state=tape.value(llm.replicated_state, P=1, **state | {"b_opt": 0}), **here
        ),  # with the optimizer's state offloaded
    }


@cache
def lines() -> tuple[dict[sympy.Symbol, sympy.Expr], dict[str, sympy.Symbol]]:
    """The expressions that the values need, in order and with what is fixed put in, and the values by name."""
    tape, wanted = steps()
    given = _FIXED | {
        q.ops_attn: llm.causal_attention_flops.rhs.subs(q.flop, 1),
    }
    given = {symbol: sympy.sympify(value) for symbol, value in given.items()}
    needed, kept = set(wanted.values()), {}
    for step in reversed(tape):
        if step.value in needed:
            kept[step.value] = step.expr.xreplace(given)
            needed |= kept[step.value].free_symbols
    return dict(reversed(kept.items())), wanted


def script() -> str:
    """The body of a JavaScript function of one object ``p``, which gives all values by name."""
    found, wanted = lines()
    names = sorted({str(s) for expr in found.values() for s in expr.free_symbols.difference(found)})

    def let(name, expr) -> str:
        body = javascript.body(expr)
        plain = body.startswith("return ")
        return f"const {name} = " + (f"{body[7:-1]}; " if plain else f"(() => {{ {body} }})(); ")

    lets = "".join(let(name, expr) for name, expr in found.items())
    return f"const {{{', '.join(names)}}} = p; {lets}return {{{', '.join(f'{n}: {v}' for n, v in wanted.items())}}};"


@cache
def _function():
    found, wanted = lines()
    inner = [(value, costs.of_two(expr)) for value, expr in found.items()]
    names = sorted({s for expr in found.values() for s in expr.free_symbols.difference(found)}, key=str)
    function = sympy.lambdify(names, list(wanted.values()), modules="numpy", cse=lambda exprs: (inner, exprs))
    return function, tuple(map(str, names)), tuple(wanted)


def values(**inputs: float) -> dict[str, float]:
    """All values by name, as on the page: bytes, and the seconds of a microbatch's passes."""
    function, names, wanted = _function()
    return {name: float(value) for name, value in zip(wanted, function(*(inputs[n] for n in names)), strict=True)}


def dims(model: specs.Part | str) -> dict[str, int]:
    """The numbers of a dense model with grouped heads and a gate. Raises ValueError for another one."""
    c = counts(model)
    x = c.inputs
    if c.mla or c.moe or x["n_bias"] or x["n_mat"] != 3 or x["n_emb"] != 2 or x["n_pos"]:
        raise ValueError(f"{model}: expected a dense model with grouped-query attention, gated MLPs and its own head")
    return {name: x.get(name) or getattr(c, name) for name in DIMS}


def gpu_bytes(
    model: specs.Part | str,
    *,
    seq: int = 8192,
    dp: int = 1,
    tp: int = 1,
    pp: int = 1,
    cp: int = 1,
    zero: int = 0,
    recompute: str = "none",
    recipe: str = "bf16_fp32_grads",
    offload: Collection[str] = (),
) -> GpuBytes:
    """The bytes of one GPU for a layout, whether they fit or not; equal to the planner's memory where nothing is
    offloaded. ``offload`` may hold "optimizer" and "activations".

    >>> f"{gpu_bytes('llama3_8b', dp=8, zero=3, recompute='full').memory / 1e9:.1f}"
    '27.7'
    """
    if recompute not in RECOMPUTE:
        raise ValueError(f"gpu_bytes: recompute: expected {', '.join(RECOMPUTE)}; got {recompute!r}")
    if strange := set(offload).difference({"optimizer", "activations"}):
        raise ValueError(f"gpu_bytes: offload: expected optimizer, activations; got {', '.join(sorted(strange))}")
    sizes = recipe_inputs(specs.part("recipe", recipe))
    layout = {"X": dp, "Y": tp, "N_stages": pp, "n_cp": cp, "n_zero": zero, "n_recompute": RECOMPUTE.index(recompute)}
    away = {each: each in offload for each in ("optimizer", "activations")}
    found = values(
        **dims(model),
        **layout,
        **sizes,
        S=seq,
        L_keep=ON_THE_WAY if away["activations"] else float("inf"),
        C=1,
        W_hbm=1,
        W_host=1,
    )
    optimizer, stored = found["optimizer"], found["stored_last"]
    if found["first"] > found["kept_last"]:
        stored = found["stored_first"]
    if all(away.values()):
        host = llm.host_memory(V_state=optimizer, V_stage=stored)
    else:
        host = optimizer if away["optimizer"] else stored if away["activations"] else 0
    return GpuBytes(
        weights=found["weights"],
        gradients=found["gradients"],
        optimizer=0 if away["optimizer"] else optimizer,
        activations=max(found["first"], found["kept_last"]),
        working=found["working"],
        memory=found["memory_less" if away["optimizer"] else "memory"],
        host=host,
    )


def memory_page(
    models: Mapping[str, str], *, gpu: specs.Part, recipe: str, dp: int = 8, seq: int = 8192
) -> dict[str, object]:
    """What the page needs to draw the memory of a GPU: the ``models`` {"8B": "llama3_8b"} in numbers, the sizes of the
    ``recipe`` and the rates of the ``gpu``, the formulas as a script, and when memory peaks ``at`` first.

    ``stored`` is what a GPU stores by ZeRO stage, with ``dp`` replicas of the first model.
    Raises ValueError for a model with experts, latent attention or biases.
    """
    known = {key: dims(key) for key in models.values()}
    first = next(iter(known))
    sizes = recipe_inputs(specs.part("recipe", recipe))
    sizes |= {"C": gpu.bf16, "W_hbm": gpu.hbm_bw, "W_host": gpu.pcie_bw}
    layout = {"X": dp, "Y": 1, "N_stages": 1, "n_cp": 1, "n_zero": 0, "n_recompute": 0, "L_keep": float("inf")}
    v = values(**known[first], **sizes, **layout, S=seq)
    by_stage = [gpu_bytes(first, seq=seq, dp=dp, zero=zero, recipe=recipe) for zero in range(4)]
    return {
        "labels": {key: label for label, key in models.items()},
        "models": known,
        "sizes": sizes,
        "perParameter": {
            "weights": sizes["b_w"],
            "gradients": sizes["b_grad"],
            "master": sizes["b_master"],
            **dict.fromkeys(("momentum", "variance"), sizes["b_mom"]),
        },
        "recipe": recipe,
        "recompute": RECOMPUTE,
        "keep": ON_THE_WAY,
        "hbm": gpu.hbm,
        "script": script(),
        "start": {"dp": dp, "S": seq},
        "at": v["forward"] / v["one"],
        "stored": [found._asdict() for found in by_stage],
    }
