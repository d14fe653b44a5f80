"""All costs of a plan as one numpy function, put together by sympy from the library's formulas.

Each formula is one step of a tape; what it gives is known to the steps after it. ``sympy.cse`` takes out what several
steps share, and one ``lambdify`` prints the rest.
"""

from __future__ import annotations

from functools import cache

import sympy
from sympy.printing.numpy import NumPyPrinter

from gpuscale import symbols as q
from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.llm import (
    activations,
    expert_parallel,
    memory_traffic,
    pipeline,
    step_memory,
    training_compute,
    training_step,
)

MEMORY = ("weights", "gradients", "optimizer", "activations", "working", "memory")
AXES = ("tp", "cp", "ep", "dp")
LEVELS = ("nvlink", "network_node")  # bytes into a GPU over NVLink; bytes into a whole node over the network
BYTES = tuple(f"{axis}_{level}" for axis in AXES for level in LEVELS)
TIMES = ("need", "math", "kernels", "tp_wait", "cp_wait", "ep_wait", "dp_wait", "pp_wait", "bubble", "step", "mfu")
OUTPUTS = ("microbatches", "stage_layers", *MEMORY, *BYTES, "pp_bytes", *TIMES, *(f"{t}_reached" for t in TIMES))


class Printer(NumPyPrinter):
    """numpy's printer with two-sided maxima and choices: several times as quick as amax and select."""

    def _pairs(self, expr, name):
        code = self._print(expr.args[0])
        for arg in expr.args[1:]:
            code = f"{name}({code}, {self._print(arg)})"
        return code

    def _print_Max(self, expr):
        return self._pairs(expr, "maximum")

    def _print_Min(self, expr):
        return self._pairs(expr, "minimum")

    def _print_Piecewise(self, expr):
        *branches, (code, _) = [(self._print(value), self._print(test)) for value, test in expr.args]
        for value, test in reversed(branches):
            code = f"where({test}, {value}, {code})"
        return code

    def _print_ceiling(self, expr):
        return f"ceil({self._print(expr.args[0])})"


class Tape:
    """Steps in order. ``known`` maps a quantity to what stands for it from now on."""

    def __init__(self, flop):
        self.fresh = sympy.numbered_symbols("t", real=True)
        self.steps: list[tuple] = []
        self.known: dict = {q.flop: flop}

    def put(self, formula, keep: bool = True, **given):
        """The value of a formula (or expression): ``given`` in place of its inputs, else what is known."""
        expr = formula.rhs if isinstance(formula, Formula) else sympy.sympify(formula)
        here = self.known | {getattr(q, name): sympy.sympify(value) for name, value in given.items()}
        value = next(self.fresh)
        self.steps.append((value, expr.xreplace(here)))
        if keep and isinstance(formula, Formula):
            self.known[formula.lhs] = value
        return value


def _group(tape: Tape, array, ranks, inner):
    """Bytes over NVLink and over the network of an all-gather over a group of ranks."""
    given = {"V": array, "X": ranks, "Y": inner}
    return [tape.put(f, keep=False, **given) for f in (training_step.group_nvlink, training_step.group_network)]


def _exchange(tape: Tape):
    """Bytes over NVLink and over the network of the experts' all-to-alls, of a microbatch in a stage."""
    group, nodes, peers = q.Z * tape.known[q.B_mb] / q.Y, sympy.Max(q.Z / q.D_1, 1), sympy.Min(q.Z, q.D_1)
    passes = sympy.Piecewise((2, q.n_recompute < 2), (3, True))
    layers = tape.put(passes * q.L_stage * (q.L - q.L_dense) / q.L)
    inside = expert_parallel.ep_fan_out.rhs * q.W_nvl
    across = expert_parallel.ep_node_comms.rhs * q.W_node
    return [
        tape.put(layers * inside, B=group, D_1=peers),
        tape.put(layers * across, B=group, M=nodes, f_hit=q.f_node),
    ]


def _sum(tape: Tape, parts, others):
    """Level by level."""
    return [tape.put(a + b) for a, b in zip(parts, others, strict=True)]


def _states(tape: Tape, schedule: str) -> dict:
    """Bytes of weights, gradients and optimizer: one at a time, the others being 0."""
    kinds = {"weights": "b_w", "gradients": "b_grad", "optimizer": "b_opt"}
    out = {}
    for name, mine in kinds.items():
        rest = {other: 0 for other in kinds.values() if other != mine}
        out[name] = tape.put(step_memory.stage_state, keep=False, **rest)
    if schedule == "dualpipe":  # a rank holds two stages, one of each direction, and so does its mirror image
        out["weights"], out["gradients"] = tape.put(2 * out["weights"]), tape.put(2 * out["gradients"])
    return out


_HELD = {"gpipe": pipeline.gpipe_held, "zb-h1": pipeline.zb_held, "dualpipe": pipeline.dualpipe_held}


def _memory(tape: Tape, schedule: str) -> dict:
    out = _states(tape, schedule)
    if schedule == "1f1b":
        plain, interleaved = pipeline.one_f_one_b_held.rhs, pipeline.interleaved_held.rhs
        held = tape.put(sympy.Piecewise((plain, q.n_virt < 2), (interleaved, True)), i_stage=0)
    else:
        held = tape.put(_HELD[schedule], keep=False)
    tape.known[q.n_held] = held
    for formula in (step_memory.layer_kept, step_memory.flying_layers, step_memory.flying_activations):
        tape.put(formula)
    tape.put(activations.head_activations, S=q.S / q.n_cp)
    tape.put(step_memory.last_stage_activations)
    out["activations"] = tape.put(sympy.Max(q.V_stage, q.V_last))
    out["working"] = tape.put(step_memory.working_memory)
    out["memory"] = tape.put(sum(out[name] for name in MEMORY[:-1]))
    return out


def _arrays(tape: Tape) -> dict:
    """For each axis the bytes over NVLink and over the network: of a microbatch in a stage, for DP of a pass."""
    experts = tape.put(q.P_exp * q.L_stage / q.L)
    copies = q.X * q.n_cp
    dense = _group(tape, tape.put(q.P_stage - experts), copies, q.Y)
    routed = _group(tape, experts, tape.put(copies * q.Y / q.Z), q.Z)
    return {
        "tp": _group(tape, tape.put(training_step.tp_bytes, keep=False), q.Y, 1),
        "cp": _group(tape, tape.put(training_step.cp_bytes, keep=False), q.n_cp, q.Y),
        "ep": _exchange(tape),
        "dp": _sum(tape, dense, routed),  # for each byte of a parameter
    }


def _level_time(tape: Tape, levels, size=1):
    return tape.put(training_step.level_time, keep=False, V_nvl=levels[0] * size, V_net=levels[1] * size)


def _pipeline(tape: Tape, schedule: str):
    """Bubble and exposed transfers; for schedules that split the passes, communication is shared out in proportion."""
    both = {"t_F": q.T_mb * q.T_fwd / (q.T_fwd + q.T_bwd), "t_B": q.T_mb * q.T_bwd / (q.T_fwd + q.T_bwd)}
    given = {name: tape.put(value) for name, value in both.items()} | {"t_W": tape.put(q.T_fwd - q.V_fwd / q.W_hbm)}
    tape.put(training_step.stage_hop)
    plain, interleaved = pipeline.one_f_one_b_exposed.rhs, pipeline.interleaved_exposed.rhs
    if schedule == "1f1b":
        tape.known[q.T_idle] = tape.put(pipeline.interleaved_overhead.rhs * q.N_MB * q.T_mb)
        tape.known[q.T_pp] = tape.put(sympy.Piecewise((plain, q.n_virt < 2), (interleaved, True)))
    else:
        idle = {"gpipe": pipeline.bubble_time, "zb-h1": pipeline.zb_bubble, "dualpipe": pipeline.dualpipe_bubble}
        tape.put(idle[schedule], **given)
        exposed = pipeline.gpipe_exposed.rhs if schedule == "gpipe" else plain
        tape.known[q.T_pp] = tape.put(sympy.Piecewise((0, q.N_stages < 2), (exposed, True)), **given)


def _times(tape: Tape, arrays: dict, schedule: str, rates: dict) -> dict:
    """The times of a step at those rates."""
    tape.known |= rates
    tape.put(training_step.stage_forward)
    tape.put(training_step.stage_backward)
    for axis, time in {"tp": q.T_tp, "cp": q.T_cp, "ep": q.T_ep}.items():
        tape.known[time] = _level_time(tape, arrays[axis])
    tape.put(training_step.microbatch_time)
    tape.known[q.T_scatter] = _level_time(tape, arrays["dp"], q.b_grad)
    tape.known[q.T_gather] = _level_time(tape, arrays["dp"], q.b_w)
    tape.put(training_step.exposed_dp)
    _pipeline(tape, schedule)
    used = tape.put(training_compute.model_flops, keep=False)
    out = {"need": tape.put(used / (q.N_gpu * q.C)), "kernels": tape.put(q.N_MB * (q.V_fwd + q.V_bwd) / q.W_hbm)}
    out["math"] = tape.put(q.N_MB * (q.T_fwd + q.T_bwd) - out["kernels"])
    for axis, share, time in (("tp", q.g_tp, q.T_tp), ("cp", q.g_cp, q.T_cp), ("ep", q.g_ep, q.T_ep)):
        out[f"{axis}_wait"] = tape.put(q.N_MB * share * time)
    out |= {"dp_wait": tape.known[q.T_dp], "pp_wait": tape.known[q.T_pp], "bubble": tape.known[q.T_idle]}
    out["step"] = tape.put(training_step.step_sum)
    told = tape.put(training_compute.model_flops, keep=False, P_act=0, L=1, ops_attn=q.ops_tok)
    out["mfu"] = tape.put(training_compute.mfu, keep=False, ops=told, C=q.C)
    return out


def _passes(tape: Tape):
    """Bytes that each parameter sends in a step: gradients once or for each microbatch, weights likewise."""
    scattered = sympy.Piecewise((2, q.n_zero < 1), (1, q.n_zero < 2), (q.N_MB, True))
    gathered = sympy.Piecewise((0, q.n_zero < 1), (1, q.n_zero < 3), (2 * q.N_MB, True))
    return tape.put(q.b_grad * scattered + q.b_w * gathered)


def compose(schedule: str, flop=sympy.S.One) -> tuple[list, dict]:
    """The steps, and the outputs by name. ``flop`` is 1, or the quantity where units are to be checked."""
    tape = Tape(flop)
    tape.known[q.N_gpu] = tape.put(q.X * q.Y * q.n_cp * q.N_stages)
    work = "microbatches microbatch_tokens head_layers stage_layers stage_flops recomputed_flops"
    for name in work.split():
        tape.put(getattr(training_step, name))
    tape.put(step_memory.stage_params)
    tape.put(step_memory.stage_rank_params)
    tape.put(memory_traffic.kernels_forward)
    tape.put(memory_traffic.kernels_backward)
    out = {"microbatches": tape.known[q.N_MB], "stage_layers": tape.known[q.L_stage]} | _memory(tape, schedule)
    arrays = _arrays(tape)
    for axis, levels in arrays.items():
        often = _passes(tape) if axis == "dp" else tape.known[q.N_MB]
        for level, size in zip(LEVELS, levels, strict=True):
            out[f"{axis}_{level}"] = tape.put(often * size)
    hop = tape.put(pipeline.sharded_hop_bytes, keep=False, B=tape.known[q.B_mb] * q.X * tape.known[q.N_MB])
    out["pp_bytes"] = tape.put(sympy.Piecewise((0, q.N_stages < 2), (2 * q.n_virt * q.N_MB * hop, True)))
    out |= _times(tape, arrays, schedule, {})
    reached = {q.C: q.eta * q.C, q.W_1: q.eta_1 * q.W_1, q.W_2: q.eta_2 * q.W_2, q.W_hbm: q.eta_hbm * q.W_hbm}
    late = _times(tape, arrays, schedule, reached)
    return tape.steps, out | {f"{name}_reached": value for name, value in late.items()}


@cache
def program(schedule: str):
    """The function that gives all OUTPUTS, and the names of its inputs in order."""
    steps, out = compose(schedule)
    values, exprs = zip(*steps, strict=True)
    shared, slim = sympy.cse(list(exprs), symbols=sympy.numbered_symbols("x", real=True), order="none")
    lines = _ordered(dict(shared) | dict(zip(values, slim, strict=True)), [out[name] for name in OUTPUTS])
    names = inputs(sum({s for _, e in lines for s in e.free_symbols} - {s for s, _ in lines}))
    function = sympy.lambdify(
        names, [out[name] for name in OUTPUTS], modules="numpy", printer=Printer, cse=lambda exprs: (lines, exprs)
    )
    return function, tuple(name.name for name in names)


def _ordered(lines: dict, wanted) -> list[tuple]:
    """The lines that the wanted values need, each after those that it reads."""
    done: dict = {}

    def need(symbol):
        if symbol in lines and symbol not in done:
            for other in sorted(lines[symbol].free_symbols, key=str):
                need(other)
            done[symbol] = lines[symbol]

    for symbol in wanted:
        need(symbol)
    return list(done.items())
