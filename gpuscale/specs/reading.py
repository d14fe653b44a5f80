"""How a TOML file of numbers is read and checked.

Whatever is wrong with one raises SpecError, which names the file, the part, the field and what was expected.
"""

import difflib
import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from gpuscale.specs.number import Spec, known_fields
from gpuscale.units import UnitError, base_unit, dimension_word

KINDS = ("chip", "link", "model", "recipe", "capability", "measured", "level", "topology", "torus", "mesh")
KINDS += ("cluster",)
NEEDED = ("value", "unit", "basis", "source")
OPTIONAL = ("note", "printed", "date", "others", "single")
LABELS = ("title", "short", "architecture", "compute_capability", "memory", "link", "pcie", "note")
LABELS += ("levels", "makes", "switch", "cable", "network", "links")  # of a topology and of its levels
TAKEN = frozenset("key kind as_of origin labels specs fields spec get about title short".split())


class SpecError(ValueError):
    """A file of numbers that cannot be used; the message says where and what was expected."""


@dataclass(frozen=True)
class Where:
    """A place in a file, for messages."""

    file: str
    part: str = ""
    field: str = ""

    def at(self, **place) -> "Where":
        return Where(self.file, place.get("part", self.part), place.get("field", self.field))

    def wrong(self, problem: str, expected: str) -> SpecError:
        names = [f"part {self.part!r}" if self.part else "", f"field {self.field!r}" if self.field else ""]
        place = ", ".join([self.file, *filter(None, names)])
        return SpecError(f"{place}: {problem}; expected {expected}")


def read(path: str | Path) -> tuple[list[dict], dict[str, str]]:
    """The parts of a TOML file, checked (a measured table still as its body), and the file's source names."""
    path = Path(path).expanduser()
    where = Where(path.name)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise where.wrong(f"cannot be read ({error})", "a TOML file") from error
    except tomllib.TOMLDecodeError as error:
        raise where.wrong(f"is not TOML ({error})", "a TOML file of tables, one per part") from error
    as_of = date_text(where.at(field="as_of"), tables.pop("as_of", ""))
    kind = _kind(where, tables.pop("kind", "chip"))
    sources = tables.pop("sources", {})
    if not isinstance(sources, dict) or not all(isinstance(s, str) for s in sources.values()):
        raise where.at(field="sources").wrong("is not a table of texts", 'key = "short name" for each source')
    return [_part(where, key, body, kind, as_of) for key, body in tables.items()], sources


def _kind(where: Where, kind) -> str:
    if kind not in KINDS:
        raise where.at(field="kind").wrong(f"{kind!r} is not a kind of part", f"one of {', '.join(KINDS)}")
    return kind


def _part(where: Where, key: str, body, kind: str, as_of: str) -> dict:
    where = where.at(part=key)
    if not isinstance(body, dict):
        raise where.wrong(f"{body!r} is outside any part", f"a table [{key}] with a title and numbers")
    name(where, key)
    body = dict(body)
    kind = _kind(where, body.pop("kind", kind))
    as_of = date_text(where.at(field="as_of"), body.pop("as_of", as_of))
    title = body.pop("title", None)
    text(where.at(field="title"), title)
    head = {"kind": kind, "key": key, "title": title, "as_of": as_of}
    if kind == "measured":
        return head | {"where": where, "body": body}
    labels, specs = {}, {}
    for field_name, entry in body.items():
        at = where.at(field=field_name)
        if isinstance(entry, str) and _may_be_text(at, field_name, kind):
            labels[field_name] = entry
        else:
            specs[field_name] = number(at, entry, kind)
    return head | {"labels": labels, "specs": specs}


def _may_be_text(where: Where, field_name: str, kind: str) -> bool:
    if field_name in known_fields()[kind]:
        return False
    known = [*LABELS, *known_fields()[kind]]
    if field_name not in LABELS and (close := difflib.get_close_matches(field_name, known, 1, 0.8)):
        raise where.wrong("is not a text field of a part", f"{close[0]}?")
    return True


def number(where: Where, entry, kind: str) -> Spec:
    """One checked number of a part of that kind."""
    name(where, where.field)
    if where.field in TAKEN:
        raise where.wrong("is a name that every part already has", "another name")
    _keys(where, entry, NEEDED, OPTIONAL)
    rule = known_fields()[kind].get(where.field, {})
    value = quantity(where, entry["value"], entry["unit"], rule)
    date = date_text(where, entry.get("date", ""))
    if base_unit(entry["unit"]) == "USD/h" and not date:
        raise where.wrong("a price has no date", 'date = "2025-02" or the like, because prices change')
    texts = {k: text(where, entry[k], k) for k in ("basis", "source", "note", "printed") if k in entry}
    others = tuple(_other(where, other, rule) for other in entry.get("others", ()))
    return Spec(where.field, value, entry["unit"], date=date, others=others, single=entry.get("single", False), **texts)


def _other(where: Where, entry, rule: dict) -> Spec:
    what, where = where.field, where.at(field=f"{where.field}.others")
    _keys(where, entry, (*NEEDED, "why"), ("single",))
    value = quantity(where, entry["value"], entry["unit"], rule)
    texts = {k: text(where, entry[k], k) for k in ("basis", "source", "why")}
    return Spec(what, value, entry["unit"], single=entry.get("single", False), **texts)


def _keys(where: Where, entry, needed, optional) -> None:
    form = "{ " + ", ".join(f"{k} = ..." for k in needed) + " }"
    if not isinstance(entry, dict):
        raise where.wrong(f"{entry!r} has no provenance", form)
    for key in entry:
        if key not in needed and key not in optional:
            raise where.wrong(f"{key!r} is unknown", ", ".join([*needed, *optional]))
    if lacking := [key for key in needed if key not in entry]:
        raise where.wrong(f"no {' and no '.join(lacking)}", form)
    if not isinstance(entry.get("single", False), bool):
        raise where.wrong(f"single is {entry['single']!r}", "single = true, if nothing else confirms the number")


def quantity(where: Where, value, unit, rule: dict | None = None) -> float:
    """A value checked against its unit and against the meaning of its name."""
    rule = rule or {}
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise where.wrong(f"value {value!r} is not a number", "a number, such as 989.4")
    low = "zero or a positive number" if rule.get("zero") else "a positive number"
    if not math.isfinite(value) or value < 0 or (value == 0 and not rule.get("zero")):
        raise where.wrong(f"value {value!r} is out of range", low)
    try:
        home = base_unit(text(where, unit, "unit"))
    except UnitError as error:
        raise where.wrong(f"unit {unit!r} is not known", f"{_units(rule)}") from error
    want = rule.get("unit", home)
    if home != want:
        found, wanted = dimension_word(home), dimension_word(want)
        raise where.wrong(f"{unit!r} makes it {found}", f"{wanted}, in {_units(rule)}")
    return value


def _units(rule: dict) -> str:
    examples = {"B": "GB or GiB", "B/s": "GB/s or Gbit/s", "FLOP/s": "TFLOP/s", "Hz": "GHz"}
    return examples.get(rule.get("unit", ""), rule.get("unit", "GB, GB/s, TFLOP/s, GHz, us, W or 1"))


def text(where: Where, value, what: str = "") -> str:
    """A text that is not empty."""
    what = what or where.field
    if not isinstance(value, str) or not value.strip():
        problem = f"no {what}" if value is None else f"{what} {value!r} is not a text"
        raise where.wrong(problem, f"a {what} in words")
    return value


def date_text(where: Where, value) -> str:
    """A date as year-month or year-month-day; empty stays empty."""
    said = value.isoformat()[:10] if hasattr(value, "isoformat") else value
    form = r"\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?"
    if said and not (isinstance(said, str) and re.fullmatch(form, said)):
        raise where.wrong(f"{value!r} is not a date", "year-month-day, such as 2026-11-20")
    return said


def name(where: Where, key: str) -> str:
    """A name that Python can use."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", key) or key.endswith("_"):
        raise where.wrong(f"{key!r} is not a name", "lowercase letters, digits and underscores, such as h100_sxm")
    return key
