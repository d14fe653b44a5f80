"""Published collectives: time and bandwidth of a run agree, and the page of tables shows every one."""

import tomllib

import numpy as np
import pytest

from gpuscale import specs
from gpuscale.page import appendices
from gpuscale.specs.number import DATA
from gpuscale.units import GiB

RUNS = [
    ("allreduce_a100", "size", "time", "busbw", "reduce", 8),
    ("allreduce_h100_2_nodes", "size", "time_infiniband", "infiniband", "reduce", 16),
    ("allreduce_h100_2_nodes", "size", "time_tcpxo", "tcpxo", "reduce", 16),
    ("allreduce_mi300x", "size", "time_1", "busbw_1", "reduce", 8),
    ("allreduce_mi300x", "size", "time_2", "busbw_2", "reduce", 16),
    ("collectives_h100", "size", "all_reduce_time", "all_reduce", "reduce", 8),
    ("collectives_h100", "size", "send_recv_time", "send_recv", "send", 8),
    ("collectives_h100_10_nodes", "size", "all_reduce_time", "all_reduce", "reduce", 80),
    *(
        (table, size, f"{name}_time", name, "gather", gpus)
        for table, size, gpus in (("collectives_h100", "size", 8), ("collectives_h100_10_nodes", "size_sharded", 80))
        for name in ("all_gather", "reduce_scatter", "all_to_all")
    ),
]


@pytest.mark.parametrize(("table", "size", "time", "rate", "kind", "gpus"), RUNS)
def test_bus_bandwidth_is_size_over_time_times_the_factor(table, size, time, rate, kind, gpus):
    t = specs.measured(table)
    factor = {"reduce": 2 * (gpus - 1) / gpus, "gather": (gpus - 1) / gpus, "send": 1}[kind]
    known = t[rate] > 3e9  # below, two decimals are not enough
    assert known.sum() >= 10
    assert t[size][known] / t[time][known] * factor == pytest.approx(t[rate][known], rel=3e-3)


def test_rates_on_the_network_follow_from_the_bus_bandwidth():
    now, before = specs.measured("allreduce_b200_nic"), specs.measured("allreduce_b200_earlier")
    assert now.nic_rate == pytest.approx(now.busbw / 8, rel=1e-3)
    assert before.nic_rate == pytest.approx(before.busbw * 3 / 31, rel=1e-3)
    b200 = specs.measured("allreduce_b200")
    again = {row["size"]: row["busbw_4"] for row in b200.rows}
    assert [again[size] for size in now.size] == list(now.busbw)
    tpu = specs.measured("tpu_v7x_all_gather")
    assert tpu.transferred == pytest.approx(1.5 * tpu.size)


def test_links_of_a_gpu_to_the_switches_are_all_its_links():
    wires = specs.measured("nvswitch_links")
    assert wires.a100.sum() == specs.chip("a100_sxm").nvlink_links
    assert np.nansum(wires.h100) == specs.chip("h100_sxm").nvlink_links


def test_no_ring_is_faster_than_its_links():
    for row in specs.measured("nvls_by_gpu_count").rows:
        assert row["busbw_ring"] < specs.chip(row["part"]).nvlink_bw
    for row in specs.measured("p2p_write").rows:
        assert row["measured"] < row["peak"] == specs.chip(row["part"]).nvlink_bw


def test_the_page_shows_every_table_and_link_once():
    written = tomllib.loads((DATA / "measured_network.toml").read_text(encoding="utf-8"))
    shown = [key for group in appendices.MEASURED.values() for key in group]
    assert len(shown) == len(set(shown))
    assert {key for key, body in written.items() if isinstance(body, dict)} <= set(shown)
    rows = [
        repr(appendices.numbers(group)).count("\n") - 1
        for group, (kind, _) in appendices.GROUPS.items()
        if kind == "link"
    ]
    assert sum(rows) == len(specs.links()) and min(rows) > 0


def test_sizes_are_whole_and_sources_stand_in_the_heads():
    html = appendices.measured("one node").html
    assert '<td class="num">32\u00a0KiB</td>' in html and "<td>H200 SXM</td>" in html
    assert html.count("<table") == len(appendices.MEASURED["one node"]) == html.count("<caption>")
    assert 'data-source="Bekman, Machine Learning Engineering, all-reduce on 8 H200"' in html
    assert specs.measured("allreduce_h200").size[-1] == 16 * GiB


def test_models_have_their_names_and_shares_their_sign():
    html = appendices.measured("training").html
    assert f"<td>{specs.model('megatron_1_7b').short}</td>" in html and "megatron_1_7b" not in html
    assert '<td class="num">44%</td>' in html and ">share of peak</button>" in html
