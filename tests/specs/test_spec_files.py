"""Files of numbers: a reader's own is read back, replaced, refused; tables and cards are good HTML."""

import os
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser

import pytest

from gpuscale import sources, specs
from gpuscale.specs import registry

MINE = """
as_of = 2026-10-01

[my_gpu]
title = "Our prototype <2>"
short = "Proto"
compute_capability = "9.0"
bf16 = { value = 1.2, unit = "PFLOP/s", basis = "dense, per GPU", source = "our lab book, page 7" }
hbm = { value = 96, unit = "GiB", basis = "per GPU", source = "lab", note = "half of it in use" }
max_warps_per_sm = { value = 48, unit = "1", basis = "per SM", source = "lab" }
luck = { value = 0.5, unit = "%", basis = "per run", source = "lab", single = true }
price_per_hour = { value = 3, unit = "USD/h", basis = "list price", source = "lab", date = "2026-09" }

[my_ring]
kind = "link"
title = "Ring"
bw = { value = 100, unit = "Gbit/s", basis = "one direction", source = "lab", printed = "200 Gbit/s" }

[my_run]
kind = "measured"
title = "Our run"
columns = [
  { name = "host", title = "host", unit = "text" },
  { name = "time", title = "time", unit = "ms", basis = "median", source = "lab", single = [2] },
]
rows = [["a", 2], ["b", "-"]]

[sources]
lab = "Our lab"
"""


@pytest.fixture
def fresh(monkeypatch):
    """The built-in parts only, and a registry of its own: parts that others hold stay those of the data."""
    monkeypatch.delenv("GPUSCALE_DATA", raising=False)
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))
    yield
    sources._added.clear()


@pytest.fixture
def write(tmp_path):
    def put(text: str, name="mine.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return put


def test_a_readers_file_comes_back_as_written(fresh, write):
    gpu, ring, run = specs.load(write(MINE))
    assert (gpu.bf16, gpu.hbm, gpu.luck) == (1.2e15, 96 * 2**30, 0.005)
    assert gpu == specs.chip("my_gpu") and ring.bw == specs.link("my_ring").bw == 12.5e9
    assert gpu.max_warps_per_sm == 48 and gpu.registers_per_sm == 65536  # its own limit, and those of 9.0
    assert gpu.as_of == "2026-10-01" and gpu.spec("price_per_hour").date == "2026-09"
    assert specs.measured("my_run").time[0] == run.row(host="a")["time"] == 0.002
    assert run.time[1] != run.time[1] and len(run) == 2
    assert gpu.spec("luck").single and not gpu.spec("bf16").single and run.column("time").single == (2,)
    assert "(per run; Our lab). Nothing else in the data confirms it." in repr(gpu.about())
    about = gpu.about()
    assert "Our lab" in repr(about) and "our lab book, page 7" in repr(about)
    assert "Our prototype &lt;2&gt;" in about.html and "<2>" not in about.html


def test_a_file_replaces_its_own_parts_and_no_others(fresh, write):
    specs.load(write(MINE))
    specs.load(write(MINE.replace("value = 1.2,", "value = 1.5,").replace("[my_ring]", "[my_circle]")))
    assert specs.chip("my_gpu").bf16 == 1.5e15
    assert "my_circle" in specs.links() and "my_ring" not in specs.links()
    with pytest.raises(specs.SpecError, match="mine.toml already has a chip with that name; expected another"):
        specs.load(write(MINE, "other.toml"))
    assert "nvlink_4" in specs.links() and "my_gpu" in specs.chips()


def test_a_bad_file_adds_nothing(fresh, write):
    with pytest.raises(specs.SpecError):
        specs.load(write(MINE + '[h100_sxm]\ntitle = "mine"\n'))
    assert "my_gpu" not in specs.chips() and "my_run" not in specs.parts("measured")
    specs.load(write(MINE))
    with pytest.raises(specs.SpecError):
        specs.load(write(MINE.replace("dense", "")[:300]))
    assert specs.chip("my_gpu").bf16 == 1.2e15


def test_files_named_in_the_environment_are_read(fresh, write, monkeypatch):
    first, second = write(MINE), write('[my_model]\nkind = "model"\ntitle = "M"\n', "second.toml")
    monkeypatch.setenv("GPUSCALE_DATA", f"{first}{os.pathsep}{second}{os.pathsep}")
    assert specs.chip("my_gpu").short == "Proto" and specs.model("my_model").fields == ()
    registry._registry.cache_clear()
    monkeypatch.setenv("GPUSCALE_DATA", str(first.parent / "gone.toml"))
    with pytest.raises(specs.SpecError, match=r"gone\.toml: cannot be read .* expected a TOML file"):
        specs.chips()


NUMBER = '{ value = 1, unit = "TFLOP/s", basis = "dense", source = "lab" }'


def chip(field: str) -> str:
    return f'[x]\ntitle = "X"\n{field}\n'


def number(change: str, to: str, name: str = "bf16") -> str:
    assert change in NUMBER
    return chip(f"{name} = {NUMBER.replace(change, to)}")


def measured(columns: str, rows: str) -> str:
    return f'[x]\nkind = "measured"\ntitle = "X"\ncolumns = [{columns}]\nrows = {rows}\n'


TIME = '{ name = "t", title = "time", unit = "s", basis = "median", source = "lab" }'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # a number
        (number("TFLOP/s", "TFLOPS/h"), ["'x'", "'bf16'", "'TFLOPS/h' is not known", "expected TFLOP/s"]),
        (number("TFLOP/s", "TB/s"), ["'bf16'", "'TB/s' makes it a bandwidth", "a compute rate"]),
        (number("TFLOP/s", "s", "nvlink_bw"), ["'nvlink_bw'", "a time", "a bandwidth, in GB/s or Gbit/s"]),
        (number('unit = "TFLOP/s"', "unit = 7"), ["'bf16'", "unit 7 is not a text"]),
        (number("value = 1", "value = -1"), ["'bf16'", "-1 is out of range", "a positive number"]),
        (number("value = 1", "value = 0"), ["'bf16'", "0 is out of range", "a positive number"]),
        (number("value = 1", "value = nan"), ["'bf16'", "nan is out of range"]),
        (number("value = 1", "value = inf"), ["'bf16'", "inf is out of range"]),
        (number("value = 1", "value = '1'"), ["'bf16'", "value '1' is not a number", "such as 989.4"]),
        (number("value = 1", "value = true"), ["'bf16'", "value True is not a number"]),
        (number("value = 1, ", ""), ["'bf16'", "no value; expected { value"]),
        (number('unit = "TFLOP/s", ', ""), ["'bf16'", "no unit; expected"]),
        (number('basis = "dense", ', ""), ["'bf16'", "no basis; expected"]),
        (number(', source = "lab"', ""), ["'bf16'", "no source; expected"]),
        (number(', basis = "dense", source = "lab"', ""), ["no basis and no source"]),
        (number('"lab"', '" "'), ["'bf16'", "source ' ' is not a text"]),
        (number("source", "sorce"), ["'bf16'", "'sorce' is unknown", "value, unit, basis, source"]),
        (number('"lab"', '"lab", date = "last spring"'), ["'last spring' is not a date", "2026-11-20"]),
        (number('"lab"', '"lab", others = [{ value = 1 }]'), ["'bf16.others'", "no unit", "why"]),
        (number('"lab"', '"lab", single = "yes"'), ["'bf16'", "single is 'yes'", "single = true"]),
        (chip('price_per_hour = { value = 2, unit = "USD/h", basis = "list", source = "lab" }'), ["no date"]),
        (chip("bf16 = 989.4"), ["'bf16'", "989.4 has no provenance", "expected { value"]),
        (chip('bf16 = "989"'), ["'bf16'", "'989' has no provenance"]),
        (chip('nvlnk_bw = "450"'), ["'nvlnk_bw'", "not a text field of a part", "nvlink_bw?"]),
        (chip('compute_capability = "9,0"'), ["'compute_capability'", "'9,0' is not known", "7.0, 8.0, 9.0"]),
        (chip(f"about = {NUMBER}"), ["'about'", "every part already has"]),
        (chip(f"Peak = {NUMBER}"), ["'Peak' is not a name"]),
        # a part
        ('[x]\nkind = "chip"\n', ["part 'x'", "no title"]),
        ("[x]\ntitle = 3\n", ["part 'x'", "title 3 is not a text"]),
        ('[x]\ntitle = "X"\nkind = "gpu"\n', ["'gpu' is not a kind", "chip, link, model"]),
        ('["my gpu"]\ntitle = "X"\n', ["'my gpu' is not a name", "lowercase letters"]),
        ('[h100_sxm]\ntitle = "mine"\n', ["'h100_sxm'", "built-in data already has a chip", "such as my_h100_sxm"]),
        ("bf16 = 1\n", ["'bf16'", "is outside any part"]),
        ('as_of = "soon"\n', ["'as_of'", "'soon' is not a date"]),
        ('sources = "lab"\n', ["'sources'", "not a table of texts"]),
        ("[x\n", ["is not TOML", "expected a TOML file"]),
        # a table of measurements
        (measured(TIME, "[]"), ["part 'x'", "no columns or no rows", "basis, source"]),
        (measured("", "[[1]]"), ["part 'x'", "no columns or no rows"]),
        (measured(TIME, "[[1, 2]]"), ["part 'x'", "row 1 is [1, 2]", "1 cells: t"]),
        (measured(TIME, "[[1], [-2]]"), ["'t, row 2'", "-2 is out of range"]),
        (measured(TIME, '[["1"]]'), ["'t, row 1'", "'1' is not a number"]),
        (measured(f"{TIME}, {TIME}", "[[1, 2]]"), ["'t'", "names two columns"]),
        (measured(TIME.replace('basis = "median", ', ""), "[[1]]"), ["'t'", "no basis"]),
        (measured(TIME.replace('"s"', '"sec/s"'), "[[1]]"), ["'t'", "unit 'sec/s' is not known"]),
        (measured(TIME.replace("title", "titel"), "[[1]]"), ["'t'", "no title"]),
        (measured(TIME.replace("name", "hue = 1, name"), "[[1]]"), ["'t'", "'hue' is unknown in a column"]),
        (measured('{ title = "time" }', "[[1]]"), ["'columns'", "is not a column", "{ name, title"]),
        (measured(TIME.replace("name", "single = [2], name"), "[[1]]"), ["'t'", "[2]", "rows from 1 to 1"]),
        (measured(TIME.replace("name", "single = 1, name"), "[[1]]"), ["'t'", "single is 1", "true for the whole"]),
        (measured(TIME, "[[1]]\nraws = 1"), ["'raws'", "is unknown in a measured table"]),
    ],
)
def test_what_is_wrong_with_a_file_is_said_where(fresh, write, text, words):
    before = len(specs.chips())
    with pytest.raises(specs.SpecError) as caught:
        specs.load(write(text))
    said = str(caught.value)
    assert said.startswith("mine.toml") and "; expected " in said
    assert all(word in said for word in words), said
    assert len(specs.chips()) == before


def test_zero_is_a_value_only_where_it_can_be(fresh, write):
    entry = NUMBER.replace("value = 1", "value = 0").replace("TFLOP/s", "B")
    assert specs.load(write(chip(f"smem_reserved_per_block = {entry}")))[0].smem_reserved_per_block == 0


# ---- what the reader sees


class Page(HTMLParser):
    """Counts elements and sees that they close in order."""

    def __init__(self, html: str):
        super().__init__()
        self.open, self.count, self.buttons = [], {}, []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag == "button":
            self.buttons.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def view(caption="Peaks & sizes"):
    derived = {"ridge point": lambda p: (p.bf16 / p.hbm_bw, "FLOP/B"), "kind": lambda p: p.kind}
    return specs.table(["v100_sxm2", specs.chip("h100_sxm")], ["bf16", "hbm", "memory"], derived, caption)


def test_table_puts_parts_side_by_side_with_their_provenance(fresh):
    html = view().html
    page = Page(html)
    assert html == view().html
    assert html.startswith('<div class="scroll" tabindex="0" role="region" aria-label="Peaks &amp; sizes">')
    assert page.count["tr"] == 3 and page.count["th"] == 6 + 2 and page.count["caption"] == 1
    assert [b["class"] for b in page.buttons] == ["prov"] * 3  # the V100 has no bf16
    assert page.buttons[1] == {
        "type": "button",
        "class": "prov",
        "data-printed": "989.4\u00a0TFLOP/s",
        "data-basis": "dense, per GPU",
        "data-source": "Glenn K. Lockwood, processor notes, H100",
        "data-keys": "glennklockwood",
    }
    assert "<i>295\u00a0FLOP/B</i>" in html and '<td class="num">–</td>' in html
    rows = repr(view()).replace("\u00a0", " ").splitlines()
    assert rows[0] == "Peaks & sizes" and rows[1].split()[:3] == ["Part", "bf16,", "dense"]
    assert rows[2].split() == ["V100", "SXM2", "–", "32", "GB", "HBM2", "–", "chip"]
    assert 'aria-label="Hardware"' in view("").html and "<caption>" not in view("").html
    named = specs.table(["h100_sxm"], {"hbm": "Memory <of> all"}).html
    assert "Memory &lt;of&gt; all" in named


def test_every_card_and_measured_table_is_well_formed(fresh):
    for kind in ("chip", "link", "model", "capability"):
        for part in specs.parts(kind).values():
            page = Page(part.about().html)
            assert page.count["tr"] == len(part.fields) + 1
            assert repr(part.about()).count("\n") == len(part.fields)
    for table in specs.parts("measured").values():
        page = Page(table._repr_html_())
        pairs = [name for name in ("a", "b", "n") if name in table.columns]
        rows = len({row[end] for row in table.rows for end in "ab"}) if len(pairs) == 3 else len(table)  # as a matrix
        assert page.count["tr"] == rows + 1 and len(repr(table).splitlines()) == rows + 2
        assert all(b["data-source"] and b["data-basis"] for b in page.buttons)


def test_import_is_lazy_and_light():
    code = (
        "import sys; from gpuscale import specs\nfrom gpuscale.specs import registry\n"
        "assert registry._registry.cache_info().currsize == 0\n"
        "assert not {'sympy', 'numpy'} & set(sys.modules), sorted(sys.modules)\n"
        "specs.chip('h100_sxm').bf16; assert 'sympy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "GPUSCALE_DATA": ""})
