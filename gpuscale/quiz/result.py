"""What ``check`` leaves in a notebook: a line for the reader, and a record that ``grade`` reads."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from gpuscale.quiz.wording import strip
from gpuscale.widgets.shared import VERDICTS

MIME = "application/vnd.gpuscale.result+json"
VERSION = 1


@dataclass(frozen=True)
class Result:
    """The verdict on one answer. ``message`` is HTML; ``stamp`` changes when the question does."""

    id: str
    variant: int
    typed: str
    verdict: str
    message: str
    stamp: str

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.verdict == "right"

    def _repr_mimebundle_(self, include=None, exclude=None):
        record = {"version": VERSION, **asdict(self)}
        return {"text/html": self._html(), "text/plain": repr(self), MIME: record}

    def _html(self) -> str:
        mark, word, _ = VERDICTS[self.verdict]
        return (
            f'<p class="feedback {self.verdict}"><span class="mark" aria-hidden="true">{mark}</span> '
            f"<span><b>{word}</b> {self.message}</span></p>"
        )

    def __repr__(self) -> str:
        mark, word, _ = VERDICTS[self.verdict]
        return f"{self.id} {mark} {word} {strip(self.message)}"


def read(record: object) -> Result | None:
    """The result that a notebook stores, or None if it is none of this version."""
    if not isinstance(record, Mapping) or record.get("version") != VERSION:
        return None
    kept = {k: record.get(k) for k in ("id", "variant", "typed", "verdict", "message", "stamp")}
    good = all(isinstance(v, int if k == "variant" else str) for k, v in kept.items())
    return Result(**kept) if good and kept["verdict"] in VERDICTS else None
