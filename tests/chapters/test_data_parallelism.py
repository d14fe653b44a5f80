"""The chapter on data parallelism: numbers that it says about whole runs, found by trying instead of by solving."""

import json
import re
from pathlib import Path

from gpuscale import chip, measured
from gpuscale.llm import two_level_dp_threshold
from gpuscale.network import topology

CHAPTER = Path(__file__).resolve().parents[2] / "chapters" / "data_parallelism.ipynb"
LEAF, NODE = topology("h100_pod_1024").tiers[:2]
H100 = dict(C=chip("h100_sxm").bf16, b_grad=2, G=LEAF.degree, W_nvl=float(LEAF.child_bw), W_node=float(NODE.child_bw))


def said() -> str:
    """Everything that the chapter prints."""
    outputs = [o for cell in json.loads(CHAPTER.read_text())["cells"] for o in cell.get("outputs", [])]
    return "\n".join("".join(o.get("data", {}).get("text/markdown", "")) for o in outputs)


def busy(batch: float) -> int:
    """The most H100s of which each has tokens enough for a cluster of that size, one GPU after another."""
    gpus = 8
    while batch / (gpus + 1) >= two_level_dp_threshold(M=(gpus + 1) / 8, **H100):
        gpus += 1
    return gpus


def test_the_largest_cluster_fits_its_own_threshold():
    run = measured("llama3_stages").row(stage="16k GPUs")
    whole = busy(run["batch"] * run["dp"] * run["seq"])
    rule = int(re.search(r"about ([\d,]+) H100s", said())[1].replace(",", ""))
    assert 0 <= whole - rule <= H100["G"]  # the rule leaves out (M - 1)/M, which is worth one node


def test_what_the_experiment_shows():
    assert f"About {busy(4e6):,} H100s." in said()
