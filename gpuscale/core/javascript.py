"""The JavaScript twin of an expression: printed by sympy, so that page and Python cannot drift apart."""

import functools
import re

import sympy
from sympy.printing.jscode import JavascriptCodePrinter

from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.core.numerics import SCRIPTS, steady
from gpuscale.symbols import flop


class _ScriptPrinter(JavascriptCodePrinter):
    def _print_log2(self, expr):
        return f"Math.log2({self._print(expr.args[0])})"

    def _print_CeilLog2(self, expr):
        return f"{type(expr).__name__}({', '.join(map(self._print, expr.args))})"

    _print_LogBinomial = _print_CeilLog2

    def _print_Infinity(self, expr):
        return "Infinity"

    def _print_Float(self, expr):
        return repr(float(expr))

    def _print_Symbol(self, expr):
        return expr.name

    def _print_Quantity(self, expr):
        return "1" if expr == flop else expr.name  # substituted, it would make sympy build every maximum again


@functools.lru_cache(maxsize=4096)
def body(expr) -> str:
    """The statements of a JavaScript function that returns the expression; its inputs are names in scope.

    >>> from gpuscale.symbols import V, W
    >>> body(V / W)
    'return V/W;'
    """
    lets, (result,) = _lines([expr])
    return f"{lets}return {result};"


def bodies(exprs) -> str:
    """The statements of a JavaScript function that returns a list, with the value of each expression.

    >>> from gpuscale.symbols import N, V, W
    >>> bodies([V / W, V * N / W])
    'const _t0 = V/W; return [_t0, N*_t0];'
    """
    lets, results = _lines(exprs)
    return f"{lets}return [{', '.join(results)}];"


def _lines(exprs) -> tuple[str, list[str]]:
    """What expressions share, as statements, and each of them."""
    printer = _ScriptPrinter({"allow_unknown_functions": False})
    names = sympy.numbered_symbols("_t")
    plain = [steady(sympy.sympify(expr)) for expr in exprs]
    # shared reciprocals could push a floor over its edge
    stepped = any(e.has(sympy.floor, sympy.ceiling) for e in plain)
    shared, results = ([], plain) if stepped else sympy.cse(plain, symbols=names)
    used = {type(node).__name__ for e in plain for node in sympy.preorder_traversal(e)}
    lets = "".join(f"const {name} = {script}; " for name, script in SCRIPTS.items() if name in used)
    lets += "".join(f"const {name} = {printer.doprint(value)}; " for name, value in shared)
    return lets.replace("\n", " "), [printer.doprint(result).replace("\n", " ") for result in results]


def statements(lines) -> str:
    """Lines of a program, (symbol, expression), as statements in that order.

    >>> from gpuscale.symbols import T_comms, V, W
    >>> statements([(T_comms, V / W)])
    'const T_comms=V/W;'
    """
    printer = _ScriptPrinter({"allow_unknown_functions": False})
    return "".join(f"const {symbol}={_tight(printer.doprint(expr))};" for symbol, expr in lines)


def _tight(code: str) -> str:
    """Code without the spaces that it does not need; it has no words but names and numbers."""
    return re.sub(r"\s*([^\w.])\s*", r"\1", code)


def function(expr) -> str:
    """A JavaScript function of one object; NaN where a condition of a formula is broken.

    >>> from gpuscale.symbols import V, W
    >>> function(V / W)
    '({V, W}) => { return V/W; }'
    """
    needs, expr = (expr.needs, expr.rhs) if isinstance(expr, Formula) else ((), sympy.sympify(expr))
    broken = "".join(f"if (!(() => {{ {body(need.relation)} }})()) return NaN; " for need in needs)
    return f"({{{', '.join(q.name for q in inputs(expr))}}}) => {{ {broken}{body(expr)} }}"
