"""Print what the planner of serving needs into ``gpuscale.printed``: formulas, and constants of engines.

Run ``make printed``, or ``python -m gpuscale.serve.printing``, after a change of a formula or of a published row.
"""

from __future__ import annotations

import json

import numpy as np

from gpuscale import collectives, serving
from gpuscale.plan.printing import FOLDER, file, function
from gpuscale.serving.estimates import constants, draft_time, fitted
from gpuscale.serving.measured_kinds import loaded, over_expected, predicted_bands

DIGITS = 6  # of a constant: further ones differ from machine to machine
HELD = 0.9  # of the rows lie in the band
REGIMES = {False: "in_flight", True: "mixture"}  # kinds of published rows, by whether the model has experts
# What the planner evaluates one by one, in Python and on the page
SHARED = [
    *(serving.cache_token_windowed, serving.cache_sequence, serving.experts_touched, serving.mean_context),
    *(serving.replica_weights, serving.replica_weights_read, serving.replica_cache, serving.replica_params),
    *(serving.replica_attention, serving.weights_read_moe, serving.bytes_read, serving.attention_flop_decode),
    *(serving.attention_flop_absorbed, serving.decode_bound, serving.decode_estimate, serving.loaded_step),
    *(serving.prefill_flop_windowed, serving.prefill_flop_latent, serving.prefill_bound, serving.prefill_estimate),
    *(collectives.two_shot_all_reduce, serving.expert_parallel_exchange, collectives.call_time),
    *(serving.pipeline_decode, serving.full_token_time, serving.first_token_time, serving.full_rate),
    *(serving.verified_batch, serving.tokens_per_step_measured, serving.speculative_token, serving.handover_bytes),
    *(serving.mean_prefill, serving.prefill_spread, serving.queue_time, serving.largest_load),
    *(serving.queue_percentile, serving.slot_taken, serving.slot_queue, serving.replica_queue),
    *(serving.chunk_time, serving.mixed_bound, serving.mixed_estimate, serving.chunk_steps, serving.largest_fed),
    *(serving.chunked_token_time, serving.chunked_first_token, serving.gap_percentile, serving.stalled_decode),
    serving.prompts_per_step,
    *(serving.replicas_for_rate, serving.hourly_price, serving.dollars_per_million),
]
# and what only Python evaluates
FORMULAS = [*SHARED, serving.quantized_bytes, serving.tokens_per_step]


def printed() -> dict[str, str]:
    """The text of every file by its name."""
    return {
        "serving.py": file(
            "Formulas that the planner of serving evaluates one by one.", [function(one) for one in FORMULAS]
        ),
        "engines.py": engines(),
    }


def engines() -> str:
    """The file of constants of engines, for models without experts and with them."""
    rows = "".join(f"    {experts}: {json.dumps(in_flight(experts))},\n" for experts in REGIMES)
    texts = [
        f"# The fields of a Constants of gpuscale.serving\nCONSTANTS = {json.dumps(_rounded(constants()._asdict()))}",
        f"# What requests in flight add, by whether the model has experts: fields of an EngineRates of gpuscale.serve\n"
        f"IN_FLIGHT = {{\n{rows}}}",
        f"# Time of a draft token, in steps\nDRAFT_TIME = {_rounded({'': draft_time()})['']}",
    ]
    return file("Constants of engines that serve, from published rows.", texts)


def in_flight(experts: bool) -> dict[str, float]:
    """What rows of requests in flight give for an EngineRates."""
    rows = predicted_bands()[REGIMES[experts]].rows
    band = np.exp(np.quantile(np.abs(np.log([over_expected(one) for one in rows])), HELD))
    chips = sorted({row.chip for row in fitted()} | {one.row.chip for one in rows})
    return _rounded({"added": loaded() if experts else 1.0, "band": float(band)}) | {"rows": len(rows), "chips": chips}


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.{DIGITS}g}") for name, value in values.items()}


def main() -> None:
    """Write the files."""
    for name, text in printed().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"constants of engines, and formulas of the planner of serving, in {FOLDER}")


if __name__ == "__main__":
    main()
