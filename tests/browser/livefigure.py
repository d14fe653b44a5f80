"""A live figure in a browser tab, with its twin in Python."""

import re
from urllib.parse import parse_qsl, urlencode

from browser import twin
from browser.bookpages import probe, said

# Focuses a slider, and notes what it is like each time a key is released.
WATCHED = """(el) => {
  el.seen = [];
  const look = () => ({ value: el.nextElementSibling.textContent, spoken: el.ariaValueText, position: +el.value });
  el.onkeyup = () => el.seen.push(look());
  el.focus();
}"""


class Figure:
    """A live figure of the site: what it shows, and ways to move it."""

    def __init__(self, tab, name: str, other: twin.Twin):
        self.tab, self.name, self.twin, self.spec = tab, name, other, other.spec
        self.at = tab.locator(f"#{name}")

    def shown(self) -> dict:
        """What can be seen and heard of it now."""
        return self.at.evaluate(probe("figure"))

    def seen(self, *changes: dict) -> list[tuple[dict, dict, dict]]:
        """What can be seen of it after each of some changes (as for ``put``; ``{"from": self.opening}`` begins at its
        opening state), with its inputs as numbers and its view then."""
        return [(shown, *self._state(link)) for shown, link in self.at.evaluate(probe("seen"), changes)]

    def state(self) -> tuple[dict, dict]:
        """Its inputs as numbers, and its view."""
        return self._state(self.at.evaluate(probe("link")))

    def _state(self, link: str) -> tuple[dict, dict]:
        pairs = dict(parse_qsl(link.partition(":")[2]))
        name = pairs.pop("view", None)
        view = next((v for v in self.spec["views"] if v["name"] == name), {})
        return {k: float(v) for k, v in pairs.items()}, view

    def typed(self, key: str, keys: list[str]) -> list[dict]:
        """What a slider shows, what it speaks, and where it is, after each of the keys that are pressed on it."""
        slider = self.at.locator(f"input[data-k={key}]")
        slider.evaluate(WATCHED)
        for one in keys:
            self.tab.keyboard.press(one)
        return slider.evaluate("(el) => { el.onkeyup = null; return el.seen; }")

    def put(self, **to) -> "Figure":
        """Press a view and a preset by number, set sliders to thousandths of their way (``at``)."""
        self.at.evaluate(probe("put"), to)
        return self

    @property
    def opening(self) -> str:
        """The link to the state it opens with."""
        first = {"view": self.spec["views"][0]["name"]} if self.spec["views"] else {}
        first |= self.spec["fixed"] | {k: p["start"] for k, p in self.spec["params"].items()}
        return f"#{self.name}:{urlencode(first)}"

    def reset(self, width: int = 1280) -> "Figure":
        """Back to the state it opens with, drawn in a window of that width."""
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.at.evaluate(probe("reset"), self.opening)
        return self

    def tap(self, x: float, y: float) -> None:
        """A finger's tap at a point of the window."""
        hand = self.tab.context.new_cdp_session(self.tab.page)
        hand.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        hand.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        hand.detach()

    def plot(self) -> tuple[float, float, float, float]:
        """The corners of its plot in the window: x0, y0, x1, y1."""
        return tuple(self.at.evaluate(probe("plotted")))

    @property
    def movable(self) -> bool:
        """Whether the plot itself can be dragged."""
        return bool(self.spec["drag"]) or self.spec["x"]["param"] in self.spec["params"]

    def readout(self) -> str:
        """The element under the pointer."""
        there = self.at.locator(".readout")
        return there.inner_text() if there.is_visible() else ""

    @property
    def page(self) -> str:
        """Its page."""
        return re.search(r"/html/([^#]*)", self.tab.url)[1]


def each(figures, check, width: int = 1280) -> None:
    """Run a check on every figure of a page from its first state, at one width, and say all that is wrong."""
    problems = []
    for figure in figures:
        problems += [f"{figure.name}: {what}" for what in check(figure.reset(width))]
    assert not problems, said(problems)


def drawing(shown: dict) -> tuple:
    """The curves and dots of a figure."""
    return shown["paths"], shown["dots"]
