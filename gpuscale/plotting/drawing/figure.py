"""The static figure: two drawings, a caption that concludes, the numbers folded, and a text digest."""

from __future__ import annotations

import re
from pathlib import Path

from gpuscale.core.html import Head, Html, details, element, escape, region, table
from gpuscale.plotting.drawing import export
from gpuscale.plotting.drawing.ink import bare, printed, safe
from gpuscale.plotting.drawing.sheet import Sheet

WIDE, NARROW = 656, 354  # pixels: the column of text, and a phone's
_TAGS = re.compile(r"<[^>]*>")
_FACE = 'font-family="Segoe UI, Helvetica Neue, Arial, sans-serif"'

# Without the book's style sheet (a notebook) the figure still shows one drawing, at its own size, and dark on
# light or light on dark, following JupyterLab and VS Code.
_STYLE = (
    "<style>.still{container-type:inline-size;display:flex;flex-direction:column;margin-inline:0}"
    ".still svg{display:block;max-width:100%;height:auto;overflow:visible}.still>.narrow{display:none}"
    ".still>details{order:1}"
    "[data-jp-theme-light=true] .still{color-scheme:light}"
    ":is([data-jp-theme-light=false],.vscode-dark) .still{color-scheme:dark}"
    "@container(max-width:36rem){.still>.wide{display:none}.still>.narrow{display:block}}</style>"
)


class Still(Html):
    """A static figure: HTML with two inline SVG drawings, or a text digest under GPUSCALE_DIGEST=1.

    ``paint(sheet)`` draws on a Sheet of pixels, or paints a Chart on it, once for each of two widths. ``name`` gives
    the anchor ``fig-NAME``; ``caption`` is HTML whose first sentence states the conclusion (it becomes bold); ``alt``
    says what is to be seen; ``table`` is the folded data as (column heads, rows). Heights are in pixels; without them
    the painter sets ``sheet.down``. Raises TypeError or ValueError naming a bad argument, or a color that has
    no meaning.
    """

    def __init__(self, paint, *, name, caption, alt, title="", height=0, narrow_height=0, table=None):
        _check(paint, name, caption, alt)
        self.name, self.caption, self.alt, self.table = name, caption, alt, table
        wide = Sheet(name, WIDE, height, narrow=False)
        narrow = Sheet(name, NARROW, narrow_height or min(height, 270), narrow=True)
        for sheet in (wide, narrow):
            paint(sheet)  # at once, so that an error points to the line that made it
        self.chart = wide.chart
        self._drawn = {sheet.narrow: sheet.svg(alt) for sheet in (wide, narrow)}
        html = element(
            "figure",
            _STYLE,
            element("h3", escape(title)) if title else "",
            element("div", self.svg(), class_="wide"),
            element("div", self.svg(narrow=True), class_="narrow"),
            _numbers(name, *table) if table else "",
            element("figcaption", concluded(caption)),
            class_="still",
            id=f"fig-{name}",
        )
        words = " | ".join(map(bare, wide.words))
        super().__init__(html, "\n".join([f"figure {name}: {bare(caption)}", *wide.records, f"words: {words}"]))

    def svg(self, narrow: bool = False) -> str:
        """One of the drawings as SVG text, with the page's typeface and colors."""
        return self._drawn[narrow]

    def axes(self, ax=None):
        """The figure on matplotlib's Axes ``ax`` (default: new ones), which it returns, so that you can continue there.

        Raises TypeError for a figure without axes, such as a block diagram.
        """
        if self.chart is None:
            raise TypeError(f"figure {self.name} has no axes; expected a chart of curves, such as roofline() draws")
        return export.axes(self.chart, ax)

    def save(self, path, narrow: bool = False) -> Path:
        """Write one drawing as a file that stands alone: it names its own typefaces and colors."""
        path = Path(path)
        path.write_text(printed(self.svg(narrow)).replace("<svg ", f"<svg {_FACE} ", 1), encoding="utf-8")
        return path


def _numbers(name: str, heads, rows) -> str:
    columns = [Head(safe(title), "num" if i else "") for i, title in enumerate(heads)]
    listed = table(columns, [[safe(cell) for cell in row] for row in rows], "")
    return details("The numbers", region(f"The numbers of figure {name}", listed), class_="numbers")


def concluded(caption: str) -> str:
    """A caption with its first sentence in bold, unless it holds bold text already."""
    if "<b>" in caption:
        return caption
    found = re.match(r".*?[.?!](?:</\w+>)?(?=\s|$)", caption, re.S)
    first = found[0] if found else caption
    return f"<b>{first}</b>{caption[len(first) :]}"


def _check(paint, name, caption, alt):
    if not callable(paint):
        raise TypeError(f"paint: expected a function of a sheet; got {paint!r}")
    if not (isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9-]*", name)):
        raise ValueError(f"name: expected words such as 'memory-ladder', lower case and hyphens; got {name!r}")
    for what, text in (("caption", caption), ("alt", alt)):
        if not (isinstance(text, str) and _TAGS.sub("", text).strip()):
            raise ValueError(f"{what} of figure {name!r}: expected a sentence; got {text!r}")
