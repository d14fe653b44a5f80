"""Clusters to plan for, of the library or described by a reader: the peak rates of a GPU and its node."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuscale import specs
from gpuscale.network.known import topology
from gpuscale.plan.efficiencies import PEAKS, Share, measured_share
from gpuscale.plan.errors import Refusal
from gpuscale.plan.typed import shown, whole
from gpuscale.specs.reading import SpecError
from gpuscale.units import UnitError, parse, show

FALLBACK = "h100_superpod"  # its measured fractions stand in for a chip of which nothing is known


@dataclass(frozen=True)
class Cluster:
    """A chip in nodes of ``node`` GPUs; rates in base units, one direction.

    ``C`` FLOP/s of a GPU, ``hbm`` its bytes of memory, ``W_hbm`` their bandwidth, ``W_nvl`` its bandwidth into NVLink,
    ``W_node`` the bandwidth of a whole node into the network. ``most`` is the number of GPUs, None if unknown.
    """

    key: str
    title: str
    chip: str
    node: int
    C: float
    hbm: float
    W_hbm: float
    W_nvl: float
    W_node: float
    most: int | None
    alone: bool = False  # one node, with nothing beyond
    like: str = ""  # the cluster of the library whose measured fractions it has, if it is not one itself
    other: str = ""  # the chip, if that cluster has another

    @property
    def shares(self) -> tuple[Share, Share, Share, Share]:
        """The measured fractions of C, W_nvl, W_node and W_hbm, computed when they are needed."""
        measured = specs.part("cluster", self.like or self.key)
        found = tuple(measured_share(measured, what) for what in PEAKS)
        if self.other:
            found = tuple(replace(share, words=f"not measured on {self.other}; {share.words}") for share in found)
        entry = specs.parts("cluster").get(self.key) if self.like else None  # may say where some were measured
        return tuple(
            measured_share(entry, what) if entry and what in entry else share
            for what, share in zip(PEAKS, found, strict=True)
        )

    @property
    def part(self) -> int:
        """The most GPUs of a node that are a power of two."""
        return 2 ** (self.node.bit_length() - 1)

    def with_node(self, gpus: int) -> Cluster:
        """The same with only that many GPUs used per node, and their own NICs."""
        if not 1 <= gpus <= self.node:
            raise Refusal(f"{gpus} GPUs per node: {self.title} has {self.node} per node; expected 1 to {self.node}")
        return replace(self, node=gpus, W_node=self.W_node * gpus / self.node)


def cluster(key: str) -> Cluster:
    """A cluster by key, such as ``cluster("h100_superpod")``. Raises Refusal naming close ones.

    One whose network has a single level is one node, of as many GPUs as that level joins. The path of a TOML file
    loads it, and gives the cluster in it.
    """
    part = _of_file(key) if str(key).endswith(".toml") else found("cluster", key)
    if "network" not in part:
        return own(part)
    chip, levels = specs.chip(part.chip), topology(part.network).tiers
    memory = chip.get("hbm") or part.hbm, chip.get("hbm_bw") or part.hbm_bw
    node, single = levels[0].degree, len(levels) == 1
    links = chip.nvlink_bw, node * chip.nvlink_bw if single else float(levels[1].child_bw)
    most = node if single else part.get("gpus")
    return Cluster(part.key, part.title, chip.short, node, chip.bf16, *memory, *links, most, single)


def load(path) -> list[str]:
    """Load a file of the reader's own parts; returns the keys of its clusters. Raises SpecError."""
    return [part.key for part in specs.load(path) if part.kind == "cluster"]


def own_cluster(gpu: str, per_node=None, nic=None, nvlink=None, alone: bool = False, title: str = "") -> Cluster:
    """A cluster of chips of the library, of any size; ``alone``: a single node, which needs no network.

    ``nic`` is the bandwidth of the network per GPU and ``nvlink`` that within the node per GPU, each in one direction
    and with its unit. Raises Refusal that names what is missing, and what was expected.
    """
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
        raise _missing("--nvlink", chip, "within the node", f"{by} of PCIe" if (by := pcie(chip)) else "450GB/s")
    inside = inside or network
    if alone:
        network = inside
    if network is None:
        raise _missing("--nic", chip, "into the network", "400Gbit/s")
    sizes = _sizes(chip)
    if lacks := [name for name, size in sizes.items() if size is None]:
        raise Refusal(f"{chip.title} ({chip.key}) has no {lacks[0]}; expected a chip with bf16, hbm and hbm_bw")
    beyond = "" if alone else f", {show(network, 'B/s', short=True)} of network per GPU"
    words = title or f"{chip.short}, nodes of {node}{beyond}"
    rates = (*sizes.values(), inside, node * network)
    most, other = node if alone else None, "" if same else chip.short
    return Cluster(f"{chip.key}_own", words, chip.short, node, *rates, most, alone, like.key, other)


def own(part: specs.Part) -> Cluster:
    """The cluster of an entry that has no network of the library: its chip, and what it states itself."""
    if "chip" not in part:
        raise SpecError(f"cluster {part.key!r} has no chip; expected the key of one, such as h100_sxm")
    place = own_cluster(part.chip, part.get("per_node"), part.get("nic_bw"), part.get("nvlink_bw"), title=part.title)
    return replace(place, key=part.key, most=part.get("gpus"))


def chips() -> dict[str, list[str]]:
    """The chips that ``own_cluster`` takes, by key, each with the options that several nodes of it need, because the
    data lack a number."""
    out = {}
    for key, chip in specs.parts("chip").items():
        if None not in _sizes(chip).values():
            same = _like(chip)[1]
            needed = {"--per-node": not same, "--nvlink": "nvlink_bw" not in chip}
            needed["--nic"] = not same and "nic_bw" not in chip
            out[key] = [option for option, is_needed in needed.items() if is_needed]
    return out


def _sizes(chip: specs.Part) -> dict[str, float | None]:
    """The peak, the memory and its bandwidth: the chip's, or those of the cluster that has it; None if unknown."""
    like, same = _like(chip)
    return {name: chip.get(name) or (like.get(name) if same else None) for name in ("bf16", "hbm", "hbm_bw")}


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
        raise Refusal(f"{flag}: {shown(given)}; expected a bandwidth with its unit, such as 400Gbit/s or 50GB/s")
    return rate


def pcie(chip: specs.Part) -> str | None:
    """The PCIe bandwidth of a chip as an option takes it: GPUs without NVLink send over PCIe."""
    if "pcie_bw" in chip:
        return "".join(show(chip.pcie_bw, "B/s", short=True).split())
    return None


def _missing(flag: str, chip: specs.Part, what: str, example: str) -> Refusal:
    return Refusal(
        f"missing {flag}: {chip.short} has none in the data; expected its bandwidth {what}, such as {example}"
    )


def _of_file(path) -> specs.Part:
    keys = load(path)
    if len(keys) != 1:
        has = f"{len(keys)} clusters: {', '.join(keys)}" if keys else 'no part with kind = "cluster"'
        raise Refusal(f"{path} has {has}; expected one" + (" (--spec FILE --cluster KEY picks one)" if keys else ""))
    return specs.part("cluster", keys[0])


def found(kind: str, key: str) -> specs.Part:
    """A part of that kind; hyphens, underscores and capitals may differ. Raises Refusal naming close ones.

    A model may be the path of a Hugging Face configuration; SpecError says what is wrong with one.
    """
    if kind == "model" and specs.is_file(key):
        return specs.model(key)
    plain = str(key).lower().replace("-", "_")
    same = [name for name in specs.parts(kind) if _bare(name) == _bare(plain)]
    try:
        return specs.part(kind, same[0] if len(same) == 1 else plain)
    except specs.UnknownPart as error:  # names as the list prints them, the requested one as it was typed
        said = str(error).replace("_", "-").replace(repr(plain.replace("_", "-")), repr(shown(key)), 1)
        raise Refusal(said) from None


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
