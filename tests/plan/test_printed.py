"""What the planner stores as printed code is what the formulas say, and a plan needs nothing else."""

import json
import subprocess
import sys

import numpy as np
import pytest
import sympy
from support import exact_rational

import gpuscale.printed
from gpuscale.core.evaluation import evaluate
from gpuscale.plan import Choice, costs, evaluation, factors, printing, request
from gpuscale.plan.batch import possible_rows
from gpuscale.plan.columns import NAMES, SOUGHT
from gpuscale.plan.programs import program, stored
from gpuscale.plan.requests import SCHEDULES
from gpuscale.printed import conditions, formulas
from gpuscale.printed.calling import exactly, takes, value
from gpuscale.symbols import flop

ROOMS = {name: room for room, names in printing.FORMULAS.items() for name in names}
KINDS = pytest.mark.parametrize("schedule, latent", printing.KINDS)
RUNS = {False: ("gpt_oss_120b", "h100_superpod", 512, "16M"), True: ("deepseek_v3", "h800", 512, "16M")}
HEAVY = {"sympy", "scipy", "matplotlib"}


def text(name):
    return (printing.FOLDER / name).read_text(encoding="utf-8")


def test_single_formulas_and_conditions_are_printed_again():
    said = "run make printed"
    assert text("formulas.py") == printing.formulas(), said
    assert text("conditions.py") == printing.conditions(), said
    assert text("words.py") == printing.words(), said
    listed = {f"{stored(*kind)}.py" for kind in printing.KINDS} | {"formulas.py", "conditions.py", "words.py"}
    listed |= {"serving.py", "engines.py"}  # tests/serve has these
    assert {path.name for path in printing.FOLDER.glob("*.py")} == listed | {"__init__.py", "calling.py"}


@KINDS
def test_programs_are_printed_again(schedule, latent):
    assert text(f"{stored(schedule, latent)}.py") == printing.programs(schedule, latent), "run make printed"


@KINDS
def test_a_program_is_the_formulas_one_after_another(schedule, latent):
    """Each step of the composition on its own, without what sympy shares among steps, gives the same columns."""
    ask = request(*RUNS[latent], schedule=schedule)
    choices = [
        Choice(dp=512 // (tp * pp), tp=tp, pp=pp, ep=ep, zero=zero, sp=True, recompute=again)
        for tp, pp, ep, zero, again in [(1, 2, 1, 1, "none"), (8, 4, 8, 3, "selective"), (2, 8, 16, 0, "full")]
    ]
    rows, good = possible_rows(ask, choices)
    assert good.all()
    known = evaluation.known(ask, rows)
    with np.errstate(all="ignore"):
        found = []
        for wanted in (SOUGHT, NAMES):
            function, names = program(schedule, latent, wanted)
            assert function.__module__ == f"gpuscale.printed.{stored(schedule, latent)}"
            found += zip(wanted, function(*(known[name] for name in names)), strict=True)
        steps, out = costs.compose(schedule, latent)
        for step in steps:
            inputs = sorted(map(str, step.expr.free_symbols))
            compute = sympy.lambdify(inputs, step.expr, modules="numpy")
            known[step.value.name] = compute(*(np.broadcast_to(known[name], 3) for name in inputs))
    for name, ours in found:
        theirs = np.broadcast_to(known[out[name].name], 3)
        np.testing.assert_allclose(np.broadcast_to(ours, 3), theirs, rtol=1e-9, atol=1e-12, err_msg=name)


def drawn(names, seed=5):
    """Values that keep every condition: shares below one, at most as many layers and experts as there are."""
    draw = np.random.default_rng(seed)
    known = {name: float(draw.integers(2, 90)) for name in sorted(names)}
    return (
        known
        | {"E": 256, "Z": 16, "G": 8, "k": 6, "L": 61, "L_dense": 3, "L_win": 30, "S": 4096, "S_win": 128}
        | {name: size for name, size in {"M": 4, "N": 32, "M_lim": 2, "eta": 0.5, "n_bias": 1}.items()}
    )


@pytest.mark.parametrize("name", ROOMS)
def test_a_printed_formula_gives_what_the_formula_gives(name):
    formula, function = getattr(ROOMS[name], name), getattr(formulas, name)
    known = drawn(takes(function))
    assert takes(function) == tuple(quantity.name for quantity in formula.inputs)
    assert value(function, known) == pytest.approx(evaluate(formula, **{n: known[n] for n in takes(function)}), 1e-13)


@pytest.mark.parametrize("name", [name for name in ROOMS if getattr(ROOMS[name], name).needs])
def test_a_printed_formula_refuses_what_the_formula_refuses(name):
    formula, function = getattr(ROOMS[name], name), getattr(formulas, name)
    known = drawn(takes(function))
    bad = {"L_win": 99, "S_win": 9999, "L_dense": 99, "k": 300, "Z": 3, "E": 5, "N": 33, "G": 5}
    refused = 0
    for broken in (known | {n: bad[n]} for n in takes(function) if n in bad):
        inputs = {n: broken[n] for n in takes(function)}
        try:
            evaluate(formula, **inputs)
        except ValueError as error:
            refused += 1
            with pytest.raises(ValueError) as ours:
                value(function, broken)
            assert str(error).startswith(str(ours.value))
        else:
            value(function, broken)
    assert refused >= len(formula.needs) - (name in ("hit_top_k", "nic_rate"))  # one value breaks two of their needs


def test_counts_are_exact_beyond_what_floats_hold():
    large = {"D": 10**8 + 19, "F": 10**9 + 7, "n_mat": 3, "E": 10**5 + 3, "P_mlp": 10**14 + 37, "n_shared": 1}
    for name in ("mlp_params", "moe_layer_params"):
        formula = getattr(ROOMS[name], name)
        exact = formula.rhs.xreplace({q: sympy.Integer(large[q.name]) for q in formula.inputs} | {flop: 1})
        assert exactly(getattr(formulas, name), large) == int(exact) > 2**53
        assert int(float(exact)) != int(exact)


def test_conditions_are_those_of_the_formulas():
    grid = np.stack(np.meshgrid(*[np.arange(1, 9)] * 4), -1).reshape(-1, 4)
    for name in printing.CONDITIONS:
        needs = getattr(printing.llm, name).needs
        kept = getattr(conditions, name)
        rows = [dict(zip(takes(kept), map(int, row), strict=False)) for row in grid]
        theirs = [all(exact_rational.exactly(need.relation, row) for need in needs) for row in rows]
        assert [bool(kept(**row)) for row in rows] == theirs and {True, False} == set(theirs)


def test_a_result_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="level_time: expected inputs of ordinary magnitude"):
        value(formulas.level_time, {"W_nvl": 0, "W_node": 1, "V_nvl": 1, "V_net": 1})


def test_other_columns_are_composed():
    function, names = program("gpipe", False, ("bubble_at_peak", "weights"))
    ask = request("llama3_8b", "h100_superpod", 64, "1M", schedule="gpipe")
    rows, _ = possible_rows(ask, [Choice(dp=8, tp=2, pp=4)])
    known, found = evaluation.known(ask, rows), evaluation.table(ask, rows)
    bubble, weights = function(*(known[name] for name in names))
    assert bubble == pytest.approx(found.at_peak.bubble) and weights == pytest.approx(found.weights)


@pytest.mark.parametrize("n", [*range(1, 60), 4096, 999_983, 997**2, 720_720])
def test_factors_are_those_of_sympy(n):
    assert factors.factors(n) == sympy.factorint(n)
    assert factors.divisors(n) == sympy.divisors(n)
    assert [factors.multiplicity(p, n) for p in (2, 3, 7)] == [sympy.multiplicity(p, n) for p in (2, 3, 7)]
    assert factors.multiplicity(2, 0) == 0


def shell(*lines):
    """The modules that a fresh interpreter has loaded after all those commands, and their exit codes."""
    code = (
        "import contextlib, io, json, sys\nfrom gpuscale.plan.__main__ import main\nstatus = []\n"
        "for line in json.loads(sys.argv[1]):\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):\n"
        "        try:\n            status.append(main(line))\n"
        "        except SystemExit as end:\n            status.append(end.code)\n"
        "print(json.dumps([sorted(sys.modules), status]))"
    )
    done = subprocess.run([sys.executable, "-c", code, json.dumps(lines)], check=True, capture_output=True, text=True)
    loaded, status = json.loads(done.stdout)
    return {name.partition(".")[0] for name in loaded}, status


def test_a_plan_needs_no_sympy(tmp_path):
    own = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16}
    own |= {"intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256}
    own |= {"max_position_embeddings": 8192, "rope_theta": 5e5, "rms_norm_eps": 1e-5, "tie_word_embeddings": True}
    own |= {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(own))
    kinds = "llama3-8b --cluster h100-superpod", "deepseek-v3 --cluster h800"
    lines = [f"--model {kind} --gpus 512 --batch 4M --schedule {one}" for kind in kinds for one in SCHEDULES]
    lines += [f"{lines[0]} {more}" for more in ("--json", "--top 2", "--why", "--explain", "--tp 4 --ep 1")]
    lines += ["--model gpt-oss-120b --cluster gb200-nvl72 --gpus 144 --batch 9M"]
    lines += [f"--model {path} --gpu h100-sxm --per-node 8 --nic 400Gbit/s --nodes 2 --batch 1M", "--list", "--help"]
    loaded, status = shell(*(line.split() for line in lines))
    assert status == [0] * len(lines)
    assert "numpy" in loaded and not loaded & HEAVY
    refused = ["--gpus 0", "--tp 3", "--gpus 8 --model llama3-405b", "--calibrated none.toml", "--gpus 8168"]
    loaded, status = shell(*(f"{lines[0]} {more}".split() for more in refused))
    assert status == [2, 2, 1, 2, 2] and not loaded & HEAVY


def test_the_stored_code_imports_numpy_alone():
    assert gpuscale.printed.__doc__
    for path in printing.FOLDER.glob("*.py"):
        code = path.read_text(encoding="utf-8")
        assert "sympy" not in code.replace("without sympy", ""), path.name
