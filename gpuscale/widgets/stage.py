"""What every figure on a stage is made of: its inputs, the formulas that its script calls, and what it opens on.

The script of a figure (``static/NAME.js``) works out its states and draws them; ``static/figure.js`` says how. Pages
without a script show its first state, which ``book.frames`` takes from the same script when the book is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gpuscale.core import javascript
from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.core.html import anchor
from gpuscale.symbols.quantity import Quantity
from gpuscale.widgets.card import Card, figure
from gpuscale.widgets.parts import Slider


def stage_figure(
    script: str,
    *,
    name: str,
    title: str,
    caption: str,
    start: Mapping[str, Any],
    text: Sequence[str],
    sliders: Mapping[Quantity | str, Slider] | None = None,
    choices: Mapping[str, tuple[str, Mapping[Any, str]]] | None = None,
    boxes: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    moments: Mapping[str, float] | None = None,
    within: Mapping[str, tuple[float, float]] | None = None,
    loose: Sequence[str] = (),
    counts: Sequence[str] = (),
    formulas: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    words: Mapping[str, Any] | None = None,
    data: Any = None,
    python: str = "",
    at: float = 0.0,
    fallback: str = "",
    **more: Any,
) -> Card:
    """A figure that the script ``script`` draws and a hand takes hold of.

    ``start`` holds all its inputs: numbers in base units, words that are a choice, and lists of numbers. ``sliders``
    are by quantity, or by name; ``choices`` are tabs, {"kind": ("Collective", {"all_gather": "All-gather"})}, those in
    ``boxes`` are boxes to select from; ``texts`` are inputs to type, with their labels;
    ``presets`` give some inputs values, {"One slow link": {"share": [...]}}, and ``moments`` some presets the moment,
    from 0 to 1, at which they are shown. ``within`` bounds inputs that have no
    slider, ``loose`` names the lists whose length may change, ``counts`` those inputs without a
    slider that are whole numbers. ``formulas`` are what the script calls, by key: formulas
    or expressions, whose inputs are among those the script hands over. ``words`` are the texts of the script and
    ``data`` what the library has computed for it; ``units`` are those of inputs that it writes. ``python`` is what
    "Copy as Python" imports, ``at`` the moment on which it opens, from 0 to 1; ``more`` goes to the script as it is.
    ``text`` are the lines that a stored notebook keeps, computed by the library.
    Raises ValueError for a slider, choice, preset or bound of an input that ``start`` lacks.
    """
    sliders = {getattr(key, "name", key): (key, slider) for key, slider in (sliders or {}).items()}
    groups = {
        "sliders": sliders,
        "choices": choices or {},
        "within": within or {},
        "loose": loose,
        "counts": counts,
        "texts": texts or {},
    }
    groups |= {f"presets: {label}": changes for label, changes in (presets or {}).items()}
    if stray := sorted(set(moments or {}) - set(presets or {})):
        raise ValueError(f"{name}: moments: {', '.join(stray)}: expected presets: {', '.join(presets or {})}")
    for group, names in groups.items():
        if stray := sorted(set(names) - set(start)):
            raise ValueError(f"{name}: {group}: {', '.join(stray)}: expected inputs of start: {', '.join(start)}")
    spec = {
        "id": f"stage-{anchor(name)}",
        "title": title,
        "caption": caption,
        "figure": script,
        "at": at,
        "start": dict(start),
        "params": {key: _written(quantity, slider) for key, (quantity, slider) in sliders.items()},
        "choices": {key: {"label": label, "of": list(of.items())} for key, (label, of) in (choices or {}).items()},
        "boxes": list(boxes),
        "texts": dict(texts or {}),
        "presets": [[label, to, (moments or {}).get(label)] for label, to in (presets or {}).items()],
        "within": dict(within or {}),
        "loose": list(loose),
        "counts": list(counts),
        "units": dict(units or {}),
        "fns": {key: body(each) for key, each in (formulas or {}).items()},
        "words": dict(words or {}),
        "data": data,
        "python": python,
        **more,
    }
    lines = [f"stage {spec['id']}: {title}", *text]
    return figure("stage", spec, fallback, "\n".join(lines), spec["start"], painter=script)


def _written(quantity: Quantity | str, slider: Slider) -> dict:
    """A slider as the page takes it, with the symbol and the unit of its quantity."""
    known = {"unit": quantity.unit, "sym": quantity.html} if isinstance(quantity, Quantity) else {"sym": ""}
    return known | {key: value for key, value in asdict(slider).items() if key != "unit" or value or not known["sym"]}


def body(formula) -> str:
    """A formula or expression as the body of a JavaScript function of one object ``p``, which holds its inputs. A text
    is such a body already.

    >>> from gpuscale.symbols import V, W
    >>> body(V / W)
    'const {V, W} = p; return V/W;'
    """
    if isinstance(formula, str):
        return formula
    expression = formula.rhs if isinstance(formula, Formula) else formula
    names = ", ".join(sorted(quantity.name for quantity in inputs(expression)))
    return f"const {{{names}}} = p; {javascript.body(expression)}"
