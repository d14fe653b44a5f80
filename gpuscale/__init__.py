"""gpuscale: how GPUs scale for large language models, as formulas that derive, plot and check themselves."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# Names are loaded on first use, so that `import gpuscale` costs little more than sympy.
_HOME = {
    "Formula": "formula",
    "evaluate": "formula",
    "crossover": "crossing",
    "Derivation": "derive",
    "show": "units",
    "parse": "units",
    "chip": "specs",
    "chips": "specs",
    "fabric": "specs",
    "fabrics": "specs",
    "model": "specs",
    "models": "specs",
    "measured": "specs",
    "load": "specs",
    "formulas": "catalogue",
    "explore": "widgets.explore",
    "stepper": "widgets.stepper",
    "ask": "quiz",
    "check": "quiz",
}
_MODULES = (
    "units symbols formula crossing derive dimension typeset display specs processor memory roofline occupancy "
    "schedules catalogue plotting widgets answers grade"
).split()


def __getattr__(name: str):
    if name in _HOME:
        value = getattr(importlib.import_module(f"gpuscale.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"gpuscale.{name}")
    raise AttributeError(f"gpuscale has no {name!r}; it has {', '.join(sorted({*_HOME, *_MODULES}))}")


def __dir__():
    return sorted({*globals(), *_HOME, *_MODULES})
