"""What figures of networks say: the name of a unit, its switches, the cables of a child, in words and as a table."""

from __future__ import annotations

from gpuscale.network.tree import Tier, Topology
from gpuscale.units import NBSP, show


def network_hue(network: str) -> str:
    """The color of a network's meaning: NVLink and TPU links are scale-up, all else scale-out."""
    return "scaleup" if network in {"nvlink", "ici"} else "scaleout"


def rate(bw) -> str:
    """A bandwidth as short as it goes: 50 GB/s."""
    return show(float(bw), "B/s", short=True)


def title(tier: Tier) -> str:
    """The first of the units that a level makes: "Scalable unit 1 of 4: 256 GPUs"."""
    above = tier.topology.tiers[tier.index : tier.index + 1]
    name = tier.level.unit[0].upper() + tier.level.unit[1:]
    which = f" 1 of {above[0].degree:,}" if above and above[0].degree > 1 else ""
    spare = f", {tier.topology.empty} of {tier.topology.slots} slots empty" if tier.topology.empty and not above else ""
    return f"{name}{which}: {tier.S if above else tier.topology.ranks:,} GPUs{spare}"


def kind(tier: Tier) -> str:
    """The switches of a unit: "8 leaf switches"."""
    level = tier.level
    if level.switches is None:
        return "switches counted as one"
    name = level.switch if level.switch.lower().endswith("switch") else f"{level.switch} switch"
    return f"{level.switches:,} {name}" + ("es" if level.switches > 1 else "")


def on_rails(tier: Tier) -> bool:
    """Whether each switch of a unit takes one cable of every node."""
    return tier.topology.rails and tier.starts and tier.index > 1 and tier.level.switches == tier.level.cables > 1


def switches(tier: Tier) -> str:
    """The same with their ports: "8 leaf switches of 64 ports (one per rail)"."""
    ports = f" of {tier.level.ports} ports" if tier.level.switches and tier.level.ports else ""
    return kind(tier) + ports + (" (one per rail)" if on_rails(tier) else "")


def bundle(tier: Tier) -> str:
    """The cables of a child: "8 × 50 GB/s = 400 GB/s"."""
    level = tier.level
    n = f"{level.cables:,}{NBSP}×{NBSP}" if level.cables > 1 else ""
    return f"{n}{rate(level.link_bw)}" + (f" = {rate(level.child_bw)}" if n else "")


def child(tier: Tier) -> str:
    """What a level joins: "GPU", "node"."""
    return "GPU" if tier.index == 1 else tier.topology.tiers[tier.index - 2].level.unit


def sentence(tier: Tier) -> str:
    """A level in one line."""
    return (
        f"level {tier.name}: {title(tier)}; {switches(tier)}; {tier.degree:,} × {child(tier)},"
        f" each {bundle(tier)}; {tier.units:,} in all"
    )


def counted(topology: Topology):
    """The levels as the folded table of a figure: heads and rows."""
    heads = ["Level", "Joins", "GPUs", "Total switches", "Total cables", "Above each child", "Into the switches"]
    rows = []
    for tier in topology.tiers:
        counts = tier.degree, tier.S, tier.switches_total, tier.cables_total
        rows.append([tier.name, *map(_count, counts), rate(tier.child_bw), rate(tier.unit_bw)])
    return heads, rows


def _count(n) -> str:
    return "–" if n is None else f"{n:,}"
