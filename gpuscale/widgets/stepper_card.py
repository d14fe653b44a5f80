"""The card of every stepper: its JSON, and the table that stands in where no script runs."""

from collections.abc import Sequence

from gpuscale.core.html import Head, region, table


def stepper(
    spec: dict,
    caption: str,
    columns: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence],
    text: str,
    drawing: str = "",
    painter: str = "",
):
    """A stepper's widget. ``columns``: (heading, whether it holds numbers); ``rows``: cells as HTML; ``text``: what a
    notebook stores; ``drawing``: a picture over the table, as SVG; ``painter``: the script that its page loads besides
    those of all steppers."""
    from gpuscale.widgets.card import figure

    drawing = region(spec["title"], drawing) if drawing else ""
    numbers = table([Head(title, "num" if number else "") for title, number in columns], rows)
    return figure("stepper", {**spec, "caption": caption}, drawing + numbers, text, painter=painter)
