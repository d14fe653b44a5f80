"""Links from chapters to the glossary: the first use of each term in a chapter leads to its entry."""

import re
from dataclasses import replace

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from gpuscale.core.html import breakable
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
# Names that mean something else in a chapter: layers of a network are switches, the norm of gradients is a length, and
# a chunk may be a part of a prompt or of a matmul.
OTHERWISE = {
    "across_the_hierarchy": {"layer"},
    "all_to_all": {"transpose"},
    "beyond_the_node": {"layer"},
    "cheat_sheet": {"chunk"},
    "continuous_batching": {"chunk"},
    "lab_serving": {"chunk"},
    "pipeline_parallelism": {"head", "norm"},
    "serving_planner": {"chunk"},
}
# What must not stand at the start of a line: a sign after a formula, a number or a letter after a hyphen. And what must
# not stand at its end: a parenthesis before a formula, or a number that multiplies it.
BEFORE = re.compile(r"[(\[‘“]+$|\b\d[\d.,]*$")
AFTER = re.compile(r"[,.;:!?)\]’”%]+|-\w+")
# What stays on one line of prose: a name with its version, a number with its unit, a short product or sum.
HYPHEN = re.compile(r"\b(?:[A-Za-z]+-(?:[A-Z]?\d+|[A-Z])|\d+-[a-z]+)\b")
SPACED = re.compile(
    r"\b(?:Llama|Qwen|PCIe|NVLink|Gen|[TPDCE]P)\s\d[\d.]*(?:\s\d+B|\s×\s\d+)?\b"
    r"|(?<!×\s)\b\d+(?:[.,]\d+)*(?:\s×\s\d+(?:[.,]\d+)*){1,2}(?![.,]?\d|\s×)"
    r"|\d\s(?:[kKMGT]i?B|[mµn]?s|[GTP]FLOPs?|[GM]bit|[GM]Hz|k?W)\b"
    r"|(?:(?<=[\w)])|^)\s[−+]\s\d{1,2}\b(?![.,]?\d)|\b[A-Z]\s=\s\d|\b\d{1,2}\s$"
)
# Text, tags, and what is no prose: of a script, the words of a question are; a cell breaks between number and unit.
PIECE = re.compile(r"<(pre|code|script|style|svg|math|button|summary|t[dh])\b.*?<\\?/\1>|<[^>]+>|[^<]+", re.S)
ASKED = re.compile(r'(?<="ask":")(?:[^"\\]|\\.)*|(?<="text":")(?:[^"\\]|\\.)*')
# A cell of a table with code in it. (The toolkit alone writes cells; so that a test can tell, the tag is a set here.)
CELL = re.compile(r"<[t]d>(?:(?!</td>).)*<code(?:(?!</td>).)*</td>", re.S)


def link_terms(app: Sphinx, doctree: nodes.document) -> None:
    """Link the first use of every term in a chapter to the glossary; other pages stay as they are."""
    here = CHAPTER.fullmatch(app.env.docname)
    if not here or here[1] == "glossary":
        return
    known = {one.term: meant for one in terms().values() if (meant := _meant(one, here[1]))}
    left = dict(known)
    for node in list(doctree.findall(nodes.Text)):
        if _is_prose(node):
            _link(node, left, known)


def _meant(one: Term, chapter: str) -> Term | None:
    """The term with the names that can mean nothing else in this chapter; None if no name is left."""
    if chapter == one.chapter:
        return one
    names = [name for name in one.names if name not in EVERYDAY | OTHERWISE.get(chapter, set())]
    return replace(one, also=tuple(names[1:])) if one.term in names else None


def tie(app: Sphinx, doctree: nodes.document) -> None:
    """Hold together a formula and the signs around it."""
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


def hold(body: str, spaces: bool = True) -> str:
    """HTML in which ZeRO-3, 16-bit, 25 MiB, Llama 3 70B and 4 × 4 stay on one line of prose, also in its questions.

    Without ``spaces`` only what a hyphen joins is held together.

    >>> hold("<p>ZeRO-3 sends 25 MiB.</p>")
    '<p><span class=tie>ZeRO-3</span> sends 25\\xa0MiB.</p>'
    """

    def held(piece: re.Match) -> str:
        text, tag = piece[0], piece[1]
        if tag == "script":
            return ASKED.sub(lambda asked: hold(asked[0]), text)
        if tag in ("td", "th"):
            start, end = text.index(">") + 1, text.rindex("<")
            return text[:start] + hold(text[start:end], spaces=False) + text[end:]
        if text.startswith("<"):
            return text
        if spaces:
            text = SPACED.sub(lambda found: re.sub(r"\s", "\u00a0", found[0]), text)
        return HYPHEN.sub(r"<span class=tie>\g<0></span>", text)

    return PIECE.sub(held, body)


def break_names(body: str) -> str:
    """Let a long name in a cell of a table break after a low line."""
    return CELL.sub(lambda cell: re.sub('(?<="pre">)[^<]+', lambda name: breakable(name[0]), cell[0]), body)


def _put(node: nodes.Node, *new: nodes.Node) -> None:
    """Put nodes in the place of a node. (Its parent's `replace` would take the first text that reads the same.)"""
    place = next(i for i, child in enumerate(node.parent) if child is node)
    node.parent[place : place + 1] = new


def _is_prose(node: nodes.Node) -> bool:
    while node := node.parent:
        if isinstance(node, APART) or "cell_input" in node.get("classes", ()):
            return False
    return True


def _link(node: nodes.Text, left: dict[str, Term], known: dict[str, Term]) -> None:
    """Put links into a text; the terms found leave ``left``. Of two of the ``known`` ones that overlap, the longer one
    counts: the second "in-network reduction" of a chapter is no use of "reduction"."""
    text, pieces, end, done = node.astext(), [], 0, 0
    uses = [(use, one) for one in known.values() for use in pattern(one).finditer(text)]
    for use, one in sorted(uses, key=lambda hit: (hit[0].start(), -hit[0].end())):
        if use.start() < end:
            continue
        end = use.end()
        if one.term not in left:
            continue
        entry = {"refuri": f"glossary.html#{one.anchor}", "reftitle": f"{one.means} ({one.zh})"}
        pieces += [nodes.Text(text[done : use.start()])]
        pieces += [nodes.reference("", "", nodes.Text(use[0]), internal=True, classes=["term"], **entry)]
        done = end
        del left[one.term]
    if pieces:
        _put(node, *pieces, nodes.Text(text[done:]))
