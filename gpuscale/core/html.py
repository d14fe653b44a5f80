"""HTML that the library shows: elements, tables and the JSON of scripts, all made here, each with a plain-text form.

The content of an element is HTML: ``escape`` text first. Attributes are text, and are escaped here.
"""

import html as escaping
import json
import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from gpuscale.sources import cited

PAGE = "page"


def digesting() -> bool:
    """Whether outputs are being stored or compared: then figures and cards give text, no drawing.

    The environment variable GPUSCALE_DIGEST says so, which nbval and ``make notebooks`` set.

    >>> digesting() == (os.environ.get("GPUSCALE_DIGEST", "") not in {"", "0"})
    True
    """
    return os.environ.get("GPUSCALE_DIGEST", "") not in {"", "0", PAGE}


def for_a_page() -> bool:
    """Whether the book is being built: outputs go on a page, and no notebook listens.

    >>> for_a_page() and digesting()
    False
    """
    return os.environ.get("GPUSCALE_DIGEST", "") == PAGE


class Html:
    """HTML with a plain-text face. Markdown-like emphasis is not interpreted.

    Where outputs are stored, the HTML is left out unless it is to be ``stored`` too.

    >>> Html("<b>9</b>", "9")
    9
    """

    def __init__(self, html: str, text: str, stored: bool = False):
        self.html, self.text, self.stored = html, text, stored

    def _repr_mimebundle_(self, include=None, exclude=None):
        plain = {"text/plain": self.text}
        if digesting() and not self.stored:
            return plain
        return {"text/html": self.html, **plain}

    def __repr__(self) -> str:
        return self.text


def anchor(text: str) -> str:
    """A stable anchor: lower case, words joined by hyphens.

    >>> anchor("Ring all-reduce, 8 GPUs")
    'ring-all-reduce-8-gpus'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def escape(text: str, quote: bool = False) -> str:
    """Text made safe inside an element, with ``quote`` inside an attribute as well.

    >>> escape("a < b's")
    "a &lt; b's"
    """
    return escaping.escape(str(text), quote)


def breakable(name: str) -> str:
    """A name, escaped, that may break after each low line.

    >>> breakable("ring_all_reduce")
    'ring_<wbr>all_<wbr>reduce'
    """
    return name.replace("_", "_<wbr>")


def cite(source: str) -> str:
    """A source as HTML: short name, then the place.

    >>> cite("nccl-tests, PERFORMANCE.md")
    'NVIDIA, nccl-tests, PERFORMANCE.md'
    """
    return escape(cited(source))


def element(tag: str, *inside: str, **attributes: str | bool) -> str:
    """An element around HTML. An attribute of "", False or None is left out, True stands alone; a name is written with
    underscores for hyphens, and with one behind it if it is a word of Python (``class_``).

    >>> element("td", "4", " GB", class_="num", data_k="ours")
    '<td class="num" data-k="ours">4 GB</td>'
    >>> element("details", open=True, id="")
    '<details open></details>'
    """
    said = ""
    for name, value in attributes.items():
        if value in ("", None) or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        said += f" {name}" if value is True else f' {name}="{escape(value, quote=True)}"'
    return f"<{tag}{said}>{''.join(inside)}</{tag}>"


def details(summary: str, *inside: str, **attributes: str | bool) -> str:
    """Content that is folded under its summary.

    >>> details("Data", "<p>4</p>", class_="entry")
    '<details class="entry"><summary>Data</summary><p>4</p></details>'
    """
    return element("details", element("summary", summary), *inside, **attributes)


def region(label: str, *inside: str, kind: str = "scroll") -> str:
    """Content that may be wider than the page: it scrolls on its own, and the keyboard reaches it.

    >>> region("Units", "...")
    '<div class="scroll" tabindex="0" role="region" aria-label="Units">...</div>'
    """
    return element("div", *inside, class_=kind, tabindex="0", role="region", aria_label=label)


def heading(title: str, note: str, id: str = "") -> str:
    """The head of a card: a title, and a note in the type of code.

    >>> heading("Time to move bytes", "transfer_time(V, W)")
    '<div class="head"><h3>Time to move bytes</h3><code class="note">transfer_time(V, W)</code></div>'
    """
    inside = element("h3", escape(title), id=id), element("code", escape(note), class_="note")
    return element("div", *inside, class_="head")


class Head(NamedTuple):
    """The head of a column of a table."""

    title: str  # as HTML
    kind: str = ""  # the class of the head and of the cells below it: "num" aligns numbers
    key: str = ""  # on a phone, the word before each cell of a stacked table: its data-k
    leads: bool = False  # whether each cell is the head of its row


def table(
    heads: Iterable[str | Head],
    rows: Iterable[Sequence | str],
    kind: str = "plain-table",
    *,
    caption: str = "",
    ids: Sequence[str] = (),
    stack: bool = False,
    **attributes: str,
) -> str:
    """A table. A head that is only a title is a str.

    ``rows``: a sequence of cells each, as HTML; a str is one cell across all columns. ``kind``: the class of the
    table. ``caption``: as HTML. ``ids``: the id of each row. ``stack``: on a phone each row becomes a block, so
    roles keep telling that it is a table; give it ``aria_label`` or ``aria_labelledby``. Raises ValueError for a row
    that has not a cell for each column.

    >>> table(["Unit"], [["kB"]], kind="")
    '<table><thead><tr><th scope="col">Unit</th></tr></thead><tbody><tr><td>kB</td></tr></tbody></table>'
    >>> table(["Unit", Head("Bytes", "num")], [["kB", 1000]]).count(' class="num"')
    2
    """
    heads = [Head(head) if isinstance(head, str) else head for head in heads]
    rows = list(rows)
    said = {"role": "columnheader"} if stack else {"scope": "col"}
    top = "".join(element("th", head.title, **said, class_=head.kind) for head in heads)
    cell, line, group = (role if stack else "" for role in ("cell", "row", "rowgroup"))
    body = ""
    for row, name in zip(rows, ids or [""] * len(rows), strict=True):
        if isinstance(row, str):
            cells = element("td", row, role=cell, colspan=len(heads))
        else:
            cells = "".join(_cell(head, inside, cell) for head, inside in zip(heads, row, strict=True))
        body += element("tr", cells, role=line, id=name)
    inside = [element("caption", caption) if caption else "", element("thead", element("tr", top, role=line))]
    inside += [element("tbody", body, role=group)]
    return element("table", *inside, class_=kind, role="table" if stack else "", **attributes)


def _cell(head: Head, inside, role: str) -> str:
    if head.leads:
        return element("th", str(inside), scope="row")
    return element("td", str(inside), role=role, class_=head.kind, data_k=head.key)


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """A table as lines of text: the columns in ``left`` begin together, the others end together.

    >>> aligned([("chip", "GPUs"), ("H100", "8")])
    ['chip  GPUs', 'H100     8']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in cells).rstrip())
    return lines


def as_json(value) -> str:
    """JSON that may stand inside a script element: nothing in it ends the element or opens a comment.

    >>> as_json({"a": "</script>"})
    '{"a":"<\\\\/script>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!--", "\\u003c!--")


def script_json(value) -> str:
    """A script element that holds a value as JSON, for the page's script.

    >>> script_json([1, 2])
    '<script type="application/json">[1,2]</script>'
    """
    return element("script", as_json(value), type="application/json")


def script_value(html: str):
    """The value in the first script element of that kind.

    >>> script_value("<p>" + script_json({"a": 1}))
    {'a': 1}
    """
    return json.loads(html.partition('<script type="application/json">')[2].partition("</script>")[0])
