"""The ledger on pages: the box of a common mistake in a chapter, and the parts of the ledger page.

Links name notebooks, so that they lead somewhere in JupyterLab; the site turns them into links to its pages.
"""

from collections import Counter

from gpuscale.core.filter_box import filter_box
from gpuscale.core.html import Head, Html, anchor, cite, element, escape, region, table
from gpuscale.ledger.rows import VERDICTS, Claim, Erratum, Wording, claim, claims, errata, fill, findings, wordings
from gpuscale.sources import cited, source_name

PAGE = "published_numbers.ipynb"
COLUMNS = ("Claim", Head("Published", "num", "published"), Head("Computed", "num", "computed"), "Verdict")
FEW = 5  # sources with fewer rows are counted together


def common_mistake(key: str) -> Html:
    """A box in a chapter for one row of the ledger: what is published, what is right, and why.

    Raises KeyError for an unknown id.
    """
    row = wordings().get(key) or claim(key)
    wrong = errata()[row.errata[0]] if row.errata else None
    title, told = (wrong.title, wrong.told) if wrong else (row.says, row.reason)
    link = _link(f"{PAGE}#claim-{anchor(key)}", "In the ledger")
    facts = escape(row.says)
    if isinstance(row, Claim):
        published, ours = row.shown
        facts += f": published {element('b', published)}, {row.basis} {element('b', ours)}"
    box = element(
        "section",
        element("h3", f"Common mistake: {escape(title)}"),
        element("p", escape(told)),
        element("p", f"{facts}. {cite(_where(row))}. {link}", class_="note"),
        class_="card mistake",
    )
    return Html(box, f"Common mistake: {title}\n{told}\n{_plain(row)}")


def ledger_summary(chapter: str) -> Html:
    """A line at the end of a chapter: how many published statements it covers, by verdict.

    Raises KeyError for a chapter without any.
    """
    rows = _of(chapter)
    counts = Counter(row.verdict for row in rows)
    found = [(counts[name], verdict.one if counts[name] == 1 else verdict.many) for name, verdict in VERDICTS.items()]
    said = ", ".join(f"{count} {words}" for count, words in found if count)
    text = f"Of {len(rows)} published statements that this chapter covers, {said}."
    link = _link(f"{PAGE}#chapter-{chapter}", "See them in the ledger")
    return Html(element("p", f"{text} {link}.", class_="ledger-summary"), text)


def ledger_verdicts() -> Html:
    """The verdicts, each with its meaning and how many statements have it."""
    counts = Counter(row.verdict for row in _everything())
    lines = [[f"{one.sign} {one.word}", one.meaning, counts[name]] for name, one in VERDICTS.items()]
    lines.append(["All", "", counts.total()])
    heads = [Head("Verdict", leads=True), "Meaning", Head("Statements", "num")]
    plain = "\n".join(f"{name}: {count}" for name, _, count in lines)
    return Html(region("Statements by verdict", table(heads, lines)), plain)


def ledger_sources() -> Html:
    """How many statements each source has, and how many of them hold."""
    by_source = Counter(row.source for row in _everything())
    groups = [(escape(source_name(key)), {key}) for key, count in by_source.most_common() if count >= FEW]
    rest = {key for key, count in by_source.items() if count < FEW}
    groups += [(f"{len(rest)} further sources", rest)] if rest else []
    kinds = dict.fromkeys(verdict.kind for verdict in VERDICTS.values())
    lines = []
    for name, keys in [*groups, ("All", set(by_source))]:
        counts = Counter(VERDICTS[row.verdict].kind for row in _everything() if row.source in keys)
        lines.append([name, counts.total(), *(counts[kind] or "" for kind in kinds)])
    heads = [Head("Source", leads=True), *(Head(title, "num") for title in ("Statements", *kinds))]
    plain = "\n".join(" | ".join(str(cell) for cell in line) for line in lines)
    return Html(region("Statements by source", table(heads, lines)), plain)


def ledger_findings() -> Html:
    """The findings that matter most, the first one first, each with the place that derives it and its rows."""
    items = [
        element(
            "li", element("b", escape(one.title)), f". {escape(one.told)} ", _derived(one), ". ", _rows_of(one), "."
        )
        for one in findings()
    ]
    plain = "\n".join(f"{place}. {one.title}. {one.told}" for place, one in enumerate(findings(), 1))
    return Html(element("ol", *items, class_="findings"), plain)


def ledger_filter() -> Html:
    """The box that filters the rows; hidden where no script runs."""
    fields = {"verdict": "All verdicts", "source": "All sources", "chapter": "All chapters"}
    box = filter_box("Rows of the ledger", fields, "all-reduce, quiz 4, 70B")
    return Html(box, "The page has a box here that filters the rows. In Python: gpuscale.ledger.claims().")


def ledger_rows(chapter: str) -> Html:
    """All statements that a chapter covers, as a table. Raises KeyError for a chapter without any."""
    rows = _of(chapter)
    ids = [f"claim-{anchor(row.id)}" for row in rows]
    label = f"Published statements: {chapter.replace('_', ' ')}"
    html = table(COLUMNS, map(_cells, rows), "ledger stack", ids=ids, stack=True, aria_label=label)
    box = element("div", html, id=f"chapter-{chapter}", class_="filtered")
    return Html(box, "\n".join(map(_plain, rows)))


def ledger_errata() -> Html:
    """Errors and approximations in the sources, each with the place that derives the right value, and its rows."""
    items = [
        element(
            "section",
            element("h3", f"{one.id}: {escape(one.title)}"),
            element("p", escape(one.told)),
            element("p", _derived(one), ". ", _rows_of(one), ".", class_="note"),
            class_="entry",
            id=f"erratum-{anchor(one.id)}",
        )
        for one in errata().values()
    ]
    plain = "\n".join(f"{one.id}: {one.title}. {one.told}" for one in errata().values())
    return Html(element("div", *items, class_="errata"), plain)


def _everything() -> list[Claim | Wording]:
    return [*claims().values(), *wordings().values()]


def _of(chapter: str) -> list[Claim | Wording]:
    rows = [row for row in claims().values() if row.chapter == chapter]
    rows += [row for row in wordings().values() if row.covered.partition("#")[0] == chapter]
    if not rows:
        raise KeyError(f"no published number belongs to {chapter!r}; expected the name of a chapter's file")
    return rows


def _where(row: Claim | Wording) -> str:
    return f"{row.source}, {row.place}"


def _cells(row: Claim | Wording) -> tuple[str, ...]:
    notes = [f"{cite(_where(row))}."]
    if row.why:
        notes.append(escape(fill(row.why, row)))
    notes += [_link(f"#erratum-{anchor(key)}", f"{key}: {errata()[key].title}") + "." for key in row.errata]
    if isinstance(row, Claim):
        notes += [_link(f"formula_index.ipynb#index-{anchor(key)}", key) for key in row.formulas]
    said = f"{escape(row.says)}{element('small', ' '.join(notes), data_source=source_name(row.source))}"
    published, ours = row.shown if isinstance(row, Claim) else ("", "")
    distance = row.distance_text if isinstance(row, Claim) else ""
    kind = anchor(row.verdict)
    verdict = VERDICTS[row.verdict]
    text = f"{verdict.sign} {verdict.word}" + (f", {distance}" if distance else "")
    return said, published, ours, element("span", text, class_=f"verdict {kind}", data_verdict=verdict.word)


def _plain(row: Claim | Wording) -> str:
    if isinstance(row, Wording):
        return f"{row.id}: {row.says}. {cited(_where(row))}. {row.verdict}. {row.reason}".strip()
    published, ours = row.shown
    verdict = f"{row.verdict}, {row.distance_text}" if row.distance_text else row.verdict
    return f"{row.id}: {row.says}. {cited(_where(row))}. Published {published}, {row.basis} {ours}: {verdict}"


def _derived(one: Erratum) -> str:
    chapter, hash_, heading = one.derivation.partition("#")
    return _link(f"{chapter}.ipynb{hash_}{heading}", "Derivation")


def _rows_of(one: Erratum) -> str:
    rows = [row for row in _everything() if one.id in row.errata]
    return "Rows: " + ", ".join(_link(f"#claim-{anchor(row.id)}", row.id) for row in rows)


def _link(target: str, text: str) -> str:
    return element("a", text, href=target)
