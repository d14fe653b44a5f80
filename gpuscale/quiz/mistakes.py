"""Likely mistakes: what an error amounts to, as an expression, with the sentence that names it.

Each helper gives a dict ``{message: mistake}`` to spread into a question's ``mistakes``. With a quantity the
mistake is made in that input; without one it is made in the result.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy
from sympy import Rational

from gpuscale.core.formula import Formula
from gpuscale.symbols import Quantity, quantities


@dataclass(frozen=True)
class Times:
    """The right answer times a factor."""

    factor: float


result_times = Times  # as a question reads it

Mistake = object  # a Formula or expression, a dict of changed inputs, a pair of both, or Times


def expression(mistake: Mistake, answer: sympy.Expr, message: str = "") -> sympy.Expr:
    """What a mistake amounts to, as one expression. Raises TypeError for anything but the four forms."""
    if isinstance(mistake, Times):
        return sympy.nsimplify(mistake.factor, rational=True) * answer
    if isinstance(mistake, Mapping):
        return _changed(answer, mistake, message)
    if isinstance(mistake, tuple) and len(mistake) == 2 and isinstance(mistake[1], Mapping):
        return _changed(expression(mistake[0], answer, message), mistake[1], message)
    if isinstance(mistake, Formula):
        return mistake.rhs
    if isinstance(mistake, sympy.Expr) and mistake.free_symbols:
        return mistake
    raise TypeError(
        f"mistake “{message}”: expected a formula or an expression in quantities, a dict of changed inputs, "
        f"a pair of both, or Times(factor); got {mistake!r}"
    )


def _changed(expr: sympy.Expr, inputs: Mapping, message: str) -> sympy.Expr:
    known, swaps = quantities(), {}
    for key, value in inputs.items():
        symbol = known.get(key) if isinstance(key, str) else key
        if symbol not in expr.free_symbols:
            raise TypeError(f"mistake “{message}”: {key} is no input of {expr}")
        swaps[symbol] = value.rhs if isinstance(value, Formula) else sympy.sympify(value)
    return expr.subs(swaps, simultaneous=True)


@dataclass(frozen=True)
class Slip:
    """A likely mistake by a factor. Called with the input that it is made in, or with none for the result, it gives
    the dict for a question."""

    factor: sympy.Expr | float
    message: str

    def __call__(self, quantity: Quantity | None = None) -> dict[str, Mistake]:
        return {self.message: Times(self.factor) if quantity is None else {quantity: self.factor * quantity}}


both_directions = Slip(2, "That counts both directions of the link; the bytes cross it in one.")
one_direction = Slip(Rational(1, 2), "That counts one direction of the link; both are in use here.")
bits_for_bytes = Slip(8, "That takes bits for bytes: a byte has eight bits.")
bytes_for_bits = Slip(Rational(1, 8), "That divides by eight once too often: these are bytes already.")
gib_for_gb = Slip(Rational(2**30, 10**9), "That takes GiB (2^30 bytes) for GB (10^9 bytes).")
gb_for_gib = Slip(Rational(10**9, 2**30), "That takes GB (10^9 bytes) for GiB (2^30 bytes).")
mib_for_mb = Slip(Rational(2**20, 10**6), "That takes MiB (2^20 bytes) for MB (10^6 bytes).")
mb_for_mib = Slip(Rational(10**6, 2**20), "That takes MB (10^6 bytes) for MiB (2^20 bytes).")
with_sparsity = Slip(2, "That is the rate with structured sparsity; a dense product runs at half of it.")
without_fma = Slip(Rational(1, 2), "A fused multiply-add is two operations: a product and a sum.")
fma_twice = Slip(2, "That counts the two operations of a multiply-add twice.")
