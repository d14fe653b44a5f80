"""Published measurements of serving: what a row states, what its file refuses, and where its sources are."""

import re
from pathlib import Path

import pytest

from gpuscale import sources, specs
from gpuscale.specs.measured_serving import UNIT_SIZES, read_serving
from gpuscale.specs.reading import SpecError

BIB = (Path(__file__).parents[2] / "chapters" / "references.bib").read_text(encoding="utf-8")
ROWS = specs.serving_rows()
NOT_OURS = {"PaLM 540B", "Kimi K2.6", "TPU v4"}

FORM = """
[columns]
id = { title = "row", of = "text", needed = true, meaning = "name" }
regime = { title = "regime", of = "text", needed = true, meaning = "one of [regimes]" }
source = { title = "source", of = "text", needed = true, meaning = "a key, then the place" }
engine = { title = "engine", of = "text", needed = true, meaning = "program" }
version = { title = "version", of = "text", needed = true, meaning = "of the program" }
chip = { title = "GPU", of = "text", needed = true, meaning = "a key" }
metric = { title = "metric", of = "text", needed = true, meaning = "one of [metrics]" }
value = { title = "value", of = "number", needed = true, meaning = "as printed" }
unit = { title = "unit", of = "text", needed = true, meaning = "of the value" }
gpus = { title = "GPUs", of = "count", meaning = "of the instance" }
cache = { title = "KV cache", of = "format", meaning = "a format" }
also = { title = "also", of = "numbers", meaning = "more numbers" }
[regimes]
batch_1 = "one sequence"
[metrics]
decode_rate = "decode rate"
[formats]
bf16 = "bf16"
fp8 = "fp8"
[[series]]
id = "mine"
title = "Our run"
source = "lab, page 7"
engine = "ours"
version = "1"
regime = "batch_1"
chip = "h100_sxm"
metric = "decode_rate"
unit = "ms"
gpus = 2
rows = [{ id = "a", value = 3 }, { id = "b", value = 4.5, gpus = 4, cache = "fp8", also = { rate_per_s = 2 } }]
"""


@pytest.fixture
def read(tmp_path):
    def put(text: str) -> tuple:
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        return read_serving(tmp_path / "mine.toml")["rows"]

    return put


def test_rows_take_what_their_series_states_and_may_override_it(read):
    a, b = read(FORM)
    assert (a.series, a.gpus, a.base, a.cache) == ("Our run", 2, 0.003, "")
    assert (b.gpus, b.cache, b.also, b.value) == (4, "fp8", {"rate_per_s": 2}, 4.5)


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ('id = "b"', 'id = "a"', "part 'a', field 'id': names two rows"),
        ("value = 4.5, ", "", "part 'b', field 'value': is missing"),
        ("value = 4.5", 'value = "4.5"', "part 'b', field 'value': '4.5' is not a number"),
        ("gpus = 4", "gpus = 4.5", "part 'b', field 'gpus': 4.5 is not a count"),
        ("gpus = 4", "gpu = 4", "part 'b', field 'gpu': is no column; expected gpus?"),
        ('cache = "fp8"', 'cache = "fp7"', "part 'b', field 'cache': 'fp7' is not a format; expected one of bf16"),
        ('regime = "batch_1"\nchip', 'regime = "batch_2"\nchip', "part 'a', field 'regime': 'batch_2' is not known"),
        ('unit = "ms"', 'unit = "weeks"', "part 'a', field 'unit': 'weeks' is not known"),
        ("rate_per_s = 2", 'rate_per_s = "2"', "part 'b', field 'also.rate_per_s': '2' is not a number"),
        ('engine = "ours"', 'engine = " "', "part 'a', field 'engine': ' ' is not a text"),
        ('title = "Our run"', "", "part 'mine': has no title or no rows"),
        ("[metrics]", "[other]", "mine.toml: has no metrics"),
    ],
)
def test_a_wrong_file_is_refused_with_row_and_field(read, was, becomes, says):
    assert was in FORM
    with pytest.raises(SpecError, match=re.escape(says)):
        read(FORM.replace(was, becomes))


def test_every_field_of_a_row_is_a_documented_column():
    stated = set(specs.ServingRow.__dataclass_fields__) - {"series"}
    assert stated == set(specs.serving_columns())
    assert all(column.meaning and column.title for column in specs.serving_columns().values())


def test_every_name_is_used():
    assert {row.regime for row in ROWS} == set(specs.serving_regimes())
    assert {row.metric for row in ROWS} == set(specs.serving_metrics())
    assert {row.unit for row in ROWS} == set(UNIT_SIZES)
    used = {getattr(row, name) for row in ROWS for name in ("weights", "experts", "head", "cache")}
    assert used - {""} == set(specs.serving_formats())


def test_models_and_chips_are_those_of_the_library_or_named_by_their_titles():
    models = {row.model for row in ROWS} - set(specs.models())
    chips = {row.chip for row in ROWS} - set(specs.chips())
    assert models | chips == NOT_OURS | {""}


def test_sources_are_in_the_bibliography_with_a_place():
    for row in ROWS:
        (key,) = sources.source_keys(row.source)
        assert f"{{{key}," in BIB and sources.source_name(key) != key and ", " in row.source, row.id


def test_the_four_rows_that_calibrate_are_there_as_printed():
    """README.md of gpt-fast: Llama 2 7B in bf16 on 1, 2, 4 and 8 GPUs."""
    found = {n: specs.serving_row(f"gptfast-llama2_7b-bf16-tp{n}").value for n in (1, 2, 4, 8)}
    assert found == {1: 104.9, 2: 168.84, 4: 254.02, 8: 328.43}
    with pytest.raises(KeyError, match="did you mean gptfast-llama2_7b-bf16-tp"):
        specs.serving_row("gptfast-llama2_7b-bf16-tp3")
