"""How questions are shown: a card, all cards of a set, the line that counts what is right."""

from gpuscale.core.html import Html, as_json
from gpuscale.quiz import card_html
from gpuscale.quiz.question_sets import Item, QuestionSet, item, load_set


def _shown(spec: str, html: str, text: str):
    try:
        from gpuscale.widgets.card import Card
    except ImportError:
        return Html(html, text)
    return Card(spec=spec, html=html, text=text)


def ask(ref: str | Item):
    """The card of a question: ``ask("hardware.3")``. In a notebook it grades as on the page."""
    one = item(ref)
    place = (one.question, one.set_name, one.number)
    return _shown(as_json(one.spec), card_html.question_card(*place), card_html.question_text(*place))


def quiz(name: str | QuestionSet):
    """All cards of a set under one score: ``quiz("hardware")``."""
    them = name if isinstance(name, QuestionSet) else load_set(name)
    places = [(i.question, i.set_name, i.number) for i in them]
    text = "\n".join([f"{them.title}: {len(them)} questions", *(card_html.question_text(*p) for p in places)])
    return _shown("", card_html.section(them.name, them.title, places), text)


def score(name: str | QuestionSet):
    """The line over a set's cards that counts what is right, for sheets that show one card at a time."""
    them = name if isinstance(name, QuestionSet) else load_set(name)
    text = f"{them.title}: {len(them)} questions"
    return Html(card_html.score(them.name, len(them)), text)
