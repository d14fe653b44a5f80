"""Pieces of a page whose numbers come from the library: sentences, and the card of what to remember."""

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

import sympy

from gpuscale.core.formula import Formula
from gpuscale.core.html import Head, Html, element, escape, region, table
from gpuscale.core.latex import span, tex
from gpuscale.units import show


class _Number:
    """A value that formats itself: ``{t:s}``, ``{t:s,2}`` (two digits), ``{n:count}``, ``{share:%}``, ``{m:KiB}``; of a
    Formula ``{f}`` is what it is equal to, and ``{f:=}`` the equation on a line of its own."""

    def __init__(self, value):
        self.value = value

    def __format__(self, spec: str) -> str:
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, Formula):
            right = tex(self.value.rhs)
            return f"$${tex(self.value.lhs)} = {right}$$" if spec == "=" else f"${right}$"
        unit, _, digits = spec.partition(",")
        return show(self.value, unit, short=not digits, digits=int(digits or 3))


class Sentence:
    """Markdown whose numbers were computed."""

    def __init__(self, text: str):
        self.text = text

    def _repr_markdown_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def say(text: str, **values) -> Sentence:
    """A paragraph with computed numbers: ``say("It takes {t:s}.", t=f(V=64*MB, W=W))``.

    The part after the colon is a unit of ``units.show``, optionally with a number of digits after a comma. Strings
    are inserted as they are. Raises KeyError for a name that is not given.
    """
    return Sentence(text.format(**{k: _Number(v) for k, v in values.items()}))


def fold(summary: str, text: str, **values) -> Sentence:
    """A passage that the reader unfolds: ``fold("What you should see", "It takes {t:s}.", t=...)``.

    Numbers are computed as in ``say``. Raises KeyError for a name that is not given.
    """
    inside = say(text, **values).text.strip()
    return Sentence(f"<details>\n<summary>{escape(summary)}</summary>\n\n{inside}\n\n</details>")


def grid(heads: Sequence[str], rows: Sequence[Sequence], left: Sequence[int] = (), keys: Sequence[str] = ()):
    """A small table in Markdown: the first column and those in ``left`` begin at the left, the others end at the right.

    ``keys``: for a table that is too wide for a phone, the word before each cell of a row, which becomes a block there;
    a cell without one has a line of its own. Raises ValueError for a row, or keys, without an item for each head.
    """
    for what, row in (*(("row", row) for row in rows), *([("keys", keys)] if keys else [])):
        if len(row) != len(heads):
            raise ValueError(f"{what} {list(row)[0]!r}: expected {len(heads)} cells, one per column head")
    sides = ["---" if column in (0, *left) else "---:" for column in range(len(heads))]
    lines = Sentence("\n".join("| " + " | ".join(map(str, line)) + " |" for line in (heads, sides, *rows)))
    if not keys:
        return lines
    kinds = [" ".join(["num"] * (side == "---:") + ["line"] * (not key)) for side, key in zip(sides, keys, strict=True)]
    columns = [Head(_marked(head), kind, key) for head, kind, key in zip(heads, kinds, keys, strict=True)]
    body = [[_marked(str(cell)) for cell in row] for row in rows]
    html = region(keys[0] or heads[0], table(columns, body, "stack", stack=True, aria_label=heads[0]))
    return Html(html, lines.text)


def _marked(text: str) -> str:
    """The Markdown of a cell as HTML: formulas and bold type.

    >>> _marked("a < **b**, $V$").replace(span("V"), "V")
    'a &lt; <b>b</b>, V'
    """
    parts = re.split(r"\$(.+?)\$", text)
    said = (re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(part)) for part in parts[::2])
    return "".join(chain.from_iterable(zip_longest(said, map(span, parts[1::2]), fillvalue="")))


def remember(rows: Sequence[tuple]) -> Html:
    """The table under the take-aways: rows of (Formula, when it holds, an example as text)."""
    body = [(_equation(formula), escape(holds), escape(size)) for formula, holds, size in rows]
    html = element(
        "section",
        '<h3 id="remember-t">The formulas</h3>',
        table(["Formula", "Holds for", "Example"], body, "stack", stack=True, aria_labelledby="remember-t"),
        class_="card remember",
        aria_labelledby="remember-t",
    )
    return Html(html, "\n".join(f"{formula!r} | {holds} | {size}" for formula, holds, size in rows))


def _equation(formula: Formula | str) -> str:
    """Of several branches, the first that is not zero: a line to remember needs no cases."""
    if not isinstance(formula, Formula):
        return escape(formula)
    usual = formula.rhs
    if isinstance(usual, sympy.Piecewise):
        usual = next(value for value, _ in usual.args if value != 0)
    return span(f"{tex(formula.lhs)} = {tex(usual)}")  # in one, so that it breaks where an equation does
