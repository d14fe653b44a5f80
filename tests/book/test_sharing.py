"""What is shared from a page: its title, a sentence, a picture, and addresses in an edition that has one."""

import io
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from PIL import Image

from gpuscale.book import sharing
from gpuscale.plotting import preview

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="656" height="200" font-size="12.5" fill="none">'
    '<path fill="var(--compute-bar, light-dark(#0072b2, #3d93d1))" d="M0 0H656V100H0Z"/>'
    '<g fill="var(--ink, currentColor)" text-anchor="middle"><text x="90" y="150">W<tspan dy="3">0</tspan></text></g>'
    "</svg>"
)


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


def test_a_picture_has_the_size_that_is_asked_for_and_the_colors_of_its_figure():
    png = preview.picture(SVG, "A title", "The site")
    assert opened(png).size == (1200, 630) and len(png) < 60_000
    colors = {color for _, color in opened(png).convert("RGB").getcolors(1 << 20)}
    assert any(abs(r - 0) + abs(g - 0x72) + abs(b - 0xB2) < 12 for r, g, b in colors)
    assert png == preview.picture(SVG, "A title", "The site") != preview.picture(SVG, "Another", "The site")


def test_a_figure_as_high_as_wide_stands_next_to_the_title():
    """Where it is larger than below it: a square of 600 pixels, moved into its place and cut off at its edge."""
    square = '<rect x="-9000" width="9999" height="600" fill="#0072b2" transform="translate(9000 0) scale(1 1)"/>'
    svg = SVG.replace('height="200"', 'height="656"').replace("</svg>", f"{square}</svg>")
    shot = opened(preview.picture(svg, "A title", "The site")).convert("RGB")
    blue = [
        (x, y)
        for x in range(0, 1200, 10)
        for y in range(0, 630, 10)
        if shot.getpixel((x, y))[2] > 160 > shot.getpixel((x, y))[0]
    ]
    left, right = min(x for x, _ in blue), max(x for x, _ in blue)
    assert left > 500 and right < 1190
    assert max(y for _, y in blue) - min(y for _, y in blue) > 500


def test_a_figure_of_unknown_elements_is_refused():
    with pytest.raises(ValueError, match="'image' is unknown; expected g, text"):
        preview.picture(SVG.replace("</svg>", "<image/></svg>"), "A title", "The site")
    with pytest.raises(ValueError, match="'skewX' is unknown; expected rotate, scale or translate"):
        preview.picture(SVG.replace("<path", '<path transform="skewX(4)"'), "A title", "The site")


def document(*paragraphs: str) -> nodes.document:
    """A page with a question and paragraphs; words between stars are bold."""
    made = nodes.section("", nodes.title("", "Title"))
    for text in paragraphs:
        paragraph = nodes.paragraph()
        for i, part in enumerate(text.split("*")):
            paragraph += nodes.strong("", part) if i % 2 else nodes.Text(part)
        made += paragraph
    made += nodes.section("", nodes.title("", "Below"), nodes.paragraph("", "", nodes.strong("", "Not the opening.")))
    page = nodes.document(None, None)
    page += made
    return page


@pytest.mark.parametrize(
    ("paragraphs", "said"),
    [
        (("Why?", "Because. It is so. *This is the rule.* And more."), "This is the rule."),
        (("Why?", "Because. In short, *a rule* holds. And more."), "In short, a rule holds."),
        (("Why?", "Because it is so. And more."), "Because it is so."),
        (("What is on this page?",), "What is on this page?"),
        (("A sheet to print. Keep it.", "*Symbols.* Each has one meaning."), "A sheet to print."),
        ((), ""),
    ],
)
def test_the_description_is_the_rule_of_the_opening(paragraphs, said):
    assert sharing.description(document(*paragraphs)) == said


def test_mathematics_in_a_description_is_as_one_types_it():
    page = document("Why?", "Because it is so.")
    page[0][2].insert(0, nodes.math("", r"T_\mathrm{math} = \frac{V}{W}"))
    assert sharing.description(page).startswith("T_math = V/W")


class Asked:
    """Previews without processes."""

    add = staticmethod(lambda page, title, body: "_static/previews/a.png")


@pytest.mark.parametrize("base", ["https://edition.test/book", "https://edition.test/book/"])
def test_an_edition_with_an_address_names_it(base):
    app = SimpleNamespace(config=SimpleNamespace(html_baseurl=base), gpuscale_previews=Asked)
    said = sharing.share(app, "chapters/a", "", "A", None)
    assert said["url"] == "https://edition.test/book/chapters/a.html"
    assert said["picture"] == "https://edition.test/book/_static/previews/a.png"
    found = ElementTree.fromstring(sharing.site_map(base, ["chapters/a", "exercises/b"]))
    assert found.tag == f"{{{sharing.SITEMAP}}}urlset"
    assert [one.text for one in found.iter(f"{{{sharing.SITEMAP}}}loc")] == [
        "https://edition.test/book/chapters/a.html",
        "https://edition.test/book/exercises/b.html",
    ]


def test_every_page_says_what_is_shared(site):
    seen = set()
    for path in site.rglob("*.html"):
        if path.name == "index.html":
            continue
        page = BeautifulSoup(path.read_bytes().partition(b"</head>")[0], "html.parser")
        said = {tag["property"]: tag["content"] for tag in page.select("meta[property]")}
        assert said["og:title"] in page.title.text and said["og:site_name"] == "How GPUs scale", path.name
        picture = (path.parent / said["og:image"]).resolve()
        png = picture.read_bytes()
        assert opened(png).size == (1200, 630) and len(png) < 60_000, picture
        seen.add(picture)
        if (drawn := picture.with_name(f"{path.stem}.png")).exists():  # a practice sheet has that of its chapter
            assert picture == drawn, path.name
        assert not page.select("link[rel=canonical]") and "og:url" not in said
        if path.parent != site:
            told = page.select_one("meta[name=description]")["content"]
            assert told == said["og:description"] and re.search(r"[.?!:]$", told) and 20 < len(told) < 400, path.name
            assert not re.search(r"[\\${}]", told), told
    for name in ("welcome", "planner", "serving_planner", "splitting_a_model"):  # whose first figure is on a stage
        assert site / f"{sharing.FOLDER}/{name}.png" in seen, name
    assert len(seen) > 25 and not (site / "sitemap.xml").exists()
    drawn = set((site / sharing.FOLDER).iterdir())
    assert seen == drawn
