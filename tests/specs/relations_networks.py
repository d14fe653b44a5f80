"""Links, switches, levels and whole networks: lanes, ports, cables, components, generation after generation."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from specs.relating import check, each, line, lines, near, of, other

from gpuscale import specs
from gpuscale.units import Gbit


@each("link", "links link_bw bw")
def links_times_rate(f) -> bool:
    """Links times their rate."""
    return near(f.bw, f.links * f.link_bw)


@each("link", "lanes lane_bw")
def lanes_times_rate(f) -> bool:
    """Lanes times their rate."""
    return near(f.link_bw, f.lanes * f.lane_bw)


# Transfers of a lane per second, and the fraction that the line code leaves: wikipedia-pcie.
PCIE = {3: (8, 128 / 130), 4: (16, 128 / 130), 5: (32, 128 / 130), 6: (64, 242 / 256), 7: (128, 242 / 256)}


@of("link", *(f"pcie_{n}" for n in PCIE))
def line_code(f) -> bool:
    """Lanes times transfers times what the line code leaves."""
    transfers, share = PCIE[int(f.key[-1])]
    return near(f.bw, f.lanes * transfers * Gbit * share, 2e-3)


for new, times, old in (
    ("nvlink_3", 2, "nvlink_2"),
    ("nvlink_4", 1.5, "nvlink_3"),
    ("nvlink_5", 2, "nvlink_4"),
    ("ib_hdr", 2, "ib_edr"),
    ("ib_ndr", 2, "ib_hdr"),
    ("ib_xdr", 2, "ib_ndr"),
    ("eth_200", 2, "eth_100"),
    ("eth_400", 2, "eth_200"),
    ("transceiver_2x400g", 2, "transceiver_400g"),
    ("copper_800g", 2, "transceiver_400g"),
):

    @of("link", new)
    def generation(f, times=times, old=old) -> bool:
        """So many times the bandwidth of the generation before, or of one port."""
        return near(f.bw, times * specs.link(old).bw)


@of("link", "tpu_ici_v4", "tpu_ici_v5e")
def links_of_the_v5p(f) -> bool:
    """A link of the v5p is twice one of the v4 and of the v5e, by Google's numbers and by the scaling book's."""
    v5p = specs.link("tpu_ici_v5p")
    return near(v5p.link_bw, 2 * f.link_bw) and near(
        other(specs.chip("tpu_v5p"), "ici_link_bw"), 2 * other(f, "link_bw")
    )


@each("link", "pod_chips links")
def axes_of_a_torus(f) -> bool:
    """Two links for each axis of the torus."""
    return f"{f.links / 2:g}D torus" in f.spec("links").basis


SIDES = {  # scaling-book-tpus, TPU networking; google-tpu-v5p
    ("tpu_ici_v4", "pod_chips"): (16, 16, 16),
    ("tpu_ici_v5e", "pod_chips"): (16, 16),
    ("tpu_ici_v5p", "pod_chips"): (16, 20, 28),
    ("tpu_ici_v5p", "slice_chips"): (16, 16, 24),
}
for (key, field), sides in SIDES.items():

    @of("link", key)
    def sides_of_a_torus(f, field=field, sides=sides) -> bool:
        """The chips along the axes multiply to those of the whole."""
        return f.get(field) == prod(sides)


@check
def hops_of_a_tpu() -> bool:
    """The scaling book's estimate of a small all-gather is three hops."""
    return near(line("tpu_all_gather", what="bf16[256, 256]").model, 3 * specs.link("tpu_ici_v5e").latency)


# ---- switches, transceivers


@each("link", "switch_generation")
def generations(f) -> bool:
    """NVSwitch came with NVLink 2."""
    return f.switch_generation == int(f.key[-1]) - f.key.startswith("nvlink")


@check
def another_generation() -> bool:
    """A quiz has the generation of NVLink 4 for that of its switch."""
    return other(specs.link("nvlink_4"), "switch_generation") == int("nvlink_4"[-1])


# NVLinks of a GPU, and the share of the switches' ports that the GPUs take: wikichip-nvswitch, nvidia-nvswitch3-blog.
TAKEN = {"nvswitch_1": (6, Fraction(96, 216))}
TAKEN |= dict.fromkeys(("nvlink_4", "nvswitch_3"), (18, Fraction(144, 256)))
TAKEN |= dict.fromkeys(("nvlink_5", "nvl72", "nvswitch_4"), (18, 1))


@of("link", *TAKEN)
def ports_of_the_switches(f) -> bool:
    """The links of the GPUs take their share of the switches' ports."""
    links, share = TAKEN[f.key]
    return f.node_gpus * f.get("links", links) == share * f.node_switches * f.switch_ports


@of("link", "spectrum_4")
def split_ports(f) -> bool:
    """They carry what the 128 ports of 400 Gbit/s do into which they can be split."""  # nvidia-sn5000, data interfaces
    return near(f.switch_ports * f.link_bw, 128 * 400 * Gbit)


@of("link", "transceiver_400g", "transceiver_400g_mm")
def two_ports_in_a_housing(f) -> bool:
    """Two ports in one housing draw more power than one, and no more than two."""
    return f.power < specs.link("transceiver_2x400g").power <= 2 * f.power


# ---- levels


@each("level", "switches ports")
def ports_of_a_level(v) -> bool:
    """Leaves have as many cables above as below; NVSwitches of an H100 have ports to spare, the others none."""
    spare = {"h100_node": Fraction(256, 144), "h100_leaf": 2, "a100_leaf": 2}
    return v.switches * v.ports == v.degree * v.cables * spare.get(v.key, 1)


@of("level", "a100_node", "h100_node")
def links_by_switch(v) -> bool:
    """The links of a GPU, switch by switch, and a row for each switch."""
    links = [n for n in (getattr(row, v.key[:4]) for row in lines("nvswitch_links")) if n is not None]
    return v.cables == sum(links) and v.switches == len(links)


@of("level", "a100_leaf", "h100_leaf", "llama3_rack", "gb200_su")
def a_nic_for_each_gpu(v) -> bool:
    """One NIC per GPU of a node, or of a rack."""
    return v.cables == specs.part("level", "gb200_rack" if v.key == "gb200_su" else "h100_node").degree


@of("level", "llama3_pod", "llama3_cluster")
def full_bisection(v) -> bool:
    """As many cables above a unit as below it."""
    below = specs.part("level", {"llama3_pod": "llama3_rack", "llama3_cluster": "llama3_pod"}[v.key])
    return v.cables == below.degree * below.cables


@of("level", "llama3_pod")
def twice_the_cables(v) -> bool:
    """Another source has twice what full bisection needs."""
    return other(v, "cables") == 2 * v.cables


# ---- whole networks


def _levels(network: specs.Part) -> list[specs.Part]:
    return [specs.part("level", name) for name in network.levels.split(", ") if name != "..."]


@each("topology", "gpus", but="h100_2048 h100_4096 h100_16384")  # these grow by a rule
def degrees_multiply(t) -> bool:
    """The degrees multiply to the GPUs, less the empty slots."""
    node, *_ = parts = _levels(t)
    return t.gpus == prod(v.degree for v in parts) - t.get("empty", 0) * node.degree


@each("topology", "nodes gpus")
def gpus_of_the_nodes(t) -> bool:
    """Nodes of 8 GPUs."""
    return t.gpus == 8 * t.nodes


@each("topology", "leaf_switches", but="h100_2048 h100_4096 h100_16384 h100_su")
def switches_of_a_pod(t) -> bool:
    """The leaves of its units, and its spines."""
    _, leaf, spine = _levels(t)
    return (t.leaf_switches, t.spine_switches) == (leaf.switches * spine.degree, spine.switches)


@of("topology", "h100_su")
def switches_of_a_unit(t) -> bool:
    """Its leaves."""
    return t.leaf_switches == _levels(t)[1].switches


for part in specs.parts("topology").values():
    for name in ("leaf", "spine", "core"):
        if f"{name}_switches" in part and part.gpus in specs.measured("superpod_components").gpus:

            @of("topology", part.key, also=f" {name}")
            def table_of_components(t, name=name) -> bool:
                """As in NVIDIA's table of components,"""
                return t.get(f"{name}_switches") == specs.measured("superpod_components").row(gpus=t.gpus)[name]


@of("mesh", "dgx1_p100", "dgx1_v100")
def links_pair_by_pair(m) -> bool:
    """The pairs of each GPU add up to its links."""
    pairs = [(row.a, row.b, row.n) for row in lines(m.links)]
    return all(m.gpu_links == sum(n for a, b, n in pairs if gpu in (a, b)) for gpu in range(8))


@each("torus", "gpus")
def chips_of_a_torus(t) -> bool:
    """The sides multiply to the chips."""
    return t.gpus == t.x * t.y * t.get("z", 1)


@of("torus", "tpu_v4_cube")
def a_cube(t) -> bool:
    """A cube of 64 chips."""  # scaling-book-tpus, TPU networking
    return t.x == t.y == t.z and t.x * t.y * t.z == 64


# ---- clusters


@check
def largest_run() -> bool:
    """The largest run of Megatron's table is that of the cluster."""
    return specs.part("cluster", "a100").gpus == max(row.gpus for row in lines("megatron_weak_scaling"))


@of("cluster", "h100_superpod", "b200_superpod")
def largest_network(c) -> bool:
    """The largest network of NVIDIA's table."""
    return c.gpus == max(row.gpus for row in lines("superpod_components"))


@of("cluster", "h800")
def memory_of_an_h100(c) -> bool:
    """An H800 has the memory of an H100."""
    return near(c.hbm, specs.chip("h100_sxm").hbm)
