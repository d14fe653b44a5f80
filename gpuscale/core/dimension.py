"""Dimensions of expressions: every sum, comparison, maximum and limit must join like with like."""

import sympy
from sympy.codegen.cfunctions import log2

from gpuscale.symbols import Quantity
from gpuscale.units import DIMENSIONS, WORDS

Dim = tuple[tuple[str, sympy.Rational], ...]
_JOIN = (sympy.Add, sympy.Max, sympy.Min)
_COUNT_ONLY = (sympy.log, sympy.exp, sympy.floor, sympy.ceiling, sympy.binomial, sympy.Mod, log2)


class DimensionError(TypeError):
    """An expression whose parts do not fit together, or one of the wrong kind."""


def _pack(exponents: dict) -> Dim:
    return tuple(sorted((k, sympy.Rational(v)) for k, v in exponents.items() if v))


def of_unit(unit: str) -> Dim:
    """The dimension of a base unit, as exponents of byte, FLOP and second.

    >>> of_unit("B/s")
    (('B', 1), ('s', -1))
    """
    return _pack(DIMENSIONS[unit])


def words(dim: Dim | None) -> str:
    """A dimension in words, for messages.

    >>> words(of_unit("B/s"))
    'a bandwidth'
    """
    for unit in DIMENSIONS:
        if of_unit(unit) == dim:
            return WORDS[unit]
    return "a quantity in " + "·".join(f"{name}^{power}" for name, power in dim or ())


def _join(expr, parts) -> Dim | None:
    """The dimension that all parts share; a bare zero fits anything."""
    first = found = None
    for part in parts:
        this = dimension(part)
        if found is None:
            first, found = part, this
        elif this not in (None, found):
            both = f"{first} is {words(found)}, {part} is {words(this)}"
            raise DimensionError(f"{both}: they cannot be combined in {expr}")
    return found


def _count(expr) -> Dim:
    for arg in expr.args:
        if dimension(arg) not in (None, ()):
            raise DimensionError(f"{arg} in {expr} is {words(dimension(arg))}; expected a number without a unit")
    return ()


def _piecewise(expr) -> Dim | None:
    for _, condition in expr.args:
        for relation in condition.atoms(sympy.core.relational.Relational):
            _join(relation, relation.args)
    return _join(expr, [value for value, _ in expr.args])


def dimension(expr) -> Dim | None:
    """The dimension of an expression as exponents of byte, FLOP and second; None fits anything (0, infinity).

    Raises DimensionError that names the two parts which do not fit.

    >>> from gpuscale.symbols import V, W, alpha
    >>> dimension(V / W + alpha)
    (('s', 1),)
    >>> dimension(V + W)
    Traceback (most recent call last):
    gpuscale.core.dimension.DimensionError: V is a number of bytes, W is a bandwidth: they cannot be combined in V + W
    """
    expr = sympy.sympify(expr)
    if isinstance(expr, Quantity):
        return of_unit(expr.unit)
    if expr.is_number:
        return None if expr.is_zero or expr.is_infinite else ()
    if isinstance(expr, _JOIN):
        return _join(expr, expr.args)
    if isinstance(expr, sympy.Mul):
        total: dict = {}
        for arg in expr.args:
            for name, power in dimension(arg) or ():
                total[name] = total.get(name, 0) + power
        return _pack(total)
    if isinstance(expr, sympy.Pow):
        _count(sympy.Tuple(expr.exp))
        inner = dimension(expr.base) or ()
        if inner and not (expr.exp.is_Rational or expr.exp.is_Float):
            told = f"only a number without a unit can have the variable exponent {expr.exp}"
            raise DimensionError(f"{expr.base} is {words(inner)}; {told}")
        return _pack({name: power * expr.exp for name, power in inner})
    if isinstance(expr, sympy.Piecewise):
        return _piecewise(expr)
    if isinstance(expr, _COUNT_ONLY):
        return _count(expr)
    if isinstance(expr, sympy.Abs):
        return dimension(expr.args[0])
    raise DimensionError(f"{expr} ({type(expr).__name__}) cannot be used in a formula: its dimension is not known")


def fits(expr, unit: str) -> bool:
    """Whether an expression can stand for a quantity of that base unit.

    >>> from gpuscale.symbols import V, W
    >>> fits(V / W, "s"), fits(V / W, "B")
    (True, False)
    """
    found = dimension(expr)
    return found is None or found == of_unit(unit)


def must_fit(what: str, quantity: Quantity, expr) -> None:
    """Refuse an expression that cannot stand for a quantity; ``what`` names its place in the message.

    Raises TypeError for a symbol that is not a Quantity, DimensionError for an expression of another dimension.

    >>> from gpuscale.symbols import T_comms, V, W
    >>> must_fit("the time", T_comms, V * W)
    Traceback (most recent call last):
    gpuscale.core.dimension.DimensionError: the time is a quantity in B^2·s^-1; T_comms is a time [s]
    """
    strange = [symbol for symbol in expr.free_symbols if not isinstance(symbol, Quantity)]
    if strange:
        raise TypeError(f"{what} holds {strange[0]!s}, which is not a Quantity; declare it in gpuscale/symbols")
    try:
        balanced = fits(expr, quantity.unit)
    except DimensionError as error:
        raise DimensionError(f"{what}: {error}") from None
    if not balanced:
        told = f"{quantity} is {WORDS[quantity.unit]} [{quantity.unit}]"
        raise DimensionError(f"{what} is {words(dimension(expr))}; {told}")
