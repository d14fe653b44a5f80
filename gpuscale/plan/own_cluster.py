"""A cluster that is described in a few words: a chip of the library, GPUs per node, the rate of the NICs.

    own_cluster("h100_sxm", per_node=8, nic="400 Gbit/s")

What is not given is the chip's own number, or that of a cluster of the library that has this chip; what neither has is
asked for. The fractions of the peaks that are achieved are those measured for this chip, or else for the one closest.
"""

from __future__ import annotations

from dataclasses import replace

from gpuscale import specs
from gpuscale.network.known import topology
from gpuscale.plan.clusters import Cluster, found
from gpuscale.plan.errors import Refusal
from gpuscale.specs.reading import SpecError
from gpuscale.units import UnitError, parse, show

FALLBACK = "h100_superpod"  # its measured fractions stand in for a chip of which nothing is known


def own_cluster(gpu: str, per_node=None, nic=None, nvlink=None, alone: bool = False, title: str = "") -> Cluster:
    """A cluster of chips of the library, of any size; ``alone``: a single node, which needs no network.

    ``nic`` is the bandwidth of the network per GPU and ``nvlink`` that within the node per GPU, each in one direction
    and with its unit. Raises Refusal that names what is missing, and what was expected.
    """
    from gpuscale.plan.requests import some, whole  # they need the file of clusters, which needs this one

    chip = found("chip", gpu)
    like, same = _like(chip)
    levels = topology(like.network).tiers
    if per_node is None and not same:
        raise Refusal(f"missing --per-node: no cluster of the library has {chip.short}; expected its GPUs per node")
    node = levels[0].degree if per_node is None else whole("GPUs per node", per_node)
    network = _rate(
        "--nic", nic, chip.get("nic_bw") or (float(levels[1].child_bw) / levels[0].degree if same else None)
    )
    inside = _rate("--nvlink", nvlink, chip.get("nvlink_bw"))
    if inside is None and node > 1:
        raise _missing("--nvlink", chip, "within the node", "450GB/s")
    inside = inside or network
    if alone:
        network = inside
    if network is None:
        raise _missing("--nic", chip, "of its NICs", "400Gbit/s")
    sizes = [chip.get(name) or (like.get(name) if same else None) for name in ("bf16", "hbm", "hbm_bw")]
    if None in sizes:
        lacks = ("bf16", "hbm", "hbm_bw")[sizes.index(None)]
        raise Refusal(f"{chip.title} ({chip.key}) has no {lacks}; expected a chip with bf16, hbm and hbm_bw")
    words = title or f"{chip.short}, {some(node, 'GPU')} per node" + (
        "" if alone else f", {show(network, 'B/s', short=True)} of network per GPU"
    )
    C, hbm, W_hbm = sizes
    rates = (C, hbm, W_hbm, inside or network, node * network)
    most, other = node if alone else None, "" if same else chip.short
    return Cluster(f"{chip.key}_own", words, chip.short, node, *rates, most, like=like.key, other=other)


def own(part: specs.Part) -> Cluster:
    """The cluster of an entry that has no network of the library: its chip, and what it states itself."""
    if "chip" not in part:
        raise SpecError(f"cluster {part.key!r} has no chip; expected the key of one, such as h100_sxm")
    place = own_cluster(part.chip, part.get("per_node"), part.get("nic_bw"), part.get("nvlink_bw"), title=part.title)
    return replace(place, key=part.key, most=part.get("gpus"))


def _like(chip: specs.Part) -> tuple[specs.Part, bool]:
    """The cluster of the library that stands in for what is not said, and whether it has this very chip."""
    known = [part for part in specs.parts("cluster").values() if "network" in part]
    for part in known:
        if part.chip == chip.key:
            return part, True
    kind = chip.get("architecture", "none").split()[0]  # Blackwell Ultra is close to Blackwell
    kin = [part for part in known if specs.chip(part.chip).get("architecture", "").startswith(kind)]
    return (kin or [specs.part("cluster", FALLBACK)])[0], False


def _rate(flag: str, given, default) -> float | None:
    """A bandwidth in B/s: a number of the data, or a text with its unit."""
    if given is None:
        return default
    try:
        rate = parse(given, "B/s") if isinstance(given, str) else float(given)
        bare = isinstance(given, str) and given.strip()[-1:].isdigit()
    except (UnitError, ValueError, TypeError):
        rate, bare = 0.0, True
    if bare or not 0 < rate < float("inf"):
        raise Refusal(f"{flag}: {given}; expected a bandwidth with its unit, such as 400Gbit/s or 50GB/s")
    return rate


def _missing(flag: str, chip: specs.Part, what: str, example: str) -> Refusal:
    return Refusal(
        f"missing {flag}: {chip.short} has none in the data; expected its bandwidth {what}, such as {example}"
    )
