"""The expected times of choices as one numpy function of their inputs and of a calibration's constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import sympy

from gpuscale import llm
from gpuscale import symbols as q
from gpuscale.plan import evaluation
from gpuscale.plan.batch import possible_rows
from gpuscale.plan.choice import Choice
from gpuscale.plan.columns import described
from gpuscale.plan.costs import COPIES, SCHEDULES, TapeStep, printed, work
from gpuscale.plan.requests import Request


@dataclass(frozen=True)
class ExpectedTimes:
    """The expected times of choices, as arrays with a number for each choice. All but ``mfu`` are in seconds."""

    gpu: np.ndarray = described("the GPU for a microbatch in the slowest stage, communication left out")
    tp: np.ndarray = described("communication of tensor parallelism for a microbatch in a stage")
    cp: np.ndarray = described("communication of context parallelism for a microbatch in a stage")
    ep: np.ndarray = described("communication of expert parallelism for a microbatch in a stage")
    host: np.ndarray = described("the host for a microbatch in a stage")
    microbatch: np.ndarray = described("a microbatch in a stage: GPU or host, whichever takes longer")
    bubble: np.ndarray = described("waiting while the pipeline fills and drains, per step")
    pp: np.ndarray = described("exposed transfers between stages, per step")
    dp: np.ndarray = described("exposed communication of data parallelism, per step")
    update: np.ndarray = described("the optimizer, and what depends on nothing, per step")
    step: np.ndarray = described("the whole step")
    mfu: np.ndarray = described("model FLOPs utilization against the dense bf16 peak")


NAMES = tuple(field.name for field in fields(ExpectedTimes))


def compose(schedule: str, latent: bool, flop=sympy.S.One) -> tuple[list[TapeStep], dict]:
    """The steps, and the columns by name."""
    tape, moved = work(latent, flop)
    _, _, idle, exposed = SCHEDULES[schedule]
    peak = q.C
    tape.known[q.C] = tape.value(llm.reached_flops, C_ref=peak)
    tape.known[q.C_attn] = tape.value(llm.reached_flops, C_ref=peak, eta=q.eta_attn)
    tape.known[q.W_nvl] = tape.value(llm.reached_bandwidth, W_ref=q.W_nvl, eta=q.eta_1)
    tape.known[q.W_hbm] = tape.value(llm.reached_bandwidth, W_ref=q.W_hbm, eta=q.eta_hbm)

    def level(levels, ranks):
        """The time over both levels, for ranks that may be on several nodes."""
        nodes = tape.value(llm.spanned_nodes, N=ranks)
        network = tape.value(llm.many_nodes, W_ref=q.W_node, eta=q.eta_2, M=nodes)
        return tape.value(llm.level_time, V_nvl=levels[0], V_net=levels[1], W_node=network)

    copies = q.X * q.Y * q.n_cp
    tape.known |= {
        q.T_tp: level(moved["tp"], q.Y),
        q.T_cp: level(moved["cp"], q.Y * q.n_cp),
        q.T_ep: level(moved["ep"], q.Z),
    }
    tape.known[q.T_scatter] = level(tape.values(COPIES, b=q.b_grad), copies)
    tape.known[q.T_gather] = level(tape.values(COPIES, b=q.b_w), copies)
    tape.take(
        llm.stage_forward,
        llm.stage_backward,
        llm.microbatch_gpu_time,
        llm.microbatch_host_time,
        llm.expected_microbatch,
    )
    if q.t_F in idle.inputs:
        tape.take(llm.forward_slot, llm.backward_slot)
        tape.known[q.t_W] = tape.value(llm.stage_forward, V_fwd=0)
    tape.known[q.T_dp_best] = tape.value(llm.exposed_dp)
    tape.take(llm.stage_hop, idle, exposed, llm.expected_dp, llm.update_time, llm.expected_step)
    known = tape.known
    found = {
        "gpu": known[q.T_mb_gpu],
        "tp": known[q.T_tp],
        "cp": known[q.T_cp],
        "ep": known[q.T_ep],
        "host": known[q.T_host],
        "microbatch": known[q.T_mb],
        "bubble": known[q.T_idle],
        "pp": known[q.T_pp],
        "dp": known[q.T_dp],
        "update": known[q.T_upd],
        "step": known[q.T_step],
    }
    found["mfu"] = tape.value(llm.mfu, ops=tape.value(llm.counted_flops), C=peak)
    return tape.steps, found


@cache
def program(schedule: str, latent: bool):
    """The function that gives all NAMES, and the names of its inputs in order."""
    steps, out = compose(schedule, latent)
    return printed(steps, [out[name] for name in NAMES])


def expected_times(
    ask: Request, choices: Sequence[Choice] | Mapping[str, object], constants: Mapping[str, float]
) -> ExpectedTimes:
    """The ExpectedTimes of choices, given as to ``evaluate_choices``, with the constants of a Calibration.

    An impossible choice has nan. Raises Refusal for columns that ``evaluate_choices`` would refuse.

    >>> from gpuscale.plan import load_calibration, request, shipped
    >>> ask = request("llama3_8b", "h100_superpod", 64, 2**20, seq=4096)
    >>> mine = load_calibration(shipped("nanotron_h100"))
    >>> found = expected_times(ask, {"tp": [8, 7], "dp": [8, 9], "sp": True, "zero": 1}, mine.constants)
    >>> np.isfinite(found.step)
    array([ True, False])
    """
    rows, good = possible_rows(ask, choices)
    function, names = program(ask.schedule, "kv_rank" in ask.model)
    given = evaluation.known(ask, rows) | dict(constants)
    with np.errstate(all="ignore"):
        found = function(*(given[name] for name in names))
    return ExpectedTimes(*(np.where(good, value, np.nan) for value in found))
