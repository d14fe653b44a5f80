"""The face of a room: ``from gpuscale.collectives import ring_all_reduce``, whichever file of the room defines it.

A file is loaded when one of its names is first used, so that importing a room costs only what is used. A room of
formulas offers all that its files define, read from the files themselves: a new formula is offered as soon as it is
written. Other rooms list what they offer.
"""

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
    those two of its file dates.py. The room's files can be imported by name, too.
    """
    named = {name: f"{room}.{file}" for file, names in chosen.items() for name in names.split()}

    def offered() -> dict[str, str]:
        return named or defined(room)

    def find(name: str):
        if name == "__all__":  # for a star import
            return sorted(offered())
        if name.startswith("_"):
            raise AttributeError(name)
        if name in offered():
            value = getattr(importlib.import_module(offered()[name]), name)
            setattr(sys.modules[room], name, value)
            return value
        if name in files(room):
            return importlib.import_module(f"{room}.{name}")
        if places := [one for one in files(room) if name in _on_face(f"{room}.{one}")]:
            raise AttributeError(f"{room} has no {name!r}; it is in {' and in '.join(f'{room}.{p}' for p in places)}")
        close = difflib.get_close_matches(name, {**offered(), **dict.fromkeys(files(room))}, 3)
        has = ", ".join(name for name in listed() if not name.startswith("__"))
        hint = f"; did you mean {' or '.join(close)}?" if close else f"; it has {has}"
        raise AttributeError(f"{room} has no {name!r}{hint}")

    def listed() -> list[str]:
        kept = [name for name in vars(sys.modules[room]) if name.startswith("__")]
        return sorted({*kept, *offered(), *files(room)})

    return find, listed


@functools.cache
def files(room: str) -> tuple[str, ...]:
    """The names of a room's files and folders, in order."""
    found = pkgutil.iter_modules(sys.modules[room].__path__)
    return tuple(sorted(one.name for one in found if not one.name.startswith("_")))


@functools.cache
def defined(room: str) -> dict[str, str]:
    """The public names that a room's files define at their top level, each with its module.

    Raises ImportError if two files define one name.
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


def _on_face(module: str) -> tuple[str, ...]:
    """What a room within a room offers by its face; nothing for a file, or for a room that loads all it has."""
    parts = module.split(".")
    start = Path(sys.modules[parts[0]].__path__[0]).joinpath(*parts[1:], "__init__.py")
    has_face = start.exists() and "face(" in start.read_text(encoding="utf-8")
    return importlib.import_module(module).__all__ if has_face else ()


def _public(tree: ast.Module) -> dict[str, None]:
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            targets = (part for target in node.targets for part in ast.walk(target))
            found += [part.id for part in targets if isinstance(part, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append(node.target.id)
    return {name: None for name in found if not name.startswith("_")}
