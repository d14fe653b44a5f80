"""Nodes, pods, switches: published counts and bandwidths beside those of the topologies and the formulas."""

from published.rows import BOOK, NOTES, Row

from gpuscale.network import (
    Torus,
    collective_bandwidth,
    gpu_egress,
    node_egress,
    node_gpus_bandwidth,
    switch_bandwidth,
    top_switches,
    topology,
)
from gpuscale.specs import chip, link
from gpuscale.units import GB, TB

NODE, BEYOND = f"{BOOK}, at the node level", f"{BOOK}, beyond the node level"
SUMMARY, APPENDIX = f"{BOOK}, cross-node collectives, summary table", f"{BOOK}, appendix B"
CS8, CS7 = "cs336, lecture 8, hardware for GPUs", "cs336, lecture 7, TPU against GPU"


def pod():
    return topology("h100_pod_1024")


def tier(name, key="h100_pod_1024"):
    return topology(key).at(name)


def egress(key):
    part = link(key)
    return gpu_egress(n_link=part.links, W_link=part.link_bw)


def switches(key):
    part = link(key)
    cables = part.node_gpus * part.links
    return top_switches(n_down=cables, n_port=part.switch_ports)


def level(name):
    """The five columns of a level in the tables."""
    one = tier(name)
    return {
        "gpus": one.S,
        "degree": one.degree,
        "switches": one.level.switches,
        "switch": one.switch_bw,
        "cable": one.unit_bw,
        "each": one.per_gpu_bw,
        "collective": one.collective_bw,
    }


def table(where, columns, rows):
    """A printed table, a row for each number."""
    for name, *values in rows:
        for column, value in zip(columns, values, strict=True):
            yield Row(where, f"{name}: {column}", value, lambda name=name, column=column: level(name)[column])


NVLINK = [
    Row(NODE, f"{name}: {what}", value, lambda key=key, get=get: get(key))
    for name, key, numbers in (
        ("Ampere", "nvlink_3", (25 * GB, 12, 300 * GB, 2)),
        ("Hopper", "nvlink_4", (25 * GB, 18, 450 * GB, 3)),
        ("Blackwell", "nvlink_5", (50 * GB, 18, 900 * GB, 4)),
    )
    for (what, get), value in zip(
        (
            ("bandwidth of a link", lambda key: link(key).link_bw),
            ("links of a GPU", lambda key: link(key).links),
            ("GPU to GPU", egress),
            ("switch generation", lambda key: link(key).switch_generation),
        ),
        numbers,
        strict=True,
    )
]

ROWS = [
    Row(f"{BOOK}, networking", "GPUs of a node", 8, lambda: topology("dgx_h100").ranks),
    Row(f"{BOOK}, networking", "GPUs of a GB200 node", 72, lambda: topology("gb200_nvl72").ranks),
    Row(
        f"{BOOK}, networking, caption",
        "NVLink egress of a NODE",
        450 * GB,
        lambda: node_gpus_bandwidth(D_1=8, W_nvl=egress("nvlink_4")),
        "disagrees",
        3.6 * TB,
    ),
    Row(
        f"{BOOK}, networking, caption",
        "egress of a node into InfiniBand",
        400 * GB,
        lambda: node_egress(n_nic=8, W_nic=link("connectx_7").bw),
    ),
    Row(NODE, "NVSwitches of an H100 node", 4, lambda: topology("dgx_h100").switches),
    Row(NODE, "links of a GPU, 5 + 4 + 4 + 5", 5 + 4 + 4 + 5, lambda: tier("Node").level.cables),
    Row(NODE, "egress of a GPU", 450 * GB, lambda: egress("nvlink_4")),
    Row(NODE, "ports of an NVSwitch", 64, lambda: link("nvlink_4").switch_ports),
    Row(NODE, "bandwidth of four switches", 6.4 * TB, lambda: tier("Node").switch_bw),
    *NVLINK,
    Row(NODE, "NVSwitches of an Ampere node", 6, lambda: topology("dgx_a100").switches),
    Row(NODE, "NVSwitches of a Hopper node", 4, lambda: link("nvlink_4").node_switches),
    Row(NODE, "NVSwitches of a Blackwell node of 8", 2, lambda: switches("nvlink_5")),
    Row(NODE, "NVSwitches of an NVL72", 18, lambda: switches("nvl72")),
    Row(
        f"{BOOK}, quiz 2 question 1",
        "one NVSwitch",
        1.6 * TB,
        lambda: switch_bandwidth(n_sw=1, n_port=64, W_link=link("nvlink_4").link_bw),
    ),
    Row(
        f"{BOOK}, quiz 2 question 1",
        "all switches",
        6.4 * TB,
        lambda: switch_bandwidth(n_sw=4, n_port=64, W_link=link("nvlink_4").link_bw),
    ),
    Row(
        f"{BOOK}, quiz 2 question 1",
        "what the GPUs can send",
        3.6 * TB,
        lambda: node_gpus_bandwidth(D_1=8, W_nvl=450 * GB),
    ),
    Row(
        f"{BOOK}, quiz 2 question 2",
        "bisection of a node, both ways",
        3.6 * TB,
        lambda: topology("dgx_h100").bisection_both_ways,
    ),
    Row(BEYOND, "GPUs of the reference system", 1024, lambda: pod().ranks),
    Row(f"{BEYOND}, caption", "1024 nodes", 1024, lambda: pod().nodes, "disagrees", 128),
    Row(BEYOND, "NICs of a node", 8, lambda: tier("Leaf").level.cables),
    Row(BEYOND, "GPUs of a scalable unit", 256, lambda: tier("Leaf").S),
    Row(NOTES, "nodes of a scalable unit", 32, lambda: tier("Leaf").degree),
    Row(BEYOND, "leaf switches of a unit", 8, lambda: tier("Leaf").level.switches),
    Row(BEYOND, "an NDR link", 50 * GB, lambda: link("ib_ndr").bw),
    Row(BEYOND, "ports of an NDR switch", 64, lambda: link("quantum_2").switch_ports),
    Row(
        BEYOND,
        "an InfiniBand switch over an NVSwitch",
        2,
        lambda: tier("Leaf").switch_bw / 8 / (tier("Node").switch_bw / 4),
    ),
    Row(BEYOND, "NVSwitches of the pod", 512, lambda: tier("Node").switches_total),
    Row(BEYOND, "leaf switches of the pod", 32, lambda: tier("Leaf").switches_total),
    Row(BEYOND, "spine switches of the pod", 16, lambda: tier("Spine").switches_total),
    Row(BEYOND, "switches of the pod", 560, lambda: pod().switches),
    Row(BEYOND, "from a node to the other half", 400 * GB, lambda: pod().bisection / (pod().nodes / 2)),
    *table(
        f"{BEYOND}, table",
        ("gpus", "switches", "cable", "each", "collective"),
        [
            ("Node", 8, 4, 3.6 * TB, 450 * GB, 450 * GB),
            ("Leaf", 256, 8, 12.8 * TB, 50 * GB, 400 * GB),
            ("Spine", 1024, 16, 51.2 * TB, 50 * GB, 400 * GB),
        ],
    ),
    *table(
        SUMMARY,
        ("gpus", "degree", "switch", "cable", "collective"),
        [
            ("Node", 8, 8, 6.4 * TB, 3.6 * TB, 450 * GB),
            ("Leaf", 256, 32, 25.6 * TB, 12.8 * TB, 400 * GB),
            ("Spine", 1024, 4, 51.2 * TB, 51.2 * TB, 400 * GB),
        ],
    ),
    Row(
        SUMMARY,
        "collective bandwidth of a node from its bisection, as counted both ways",
        900 * GB,
        lambda: collective_bandwidth(W_bis=topology("dgx_h100").bisection, N=8),
        "disagrees",
        450 * GB,
    ),
    Row(BEYOND, "a link of TPU v5p", 90 * GB, lambda: topology("tpu_v5p_pod").link_bw, "disagrees", 100 * GB),
    Row(
        BEYOND,
        "egress of a TPU v5p",
        540 * GB,
        lambda: gpu_egress(n_link=topology("tpu_v5p_pod").links_per_chip, W_link=90 * GB),
    ),
    Row(BEYOND, "chips of a v5p pod", 8960, lambda: topology("tpu_v5p_pod").ranks),
    Row(f"{BEYOND}, GB200", "GPU to GPU in a rack", 900 * GB, lambda: egress("nvl72")),
    Row(f"{BEYOND}, GB200", "egress of a rack", 4 * 18 * 400e9 / 8, lambda: tier(2, "gb200_superpod_576").child_bw),
    Row(
        f"{BEYOND}, GB200",
        "egress of a rack over that of an H100 node",
        9,
        lambda: tier(2, "gb200_superpod_576").child_bw / tier("Leaf").child_bw,
    ),
    Row(f"{BEYOND}, GB200", "GPUs of a SuperPOD", 576, lambda: topology("gb200_superpod_576").ranks),
    *(
        Row(f"{BEYOND}, node table", f"{name}: {what}", value, lambda key=key, get=get: get(topology(key)))
        for name, key, numbers in (
            ("H100", "h100_pod_1024", (8, 450 * GB, 400 * GB)),
            ("B200", "b200_pod_1024", (8, 900 * GB, 400 * GB)),
            ("GB200", "gb200_superpod_576", (72, 900 * GB, 3600 * GB)),
        )
        for (what, get), value in zip(
            (
                ("GPUs of a node", lambda top: top.at(1).S),
                ("egress of a GPU", lambda top: top.at(1).child_bw),
                ("egress of a node", lambda top: top.at(2).child_bw),
            ),
            numbers,
            strict=True,
        )
    ),
    Row(f"{BOOK}, quiz 3 question 1", "node to leaf", 400 * GB, lambda: tier("Leaf").child_bw),
    Row(f"{BOOK}, quiz 3 question 1", "one leaf switch", 3.2 * TB, lambda: tier("Leaf").switch_bw / 8),
    Row(f"{BOOK}, quiz 3 question 1", "leaves of a unit", 12.8 * TB, lambda: tier("Leaf").unit_bw),
    Row(
        f"{BOOK}, quiz 3 question 1",
        "the printed expression 32*400/8, which is one leaf",
        12.8 * TB,
        lambda: tier("Leaf").switch_bw_down / 8,
        "disagrees",
        1.6 * TB,
    ),
    Row(f"{BOOK}, quiz 3 question 1", "unit to spine", 12.8 * TB, lambda: tier("Spine").child_bw),
    Row(f"{BOOK}, quiz 3 question 1", "one spine switch", 3.2 * TB, lambda: tier("Spine").switch_bw / 16),
    Row(f"{BOOK}, quiz 3 question 1", "the spine level", 51.2 * TB, lambda: tier("Spine").unit_bw),
    Row(f"{BOOK}, quiz 3 question 1", "per node at the spine", 400 * GB, lambda: tier("Spine").per_node_bw),
    Row(
        f"{BOOK}, quiz 3 question 1",
        "400 GB/s per GPU across any bisection",
        400 * GB,
        lambda: pod().bisection / (pod().ranks / 2),
        "disagrees",
        50 * GB,
    ),
    Row(f"{BOOK}, quiz 3 question 2", "units of 2,048 GPUs", 8, lambda: tier("Leaf", "h100_2048").units),
    Row(
        f"{BOOK}, quiz 3 question 2",
        "spines of 2,048 GPUs, as 32 for each unit",
        8 * 32,
        lambda: tier("Spine", "h100_2048").switches_total,
        "disagrees",
        32,
    ),
    Row(
        f"{BOOK}, quiz 3 question 2",
        "ports of a leaf in use",
        32 + 16 * 2,
        lambda: (tier("Leaf").ports_down + tier("Leaf").ports_up) / tier("Leaf").level.switches,
    ),
    Row(
        f"{BOOK}, quiz 3 question 2",
        "uplinks of a unit, one cable a spine over two",
        1,
        lambda: tier("Spine", "h100_2048").child_bw / tier("Spine").child_bw,
    ),
    Row(f"{BOOK}, quiz 3 question 2", "spines of 4,096 GPUs", 128, lambda: tier("Spine", "h100_4096").switches_total),
    Row(
        f"{BOOK}, quiz 3 question 2",
        "core switches of 4,096 GPUs",
        64,
        lambda: tier("Core", "h100_4096").switches_total,
    ),
    Row(
        f"{BOOK}, quiz 3 question 2",
        "core bandwidth over that of all NICs",
        1,
        lambda: tier("Core", "h100_4096").switch_bw / (4096 * link("ib_ndr").bw),
    ),
    Row(f"{BOOK}, appendix A", "egress of a GB200 node", 3600 * GB, lambda: tier(2, "gb200_superpod_576").child_bw),
    Row(
        f"{BOOK}, appendix A",
        "cross-node rooflines improve by about",
        4,
        lambda: tier(2, "gb200_superpod_576").child_bw / tier("Leaf").child_bw / (2250 / 990),
        "rounds",
        3.96,
    ),
    Row(
        f"{BOOK}, appendix A",
        "host memory over a peer's HBM, GB200",
        1,
        lambda: link("c2c").bw / egress("nvl72"),
        "disagrees",
        0.5,
    ),
    Row(APPENDIX, "ports of an NVSwitch", 64, lambda: tier("Node").level.ports),
    Row(APPENDIX, "lanes of a port", 2, lambda: link("nvlink_4").lanes),
    Row(APPENDIX, "switches of a node", 6.4 * TB, lambda: tier("Node").switch_bw),
    Row(APPENDIX, "GPUs of a node", 3.6 * TB, lambda: tier("Node").unit_bw),
    Row(APPENDIX, "egress of a unit", 12.8 * TB, lambda: tier("Spine").child_bw),
    Row(APPENDIX, "eight leaves at 1.6 TB/s", 12.8 * TB, lambda: tier("Leaf").switch_bw_down),
    Row(APPENDIX, "spine cabling", 51.2 * TB, lambda: tier("Spine").unit_bw),
    Row(APPENDIX, "16 spines at 1.6 TB/s", 25.6 * TB, lambda: tier("Spine").switch_bw_down, "disagrees", 51.2 * TB),
    Row(APPENDIX, "per GPU in a node", 450 * GB, lambda: tier("Node").per_gpu_bw),
    Row(APPENDIX, "per GPU in a unit", 50 * GB, lambda: tier("Leaf").per_gpu_bw),
    Row(APPENDIX, "per GPU at the spine", 25 * GB, lambda: tier("Spine").per_gpu_bw, "disagrees", 50 * GB),
    Row(CS8, "PCIe between the GPUs of a node", 242 * GB, lambda: link("pcie_5").bw, "disagrees", 63 * GB),
    Row(CS8, "PCIe 7.0 x16", 242 * GB, lambda: link("pcie_7").bw),
    Row(CS8, "NVLinks of an H100", 18, lambda: chip("h100_sxm").nvlink_links),
    Row(CS8, "all NVLinks, both ways", 900 * GB, lambda: 2 * chip("h100_sxm").nvlink_bw),
    Row(CS8, "HBM of an H100", 3.9 * TB, lambda: chip("h100_sxm").hbm_bw, "disagrees", 3.35 * TB),
    Row(CS7, "hops from TPU 1 to 56", 54, lambda: Torus("8 x 8", (8, 8), 1).diameter, "disagrees", 8),
]
