"""The planner from the shell.

    python -m gpuscale.plan --model llama3-70b --cluster h100-superpod --gpus 4096 --batch 4M

The exit status is 0 for a plan, 1 where nothing fits, 2 for a request that cannot be met.
"""

from __future__ import annotations

import argparse
import json
import sys

from gpuscale import specs
from gpuscale.plan.errors import Refusal
from gpuscale.plan.requests import PINS, RECOMPUTE, SCHEDULES, request

KEYS = """names in --json, base units (bytes, seconds):
  step, mfu                  at the peaks; with _reached at the shares reached, which the table calls step and MFU
                             MFU counts attention over whole sequences, against the dense bf16 peak
  tp_nvlink, dp_nvlink, ...  bytes of a step into one GPU over NVLink
  tp_network_node, ...       bytes of a step into one node over the network, for all its GPUs
  pp_bytes                   bytes of a step between stages
  memory and its terms       bytes of a GPU, at most: on the fullest stage
  tp_wait, bubble, ...       seconds of a step; math is arithmetic, need what of it the model asks for,
                             kernels the memory traffic of those between the products"""


class PlanParser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        raise Refusal(message)


def parser() -> PlanParser:
    """The options."""
    told = "The best parallelism for a model on a cluster."
    out = PlanParser(
        "python -m gpuscale.plan",
        description=told,
        allow_abbrev=False,
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument("--model", help="a model of --list, such as llama3-70b")
    out.add_argument("--cluster", help="a cluster of --list, such as h100-superpod")
    out.add_argument("--gpus", help="how many GPUs")
    out.add_argument("--batch", help="tokens of a step: 4M is 4 x 2**20, 4e6 is four million")
    out.add_argument("--seq", default="8192", help="tokens of a sequence (8192)")
    out.add_argument("--recipe", default="bf16_fp32_grads", help="bytes of each parameter (bf16-fp32-grads)")
    out.add_argument("--schedule", default="1f1b", help=f"{', '.join(SCHEDULES)}; 1f1b may interleave")
    out.add_argument("--per-node", help="GPUs used of each node (all)")
    out.add_argument("--reserve", help="GB of each GPU's memory that stay free (5%% of it); 0 uses all")
    out.add_argument("--reach", help="shares of the peaks reached: arithmetic,NVLink,network,HBM (measured ones)")
    out.add_argument("--wait", help="shares of TP,CP,EP communication that nothing hides (1,1,1)")
    for name, meaning in PINS.items():
        more = f": {', '.join(RECOMPUTE)}" if name == "recompute" else " (0 or 1)" if name == "sp" else ""
        out.add_argument(f"--{name}", help=f"fix {meaning}{more}")
    out.add_argument("--top", default="10", help="rows to show (10)")
    out.add_argument("--why", action="store_true", help="also say why the other choices cannot be")
    out.add_argument("--json", action="store_true", help="print plain data, base units")
    out.add_argument("--list", action="store_true", help="print the models, clusters and recipes there are")
    return out


def listing() -> str:
    """Models, clusters and recipes by key."""
    kinds = {"models": "model", "clusters": "cluster", "recipes": "recipe"}
    lines = []
    for head, kind in kinds.items():
        lines += [f"{head}:"]
        lines += [f"  {key.replace('_', '-'):20} {part.title}" for key, part in specs.parts(kind).items()]
    return "\n".join(lines)


def asked(options) -> tuple:
    """The Request and how many rows to show."""
    lacking = [f"--{name}" for name in ("model", "cluster", "gpus", "batch") if getattr(options, name) is None]
    if lacking:
        raise Refusal(f"missing {', '.join(lacking)}; try --list, or --help")
    pins = {name: getattr(options, name) for name in PINS}
    if pins["sp"] is not None:
        if pins["sp"] not in {"0", "1"}:
            raise Refusal(f"sp: {pins['sp']!r}; expected 0 or 1")
        pins["sp"] = int(pins["sp"])
    parts = {name: value and value.split(",") for name, value in (("shares", options.reach), ("waits", options.wait))}
    from gpuscale.plan.requests import number, whole

    reserve = None if options.reserve is None else number("reserve, in GB", options.reserve, unit="GB")
    top = whole("top", options.top)
    ask = request(
        options.model,
        options.cluster,
        options.gpus,
        options.batch,
        options.seq,
        options.recipe,
        options.schedule,
        per_node=options.per_node,
        reserve=reserve,
        **parts,
        **pins,
    )
    return ask, top


def main(arguments=None) -> int:
    """Print the plan; the exit status."""
    try:
        options = parser().parse_args(arguments)
        if options.list:
            print(listing())
            return 0
        ask, top = asked(options)
        from gpuscale.plan import text  # sympy comes with it: a refusal need not wait
        from gpuscale.plan.search import solve

        found = solve(ask, top)
    except (Refusal, specs.SpecError) as error:
        print(f"python -m gpuscale.plan: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(found.record(), indent=1))
    else:
        print(text.text(found, colour=sys.stdout.isatty(), why=options.why))
    return 0 if found.rows else 1


if __name__ == "__main__":
    sys.exit(main())
