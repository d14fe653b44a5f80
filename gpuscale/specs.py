"""Chips, links, models and measurements, each number with its provenance.

``chip("h100_sxm").bf16`` is a float in base units; ``chip("h100_sxm").spec("bf16")`` also knows the value as
printed, its basis and its source. The data are TOML files here; ``load(path)`` adds a file of your own,
and so does the environment variable GPUSCALE_DATA (paths separated as in PATH). All is read at first use.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from gpuscale import spec_table
from gpuscale.spec_io import DATA, KINDS, Other, Spec, SpecError, Where, known_fields, read
from gpuscale.spec_table import Column, Table, View

__all__ = [
    "Column", "Other", "Part", "Spec", "SpecError", "Table", "UnknownPart", "View", "capabilities",
    "capability", "chip", "chips", "cited", "fabric", "fabrics", "load", "measured", "model", "models", "part", "parts",
    "source_name", "table", "tables",
]  # fmt: skip


class UnknownPart(KeyError):
    """A key that no loaded file has."""

    def __str__(self) -> str:
        return self.args[0]


class Part:
    """A chip, a fabric, a model or a compute capability: its numbers are attributes, in base units.

    Whole counts are ints, everything else floats. ``part.spec(name)`` has the provenance, ``part.get(name)``
    is None for a number that is not published, ``part.about()`` is a card of everything. Parts do not change.
    """

    __slots__ = ("as_of", "key", "kind", "labels", "origin", "specs", "title")

    def __init__(self, kind: str, key: str, title: str, labels: Mapping, specs: Mapping, as_of="", origin=""):
        order = [*known_fields().get(kind, {}), *specs]
        ranked = {name: specs[name] for name in sorted(specs, key=order.index)}
        values = (as_of, key, kind, MappingProxyType(dict(labels)), origin, MappingProxyType(ranked), title)
        for slot, value in zip(Part.__slots__, values, strict=True):
            object.__setattr__(self, slot, value)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return tuple(self.specs)

    @property
    def short(self) -> str:
        """A short title, for a row of a table or a preset."""
        return self.labels.get("short", self.title)

    def spec(self, name: str) -> Spec:
        """A number with its provenance. Raises AttributeError for one it does not have."""
        if name not in self.specs:
            raise self._lacks(name)
        return self.specs[name]

    def get(self, name: str, default=None):
        """A number in base units (or a label), or the default."""
        return getattr(self, name) if name in self else default

    def __getattr__(self, name: str):
        if name.startswith("__") or name in Part.__slots__:
            raise AttributeError(name)
        if name in self.specs:
            return self.specs[name].base
        if name in self.labels:
            return self.labels[name]
        raise self._lacks(name)

    def _lacks(self, name: str) -> AttributeError:
        close = difflib.get_close_matches(name, self.fields, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        has = ", ".join(self.fields)
        return AttributeError(f"{self.title} ({self.key}) has no {name!r}.{hint} It has {has}")

    def __contains__(self, name) -> bool:
        return name in self.specs or name in self.labels

    def __dir__(self):
        return [*super().__dir__(), *self.labels, *self.fields]

    def __setattr__(self, name, value):
        raise AttributeError(f"{self.key}.{name} cannot be set: parts do not change; load() adds your own")

    def __hash__(self) -> int:
        return hash((self.kind, self.key))

    def __eq__(self, other) -> bool:
        return isinstance(other, Part) and self._state() == other._state()

    def _state(self) -> tuple:
        return self.kind, self.key, self.title, dict(self.labels), dict(self.specs), self.as_of, self.origin

    def __reduce__(self):
        return Part, self._state()

    def __repr__(self) -> str:
        return f"{self.kind}({self.key!r})  {self.title}: {len(self.fields)} numbers"

    def about(self) -> View:
        """A card of every number with basis and source, and of other sources' values with the reason."""
        rows = [(n, s.text, s.basis, cited(s.source), _remarks(s)) for n, s in self.specs.items()]
        plain = [f"  {n} = {v} ({b}; {c}){'. ' + r if r else ''}" for n, v, b, c, r in rows]
        return View(spec_table.card(self, rows), "\n".join([self.title, *plain]))


def _remarks(spec: Spec) -> str:
    said = [f"Printed as {spec.printed}." if spec.printed else "", f"As of {spec.date}." if spec.date else ""]
    said += [spec.note, *(f"{cited(o.source)} has {o.as_printed}: {o.why}." for o in spec.others)]
    return " ".join(filter(None, said))


FILES = (
    *("chips", "fabrics", "models", "recipes", "measured", "measured_network", "measured_training"),
    *("topologies", "clusters"),
)


@cache
def _registry() -> dict[str, dict]:
    """Everything loaded: kind -> key -> part. The built-in files first, then those of GPUSCALE_DATA."""
    store: dict[str, dict] = {kind: {} for kind in KINDS}
    for name in FILES:
        _add(store, DATA / f"{name}.toml", "")
    for path in filter(None, os.environ.get("GPUSCALE_DATA", "").split(os.pathsep)):
        _add(store, path, str(Path(path).expanduser().resolve()))
    return store


_names: dict[str, str] = {}  # sources that a reader's file names


@cache
def _built_in_names() -> dict[str, str]:
    return read(DATA / "sources.toml")[1]


def _add(store: dict[str, dict], path, origin: str) -> list:
    """Read a file into the store, all or nothing; parts of the same file that were there are replaced."""
    drafts, sources = read(path)
    where = Where(Path(path).name)
    kept = {kind: _without(origin, parts) for kind, parts in store.items()}
    added = []
    for draft in sorted(drafts, key=lambda d: d["kind"] != "capability"):
        kind, key = draft["kind"], draft["key"]
        if key in kept[kind]:
            whose = kept[kind][key].origin or "the built-in data"
            raise where.at(part=key).wrong(f"{whose} has a {kind} of that name", f"another, such as my_{key}")
        kept[kind][key] = _made(where.at(part=key), draft, kept["capability"], origin)
        added.append(kept[kind][key])
    for kind, parts in kept.items():
        store[kind].clear()
        store[kind].update(parts)
    _names.update(sources)
    return added


def _without(origin: str, parts: Mapping) -> dict:
    return {key: part for key, part in parts.items() if not origin or part.origin != origin}


def _made(where: Where, draft: dict, known: Mapping[str, Part], origin: str):
    if draft["kind"] == "measured":
        body = spec_table.read_table(draft["where"], draft["body"])
        return Table(draft["key"], draft["title"], as_of=draft["as_of"], origin=origin, **body)
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
    """Add the parts of a TOML file of your own and return them. Run again, it replaces what it added.

    The form is that of the built-in files: a table is a part, ``name = { value, unit, basis, source }`` is a
    number; ``kind = "chip"`` (or fabric, model, capability, measured) stands in a part or at the head of the
    file. A source may be any text. Raises SpecError, which names file, part, field and what was expected, and
    adds nothing then.
    """
    return _add(_registry(), path, str(Path(path).expanduser().resolve()))


def _one(kind: str, key: str):
    parts = _registry()[kind]
    if key in parts:
        return parts[key]
    close = [k for k in parts if str(key) and k.startswith(str(key))]
    close += [k for k in difflib.get_close_matches(str(key), list(parts), 3, 0.5) if k not in close]
    hint = f"did you mean {', '.join(close)}? " if close else ""
    raise UnknownPart(f"no {kind} {key!r}; {hint}known: {', '.join(parts)}")


def _all(kind: str) -> Mapping:
    return MappingProxyType(dict(_registry()[kind]))


def chip(key: str) -> Part:
    """A chip, such as ``chip("h100_sxm")``. Raises UnknownPart naming those there are."""
    return _one("chip", key)


def chips() -> Mapping[str, Part]:
    """Every chip by key."""
    return _all("chip")


def fabric(key: str) -> Part:
    """A link or a network card, such as ``fabric("nvlink_4")``."""
    return _one("fabric", key)


def fabrics() -> Mapping[str, Part]:
    """Every fabric by key."""
    return _all("fabric")


def model(key: str) -> Part:
    """A language model, such as ``model("llama3_70b")``."""
    return _one("model", key)


def models() -> Mapping[str, Part]:
    """Every model by key."""
    return _all("model")


def capability(key: str) -> Part:
    """The limits of a compute capability, such as ``capability("cc_9_0")``."""
    return _one("capability", key)


def capabilities() -> Mapping[str, Part]:
    """Every compute capability by key."""
    return _all("capability")


def part(kind: str, key: str) -> Part:
    """A part of any kind, such as ``part("level", "h100_leaf")``; the others have functions of their own."""
    return _one(kind, key)


def parts(kind: str) -> Mapping[str, Part]:
    """Every part of a kind by key."""
    return _all(kind)


def measured(key: str) -> Table:
    """A published or measured table, such as ``measured("mamf_bf16")``."""
    return _one("measured", key)


def tables() -> Mapping[str, Table]:
    """Every measured table by key."""
    return _all("measured")


def table(parts: Iterable, fields, derived=None, caption: str = "") -> View:
    """Parts (or keys of chips) side by side; see ``spec_table.table``."""
    return spec_table.table([chip(p) if isinstance(p, str) else p for p in parts], fields, derived, caption)


def source_name(key: str) -> str:
    """The short name of a source; a text that is no key is its own name."""
    return _built_in_names().get(key) or _names.get(key, key)


def cited(source: str) -> str:
    """A source as a page shows it: short name, then the place; several are joined by a semicolon."""
    parts = (one.partition(",") for one in source.split("; "))
    return "; ".join(source_name(key.strip()) + comma + place for key, comma, place in parts)
