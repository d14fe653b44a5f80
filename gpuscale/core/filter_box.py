"""The box above rows of a page that filters them. Its script is ``widgets/static/filter.js``."""

from gpuscale.core.html import element, escape


def filter_box(label: str, fields: dict[str, str], example: str, of: str = "rows", data: str = "") -> str:
    """A box with a choice for each field and a text. The script makes the choices from the rows of ``.filtered``.

    A row has the value of a field in an attribute ``data-FIELD``, or else it is the heading above it. ``fields`` are
    names with what is said while nothing is chosen. ``of`` names what is counted; ``data`` are the words of the rows as
    ``script_json``, where the text of a row is not all that it is found by.

    >>> filter_box("Rows of the ledger", {"unit": "All units"}, "torus").partition(">")[0]
    '<div class="rows-filter" role="search" aria-label="Rows of the ledger" hidden'
    """
    chosen = [
        element("select", element("option", first, value=" "), name=name, aria_label=name.capitalize())
        for name, first in fields.items()
    ]
    text = (
        f'<input type="search" aria-label="Filter by text" placeholder="{escape(example, quote=True)}" '
        'autocomplete="off" autocapitalize="none" spellcheck="false">'
    )
    return element(
        "div",
        element("div", *chosen, text, class_="row"),
        element("output", data_of=f" {of}"),
        data,
        class_="rows-filter",
        role="search",
        aria_label=label,
        hidden=True,
    )
