"""Prose as sentences, and the numbers in one."""

import re
from collections.abc import Iterator

# What holds digits and is no number: links, citations, mathematics, markup, and the rows of a table.
MARKUP = [
    (re.compile(r"\$\$.*?\$\$|\$[^$]+\$|\\\(.*?\\\)", re.S), " "),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[[\w, ]*\d[\w, ]*\]"), " "),  # a shape: [4096, 14336]
    (re.compile(r"\{[\w:-]+\}|^\(\w[\w-]*\)=$|^:{2,}.*$|^:\w+:.*$", re.M), " "),
    (re.compile(r"^\s*\|.*$", re.M), "\n\n"),
    (re.compile(r"</?(summary|details|p|div|br)[^>]*>", re.I), "\n\n"),
    (re.compile(r"<[^>]+>"), " "),
]
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+>]|\d+\.|#+|:)\s)")
BULLET = re.compile(r"^\s*(?:[-*+>]|\d+\.|#+|:)\s+")
END = re.compile(r"(?<=[.!?])[\"'”’)*_]*\s+(?=[\"'“(*_\[]*[A-Z0-9])")
THING = (
    "rank|GPU|node|stage|layer|expert|chunk|level|axis|step|slot|group|microbatch|switch|piece|lane|warp|bucket|leaf"
)
THING += (
    "|chapter|part|quiz|question|figure|section|appendix|table|equation|slide|lecture|version|port|phase|token|slice"
)
NAMES = [
    rf"\b(?:{THING})s? \d+(?:(?:, | and |, and | to | or |–)\d+)*\b",  # rank 0, stages 1 to 3
    r"\bLlama[ -]\d(?:\.\d)?(?: \d+B)?|\bPaLM \d|\bMixtral \d+x\d+B|\bQuiz \d",
    r"\b(?:NVLink|NVSwitch|PCIe|CUDA|PyTorch|NCCL|ZeRO|ConnectX|FlashAttention|Gen|Volume|DDR|Ethernet|Python|Megatron-LM"
    r"|Wi-Fi|IEEE|RFC|Quantum|Spectrum|Transformer Engine|compute capability|scaling book)[ -]?v?\d[\d.]*(?:x\d+)?",
    r"\b(?:TP|PP|DP|EP|CP|SP|VP)[ =]\d+\b",
    r"\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b(?!,| [a-zµ])",  # a year or a date
    r"\b\d+:\d+\b",  # 2:4 sparsity
    r"[A-Za-zµ][\w.]*-?\d[\w.-]*|\b\d+[A-Za-z]\w*",  # H100, 1F1B
    r"\b\d+-(?:way|bit|byte|hop|level|port|dimensional|fold|ary)\b",
]
NAME = re.compile("|".join(NAMES), re.I)
ONE = r"[−+-]?\d+(?:,\d{3})*(?:\.\d+)?"
# One number each: a shape, a range, a fraction, "7 to 1", and what a question offers to choose from ("1%, 5% or 24%").
JOINED = rf"{ONE}(?:(?:\s?[×x/–]\s?| by | to | out of )(?:{ONE}))*"
UNIT = r"(?:\s?[^\s\d,.;:?!()]+)?"
NUMBER = re.compile(rf"{JOINED}(?:{UNIT}(?:, {JOINED}{UNIT})*,? or {JOINED})?")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a passage of Markdown, without its tables and mathematics."""
    for pattern, instead in MARKUP:
        text = pattern.sub(instead, text)
    for block in BLOCK.split(text):
        words = " ".join(BULLET.sub("", block).split())
        yield from filter(None, END.split(words))


def numbers(sentence: str) -> list[str]:
    """The numbers in a sentence. Names such as H100, Llama 3 8B or rank 0 hold none, and whole numbers up to ten read
    like words."""
    found = (one[0] for one in NUMBER.finditer(NAME.sub(" ", sentence)))
    return [one for one in found if not re.fullmatch(r"\d|10", one)]
