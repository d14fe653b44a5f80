"""How a network grows: the same unit and the same switch for more GPUs, and a level added when ports run out."""

from dataclasses import replace

from gpuscale.network.amounts import TopologyError
from gpuscale.network.tree import Level, Tier, Topology

NAMES = ("Spine", "Core", "Super-core")


def fat_tree(unit: Topology, ranks: int, title: str = "") -> Topology:
    """The full-bandwidth network of that many GPUs, made of whole ``unit``s, with as few levels as possible.

    Every unit has as many cables up as down. While every switch below can send an equal bundle to every switch
    above, one level connects all units. A switch with u ports up reaches u switches, so when more are needed the
    level is divided into the largest equal groups that one level can serve; there every switch uses half its ports
    for uplinks, and a level is added. Above it the cables of a group, not of a switch, are distributed equally,
    since inside a group every path is open. Raises TopologyError for GPUs that make no whole number of units or
    groups, and for a unit whose switches have too few free ports.
    """
    tier, level = unit.tiers[-1], unit.levels[-1]
    units, rest = divmod(ranks, tier.S) if isinstance(ranks, int) else (0, 0)
    if rest or units < 1:
        raise TopologyError(f"{unit.title}: {ranks!r} GPUs; expected a multiple of its {tier.S}")
    if not level.ports or not level.switches:
        raise TopologyError(f"{unit.title}, level {level.name!r}: its switches and ports are not known")
    free = tier.ports_there - tier.ports_down
    if free < tier.ports_down:
        raise TopologyError(
            f"{unit.title}, level {level.name!r}: full bandwidth upward needs {tier.ports_down} more ports;"
            f" {level.switches} x {level.ports} - {tier.ports_down} = {free} are free"
        )
    levels, said = list(unit.levels), []
    for name in NAMES:
        below = Topology(unit.title, tuple(levels), unit.rails).tiers[-1]
        levels.append(_above(below, units, name, said))
        units //= levels[-1].degree
        if units == 1:
            return Topology(title or f"{ranks:,} GPUs", tuple(levels), unit.rails, note=" ".join(said))
    raise TopologyError(f"{ranks:,} GPUs need more than {len(levels)} levels of {level.ports}-port switches")


def grow(unit: Topology, ranks: int, title: str = "") -> Topology:
    """The same, starting from an existing network: its first unit beyond the node is kept (``fat_tree``)."""
    first = next((t for t in unit.tiers[1:] if t.starts), unit.tiers[-1])
    return fat_tree(unit.below(first.index), ranks, title)


def _above(below: Tier, units: int, name: str, said: list[str]) -> Level:
    """The level over that many units: all of them if the switches below can reach enough, else equal groups."""
    level, ports = below.level, below.level.ports
    cables = level.ports_down
    reach = cables // level.switches if below.starts else cables
    count = _even(reach, -(-units * cables // ports))
    if count:
        bundle, what = reach // count, "switch" if below.starts else "group"
        each = f"{bundle} cable{'s' * (bundle > 1)} from each {what} below to each"
        said.append(f"{units} units under {count} {name.lower()} switches, {each}.")
        return _made(level, name, units, count)
    fits = [d for d in range(2, units) if units % d == 0 and _even(reach, -(-2 * d * cables // ports))]
    if not fits:
        raise TopologyError(
            f"{units} units of {cables} cables each need {-(-units * cables // ports)} switches of {ports} ports;"
            f" {reach} can be reached, and no equal groups of units fit those"
        )
    degree, count = fits[-1], _even(reach, -(-2 * fits[-1] * cables // ports))
    said.append(
        f"{units} units would need {-(-units * cables // ports)} switches at the {name.lower()} level, but"
        f" {reach} cables reach no more than {reach}: groups of {degree}, each under {count} switches with half"
        " their ports up, and one more level."
    )
    return _made(level, name, degree, count)


def _even(reach: int, needed: int) -> int:
    """The least number of switches, ``needed`` at least, over which ``reach`` cables spread equally; 0 if none."""
    return next((n for n in range(needed, reach + 1) if reach % n == 0), 0)


def _made(like: Level, name: str, degree: int, switches: int) -> Level:
    unit = "pod" if name == "Spine" else "cluster"
    return replace(
        like, name=name, degree=degree, cables=like.ports_down, switches=switches, unit=unit, switch=name.lower()
    )
