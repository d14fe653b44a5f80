"""Conditions of a formula: it refuses inputs that break them, in Python and on the page."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import sympy
from sympy.codegen.cfunctions import log2


@dataclass(frozen=True)
class Condition:
    """A condition on expressions: ``words`` says it with a {} for each of ``parts``, ``test`` makes it a relation."""

    words: str
    parts: tuple[sympy.Expr, ...]
    test: Callable

    @cached_property
    def relation(self) -> sympy.Basic:
        """The condition as sympy's relation (or true, or false), made once: sympy takes long over a maximum."""
        return self.test(*self.parts)

    def put(self, swaps: dict) -> "Condition":
        """The same condition with expressions in place of symbols."""
        return replace(self, parts=tuple(p.subs(swaps, simultaneous=True) for p in self.parts))

    @property
    def symbols(self) -> set:
        return set().union(*(p.free_symbols for p in self.parts))

    def __str__(self) -> str:
        return self.words.format(*self.parts)


def power_of_two(x) -> Condition:
    """x is 1, 2, 4, 8, ...

    >>> from gpuscale.symbols import N
    >>> print(power_of_two(N))
    N is a power of two (1, 2, 4, 8, ...)
    """
    return Condition("{} is a power of two (1, 2, 4, 8, ...)", (sympy.sympify(x),), _power)


def divisible(a, b) -> Condition:
    """b divides a.

    >>> from gpuscale.symbols import N
    >>> print(divisible(N, 8))
    N is divisible by 8
    """
    return Condition("{0} is divisible by {1}", (sympy.sympify(a), sympy.sympify(b)), _divisible)


def nested(a, b) -> Condition:
    """a divides b, or b divides a.

    >>> from gpuscale.symbols import N
    >>> print(nested(N, 8))
    one of N and 8 divides the other
    """
    return Condition("one of {} and {} divides the other", (sympy.sympify(a), sympy.sympify(b)), _nested)


def at_least(a, b) -> Condition:
    """a is at least b.

    >>> from gpuscale.symbols import N
    >>> print(at_least(N, 2))
    N is at least 2
    """
    return Condition("{} is at least {}", (sympy.sympify(a), sympy.sympify(b)), sympy.Ge)


def at_most(a, b) -> Condition:
    """a is at most b.

    >>> from gpuscale.symbols import N
    >>> print(at_most(N, 2))
    N is at most 2
    """
    return Condition("{} is at most {}", (sympy.sympify(a), sympy.sympify(b)), sympy.Le)


def below(a, b) -> Condition:
    """a is less than b.

    >>> from gpuscale.symbols import N
    >>> print(below(N, 2))
    N is below 2
    """
    return Condition("{} is below {}", (sympy.sympify(a), sympy.sympify(b)), sympy.Lt)


def _power(x):
    return sympy.Eq(2 ** sympy.ceiling(log2(x)), x)


def _divisible(a, b):
    return sympy.Eq(sympy.Mod(a, b), 0)


def _nested(a, b):
    return sympy.Eq(sympy.Mod(sympy.Max(a, b), sympy.Min(a, b)), 0)
