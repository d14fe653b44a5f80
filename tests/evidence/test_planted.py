"""A wrong factor in a formula does not go unnoticed: at least two engines disagree with it."""

import pytest

from gpuscale.evidence import engines
from gpuscale.ledger import expressions

# Formulas that several engines check, one of each kind: bytes of a collective, traffic and memory of training, FLOPs.
PLANTED = ("all_reduce_bytes", "all_gather_bytes", "reduce_scatter_bytes", "zero3_traffic", "zero3_state", "model_flops")


class Doubled:
    """A formula with a factor of two too much."""

    def __init__(self, formula):
        self.formula = formula

    def __call__(self, *args, **kwargs):
        return 2 * self.formula(*args, **kwargs)


def noticing(name: str) -> list[str]:
    """The engines of which a row that uses the formula no longer holds."""
    rows = {
        one.name: [(family, family.rows[-1]) for family in one.families if name in expressions.names(family.formula)]
        for one in engines().values()
    }
    return [engine for engine, cases in rows.items() if any(not family.holds(row) for family, row in cases)]


@pytest.mark.parametrize("name", PLANTED)
def test_two_engines_notice_a_wrong_factor(name, monkeypatch):
    assert noticing(name) == []
    monkeypatch.setitem(expressions.library(), name, Doubled(expressions.library()[name]))
    assert len(noticing(name)) >= 2
