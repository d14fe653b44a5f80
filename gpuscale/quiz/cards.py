"""What the reader sees of questions, as HTML and as text: a card, its solution, all cards of a set, their score."""

from functools import cache

from gpuscale.core.cards import derivation_html, derivation_list, equation
from gpuscale.core.derivation import Derivation
from gpuscale.core.formula import Formula
from gpuscale.core.html import Html, as_json, details, element, escape, script_json
from gpuscale.core.latex import span, tex
from gpuscale.core.proof import proof_of_equality
from gpuscale.quiz import wording
from gpuscale.quiz.card_data import expects
from gpuscale.quiz.question import Question, side
from gpuscale.quiz.question_sets import Item, QuestionSet, item, load_set
from gpuscale.symbols import quantities


def ask(ref: str | Item, seed: str = ""):
    """The card of a question: ``ask("hardware.3")``. In a notebook it grades as on the page.

    With a ``seed`` it has other numbers. Raises ValueError for a question whose numbers are the same for every seed.
    """
    one = item(ref).drawn(seed) if seed else item(ref)
    return _shown(as_json(one.spec), question_card(one), question_text(one))


def quiz(name: str | QuestionSet):
    """The cards of a set under one score: ``quiz("hardware")``; predictions stand where the chapter asks them."""
    them = name if isinstance(name, QuestionSet) else load_set(name)
    count = score(them)
    about = {"class_": "quizset", "id": f"quiz-{them.name}", "data_set": them.name, "aria_label": them.title}
    asked = [one for one in them if not one.question.predict]
    html = element("section", count.html, *map(question_card, asked), **about)
    return _shown("", html, "\n".join([count.text, *map(question_text, asked)]))


def score(name: str | QuestionSet) -> Html:
    """The line over a set's cards that counts what is right, for sheets that show one card at a time.

    The page's script turns it into a score with a mark for each question.
    """
    them = name if isinstance(name, QuestionSet) else load_set(name)
    said = f"{len(them)} questions"
    return Html(element("div", f"<span>{said}</span>", class_="score", data_set=them.name), f"{them.title}: {said}")


def _shown(spec: str, html: str, text: str):
    try:
        from gpuscale.widgets.card import Card
    except ImportError:
        return Html(html, text)
    return Card(spec=spec, html=html, text=text)


def question_card(one: Item) -> str:
    """A question as HTML that reads well without a script, with the spec for the page's script."""
    about = one.spec
    options = "".join(f"<li>{c['text']}</li>" for c in about.get("choices", ()))
    field = element("ol", options, class_="choices", type="A") if options else ""
    note = "" if options else f'<p class="note">Answer: {escape(about["expects"])}</p>'
    told = solution(one.question)
    label = about.get("label", f"{about['number']}.")
    summary = "Answer" if one.question.predict else "How to get there"
    return element(
        "form",
        element("div", f'<p class="prompt"><b>{label}</b> {about["ask"]}</p>', field, note, class_="fallback"),
        details(summary, told, class_="solution", open=True) if told else "",
        script_json(about),
        class_="card quiz predict" if one.question.predict else "card quiz",
        id=f"q-{one.set_name}-{one.number}",
        data_gpuscale="quiz",
        autocomplete="off",
        novalidate=True,
    )


def solution(question: Question) -> str:
    """How to get to the answer, as HTML: a derivation, never a number."""
    told = question.solution
    if told is None:
        told = question.answer if question.answer is not None else []
    parts = told if isinstance(told, list) else [told]
    out, rows, before = [], [], None
    for part in parts:
        if isinstance(part, tuple):
            rows.append(_row(part, before))
            before = side(part[0])
            continue
        out += [_rows(rows), _part(part, question)]
        rows, before = [], None
    return "".join([*out, _rows(rows), _put_in(question)])


def _put_in(question: Question) -> str:
    """The values to insert that all readers have; the result is left to them."""
    if question.kind != "number" or len(question.given) > 1:
        return ""
    known = quantities()
    alike = {k: v for k, v in question.given[0].items() if all(other[k] == v for other in question.draws)}
    said = [f"{known[k].html} = {wording.shown(k, v)}" for k, v in alike.items()]
    if not said:
        return ""
    return f'<p class="note">With {", ".join(said)}.</p>'


def _rows(rows: list[tuple[str, ...]]) -> str:
    return derivation_list(rows) if rows else ""


@cache
def _same(before, expr) -> bool:
    return bool(proof_of_equality(before, expr))


def _row(step: tuple, before) -> tuple[str, ...]:
    """A step with its reason; "=" only where it is the step before in another form."""
    expr, why = step
    same = before is not None and _same(before, side(expr))
    left = span(tex(expr.lhs)) if isinstance(expr, Formula) and not same else ""
    body = span(tex(side(expr)), display=True)
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


def question_text(one: Item) -> str:
    """A question in a line or two of text: what is asked and how, never the answer."""
    question, count = one.question, len(one.question.given)
    kind = f"{question.kind}, {count} variants" if count > 1 else question.kind
    kind += ", predict first" if question.predict else ""
    lines = [f"{one.id} ({kind}): {wording.plain(question.ask, question.given[0])}"]
    for letter, choice in zip("ABCDEFGHIJ", question.choices, strict=False):
        lines.append(f"  {letter}. {wording.plain(choice[0], question.given[0])}")
    if not question.choices:
        lines.append(f"  Answer: {expects(question)}")
    return "\n".join(lines)
