"""Under torchrun: the same results and errors on every rank, and the labs as scripts."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from gpuscale.labs.torchrun import own_device

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
RANKS = {"collectives": 4, "data_parallelism": 5, "measure": 4, "pipelines": 4, "profiling": 2, "serving": 1}
RANKS |= {"tensor_parallelism": 4}


def torchrun(ranks: int, *arguments) -> subprocess.CompletedProcess:
    options = "-m torch.distributed.run --standalone --nproc-per-node"
    command = [sys.executable, *options.split(), str(ranks), *map(str, arguments)]
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=300)


@pytest.fixture
def script(tmp_path):
    """Runs a program under torchrun."""

    def runs(ranks: int, program: str):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(program))
        done = torchrun(ranks, path)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return runs


def test_the_same_call_uses_its_processes(script):
    said = script(
        3,
        """
        import torch, torch.distributed as dist
        from gpuscale.labs import run

        def total():
            mine = torch.tensor(float(dist.get_rank()))
            dist.all_reduce(mine)
            print("sum", mine.item())
            return mine.item()

        assert run(total, ranks=3) == [3.0] * 3
        assert run(total, ranks=2) == [1.0] * 2
        """,
    )
    assert said == [f"rank {rank} | sum 3.0" for rank in range(3)] + [f"rank {rank} | sum 1.0" for rank in range(2)]


def test_every_process_raises_the_same_error_and_goes_on(script):
    """Two ranks that both send, a rank that another one doesn't join, and an error."""
    said = script(
        3,
        """
        import datetime, os, torch, torch.distributed as dist
        from gpuscale.labs import RankError, run

        def both_send():
            group = dist.new_group(backend="gloo", timeout=datetime.timedelta(seconds=1))
            dist.send(torch.ones(1), 1 - dist.get_rank(), group)

        def skips():
            if dist.get_rank() == 0:
                dist.all_reduce(torch.ones(1))

        def fails():
            if dist.get_rank() == 1:
                torch.zeros(3) + torch.zeros(4)
            dist.barrier()

        for function, seconds in (both_send, 1), (skips, 1), (fails, 60):
            try:
                run(function, ranks=2, seconds=seconds)
            except (RankError, TimeoutError) as error:
                line, *rest = str(error).splitlines()
                parts = os.environ["RANK"], type(error).__name__, line, rest[0], rest[-1]
                print(" | ".join(parts) + "\\n", end="")  # at once: torchrun's Python doesn't buffer
        assert run(dist.get_rank, ranks=3) == [0, 1, 2]
        """,
    )
    late = "TimeoutError | no answer within 1 s from"
    sends = "in both_send: dist.send(torch.ones(1), 1 - dist.get_rank(), group)"
    stands = "rank 0: script.py, line 11, in skips: dist.all_reduce(torch.ones(1))"
    shapes = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"
    assert sorted(said) == sorted(
        f"{rank} | {line}"
        for rank in range(3)
        for line in (
            f"{late} ranks 0, 1 | rank 0: script.py, line 7, {sends} | rank 1: script.py, line 7, {sends}",
            f"{late} rank 0 | {stands} | {stands}",
            f"RankError | rank 1 failed | Traceback (most recent call last): | RuntimeError: {shapes}",
        )
    )


def test_no_rank_leaves_before_all_have_answered(script):
    """Rank 0 returns at once; half a second later, rank 1 still finds its connection open."""
    script(
        2,
        """
        import time, torch, torch.distributed as dist
        from gpuscale.labs import run

        def late():
            if dist.get_rank() == 1:
                time.sleep(0.5)
                dist.irecv(torch.zeros(1), 0)
            return dist.get_rank()

        assert run(late, ranks=2) == [0, 1]
        """,
    )


def test_live_lines_appear_at_once(script):
    """Also those of the ranks that are silent otherwise, as in a notebook that runs as a script."""
    said = script(
        2,
        """
        import contextlib, time, torch.distributed as dist
        from gpuscale.labs import run

        def lines():
            for i in range(3):
                time.sleep(0.2 if i + dist.get_rank() == 3 else 0)
                print("line", i)
                dist.barrier()

        with contextlib.redirect_stdout(None):
            run(lines, ranks=2, output="live")
        """,
    )
    assert sorted(said) == [f"rank {rank} | line {i}" for rank in range(2) for i in range(3)]
    assert [line[-1] for line in said] == list("001122")


@pytest.mark.parametrize(("gpus", "device", "current"), [(4, "cuda:1", [1]), (8, "cuda:1", [1]), (2, "cpu", [])])
def test_each_rank_has_a_gpu_or_none_has(monkeypatch, gpus, device, current):
    used = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_device", used.append)
    assert own_device() == "cpu"  # outside torchrun
    for name, value in {"TORCHELASTIC_RUN_ID": "1", "LOCAL_WORLD_SIZE": "4", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    assert (own_device(), used) == (device, current)


def test_every_lab_is_run():
    labs = {path.stem.removeprefix("lab_") for path in CHAPTERS.glob("lab_*.ipynb")}
    assert labs == RANKS.keys()


@pytest.mark.parametrize("lab", RANKS)
def test_a_lab_runs_as_a_script(lab):
    done = torchrun(RANKS[lab], "-m", "gpuscale.labs", CHAPTERS / f"lab_{lab}.ipynb")
    assert done.returncode == 0, done.stderr[-5000:]
