"""What is promised of expected times: bad layouts do not win, ties are shown, bands hold, errors are sentences."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest

from gpuscale import specs, symbols
from gpuscale.llm import model_counts
from gpuscale.plan import (
    Choice,
    Refusal,
    cluster,
    evaluate_choice,
    evaluate_choices,
    load_calibration,
    own_cluster,
    plan,
    read_runs,
    request,
    shipped,
    stage_layers,
    usual,
)
from gpuscale.plan.__main__ import main
from gpuscale.plan.calibration import PRIORS, USUAL_BAND
from gpuscale.plan.fit import Problem

# ---- ZeRO-3 over all GPUs. Published comparisons find it several times slower than tensor and pipeline parallelism:
# model, cluster, GPUs, tokens of a batch and of a sequence, and how much slower the best of it is at least
LARGE = [
    ("gpt3_175b", "a100", 1536, 1536 * 2048, 2048, 1.5),
    ("gpt3_175b", "h100_superpod", 1536, 1536 * 2048, 2048, 1.8),
    ("llama3_405b", "h100_superpod", 2048, 2**24, 8192, 1.15),
]


@pytest.mark.parametrize(("model", "place", "gpus", "batch", "seq", "slower"), LARGE)
def test_sharded_data_parallelism_alone_loses(model, place, gpus, batch, seq, slower):
    found = plan(model, place, gpus, batch, seq)
    assert len(found.rows) == 10 and all(row.choice.tp * row.choice.pp * row.choice.cp > 1 for row in found.rows)
    kinds = [(micro, again) for micro in (1, 2, 4) for again in ("none", "selective", "full", "attention")]
    columns = {"micro": [micro for micro, _ in kinds], "recompute": [again for _, again in kinds]}
    alone = evaluate_choices(found.ask, columns | {"dp": gpus, "zero": 3})
    assert alone.fits.any()
    best = np.min(alone.step[2], where=alone.fits, initial=np.inf)
    assert best > slower * found.best.step[2]
    bound = alone.step[1][np.argmin(np.where(alone.fits, alone.step[2], np.inf))]
    assert bound < 1.3 * found.best.step[1]  # the bounds alone would not have told


# ---- the pipeline


def test_fewer_microbatches_than_stages_is_slow_and_no_more():
    """Two microbatches in eight stages: the pipeline idles for seven slots and works for two."""
    ask = request("llama3_8b", "h100_superpod", 64, 16 * 8192)
    deep = evaluate_choice(ask, Choice(dp=8, pp=8))
    assert deep.costs.microbatches == 2 and deep.fits
    peak = deep.costs.at_peak
    assert peak.bubble == pytest.approx(7 / 2 * (peak.math + peak.kernels))
    flat = evaluate_choice(ask, Choice(dp=8, tp=4, pp=2, sp=True))
    assert flat.costs.microbatches == 2 and deep.step[2] > 2 * flat.step[2]
    pinned = plan("llama3_8b", "h100_superpod", 64, 16 * 8192, pp=8, dp=8)
    assert pinned.best.costs.microbatches == 2
    assert plan("llama3_8b", "h100_superpod", 64, 16 * 8192).best.choice.pp < 8


@pytest.fixture
def cut(tmp_path):
    """A Llama 3 8B with other layers and another vocabulary, as a configuration."""

    def written(layers, vocabulary):
        own = {"model_type": "llama", "num_hidden_layers": layers, "vocab_size": vocabulary, "hidden_size": 4096}
        own |= {"intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8}
        path = tmp_path / f"{layers}-{vocabulary}.json"
        path.write_text(json.dumps(own | {"tie_word_embeddings": False}))
        return str(path)

    return written


def test_pinned_stages_are_even(cut):
    """12 layers and a head worth more than one: 7 + 5 by default, 6 + 6 if stages are to be even."""
    ask = request(cut(12, 96_000), "h100_superpod", 16, 2**19)
    free, even = (Choice(dp=2, tp=4, pp=2, sp=True, even=one) for one in (False, True))
    assert stage_layers(ask, free).tolist() == [7, 5] and stage_layers(ask, even).tolist() == [6, 6]
    outs = [evaluate_choice(ask, one) for one in (free, even)]
    assert [out.costs.stage_layers for out in outs] == [7, 6]
    found = plan(cut(12, 96_000), "h100_superpod", 16, 2**19, tp=4, pp=2, even=1)
    assert found.best.choice.even and "even stages" in repr(found.best.choice) + str(found.best.choice)
    assert stage_layers(found.ask, found.best.choice).tolist() == [6, 6]


def test_no_step_is_faster_than_its_head(cut):
    """The head multiplies each token with the vocabulary, in three passes, in one stage, however many stages help."""
    words, width, tokens = 1_000_000, 4096, 2**19
    for pp in (1, 2, 4, 8):
        for even in (False, True):
            ask = request(cut(8, words), "h100_superpod", 8 * pp, tokens)
            out = evaluate_choice(ask, Choice(tp=8, pp=pp, sp=True, even=even))
            head = 3 * 2 * tokens * words * width / (8 * ask.cluster.C)
            assert out.step[0] > head and out.step[2] > head / ask.calibration.constants["eta_mat"]
            assert out.costs.at_peak.math > head * (1 - 1e-9)


# ---- ties and columns


def test_ties_are_marked_wherever_the_plan_is_shown():
    """Those within the factor of the calibration; two plans are a tie if they are within the larger of their two."""
    known = dataclasses.replace(load_calibration(shipped("nanotron_h100")), tie=1.04, kinds=None)
    found = plan("llama3_70b", "h100_superpod", 256, "2M", calibration=known)
    same = [row.step[2] < 1.04 * found.rows[0].step[2] for row in found.rows]
    assert any(same[1:]) and not all(same)
    lines = repr(found).splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("TP")) + 1
    assert [line.startswith("=") for line in lines[start : start + len(same)]] == same
    assert "=: a tie. Plans closer than a factor of 1.04 may well come in the other order." in repr(found)
    page = found._repr_html_()
    rows = re.findall(r"<tr .*?</tr>", page, re.S)[1:]
    assert [", tie</small>" in row for row in rows] == same
    assert [row["tie"] for row in found.record()["rows"]] == same
    sure = plan("llama3_70b", "h100_superpod", 256, "2M", calibration=dataclasses.replace(known, tie=1.0))
    assert "tie" not in repr(sure) and "tie</small>" not in sure._repr_html_()
    one, other = found.rows[0], dataclasses.replace(found.rows[-1], closest=9.0)
    assert not one.ties_with(found.rows[-1]) and one.ties_with(other) and other.ties_with(one)


def test_the_plan_says_what_no_run_of_its_calibration_had():
    found = plan(
        "llama3_70b", "a100", 64, "512k", top=3, zero=3, recompute="selective", calibration=usual(cluster("a100"))
    )
    said = (
        "band without such runs, an estimate: a factor of 1.40. New here: sequences of 8,192 tokens, ZeRO-3, selective"
    )
    assert said in repr(found) and said in found._repr_html_()
    assert {"ZeRO-3", "selective recomputation"} <= set(found.record()["rows"][0]["unlike"])
    low, high = found.rows[0].band
    assert high / low == pytest.approx(1.4**2)


def test_data_have_the_band_and_the_three_columns(capsys):
    assert main("--model llama3-8b --cluster a100 --gpus 64 --batch 512k --json".split()) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 10
    for row in rows:
        assert row["step_at_peak"] < row["step_at_measured_rates"] < row["step_expected"]
        assert row["low"] < row["step_expected"] < row["high"]
        assert row["high"] / row["step_expected"] == pytest.approx(row["step_expected"] / row["low"])
    table = repr(plan("llama3_8b", "a100", 64, "512k"))
    head = next(line for line in table.splitlines() if line.lstrip().startswith("TP"))
    assert all(name in head for name in ("expected", "band", "at measured rates", "at peak"))
    assert table.index("at peak: a bound for this schedule and this overlap, at data-sheet rates.") < table.index(head)
    assert "at measured rates: the same bound at the best rates measured on such machines or similar ones." in table


# ---- which calibration


CALIBRATED = {"a100": "megatron_a100", "aws_p5": "nanotron_h100"}
HAS = {"a100_sxm": "megatron_a100"}  # chips of which a cluster of the library has one, when nothing else is said


@pytest.mark.parametrize("key", specs.parts("cluster"))
def test_each_cluster_has_its_calibration(key):
    found, name = usual(cluster(key)), CALIBRATED.get(key)
    if name:
        kept = load_calibration(shipped(name))
        assert found == kept and kept.runs > 0
    else:
        assert found.runs == 0 and found.band == USUAL_BAND and set(found.unknown) == set(PRIORS)
        assert found.source == f"defaults, not fitted to any run on {cluster(key).chip}"
        assert found.constants["V_bucket"] == 2 * 5e8  # DeepSpeed's default, reduce_bucket_size, in bf16


@pytest.mark.parametrize("chip", ["a100_sxm", "h100_sxm", "h800_sxm", "b200_sxm", "h200_sxm", "mi300x"])
def test_an_own_cluster_takes_what_its_chip_has(chip):
    found = usual(own_cluster(chip, per_node=8, nic="200Gbit/s"))
    if chip in HAS:
        assert found == load_calibration(shipped(HAS[chip]))
    else:
        assert found.runs == 0 and found.source.endswith(f"on {specs.chip(chip).short}")


def test_a_default_network_is_as_fast_as_it_was_measured_on_so_many_nodes():
    """Gathers of ten nodes: 79 of 80 ranks' parts at the bus bandwidth; a node lacks nine tenths of the array."""
    found, place = usual(cluster("h100_superpod")), cluster("h100_superpod")
    best = max(row["all_gather"] for row in specs.measured("collectives_h100_10_nodes").rows)
    seconds = 79 / 80 / best  # of an array of a byte
    share = 9 / 10 / seconds / place.W_node
    constants = found.constants
    assert constants["eta_net"] * 5 ** -constants["gamma_net"] == pytest.approx(share)
    assert constants["eta_net"] < 1
    assert constants["gamma_net"] == pytest.approx(math.log(1 / share) / math.log(5) / 2, rel=0.01)


def test_the_output_says_which_calibration_and_how_wide_its_band_is(capsys):
    line = "--model llama3-8b --gpus 64 --batch 512k --top 2 --cluster".split()
    for place in ("a100", "h100-superpod", "aws-p5"):
        assert main([*line, place]) == 0
        said, known = capsys.readouterr().out, usual(cluster(place))
        assert f"Constants: {known.source}" in said and f"a factor of {known.band:.2f} either way" in said
        assert ("nine of ten runs" in said) == (known.runs > 0) == ("band: an estimate" not in said)
    assert main("--model llama3-8b --gpu a100-sxm --nodes 8 --batch 512k --top 2".split()) == 0
    assert "Constants: Megatron-LM on A100" in capsys.readouterr().out


def test_a_calibration_is_taken_from_a_file(tmp_path, capsys):
    slow = dataclasses.replace(usual(cluster("a100")), band=1.33, source="our own runs", kinds=None)
    slow = dataclasses.replace(slow, constants=slow.constants | {"t_fix": 5.0})
    path = tmp_path / "mine.toml"
    path.write_text(slow.text())
    given = request("llama3_8b", "a100", 64, "512k", calibration=path)
    choice = Choice(dp=8, tp=8, sp=True)
    usually = evaluate_choice(request("llama3_8b", "a100", 64, "512k"), choice)
    out = evaluate_choice(given, choice)
    before = usual(cluster("a100")).constants["t_fix"]
    assert out.step[2] - usually.step[2] == pytest.approx(5.0 - before, rel=1e-2)
    assert out.step[:2] == usually.step[:2] and out.band[1] == pytest.approx(1.33 * out.step[2])
    line = "--model llama3-8b --cluster a100 --gpus 64 --batch 512k --calibrated".split()
    assert main([*line, str(path)]) == 0
    assert "Constants: our own runs" in capsys.readouterr().out
    for name in ("nanotron_h100", "nanotron-h100"):  # one that comes with the library, by its name
        assert main([*line, name]) == 0
        assert "Constants: nanotron on AWS" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("[constants.t_host]", "[constants.t_guest]"), "t_host"),
        (lambda text: text + "\n[constants.speed]\nvalue = 1\nspread = 1\n", "speed"),
        (lambda text: re.sub(r"(?<=t_host\]\n)value = .*", 'value = "slow"', text), "slow"),
        (lambda text: re.sub(r"(?<=t_host\]\n)value = .*", "value = -1", text), "t_host"),
        (lambda text: re.sub(r"(?<=eta_mat\]\n)value = .*", "value = 1.5", text), "eta_mat"),
        (lambda text: re.sub(r"(?<=t_host\]\n)value = .*", "value = nan", text), "t_host"),
        (lambda text: re.sub(r"band = .*", "band = 0.5", text, count=1), "band"),
        (lambda text: re.sub(r"unknown = .*", 'unknown = ["speed"]', text), "speed"),
        (lambda text: text.replace("cluster = ", "place = "), "cluster"),
        (lambda text: text + "= nonsense", "not a calibration"),
    ],
)
def test_a_calibration_that_is_wrong_is_refused_in_a_sentence(tmp_path, capsys, change, said):
    path, text = tmp_path / "mine.toml", usual(cluster("a100")).text()
    path.write_text(change(text))
    assert path.read_text() != text
    assert main([*"--model llama3-8b --cluster a100 --gpus 64 --batch 512k --calibrated".split(), str(path)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and said in err and "mine.toml" in err and "expected" in err
    with pytest.raises(Refusal, match=re.escape(said)):
        request("llama3_8b", "a100", 64, "512k", calibration=path)


# ---- bands


def test_the_band_of_megatron_follows_from_leaving_out_each_run():
    """Fitted to nine runs, asked for the tenth, ten times: with ten errors, the widest is the band of nine in ten."""
    kept = load_calibration(shipped("megatron_a100"))
    runs = read_runs(shipped("megatron_a100").parent / "megatron_a100.csv")
    assert len(runs) == kept.runs == 10 and not kept.far
    off = []
    for i, run in enumerate(runs):
        problem = Problem([*runs[:i], *runs[i + 1 :]], cluster("a100"), "bf16_fp32_grads", bucket=1e9)
        fitted = problem.constants(problem.fit(np.arange(len(runs) - 1)))
        found = dataclasses.replace(kept, constants=kept.constants | dict(zip(problem.free, fitted, strict=True)))
        ask = request(run.model, "a100", run.gpus, run.batch, run.seq, calibration=found)
        off.append(evaluate_choice(ask, run.choice).step[2] / run.seconds)
    assert kept.band == pytest.approx(np.exp(np.abs(np.log(off)).max()), rel=2e-3)
    errors = {check.left_out: check.median for check in kept.checks}
    for run, one in zip(runs, off, strict=True):
        assert errors[run.model] == pytest.approx(abs(one - 1), abs=2e-3)


def test_the_shipped_fit_foresees_runs_that_it_has_not_seen():
    """What is asked of a planner, reached on numbers of GPUs and on models that were left out."""
    checks = {check.left_out: check for check in load_calibration(shipped("nanotron_h100")).checks}
    gpus, models = checks["each number of GPUs in turn"], checks["each model in turn"]
    assert gpus.median < 0.08 and gpus.ninth < 0.25 and models.median < 0.09
    assert gpus.rank > 0.94 and gpus.least_rank > 0.82 and models.rank > 0.92 and gpus.cost < 0.06


def llama_rows() -> list:
    return [pytest.param(row, id=row["stage"]) for row in specs.measured("llama3_stages").rows]


@pytest.mark.parametrize("row", llama_rows())
def test_the_runs_of_llama_3_are_within_the_usual_band(row):
    """405B as Meta trained it, with four virtual stages per rank; MFU by the report's own count of FLOPs."""
    degrees = {name: int(row[name]) for name in ("tp", "cp", "pp", "dp")}
    gpus = int(np.prod(list(degrees.values())))
    ask = request("llama3_405b", "llama3_24k", gpus, 2**24, seq=int(row["seq"]))
    out = evaluate_choice(ask, Choice(**degrees, sp=True, virtual=4, recompute="selective"))
    assert ask.calibration.runs == 0 and out.fits
    active, per_token = model_counts.counts("llama3_405b").P_act, 12 * 126 * 128 * 128 * row["seq"]
    counted = 2**24 * (6 * active + per_token)
    took = counted / (gpus * specs.chip("h100_sxm").bf16 * row["mfu"])
    assert out.band[0] < took < out.band[1]
    assert out.step[1] < took  # the bound is one


def test_the_run_of_deepseek_v3_is_within_the_usual_band():
    ask = request("deepseek_v3", "h800", 2048, 15360 * 4096, 4096, "deepseek_v3", schedule="dualpipe")
    out = evaluate_choice(ask, Choice(dp=128, ep=64, pp=16, recompute="selective"))
    hours = specs.measured("deepseek_v3_cost").row(stage="pre-training")["gpu_hours"]
    took = hours * 3600 / 2048 * 15360 * 4096 / 14.8e12
    assert ask.calibration.runs == 0 and out.band[0] < took < out.band[1] and out.step[1] < took


def test_a_fraction_above_one_is_refused(tmp_path):
    path, text = tmp_path / "mine.toml", shipped("megatron_a100").read_text()
    for name in PRIORS:
        path.write_text(re.sub(rf"(\[constants\.{name}\]\nvalue = ).*", r"\g<1>1.5", text))
        if getattr(symbols, name).most == 1:
            with pytest.raises(Refusal, match=rf"constants\.{name}\.value: 1\.5; expected a fraction, at most 1"):
                load_calibration(path)
        else:
            assert load_calibration(path).constants[name] == 1.5
