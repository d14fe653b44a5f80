"""Links from chapters to the glossary: the first use of each term in a chapter leads to its entry."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from gpuscale.page.terms import Term, pattern, terms

# Where a word is a name, a formula or a program, not prose.
LINKS = (nodes.reference, addnodes.pending_xref, addnodes.download_reference)
APART = (*LINKS, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
CHAPTER = re.compile(r"chapters/(\w+)")


def link_terms(app: Sphinx, doctree: nodes.document) -> None:
    """Link the first use of every term in a chapter to the glossary; other pages stay as they are."""
    here = CHAPTER.fullmatch(app.env.docname)
    if not here or here[1] not in {one.chapter for one in terms().values()}:
        return
    left = dict(terms())
    for node in list(doctree.findall(nodes.Text)):
        if _is_prose(node):
            _link(node, left)


def _is_prose(node: nodes.Node) -> bool:
    while node := node.parent:
        if isinstance(node, APART) or "cell_input" in node.get("classes", ()):
            return False
    return True


def _link(node: nodes.Text, left: dict[str, Term]) -> None:
    """Put links into a text; the terms found leave ``left``. Of two that overlap, the longer one counts."""
    text, pieces, end = node.astext(), [], 0
    found = [(match, one) for one in left.values() if (match := pattern(one).search(text))]
    for match, one in sorted(found, key=lambda hit: (hit[0].start(), -hit[0].end())):
        if match.start() < end:
            continue
        entry = {"refuri": f"glossary.html#{one.anchor}", "reftitle": f"{one.means} ({one.zh})"}
        pieces += [nodes.Text(text[end : match.start()])]
        pieces += [nodes.reference("", "", nodes.Text(match[0]), internal=True, classes=["term"], **entry)]
        end = match.end()
        del left[one.term]
    if pieces:
        node.parent.replace(node, [*pieces, nodes.Text(text[end:])])
