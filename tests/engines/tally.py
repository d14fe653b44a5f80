"""The collectives of a program, as a compiler or a recorder of calls finds them, to be asked for one by one."""

from collections.abc import Iterable
from typing import NamedTuple


class Collective(NamedTuple):
    """A collective that an engine makes: its kind, its group, what a rank has to send, and in which pass.

    `ranks`: members of a group. `step`: from one member to the next, or from sender to receiver. A rank sends what the
    others lack, once; to reduce and give everybody the result takes that twice.
    """

    kind: str
    ranks: int
    step: int
    sent: int
    backward: bool


class Tally:
    """The collectives of a program, each to be asked for once."""

    def __init__(self, found: Iterable[Collective] = ()):
        self._left = list(found)

    def add(self, one: Collective) -> None:
        """Count another collective."""
        self._left.append(one)

    def take(self, kind: str, backward: bool | None = None) -> list[list[int]]:
        """Ranks of a group, step and bytes that a rank sends, for each axis that has such collectives, inner first."""
        found: dict[tuple[int, int], int] = {}
        for one in [one for one in self._left if one.kind == kind and backward in (None, one.backward)]:
            self._left.remove(one)
            found[one.ranks, one.step] = found.get((one.ranks, one.step), 0) + one.sent
        return [[*axis, sent] for axis, sent in sorted(found.items(), key=lambda item: item[0][1])]

    def one(self, kind: str, backward: bool | None = None) -> list[int]:
        """The same where only one axis has such collectives."""
        (found,) = self.take(kind, backward)
        return found

    def empty(self) -> None:
        """Nothing is left that no row counts. Raises ValueError naming what is."""
        if self._left:
            raise ValueError(f"nobody asked for these collectives: {self._left}")
