"""A choice: one layout of a run, with its ZeRO stage, recomputation and microbatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gpuscale.plan.columns import described
from gpuscale.plan.errors import Refusal
from gpuscale.plan.typed import shown, whole

RECOMPUTE = ("none", "selective", "full", "attention")
MOST = 10**6  # of any degree


@dataclass(frozen=True)
class Choice:
    """One way to lay a run out. ``recompute`` is "none", "selective" (norms, activation functions, attention), "full"
    (whole layers) or "attention" (its scores, softmax and weighted sum, which Megatron-LM calls selective).
    Raises Refusal for another value."""

    dp: int = described("data-parallel replicas", 1, quantity="X")
    tp: int = described("tensor-parallel ranks", 1, quantity="Y")
    cp: int = described("context-parallel ranks", 1, quantity="n_cp")
    ep: int = described("expert-parallel ranks", 1, quantity="Z")
    pp: int = described("pipeline stages", 1, quantity="N_stages")
    virtual: int = described("virtual stages per rank", 1, quantity="n_virt")
    micro: int = described("sequences per microbatch", 1, quantity="n_seq")
    zero: int = described("the stage of ZeRO", 1, quantity="n_zero")
    sp: bool = described("sequence parallelism", False, quantity="n_sp")
    recompute: str = described("what the backward pass recomputes", "none", quantity="n_recompute")
    even: bool = described("the same layers in every stage, the head on top", False, quantity="n_even")

    def __post_init__(self):
        for name in PINS:
            object.__setattr__(self, name, checked(name, getattr(self, name)))

    @classmethod
    def of(cls, columns: Mapping) -> Choice:
        """From a row of columns, by quantity."""
        found = {name: int(columns[quantity]) for name, quantity in COLUMNS.items()}
        return cls(
            **found | {"sp": bool(found["sp"]), "even": bool(found["even"]), "recompute": RECOMPUTE[found["recompute"]]}
        )

    def columns(self) -> dict[str, int]:
        """A row of columns, by quantity."""
        plain = vars(self) | {"recompute": RECOMPUTE.index(self.recompute)}
        return {quantity: int(plain[name]) for name, quantity in COLUMNS.items()}

    @property
    def layout(self) -> tuple[int, int, int, int, int]:
        """The degrees alone."""
        return self.dp, self.tp, self.cp, self.ep, self.pp

    def __str__(self) -> str:
        stages = f"PP {self.pp}" + (f" × {self.virtual}" if self.virtual > 1 else "")
        parts = [f"TP {self.tp}" + (" + SP" if self.sp else ""), f"CP {self.cp}", f"EP {self.ep}", stages]
        shown = [part for part, degree in zip(parts, (self.tp, self.cp, self.ep, self.pp), strict=True) if degree > 1]
        again = "" if self.recompute == "none" else f", {self.recompute} recomputation"
        shown += [f"DP {self.dp}"]
        if self.zero or self.dp * self.cp > 1:  # a single replica leaves ZeRO nothing to shard
            shown += [f"ZeRO-{self.zero}" if self.zero else "no ZeRO"]
        same = ", even stages" if self.even and self.pp > 1 else ""
        return ", ".join(shown) + f", microbatch {self.micro}{again}{same}"


def checked(name: str, value):
    """A value of an axis of a choice. Raises Refusal with what was expected."""
    if name not in PINS:
        raise Refusal(f"{name!r} is not an option of a plan; expected one of {', '.join(PINS)}")
    if name == "recompute":
        if not isinstance(value, str) or value not in RECOMPUTE:
            raise Refusal(f"recompute: {shown(value)!r}; expected one of {', '.join(RECOMPUTE)}")
        return value
    if name in {"sp", "even"}:
        if (said := shown(value)) not in {"0", "1", "False", "True"}:
            raise Refusal(f"{name}: {said!r}; expected 0 or 1")
        return said in {"1", "True"}
    return whole(f"{name} ({PINS[name]})", value, *((0, 3) if name == "zero" else (1, MOST)))


def pinned(name: str, value) -> int:
    """The same as the number that stands for it in a column. Raises Refusal."""
    found = checked(name, value)
    return RECOMPUTE.index(found) if name == "recompute" else int(found)


PINS = {axis.name: axis.metadata["meaning"] for axis in fields(Choice)}  # what can be fixed, in words
COLUMNS = {axis.name: axis.metadata["quantity"] for axis in fields(Choice)}
MESH, OPTIONS = tuple(COLUMNS.values())[:7], tuple(COLUMNS.values())[7:]  # the parts of a layout, and the other options
