"""Absurd input: whatever is typed, the planner gives a plan or says in a line what was expected."""

import math
import random

import numpy as np
import pytest

from gpuscale.plan import Choice, Refusal, evaluate_choice, plan, request, shipped
from gpuscale.plan.__main__ import main, parser
from gpuscale.plan.choice import PINS
from gpuscale.plan.typed import LONGEST
from gpuscale.specs import SpecError

TEXTS = ["0", "-1", "1e400", "-1e400", "1e308", "1e300", "nan", "inf", "-inf", "", "  ", "7 GB", "3 parsecs", "1,5"]
TEXTS += [str(10**30), str(10**400), "9" * 500, "0x10", "1_000", "1e-400", "0.5", "2**70", "2^70", "10^400", "2^-9"]
TEXTS += ["True", "None", "[]", "--", "1/0", "8\n8", "\x00", "٣", "1M", "4k", "1e18", "1e12", str(2**62), "1"]
USUAL = {
    "model": "llama3-70b llama3-8b deepseek-v3 mixtral-8x7b",
    "cluster": "h100-superpod gb200-nvl72 a100 h800 b200-superpod",
    "gpus": "8 64 144 1024 1",
    "batch": "4M 1M 512k 8192",
    "seq": "8192 4096 1024 512",
    "schedule": "1f1b gpipe zb-h1 dualpipe",
    "per-node": "8 4",
    "reserve": "4 0",
    "reach": "1,1,1,1 0.5,0.5,0.5,0.5",
    "wait": "1,1,1 0,0,0",
    "recipe": "bf16-fp32-grads fp32",
    "top": "1 3",
    "gpu": "h100-sxm b200-sxm",
    "nic": "50GB/s 400Gbit/s",
    "nvlink": "450GB/s",
    "nodes": "1 2",
    "recompute": "none full",
    "sp": "0 1",
    "even": "0 1",
    "calibrated": str(shipped("nanotron_h100")),
    "zero": "0 3",
} | {name: "1 2 4" for name in ("dp", "tp", "cp", "ep", "pp", "virtual", "micro")}
NEEDED = ("model", "cluster", "gpus", "batch")


def line(draw) -> list[str]:
    """A command line with one or two absurd values."""
    others = draw.sample([name for name in USUAL if name not in NEEDED], draw.randint(0, 4))
    values = {name: draw.choice(USUAL[name].split()) for name in (*NEEDED, *others)}
    for name in draw.sample(list(values), draw.randint(1, 2)):
        many = {"reach": 4, "wait": 3}.get(name, 1)
        values[name] = ",".join(draw.choice(TEXTS) for _ in range(many))
    return [f"--{name}={value}" for name, value in values.items()]


def test_every_option_is_tried():
    told = {option for action in parser()._actions for option in action.option_strings}
    assert told - {"-h", "--help", "--spec", "--why", "--explain", "--json", "--list"} == {
        f"--{name}" for name in USUAL
    }
    assert set(PINS) <= set(USUAL)


def refused_in_a_line(arguments, capsys):
    """Run it; a refusal is one line, and every other answer says something."""
    status = main(arguments)
    out, err = capsys.readouterr()
    assert status in (0, 1, 2), arguments
    assert (err.count("\n") == 1 and not out and len(err) < 1000) if status == 2 else (out and not err), arguments


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_whatever_is_typed_is_answered(capsys):
    draw = random.Random(11)
    for _ in range(400):
        refused_in_a_line(line(draw), capsys)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", USUAL)
def test_every_option_refuses_or_takes_every_text(name, capsys):
    usual = {n: USUAL[n].split()[0] for n in NEEDED} | {"gpus": "8", "tp": "8", "batch": "64k", "model": "llama3-8b"}
    usual = usual if name in {"dp", "cp", "pp"} else usual | {"cp": "1", "pp": "1"}
    usual = {n: value for n, value in usual.items() if (n, name) != ("tp", "dp")}
    for text in TEXTS:
        many = {"reach": 4, "wait": 3}.get(name, 1)
        values = usual | {name: ",".join(["1"] * (many - 1) + [text])}
        refused_in_a_line([f"--{n}={value}" for n, value in values.items()], capsys)


VALUES = [*TEXTS, 0, -1, 2.5, 8.0, 1e300, math.nan, math.inf, 10**30, 10**400, 10**5000, 2**62, 2**63, True, None, 1j]
VALUES += [b"8", (), [], {}, {1}, object(), np.int64(8), np.float64("nan"), np.array([1, 2]), np.array([]), Choice]
GOOD = {"model": "llama3_8b", "cluster": "h100_superpod", "gpus": 8, "batch": 2**16, "tp": 8}


@pytest.mark.parametrize("name", [*GOOD, "seq", "recipe", "schedule", "per_node", "shares", "waits", "reserve", "top"])
def test_a_plan_is_given_or_refused_in_words(name):
    for value in VALUES:
        try:
            assert plan(**GOOD | {"top": 1, name: value}).tried
        except (Refusal, SpecError) as refusal:
            assert "\n" not in str(refusal) and len(str(refusal)) < 1000


@pytest.mark.parametrize("name", PINS)
def test_a_choice_is_evaluated_or_refused_in_words(name):
    ask = request("mixtral_8x7b", "h100_superpod", 8, 2**16)
    for value in VALUES:
        try:
            assert evaluate_choice(ask, Choice(**{"tp": 8, "sp": True} | {name: value})).memory > 0
        except Refusal as refusal:
            assert "\n" not in str(refusal) and len(str(refusal)) < 1000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"batch": "1e308"}, "batch: 1e308; expected a whole number, 1 to 1,000,000,000,000"),
        ({"batch": "2**70"}, "batch: 2**70; expected a whole number"),
        ({"gpus": "1e308"}, "GPUs: 1e308; expected a whole number, 1 to 1,000,000,000"),
        ({"gpus": 10**5000}, "GPUs: an integer of thousands of digits; expected"),
        ({"gpus": "9" * 500}, f"GPUs: {'9' * LONGEST}…; expected"),
        ({"gpus": "8\n8"}, r"GPUs: '8\n8'; expected"),
        (
            {"virtual": 2**62, "pp": 4},
            "virtual (virtual stages per rank): 4611686018427387904; expected a whole number",
        ),
        ({"tp": "1e400"}, "tp (tensor-parallel ranks): 1e400; expected a whole number, 1 to 1,000,000"),
        ({"top": 0}, "top: 0; expected a whole number, 1 or more"),
        ({"model": 5}, "no model '5'"),
        ({"recipe": []}, "no recipe '[]'"),
        ({"schedule": []}, "schedule: '[]'; expected one of 1f1b"),
        ({"shares": (10**400, 1, 1, 1)}, "efficiencies: expected four numbers"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_what_is_said_of_a_huge_number(change, said):
    with pytest.raises(Refusal) as error:
        plan(**{name: value for name, value in GOOD.items() if name != "tp"} | change)
    assert said in str(error.value)


def test_a_choice_holds_plain_values():
    assert Choice(dp="2^3", tp=np.int64(4), sp="1") == Choice(dp=8, tp=4, sp=True)
    with pytest.raises(Refusal, match="recompute: 'half'; expected one of none, selective, full"):
        Choice(recompute="half")
    with pytest.raises(Refusal, match="a plan takes a Choice"):
        evaluate_choice(request("llama3_8b", "h100_superpod", 8, 2**16), "TP 8")
