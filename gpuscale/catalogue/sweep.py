"""Every formula of the library, found rather than registered."""

import difflib
import importlib
from functools import cache
from pathlib import Path

import gpuscale
from gpuscale.core.formula import Formula

DECLARES = "\ndeclare(globals())\n"  # the last line of a module of formulas


@cache
def modules() -> tuple[str, ...]:
    """The names of the modules that declare formulas."""
    root = Path(gpuscale.__path__[0])
    found = (path for path in root.rglob("*.py") if path.read_text(encoding="utf-8").endswith(DECLARES))
    return tuple(sorted(".".join((root.name, *path.relative_to(root).with_suffix("").parts)) for path in found))


def formulas() -> dict[str, Formula]:
    """All formulas as {"room.name": formula}, such as "collectives.ring_all_reduce", by module and place in it."""
    return dict(_formulas())


@cache
def _formulas() -> dict[str, Formula]:
    out: dict[str, Formula] = {}
    for module in modules():
        for value in vars(importlib.import_module(module)).values():
            if isinstance(value, Formula) and value.module == module:
                out[f"{value.room.partition('.')[2]}.{value.name}"] = value
    return out


def formula(name: str) -> Formula:
    """The formula of that name, with or without its room. Raises KeyError naming close ones."""
    known = formulas()
    hits = [f for key, f in known.items() if name in {key, key.rpartition(".")[2]}]
    if not hits:
        close = difflib.get_close_matches(name, [k.rpartition(".")[2] for k in known], 3)
        raise KeyError(f"no formula is called {name!r}; close ones: {', '.join(close) or 'none'}")
    return hits[0]
