"""Ranks from a notebook: results and prints in order, errors and time limits by rank, nothing left behind."""

import importlib.util
import os
import re
import subprocess
import sys
import textwrap
import time

import pytest
import torch
import torch.distributed as dist

from gpuscale.labs import RankError, bytes_sent, launcher, run


def square():
    print("hello from", dist.get_rank())
    print("bye")
    return dist.get_rank() ** 2


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_results_and_prints_are_in_the_order_of_the_ranks(capsys):
    assert run(square, ranks=3) == [0, 1, 4]
    said = [f"rank {rank} | {line}" for rank in range(3) for line in (f"hello from {rank}", "bye")]
    assert capsys.readouterr().out.splitlines() == said


def test_live_lines_are_whole(capsys):
    run(square, ranks=3, output="live")
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(
        f"rank {rank} | {line}" for rank in range(3) for line in (f"hello from {rank}", "bye")
    )


def test_nothing_is_printed_if_asked(capsys):
    run(square, ranks=2, output="none")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_they_form_one_group(ranks):
    def total():
        mine = torch.tensor(dist.get_rank() + 1.0)
        dist.all_reduce(mine)
        return mine.item(), dist.get_world_size()

    assert run(total, ranks=ranks) == [(ranks * (ranks + 1) / 2, ranks)] * ranks


def test_each_rank_stays_on_one_core_and_they_are_spread():
    cores = sorted(os.sched_getaffinity(0))
    found = run(lambda: [os.sched_getaffinity(int(task)) for task in os.listdir("/proc/self/task")], ranks=4)
    assert all(seen == threads[0] and len(seen) == 1 for threads in found for seen in threads)
    assert len(set.union(*(threads[0] for threads in found))) == min(4, len(cores))


def test_inputs_are_copied_and_closures_travel():
    offset, given = 10, torch.arange(3)

    def shifted(values):
        values += offset
        return values.tolist()

    assert run(shifted, given, ranks=2) == [[10, 11, 12]] * 2
    assert given.tolist() == [0, 1, 2]


def test_an_error_names_the_rank_and_the_line():
    def fails():
        if dist.get_rank() == 2:
            torch.zeros(3) + torch.zeros(4)
        dist.barrier()

    with pytest.raises(RankError, match=r"(?s)^rank 2 failed.*torch.zeros\(3\) \+ torch.zeros\(4\).*must match"):
        run(fails)


def test_a_time_limit_names_the_ranks_and_where_they_stand():
    def waits():
        if dist.get_rank() != 3:
            dist.all_reduce(torch.ones(1))

    with pytest.raises(TimeoutError) as caught:
        run(waits, seconds=1)
    first, *stands = str(caught.value).splitlines()
    assert first == "no answer within 1 s from ranks 0, 1, 2"
    assert [line.partition(":")[0] for line in stands] == ["rank 0", "rank 1", "rank 2"]
    assert all("in waits: dist.all_reduce(torch.ones(1))" in line for line in stands)


def test_an_endless_loop_is_ended():
    def turns():
        while True:
            pass

    with pytest.raises(TimeoutError, match="from ranks 0, 1$|from ranks 0, 1\n"):
        run(turns, ranks=2, seconds=1)


def test_a_rank_that_dies_is_named():
    def dies():
        if dist.get_rank() == 1:
            os._exit(3)
        time.sleep(60)

    with pytest.raises(RankError, match="rank 1 ended without an answer"):
        run(dies, ranks=2)


def test_no_process_is_left():
    pids = run(lambda: os.getpid(), ranks=4)
    assert len(set(pids)) == 4 and not any(map(alive, pids))
    pids = []
    with pytest.raises(RankError):
        run(lambda: 1 / 0, ranks=2)
    assert run(lambda: 1, ranks=2) == [1, 1]


def test_no_process_outlives_a_killed_notebook(tmp_path):
    """The notebook is killed while its ranks work: they and their server end."""
    program = tmp_path / "notebook.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, time
            from gpuscale.labs import run

            def works(folder):
                open(f"{folder}/{os.getpid()}", "w").close()
                time.sleep(100)

            run(works, os.environ["FOLDER"], ranks=2)
            """
        )
    )
    pids = tmp_path / "pids"
    pids.mkdir()
    path = os.pathsep.join(filter(None, sys.path))
    killed = subprocess.Popen(
        [sys.executable, str(program)], env=os.environ | {"FOLDER": str(pids), "PYTHONPATH": path}
    )
    until = time.monotonic() + 60
    while len(list(pids.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    ranks = [int(one.name) for one in pids.iterdir()]
    assert len(ranks) == 2
    killed.kill()
    killed.wait()
    while any(map(alive, ranks)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, ranks))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"ranks": 0}, "ranks=0; a whole number from 1"), ({"ranks": 2.5}, "ranks=2.5"), ({"seconds": 0}, "positive")],
)
def test_wrong_arguments_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        run(square, **wrong)


def test_what_is_not_a_function_is_named():
    with pytest.raises(ValueError, match="must be a function, not 3"):
        run(3)


MISSING = 'The labs need torch and cloudpickle: pip install "gpuscale[labs]"'
WINDOWS = "The labs start ranks by fork, which Windows does not have: use WSL (Linux on Windows)"


@pytest.mark.parametrize(
    ("place", "name", "value", "said"),
    [(importlib.util, "find_spec", lambda name: None, MISSING), (sys, "platform", "win32", WINDOWS)],
    ids=["package", "Windows"],
)
def test_what_is_missing_is_named_when_a_lab_begins_and_at_a_run(monkeypatch, capsys, place, name, value, said):
    monkeypatch.setattr(place, name, value)
    launcher.warm_up()
    assert capsys.readouterr().out == f"{said}\n"
    with pytest.raises(ImportError, match=f"^{re.escape(said)}$"):
        run(square)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts the bytes of a connection")
def test_the_kernel_counts_what_a_rank_sends():
    def sends():
        dist.barrier()
        time.sleep(0.2)
        before = bytes_sent()
        if dist.get_rank() == 0:
            dist.send(torch.zeros(1000), 1)
        else:
            dist.recv(torch.zeros(1000), 0)
        time.sleep(0.2)
        return bytes_sent() - before

    first, second = run(sends, ranks=2)
    assert 4000 <= first < 4200 and second < 200


WARM = """
import sys, time
from gpuscale.labs import launcher, run, warm_up

def answer():
    return 42

if __name__ == "__main__":
    warm_up()
    server, = launcher._started
    print(server._process.pid, server._loaded)
    if "run" in sys.argv:
        print(run(answer, ranks=2), launcher._started == [server])
    else:
        time.sleep(0.2)
"""


def warmed(tmp_path, *words: str) -> tuple[int, list[str]]:
    """A program that warms up: the process that this starts, and what the program prints."""
    program = tmp_path / "program.py"
    program.write_text(WARM)
    path = os.pathsep.join(filter(None, sys.path))
    ended = subprocess.run(
        [sys.executable, str(program), *words], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert not ended.stderr
    first, *lines = ended.stdout.splitlines()
    pid, loaded = first.split()
    assert loaded == "False"  # it has not waited
    return int(pid), lines


def test_a_run_uses_the_process_that_was_started_before(tmp_path):
    pid, lines = warmed(tmp_path, "run")
    assert lines == ["[42, 42] True"]
    assert not alive(pid)


def test_a_process_that_was_started_for_nothing_ends_too(tmp_path):
    pid, lines = warmed(tmp_path)
    assert lines == [] and not alive(pid)


BROKEN = """
import sys
sys.path[:] = eval(sys.argv.pop(1))
import socket
from gpuscale.labs import server
server.PRELOAD = ("no_such_module",)
server.serve(socket.socket(fileno=int(sys.argv[1])))
"""


def test_pytorch_that_does_not_load_is_an_import_error(monkeypatch):
    monkeypatch.setattr(launcher, "START", BROKEN)
    monkeypatch.setattr(launcher, "_started", [])
    with pytest.raises(ImportError, match="PyTorch does not load: No module named 'no_such_module'"):
        run(square)
    assert not launcher._started[0].alive
