"""The scripts and style sheets of the page and of the notebook widgets: one copy of each, read from ``static``.

Notebooks get them as they are written. The site serves them without what only readers of the source need:
``gpuscale.book.served`` does that when the book is built. "gpuscale" is what every page loads; the stage, each
figure on it, and the filter of long pages have files of their own, for the pages that hold one.
"""

import functools
from importlib.resources import files

from gpuscale.core.html import Html
from gpuscale.widgets.shared import with_constants

# Scripts that draw what stands on a stage, each with its style sheet.
FIGURES = (
    "ring",
    "race",
    "fabric",
    "pipeline",
    "layer",
    "bytes",
    "powers",
    "overview",
    "planner",
    "sms",
    "journey",
    "steps",
    "decode",
    "scheduler",
    "serve",
)
SCRIPTS = {
    "gpuscale": tuple("numbers grading plot controls live quiz prov copy paper seek frame start".split()),
    "stage": ("player", "brush", "shapes", "figure", "inputs", "press", "stage"),
    **{name: (name,) for name in FIGURES},
    "fabric": ("fabric_loads", "fabric_shapes", "fabric"),
    "pipeline": ("pipeline_orders", "pipeline_times", "pipeline_lanes", "pipeline"),
    "planner": ("layouts", "config", "map", "planner"),
    "decode": ("bars", "decode"),
    "scheduler": ("bars", *(f"scheduler{part}" for part in ("_run", "_rates", "_places", "_lanes", "_strips", ""))),
    "serve": ("serving_costs", "deployments", "map", "serve"),
    "filter": ("words", "filter"),
    "search": ("words", "search"),
    "practice": ("practice",),
    "scores": ("scores",),
}
STYLES = {
    "gpuscale": ("components",),
    "stage": ("player", "stage"),
    **{name: (name,) for name in FIGURES},
    **{name: ("map", name) for name in ("planner", "serve")},
    **{name: ("bars", name) for name in ("decode", "scheduler")},
    "filter": ("filter",),
    "search": ("search",),
    "scores": ("scores",),
}
NOTEBOOK = "notebook"  # the part of either that no page needs
# What "gpuscale" lends to the others.
PARTS = (
    "KINDS $ $$ make range life clamp breaking escape fresh hide fit px spans text wide worded "
    "button joined rect sliders slide copying program show say literal write"
)
STAGE_PARTS = "box eased label lerp unit upright"  # what "stage" lends to the figures on it besides
PRACTICE_PARTS = "$ SCALE cards doc escape fetched grading inSet joined make progress show site worded"
SCORE_PARTS = "$ $$ button escape fetched hide joined make practise progress site worded"


def _named(*parts: str) -> str:
    return f"{{ {', '.join(dict.fromkeys(' '.join(parts).split()))} }}"


_PARTS = _named(PARTS)
_PLAIN = (
    "{ abs, ceil, floor, hypot, log10, max, min, round, sign } = Math, { entries, fromEntries, keys } = Object, "
    "real = Number.isFinite, doc = globalThis.document"
)
_HEADS = {"stage": f"const {_PARTS} = globalThis.gpuscale.parts, {_PLAIN};\n"}
_HEADS |= dict.fromkeys(
    FIGURES, f"const {{ figures, parts: {_named(PARTS, STAGE_PARTS)} }} = globalThis.gpuscale, {_PLAIN};\n"
)
_HEADS["practice"] = (
    f"const {_named(PRACTICE_PARTS)} = globalThis.gpuscale.parts, {{ abs, floor }} = Math, real = Number.isFinite,\n"
    "  { entries, fromEntries, keys } = Object;\n"
)
_HEADS["scores"] = (
    f"const {_named(SCORE_PARTS)} = globalThis.gpuscale.parts, {{ entries, fromEntries, keys }} = Object;\n"
)
_TAILS = {
    "gpuscale": f"globalThis.gpuscale.parts = {_named(PARTS, PRACTICE_PARTS, SCORE_PARTS)};\n",
    "stage": f"Object.assign(globalThis.gpuscale.parts, {_named(STAGE_PARTS)});\n",
}


def _read(names: tuple[str, ...], kind: str) -> str:
    folder = files("gpuscale.widgets").joinpath("static")
    return "\n".join(folder.joinpath(f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


def _closed(source: str) -> str:
    """Code as one classic script, for modules do not load from ``file://``."""
    return f"(() => {{\n'use strict';\n{with_constants(source)}}})();\n"


@functools.cache
def script(name: str = "gpuscale") -> str:
    """A script of SCRIPTS; those after the first are loaded behind it, figures behind "stage"."""
    return _closed(_HEADS.get(name, "") + _read(SCRIPTS[name], "js") + _TAILS.get(name, ""))


@functools.cache
def style(name: str = "gpuscale") -> str:
    """A style sheet of STYLES; the first has the tokens that everything else takes its colors from."""
    return _read(STYLES[name], "css")


@functools.cache
def esm() -> str:
    """The module that a notebook widget loads: all scripts of figures and quizzes. What the script of a figure on a
    stage names is its own, as on a page."""
    names = dict.fromkeys(file for name in ("gpuscale", "stage", "practice") for file in SCRIPTS[name])
    apart = [_read((name,), "js") for name in names]  # each once
    apart += [f"{{\n{_read(SCRIPTS[name], 'js')}}}\n" for name in FIGURES]
    apart.append(_read((NOTEBOOK,), "js"))
    return f"{_closed(''.join(apart))}export default {{ render: globalThis.gpuscale.render }};\n"


@functools.cache
def notebook_style() -> str:
    """All styles for a notebook, which has rules of its own that ours have to meet. Those of a figure hold for its own
    cards: figures use the same short class names, and here they are loaded together."""
    names = dict.fromkeys(file for name in ("gpuscale", "stage") for file in STYLES[name])
    own = [style(name).replace(".card)", f".card[data-painter={name}])") for name in FIGURES]
    return "\n".join((_read((NOTEBOOK, *names), "css"), *own))


def look() -> Html:
    """The book's styles for a notebook: put it at the end of the first cell. The built site has them already."""
    return Html(f"<style>{notebook_style()}</style>", "styles of the book")
