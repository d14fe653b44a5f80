"""What a reader types into a quiz card, worked out in Python, and the card in a browser tab."""

import html
import re

import sympy
from browser.bookpages import probe, said

from gpuscale.quiz import wording
from gpuscale.symbols import flop
from gpuscale.units import SCALE

# Units other than those in "such as ...", by what is asked.
OTHER = {
    "s": ("ns", "min", "us"),
    "B": ("Gbit", "KiB"),
    "B/s": ("Gbit/s", "kB/s"),
    "FLOP": ("GFLOP", "kFLOP"),
    "FLOP/s": ("GFLOP/s", "PFLOP/s"),
    "FLOP/B": ("kFLOP/B", "FLOP/byte"),
    "Hz": ("MHz", "kHz"),
    "W": ("kW",),
    "USD": ("USD",),
    "USD/h": ("USD/h",),
    "/s": ("tokens/s", "requests/s"),
    "1": ("",),
}


class Asked:
    """A question, with right and wrong answers as one would type them."""

    def __init__(self, item):
        self.item, self.question, self.spec = item, item.question, item.spec
        self.variants = range(len(self.question.given))

    def right(self, variant: int = 0) -> str:
        """The right answer as one would type it, in another unit than the card's example."""
        q = self.question
        if q.kind == "choice":
            return str(q.right(variant))
        if q.kind == "formula":
            return typed(q.expr)
        value = q.value(q.expr, variant)
        if q.asked_unit == "%":
            return f"{value:.9g}"
        if q.base == "1" or q.exact:
            return f"{value:,.0f} {q.noun}".strip() if q.exact else f"{value:.9g}"
        units = [u for u in OTHER[q.base] if not self.spec["expects"].endswith(f" {u}")] or OTHER[q.base]
        return f"{value / SCALE[units[0]][0]:.9g} {units[0]}"

    def spellings(self) -> list[str]:
        """A right formula as others would type it."""
        expr = self.question.expr
        return [respelled(expr), f"  {typed(sympy.expand(expr))} ", typed(expr).replace("*", "·")]

    def wrong(self) -> str:
        """A wrong answer that is no known mistake; for a choice the next option."""
        q = self.question
        if q.kind == "choice":
            return str((q.right(0) + 1) % len(q.choices))
        if q.kind == "formula":
            return f"({typed(q.expr)}) * 12347"
        value = q.value(q.expr) * 12347.7 or 12347  # an answer may be zero
        if q.asked_unit == "%":  # a plain number above 1 is asked about, not graded
            return f"{100 * value} %"
        return f"{round(value) if q.exact else value} {'' if q.base == '1' else q.base}"

    def mistakes(self, variant: int = 0) -> dict[str, str]:
        """The message that each known mistake gets, by what one types."""
        q = self.question
        if q.kind == "choice":
            return {str(i): choice[1] for i, choice in enumerate(q.choices) if i != q.right(variant)}
        if q.kind == "formula":
            return {typed(expr): message for message, expr in q.amounts.items()}
        unit = "" if q.base == "1" else q.base
        return {f"{q.value(expr, variant)!r} {unit}": message for message, expr in q.amounts.items()}

    def says(self, message: str, variant: int = 0) -> str:
        """A message of the question as the page shows it."""
        return plain(wording.render(message, self.question.given[variant], tex=False))


class Card(Asked):
    """A question with its card on the page."""

    def __init__(self, page, item):
        super().__init__(item)
        self.page, self.at = page, page.locator(f"#q-{item.set_name}-{item.number}")

    def answers(self, *given: tuple[str, int]) -> list[dict]:
        """Type answers into the card, each at a variant: what the card is like before, and what it says to each."""
        return self.at.evaluate(probe("answers"), {"given": given, "variants": len(self.variants)})

    def answer(self, text: str, variant: int = 0) -> dict:
        """Type one answer into the card; what the card then says."""
        return self.answers((text, variant))[1]

    def turned(self, variant: int) -> None:
        """The card stands at that variant, by other means than ``answer``."""
        self.at.evaluate("(form, turn) => { form.turn = turn; }", variant)


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def typed(expr) -> str:
    """An expression as a reader types it."""
    return str(expr.subs(flop, 1)).replace("**", "^")


def respelled(expr) -> str:
    """The same expression in other words."""
    over, under = expr.subs(flop, 1).as_numer_denom()
    return f"({under})^-1 * (2*({over}) - ({over}))".replace("**", "^")


def each(cards, check, kinds=("number", "choice", "formula")) -> None:
    problems = []
    for card in cards:
        if card.question.kind in kinds:
            problems += [f"{card.item.id}: {what}" for what in check(card)]
    assert not problems, said(problems)
