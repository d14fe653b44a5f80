"""The numbers: their provenance, identities that need no table, a second source, what a part can do."""

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
from gpuscale.units import KiB, MiB, base_unit

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
    for table in specs.tables().values():
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


# ---- identities: physics and accounting, not a second copy of the table


def test_published_peaks_follow_from_clock_and_units():
    table = specs.measured("peak_from_clock")
    ours = table.clock * table.fma_per_unit * 2 * table.units
    off = {title: mine / theirs - 1 for title, mine, theirs in zip(table.chip, ours, table.peak, strict=True)}
    assert off.pop("MI355X") == pytest.approx(0.0066, abs=1e-4)  # AMD prints 2.5 PFLOP/s, two digits
    assert all(abs(share) < 0.0015 for share in off.values()), off
    assert 1.98e9 * 512 * 2 * 528 / 989e12 > 1.08  # the SM clock would not pass


@pytest.mark.parametrize("key", ["v100_sxm2", "a100_sxm", "h100_sxm", "h200_sxm"])
def test_tensor_peak_is_cores_times_flop_per_cycle_times_clock(key):
    c = specs.chip(key)
    peak = c.sm * c.tensor_cores_per_sm * c.tensor_flop_per_cycle * c.tensor_clock
    assert peak == pytest.approx(c.fp16, rel=3e-3)


@pytest.mark.parametrize("field", ["fp32", "fp64"])
def test_vector_peaks_follow_from_lanes_and_clock(field):
    found = 0
    for c in specs.chips().values():
        if {field, f"{field}_lanes_per_sm", "sm", "boost_clock"} <= set(c.fields):
            found += 1
            ours = c.sm * c.get(f"{field}_lanes_per_sm") * 2 * c.boost_clock
            assert ours == pytest.approx(c.get(field), rel=0.02), c.key
            losers = [o for o in c.spec(field).others if "brief" in o.why]
            assert all(abs(ours / o.base - 1) > 0.05 for o in losers), c.key
    assert found >= 5


def test_halving_the_bits_doubles_the_rate():
    """On every chip but the B300, which was built for fp4 at the cost of int8."""
    b300 = specs.chip("b300_sxm")
    assert 2.8 < b300.fp4 / b300.fp8 < 3.4 and b300.int8 < 0.05 * b300.fp8
    for c in specs.chips().values():
        for narrow, wide in (("fp8", "bf16"), ("fp4", "fp8"), ("int8", "bf16"), ("bf16", "tf32")):
            if narrow in c and wide in c and (c, narrow) not in ((b300, "fp4"), (b300, "int8")):
                assert c.get(narrow) == pytest.approx(2 * c.get(wide), rel=1.1e-3), f"{c.key} {narrow}"
        assert c.get("bf16", 0) in (c.get("fp16", c.get("bf16", 0)), 0), c.key


def test_links_add_up():
    for c in specs.chips().values():
        if "nvlink_links" in c:
            assert c.nvlink_bw == c.nvlink_links * c.nvlink_link_bw, c.key
        if "link" in c and c.key != "h800_sxm":
            assert c.nvlink_bw == specs.link(c.link).bw, c.key
        if "pcie_bw" in c:
            assert c.pcie_bw == specs.link(c.pcie).bw, c.key
    assert specs.chip("h800_sxm").nvlink_bw < specs.link("nvlink_4").bw
    for f in specs.links().values():
        assert not {"bw", "links", "link_bw"} <= set(f.fields) or f.bw == f.links * f.link_bw, f.key
        assert "lane_bw" not in f or f.link_bw == f.lanes * f.lane_bw, f.key
    for new, old in (("pcie_4", "pcie_3"), ("pcie_5", "pcie_4"), ("pcie_6", "pcie_5"), ("pcie_7", "pcie_6")):
        assert specs.link(new).bw == pytest.approx(2 * specs.link(old).bw, rel=0.05)
    h100 = specs.link("nvlink_4")  # every port of the switches that the GPUs need is there
    assert h100.node_gpus * h100.links <= h100.node_switches * h100.switch_ports
    for key in ("nvlink_5", "nvl72"):
        f = specs.link(key)
        assert f.node_gpus * f.links == f.node_switches * f.switch_ports
    for key, links in (("nvswitch_1", 6), ("nvswitch_3", 18), ("nvswitch_4", 18)):
        f = specs.link(key)
        assert f.node_gpus * links <= f.node_switches * f.switch_ports, key
    for key in ("tpu_v5e", "tpu_v5p"):  # a chip's links are those of its interconnect
        c, f = specs.chip(key), specs.link(key.replace("tpu_", "tpu_ici_"))
        assert (c.ici_links, c.ici_link_bw, c.pod_chips) == (f.links, f.link_bw, f.pod_chips)


def test_limits_of_a_compute_capability_fit_together():
    assert len(specs.capabilities()) == 5
    for c in specs.capabilities().values():
        assert c.max_threads_per_sm == c.warp_size * c.max_warps_per_sm
        assert c.smem_per_block + c.smem_reserved_per_block == c.smem_per_sm
        assert c.smem_per_sm < c.get("smem_l1_per_sm", 2**20)
        assert c.get("register_file_per_sm", 4 * c.registers_per_sm) == 4 * c.registers_per_sm
        assert c.warp_allocation_unit == c.subpartitions_per_sm
        # 256 registers for every thread leave room for 8 warps, the published case
        assert c.registers_per_sm // (c.warp_size * 256) == 8
    assert specs.capability("cc_7_0").smem_reserved_per_block == 0


def test_totals_on_chip():
    h = specs.chip("h100_sxm")
    assert h.sm * h.smem_l1_per_sm == 33 * MiB == h.sm * h.register_file_per_sm
    assert h.sm * h.fp32_lanes_per_sm == 16896 and specs.chip("b200_sxm").sm * 128 == 18944
    v = specs.chip("tpu_v5p")
    assert v.vpu_alus_per_core == v.vpu_slots_per_core * 8 * 128 and v.vregs_per_core == 64 * 8 * 128 * 4
    assert v.cores_per_chip * v.vpu_alus_per_core == 8192
    for c, printed in ((v, 1200e9), (specs.chip("tpu_v5e"), 400e9)):
        assert 2 * c.ici_links * c.ici_link_bw == printed


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
        ("gb200", "bf16", 2.5e15, "gpus:AA-bf16"),
        ("b200_sxm", "fp32", 75e12, "gpus:Q1.6in"),
        ("tpu_v5p", "ici_link_bw", 100e9, "gpus:TPU-1"),
    ],
)
def test_where_sources_disagree_the_loser_is_kept_with_its_reason(key, field, used, lost):
    """``lost`` is a number, or the row of the ledger that has it."""
    spec = specs.chip(key).spec(field)
    assert spec.base == used
    if lost in ledger.wordings():
        lost = ledger.wordings()[lost].inputs["W"]
    elif isinstance(lost, str):
        lost = ledger.claim(lost).published
    losers = [o for o in spec.others if o.base == pytest.approx(lost)]
    assert len(losers) == 1 and len(losers[0].why) > 5


def test_second_source_agrees_but_for_known_differences():
    table = specs.measured("chip_specs")
    known = {
        ("a100_sxm", "hbm_bw"): "2,039 GB/s on the data sheet, 2.0 rounded",
        ("tpu_v5p", "hbm"): "Google now writes GiB",
    }
    differ = set()
    for row in (r for r in table.rows if r["part"] != "-"):
        part = specs.chip(row["part"])
        for field in ("bf16", "fp8", "hbm", "hbm_bw", "nvlink_bw"):
            theirs = row["link_bw" if field == "nvlink_bw" else field]
            if not math.isnan(theirs) and abs(part.get(field) / theirs - 1) > 3e-3:
                differ.add((part.key, field))
    assert differ == set(known)


def test_measurements_stay_below_the_peaks_they_belong_to():
    for name, field in (("mamf_bf16", "bf16"), ("mamf_fp8", "fp8")):
        table = specs.measured(name)
        assert (table.measured < table.peak).all()
        for row in table.rows:
            if row["part"] != "-":
                assert row["peak"] == pytest.approx(specs.chip(row["part"]).get(field), rel=1e-3)
    add, h100 = specs.measured("vector_add_h100"), specs.chip("h100_sxm")
    assert 12 * add.n / h100.hbm_bw == pytest.approx(add.published_model, rel=0.025)
    assert (add.time > 12 * add.n / h100.hbm_bw).all()
    assert add.bandwidth == pytest.approx(12 * add.n / add.time, rel=1e-3)
    l2 = specs.measured("l2_bandwidth").row(part="h100_pcie")
    assert l2["bandwidth"] == specs.chip("h100_pcie").l2_bw == 2.75 * specs.chip("h100_pcie").hbm_bw


def test_llama_dimensions_give_the_names():
    for m in [m for key, m in specs.models().items() if key.startswith("llama3")]:
        head = m.d_model // m.heads
        layer = 2 * m.d_model**2 + 2 * m.d_model * head * m.kv_heads + 3 * m.d_model * m.d_ff
        assert m.layers * layer + 2 * m.vocab * m.d_model == pytest.approx(m.params, rel=0.01), m.key
    moe = specs.model("deepseek_v3")  # the experts, one of them shared, are nearly all of it
    experts = (moe.layers - 3) * (moe.experts + 1) * 3 * moe.d_model * moe.d_ff
    assert experts == pytest.approx(moe.params, rel=0.03) and experts < moe.params
    big = specs.model("llama3_405b")
    assert 6 * big.params * big.train_tokens == pytest.approx(big.train_flop, rel=0.01)


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
        with pytest.raises(AttributeError, match="do not change"):
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
    assert there - set(registry.FILES) == {"fields", "sources"} and set(registry.FILES) <= there
