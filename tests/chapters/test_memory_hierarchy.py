"""The memory hierarchy: its formulas against simulated requests and published measurements."""

import itertools

import numpy as np
import pytest

from gpuscale.core import evaluate
from gpuscale.one_gpu import memory, processor
from gpuscale.quiz import load_set, wording
from gpuscale.schedules.timelines.requests import run
from gpuscale.specs import chip, measured
from gpuscale.symbols import Q

KIB = 1024
LINK, LATENCY = 4.8e12, 550e-9


@pytest.mark.parametrize("window", [1, 7, 64, 161, 162, 500])
def test_a_queue_of_fixed_latency_gives_the_bound_exactly(window):
    got = run(window, 16 * KIB, LATENCY, LINK).bandwidth
    alone = run(1, 16 * KIB, LATENCY, LINK).wait  # the latency of a request, its own bytes on the link included
    want = memory.concurrent_bandwidth(Q=window * 16 * KIB, alpha=alone, W=LINK)
    assert got == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_what_is_in_flight_is_rate_times_latency(spread):
    """Little's law holds for every queue: with random latencies, and when the link is full."""
    for window in (5, 80, 400):
        went = run(window, 16 * KIB, LATENCY, LINK, spread=spread, rounds=400)
        assert went.bandwidth * went.wait == pytest.approx(window * 16 * KIB, rel=5e-3)


def test_the_link_is_full_from_latency_times_bandwidth_on():
    need = memory.bytes_in_flight(alpha=LATENCY, W=LINK)
    sizes = need * np.array([0.98, 1.02]) / 1000  # a request is a thousandth of it, and so is its time on the link
    below, above = (run(1000, size, LATENCY, LINK).bandwidth for size in sizes)
    assert below < 0.985 * LINK and above == pytest.approx(LINK, rel=1e-9)


@pytest.mark.parametrize("size", [1e3, 3e5, 5e6, 1e9])
def test_one_transfer_after_another_gives_the_effective_bandwidth(size):
    """A window of one: the next transfer starts when the last byte of this one is there. The queue is given the
    latency and the link, never their sum."""
    wait, link = 3.4e-6, 450e9
    alone = run(1, size, wait, link, rounds=8)
    assert alone.wait == pytest.approx(memory.transfer_time(V=size, alpha=wait, W=link), rel=1e-9)
    assert alone.bandwidth == pytest.approx(memory.effective_bandwidth(V=size, alpha=wait, W=link), rel=1e-9)
    assert alone.time == pytest.approx(6 * memory.transfer_time(V=size, alpha=wait, W=link), rel=1e-9)
    half = memory.half_size(alpha=wait, W=link)
    assert run(1, half, wait, link).bandwidth == pytest.approx(link / 2, rel=1e-9)


@pytest.mark.parametrize(("reuse", "link", "lanes"), [(1, 3, 7), (2, 3, 7), (3, 3, 7), (7, 5, 35), (40, 1, 35)])
def test_arithmetic_that_a_link_feeds_is_counted_tick_by_tick(reuse, link, lanes):
    """Whole bytes arrive, whole FLOPs are done: at most so many bytes and so many FLOPs per tick, and
    each byte that is there may be used so many times."""
    ticks, uses, done = 20_000, 0, 0
    for _ in range(ticks):
        uses += link * reuse  # uses that the bytes of this tick allow
        now = min(lanes, uses)
        uses, done = uses - now, done + now
    rate = memory.fed_rate(I=reuse, W=link, C=lanes)
    assert done / ticks == pytest.approx(rate, rel=1e-3)


def test_a_link_and_a_processor_in_a_row_run_at_the_fed_rate():
    """Blocks cross a link one after another and are worked on in turn: two clocks, and the last one counts."""
    h100, block = chip("h100_sxm"), 1e6
    for reuse in (10.0, 295.0, 2199.0, 19788.0, 1e5):
        for link in (h100.hbm_bw, h100.nvlink_bw, h100.nic_bw):
            here = finished = 0.0
            for _ in range(4000):
                here += block / link
                finished = max(finished, here) + reuse * block / h100.bf16
            rate = memory.fed_rate(I=reuse, W=link, C=h100.bf16)
            assert 4000 * reuse * block / finished == pytest.approx(rate, rel=1e-3)


def test_no_reply_praises_in_one_variant_what_it_blames_in_another():
    for item in load_set("memory_hierarchy"):
        question = item.question
        said = {True: set(), False: set()}
        for variant, given in enumerate(question.given):
            if question.kind == "choice":
                for k, choice in enumerate(question.choices):
                    said[k == question.right(variant)].add(wording.plain(choice[1], given))
        assert not said[True] & said[False], question.title


def test_a_copy_is_never_faster_than_its_bytes_at_the_peak():
    for row in measured("stream_hbm").rows:
        peak = chip(row["part"]).hbm_bw
        expected = memory.transfer_time(V=2 * row["array"], W=peak, alpha=0)
        assert expected < 2 * row["array"] / row["copy"] < 2 * expected
        assert max(row["write"], row["read"], row["copy"]) < peak


def test_loads_in_flight_are_counted_lane_by_lane():
    shape = {"n_sm": 3, "w_res": 5, "w_lanes": 32, "n_load": 2}
    loads = sum(1 for _ in itertools.product(*(range(n) for n in shape.values())))
    assert memory.loads_in_flight(**shape, b_load=16) == loads * 16
    asked = run(loads, 16, LATENCY, 1e15).bandwidth  # a link that never binds
    assert memory.warp_bandwidth(**shape, b_load=16, alpha=LATENCY, W=1e15) == pytest.approx(asked, rel=1e-3)


def test_reading_a_level_once_is_the_sum_of_its_pieces():
    h100 = chip("h100_sxm")
    pieces = run(4096, h100.hbm / 4096 / 40, 1e-6, h100.hbm_bw)
    whole = pieces.time * 4 / 3  # three quarters of the requests were timed
    assert memory.sweep_time(S_level=h100.hbm, W=h100.hbm_bw) == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("part", ["h200_sxm", "h100_pcie"])
def test_measured_reads_lie_between_no_overlap_and_full_overlap(part):
    card = chip(part)
    rows = [r for r in measured("read_by_threads").rows if r["part"] == part]
    got = np.array([r["bandwidth"] for r in rows])
    under_way = np.array([card.sm * r["threads"] * 8 for r in rows])
    values = {"alpha": under_way[0] / got[0], "W": card.hbm_bw}
    upper = memory.concurrent_bandwidth(Q=under_way, **values)
    lower = memory.effective_bandwidth(V=under_way, **values)
    assert np.all(got <= upper * (1 + 1e-9)) and np.all(got >= lower)


def test_the_bounds_are_at_most_a_factor_of_two_apart():
    ratio = memory.concurrent_bandwidth.rhs / memory.effective_bandwidth.where(V=Q).rhs
    under_way = np.geomspace(1e3, 1e10, 2001)
    apart = evaluate(ratio, Q=under_way, alpha=LATENCY, W=LINK)
    assert 1.99 < apart.max() <= 2 and apart.min() >= 1
    assert under_way[apart.argmax()] == pytest.approx(LATENCY * LINK, rel=0.01)


def test_two_numbers_describe_measured_copies():
    copies = measured("memcpy_v100_pcie")
    time = copies.size / copies.bandwidth
    basis = np.stack([np.ones_like(time), copies.size], axis=1) / time[:, None]
    wait, per_byte = np.linalg.lstsq(basis, np.ones_like(time), rcond=None)[0]
    fitted = memory.transfer_time(V=copies.size, alpha=wait, W=1 / per_byte)
    assert np.abs(fitted / time - 1).max() < 0.15
    near = np.argmin(np.abs(copies.bandwidth - 0.5 / per_byte))
    assert 0.5 < copies.size[near] / memory.half_size(alpha=wait, W=1 / per_byte) < 2


def test_latency_steps_where_the_capacities_are():
    """The published pointer chase falls out of L1, of half of L2 and of L2 where the data say they end."""
    card, chase = chip("h100_pcie"), measured("latency_h100_pcie")
    for capacity in (card.smem_l1_per_sm, card.l2 / 2, card.l2):
        before = chase.latency[chase.size < 0.8 * capacity][-1]
        after = chase.latency[chase.size > 1.4 * capacity][0]
        assert after > 1.3 * before


def test_chip_totals_by_brute_count():
    h100 = chip("h100_sxm")
    total = sum(h100.registers_per_sm * 4 for _ in range(h100.sm))
    assert processor.chip_capacity(n_sm=h100.sm, S_sm=h100.register_file_per_sm) == total == 33 * 2**20
    cycle = sum(4 for _ in range(h100.sm) for _ in range(32))  # banks of 4 bytes
    smem = processor.chip_bandwidth(n_sm=h100.sm, w_sm=h100.smem_bytes_per_cycle, f_clock=h100.boost_clock)
    assert smem == cycle * h100.boost_clock


@pytest.mark.parametrize(("stride", "count", "used"), [(1, 4, 1), (2, 8, 1 / 2), (8, 32, 1 / 8), (1024, 32, 1 / 8)])
def test_sectors_of_a_warp_byte_by_byte(stride, count, used):
    """Every byte that a warp asks for lies in a sector that it fetches; the page counts the same sectors."""
    asked = {thread * stride * 4 + k for thread in range(32) for k in range(4)}
    fetched = {byte for byte in range(max(asked) + 32) if any(byte // 32 * 32 + k in asked for k in range(32))}
    assert asked <= fetched and len(fetched) == 32 * count and len(asked) / len(fetched) == used


@pytest.mark.parametrize("bad", [{"window": 0}, {"size": 0}, {"start": -1}, {"link": 0}, {"spread": 2}])
def test_bad_runs_say_what_was_expected(bad):
    given = {"window": 2, "size": 64, "start": 1e-6, "link": 1e9} | bad
    with pytest.raises(ValueError, match="expected"):
        run(**given)
