"""The formula side of every row: what an engine once counted, the library gives today."""

import pytest

from gpuscale import specs
from gpuscale.evidence import deviations, engines, families, family

FAMILIES = [one.id for one in families()]


@pytest.mark.parametrize("key", FAMILIES)
def test_the_library_equals_the_engine(key):
    one = family(key)
    assert [(row, one.ours(row)) for row in one.rows if not one.holds(row)] == []


@pytest.mark.parametrize("key", [one.id for one in families() if one.deviation])
def test_a_deviation_is_one(key):
    one = family(key)
    assert one.deviation in deviations()
    assert [row for row in one.rows if not one.deviates(row)] == []


def test_ids_are_unique_and_deviations_used():
    assert len(set(FAMILIES)) == len(FAMILIES)
    assert {one.deviation for one in families() if one.deviation} == set(deviations())
    assert all(one.rows for one in families())
    assert list(engines())


def test_the_compiler_saw_every_model():
    """A model added to the data makes the stored rows incomplete, which `make verify` would notice last."""
    compiled = {row[0] for one in families() if one.id.startswith("xla_training_") for row in one.rows}
    assert compiled == set(specs.models())
