"""Timetables of pipelines, drawn and played: every cell is a slot, every gray is idle time, and the count fits."""

import json
import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from plotting import test_plotting
from plotting.test_networks import RULES
from plotting.test_plotting import SVG, trees, words
from support.stepper_demo import CAPTION, painting, timetables

from gpuscale.book.served import tight_script
from gpuscale.core import Formula
from gpuscale.plotting import gantt_figure, pipeline_words
from gpuscale.schedules.pipelines import orders
from gpuscale.schedules.pipelines.timetable import PipelineRun, Slot
from gpuscale.symbols import N_MB, N_stages, idle
from gpuscale.widgets import assets, pipeline_stepper

SAID = {"name": "gantt", "caption": "It waits. More."}
RUNS = {
    "gpipe": orders.gpipe(4, 8),
    "1F1B": orders.one_f_one_b(4, 8, t_hop=Fraction(1, 2)),
    "parts": orders.interleaved(4, 4, 2),
    "split": orders.zb_h1(4, 6),
    "one": orders.gpipe(1, 1),
}
LOST = Formula("Waiting of GPipe", idle, (N_stages - 1) / (N_MB + N_stages - 1), source="gpipe", assumes="always")


def busy(run, rank, until):
    """Time worked up to a time, slot by slot."""
    return sum(max(min(s.end, until) - s.start, 0) for s in run.slots if s.rank == rank)


@pytest.fixture(scope="module", params=[*RUNS, "two"])
def figure(request):
    runs = [RUNS["gpipe"], RUNS["parts"]] if request.param == "two" else RUNS[request.param]
    return gantt_figure(runs, **SAID)


@pytest.mark.parametrize("rule", [rule for rule in RULES if "small" not in rule])
def test_every_drawing_keeps_the_rules_of_all_figures(figure, rule):
    getattr(test_plotting, rule)(figure)


def test_figures_stay_small(figure):
    assert len(figure.html) < 40_000


@pytest.mark.parametrize("name", RUNS)
def test_cells_carry_their_microbatch_and_the_count_is_printed(name):
    run = RUNS[name]
    wide, narrow = trees(gantt_figure(run, **SAID))
    for tree in (wide, narrow):
        shown = " ".join(words(tree)).replace("\u00a0", " ")
        assert pipeline_words.count(run) in shown
        assert {"forward", "waiting"} <= set(words(tree))
    numbers = [word for word in words(wide) if word.isdigit()]
    for m in range(run.microbatches):
        assert numbers.count(str(m)) >= sum(slot.microbatch == m for slot in run.slots)


@pytest.mark.parametrize("name", RUNS)
def test_waiting_is_all_time_without_a_slot(name):
    run = RUNS[name]
    for until in (Fraction(0), Fraction(5, 2), run.makespan / 2, run.makespan):
        counted = sum(until - busy(run, rank, until) for rank in range(run.ranks))
        assert pipeline_words.waited(run, until) == counted
    assert pipeline_words.waited(run) / (run.ranks * run.makespan) == run.bubble_fraction
    for rank in range(run.ranks):
        spans = pipeline_words.order(run, rank)
        assert [a for a, _, _ in spans] == [0, *(b for _, b, _ in spans[:-1])] and spans[-1][1] == run.makespan


def test_gray_is_as_long_as_the_idle_time():
    """In the wide drawing of a schedule that is not folded: the area of a color, over the height of a cell."""
    run = RUNS["gpipe"]
    tree = ElementTree.fromstring(gantt_figure(run, **SAID).svg())
    lengths = {"wait": 0.0, "compute": 0.0}
    for path in tree.iter(f"{SVG}path"):
        hue = re.match(r"var\(--(wait|compute)-bar", path.get("fill", ""))
        boxes = re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)V[\d.]+H[\d.]+Z", path.get("d")) if hue else ()
        for x, y, right in boxes:
            if float(y) < 130:  # the key lies below
                lengths[hue[1]] += abs(float(right) - float(x)) + 2 * (hue[1] == "compute")
    assert lengths["wait"] / sum(lengths.values()) == pytest.approx(float(run.bubble_fraction), rel=0.01)


def test_further_parts_are_underlined_and_a_split_backward_is_named():
    assert "a further part of the model, underlined" in words(trees(gantt_figure(RUNS["parts"], **SAID))[0])
    split = words(trees(gantt_figure(RUNS["split"], **SAID))[0])
    assert {"backward for the inputs", "backward for the weights"} <= set(split) and "backward" not in split
    assert "transfer" in words(trees(gantt_figure(RUNS["1F1B"], **SAID))[0])


def test_the_digest_tells_every_slot():
    text = gantt_figure(RUNS["gpipe"], **SAID).text
    assert "GPipe, rank 3: –@0 F0@3 F1@4" in text and "B0@25 –@27 end 33; holds at most 8" in text


def test_a_schedule_without_slots_is_refused():
    with pytest.raises(ValueError, match="expected schedules with slots"):
        gantt_figure([], **SAID)
    with pytest.raises(ValueError, match="expected schedules with slots"):
        pipeline_stepper(PipelineRun("empty", 1, 1, 1, (), (), Fraction(0)), name="x", title="x", caption=CAPTION)


# The stepper


def spec(name):
    return json.loads(timetables()[name].spec)


@pytest.fixture(scope="module")
def painter():
    """What measures text in a page is stood in for."""
    measures = "globalThis.getComputedStyle = () => ({}); gpuscale.parts.wide = (s) => 6.5 * s.length"
    with painting("gantt", measures, tight_script(assets.script("gantt"))) as paint:
        yield paint


def painted(painter, name, width, t):
    return painter(timetables()[name].spec, width, t)


@pytest.mark.parametrize("width", [354, 606])
@pytest.mark.parametrize("name", ["one rank", "gpipe", "long", "parts", "split", "hops", "two at once"])
def test_every_frame_shows_who_computed_and_who_waited(painter, name, width):
    data, seen = spec(name), set()
    ends = painted(painter, name, width, data["steps"])[0]
    unit = lengths(ends, "compute") / sum(b - a for run in data["runs"] for _, a, b, *_ in run["slots"])
    for t in range(data["steps"] + 1):
        drawing, height = painted(painter, name, width, t)
        assert not re.search(r"NaN|undefined|null|Infinity|\[object", drawing), t
        assert 50 < height < 1600
        seen.add(drawing)
        for hue, key in (("compute", "slots"), ("wait", "waits")):
            so_far = sum(max(min(b, t) - a, 0) for run in data["runs"] for _, a, b, *_ in run[key])
            assert lengths(drawing, hue) / unit == pytest.approx(so_far, abs=0.02 * so_far + 0.02), (t, hue)
    assert len(seen) == data["steps"] + 1


def lengths(drawing: str, hue: str) -> float:
    """The length of all solid cells of a color, with the gap next to each."""
    groups = re.findall(rf'<g class="{hue}">(.*?)</g>', drawing)
    widths = [w for g in groups for w in re.findall(r'<rect class="active[^"]*"[^>]*? width="([\d.]+)"', g)]
    return sum(float(w) + 1.5 for w in widths)


@pytest.mark.parametrize("name", ["gpipe", "long", "parts", "split", "hops"])
def test_what_is_held_is_what_the_slots_say(name):
    """At each step: forward passes begun, less those whose last backward is over, in shares of a rank's model."""
    data = spec(name)
    (run,) = data["runs"]
    last = {}
    for rank, _, b, kind, m, part in run["slots"]:
        last[rank, m, part] = max(last.get((rank, m, part), 0), b) if kind != "F" else last.get((rank, m, part), 0)
    for rank in range(run["ranks"]):
        mine = [s for s in run["slots"] if s[0] == rank and s[3] == "F"]
        for t in range(1, data["steps"] + 1):
            held = sum(s[1] < t <= last[rank, s[4], s[5]] for s in mine)
            assert int(run["held"][rank][t], 36) == held
        assert max(int(c, 36) for c in run["held"][rank]) * run["part"] == run["peaks"][rank]


def test_the_meter_counts_the_waiting_and_meets_the_formula():
    run = RUNS["gpipe"]
    card = pipeline_stepper(run, LOST, name="gpipe", title="GPipe", caption=CAPTION)
    meter = json.loads(card.spec)["meter"]
    counted = [sum(t - busy(run, r, t) for r in range(4)) / (4 * run.makespan) for t in range(34)]
    assert meter["values"] == [float(c) for c in counted]
    assert meter["equal"] and meter["formula"] == meter["values"][-1] == float(run.bubble_fraction)
    assert "27.3%" in meter["label"] and meter["text"][-1] == "36 of 132, 27.3%"
    assert repr(card) == "GPipe: 33 steps; GPipe: waited 36 of 132, 27.3%, as in the formula"


def test_a_formula_that_the_schedule_does_not_meet_is_refused():
    wrong = Formula("Wrong", idle, N_stages / (N_MB + N_stages), source="gpipe", assumes="never")
    options = {"name": "x", "title": "x", "caption": CAPTION}
    with pytest.raises(ValueError, match="counts an idle time of 3/11 of the total time; the formula says 1/3"):
        pipeline_stepper(RUNS["gpipe"], wrong, **options)
    with pytest.raises(ValueError, match="the schedule counts an idle time of 3/8"):
        pipeline_stepper(RUNS["gpipe"], LOST, over="ideal", **options)
    with pytest.raises(ValueError, match="over: expected total or ideal"):
        pipeline_stepper(RUNS["gpipe"], over="both", **options)
    with pytest.raises(ValueError, match="at most 16 ranks"):
        pipeline_stepper(orders.gpipe(17, 2), **options)
    with pytest.raises(ValueError, match="at most 240 steps"):
        pipeline_stepper(orders.gpipe(2, 4, t_F=Fraction(1, 30)), **options)
    with pytest.raises(ValueError, match="a formula and inputs for each of 2"):
        pipeline_stepper([RUNS["gpipe"], RUNS["split"]], [LOST], **options)


def test_each_step_is_told():
    data = spec("gpipe")
    assert (
        data["said"][0] == "Nothing has run yet. Each step lasts a time unit."
        and len(data["said"]) == data["steps"] + 1
    )
    assert data["said"][1] == "Forward on rank 0; ranks 1–3 wait."
    assert data["said"][12] == "Backward on rank 3; ranks 0–2 wait."
    assert spec("two at once")["said"][-1].startswith("<b>GPipe</b>: done. <b>Interleaved 1F1B</b>: Backward on")


def test_a_step_of_half_a_time_unit_says_so():
    card = pipeline_stepper(orders.interleaved(2, 2, 2, Fraction(1, 2), 1), name="cut", title="Cut", caption=CAPTION)
    data = json.loads(card.spec)
    assert data["unit"] == "step" and repr(card).startswith(f"Cut: {data['steps']} steps; ")
    assert data["said"][0].endswith(" Each step lasts half a time unit; waiting is counted in whole units.")


def test_without_a_script_the_whole_chart_stands_there():
    for name, card in timetables().items():
        page = BeautifulSoup(card.html, "html.parser")
        assert page.figure["data-painter"] == "gantt" and page.select_one(".fallback svg[role=img]")
        rows = page.select(".fallback tbody tr")
        assert len(rows) == sum(run["ranks"] for run in spec(name)["runs"])
        assert rows[0].small.text.startswith("F0")


def test_slots_of_any_length_find_a_common_step():
    slots = (Slot(0, Fraction(0), Fraction(2, 3), "F", 0, 0), Slot(0, Fraction(2, 3), Fraction(5, 2), "B", 0, 0))
    run = PipelineRun("odd", 1, 1, 1, slots, (), Fraction(5, 2))
    data = json.loads(pipeline_stepper(run, name="odd", title="Odd", caption=CAPTION).spec)
    assert data["unit"] == "step" and "Each step lasts 1/6 of a time unit;" in data["said"][0]
    assert (data["steps"], data["per"]) == (15, 6.0) and [s[1:3] for s in data["runs"][0]["slots"]] == [[0, 4], [4, 15]]
