"""Expressions of the ledger: Python over the names of the library, read from the data file and evaluated.

An expression may use every formula by its name; the rooms ``one_gpu``, ``network``, ``collectives``, ``llm``,
``serving``, ``schedules``, ``emulate``, ``specs`` and ``symbols``; ``chip``, ``link``, ``model``, ``part``,
``measured``, ``topology`` and ``published``; ``evaluate`` and ``limit``; the units of ``gpuscale.units`` that have more
than one letter; a few functions of arithmetic; and the inputs that its row names.
"""

import ast
import importlib
import math
import pkgutil
import sys
from functools import cache

from gpuscale import collectives, emulate, llm, network, one_gpu, schedules, serving, specs, symbols
from gpuscale.catalogue import sweep
from gpuscale.core import Formula, evaluate
from gpuscale.units import tables

ROOMS = (one_gpu, network, collectives, llm, serving, schedules, emulate, specs, symbols)
ROOMS = {room.__name__.rpartition(".")[2]: room for room in ROOMS}
PARTS = (specs.chip, specs.link, specs.measured, specs.model, specs.part, network.topology, network.known.published)
PARTS = {look_up.__name__: look_up for look_up in PARTS}
ARITHMETIC = {f.__name__: f for f in (abs, float, int, len, max, min, range, round, sorted, sum)}
ARITHMETIC |= {f.__name__: f for f in (math.ceil, math.comb, math.floor, math.log2, math.sqrt)}
FORBIDDEN = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.JoinedStr)


class ExpressionError(ValueError):
    """An expression that cannot be read or evaluated; the message quotes it and says why."""


def limit(formula: Formula, **values) -> float:
    """The approximation that a formula states, at values in base units."""
    read = {q.name for q in formula.approx.free_symbols}
    return evaluate(formula.approx, **{name: value for name, value in values.items() if name in read})


@cache
def library() -> dict[str, object]:
    """Every name that an expression may use, apart from the inputs of its row."""
    numbers = {name: size for name, size in vars(tables).items() if isinstance(size, float) and len(name) > 1}
    named = {key.rpartition(".")[2]: formula for key, formula in sweep.formulas().items()}
    for room in (schedules.__name__, emulate.__name__):  # these have no face: their files are available once imported
        for found in pkgutil.walk_packages(sys.modules[room].__path__, f"{room}."):
            importlib.import_module(found.name)
    return {**numbers, **ARITHMETIC, **PARTS, "evaluate": evaluate, "limit": limit, **named, **ROOMS}


@cache
def names(text: str) -> frozenset[str]:
    """The names that an expression reads. Raises ExpressionError if it is not a plain expression."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"{text!r} is not an expression of Python: {error.msg}") from None
    for node in ast.walk(tree):
        if isinstance(node, FORBIDDEN) or (isinstance(node, ast.Attribute) and node.attr.startswith("_")):
            raise ExpressionError(f"{text!r}: {ast.unparse(node)} is not allowed here")
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


@cache
def sweep_names() -> dict[str, str]:
    """The name of each formula, with its key in the catalogue."""
    return {key.rpartition(".")[2]: key for key in sweep.formulas()}


def value(text: str, given: dict[str, float]) -> float:
    """An expression's value in base units. Raises ExpressionError quoting it."""
    found = result(text, given)
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"{text!r}: {type(error).__name__}: {error}") from error


def result(text: str, given: dict[str, object]):
    """What an expression evaluates to, which need not be a number. Raises ExpressionError quoting it."""
    names(text)
    try:
        return eval(text.strip(), {"__builtins__": {}} | library() | given)
    except ExpressionError:
        raise
    except Exception as error:
        raise ExpressionError(f"{text!r}: {type(error).__name__}: {error}") from error


def inputs(given: dict[str, object]) -> dict[str, float]:
    """The inputs of a row, in their order: numbers as they are, texts as expressions, which may use earlier ones."""
    found: dict[str, float] = {}
    for name, text in given.items():
        found[name] = value(text, found) if isinstance(text, str) else text
    return found
