"""Evidence on pages: what other engines count, as tables, and a line at the end of a chapter that links its rows."""

from collections import Counter
from dataclasses import dataclass

from gpuscale.core.html import Head, Html, anchor, details, element, escape, region, table
from gpuscale.evidence.rows import LABELS, Deviation, Engine, Family, deviation, deviations, engine, engines, families
from gpuscale.ledger.pages import filter_box

PAGE = "what_others_count.ipynb"
SHOWN = 20  # cases of a family that its table shows; the data file has all
COLUMNS = ("What was counted", Head("Cases", "num", "cases"), "Result")


@dataclass(frozen=True)
class _Result:
    """What the comparison of a family comes to: a sign, words, the class that sets its look."""

    sign: str
    words: str
    kind: str

    @property
    def text(self) -> str:
        return f"{self.sign} {self.words}"


def evidence_summary(chapter: str) -> Html:
    """A line at the end of a chapter: how many counts of other engines it is compared with.

    Raises KeyError for a chapter without any.
    """
    mine = [one for one in families() if one.chapter == chapter]
    if not mine:
        raise KeyError(f"no evidence belongs to {chapter!r}; expected the name of a chapter's file")
    cases = sum(len(one.rows) for one in mine)
    names = [engine(name).title for name in dict.fromkeys(one.engine for one in mine)]
    differing = [one for one in mine if one.deviation]
    said = f"Other engines ({', '.join(names)}) were run on {cases:,} cases of this chapter, and "
    if differing:
        deviate = sum(len(one.rows) for one in differing)
        said += f"all but {deviate:,}, which deviate for a named reason, equal its formulas."
    else:
        said += "all equal its formulas."
    link = _link(f"{PAGE}#{anchor(mine[0].id)}", "See the counts")
    return Html(element("p", f"{said} {link}.", class_="ledger-summary"), said)


def evidence_engines() -> Html:
    """The engines: what each is, how many cases equal a formula, and how many deviate from one for a named reason."""
    lines = []
    for one in engines().values():
        deviate = sum(len(family.rows) for family in one.families if family.deviation)
        name = _link(f"#engine-{anchor(one.name)}", one.title)
        lines.append([name, f"{one.cases:,}", f"{one.cases - deviate:,}", f"{deviate:,}" if deviate else ""])
    totals = [sum(int(str(line[i]).replace(",", "") or 0) for line in lines) for i in (1, 2, 3)]
    lines.append(["All", *(f"{total:,}" for total in totals)])
    heads = [Head("Engine", leads=True), *(Head(title, "num") for title in ("Cases", "Equal", "Deviate"))]
    titles = [one.title for one in engines().values()]
    plain = "\n".join(" | ".join([title, *line[1:]]) for title, line in zip([*titles, "All"], lines, strict=True))
    return Html(region("Engines", table(heads, lines)), plain)


def evidence_labels() -> Html:
    """How a program's count comes about, by label, and how many cases have it."""
    counts = Counter()
    for one in families():
        counts[one.label] += len(one.rows)
    lines = [[label, escape(meaning), f"{counts[label]:,}"] for label, meaning in LABELS.items()]
    heads = [Head("Label", leads=True), "Meaning", Head("Cases", "num")]
    plain = "\n".join(f"{label}: {meaning} | {count}" for label, meaning, count in lines)
    return Html(region("Labels", table(heads, lines)), plain)


def evidence_deviations() -> Html:
    """What engines do differently from a formula, each with the place that derives it and its families."""
    items = [_deviation(one) for one in deviations().values()]
    plain = "\n".join(f"{one.title}. {one.told}" for one in deviations().values())
    return Html(element("div", *items, class_="errata"), plain)


def evidence_filter() -> Html:
    """The box that filters the families; hidden where no script runs."""
    fields = {
        "engine": "All engines",
        "verdict": "All results",
        "label": "All labels",
        "chapter": "All chapters",
    }
    box = filter_box(fields, "ZeRO, all-gather, 70B", "Counts of other engines")
    return Html(box, "The page has a box here that filters the rows. In Python: gpuscale.evidence.families().")


def evidence_rows(name: str) -> Html:
    """The families of an engine as a table, with their first cases folded. Raises KeyError for an unknown engine."""
    one = engine(name)
    note = f"{escape(one.about)} Counted on {one.date:%d %B %Y} with {escape(one.versions)}."
    ids = [anchor(family.id) for family in one.families]
    rows = [_cells(family) for family in one.families]
    html = table(COLUMNS, rows, "ledger stack", ids=ids, stack=True, aria_label=f"Counts of {one.title}")
    box = element("p", note), element("div", html, id=f"engine-{anchor(name)}", class_="ledger-rows")
    plain = "\n".join(
        f"{family.id}: {family.what}. {len(family.rows)} cases: {_result(family).text}" for family in one.families
    )
    return Html("".join(box), f"{one.about} {one.versions}\n{plain}")


def _result(family: Family) -> _Result:
    if not all(family.holds(row) for row in family.rows):
        return _Result("✗", "differs", "disagrees")
    if family.deviation:
        return _Result("±", "deviates", "convention")
    if family.tolerance:
        return _Result("≈", f"equal within {family.tolerance:.2%}", "agrees")
    return _Result("✓", "equal", "agrees")


def _cells(family: Family) -> tuple[str, str, str]:
    result = _result(family)
    notes = [
        element("span", f"{family.counted}; {family.label}.", data_label=family.label),
        element("code", escape(family.formula)),
        _link(f"{family.chapter}.ipynb", family.chapter.replace("_", " ").capitalize()) + ".",
    ]
    notes[2] = element("span", notes[2], data_chapter=family.chapter.replace("_", " "))
    if family.deviation:
        notes.append(_link(f"#deviation-{anchor(family.deviation)}", deviation(family.deviation).title) + ".")
    said = escape(family.what) + element("small", " ".join(notes)) + _cases(family)
    mark = element("span", result.text, class_=f"verdict {result.kind}", data_verdict=result.words.split(" within")[0])
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
    named = ", ".join(_link(f"#{anchor(family.id)}", f"{_engine(family).title}: {family.what}") for family in rows)
    return element(
        "section",
        element("h3", escape(one.title)),
        element("p", escape(one.told)),
        element("p", _link(f"{chapter}.ipynb{mark}{place}", "Derivation"), f". Counted in {named}.", class_="note"),
        class_="entry",
        id=f"deviation-{anchor(one.id)}",
    )


def _engine(family: Family) -> Engine:
    return engine(family.engine)


def _link(target: str, text: str) -> str:
    return element("a", escape(text), href=target)
