"""Factors of numbers of GPUs, which are small; sympy's take longer to import than a plan takes."""

from __future__ import annotations

from itertools import product
from math import prod


def factors(n: int) -> dict[int, int]:
    """The primes of n with their exponents, in order.

    >>> factors(360)
    {2: 3, 3: 2, 5: 1}
    """
    found, p = {}, 2
    while p * p <= n:
        if exponent := multiplicity(p, n):
            found[p] = exponent
            n //= p**exponent
        p += 1
    return found | ({n: 1} if n > 1 else {})


def divisors(n: int) -> list[int]:
    """All divisors of n, in order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    powers = [[p**i for i in range(a + 1)] for p, a in factors(n).items()]
    return sorted(map(prod, product(*powers)))


def multiplicity(p: int, n: int) -> int:
    """How often p divides n; never, for 0.

    >>> multiplicity(2, 24)
    3
    """
    found = 0
    while n and n % p == 0:
        n //= p
        found += 1
    return found
