"""From what an operator sees to a formula, and from there to the settings of an engine: two tables of a page."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscale import serving
from gpuscale.core.html import Head, Html, anchor, cite, details, element, escape, region, table
from gpuscale.specs.engine_settings import SettingChange, serving_settings, serving_symptoms, setting_sources

INDEX = "formula_index.ipynb"


def settings_by_symptom() -> Html:
    """What is seen, why, the formulas that explain it, and the settings that change it."""
    heads = [Head("What you see", "line"), Head("Why", "line", "why"), Head("Formula", "line", "formula")]
    heads += [Head("What changes it", "line", "what changes it")]
    rows = [
        (
            element("b", escape(one.seen)),
            escape(one.because),
            "; ".join(map(_formula, one.formulas)),
            "; ".join(map(_change, one.changes)),
        )
        for one in serving_symptoms()
    ]
    plain = "\n".join(
        f"{one.seen}: {one.because} {', '.join(one.formulas)}: {'; '.join(map(_said, one.changes))}"
        for one in serving_symptoms()
    )
    html = table(heads, rows, "stack", stack=True, aria_label="Symptoms and what changes them")
    return Html(region("Symptoms and what changes them", html), plain)


def settings_by_engine() -> Html:
    """Each setting, and what it is called in each engine; folded."""
    engines, found = setting_sources(), serving_settings()
    rows = [
        (
            element("b", escape(one.title[0].upper() + one.title[1:])),
            "".join(_named(engines[key].title, names) for key, names in one.names.items())
            + element("small", escape(one.note)) * bool(one.note),
        )
        for one in found.values()
    ]
    ids = [f"setting-{anchor(key)}" for key in found]
    heads = [Head("Setting", "line"), Head("Its name in each engine", "line")]
    html = table(heads, rows, "stack", stack=True, ids=ids, aria_label="Settings of engines")
    sources = element("p", "Sources: ", "; ".join(cite(one.source) for one in engines.values()), ".", class_="note")
    plain = "\n".join(
        f"{one.title}: " + "; ".join(f"{engines[key].title} {' '.join(names)}" for key, names in one.names.items())
        for one in found.values()
    )
    return Html(details("Names of the settings in each engine", region("Settings of engines", html), sources), plain)


def _named(engine: str, names: Iterable[str]) -> str:
    return element("div", escape(engine), ": ", " ".join(element("code", escape(name), class_="tie") for name in names))


def _formula(name: str) -> str:
    return element("a", escape(getattr(serving, name).title), href=f"{INDEX}#index-{anchor(f'serving.{name}')}")


def _change(change: SettingChange) -> str:
    return element("a", escape(_said(change)), href=f"#setting-{anchor(change.setting)}")


def _said(change: SettingChange) -> str:
    return f"{change.how} {serving_settings()[change.setting].title}".strip()
