"""What the reader sees of a question: its card, its solution, and all cards of a set, as HTML and as text."""

from functools import cache

from gpuscale.core.cards import derivation_html, derivation_list, equation
from gpuscale.core.derivation import Derivation
from gpuscale.core.formula import Formula
from gpuscale.core.html import details, element, escape, script_json
from gpuscale.core.latex import span, tex
from gpuscale.core.proof import proof_of_equality
from gpuscale.quiz import wording
from gpuscale.quiz.card_data import expects, spec
from gpuscale.quiz.question import Question
from gpuscale.symbols import quantities


def anchor(set_name: str, number: int) -> str:
    """The stable anchor of a question."""
    return f"q-{set_name}-{number}"


def question_card(question: Question, set_name: str, number: int) -> str:
    """A question as HTML that reads well without a script, with the spec for the page's script."""
    about = spec(question, set_name, number)
    options = "".join(f"<li>{c['text']}</li>" for c in about.get("choices", ()))
    field = element("ol", options, class_="choices", type="A") if options else ""
    note = "" if options else f'<p class="note">Answer: {escape(about["expects"])}</p>'
    told = solution(question)
    return element(
        "form",
        element("div", f'<p class="prompt"><b>{number}.</b> {about["ask"]}</p>', field, note, class_="fallback"),
        details("How it comes about", told, class_="solution", open=True) if told else "",
        script_json(about),
        class_="card quiz",
        id=anchor(set_name, number),
        data_gpuscale="quiz",
        autocomplete="off",
        novalidate=True,
    )


def score(set_name: str, count: int) -> str:
    """The line that the page's script turns into a score with a mark for each question."""
    return element("div", f"<span>{count} questions</span>", class_="score", data_set=set_name)


def section(set_name: str, title: str, places: list[tuple]) -> str:
    """A whole set: the score and every card."""
    cards = (question_card(*place) for place in places)
    about = {"class_": "quizset", "id": f"quiz-{set_name}", "data_set": set_name, "aria_label": title}
    return element("section", score(set_name, len(places)), *cards, **about)


def solution(question: Question) -> str:
    """How the answer comes about, as HTML: a derivation, never a number."""
    told = question.solution
    if told is None:
        told = question.answer if question.answer is not None else []
    parts = told if isinstance(told, list) else [told]
    out, rows, before = [], [], None
    for part in parts:
        if isinstance(part, tuple):
            rows.append(_row(part, before))
            before = _right(part[0])
            continue
        out += [_rows(rows), _part(part, question)]
        rows, before = [], None
    return "".join([*out, _rows(rows), _put_in(question)])


def _put_in(question: Question) -> str:
    """The values to put in, where all readers have the same ones; the result is left to them."""
    if question.kind != "number" or len(question.given) > 1:
        return ""
    known = quantities()
    said = [f"{known[k].html} = {wording.shown(k, v)}" for k, v in question.given[0].items()]
    return f'<p class="note">With {", ".join(said)}.</p>'


def _rows(rows: list[tuple[str, ...]]) -> str:
    return derivation_list(rows) if rows else ""


def _right(expr):
    return expr.rhs if isinstance(expr, Formula) else expr


@cache
def _same(before, expr) -> bool:
    return bool(proof_of_equality(before, expr))


def _row(step: tuple, before) -> tuple[str, ...]:
    """A step with its reason; "=" only where it is the step before in another form."""
    expr, why = step
    same = before is not None and _same(before, _right(expr))
    left = span(tex(expr.lhs)) if isinstance(expr, Formula) and not same else ""
    body = span(tex(_right(expr)), display=True)
    relation = span("=") if left or same else ""
    return left, relation, body, wording.render(why, {}), ""


def _part(part, question: Question) -> str:
    if isinstance(part, str):
        return f"<p>{wording.render(part, question.given[0])}</p>"
    if isinstance(part, Derivation):
        return derivation_html(part)
    if isinstance(part, Formula):
        return f"<p>{equation(part)}</p>"
    return f"<p>{span(tex(part), display=True)}</p>"


def question_text(question: Question, set_name: str, number: int) -> str:
    """A question in a line or two of text: what is asked and how, never the answer."""
    count = len(question.given)
    kind = f"{question.kind}, {count} variants" if count > 1 else question.kind
    lines = [f"{set_name}.{number} ({kind}): {wording.plain(question.ask, question.given[0])}"]
    for letter, choice in zip("ABCDEFGHIJ", question.choices, strict=False):
        lines.append(f"  {letter}. {wording.plain(choice[0], question.given[0])}")
    if not question.choices:
        lines.append(f"  Answer: {expects(question)}")
    return "\n".join(lines)
