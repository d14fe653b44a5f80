"""Print what the planner of serving needs into ``gpuscale.printed``: formulas, and constants of engines.

Run ``make printed``, or ``python -m gpuscale.serve.printing``, after a change of a formula or of a published row.
"""

from __future__ import annotations

import json

import numpy as np

from gpuscale import collectives, serving
from gpuscale.plan.printing import FOLDER, file, function
from gpuscale.serve.engines import HELD, REGIMES
from gpuscale.serving.estimates import constants
from gpuscale.serving.measured_kinds import loaded, over_expected, predicted_bands

DIGITS = 6  # of a constant: further ones differ from machine to machine
# What the planner evaluates one by one
FORMULAS = {
    serving: """quantized_bytes cache_token_windowed cache_sequence experts_touched mean_context replica_weights
    replica_weights_read replica_cache replica_params replica_attention weights_read_moe bytes_read verified_batch
    attention_flop_decode attention_flop_absorbed decode_bound decode_estimate loaded_step prefill_flop_windowed
    prefill_flop_latent prefill_bound prefill_estimate expert_parallel_exchange pipeline_decode full_token_time
    first_token_time full_rate handover_bytes tokens_per_step tokens_per_step_measured speculative_token
    dollars_per_million""".split(),
    collectives: "two_shot_all_reduce call_time".split(),
}


def printed() -> dict[str, str]:
    """The text of every file by its name."""
    found = [function(getattr(room, name)) for room, names in FORMULAS.items() for name in names]
    return {
        "serving.py": file("Formulas that the planner of serving evaluates one by one.", found),
        "engines.py": engines(),
    }


def engines() -> str:
    """The file of constants of engines, for models without experts and with them."""
    rows = "".join(f"    {experts}: {json.dumps(fitted(experts))},\n" for experts in REGIMES)
    said = "# By whether the model has experts: the fields of an EngineRates of gpuscale.serve, from published rows."
    return file("Constants of engines that serve.", [f"{said}\nENGINES = {{\n{rows}}}"])


def fitted(experts: bool) -> dict[str, float]:
    """The fields of an EngineRates, fitted to published rows."""
    rows = predicted_bands()[REGIMES[experts]].rows
    band = np.exp(np.quantile(np.abs(np.log([over_expected(one) for one in rows])), HELD))
    found = constants()._asdict() | {"added": loaded() if experts else 1.0, "band": float(band)}
    return {name: float(f"{value:.{DIGITS}g}") for name, value in found.items()} | {"rows": len(rows)}


def main() -> None:
    """Write the files."""
    for name, text in printed().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"constants of engines, and formulas of the planner of serving, in {FOLDER}")


if __name__ == "__main__":
    main()
