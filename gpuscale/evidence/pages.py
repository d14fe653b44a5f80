"""Evidence on pages: what other engines count, as tables, and a line at the end of a chapter that links its rows."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from gpuscale.core.filter_box import filter_box
from gpuscale.core.html import Head, Html, anchor, details, element, escape, region, table
from gpuscale.evidence.rows import (
    APART,
    GROUPS,
    LABELS,
    Deviation,
    Engine,
    Family,
    deviation,
    deviations,
    engine,
    engines,
    families,
    totals,
)

PAGE = "what_others_count.ipynb"
NAMED = 2  # deviations that the line of a chapter names
ROUNDING = 1e-9  # a tolerance that only rounding needs
SHOWN = 20  # cases of a family that its table shows; the data file has all
COLUMNS = ("What was counted", Head("Cases", "num", "cases"), "Result")


@dataclass(frozen=True)
class _Result:
    """What the comparison of a family comes to: a sign, words, the class that sets its look."""

    sign: str
    words: str
    kind: str
    more: str = ""  # what follows the words; the filter does not tell results apart by it

    @property
    def text(self) -> str:
        return f"{self.sign} {self.words}{self.more}"


def evidence_summary(chapter: str) -> Html:
    """A line at the end of a chapter: how many counts of other engines it is compared with.

    Raises KeyError for a chapter without any.
    """
    mine = [one for one in families() if one.chapter == chapter]
    if not mine:
        raise KeyError(f"no evidence belongs to {chapter!r}; expected the name of a chapter's file")
    said = " ".join(_summary(mine, _link))
    link = _link(f"{PAGE}#{anchor(mine[0].id)}", "See the counts")
    plain = " ".join(_summary(mine, lambda target, text: text))
    return Html(element("p", f"{said} {link}.", class_="ledger-summary"), plain)


def _summary(mine: list[Family], link: Callable[[str, str], str]) -> list[str]:
    """The sentences of the line: what engines counted, then what is kept apart."""
    said, counted = [], totals(mine)
    if counted.cases:
        ran = [engine(name) for name in dict.fromkeys(one.engine for one in mine if one.label not in APART)]
        names = [f"{one.title} ({one.short})" for one in ran]
        listed = f"{', '.join(names[:-1])} and {names[-1]} were" if len(names) > 1 else f"{names[0]} was"
        said.append(f"{listed} run on {counted.cases:,} cases of this chapter.")
        if not counted.deviate:
            said.append("All agree with it.")
        elif not counted.equal:
            said.append(f"Each differs from a formula {_reasons(mine, link)}.")
        else:
            said.append(
                f"Of these, {counted.equal:,} agree with it and {counted.deviate:,} differ {_reasons(mine, link)}."
            )
    if counted.ours:
        cases = f"In {counted.ours:,} more cases" if counted.cases else f"In {counted.ours:,} cases"
        said.append(f"{cases} we ran schedules of the book on gloo, and the bytes counted on each link agree.")
    if counted.replayed:
        said.append(f"Our tests compute {counted.replayed:,} more results from PyTorch's orders, and all agree.")
    return said


def _reasons(mine: list[Family], link: Callable[[str, str], str]) -> str:
    keys = list(dict.fromkeys(one.deviation for one in mine if one.deviation))
    if len(keys) > NAMED:
        return "for " + link(f"{PAGE}#where-engines-deviate", "named reasons")
    titles = "; ".join(link(f"{PAGE}#deviation-{anchor(key)}", deviation(key).title) for key in keys)
    return f"for {'a named reason' if len(keys) == 1 else 'named reasons'}: {titles}"


def evidence_engines() -> Html:
    """The engines: what each is, how many cases equal a formula, and how many deviate from one for a named reason.

    Below the total stands what is kept apart from it: our own programs, and what our tests compute.
    """
    lines, plain = [], []

    def line(name: str, what: str, *counts: int, link: str = "") -> None:
        cells = [f"{count:,}" if count else "" for count in counts]
        lines.append([_link(link, name) if link else escape(name), escape(what), *cells])
        plain.append(" | ".join([name, what, *cells]))

    for one in engines().values():
        sums = totals(one.families)
        line(one.title, one.short, sums.cases, sums.equal, sums.deviate, link=f"#engine-{anchor(one.name)}")
    sums = totals(families())
    line("All", "", sums.cases, sums.equal, sums.deviate)
    line("In addition: our schedules", "run over gloo by our program", sums.ours, sums.ours, 0)
    line("In addition: replays", "computed in our tests from PyTorch's orders", sums.replayed, sums.replayed, 0)
    heads = [Head("Engine", leads=True), "What it is", *(Head(title, "num") for title in ("Cases", "Equal", "Deviate"))]
    return Html(region("Engines", table(heads, lines)), "\n".join(plain))


def evidence_labels() -> Html:
    """How a program's count comes about, by label, each with an example and how many cases have it."""
    counts = Counter()
    for one in families():
        counts[one.label] += len(one.rows)
    lines = [[label, escape(what), escape(such), f"{counts[label]:,}"] for label, (what, such) in LABELS.items()]
    heads = [Head("Label", leads=True), "Meaning", "Example", Head("Cases", "num")]
    plain = "\n".join(f"{label}: {what}. Example: {such} | {counts[label]:,}" for label, (what, such) in LABELS.items())
    return Html(region("Labels", table(heads, lines)), plain)


def evidence_deviations(group: str) -> Html:
    """What engines do differently from formulas of communication, memory, FLOPs or order.

    Each has the place that derives it and its families. Raises KeyError for an unknown group.
    """
    if group not in GROUPS:
        raise KeyError(f"no deviations concern {group!r}; there are {', '.join(GROUPS)}")
    some = [one for one in deviations().values() if one.group == group]
    plain = "\n".join(f"{one.title}. {one.told}" for one in some)
    return Html(element("div", *map(_deviation, some), class_="errata"), plain)


def evidence_filter() -> Html:
    """The box that filters the families; hidden where no script runs."""
    fields = {
        "engine": "All engines",
        "verdict": "All results",
        "label": "All labels",
        "chapter": "All chapters",
    }
    box = filter_box("Counts of other engines", fields, "ZeRO, all-gather, 70B")
    return Html(box, "The page has a box here that filters the rows. In Python: gpuscale.evidence.families().")


def evidence_rows(name: str) -> Html:
    """The families of an engine as a table, with their first cases folded. Raises KeyError for an unknown engine."""
    one = engine(name)
    note = f"{escape(one.about)} Counted on {one.date:%d %B %Y} with {escape(one.versions)}."
    ids = [anchor(family.id) for family in one.families]
    results = [_result(family) for family in one.families]
    rows = [_cells(family, result) for family, result in zip(one.families, results, strict=True)]
    html = table(COLUMNS, rows, "ledger stack", ids=ids, stack=True, aria_label=f"Counts of {one.title}")
    box = element("p", note), element("div", html, id=f"engine-{anchor(name)}", class_="filtered")
    plain = "\n".join(
        f"{family.id}: {family.what}. {len(family.rows)} case{'s' if len(family.rows) > 1 else ''}: {result.text}"
        for family, result in zip(one.families, results, strict=True)
    )
    return Html("".join(box), f"{one.about} {one.versions}\n{plain}")


def _result(family: Family) -> _Result:
    if not all(family.holds(row) for row in family.rows):
        return _Result("✗", "differs", "disagrees")
    if family.deviation:
        return _Result("±", "deviates", "convention")
    if family.tolerance:
        more = f" within {family.tolerance:.2%}" if family.tolerance > ROUNDING else " up to rounding"
        return _Result("≈", "equal", "agrees", more)
    return _Result("✓", "equal", "agrees")


def _cells(family: Family, result: _Result) -> tuple[str, str, str]:
    notes = [
        element("span", f"{family.counted}; {family.label}.", data_label=family.label),
        element("code", escape(family.formula)),
        _link(f"{family.chapter}.ipynb", family.chapter.replace("_", " ").capitalize()) + ".",
    ]
    notes[2] = element("span", notes[2], data_chapter=family.chapter.replace("_", " "))
    if family.deviation:
        notes.append(_link(f"#deviation-{anchor(family.deviation)}", deviation(family.deviation).title) + ".")
    said = escape(family.what) + element("small", " ".join(notes)) + _cases(family)
    mark = element("span", result.text, class_=f"verdict {result.kind}", data_verdict=result.words)
    return said, f"{len(family.rows):,}", mark


def _cases(family: Family) -> str:
    """The first cases of a family, folded: inputs, the engine's count and ours; nothing for long tables."""
    shown = [row for row in family.rows if not _long(row[-1])][:SHOWN]
    if not shown:
        return ""
    heads = [*(Head(escape(name), "num") for name in family.inputs), Head("Engine", "num"), Head("Formula", "num")]
    lines = [[*(_value(value) for value in row[:-1]), _value(row[-1]), _value(family.ours(row))] for row in shown]
    more = f" (the first {len(shown)})" if len(shown) < len(family.rows) else ""
    return details(f"Cases{more}, in {escape(family.unit)}", region(f"Cases: {family.what}", table(heads, lines)))


def _long(value) -> bool:
    return isinstance(value, list | tuple) and (len(value) > 8 or any(isinstance(one, list | tuple) for one in value))


def _value(value) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    if isinstance(value, str):
        return escape(value)
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() else f"{number:,.6g}"


def _deviation(one: Deviation) -> str:
    chapter, mark, place = one.derived.partition("#")
    rows = [family for family in families() if family.deviation == one.id]
    named = "".join(_counted(engine(name), rows) for name in dict.fromkeys(family.engine for family in rows))
    return element(
        "section",
        element("h4", escape(one.title)),
        element("p", escape(one.told), " ", _link(f"{chapter}.ipynb{mark}{place}", "Derivation")),
        details(f"Counted in {len(rows)} row{'s' * (len(rows) > 1)}", element("ul", named)),
        class_="entry",
        id=f"deviation-{anchor(one.id)}",
    )


def _counted(one: Engine, rows: list[Family]) -> str:
    """An engine, and a link to each of its rows."""
    links = [_link(f"#{anchor(family.id)}", family.what) for family in rows if family.engine == one.name]
    return element("li", f"{escape(one.title)}: {'; '.join(links)}.")


def _link(target: str, text: str) -> str:
    return element("a", escape(text), href=target)
