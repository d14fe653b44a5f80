"""Timetables of pipelines, drawn: every cell is a slot, every gray is idle time, and the count fits."""

import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from plotting import test_plotting
from plotting.test_networks import RULES
from plotting.test_plotting import SVG, trees, words

from gpuscale.plotting import gantt_figure, pipeline_words
from gpuscale.schedules.pipelines import orders
from gpuscale.schedules.pipelines.timetable import PipelineRun

SAID = {"name": "gantt", "caption": "It waits. More."}
RUNS = {
    "gpipe": orders.gpipe(4, 8),
    "1F1B": orders.one_f_one_b(4, 8, t_hop=Fraction(1, 2)),
    "parts": orders.interleaved(4, 4, 2),
    "split": orders.zb_h1(4, 6),
    "one": orders.gpipe(1, 1),
}


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
    for rank in range(run.ranks):
        waits = sum(b - a for a, b in pipeline_words.waits(run, rank))
        assert waits == run.makespan - busy(run, rank, run.makespan)
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
        gantt_figure(PipelineRun("empty", 1, 1, 1, (), (), Fraction(0)), **SAID)
