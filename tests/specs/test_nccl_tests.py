"""Logs of nccl-tests: text with whatever a launcher puts before it, JSON, and what is wrong with a log, by name."""

import json

import pytest

from gpuscale import specs
from gpuscale.specs import SpecError
from gpuscale.specs.nccl_tests import main, read_log

HEAD = """\
# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 4 minBytes 1024 maxBytes 1048576 step: 32(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
"""
DEVICE = "#  Rank {r:2} Group  0 Pid   4711 on secret-host device {r:2} [0000:1b:00] Test GPU\n"
TITLES = """\
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROWS = """\
        1024           256     float     sum      -1    10.00    0.10    0.15      0    12.00    0.09    0.13      0
       32768          8192     float     sum      -1    20.00    1.64    2.46      0    22.00    1.49    2.23      0
     1048576        262144     float     sum      -1    50.00   20.97   31.46      0    52.00   20.16   30.25      0
"""
FOOT = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 11.1\n# Collective test concluded: all_reduce_perf\n"
WHOLE = HEAD + "".join(DEVICE.format(r=r) for r in range(4)) + TITLES + ROWS + FOOT


@pytest.fixture
def log(tmp_path):
    def put(text: str, name: str = "My run-1.log"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return put


def numbers(table):
    return [row[2:] for row in table.printed]


EXPECTED = [(1024, 10.0, 0.10, 0.15), (32768, 20.0, 1.64, 2.46), (1048576, 50.0, 20.97, 31.46)]


def test_a_log_is_a_measured_table(log):
    table = read_log(log(WHOLE))
    assert (table.key, table.kind, len(table)) == ("my_run_1", "measured", 3)
    assert numbers(table) == EXPECTED
    assert set(table.collective) == {"all-reduce"} and set(table.ranks) == {4.0}
    assert table.busbw[-1] == 31.46e9 and table.time[-1] == pytest.approx(50e-6)
    assert numbers(read_log(log(WHOLE), in_place=True))[0] == (1024, 12.0, 0.09, 0.13)


PREFIXES = {
    "mpirun": "[1,0]<stdout>:",
    "mpirun with time": "Fri Nov 20 10:11:12 2026[1,0]<stdout>:",
    "clock": "2026-11-20 10:11:12 ",
    "scheduler": " 0: ",
    "quoted": "> ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_what_a_launcher_puts_before_a_line_is_left_out(log, prefix):
    table = read_log(log("".join(prefix + line for line in WHOLE.splitlines(keepends=True))))
    assert numbers(table) == EXPECTED and set(table.ranks) == {4.0}


def test_time_stamps_after_a_line_are_left_out(log):
    titles = TITLES.replace("busbw #wrong\n", "busbw #wrong           timestamp\n")
    rows = ROWS.replace("      0\n", "      0  2026-11-20 10:11:12\n")
    assert numbers(read_log(log(HEAD + titles + rows))) == EXPECTED


def test_reports_of_single_iterations_are_skipped(log):
    more = "#wrong   i_min   i_max   i_p99   i_cv%"
    rows = "   1048576   262144  float  sum  -1  50.00  20.97  31.46  0  49.0  51.0  50.9  1.2"
    rows += "  52.00  20.16  30.25  0  51.0  53.0  52.9  1.3\n"
    table = read_log(log(HEAD + TITLES.replace("#wrong", more) + rows))
    assert numbers(table) == EXPECTED[-1:] and set(table.ranks) == {4.0}


def test_old_logs_have_rounding_errors_and_fewer_columns(log):
    """Before version 2.13: no root, an error instead of a count, and no reduction for an all-gather."""
    old = """\
#       size         count      type     time   algbw   busbw  error     time   algbw   busbw  error
     1048576         65536     float    50.00   20.97   15.73  4e-07    52.00   20.16   15.12    N/A
"""
    table = read_log(log(old), collective="all_gather")
    assert numbers(table) == [(1048576, 50.0, 20.97, 15.73)] and set(table.ranks) == {4.0}


@pytest.mark.parametrize("ranks", [2, 3, 8, 16, 72])
def test_ranks_follow_from_two_bandwidths_where_the_header_is_lost(log, ranks):
    rows = ""
    for power in range(10, 31, 4):
        size, time = 2**power, 10 + 2**power / 3e5
        alg = size / time / 1e3
        bus = 2 * alg * (ranks - 1) / ranks
        rows += f"{size} {size // 4} float sum -1 {time:.2f} {alg:.2f} {bus:.2f} 0 9.9 1.00 1.00 0\n"
    table = read_log(log(rows), collective="all_reduce")
    assert set(table.ranks) == {float(ranks)}


def test_what_tells_no_ranks_leaves_them_out(log):
    rows = "1024 256 float none -1 10.00 0.10 0.10 0 12.00 0.09 0.09 N/A\n"
    table = read_log(log(rows), collective="sendrecv")
    assert table.printed[0][:2] == ("send to the next rank", "-")


def as_json(**change) -> str:
    body = {"time": 50.0, "alg_bw": 20.97152, "bus_bw": 31.45728, "nwrong": 0.0}
    result = {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "    -1"}
    devices = [{"rank": r, "hostname": "secret-host", "pid": 4711} for r in range(4)]
    whole = {
        "version": 2,
        "args": ["/home/secret-user/all_reduce_perf", "-J", "x.json"],
        "env": ["SECRET_TOKEN=1", "HOME=/home/secret-user"],
        "config": {"ngpus": 4, "devices": devices},
        "results": [result | {"out_of_place": body, "in_place": None}],
    }
    return json.dumps(whole | change)


def test_json_is_read_and_its_environment_is_not_copied(log, tmp_path, capsys):
    table = read_log(log(as_json(), "x.json"))
    assert numbers(table) == [(1048576, 50.0, 20.97152, 31.45728)] and set(table.ranks) == {4.0}
    assert read_log(log(as_json(), "x.json"), in_place=True).printed[0][3:] == ("-", "-", "-")
    out = tmp_path / "out.toml"
    assert main([str(log(as_json(), "x.json")), str(log(WHOLE)), "-o", str(out)]) == 0
    assert "secret" not in out.read_text().lower() and "4711" not in out.read_text()
    assert "x, my_run_1" in capsys.readouterr().out


@pytest.mark.parametrize("listed", [[0], [0, 2], [0, 1, 2, 3]])
def test_json_lists_one_gpu_of_each_process(log, listed):
    """A process of several GPUs writes down its first one."""
    config = {"nthreads": 1, "ngpus": 4 // len(listed), "devices": [{"rank": r} for r in listed]}
    assert set(read_log(log(as_json(config=config), "x.json")).ranks) == {4.0}


def test_what_is_written_is_loaded(log, tmp_path, monkeypatch):
    from functools import cache

    from gpuscale.specs import registry

    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))
    out = tmp_path / "out.toml"
    assert main([str(log(WHOLE)), "-o", str(out)]) == 0
    (table,) = specs.load(out)
    assert table.printed == read_log(log(WHOLE)).printed


WRONG = {
    "no rows": (HEAD, {}, r"My run-1.log: has no row"),
    "no collective": (ROWS, {}, r"does not name its collective; expected collective= one of all_reduce"),
    "strange": (ROWS, {"collective": "ring"}, r"the collective is 'ring'"),
    "wrong results": (WHOLE.replace("31.46      0", "31.46      7"), {}, r"'line \d+': 7 elements are wrong"),
    "cut": (WHOLE.replace("   52.00   20.16   30.25      0", ""), {}, r"'line \d+': has 6 columns.*two groups of 4"),
    "words": (WHOLE.replace("   50.00", "   fifty"), {}, r"fifty 20.97 31.46 are not three numbers"),
    "another collective": (
        WHOLE,
        {"collective": "all_gather"},
        r"no number of ranks.*4 of the header.*right collective",
    ),
    "two tests": (WHOLE + HEAD.replace("all_reduce", "all_gather"), {}, r"all_gather begins after all_reduce"),
    "too few digits": (ROWS.splitlines()[0], {"collective": "all_reduce"}, r"fits \d+ .*ranks; expected ranks="),
    "not JSON": ("{", {}, r"is not JSON"),
    "a version to come": (as_json(version=9), {}, r"field 'version': is 9; expected one of 1, 2, 3"),
    "no size": (as_json(results=[{"size": "1M"}]), {}, r"'result 1': size is '1M'"),
    "nan": (as_json(results=[{"size": 8, "out_of_place": {"time": "nan"}}]), {}, r"'result 1': out_of_place has"),
    "no results": (as_json(results=["none"]), {}, r"is JSON of another form; expected the file that nccl-tests writes"),
    "devices in words": (as_json(config={"devices": "eight"}), {}, r"is JSON of another form"),
    "GPUs in words": (as_json(config={"ngpus": "x", "devices": [{"rank": 0}]}), {}, r"is JSON of another form"),
    "nested": ('{"a":' + "[" * 10**5, {}, r"is not JSON"),
    "key": (WHOLE, {"key": "My Run"}, r"'My Run' is not a name"),
}


@pytest.mark.parametrize(("text", "given", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_log_is_named(log, text, given, said):
    with pytest.raises(SpecError, match=said):
        read_log(log(text), **given)


def test_a_log_that_is_not_there(tmp_path, capsys):
    with pytest.raises(SpecError, match="none.log: cannot be read"):
        read_log(tmp_path / "none.log")
    assert main([str(tmp_path / "none.log"), "-o", str(tmp_path / "out.toml")]) == 2
    assert "none.log" in capsys.readouterr().err and not (tmp_path / "out.toml").exists()
