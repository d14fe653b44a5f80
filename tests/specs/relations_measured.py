"""Published tables: what the cells of a row, of two rows and of two tables say of each other, and of the parts.

Where a measurement is held against a peak, the band is wide enough for every row of the table, and too narrow for a
factor of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil, prod

from specs.relating import Line, check, line, lines, near, other, rows, steps

from gpuscale import specs
from gpuscale.units import GB, GiB, KiB, MiB, us


def chip(row: Line) -> specs.Part:
    return specs.chip(row.part)


def at(key: str, size: float) -> Line:
    """The row of a table with the size that is nearest."""
    return min(lines(key), key=lambda row: abs(row.size - size))


def elements(text: str) -> int:
    """How many elements an array has: 6 for bf16[2, 3]."""
    return prod(map(int, re.search(r"\[([\d, ]+)\]", text)[1].split(", ")))


# ---- rules that several tables follow


def sizes_grow(key: str, name: str = "size", by: float = 2) -> None:
    @steps(key)
    def grows(a: Line, b: Line) -> bool:
        """Each is so many times the one before."""
        return near(getattr(b, name), by * getattr(a, name))


def bus(key: str, factor: float, rate: str, time: str, size: str = "size") -> None:
    """A bus bandwidth is size over time times the factor, to the digits with which both are printed."""

    @rows(key, lambda r: getattr(r, rate) is not None)
    def over_time(r: Line) -> bool:
        """Size over time times the factor of nccl-tests is the bus bandwidth."""
        value, digit, half = getattr(r, rate), r.digit(rate), r.digit(time) / 2
        low, high = (getattr(r, size) * factor / (getattr(r, time) + off) for off in (half, -half))
        whole = near(value / digit, round(value / digit), 1e-6)  # as it could be printed
        return whole and low - 0.51 * digit <= value <= high * 1.0003 + 0.51 * digit


def saturates(key: str, rate: str, low: float, latency: int = 0, size: str = "size") -> None:
    """A bandwidth does not fall below a share of the one before, and grows at most with the size, to 7.5%.

    In the first rows, where latency is all, it grows with the size, to a fifth.
    """
    first = lines(key)[:latency]

    @steps(key, lambda a, b: getattr(a, rate) and getattr(b, rate))
    def with_the_size(a: Line, b: Line) -> bool:
        """More data, no less bandwidth, and at most in proportion."""
        more, longer = getattr(b, rate) / getattr(a, rate), getattr(b, size) / getattr(a, size)
        return (0.8 * longer if any(a._i == one._i for one in first) else low) <= more <= 1.075 * longer


def share(key: str, low: float, high: float, rate: str, of: Callable, only: Callable = lambda r: True) -> None:
    @rows(key, lambda r: only(r) and getattr(r, rate) is not None)
    def of_the_peak(r: Line) -> bool:
        """A share of the peak that leaves no room for a factor of two."""
        return low <= getattr(r, rate) / of(r) <= high


def at_most(key: str, rate: str, bound: Callable) -> None:
    @rows(key, lambda r: getattr(r, rate) is not None)
    def bounded(r: Line) -> bool:
        """No more than the links, or the switches, allow."""
        return getattr(r, rate) <= bound(r)


def alike(key: str, a: str, b: str, off: float) -> None:
    @rows(key)
    def two_runs(r: Line) -> bool:
        """Two measurements of nearly the same thing."""
        return near(getattr(r, a), getattr(r, b), off)


def nvls(part: specs.Part, gpus: int) -> float:
    """The highest bus bandwidth with in-network reduction: a GPU moves (n + 1)/n of the vector, not 2 (n - 1)/n."""
    return part.nvlink_bw * 2 * (gpus - 1) / (gpus + 1)


# ---- one GPU

for key in ("mamf_bf16", "mamf_fp8"):
    share(key, 0.55, 1, "measured", lambda r: r.peak)


@rows("vector_add_h100")
def three_vectors(r) -> bool:
    """Twelve bytes for an element, over the time and at the peak, which would be sooner."""
    at_peak = 12 * r.n / specs.chip("h100_sxm").hbm_bw
    return near(r.bandwidth, 12 * r.n / r.time, 1e-3) and near(r.published_model, at_peak, 0.025) and r.time > at_peak


@rows("peak_from_clock")
def peak_from_clock(r) -> bool:
    """Clock x multiply-adds x 2 x units; the peak of the MI355X is printed with two digits."""
    return near(r.clock * r.fma_per_unit * 2 * r.units, r.peak, 0.007 if r.chip == "MI355X" else 0.0015)


@check
def sm_clock() -> bool:
    """The highest clock of an H100 would not give its peak."""
    r = line("peak_from_clock", part="h100_sxm")
    return specs.chip("h100_sxm").boost_clock * r.fma_per_unit * 2 * r.units > 1.08 * r.peak


@rows("chip_specs", lambda r: r.fp8 is not None and not r.chip.startswith("Rubin"))
def half_the_bits(r) -> bool:
    """Half the bits, twice the rate."""
    return near(r.fp8, 2 * r.bf16, 0.005)


@rows("chip_specs", lambda r: r.chip in ("MI300X", "MI355X"))
def other_table(r) -> bool:
    """The peak in the table of clocks and units."""
    return near(r.bf16, line("peak_from_clock", chip=r.chip).peak, 0.006)


@rows("chip_specs", lambda r: r.chip == "MI300X")
def seven_links(r) -> bool:
    """Seven links of 64 GB/s."""  # hisohara-rccl, AAC8
    return near(r.link_bw, 7 * 64 * GB)


@steps("latency_h100_pcie")
def latencies(a, b) -> bool:
    """More data, no shorter latency."""
    return b.latency >= 0.97 * a.latency


@steps("l2_by_size", lambda a, b: a.part == b.part)
def caches(a, b) -> bool:
    """More data, no higher bandwidth."""
    return b.bandwidth <= 1.02 * a.bandwidth


share("l2_by_size", 0.6, 1, "bandwidth", lambda r: chip(r).hbm_bw, lambda r: r.size > 1e9)


@steps("read_by_threads", lambda a, b: a.part == b.part)
def threads(a, b) -> bool:
    """More threads, more bandwidth, and for each of them at most a tenth less."""
    each = (b.bandwidth / b.threads) / (a.bandwidth / a.threads)
    return a.threads < b.threads and a.bandwidth < b.bandwidth and 0.9 <= each <= 1.01


@rows("read_by_threads", lambda r: r.threads > 2000)
def every_slot(r) -> bool:
    """The last row takes every slot of an SM."""
    return r.threads == chip(r).max_threads_per_sm


for name in ("write", "read", "copy"):
    share("stream_hbm", 0.55, 1, name, lambda r: chip(r).hbm_bw)
saturates("memcpy_v100_pcie", "bandwidth", 0.99, latency=5)
at_most("memcpy_v100_pcie", "bandwidth", lambda r: specs.link("pcie_3").bw)


@rows("host_memory")
def gpus_of_a_node(r) -> bool:
    """The GPUs of a node, or of one of 18 trays of a rack."""  # dgx-gb200
    return r.gpus == (specs.link("nvl72").node_gpus / 18 if r.part == "gb200" else specs.link("nvlink_4").node_gpus)


# ---- collectives in a node


def spent(row: Line, name: str) -> float:
    """The time of an all-reduce over 8 GPUs, from its bus bandwidth."""
    return row.size * 2 * 7 / 8 / getattr(row, name)


sizes_grow("allreduce_h200")
alike("allreduce_h200", "busbw_queued", "busbw_nccl_tests", 0.08)
saturates("allreduce_h200", "busbw_symmetric", 0.99)
at_most("allreduce_h200", "busbw_symmetric", lambda r: nvls(specs.chip("h200_sxm"), 8))
at_most("allreduce_h200", "busbw_queued", lambda r: nvls(specs.chip("h200_sxm"), 8))


@rows("allreduce_h200")
def one_call_at_a_time(r) -> bool:
    """One call at a time takes 15 to 45 µs more than a queued one, to 2%."""
    one, queued = spent(r, "busbw"), spent(r, "busbw_queued")
    return 15 * us - 0.02 * one <= one - queued <= 45 * us + 0.02 * one


@rows("allreduce_h200")
def shortest_call(r) -> bool:
    """No call is shorter than the shortest one measured."""
    return spent(r, "busbw_symmetric") >= 0.9 * lines("allreduce_small_h200")[0].median_symmetric


alike("allreduce_small_h200", "median", "time_nccl_tests", 0.06)


@rows("allreduce_small_h200")
def overheads(r) -> bool:
    """The slowest of a hundred takes a tenth more, and the program itself 15 to 30 µs."""
    return 1 <= r.p99 / r.median <= 1.1 and 15 * us <= r.median_host - r.median <= 30 * us


@rows("allreduce_small_h200", lambda r: r.size >= 32 * KiB)
def as_by_size(r) -> bool:
    """The table of all sizes has nearly the same time."""
    return 0.8 <= spent(at("allreduce_h200", r.size), "busbw_queued") / r.median <= 1.05


@steps("allreduce_small_h200")
def longer_calls(a, b) -> bool:
    """More bytes take longer, but far less than in proportion."""
    return 0.9 <= b.median_symmetric / a.median_symmetric <= 1.5


RING = 0.7, 0.85  # of the links: what rings within a node are measured to take
share("nvls_by_gpu_count", *RING, "busbw_ring", lambda r: chip(r).nvlink_bw)
share("nvls_by_gpu_count", 0.99, 1.01, "busbw", lambda r: r.busbw_ring, lambda r: r.algorithm == "Ring")
share("nvls_by_gpu_count", 0.55, 0.75, "busbw", lambda r: nvls(chip(r), r.gpus), lambda r: r.algorithm == "NVLS")


@steps("nvls_by_gpu_count", lambda a, b: a.part == b.part)
def one_gpu_more(a, b) -> bool:
    """One GPU more in each row."""
    return b.gpus == a.gpus + 1


share("collectives_h200", *RING, "busbw", lambda r: specs.chip("h200_sxm").nvlink_bw, lambda r: r.algorithm == "Ring")
share(
    "collectives_b200",
    *RING,
    "busbw",
    lambda r: specs.chip("b200_sxm").nvlink_bw,
    lambda r: r.collective != "all-reduce",
)
share("collectives_b200", 0.65, 1.2, "busbw_symmetric", lambda r: r.busbw)


@rows("collectives_h200", lambda r: r.algorithm == "NVLS")
def as_nccl_tests(r) -> bool:
    """The table of all sizes has nearly the same bandwidth."""
    return near(r.busbw, at("allreduce_h200", 16 * GiB).busbw_nccl_tests, 0.01)


@rows("collectives_b200")
def slowest_calls(r) -> bool:
    """The slowest of a hundred calls takes up to a third more."""
    return 1 <= r.p99_1kib / r.median_1kib <= 1.35


@rows("collectives_b200", lambda r: r.collective == "all-reduce")
def all_reduce_of_b200(r) -> bool:
    """The table of all sizes has nearly the same bandwidth, and half of it at the size that is named."""
    half = near(at("allreduce_b200", r.half_peak).busbw_1, r.busbw / 2, 0.02)
    return half and near(r.busbw, at("allreduce_b200", 16 * GiB).busbw_1, 0.01)


sizes_grow("allreduce_a100")
bus("allreduce_a100", 2 * 7 / 8, "busbw", "time")

sizes_grow("allreduce_azure")
for name in ("a100_sxm", "h100_sxm", "h200_sxm", "gb200"):
    saturates("allreduce_azure", name, 0.97, latency=3)
for name in ("h100_sxm", "h200_sxm"):
    at_most("allreduce_azure", name, lambda r, name=name: nvls(specs.chip(name), 8))
for name in ("a100_sxm", "gb200"):
    at_most("allreduce_azure", name, lambda r, name=name: specs.chip(name).nvlink_bw)

sizes_grow("collectives_h100")
for name, factor in (
    ("all_reduce", 2 * 7 / 8),
    ("all_gather", 7 / 8),
    ("reduce_scatter", 7 / 8),
    ("all_to_all", 7 / 8),
):
    bus("collectives_h100", factor, name, f"{name}_time")
bus("collectives_h100", 1, "send_recv", "send_recv_time")

POINTS = {
    "8 H200, one vector of 4 GB": ("allreduce_h200", "busbw", 4 * GiB),
    "8 H200, vectors of 4 MB": ("allreduce_h200", "busbw_queued", 4 * MiB),
    "8 MI300X": ("allreduce_mi300x", "busbw_1", 4 * GiB),
}


@rows("allreduce_points", lambda r: r.system in POINTS)
def as_in_a_table(r) -> bool:
    """A table of all sizes has nearly the same bandwidth."""
    key, name, size = POINTS[r.system]
    return near(r.busbw, getattr(at(key, size), name), 0.02)


@rows("allreduce_points")
def full_nodes(r) -> bool:
    """Nodes of 8, and two GPUs where the row says so."""
    return (r.nodes, r.gpus) == (1, 2) if r.system.startswith("2 of") else r.gpus == 8 * r.nodes


@rows("allreduce_points", lambda r: r.system.startswith("2 of"))
def one_link_of_seven(r) -> bool:
    """Between two GPUs there is one link of seven."""
    return 0.7 <= r.busbw / (line("chip_specs", chip="MI300X").link_bw / 7) <= 0.85


share(
    "allreduce_points",
    0.65,
    0.85,
    "busbw",
    lambda r: line("chip_specs", chip="MI355X").link_bw,
    lambda r: "MI355X" in r.system,
)
share("allreduce_points", 0.75, 1, "busbw", lambda r: 8 * chip(r).nic_bw, lambda r: r.nodes == 4)
share("p2p_write", 0.8, 0.95, "measured", lambda r: r.peak)

saturates("allreduce_h100_figure", "busbw", 1)
at_most("allreduce_h100_figure", "busbw", lambda r: specs.chip("h100_sxm").nvlink_bw)


@rows("allreduce_stated", lambda r: r.what.endswith("largest"))
def largest(r) -> bool:
    """The figure, and another node, have nearly the same bandwidth."""
    off, on = lines("allreduce_h100_figure")[-1].busbw, at("collectives_h100", 16 * GiB).all_reduce
    return near(r.measured, off if "NVLS off" in r.what else on, 0.02)


@rows("allreduce_stated", lambda r: "bf16[" in r.what)
def array_that_is_named(r) -> bool:
    """Two bytes per element of the array."""
    return r.size == 2 * elements(r.what)


@rows("all_gather_stated")
def estimate_of_a_gather(r) -> bool:
    """The array, the time at the links' rate, and nearly the time on another node."""
    whole = 2 * elements(specs.measured("all_gather_stated").column("size").basis)
    model = r.size * (r.gpus - 1) / r.gpus / specs.chip("h100_sxm").nvlink_bw
    return (
        r.size == whole
        and near(model, r.model, 0.01)
        and near(r.time, at("collectives_h100", whole).all_gather_time, 0.1)
    )


@rows("gb300_nvl72")
def trays_and_racks(r) -> bool:
    """Four GPUs in a tray, and as many racks of 72 as it takes."""
    return r.gpus == 4 * r.trays and r.racks == ceil(r.gpus / 72)


alike("gb300_nvl72", "all_reduce_8g", "all_reduce", 0.05)
alike("gb300_nvl72", "all_to_all_8g", "all_to_all", 0.05)


@rows("nvswitch_links")
def counted_from_one(r) -> bool:
    """The switches are counted."""
    return r.switch == r._i + 1


# ---- collectives over several nodes

sizes_grow("allreduce_b200")
saturates("allreduce_b200", "busbw_1", 0.9, latency=4)
saturates("allreduce_b200", "busbw_4", 0.9, latency=3)
at_most("allreduce_b200", "busbw_1", lambda r: nvls(specs.chip("b200_sxm"), 8))
at_most("allreduce_b200", "busbw_4", lambda r: 8 * specs.chip("b200_sxm").nic_bw)
sizes_grow("allreduce_b200_earlier")
saturates("allreduce_b200_earlier", "busbw", 0.9)
share("allreduce_b200_nic", 0.999, 1.001, "nic_rate", lambda r: r.busbw / 8)
share("allreduce_b200_earlier", 0.999, 1.001, "nic_rate", lambda r: r.busbw * 3 / 31)


@rows("allreduce_b200_nic")
def the_same_run(r) -> bool:
    """The table of all sizes has the same bandwidth."""
    row = at("allreduce_b200", r.size)
    return row.size == r.size and near(row.busbw_4, r.busbw)


sizes_grow("collectives_h100_10_nodes")
bus("collectives_h100_10_nodes", 2 * 79 / 80, "all_reduce", "all_reduce_time")
for name in ("all_gather", "reduce_scatter", "all_to_all"):
    bus("collectives_h100_10_nodes", 79 / 80, name, f"{name}_time", size="size_sharded")

for name in ("all_reduce", "all_gather", "reduce_scatter"):
    share("collectives_by_gpus_per_node", 0.75, 1, name, lambda r: r.gpus_per_node * specs.link("ib_ndr").bw)


@rows("collectives_by_gpus_per_node")
def what_leaves_the_node(r) -> bool:
    """In an all-to-all a port carries what goes to the nine other nodes, at 85% to 100% of its rate."""
    away = 9 * r.gpus_per_node / (10 * r.gpus_per_node - 1)
    return 0.85 <= r.all_to_all * away / specs.link("ib_ndr").bw <= 1


sizes_grow("allreduce_h100_2_nodes")
bus("allreduce_h100_2_nodes", 2 * 15 / 16, "infiniband", "time_infiniband")
bus("allreduce_h100_2_nodes", 2 * 15 / 16, "tcpxo", "time_tcpxo")
sizes_grow("allreduce_mi300x")
bus("allreduce_mi300x", 2 * 7 / 8, "busbw_1", "time_1")
bus("allreduce_mi300x", 2 * 15 / 16, "busbw_2", "time_2")
for key, name, low, high in (
    ("allreduce_h100_2_nodes", "time_tcpxo", 0.8, 1.3),
    ("allreduce_mi300x", "time_1", 0.55, 1.45),
    ("allreduce_mi300x", "time_2", 0.8, 1.3),
):

    @steps(key, lambda a, b: b.size <= 16 * KiB)
    def short_calls(a, b, name=name, low=low, high=high) -> bool:
        """Short calls take nearly one time."""
        return low <= getattr(b, name) / getattr(a, name) <= high


# ---- experts, TPUs

sizes_grow("deepep_normal", "ranks")
share("deepep_normal", 0.85, 1.2, "dispatch", lambda r: r.peak)
share("deepep_normal", 0.85, 1.2, "combine", lambda r: r.peak)
sizes_grow("deepep_low_latency", "ranks")
SENT = 128 * 8 * 7168  # tokens, experts of a token, width: deepep, low-latency kernels
share("deepep_low_latency", 0.98, 1.02, "dispatch", lambda r: SENT * (1 + 4 / 128) / r.dispatch_time)  # fp8 and scales
share("deepep_low_latency", 0.97, 1.01, "combine", lambda r: SENT * 2 / r.combine_time)


@rows("tpu_all_gather")
def estimate_on_a_tpu(r) -> bool:
    """Three hops of a quarter of the array, at the rate that its authors count on, or of the latency."""
    ici = specs.link("tpu_ici_v5e")
    model = 3 * max(r.size / 4 / other(ici, "link_bw"), ici.latency)
    return r.size == 2 * elements(r.what) and near(r.model, model, 5e-3)


sizes_grow("tpu_v7x_all_gather", by=4)
alike("tpu_v7x_all_gather", "bw_2x2x1", "bw_2x2x2", 0.05)
share("tpu_v7x_all_gather", 0.9999, 1.0001, "transferred", lambda r: 1.5 * r.size)


# ---- training, components


@rows("megatron_weak_scaling")
def rates_of_megatron(r) -> bool:
    """The share of the peak, and the rate of all GPUs, as printed."""
    return abs(r.rate / specs.chip("a100_sxm").bf16 - r.share) < 0.006 and near(r.rate * r.gpus, r.aggregate, 0.005)


@rows("llama3_stages")
def degrees_of_llama(r) -> bool:
    """The degrees multiply to the GPUs, in the last row to half of them, as its note says."""
    return r.gpus == r.tp * r.cp * r.pp * r.dp * (2 if r.stage == "long context" else 1)


@rows("llama3_stages")
def tokens_of_llama(r) -> bool:
    """Sequences of all copies make up the tokens of a step, and the rate the share of the peak, as printed."""
    tokens = r.seq * r.batch * r.gpus / (r.tp * r.cp * r.pp)
    return near(r.tokens, tokens, 0.06) and abs(r.rate / specs.chip("h100_sxm").bf16 - r.mfu) < 0.006


@rows("llama3_hours")
def emissions_of_llama(r) -> bool:
    """As much CO2 per GPU-hour in all rows, as 700 W cause in a grid that emits 0.42 kg for a kWh."""
    return near(r.emissions * 1000, r.gpu_hours * 0.7 * 0.42, 0.03)


@check
def totals_of_llama() -> bool:
    """The models of each model card add up to its total, hours and emissions."""
    found = lines("llama3_hours")
    cards = (found[:3], found[3:])
    return all(
        near(sum(getattr(row, name) for row in card[:-1]), getattr(card[-1], name))
        for card in cards
        for name in ("gpu_hours", "emissions")
    )


@rows("deepseek_v3_cost")
def two_dollars_an_hour(r) -> bool:
    """Two dollars per GPU-hour."""  # deepseek-v3, table 1
    return near(r.cost, 2 * r.gpu_hours)


@check
def stages_of_deepseek() -> bool:
    """The stages add up to the total."""
    *stages, whole = (row.gpu_hours for row in lines("deepseek_v3_cost"))
    return near(sum(stages), whole)


@rows("clusters")
def cluster_of_meta(r) -> bool:
    """The degrees of its network multiply to the GPUs."""
    levels = ("h100_node", "llama3_rack", "llama3_pod", "llama3_cluster")
    return r.gpus == prod(specs.part("level", name).degree for name in levels)


@rows("superpod_components")
def components(r) -> bool:
    """Units of 32 nodes (one H100 is left out), 8 GPUs and cables a node, 8 leaves a unit, half of their ports up."""
    nodes = 32 * r.units - (r.part == "H100")
    return (r.nodes, r.gpus, r.node_leaf) == (nodes, 8 * nodes, 8 * nodes) and (
        64 * r.leaf == 64 * 8 * r.units == 2 * r.leaf_spine
    )


@rows("superpod_components")
def spines_and_cores(r) -> bool:
    """Spines have the ports that their cables need, and fewer than twice as many; all ports of the cores are taken."""
    up = r.spine_core or 0
    cores = r.core is None or 64 * r.core == up == r.leaf_spine
    return cores and r.leaf_spine + up <= 64 * r.spine < 2 * (r.leaf_spine + up)
