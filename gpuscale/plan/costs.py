"""All costs of a plan as one numpy function, put together by sympy from the formulas of ``llm``.

Each formula is a step of a tape; its value is known to later steps. The tape puts quantities, values of steps and
plain numbers into formulas, and does no algebra of its own: the cost of one cause alone is a formula with the others
at zero. ``sympy.cse`` takes out what several steps share, and one ``lambdify`` prints the rest.
"""

from __future__ import annotations

from functools import cache, reduce
from graphlib import TopologicalSorter
from typing import NamedTuple

import sympy

from gpuscale import llm
from gpuscale import symbols as q
from gpuscale.core.evaluation import expected, inputs
from gpuscale.core.formula import Formula
from gpuscale.plan.columns import NAMES

# Formulas that need only the inputs and the values of the formulas before them
WORK = """mean_layer_matrices microbatches microbatch_tokens head_layers stage_room stage_layers stage_flops
recomputed_flops stage_params stage_rank_params mean_kept_mlp mean_few_mlp framework_elements between_forward
between_backward norms_forward kernels_forward kernels_backward""".split()
# What depends on the schedule: states, activations in flight, idle time, exposed transfers
SCHEDULES = {
    "1f1b": (llm.stage_state, llm.first_stage_held, llm.interleaved_bubble, llm.pipeline_exposed),
    "gpipe": (llm.stage_state, llm.gpipe_held, llm.bubble_time, llm.gpipe_exposed),
    "zb-h1": (llm.stage_state, llm.zb_held, llm.zb_bubble, llm.pipeline_exposed),
    "dualpipe": (llm.dualpipe_state, llm.dualpipe_held, llm.dualpipe_bubble, llm.pipeline_exposed),
}
# Bytes over both levels: into a GPU over NVLink, into a whole node over the network
GROUP, EXPERTS = (llm.group_nvlink, llm.group_network), (llm.exchange_nvlink, llm.exchange_network)
COPIES = llm.dp_nvlink, llm.dp_network


class TapeStep(NamedTuple):
    """A step of a tape: ``value`` stands for a formula at what is ``given`` for its inputs."""

    value: sympy.Symbol
    formula: Formula
    given: dict

    @property
    def expr(self) -> sympy.Expr:
        """The formula's right side at what is given."""
        return _at(self.formula.rhs, frozenset(self.given.items()))


@cache
def _at(rhs: sympy.Expr, given: frozenset) -> sympy.Expr:
    """An expression with parts replaced; sympy takes long to compare the arguments of a new maximum."""
    return rhs.xreplace(dict(given))


class Tape:
    """Steps in order. ``known`` maps a quantity to what stands for it from now on.

    A formula that is given what it does not take raises TypeError.
    """

    def __init__(self):
        self.fresh = sympy.numbered_symbols("t", real=True)
        self.steps: list[TapeStep] = []
        self.known: dict = {q.flop: sympy.S.One}

    def value(self, formula: Formula, **given) -> sympy.Symbol:
        """The value of a formula: ``given`` in place of its inputs, else what is known."""
        if strange := given.keys() - {quantity.name for quantity in formula.inputs}:
            raise TypeError(f"{formula.name} takes no {', '.join(sorted(strange))}; {expected(formula.inputs)}")
        here = self.known | {getattr(q, name): sympy.sympify(value) for name, value in given.items()}
        used = {quantity: here[quantity] for quantity in formula.rhs.free_symbols & here.keys()}
        self.steps.append(TapeStep(next(self.fresh), formula, used))
        return self.steps[-1].value

    def values(self, formulas, **given) -> list[sympy.Symbol]:
        """The same of several formulas."""
        return [self.value(formula, **given) for formula in formulas]

    def take(self, *formulas: Formula, **given) -> None:
        """The same, each value standing for the formula's left side from now on."""
        for formula in formulas:
            self.known[formula.lhs] = self.value(formula, **given)


def _attention(tape: Tape, latent: bool) -> None:
    """What depends on the kind of attention: activations, kernels, recomputation."""
    if latent:  # one key for all heads is rotated
        tape.take(llm.kept_latent_attention, llm.few_latent_attention, llm.latent_up_params)
        turned = again = {"n_kv": 1, "d_head": q.d_rope}
    else:
        tape.known |= {q.P_up: sympy.S.Zero, q.r_q: sympy.S.Zero, q.r_kv: sympy.S.Zero}
        turned = {"n_kv": tape.known[q.n_key]}
        again = {"n_pos": 1}  # rotated queries and keys are stored
        tape.take(llm.kept_attention, llm.few_attention, **turned)
    tape.take(llm.inside_forward, llm.inside_backward, **turned)
    tape.take(llm.inside_recompute, **again)


def take_activations(tape: Tape, held: Formula) -> None:
    """Activations of the microbatches in flight in a stage, those of the head, and arrays that are not freed yet."""
    tape.take(held, llm.whole_layer, llm.coreless_layer, llm.layer_kept, llm.flying_layers, llm.flying_activations)
    tape.take(llm.head_activations, n_seq=1, S=tape.known[q.B_mb])
    tape.take(llm.unfreed_arrays, M=tape.value(llm.run_nodes))


def memory(tape: Tape, state: Formula, held: Formula) -> dict:
    """Bytes on a GPU of the fullest stage, by kind."""
    parts = {
        "weights": tape.value(state, b_grad=0, b_opt=0),
        "gradients": tape.value(state, b_w=0, b_opt=0),
        "optimizer": tape.value(state, b_w=0, b_grad=0),
    }
    added = dict(zip(("b_w", "b_grad", "b_opt"), parts.values(), strict=True))
    tape.take(llm.replicated_state, P=1, **added)  # all of a GPU's parameters as one; faster than the whole state
    take_activations(tape, held)
    tape.take(llm.last_stage_activations, llm.working_memory, llm.framework_memory)
    return parts | {
        "states": tape.known[q.V_state],
        "activations": tape.value(llm.gpu_memory, V_state=0, V_work=0, V_extra=0),
        "working": tape.value(llm.gpu_memory, V_state=0, V_stage=0, V_last=0),
        "memory": tape.value(llm.gpu_memory),
    }


def _moved(tape: Tape, latent: bool) -> dict:
    """For TP, CP and EP the bytes over both levels, of a microbatch in a stage."""
    gathered = llm.latent_cp_bytes if latent else llm.cp_bytes
    return {
        "tp": tape.values(GROUP, V=tape.value(llm.tp_bytes), X=q.Y, Y=1),
        "cp": tape.values(GROUP, V=tape.value(gathered), X=q.n_cp),
        "ep": tape.values(EXPERTS, b_combine=q.b),
    }


def _bytes(tape: Tape, moved: dict) -> dict:
    """The bytes of a step."""
    out = {axis: [tape.value(llm.step_bytes, V=size) for size in levels] for axis, levels in moved.items()}
    out["dp"] = tape.values(COPIES, b=tape.value(llm.dp_passes))
    hop = tape.value(llm.sharded_hop_bytes, B=tape.known[q.B_mb], X=1, N_MB=1)
    named = {f"{axis}_nvlink": inside for axis, (inside, _) in out.items()}
    named |= {f"{axis}_network_node": across for axis, (_, across) in out.items()}
    return named | {"pp_bytes": tape.value(llm.pipeline_bytes, V_hop=hop)}


def _times(tape: Tape, moved: dict, idle: Formula, exposed: Formula) -> dict:
    """The times of a step at the known rates."""

    def level(levels):
        return tape.value(llm.level_time, V_nvl=levels[0], V_net=levels[1])

    def alone(**zero):
        """The part of a step that its microbatches take if other causes cost nothing."""
        return tape.value(llm.step_sum, T_mb=tape.value(llm.microbatch_time, **zero), T_idle=0, T_pp=0, T_dp=0)

    tape.take(llm.stage_forward, llm.stage_backward)
    tape.known |= {q.T_tp: level(moved["tp"]), q.T_cp: level(moved["cp"]), q.T_ep: level(moved["ep"])}
    tape.known[q.T_scatter] = level(tape.values(COPIES, b=q.b_grad))
    tape.known[q.T_gather] = level(tape.values(COPIES, b=q.b_w))
    tape.take(llm.microbatch_time)
    products = tape.value(llm.stage_forward, V_fwd=0)
    if q.t_F in idle.inputs:  # passes fill the pipeline separately; one matmul gives the weight gradients
        tape.take(llm.forward_slot, llm.backward_slot)
        tape.known[q.t_W] = products
    tape.take(llm.exposed_dp, llm.stage_hop, idle, exposed, llm.step_sum)
    back = tape.value(llm.stage_backward, V_bwd=0)
    kernels = {
        "T_fwd": tape.value(llm.stage_forward, ops_stage=0, b_w=0),
        "T_bwd": tape.value(llm.stage_backward, ops_stage=0, ops_recompute=0, b_w=0, b_grad=0),
    }
    calm, waits = {"T_tp": 0, "T_cp": 0, "T_ep": 0}, {"T_fwd": 0, "T_bwd": 0}
    return {
        "need": tape.value(llm.mfu_step_time, ops=tape.value(llm.model_flops), MFU=1),
        "math": alone(T_fwd=products, T_bwd=back, **calm),
        "kernels": alone(**kernels, **calm),
        "tp_wait": alone(**waits, T_cp=0, T_ep=0),
        "cp_wait": alone(**waits, T_tp=0, T_ep=0),
        "ep_wait": alone(**waits, T_tp=0, T_cp=0),
        "dp_wait": tape.known[q.T_dp],
        "pp_wait": tape.known[q.T_pp],
        "bubble": tape.known[q.T_idle],
        "step": tape.known[q.T_step],
        "mfu": tape.value(llm.mfu, ops=tape.value(llm.counted_flops), C=q.C),
    }


def _expected(tape: Tape, moved: dict, idle: Formula, exposed: Formula) -> dict:
    """The expected times of a step, with the constants of a calibration."""
    tape.known[q.C] = tape.value(llm.reached_flops, C_ref=q.C, eta=q.eta_mat)
    tape.known[q.C_attn] = tape.value(llm.reached_flops, C_ref=q.C, eta=q.eta_attn)
    tape.known[q.W_nvl] = tape.value(llm.reached_bandwidth, W_ref=q.W_nvl, eta=q.eta_nvl)
    tape.known[q.W_node] = tape.value(llm.reached_bandwidth, W_ref=q.W_node, eta=q.eta_net)

    shared = tape.value(llm.many_nodes, W_ref=q.W_node, eta=q.eta_net, M=tape.value(llm.run_nodes))

    def level(levels, calls=0, **ranks):
        inside, across = levels
        nodes = tape.value(llm.spanned_nodes, **ranks)
        return tape.value(llm.expected_level, V_nvl=inside, V_net=across, W_node=shared, M=nodes, n_calls=calls)

    def part(**given):
        """What a part of each microbatch takes in a step."""
        return tape.value(llm.expected_step, T_mb=tape.value(**given), T_idle=0, T_pp=0, T_dp=0, T_upd=0)

    ranks = {"tp": {"X": 1, "n_cp": 1}, "cp": {"X": 1}, "ep": {"X": 1, "n_cp": 1, "Y": q.Z}}
    calls = {"tp": llm.tp_calls, "cp": llm.cp_calls, "ep": llm.ep_calls}
    waits = {axis: level(moved[axis], tape.value(calls[axis]), **ranks[axis]) for axis in moved}
    tape.known |= {q.T_tp: waits["tp"], q.T_cp: waits["cp"], q.T_ep: waits["ep"]}
    tape.known[q.T_scatter] = level(tape.values(COPIES, b=q.b_grad))
    tape.known[q.T_gather] = level(tape.values(COPIES, b=q.b_w))
    tape.take(
        llm.stage_forward, llm.stage_backward, llm.microbatch_gpu_time, llm.grouped_time, llm.microbatch_host_time,
        llm.expected_microbatch,
    )  # fmt: skip
    if q.t_F in idle.inputs:
        tape.take(llm.forward_slot, llm.backward_slot)
        tape.known[q.t_W] = tape.value(llm.stage_forward, V_fwd=0)
    tape.known[q.T_dp_best] = tape.value(llm.exposed_dp)
    tape.take(llm.expected_hop, idle, exposed, llm.dp_exchange, llm.dp_rounds, llm.dp_buckets, llm.expected_dp)
    tape.take(llm.update_time, llm.expected_step)
    gpu, slow = llm.microbatch_gpu_time, {"C": sympy.oo, "C_attn": sympy.oo, "W_hbm": sympy.oo}
    bytes_of = {"g_ker": 0, "b_loss": 0, "b_acc": 0}

    def of_gpu(*kept):
        return {"formula": gpu} | {n: v for n, v in (slow | bytes_of).items() if n not in kept}

    calm = {"T_mb_gpu": 0, "T_grp": 0, "T_tp": 0, "T_cp": 0, "T_ep": 0, "T_host": 0, "t_far": 0}

    def alone(*kept):
        return {"formula": llm.expected_microbatch} | {n: v for n, v in calm.items() if n not in kept}

    return {
        "need": tape.value(llm.mfu_step_time, ops=tape.value(llm.model_flops, ops_attn=0), MFU=1),
        "matmuls": part(**of_gpu("C")),
        "attention": part(**of_gpu("C_attn")),
        "experts": part(**alone("T_grp")),
        "kernels": part(**of_gpu("W_hbm", "g_ker")),
        "loss": part(**of_gpu("W_hbm", "b_loss")),
        "sums": part(**of_gpu("W_hbm", "b_acc")),
        "tp": part(**alone("T_tp", "t_far")),
        "cp": part(**alone("T_cp")),
        "ep": part(**alone("T_ep")),
        "host": part(formula=llm.host_wait),
        "bubble": tape.known[q.T_idle],
        "pp": tape.known[q.T_pp],
        "dp": tape.known[q.T_dp],
        "update": tape.known[q.T_upd],
        "step": tape.known[q.T_step],
        "mfu": tape.value(llm.mfu, ops=tape.value(llm.counted_flops), C=q.C),
    }


def work(latent: bool) -> Tape:
    """A tape with the work of a stage, which no schedule and no rate changes."""
    tape = Tape()
    tape.take(llm.optimizer_bytes, llm.dispatch_bytes, llm.whole_key_heads)
    _attention(tape, latent)
    tape.take(*(getattr(llm, name) for name in WORK))
    return tape


def compose(schedule: str, latent: bool) -> tuple[list[TapeStep], dict]:
    """The steps, and the columns by name; ``latent``: for latent attention."""
    tape = work(latent)
    moved = _moved(tape, latent)
    state, held, idle, exposed = SCHEDULES[schedule]
    out = {"microbatches": tape.known[q.N_MB], "stage_layers": tape.known[q.L_stage]} | memory(tape, state, held)
    out |= _bytes(tape, moved)
    times = {"at_peak": _times(tape, moved, idle, exposed)}
    peaks = {q.W_nvl: q.eta_1, q.W_node: q.eta_2, q.W_hbm: q.eta_hbm}
    tape.known[q.C] = tape.value(llm.reached_flops, C_ref=q.C)
    tape.known |= {rate: tape.value(llm.reached_bandwidth, W_ref=rate, eta=share) for rate, share in peaks.items()}
    times["at_measured_rates"] = _times(tape, moved, idle, exposed)
    times["expected"] = _expected(tape, moved, idle, exposed)
    for group, found in times.items():
        out |= {f"{name}_{group}": value for name, value in found.items()}
    return tape.steps, out


@cache
def program(schedule: str, latent: bool, wanted: tuple[str, ...] = NAMES):
    """The function that gives the wanted columns, and the names of its inputs in order."""
    steps, out = compose(schedule, latent)
    return printed(steps, [out[name] for name in wanted])


def printed(steps: list[TapeStep], wanted: list):
    """Steps as one numpy function that gives the wanted values, and the names of its inputs in order."""
    lines, names = ordered(steps, wanted)
    return _function(names, [(value, of_two(expr)) for value, expr in lines], wanted)


@cache
def in_two(schedule: str, latent: bool, wanted: tuple[str, ...], late: frozenset[str]):
    """``program`` as two functions, each with its names: what no ``late`` input changes, computed once; and the wanted
    columns from its values, under the names of the second function's first inputs, and from late inputs."""
    steps, out = compose(schedule, latent)
    columns = [out[name] for name in wanted]
    lines, names = ordered(steps, columns)
    lines, moving = [(value, of_two(expr)) for value, expr in lines], {name for name in names if name.name in late}
    for value, expr in lines:
        if expr.free_symbols & moving:
            moving.add(value)
    second = [(value, expr) for value, expr in lines if value in moving]
    used = set(columns).union(*(expr.free_symbols for _, expr in second))
    kept = [value for value in [*names, *(value for value, _ in lines)] if value in used - moving]
    first = _function([name for name in names if name not in moving], [one for one in lines if one not in second], kept)
    return first, _function([*kept, *(name for name in names if name in moving)], second, columns)


def _function(names: list, lines: list[tuple], wanted: list):
    """A numpy function of inputs, line by line, and the names of its inputs."""
    function = sympy.lambdify(names, wanted, modules="numpy", cse=lambda exprs: (lines, exprs))
    return function, tuple(name.name for name in names)


def ordered(steps: list[TapeStep], wanted: list) -> tuple[list[tuple], list]:
    """The lines of such a function, (value, expression), each after those that it needs; and its inputs in order."""
    needed = set(wanted)
    for step in reversed(steps):
        if step.value in needed:
            needed |= step.expr.free_symbols
    steps = [step for step in steps if step.value in needed]
    exprs = [step.expr for step in steps]
    shared, slim = sympy.cse(exprs, symbols=sympy.numbered_symbols("x", real=True), order="none")
    lines = dict([*shared, *zip((step.value for step in steps), slim, strict=True)])
    order = TopologicalSorter(
        {value: sorted(expr.free_symbols & lines.keys(), key=str) for value, expr in lines.items()}
    )
    names = inputs(sum(set().union(*(expr.free_symbols for expr in lines.values())) - lines.keys()))
    return [(value, lines[value]) for value in order.static_order()], names


def of_two(expr):
    """Maxima and choices as numpy's functions of two: several times as fast as those that sympy prints."""
    for many, two in {sympy.Max: "maximum", sympy.Min: "minimum"}.items():
        expr = expr.replace(many, lambda *args, two=two: reduce(sympy.Function(two), args))
    return expr.replace(sympy.Piecewise, _where)


def _where(*pairs):
    value = pairs[-1].expr
    for pair in pairs[-2::-1]:
        value = sympy.Function("where")(pair.cond, pair.expr, value)
    return value
