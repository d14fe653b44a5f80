"""Links from chapters to the glossary: the first use of each term in a chapter leads to its entry."""

import re
from dataclasses import replace

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from gpuscale.page.terms import Term, pattern, terms

# Where a word is a name, a formula or a program, not prose.
LINKS = (nodes.reference, addnodes.pending_xref, addnodes.download_reference)
FIXED = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
APART = (*LINKS, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
CHAPTER = re.compile(r"chapters/(\w+)")
# Names of terms that are also everyday verbs. "Runs combine several splits" has nothing to do with the combine of an
# MoE layer, and requests in flight are not bytes in flight, so these names lead to the glossary only in the chapter
# that defines the term.
EVERYDAY = {"combine", "gather", "in flight", "process"}
# Names that mean something else in a chapter: layers of a network are switches, and the norm of gradients is a length.
OTHERWISE = {
    "across_the_hierarchy": {"layer"},
    "all_to_all": {"transpose"},
    "beyond_the_node": {"layer"},
    "pipeline_parallelism": {"head", "norm"},
}
# What must not stand at the start of a line: a sign after a formula, a number or a letter after a hyphen. And what must
# not stand at its end: a parenthesis before a formula, or a number that multiplies it.
BEFORE = re.compile(r"[(\[‘“]+$|\b\d[\d.,]*$")
AFTER = re.compile(r"[,.;:!?)\]’”%]+|-\w+")
HYPHEN = re.compile(r"\b[A-Za-z]+-(?:[A-Z]?\d+|[A-Z])\b")


def link_terms(app: Sphinx, doctree: nodes.document) -> None:
    """Link the first use of every term in a chapter to the glossary; other pages stay as they are."""
    here = CHAPTER.fullmatch(app.env.docname)
    if not here or here[1] == "glossary":
        return
    left = {one.term: meant for one in terms().values() if (meant := _meant(one, here[1]))}
    for node in list(doctree.findall(nodes.Text)):
        if _is_prose(node):
            _link(node, left)


def _meant(one: Term, chapter: str) -> Term | None:
    """The term with the names that can mean nothing else in this chapter; None if no name is left."""
    if chapter == one.chapter:
        return one
    names = [name for name in one.names if name not in EVERYDAY | OTHERWISE.get(chapter, set())]
    return replace(one, also=tuple(names[1:])) if one.term in names else None


def tie(app: Sphinx, doctree: nodes.document) -> None:
    """Hold together what belongs on one line: a formula and the signs around it, and names such as ZeRO-3."""
    for node in list(doctree.findall(nodes.math)):
        place = node.parent.index(node)
        before, after = ([*node.parent, None][k] for k in (place - 1, place + 1))  # None at either end
        opened = BEFORE.search(before) if isinstance(before, nodes.Text) else None
        sign = AFTER.match(after) if isinstance(after, nodes.Text) else None
        if opened:
            _put(before, nodes.Text(before[: opened.start()]))
        if sign:
            _put(after, nodes.Text(after[sign.end() :]))
        if opened or sign:
            signs = [nodes.Text(found[0] if found else "") for found in (opened, sign)]
            _put(node, nodes.inline("", "", signs[0], node.deepcopy(), signs[1], classes=["tie"]))
    for node in list(doctree.findall(nodes.Text)):
        if isinstance(node.parent, nodes.TextElement) and not isinstance(node.parent, FIXED) and HYPHEN.search(node):
            parts, end = [], 0
            for name in HYPHEN.finditer(node):
                parts += [nodes.Text(node[end : name.start()]), nodes.inline("", name[0], classes=["tie"])]
                end = name.end()
            _put(node, *parts, nodes.Text(node[end:]))


def _put(node: nodes.Node, *new: nodes.Node) -> None:
    """Put nodes in the place of a node. (Its parent's `replace` would take the first text that reads the same.)"""
    place = next(i for i, child in enumerate(node.parent) if child is node)
    node.parent[place : place + 1] = new


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
        _put(node, *pieces, nodes.Text(text[end:]))
