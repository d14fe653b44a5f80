"""The term map holds: where the field has a word, no reader meets another one."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from reading.passages import passages

TERMS = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))["term"]


@cache
def texts() -> list[tuple]:
    """All passages, with single spaces; the map itself and its tests quote what they forbid."""
    return [(one, " ".join(one.text.split())) for one in passages() if not one.file.startswith("tests/reading/")]


def spans(said: str, text: str) -> list[range]:
    """Where some words stand in a text."""
    return [range(*found.span()) for found in re.finditer(re.escape(said), text, re.I)]


def offences(term: dict):
    """The passages that break a row of the map, with the words, and the exceptions that it needed."""
    never, only = re.compile(term["never"], re.I), tuple(term.get("only", [""]))
    found, used = [], []
    for passage, text in texts():
        if not passage.file.startswith(only):
            continue
        for hit in never.finditer(text):
            reasons = [
                unless
                for unless in term.get("unless", [])
                if passage.file.startswith(unless["file"])
                and any(hit.start() in span and hit.end() - 1 in span for span in spans(unless["text"], text))
            ]
            used += reasons
            if not reasons:
                found.append(f"{passage}: ...{text[max(0, hit.start() - 50) : hit.end() + 50]}...")
    return found, used


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term["write"][:40])
def test_the_fields_word_is_used(term):
    found, used = offences(term)
    assert found == [], f"write: {term['write']}"
    idle = [unless for unless in term.get("unless", []) if unless not in used]
    assert idle == [], "exceptions that nothing needs any more"


WRONG = {
    "matrix multiplication": "the time of a matrix product grows",
    "matmul or GEMM; a": "kernels between the products of a layer move bytes",
    "vector addition": "a vector sum takes three trips",
    "FLOPs": "it counts the operations of a matmul, 128 operations per cycle",
    "element": "two bytes for each number, numbers of two bytes",
    "NIC for a network card": "each GPU has one network card of its own",
    "NIC, GPU or formula": "all its cards send at once",
    "exposed": "part of it stays in sight",
    "latency, launch": "the start-up costs more than the bytes",
    "latency per step": "every step waits once",
    "in-network": "let the switch add the vectors",
    "shard, partition": "the array is cut over eight ranks",
    "shard, split": "eight ranks share the tokens out",
    "sustains": "the ring keeps 80% of the link",
    "fraction": "the share of cycles in which it issues",
    "per (tokens": "with 2,474 tokens for each GPU",
    "per second": "it moves so many bytes in a second",
    "virtual": "four pieces of a stage",
    "defer": "put off the gradients of the weights",
    "fill and drain": "the bubble is the way there and back",
    "path or route": "the two ways between them, both ways at once",
    "recompute": "the forward passes are run again",
    "offload": "send the activations away",
    "vocabulary": "layers, widths, heads, words",
    "second to last": "the second and the last but one",
    "assumes": "NCCL reckons with less",
    "expensive": "the dearer chip",
    "fix": "overlap does not mend the plan",
    "next to": "an all-gather beside a matmul",
    "fast": "the quickest plan",
    "at or above": "faster from {n:count} GPUs on",
    "plain": "each of them shall end with its part",
    "who needs": "small arrays want fewer steps",
    "name both": "the one costs nothing any more, and the other makes the GPU wait",
    "the name of": "a widely read playbook prints them",
    "by what factor": "By which factor is it faster?",
    "the American": "the neighbour's colour is grey",
}


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term["write"][:40])
def test_every_row_of_the_map_finds_what_it_is_for(term):
    (wrong,) = (said for start, said in WRONG.items() if term["write"].startswith(start))
    assert re.search(term["never"], wrong, re.I), wrong


@pytest.mark.parametrize(
    "right",
    [
        "tokens per GPU; for each node, count its NICs",
        "each score is a dot product, and an output collects D products",
        "the GPU waits until the sum of a vector has arrived",
        "on their way to the switch; every way of splitting a model",
        "Each GPU has its own network card, a **NIC**",
        "Meta's model card states 30.84 million GPU-hours",
        "cut the tokens into chunks; the cut through the middle",
        "the other three wait for an all-reduce that it never joins",
        "collective operations of torch.distributed",
        "a summary in words: work divided by speed",
        "exercises that otherwise promise precise values; the matrix is square",
    ],
)
def test_good_english_passes(right):
    assert [term["write"] for term in TERMS if re.search(term["never"], right, re.I)] == []
