"""The planner with a file of the reader's own: what it takes from it, and what it refuses by file and row."""

import re
from functools import cache

import pytest

from gpuscale import specs
from gpuscale.labs.spec_file import write_spec
from gpuscale.plan import cluster, request
from gpuscale.plan.__main__ import main
from gpuscale.specs import SpecError, registry


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """The built-in parts only, and a registry of its own."""
    monkeypatch.delenv("GPUSCALE_DATA", raising=False)
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))


def found(nodes: int = 2, per_node: int = 4, slower: float = 1.25) -> dict:
    """What ``measure_here`` returns on GPUs that would reach round numbers."""

    def timed(best: float) -> dict:
        return {"best": best, "median": best * slower}

    def rows(level: str, ranks: int, rate: float) -> list[dict]:
        kinds = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1, "send-recv": None}
        return [
            {"level": level, "ranks": ranks, "collective": kind, "size": size}
            | timed(1e-5 + size / rate * (passes * (ranks - 1) / ranks if passes else 1))
            for kind, passes in kinds.items()
            for size in (2**20, 2**30)
        ]

    inside = rows("node", per_node, 400e9) if per_node > 1 else []
    across = rows("across", nodes, 40e9) if nodes > 1 else []
    memory = [("copy", 2, 2**20), ("triad", 3, 2**20), ("copy", 2, 2**30), ("triad", 3, 2**30)]
    return {
        "matmul": [{"n": n} | timed(2 * n**3 / 500e12) for n in (1024, 8192)],
        "memory": [
            {"operation": what, "size": size, "bytes": arrays * size}
            | timed(arrays * size / (9e12 if size < 2**30 else 3e12))  # the small ones fit into a cache
            for what, arrays, size in memory
        ],
        "collectives": inside + across,
        **{"ranks": nodes * per_node, "per_node": per_node, "dtype": "bfloat16", "memory_of_rank": 80e9, "repeats": 5},
        **{"device": "Test GPU", "backend": "nccl", "torch": "2.13.0"},
    }


def test_the_planner_takes_rates_and_shares_from_the_file(tmp_path):
    write_spec(found(), tmp_path / "mine.toml")
    place = cluster("mine")
    assert (place.node, place.most, place.hbm) == (4, None, pytest.approx(80e9))
    assert place.C == pytest.approx(500e12, rel=1e-4) and place.W_hbm == pytest.approx(3e12, rel=1e-4)
    assert place.W_nvl == pytest.approx(400e9, rel=0.01) and place.W_node == pytest.approx(4 * 40e9, rel=0.01)
    assert [share.value for share in place.shares] == pytest.approx([0.8] * 4, rel=1e-3)
    assert all("gpuscale.labs.measure" in share.words for share in place.shares)


def test_peaks_of_a_published_chip_are_kept(tmp_path):
    write_spec(found(), tmp_path / "mine.toml", chip="h100_sxm")
    h100, shares = specs.chip("h100_sxm"), cluster("mine").shares
    told = 400e12 / h100.bf16, 320e9 / h100.nvlink_bw, 32e9 / h100.nic_bw, 2.4e12 / h100.hbm_bw
    assert [share.value for share in shares] == pytest.approx(told, rel=0.01)
    write_spec(found(), tmp_path / "mine.toml", chip="h100_sxm", nic=100e9)
    assert cluster("mine").shares[2].value == pytest.approx(0.32, rel=0.01)
    assert cluster("mine").W_node == pytest.approx(400e9)


def test_a_second_run_replaces_the_first(tmp_path):
    write_spec(found(slower=1.25), tmp_path / "mine.toml")
    first = cluster("mine").shares
    write_spec(found(nodes=4, slower=2), tmp_path / "mine.toml")
    again = cluster("mine")
    assert first[0].value == pytest.approx(0.8, rel=1e-3) and again.shares[0].value == pytest.approx(0.5, rel=1e-3)


def test_one_node_has_no_network(tmp_path):
    write_spec(found(nodes=1), tmp_path / "mine.toml")
    place = cluster("mine")
    assert place.most == 4 and place.shares[2].value == place.shares[1].value
    assert request("llama3_8b", "mine", 4, "64k").gpus == 4
    with pytest.raises(ValueError, match="has 4 "):
        request("llama3_8b", "mine", 8, "64k")


def test_one_rank_in_a_node_has_no_scale_up(tmp_path):
    write_spec(found(nodes=4, per_node=1), tmp_path / "mine.toml")
    assert cluster("mine").W_node == pytest.approx(40e9, rel=0.01) == cluster("mine").W_nvl


def test_the_shell_loads_a_file_and_plans_for_its_cluster(tmp_path, capsys):
    write_spec(found(), tmp_path / "mine.toml")
    line = [
        "--spec",
        str(tmp_path / "mine.toml"),
        "--model",
        "llama3-8b",
        "--gpus",
        "8",
        "--batch",
        "128k",
        "--top",
        "1",
    ]
    assert main(line) == 0
    said = capsys.readouterr().out
    assert "Test GPU, measured" in said and "network 80.0%: Test GPU, collectives by level" in said
    assert main(["--spec", str(tmp_path / "mine.toml"), "--list"]) == 0
    assert "Test GPU, measured" in capsys.readouterr().out
    assert main(["--spec", str(tmp_path / "none.toml"), "--list"]) == 2
    assert "none.toml: cannot be read" in capsys.readouterr().err


CHANGES = {
    "a large unit": (
        r'(name = "rate".*?unit = ")TFLOP/s',
        r"\1PFLOP/s",
        r"mine.toml, part 'mine_matmul', field 'rate, row \d'.*of mine_chip.bf16.*at least 2% and at most 100%",
    ),
    "a small unit": (
        r'(name = "bandwidth".*?unit = ")GB/s',
        r"\1MB/s",
        r"part 'mine_memory', field 'bandwidth, row \d'.*0.0800% of mine_chip.hbm_bw",
    ),
    "no such column": (
        r"mine_matmul\.rate",
        "mine_matmul.speed",
        r"part 'mine', field 'matmul': mine_matmul has no column 'speed'; expected one of n, best",
    ),
    "no such condition": (r"level=across\]", "tier=across]", r"field 'scaleout': .* no column 'tier'"),
    "no such row": (
        r"level=across\]",
        "level=rack]",
        r"no row of mine_collectives has collective=all-gather, level=rack",
    ),
    "no such table": (
        r"mine_matmul\.rate",
        "my_matmul.rate",
        r"field 'matmul': no measured 'my_matmul'; did you mean mine_matmul",
    ),
    "no form": (
        r'matmul = "mine_chip: mine_matmul.rate"',
        'matmul = "0.8"',
        r"field 'matmul': '0.8' does not say where",
    ),
    "nothing said": (r'matmul = "mine_chip: mine_matmul.rate"\n', "", r"field 'matmul': '' does not say where"),
    "no peak": (r"nic_bw = .*\n", "", r"part 'mine_chip', field 'nic_bw': is missing"),
}


@pytest.mark.parametrize(("old", "new", "said"), CHANGES.values(), ids=CHANGES)
def test_a_share_that_is_none_is_refused_by_file_and_row(tmp_path, old, new, said):
    path = tmp_path / "mine.toml"
    write_spec(found(), path)
    text = path.read_text()
    assert (changed := re.sub(old, new, text)) != text
    path.write_text(changed)
    specs.load(path)
    with pytest.raises(SpecError, match=said):
        assert cluster("mine").shares


def test_every_built_in_cluster_passes_the_guard():
    for key in specs.parts("cluster"):
        assert all(0.02 <= share.value <= 1 for share in cluster(key).shares)


def test_a_key_that_is_taken_is_refused_and_nothing_is_loaded(tmp_path):
    with pytest.raises(SpecError, match="already has a level"):
        write_spec(found(), tmp_path / "mine.toml", key="a100")
    assert "a100_chip" not in specs.parts("chip")
