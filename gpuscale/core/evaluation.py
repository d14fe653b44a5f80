"""Expressions in numbers: one compiled numpy function each, inputs checked before and results after."""

import functools

import numpy as np
import sympy

from gpuscale.core.conditions import Condition
from gpuscale.core.numerics import FUNCTIONS, steady
from gpuscale.symbols import Quantity, flop, quantities


@functools.lru_cache(maxsize=4096)
def inputs(expr) -> tuple[Quantity, ...]:
    """The quantities of an expression that a caller supplies, in the order of the notation (``flop`` is always 1).

    >>> from gpuscale.symbols import B, C, D, F, flop
    >>> inputs(2 * flop * B * D * F / C)
    (C, B, D, F)
    """
    order = {q: i for i, q in enumerate(quantities().values())}
    if strange := [symbol for symbol in sympy.sympify(expr).free_symbols if symbol not in order]:
        raise TypeError(f"{expr} holds {strange[0]}, which is not a Quantity; declare it in gpuscale/symbols")
    return tuple(sorted(sympy.sympify(expr).free_symbols - {flop}, key=order.__getitem__))


def expected(symbols) -> str:
    """The end of a message: which inputs a formula takes, with their units.

    >>> from gpuscale.symbols import V, W
    >>> expected([V, W])
    'expected V [B], W [B/s]'
    """
    listed = ", ".join(f"{q.name} [{q.unit}]" for q in symbols)
    return f"expected {listed}" if listed else "expected no inputs"


def must_name(what, symbols, values) -> None:
    """Refuse values that do not name each of the symbols and nothing else; ``what`` begins the message.

    >>> from gpuscale.symbols import V, W
    >>> must_name("the time", [V, W], {"V": 1e6, "N": 8})
    Traceback (most recent call last):
    TypeError: the time: missing W; unknown N; expected V [B], W [B/s]
    """
    wanted = [q.name for q in symbols]
    missing, extra = [k for k in wanted if k not in values], [k for k in values if k not in wanted]
    if missing or extra:
        wrong = "; ".join(f"{what} {', '.join(n)}" for what, n in (("missing", missing), ("unknown", extra)) if n)
        raise TypeError(f"{what}: {wrong}; {expected(symbols)}")


_NO_NUMBER = (str, bytes, bool, np.bool_, complex, type(None))


@functools.lru_cache(maxsize=4096)
def compiled(expr):
    """The numpy function of an expression and its inputs in order; made once for each expression.

    >>> from gpuscale.symbols import V, W
    >>> function, names = compiled(V / W)
    >>> names, function(6.0, 2.0)
    ((V, W), 3.0)
    """
    names = inputs(expr)
    body = steady(expr)
    table = {"log2": np.log2, "oo": np.inf, **FUNCTIONS}
    stepped = body.has(sympy.floor, sympy.ceiling)  # shared reciprocals could push a floor over its edge
    # flop is the first argument: if it were substituted, sympy would build every maximum again, which is slow.
    function = sympy.lambdify((flop, *names), body, modules=[table, "numpy"], cse=not stepped)
    return functools.partial(function, 1), names


def evaluate(expr, /, _what: str = "", **values):
    """A derived expression in numbers: floats or arrays in base units in, the same out (arrays broadcast).

    A formula's optional inputs may be left out: they are 0.
    Every value must be a finite number that the quantity allows; infinity is returned only where the
    expression itself holds it. Raises TypeError for a missing or unknown name or a value that is not a number,
    ValueError for a value out of range, for values that break a condition of a formula, for shapes that do not fit;
    each names the input and what was expected.

    >>> import numpy as np
    >>> from gpuscale.symbols import V, W, alpha
    >>> evaluate(alpha + V / W, alpha=1e-6, V=np.array([1e6, 2e6]), W=1e9)
    array([0.001001, 0.002001])
    >>> evaluate(V / W, V=1e6)
    Traceback (most recent call last):
    TypeError: V/W: missing W; expected V [B], W [B/s]
    """
    needs: tuple[Condition, ...] = ()
    if hasattr(expr, "needs"):  # a Formula
        values = {q.name: 0.0 for q in expr.optional} | values
        expr, needs, _what = expr.rhs, expr.needs, _what or expr.name or expr.title
    expr = sympy.sympify(expr)
    function, names = compiled(expr)
    what = _what or expr
    must_name(what, names, values)
    given = [as_number(q, values[q.name]) for q in names]
    shape = _shape(what, names, given)
    _check_needs(what, needs, dict(zip(names, given, strict=True)))
    with np.errstate(all="ignore"):
        try:
            out = np.asarray(function(*given), dtype=float)
        except (ZeroDivisionError, OverflowError):  # Python floats are faster; numpy's know infinity
            out = np.asarray(function(*map(np.float64, given)), dtype=float)
    if out.shape != shape or expr.is_Symbol:
        out = np.broadcast_to(out, shape).copy()
    _check_result(what, expr, out)
    return out if shape else float(out)


def _shape(what, names, given) -> tuple[int, ...]:
    shapes = {q.name: np.shape(g) for q, g in zip(names, given, strict=True) if np.ndim(g)}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"{what}: expected arrays with compatible shapes; got {found}") from None


def _check_needs(what, needs, given: dict) -> None:
    for need in needs:
        function, names = compiled(need.relation)
        values = [given[q] for q in names]
        kept = np.asarray(function(*values))
        if not kept.all():
            first = np.unravel_index(np.argmin(kept), kept.shape)
            seen = (np.broadcast_to(v, kept.shape)[first] for v in values)
            got = ", ".join(f"{q.name} = {v:g}" for q, v in zip(names, seen, strict=True))
            raise ValueError(f"{what}: expected that {need}; got {got}")


def _check_result(what, expr, out) -> None:
    if np.isnan(out).any():
        raise ValueError(f"{what}: the result is not a number for these inputs; expected values of ordinary magnitude")
    if np.isinf(out).any() and not expr.has(sympy.oo):
        raise ValueError(f"{what}: the result overflows; expected inputs of ordinary magnitude, in base units")


def as_number(q: Quantity, value):
    """A given value as float or float array, or an error that names the quantity and what it takes.

    >>> from gpuscale.symbols import N
    >>> as_number(N, 8)
    8.0
    >>> as_number(N, 0)
    Traceback (most recent call last):
    ValueError: N (ranks of the collective (world size)): expected a finite number of at least 1; got 0
    """
    number = _floats(value)
    if number is None:
        hint = f", such as parse({value!r}, {q.unit!r})" if isinstance(value, str) else ""
        raise TypeError(f"{q.name} ({q.meaning}): expected a number{_in(q)}{hint}; got {_seen(value)}")
    if not number.size:
        return number
    low, high = number.min(), number.max()
    too_low = not low >= q.least or (low == 0 and not q.zero)
    if too_low or not high <= q.most or high == np.inf:
        found = low if too_low else high
        asked = f"expected a finite number {_bounds(q)}{_in(q)}"
        raise ValueError(f"{q.name} ({q.meaning}): {asked}; got {found:g}")
    return number if number.ndim else float(number)


def _bounds(q: Quantity) -> str:
    least = f"of at least {q.least:g}" if q.least else ("of at least zero" if q.zero else "above zero")
    return least if q.most == np.inf else f"{least} and at most {q.most:g}"


def _in(q: Quantity) -> str:
    return "" if q.unit == "1" else f" in {q.unit}"


def _floats(value):
    """The value as a float array, or None if it holds anything but real numbers (True is none)."""
    try:
        found = np.asarray(value)
        if found.dtype.kind == "O" and any(isinstance(x, _NO_NUMBER) for x in found.flat):
            return None
        usable = found.dtype.kind in "iufO" and not isinstance(value, np.ma.MaskedArray)
        return found.astype(float, copy=False) if usable else None
    except (TypeError, ValueError, OverflowError):
        return None


def _seen(value) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out integers of thousands of digits
        text = "of too many digits to print"
    return f"{type(value).__name__} {text[:40]}{'…' if len(text) > 40 else ''}"
