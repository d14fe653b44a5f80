"""What the planner says to a new user: reasons, hints, names, numbers with their nouns."""

import json
from dataclasses import replace

import pytest

from gpuscale.plan import Choice, Refusal, cluster, evaluate_choice, load_calibration, plan, request, shipped
from gpuscale.plan.__main__ import main
from gpuscale.plan.calibration import DEFAULTS
from gpuscale.plan.evaluation import model_inputs
from gpuscale.plan.hints import unused
from gpuscale.plan.outcome import _over


def plain(text):
    return text.replace("\xa0", " ")


@pytest.fixture(scope="module")
def racks():
    return plan("llama3_8b", "gb200_nvl72", 144, "4M", top=1)


def test_part_of_each_node_is_named_where_it_is_faster(racks):
    """72 = 8 x 9, and nothing of this model but its stages divides by 9."""
    part = plan("llama3_8b", "gb200_nvl72", 128, "4M", top=1, per_node=64)
    assert not part.hint and part.best.step[2] < racks.best.step[2]
    assert racks.hint.startswith("64 of the 72 GPUs of each node take") and "--gpus 128 --per-node 64" in racks.hint
    assert racks.hint in repr(racks) and racks.hint in racks._repr_html_() and racks.record()["hint"] == racks.hint
    assert not plan("llama3_8b", "h100_superpod", 64, "4M", top=1).hint


def test_part_of_each_node_is_said_where_it_is_the_only_way():
    with pytest.raises(
        Refusal, match="^64 of the 72 GPUs take .* all of them cannot be used: --gpus 64 --per-node 64; no"
    ):
        plan("llama3_8b", "gb200_nvl72", 72, "4M", pp=1)
    with pytest.raises(Refusal, match="^64 of the 72 GPUs of each node .*: 64 heads are not divisible by TP 3;"):
        plan("llama3_70b", "gb200_nvl72", 2304, "16M")


def test_a_factor_that_nothing_can_use_is_named():
    ask = request("llama3_8b", "h100_superpod", 1000, "4M")
    assert unused(model_inputs(ask), ask) == {5: 3}
    with pytest.raises(Refusal) as error:
        plan("llama3_8b", "h100_superpod", "1e3", "4M")
    assert "1,000 GPUs = 2^3 x 5^3, and only stages could take up the factor 5^3 (at most 32, TP" in str(error.value)
    assert "TP 5" not in str(error.value) and str(error.value).endswith("992 and 1,024 GPUs have a layout")
    with pytest.raises(Refusal, match="stages could take up the factor 3.2 x 5.2 .at most 80"):  # each alone would do
        plan("llama3_70b", "gb200_nvl72", 7200, "4M")
    for gpus in (992, 1024):
        assert plan("llama3_8b", "h100_superpod", gpus, "4M", top=1).tried


def test_memory_comes_first_where_nothing_fits():
    found = plan("llama3_70b", "h100_superpod", 7, "4M")
    assert plain(found.why_nothing).startswith("203.7 GB of weights") and "interleaving" not in repr(found)
    assert "needs 17 GPUs or more" in found.why_nothing  # 70.55e9 parameters of 18 bytes over 76 GB
    assert "choices tried. 76 GB of 80 GB are available, 4 GB stay free" in plain(repr(found))
    assert "MFU" not in repr(found) and "NVLink" not in repr(found)


def test_some_memory_stays_free_unless_told():
    place = cluster("gb200_nvl72")
    ask = request("llama3_8b", place, 64, "4M")
    assert ask.reserve == pytest.approx(0.05 * place.hbm)
    assert request("llama3_8b", place, 64, "4M", reserve=0).reserve == 0
    pins = {"dp": 64, "micro": 4, "zero": 2, "recompute": "none"}  # such a choice takes 98% of the memory
    assert (
        plan("llama3_8b", place, 64, "4M", **pins, reserve=0).rows
        and not plan("llama3_8b", place, 64, "4M", **pins).rows
    )
    usual = plan("llama3_8b", place, 64, "4M", top=1)
    assert "177 GB of 186 GB are available, 9.3 GB stay free (--reserve)" in plain(repr(usual))


def test_what_does_not_fit_differs_in_print():
    assert plain(_over(80.0004e9, 80e9)) == "80.0004 GB do not fit into 80 GB"
    assert plain(_over(203.7e9, 80e9)) == "203.7 GB do not fit into 80 GB"


def test_one_is_no_plural():
    said = repr(plan("llama3_8b", "gb200_nvl72", 1, 8192, reserve=0))
    assert " on 1 GPU (" in said and "1 sequence of 8,192" in said
    for batch, words in ((1, "a batch of 1 token is"), (0.0, "batch: 0.0;"), ("0", "batch: 0;"), ("8k5", "'8k5'")):
        with pytest.raises(Refusal, match=words):
            request("llama3_8b", "h100_superpod", 8, batch)
    with pytest.raises(Refusal, match="are 1 node of 72 and 28 more"):
        request("llama3_8b", "gb200_nvl72", 100, "4M")


def test_names_may_differ_in_hyphens_and_capitals():
    ask = request("Llama-3-70B", "H100-SuperPOD", 8, "4M")
    assert (ask.model.key, ask.cluster.key) == ("llama3_70b", "h100_superpod")
    with pytest.raises(Refusal, match="no model 'Llama_9'; did you mean .*llama3-"):
        request("Llama_9", "h100", 8, "4M")


def test_names_of_the_output_say_what_they_count(capsys):
    line = "--model llama3-8b --cluster h100-superpod --gpus 16 --batch 512k --top 1 --json".split()
    assert main(line) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert {
        "dp_nvlink",
        "dp_network_node",
        "step_at_peak",
        "step_at_measured_rates",
        "step_expected",
        "low",
        "high",
    } <= set(row) and "dp_network" not in row
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert "tp_network_node" in said and "5% of it" in said and "_at_measured_rates" in said


def test_sequence_parallelism_over_one_rank_is_nothing():
    found = plan("llama3_8b", "h100_superpod", 8, "512k", tp=1, sp=1)
    assert found.best.choice.sp and "+SP" not in repr(found) and "SP" not in str(found.best.choice)


def test_memory_is_what_the_model_needs():
    out = evaluate_choice(request("llama3_70b", "h100_superpod", 64, "4M"), Choice(dp=1, tp=8, pp=8, sp=True))
    assert out.costs.stage_layers == 11 and 80 / 8 == 10  # the first stage is taken to be the longest
    ask = ("llama3_8b", "h100_superpod", 64, "4M")
    model = "memory: what the model needs on the fullest stage; "
    assert f"{model}frameworks add buffers. 76" in plain(repr(plan(*ask, top=1)))
    framework = load_calibration(shipped("nanotron_h100"))
    assert framework.constants["n_ahead"] > 0
    assert f"{model}the framework's buffers are counted. 76" in plain(repr(plan(*ask, top=1, calibration=framework)))
    usual = framework.constants | DEFAULTS
    assert f"{model}frameworks add" in repr(plan(*ask, top=1, calibration=replace(framework, constants=usual)))


def test_tensor_parallelism_that_is_fixed_across_nodes_is_warned_of():
    def warned(tp, per_node=None):
        found = plan("llama3_8b", "h100_superpod", 64, "4M", top=3, tp=tp, per_node=per_node)
        line = f"Warning: TP {tp} is fixed and crosses nodes of {per_node or 8} GPUs"
        assert (
            (line in repr(found))
            == (line in found._repr_html_())
            == any(line in one for one in found.record()["remarks"])
        )
        return line in repr(found)

    assert warned(16) and warned(32) and warned(8, per_node=4)
    assert not warned(8) and not warned(None)


def test_one_in_a_reason_has_its_singular():
    def reasons(gpus, batch, **pins):
        try:
            found = plan("llama3_8b", "h100_superpod", gpus, batch, reserve=0, **pins).rejected
        except Refusal as refusal:
            return [str(refusal)]
        return [reason.words for reason in found]

    assert "1 sequence cannot be split evenly over DP 8" in reasons(8, 8192)
    assert "2 sequences cannot be split evenly over DP 8" in reasons(8, 16384)
    assert "interleaving takes microbatches in groups of 8; a replica has 1" in reasons(8, 8192)
    one_rank = request("mixtral_8x7b", "h100_superpod", 8, 8192, ep=2, pp=8)
    with pytest.raises(Refusal, match="a stage of 1 rank cannot be split into groups of EP 2"):
        evaluate_choice(one_rank, Choice(ep=2, pp=8))
    with pytest.raises(Refusal, match="a replica's 1 sequence cannot be split into microbatches of 2"):
        plan("llama3_8b", "h100_superpod", 8, 8192, micro=2, tp=8)
