"""What figures on a stage show without a script and on paper: their first state, drawn by the page's own script.

The build runs that script in a JavaScript engine, so a figure is drawn by one program wherever it is shown.
"""

from __future__ import annotations

import atexit
import functools
import json
import re

from py_mini_racer import MiniRacer

from gpuscale.core.html import Head, element, escape, region, script_value, table
from gpuscale.widgets import assets

WIDE, NARROW = 640, 340  # pixels of the two drawings
FIGURE = re.compile(
    r'<figure class="card stage"(?P<head>[^>]*)>(?P<before>.*?)<div class="fallback"></div>(?P<after>.*?)</figure>',
    re.S,
)
_SVG = (  # as on the stage: the style sheets of figures speak of a scene
    '<svg class="scene" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" '
    'viewBox="0 0 {width} {height:.0f}"'
)


@functools.cache
def engine(figure: str) -> MiniRacer:
    """An engine that has run the scripts of the stage and of one figure."""
    made = MiniRacer()
    atexit.register(made.close)  # while its threads still run: later it can hang
    for name in ("gpuscale", "stage", figure):
        made.eval(f"{assets.script(name)}; null")
    return made


def still(spec: dict, width: int) -> dict:
    """The first state at this width in pixels: the drawing's body and height, the sentence, the rows of the table."""
    return json.loads(engine(spec["figure"]).eval(f"JSON.stringify(gpuscale.still({json.dumps(spec)}, {width}))"))


def frame(spec: dict) -> str:
    """The first state as HTML: drawn wide and narrow, in words, and as a table."""
    drawings = []
    for width, name in ((WIDE, "wide"), (NARROW, "narrow")):
        drawn = still(spec, width)
        head = _SVG.format(**drawn) + f' role="img" aria-label="{escape(spec["title"])}">'
        drawings.append(element("div", head + drawn["body"] + "</svg>", class_=name))
    heads, *rows = drawn["table"]
    cells = [Head(text, "num" if place else "") for place, text in enumerate(heads)]
    sentence = element("p", drawn["sentence"], class_="state")
    numbers = region("The numbers", table(cells, rows))
    return region(spec["title"], element("div", "".join(drawings), class_="frames")) + sentence + numbers


def fill(body: str) -> str:
    """A page with the first state of each of its figures that brought none of its own."""

    def filled(found: re.Match) -> str:
        spec = script_value(found["after"])
        fallback = f'<div class="fallback">{frame(spec)}</div>'
        return f'<figure class="card stage"{found["head"]}>{found["before"]}{fallback}{found["after"]}</figure>'

    return FIGURE.sub(filled, body)
