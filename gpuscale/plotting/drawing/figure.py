"""The static figure: two drawings, a caption that concludes, the numbers folded, and a text digest."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

from gpuscale.core.html import Head, details, digesting, escape, region, table
from gpuscale.plotting.drawing.digest import digest
from gpuscale.plotting.drawing.ink import HUE, printed, safe
from gpuscale.plotting.drawing.layout import lay_out
from gpuscale.plotting.drawing.sheet import Sheet
from gpuscale.plotting.drawing.svg import SvgRenderer

WIDE, NARROW = 656, 354  # pixels: the column of text, and a phone's
_TAGS = re.compile(r"<[^>]*>")
_FACE = 'font-family="Segoe UI, Helvetica Neue, Arial, sans-serif"'

# Without the book's style sheet (a notebook) the figure still shows one drawing, at its own size, and dark on
# light or light on dark as JupyterLab and VS Code say.
_STYLE = (
    "<style>.still{container-type:inline-size;display:flex;flex-direction:column;margin-inline:0}"
    ".still svg{display:block;max-width:100%;height:auto;overflow:visible}.still>.narrow{display:none}"
    ".still>details{order:1}"
    "[data-jp-theme-light=true] .still{color-scheme:light}"
    ":is([data-jp-theme-light=false],.vscode-dark) .still{color-scheme:dark}"
    "@container(max-width:36rem){.still>.wide{display:none}.still>.narrow{display:block}}</style>"
)

_RULES = {"lines.scale_dashes": False, "lines.dashed_pattern": (6, 5), "text.parse_math": False}


class Still:
    """A static figure: HTML with two inline SVG drawings, or a text digest under GPUSCALE_DIGEST=1.

    ``paint(ax, narrow)`` draws with matplotlib on a prepared Axes, once for each width; ``table`` is the
    folded data as (column heads, rows). See ``still`` for the other arguments.
    """

    def __init__(self, paint, *, name, caption, alt, title="", height=360, narrow_height=None, axes=True, table=None):
        _check(paint, name, caption, alt)
        self.name, self.caption, self.alt, self.title, self.table = name, caption, alt, title, table
        self._paint, self._axes = paint, axes
        self._height = {False: height, True: narrow_height or min(height, 270)}
        with matplotlib.rc_context():
            matplotlib.rcdefaults()  # a reader's style must not change the book's figures
            matplotlib.rcParams.update(_RULES)
            wide = self._sheet(narrow=False)
            self.text = digest(self, wide)  # at once, like the drawings: what is wrong is said where it is written
            self._drawn = {False: self._draw(wide), True: self._draw(self._sheet(narrow=True))}

    def _sheet(self, narrow: bool) -> Sheet:
        """The matplotlib figure of one of the two drawings, laid out."""
        size = self._size(narrow)
        sheet = Sheet(*size, narrow)
        ax = sheet.add_axes((0, 0, 1, 1), frameon=False)
        ax.set_prop_cycle(color=[HUE["plain"]])
        if not self._axes:
            ax.set(xlim=(0, size[0]), ylim=(size[1], 0))
        self._paint(ax, narrow)
        if self._axes:
            lay_out(ax)
        for side in (ax.xaxis, ax.yaxis):
            side.set_visible(False)
        return sheet

    def _size(self, narrow: bool) -> tuple[float, float]:
        """Width and height; a height may be worked out from the width by a function."""
        w, h = (NARROW if narrow else WIDE), self._height[narrow]
        return w, h(w) if callable(h) else h

    def _draw(self, sheet: Sheet) -> str:
        kind = "narrow" if sheet.narrow else "wide"
        renderer = SvgRenderer((sheet.across, sheet.down), f"fig-{self.name}-{kind}")
        sheet.draw(renderer)
        return renderer.svg(self.alt)

    def svg(self, narrow: bool = False) -> str:
        """One of the drawings as SVG text, with the page's typeface and colours."""
        return self._drawn[narrow]

    def html(self) -> str:
        """The figure element for a page or a notebook."""
        head = f"<h3>{escape(self.title)}</h3>" if self.title else ""
        return (
            f'<figure class="still" id="fig-{self.name}">{_STYLE}{head}<div class="wide">{self.svg()}</div>'
            f'<div class="narrow">{self.svg(narrow=True)}</div>{self._numbers()}'
            f"<figcaption>{concluded(self.caption)}</figcaption></figure>"
        )

    def digest(self) -> str:
        """What the figure shows, as text that can be stored and compared."""
        return self.text

    def save(self, path, narrow: bool = False) -> Path:
        """Write one drawing as a file that stands alone: it names its own typefaces and colours."""
        path = Path(path)
        path.write_text(printed(self.svg(narrow)).replace("<svg ", f"<svg {_FACE} ", 1), encoding="utf-8")
        return path

    def _numbers(self) -> str:
        if not self.table:
            return ""
        heads, *rows = ([safe(cell) for cell in row] for row in (self.table[0], *self.table[1]))
        columns = [Head(title, "num" if i else "") for i, title in enumerate(heads)]
        numbers = region(f"The numbers of figure {self.name}", table(columns, rows, ""))
        return details("The numbers", numbers, class_="numbers")

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_mimebundle_(self, include=None, exclude=None):
        plain = {"text/plain": self.text}
        return plain if digesting() else {"text/html": self.html(), **plain}

    def __repr__(self) -> str:
        return self.text


def still(paint, *, name, caption, alt, **look) -> Still:
    """A figure from plain matplotlib: ``paint(ax, narrow)`` draws on an Axes prepared for the page.

    ``name`` gives the anchor ``fig-NAME``; ``caption`` is HTML whose first sentence states the conclusion
    (it becomes bold); ``alt`` says what is to be seen. ``look`` may hold title, height and narrow_height in
    pixels, table (heads, rows), and ``axes=False`` for a bare ground in pixels, y downwards. Lines with a
    label are labelled where there is room; ``axis(ax, ...)`` gives units. Raises TypeError or ValueError
    naming a bad argument, or a colour that has no meaning.
    """
    return Still(paint, name=name, caption=caption, alt=alt, **look)


def concluded(caption: str) -> str:
    """A caption with its first sentence in bold, unless it holds bold text already."""
    if "<b>" in caption:
        return caption
    found = re.match(r".*?[.?!](?:</\w+>)?(?=\s|$)", caption, re.S)
    first = found[0] if found else caption
    return f"<b>{first}</b>{caption[len(first) :]}"


def _check(paint, name, caption, alt):
    if not callable(paint):
        raise TypeError(f"paint: expected a function of (ax, narrow); got {paint!r}")
    if not (isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9-]*", name)):
        raise ValueError(f"name: expected words such as 'memory-ladder', lower case and hyphens; got {name!r}")
    for what, text in (("caption", caption), ("alt", alt)):
        if not (isinstance(text, str) and _TAGS.sub("", text).strip()):
            raise ValueError(f"{what} of figure {name!r}: expected a sentence; got {text!r}")
