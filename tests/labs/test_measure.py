"""Measuring: five collectives at each level, times that are times, and a file that loads; under torchrun, too."""

import subprocess
import sys
from functools import cache

import pytest

from gpuscale import specs
from gpuscale.labs import measure_here, run, write_spec
from gpuscale.plan import cluster
from gpuscale.specs import registry

SMALL = ((16, 32), (4096,), (256, 1024), 2)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("GPUSCALE_DATA", raising=False)
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))


def small(per_node: int):
    return measure_here(*SMALL, per_node=per_node, sample=1e-4)


@pytest.mark.parametrize(
    ("ranks", "per_node", "levels"), [(4, 2, {"node", "across"}), (3, 3, {"node"}), (2, 1, {"across"})]
)
def test_every_rank_returns_the_same_times_at_each_level(ranks, per_node, levels):
    results = run(small, per_node, ranks=ranks)
    assert all(one == results[0] for one in results)
    rows = results[0]["collectives"]
    assert {row["level"] for row in rows} == levels and len(rows) == len(levels) * 5 * 2
    timed = rows + results[0]["matmul"] + results[0]["memory"]
    assert all(0 < row["best"] <= row["median"] for row in timed)
    assert all(row["size"] % (4 * row["ranks"]) == 0 for row in rows)


def test_one_rank_measures_no_collectives(tmp_path):
    found = run(small, 1, ranks=1)[0]
    assert not found["collectives"]
    assert [part.kind for part in write_spec(found, tmp_path / "one.toml")] == ["measured", "measured", "chip"]


def test_what_was_measured_is_a_cluster(tmp_path):
    found = run(small, 2, ranks=4)[0]
    write_spec(found, tmp_path / "mine.toml")
    assert all(share.value <= 1 for share in cluster("mine").shares)
    row = specs.measured("mine_collectives").row(level="node", collective="all-reduce", size=1024.0)
    assert row["busbw"] == pytest.approx(1024 / row["median"] * 2 * 1 / 2, rel=1e-4)  # two ranks
    row = specs.measured("mine_matmul").row(n=32.0)
    assert row["rate"] == pytest.approx(2 * 32**3 / row["median"], rel=1e-4)


def what_a_mode_sees() -> list[str]:
    """The names of the calls that a function mode, such as that of ``torch.device``, takes part in."""
    import torch
    from torch.overrides import TorchFunctionMode

    from gpuscale.labs.measure import _Clock

    seen, a = [], torch.ones(2)

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Mode():
        torch.add(a, a)
        _Clock(a.device, 1, 1e-6)(lambda: torch.sub(a, a))
    return seen


def test_a_timed_call_makes_no_detour_through_a_mode():
    (seen,) = run(what_a_mode_sees, ranks=1)
    assert "add" in seen and "sub" not in seen


def test_matrices_are_not_constant():
    import torch

    from gpuscale.labs.measure import _matmul

    products = []
    list(_matmul(lambda call: products.append(call()) or {}, [16], torch.float32))
    assert products[0].unique().numel() > 200


def test_nodes_that_do_not_fit_are_named():
    with pytest.raises(RuntimeError, match="4 ranks are not whole nodes of 3"):
        run(small, 3, ranks=4)


def test_torchrun_writes_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    line = "-m torch.distributed.run --standalone --nproc-per-node=2 -m gpuscale.labs.measure --repeats 1 --sample 1e-4"
    done = subprocess.run([sys.executable, *line.split(), "-o", str(path)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("mine_collectives") == 1 and "--spec" in done.stdout
    assert {"mine", "mine_chip"} <= {part.key for part in specs.load(path)}
