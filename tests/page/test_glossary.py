"""The glossary: what an entry needs, what counts as a use of a term, and the links that chapters get to it."""

import pytest
from docutils import nodes

from gpuscale.book import linking
from gpuscale.page.terms import GlossaryError, Term, _term, pattern, terms

RING = Term("ring", "环", "Ranks in a circle.", "rings_and_trees", ("ring algorithm",))


@pytest.mark.parametrize("lacking", ["zh", "means", "chapter"])
def test_an_entry_says_what_it_lacks(lacking):
    row = {"term": "ring", "zh": "环", "means": "Ranks in a circle.", "chapter": "rings_and_trees"}
    with pytest.raises(GlossaryError, match=f"ring: check {lacking}"):
        _term({key: value for key, value in row.items() if key != lacking})
    with pytest.raises(GlossaryError, match="ring: check colour"):
        _term(row | {"colour": "red"})


@pytest.mark.parametrize("text", ["a ring of ranks", "Rings are slow", "the ring algorithm", "(ring)"])
def test_uses_of_a_term(text):
    assert pattern(RING).search(text)


@pytest.mark.parametrize("text", ["a string", "ringing", "ring-wise", "the earring"])
def test_other_words_are_no_uses(text):
    assert not pattern(RING).search(text)


def test_plurals():
    assert pattern(Term("topology", "拓扑", "x", "y")).search("two topologies")
    assert pattern(Term("switch", "交换机", "x", "y")).search("two switches")


def test_every_name_stands_there_once_and_all_entries_are_whole():
    names = [name.lower() for one in terms().values() for name in one.names]
    assert len(names) == len(set(names))
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in one.zh) or one.zh.isascii() for one in terms().values())


def test_the_first_use_in_prose_is_linked_and_no_other():
    page = nodes.paragraph("", "")
    code = nodes.literal("", "", nodes.Text("ring"))
    page += [code, nodes.Text("A ring of rings, a tree.")]
    left = {"ring": RING}
    for node in [node for node in page.findall(nodes.Text) if linking._is_prose(node)]:
        linking._link(node, left, {"ring": RING})
    (link,) = page.findall(nodes.reference)
    assert (link.astext(), link["refuri"]) == ("ring", "glossary.html#term-ring")
    assert page.astext() == "ringA ring of rings, a tree." and not left


def test_a_sign_is_tied_to_its_own_formula_though_another_text_reads_the_same():
    formula, link = nodes.math("", "N"), nodes.reference("", "", nodes.Text("ranks"))
    parts = [link, ", ", formula, ", ", "bytes, ZeRO-3 (", nodes.math("", "M"), " and ", nodes.math("", "K"), ")"]
    page = nodes.paragraph("", "", *(nodes.Text(part) if isinstance(part, str) else part for part in parts))
    linking.tie(None, page)
    assert page.astext() == "ranks, N, bytes, ZeRO-3 (M and K)"
    assert [tied.astext() for tied in page.findall(nodes.inline)] == ["N,", "(M", "K)"]


def test_no_line_ends_inside_a_quantity_a_name_or_a_short_sum():
    said = "Llama 3 8B sends\n1 GB on 4 × 8 chips; if Y = 2, ZeRO-3 takes 2 <i>N</i> − 1 steps in 3 ms"
    zero = "<span class=tie>ZeRO-3</span>"
    tied = f"Llama_3_8B sends\n1_GB on 4_×_8 chips; if Y_=_2, {zero} takes 2_<i>N</i>_−_1 steps in 3_ms"
    page = '<p>{0}</p><script>{{"ask":"{0}","unit":"1 GB"}}</script><code>1 GB</code><td>1 GB</td>'
    assert linking.hold(page.format(said)).replace("\u00a0", "_") == page.format(tied)


def test_a_long_name_breaks_after_a_low_line_in_a_table_alone():
    code = '<code><span class="pre">all_gather(t)</span></code>'
    assert linking.break_names(f"<p>{code}</p><td>{code}</td>") == (
        f"<p>{code}</p><td>{code.replace('_', '_<wbr>')}</td>"
    )


def test_a_term_is_linked_in_its_own_text_though_another_reads_the_same():
    page = nodes.paragraph("", "", nodes.Text("a ring"), nodes.emphasis("", "or"), nodes.Text("a ring"))
    linking._link(page[2], {"ring": RING}, {"ring": RING})
    assert page.astext() == "a ringora ring" and isinstance(page[3], nodes.reference)


def test_a_term_within_another_is_not_linked_there():
    """Not even where the longer one has its link already."""
    tree = Term("ring tree", "环树", "A tree of rings.", "rings_and_trees")
    page = nodes.paragraph("", "", nodes.Text("A ring tree, a ring tree, then a ring."))
    known = {"ring": RING, "ring tree": tree}
    linking._link(page[0], dict(known), known)
    assert [link.astext() for link in page.findall(nodes.reference)] == ["ring tree", "ring"]
    assert page.astext() == "A ring tree, a ring tree, then a ring." and page[4].astext() == "."


def test_a_name_that_means_something_else_in_a_chapter_is_no_link_there():
    known = terms()
    assert linking._meant(known["layer"], "beyond_the_node") is None
    assert linking._meant(known["layer"], "pipeline_parallelism") == known["layer"]
    assert "head" not in linking._meant(known["attention head"], "pipeline_parallelism").names
    for chapter, names in linking.OTHERWISE.items():
        assert names <= {name for one in known.values() if one.chapter != chapter for name in one.names}
