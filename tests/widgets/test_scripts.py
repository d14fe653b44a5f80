"""The scripts state no unit, limit, word or message: they name them as Python does and are served with its values."""

import json
import re
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from gpuscale import units
from gpuscale.book.served import tight_script
from gpuscale.units import SCALE, messages
from gpuscale.widgets import assets, shared

STATIC = Path(assets.__file__).parent / "static"
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.js"))}

# --- what a script states: its string literals ---

PIECES = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    |(?P<template>`)
    |(?P<regex>(?<=[=(,:!&|?{};\n])\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+/[a-z]*)
    |(?P<brace>[{}])""",
    re.S | re.X,
)


SELECTS = re.compile(r"(?:\$|querySelector|querySelectorAll|closest\??\.?|matches|setAttribute)\(\s*$")


def literals(source: str) -> list[str]:
    """The strings and templates of a script but those that name elements; what a template computes is a gap, \\0, and
    read for itself."""
    found, at = [], 0
    while piece := PIECES.search(source, at):
        at = piece.end()
        if piece["string"] and not SELECTS.search(source, 0, piece.start()):
            found.append(piece["string"][1:-1])
        elif piece["template"]:
            text, at, inner = template(source, at)
            found += [text, *(one for code in inner for one in literals(code))]
    return found


def template(source: str, at: int) -> tuple[str, int, list[str]]:
    """A template from behind its first quote: its text, where it ends, and the code of its gaps."""
    text, inner = "", []
    while source[at] != "`":
        if source.startswith("${", at):
            end = closing(source, at + 2)
            inner.append(source[at + 2 : end])
            text, at = text + "\0", end + 1
        else:
            step = 2 if source[at] == "\\" else 1
            text, at = text + source[at : at + step], at + step
    return text, at + 1, inner


def closing(source: str, at: int) -> int:
    """Where the brace closes that is open."""
    depth = 0
    while piece := PIECES.search(source, at):
        at = piece.end()
        if piece["template"]:
            at = template(source, at)[1]
        elif piece["brace"] == "{":
            depth += 1
        elif piece["brace"]:
            if not depth:
                return piece.start()
            depth -= 1
    raise AssertionError("a brace is not closed")


def test_literals_are_found_where_they_stand():
    source = "f('a', /* 'no' */ `b ${g(`c ${h} d`, {x: \"e\"})} f`); // 'no'\nx = /['`]/.test('g\\'');"
    assert sorted(literals(source)) == sorted(["a", "b \0 f", "c \0 d", "e", "g\\'"])
    assert sum(map(len, map(literals, SOURCES.values()))) > 500


# --- what of it is for readers ---

SAID = re.compile(r"""(?:aria-label|title|alt|placeholder)=(?:"([^"]*)"|'([^']*)')""")
CLASSES = set(re.findall(r"[.#]([a-z][\w-]*)", "".join(p.read_text(encoding="utf-8") for p in STATIC.glob("*.css"))))
ELEMENTS = set(re.findall(r"<([a-z]+)", "".join(SOURCES.values()))) | {"svg", "script", "details", "code", "input"}
# Codes of the data that a script is given, spelled like units: kinds of a pipeline's slots, which bound holds.
CODES = {
    **dict.fromkeys(("pipeline", "pipeline_orders", "pipeline_times", "pipeline_lanes"), {"W", "B"}),
    "live": {"min"},
    "bytes": {"B"},
    "decode": {"B"},
    "layer": {"flops"},
    "ring": {"d", "W"},
    "stage": {"(prefers-reduced-motion: reduce)"},
    "frame": {"(prefers-color-scheme: dark)"},
    "start": {"1em mathematics"},
}
UNITS = {name for name, (_, base) in SCALE.items() if base != "1"} | {"%", "FLOPs", "GPUs"}


def texts(literal: str) -> list[str]:
    """What a reader sees or hears of a literal: without its tags, with their labels."""
    return [re.sub(r"<[^>]*>|&\w+;", "\n", literal), *("".join(label) for label in SAID.findall(literal))]


def stated(source: str, codes: set[str] = frozenset()) -> list[str]:
    """The units, sentences and shared texts that a script states itself."""
    wrong = []
    known = {text for value in shared.known().values() for text in strings(value) if re.search(r"[A-Z]\w|\w \w", text)}
    for literal in set(literals(source)) - codes:
        names = set(re.findall(r"[\w-]+", literal))
        if literal in UNITS or (literal in known and literal != ""):
            wrong.append(literal)
        for text in texts(literal):
            words = re.findall(r"[A-Za-zµ%][\w%]*(?:/[A-Za-z]+)?", text)
            wrong += [word for word in words if len(word) > 1 and word in UNITS]
            if re.search(r"[A-Za-z]{2,}[,:]? +[A-Za-z]{2,}", text) and not names <= CLASSES | ELEMENTS:
                wrong.append(text)
    return wrong


def strings(value) -> list[str]:
    """The texts in a constant."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    return (
        [value]
        if isinstance(value, str)
        else [t for v in value for t in strings(v)]
        if isinstance(value, tuple)
        else []
    )


@pytest.mark.parametrize("name", SOURCES)
def test_a_script_states_no_unit_and_no_sentence(name):
    assert stated(SOURCES[name], CODES.get(name, set())) == []


@pytest.mark.parametrize(
    "planted",
    [
        "unit === 'GB/s'",
        "show(v, 's')",
        "`${v} us`",
        'label("FLOP/B")',
        "unclear('nothing has been typed yet')",
        "`“${token}” is out of place`",
        "button('Reset')",
        "button('Try again now')",
        "`<p aria-label='How it moves'>${x}</p>`",
        "`<b>${n}</b> of these are right`",
        "f(`${a ? `${b} tokens per second` : ''}`)",
    ],
)
def test_what_is_stated_is_seen(planted):
    source = SOURCES["quiz"]
    assert stated(f"{source}\nconst planted = () => {planted};\n")


@pytest.mark.parametrize(
    "fine",
    [
        "$('.answer input', body)",
        '`<p class="state">${x}</p>`',
        "text('label flat', x, y)",
        "'M2 2h2v12H2zM14 2v12L5 8z'",
    ],
)
def test_what_no_reader_sees_may_stay(fine):
    assert stated(f"const fine = () => {fine};\n") == []


# --- where it comes from ---

NAMES = re.compile(r"\b[A-Z][A-Z_]{2,}\b")


def code(source: str) -> str:
    """A script without comments and without what its literals say; the code within templates stays."""
    plain = re.sub(r"/\*.*?\*/|(?<![:'\"`\\])//[^\n]*", "", source, flags=re.S)
    return re.sub(r"'(?:\\.|[^'\\\n])*'", "''", plain)


def test_every_constant_comes_from_python_and_is_used():
    used = {name for source in SOURCES.values() for name in NAMES.findall(code(source))}
    own = {name for source in SOURCES.values() for name in re.findall(r"\b([A-Z][A-Z_]{2,}) =", code(source))}
    assert set(shared.known()) - used - {"OR"} == set(), "no script uses these"
    assert own.isdisjoint(shared.known())
    there = set(shared.known()) | own | {"JSON", "NFKC", "URL", "N_MB"}
    assert used - there == set(), "neither Python nor a script defines these"


def engine(*scripts: str) -> MiniRacer:
    made = MiniRacer()
    for script in scripts:
        made.eval(f"{script}; null")
    return made


def test_a_changed_message_reaches_the_page(monkeypatch):
    monkeypatch.setattr(messages, "NOTHING", "not a word")
    monkeypatch.setattr(units.reading, "UNIT_RULES", (*units.reading.UNIT_RULES, ("^fortnights$", "week")))
    with engine(tight_script(assets.script.__wrapped__())) as page:
        said = "(() => { try { return gpuscale.grading.formula('', []); } catch (e) { return e.message; } })()"
        assert page.eval(said) == "not a word"
        assert json.loads(page.eval("JSON.stringify(gpuscale.grading.number('2 fortnights', 's', ''))")) == [
            1209600,
            False,
        ]


def test_widgets_in_a_notebook_have_the_same_constants():
    module = assets.esm().replace("export default", "globalThis.made =")
    with engine(module) as notebook, engine(tight_script(assets.script())) as page:
        for call in (
            "gpuscale.grading.number('5 weeks', 's', '')",
            "gpuscale.grading.number('about 3 GB per second', 'B/s', '')",
            "[gpuscale.show(1e12, 'B'), gpuscale.show(0.5, '%'), gpuscale.show(3 * 2 ** 20, 'MiB')]",
            "gpuscale.literal(4.5e11, 'B/s')",
        ):
            assert notebook.eval(f"JSON.stringify({call})") == page.eval(f"JSON.stringify({call})") != "null"
        assert notebook.eval("typeof made.render") == "function"


# --- Copy as Python ---


@pytest.fixture(scope="module")
def page():
    with engine(tight_script(assets.script())) as made:
        yield made


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (4.5e11, "B/s", "450*GB"),
        (1e12, "B", "1*TB"),
        (65536, "B", "64*KiB"),
        (3 * 2**20, "B", "3*MiB"),
        (5 * 2**30, "B/s", "5*GiB"),
        (33e6, "B", "33*MB"),
        (512, "B", "512"),
        (6.5e-5, "s", "65*us"),
        (2.5, "s", "2.5"),
        (3.456e6, "s", "3456000"),
        (5e-11, "s", "0.05*ns"),
        (9.894e14, "FLOP/s", "989.4*TFLOP"),
        (2e18, "FLOP", "2000*PFLOP"),
        (1.83e9, "Hz", "1.83*GHz"),
        (5e12, "Hz", "5000*GHz"),
        (40, "FLOP/B", "40"),
        (2.5e5, "1", "250000"),
        (0, "B", "0"),
        (700, "W", "700"),
    ],
)
def test_an_amount_is_copied_in_names_that_python_has(page, value, unit, written):
    assert page.eval(f"gpuscale.literal({value!r}, {unit!r})") == written
    assert eval(written, {name: getattr(units, name) for name in re.findall("[A-Za-z]+", written)}) == pytest.approx(
        value
    )
