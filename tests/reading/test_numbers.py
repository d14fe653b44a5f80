"""At most two numbers in a sentence: more of them make a table."""

import pytest
from reading.passages import passages
from reading.sentences import numbers, sentences

# Where a sentence is a list by nature: the file, and how the sentence begins.
LISTS: dict[tuple[str, str], str] = {}


def crowded() -> list[tuple]:
    """The passage and the sentence with more than two numbers, over all pages."""
    pages = [one for one in passages() if one.kind == "markdown"]
    heap = [(one, said) for one in pages for said in sentences(one.text) if len(numbers(said)) > 2]
    return [(one, said) for one, said in heap if not said.startswith("Sources")]


def test_no_sentence_has_three_numbers():
    heap = crowded()
    allowed = {
        (one, said) for one, said in heap for file, start in LISTS if one.file == file and said.startswith(start)
    }
    found = [f"{one}: {numbers(said)} in: {said}" for one, said in heap if (one, said) not in allowed]
    assert found == [], "at most two numbers a sentence; put the others into a small table"
    assert len(allowed) == len(LISTS), "lists that are not there any more"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("An H100 does 989 TFLOP/s in bf16 and reads 3.35 TB/s.", 2),
        ("Llama 3 8B on 64 H100 of a GB200 NVL72, ZeRO-3, 2024.", 1),
        ("Ranks 0, 1 and 2 send 12.2 MB each in step 3.", 1),
        ("A [4096, 14336] matrix, 4,096 × 14,336, in two bytes.", 1),
        ("How many: 11%, 25% or 44%?", 1),
        ("It grows from 12 MB to 24 MB over 36 steps.", 3),
        ("See [chapter 12](overlap.ipynb) {cite}`a2020`; $2^{10} = 1024$.", 0),
        ("A cycle has 2 of 8 slots, 1,024 ranks and 20 GB/s; 40 are free.", 3),
    ],
)
def test_what_a_number_is(text, count):
    (said,) = sentences(text)
    assert len(numbers(said)) == count, numbers(said)


def test_what_a_sentence_is():
    text = "# A heading\n\nOne. *Two*, e.g. this.\n- Three\n- Four\n\n| 1 | 2 | 3 |\n|---|---|---|\n\nFive is 3.5 GB."
    assert list(sentences(text)) == ["A heading", "One.", "*Two*, e.g. this.", "Three", "Four", "Five is 3.5 GB."]
