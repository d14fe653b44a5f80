"""Mathematics for the page: sympy's LaTeX with the book's conventions.

In a product, quantities with units and pure numbers are kept apart, as the field writes them: V/W (N-1)/N.
"""

import sympy
from sympy.printing.latex import LatexPrinter

from gpuscale.core.dimension import DimensionError, dimension
from gpuscale.core.html import escape
from gpuscale.symbols import flop, quantities

SPAN = "math notranslate nohighlight mathjax_process tex2jax_process"


class _LatexPrinter(LatexPrinter):
    def _print_Mul(self, expr):
        expr = _without_flop(expr)
        if isinstance(expr, sympy.Pow):  # sympy sends 1/x here
            return self._fraction(expr)
        if not isinstance(expr, sympy.Mul):
            return self._print(expr)
        sign = "- " if _negative(expr) else ""
        heavy, light = _split(-expr if sign else expr)
        parts = [self._fraction(part) for part in (heavy, light) if part != 1]
        return sign + r" \, ".join(parts)

    def _fraction(self, factors):
        over, under = sympy.fraction(factors)
        flat = self._settings["fold_short_frac"]
        top = self._product(over, bare=under != 1 and not flat)
        if under == 1:
            return top
        bottom = self._product(under, bare=not flat)
        if not flat:
            return rf"\frac{{{top}}}{{{bottom}}}"
        several = isinstance(under, sympy.Mul) and len(_without_flop(under).args) > 1 and r"\," in bottom
        return f"{top} / ({bottom})" if several else f"{top} / {bottom}"

    def _product(self, expr, bare):
        """Factors in the book's order; a sum alone in a fraction needs no parentheses (``bare``)."""
        factors = sorted(sympy.Mul.make_args(_without_flop(expr)), key=_rank)
        if len(factors) == 1 and bare:
            return self._print(factors[0])
        return r" \, ".join(self._factor(f) for f in factors if f != 1) or "1"

    def _factor(self, expr):
        text = self._print(expr)
        return rf"\left({text}\right)" if isinstance(expr, sympy.Add | sympy.Piecewise) else text

    def _print_Add(self, expr, order=None):
        terms = sorted(_without_flop(expr).args, key=lambda t: (_negative(t), t.is_number, _rank(t)))
        out = self._print(terms[0])
        for term in terms[1:]:
            out += f" - {self._print(-term)}" if _negative(term) else f" + {self._print(term)}"
        return out

    def _print_floor(self, expr, exp=None):
        return self._fence("lfloor", "rfloor", expr, exp)

    def _print_ceiling(self, expr, exp=None):
        return self._fence("lceil", "rceil", expr, exp)

    def _fence(self, left, right, expr, exp):
        text = rf"\left\{left} {self._print(expr.args[0])} \right\{right}"
        return f"{text}^{{{exp}}}" if exp else text

    def _print_log2(self, expr, exp=None):
        text = rf"\log_2 {self._print(expr.args[0])}"
        return rf"\left({text}\right)^{{{exp}}}" if exp else text

    def _print_Piecewise(self, expr):
        rows = [f"{self._print(value)} & {self._when(condition)}" for value, condition in expr.args]
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    def _when(self, condition):
        return r"\text{otherwise}" if condition == True else rf"\text{{if }} {self._print(condition)}"  # noqa: E712


def _negative(expr) -> bool:
    return bool(expr.as_coeff_Mul()[0].is_negative)


def _without_flop(expr):
    """`flop` prints as nothing: it stands for 1 and only carries the unit."""
    return expr.subs(flop, 1) if expr.has(flop) else expr


def _rank(expr):
    """Numbers first, then symbols as declared, then powers, functions and sums."""
    order = {q: i for i, q in enumerate(quantities().values())}
    kinds = (4, sympy.Add), (2, sympy.Function), (1, sympy.Basic)
    kind = 0 if expr.is_number else next(rank for rank, type_ in kinds if isinstance(expr, type_))
    return kind, sorted(order.get(q, -1) for q in expr.free_symbols), str(expr)


def _split(expr):
    """A product in two: factors with a unit, and pure fractions of sums, so that V/W (N-1)/N stays."""
    heavy, light = [], []
    for factor in sympy.Mul.make_args(expr):
        try:
            pure = not factor.is_number and dimension(factor) in (None, ())
        except DimensionError:
            return expr, sympy.S.One
        (light if pure else heavy).append(factor)
    rest = sympy.Mul(*light)
    has_sum = any(isinstance(f.as_base_exp()[0], sympy.Add) for f in light)
    if all(f.is_number for f in heavy) or not has_sum or sympy.denom(rest) == 1:
        return expr, sympy.S.One
    return sympy.Mul(*heavy), rest


def tex(expr, **settings) -> str:
    """The LaTeX of an expression, equation or quantity.

    >>> from gpuscale.symbols import N, V, W
    >>> print(tex(V / W * (N - 1) / N))
    \\frac{V}{W} \\, \\frac{N - 1}{N}
    """
    settings = {"mul_symbol": r" \, ", "fold_short_frac": False, **settings}
    return _LatexPrinter(settings).doprint(expr)


def inline(expr) -> str:
    """An expression within a line of text, as HTML that the book sets when it is built, and JupyterLab when shown.

    >>> from gpuscale.symbols import V, W
    >>> inline(V / W).partition(">")[2]
    '\\\\(V / W\\\\)</span>'
    """
    return span(tex(expr, fold_short_frac=True))


def span(latex: str, display: bool = False) -> str:
    """LaTeX as HTML, for the book and for JupyterLab; ``display`` gives fractions their full height.

    >>> span("a < b").partition(">")[2]
    '\\\\(a &lt; b\\\\)</span>'
    """
    body = (r"\displaystyle " if display else "") + latex
    return f'<span class="{SPAN}">\\({escape(body)}\\)</span>'
