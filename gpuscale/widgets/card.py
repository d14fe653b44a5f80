"""The widget under every live figure, figure on a stage and quiz card: one script for the notebook and the page."""

import anywidget
import traitlets

from gpuscale.core.html import as_json, digesting, element, escape, for_a_page, script_json
from gpuscale.widgets import assets


class Card(anywidget.AnyWidget):
    """A card drawn by the book's script: live with a kernel, plain HTML without one.

    ``spec`` is what the script draws (JSON), ``html`` the static card, ``values`` the state of the sliders in base
    units: it follows the sliders, and setting it moves them.
    """

    _esm = assets.esm()
    _css = assets.notebook_style()
    spec = traitlets.Unicode().tag(sync=True)
    html = traitlets.Unicode().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)

    def __init__(self, spec: str, html: str, text: str, values: dict | None = None):
        self._text = text
        super().__init__(spec=spec, html=html, values=values or {})

    def open(self):
        """Tell a notebook of the card, in a megabyte; not where outputs are stored, or go on a page."""
        if not (digesting() or for_a_page()):
            super().open()

    def _repr_mimebundle_(self, **kwargs):
        if digesting():
            return {"text/plain": self._text}
        if for_a_page():
            return {"text/html": self.html, "text/plain": self._text}
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/html": self.html, "text/plain": self._text}, metadata

    def __repr__(self) -> str:
        return self._text


def figure(kind: str, spec: dict, fallback: str, text: str, values: dict | None = None, painter: str = "") -> Card:
    """The card of a live figure or of one on a stage (``kind``), with ``fallback`` as HTML where no script runs, and
    ``text`` for what a notebook stores. ``painter``: the script that its page loads besides those of its kind."""
    html = element(
        "figure",
        element("h3", escape(spec["title"])),
        element("div", fallback, class_="fallback"),
        element("figcaption", spec["caption"]),
        script_json(spec),
        class_=f"card {kind}",
        id=spec["id"],
        data_gpuscale=kind,
        data_painter=painter,
    )
    return Card(spec=as_json(spec), html=html, text=text, values=values)
