"""The parts that a live figure is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Slider:
    """A slider: its range in base units, and how it snaps ("two" digits, "whole", "power" of two, "octave", "step:8").

    ``unit`` is what it shows ("KiB", "%"), where that is not the quantity's own unit.
    """

    lo: float
    hi: float
    start: float
    snap: str = "two"
    log: bool = True
    label: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Bound:
    """One resource that can set the pace: its name, the hue of its meaning, its cost (or rate), and its sentence."""

    name: str
    hue: str
    expr: Any
    say: str = ""


@dataclass(frozen=True)
class View:
    """A way of looking at the same state: ``set`` gives inputs a value, or another input's ("$C_fp8").

    ``points`` and ``bounds`` stand in for the figure's own in this view. ``hues`` gives what is drawn in one hue
    another: {"scaleup": "scaleout"} for the view in which the network is InfiniBand and no NVLink.
    """

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    points: tuple | None = None
    bounds: tuple | None = None
    hues: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Value:
    """A result that the sentence may name: {key} shows it in ``unit``."""

    expr: Any
    unit: str = ""


@dataclass(frozen=True)
class Call:
    """What "Copy as Python" writes: ``setup`` are the lines that define or import the function ``name``, and ``words``
    gives quantities their keyword in its call (None: their name)."""

    name: str
    setup: str
    words: Mapping

    @classmethod
    def of(cls, formula) -> Call:
        """The call of a formula of the library. Raises TypeError for one without a name."""
        if not formula.name:
            raise TypeError(f"call {formula.title} needs a name in the library")
        return cls(formula.name, f"from {formula.room} import {formula.name}", dict.fromkeys(formula.inputs))

    def written(self) -> dict:
        """As the page takes it."""
        return {"call": self.name, "import": self.setup, "args": [[q.name, q.unit, w] for q, w in self.words.items()]}
