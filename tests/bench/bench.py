"""How fast the library is and how heavy the pages are: ratios measured in one run.

Nothing is asserted. Run it with ``python tests/bench/bench.py``; pytest does not collect it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np
from support.reference_planner import Slow

from gpuscale import specs
from gpuscale.collectives import exchange, hierarchy
from gpuscale.one_gpu import limits, memory, processor, roofline
from gpuscale.plan import (
    Choice,
    calibrate,
    evaluate_choice,
    evaluate_choices,
    evaluation,
    memory_quality,
    read_failures,
    read_runs,
    request,
    shipped,
    time_quality,
)
from gpuscale.plan import layouts as layouts_of_plan
from gpuscale.plan.held_out import BY_GPUS, BY_MODEL, ENDS, INNER
from gpuscale.plan.quality import DRAWN, UNEXPLAINED
from gpuscale.schedules.collectives import hierarchical, ring
from gpuscale.schedules.collectives.routes import Tree

POINTS = 1_000_000
HEAVY = ("ipywidgets", "anywidget")


def seconds(call, repeat: int = 9) -> float:
    """The median time of a call."""
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def started(code: str) -> float:
    """The time of a fresh interpreter that runs the code; the shortest of several, which other load disturbs least."""
    command = [sys.executable, "-c", code]
    return min(seconds(lambda: subprocess.run(command, check=True), 1) for _ in range(7))


def imports() -> None:
    """What importing the library costs a fresh interpreter, and the packages that it should not load."""
    rows = {
        "gpuscale": "import gpuscale",
        "gpuscale, a formula called": "from gpuscale import roofline; roofline.ridge_point(C=1, W_hbm=1)",
        "sympy": "import sympy",
        "anywidget": "import anywidget",
    }
    bare = started("import numpy")
    print(f"{'import, numpy loaded already':38}{'seconds':>10}   heavy packages loaded")
    for name, code in rows.items():
        show = f"import sys; {code}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
        command = [sys.executable, "-c", show]
        loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        print(f"{name:38}{max(0.0, started(f'import numpy; {code}') - bare):10.2f}   {loaded or 'none'}")


def cases() -> dict:
    """Formulas at a million points, and the numpy code that one would write by hand."""
    draw = np.random.default_rng(0)
    b, d, f = (draw.integers(1, 8192, POINTS).astype(float) for _ in range(3))
    size, registers = draw.uniform(1e3, 1e9, POINTS), draw.integers(1, 256, POINTS).astype(float)
    chip = {"C": 989.4e12, "W_hbm": 3.35e12}
    sm = dict(
        n_sub=4,
        R_sm=65536,
        g_reg=256,
        w_lanes=32,
        w_max=64,
        n_block=32,
        S_smem=233472,
        S_res=1024,
        g_smem=128,
    )

    def blocks(R, S_block, w_block, n_sub, R_sm, g_reg, w_lanes, w_max, n_block, S_smem, S_res, g_smem):
        per_warp = np.ceil(R * w_lanes / g_reg) * g_reg
        by_registers = np.floor(n_sub * np.floor(R_sm / n_sub / per_warp) / w_block)
        by_memory = np.floor(S_smem / (np.maximum(1, np.ceil((S_block + S_res) / g_smem)) * g_smem))
        by_count = min(np.floor(w_max / w_block), n_block)
        return np.minimum(np.minimum(by_registers, by_memory), by_count) * w_block / w_max

    def balance(B_rule, D, F):
        room = D * F - B_rule * (D + F)
        return np.where(room > 0, B_rule * D * F / room, np.inf)

    def product(B, D, F, b, b_w, C, W_hbm):
        return np.maximum(2 * B * D * F / C, (b * B * D + b_w * D * F + b * B * F) / W_hbm)

    def waiting(m_then, n_then, n_else, w_lanes):
        return 1 - (m_then * n_then + (w_lanes - m_then) * n_else) / (w_lanes * (n_then + n_else))

    sizes, top = np.exp(draw.uniform(0, 30, POINTS)), draw.integers(1, 64, POINTS).astype(float)
    levels = {"V": sizes, "G": 8, "G_2": 32, "G_3": top, "W_nvl": 450e9, "W_node": 400e9, "W_3": 12.8e12}
    waits = {"alpha_1": 1e-6, "alpha_2": 2e-6, "alpha_3": 3e-6}

    def share(children, bandwidth):
        return (children - 1) / (children * bandwidth)

    def rings(V, G, G_2, G_3, W_nvl, W_node, W_3, alpha_1, alpha_2, alpha_3):
        steps = (G - 1) * alpha_1 + (G_2 - 1) * alpha_2 + (G_3 - 1) * alpha_3
        return steps + V * (share(G, W_nvl) + share(G_2, W_node) + share(G_3, W_3))

    def links(V, G, G_2, G_3, W_nvl, W_node, W_3):
        gpus = G * G_2 * G_3
        return V * np.maximum(share(G, W_nvl), np.maximum((1 - G / gpus) / W_node, (1 - G * G_2 / gpus) / W_3))

    def shares(E, Z, k):
        kept = 1.0
        for i in range(k):
            kept = kept * (E - E / Z - i) / (E - i)
        return 1 - kept

    return {
        "three_level_phases": (hierarchy.three_level_phases, levels | waits, rings),
        "three_level_links": (hierarchy.three_level_links, levels, links),
        "hit_top_k": (exchange.hit_top_k, {"E": 256, "Z": 2.0 ** (b % 9), "k": 8}, shares),
        "transfer_time": (
            memory.transfer_time,
            {"alpha": 1e-6, "V": size, "W": 450e9},
            lambda alpha, V, W: alpha + V / W,
        ),
        "attainable": (
            roofline.attainable,
            chip | {"I": size / 1e6},
            lambda C, W_hbm, **x: np.minimum(C, x["I"] * W_hbm),
        ),
        "matmul_time": (roofline.matmul_time, chip | {"B": b, "D": d, "F": f, "b": 2, "b_w": 2}, product),
        "critical_batch": (roofline.critical_batch, {"B_rule": 295.0, "D": d, "F": f}, balance),
        "divergence_idle": (
            processor.divergence_idle,
            {"m_then": b % 32, "n_then": 3, "n_else": 5, "w_lanes": 32},
            waiting,
        ),
        "occupancy": (
            limits.occupancy,
            sm | {"R": registers, "S_block": size % 65536, "w_block": 8},
            blocks,
        ),
    }


def formulas() -> None:
    """A formula over a million points, against numpy by hand, against sympy point by point."""
    print(f"\n{f'{POINTS:,} points':38}{'formula':>10}{'by hand':>10}{'ratio':>8}{'subs, each':>20}{'ratio':>12}")
    for name, (formula, values, by_hand) in cases().items():
        np.testing.assert_allclose(formula(**values), by_hand(**values), rtol=1e-12)
        turns = [
            (seconds(lambda f=formula, v=values: f(**v), 1), seconds(lambda h=by_hand, v=values: h(**v), 1))
            for _ in range(15)
        ]
        ours, hand = (statistics.median(column) for column in zip(*turns, strict=True))
        ratio = statistics.median(a / b for a, b in turns)  # in turns, so that both run under the same load
        slow = point_by_point(formula.rhs, values)
        print(f"{name:38}{ours * 1e3:7.1f} ms{hand * 1e3:7.1f} ms{ratio:8.2f}{slow:18,.0f} s{slow / ours:12,.0f}")


def point_by_point(expr, values, count=20) -> float:
    """The time of sympy's own subs over all points, from a few of them."""
    given = {q: values.get(q.name, 1.0) for q in expr.free_symbols}  # `flop` is one

    def some():
        for i in range(count):
            float(expr.subs({q: float(v[i]) if np.ndim(v) else v for q, v in given.items()}))

    return seconds(some, 3) / count * POINTS


def schedules() -> None:
    """How long it takes to build schedules of 1,024 ranks and to count their bytes."""
    pod = (8, 32, 4)
    rows = {
        "ring all-reduce, busiest rank": lambda: ring.all_reduce(1024).busiest(),
        "ring all-reduce, time": lambda: ring.all_reduce(1024).time(0, 1, 1),
        "pod all-gather, physical links": lambda: hierarchical.all_gather(pod).per_link(Tree(pod, rails=True)),
    }
    print(f"\n{'schedules of 1,024 ranks':38}{'seconds':>10}")
    for name, count in rows.items():
        print(f"{name:38}{seconds(count, 3):10.2f}")


def plans() -> None:
    """How many choices the planner evaluates per second, with all outputs, and how long counting one takes."""
    runs = {
        "Llama 3 70B on 4,096 H100": ("llama3_70b", "h100_superpod", 4096, "4M", 8192),
        "DeepSeek-V3 on 2,048 H800": ("deepseek_v3", "h800", 2048, 15360 * 4096, 4096),
    }
    ask = request("llama3_8b", "h100_superpod", 64, 64 * 128, 128)
    slow = seconds(lambda: Slow(ask, Choice(dp=4, tp=4, pp=4, virtual=2, sp=True)).numbers(), 5)
    heads = f"{'plans':>12}{'seconds':>10}{'plans/s':>12}{'counted, each':>16}{'ratio':>10}"
    print(f"\n{'planner, one core, all outputs':38}{heads}")
    for name, run in runs.items():
        ask = request(*run)
        rows, _ = layouts_of_plan.layouts(evaluation.model_inputs(ask), ask)
        parts = layouts_of_plan.parts(rows, layouts_of_plan.options(ask), ask.pins)
        count = sum(len(layouts) * len(picks) for layouts, picks in parts)

        def sweep(ask=ask, parts=parts):
            for layouts, picks in parts:
                for _ in evaluation.costs(ask, layouts, picks):
                    pass

        sweep()
        taken = min(seconds(sweep, 1) for _ in range(9))  # the shortest: other load disturbs it least
        ratio = slow * count / taken
        print(f"{name:38}{count:12,}{taken:10.2f}{count / taken:12,.0f}{slow * 1e3:13.1f} ms{ratio:10,.0f}")
    heads = f"{'possible':>12}{'one by one':>12}{'together':>12}{'ratio':>12}{'asked':>12}"
    print(f"\n{'arbitrary choices, all outputs':38}{heads}")
    for name, run in runs.items():
        ask = request(*run)
        columns = arbitrary(ask, 50_000)
        possible = evaluate_choices(ask, columns).possible
        kept = {key: column[possible] for key, column in columns.items()}
        few = [Choice(**{key: column[i] for key, column in kept.items()}) for i in range(100)]
        alone = seconds(lambda ask=ask, few=few: [evaluate_choice(ask, one) for one in few], 3) / len(few)
        taken = min(seconds(lambda ask=ask, kept=kept: evaluate_choices(ask, kept), 1) for _ in range(9))
        each = taken / possible.sum()
        print(
            f"{name:38}{possible.sum():12,}{1 / alone:10,.0f}/s{1 / each:10,.0f}/s{alone / each:10,.0f}{'50,000/s':>14}"
        )
    print()
    ask = "--model llama3-70b --cluster h100-superpod --gpus 4096 --batch 4M".split()
    lines = {"the whole answer": ask, "a refusal": [*ask, "--gpus", "0"], "--list": ["--list"]}
    lines["--explain"] = [*ask, "--explain"]
    for what, more in lines.items():
        command = [sys.executable, "-m", "gpuscale.plan", *more]
        done = [seconds(lambda c=command: subprocess.run(c, capture_output=True, check=False), 1) for _ in range(5)]
        print(f"{'from the shell: ' + what:38}{'':12}{min(done):10.2f}")


# What a calibration is asked to reach on runs that it has not seen, next to what is measured
ASKED = {
    BY_GPUS: ("8%", "25%", "0.94 / 0.82", "6% / 20%"),
    BY_MODEL: ("9%", "", "0.92", ""),
}
for name in (INNER, ENDS, "each model and number of GPUs, both at once"):
    ASKED[name] = ASKED[BY_GPUS]
for name in (BY_GPUS, INNER, ENDS):
    ASKED[f"{name}, {UNEXPLAINED}"] = ("12%", "", "", "13%")
ASKED[f"all but {DRAWN} runs"] = ("12%", "", "", "")
BLANK = ("",) * 4
READ = ((read_runs, ""), (read_failures, "_failed"))


def calibrations() -> None:
    """How good the expected times are for runs that a fit has not seen, next to what was asked."""
    folder = shipped("nanotron_h100").parent
    specs.load(folder / "nanotron_models.toml")
    runs, failed = (read(folder / f"nanotron_h100{name}.csv") for read, name in READ)
    place = "h100_superpod"
    cells = "{:69}{:>6} {:>8}{:>6} {:>8}{:>6} {:>12}{:>14} {:>12}{:>12}"
    heads = (
        "left out, nanotron on H100",
        "runs",
        "median",
        "asked",
        "9 in 10",
        "asked",
        "rank / least",
        "asked",
    )
    print(f"\n{cells.format(*heads, 'cost / worst', 'asked')}")
    for one in time_quality(runs, place):
        half, ninth, rank, cost = ASKED.get(one.left_out, BLANK)
        ranks, costs = "few runs", "few runs"
        if one.rank is not None:
            ranks, costs = f"{one.rank:.2f} / {one.least_rank:.2f}", f"{one.cost:.0%} / {one.worst_cost:.0%}"
        errors = f"{one.median:.1%}", half, f"{one.ninth:.0%}", ninth
        print(cells.format(one.left_out, f"{one.runs:,}", *errors, ranks, rank, costs, cost))
    print(f"\n{cells.format('memory, left out', *heads[1:6], 'precision', 'asked', 'recall', 'asked')}")
    for one in memory_quality(runs, failed, place):
        errors = f"{one.median:.1%}", "9%", f"{one.ninth:.0%}", "25%"
        found = f"{one.precision:.2f}", "0.95", f"{one.recall:.2f}", "0.76"
        print(cells.format(one.left_out, f"{one.runs:,}", *errors, *found))
    taken = seconds(lambda: calibrate(runs, place), 1)
    print(f"\n{'a calibration':38}{'':12}{taken:10.2f}   {len(runs):,} runs, with all that it leaves out; asked: 20")


def arbitrary(ask, count: int) -> dict:
    """Columns of random choices, powers of two, in no order."""
    draw = np.random.default_rng(0)
    tp, cp, pp, ep = (2 ** draw.integers(0, most + 1, count) for most in (3, 1, 4, 3))
    out = {
        "tp": tp,
        "cp": cp,
        "pp": pp,
        "dp": ask.gpus // (tp * cp * pp),
        "ep": ep if "experts" in ask.model else ep**0,
    }
    out |= {"zero": draw.integers(0, 4, count), "sp": draw.integers(0, 2, count)}
    return out | {"recompute": draw.choice(["none", "selective", "full"], count)}


def pages() -> None:
    """The weight of the built pages, where there are any."""
    print("\npages")
    done = subprocess.run([sys.executable, "-m", "gpuscale.book.weight"], capture_output=True, text=True, check=False)
    last = (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
    print(done.stdout.rstrip() if done.returncode == 0 else f"not measured: {last}")


if __name__ == "__main__":
    imports()
    formulas()
    schedules()
    plans()
    calibrations()
    pages()
