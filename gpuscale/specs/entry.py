"""An entry of the data: a chip, a link, a model. Its numbers are attributes, each with its provenance."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from gpuscale.core.html import Html
from gpuscale.sources import cited
from gpuscale.specs import html
from gpuscale.specs.number import Spec, known_fields


class Part:
    """A chip, a link, a model or a compute capability: its numbers are attributes, in base units.

    Whole counts are ints, everything else floats. ``part.spec(name)`` has the provenance, ``part.get(name)``
    is None for a number that is not published, ``part.about()`` is a card of everything. Parts are read-only.
    """

    def __init__(self, kind: str, key: str, title: str, labels: Mapping, specs: Mapping, as_of="", origin=""):
        order = [*known_fields().get(kind, {}), *specs]
        ranked = {name: specs[name] for name in sorted(specs, key=order.index)}
        head = {"kind": kind, "key": key, "title": title, "as_of": as_of, "origin": origin}
        self.__dict__.update(head, labels=MappingProxyType(dict(labels)), specs=MappingProxyType(ranked))

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
        if name.startswith("__"):
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
        raise AttributeError(f"{self.key}.{name} cannot be set: parts are read-only; load() adds your own")

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

    def about(self) -> Html:
        """A card of every number with basis and source, and of other sources' values with the reason."""
        rows = [(n, s.text, s.basis, cited(s.source), _remarks(s)) for n, s in self.specs.items()]
        plain = [f"  {n} = {v} ({b}; {c}){'. ' + r if r else ''}" for n, v, b, c, r in rows]
        return Html(html.part_card(self, rows), "\n".join([self.title, *plain]), stored=True)


def _remarks(spec: Spec) -> str:
    said = [f"Printed as {spec.printed}." if spec.printed else "", f"As of {spec.date}." if spec.date else ""]
    said += [spec.note, *(f"{cited(o.source)} has {o.as_printed}: {o.why}." for o in spec.others)]
    said += ["Nothing else in the data confirms it." if spec.single else ""]
    return " ".join(filter(None, said))
