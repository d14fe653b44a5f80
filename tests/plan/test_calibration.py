"""Calibrations: constants are found again in made-up runs, odd runs are named, files say what is wrong with them."""

import dataclasses
import random
import re
import tomllib
from functools import cache

import numpy as np
import pytest

from gpuscale import specs
from gpuscale.plan import (
    Calibration,
    Choice,
    Refusal,
    Run,
    calibrate,
    cluster,
    evaluate_choice,
    evaluate_choices,
    fit,
    held_out,
    load_calibration,
    read_runs,
    request,
    shipped,
)
from gpuscale.plan.__main__ import main
from gpuscale.plan.calibration import FIXED, USUAL_BAND
from gpuscale.plan.likeness import Kinds
from gpuscale.specs import registry

TRUE = {
    "eta_mat": 0.66, "eta_attn": 0.5, "eta_nvl": 0.7, "eta_net": 0.5, "gamma_net": 0.2, "g_ker": 3.0, "b_loss": 40.0,
    "b_acc": 10.0, "b_upd": 30.0, "t_host": 3e-3, "t_cross": 5e-4, "t_head": 4e-3, "t_far": 4e-4, "t_fix": 0.03,
    "alpha_dp": 4e-6, "g_dp": 0.7, **FIXED,
}  # fmt: skip
PEAK = dict.fromkeys(TRUE, 0.0) | dict.fromkeys(("eta_mat", "eta_attn", "eta_nvl", "eta_net", "g_ker", "g_grp"), 1.0)
PEAK |= {"g_attn": 2.0, "V_bucket": FIXED["V_bucket"]}


def with_constants(constants) -> Calibration:
    """A calibration of no run."""
    return Calibration(dict(constants), {}, (), 0, (), (), 1.0, 1.0, "")


def made_up(count: int, seed: int = 0, noise: float = 0.01) -> list[Run]:
    """Runs whose times follow from TRUE, up to noise."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        nodes, tp, pp = draw.choice((1, 2, 4, 8, 16)), draw.choice((1, 2, 4, 8, 16)), draw.choice((1, 2, 4, 8))
        gpus, micro = 8 * nodes, draw.choice((1, 2, 4, 8))
        if gpus % (tp * pp) or 256 % (gpus // (tp * pp) * micro):
            continue
        model, zero = draw.choice(("llama3_8b", "llama3_70b")), draw.choice((0, 1))
        choice = Choice(dp=gpus // (tp * pp), tp=tp, pp=pp, micro=micro, zero=zero, sp=tp > 1)
        ask = request(model, "h100_superpod", gpus, 2**20, seq=4096, calibration=with_constants(TRUE))
        seconds = evaluate_choices(ask, [choice]).step[2][0]
        if np.isfinite(seconds):  # a layout that is possible
            found.append(Run(model, gpus, 2**20, 4096, float(seconds * np.exp(draw.gauss(0, noise))), choice))
    return found


@pytest.fixture(scope="module")
def fitted():
    return calibrate(made_up(120), "h100_superpod")


def test_constants_are_found_again(fitted):
    known = [name for name in fitted.constants if name in TRUE and name not in fitted.unknown]
    assert {"eta_mat", "t_host", "eta_nvl"} <= set(known)
    for name in known:
        assert abs(np.log(fitted.constants[name] / TRUE[name])) < 3 * fitted.spread.get(name, 0) + 0.02, name
    assert not fitted.far
    assert fitted.band < 1.15


def test_an_absurd_run_is_named_and_moves_nothing(fitted):
    runs = made_up(120)
    runs[7] = dataclasses.replace(runs[7], seconds=100 * runs[7].seconds)
    found = calibrate(runs, "h100_superpod")
    assert found.far == (7,)
    for name, value in found.constants.items():
        assert abs(np.log(value / fitted.constants[name])) < 0.5 * fitted.spread.get(name, 0) + 1e-6, name


def stalled(run: Run, delay: float) -> Run:
    """The run as a pipeline that stalls: its busiest stage waits for each neighbor, microbatch by microbatch."""
    seconds = run.seconds
    for _ in range(run.batch // run.seq // run.choice.dp // run.choice.micro):
        seconds += delay * sum(0 <= stage < run.choice.pp for stage in (0, 2))  # the neighbors of stage 1
    return dataclasses.replace(run, seconds=seconds)


def test_pipelines_that_stall_are_named_even_if_they_are_not_far_off(fitted):
    """A stall of a tenth of a second doubles some times, and is a third of others: all are named, and move little."""
    runs = made_up(120)
    slow = {i: stalled(runs[i], 0.1) for i in [i for i, run in enumerate(runs) if run.choice.pp > 1][::3]}
    longer = {i: slow[i].seconds / runs[i].seconds for i in slow}
    seen = {i for i, ratio in longer.items() if ratio > 1.27}
    below = {i for i in seen if longer[i] < 1.4}  # of e^0.4, which is 1.49
    assert len(seen - below) >= fit.FEWEST and len(below) > 2
    found = calibrate([slow.get(i, run) for i, run in enumerate(runs)], "h100_superpod")
    assert seen <= set(found.far) <= {i for i, ratio in longer.items() if ratio > 1.17}
    for name, value in found.constants.items():
        assert abs(np.log(value / fitted.constants[name])) < fitted.spread.get(name, 0) + 1e-6, name


def test_a_single_slow_pipeline_is_no_stall():
    """Without several that are far off, nothing says that pipelines stall: one slower by a third is kept."""
    runs = made_up(60)
    first = next(i for i, run in enumerate(runs) if run.choice.pp > 1)
    runs[first] = dataclasses.replace(runs[first], seconds=1.33 * runs[first].seconds)
    problem = fit.Problem(runs, cluster("h100_superpod"), "bf16_fp32_grads")
    every = np.arange(len(runs))
    logs = problem.fit(every)
    assert problem.stall(logs, every) == 0 and problem.explained(logs, every).all()


def test_a_handful_of_runs_keeps_what_it_does_not_know():
    found = calibrate(made_up(10, seed=3), "h100_superpod")
    assert all(0 < value < np.inf for value in found.constants.values())
    assert len(found.unknown) > 5
    with pytest.raises(Refusal, match="3 runs; expected 4 or more"):
        calibrate(made_up(3), "h100_superpod")


def test_runs_that_no_constants_explain_get_a_sentence():
    """A column of another unit: each time is a thousandth of the real one."""
    runs = [dataclasses.replace(run, seconds=run.seconds / 1000) for run in made_up(10, seed=3)]
    with pytest.raises(Refusal, match="constants explain 0 of 10 runs; expected 4 or more"):
        calibrate(runs, "h100_superpod")


def test_at_the_peaks_the_expected_time_is_the_bound():
    """All that a bound leaves out is zero or one there."""
    draw, equal = random.Random(5), 0
    for _ in range(60):
        tp, pp, cp = draw.choice((1, 2, 4, 8)), draw.choice((1, 2, 4)), draw.choice((1, 2))
        choice = Choice(
            dp=64 // (tp * pp * cp), tp=tp, pp=pp, cp=cp, micro=draw.choice((1, 2)), zero=draw.choice((0, 1, 2, 3)),
            sp=tp > 1, recompute=draw.choice(("none", "selective", "full")),
        )  # fmt: skip
        more = {"shares": (1, 1, 1, 1), "calibration": with_constants(PEAK)}
        ask = request("llama3_8b", "h100_superpod", 64, 2**21, seq=8192, **more)
        try:
            found = evaluate_choice(ask, choice)
        except Refusal:
            continue
        assert found.step[2] == pytest.approx(found.step[0], rel=1e-9), choice
        assert found.mfu[2] == pytest.approx(found.mfu[0], rel=1e-9)
        equal += 1
    assert equal > 30


def test_a_file_says_the_same_as_what_was_written(fitted, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(fitted.text())
    again = load_calibration(path)
    assert again.constants == pytest.approx(fitted.constants, rel=1e-3)
    same = ("unknown", "far", "cluster", "kinds")
    assert [getattr(again, name) for name in same] == [getattr(fitted, name) for name in same]
    assert (again.band, again.tie) == pytest.approx((fitted.band, fitted.tie), rel=1e-3) and 1 < again.tie < again.band
    for one, other in zip(again.checks, fitted.checks, strict=True):
        assert one.left_out == other.left_out
        for name in ("runs", "median", "ninth", "rank", "least_rank", "cost", "worst_cost"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-2, abs=1e-9), name
    assert any(one.rank is not None for one in again.checks)


def test_what_is_shipped_follows_from_the_runs(monkeypatch):
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))  # the models of the runs go again
    specs.load(shipped("nanotron_h100").parent / "nanotron_models.toml")
    kept = load_calibration(shipped("nanotron_h100"))
    runs = read_runs(shipped("nanotron_h100").parent / "nanotron_h100.csv")
    problem = fit.Problem(runs, cluster(kept.cluster), "bf16_fp32_grads")
    every = np.arange(len(runs))
    logs = problem.fit(every)
    for name, value in zip(problem.free, problem.constants(logs), strict=True):
        assert abs(np.log(value / kept.constants[name])) < 0.1 * kept.spread[name], name
    off, near = problem.off(logs, every), every[problem.explained(logs, every)]
    assert set(every[off > 0.45]) <= set(kept.far)
    assert set(near) == set(every) - set(kept.far) and np.median(np.expm1(off[near])) < 0.06
    assert problem.stall(logs, every) == pytest.approx(0.6, rel=0.03)  # whichever the model
    below = [runs[i] for i in every[off < 0.35] if i in kept.far]
    assert len(below) > 10 and all(run.choice.pp > 1 for run in below)
    assert kept.kinds == Kinds("bf16_fp32_grads", (0, 1), ("none",), ("tp", "pp"), 512, 4096, False)
    _, errors, shortfalls = held_out.held_out(problem, runs, near, logs)
    assert np.quantile(np.exp(errors), 0.9) == pytest.approx(kept.band, rel=5e-3)
    assert np.quantile(np.exp(shortfalls), 0.9) == pytest.approx(kept.tie, rel=5e-3)


def test_what_is_shipped_for_megatron_follows_from_the_runs():
    """Megatron-LM reduces all gradients of a rank in one call, so its bucket is large."""
    kept = load_calibration(shipped("megatron_a100"))
    found = calibrate(shipped("megatron_a100").parent / "megatron_a100.csv", "a100", bucket="1GB")
    assert found.constants == pytest.approx(kept.constants, rel=1e-3)
    assert (found.band, found.tie) == pytest.approx((kept.band, kept.tie), rel=1e-3)
    assert found.kinds == kept.kinds and found.kinds.zero == (0,) and found.kinds.recompute == ("full",)


@pytest.mark.parametrize("bucket", ["lots", 0, "-25MB", float("inf")])
def test_a_bucket_is_some_bytes(bucket):
    with pytest.raises(Refusal, match=r"bucket of gradients, in bytes: .*; expected a number, 1 or more"):
        calibrate(shipped("megatron_a100").parent / "megatron_a100.csv", "a100", bucket=bucket)


@pytest.mark.parametrize("name", ["nanotron_h100", "megatron_a100"])
def test_a_shipped_file_says_what_its_constants_mean(name):
    """The file repeats the meanings and units of the symbols for those who read it alone."""
    assert tomllib.loads(load_calibration(shipped(name)).text()) == tomllib.loads(shipped(name).read_text())


def test_plans_unlike_the_runs_are_named_and_their_bands_are_wide():
    """Runs with TP 2, no ZeRO and no recomputation, on 8 GPUs with sequences of 4,096 tokens."""
    kinds = Kinds("bf16_fp32_grads", (0,), ("none",), ("tp",), 8, 4096, False)
    known = dataclasses.replace(with_constants(TRUE), runs=9, band=1.1, tie=1.05, kinds=kinds)

    def asked(gpus=8, seq=4096, model="llama3_8b", **more):
        return request(model, "h100_superpod", gpus, 2**21, seq, calibration=known, **more)

    tp = {"tp": 2, "sp": True, "zero": 0}
    for ask, choice, new in (
        (asked(), Choice(dp=4, **tp), ()),
        (asked(16, 8192), Choice(dp=8, **tp), ()),
        (asked(32), Choice(dp=16, **tp), ("32 GPUs",)),
        (asked(seq=16384), Choice(dp=4, **tp), ("sequences of 16,384 tokens",)),
        (asked(recipe="fp32"), Choice(dp=4, **tp), ("the recipe fp32",)),
        (asked(schedule="gpipe"), Choice(dp=4, **tp), ("the schedule gpipe",)),
        (asked(model="mixtral_8x7b"), Choice(dp=4, **tp), ("a mixture of experts",)),
        (asked(), Choice(dp=4, **tp | {"zero": 2}), ("ZeRO-2",)),
        (asked(), Choice(tp=8, sp=True, zero=3), ()),  # a single replica leaves nothing to shard
        (asked(), Choice(dp=4, **tp, recompute="selective"), ("selective recomputation",)),
        (asked(), Choice(dp=2, cp=2, **tp), ("CP",)),
        (asked(), Choice(dp=2, pp=2, virtual=2, **tp), ("PP", "virtual stages")),
        (asked(model="mixtral_8x7b"), Choice(dp=4, ep=4, **tp), ("a mixture of experts", "EP")),
    ):
        out = evaluate_choice(ask, choice)
        assert out.unlike == new
        assert (out.factor, out.closest) == ((USUAL_BAND, USUAL_BAND) if new else (1.1, 1.05))
        assert evaluate_choices(ask, [choice]).factor == [out.factor]
    both = evaluate_choices(asked(), [Choice(dp=4, **tp), Choice(dp=5), Choice(dp=4, **tp | {"zero": 3})])
    assert both.factor == pytest.approx([1.1, np.nan, USUAL_BAND], nan_ok=True)
    known = dataclasses.replace(known, band=1.9, tie=1.8)  # as wide as that, it stays so
    out = evaluate_choice(asked(32), Choice(dp=16, **tp))
    assert out.unlike and (out.factor, out.closest) == (1.9, 1.8)


HEAD = "model,gpus,batch,seq,seconds,tp,dp\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,gpus\n", "missing column batch, seq, seconds"),
        (HEAD + "llama3_8b,8,1048576,4096,two,8,1\n", "line 2: seconds: two; expected a number"),
        (HEAD + "llama3_8b,8,1048576,4096,,8,1\n", "line 2: seconds: ; expected a number"),
        (
            HEAD + "llama3_8b,8,1048576,4096,1.5,8.5,1\n",
            "line 2: tp (tensor-parallel ranks): 8.5; expected a whole number",
        ),
        (HEAD + "llama3_8b,8,1048576,4096,1.5,4,1\n", "line 2: dp x tp x pp x cp is 4; expected gpus, 8"),
        (HEAD + "llama3_8b,8,1048576,4096,-1,8,1\n", "line 2: seconds: -1; expected a number"),
        (HEAD + "llama3_8b,8,1048576,4096,nan,8,1\n", "line 2: seconds: nan; expected a number"),
        (HEAD + "llama3_8b,8,1000000,4096,1,8,1\n", "line 2: a batch of 1,000,000 tokens, microbatches of 4,096"),
        (HEAD + "llama3_8b,0,1048576,4096,1,8,1\n", "line 2: gpus: 0; expected a whole number"),
        (HEAD + "llama3_8b,8,4Q,4096,1,8,1\n", "line 2: batch: '4Q'; expected tokens such as 4M (4 x 2**20)"),
        (HEAD + "llama3_8b,8,1048576,4Q,1,8,1\n", "line 2: seq: '4Q'; expected tokens such as 4M"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, text, said):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(Refusal, match=re.escape(said)):
        read_runs(path)


def test_a_run_of_an_unknown_model_is_named():
    runs = made_up(12)
    runs[7] = dataclasses.replace(runs[7], model="lama3_8b")
    with pytest.raises(Refusal, match="^run 8: no model 'lama3_8b'; did you mean"):
        calibrate(runs, "h100_superpod")


def test_tokens_of_a_row_are_read_as_on_the_command_line(tmp_path):
    path = tmp_path / "runs.csv"
    typed = {("4M", "4k"): (2**22, 2**12), ("4e6", "4000"): (4 * 10**6, 4000), ("4m", "4096"): (2**22, 2**12)}
    path.write_text(HEAD + "".join(f"llama3_8b,8,{batch},{seq},1,8,1\n" for batch, seq in typed))
    assert [(run.batch, run.seq) for run in read_runs(path)] == list(typed.values())


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "runs.csv"
    for content in (b"\xff\xfe\x00model", HEAD.encode() + b"\xb5,8\n"):
        path.write_bytes(content)
        with pytest.raises(Refusal, match="is no text .*; expected a CSV file of runs"):
            read_runs(path)


def test_the_command_writes_a_file_and_says_how_good_it_is(tmp_path, capsys):
    runs = made_up(40)
    table = tmp_path / "runs.csv"
    names = "model gpus batch seq seconds dp tp pp micro zero".split()
    rows = [[(vars(run) | vars(run.choice))[name] for name in names] for run in runs]
    table.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    out = tmp_path / "mine.toml"
    assert main(["calibrate", str(table), "--cluster", "h100-superpod", "-o", str(out)]) == 0
    assert "40 runs, 0 excluded because no constants fit." in capsys.readouterr().out
    assert load_calibration(out).runs == 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["calibrate"], "the following arguments are required"),
        (["calibrate", "none.csv", "--cluster", "h100-superpod", "-o", "x"], "none.csv"),
        (["calibrate", "none.csv", "--cluster", "nowhere", "-o", "x"], "no cluster 'nowhere'"),
        (["calibrate", "none.log", "--cluster", "h100-superpod", "-o", "x"], "none.log"),
    ],
)
def test_a_wrong_command_gets_a_sentence(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_calibration_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    with pytest.raises(Refusal, match="No such file"):
        load_calibration(path)
    path.write_text("runs = 3\n")
    with pytest.raises(Refusal, match="not a calibration"):
        load_calibration(path)
    with pytest.raises(Refusal, match="expected one of megatron_a100, nanotron_h100"):
        shipped("elsewhere")


def test_an_odd_run_is_named_by_its_row_and_the_source_has_every_file(tmp_path, capsys):
    runs = made_up(30, seed=8)
    runs[6] = dataclasses.replace(runs[6], seconds=50 * runs[6].seconds)
    table, out = tmp_path / "runs.csv", tmp_path / "mine.toml"
    names = "model gpus batch seq seconds dp tp pp micro zero".split()
    rows = [[(vars(run) | vars(run.choice))[name] for name in names] for run in runs]
    table.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    log = tmp_path / "all_reduce.log"
    sizes = [2**i for i in range(20, 33)]
    times = [30 + size * 14 / 8 / 350e9 * 1e6 for size in sizes]  # microseconds over the NVLinks of a node
    ranks = "".join(f"#  Rank  {i} Group  0 Pid  {i} on     node-a device  {i} [0x1b] NVIDIA H100\n" for i in range(8))
    head = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    lines = (f"{size} {size // 4} float sum -1 {t:.1f} {size / t / 1e3:.2f} {size / t / 1e3 * 7 / 4:.2f} 0"
             for size, t in zip(sizes, times, strict=True))  # fmt: skip
    log.write_text(ranks + head + "\n".join(lines) + "\n")
    place = "--gpu h100-sxm --per-node 8 --nic 400Gbit/s".split()
    assert main(["calibrate", str(table), str(log), *place, "-o", str(out)]) == 0
    assert "30 runs, 1 excluded because no constants fit (row 7)." in capsys.readouterr().out
    found = load_calibration(out)
    assert found.source == "runs.csv, all_reduce.log" and found.far == (6,)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ([], "missing --cluster (or --gpu); expected where the runs were measured"),
        (["--nic", "50GB/s"], "--nic without --gpu"),
        (["--cluster", "h100-superpod", "--per-node", "4"], "--per-node without --gpu"),
        (["--cluster", "h100-superpod", "--gpu", "h100-sxm"], "expected one of the two"),
    ],
)
def test_the_place_of_the_runs_is_asked_for(tmp_path, capsys, place, said):
    assert main(["calibrate", "runs.csv", *place, "-o", str(tmp_path / "x.toml")]) == 2
    assert said in capsys.readouterr().err
