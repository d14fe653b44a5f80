"""The sweep: what holds for every formula of the library, checked without the library's own checks."""

import functools
import importlib
import inspect
import json
import math
import pickle
import re
import subprocess
import sys
import zlib
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import sympy
from py_mini_racer import MiniRacer
from support.exact_rational import exactly
from support.strategies import exact, kept, points, steps
from sympy.codegen.cfunctions import log2

import gpuscale
from gpuscale.catalogue import sweep
from gpuscale.core import Formula, evaluate, inputs, javascript
from gpuscale.core.cards import worded
from gpuscale.core.evaluation import compiled
from gpuscale.core.latex import tex
from gpuscale.symbols import B, C, D, F, T, V, W, alpha, b, flop, n, quantities
from gpuscale.units import DIMENSIONS

FORMULAS = sweep.formulas()
STEPPED = {key: f for key, f in FORMULAS.items() if f.rhs.has(sympy.floor, sympy.ceiling)}
BIBLIOGRAPHY = Path(__file__).parents[2] / "chapters" / "references.bib"

HOMES = {key.rpartition(".")[0]: [] for key in FORMULAS}
for _key, _f in FORMULAS.items():
    HOMES[_key.rpartition(".")[0]].append(_f)


def every(check, keep=lambda f: True):
    """A check of a formula as a test for each module; what fails is named. Thousands of tests take time to report."""

    @functools.wraps(check)
    def of_a_module(fs, **fixtures):
        for f in fs:
            try:
                check(f, **fixtures)
            except BaseException as error:
                error.add_note(f"{check.__name__}: {f.name}")
                raise

    taken = inspect.signature(check).parameters.values()
    of_a_module.__signature__ = inspect.Signature([p.replace(name="fs") if p.name == "f" else p for p in taken])
    kept = {home: [f for f in fs if keep(f)] for home, fs in HOMES.items()}
    homes = [home for home, fs in kept.items() if fs]
    return pytest.mark.parametrize("fs", [kept[home] for home in homes], ids=homes)(of_a_module)


def rng(f):
    """The same random numbers for a formula each time, whatever else is tested."""
    return np.random.default_rng(zlib.crc32(str(f.rhs).encode()))


# Units: rescale byte, FLOP and second, and see that each part changes as its neighbors do


def rescaled(point, scales):
    """The same quantities in other base units."""
    return {q: v * sympy.prod(scales[base] ** e for base, e in DIMENSIONS[q.unit].items()) for q, v in point.items()}


def joined(node):
    """The groups of parts that must be of one kind, and the parts that must be plain numbers."""
    if isinstance(node, sympy.Piecewise):
        pairs = [r.args for _, c in node.args for r in c.atoms(sympy.core.relational.Relational)]
        return [[value for value, _ in node.args], *pairs], []
    if isinstance(node, (sympy.Add, sympy.Max, sympy.Min)):
        return [node.args], []
    if isinstance(node, sympy.Pow):
        return [], [node.exp] if not node.exp.is_number else []
    if isinstance(node, sympy.Function):
        return [], list(node.args)
    return [], []


ONE = sympy.Symbol("one_flop", positive=True)  # means a FLOP, which ``exactly`` would take for 1


@functools.lru_cache(maxsize=4096)
def with_flop(part):
    """A part of an expression in which the FLOP is a symbol of its own."""
    return part.xreplace({flop: ONE})


def at(part, point):
    """A part of an expression at a point, the FLOP included, exact."""
    values = {"one_flop" if q == flop else q.name: value for q, value in point.items()}
    found = exactly(with_flop(part), values)
    return sympy.Rational(found) if isinstance(found, Fraction) else part.subs(point)


@functools.lru_cache(maxsize=16)
def drawn(expr, seed):
    """A point of an expression, and what each part of it is there, worked out once for all changes of units."""
    draw = np.random.default_rng(seed)
    names = sorted(expr.free_symbols, key=str)  # in an order of their own, so that each run draws alike
    point = {q: sympy.Rational(int(draw.integers(64, 4096)), int(draw.integers(1, 64))) for q in names}
    return point, functools.cache(lambda part: at(part, point))


def unbalanced(expr, unit, scales, seed=0):
    """The first part of an expression that a change of units does not scale as it should, or None."""
    point, value = drawn(expr, seed)
    other = rescaled(point, scales)

    @functools.cache
    def factor(part):
        before, after = value(part), at(part, other)
        if before.is_zero or before.is_infinite:
            return None
        ratio = after / before
        return ratio if ratio.is_Rational else sympy.simplify(ratio)

    whole = sympy.prod(scales[base] ** e for base, e in DIMENSIONS[unit].items())
    if factor(expr) not in (whole, None):
        return expr
    for node in sympy.preorder_traversal(expr):
        groups, plain = joined(node)
        for group in groups:
            if len({factor(part) for part in group} - {None}) > 1:
                return node
        if any(factor(part) not in (1, None) for part in plain):
            return node
    return None


SCALES = [
    {
        base: sympy.Integer(2) ** (power if base == only else 0)
        for base, power in zip(("B", "FLOP", "s", "W", "USD"), (3, 7, -5, 2, 4), strict=True)
    }
    for only in ("B", "FLOP", "s")
]
SCALES.append(
    {
        "B": sympy.Integer(2) ** 11,
        "FLOP": sympy.Rational(1, 2**6),
        "s": sympy.Integer(2) ** 17,
        "W": sympy.Integer(1),
        "USD": sympy.Integer(1),
    }
)


@every
def test_units_balance_under_every_change_of_units(f):
    for expr in (f.rhs, f.approx):
        if expr is not None:
            for scales in SCALES:
                for seed in range(3):
                    assert unbalanced(expr, f.lhs.unit, scales, seed) is None


@pytest.mark.parametrize(
    "expr",
    [
        V,
        V / W**2,
        1 / T,
        V / W + V,
        sympy.Max(T, V / 10**30),
        sympy.Min(T, 10**30 / T),
        sympy.Max(T, 1),
        T * sympy.floor(V / 100),
        sympy.Piecewise((T, V > W), (2 * T, True)),
        sympy.Piecewise((T, B > D), (V, True)),
        T * sympy.ceiling(V / b / W),
        T * log2(V),
        2 * B * D * F / C,
        T + sympy.Max(alpha, V / W * sympy.Min(B, W)),
        T * 2**V,
        sympy.Piecewise((T, (B > D) & (V > 1)), (2 * T, True)),
    ],
    ids=str,
)
def test_the_change_of_units_finds_what_is_wrong(expr):
    assert any(unbalanced(expr, "s", scales, seed) is not None for scales in SCALES for seed in range(3))


# Sources, symbols, names, titles


@every
def test_the_source_is_in_the_bibliography(f):
    known = set(re.findall(r"^@\w+\{\s*([^,\s]+)\s*,", BIBLIOGRAPHY.read_text(), re.M))
    for part in f.source.split(";"):
        key = part.split(",")[0].strip()
        assert key in known, f"{f.name}: source {key!r} is no key of chapters/references.bib"


@every
def test_every_symbol_is_declared(f):
    for expr in (f.lhs, f.rhs, f.approx, sympy.Tuple(*(q for q, _ in f.regime))):
        for symbol in sympy.sympify(expr).free_symbols if expr is not None else ():
            assert quantities()[symbol.name] is symbol
    assert {q for q, _ in f.regime} <= set(f.inputs) and f.lhs not in f.inputs


@every
def test_the_name_is_the_module_attribute(f):
    (key,) = [key for key, other in FORMULAS.items() if other is f]
    room, _, name = key.rpartition(".")
    assert f.name == name and f.module.split(".")[:2] == ["gpuscale", room]
    assert getattr(sys.modules[f.module], name) is f is getattr(sys.modules[f"gpuscale.{room}"], name)
    assert sweep.formula(name) is f is sweep.formula(key)
    assert not name.startswith(("get_", "calc_", "compute_t")) or name == "compute_time"


def test_names_and_titles_are_unique():
    names = [key.rpartition(".")[2] for key in FORMULAS]
    titles = [f.title for f in FORMULAS.values()]
    assert len(set(names)) == len(names) and len(set(titles)) == len(titles)


PROPER = re.compile(
    r"[A-Z]{2,}s?('s?)?|FLOP/s|Tensor|Cores?|NVLink|HBM\d?\w?|GPU-\w+|ZeRO(-\d)?"
    r"|InfiniBand|Amdahl's|Little's|Bruck's|GPipe|DualPipeV?|FSDP2|H1|V"
)


@every
def test_the_title_is_in_sentence_case(f):
    first, *rest = re.split(r"[ -]", f.title)
    assert first[0].isupper() and 1 <= len(f.title) <= 70 and not f.title.endswith(".")
    assert all(not word[:1].isupper() or PROPER.fullmatch(word) for word in (one.rstrip(",:") for one in rest)), f.title


@every
def test_the_assumptions_end_a_sentence_that_the_card_begins(f):
    assert f.assumes and f.assumes[0].islower() and not f.assumes.endswith(".") and f.assumes == f.assumes.strip()
    assert f.source and f.source == f.source.strip() and not f.source.endswith((".", ","))


def test_an_unknown_formula_is_refused_with_close_names():
    with pytest.raises(KeyError, match="no formula is called 'matmul_tim'; close ones: matmul_time"):
        sweep.formula("matmul_tim")


@pytest.mark.parametrize("room", ["one_gpu", "network", "collectives", "llm", "serving"])
def test_the_sweep_finds_the_formulas_of_every_file(room):
    files = sorted((Path(gpuscale.__file__).parent / room).glob("*.py"))
    loaded = [importlib.import_module(f"gpuscale.{room}.{file.stem}") for file in files if file.stem != "__init__"]
    there = {value for m in loaded for name, value in vars(m).items() if name[0] != "_" and isinstance(value, Formula)}
    nameless = {f.title for f in there if not f.name}
    assert not nameless, f"declare(globals()) has to be the last line of their file: {nameless}"
    assert {f for f in there if f.room == f"gpuscale.{room}"} == set(HOMES[room])


def test_the_catalogue_finds_what_is_there_and_loads_no_drawing():
    code = "import sys; from gpuscale.catalogue.sweep import formulas; print(len(formulas()));" + LOADED
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert int(out[0]) == len(FORMULAS) and out[1:] == []
    loaded = [m for name, m in list(sys.modules.items()) if name.startswith("gpuscale.")]
    there = {f for m in loaded for name, f in vars(m).items() if isinstance(f, Formula) and name[0] != "_"}
    assert there == set(FORMULAS.values())


HEAVY = ("ipywidgets", "anywidget", "IPython")
LOADED = f"print(*[m for m in {HEAVY} if m in sys.modules])"


@pytest.mark.parametrize(
    "code",
    ["import gpuscale", "from gpuscale import Formula, Derivation, chip, evaluate, crossover, formulas"],
)
def test_importing_loads_no_widgets(code):
    out = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; {LOADED}"], capture_output=True, check=True, text=True
    )
    assert out.stdout.strip() == ""


def test_a_name_of_a_room_is_looked_for_there():
    with pytest.raises(AttributeError, match="it is in gpuscale.collectives"):
        gpuscale.ring_all_reduce  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean kv_cache"):
        gpuscale.llm.kv_cach  # noqa: B018


def test_the_package_says_what_it_has():
    assert {"Formula", "evaluate", "crossover", "show", "parse", "one_gpu", "chip"} <= set(dir(gpuscale))
    with pytest.raises(AttributeError, match="gpuscale has no 'formulae'; did you mean formulas"):
        gpuscale.formulae  # noqa: B018
    assert gpuscale.Formula is Formula and gpuscale.show is gpuscale.units.show


# Limits: the approximation is approached, by exact evaluation and nothing else


@pytest.mark.parametrize("f", [f for f in FORMULAS.values() if f.approx is not None], ids=lambda f: f.name)
def test_the_approximation_is_the_limit(f):
    draw = rng(f)
    others = [q for q in sorted(f.rhs.free_symbols | f.approx.free_symbols, key=str) if q not in dict(f.regime)]
    for _ in range(4):
        base = {
            q: sympy.Rational(int(draw.integers(1, 999)), int(draw.integers(1, 99))) + sympy.nsimplify(q.least)
            for q in others
        }
        gaps = []
        for power in (40, 80, 160):
            far = {q: to if to != sympy.oo and to else 0 for q, to in f.regime}
            for place, (q, to) in enumerate(reversed(f.regime)):  # the first symbol of the regime goes out farthest
                step = sympy.Integer(2) ** (power * 6**place)
                far[q] = step if to == sympy.oo else to + 1 / step
            rhs, approx = (at(part, base | far) for part in (f.rhs, f.approx))
            gaps.append(abs(sympy.N(rhs / approx - 1, 60)))
        assert gaps[2] <= gaps[1] * 0.6 <= gaps[0] * 0.36, f"{f.name}: {gaps}"
        assert f.rhs.has(log2, sympy.log) or gaps[2] < 1e-20


@pytest.mark.parametrize("f", [f for f in FORMULAS.values() if f.approx is not None], ids=lambda f: f.name)
def test_the_approximation_is_not_the_formula(f):
    assert sympy.simplify(f.rhs - f.approx) != 0 and not (
        f.approx.free_symbols & set(dict(f.regime)) - f.rhs.free_symbols
    )


# The JavaScript twin


@pytest.fixture(scope="module")
def engine():
    with MiniRacer() as machine:
        yield machine


def twin(engine, expr, values):
    """What the page computes at each point."""
    values = values or {"": np.zeros(1)}  # a constant has one
    rows = [dict(zip(values, row, strict=True)) for row in zip(*(v.tolist() for v in values.values()), strict=True)]
    script = f"{json.dumps(rows)}.map({javascript.function(expr)}).map((y) => Number.isFinite(y) ? y : String(y))"
    return np.array([float(y) for y in json.loads(engine.eval(f"JSON.stringify({script})"))])


@every
def test_javascript_gives_what_numpy_gives(f, engine):
    values = points(f, 200, rng(f))
    ours = f(**values)
    np.testing.assert_allclose(
        twin(engine, f.rhs, values), ours, rtol=0 if f.rhs.has(sympy.floor, sympy.ceiling) else 1e-12
    )
    assert np.count_nonzero(ours) > (50 if values else 0)
    if f.approx is not None:
        kept = {q.name: values[q.name] for q in inputs(f.approx)}
        np.testing.assert_allclose(twin(engine, f.approx, kept), evaluate(f.approx, **kept), rtol=1e-12)


@pytest.mark.parametrize("f", STEPPED.values(), ids=STEPPED)
def test_javascript_steps_where_numpy_steps(f, engine):
    """Whole inputs whose quotients are often whole too, and the neighbors of such inputs one float away."""
    values = steps(f, 1500, rng(f))
    ours = f(**values)
    np.testing.assert_array_equal(twin(engine, f.rhs, values), ours)
    for q in f.inputs:
        for towards in (-np.inf, np.inf):
            near = values | {q.name: np.clip(np.nextafter(values[q.name], towards), q.least, q.most)}
            good = np.logical_and.reduce([kept(need, near) for need in f.needs], initial=True, axis=0)
            near = {name: column[np.broadcast_to(good, column.shape)] for name, column in near.items()}
            if q.least or np.all(near[q.name] > 0):
                np.testing.assert_array_equal(twin(engine, f.rhs, near), f(**near))


def counts_only(f):
    """Whether no rounding is due: all inputs are counts. In a time or size a wrong step shows up as well."""
    return all(q.unit == "1" for q in f.inputs)


@pytest.mark.parametrize("f", STEPPED.values(), ids=STEPPED)
def test_floors_are_exact_for_whole_inputs(f):
    """Floating point and exact fractions step at the same places."""
    values = steps(f, 1500, rng(f))
    exactly = {"floor": math.floor, "ceiling": math.ceil, "Max": max, "Min": min}
    function = sympy.lambdify([q.name for q in f.inputs], f.rhs.subs(flop, 1), modules=[exactly, "math"])
    rows = zip(*(values[q.name] for q in f.inputs), strict=True)
    expected = [float(function(*map(exact, row))) for row in rows]
    np.testing.assert_allclose(f(**values), expected, rtol=0 if counts_only(f) else 1e-13)


@pytest.mark.parametrize("f", STEPPED.values(), ids=STEPPED)
def test_the_steps_are_really_tried(f):
    """Among the points tried are some where a quotient is whole, and some where it is not."""
    values = steps(f, 1500, rng(f))
    assert np.unique(f(**values)).size > 10 and np.mean(f(**values) > 0) > 0.5
    for node in f.rhs.subs(flop, 1).atoms(sympy.floor, sympy.ceiling):
        inner = evaluate(node.args[0], **{q.name: values[q.name] for q in inputs(node.args[0])})
        whole = np.count_nonzero(inner == np.round(inner))
        assert 20 < whole and len(inner) - whole > 20, node


@pytest.mark.parametrize(
    "expr",
    [
        log2(n),
        sympy.ceiling(log2(n)),
        sympy.sqrt(n * V / b),
        V ** sympy.Rational(1, 3),
        V**3,
        sympy.Max(V, b, 3 * b),
        sympy.Min(V, b),
        sympy.exp(-n),
        sympy.log(n),
        sympy.Mod(n, 7),
        sympy.Abs(V - b),
        n / 3 + sympy.Rational(2, 7),
        0.1 * n,
        n * sympy.pi,
        sympy.Integer(2) ** n,
        V / b / W / T,
        sympy.Piecewise((V, V > b), (b, n > 3), (2 * b, True)),
        sympy.Piecewise((V, (V > b) & (n > 9)), (b, (n > 90) | (V < b)), (sympy.oo, True)),
    ],
    ids=str,
)
def test_javascript_of_everything_that_can_be_written(expr, engine):
    draw = np.random.default_rng(5)
    values = {q.name: np.round(np.exp(draw.uniform(0, 5, 300))) for q in inputs(expr)}
    np.testing.assert_allclose(
        twin(engine, expr, values), evaluate(expr, **values), rtol=1e-14 if expr.has(sympy.floor) else 1e-12
    )


def test_javascript_of_powers_of_two(engine):
    values = {"n": 2.0 ** np.arange(0, 60)}
    assert np.array_equal(twin(engine, sympy.ceiling(log2(n)), values), np.arange(0, 60))


def test_javascript_has_the_inputs_by_name():
    assert javascript.function(V / W + alpha) == "({alpha, V, W}) => { return V/W + alpha; }"
    assert "flop" not in javascript.function(2 * flop * B * D * F / C) and javascript.function(
        FORMULAS["one_gpu.half_size"]
    ).startswith("({alpha, W})")


def test_what_javascript_lacks_is_refused():
    with pytest.raises(Exception, match="(?i)unsupported|not supported|zeta"):
        javascript.function(sympy.zeta(n))


def test_compiled_functions_take_their_inputs_in_order():
    assert [q.name for q in compiled(V / W + alpha)[1]] == ["alpha", "V", "W"]


# How it is shown


def grouped(latex):
    """Whether braces, \\left and \\right, \\begin and \\end pair up."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", latex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    pairs = (
        len(re.findall(r"\\left\b|\\left(?=[^a-z])", latex)),
        len(re.findall(r"\\right\b|\\right(?=[^a-z])", latex)),
    )
    return depth == 0 and pairs[0] == pairs[1] and latex.count(r"\begin{") == latex.count(r"\end{")


@every
def test_latex_is_whole_and_names_each_symbol_its_own_way(f):
    for expr in (f.lhs, f.rhs, f.approx):
        if expr is None:
            continue
        for latex in (tex(expr), tex(expr, fold_short_frac=True)):
            assert grouped(latex) and "flop" not in latex and "  " not in latex.strip(), latex
            assert not re.search(r"[A-Za-z]_[a-z]{2}|\\infty_|None|Quantity|\*", latex), latex
            assert all(q.tex in latex for q in expr.free_symbols), latex


@pytest.mark.parametrize(
    "expr, latex",
    [
        (V / W * (n - 1) / n, r"\frac{V}{W} \, \frac{n - 1}{n}"),
        (2 * V / W * (n - 1) / n, r"\frac{2 \, V}{W} \, \frac{n - 1}{n}"),
        (alpha + V / W, r"\alpha + \frac{V}{W}"),
        (V / W - alpha, r"\frac{V}{W} - \alpha"),
        (-V / W, r"- \frac{V}{W}"),
        (2 * flop * B * D * F / C, r"\frac{2 \, B \, D \, F}{C}"),
        (B * flop, "B"),
        (1 - 1 / n, r"1 - \frac{1}{n}"),
        (n / 3, r"\frac{n}{3}"),
        (n * (V + b), r"n \, \left(b + V\right)"),
        ((n - 1) / n, r"\frac{n - 1}{n}"),
        (V / (alpha + V / W), r"\frac{V}{\alpha + \frac{V}{W}}"),
        (sympy.ceiling(log2(n)), r"\left\lceil \log_2 n \right\rceil"),
        (log2(n) ** 2, r"\left(\log_2 n\right)^{2}"),
        (sympy.floor(n / 2), r"\left\lfloor \frac{n}{2} \right\rfloor"),
        (
            sympy.Piecewise((n, n > 3), (B, True)),
            r"\begin{cases} n & \text{if } n > 3 \\ B & \text{otherwise} \end{cases}",
        ),
    ],
    ids=str,
)
def test_latex_has_the_books_habits(expr, latex):
    assert tex(expr) == latex and grouped(latex)


def test_latex_on_one_line_has_no_tall_fractions():
    assert tex(V / (alpha + V / W), fold_short_frac=True) == r"V / \left(\alpha + V / W\right)"
    assert tex(V / (W * n), fold_short_frac=True) == r"V / (W \, n)"
    assert tex(alpha - V / W, fold_short_frac=True) == r"\alpha - V / W"
    assert not any(r"\frac" in tex(f.rhs, fold_short_frac=True) for f in FORMULAS.values())


def test_latex_keeps_what_the_expression_says():
    """Two expressions that differ are typeset differently."""
    shown = {}
    for f in FORMULAS.values():
        plain = f.rhs.subs(flop, 1)
        assert shown.setdefault(tex(f.rhs), plain) == plain, f.name


class Reader(HTMLParser):
    """A strict reader: each tag that opens closes in its turn, each attribute is quoted and there once."""

    VOID = {"br", "img", "input", "hr", "meta", "link"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        assert re.fullmatch(rf"<{tag}(\s+[a-zA-Z:-]+(=\"[^\"<]*\")?)*\s*/?>", self.get_starttag_text(), re.S), (
            self.get_starttag_text()
        )
        assert len({k for k, _ in attrs}) == len(attrs)
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open, reader.open
    return reader, " ".join("".join(reader.text).split())


def said_in(text, phrase):
    """Whether a card says a phrase: its words in their order, with symbols for the names of quantities."""
    plain = [part for part in re.split(r"\w*_\w*|\b(?:alpha|eta)\b|>=| - | x ", phrase) if part.strip()]
    return re.search(".{1,20}?".join(re.escape(part.strip()) for part in plain), text)


def test_names_in_assumptions_are_shown_as_symbols():
    shown = worded("links of W_nvl that wait alpha, S x S scores, t_B - t_W >= 0, idle, N - 1 of <10 at an MFU")
    assert shown == (
        "links of <i>W</i><sub>NVLink</sub> that wait <i>α</i>, <i>S</i> × <i>S</i> scores, "
        "<i>t</i><sub>B</sub> − <i>t</i><sub>W</sub> ≥ 0, idle, <i>N</i> − 1 of &lt;10 at an MFU"
    )


@every
def test_the_card_is_well_formed_and_names_each_input(f):
    card = f.about()
    reader, text = read(card.html)
    assert len(set(reader.ids)) == len(reader.ids) and any(f.name.replace("_", "-") in i for i in reader.ids)
    for q in (f.lhs, *f.inputs):
        assert said_in(text, f.means[q]) if q in f.means else q.meaning in text, q.name
        assert q.unit in text and q.name in f"{text} {f.lhs.name}", q.name
    assert f.title in text and said_in(text, f.assumes) and f"{f.name}(" in text
    assert "flop" not in re.sub(f"floating|{f.name}", "", text)
    assert (f.approx is None) == ("≈" not in text and r"\approx" not in text)
    assert f.title in repr(card) and f.assumes in repr(card) and str(f.rhs) in repr(card)


def test_the_reader_of_cards_is_strict():
    for wrong in (
        "<p>",
        "<p></div>",
        "<p class=a></p>",
        '<p class="a" class="b"></p>',
        "</p>",
        "<b><i></b></i>",
    ):
        with pytest.raises(AssertionError):
            read(wrong)


@every
def test_pickles_are_the_formula_itself(f):
    assert pickle.loads(pickle.dumps(f)) is f


taking = functools.partial(every, keep=lambda f: f.inputs)


def test_a_constant_is_its_value():
    constants = {f.name: f() for f in FORMULAS.values() if not f.inputs}
    assert constants == {"nvls_steps": 2.0} and str(FORMULAS["collectives.nvls_steps"].rhs) == "2"


@taking
def test_called_without_inputs_it_says_what_it_takes(f):
    with pytest.raises(TypeError) as caught:
        f()
    said = str(caught.value)
    asked = [q.name for q in f.inputs if q not in f.optional]
    assert said.startswith(f"{f.name}: missing {', '.join(asked)}; expected ")
    assert all(f"{q.name} [{q.unit}]" in said for q in f.inputs)


@functools.partial(every, keep=lambda f: f.optional)
def test_what_may_be_left_out_is_a_latency_that_is_zero(f):
    values = points(f, 40, rng(f))
    rest = {name: value for name, value in values.items() if name != "alpha"}
    assert [q.name for q in f.optional] == ["alpha"] and np.any(f(**rest) > 0)
    assert list(f(**rest)) == list(f(**rest, alpha=0)) and np.any(f(**rest) < f(**values))


@taking
def test_one_value_and_an_array_of_it_agree(f):
    values = points(f, 40, rng(f))
    many = f(**values)
    for i in (0, 17, 39):
        one = f(**{k: float(v[i]) for k, v in values.items()})
        assert type(one) is float and one == pytest.approx(many[i], rel=1e-14)


@every
def test_the_result_is_what_its_kind_allows(f):
    """Times, bytes, rates and counts are never negative, whatever usual inputs come together."""
    out = f(**points(f, 300, rng(f)))
    assert np.all(out >= 0), f"{f.name} gives {out.min()}"
