"""Networks that exist or are designed, built from the published numbers: nodes, pods, clusters, tori."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

from gpuscale import specs
from gpuscale.network.growth import fat_tree
from gpuscale.network.torus import Mesh, Torus
from gpuscale.network.tree import Level, Topology

_KINDS = ("topology", "mesh", "torus")


def topology(key: str) -> Topology | Mesh | Torus:
    """A network by key, such as ``topology("h100_pod_1024")``. Raises UnknownPart with a list of the known ones.

    ``published(key)`` has the numbers it is built from, and those that its source prints for the whole.
    """
    part = published(key)
    return _built(part, tuple(levels(key)) if part.kind == "topology" else ())


@cache
def _built(part: specs.Part, made_of: tuple[specs.Part, ...]) -> Topology | Mesh | Torus:
    """The network of a part and of the parts of its levels; other ones, loaded again, make another network."""
    return {"topology": _tree, "mesh": _mesh, "torus": _torus}[part.kind](part)


def topologies() -> tuple[str, ...]:
    """The keys of all networks."""
    return tuple(key for kind in _KINDS for key in specs.parts(kind))


def published(key: str) -> specs.Part:
    """The part that a network is built from, with provenance. Raises UnknownPart for an unknown key."""
    for kind in _KINDS:
        if key in specs.parts(kind):
            return specs.part(kind, key)
    close = [name for name in topologies() if name.startswith(str(key)[:4])]
    hint = f"did you mean {', '.join(close)}? " if close else ""
    raise specs.UnknownPart(f"no topology {key!r}; {hint}known: {', '.join(topologies())}")


def levels(key: str) -> Iterator[specs.Part]:
    """The parts of a topology's levels, bottom-up, with provenance; levels added by a rule have none."""
    return (specs.part("level", name) for name in _names(published(key)) if name != "...")


def level(key: str) -> Level:
    """One level from the data, such as ``level("h100_leaf")``, to build a network of your own."""
    part = specs.part("level", key)
    counts = {name: part.get(name) for name in ("degree", "cables", "switches", "ports")}
    words = {"network": part.network, "unit": part.makes, "switch": part.get("switch")}
    return Level(part.title, link_bw=part.link_bw, **counts, **{name: w for name, w in words.items() if w})


def _names(part: specs.Part) -> list[str]:
    return [name.strip() for name in part.levels.split(",")]


def _tree(part: specs.Part) -> Topology:
    names = _names(part)
    known = tuple(level(name) for name in names if name != "...")
    if "..." in names:
        return fat_tree(Topology(part.title, known), part.gpus, part.title)
    made = Topology(part.title, known, empty=part.get("empty", 0), note=part.get("note", ""))
    ratio = part.get("oversubscription")
    return replace(made.tapered(len(known), Fraction(1, ratio)), title=part.title) if ratio else made


def _mesh(part: specs.Part) -> Mesh:
    table = specs.measured(part.links)
    pairs = zip(table["a"].astype(int), table["b"].astype(int), table["n"].astype(int), strict=True)
    return Mesh(part.title, tuple(pairs), part.link_bw)


def _torus(part: specs.Part) -> Torus:
    return Torus(part.title, tuple(part.get(axis) for axis in "xyz" if axis in part), part.link_bw)
