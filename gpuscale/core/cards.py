"""The cards of a formula and of a derivation: HTML for page and notebook, plain text everywhere else."""

import re
from collections.abc import Iterable, Sequence

import sympy

from gpuscale.core.html import Html, anchor, cite, details, element, escape, heading, region, table
from gpuscale.core.latex import inline, span, tex
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
    return re.sub(r"\b[A-Za-z]\w*", symbol, escape(text), flags=re.ASCII)  # N² is N and a sign


def call(f, room: int = 1000) -> str:
    """A formula as it is called; inputs that do not fit into ``room`` characters are left out.

    >>> from gpuscale.one_gpu import transfer_time
    >>> call(transfer_time), call(transfer_time, 25)
    ('transfer_time(alpha, V, W)', 'transfer_time(alpha, ...)')
    """
    names = [q.name for q in f.inputs]
    said = f"{f.name}({', '.join(names)})" if f.name else ""
    while len(said) > room and names:
        names.pop()
        said = f"{f.name}({', '.join([*names, '...'])})"
    return said


def equation(f) -> str:
    """A formula's equation.

    >>> from gpuscale.one_gpu import transfer_time
    >>> equation(transfer_time).partition("= ")[2]
    '\\\\alpha + \\\\frac{V}{W}\\\\)</span>'
    """
    return span(f"{tex(f.lhs)} = {tex(f.rhs)}", display=True)


def limit(f) -> str:
    """The limit in which a formula's approximation holds.

    >>> from gpuscale.collectives import ring_all_reduce
    >>> limit(ring_all_reduce).partition(">")[2]
    '\\\\(V \\\\to \\\\infty, N \\\\to \\\\infty\\\\)</span>'
    """
    return span(", ".join(rf"{tex(q)} \to {tex(target)}" for q, target in f.regime))


def formula_card(f) -> Html:
    """The card of a formula: name, call, equation, assumptions, approximation; symbols and source folded.

    >>> from gpuscale.one_gpu import transfer_time
    >>> formula_card(transfer_time)
    Time to move bytes: T_mem = V/W + alpha  [s]
    for one transfer with a latency of alpha, then at the full bandwidth
    """
    key = f"formula-{anchor(f.name or f.title)}"
    inside = [heading(f.title, call(f), id=f"{key}-t")]
    inside += [region(f"Equation: {f.title}", equation(f), kind="equation")]
    inside += [f"<p><b>Holds</b> {worded(f.assumes)}.</p>{_approximation(f)}"]
    told = {q: worded(text) for q, text in f.means.items()}
    rows = ((inline(q), told.get(q) or escape(q.meaning), escape(q.unit)) for q in (f.lhs, *f.inputs))
    symbols = table(["Symbol", "Meaning", "Unit"], rows)
    inside += [details("Symbols, units and source", symbols, f'<p class="note">Source: {cite(f.source)}.</p>')]
    html = element("section", *inside, class_="card formula", id=key, aria_labelledby=f"{key}-t")
    return Html(html, f"{f.title}: {f!r}  [{f.lhs.unit}]\n{f.assumes}", stored=True)


def _approximation(f) -> str:
    if f.approx is None:
        return ""
    exact = f.rhs.args[0][0] if isinstance(f.rhs, sympy.Piecewise) else f.rhs  # the branch the regime leads to
    ratio = sympy.simplify((f.approx / exact).subs(flop, 1))
    terms = sympy.expand(ratio)  # 1 - B/D rather than (D - B)/D, but no sum in a denominator that is not factored
    ratio = sympy.factor(ratio) if any(sympy.denom(t).has(sympy.Add) for t in sympy.Add.make_args(terms)) else terms
    claim = span(rf"{tex(f.lhs)} \approx {tex(f.approx)}", display=True)
    told = f"<span>as {limit(f)}. The approximation over the exact value is {inline(ratio)}.</span>"
    return f'<div class="approx">{claim}{told}</div>'


def derivation_html(derivation) -> str:
    """A derivation as the five-column list of the page.

    >>> from gpuscale.core.derivation import Derivation
    >>> from gpuscale.symbols import T, V, W
    >>> derivation_html(Derivation(T).given(V / W, "at full bandwidth")).count("<li>")
    1
    """
    rows = []
    for step in derivation.steps:
        proof = "given"
        if step.proof:
            how = f'<span class="how">{step.proof}<span class="quiet">, checked</span></span>'
            proof = f'<span class="mark" aria-hidden="true">✓</span>{how}'
        left = span(step.left, display=r"\frac" in step.left) if step.left else ""
        body = span(tex(step.expr), display=True)
        rows.append((left, span(_RELATION[step.relation]), body, worded(step.why), proof))
    return derivation_list(rows)


def derivation_list(rows: Iterable[Sequence[str]]) -> str:
    """Steps as a list of five columns: left side, relation, expression, reason, and how it was checked, all as HTML.

    >>> derivation_list([("T", "=", "V/W", "given", "")]).count("<span")
    5
    """
    kinds = ("", "", "expr", "why", "checked")
    steps = (
        element("li", *(element("span", part, class_=kind) for part, kind in zip(row, kinds, strict=True)))
        for row in rows
    )
    return element("ol", *steps, class_="derivation")
