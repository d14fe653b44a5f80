"""The cards of a formula and of a derivation: HTML for page and notebook, plain text everywhere else."""

import re
from collections.abc import Iterable

import sympy

from gpuscale.core.html import anchor, escape
from gpuscale.core.latex import inline, span, tex
from gpuscale.sources import cite
from gpuscale.symbols import flop, quantities

_RELATION = {"=": "=", "->": r"\to"}
_SIGNS = {">=": "≥", "<=": "≤", " x ": " × ", " - ": " − "}


def worded(text: str) -> str:
    """A phrase as HTML: names of quantities, such as W_hbm or alpha, as their symbols, signs as they are set.

    >>> worded("when N >= 2 ranks share W_hbm")
    'when <i>N</i> ≥ 2 ranks share <i>W</i><sub>HBM</sub>'
    """
    known = quantities()

    def symbol(found) -> str:
        q = known.get(found[0])
        single = q is not None and len(re.sub("<.*?>", "", q.html)) == 1  # words such as "idle" stay words
        return q.html if q is not None and (single or "_" in q.name) else found[0]

    for plain, sign in _SIGNS.items():
        text = text.replace(plain, sign)
    return re.sub(r"\b[A-Za-z]\w*", symbol, escape(text))


class FormulaCard:
    """The card of a formula: name, call, equation, assumptions, approximation; symbols and source folded.

    >>> from gpuscale.one_gpu import transfer_time
    >>> FormulaCard(transfer_time)
    Time to move bytes: T_mem = V/W + alpha  [s]
    for one transfer that waits once and then runs at the full bandwidth
    """

    def __init__(self, formula):
        self.formula = formula

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        f = self.formula
        return f"{f.title}: {f!r}  [{f.lhs.unit}]\n{f.assumes}"

    def _repr_html_(self) -> str:
        f = self.formula
        key = anchor(f.name or f.title)
        call = f"{f.name}({', '.join(q.name for q in f.inputs)})" if f.name else ""
        equation = span(f"{tex(f.lhs)} = {tex(f.rhs)}", display=True)
        return (
            f'<section class="card formula" id="formula-{key}" aria-labelledby="formula-{key}-t">'
            f'<div class="head"><h3 id="formula-{key}-t">{escape(f.title)}</h3>'
            f'<code class="note">{call}</code></div>'
            f'<div class="equation" tabindex="0" role="region" aria-label="Equation: {escape(f.title)}">'
            f"{equation}</div>"
            f"<p><b>Holds</b> {worded(f.assumes)}.</p>{_approximation(f)}"
            f"<details><summary>Symbols, units and source</summary>{symbols_table([f.lhs, *f.inputs])}"
            f'<p class="note">Source: {cite(f.source)}.</p></details></section>'
        )


def _approximation(f) -> str:
    if f.approx is None:
        return ""
    along = ", ".join(f"{tex(q)} \\to {tex(target)}" for q, target in f.regime)
    exact = f.rhs.args[0][0] if isinstance(f.rhs, sympy.Piecewise) else f.rhs  # the branch the regime leads to
    ratio = sympy.expand(sympy.simplify((f.approx / exact).subs(flop, 1)))
    claim = span(rf"{tex(f.lhs)} \approx {tex(f.approx)}", display=True)
    return (
        f'<div class="approx">{claim}'
        f"<span>as {span(along)}. Divided by the exact value it is {inline(ratio)}.</span></div>"
    )


def symbols_table(symbols: Iterable) -> str:
    """Symbol, meaning and unit of quantities as an HTML table.

    >>> from gpuscale.symbols import V
    >>> "<td>B</td>" in symbols_table([V])
    True
    """
    rows = "".join(
        f"<tr><td>{inline(q)}</td><td>{escape(q.meaning)}</td><td>{escape(q.unit)}</td></tr>" for q in symbols
    )
    names = "".join(f'<th scope="col">{name}</th>' for name in ("Symbol", "Meaning", "Unit"))
    head = f"<thead><tr>{names}</tr></thead>"
    return f'<table class="plain-table">{head}<tbody>{rows}</tbody></table>'


def derivation_html(derivation) -> str:
    """A derivation as the five-column list of the page.

    >>> from gpuscale.core.derivation import Derivation
    >>> from gpuscale.symbols import T, V, W
    >>> derivation_html(Derivation(T).given(V / W, "at full bandwidth")).count("<li>")
    1
    """
    items = []
    for step in derivation.steps:
        proof = (
            f'<span class="mark" aria-hidden="true">✓</span><span class="how">{step.proof}'
            '<span class="quiet">, checked</span></span>'
            if step.proof
            else "given"
        )
        left = span(step.left) if step.left else ""
        items.append(
            f"<li><span>{left}</span><span>{span(_RELATION[step.relation])}</span>"
            f'<span class="expr">{span(tex(step.expr), display=True)}</span>'
            f'<span class="why">{escape(step.why)}</span><span class="checked">{proof}</span></li>'
        )
    return f'<ol class="derivation">{"".join(items)}</ol>'
