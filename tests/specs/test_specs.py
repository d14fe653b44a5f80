"""The numbers: their provenance, rejected values of other sources, what a part can do."""

import copy
import math
import pickle
import re
import tomllib
from pathlib import Path

import pytest

from gpuscale import ledger, sources, specs
from gpuscale.specs import registry
from gpuscale.specs.number import DATA, known_fields
from gpuscale.specs.reading import KINDS
from gpuscale.units import KiB, base_unit

BIB = Path(__file__).parents[2] / "chapters" / "references.bib"
FILES = ("chips", "links", "models", "measured", "measured_network", "measured_training", "topologies")


def parts():
    return [p for kind in KINDS if kind != "measured" for p in registry._registry()[kind].values()]


NUMBERS = [pytest.param(p, s, id=f"{p.key}.{s.field}") for p in parts() for s in p.specs.values()]


def entries() -> dict[str, str]:
    chunks = re.split(r"^@\w+\{", BIB.read_text(encoding="utf-8"), flags=re.M)[1:]
    return {chunk.split(",", 1)[0]: chunk for chunk in chunks}


def keys(source: str) -> list[str]:
    return [one.partition(",")[0].strip() for one in source.split(";")]


# ---- provenance


def test_every_number_says_what_it_is_and_where_it_comes_from():
    known = entries()
    assert len(NUMBERS) > 350
    for part, spec in (case.values for case in NUMBERS):
        name = f"{part.key}.{spec.field}"
        for one in (spec, *spec.others):
            assert one.basis and one.unit, name
            may_be_zero = known_fields()[part.kind].get(spec.field, {}).get("zero", False)
            assert 0 < one.value < math.inf or (one.value == 0 and may_be_zero), name
            assert all(key in known for key in keys(one.source)), f"{name}: {one.source}"
        assert all(o.why for o in spec.others), name
        assert spec.field in known_fields()[part.kind], f"{name} is not declared in fields.toml"


def test_every_measured_column_has_unit_basis_and_source():
    known = entries()
    for table in specs.parts("measured").values():
        for column in map(table.column, table.columns):
            assert column.unit == "text" or (column.basis and set(keys(column.source)) <= set(known))
            assert column.unit == "text" or base_unit(column.unit)


def test_bases_say_direction_density_and_multiply_add():
    one_way = {"nvlink_bw", "nvlink_link_bw", "pcie_bw", "nic_bw", "host_bw", "ici_link_bw", "bw", "link_bw"}
    dense = {"bf16", "fp16", "fp8", "fp4", "int8", "tf32"}
    for part, spec in (case.values for case in NUMBERS):
        name = f"{part.key}.{spec.field}: {spec.basis}"
        assert spec.field not in one_way or "one direction" in spec.basis, name
        assert spec.field not in dense or "dense" in spec.basis, name
        assert spec.field not in {"fp32", "fp64"} or "FMA counted as 2" in spec.basis, name
        assert spec.field != "l2_bw" or "measured" in spec.basis, name
        assert spec.field != "price_per_hour" or spec.date, name


def test_sources_have_an_entry_and_a_short_name():
    known, short = entries(), tomllib.loads((DATA / "sources.toml").read_text())["sources"]
    assert set(known) == set(short)
    for key, entry in known.items():
        assert re.search(r"\btitle\s*=", entry) and re.search(r"\byear\s*=\s*\{\d{4}\}", entry), key
        assert re.search(r"\b(author|organization)\s*=", entry), key
    assert sources.cited("scaling-book-gpus, memory") == "How to Scale Your Model, part 12, memory"
    assert sources.source_name("a colleague, by mail") == "a colleague, by mail"


@pytest.mark.parametrize("name", [*FILES, "sources"])
def test_files_say_when_they_were_checked(name):
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", tomllib.loads((DATA / f"{name}.toml").read_text())["as_of"])


# ---- other sources


@pytest.mark.parametrize(
    ("key", "field", "used", "lost"),
    [
        ("h800_sxm", "nvlink_bw", 200e9, "gpus:DP-H800"),
        ("h100_sxm", "hbm_bw", 3.35e12, "cs336-8:HBM"),
        ("h100_sxm", "tensor_clock", 1.83e9, 1.76e9),
        ("v100_sxm2", "tensor_flop_per_cycle", 128, "gpus:HW-13"),
        ("b200_sxm", "hbm_bw", 8e12, "gpus:MEM-15"),
        ("b200_sxm", "hbm", 180e9, "gpus:MEM-13"),
        ("v100_sxm2", "boost_clock", 1.53e9, "gpus:T1-V100-boost"),
        ("gb200", "host_bw", 450e9, 900e9),
        ("v100_sxm2", "smem_l1_per_sm", 128 * KiB, "gpus:T1-V100-smem"),
        ("a100_sxm", "base_clock", 1.275e9, "gpus:T1-A100-base"),
        ("h100_sxm", "pcie_bw", 63e9, "cs336-8:PCIE"),
        ("h100_sxm", "nic_bw", 50e9, "cs336-8:ETH"),
        ("gb200", "bf16", 2.5e15, 2.25e15),
        ("b200_sxm", "fp32", 75e12, "gpus:Q1.6in"),
        ("tpu_v5p", "ici_link_bw", 100e9, "gpus:TPU-1"),
    ],
)
def test_where_sources_disagree_the_rejected_value_is_kept_with_its_reason(key, field, used, lost):
    """``lost`` is a number, or the row of the ledger that has it."""
    spec = specs.chip(key).spec(field)
    assert spec.base == used
    if lost in ledger.wordings():
        lost = ledger.wordings()[lost].inputs["W"]
    elif isinstance(lost, str):
        lost = ledger.claim(lost).published
    losers = [o for o in spec.others if o.base == pytest.approx(lost)]
    assert len(losers) == 1 and len(losers[0].why) > 5


# ---- what a part can do


def test_values_come_in_base_units():
    h = specs.chip("h100_sxm")
    assert (h.bf16, h.nic_bw, h.smem_per_block, h.sm) == (989.4e12, 50e9, 227 * 1024, 132)
    assert isinstance(h.sm, int) and isinstance(h.hbm, float) and isinstance(h.boost_clock, float)
    fields = ("bf16", "l2", "nic_bw", "registers_per_sm", "power")
    text = [h.spec(f).text.replace("\u00a0", " ") for f in fields]
    assert text == ["989 TFLOP/s", "50 MiB", "50 GB/s", "65,536", "700 W"]
    assert h.spec("tensor_flop_per_cycle").text == "1,024\u00a0FLOP/cycle"
    assert h.spec("nvlink_bw").as_printed == "900 GB/s both directions" and h.spec("l2").as_printed == "50 MB"
    assert h.spec("bf16").as_printed == "989.4\u00a0TFLOP/s"
    assert h.spec("bf16").base_unit == "FLOP/s" and h.architecture == "Hopper"
    assert "fp4" not in h and h.get("fp4") is None and h.get("fp4", 0) == 0 and "fp8" in h
    assert {"bf16", "about", "memory"} <= set(dir(h))


def test_parts_and_tables_do_not_change_and_can_be_kept():
    h, t = specs.chip("h100_sxm"), specs.measured("mamf_bf16")
    for thing in (h, t):
        with pytest.raises(AttributeError, match="read-only"):
            thing.bf16 = 1.0
        for twin in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            assert twin.title == thing.title and repr(twin) == repr(thing)
    with pytest.raises(TypeError):
        h.specs["bf16"] = None
    with pytest.raises(TypeError):
        specs.chips()["mine"] = h
    assert pickle.loads(pickle.dumps(h)) == h and len({h, copy.copy(h)}) == 1
    assert h != specs.chip("h200_sxm") and h != "h100_sxm"


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: specs.chip("h100"), KeyError, ["no chip 'h100'", "h100_sxm, h100_nvl", "tpu_v5p"]),
        (lambda: specs.link("nvlink4"), KeyError, ["no link", "did you mean nvlink_4", "pcie_3"]),
        (lambda: specs.measured("mamf"), specs.UnknownPart, ["mamf_bf16", "peak_from_clock"]),
        (lambda: specs.chip(7), specs.UnknownPart, ["no chip 7"]),
        (lambda: specs.chip("h100_sxm").fp4, AttributeError, ["H100", "no 'fp4'", "bf16", "hbm_bw"]),
        (lambda: specs.chip("h100_sxm").spec("hbm_bandwidth"), AttributeError, ["Did you mean hbm_bw"]),
        (lambda: specs.measured("mamf_bf16")["tflops"], KeyError, ["no column 'tflops'", "measured, peak"]),
        (lambda: specs.measured("mamf_bf16").tflops, AttributeError, ["columns are", "measured"]),
        (lambda: specs.measured("mamf_bf16").row(part="-"), KeyError, ["2 rows", "expected one"]),
    ],
)
def test_what_is_not_there_is_said_with_what_is(ask, error, words):
    with pytest.raises(error) as caught:
        ask()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_every_file_of_the_data_is_read():
    there = {path.stem for path in DATA.glob("*.toml")}
    others = {"engine_settings", "fields", "measured_serving", "sources"}
    assert there - set(registry.FILES) == others and set(registry.FILES) <= there


def test_pairs_of_gpus_are_shown_as_a_matrix():
    found = specs.measured("dgx1_v100_links")
    _, heads, *rows = (line.split() for line in found.view().text.splitlines())
    assert heads == ["links", *"01234567"] and [row[0] for row in rows] == heads[1:]
    shown = {(int(row[0]), b): cell for row in rows for b, cell in enumerate(row[1:])}
    known = {(row["a"], row["b"]): row["n"] for row in found.rows}
    for (a, b), cell in shown.items():
        n = known.get((a, b), known.get((b, a)))
        assert cell == ("–" if n is None else f"{n:g}")
