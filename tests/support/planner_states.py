"""Requests for the planner of the page and for the library's, drawn at random, and what both are given."""

import random
from functools import cache

from gpuscale import specs
from gpuscale.plan import page
from gpuscale.plan.choice import RECOMPUTE
from gpuscale.plan.requests import request

MODELS = ("llama3_8b", "llama3_70b", "gpt3_175b", "qwen3_32b", "qwen3_30b_a3b", "gpt_oss_120b", "deepseek_v3")
MODELS += ("megatron_18_4b", "gemma2_9b")
CLUSTERS = ("h100_superpod", "aws_p5", "gb200_nvl72", "a100")
RECIPES = ("bf16_fp32_grads", "zero_mixed", "deepseek_v3")


@cache
def given() -> dict:
    """What the page is given for all of these."""
    return page.page_data(MODELS, CLUSTERS, RECIPES)


def states(many: int, seed: int = 1, most: int = 2**11) -> list[dict]:
    """Inputs of the page."""
    dice = random.Random(seed)
    out = []
    while len(out) < many:
        seq, cluster = dice.choice([2048, 4096, 8192, 32768]), dice.choice(CLUSTERS)
        gpus = 2 ** dice.randint(3, most.bit_length() - 1)
        state = {
            "model": dice.choice(MODELS), "cluster": cluster, "seq": seq, "recipe": dice.choice(RECIPES),
            "gpus": max(gpus, page.PER_NODE.get(cluster, 8)), "batch": seq * 2 ** dice.randint(3, 11),
            "zero": dice.choice(["any", "1", "1", "0", "3"]), "recompute": dice.choice(["any", "0", "1", "2"]),
            "tp": 2 ** dice.randint(0, 4), "pp": 2 ** dice.randint(0, 4), "config": "",
            "run": dice.choice([10**12, 15 * 10**12]),
        }  # fmt: skip
        out.append(state)
    return out


def asked(state: dict, **pins):
    """The library's request for the inputs of the page."""
    fixed = {name: int(state[name]) for name in ("zero", "recompute") if state[name] != "any"}
    if "recompute" in fixed:
        fixed["recompute"] = RECOMPUTE[fixed["recompute"]]
    return request(
        specs.part("model", state["model"]), state["cluster"], state["gpus"], state["batch"], state["seq"],
        recipe=state["recipe"], per_node=page.PER_NODE.get(state["cluster"]), **fixed, **pins,
    )  # fmt: skip
