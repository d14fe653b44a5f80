"""Places of the data that state one thing. Two sources vouch for each other, one source cited twice does not."""

from __future__ import annotations

from collections.abc import Iterator

from specs.relating import CHECKS, near
from specs.watching import Check, Number

from gpuscale import specs
from gpuscale.units import SCALE

PORT = "link connectx_7.bw"  # of InfiniBand NDR, or of Ethernet: 400 Gbit/s
PORTS = """
    link ib_ndr.bw, link eth_400.bw, link quantum_2.link_bw, link transceiver_400g.bw, link transceiver_400g_mm.bw,
    chip h100_sxm.nic_bw, chip h200_sxm.nic_bw, chip h800_sxm.nic_bw, chip b200_sxm.nic_bw, chip gb200.nic_bw,
    cluster aws_p5.nic_bw,
    level h100_leaf.link_bw, level h100_spine.link_bw, level gb200_su.link_bw,
    level llama3_rack.link_bw, level llama3_pod.link_bw, level llama3_cluster.link_bw
"""
OTHERS = """
    chip h200_sxm.hbm_bw = chip gh200_hbm3e.hbm_bw; chip h100_sxm.hbm_bw = cluster h800.hbm_bw
    chip gh200.host_bw = chip gh200_hbm3e.host_bw; chip gh200.host_bw = link c2c.bw
    link ib_ndr.switch_ports = link quantum_2.switch_ports; link quantum_2.switch_ports = level h100_leaf.ports
    link quantum_2.switch_ports = level h100_spine.ports; level a100_leaf.link_bw = link ib_hdr.bw
    link ib_hdr.bw = link eth_200.bw; link ib_edr.bw = link eth_100.bw
    link ib_edr.lanes = link ib_hdr.lanes; link ib_hdr.lanes = link ib_ndr.lanes; link ib_ndr.lanes = link ib_xdr.lanes
    link transceiver_2x400g.bw = link copper_800g.bw; link transceiver_400g.power = link transceiver_400g_mm.power
    chip a100_sxm.l2 = chip a100_sxm_40gb.l2; level h100_node.degree = cluster aws_p5.per_node
    chip b300_sxm.hbm = chip gb300.hbm; chip b300_sxm.nic_bw = chip gb300.nic_bw
    link tpu_ici_v4.link_bw = torus tpu_v4_cube.link_bw
    topology h100_16384.gpus = cluster h100_superpod.gpus; topology h100_16384.gpus = cluster b200_superpod.gpus
    topology llama3_24k.gpus = cluster llama3_24k.gpus; model deepseek_v3.train_gpus = cluster h800.gpus
    chip mi300x.bf16 = chip mi325x.bf16; chip mi300x.fp8 = chip mi325x.fp8
    chip mi300x.nvlink_bw = chip mi325x.nvlink_bw
    model llama2_70b.vocab = model codellama_34b.vocab; model codellama_34b.kv_heads = model llama3_70b.kv_heads
"""

# Where a second source differs: 2,039 GB/s on the data sheet and 1,307 TFLOP/s, rounded; Google now writes GiB.
ROUNDED = {("a100_sxm", "hbm_bw"): 0.02, ("tpu_v5p", "hbm"): 0.07, ("mi300x", "bf16"): 0.01}
ROUNDED |= {("mi355x", name): 0.01 for name in ("bf16", "fp8", "nvlink_bw")}


def place(name: str) -> Number:
    kind, _, rest = name.strip().partition(" ")
    return Number(kind, *rest.split("."))


def _found(number: Number) -> bool:
    return number.field in specs.part(number.kind, number.key).fields


def _pairs() -> Iterator[tuple[Number, Number, float]]:
    """Two places, and how far apart two sources may lie that round."""
    for port in PORTS.split(","):
        yield place(PORT), place(port), 0
    for line in OTHERS.strip().replace("\n", ";").split(";"):
        a, b = line.split("=")
        yield place(a), place(b), 0
    yield from _chips()
    yield from _links()
    yield from _models()
    yield from _tables()


def _all(a: str, b: str, fields: str) -> Iterator[tuple[Number, Number, float]]:
    """Fields of two parts, "ours=theirs" where they have two names; fields that one of them lacks are left out."""
    for field in fields.split():
        ours, _, theirs = field.partition("=")
        pair = place(f"{a}.{ours}"), place(f"{b}.{theirs or ours}")
        if all(map(_found, pair)):
            yield *pair, 0


def _chips() -> Iterator[tuple[Number, Number, float]]:
    for c in specs.chips().values():
        if "link" in c and c.key != "h800_sxm":
            yield from _all(f"chip {c.key}", f"link {c.link}", "nvlink_bw=bw nvlink_links=links nvlink_link_bw=link_bw")
        if "pcie" in c:
            yield from _all(f"chip {c.key}", f"link {c.pcie}", "pcie_bw=bw")
        yield from _all(f"chip {c.key}", f"chip {c.key}", "bf16=fp16")
    for key in ("h200_sxm", "h800_sxm", "gh200", "gh200_hbm3e"):  # the GPU of the H100, with another memory
        rates = "sm base_clock boost_clock tensor_clock l2 bf16 fp8 int8 tf32 fp64_tensor fp32 fp64"
        yield from ((a, b, 0.02) for a, b, _ in _all("chip h100_sxm", f"chip {key}", rates))
    yield from _all("chip h100_sxm", "chip h100_pcie", "l2")
    for key in ("v5e", "v5p"):
        yield from _all(f"chip tpu_{key}", f"link tpu_ici_{key}", "ici_links=links ici_link_bw=link_bw pod_chips")
        yield from _all(f"link tpu_ici_{key}", f"torus tpu_{key}_pod", "link_bw pod_chips=gpus")
    yield place("link tpu_ici_v4.link_bw")._replace(at=0), place("link tpu_ici_v5e.link_bw")._replace(at=0), 0


def _links() -> Iterator[tuple[Number, Number, float]]:
    switch = "link_bw switch_ports switch_generation"
    for link, chip in (("nvlink_2", 1), ("nvlink_3", 2), ("nvlink_4", 3), ("nvlink_5", 4)):
        yield from _all(f"link {link}", f"link nvswitch_{chip}", switch)
    for link, chip in (("nvlink_3", 2), ("nvlink_4", 3), ("nvl72", 4)):
        yield from _all(f"link {link}", f"link nvswitch_{chip}", "node_gpus node_switches")
    yield from _all("link nvlink_5", "link nvl72", "bw links link_bw switch_ports")
    node = "node_gpus=degree links=cables link_bw node_switches=switches switch_ports=ports"
    for link, level, network in (
        ("nvlink_3", "a100_node", "dgx_a100"),
        ("nvlink_4", "h100_node", "dgx_h100"),
        ("nvlink_5", "b200_node", "dgx_b200"),
        ("nvl72", "gb200_rack", "gb200_nvl72"),
    ):
        yield from _all(f"link {link}", f"level {level}", node)
        yield from _all(f"topology {network}", f"level {level}", "gpus=degree")
    for mesh, link in (("dgx1_p100", "nvlink_1"), ("dgx1_v100", "nvlink_2")):
        yield from _all(f"link {link}", f"mesh {mesh}", "link_bw links=gpu_links")


def _models() -> Iterator[tuple[Number, Number, float]]:
    for key, model in specs.models().items():
        if model.get("kv_heads") == model.heads:
            yield from _all(f"model {key}", f"model {key}", "heads=kv_heads")
        if "positions" in model:
            yield from _all(f"model {key}", f"model {key}", "positions=max_tokens positions=train_seq")
        if key.startswith("llama3"):
            yield from _all("model llama3_8b", f"model {key}", "vocab kv_heads max_tokens train_seq")
        if key.startswith("megatron"):
            yield from _all("model megatron_1_7b", f"model {key}", "vocab positions")


def _tables() -> Iterator[tuple[Number, Number, float]]:
    def rows(table: str, column: str, part: str, field: str, off: float = 0) -> Iterator:
        for i, row in enumerate(specs.measured(table).rows):
            found = place(part.format(**row) + "." + field)
            if row[column] == row[column] and "-." not in str(found) and _found(found):
                yield Number("measured", table, column, i), found, off

    for column in ("bf16", "fp8", "hbm", "hbm_bw", "link_bw"):
        for cell, found, _ in rows("chip_specs", column, "chip {part}", column.replace("link", "nvlink")):
            yield cell, found, ROUNDED.get((found.key, found.field), 3e-3)
    yield from rows("mamf_bf16", "peak", "chip {part}", "bf16", 1e-3)
    yield from rows("mamf_fp8", "peak", "chip {part}", "fp8", 1e-3)
    yield from rows("peak_from_clock", "clock", "chip {part}", "tensor_clock")
    for cell, found, _ in rows("peak_from_clock", "peak", "chip {part}", "bf16"):
        yield cell, found, ROUNDED.get((found.key, found.field), 1e-3)
    yield from rows("l2_bandwidth", "bandwidth", "chip {part}", "l2_bw")
    yield from rows("p2p_write", "peak", "chip {part}", "nvlink_bw")
    yield from rows("allreduce_stated", "model", "chip h100_sxm", "nvlink_bw")
    yield from list(rows("deepep_normal", "peak", "chip h800_sxm", "nic_bw"))[1:]
    yield from rows("clusters", "port", "level llama3_rack", "link_bw")
    yield from rows("clusters", "gpus", "topology llama3_24k", "gpus")
    yield from rows("megatron_weak_scaling", "params", "model {model}", "params")
    every_slot = max(i for i, row in enumerate(specs.measured("read_by_threads").rows) if row["part"] == "h200_sxm")
    yield Number("measured", "read_by_threads", "bandwidth", every_slot), Number("measured", "stream_hbm", "read", 0), 0
    for i, seq in enumerate(("train_seq", "train_seq", "max_tokens")):
        yield Number("measured", "llama3_stages", "seq", i), place(f"model llama3_405b.{seq}"), 0


def value(number: Number) -> float:
    """The value at a place, in base units."""
    if number.kind == "measured":
        table = specs.measured(number.key)
        cell = table.printed[number.at][table.columns.index(number.field)]
        return cell * SCALE[table.column(number.field).unit][0]
    spec = specs.part(number.kind, number.key).spec(number.field)
    return spec.base if number.at is None else spec.others[number.at].base


PAIRS = []
for a, b, off in _pairs():
    billions = 1e9 if (a.key, a.field) == ("megatron_weak_scaling", "params") else 1
    if a != b:
        PAIRS.append((a, b))

        def one_thing(a=a, b=b, off=off, billions=billions) -> bool:
            return near(billions * value(a), value(b), off or 1e-9)

        CHECKS.append(Check(f"{a} and {b} state one thing", one_thing))
