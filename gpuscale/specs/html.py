"""Numbers as HTML: parts side by side, and the card of one part.

On the page every number is a button whose tip shows the value as printed, its basis and its source.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gpuscale.core.html import Head, Html, aligned, anchor, element, escape, heading, region, table
from gpuscale.sources import cited, source_keys
from gpuscale.specs.number import amount, known_fields

NONE = "–"


def parts_table(
    parts: Iterable,
    fields: Iterable[str] | Mapping[str, str],
    derived: Mapping[str, Callable] | None = None,
    caption: str = "",
    ids: str = "",
) -> Html:
    """Parts as a table: one row per part, one column per field, then derived values (in italics).

    ``fields`` are names, or names with their column titles. Each function in ``derived`` takes a part and
    gives (value in base units, unit), a text or None. A part that lacks a field shows a dash. ``ids``: what the id
    of each row begins with, if rows have ids.
    """
    parts = list(parts)
    titles = fields if isinstance(fields, Mapping) else {f: _title(f) for f in fields}
    rows = []
    for part in parts:
        cells = [(part.short, escape(part.short))]
        cells += [_number(part, f) for f in titles]
        cells += [_derived(part, make) for make in (derived or {}).values()]
        rows.append(cells)
    titles = [*titles.values(), *(derived or ())]
    heads = [Head("Part", leads=True), *(Head(escape(title), "num") for title in titles)]
    anchors = [anchor(f"{ids} {part.key}") for part in parts] if ids else ()
    html = specs_table(caption, heads, [[html for _, html in row] for row in rows], ids=anchors)
    plain = aligned([["Part", *titles], *([plain for plain, _ in row] for row in rows)])
    return Html(html, "\n".join([caption, *plain] if caption else plain), stored=True)


def _title(name: str) -> str:
    return next((t[name]["title"] for t in known_fields().values() if name in t), name.replace("_", " "))


def _number(part, field: str) -> tuple[str, str]:
    if field in part.labels:
        return part.labels[field], escape(part.labels[field])
    if field not in part.specs:
        return NONE, NONE
    spec = part.specs[field]
    basis = f"{spec.basis}, {spec.date}" if spec.date else spec.basis
    return spec.text, provenance(spec.text, spec.as_printed, basis, spec.source, spec.note)


def _derived(part, make: Callable) -> tuple[str, str]:
    try:
        value = make(part)
    except AttributeError:
        value = None
    if value is None:
        return NONE, NONE
    shown = value if isinstance(value, str) else amount(*value)
    return shown, f"<i>{escape(shown)}</i>"


def provenance(shown: str, printed: str, basis: str, source: str, note: str) -> str:
    """A button whose tip says where its value comes from."""
    said = {"data_printed": printed, "data_basis": basis, "data_source": cited(source), "data_note": note}
    said["data_keys"] = " ".join(source_keys(source))
    return element("button", escape(shown), type="button", class_="prov", **said)


def part_card(part, rows: list[tuple[str, ...]]) -> str:
    """The HTML card of a part: name, value, basis, source and remarks of each number."""
    heads = [Head("Name", leads=True), Head("Value", "num"), "Basis", "Source", "Remarks"]
    cells = ((f"<code>{field}</code>", *map(escape, said)) for field, *said in rows)
    inside = [heading(part.title, f'{part.kind}("{part.key}")')]
    inside += [region(f"Numbers of {part.title}", table(heads, cells))]
    inside += [f'<p class="note">As of {part.as_of}.</p>' if part.as_of else ""]
    return element("section", *inside, class_="card part", aria_label=part.title)


def specs_table(
    caption: str, heads: Sequence[Head], rows: Iterable[Sequence[str]], note: str = "", ids: Sequence[str] = ()
) -> str:
    """A wide table of numbers, with its caption as text; ``note`` is HTML below it, ``ids`` are those of the rows."""
    return region(caption or "Hardware", table(heads, rows, "specs", caption=escape(caption), ids=ids), note)
