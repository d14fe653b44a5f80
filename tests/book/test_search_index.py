"""The search index: what is read of a page, by hand, and what the words of an entry weigh."""

import re

import pytest

from gpuscale.book import search_index
from gpuscale.book.search_entries import Entry, entries, of_site, plain
from gpuscale.book.search_index import index

PAGE = """<html><body><nav><a>elsewhere</a></nav><article><nav class="here">On this page</nav>
<section id="rings"><h1>Rings<a class="headerlink" href="#rings">#</a></h1><p>How fast is a <em>ring</em>?</p>
<div class="cell"><div class="cell_input"><pre>hidden = 1</pre></div>
<details class="hide"><summary>Show code</summary></details></div>
<section id="time"><h2>Its time<a class="headerlink" href="#time">#</a></h2><p>It takes
<span class="math">\\(\\frac{V}{W} \\, \\frac{N - 1}{N}\\)</span>, or
<math><mi>x</mi><annotation encoding="application/x-tex">T_\\mathrm{comms}</annotation></math>.</p>
<figure class="still" id="fig-ring"><svg><text>drawn</text></svg>
<figcaption><b>Each passes on.</b> A rim marks it.</figcaption>
<details><table><tr><td>3</td></tr></table></details></figure>
<figure class="card stage" id="stage-ring" data-painter="ring"><h3>A ring, step by step</h3>
<div class="fallback"><svg><text>drawn</text></svg></div>
<figcaption><b>The slowest link decides.</b></figcaption></figure>
<form id="q-rings-1"><p class="prompt"><b>1.</b> How long does it take?</p><p class="note">a time</p>
<details class="solution">secret</details></form>
<section class="card formula" id="formula-ring"><h3 id="formula-ring-t">Time of a ring</h3>
<p>Holds for chunks.</p></section>
</section></section>
<section><table><thead><tr><th>Part</th><th>HBM</th></tr></thead><tbody>
<tr id="row-memory-h100"><th>H100</th><td><button>80 GB</button></td></tr></tbody></table></section>
</article></body></html>"""


def test_what_is_read_of_a_page():
    found = entries(PAGE, "chapters/rings")
    told = [(one.kind, one.anchor, one.name, one.above, one.text) for one in found]
    assert told == [
        ("page", "", "Rings", "", "How fast is a ring?"),
        ("section", "time", "Its time", "", "It takes V/W (N - 1)/N, or T_comms."),
        ("figure", "fig-ring", "Each passes on", "Its time", "A rim marks it."),
        ("figure", "stage-ring", "A ring, step by step", "Its time", "The slowest link decides."),
        ("question", "q-rings-1", "How long does it take?", "Its time", ""),
        ("card", "formula-ring", "Time of a ring", "Its time", "Holds for chunks."),
        ("hardware", "row-memory-h100", "H100", "", "HBM 80 GB"),
    ]
    assert [one.other.split()[:2] for one in found if one.anchor == "stage-ring"] == [["figure", "ring"]]


@pytest.mark.parametrize(
    ("tex", "said"),
    [
        (r"\frac{n_\mathrm{port}^{2}}{2}", "n_port^2/2"),
        (r"\left\lceil N/G \right\rceil \le \max\left(1, x\right)", "⌈N/G⌉ ≤ max (1, x)"),
        (r"\(\displaystyle \alpha + V\)", "α + V"),
    ],
)
def test_mathematics_in_plain_signs(tex, said):
    assert plain(tex) == said


def test_a_formula_is_found_where_its_chapter_explains_it_and_a_question_once(tmp_path):
    sheet = """<article><section id="s"><h1>Sheet</h1>
    <form id="q-rings-1"><p class="prompt">How long?</p></form></section></article>"""
    listed = """<article><section id="all"><h1>All</h1><section id="part"><h2>Part</h2>
    <section class="entry" id="index-a-ring"><h3>Time of a ring</h3></section>
    <section class="entry" id="index-b-tree"><h3>Time of a tree</h3></section></section></section></article>"""
    for name, text in {"rings": PAGE, "sheet": sheet, "formula_index": listed}.items():
        (tmp_path / "chapters").mkdir(exist_ok=True)
        (tmp_path / "chapters" / f"{name}.html").write_text(text)
    found = of_site(tmp_path, ["chapters/rings", "chapters/sheet", "chapters/formula_index"])
    places = {one.name: (one.page, one.anchor) for one in found if one.kind == "formula"}
    assert places == {
        "Time of a ring": ("chapters/rings", "formula-ring"),
        "Time of a tree": ("chapters/formula_index", "index-b-tree"),
    }
    assert [one.page for one in found if one.kind == "question"] == ["chapters/rings"]
    assert "Part" not in [one.name for one in found]  # a section of a list says nothing else


def test_names_weigh_more_than_texts_and_long_texts_less(monkeypatch):
    monkeypatch.setattr(search_index, "ANSWERS", {"p#b": ["what is an all-reduce"]})
    pages = [Entry("page", "p", "", "Start"), Entry("section", "p", "a", "Trees", "An all-reduce in a tree.")]
    pages += [Entry("section", "p", "b", "All-reduce"), Entry("section", "p", "c", "Else", "tree " + "word " * 500)]
    found = index(pages)
    words = found["words"].split()
    posts = dict(zip(words, found["posts"].split(), strict=True))
    assert words == sorted(words) and len(words) == len(posts)

    def weights(word: str) -> dict[int, int]:
        out, at = {}, -1
        for gap, letter in re.findall(r"([0-9a-z]+)([A-Z])", posts[word]):
            at += int(gap, 36)
            out[at] = ord(letter) - ord("A")
        return out

    assert weights("all_reduce")[2] == 2 * search_index.NAME > 4 * weights("all_reduce")[1] > 0
    assert weights("tree")[1] > weights("tree")[3]
    assert set(weights("reduce")) == set(weights("all_reduce"))  # a part of the term is found too
    assert found["answers"] == {"all_reduce": 2} and found["pages"] == [("p", "Start")]


def test_an_answer_that_leads_nowhere_stops_the_build(monkeypatch):
    monkeypatch.setattr(search_index, "ANSWERS", {"chapters/gone": ["anything"]})
    with pytest.raises(KeyError, match="chapters/gone"):
        index([Entry("page", "p", "", "Start")])
