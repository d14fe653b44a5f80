"""The planner of serving from the shell.

    python -m gpuscale.serve --model llama3-70b --gpu h100-sxm --gpus 8 --input 2000 --output 500 --ttft 1 --tpot 30ms

The exit status is 0 for a plan, 2 for a request that cannot be met.
"""

from __future__ import annotations

import argparse
import json
import sys

from gpuscale import specs
from gpuscale.plan import clusters
from gpuscale.plan.__main__ import PlanParser
from gpuscale.plan.errors import Refusal
from gpuscale.plan.typed import number, whole
from gpuscale.printed.engines import DRAFT_TIME

OUTPUT = ("spec", "top", "why", "json", "list")  # options that do not change the request


def parser() -> PlanParser:
    """The options."""
    from gpuscale.serve.requests import LOAD, MODES, PINS

    out = PlanParser(
        "python -m gpuscale.serve",
        description="Find the layouts that serve a model with the highest throughput within limits of latency.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument("--model", help="a model from --list, or the path of a Hugging Face config.json")
    out.add_argument("--gpu", help="a chip from --list, such as h100-sxm")
    out.add_argument("--gpus", default="1", help="number of GPUs (1)")
    out.add_argument("--input", help="tokens of a prompt")
    out.add_argument("--output", help="tokens of an answer")
    out.add_argument("--ttft", help="longest time to first token, such as 1 (seconds) or 500ms (no limit)")
    out.add_argument("--tpot", help="longest time per output token, such as 30ms (no limit)")
    out.add_argument("--ttft-p95", help="longest time to first token of 95%% of the requests (no limit)")
    out.add_argument("--gap-p95", help="longest of 95%% of the gaps between two steps of a sequence (no limit)")
    out.add_argument("--cached", default="0", help="tokens of the prompt whose cache is there already (0)")
    out.add_argument("--cached-prefix", default="0", help="tokens with which all prompts begin, stored once (0)")
    out.add_argument("--hit", default="1", help="fraction of requests that find the cached tokens (1)")
    out.add_argument("--speculate", default="0", help="draft tokens per step (0)")
    out.add_argument(
        "--acceptance", help="probability that a draft token is accepted if all before it are, or one for each: 0.9,0.7"
    )
    out.add_argument(
        "--draft", default=DRAFT_TIME, help=f"time of a draft token over that of a step ({DRAFT_TIME:.2g})"
    )
    out.add_argument("--weights", help="formats of the weights to compare, such as bf16 or bf16,fp8 (what the GPU has)")
    out.add_argument("--cache", help="formats of the KV cache to compare (bf16,fp8)")
    out.add_argument("--mode", help=f"{' or '.join(MODES)} (both)")
    out.add_argument("--load", default=LOAD, help=f"largest fraction of what they can serve that GPUs serve ({LOAD})")
    out.add_argument("--chunk", default="0", help="tokens of a chunk of a prompt; 0: prompts are prefilled whole (0)")
    out.add_argument("--rate", help="requests per second of the peak hour: say how many replicas they take")
    out.add_argument("--price", help="USD per GPU-hour (that of the data, if any)")
    out.add_argument("--reserve", help="GB of each GPU's memory to leave free (a tenth of it)")
    out.add_argument("--per-node", help="GPUs of an NVLink domain (that of the data)")
    out.add_argument("--nvlink", help="bandwidth within the node per GPU, one direction, such as 450GB/s (the chip's)")
    out.add_argument("--nic", help="network bandwidth per GPU, such as 400Gbit/s (the chip's)")
    out.add_argument(
        "--spec", action="append", default=[], metavar="FILE", help="a TOML file of your own models and chips"
    )
    for name, meaning in PINS.items():
        out.add_argument(f"--{name}", help=f"fix {meaning}")
    out.add_argument("--top", default="10", help="rows to show (10)")
    out.add_argument("--why", action="store_true", help="also say why other layouts are excluded")
    out.add_argument("--json", action="store_true", help="print plain data, in base units")
    out.add_argument("--list", action="store_true", help="list the known models and chips")
    return out


def listing() -> str:
    """Models and chips by key; of the chips those that can be planned for."""
    lines = []
    known = clusters.chips()
    for kind, head in {"model": "models:", "chip": "chips:"}.items():
        lines += [head]
        lines += [
            f"  {key.replace('_', '-'):20} {part.title}"
            for key, part in specs.parts(kind).items()
            if kind == "model" or key in known
        ]
    return "\n".join(lines)


def main(arguments=None) -> int:
    """Print the plan; the exit status."""
    try:
        options = parser().parse_args(arguments)
        for path in options.spec:
            clusters.load(path)
        if options.list:
            print(listing())
            return 0
        given = vars(options)
        needed = ("model", "gpu", "input", "output")
        if lacking := [f"--{name}" for name in needed if given[name] is None]:
            raise Refusal(f"missing {', '.join(lacking)}; try --list, or --help")
        if options.reserve is not None:
            given["reserve"] = number("reserve, in GB", options.reserve, unit="GB")
        from gpuscale.serve import text
        from gpuscale.serve.requests import request
        from gpuscale.serve.search import solve

        ask = request(**{name: value for name, value in given.items() if name not in OUTPUT})
        found = solve(ask, whole("top", options.top))
    except (Refusal, specs.SpecError) as error:
        print(f"python -m gpuscale.serve: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found.record(), indent=1) if options.json else text.text(found, why=options.why))
    return 0


if __name__ == "__main__":
    sys.exit(main())
