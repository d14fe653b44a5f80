"""Chips and compute capabilities: units times clock, formats, totals, measurements, other sources.

A number written out here is itself published; its source is next to it.
"""

from __future__ import annotations

import re
from math import prod

from specs.relating import each, lines, near, of, other

from gpuscale import specs
from gpuscale.units import GB, SCALE, GHz

# ---- what an entry prints next to its number: totals, products


def total(printed: str) -> tuple[float, float] | None:
    """A printed total in base units, and how many of ours it holds; None for what is printed as it is."""
    found = re.match(r"([\d,.]+) ([GMTPE]?B/s|GB|[TP](?:FLOPS|OPS))\b", printed)
    many = (2 if "both directions" in printed else 1) * (2 if "with sparsity" in printed else 1)
    many *= prod(map(int, re.findall(r"(\d+) (?:GPUs|links)", printed)))
    if not found or many == 1:
        return None
    return float(found[1].replace(",", "")) * SCALE[re.sub("FLOPS|OPS", "FLOP/s", found[2])][0], many


def rounding(printed: str) -> float:
    """Half a unit of the last digit that is printed, as a share of the number."""
    number = re.match(r"[\d,.]+", printed)[0].replace(",", "")
    return 0.5 * 10.0 ** -len(number.partition(".")[2]) / float(number)


for part in (p for kind in ("chip", "link", "torus") for p in specs.parts(kind).values()):
    for name, said in ((field, part.spec(field).printed) for field in part.fields):
        if total(said):

            @of(part.kind, part.key, also=f" {name}: {said}")
            def printed_total(p, name=name, said=said) -> bool:
                """So many make up the total that is printed,"""
                whole, many = total(said)
                return near(many * p.spec(name).base, whole, rounding(said) * (1 + 1e-9))

        if found := re.match(r"(\d+) lanes of ([\d.]+) GB/s", said):

            @of(part.kind, part.key, also=f" {name}: {said}")
            def printed_lanes(p, name=name, lanes=int(found[1]), rate=float(found[2]) * GB) -> bool:
                """Lanes times rate as printed,"""
                return near(p.spec(name).base, lanes * rate)


@each("capability", "tensor_flop_per_cycle", but="cc_10_0")
def multiply_adds(c) -> bool:
    """A multiply-add is two FLOPs."""
    return c.tensor_flop_per_cycle == 2 * int(re.match(r"(\d+) FMA", c.spec("tensor_flop_per_cycle").printed)[1])


@each("capability", "tmem_per_sm")
def tensor_memory(c) -> bool:
    """Columns times rows times bits, as printed."""
    return c.tmem_per_sm == prod(map(int, re.findall(r"\d+", c.spec("tmem_per_sm").printed))) / 8


@each("capability", "register_file_per_sm")
def printed_registers(c) -> bool:
    """64 K of 32 bits, as printed."""
    return (
        c.register_file_per_sm == prod(map(int, re.findall(r"\d+", c.spec("register_file_per_sm").printed))) * 1024 / 8
    )


# ---- peaks


def behind_the_peak(c: specs.Part) -> float:
    """The clock at which the Tensor Cores reach their peak."""
    return c.fp16 / (c.sm * c.tensor_cores_per_sm * c.tensor_flop_per_cycle)


@each("chip", "sm tensor_cores_per_sm tensor_clock fp16")
def tensor_peak(c) -> bool:
    """SMs x Tensor Cores x FLOPs per cycle x their clock is the peak."""
    return near(behind_the_peak(c), c.tensor_clock, 3e-3)


@each("chip", "sm tensor_cores_per_sm boost_clock fp16")
def tensor_clock(c) -> bool:
    """The clock behind the peak is 85% to 100% of the highest one."""
    return 0.85 < behind_the_peak(c) / c.boost_clock < 1.003


for field in ("fp32", "fp64"):

    @each("chip", f"sm boost_clock {field}_lanes_per_sm {field}")
    def vector_peak(c, field=field) -> bool:
        """SMs x lanes x 2 x clock is the peak of the lanes, and not what an early brief has."""
        ours = c.sm * c.get(f"{field}_lanes_per_sm") * 2 * c.boost_clock
        early = [one.base for one in c.spec(field).others if "brief" in one.why]
        return near(ours, c.get(field), 0.02) and not any(near(ours, value, 0.05) for value in early)


for narrow, wide, but in (
    ("fp8", "bf16", ""),
    ("fp4", "fp8", "b300_sxm gb300"),  # built for fp4, at the cost of int8 and fp64
    ("int8", "bf16", "b300_sxm"),
    ("bf16", "tf32", ""),
):

    @each("chip", f"{narrow} {wide}", but=but)
    def half_the_bits(c, narrow=narrow, wide=wide) -> bool:
        """Half the bits, twice the rate."""
        return near(c.get(narrow), 2 * c.get(wide), 1.1e-3)


@of("chip", "b300_sxm")
def fp4_of_the_b300(c) -> bool:
    """The rate in fp4 is three times that in fp8, to 15%."""
    return near(c.fp4, 3 * c.fp8, 0.15)


@each("chip", "fp32 fp64", but="b300_sxm")
def half_as_many_lanes(c) -> bool:
    """The lanes do half as much in fp64 as in fp32."""
    return near(c.fp32, 2 * c.fp64, 0.02)


@each("chip", "fp64_tensor fp64")
def tensor_cores_in_fp64(c) -> bool:
    """Tensor Cores do twice as much in fp64 as the lanes; from Blackwell on as much."""
    return near(c.fp64_tensor, (1 if c.architecture.startswith("Blackwell") else 2) * c.fp64, 0.02)


@each("chip", "nvlink_bw nvlink_links nvlink_link_bw")
def links_times_rate(c) -> bool:
    """The NVLinks of a GPU times their rate."""
    return near(c.nvlink_bw, c.nvlink_links * c.nvlink_link_bw)


@of("chip", "h800_sxm")
def slower_links(c) -> bool:
    """The export version has slower links than NVLink 4."""
    return c.nvlink_bw < specs.link(c.link).bw


@each("chip", "hbm", but="gb200 gb300 tpu_v5e tpu_v5p")
def name_of_the_product(c) -> bool:
    """The product's name states its memory."""
    return c.spec("hbm").value == float(re.search(r"(\d+) GB", c.title)[1])


# ---- TPUs

V5E_CLOCK = 1.5 * GHz  # scaling-book-tpus, what is a TPU


@of("chip", "tpu_v5e", "tpu_v5p")
def systolic_peak(c) -> bool:
    """Cores x MXUs x width² x 2 x the clock of the v5e is the peak, to a fifth for the v5p, whose clock is higher."""
    of_a_core = c.mxu_per_core * c.mxu_width**2 * 2 * V5E_CLOCK
    return near(c.cores_per_chip * of_a_core, c.bf16, 3e-3 if c.key == "tpu_v5e" else 0.2)


@each("chip", "vpu_alus_per_core")
def lanes_of_a_tpu(c) -> bool:
    """A vector unit has 8 x 128 lanes, one ALU of each in a slot."""
    return c.vpu_alus_per_core == c.vpu_per_core * c.vpu_slots_per_core * 8 * 128


@each("chip", "vregs_per_core")
def registers_of_a_tpu(c) -> bool:
    """64 registers of 8 x 128 fp32 elements."""  # scaling-book-tpus, appendix
    return c.vregs_per_core == 64 * 8 * 128 * 4


@each("chip", "ici_links")
def axes_of_a_torus(c) -> bool:
    """Two links for each axis of the torus."""
    return f"{c.ici_links / 2:g}D torus" in c.spec("ici_links").basis


PRICES = {"tpu_v5p": 1.09e14, "tpu_v5e": 1.64e14}  # scaling-book-inference, table of prices


@of("chip", *PRICES)
def rate_for_a_dollar(c) -> bool:
    """The peak over the price of an hour is the rate per dollar next to them."""
    return near(c.bf16 / c.price_per_hour, PRICES[c.key], 5e-3)


# ---- compute capabilities


@each("capability", "warp_size")
def threads_of_the_warps(c) -> bool:
    """Threads are warps times their threads."""
    return c.max_threads_per_sm == c.warp_size * c.max_warps_per_sm


@each("capability", "smem_per_block")
def shared_memory(c) -> bool:
    """What a block can use and its reserve make up the whole."""
    return near(c.smem_per_block + c.smem_reserved_per_block, c.smem_per_sm)


@each("capability", "smem_per_sm smem_l1_per_sm")
def room_for_l1(c) -> bool:
    """Shared memory leaves something for the L1."""
    return c.smem_per_sm < c.smem_l1_per_sm


@each("capability", "register_file_per_sm")
def registers(c) -> bool:
    """Registers of 4 bytes."""
    return near(c.register_file_per_sm, 4 * c.registers_per_sm)


@each("capability", "registers_per_sm")
def eight_full_warps(c) -> bool:
    """With 256 registers per thread there is room for 8 warps."""  # scaling-book-gpus, memory
    return c.registers_per_sm == 8 * c.warp_size * 256


@each("capability", "warp_allocation_unit")
def warps_by_subpartition(c) -> bool:
    """One warp per subpartition."""
    return c.warp_allocation_unit == c.subpartitions_per_sm


@each("capability", "max_registers_per_thread")
def names_of_registers(c) -> bool:
    """Eight bits name a register, and one name is the zero."""
    return c.max_registers_per_thread == 2**8 - 1


@each("capability", "smem_bytes_per_cycle")
def banks(c) -> bool:
    """One bank of 4 bytes per thread of a warp."""
    return c.smem_bytes_per_cycle == 4 * c.warp_size


# ---- measurements are below the peak, and not far below


@of("chip", "a100_sxm", "h100_pcie", "h200_sxm")
def data_beyond_the_l2(c) -> bool:
    """The bandwidth is half-way from the cache's to the memory's at a size near the cache's."""
    mine = [row for row in lines("l2_by_size") if row.part == c.key]
    half = (mine[3].bandwidth + mine[-1].bandwidth) / 2
    return 0.7 < next(row.size for row in mine if row.bandwidth < half) / c.l2 < 1.1


@of("chip", "v100_sxm2", "h200_sxm")
def copies_in_hbm(c) -> bool:
    """A copy takes 55% to 100% of the peak."""
    return 0.55 < next(row.copy for row in lines("stream_hbm") if row.part == c.key) / c.hbm_bw < 1


@of("chip", "h100_pcie")
def two_programs_on_the_l2(c) -> bool:
    """Two programs find the bandwidth of the L2, within a third, and one of them with data of 8 MiB."""
    found = next(row.bandwidth for row in lines("l2_by_size") if row.part == c.key and row.size > 8e6)
    return 0.7 < c.l2_bw / other(c, "l2_bw") < 1.3 and near(other(c, "l2_bw"), found, 0.03)


@of("chip", "h100_pcie")
def l2_beside_hbm(c) -> bool:
    """The L2 is 2.75 times as fast as the HBM, as its note says."""
    return near(c.l2_bw, 2.75 * c.hbm_bw) and "2.75 times" in c.spec("l2_bw").note


# ---- what other sources have


for part in (p for kind in ("chip", "link", "model", "capability", "torus") for p in specs.parts(kind).values()):
    for name, i in ((field, i) for field in part.fields for i in range(len(part.spec(field).others))):
        if near(other(part, name, i), part.spec(name).base, 0.06):

            @of(part.kind, part.key, also=f" {name}")
            def second_source(p, name=name, i=i) -> bool:
                """Two sources agree within 6%,"""
                return near(other(p, name, i), p.spec(name).base, 0.06)


@of("chip", "h100_sxm")
def other_h100(c) -> bool:
    """Sparse is twice dense; a course has the memory of the NVL and the link of PCIe 7."""
    sparse, nvl = near(other(c, "bf16"), 2 * c.bf16, 1e-3), specs.chip("h100_nvl")
    return sparse and near(other(c, "hbm_bw"), nvl.hbm_bw) and near(other(c, "pcie_bw", 1), specs.link("pcie_7").bw)


@of("chip", "h100_sxm")
def other_clocks(c) -> bool:
    """For the Tensor Cores one source has the clock of the PCIe version, another the highest one."""
    card, highest = other(c, "tensor_clock"), other(c, "tensor_clock", 1)
    return near(card, specs.chip("h100_pcie").boost_clock, 5e-3) and near(highest, c.boost_clock)


@of("chip", "b200_sxm")
def early_b200(c) -> bool:
    """80 TFLOP/s are those of a GB200; a B200 would need the clock that the scaling book infers."""
    needed = other(c, "fp32") / (c.sm * c.fp32_lanes_per_sm * 2)
    return near(other(c, "fp32"), specs.chip("gb200").fp32) and near(other(c, "boost_clock"), needed, 0.01)


@of("chip", "gb200")
def early_gb200(c) -> bool:
    """An early brief has half as much fp64 as fp32."""
    return near(other(c, "fp32"), 2 * other(c, "fp64"))


@of("chip", "gb200")
def two_b200(c) -> bool:
    """The scaling book takes it for two announced B200, and its CPU for as near as a GPU."""
    b200 = specs.chip("b200_sxm")
    announced = near(other(c, "hbm"), other(b200, "hbm")) and near(other(c, "bf16"), b200.bf16)
    return announced and near(other(c, "host_bw"), c.nvlink_bw)


@of("chip", "b300_sxm")
def other_b300(c) -> bool:
    """One source has the int8 of a B200, and 15 PFLOP/s for 13.1; of the memory 90% to 100% is usable."""
    rounded = near(other(c, "fp4"), c.fp4, 0.15) and 0.9 < other(c, "hbm") / c.hbm < 1
    return rounded and near(other(c, "int8"), specs.chip("b200_sxm").int8)


@of("chip", "tpu_v5e", "tpu_v5p")
def bits_for_bytes(c) -> bool:
    """The Gbit/s of the interconnect stand for the GB/s of the memory."""
    links = specs.link(c.key.replace("tpu", "tpu_ici"))
    return near(c.spec("hbm_bw").others[-1].base, 8 * links.bw)


@of("chip", "tpu_v5p")
def gb_for_gib(c) -> bool:
    """95 GiB were written as 95 GB, and 128 MiB as 120 MB in the same chapter."""
    return near(other(c, "hbm", 1) / 1e9, c.hbm / 2**30) and near(other(c, "vmem"), c.vmem, 0.12)


@of("chip", "h800_sxm")
def what_deepseek_counts_on(c) -> bool:
    """The authors of DeepSeek-V3 count on what DeepEP calls the maximum."""
    return near(other(c, "nvlink_bw"), lines("deepep_normal")[0].peak)


@of("capability", "cc_7_0")
def other_volta(c) -> bool:
    """The scaling book has the carve-out for the whole, and both Tensor Cores of a subpartition for one."""
    two = c.tensor_flop_per_cycle * c.tensor_cores_per_sm / c.subpartitions_per_sm
    return near(other(c, "smem_l1_per_sm"), c.smem_per_sm) and near(other(c, "tensor_flop_per_cycle"), two)


@of("capability", "cc_9_0")
def cache_of_ampere(c) -> bool:
    """Another source has the value of Ampere."""
    return near(other(c, "smem_l1_per_sm"), specs.capability("cc_8_0").smem_l1_per_sm)


@of("chip", "a100_sxm_40gb")
def half_the_memory(c) -> bool:
    """Half the memory of the later version, with an interface of 5,120 bits at 1215 MHz, two per cycle."""
    return 2 * c.hbm == specs.chip("a100_sxm").hbm and near(c.hbm_bw, 5120 / 8 * 2 * 1.215e9, 1e-3)


@of("chip", "gb300")
def memory_of_a_rack(c) -> bool:
    """72 GPUs read 576 TB/s."""  # verda-gb300
    return near(72 * c.hbm_bw, 576e12)


@of("chip", "mi300x")
def twice_as_fast_in_fp8(c) -> bool:
    """fp8 is twice as fast as 16 bits, and 7 links of 64 GB/s make up the bandwidth."""  # ml-engineering, network
    return near(c.fp8, 2 * c.bf16, 1e-4) and c.fp16 == c.bf16 and c.nvlink_bw == 7 * 64 * GB
