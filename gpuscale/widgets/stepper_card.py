"""The card of every stepper: its JSON, its meter, and the table that replaces it where no script runs."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscale.core.html import Head, anchor, table


def stepper(
    name: str,
    spec: dict,
    caption: str,
    columns: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence],
    text: str,
):
    """A stepper's widget. ``columns``: (heading, whether it holds numbers); ``rows``: cells as HTML; ``text``: what a
    notebook stores."""
    from gpuscale.widgets.card import figure

    numbers = table([Head(title, "num" if number else "") for title, number in columns], rows)
    spec = {"id": f"step-{anchor(name)}", **spec, "caption": caption}
    return figure("stepper", spec, numbers, text)


def meter(name: str, hue: str, full, values, text: list[str], mark=None, label: str = "") -> dict:
    """The bar of what is counted after each step: numbers, ``full`` being the whole bar, and words. ``mark`` is the
    formula's value, which the last number has to be, and ``label`` what the mark is called."""
    out = {"name": name, "hue": hue, "full": float(full), "values": [float(v) for v in values], "text": text}
    return out if mark is None else out | {"equal": True, "formula": float(mark), "label": label}
