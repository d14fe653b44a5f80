"""A tree with numbers on its edges: what stands at each place, what runs above it, and which edges are cut."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import hue, width

_BOX, _ROW, _GAP = 22, 72, 5  # pixels: the height of a box, from one row to the next, between the lowest boxes


@dataclass(frozen=True)
class TreeNode:
    """A place in a tree: its words, its meaning as a hue, the words on the edge above it, and what it joins.

    With ``cut`` the edge above it is dashed and its words are boxed; ``load`` is the meaning of that edge.
    """

    text: str = ""
    hue: str = "edge"
    edge: str = ""
    children: tuple | list = ()
    cut: bool = False
    load: str = "scaleout"


def number_tree(root: TreeNode, *, name, caption, alt, **look) -> Still:
    """A tree as a static figure, with its root at the top; a box without hue is pale.

    Raises TypeError for what is no TreeNode, ValueError for an unknown hue.
    """
    todo = [root]
    while todo:
        part = todo.pop()
        if not isinstance(part, TreeNode):
            raise TypeError(f"number_tree: expected a TreeNode; got {part!r}")
        hue(part.hue, f"node {part.text!r}")
        hue(part.load, f"edge above {part.text!r}")
        todo += part.children

    def paint(sheet):
        sheet.down = _ROW * (_depth(root) - 1) + _BOX + 2
        step = min(sheet.across / _leaves(root), 74)
        _place(sheet, root, (sheet.across - step * _leaves(root)) / 2, 1.0, step)
        sheet.records += _told(root, 0)

    return Still(paint, name=name, caption=caption, alt=alt, **look)


def _depth(node: TreeNode) -> int:
    return 1 + max(map(_depth, node.children), default=0)


def _leaves(node: TreeNode) -> int:
    return sum(map(_leaves, node.children)) or 1


def _told(node: TreeNode, row: int) -> list[str]:
    cut = ", cut" if node.cut else ""
    line = f"row {row}: {node.text or '-'} [{node.hue}]" + (f", above it {node.edge}{cut}" if node.edge else "")
    return [line, *(told for child in node.children for told in _told(child, row + 1))]


def _place(sheet, node: TreeNode, left: float, y: float, step: float) -> float:
    """Draws a node with all below it, its left edge at ``left``; the middle of its box."""
    across = step * _leaves(node)
    x, at = left + across / 2, left
    for child in node.children:
        foot = _place(sheet, child, at, y + _ROW, step)
        at += step * _leaves(child)
        _edge(sheet, child, foot, x, y)
    wide = max(width(node.text, True) + 14, step - _GAP) if node.children else step - _GAP
    wide = min(wide, across - _GAP)
    sheet.area(x - wide / 2, y, x + wide / 2, y + _BOX, "paper", level=2)
    strong = node.hue not in {"edge", "line"}
    sheet.box(x - wide / 2, y, wide, _BOX, node.hue, 0.28 if strong else 0.0, level=2.5)
    sheet.write(x, y + 15.5, node.text, node.hue if strong else "soft", "center", bold=strong)
    return x


def _edge(sheet, child: TreeNode, foot: float, x: float, y: float) -> None:
    """The edge from a child up to its parent, with its words in the middle."""
    low, high = y + _ROW, y + _BOX
    share = 0.5 if child.children else 0.32  # many edges are closest together at their parent
    mid = foot + (x - foot) * share, low + (high - low) * share
    dash = (5, 3) if child.cut else ()
    sheet.rule([foot, x], [low, high], child.load, level=1, weight=2 if child.cut else 1.2, dash=dash)
    if child.edge:
        wide = width(child.edge, True) + (8 if child.cut else 6)
        sheet.area(mid[0] - wide / 2, mid[1] - 8, mid[0] + wide / 2, mid[1] + 8, "paper", level=3)
        if child.cut:
            sheet.box(mid[0] - wide / 2, mid[1] - 8, wide, 16, "plain", level=3.5)
        sheet.write(mid[0], mid[1] + 4.5, child.edge, child.load, "center", bold=child.cut)
