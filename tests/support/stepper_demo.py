"""Steppers of every shape of schedule, for the tests of the stepper: as cards and as a page of their own."""

import functools
import json
from contextlib import contextmanager
from pathlib import Path

from py_mini_racer import MiniRacer
from support.other_schedules import rail_all_reduce

from gpuscale.book.served import served, tight_script
from gpuscale.collectives import algorithms
from gpuscale.schedules.collectives import (
    bruck,
    doubling,
    exchange,
    hierarchical,
    in_network,
    ring,
    switched,
    torus,
    trees,
)
from gpuscale.units import MB
from gpuscale.widgets import assets, collective_stepper

ROOT = Path(__file__).resolve().parents[2]
V = 64 * MB
GATHER, SCATTER, REDUCE = (
    getattr(algorithms, f"{name}_bytes") for name in ("all_gather", "reduce_scatter", "all_reduce")
)
VIEW = '<meta name="viewport" content="width=device-width">'
CAPTION = "<b>Chunks move.</b> The bytes are counted."
SHAPES = {
    "ring 2": (ring.all_reduce(2), REDUCE),
    "ring 3": (ring.all_reduce(3), REDUCE),
    "ring 4": (ring.all_gather(4), GATHER),
    "ring 8": (ring.all_reduce(8), REDUCE),
    "ring 4 sum": (ring.all_reduce(4), REDUCE),
    "ring 16": (ring.all_reduce(16), REDUCE),
    "scatter 8": (ring.reduce_scatter(8), SCATTER),
    "chain": (ring.broadcast(8, 4), None),
    "halving 8": (doubling.halving_doubling(8), REDUCE),
    "halving 16": (doubling.halving_doubling(16), REDUCE),
    "bruck": (bruck.all_gather(6), GATHER),
    "binomial": (trees.broadcast(8), None),
    "trees": (trees.double_tree_all_reduce(16, 16), None),
    "switch": (in_network.all_reduce(8), None),
    "own": (in_network.all_reduce(4, own=True, pieces=2), None),
    "exchange 8": (exchange.all_to_all(8), None),
    "exchange 10": (exchange.all_to_all(10), None),
    "bruck exchange": (bruck.all_to_all(4), None),
    "torus": (torus.all_gather((5,)), None),
    "torus exchange": (torus.all_to_all((4,)), None),
    "nodes": (hierarchical.all_reduce((4, 2)), REDUCE),
    "units": (hierarchical.all_gather((2, 2, 4)), GATHER),
    "switches": (switched.all_reduce((4, 2)), None),
    "three levels": (switched.all_gather((2, 2, 2)), None),
    "rails": (rail_all_reduce((4, 2)), None),
}


def stepper(schedule, formula=None, **options):
    """A stepper with what does not matter filled in."""
    filled = {"name": "demo", "title": schedule.title, "caption": CAPTION, "V": V}
    return collective_stepper(schedule, formula, **filled | options)


@functools.cache
def cards() -> dict:
    """The card of each shape."""
    return {name: stepper(*shape, name=name) for name, shape in SHAPES.items()}


@contextmanager
def painting(kind: str):
    """paint(spec, width, t) is a frame's drawing and its height, by the page's scripts without a page."""
    scripts = (assets.script(), assets.script("steppers"))
    with MiniRacer() as engine:
        for script in map(tight_script, scripts):
            engine.eval(f"{script}; null")
        engine.eval(f"""function paint(spec, w, t) {{
          const svg = {{ setAttribute(k, v) {{ this[k] = v; }} }};
          gpuscale.painters.{kind}(svg, w, t, spec, 'id', true);
          return JSON.stringify([svg.innerHTML, svg.height]);
        }}; null""")
        yield lambda spec, width, t: json.loads(engine.eval(f"paint({spec}, {width}, {t})"))


def page(folder: Path) -> Path:
    """All of them on one page, with the files that the site would serve."""
    for name, text in served(ROOT).items():
        (folder / name).write_text(text, encoding="utf-8")
    styles = "".join(f'<link rel="stylesheet" href="{n}.css">' for n in ("gpuscale", "steppers", "book"))
    scripts = "".join(f'<script defer src="{name}.js"></script>' for name in ("gpuscale", "steppers"))
    body = "".join(card.html for card in cards().values())
    text = f"<title>x</title>{styles}{scripts}<nav></nav><main><article><h1>x</h1>{body}</article></main>"
    (folder / "steppers.html").write_text(f'<!DOCTYPE html><html lang="en"><meta charset="utf-8">{VIEW}{text}', "utf-8")
    return folder / "steppers.html"
