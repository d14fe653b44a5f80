"""A level of a network: what a unit of it joins, by which cables and switches."""

from dataclasses import dataclass
from fractions import Fraction

from gpuscale.network.amounts import exact_number, plain, whole_number


@dataclass(frozen=True)
class Level:
    """One level: a unit of it joins ``degree`` children, each by ``cables`` of ``link_bw`` (one direction each).

    ``switches`` of ``ports`` ports stand in one unit; None where they are not published, then the unit counts
    as one switch that is large enough. ``unit`` names what the level makes (a scalable unit), ``switch`` and
    ``cable`` its parts. A level of another ``network`` than the one below begins at the NICs.
    """

    name: str
    degree: int
    cables: int
    link_bw: int | Fraction
    switches: int | None = None
    ports: int | None = None
    network: str = "infiniband"
    unit: str = ""
    switch: str = "switch"
    cable: str = "cable"

    def __post_init__(self):
        for what in ("degree", "cables", "switches", "ports"):
            value = getattr(self, what)
            if value is not None or what in {"degree", "cables"}:
                object.__setattr__(self, what, whole_number(f"level {self.name!r}: {what}", value))
        object.__setattr__(self, "link_bw", exact_number(f"level {self.name!r}: link_bw", self.link_bw))
        if not self.unit:
            object.__setattr__(self, "unit", self.name)

    @property
    def child_bw(self) -> int | Fraction:
        """W_i: bandwidth of the link above each child, all its cables together."""
        return plain(self.cables * self.link_bw)

    @property
    def unit_bw(self) -> int | Fraction:
        """D_i W_i: what all children of a unit can send into its switches (the cable bandwidth)."""
        return plain(self.degree * self.child_bw)

    @property
    def ports_down(self) -> int:
        """Ports of a unit's switches that cables from below take."""
        return self.degree * self.cables
