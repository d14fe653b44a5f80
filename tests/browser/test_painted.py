"""The picture of a figure on a stage, which no browser draws, has the colors and sizes that a browser gives it."""

from xml.etree import ElementTree

import pytest
from browser.bookpages import said
from browser.test_figures import PAGES
from matplotlib.colors import to_rgba

from gpuscale.book import painted, sharing
from gpuscale.widgets import assets

# What a browser computes for each part of a drawing; painted on a canvas, a color of any notation is four bytes.
COMPUTED = """(svg) => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const brush = canvas.getContext('2d', { willReadFrequently: true });
  const bytes = (color) => {
    if (/none|url/.test(color)) return null;
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = color;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data];
  };
  return [svg, ...svg.querySelectorAll('*')].map((part) => {
    const s = getComputedStyle(part), width = parseFloat(s.strokeWidth), size = parseFloat(s.fontSize);
    return { fill: bytes(s.fill), stroke: bytes(s.stroke), width, size, weight: s.fontWeight, opacity: +s.opacity };
  });
}"""


def first_pages(site) -> dict[str, str]:
    """For each figure that draws on a stage, the first page whose first figure it is."""
    found = {}
    for path in sorted(site.glob("chapters/*.html")):
        figure = sharing.FIGURE.search(path.read_text(encoding="utf-8"))
        if figure and (painter := sharing.PAINTER.search(figure["head"])):
            found.setdefault(painter[1], f"chapters/{path.name}")
    return found


def test_most_figures_are_the_first_of_a_page(site):
    pages = first_pages(site)
    assert len(pages) > 7 and set(pages) < set(assets.FIGURES) and set(pages.values()) <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_drawing_is_painted_as_a_browser_paints_it(site, tab, name):
    """The first figure of each page with figures on a stage, if it is one of them."""
    figure = sharing.FIGURE.search((site / name).read_text(encoding="utf-8"))
    painter = sharing.PAINTER.search(figure["head"])
    problems = unlike(figure["drawing"], painter[1], tab(name)) if painter else []
    assert not problems, said(problems)


def unlike(drawing, painter, page) -> list[str]:
    """In which parts of a drawing the picture differs from what the browser computes."""
    ours = list(ElementTree.fromstring(painted.painted(drawing, painter)).iter())
    theirs = page.locator(".stage .frames .wide > svg").first.evaluate(COMPUTED)
    problems = []
    for part, style in zip(ours, theirs, strict=True):
        where = f"{painter}: {part.tag.partition('}')[2]}.{part.get('class')}"
        for key in ("fill", "stroke"):
            given = part.get(key, "none")
            color = None if given == "none" or given.startswith("url") else to_rgba(given)
            if (color is None) != (style[key] is None) or color and not near(color, style[key]):
                problems.append(f"{where}: {key} {given}, in a browser {style[key]}")
        width = float(part.get("stroke-width", 1))
        if style["stroke"] and width != style["width"]:
            problems.append(f"{where}: stroke of {width}, in a browser {style['width']}")
        if part.tag.endswith("}text"):
            if (size := float(part.get("font-size"))) != style["size"]:
                problems.append(f"{where}: type of {size}, in a browser {style['size']}")
            if part.get("font-weight", "400") != style["weight"]:
                problems.append(f"{where}: weight {part.get('font-weight')}, in a browser {style['weight']}")
        if float(part.get("opacity", 1)) != style["opacity"]:
            problems.append(f"{where}: opacity {part.get('opacity')}, in a browser {style['opacity']}")
    return problems


def near(color, data) -> bool:
    """The same to two steps of 255 in each channel of what is seen: colors come premultiplied from a canvas."""
    alpha = data[3] / 255
    return abs(color[3] - alpha) < 0.01 and all(
        abs(a - b / 255) * alpha < 0.012 for a, b in zip(color[:3], data[:3], strict=True)
    )


def test_an_unknown_function_of_a_style_sheet_is_refused():
    with pytest.raises(ValueError, match="'hsl' is unknown; expected var, light-dark"):
        painted.settled("hsl(1, 2, 3)", {})
