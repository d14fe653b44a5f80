"""Every formula of the library, found rather than registered."""

from __future__ import annotations

import importlib
import pkgutil

import gpuscale
from gpuscale.formula import Formula

_SKIP = {"gpuscale.widgets", "gpuscale.book", "gpuscale.grade", "gpuscale.quiz", "gpuscale.plotting"}


def modules() -> list[str]:
    """The names of the modules that may hold formulas."""
    return sorted(_walk(gpuscale.__path__, "gpuscale."))


def _walk(path, prefix):
    for found in pkgutil.iter_modules(path, prefix):  # walk_packages would import what is skipped, pyplot too
        if found.name in _SKIP:
            continue
        yield found.name
        if found.ispkg:
            yield from _walk(importlib.import_module(found.name).__path__, f"{found.name}.")


def formulas() -> dict[str, Formula]:
    """All formulas as {"module.name": formula}, in order of module and place."""
    out: dict[str, Formula] = {}
    for name in modules():
        short = name.removeprefix("gpuscale.")
        for attribute, value in vars(importlib.import_module(name)).items():
            if isinstance(value, Formula) and value.module == name and not attribute.startswith("_"):
                out[f"{short}.{attribute}"] = value
    return out


def formula(name: str) -> Formula:
    """The formula of that name, with or without its module. Raises KeyError naming close ones."""
    known = formulas()
    hits = [f for key, f in known.items() if name in {key, key.rpartition(".")[2]}]
    if not hits:
        import difflib

        close = difflib.get_close_matches(name, [k.rpartition(".")[2] for k in known], 3)
        raise KeyError(f"no formula is called {name!r}; close ones: {', '.join(close) or 'none'}")
    return hits[0]
