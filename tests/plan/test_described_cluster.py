"""The planner with a model and a cluster of the reader's own, described in a file or by options."""

import json
import re
from functools import cache

import pytest

from gpuscale import specs
from gpuscale.plan import Refusal, cluster, own_cluster, plan, request
from gpuscale.plan.__main__ import main
from gpuscale.specs import SpecError, registry

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}
OURS = """
kind = "cluster"
[ours]
title = "Our cluster"
chip = "h200_sxm"
per_node = { value = 4, unit = "1", basis = "per node", source = "our wiki" }
nic_bw = { value = 200, unit = "Gbit/s", basis = "one direction, per GPU", source = "our wiki" }
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """The built-in parts only, and a registry of its own."""
    monkeypatch.delenv("GPUSCALE_DATA", raising=False)
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))


@pytest.fixture
def config(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    return str(tmp_path / "config.json")


def steps(found) -> list:
    return [(row.choice, row.step, row.memory) for row in found.rows]


def test_a_plan_for_a_configuration_is_that_of_the_model(config, tmp_path):
    ask = dict(gpus=64, batch="1M", top=3)
    ours = steps(plan("llama3_8b", "h100_superpod", **ask))
    assert steps(plan(config, "h100_superpod", **ask)) == ours
    assert steps(plan(tmp_path, "h100_superpod", **ask)) == ours  # a folder, as a Path
    with pytest.raises(SpecError, match="config.json, field 'hidden_size': is missing"):
        (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in LLAMA.items() if k != "hidden_size"}))
        plan(config, "h100_superpod", **ask)


def test_a_description_of_a_cluster_of_the_library_is_that_cluster():
    known, described = cluster("h100_superpod"), own_cluster("h100-sxm", 8, "400 Gbit/s")
    rates = "node C hbm W_hbm W_nvl W_node shares".split()
    assert [getattr(known, name) for name in rates] == [getattr(described, name) for name in rates]
    assert own_cluster("h100_sxm") == own_cluster("h100_sxm", per_node="8", nic=50e9, nvlink="450GB/s")
    assert described.title.replace("\N{NO-BREAK SPACE}", " ") == "H100 SXM, nodes of 8, 50 GB/s of network per GPU"
    a100 = own_cluster("a100_sxm")  # whose data have no NIC: that of the cluster that has this chip
    assert a100.W_node == cluster("a100").W_node and own_cluster("h800_sxm").hbm == 80e9


def test_fractions_of_another_chip_say_so():
    b300, h200 = own_cluster("b300_sxm", 8), own_cluster("h200_sxm", 4, "200Gbit/s")
    assert [s.value for s in b300.shares] == [s.value for s in cluster("b200_superpod").shares]
    assert all(s.words.startswith("not measured on H200 SXM; ") for s in h200.shares)
    assert (b300.W_nvl, b300.W_node, h200.W_node, h200.node) == (900e9, 800e9, 100e9, 4)


def test_a_node_alone_needs_no_network():
    alone = own_cluster("h100_pcie", 2, nvlink="300GB/s", alone=True)
    assert alone.alone and alone.most == 2
    with pytest.raises(Refusal, match="4 GPUs: .* has 2 .* and no network beyond"):
        request("llama3_8b", alone, 4, "64k")


def test_a_cluster_of_any_size_is_served():
    """Its size in the data is that of one that exists."""
    assert request("llama3_8b", "h800", 4096, "32M").gpus == 4096
    found = plan("llama3_8b", "a100", 4096, "32M", top=1)
    assert "Cluster: 3,072 GPUs in the data; more are assumed to have the same network." in repr(found)
    assert found.record()["remarks"][0].startswith("Cluster: 3,072") and "Cluster: 3,072" in found._repr_html_()
    for gpus in (4, 8, 16, 64):
        assert "Cluster: " not in repr(plan("llama3_8b", "a100", gpus, "1M", top=1))


def test_a_file_of_a_cluster(tmp_path, capsys):
    (tmp_path / "ours.toml").write_text(OURS)
    place = cluster(str(tmp_path / "ours.toml"))
    assert (place.title, place.node, place.W_node, place.hbm) == ("Our cluster", 4, 100e9, 141e9)
    line = f"--model llama3-8b --cluster {tmp_path}/ours.toml --nodes 4 --batch 1M --top 1".split()
    assert main(line) == 0 and "on 16 GPUs (Our cluster)" in capsys.readouterr().out
    (tmp_path / "two.toml").write_text(
        OURS.replace("ours", "mine") + OURS.replace("ours", "yours").split('"cluster"')[1]
    )
    with pytest.raises(Refusal, match=r"two.toml has 2 clusters: mine, yours; expected one"):
        cluster(str(tmp_path / "two.toml"))
    (tmp_path / "none.toml").write_text('[x]\ntitle = "X"\n')
    with pytest.raises(Refusal, match='has no part with kind = "cluster"; expected one'):
        cluster(str(tmp_path / "none.toml"))
    (tmp_path / "bare.toml").write_text(OURS.replace("ours", "bare").replace('chip = "h200_sxm"\n', ""))
    with pytest.raises(SpecError, match="has no chip; expected the key of one"):
        cluster(str(tmp_path / "bare.toml"))


def test_options_describe_a_cluster(config, capsys):
    line = f"--model {config} --gpu h100_sxm --per-node 8 --nic 400Gbit/s --nodes 8 --batch 1M --top 1"
    assert main(line.split()) == 0
    said = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
    assert "on 64 GPUs (H100 SXM, nodes of 8, 50 GB/s of network per GPU)" in said
    assert main("--model llama3-8b --cluster h100-superpod --per-node 4 --nodes 3 --batch 3M --top 1".split()) == 0
    assert "on 12 GPUs" in capsys.readouterr().out


REFUSED = {
    "--gpu gh200": "missing --per-node: no cluster of the library has GH200 96 GB; expected its GPUs per node",
    "--gpu gh200 --per-node 1": "missing --nic: GH200 96 GB has none in the data; expected its bandwidth into the",
    "--gpu h100-pcie --per-node 8 --nic 100Gbit/s": "missing --nvlink: H100 PCIe has none in the data",
    "--gpu h100": "no chip 'h100'; did you mean h100-sxm",
    "--gpu h100-sxm --nic 400": "--nic: 400; expected a bandwidth with its unit, such as 400Gbit/s",
    "--gpu h100-sxm --nic fast": "--nic: fast; expected a bandwidth with its unit",
    "--gpu h100-sxm --nic 40GB": "--nic: 40GB; expected a bandwidth with its unit",
    "--gpu h100-sxm --nvlink 0GB/s": "--nvlink: 0GB/s; expected a bandwidth",
    "--gpu h100-sxm --per-node 0": "GPUs per node: 0; expected a whole number, 1 or more",
    "--gpu h100-sxm --cluster a100": "--gpu h100-sxm and --cluster a100; expected one of the two",
    "--nic 50GB/s --cluster a100": "--nic without --gpu; expected the chip as well",
    "--gpu h100-sxm --nodes 2 --gpus 9": "--nodes 2 of 8 are 16 GPUs, and --gpus says 9",
    "--gpu h100-sxm --nodes 0": "nodes: 0; expected a whole number, 1 or more",
    "--gpu h100-sxm --gpus 60": "expected whole nodes, such as 56 or 64\n",
    "--gpu h100-sxm": "missing --gpus (or --nodes)",
    "--gpus 8": "missing --cluster (or --gpu)",
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_missing_or_wrong_is_named(said, capsys):
    assert main(["--model", "llama3-8b", "--batch", "1M", *said.split()]) == 2
    assert REFUSED[said] in capsys.readouterr().err


VALUES = {"--per-node": "8", "--nvlink": "100GB/s", "--nic": "400Gbit/s"}


def listed(said) -> dict[str, list[str]]:
    """The chips of a list with the options in brackets behind them."""
    lines = said[said.index("\nchips") : said.index("\nrecipes")].splitlines()[2:]
    return {line.split()[0]: re.findall(r"--[a-z-]+", line) for line in lines}


def test_chips_are_listed_with_the_options_that_they_need(capsys):
    """Each chip of the list makes a plan with these options, and is refused without one of them; the rest make none."""
    assert main(["--list"]) == 0
    told = listed(capsys.readouterr().out)
    assert told["h100-sxm"] == [] and told["mi300x"] == ["--per-node", "--nic"] and told["tpu-v5p"] == [*VALUES]

    def status(chip, options):
        line = f"--model mistral-7b --gpu {chip} --nodes 2 --batch 64M --top 1 --reserve 0".split()
        return main([*line, *(word for option in options for word in (option, VALUES[option]))])

    for chip in specs.parts("chip"):
        name = chip.replace("_", "-")
        if name not in told:
            assert status(name, VALUES) == 2 and "has no" in capsys.readouterr().err
            continue
        assert status(name, told[name]) in (0, 1), name
        for option in told[name]:
            assert status(name, [other for other in told[name] if other != option]) == 2
            assert f"missing {option}: " in capsys.readouterr().err
