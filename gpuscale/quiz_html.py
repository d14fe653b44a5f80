"""What the reader sees of a question: the spec that the page's script draws from, and the static card."""

from __future__ import annotations

import json
from functools import cache

from gpuscale import answers, prose
from gpuscale.derive import Derivation, proof_of_equality
from gpuscale.display import derivation_html
from gpuscale.formula import Formula
from gpuscale.question import Question, close, outcomes
from gpuscale.symbols import quantities
from gpuscale.typeset import escape, span, tex
from gpuscale.units import EXAMPLES, SCALE, WORDS

# Slips of anybody's, added where they hit no other outcome.
PREFIX_SLIP = "That is {k} times too {much}: check the prefixes (k, M, G, T)."
SLIPS = {
    2.0: "That is twice the answer: what is counted two times?",
    0.5: "That is half the answer: what is missing?",
    **{1000.0**k: PREFIX_SLIP.format(k=f"{1000**k:,}", much="much") for k in (1, 2, 3)},
    **{1000.0**-k: PREFIX_SLIP.format(k=f"{1000**k:,}", much="little") for k in (1, 2, 3)},
}
OTHER_EXAMPLES = {
    "1": "12", "B": "3 GB", "B/s": "50 GB/s", "s": "2 ms", "FLOP": "5 TFLOP", "FLOP/s": "60 TFLOP/s",
    "FLOP/B": "12 FLOP/B", "Hz": "1.2 GHz", "W": "1 kW", "USD/h": "3 USD/h",
}  # fmt: skip


def spec(question: Question, set_name: str, number: int) -> dict:
    """Everything the page needs to draw and grade a question; it holds no answer, only hashes."""
    name = f"{set_name}.{number}"
    variants = [
        {"ask": prose.render(question.ask, given), "grade": _grade(question, f"{name}/{i}", i)}
        for i, given in enumerate(question.given)
    ]
    out = {"id": name, "number": number, "kind": question.kind, "ask": variants[0]["ask"]}
    out |= {"expects": expects(question), "attempts_to_reveal": 2, "variants": variants}
    if question.kind == "choice":
        return out | {"choices": [{"text": prose.render(c[0], question.given[0])} for c in question.choices]}
    out |= {"unit": question.asked_unit, "noun": question.noun}
    if question.kind == "number":
        return out
    if isinstance(question.answer, Formula):
        out["lhs"] = question.answer.lhs.html
    letters = {q.name: {"unit": q.unit, "html": q.html} for q in question.may_use}
    return out | {"unit": question.base, "symbols": list(letters), "letters": letters}


def expects(question: Question) -> str:
    """The kind of answer in words: "a time, such as 65 us"; the example is never the answer."""
    if question.kind == "choice":
        return "one of the options"
    if question.kind == "formula":
        names = [q.name for q in question.may_use]
        return "a formula in " + " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    if question.asked_unit == "%":
        return "a share, such as 45% or 0.45"
    word = f"a number of {question.noun}" if question.noun else WORDS[question.base]
    return f"{word}, such as {question.example or _example(question)}"


def _example(question: Question) -> str:
    base, unit = question.base, question.asked_unit
    fixed = unit != base
    taken = [v for i in range(len(question.given)) for _, v in outcomes(question, i)]
    texts = [f"{n} {unit}" for n in (40, 7)] if fixed else [EXAMPLES[base], OTHER_EXAMPLES[base]]
    if base == "1" and not question.exact and abs(taken[0]) < 1:
        texts = ["0.4", "0.75"]
    for text in texts:
        number, _, name = text.partition(" ")
        value = float(number) * (SCALE[name][0] if name else 1)
        if not any(close(question, value, v) for v in taken):
            return text
    return texts[-1]


def _grade(question: Question, salt: str, variant: int) -> dict:
    given = question.given[variant]
    said = {f"“{m}”": prose.render(m, given, tex=False) for m in question.mistakes}
    if question.kind == "choice":
        right = question.right(variant)
        feedback = [prose.render(c[1], given, tex=False) for c in question.choices]
        return answers.grade_data(salt, [(f"#{i}", i == right, t) for i, t in enumerate(feedback)], "")
    remark = " " + prose.render(question.remark, given, tex=False) if question.remark else ""
    hint = prose.render(question.hint, given, tex=False)
    if question.kind == "formula":
        return _formula_grade(question, salt, said, remark, hint)
    found = outcomes(question, variant)
    said["the answer"] = f"It is {escape(question.show(found[0][1]))}.{remark}"
    found += _common(question, found)
    rows = [
        (answers.token(v, question.tolerance, question.exact), name == "the answer", said.get(name, name))
        for name, v in found
    ]
    plain = f"It is not within {100 * question.tolerance:g}% of the answer."
    wrong = hint or ("It is another whole number." if question.exact else plain)
    return answers.grade_data(salt, rows, wrong, tolerance=question.tolerance, exact=question.exact)


def _common(question: Question, found: list) -> list:
    """Everybody's slips that are far from every other outcome."""
    if question.exact or found[0][1] == 0:
        return []
    out = []
    for factor, message in SLIPS.items():
        value = factor * found[0][1]
        scaled = factor not in (2.0, 0.5)
        if scaled and question.base in ("1", "FLOP/B", "USD/h"):
            continue
        if not any(close(question, value, v) for _, v in found + out):
            out.append((message, value))
    return out


def _formula_grade(question: Question, salt: str, said: dict, remark: str, hint: str) -> dict:
    from gpuscale.question_checks import values_at

    said["the answer"] = f"It is equal to the book's formula for all values.{remark}"
    exprs = {"the answer": question.expr, **{f"“{m}”": e for m, e in question.amounts().items()}}
    rows = [
        (answers.formula_token(values_at(expr, question.points)), name == "the answer", said[name])
        for name, expr in exprs.items()
    ]
    points = [{q.name: p[q.name] for q in question.may_use} for p in question.points]
    wrong = hint or "It is not equal to the formula asked for. Try a case small enough to count by hand."
    return answers.grade_data(salt, rows, wrong, points=points)


# --- the static card ---


def anchor(set_name: str, number: int) -> str:
    """The stable anchor of a question."""
    return f"q-{set_name}-{number}"


def card(question: Question, set_name: str, number: int) -> str:
    """A question as HTML that reads well without a script, with the spec for the page's script."""
    about = spec(question, set_name, number)
    options = "".join(f"<li>{c['text']}</li>" for c in about.get("choices", ()))
    field = f'<ol class="choices" type="A">{options}</ol>' if options else ""
    note = "" if options else f'<p class="note">Answer: {escape(about["expects"])}</p>'
    told = solution(question)
    how = f"<summary>How it comes about</summary>{told}"
    return (
        f'<form class="card quiz" id="{anchor(set_name, number)}" data-gpuscale="quiz" autocomplete="off" '
        f'novalidate><div class="fallback"><p class="prompt"><b>{number}.</b> {about["ask"]}</p>{field}{note}'
        + (f'</div><details class="solution" open>{how}</details>' if told else "</div>")
        + f'<script type="application/json">{as_json(about)}</script></form>'
    )


def score(set_name: str, count: int) -> str:
    """The line that the page's script turns into a score with a mark for each question."""
    return f'<div class="score" data-set="{set_name}"><span>{count} questions</span></div>'


def section(set_name: str, title: str, places: list[tuple]) -> str:
    """A whole set: the score and every card."""
    cards = "".join(card(*place) for place in places)
    return (
        f'<section class="quizset" id="quiz-{set_name}" data-set="{set_name}" aria-label="{escape(title)}">'
        f"{score(set_name, len(places))}{cards}</section>"
    )


def as_json(value: dict) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


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
    said = [f"{known[k].html} = {prose.shown(k, v)}" for k, v in question.given[0].items()]
    return f'<p class="note">With {", ".join(said)}.</p>'


def _rows(rows: list[str]) -> str:
    return f'<ol class="derivation">{"".join(rows)}</ol>' if rows else ""


def _right(expr):
    return expr.rhs if isinstance(expr, Formula) else expr


@cache
def _same(before, expr) -> bool:
    return bool(proof_of_equality(before, expr))


def _row(step: tuple, before) -> str:
    """A step with its reason; "=" only where it is the step before in another form."""
    expr, why = step
    same = before is not None and _same(before, _right(expr))
    left = span(tex(expr.lhs)) if isinstance(expr, Formula) and not same else ""
    body = span(tex(_right(expr)), display=True)
    relation = span("=") if left or same else ""
    why = prose.render(why, {})
    return (
        f'<li><span>{left}</span><span>{relation}</span><span class="expr">{body}</span>'
        f'<span class="why">{why}</span><span class="checked"></span></li>'
    )


def _part(part, question: Question) -> str:
    if isinstance(part, str):
        return f"<p>{prose.render(part, question.given[0])}</p>"
    if isinstance(part, Derivation):
        return derivation_html(part)
    if isinstance(part, Formula):
        return f"<p>{span(f'{tex(part.lhs)} = {tex(part.rhs)}', display=True)}</p>"
    return f"<p>{span(tex(part), display=True)}</p>"


def digest(question: Question, set_name: str, number: int) -> str:
    """A question in a line or two of text: what is asked and how, never the answer."""
    count = len(question.given)
    kind = f"{question.kind}, {count} variants" if count > 1 else question.kind
    lines = [f"{set_name}.{number} ({kind}): {prose.plain(question.ask, question.given[0])}"]
    for letter, choice in zip("ABCDEFGHIJ", question.choices, strict=False):
        lines.append(f"  {letter}. {prose.plain(choice[0], question.given[0])}")
    if not question.choices:
        lines.append(f"  Answer: {expects(question)}")
    return "\n".join(lines)


__all__ = ["anchor", "as_json", "card", "digest", "escape", "expects", "score", "section", "solution", "spec"]
