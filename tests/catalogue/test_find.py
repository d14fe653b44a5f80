"""Searching the formulas: what a reader types finds what it should, best first, and nothing else."""

import doctest

import pytest

import gpuscale
from gpuscale import find
from gpuscale.catalogue import search, sweep
from gpuscale.sources import source_name
from gpuscale.symbols import T_comms, V, W, quantities

FORMULAS = sweep.formulas()


def names(found) -> list[str]:
    return [f.name for f in found]


def test_its_examples_run():
    done = doctest.testmod(search)
    assert done.failed == 0 and done.attempted >= 9


def test_it_is_offered_at_the_top():
    assert gpuscale.find is gpuscale.catalogue.find is search.find


def test_every_formula_is_the_first_for_its_name_and_for_its_title():
    for f in FORMULAS.values():
        assert find(f.name)[0] is f, f.name
        assert find(f.title)[0] is f, f.title
        assert f in find(f.name.replace("_", " ")), f.name


def test_every_formula_is_among_those_that_give_its_left_side():
    for lhs in {f.lhs for f in FORMULAS.values()}:
        every = {f for f in FORMULAS.values() if f.lhs is lhs}
        assert set(find(gives=lhs)) == set(find(gives=lhs.name)) == every


def test_a_symbol_finds_every_formula_that_uses_it():
    for name, q in quantities().items():
        using = {f for f in FORMULAS.values() if q is f.lhs or q in f.inputs}
        assert using <= set(find(name)), name


def test_a_source_finds_what_it_is_cited_for():
    cited: dict[str, set] = {}
    for f in FORMULAS.values():
        for part in f.source.split(";"):
            cited.setdefault(part.partition(",")[0].strip(), set()).add(f)
    assert len(cited) > 30
    for key, using in cited.items():
        assert using <= set(find(key)) & set(find(source_name(key))), key


@pytest.mark.parametrize("given", [["V", "W"], ["N"], [], ["V", W, "N", "alpha"], "V", ("G", "G_2", "G_3")])
def test_given_quantities_are_all_that_is_needed(given):
    have = {given} if isinstance(given, str) else {getattr(one, "name", one) for one in given}
    every = {f for f in FORMULAS.values() if {q.name for q in f.inputs} <= have}
    found = find(given=given)
    assert set(found) == every
    used = [len(f.inputs) for f in found]
    assert used == sorted(used, reverse=True)


SOME = {
    "busbw": ("all_reduce_bus", "ring_bus"),
    "bus bandwidth": ("all_reduce_bus", "ring_bus"),
    "algbw": ("algorithm_bandwidth",),
    "fat tree": ("two_level_capacity", "three_level_capacity"),
    "Clos": ("two_level_capacity", "three_level_capacity"),
    "leaf spine": ("two_level_capacity", "spine_bandwidth"),
    "all reduce": ("ring_all_reduce", "best_all_reduce", "nvls_all_reduce"),
    "KV": ("kv_cache", "kv_token"),
    "bubble": ("bubble_time", "zb_bubble"),
    "patarasuk": ("ring_all_reduce", "all_reduce_bytes"),
    "MoE": ("moe_parameters", "ep_params"),
    "FSDP": ("zero3_state", "zero3_traffic"),
    "DDP": ("dp_traffic", "dp_threshold"),
    "TP": ("tp_comms", "tp_limit"),
    "DRAM": ("memory_time", "ridge_point"),
    "SMEM": ("smem_limit", "fed_tile"),
    "TFLOPS": ("vector_peak", "mfu"),
    "HCA": ("node_egress", "nic_rate"),
    "SHARP": ("nvls_all_reduce", "three_level_switches"),
    "activation checkpointing": ("checkpoint_activations", "partly_recomputed_activations"),
    "GQA": ("kv_token", "attention_params"),
    "GEMM": ("matmul_time", "matmul_ops"),
    "little's law": ("bytes_in_flight",),
    "rooflin": ("roofline_time",),
    "TTFT": ("first_token_time",),
    "PagedAttention": ("largest_batch", "paging_waste"),
    "DCP": ("cache_sharded_merge",),
    "AWQ": ("quantized_bytes",),
    "prefix caching": ("prefill_flop_cached",),
    "continuous batching": ("steady_batch", "steady_step"),
    "disaggregation": ("handover_bytes",),
}


@pytest.mark.parametrize("text", SOME)
def test_the_words_of_the_field_find(text):
    assert set(SOME[text]) <= set(names(find(text)))


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("all-reduce", "All Reduce"),
        ("all-reduce", "ALLREDUCE"),
        ("all to all", "alltoall"),
        ("reduce-scatter", "reducescatter"),
        ("switch", "switches"),
        ("latency", "latencies"),
        ("bubbles", "BUBBLE"),
        ("time of a ring all-reduce", "ring all-reduce time"),
        ("Träff", "traff"),
        ("FLOP/s", "flop/s"),
    ],
)
def test_case_hyphens_plurals_and_order_do_not_matter(one, same):
    assert names(find(one)) == names(find(same)) != []


def test_all_words_have_to_match():
    ring, reduces = set(find("ring")), set(find("all-reduce"))
    assert set(find("ring all-reduce")) == ring & reduces < ring


def test_a_term_of_common_words_is_one_word():
    """ "all" and "reduce" occur in the conditions of a reduce-scatter."""
    assert "ring_reduce_scatter" in names(find("reduce all"))
    assert "ring_reduce_scatter" not in names(find("all reduce"))


def test_a_word_stands_for_more_only_where_it_is_none():
    assert "busbw" in search.matching("busb") and search.matching("bus") == {"bus"}
    assert {"tree", "trees"} <= search.matching("tre") and search.matching("tree") == {"tree", "trees"}
    assert search.matching("rates") == {"rate", "rates", "rated"} & search.matching("rate")
    assert "ring" not in search.matching("r") and search.matching("usbw") == frozenset()


@pytest.mark.parametrize("word", ["backward", "buffer", "router", "nccl", "patarasuk"])
def test_titles_come_before_symbols_before_conditions_before_sources(word):
    """By where the word occurs, for words that no synonym brings in."""

    def stands(f) -> int:
        symbols = " ".join(f"{q.name} {q.meaning} {q.also}" for q in (f.lhs, *f.inputs))
        texts = (f"{f.title} {f.name}", symbols, f.assumes, f"{f.source} {source_name(f.source.partition(',')[0])}")
        return next(place for place, text in enumerate(texts) if word in text.lower())

    places = [stands(f) for f in find(word)]
    assert places == sorted(places) and len(places) > 3


def test_synonyms_come_before_symbols_and_what_is_given_before_what_is_taken():
    where = names(find("recompute")).index
    assert where("recompute_flops") < where("checkpoint_activations") < where("kernels_backward")
    where = names(find("dram")).index
    assert where("ridge_point") < where("stage_forward")
    giving = [f.lhs.name == "V_rank" for f in find("V_rank")]
    assert giving == sorted(giving, reverse=True) and False in giving
    giving = [f.lhs.name == "W_bus" for f in find("busbw")]
    assert giving[:5] == [True] * 5 and False in giving


def test_the_same_question_has_the_same_answer():
    search.matching.cache_clear()
    again = names(find("ring latency"))
    search.matching.cache_clear()
    assert names(find("ring latency")) == again


def test_text_and_quantities_together():
    ring = find("ring", gives=T_comms)
    assert ring[0].name == "ring_all_gather" and {f.lhs for f in ring} == {T_comms}
    assert names(find(gives="T_comms", given=["V", "W"])) == ["bandwidth_floor", "ring_all_to_all_even"]


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"gives": "T_coms"}, KeyError, "gives: 'T_coms' is not a quantity of the book; did you mean T_comms"),
        ({"gives": "busbw"}, KeyError, "did you mean W_bus?"),
        ({"given": ["V", "w_nvL"]}, KeyError, "given: 'w_nvL' is not .* did you mean W_nvl"),
        ({"given": ["zzzzz"]}, KeyError, "the notation page lists them all"),
        ({"gives": 3}, TypeError, "gives: expected quantities or their names, such as 'T_comms'; got 3"),
        ({"given": [V * W]}, TypeError, r"given: expected quantities .* got V\*W"),
        ({"text": 3}, TypeError, "find: text: expected words to search for; got 3"),
        ({}, ValueError, "find: expected words to search for, gives= or given="),
        ({"text": " "}, ValueError, "find: expected words to search for, gives= or given="),
        ({"text": "of the"}, ValueError, "find: 'of the' has no word to search for"),
        ({"text": "?!"}, ValueError, "has no word to search for"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, error, said):
    with pytest.raises(error, match=said):
        find(**asked)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"text": "occupncy"},
            "No formula for 'occupncy'. No formula has the word 'occupncy'; close ones: occupancy, concurrency.",
        ),
        ({"text": "ring qqqqq"}, "No formula for 'ring qqqqq'. No formula has the word 'qqqqq'."),
        ({"text": "occupancy zero-bubble"}, "No formula has all of these words: 'occupancy', 'zero', 'bubble'."),
        ({"text": "occupancy", "gives": V}, "giving V. Formulas with these words give W_eff, w_res, occ, eta_issue."),
        ({"gives": "T_comms", "given": "V"}, "The nearest, bandwidth_floor, needs W as well."),
        ({"gives": "T_hop", "given": []}, "giving T_hop from nothing. The nearest, hop_time, needs"),
    ],
)
def test_nothing_found_says_what_was_searched_and_what_to_try(asked, said):
    found = find(**asked)
    assert len(found) == 0 and not found and said in repr(found) and said in found._repr_mimebundle_()["text/html"]


def test_the_result_is_a_sequence_and_a_short_table():
    found = find("gpu")
    assert len(found) > 100 and found[0] in found and list(found)[:2] == list(found[:2])
    lines = repr(found).splitlines()
    assert lines[0] == f"{len(found)} formulas for 'gpu':"
    assert len(lines) == search.SHOWN + 2 <= 24 and lines[-1].strip().startswith(
        f"and {len(found) - search.SHOWN} more"
    )
    assert max(map(len, lines)) < 140
    assert repr(find("ring_steps")) == "1 formula for 'ring_steps':\n  ring_steps(N)  Steps of a ring  collectives"


def test_a_notebook_shows_the_equations():
    found = find("kv_cache")
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == repr(found)
    assert r"\displaystyle V_\mathrm{KV} = S" in shown["text/html"] and "<code>kv_cache(" in shown["text/html"]
    assert shown["text/html"].count("<tr>") == 2


def test_every_synonym_finds_something_and_stands_once():
    phrases = [phrase for row in search.SYNONYMS for phrase in row]
    twice = {phrase for phrase in phrases if phrases.count(phrase) > 1}
    assert twice == set()
    for row in search.SYNONYMS:
        for phrase in row:
            assert len(find(phrase)) > 0, phrase


def test_the_index_of_the_page_is_whole():
    index = search.index()
    assert len(index["formulas"]) == len(FORMULAS)
    assert {i for parts in index["formulas"].values() for i in parts} == set(range(len(index["texts"])))
