"""Memory by stage: the first has the most microbatches in flight, the last has the head."""

from __future__ import annotations

from functools import cache

import numpy as np

from gpuscale import llm
from gpuscale import symbols as q
from gpuscale.plan import costs, evaluation
from gpuscale.plan.batch import possible_rows
from gpuscale.plan.choice import Choice
from gpuscale.plan.errors import Refusal
from gpuscale.plan.requests import Request
from gpuscale.plan.search import evaluate_choice

# Microbatches that a stage holds, or those of its virtual stages together
HELD = {"1f1b": llm.one_f_one_b_held, "gpipe": llm.gpipe_held, "zb-h1": llm.zb_held, "": llm.interleaved_held}


def steps(schedule: str, latent: bool, held) -> tuple[list[costs.TapeStep], list]:
    """Steps to the bytes of a GPU of a stage, from the numbers of the stage too, and to the layers of the head."""
    tape = costs.work(latent)
    tape.known[q.L_stage] = q.L_stage
    tape.take(llm.any_stage_params, llm.stage_rank_params, costs.SCHEDULES[schedule][0])
    costs.take_activations(tape, held)
    tape.take(llm.stage_activations, llm.working_memory, llm.framework_memory)
    return tape.steps, [tape.value(llm.gpu_memory, V_last=0), tape.known[q.L_head]]


@cache
def _program(schedule: str, latent: bool, held):
    """Bytes of a GPU of a stage, and the names of the inputs: the numbers of a stage among them."""
    found, (memory, _) = steps(schedule, latent, held)
    return costs.printed(found, [memory])


@cache
def _counts(latent: bool):
    """Layers that cost as much as the head, and layers of the fullest stage; and the names of the inputs."""
    tape = costs.work(latent)
    return costs.printed(tape.steps, [tape.known[q.L_head], tape.known[q.L_stage]])


def stage_layers(ask: Request, choice: Choice) -> np.ndarray:
    """Layers of each stage of a choice, those of its virtual stages together, from the first stage to the last.

    Layers are dealt evenly, the earlier stages first. The head counts as whole layers of the last virtual stage where
    the plan leaves it that much room; a stage has a layer at least. Raises Refusal for an impossible choice.
    """
    evaluate_choice(ask, choice)
    rows, _ = possible_rows(ask, [choice])
    known = evaluation.known(ask, rows)
    function, names = _counts("kv_rank" in ask.model)
    head, fullest = (round(float(np.max(value))) for value in function(*(known[name] for name in names)))
    return np.array(_dealt(int(known["L"]), 0 if choice.even else head, fullest, choice.pp, choice.virtual))


def _dealt(layers: int, head: int, fullest: int, stages: int, virtual: int) -> list[int]:
    """Layers of each rank. ``fullest``: of the fullest one."""
    pieces = stages * virtual
    room = head if stages > 1 and -(-(layers + head) // pieces) * virtual == fullest else 0
    found = [(layers + room) // pieces + (i < (layers + room) % pieces) for i in range(pieces)]
    found[-1] -= room
    while found[-1] < 1:  # the head alone is longer than a stage: the stages before it get fewer layers
        most = max(found[:-1])
        found[max(i for i in range(pieces - 1) if found[i] == most)] -= 1
        found[-1] += 1
    return [sum(found[rank::stages]) for rank in range(stages)]


def stage_memory(ask: Request, choice: Choice) -> np.ndarray:
    """Bytes of a GPU in each stage of a choice, from the first stage to the last.

    ``memory`` of a plan is at least as much without virtual stages: it takes the last stage to be as full as the first.
    Raises Refusal for an impossible choice, and for DualPipe, where a rank holds two stages.

    >>> from gpuscale.plan import request
    >>> ask = request("llama3_8b", "h100_superpod", 64, "512k")
    >>> (stage_memory(ask, Choice(dp=4, tp=4, pp=4, sp=True)) / 1e9).round(1)
    array([15.9, 12.1,  9.6,  6.1])
    """
    if ask.schedule == "dualpipe":
        raise Refusal("DualPipe: each rank holds two stages; expected 1f1b, gpipe or zb-h1")
    layers = stage_layers(ask, choice)
    rows, _ = possible_rows(ask, [choice])
    known = {name: np.broadcast_to(value, len(layers)) for name, value in evaluation.known(ask, rows).items()}
    ends = np.zeros(len(layers))
    ends[[0, -1]] = 1 if len(layers) > 1 else known["n_emb"][0]
    last = np.zeros(len(layers))
    last[-1] = 1
    known |= {"L_stage": layers, "i_stage": np.arange(len(layers)), "n_end": ends, "n_last": last}
    held = HELD[ask.schedule if choice.virtual == 1 else ""]
    function, names = _program(ask.schedule, "kv_rank" in ask.model, held)
    with np.errstate(all="ignore"):
        return np.asarray(function(*(known[name] for name in names))[0])
