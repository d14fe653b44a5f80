"""Explanations: where a step goes, what would change it, and what nobody knows, against other ways to ask."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gpuscale import llm
from gpuscale.plan import Choice, Refusal, evaluate_choice, explain, load_calibration, plan, request, shipped
from gpuscale.plan.__main__ import main
from gpuscale.plan.calibration import FIXED_SPREAD, PRIORS
from gpuscale.plan.costs import SCHEDULES, compose
from gpuscale.plan.explanation import FORMULAS, LEAST, MACHINES
from gpuscale.sources import cited

DEEPSEEK = (("deepseek_v3", "h800", 128, 2**20, 4096, "deepseek_v3"), Choice(dp=32, ep=32, pp=4, recompute="full"))
RUNS = {
    "replicas": (("llama3_8b", "h100_superpod", 64, "512k"), {}, Choice(dp=64, zero=2)),
    "all axes": (("llama3_70b", "h100_superpod", 64, "2M"), {}, Choice(dp=2, tp=4, cp=2, pp=4, virtual=2, sp=True)),
    "GPipe": (("llama3_8b", "a100", 32, "512k", 4096), {"schedule": "gpipe"}, Choice(dp=2, tp=4, pp=4, micro=2)),
    "DualPipe": (DEEPSEEK[0], {"schedule": "dualpipe"}, DEEPSEEK[1]),
    "latent": (*DEEPSEEK[:1], {}, DEEPSEEK[1]),
    "experts": (("mixtral_8x7b", "h100_superpod", 16, "512k"), {}, Choice(dp=16, ep=8, zero=3, micro=2)),
    "one GPU": (("llama3_8b", "h100_superpod", 1, 8192), {"reserve": 0}, Choice()),
    "many nodes": (("llama3_8b", "h100_superpod", 512, "4M", 4096), {}, Choice(dp=16, tp=16, pp=2, sp=True)),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return request.param


def asked(run):
    arguments, more, choice = RUNS[run]
    return request(*arguments, **more), choice


def test_the_terms_are_the_step_and_name_formulas(run):
    ask, choice = asked(run)
    row = evaluate_choice(ask, choice)
    found = explain(ask, row)
    assert sum(term.seconds for term in found.terms) == pytest.approx(row.step[2], rel=1e-9)
    seconds = [term.seconds for term in found.terms]
    assert seconds == sorted(seconds, reverse=True) and seconds[-1] > 0
    for term in found.terms:
        formula, constant = getattr(llm, term.formula), {"sums": "b_acc", "loss": "b_loss"}.get(term.name)
        assert term.source == (f"constant {constant} of the calibration" if constant else formula.source)
        assert cited(term.source) in str(found) and ("flashattention" in term.source) == (term.name == "attention")
        assert f"llm.{term.formula} " in str(found) and term.meaning in str(found)


@pytest.mark.parametrize("schedule, latent", [("1f1b", False), ("zb-h1", False), ("dualpipe", True)])
def test_a_formula_that_is_named_is_behind_its_column(schedule, latent):
    """It is a step of the column, and the column is not of a kind that a formula about something else would serve."""
    steps, out = compose(schedule, latent)
    by_value = {one.value: one for one in steps}
    own = {"host": {"host_wait"}, "experts": {"grouped_time"}, "dp": {"expected_dp"}, "update": {"update_time"}}
    own |= {
        "matmuls": {"stage_flops"},
        "kernels": {"kernels_forward"},
        "pp": {"expected_hop"},
        "bubble": {SCHEDULES[schedule][2].name},
    }
    own |= dict.fromkeys(("tp", "cp", "ep"), {"expected_level", "expected_microbatch"})
    for name, formula in (FORMULAS | {"bubble": SCHEDULES[schedule][2].name}).items():
        left, behind = [out[f"{name}_expected"]], set()
        while left:
            one = by_value.get(left.pop())
            if one is not None and one.value not in behind:
                behind.add(one.value)
                left += one.expr.free_symbols
        assert formula in {by_value[value].formula.name for value in behind}, name
        assert formula in own.get(name, {"microbatch_gpu_time"}), name


def test_a_run_has_the_terms_of_its_axes():
    def terms(run):
        return {term.name: term.formula for term in explain(*(asked(run)[0], evaluate_choice(*asked(run)))).terms}

    assert {"matmuls", "attention", "kernels", "update"} <= set(terms("one GPU"))
    assert not {"tp", "cp", "ep", "pp", "dp", "bubble", "experts"} & set(terms("one GPU"))
    assert {"tp", "cp", "pp", "dp", "bubble"} <= set(terms("all axes")) and "ep" not in terms("all axes")
    assert terms("all axes")["bubble"] == "interleaved_bubble" and terms("GPipe")["bubble"] == "bubble_time"
    assert terms("DualPipe")["bubble"] == "dualpipe_bubble"
    assert "ep" not in terms("DualPipe") and "ep" in terms("latent")  # DualPipe hides the all-to-alls
    assert {"ep", "experts"} <= set(terms("experts"))


@pytest.mark.parametrize("part, constant", [("sums", "b_acc"), ("loss", "b_loss")])
def test_a_constant_that_is_the_source_of_a_part_doubles_it(part, constant):
    ask, choice = asked("replicas")
    now = ask.calibration.constants
    other = replace(ask, calibration=replace(ask.calibration, constants=now | {constant: 2 * now[constant]}))
    once, twice = (vars(evaluate_choice(one, choice).costs.expected)[part] for one in (ask, other))
    assert twice == pytest.approx(2 * once) and once > 0


@pytest.mark.parametrize("kind", ["none", "selective", "full", "attention"])
def test_recomputation_is_named_where_there_is_some(kind):
    ask, choice = asked("replicas")
    found = explain(ask, evaluate_choice(ask, replace(choice, recompute=kind)))
    meaning = next(term.meaning for term in found.terms if term.name == "matmuls")
    again = ", recomputation included" if kind != "none" else ""
    assert meaning == f"matmuls in the slowest stage{again}" and (", recomputation included" in str(found)) == bool(
        again
    )


def step(ask, choice, **constants):
    """The expected step of a choice, with other constants."""
    known = replace(ask.calibration, constants=ask.calibration.constants | constants)
    return evaluate_choice(replace(ask, calibration=known), choice).step[2]


def machines(ask):
    """The same request on each other machine, in words."""
    place = ask.cluster
    other = {
        "twice the network bandwidth": replace(place, W_node=2 * place.W_node),
        "twice the NVLink bandwidth": replace(place, W_nvl=2 * place.W_nvl),
        "twice the HBM bandwidth": replace(place, W_hbm=2 * place.W_hbm),
        "twice the FLOP/s": replace(place, C=2 * place.C),
    }
    out = {words: replace(ask, cluster=one) for words, one in other.items()}
    now = ask.calibration.constants
    others = {
        "a host that is twice as fast": {name: now[name] / 2 for name in ("t_host", "t_cross", "t_head")},
        "all gradients hidden that can be": {"g_dp": 0.0},
    }
    for words, constants in others.items():
        out[words] = replace(ask, calibration=replace(ask.calibration, constants=now | constants))
    return out


def other_choices(choice):
    """Each other choice, in words."""
    out = {
        "twice the sequences per microbatch": replace(choice, micro=2 * choice.micro),
        "twice the virtual stages": replace(choice, virtual=2 * choice.virtual),
        "no virtual stages": replace(choice, virtual=1),
        "sequence parallelism": replace(choice, sp=True),
        "no sequence parallelism": replace(choice, sp=False),
        "no ZeRO": replace(choice, zero=0),
        "no recomputation": replace(choice, recompute="none"),
    }
    d, begins = choice.dp, choice.tp == 1
    out[f"TP {2 * choice.tp}{' + SP' if begins else ''}, DP {d // 2}"] = (
        replace(choice, tp=2 * choice.tp, dp=d // 2, sp=choice.sp or begins) if d > 1 else choice
    )
    if d > 1:
        out[f"CP {2 * choice.cp}, DP {d // 2}"] = replace(choice, cp=2 * choice.cp, dp=d // 2)
        out[f"PP {2 * choice.pp}, DP {d // 2}"] = replace(choice, pp=2 * choice.pp, dp=d // 2)
    for name in ("tp", "cp", "pp"):
        if (degree := getattr(choice, name)) > 1:
            out[f"{name.upper()} {degree // 2}, DP {2 * d}"] = replace(choice, **{name: degree // 2}, dp=2 * d)
    if choice.micro in (2, 4, 8):
        out["half the sequences per microbatch"] = replace(choice, micro=choice.micro // 2)
    out |= {f"ZeRO-{stage}": replace(choice, zero=stage) for stage in (1, 2, 3)}
    return out | {f"{kind} recomputation": replace(choice, recompute=kind) for kind in ("selective", "full")}


def test_changes_are_what_the_changed_plan_takes(run):
    """Each line equals the planner's answer to the changed question; the largest changes are all there, the gains
    before the losses."""
    ask, choice = asked(run)
    row = evaluate_choice(ask, choice)
    told = explain(ask, row)
    found = {change.words: change for change in told.changes}
    truth = {words: (evaluate_choice(one, choice).step[2], row.fits) for words, one in machines(ask).items()}
    assert set(truth) == set(MACHINES)
    for words, one in other_choices(choice).items():
        try:
            other = evaluate_choice(ask, one)
        except Refusal:
            continue
        truth[words] = other.step[2], other.fits
    for words, change in found.items():
        assert (change.seconds, change.fits) == (pytest.approx(truth[words][0], rel=1e-9), truth[words][1]), words
    effects = {words: seconds / row.step[2] - 1 for words, (seconds, _) in truth.items()}
    gains = sorted((words for words in effects if effects[words] <= -LEAST), key=effects.get)[:8]
    losses = sorted((words for words in effects if effects[words] >= LEAST), key=lambda words: -effects[words])[:8]
    assert [change.change for change in told.changes] == pytest.approx([effects[words] for words in gains + losses])
    assert set(found) == {*gains, *losses} and found
    faster, slower = str(told).split("What would make the step faster:")[1].split("What would make it slower:")
    assert all(f"%  {words}" in faster for words in gains) and all(f"%  {words}" in slower for words in losses)
    assert faster.count("  -") == len(gains) and slower.split("\n\n")[0].count("  +") == len(losses)


def test_neighbors_are_plans_on_as_many_gpus():
    ask, choice = asked("all axes")
    told = {change.words for change in explain(ask, evaluate_choice(ask, choice)).changes}
    assert {"TP 8, DP 1", "TP 2, DP 4", "CP 4, DP 1", "CP 1, DP 4", "PP 8, DP 1", "PP 2, DP 4"} & told
    odd = request("llama3_8b", "h100_superpod", 8, 48 * 8192)
    told = explain(odd, evaluate_choice(odd, Choice(tp=8, sp=True, micro=3))).changes
    assert not any("DP 0" in change.words for change in told) and any("TP 4, DP 2" == change.words for change in told)


def test_a_faster_plan_that_no_search_tries_says_so():
    """Ten layers per stage, in ten virtual stages: a search tries at most eight."""
    found = plan("llama3_70b", "h100_superpod", 4096, "4M", top=1)
    assert found.best.choice.pp == 8 and found.best.choice.virtual == 5
    told = explain(found.ask, found.best)
    (change,) = (one for one in told.changes if one.words == "twice the virtual stages")
    assert change.fits and change.change < 0 and not change.tried
    assert "%  twice the virtual stages, which a search tries only if it is fixed\n" in str(told)
    assert all(one.tried for one in told.changes if one is not change)
    fixed = plan("llama3_70b", "h100_superpod", 4096, "4M", top=1, virtual=10)
    assert fixed.best.step[2] <= change.seconds
    for one in told.changes:  # whatever a search tries and fits is no faster than what it found
        assert one.change > 0 or one is change or not one.fits or one.words in MACHINES


def test_a_change_that_does_not_fit_says_so():
    ask = request("llama3_8b", "h100_superpod", 64, "512k")
    found = explain(ask, evaluate_choice(ask, Choice(dp=64, zero=2)))
    told = {change.words: change.fits for change in found.changes}
    assert not told["no ZeRO"] and told["full recomputation"]
    assert "no ZeRO, which does not fit into memory" in str(found)
    assert "full recomputation\n" in str(found)


def test_half_of_three_sequences_is_none():
    ask = request("llama3_8b", "h100_superpod", 8, 48 * 8192)
    found = explain(ask, evaluate_choice(ask, Choice(tp=8, sp=True, micro=3)))
    assert not any(change.words.startswith("half") for change in found.changes)


def test_undetermined_constants_are_listed_with_what_they_do(run):
    ask, choice = asked(run)
    found = explain(ask, evaluate_choice(ask, choice))
    now, base = ask.calibration.constants, step(ask, choice)
    spreads = {name: ask.calibration.spread[name] for name in ask.calibration.unknown} | FIXED_SPREAD
    for name, spread in spreads.items():
        most = 1 if name.startswith(("eta", "g_dp")) else np.inf
        ends = [step(ask, choice, **{name: min(now[name] * np.exp(sign * spread), most)}) for sign in (-1, 1)]
        effect = max(abs(end / base - 1) for end in ends)
        assert found.open_constants.get(name, 0) == pytest.approx(effect if effect >= LEAST else 0), name
    assert set(found.open_constants) <= set(spreads)
    most = max(found.open_constants, key=found.open_constants.get, default="")
    for name, effect in found.open_constants.items():
        assert (f"%  {name}: " in str(found)) == (effect >= 0.05 or name == most), name
    assert found.record()["open_constants"] == found.open_constants


def test_what_runs_determine_is_not_listed():
    known = load_calibration(shipped("nanotron_h100"))
    assert "t_host" not in known.unknown
    ask = request("llama3_8b", "h100_superpod", 64, "512k", calibration=known)
    found = explain(ask, evaluate_choice(ask, Choice(dp=64, zero=2)))
    assert set(found.open_constants) <= set(known.unknown) | set(FIXED_SPREAD)
    sure = replace(known, unknown=(), spread=known.spread | dict.fromkeys(FIXED_SPREAD, 0.1))
    found = explain(replace(ask, calibration=sure), evaluate_choice(ask, Choice(dp=64, zero=2)))
    assert not found.open_constants and not found.depends and "no run" not in str(found)


@pytest.mark.parametrize("first", [0, 2])
def test_the_order_hangs_on_a_constant_exactly_where_its_spread_turns_it(first):
    """Ten plans asked again at either end of each constant; the first plan, and one that others beat anyway."""
    ask = request("llama3_70b", "h100_superpod", 256, "2M")
    wide = {name: 2 * prior.spread for name, prior in PRIORS.items()} | dict.fromkeys(FIXED_SPREAD, 1e-9)
    ask = replace(ask, calibration=replace(ask.calibration, spread=wide))
    rows = plan("llama3_70b", "h100_superpod", 256, "2M", calibration=ask.calibration).rows
    row, now, turned, kept = rows[first], ask.calibration.constants, 0, 0
    told = explain(ask, row, rows).depends
    for name, prior in PRIORS.items():
        most = 1 if name.startswith(("eta", "g_dp")) else np.inf
        for sign, word in ((1, "larger"), (-1, "smaller")):
            there = {name: min(now[name] * np.exp(sign * 2 * prior.spread), most)}
            times = {other.choice: step(ask, other.choice, **there) for other in rows[first:]}
            quickest = min(times, key=times.get)
            said = [line for line in told if line.startswith(f"The order hangs on {name}: if it is {word}, ")]
            if times[row.choice] / times[quickest] - 1 >= LEAST:
                assert len(said) == 1 and f", {quickest} is faster by" in said[0], (name, word)
                turned += 1
            else:
                assert not said, (name, word)
                kept += 1
    assert len(told) == turned > 0 and kept > 5


def test_how_many_rows_are_shown_does_not_change_what_is_said():
    one, ten = (plan("llama3_70b", "h100_superpod", 256, "2M", top=top).explain() for top in (1, 10))
    assert one.depends == ten.depends and one.terms == ten.terms


LINE = "--model llama3-8b --cluster h100-superpod --gpus 64 --batch 512k --explain".split()


def test_the_command_explains_the_first_plan(capsys):
    assert main(LINE) == 0
    out = capsys.readouterr().out
    found = plan("llama3_8b", "h100_superpod", 64, "512k")
    assert out.endswith(f"\n\n{found.explain()}\n")
    assert "What would make the step faster:" in out and "Expected step:" in out


def test_the_command_explains_as_data(capsys):
    assert main([*LINE, "--json", "--top", "1"]) == 0
    out = json.loads(capsys.readouterr().out)
    terms = out["explain"]["terms"]
    assert sum(term["seconds"] for term in terms) == pytest.approx(out["rows"][0]["step_expected"])
    assert out["explain"]["choice"] == out["rows"][0]["choice"] and out["explain"]["changes"]
    for change in out["explain"]["changes"]:
        assert change["change"] == pytest.approx(change["seconds"] / out["rows"][0]["step_expected"] - 1)


def test_nothing_to_explain_where_nothing_fits(capsys):
    line = "--model llama3-405b --cluster h100-superpod --gpus 8 --batch 512k --explain"
    for more in ([], ["--json"]):
        assert main([*line.split(), *more]) == 1
        assert "Expected step" not in capsys.readouterr().out
