"""Checks of the formulas by what does not share their algebra, and mutants of the formulas that the checks must notice.

A check names the formulas it is about and gets them through a ``Library``, which can hold a mutant of one. With
``over``, a strategy of hypothesis, a check is a property: it gets a case as its second argument.
"""

import copy
import functools
import importlib
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from formulas import bindings, mutants
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy
from support.exact_rational import exactly

from gpuscale.catalogue import sweep

FORMULAS = {key.rpartition(".")[2]: f for key, f in sweep.formulas().items()}
EXAMPLES = 25


class Library:
    """The library's formulas by name, some of them replaced."""

    def __init__(self, **replaced):
        self._replaced = replaced

    def __getattr__(self, name):
        return self._replaced.get(name) or FORMULAS[name]


class Once:
    """The functions of a module, each called once with the same arguments: all mutants of a formula meet the same
    cases. What they return must not be changed."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = self.__dict__[name] = functools.cache(getattr(self._module, name))
        return found


class Check(NamedTuple):
    check: Callable
    names: tuple[str, ...]
    over: SearchStrategy | None
    examples: int


CHECKS: dict[str, Check] = {}


def checks(*names, over=None, examples=EXAMPLES):
    """Marks a check with the names of the formulas in which it would notice a mistake.

    ``examples``: how many cases of ``over`` it gets; more where many whole numbers meet and a case is cheap.
    """

    def mark(check):
        assert check.__name__ not in CHECKS, f"two checks are called {check.__name__}"
        CHECKS[check.__name__] = Check(check, names, over, examples)
        return check

    return mark


def close(ours, theirs, rel=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=rel, atol=0)


def rational(formula, **values) -> Fraction:
    """The right side at whole numbers and Fractions, exact."""
    bindings.note(formula, values)
    try:
        out = exactly(formula.rhs, values)
    except ValueError as error:  # sympy takes no maximum of what is divided by zero
        raise AssertionError(f"{formula.name}: {error} at {values}") from None
    assert isinstance(out, Fraction), f"{formula.name}: {out} at {values}"
    return out


def at(formula, **values) -> Fraction:
    """``rational`` from values of which a formula may not need all; its needs hold there."""
    for need in formula.needs:
        assert exactly(need.relation, values) == True, f"{formula.name} does not take {values}"  # noqa: E712
    return rational(formula, **values)


@functools.cache
def cases(over, examples) -> list:
    """The cases of a property, drawn once: the library's formulas and their mutants meet the same ones.

    Hypothesis likes to draw the constants of the modules that happen to be loaded; here the cases must not depend
    on which tests ran before.
    """
    found = []

    @settings(
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(over)
    def of_a_case(case):
        found.append(case)

    nothing = providers.Constants()
    providers.CONSTANTS_CACHE.cache.clear()
    with mock.patch.object(providers.HypothesisProvider, "_local_constants", nothing):
        of_a_case()
    providers.CONSTANTS_CACHE.cache.clear()
    return found


def runs(name) -> list:
    """What a check does, piece by piece: functions of a library, one for each case of a property."""
    check, _, over, examples = CHECKS[name]
    if over is None:
        return [functools.partial(_run, check)]
    return [functools.partial(_run, check, case) for case in cases(over, examples)]


def _run(check, *rest):
    *case, lib = rest
    try:
        check(lib, *copy.deepcopy(case))
    except BaseException as error:
        if case:
            error.add_note(f"{check.__name__} at the case {case[0]!r}")
        raise


# What a check finds


@functools.cache
def bound(name) -> dict:
    """Runs a check on the library; which arguments of each Max, Min and Piecewise decided in some case of it."""
    watched = {
        one: bindings.Watched.of(FORMULAS[one]) for one in CHECKS[name].names if bindings.nodes(FORMULAS[one].rhs)
    }
    lib = Library(**watched)
    for run in runs(name):
        run(lib)
    return {one: f.seen for one, f in watched.items()}


@functools.cache
def seconds(name) -> float:
    """How long the first case of a check takes: the fastest is tried first."""
    first = runs(name)[0]
    start = time.perf_counter()
    first(Library())
    return time.perf_counter() - start


def notices(run, lib) -> bool:
    try:
        run(lib)
    except AssertionError:
        return True
    return False


def covering(formula: str) -> list[str]:
    """The checks of a formula, the fastest first."""
    return sorted((name for name, one in CHECKS.items() if formula in one.names), key=seconds)


def survivors(name: str) -> list[str]:
    """The mutants of a formula that none of its checks notices.

    What noticed the last one is tried first, then few cases of every check, then all of them.
    """
    found = [runs(check) for check in covering(name)]
    order = [run for few in found for run in few[:3]] + [run for many in found for run in many[3:]]
    out = []
    for label, mutant in mutants.of(FORMULAS[name]).items():
        lib = Library(**{name: mutant})
        noticed = next((run for run in order if notices(run, lib)), None)
        if noticed is None:
            out.append(label)
        else:
            order.remove(noticed)
            order.insert(0, noticed)
    return out


def overlooked(name: str) -> list[tuple[str, str]]:
    """Checks that name a formula and overlook a factor on the whole of it."""
    out = []
    for label, rhs in mutants.factors(FORMULAS[name].rhs).items():
        lib = Library(**{name: mutants.planted(FORMULAS[name], rhs)})
        out += [(check, label) for check in covering(name) if not any(notices(run, lib) for run in runs(check)[:15])]
    return out


def room_tests(formulas):
    """The tests of a room: its formulas agree with their checks, and each check notices what is wrong with one."""
    mine = [name for name, one in CHECKS.items() if set(one.names) & set(formulas)]

    @pytest.mark.parametrize("name", mine)
    def test_the_library_agrees_with(name):
        bound(name)

    def test_every_formula_meets_something_independent():
        checked = {name for one in CHECKS.values() for name in one.names}
        assert not set(formulas) - checked, f"add to a @checks(...) of tests/formulas: {set(formulas) - checked}"
        assert checked <= set(FORMULAS), f"unknown: {checked - set(FORMULAS)}"

    @pytest.mark.parametrize("name", formulas)
    def test_mutants_are_noticed(name):
        assert not overlooked(name)
        assert sorted(survivors(name)) == sorted(mutants.EQUIVALENT.get(name, {}))

    @pytest.mark.parametrize("name", [name for name in formulas if bindings.nodes(FORMULAS[name].rhs)])
    def test_every_argument_decides_somewhere(name):
        seen = set().union(*(bound(check)[name] for check in covering(name)))
        never = [label for label in bindings.arguments(FORMULAS[name].rhs) if label not in seen]
        assert sorted(never) == sorted(bindings.NEVER.get(name, {}))

    return (
        test_the_library_agrees_with,
        test_every_formula_meets_something_independent,
        test_mutants_are_noticed,
        test_every_argument_decides_somewhere,
    )


def of_room(room: str) -> list[str]:
    """The names of the formulas of a room: "one_gpu", "network", "collectives", "llm", "serving"."""
    found = [name for name, f in FORMULAS.items() if f.room == f"gpuscale.{room}"]
    assert found, f"no formulas in {room!r}"
    return found


def load() -> None:
    """Reads every file of independent checks, so that each room's tests know those of the others."""
    for file in sorted(Path(__file__).parent.glob("*/independent_*.py")):
        importlib.import_module(f"formulas.{file.parent.name}.{file.stem}")
