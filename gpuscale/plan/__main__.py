"""The planner from the shell.

    python -m gpuscale.plan --model llama3-70b --cluster h100-superpod --gpus 4096 --batch 4M
    python -m gpuscale.plan calibrate runs.csv --cluster h100-superpod -o mine.toml

The exit status is 0 for a plan, 1 if nothing fits, 2 for a request that cannot be met.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from gpuscale import specs
from gpuscale.plan import calibration, clusters
from gpuscale.plan.choice import PINS, RECOMPUTE
from gpuscale.plan.columns import explained
from gpuscale.plan.errors import Refusal
from gpuscale.plan.requests import SCHEDULES, Request, request
from gpuscale.plan.typed import number, shown, whole

OUTPUT = ("spec", "top", "why", "explain", "json", "list")  # options that do not change the request
PLACE = ("gpu", "nic", "nvlink", "nodes")  # options that describe a cluster


class PlanParser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        raise Refusal(message)

    def parse_args(self, arguments=None, namespace=None):
        """The options. Raises Refusal for ``--gpus=--``, of which argparse makes an empty list."""
        options = super().parse_args(arguments, namespace)
        for name, value in vars(options).items():
            if value == [[]] or (value == [] and name != "spec"):
                self.error("an option has '--' for its value; expected a value")
        return options


def parser() -> PlanParser:
    """The options."""
    told = "Find the best parallelism for a model on a cluster."
    out = PlanParser(
        "python -m gpuscale.plan",
        description=told,
        allow_abbrev=False,
        epilog=f"columns of --json, base units:\n{explained()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument(
        "--model", help="a model from --list, such as llama3-70b, or the path of a Hugging Face config.json"
    )
    out.add_argument(
        "--cluster", dest="cluster_key", help="a cluster from --list, such as h100-superpod, or a TOML file"
    )
    _place_options(out)
    out.add_argument(
        "--spec",
        action="append",
        default=[],
        metavar="FILE",
        help="a TOML file of your own parts; its cluster, if it has one",
    )
    out.add_argument("--gpus", help="number of GPUs")
    out.add_argument("--nodes", help="number of nodes, instead of --gpus")
    out.add_argument("--batch", help="tokens per step: 4M is 4 x 2**20, 4e6 is four million")
    out.add_argument("--seq", default="8192", help="tokens per sequence (8192)")
    out.add_argument("--recipe", default="bf16_fp32_grads", help="bytes per parameter (bf16-fp32-grads)")
    out.add_argument("--schedule", default="1f1b", help=f"{', '.join(SCHEDULES)}; 1f1b may be interleaved")
    out.add_argument("--per-node", help="GPUs used per node (all); with --gpu, GPUs of a node")
    out.add_argument("--reserve", help="GB of each GPU's memory to leave free (5%% of it); 0 uses all")
    out.add_argument(
        "--reach", dest="shares", help="achieved fractions of the peaks: arithmetic,NVLink,network,HBM (measured)"
    )
    out.add_argument("--wait", dest="waits", help="fractions of TP,CP,EP communication that are exposed (1,1,1)")
    out.add_argument(
        "--calibrated",
        dest="calibration",
        metavar="FILE",
        help="constants of measured runs: a file, or a calibration from --list (that of the cluster)",
    )
    for name, meaning in PINS.items():
        more = f": {', '.join(RECOMPUTE)}" if name == "recompute" else " (0 or 1)" if name in ("sp", "even") else ""
        out.add_argument(f"--{name}", help=f"fix {meaning}{more}")
    out.add_argument("--top", default="10", help="rows to show (10)")
    out.add_argument("--why", action="store_true", help="also say why the other choices are excluded")
    out.add_argument("--explain", action="store_true", help="also say where the time of the first plan goes")
    out.add_argument("--json", action="store_true", help="print plain data, in base units")
    out.add_argument(
        "--list", action="store_true", help="list the known models, clusters, chips, recipes and calibrations"
    )
    return out


def _place_options(out: PlanParser) -> None:
    """The options that describe a cluster by its chip."""
    out.add_argument("--gpu", help="instead of a cluster: a chip from --list, such as h100-sxm")
    out.add_argument("--nic", help="with --gpu: network bandwidth per GPU, such as 400Gbit/s (the chip's)")
    out.add_argument("--nvlink", help="with --gpu: bandwidth within the node per GPU, one direction (the chip's)")


def listing() -> str:
    """Models, clusters, chips, recipes and calibrations by key; of the chips those that --gpu takes."""
    chips = clusters.chips()
    heads = {"model": "models:", "cluster": "clusters:"}
    heads |= {"chip": "chips, each with the options that --gpu needs besides it:", "recipe": "recipes:"}
    lines = []
    for kind, head in heads.items():
        lines += [head]
        for key, part in specs.parts(kind).items():
            if kind != "chip" or key in chips:
                needed = f" ({', '.join(chips[key])})" if kind == "chip" and chips[key] else ""
                lines += [f"  {key.replace('_', '-'):20} {part.title}{needed}"]
    lines += ["calibrations:"]
    for name, path in calibration.shipped_files().items():
        lines += [f"  {name.replace('_', '-'):20} {calibration.load_calibration(path).source}"]
    return "\n".join(lines)


def asked(options) -> tuple[Request, int]:
    """The Request and how many rows to show."""
    given = vars(options)
    described(given)
    names = {"model": "model", "cluster_key": "cluster (or --gpu)", "gpus": "gpus (or --nodes)", "batch": "batch"}
    if lacking := [f"--{said}" for name, said in names.items() if given[name] is None]:
        raise Refusal(f"missing {', '.join(lacking)}; try --list, or --help")
    if options.reserve is not None:
        given["reserve"] = number("reserve, in GB", options.reserve, unit="GB")
    top = whole("top", options.top)
    return request(**{name: value for name, value in given.items() if name not in (*OUTPUT, *PLACE)}), top


def described(given: dict) -> None:
    """Put the cluster that the options describe in the place of a key, and the GPUs of so many nodes."""
    if given["gpu"] is not None:
        if given["cluster_key"] is not None:
            typed = f"--gpu {shown(given['gpu'])} and --cluster {shown(given['cluster_key'])}"
            raise Refusal(f"{typed}; expected one of the two")
        alone = given["nodes"] is not None and whole("nodes", given["nodes"]) == 1
        given["cluster_key"] = clusters.own_cluster(
            *(given[name] for name in ("gpu", "per_node", "nic", "nvlink")), alone
        )
        given["per_node"] = None
    elif lone := [f"--{name}" for name in ("nic", "nvlink") if given[name] is not None]:
        raise Refusal(f"{' and '.join(lone)} without --gpu; expected the chip as well, such as --gpu h100-sxm")
    if given["nodes"] is None or given["cluster_key"] is None:
        return
    if not isinstance(given["cluster_key"], clusters.Cluster):
        given["cluster_key"] = clusters.cluster(given["cluster_key"])
    each = given["cluster_key"].node if given["per_node"] is None else whole("GPUs per node", given["per_node"])
    many = whole("nodes", given["nodes"]) * each
    if given["gpus"] is not None and whole("GPUs", given["gpus"]) != many:
        raise Refusal(
            f"--nodes {shown(given['nodes'])} of {each} are {many:,} GPUs, and --gpus says {shown(given['gpus'])}"
        )
    given["gpus"] = many


def calibrate_parser() -> PlanParser:
    """The options of ``calibrate``."""
    told = "Find the constants of a real training step from measured runs and collectives, and write them to a file."
    out = PlanParser("python -m gpuscale.plan calibrate", description=told, allow_abbrev=False)
    out.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a CSV file of runs with the columns model, gpus, batch, seq, seconds, and those of a layout; logs of "
        "nccl-tests; the file that the benchmark of the labs writes",
    )
    out.add_argument("--cluster", dest="cluster_key", help="a cluster from --list, or a TOML file")
    _place_options(out)
    out.add_argument("--per-node", help="with --gpu: GPUs of a node")
    out.add_argument("--spec", action="append", default=[], metavar="FILE", help="a TOML file of your own parts")
    out.add_argument("--recipe", default="bf16_fp32_grads", help="bytes per parameter (bf16-fp32-grads)")
    out.add_argument(
        "--bucket",
        help="how many bytes of gradients the framework reduces at a time, such as 1GB (of runs: PyTorch's 25 MiB)",
    )
    out.add_argument("--source", default="", help="where the runs are from, in words")
    out.add_argument("-o", "--output", required=True, metavar="FILE", help="the TOML file to write")
    return out


def calibrate_runs(arguments: list[str]) -> int:
    """Write a calibration, and say how good it is."""
    options = calibrate_parser().parse_args(arguments)
    for path in options.spec:
        clusters.load(path)
    from gpuscale.plan.network_logs import read_logs
    from gpuscale.plan.runs import read_runs

    given = vars(options) | {"nodes": None, "gpus": None}
    described(given)
    if given["cluster_key"] is None:
        raise Refusal("missing --cluster (or --gpu); expected where the runs were measured")
    if given["per_node"] is not None:
        raise Refusal("--per-node without --gpu; expected the chip as well, such as --gpu h100-sxm")
    place = given["cluster_key"]
    place = place if isinstance(place, clusters.Cluster) else clusters.cluster(place)
    tables = [path for path in options.files if path.lower().endswith(".csv")]
    logs = [path for path in options.files if path not in tables]
    runs, sweeps = [run for path in tables for run in read_runs(path)], read_logs(logs) if logs else []
    from gpuscale.plan.fit import calibrate  # a file that is refused need not wait for sympy
    from gpuscale.plan.network_fit import fit_network

    network = fit_network(sweeps, place) if sweeps else None
    source = options.source or ", ".join(Path(path).name for path in options.files)
    found = calibrate(
        runs, place, options.recipe, source, network.calibration if network else None, bucket=options.bucket
    )
    try:
        Path(options.output).write_text(found.text(), encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{options.output}: {error.strerror}; expected a file that can be written") from None
    print("\n".join([*([network.summary()] if network else []), *([calibration.summary(found)] if runs else [])]))
    return 0


def main(arguments=None) -> int:
    """Print the plan; the exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if arguments[:1] == ["calibrate"]:
            return calibrate_runs(arguments[1:])
        options = parser().parse_args(arguments)
        own = [key for path in options.spec for key in clusters.load(path)]
        if options.cluster_key is None and len(own) == 1:
            options.cluster_key = own[0]
        if options.list:
            print(listing())
            return 0
        ask, top = asked(options)
        from gpuscale.plan import text  # a refusal need not wait for what plans
        from gpuscale.plan.search import solve

        found = solve(ask, top)
    except (Refusal, specs.SpecError) as error:
        print(f"python -m gpuscale.plan: {error}", file=sys.stderr)
        return 2
    if options.json:
        more = {"explain": found.explain().record()} if options.explain and found.rows else {}
        print(json.dumps(found.record() | more, indent=1))
    else:
        print(text.text(found, colour=sys.stdout.isatty(), why=options.why))
        if options.explain and found.rows:
            print(f"\n{found.explain()}")
    return 0 if found.rows else 1


def run() -> int:
    """The exit status of the program. A reader that has enough, such as ``head``, is no error."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to write goes nowhere
        return 0
    return status


if __name__ == "__main__":
    sys.exit(run())
