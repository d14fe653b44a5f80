"""The card of every stepper: its JSON, and the table that stands in where no script runs."""

from collections.abc import Mapping, Sequence

from gpuscale.core.html import Head, anchor, region, table


def need_small(name: str, shown, limits: Mapping[str, int]) -> None:
    """Raises ValueError where a schedule or timetable has more of something than a page shows."""
    for what, limit in limits.items():
        if getattr(shown, what) > limit:
            raise ValueError(f"{name}: expected at most {limit} {what} to show; got {getattr(shown, what)}")


def stepper(
    name: str,
    spec: dict,
    caption: str,
    columns: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence],
    text: str,
    drawing: str = "",
    painter: str = "",
):
    """A stepper's widget, anchored by ``name``. ``columns``: (heading, whether it holds numbers); ``rows``: cells
    as HTML; ``text``: what a notebook stores; ``drawing``: a picture over the table, as SVG; ``painter``: the script
    that its page loads besides those of all steppers."""
    from gpuscale.widgets.card import figure

    drawing = region(spec["title"], drawing) if drawing else ""
    numbers = table([Head(title, "num" if number else "") for title, number in columns], rows)
    spec = {"id": f"step-{anchor(name)}", **spec, "caption": caption}
    return figure("stepper", spec, drawing + numbers, text, painter=painter)
