"""Mathematics for the page: TeX becomes MathML when the site is built, so that no page waits for a script.

Notebooks hold TeX, which JupyterLab sets itself. On the site a formula is one ``math`` element with its TeX as an
annotation: a browser draws and breaks it (see mathlines), a screen reader reads it, and a copy of it is TeX (see
widgets/static/copy.js). All browsers have had MathML Core since 2023; an older one shows the same signs in a row.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from docutils import nodes

from gpuscale.book.mathlines import broken, width
from gpuscale.book.mathtree import TexError as TexError
from gpuscale.book.mathtree import tree
from gpuscale.core.html import as_json

MARKED = re.compile(r'<(span|div)([^>]*\bclass="[^"]*\bmath\b[^>]*)>\\([(\[])(.*?)\\[)\]]</\1>', re.S)
MARKS = re.compile(r" (notranslate|nohighlight|\w+_process)\b")  # for scripts that would look for TeX
TIED = re.compile(r'(<span[^>]*><math(?:(?!</span>).)*</span>)([,.;:?!)’”"]+)', re.S)  # a sign after a formula
DERIVATION = re.compile(r'<ol class="derivation">(.*?)</ol>', re.S)
SIDES = re.compile(r'<li><span>(.*?)</span><span>.*?<span class="expr">(.*?)<span class="why">', re.S)
ROOM = 18  # em: what a column holds of the two sides of a derivation, next to the reasons
DATA = re.compile(r'(?<=json">).*?(?=</script>)', re.S)


@cache
def mathml(tex: str, display: bool = False) -> str:
    """TeX as MathML, in the size of display mathematics or of a line of text. Raises TexError.

    >>> mathml("N")
    '<math><semantics><mi>N</mi><annotation encoding="application/x-tex">N</annotation></semantics></math>'
    """
    said = tex.removeprefix(r"\displaystyle").strip()
    large = display or tex.startswith(r"\displaystyle")
    row = broken(tree(said, large))
    math = Element("math", {"displaystyle": "true"} if large else {})
    if row.attrib.get("class") == "line":
        math.set("class", "long")
    elif len(row) == 1:
        row = row[0]
        if row.tag == "mo":
            row.attrib.update(lspace="0", rspace="0")  # a sign alone, as in the column of a derivation
    semantics = SubElement(math, "semantics")
    semantics.append(row)
    SubElement(semantics, "annotation", encoding="application/x-tex").text = said
    return ElementTree.tostring(math, encoding="unicode")


def typeset(page: str) -> str:
    """HTML with its mathematics set: what stands in it, and what waits in the data of scripts. Raises TexError."""
    return _set(DATA.sub(_data, page))


def _set(text: str) -> str:
    return MARKED.sub(_element, DERIVATION.sub(_derivation, text))


def _derivation(found: re.Match) -> str:
    """A derivation; if its formulas leave no room for the reasons, it is ``wide``, and they stand below."""
    sides = zip(*(map(_width, row) for row in SIDES.findall(found[1])), strict=True)
    return found[0].replace("derivation", "derivation wide", 1) if sum(map(max, sides)) > ROOM else found[0]


def _width(cell: str) -> float:
    """About how wide the formula in a cell is, in em; 0 if there is none."""
    formula = MARKED.search(cell)
    return width(tree(html.unescape(formula[4]).strip(), True)) if formula else 0


def _element(found: re.Match) -> str:
    tag, attributes, fence, tex = found.groups()
    math = mathml(html.unescape(tex).strip(), fence == "[")
    inside = math if tag == "span" else f"<span>{math}</span>"  # of a block, the box that is centered
    return f"<{tag}{MARKS.sub('', attributes)}>{inside}</{tag}>"


def _data(found: re.Match) -> str:
    return as_json(_in_data(json.loads(found[0]))) if r"\\(" in found[0] else found[0]


def _in_data(value):
    if isinstance(value, dict):
        return {key: _in_data(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_in_data(each) for each in value]
    return TIED.sub(r'<span class="tie">\1\2</span>', _set(value)) if isinstance(value, str) else value


def visit_math(writer, node: nodes.math) -> None:
    """Mathematics of the text goes onto the page as that of an output does: marked TeX, which ``typeset`` finds."""
    writer.body.append(rf"{writer.starttag(node, 'span', '', CLASS='math')}\({writer.encode(node.astext())}\)</span>")
    raise nodes.SkipNode


def visit_math_block(writer, node: nodes.math_block) -> None:
    """The same for mathematics on a line of its own."""
    writer.body.append(rf"{writer.starttag(node, 'div', '', CLASS='math')}\[{writer.encode(node.astext())}\]</div>")
    raise nodes.SkipNode
