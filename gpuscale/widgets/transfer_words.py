"""The steps of a schedule in words: for the line under a figure and for its table."""

from collections.abc import Callable, Sequence

from gpuscale.units import NBSP

LONG = 30  # characters from which a phrase may be broken
GROUP = "node"  # what ``schedule.group`` ranks are called
FEW = 3  # pairs of nodes that a sentence still names one by one


def spans(numbers: Sequence[int]) -> str:
    """Whole numbers as ranges: [0, 1, 2, 5] is "0–2, 5"."""
    out: list[list[int]] = []
    for n in sorted(set(numbers)):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}–{b}" if b > a + 1 else f"{a}, {b}" for a, b in out)


def pairs(transfers) -> dict[tuple[int, int], list]:
    """The transfers of a step by who sends to whom."""
    out: dict[tuple[int, int], list] = {}
    for one in transfers:
        out.setdefault((one.source, one.target), []).append(one)
    return out


def opening(schedule) -> str:
    """What the ranks hold before the first step."""
    counts = schedule.start.sum(axis=1).tolist()
    if len(set(counts)) > 1:
        holders = [rank for rank, count in enumerate(counts) if count]
        return f"At the start {named_ranks(holders)} {'hold' if holders[1:] else 'holds'} all there is."
    if schedule.chunks == schedule.ranks**2 > 1 and counts[0] == schedule.ranks:
        return "At the start each rank holds one block for each rank."
    if (schedule.start.sum(axis=0) == schedule.ranks).all() and schedule.ranks > 1:
        return "At the start each rank holds its own values in every chunk; nothing has been summed yet."
    return f"At the start each rank holds {_many(counts[0])} of {schedule.chunks}."


def happening(schedule, step: int, size: Callable[[int], str]) -> str:
    """One sentence on a step. ``size``: a number of units as the reader sees it, such as "8.00 MB"."""
    talk = pairs(schedule[step])
    rows = list(talk.values())
    what = _what(schedule, rows, size)
    adds = all(one.reduce for row in rows for one in row)
    ends = len({a for a, _ in talk}), len({b for _, b in talk})
    if len(talk) == 1 or (len(talk) <= FEW and min(ends) > 1):
        said = _named(schedule, talk, what, adds)
    elif all((b, a) in talk for a, b in talk) and len({a for a, _ in talk}) == len(talk):
        said = f"{_partners(schedule, talk)} swap {what}" + (" and add what they receive" if adds else "")
    else:
        said = _crowd(schedule, talk, what) + (", to be added" if adds else "")
    return said[0].upper() + said[1:] + "."


def _what(schedule, rows, size) -> str:
    """What each pair of a step moves: "2 chunks (16.0 MB)"."""
    counts, loads = {len(row) for row in rows}, {sum(one.units for one in row) for row in rows}
    bytes_ = f" ({size(loads.pop())})" if len(loads) == 1 else ""
    if schedule.chunks == 1:
        return f"the whole buffer{bytes_}"
    if len(counts) > 1:
        return f"{min(counts)} to {max(counts)} chunks{bytes_}"
    count = counts.pop()
    return (f"all {count} chunks" if count == schedule.chunks else _many(count)) + bytes_


def _partners(schedule, talk) -> str:
    apart = {abs(a - b) for a, b in talk}
    if len(talk) < schedule.ranks:
        return "ranks " + ", ".join(f"{a} and {b}" for a, b in talk if a < b)
    if len(apart) > 1:
        return "partners"
    far = apart.pop()
    if schedule.group and far % schedule.group == 0:
        return f"ranks at the same position in two {GROUP}s"
    return "neighbors" if far == 1 else f"ranks {far} apart"


def _crowd(schedule, talk, what: str) -> str:
    sources, targets = sorted({a for a, _ in talk}), sorted({b for _, b in talk})
    if len(sources) == 1:
        return f"rank {sources[0]} sends {what} to each of {named_ranks(targets)}"
    if len(targets) == 1:
        return f"{named_ranks(sources)} each send {what} to rank {targets[0]}"
    who = "each rank" if sources == list(range(schedule.ranks)) else f"each of {named_ranks(sources)}"
    whom = _whom(talk, schedule.ranks, "")
    inside = schedule.group and all(a // schedule.group == b // schedule.group for a, b in talk)
    whom = whom or (inside and _whom(talk, schedule.group, f" of its {GROUP}", schedule.ranks))
    if schedule.group and not whom and all((b - a) % schedule.group == 0 for a, b in talk):
        peers, others = len(talk) // len(sources), schedule.ranks // schedule.group - 1
        if peers * len(sources) == len(talk):
            whom = f"the ranks at the same position in {'the' if peers == others else str(peers)} other {GROUP}s"
    return f"{who} sends {what} to {whom}" if whom else f"{len(talk)} transfers of {what} each"


def _whom(talk, size: int, where: str, ranks: int = 0) -> str:
    """The one relation between senders and receivers among ``size`` ranks; "" if there is none."""
    ahead = {(b - a) % size for a, b in talk}
    everyone = ranks or size
    if len(talk) == everyone * (size - 1):
        return f"each other rank{where}"
    if ahead == {1, size - 1} and len(talk) == 2 * everyone:
        return f"each neighbor{where and ' in' + where.removeprefix(' of')}"
    if len(ahead) > 1:
        return ""
    straight, far = {b - a for a, b in talk}, ahead.pop()
    back = straight == {far - size} or (len(straight) > 1 and 2 * far > size)  # else all, or most, go on
    far = size - far if back else far
    if far == 1:
        return ("the previous rank" if back else "the next rank") + where
    whom = f"the rank {far} places {'earlier' if back else 'later'}"
    return whom + where + (", around the ring" if len(straight) > 1 else "")


def _named(schedule, talk, what: str, adds: bool) -> str:
    parts = []
    for (a, b), rows in talk.items():
        chunk = what if schedule.chunks == 1 else f"chunk{'s' * (len(rows) > 1)} {spans([t.chunk for t in rows])}"
        parts.append(f"{schedule.name(a)} sends {chunk} to {schedule.name(b)}")
    return ", ".join(parts) + ((", to be added" if parts[1:] else ", which adds it") if adds else "")


def named_ranks(ranks: Sequence[int]) -> str:
    """Ranks by their numbers: "rank 3", "ranks 0–2, 5"."""
    return f"rank{'s' * (len(ranks) > 1)} {spans(ranks)}"


def _many(count: int) -> str:
    return "one chunk" if count == 1 else f"{count} chunks"


def listed(schedule, step: int, name: Callable[[int], str]) -> str:
    """All transfers of a step, a phrase for each pair that no line breaks: "0 → 1: 0; 1 → 2: 1"."""
    out = []
    for (a, b), rows in pairs(schedule[step]).items():
        chunks = [one.chunk for one in rows]
        phrase = f"{a} → {b}" + (f": {', '.join(map(name, chunks))}" if schedule.chunks > 1 else "")
        out.append(phrase.replace(" ", NBSP) if len(phrase) < LONG else phrase)
    return "; ".join(out)
