"""Numbers as HTML: parts side by side, and the card of one part.

On the page every number is a button whose tip shows the value as printed, its basis and its source.
"""

from collections.abc import Callable, Iterable, Mapping
from html import escape

from gpuscale.sources import cited
from gpuscale.specs.number import Spec, amount, known_fields

NONE = "–"


class HtmlView:
    """HTML with a plain-text face."""

    def __init__(self, html: str, plain: str):
        self.html, self.plain = html, plain

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.plain


def parts_table(
    parts: Iterable,
    fields: Iterable[str] | Mapping[str, str],
    derived: Mapping[str, Callable] | None = None,
    caption: str = "",
) -> HtmlView:
    """Parts side by side: a row a part, a column a field, then what is derived (in italics).

    ``fields`` are names, or names with their column titles. Each function in ``derived`` takes a part and
    gives (value in base units, unit), a text or None. A part that lacks a field shows a dash.
    """
    titles = dict(fields) if isinstance(fields, Mapping) else {f: _title(f) for f in fields}
    rows = []
    for part in parts:
        cells = [(part.short, escape(part.short))]
        cells += [_number(part, f) for f in titles]
        cells += [_derived(part, make) for make in (derived or {}).values()]
        rows.append(cells)
    heads = [("Part", False), *((t, True) for t in titles.values()), *((t, True) for t in derived or ())]
    plain = plain_table(caption, [h for h, _ in heads], [[p for p, _ in row] for row in rows])
    return HtmlView(table_html(caption, heads, rows), plain)


def _title(name: str) -> str:
    return next((t[name]["title"] for t in known_fields().values() if name in t), name.replace("_", " "))


def _number(part, field: str) -> tuple[str, str]:
    if field in part.labels:
        return part.labels[field], escape(part.labels[field])
    spec = part.specs.get(field)
    return (spec.text, number_button(spec)) if spec else (NONE, NONE)


def _derived(part, make: Callable) -> tuple[str, str]:
    try:
        value = make(part)
    except AttributeError:
        value = None
    if value is None:
        return NONE, NONE
    shown = value if isinstance(value, str) else amount(*value)
    return shown, f"<i>{escape(shown)}</i>"


def number_button(spec: Spec) -> str:
    """A number as a button that tells its provenance."""
    said = {"printed": spec.as_printed, "basis": spec.basis, "source": cited(spec.source), "note": spec.note}
    if spec.date:
        said["basis"] += f", {spec.date}"
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in said.items() if value)
    return f'<button type="button" class="prov"{data}>{escape(spec.text)}</button>'


def part_card(part, rows: list[tuple[str, ...]]) -> str:
    """The HTML card of a part: name, value, basis, source and remarks of each number."""
    title, key = escape(part.title), escape(f'{part.kind}("{part.key}")')
    heads = "".join(f'<th scope="col">{t}</th>' for t in ("Name", "Value", "Basis", "Source", "Remarks"))
    body = []
    for field, value, *said in rows:
        cells = "".join(f"<td>{escape(s)}</td>" for s in said)
        head = f'<th scope="row"><code>{field}</code></th>'
        body.append(f'<tr>{head}<td class="num">{escape(value)}</td>{cells}</tr>')
    return (
        f'<section class="card part" aria-label="{title}"><div class="head"><h3>{title}</h3>'
        f'<code class="note">{key}</code></div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Numbers of {title}">'
        f'<table class="plain-table"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
        + (f'<p class="note">As of {part.as_of}.</p>' if part.as_of else "")
        + "</section>"
    )


def table_html(caption: str, heads: list[tuple[str, bool]], rows: list) -> str:
    head = "".join(f'<th scope="col"{_num(right)}>{escape(title)}</th>' for title, right in heads)
    body = []
    for row in rows:
        first = f'<th scope="row">{row[0][1]}</th>'
        rest = "".join(f"<td{_num(heads[i][1])}>{html}</td>" for i, (_, html) in enumerate(row[1:], 1))
        body.append(f"<tr>{first}{rest}</tr>")
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    label = escape(caption or "Hardware")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="specs">{said}'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _num(right: bool) -> str:
    return ' class="num"' if right else ""


def plain_table(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    grid = [heads, *rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(heads))]
    lines = [caption] if caption else []
    for first, *rest in grid:
        cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
