"""Likely mistakes: the expression that an error amounts to, with the sentence that names it.

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
            raise TypeError(f"mistake “{message}”: {key} is not an input of {expr}")
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


both_directions = Slip(2, "That counts both directions of the link, but the bytes cross it in only one.")
one_direction = Slip(Rational(1, 2), "That counts one direction of the link, but both are in use here.")
bits_for_bytes = Slip(8, "That mistakes bits for bytes: a byte has eight bits.")
bytes_for_bits = Slip(Rational(1, 8), "That divides by eight once too often: these are already bytes.")
gib_for_gb = Slip(Rational(2**30, 10**9), "That mistakes GiB (2³⁰ bytes) for GB (10^9 bytes).")
gb_for_gib = Slip(Rational(10**9, 2**30), "That mistakes GB (10^9 bytes) for GiB (2³⁰ bytes).")
mib_for_mb = Slip(Rational(2**20, 10**6), "That mistakes MiB (2^20 bytes) for MB (10^6 bytes).")
mb_for_mib = Slip(Rational(10**6, 2**20), "That mistakes MB (10^6 bytes) for MiB (2^20 bytes).")
with_sparsity = Slip(2, "That is the rate with structured sparsity; a dense matmul runs at half of it.")
without_fma = Slip(Rational(1, 2), "A fused multiply-add is two FLOPs: a multiplication and an addition.")
fma_twice = Slip(2, "That counts the two FLOPs of a multiply-add twice.")
