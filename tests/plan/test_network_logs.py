"""Logs of nccl-tests: what the tool prints in all versions, what launchers add, and the constants that follow."""

import json
import random
import re
from functools import cache

import numpy as np
import pytest

from gpuscale import specs
from gpuscale.labs.spec_file import write_spec
from gpuscale.plan import Choice, Refusal, calibrate, cluster, evaluate_choice, load_calibration, request, usual
from gpuscale.plan.__main__ import main
from gpuscale.plan.network_fit import NETWORK_PRIORS, NetworkProblem, fit_network
from gpuscale.plan.network_logs import Row, Sweep, read_logs
from gpuscale.specs import registry

HEAD = """\
# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807
# Collective test starting: {name}_perf
# nThread 1 nGpus 1 minBytes 1024 maxBytes 1048576 step: 32(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1
#
# Using devices
"""
DEVICE = "#  Rank {rank:2} Group  0 Pid   4711 on {host:>10} device  {device} [0000:1b:00] NVIDIA H100 80GB HBM3\n"
TITLES = """\
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROWS = """\
           0             0     float     sum      -1     0.21    0.00    0.00      0     0.20    0.00    0.00      0
        1024           256     float     sum      -1    40.00    0.03    0.05      0    42.00    0.02    0.05      0
     1048576        262144     float     sum      -1    50.00   20.97   39.32      0    52.00   20.16   37.81      0
"""
FOOT = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 11.1\n#\n"
END = "# Collective test concluded: {name}_perf\n"
DEVICES = "".join(DEVICE.format(rank=rank, host=f"host-{rank // 8}", device=rank % 8) for rank in range(16))
WHOLE = HEAD.format(name="all_reduce") + DEVICES + TITLES + ROWS + FOOT + END.format(name="all_reduce")
GATHERED = ROWS.replace("39.32", "19.66").replace("37.81", "18.90").replace("0.02    0.05", "0.02    0.02")
GATHERED = GATHERED.replace("0.05", "0.03")
EXPECTED = (Row(1024, 40e-6, 42e-6, 0.03e9, 0.05e9), Row(1048576, 50e-6, 52e-6, 20.97e9, 39.32e9))


@pytest.fixture
def log(tmp_path):
    def put(text: str, name: str = "run.log"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return put


def same(sweep, expected=EXPECTED):
    assert len(sweep.rows) == len(expected)
    for row, one in zip(sweep.rows, expected, strict=True):
        for name, value in vars(one).items():
            assert getattr(row, name) == (value if value is None else pytest.approx(value, rel=1e-9)), name


def test_a_log_is_a_sweep(log):
    (sweep,) = read_logs(log(WHOLE))
    assert (sweep.collective, sweep.ranks, sweep.nodes, sweep.groups) == ("all-reduce", 16, 2, 1)
    assert sweep.source == "run.log" and "host" not in repr(sweep)
    same(sweep)


PREFIXES = {
    "mpirun": "[1,0]<stdout>:",
    "prrte": "[prterun-host-1@1,0]<stdout>: ",
    "srun": "0: ",
    "srun, aligned": " 0: ",
    "clock": "2026-11-20 10:11:12 ",
    "quoted": "> ",
    "pods": "worker-0 | ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_what_a_launcher_puts_before_a_line_is_left_out(log, prefix):
    (sweep,) = read_logs(log("".join(prefix + line for line in WHOLE.splitlines(keepends=True))))
    assert (sweep.ranks, sweep.nodes) == (16, 2)
    same(sweep)


def test_remarks_of_the_library_between_the_rows_are_left_out(log):
    said = "host-0:11:13 [0] NCCL INFO Channel 00/24 : 0 1 2 3 4\n\nhost-0:11:13 [0] NCCL INFO 1024 256 float 1.0\n"
    said += "NCCL version 2.28.9+cuda13.1\nhost-1:11:12 [1] NCCL WARN Call to ibv_poll_cq failed: 8 16 peers\n"
    (sweep,) = read_logs(log("".join(line + said for line in WHOLE.splitlines(keepends=True))))
    same(sweep)


def test_several_tests_in_one_log(log):
    gather = WHOLE.replace("all_reduce", "all_gather").replace(ROWS, GATHERED)
    gather = gather.replace(DEVICES, DEVICES.replace("host-1", "host-0"))
    first, second, third = read_logs(log("+ mpirun -np 16 ./build/all_reduce_perf -b 1K\n" + WHOLE + gather + WHOLE))
    assert [one.collective for one in (first, second, third)] == ["all-reduce", "all-gather", "all-reduce"]
    assert [one.nodes for one in (first, second, third)] == [2, 1, 2]
    same(first)
    same(third)


def test_the_command_names_the_collective_of_an_old_version(log):
    old = re.sub("# Collective.*\n", "", re.sub("# nccl-tests.*\n", "", WHOLE)).replace(" Group  0", "")
    (sweep,) = read_logs(log("$ mpirun -np 16 /opt/nccl-tests/build/all_reduce_perf -b 1K -e 1M\n" + old))
    assert (sweep.collective, sweep.ranks, sweep.nodes) == ("all-reduce", 16, 2)
    same(sweep)


OLD = {  # titles after the type, cells after the type
    "no reduction and no root": ("", ""),
    "no root": ("redop ", "none "),
    "no reduction": ("root ", "0 "),
}


@pytest.mark.parametrize(("titles", "cells"), OLD.values(), ids=OLD)
def test_old_columns(log, titles, cells):
    group = "time   algbw   busbw  error"
    text = f"#  size  count  type {titles} {group}  {group}\n"
    text += f" 1048576  65536  float {cells} 50.00  20.97  19.66  4e-07   52.00   20.16   18.90    N/A\n"
    (sweep,) = read_logs(log(DEVICES + text, "all_gather-16.out"))
    assert sweep.collective == "all-gather"
    same(sweep, [Row(1048576, 50e-6, 52e-6, 20.97e9, 19.66e9)])


IN_PLACE = {
    "not available": ("#wrong     time   algbw   busbw #wrong", "0  N/A N/A N/A N/A"),
    "not printed": ("#wrong     time   algbw   busbw #wrong", "0"),
    "no column": ("#wrong", "0"),
    "no errors counted": ("", ""),
}


@pytest.mark.parametrize(("titles", "cells"), IN_PLACE.values(), ids=IN_PLACE)
def test_what_was_not_measured_in_place_is_none(log, titles, cells):
    text = f"# size count type redop root time algbw busbw {titles}\n1048576 65536 bfloat16 none -1 50.00 20.97 19.66 "
    (sweep,) = read_logs(log(DEVICES + text + cells + "\n", "alltoall.txt"))
    assert sweep.collective == "all-to-all"
    same(sweep, [Row(1048576, 50e-6, None, 20.97e9, 19.66e9)])


def test_reports_of_single_iterations_and_time_stamps(log):
    more = "#wrong  i_min  i_max  i_p99  i_cv%"
    titles = TITLES.replace("#wrong", more).replace(f"{more}\n", f"{more}  timestamp\n")
    row = "1048576  262144  float8x  sum  -1  50.00  20.97  39.32  0  49.0  51.0  50.9  1.2"
    row += "  52.00  20.16  37.81  0  51.0  53.0  52.9  1.3  2026-11-20 10:11:12\n"
    (sweep,) = read_logs(log(HEAD.format(name="all_reduce") + DEVICES + titles + row))
    same(sweep, EXPECTED[-1:])


def test_columns_of_algorithms_after_the_bandwidths(log):
    titles = TITLES.replace("#wrong\n", "#wrong     algo     proto   nchannels\n")
    rows = ROWS.replace("      0\n", "      0    RING   SIMPLE         32\n")
    (sweep,) = read_logs(log(HEAD.format(name="all_reduce") + DEVICES + titles + rows))
    same(sweep)


NAMES = {
    "allreduce_2nodes.txt": "all-reduce",
    "all-gather.log": "all-gather",
    "ReduceScatter.out": "reduce-scatter",
    "my_sendrecv_perf.log": "send-recv",
    "broadcast": "broadcast",
    "reduce.log": "reduce",
}


@pytest.mark.parametrize(("name", "collective"), NAMES.items())
def test_the_name_of_the_file_gives_the_collective(log, name, collective):
    factor = {"all-reduce": 2 * 15 / 16, "all-gather": 15 / 16, "reduce-scatter": 15 / 16}.get(collective, 1)
    row = f"8388608 65536 float none -1 50.00 167.77 {167.77 * factor:.2f} 0 N/A N/A N/A N/A\n"
    assert read_logs(log(DEVICES + TITLES + row, name))[0].collective == collective


def test_bandwidths_tell_an_all_reduce_and_its_ranks(log):
    (sweep,) = read_logs(log(DEVICES + TITLES + ROWS))
    assert sweep.collective == "all-reduce"
    row = "1073741824 268435456 float sum -1 5000.0 214.75 375.81 0 5000.0 214.75 375.81 0\n"  # 2 x 7/8
    (sweep,) = read_logs(log("# nThread 1 nGpus 8 minBytes 1 maxBytes 2\n" + TITLES + row))
    assert (sweep.collective, sweep.ranks, sweep.nodes) == ("all-reduce", 8, 1)
    assert read_logs(log(TITLES + row))[0].nodes is None


def test_groups_at_the_same_time(log):
    """NCCL_TESTS_SPLIT: each group has one GPU of each node."""
    devices = "".join(line.replace("Group  0", f"Group {i % 8:2}") for i, line in enumerate(DEVICES.splitlines(True)))
    rows = ROWS.replace("39.32", "20.97").replace("37.81", "20.16").replace("0.05", "0.03")
    (sweep,) = read_logs(log(HEAD.format(name="all_reduce") + devices + TITLES + rows))
    assert (sweep.ranks, sweep.nodes, sweep.groups) == (2, 2, 8)


def test_json_is_read(log):
    result = {"size": 1048576, "count": 262144, "type": "float"}
    body = {"time": 50.0, "alg_bw": 20.97152, "bus_bw": 39.3216, "nwrong": 0.0}
    devices = [{"rank": r, "hostname": f"host-{r // 8}"} for r in range(16)]
    whole = {"version": 2, "args": ["/opt/all_reduce_perf"], "env": ["TOKEN=1"], "config": {"devices": devices}}
    (sweep,) = read_logs(log(json.dumps(whole | {"results": [result | {"out_of_place": body, "in_place": None}]})))
    assert (sweep.collective, sweep.ranks, sweep.nodes) == ("all-reduce", 16, 2)
    same(sweep, [Row(1048576, 50e-6, None, 20.97152e9, 39.3216e9)])


def test_json_of_processes_with_several_gpus_has_all_ranks(log):
    """Two processes of two threads with four GPUs each: the file lists the first GPU of either."""
    body = {"time": 50.0, "alg_bw": 20.97152, "bus_bw": 39.3216, "nwrong": None}
    devices = [{"rank": 8 * i, "group": 0, "hostname": f"host-{i}"} for i in range(2)]
    whole = {"version": 2, "args": ["all_reduce_perf"], "config": {"nthreads": 2, "ngpus": 4, "devices": devices}}
    results = [{"size": 1048576, "out_of_place": body, "in_place": body}]
    (sweep,) = read_logs(log(json.dumps(whole | {"results": results})))
    assert (sweep.ranks, sweep.nodes, sweep.groups) == (16, 2, 1)


WRONG = {
    "no rows": (HEAD.format(name="all_reduce") + DEVICES + TITLES, "run.log: has no row of results; expected rows of"),
    "another program": ("1 2 3\nBandwidth 12 GB/s\n", "run.log: is not a log of nccl-tests; expected rows of"),
    "words": (WHOLE.replace("   50.00", "   fifty"), "'line 28': fifty 20.97 39.32 are not three numbers"),
    "wrong results": (WHOLE.replace("39.32      0", "39.32      7"), "'line 28': 7 elements are wrong"),
    "cut": (WHOLE.replace("   52.00   20.16   37.81      0", "  52.00"), "'line 28': has 7 columns after the type"),
    "cut early": (
        WHOLE.replace("     float     sum      -1    50.00", "\n"),
        "'line 28': '1048576        262144' is not",
    ),
    "cut at the type": (re.sub("262144     float .*", "262144     float", WHOLE), "'line 28': has 0 columns"),
    "no name": (DEVICES + TITLES + GATHERED, "a file name with one of"),
    "another collective": (WHOLE.replace("all_reduce", "all_gather"), "is not that of all_gather on 16 ranks"),
    "unknown": (WHOLE.replace("all_reduce", "hypercube"), "the collective is 'hypercube'; expected one of all_reduce"),
    "no MPI": (re.sub(r"#  Rank +[1-9].*\n", "", WHOLE), "one rank; expected two or more"),
    "no header": (HEAD.format(name="sendrecv") + TITLES + ROWS, "ranks, and busbw over algbw fits 2 or more ranks;"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_log_is_named(log, text, said):
    with pytest.raises(Refusal, match=re.escape(said)):
        read_logs(log(text))


def test_a_number_of_ranks_that_differs_by_node_is_refused(log):
    with pytest.raises(Refusal, match="16 ranks on 3 nodes"):
        read_logs(log(WHOLE.replace("host-1", "host-2", 1)))


def test_a_time_of_nothing_is_refused(log):
    with pytest.raises(Refusal, match=r"2 nodes \(run.log\): 1,048,576 B in 0.0 s; expected a time above zero"):
        read_logs(log(WHOLE.replace("   50.00", "    0.00")))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(Refusal, match="none.log: cannot be read"):
        read_logs(tmp_path / "none.log")
    with pytest.raises(Refusal, match="no log"):
        read_logs([])


# ---- the lab


def measured(level: str, ranks: int, collective: str, size: int, seconds: float) -> dict:
    times = {"best": 0.9 * seconds, "median": seconds}
    return {"level": level, "ranks": ranks, "collective": collective, "size": size} | times


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A file as ``gpuscale.labs.measure`` writes it: two nodes of four."""
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))
    levels = [("node", 4, 1e-3), ("across", 2, 3e-3)]
    kinds = ("all-reduce", "all-gather", "send-recv")
    rows = [measured(level, n, kind, 2**20, t * (1 + i)) for level, n, t in levels for i, kind in enumerate(kinds)]
    found = {
        "matmul": [{"n": 128, "best": 1e-3, "median": 2e-3}],
        "memory": [{"operation": "copy", "size": 2**20, "bytes": 2**21, "best": 1e-3, "median": 2e-3}],
        "collectives": rows, "ranks": 8, "per_node": 4, "dtype": "float32", "memory_of_rank": 2**34, "repeats": 5,
        "device": "one CPU thread", "backend": "gloo", "torch": "2.9",
    }  # fmt: skip
    write_spec(found, tmp_path / "mine.toml")
    return tmp_path / "mine.toml"


def test_what_the_lab_measured_is_read(lab):
    found = read_logs(lab)
    told = [(one.collective, one.ranks, one.nodes, one.groups, one.rows[0].time) for one in found]
    assert told == [
        ("all-reduce", 4, 1, 1, 1e-3), ("all-gather", 4, 1, 1, 2e-3), ("send-recv", 4, 1, 1, 3e-3),
        ("all-reduce", 2, 2, 4, 3e-3), ("all-gather", 2, 2, 4, 6e-3), ("send-recv", 2, 2, 4, 9e-3),
    ]  # fmt: skip
    assert {one.source for one in found} == {"mine.toml"}


def test_a_file_without_collectives_is_refused(tmp_path):
    path = tmp_path / "chip.toml"
    path.write_text('[my_part]\nkind = "topology"\ntitle = "A network"\nlevels = "h100_node"\n')
    with pytest.raises(Refusal, match="chip.toml: has no sweep of a collective"):
        read_logs(path)


# ---- constants

TRUE = {"eta_nvl": 0.8, "alpha_1": 15e-6, "eta_net": 0.7, "gamma_net": 0.2, "alpha_2": 60e-6, "alpha_rank": 3e-6}
NVLINK, NODE = 450e9, 400e9  # B/s of a GPU, and of a node of 8 H100


def seconds(collective: str, size: float, nodes: int, given=TRUE) -> float:
    """A call on nodes of 8 H100, link by link: what a GPU lacks of its node, and what a node lacks of all."""
    fabric = given["eta_nvl"] * NVLINK
    network = given["eta_net"] * NODE * (nodes / 2) ** -given["gamma_net"]
    if collective == "all-to-all":  # 8 ranks of a node receive an equal part of what each of the others has
        bytes_time = max(size * 7 / (8 * nodes) / fabric, 8 * size * (1 - 1 / nodes) / network)
    else:
        bytes_time = max(size * 7 / 8 / fabric, size * (1 - 1 / nodes) / network)
        bytes_time *= 2 if collective == "all-reduce" else 1
    start = given["alpha_1"] if nodes == 1 else given["alpha_2"] + (8 * nodes - 16) * given["alpha_rank"]
    return start + bytes_time


def made_up(*counts: int, noise: float = 0.02, kinds=("all-reduce", "all-gather", "reduce-scatter", "all-to-all")):
    """Sweeps on numbers of nodes whose times follow from TRUE, up to noise."""
    draw = random.Random(7)
    return [
        Sweep(
            kind, 8 * nodes, nodes,
            tuple(
                Row(2**power, seconds(kind, 2**power, nodes) * np.exp(draw.gauss(0, noise)))
                for power in range(12, 34, 2)
            ),
            f"{kind}-{nodes}.log",
        )
        for nodes in counts for kind in kinds
    ]  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    return fit_network(made_up(1, 2, 4, 16), "h100_superpod")


def test_the_time_of_a_call_follows_the_links():
    place = cluster("h100_superpod")
    assert (place.W_nvl, place.W_node, place.node) == (NVLINK, NODE, 8)
    sweeps = made_up(1, 2, 4, 16, noise=0)
    problem = NetworkProblem(sweeps, place)
    assert problem.times(TRUE, slice(None)) == pytest.approx(problem.seconds, rel=1e-9)


@pytest.mark.parametrize("kind", ["all-gather", "all-to-all"])
def test_groups_at_the_same_time_share_the_network(kind):
    """One GPU of each of 4 nodes gathers 1 GB, and 8 such groups do at once: a node lacks 3/4 of 8 GB. In an all-to-all
    each GPU receives 1 GB, 3/4 of it from other nodes."""
    given = TRUE | {"alpha_2": 0.0, "alpha_rank": 0.0, "gamma_net": 0.0}
    place = cluster("h100_superpod")
    for groups in (1, 2, 8):  # with as many NICs as GPUs that take part
        sweep = Sweep(kind, 4, 4, (Row(10**9, 1.0),), "x", groups)
        assert NetworkProblem([sweep], place).times(given, [0])[0] == pytest.approx(0.75e9 / (0.7 * NODE / 8))


def test_constants_are_found_again(fitted):
    assert fitted.unknown == () and not fitted.far
    for name, value in TRUE.items():
        assert abs(np.log(fitted.constants[name] / value)) < 0.05 if name != "gamma_net" else 0.3, name
        assert fitted.spread[name] < 0.5
    assert fitted.band < 1.1
    assert max(np.median(np.abs(errors)) for errors in fitted.errors) < 0.03


def test_an_absurd_row_moves_nothing_and_is_named(fitted):
    sweeps = made_up(1, 2, 4, 16)
    *rows, last = sweeps[1].rows
    sweeps[1] = Sweep("all-gather", 8, 1, (*rows, Row(last.size, 100 * last.seconds)), "odd.log")
    found = fit_network(sweeps, "h100_superpod")
    assert list(found.far.values()) == [f"{last.size:,} B in {last.seconds * 1e8:,.1f} µs, {sweeps[1].name}"]
    for name, value in found.constants.items():
        assert abs(np.log(value / fitted.constants[name])) < 0.3 * fitted.spread[name], name


def test_a_sweep_unlike_all_others_moves_little(fitted):
    sweeps = made_up(1, 2, 4, 16)
    slow = tuple(Row(row.size, 3 * row.seconds) for row in sweeps[1].rows)
    sweeps[1] = Sweep("all-gather", 8, 1, slow, "slow.log")
    found = fit_network(sweeps, "h100_superpod")
    for name, value in found.constants.items():
        assert abs(np.log(value / fitted.constants[name])) < fitted.spread[name], name


def test_one_node_tells_nothing_of_the_network():
    found = fit_network(made_up(1), "h100_superpod")
    assert found.unknown == ("eta_net", "gamma_net", "alpha_2")
    for name in found.unknown:
        assert found.constants[name] == NETWORK_PRIORS[name].center
        assert found.spread[name] == NETWORK_PRIORS[name].spread
    assert "alpha_rank" not in found.constants
    assert "at the default: eta_net, gamma_net, alpha_2." in found.summary()


def test_two_nodes_tell_nothing_of_more():
    found = fit_network(made_up(1, 2), "h100_superpod")
    assert found.unknown == ("gamma_net",) and "alpha_rank" not in found.constants
    assert found.constants["gamma_net"] == pytest.approx(NETWORK_PRIORS["gamma_net"].center)


def test_a_single_sweep_is_checked_row_by_row():
    found = fit_network(made_up(1, kinds=("all-reduce",)), "h100_superpod")
    assert [one.left_out for one in found.checks] == ["one row of all-reduce of 8 ranks on 1 node (all-reduce-1.log)"]
    assert found.checks[0].runs == 11 and found.band < 1.15


def test_sweeps_differ_as_a_whole_and_more_of_them_tell_more():
    """Rows of one sweep are not independent: another collective would give another fraction."""
    one = fit_network(made_up(1, kinds=("all-gather",)), "h100_superpod")
    four = fit_network(made_up(1), "h100_superpod")
    assert 0.08 < one.spread["eta_nvl"] < 0.15
    assert 0.03 < four.spread["eta_nvl"] < 0.7 * one.spread["eta_nvl"]


def test_ten_nodes_alone_tell_the_latency_of_ten_nodes():
    found = fit_network(made_up(1, 10), "h100_superpod")
    assert "alpha_rank" not in found.constants
    assert found.constants["alpha_2"] == pytest.approx(TRUE["alpha_2"] + 64 * TRUE["alpha_rank"], rel=0.1)
    assert "only 10 were measured: alpha_2 is that of a call there" in found.summary()
    assert "only 2" not in fit_network(made_up(1, 2), "h100_superpod").summary()


def test_two_ranks_do_not_tell_the_collective(log):
    rows = "1048576 262144 float sum -1 50.00 20.97 20.97 0 52.00 20.16 20.16 0\n"
    devices = "".join(DEVICE.format(rank=rank, host="host-0", device=rank) for rank in range(2))
    with pytest.raises(Refusal, match="busbw over algbw fits several"):
        read_logs(log(devices + TITLES + rows))


def test_a_part_of_a_node_has_its_own_ports():
    """nccl-tests on one GPU of each of ten nodes reaches what its port does, not what the node has."""
    row = specs.measured("collectives_by_gpus_per_node").row(gpus_per_node=1)
    size = 2**34
    sweep = Sweep("all-gather", 10, 10, (Row(size, size * 0.9 / row["all_gather"]),), "one.log")
    time = NetworkProblem([sweep], cluster("h100_superpod")).times(
        {"eta_net": 1.0, "gamma_net": 0.0, "alpha_2": 0.0}, [0]
    )[0]
    assert time == pytest.approx(sweep.rows[0].seconds, rel=0.03)


SHIPPED = [("all-gather", "all_gather"), ("reduce-scatter", "reduce_scatter"), ("all-to-all", "all_to_all")]


def test_published_sweeps_of_a_node_are_met():
    """The rows of 8 H100 within 12%, half of them within 3%: all but the all-reduce, which the switch does."""
    table = specs.measured("collectives_h100").rows
    sweeps = [
        Sweep(kind, 8, 1, tuple(Row(int(row["size"]), row[f"{name}_time"]) for row in table), name)
        for kind, name in SHIPPED
    ]
    found = fit_network(sweeps, "h100_superpod")
    errors = np.abs(np.concatenate(found.errors))
    assert np.median(errors) < 0.03 and errors.max() < 0.12
    largest = table[-1]["all_gather"] / NVLINK  # the rate that the largest message reaches
    assert found.constants["eta_nvl"] == pytest.approx(largest, rel=0.05)


def printed(sweep: Sweep) -> str:
    """A sweep as nccl-tests prints it."""
    name = sweep.collective.replace("-", "_").replace("all_to_all", "alltoall")
    lines = HEAD.format(name=name)
    lines += "".join(DEVICE.format(rank=r, host=f"host-{r // 8}", device=r % 8) for r in range(sweep.ranks)) + TITLES
    for row in sweep.rows:
        alg = row.size / row.seconds / 1e9
        bus = alg * (sweep.ranks - 1) / sweep.ranks * (2 if name == "all_reduce" else 1)
        cells = f"{row.seconds * 1e6:8.2f} {alg:7.2f} {bus:7.2f}      0"
        lines += f"{row.size:12} {row.size // 4:12}     float    none      -1 {cells} {cells}\n"
    return lines + FOOT + END.format(name=name)


def test_logs_become_a_file_and_a_summary(log, tmp_path, fitted, capsys):
    path = str(log("".join(map(printed, made_up(1, 2, 4, 16))), "all.log"))
    out = tmp_path / "mine.toml"
    command = ["calibrate", path, "--cluster", "h100-superpod", "-o"]
    assert main([*command, str(out)]) == 0
    told = capsys.readouterr().out
    assert "16 sweeps, 176 rows" in told and "  all-to-all of 128 ranks on 16 nodes (all.log): 2.6%" in told
    found, other = load_calibration(out), usual(cluster("h100_superpod"))
    for name, value in other.constants.items():
        assert found.constants[name] == pytest.approx(fitted.constants.get(name, value), rel=0.01), name
    assert set(other.unknown) - set(found.unknown) == {"eta_nvl", "eta_net", "gamma_net"}
    ask = request("llama3_8b", "h100_superpod", 64, "1M", calibration=out)
    assert evaluate_choice(ask, Choice(dp=8, tp=8)).step[2] > 0
    assert main([*command, str(tmp_path)]) == 2
    assert "expected a file that can be written" in capsys.readouterr().err


def test_other_collectives_are_left_out_and_said(log):
    sweep = Sweep("broadcast", 8, 1, (Row(1024, 1e-5),), "b.log")
    found = fit_network([*made_up(1), sweep], "h100_superpod")
    assert found.skipped == (sweep,) and "broadcast of 8 ranks on 1 node (b.log)" in found.summary()
    with pytest.raises(Refusal, match="broadcast; expected at least one of all-gather"):
        fit_network([sweep], "h100_superpod")


def test_nodes_that_a_log_does_not_tell_are_whole_and_that_is_said():
    blind = [Sweep(one.collective, one.ranks, None, one.rows, one.source) for one in made_up(1, 2)]
    found = fit_network(blind, "h100_superpod")
    assert found.constants == fit_network(made_up(1, 2), "h100_superpod").constants
    assert "all GPUs of each node are assumed to take part" in found.summary()


IMPOSSIBLE = {
    "too many on a node": (Sweep("all-gather", 16, 1, (Row(1024, 1e-5),), "a.log"), "8 GPUs per node"),
    "no whole nodes": (Sweep("all-gather", 13, None, (Row(1024, 1e-5),), "a.log"), "13 ranks on 2 nodes; expected"),
    "groups": (Sweep("all-gather", 8, 2, (Row(1024, 1e-5),), "a.log", 4), "8 GPUs per node"),
}


@pytest.mark.parametrize(("sweep", "said"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_sweeps_that_the_cluster_cannot_have_run_are_refused(sweep, said):
    with pytest.raises(Refusal, match=said):
        fit_network([sweep], "h100_superpod")


def test_logs_alone_take_a_bucket_as_well():
    network = fit_network(made_up(1, 2, 4, 16), "h100_superpod").calibration
    left, own = (calibrate([], "h100_superpod", network=network, bucket=given) for given in (None, "100MB"))
    assert left.constants | {"V_bucket": 1e8} == own.constants and left.constants["V_bucket"] != 1e8
