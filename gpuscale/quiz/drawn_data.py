"""What a card needs to pose a question with other numbers, and to work out its answer: the twin of its data is
widgets/static/practice.js.

The answer and the likely mistakes are printed to JavaScript, and every text has a mark ⟦V:4⟧ where a number stands.
Each value comes with the words that the text shows for it, so that the page need not know how numbers are written.
"""

from gpuscale.core import javascript
from gpuscale.core.html import escape
from gpuscale.quiz import wording
from gpuscale.quiz.question import Question

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def drawn_data(question: Question) -> dict:
    """``given`` are the values that all sets share, ``names`` those that differ. ``sets`` has a digit for each of the
    names, the place of its value in ``values``: first the variants as written, then those that are drawn."""
    drawn = question.draws
    every = [*question.given, *drawn]
    names = [name for name in question.given[0] if len({given[name] for given in every}) > 1]
    values = [sorted({given[name] for given in every}) for name in names]
    out = {
        "work": javascript.bodies(question.named().values()),
        "given": {name: value for name, value in question.given[0].items() if name not in names},
        "names": names,
        "values": values,
        "sets": "".join(
            DIGITS[them.index(given[name])] for given in every for name, them in zip(names, values, strict=True)
        ),
        "count": len(drawn),
    }
    if drawn:
        texts = (question.ask, question.hint, question.remark, *question.mistakes)
        shown = {(name, form) for text in texts for name, form in wording.placeholders(text) if name in names}
        out["shown"] = {
            f"{name}:{form}": [escape(wording.shown(name, value, form)) for value in values[names.index(name)]]
            for name, form in sorted(shown)
        }
        marked = question.given[0] | dict.fromkeys(names, None)
        out["ask"] = wording.render(question.ask, marked)
        out["said"] = [wording.render(text, marked, tex=False) for text in (question.remark, *question.mistakes)]
        out["wrong"] = wording.render(question.hint, marked, tex=False)
    return out
