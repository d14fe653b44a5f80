"""Other numbers for a question: the values that each given may have, and the sets of them that keep its text true.

A given may change if the question's text shows it, its answer depends on it, and neither ``vary`` nor ``fixed`` forbids
it. "Find the error" quotes its numbers, so they stay, and so do those of a prediction.
What holds between the numbers as written holds between all others: their order, what divides what, which bound is the
larger, whether the answer is whole and on which side of one it lies. Each likely mistake stays apart from the answer.
So what a text says about the numbers in words stays true.

Page and notebook draw alike: Python lists the sets of values, and ``pick`` chooses one by a seed. Its twin is
widgets/static/practice.js.
"""

import math
from collections.abc import Iterable, Mapping
from itertools import combinations, islice, permutations

import numpy as np
import sympy

from gpuscale.core.evaluation import compiled, evaluate, inputs
from gpuscale.core.formula import Formula
from gpuscale.quiz import grading, wording
from gpuscale.symbols import quantities
from gpuscale.widgets.shared import APART

DRAWS = 36  # sets of values of a question, at most
TRIES = 400
QUOTES = "Find the error"
MASK = 0xFFFFFFFF

# Values of single quantities, where multiples of the number as written would be unusual.
LADDERS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("G", "n_in"), (4, 8, 36, 72)),
    **dict.fromkeys(("n_port",), (32, 40, 48, 64, 72, 128)),
    **dict.fromkeys(("L",), (16, 24, 32, 40, 48, 64, 80, 96)),
    **dict.fromkeys(("P", "P_act"), tuple(1e9 * p for p in (1, 2, 3, 7, 8, 13, 30, 70, 120, 200, 405))),
    **dict.fromkeys(("D",), (2048, 4096, 5120, 6144, 8192, 12288, 16384)),
    **dict.fromkeys(("F",), (4096, 8192, 14336, 16384, 28672, 32768, 53248)),
    **dict.fromkeys(("n_q",), (32, 48, 64, 96, 128)),
    **dict.fromkeys(("n_kv",), (4, 8, 16, 32)),
    **dict.fromkeys(("d_head",), (64, 128, 256)),
    **dict.fromkeys(("n_mat", "b_mask"), ()),
    **dict.fromkeys(("b_w", "b_dispatch", "b_combine", "b_expert"), (1, 2, 4)),
    **dict.fromkeys(("b_grad",), (2, 4)),
    **dict.fromkeys(("b_opt",), (8, 12)),
    **dict.fromkeys(("b", "b_load"), (1, 2, 4, 8, 16)),
    **dict.fromkeys(("MFU", "HFU"), (0.3, 0.35, 0.38, 0.4, 0.42, 0.45, 0.48, 0.5, 0.52, 0.55)),
    **dict.fromkeys(("eta",), (0.01, 0.02, 0.04, 0.05, 0.1, 0.2, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9)),
    **dict.fromkeys(("f_bub",), (0.05, 0.1, 0.2, 0.25)),
    **dict.fromkeys(
        ("W", "W_nvl", "W_link", "W_node", "W_coll", "W_ref", "W_nic"),
        tuple(1e9 * w for w in (20, 25, 50, 100, 200, 300, 400, 450, 600, 800, 900, 1800)),
    ),
    **dict.fromkeys(("C", "C_ref"), tuple(1e12 * c for c in (125, 312, 500, 989.4, 2000, 2250, 2500, 5000))),
}  # fmt: skip
FACTORS = (0.25, 0.4, 0.5, 0.6, 0.75, 0.8, 1, 1.2, 1.25, 1.5, 2, 2.5, 3, 4)
DECADE = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


def pick(seed: str, salt: str, count: int) -> int:
    """A whole number from 0 to below ``count`` that depends on two texts alone.

    It is FNV-1a of the bytes of both, in 32 bits, with the last mix of MurmurHash3.

    >>> [pick(seed, "hardware.3", 10) for seed in ("a", "b", "c")]
    [2, 2, 4]
    """
    h = 2166136261
    for byte in f"{seed} {salt}".encode():
        h = (h ^ byte) * 16777619 & MASK
    h = (h ^ h >> 16) * 0x85EBCA6B & MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & MASK
    return (h ^ h >> 16) % count


def ladder(name: str, written: Iterable[float]) -> list[float]:
    """The values that a given may have, around those that are written.

    >>> ladder("N", [8.0]), ladder("L", [32.0])
    ([2.0, 4.0, 8.0, 16.0, 32.0], [16, 24, 32, 40, 48, 64, 80, 96])
    """
    quantity, written = quantities()[name], sorted(set(written))
    low, high = written[0] / 4, written[-1] * 4
    if name in LADDERS:
        out = [v for v in LADDERS[name] if low <= v <= high]
    elif any(v > 1 and math.log2(v).is_integer() for v in written) and quantity.whole:
        out = [2.0**e for e in range(1, 64) if low <= 2.0**e <= high]
    elif any(v and v % 1024 == 0 and v % 1000 for v in written):
        out = [m * 2.0**e for m in (1, 3) for e in range(10, 50) if low <= m * 2.0**e <= high]
    elif quantity.whole and written[-1] < 10_000:
        out = [float(round(v * f)) for v in written for f in FACTORS if v * f >= 2]
    else:
        first = math.floor(math.log10(low)) if low > 0 else 0
        out = [float(f"{m}e{e}") for e in range(first, first + 4) for m in DECADE if low <= float(f"{m}e{e}") <= high]
    good = {v for v in out if quantity.least <= v <= quantity.most and (quantity.least or v > 0)}
    return sorted(good | set(written))


def free(question) -> list[str]:
    """The givens that may change."""
    quoted = question.ask.startswith(QUOTES) or question.predict
    if question.kind != "number" or question.fixed or (quoted and not question.vary):
        return []
    counts = {q.name for q in inputs(question.expr)}
    shown = dict.fromkeys(name for name, _ in wording.placeholders(question.ask))
    return [name for name in shown if name in counts and len(values(question, name)) > 1]


def values(question, name: str) -> list[float]:
    """The values that a given of a question may have; those that its text would round are left out."""
    written = [given[name] for given in question.given]
    if name in question.vary:
        return sorted({*map(float, question.vary[name]), *written}) if question.vary[name] else written[:1]
    if 0 in written:
        return sorted(set(written))
    return [v for v in ladder(name, written) if v in written or _reads_back(question, name, v)]


def _reads_back(question, name: str, value: float) -> bool:
    forms = [form for other, form in wording.placeholders(question.ask) if other == name]
    return all(math.isclose(wording.as_read(name, value, form), value, rel_tol=1e-9) for form in forms)


def draws(question) -> list[dict[str, float]]:
    """Sets of givens other than the first that is written."""
    names = free(question)
    if not names:
        return []
    allowed = {name: values(question, name) for name in names}
    tried: dict[tuple, None] = {}
    for i in range(TRIES):
        tried[tuple(them[pick(str(i), name, len(them))] for name, them in allowed.items())] = None
    tried.pop(tuple(question.given[0][name] for name in names), None)
    if not tried:
        return []
    columns = dict(zip(names, np.array(list(tried)).T, strict=True))
    good = np.flatnonzero(_holds(question, {**question.given[0], **columns}, len(tried)))
    found = (question.given[0] | {name: float(column[i]) for name, column in columns.items()} for i in good)
    return list(islice((given for given in found if _meets(question, given)), DRAWS))


def _holds(question, given: Mapping, count: int) -> np.ndarray:
    """Which of many sets of values keep the question true, with arrays for the givens that change."""
    written = {name: np.array([one[name] for one in question.given]) for name in question.given[0]}
    good = np.ones(count, bool)
    for keep in (_same_order, _same_divisors):
        good &= keep(question, given, written, count)
    outcomes, before = (
        [_amounts(expr, them, n) for expr in question.named().values()]
        for them, n in ((given, count), (written, len(question.given)))
    )
    good &= np.all(np.isfinite(outcomes), axis=0) & _like(question, outcomes[0], before[0])
    for one, other in combinations(range(len(outcomes)), 2):
        good &= ~_close(question, outcomes[one], outcomes[other])
    good &= _readable(question, given, outcomes[0], count)
    for expr in question.named().values():
        good &= _same_branches(expr, given, written, count, len(question.given))
    return good & _solved(question, given, outcomes[0], count)


def _amounts(expr, given: Mapping, count: int) -> np.ndarray:
    function, names = compiled(expr)
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(function(*(given[q.name] for q in names)), float), (count,))


def _same_order(question, given, written, count) -> np.ndarray:
    good = np.ones(count, bool)
    known = quantities()
    for one, other in permutations(written, 2):
        if known[one].unit != known[other].unit:
            continue
        if np.all(written[one] < written[other]):
            good &= np.asarray(given[one] < given[other])
        elif np.all(written[one] <= written[other]) and np.any(written[one] < written[other]):
            good &= np.asarray(given[one] <= given[other])
    return good


def _same_divisors(question, given, written, count) -> np.ndarray:
    good = np.ones(count, bool)
    known = quantities()
    for one, other in permutations((name for name in written if known[name].whole), 2):
        if (
            np.all(written[one] > 1)
            and np.all(written[other] % written[one] == 0)
            and np.any(written[one] < written[other])
        ):
            good &= np.asarray(given[other] % given[one] == 0)
    return good


def _like(question, found: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Whether answers are of the same kind as those written: sign, wholeness, side of one, and order of magnitude."""
    good = np.sign(found) == np.sign(before[0])
    if question.exact or (question.base == "1" and np.all(before == np.round(before))):
        good &= found == np.round(found)
    if question.base == "1":
        good &= (found < 1) | np.any(before >= 1)
        good &= (found > 1) | np.any(before <= 1)
    size = np.abs(before[before != 0])
    if size.size:
        good &= (np.abs(found) <= 64 * size.max()) & (np.abs(found) >= size.min() / 64)
    return good


def _close(question, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``Question.close`` of arrays."""
    with np.errstate(all="ignore"):
        bucket = [np.floor(np.log(np.abs(v)) * grading.REACH / question.tolerance + 0.5) for v in (a, b)]
        near = (np.sign(a) == np.sign(b)) & (np.abs(bucket[0] - bucket[1]) <= APART)
    whole = (a == 0) | (b == 0)
    if question.exact:
        whole |= (a == np.round(a)) & (b == np.round(b))
    return np.where(whole, a == b, near)


def _readable(question, given, right: np.ndarray, count: int) -> np.ndarray:
    """Whether the answer to the values as the text shows them still counts as right, with room."""
    seen = dict(given)
    for name, form in wording.placeholders(question.ask):
        if isinstance(given[name], np.ndarray):
            seen[name] = np.array([wording.as_read(name, v, form) for v in given[name].tolist()])
        else:
            seen[name] = wording.as_read(name, given[name], form)
    found = _amounts(question.expr, seen, count)
    if question.exact:
        return found == right
    with np.errstate(all="ignore"):
        gap = np.abs(np.log(np.abs(found)) - np.log(np.abs(right))) * grading.REACH / question.tolerance
    return (found == right) | (gap <= grading.REACH // 2 - 1)


def _same_branches(expr, given, written, count: int, before: int) -> np.ndarray:
    """Whether each maximum, minimum and case of an expression is decided as it is for the written values."""
    good = np.ones(count, bool)
    for join in expr.atoms(sympy.Max, sympy.Min):
        best = np.argmax if isinstance(join, sympy.Max) else np.argmin
        now, then = ([_amounts(arg, them, n) for arg in join.args] for them, n in ((given, count), (written, before)))
        good &= np.isin(best(now, axis=0), best(then, axis=0))
    return good


def _meets(question, given: Mapping) -> bool:
    """Whether the conditions of the answer's formula hold."""
    answer = question.answer
    if not isinstance(answer, Formula) or not answer.needs:
        return True
    try:
        evaluate(answer, **{q.name: given[q.name] for q in answer.inputs if q.name in given})
    except ValueError:
        return False
    return True


def _solved(question, given, right: np.ndarray, count: int) -> np.ndarray:
    """Whether the last step of the solution still is the answer."""
    end = question.end
    if end is None:
        return np.ones(count, bool)
    found = _amounts(end, given, count)
    with np.errstate(all="ignore"):
        return np.abs(found - right) <= 1e-9 * np.abs(right)
