"""Settings of serving engines: what each is called, and which of them change what an operator sees.

``serving_settings()`` are the settings by key, ``serving_symptoms()`` what is seen, each with the formulas that explain
it, and ``setting_sources()`` the engines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gpuscale.specs.number import DATA
from gpuscale.specs.reading import Where

FILE = DATA / "engine_settings.toml"


@dataclass(frozen=True)
class EngineSource:
    """An engine, and the source of its settings."""

    title: str
    source: str


@dataclass(frozen=True)
class EngineSetting:
    """A setting: ``names`` are the options of each engine that has it, as they are typed."""

    title: str
    names: Mapping[str, tuple[str, ...]]
    note: str = ""


@dataclass(frozen=True)
class SettingChange:
    """A change of a setting, such as "smaller" for the key of the cache format."""

    setting: str
    how: str = ""


@dataclass(frozen=True)
class Symptom:
    """What an operator sees, why in a sentence, the ``formulas`` that explain it by name, and what changes it."""

    seen: str
    because: str
    formulas: tuple[str, ...]
    changes: tuple[SettingChange, ...] = field(default=())


@cache
def _tables() -> dict:
    return read_settings(FILE)


def setting_sources() -> Mapping[str, EngineSource]:
    """The engines by key."""
    return _tables()["engines"]


def serving_settings() -> Mapping[str, EngineSetting]:
    """The settings by key, in the order in which a page shows them."""
    return _tables()["settings"]


def serving_symptoms() -> tuple[Symptom, ...]:
    """What is seen, in the order of the file."""
    return _tables()["symptoms"]


def read_settings(path: str | Path) -> dict:
    """Engines, settings and symptoms of a file, checked. Raises SpecError for a key that is not known."""
    where, tables = Where(Path(path).name), tomllib.loads(Path(path).read_text(encoding="utf-8"))
    engines = {key: EngineSource(**said) for key, said in tables["engines"].items()}
    settings = {key: _setting(where.at(part=key), said, engines) for key, said in tables["settings"].items()}
    symptoms = tuple(_symptom(where.at(part=said["seen"]), said, settings) for said in tables["symptoms"])
    changed = {change.setting for symptom in symptoms for change in symptom.changes}
    for key in settings.keys() - changed:
        raise where.at(part=key).wrong("changes nothing that is seen", "a symptom that names it")
    return {"engines": engines, "settings": settings, "symptoms": symptoms}


def _setting(where: Where, said: dict, engines: Mapping[str, EngineSource]) -> EngineSetting:
    said = dict(said)
    title, note = said.pop("title"), said.pop("note", "")
    for engine, name in said.items():
        if engine not in engines or not name.strip():
            raise where.at(field=engine).wrong(f"{name!r} is no setting", f"one of {', '.join(engines)}, as typed")
    return EngineSetting(title, {engine: tuple(name.split()) for engine, name in said.items()}, note)


def _symptom(where: Where, said: dict, settings: Mapping[str, EngineSetting]) -> Symptom:
    changes = tuple(SettingChange(**change) for change in said.get("changes", ()))
    for change in changes:
        if change.setting not in settings:
            raise where.at(field="changes").wrong(f"{change.setting!r} is not known", f"one of {', '.join(settings)}")
    return Symptom(said["seen"], said["because"], tuple(said["formulas"]), changes)
