"""The planner: against slow counting, reported runs, and requests that make no sense."""

import json
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from support.reference_planner import Slow

from gpuscale import specs
from gpuscale.collectives import hierarchy
from gpuscale.core import evaluate
from gpuscale.llm import given, training_compute
from gpuscale.network import topology
from gpuscale.plan import Calibration, Choice, Refusal, cluster, evaluate_choice, evaluation, layouts, plan, request
from gpuscale.plan.__main__ import asked, main, parser
from gpuscale.plan.columns import NAMES
from gpuscale.plan.costs import compose
from gpuscale.plan.requests import SCHEDULES

RUNS = {
    "dense": ("llama3_8b", "h100_superpod", 64, 64 * 128, 128, "bf16_fp32_grads"),
    "dense, one node": ("llama3_8b", "b200_superpod", 8, 16 * 256, 256, "zero_mixed"),
    "biases": ("megatron_7_5b", "a100", 32, 32 * 64, 64, "zero_mixed"),
    "experts": ("mixtral_8x7b", "h100_superpod", 32, 32 * 128, 128, "bf16_fp32_grads"),
    "latent": ("deepseek_v3", "h800", 64, 32 * 64, 64, "deepseek_v3"),
}


def uncounted(ask, choice) -> bool:
    """Whether the slow way refuses: it stores whole layers of experts, unless tokens are split."""
    return "experts" in ask.model and choice.tp > 1 and not choice.sp


def some_choices(ask, count, refused=False):
    """Random choices of a request that can be laid out, and that the slow way can follow, or refuses."""
    rows, _ = layouts.layouts(evaluation.model_inputs(ask), ask)
    parts = layouts.parts(rows, layouts.options(ask), ask.pins)
    draw, out = random.Random(5), []
    while len(out) < count:
        layout, picks = draw.choice(parts)
        i, j = draw.randrange(len(layout)), draw.randrange(len(picks))
        choice = Choice.of({name: layout[name][i] for name in layout} | {name: picks[name][j] for name in picks})
        if uncounted(ask, choice) == refused:
            out.append(choice)
    return out


# A calibration of no run, in which every constant counts; short fractions are fast to play
MADE_UP = {
    "eta_mat": 0.625, "eta_attn": 0.375, "eta_nvl": 0.75, "eta_net": 0.5, "gamma_net": 0.25, "g_ker": 3, "b_loss": 24,
    "b_acc": 12, "b_upd": 40, "t_host": 2**-14, "t_cross": 2**-17, "t_head": 2**-12, "t_far": 2**-16, "t_fix": 2**-6,
    "alpha_dp": 2**-13, "g_dp": 0.25, "g_attn": 2.5, "g_grp": 1.5, "alpha_1": 2**-16, "alpha_2": 2**-14,
    "alpha_rank": 2**-18, "n_edge": 1, "V_bucket": 2**20, "n_copy": 3, "n_wide": 0.5, "b_bucket": 2,
    "V_fix": 2**28, "b_logit": 12, "n_ahead": 8, "p_calm": 1 - 2**-4,
}  # fmt: skip
RATES = {"shares": (0.5, 0.75, 0.625, 0.875), "waits": (0.5, 0.25, 0.75)}
RATES["calibration"] = Calibration(MADE_UP, {}, (), 0, (), (), 1.25, 1.25, "")


def agrees(ask, choice):
    """Every column of the planner, against counting: exact fractions against floats."""
    ours, theirs = evaluate_choice(ask, choice).costs.record(), Slow(ask, choice).numbers()
    assert set(theirs) == set(ours)
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(float(value), rel=1e-9, abs=1e-12), (str(choice), name)


@pytest.mark.parametrize("run", RUNS)
def test_the_function_agrees_with_counting(run, monkeypatch):
    """Memory by term, bytes by axis and level, times at peaks and at measured rates: 16 random choices."""
    monkeypatch.setattr(layouts, "SHORT", 8)  # short sequences are fast to count: split them all the same
    ask = request(*RUNS[run], **RATES)
    for choice in some_choices(ask, 16):
        agrees(ask, choice)


@pytest.mark.parametrize("schedule", [name for name in SCHEDULES if name != "1f1b"])
@pytest.mark.parametrize("run", [name for name in RUNS if name != "biases"])
def test_every_schedule_agrees_with_its_timetable(run, schedule, monkeypatch):
    """The same, played slot by slot: what is held, how long a rank idles, which transfers nothing hides."""
    monkeypatch.setattr(layouts, "SHORT", 8)
    ask = request(*RUNS[run], schedule=schedule, pp=4, **RATES)
    for choice in some_choices(ask, 8):
        if schedule != "dualpipe" or (ask.sequences // choice.dp // choice.micro) % 2 == 0:
            agrees(ask, choice)


# Sequences so long that arithmetic takes longer than reading weights; experts over several nodes.
FURTHER = {
    "latent": (
        ("deepseek_v3", "h800", 64, 2**18, 4096, "deepseek_v3"),
        Choice(dp=16, ep=16, pp=4, recompute="selective"),
    ),
    "dense": (("llama3_8b", "h100_superpod", 64, 2**18, 4096), Choice(dp=4, tp=4, cp=2, pp=2, zero=3)),
    "experts": (("gpt_oss_120b", "h100_superpod", 64, 2**13, 128), Choice(dp=64, ep=32, zero=2)),
    "limited": (("deepseek_v3", "h800", 64, 2**13, 128, "deepseek_v3"), Choice(dp=64, ep=64)),
    "context alone": (("llama3_8b", "h100_superpod", 64, 2**16, 1024), Choice(tp=8, cp=8, sp=True, zero=1)),
}


@pytest.mark.parametrize("run", FURTHER)
def test_further_choices_agree_with_counting(run):
    asked, choice = FURTHER[run]
    ask = request(*asked, **RATES)
    assert (evaluate_choice(ask, choice).costs.ep_network_node == 0) == (choice.ep == 1)
    agrees(ask, choice)


@pytest.mark.parametrize("microbatches", [4, 16])
def test_transfers_longer_than_a_pass_are_exposed(microbatches):
    """GPipe over a network so slow that a transfer takes longer than a backward pass."""
    shares = (1, 1, 2**-10, 1)
    ask = request("llama3_8b", "h100_superpod", 16, microbatches * 128, 128, schedule="gpipe", shares=shares)
    choice = Choice(tp=4, pp=4)
    reached = evaluate_choice(ask, choice).costs.at_measured_rates
    assert reached.pp_wait > 2 * (reached.math + reached.kernels + reached.tp_wait) / 3
    agrees(ask, choice)


@pytest.mark.parametrize("run", ["experts", "latent"])
def test_what_is_not_compared_is_what_counting_refuses(run, monkeypatch):
    monkeypatch.setattr(layouts, "SHORT", 8)
    ask = request(*RUNS[run])
    for choice in some_choices(ask, 24, refused=True):
        with pytest.raises(ValueError, match="ranks: expected"):
            Slow(ask, choice).numbers()


def test_the_search_finds_what_trying_all_finds():
    ask = request("llama3_8b", "h100_superpod", 16, 32 * 8192)
    rows, _ = layouts.layouts(evaluation.model_inputs(ask), ask)
    times = []
    for layout, picks in layouts.parts(rows, layouts.options(ask), ask.pins):
        for i in range(len(layout)):
            for j in range(len(picks)):
                row = {name: layout[name][i] for name in layout} | {name: picks[name][j] for name in picks}
                times.append(row)
    table = evaluation.table(ask, layouts.Rows({name: np.array([row[name] for row in times]) for name in times[0]}))
    fits = table.memory <= ask.cluster.hbm - ask.reserve
    found = plan("llama3_8b", "h100_superpod", 16, 32 * 8192)
    assert (found.tried, found.fit) == (len(times), int(fits.sum()))
    assert found.best.step[2] == pytest.approx(table.expected.step[fits].min(), rel=1e-12)
    steps = [row.step[2] for row in found.rows]
    assert steps == sorted(steps) and len({row.choice.layout for row in found.rows}) == len(steps)


# ---- reported runs


def test_llama_70b_on_4096():
    ask = request("llama3_70b", "h100_superpod", 4096, "4M", recipe="zero_mixed")
    alone = evaluate_choice(request("llama3_70b", "h100_superpod", 1, 8192, recipe="zero_mixed"), Choice(zero=0))
    states = sum((alone.costs.weights, alone.costs.gradients, alone.costs.optimizer))
    assert alone.costs.states == pytest.approx(states, rel=1e-12)
    assert states == pytest.approx(1.12e12, rel=0.01)  # 16 bytes per parameter
    wide = evaluate_choice(ask, Choice(dp=512, tp=8, sp=True))
    assert wide.fits and wide.level("dp") == "the network" and wide.binds.startswith("DP over the network")
    best = plan("llama3_70b", "h100_superpod", 4096, "4M", recipe="zero_mixed").best
    assert best.fits and best.step[2] < wide.step[2]


@pytest.mark.parametrize("virtual", [1, 4])
def test_llama_405b_as_it_was_trained(virtual):
    """8,192 GPUs, TP 8, PP 16, DP 64, 16M tokens: 43% of the peak. The report says that the stages were interleaved."""
    ask = request("llama3_405b", "llama3_24k", 8192, "16M")
    assert ask.sequences == 2048
    row = evaluate_choice(ask, Choice(dp=64, tp=8, pp=16, sp=True, virtual=virtual, recompute="selective"))
    assert row.fits and row.costs.microbatches == 32
    peak, reached, foreseen = row.mfu
    assert 0.40 < reached < peak < 0.7
    assert (reached < 0.43) == (foreseen < 0.35) == (virtual == 1)
    assert virtual == 1 or foreseen == pytest.approx(0.43, rel=0.1)


def test_deepseek_as_it_was_trained():
    """2,048 GPUs, PP 16, EP 64, ZeRO-1, no TP; cheap parts recomputed: it fits."""
    ask = request("deepseek_v3", "h800", 2048, 15360 * 4096, 4096, "deepseek_v3", schedule="dualpipe")
    row = evaluate_choice(ask, Choice(dp=128, ep=64, pp=16, recompute="selective"))
    assert row.fits and row.costs.at_peak.tp_wait == 0 and row.mfu[1] > 0.44  # 44% was reported
    hours = specs.measured("deepseek_v3_cost").row(stage="pre-training")["gpu_hours"]
    took = hours * 3600 / 2048 * 15360 * 4096 / 14.8e12
    plain = request("deepseek_v3", "h800", 2048, 15360 * 4096, 4096, "deepseek_v3")
    slow = evaluate_choice(plain, Choice(dp=128, ep=64, pp=16, recompute="selective"))
    assert row.step[1] < took < slow.step[1] and slow.step[1] - took < took - row.step[1]  # as the chapter says
    assert not evaluate_choice(ask, Choice(dp=128, ep=64, pp=16)).fits


MEGATRON = [  # Narayanan et al. (2021), table 1: model, TP, PP, GPUs, sequences
    ("megatron_1_7b", 1, 1, 32, 512),
    ("megatron_3_6b", 2, 1, 64, 512),
    ("megatron_7_5b", 4, 1, 128, 512),
    ("megatron_18_4b", 8, 1, 256, 1024),
    ("megatron_39_1b", 8, 2, 512, 1536),
    ("megatron_76_1b", 8, 4, 1024, 1792),
    ("megatron_145_6b", 8, 8, 1536, 2304),
    ("megatron_310_1b", 8, 16, 1920, 2160),
    ("megatron_529_6b", 8, 35, 2520, 2520),
    ("megatron_1008b", 8, 64, 3072, 3072),
]


@pytest.mark.parametrize(("model", "tp", "pp", "gpus", "batch"), MEGATRON, ids=[row[0] for row in MEGATRON])
def test_megatron_rows_fit(model, tp, pp, gpus, batch):
    ask = request(model, "a100", gpus, batch * 2048, 2048)
    fixed = Choice(dp=gpus // tp // pp, tp=tp, pp=pp, zero=0, recompute="full")
    row = evaluate_choice(ask, fixed)
    assert row.fits, row.binds
    reported = specs.measured("megatron_weak_scaling").row(model=model)["rate"]
    done = given(training_compute.megatron_flops, model, B=batch * 2048, S=2048) / gpus
    assert reported < done / row.step[1] < done / row.step[0]  # the sum is a bound, and so is that at the peaks
    without = row.step[1] - row.costs.at_measured_rates.kernels
    assert done / row.step[1] < 1.5 * reported and done / without > 1.04 * done / row.step[1]


@pytest.mark.parametrize("key", ["h100_16384", "llama3_24k", "b200_pod_1024"])
def test_no_level_above_the_node_binds(key):
    """Each byte enters a pod once, and a pod's uplinks are far wider than a node's: two levels are enough."""
    tiers = topology(key).tiers
    rates = [float(tier.child_bw) for tier in tiers]
    below = [1, *(tier.S for tier in tiers[:-1])]
    for inner in (1, 2, 4, 8, 16, 32):
        for gpus in (tiers[-1].S, tiers[-2].S):
            sent = [evaluate(hierarchy.sharded_bytes.rhs, V=1, Y=inner, n_in=child, N=gpus) for child in below[1:]]
            times = [bytes_in / rate for bytes_in, rate in zip(sent, rates[1:], strict=True)]
            assert max(times) == times[0] > 0


# ---- words


def test_a_choice_that_does_not_fit_says_why():
    ask = request("llama3_70b", "h100_superpod", 8, "4M")
    row = evaluate_choice(ask, Choice(tp=8, sp=True, zero=0))
    assert not row.fits and "of weights, gradients and optimizer do not fit into 76" in row.binds
    other = evaluate_choice(request("llama3_8b", "h100_superpod", 8, "4M"), Choice(tp=8, micro=8, zero=0))
    assert "of activations" in other.binds and not other.fits


def test_reasons_carry_numbers():
    found = plan("llama3_70b", "h100_superpod", 256, "1M")
    words = {reason.name: reason.words for reason in found.rejected}
    assert words["TP and heads"] == "64 heads are not divisible by TP 128"
    assert words["stages and layers"] == "128 stages are more than 80 layers"
    assert "do not fit into 76" in words["memory: states"] and all(reason.count > 0 for reason in found.rejected)


def test_losses_add_up():
    for row in plan("mixtral_8x7b", "h100_superpod", 64, "1M", 4096).rows:
        assert sum(row.losses.values()) + row.useful == pytest.approx(1)
        assert row.useful > row.mfu[2]  # of what is expected, and of the peak


def test_table_and_figure():
    found = plan("llama3_8b", "h100_superpod", 64, "512k")
    head = next(line.split() for line in repr(found).splitlines() if " micro " in line)
    assert {"TP", "expected", "band", "MFU"} <= set(head) and found.best.binds in repr(found)
    html = found._repr_html_()
    assert html.count('<tr role="row">') == len(found.rows) + 1 and "<script" not in html
    assert "MFU" in html and found.best.binds in html.replace("&nbsp;", "\xa0")
    assert "svg" in found.figure(rows=3).html
    assert json.loads(json.dumps(found.record()))["rows"][0]["choice"]["dp"] == found.best.choice.dp


# ---- requests that make no sense

GOOD = {"model": "llama3_70b", "cluster": "h100_superpod", "gpus": 64, "batch": "1M"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "llama3_7b"}, "no model 'llama3_7b'; did you mean llama3-70b"),
        ({"cluster": "h100"}, "no cluster 'h100'; did you mean h100-superpod"),
        ({"recipe": "fp"}, "no recipe 'fp'; did you mean fp32"),
        ({"gpus": 0}, "GPUs: 0; expected a whole number, 1 or more"),
        ({"gpus": -8}, "GPUs: -8; expected"),
        ({"gpus": True}, "GPUs: True; expected"),
        ({"gpus": 2.5}, "GPUs: 2.5; expected"),
        ({"gpus": "many"}, "GPUs: many; expected"),
        ({"gpus": float("nan")}, "GPUs: nan; expected"),
        ({"gpus": 60}, "60 GPUs are 7 nodes of 8 and 4 more; expected whole nodes, such as 56 or 64"),
        ({"gpus": 10**9}, "1,000,000,000 GPUs: expected 1,000,000 or fewer"),
        ({"batch": 100}, "less than one sequence of 8,192"),
        ({"batch": 10000}, "nearest: 8,192 (1 sequence) and 16,384 (2)"),
        ({"batch": "4Q"}, "expected tokens such as 4M"),
        ({"batch": -4}, "batch: -4; expected"),
        ({"seq": 0}, "sequence length: 0; expected"),
        ({"tp": 7}, "TP 7 = 7 GPUs: not a divisor of 64"),
        ({"tp": 8, "pp": 3}, "TP 8 x PP 3 = 24 GPUs: not a divisor of 64"),
        ({"tp": 2, "pp": 2, "cp": 2, "dp": 2}, "= 16 GPUs; 64 are requested"),
        ({"ep": 8}, "has no experts"),
        ({"zero": 4}, "expected a whole number, 0 to 3"),
        ({"recompute": "half"}, "expected one of none, selective, full"),
        (
            {"model": "llama-70b", "cluster": "h100"},
            "gptj-6b, gpt-20b; and no cluster 'h100'; did you mean h100-superpod",
        ),
        ({"schedule": "best"}, "expected one of 1f1b"),
        ({"per_node": 9}, "has 8 per node"),
        ({"reserve": 90e9}, "leaves nothing of the 80 GB"),
        ({"reserve": -1}, "reserve, in bytes: -1; expected"),
        ({"shares": (1, 1, 1)}, "expected four numbers"),
        ({"shares": (1, 1, 1, 2)}, "expected four numbers, above 0 and at most 1; got"),
        ({"waits": "x"}, "expected three numbers, from 0 to 1; got"),
        ({"speed": 3}, "'speed' is not an option of a plan"),
        ({"micro": 7}, "a replica's 2 sequences cannot be split into microbatches of 7"),
        ({"schedule": "gpipe", "virtual": 2, "pp": 2}, "only 1F1B has 2 virtual stages"),
        ({"model": "mixtral_8x7b", "gpus": 24, "batch": 3 * 2**20, "ep": 3}, "8 experts are not divisible by EP 3"),
    ],
    ids=str,
)
def test_a_senseless_request_is_refused(change, said):
    with pytest.raises(Refusal) as error:
        plan(**GOOD | change)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_gb200_takes_whole_racks_or_part_of_each():
    with pytest.raises(
        Refusal, match="56 nodes of 72 and 64 more; expected 64 GPUs per node .--per-node 64., or whole"
    ):
        plan("llama3_8b", "gb200_nvl72", 4096, "4M")
    ask = request("llama3_8b", "gb200_nvl72", 4096, "4M", per_node=64)
    assert ask.cluster.node == 64 and ask.cluster.W_node == pytest.approx(64 * 50e9)


def test_tokens_are_counted_as_papers_do():
    spelled = (
        "16M",
        "16 m",
        "16M tokens",
        2**24,
        "16777216",
        "16,777,216 tokens",
        "1.6777216e7",
        "1.6777216x10^7",
        "2^24",
    )
    for batch in (*spelled, "16.777216 million", "about 16M"):
        assert request("llama3_70b", "h100_superpod", 64, batch).batch == 2**24


def test_numbers_are_read_as_everywhere():
    ask = request("llama3_70b", "h100_superpod", "1,024", "16M", tp="2^3", shares=("50%", "0.9", 1, "9/10"))
    assert (ask.gpus, ask.pins["tp"], ask.shares) == (1024, 8, (0.5, 0.9, 1.0, 0.9))
    options = "--model llama3-70b --cluster h100-superpod --gpus 64 --batch 16M --reserve".split()
    for reserve in ("4", "4 GB", "4000 MB", "4 gigabytes"):
        assert asked(parser().parse_args([*options, reserve]))[0].reserve == 4e9
    for reserve in ("4 gb", "5%", "4 s", "few"):
        with pytest.raises(Refusal, match=f"reserve, in GB: {reserve}; expected a number"):
            asked(parser().parse_args([*options, reserve]))


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("--model llama3-8b --cluster h100-superpod --gpus 64 --batch 512k --why", 0),
        ("--model llama3-8b --cluster h100-superpod --gpus 64 --batch 512k --json --top 2", 0),
        ("--list", 0),
        ("--model llama3-405b --cluster h100-superpod --gpus 8 --batch 512k", 1),
        ("--model llama3-8b --cluster h100-superpod --gpus 0 --batch 512k", 2),
        ("--model llama3-8b", 2),
        ("--bogus", 2),
        ("--model llama3-8b --cluster h100-superpod --gpus 64 --batch 512k --tp 64", 2),
        ("--model llama3-8b --cluster h100-superpod --gpus 64 --batch 512k --sp yes", 2),
        ("--model llama3-8b --cluster h100-superpod --gpus 64 --batch 512k --top 0", 2),
    ],
)
def test_the_shell(line, status, capsys):
    assert main(line.split()) == status
    out, err = capsys.readouterr()
    if status == 2:
        assert not out and err.count("\n") == 1 and "Traceback" not in err
    else:
        assert out and not err
    if "--json" in line:
        assert len(json.loads(out)["rows"]) == 2


def test_a_reader_that_has_enough_is_no_error():
    """As in ``python -m gpuscale.plan --list | head -1``."""
    command = [sys.executable, "-m", "gpuscale.plan", "--list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert not running.stderr.read() and running.wait() == 0


@pytest.mark.parametrize(
    "named",
    [
        "'x', '--cluster', 'y'",
        "'llama3-8b', '--cluster', 'h800', '--tp', '3'",
        "'llama3-8b', '--gpu', 'b300-sxm', '--per-node', '6'",
    ],
)
def test_a_refusal_needs_no_sympy(named):
    code = (
        "import sys\nfrom gpuscale.plan.__main__ import main\n"
        f"main(['--model', {named}, '--gpus', '8', '--batch', '4M'])\nassert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_gives_every_output(schedule):
    for latent in (False, True):
        assert set(compose(schedule, latent)[1]) == set(NAMES)
    found = plan("llama3_8b", "h100_superpod", 64, "1M", schedule=schedule, pp=4)
    assert found.best.fits and all(row.choice.virtual == 1 or schedule == "1f1b" for row in found.rows)


def test_clusters_say_where_their_shares_come_from():
    for key in specs.parts("cluster"):
        place = cluster(key)
        assert all(0.5 < share.value <= 1 and share.words for share in place.shares)
        assert place.hbm > 0 and place.W_nvl * place.node > place.W_node
    of_memory = {key: cluster(key).shares[3] for key in specs.parts("cluster")}
    assert of_memory["a100"].value == pytest.approx(1727.5 / 2039)  # reading 1 GiB, far more than the caches hold
    took = specs.measured("vector_add_h100").rows[-1]["time"]
    assert of_memory["h100_superpod"].value == pytest.approx(12 * 2**30 / took / 3.35e12, rel=1e-3)
    assert "H100" in of_memory["b200_superpod"].words  # no other is at hand


def test_the_page_tells_what_did_not_fit_from_what_was_not_tried():
    found = plan("llama3_8b", "h100_superpod", 64, 2**19)
    page = found._repr_html_()
    full, impossible = page[page.index("why others don't") :].split("Not tried")
    counts = [
        sum(int(n.replace(",", "")) for n in re.findall(r"<li>([\d,]+)[:;] ", part)) for part in (full, impossible)
    ]
    assert counts[0] == found.tried - found.fit > 0
    assert counts[1] > 0
