"""The harness itself: what it plants, what it lets pass, and which arguments it says decide."""

import pytest
import sympy
from formulas import bindings, harness, mutants
from formulas.harness import FORMULAS, Library, at

from gpuscale.core.formula import Formula
from gpuscale.symbols import N, T_comms, V, W, alpha

harness.load()


def formula(rhs):
    return Formula("A time", T_comms, rhs, source="hockney1994", assumes="for a test")


def test_a_mutant_of_every_kind_is_planted():
    chosen = sympy.Piecewise((N, N < 3), (2, True))
    shown = f"alpha*{chosen} + ceiling(N/2)*Max(alpha, V/W)"
    first, second = shown.split(" + ")
    addends = [f"{said} {part} in {shown}" for part in (first, second) for said in ("without", *mutants.FACTORS)]
    assert list(
        mutants.of(formula(sympy.sympify(alpha * chosen + sympy.ceiling(N / 2) * sympy.Max(alpha, V / W))))
    ) == [
        "twice the whole",
        "GiB for GB in the whole",
        *addends,
        f"without the factor {chosen} in {first}",
        f"without N in {chosen}",
        f"N and 2 swapped in {chosen}",
        "LessThan for N < 3",
        f"without the factor ceiling(N/2) in {second}",
        "floor for ceiling(N/2)",
        "without the factor 1/2 in N/2",
        "without alpha in Max(alpha, V/W)",
        "without V/W in Max(alpha, V/W)",
        "Min for Max(alpha, V/W)",
    ]


def test_lists_of_exceptions_name_formulas_and_reasons():
    for listed in (mutants.EQUIVALENT, bindings.NEVER):
        assert set(listed) <= set(FORMULAS)
        assert all(reason for reasons in listed.values() for reason in reasons.values())


@pytest.mark.parametrize("name", list(FORMULAS)[::23])
def test_nothing_notices_a_formula_that_is_planted_unchanged(name):
    lib = Library(**{name: mutants.planted(FORMULAS[name], FORMULAS[name].rhs)})
    for check in harness.covering(name):
        for run in harness.runs(check):
            run(lib)


def test_an_argument_decides_where_it_alone_is_the_largest():
    watched = bindings.Watched.of(formula(sympy.Max(alpha, V / W)))
    at(watched, alpha=2, V=6, W=3)  # both
    assert watched.seen == set()
    at(watched, alpha=1, V=6, W=3)
    assert watched.seen == {"V/W in Max(alpha, V/W)"}
    watched(alpha=9.0, V=6.0, W=3.0)
    assert watched.seen == set(bindings.arguments(watched.rhs))


def test_a_branch_decides_where_its_condition_is_the_first_that_holds():
    chosen = sympy.Piecewise((alpha, N < 3), (2 * alpha, N < 5), (3 * alpha, True))
    watched = bindings.Watched.of(formula(chosen))
    for size, branch in ((1, "alpha"), (4, "2*alpha"), (9, "3*alpha")):
        at(watched, alpha=1, N=size)
        assert f"{branch} in {chosen}" in watched.seen
    assert len(watched.seen) == 3
