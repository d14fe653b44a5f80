"""Constants that the scripts take from Python: units, limits, patterns and messages, and the words on cards.

No script states any of these: it names them as Python does, and ``with_constants`` puts them in.
"""

import json
import re
from collections import Counter

from gpuscale.units import arithmetic, formulas, messages, reading, showing, tables

REACH = 16  # buckets to either side that still count as the same answer
APART = 24  # outcomes of one question must be farther apart than this
FINE = 1e6  # formulas are compared to a millionth

# Verdicts: the mark, the word before the reason, and how a score speaks of them.
VERDICTS = {
    "right": ("✓", "Right.", "right"),
    "wrong": ("✗", "Not yet.", "not yet right"),
    "unclear": ("≠", "Not graded:", "open"),
    "open": ("·", "Open:", "open"),
}
NO_OPTION = "no option has been chosen yet"
SMALL_B = " <code>b</code> is read as a bit; a byte is <code>B</code>."
YOUR_ANSWER = "Your answer, {}"
AS_READ = "your formula, as understood"
CHECK, ANOTHER = "Check", "New numbers"
THESE, ANSWER = "numbers {}", "The answer is {}."
IT_IS, NOT_WITHIN, OTHER_WHOLE = "It is {}.", "It is not within {}% of the answer.", "It is another whole number."
# Common mistakes by their factor, added where they match no other outcome.
_PREFIX = "That is {:,} times too {}: check the prefixes (k, M, G, T)."
SLIPS = (
    (2.0, "That is twice the answer: what is counted twice?"),
    (0.5, "That is half the answer: what is missing?"),
    *((1000.0**k, _PREFIX.format(1000**k, "much")) for k in (1, 2, 3)),
    *((1000.0**-k, _PREFIX.format(1000**k, "little")) for k in (1, 2, 3)),
)
SCORE, QUESTION = "{} of {} right", "Question {}, {}"
EXPORT, LOAD, REVIEW, RESET, SURE = "Export", "Import", "What to review", "Reset", "Forget all answers?"
LOADED, NOT_OURS = "Answers in the file: {}, {} of them new here.", "{} holds no answers to questions of this book."
TAUGHT_IN, NONE_MISSED = "missed in {}, taught in {}", "Nothing has been missed so far."
REPEAT, ALL_IDEAS, AFTER_MISS = "Repeat these first", "All ideas, by chapter", "right after a miss"
SCORE_HEADS = ["Idea, and where it is taught", "Questions", "Score"]
SCORE_KEY = "✓ is right, a dashed circle right after a miss, a colored number not yet right. Each opens its question."
PRACTICE_FILE, TAUGHT_FILE = "practice.js", "taught.js"  # loaded when someone asks for what is in them
SOLUTIONS, PREDICTION = "Solutions", "Prediction {}."

SHOWN_AS, PRESETS = "Shown as", "Presets"
COPY, COPY_LINK, COPIED = "Copy as Python", "Link to this state", "Copied"
# How "Copy as Python" writes an amount: the name in gpuscale.units, from and to which power of 1000 it has a prefix
# there, and its binary prefixes.
WRITTEN = {
    "B": ("B", 0, 5, ("Ki", "Mi", "Gi")),
    "B/s": ("B", 0, 5, ("Ki", "Mi", "Gi")),
    "s": ("s", -3, 0),
    "FLOP": ("FLOP", 0, 5),
    "FLOP/s": ("FLOP", 0, 5),
    "Hz": ("Hz", 0, 3),
}
IMPORT = "from gpuscale.units import {}"

PROVENANCE = {"As printed": "printed", "Basis": "basis", "Source": "source", "Note": "note"}

EQUALS = "equals the formula"
TO_START, ONE_BACK, ONE_ON, PLAY, PAUSE = "To the start", "One step back", "One step forward", "Play", "Pause"
DATA, TIME = "The numbers", "Time"
SPEED, SLOWED, FASTER = "Speed {}×", "Time runs {} times slower here.", "Time runs {} times faster here."
ROUNDED = "In the link, {} is {}, which is not possible here. The figure shows {}."
FORMULA_SAYS, SENT_OF = "formula: {} = {}", "{} of {}"

NO_WORD, NOT_ALL = ": nothing has the word “{}”", ": none has all of these words"
SEEK, SEEK_LIKE, CLOSE = "Search the book", "ring all-reduce, ZeRO-3, NVLink H100", "Close"
SEEK_HELP = "Titles, sections, formulas, symbols, figures, questions, terms, hardware and published numbers."
SEEK_FOUND, SEEK_BEST, SEEK_NONE = "{} results", "The best {} results", "Nothing found"
SEEK_DATA = "search-data.js"  # where the build writes the index

_TAKEN = {
    tables: "ONE BYTE SHARE COUNT STEPS TYPED_STEPS SPELLED BARE WORDS PREFIXES UNITS MANY",
    showing: "NEVER",
    arithmetic: "MAX_TEXT MAX_DEPTH CHAINS FUNCTIONS OTHER_NAMES NUMBER GROUPED TOKENS SUPERSCRIPTS TEXT_RULES",
    reading: "NO_DIMENSION NUMBER_RULES UNIT_RULES HEAD JOINT LOST_POWER RANGE_HEAD RANGE_UNIT BITS",
    formulas: "PLAIN NAMES FORMULA_RULES EXPONENTS OTHER_MEASURE",
    messages: " ".join(name for name in vars(messages) if name.isupper()),
}


def known() -> dict[str, object]:
    """Every constant that a script may use, by its name."""
    out = {name: getattr(module, name) for module, names in _TAKEN.items() for name in names.split()}
    return out | {name: value for name, value in globals().items() if name.isupper() and name[0] != "_"}


def with_constants(source: str) -> str:
    """A script with its constants: written where they are used if that is once, else declared at its head."""
    values = {name: json.dumps(value, ensure_ascii=False) for name, value in known().items()}
    name = re.compile(rf"\b(?:{'|'.join(values)})\b")
    used = Counter(name.findall(source))
    head = "".join(f"const {one} = {values[one]};\n" for one, times in used.items() if times > 1)
    return head + name.sub(lambda found: found[0] if used[found[0]] > 1 else f"({values[found[0]]})", source)
