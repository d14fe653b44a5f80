"""Data that confirm each other: every number is doubled and halved, and a check other than a stored output has to fail.

What may object is a relation (``relations_*``), another source of the same number (``copies``) or a row of the ledger.
A number to which nothing objects is marked as single in its file, and the page of hardware tables lists it.
"""

import re

import pytest
from specs import copies, ledger, relating, relations_chips, relations_measured, relations_models, relations_networks
from specs.watching import Check, Number, facts, numbers, objections, readers, vouched, watched

from gpuscale import specs
from gpuscale.page import appendices

RELATIONS = (copies, relations_chips, relations_measured, relations_models, relations_networks)  # they fill CHECKS


@pytest.fixture(scope="module")
def watch():
    with watched() as found:
        yield found


@pytest.fixture(scope="module")
def by(watch):
    """The checks that read each number."""
    return readers(watch, [*relating.CHECKS, *ledger.rows(watch)])


def test_what_the_numbers_say_of_each_other_holds():
    broken = [check.words for check in relating.CHECKS if not check.holds()]
    assert len(relating.CHECKS) > 2000 and not broken, "\n".join(broken)


@pytest.fixture(scope="module")
def verdicts(watch, by) -> dict[tuple[Number, ...], bool]:
    """Every fact, and whether something vouches for it."""
    return {fact: vouched(watch, fact, by) for fact in facts(copies.PAIRS)}


def listed(found) -> str:
    return "\n".join(map(str, sorted(found, key=str)))


def test_every_number_is_vouched_for_or_marked(verdicts):
    stated = numbers()
    bare = [n for fact, ok in verdicts.items() if not ok for n in fact if not stated[n].single]
    assert not bare, f"nothing objects; give it a relation or mark it single = true:\n{listed(bare)}"


def test_no_number_is_marked_that_is_vouched_for(verdicts):
    stated = numbers()
    needless = [n for fact, ok in verdicts.items() if ok for n in fact if stated[n].single]
    assert not needless, f"something objects; take the mark away:\n{listed(needless)}"


def test_one_place_alone_is_noticed_too(watch, by):
    stated = numbers()
    assert len(stated) > 2500
    unseen = [n for n in stated if not stated[n].single and not vouched(watch, [n], by)]
    assert not unseen, listed(unseen)


def test_nvlink_of_the_b200_cannot_be_twice_what_it_is(watch, by):
    """Not even if every file says so: per GPU and per link, chips, links and nodes."""
    said = [("chip", key, f"nvlink_{name}") for key in ("b200_sxm", "gb200", "b300_sxm") for name in ("bw", "link_bw")]
    said += [("link", key, name) for key in ("nvlink_5", "nvl72") for name in ("bw", "link_bw")]
    said += [("link", "nvswitch_4", "link_bw"), ("level", "b200_node", "link_bw"), ("level", "gb200_rack", "link_bw")]
    everywhere = [Number(*place) for place in said]
    for places in (everywhere[:2], everywhere):
        for factor in (2, 0.5):
            words = "\n".join(check.words for check in objections(watch, places, by, factor))
            assert "b200_sxm: So many make up the total that is printed, nvlink_bw: 1.8 TB/s both" in words
    assert "nvlink_5: So many times the bandwidth of the generation before" in words
    assert "collectives_b200, row 2: A share of the peak" in words


@pytest.mark.parametrize(
    ("place", "objector"),
    [
        ("chip a100_sxm.l2", "near the cache's"),
        ("chip b200_sxm.l2", "T1-B200-l2"),
        ("chip tpu_v5e.price_per_hour", "rate per dollar"),
        ("model llama3_405b.train_tokens", "Six FLOPs"),
        ("model deepseek_v3.train_tokens", "GPU-hours"),
        ("model deepseek_v3.train_batch", "EX-DS-BS"),
    ],
)
def test_sizes_prices_and_training_lengths_have_a_witness(watch, by, place, objector):
    for factor in (2, 0.5):
        assert any(objector in check.words for check in objections(watch, [copies.place(place)], by, factor))


def test_the_page_lists_what_is_marked():
    stated = numbers()
    marked = [number for number, said in stated.items() if said.single]
    page = repr(appendices.single_sources())
    assert page.startswith(f"{len(marked)} numbers of the data rest on a single source.\n")
    assert len(marked) < len(stated) / 8
    assert {number.key for number in marked} == set(re.findall(r" \((\w+)\): ", page))


# ---- the watch itself


def test_a_change_is_seen_where_it_is_read_and_nowhere_else(watch):
    chip, table = specs.chip("h100_sxm"), specs.measured("mamf_bf16")
    l2, warps = copies.place("chip h100_sxm.l2"), copies.place("capability cc_9_0.max_warps_per_sm")
    both = Check("", lambda: (chip.l2, chip.max_warps_per_sm) == (50 * 2**20, 64))
    assert watch.reads(both) >= {l2, warps}
    assert watch.objects(both, {l2: 2}) and watch.objects(both, {warps: 0.5}) and not watch.objects(both, {l2: 1})
    cell = Number("measured", "mamf_bf16", "measured", 0)
    largest = Check("", lambda: table.measured[0] == 271.2e12)
    assert cell in watch.reads(largest) and watch.objects(largest, {cell: 2})
    lost = Number("chip", "h100_sxm", "tensor_clock", 0)
    second = Check("", lambda: chip.spec("tensor_clock").others[0].base == 1.76e9)
    assert lost in watch.reads(second) and watch.objects(second, {lost: 2}) and both.holds()
    assert watch.reads(Check("nonsense", lambda: chip.l2 == 1)) == set()


def test_what_nothing_reads_and_what_cannot_tell_is_not_vouched_for(watch):
    power = copies.place("chip h100_sxm.power")
    weak = Check("", lambda: specs.chip("h100_sxm").power < 1000)  # sees a double, not a half
    assert not vouched(watch, [power], {}) and not vouched(watch, [power], readers(watch, [weak]))
    band = Check("", lambda: 500 < specs.chip("h100_sxm").power < 1000)
    assert vouched(watch, [power], readers(watch, [band]))


def test_one_source_cited_twice_is_one_fact():
    """Two places with one source are copies, two sources are two facts."""
    groups = {number: fact for fact in facts(copies.PAIRS) for number in fact}
    link, chip = copies.place("link pcie_5.bw"), copies.place("chip h100_nvl.pcie_bw")
    assert chip in groups[link]
    assert copies.place("chip h200_sxm.l2") not in groups[copies.place("chip h100_sxm.l2")]
