"""The face of a room: ``from gpuscale.collectives import ring_all_reduce``, whichever file of the room defines it.

A file is loaded when one of its names is first asked for, so that a room costs what is used of it. A room of formulas
offers all that its files define, read from the files themselves: a new formula is on the face once it is written.
Another room offers a choice.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import pkgutil
import sys
from pathlib import Path


def face(room: str, **chosen: str):
    """``__getattr__`` and ``__dir__`` of a room, for its ``__init__``.

    ``face(__name__)`` offers every public name of the room's files; ``face(__name__, dates="today tomorrow")`` offers
    those two of its file dates.py. The room's files are reached by their names too.
    """
    named = {name: f"{room}.{file}" for file, names in chosen.items() for name in names.split()}

    def offered() -> dict[str, str]:
        return named or defined(room)

    def find(name: str):
        if name == "__all__":  # for a star import
            return sorted(offered())
        if name.startswith("__"):
            raise AttributeError(name)
        if name in offered():
            value = getattr(importlib.import_module(offered()[name]), name)
            setattr(sys.modules[room], name, value)
            return value
        if name in files(room):
            return importlib.import_module(f"{room}.{name}")
        close = difflib.get_close_matches(name, [*offered(), *files(room)], 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(listed())}"
        raise AttributeError(f"{room} has no {name!r}{hint}")

    def listed() -> list[str]:
        return sorted({*offered(), *files(room)})

    return find, listed


@functools.cache
def files(room: str) -> tuple[str, ...]:
    """The names of a room's files and folders, in order."""
    found = pkgutil.iter_modules(sys.modules[room].__path__)
    return tuple(sorted(one.name for one in found if not one.name.startswith("_")))


@functools.cache
def defined(room: str) -> dict[str, str]:
    """The public names that a room's files define at their top level, each with its module.

    Raises ImportError where two files define one name.
    """
    found: dict[str, str] = {}
    folder = Path(sys.modules[room].__path__[0])
    for file in files(room):
        module = f"{room}.{file}"
        for name in _public(ast.parse((folder / f"{file}.py").read_text(encoding="utf-8"))):
            if name in found:
                raise ImportError(f"{name} is defined in {found[name]} and in {module}")
            found[name] = module
    return found


def _public(tree: ast.Module) -> dict[str, None]:
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            targets = (part for target in node.targets for part in ast.walk(target))
            found += [part.id for part in targets if isinstance(part, ast.Name)]
    return {name: None for name in found if not name.startswith("_")}
