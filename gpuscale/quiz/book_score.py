"""The score of the whole book: on the site a table of what a reader has answered, by idea, else a list of all sets."""

from gpuscale.core.html import Html, element, escape, table
from gpuscale.quiz.question_sets import QuestionSet, load_set, sets


def scoreboard() -> Html:
    """The place where the page's script writes the score; without a script it lists the sets and their questions."""
    them = [load_set(name) for name in sets()]
    rows = [(_link(one), str(len(one))) for one in them]
    told = '<p class="note">The score is written by a script from the answers that this browser stores.</p>'
    listed = table(["Questions on", "How many"], rows, "plain-table")
    plain = "\n".join(f"{one.title}: {len(one)} questions" for one in them)
    return Html(element("div", element("div", told, listed, class_="fallback"), class_="scores"), plain)


def _link(them: QuestionSet) -> str:
    return f'<a href="../exercises/{them.name}.ipynb" data-set="{them.name}">{escape(them.title)}</a>'
