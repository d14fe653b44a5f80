"""All parts and tables that are loaded, by kind and key: the built-in files, GPUSCALE_DATA, and what is added later."""

import difflib
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from gpuscale import sources
from gpuscale.core.html import Html
from gpuscale.specs import html, hugging_face, measured_table
from gpuscale.specs.entry import Part
from gpuscale.specs.measured_table import MeasuredTable
from gpuscale.specs.number import DATA
from gpuscale.specs.reading import KINDS, Where, read


class UnknownPart(KeyError):
    """A key that no loaded file has."""

    def __str__(self) -> str:
        return self.args[0]


FILES = ("chips", "links", "models", "recipes", "measured", "measured_network", "measured_training")
FILES += ("topologies", "clusters")


@cache
def _registry() -> dict[str, dict]:
    """Everything loaded: kind -> key -> part. The built-in files first, then those of GPUSCALE_DATA."""
    store: dict[str, dict] = {kind: {} for kind in KINDS}
    for name in FILES:
        _add(store, DATA / f"{name}.toml", "")
    for path in filter(None, os.environ.get("GPUSCALE_DATA", "").split(os.pathsep)):
        _add(store, path, str(Path(path).expanduser().resolve()))
    return store


def _add(store: dict[str, dict], path, origin: str) -> list:
    """Read a file into the store, all or nothing; parts of the same file that were there are replaced."""
    drafts, names = read(path)
    where = Where(Path(path).name)
    kept = {kind: _without(origin, parts) for kind, parts in store.items()}
    added = []
    for draft in sorted(drafts, key=lambda d: d["kind"] != "capability"):
        kind, key = draft["kind"], draft["key"]
        if key in kept[kind]:
            whose = kept[kind][key].origin or "the built-in data"
            raise where.at(part=key).wrong(f"{whose} already has a {kind} with that name", f"another, such as my_{key}")
        kept[kind][key] = _made(where.at(part=key), draft, kept["capability"], origin)
        added.append(kept[kind][key])
    for kind, parts in kept.items():
        store[kind].clear()
        store[kind].update(parts)
    if origin:
        sources.add(names)
    return added


def _without(origin: str, parts: Mapping) -> dict:
    return {key: part for key, part in parts.items() if not origin or part.origin != origin}


def _made(where: Where, draft: dict, known: Mapping[str, Part], origin: str):
    if draft["kind"] == "measured":
        body = measured_table.read_table(draft["where"], draft["body"])
        return MeasuredTable(draft["key"], draft["title"], as_of=draft["as_of"], origin=origin, **body)
    specs, number = draft["specs"], draft["labels"].get("compute_capability")
    if number:
        key = "cc_" + number.replace(".", "_")
        if key not in known:
            has = ", ".join(k.removeprefix("cc_").replace("_", ".") for k in known)
            raise where.at(field="compute_capability").wrong(
                f"{number!r} is not known", f"one of {has}, or a part [{key}] of kind capability before it"
            )
        specs = {**known[key].specs, **specs}
    return Part(draft["kind"], draft["key"], draft["title"], draft["labels"], specs, draft["as_of"], origin)


def load(path: str | os.PathLike) -> list:
    """Add the parts of a TOML file of your own and return them. A second call replaces what the first one added.

    The form is that of the built-in files: a table is a part, ``name = { value, unit, basis, source }`` is a
    number; ``kind = "chip"`` (or link, model, capability, measured) is in a part or at the head of the
    file. A source may be any text. Raises SpecError, which names file, part, field and what was expected, and
    adds nothing then.
    """
    return _add(_registry(), path, str(Path(path).expanduser().resolve()))


def part(kind: str, key: str) -> Part | MeasuredTable:
    """A part of any kind, such as ``part("level", "h100_leaf")``. Raises UnknownPart with a list of the known ones."""
    known = _registry()[kind]
    if key in known:
        return known[key]
    close = [k for k in known if str(key) and k.startswith(str(key))]
    close += [k for k in difflib.get_close_matches(str(key), list(known), 3, 0.5) if k not in close]
    hint = f"did you mean {', '.join(close)}? " if close else ""
    raise UnknownPart(f"no {kind} {key!r}; {hint}known: {', '.join(known)}")


def parts(kind: str) -> Mapping[str, Part | MeasuredTable]:
    """Every part of a kind by key."""
    return MappingProxyType(dict(_registry()[kind]))


def chip(key: str) -> Part:
    """A chip, such as ``chip("h100_sxm")``. Raises UnknownPart with a list of the known ones."""
    return part("chip", key)


def chips() -> Mapping[str, Part]:
    """Every chip by key."""
    return parts("chip")


def link(key: str) -> Part:
    """A link or a NIC, such as ``link("nvlink_4")``."""
    return part("link", key)


def links() -> Mapping[str, Part]:
    """Every link by key."""
    return parts("link")


def model(key: str | os.PathLike) -> Part:
    """A language model, such as ``model("llama3_70b")``, or that of a configuration of Hugging Face, by its path:
    ``model("path/to/config.json")``."""
    return hugging_face.read(key) if hugging_face.is_file(key) else part("model", key)


def models() -> Mapping[str, Part]:
    """Every model by key."""
    return parts("model")


def capability(key: str) -> Part:
    """The limits of a compute capability, such as ``capability("cc_9_0")``."""
    return part("capability", key)


def measured(key: str) -> MeasuredTable:
    """A published or measured table, such as ``measured("mamf_bf16")``."""
    return part("measured", key)


def table(parts: Iterable, fields, derived=None, caption: str = "", ids: str = "") -> Html:
    """Parts (or keys of chips) as a table; see ``html.parts_table``."""
    return html.parts_table([chip(p) if isinstance(p, str) else p for p in parts], fields, derived, caption, ids)
