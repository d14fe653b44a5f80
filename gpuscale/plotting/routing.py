"""Tokens and their experts: to which GPUs the router sends a copy of each token."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from gpuscale.plotting.boxes import Block, stand
from gpuscale.plotting.drawing.figure import Still

_TALL, _GAP = 24, 10  # pixels: of a token or an expert, from one GPU to the next


def routing_figure(choice: Sequence[Sequence[int]], *, experts: int, gpus: int, name, caption, **look) -> Still:
    """Tokens and experts on the same GPUs: tokens left, experts right, a line for each copy that has to arrive.

    ``choice`` holds the experts of each token, as many tokens on each GPU, those of GPU 0 first. A copy that stays on
    its GPU is gray. Raises ValueError if tokens or experts are not spread evenly.
    """
    choice = [[int(e) for e in row] for row in choice]
    if len(choice) % gpus or experts % gpus or len(choice) > len(ascii_lowercase):
        raise ValueError(f"{name}: expected multiples of {gpus} GPUs; got {len(choice)} tokens, {experts} experts")
    tokens, held = len(choice) // gpus, experts // gpus
    copies = [(t, t // tokens, gpu) for t, row in enumerate(choice) for gpu in sorted({e // held for e in row})]

    def paint(sheet):
        places = stand(sheet, _columns(tokens, held, gpus, sheet.narrow))
        for token, home, gpu in copies:
            (x, y, w, h), (to, top, _, tall) = places[f"token {token}"], places[f"experts {gpu}"]
            target = top + tall * (0.2 + 0.6 * (token + 0.5) / len(choice))
            level, colour = (0.5, "wait") if home == gpu else (1, "scaleup")
            sheet.rule([x + w, to], [y + h / 2, target], colour, level=level, weight=1.3)
        sheet.records += [f"token {ascii_lowercase[t]} of GPU {home} to GPU {gpu}" for t, home, gpu in copies]

    reached = [" and ".join(str(gpu) for other, _, gpu in copies if other == t) for t in range(len(choice))]
    told = "; ".join(
        f"token {ascii_lowercase[t]} on GPU {t // tokens} goes to GPU {there}" for t, there in enumerate(reached)
    )
    return Still(paint, name=name, caption=caption, **{"alt": f"{told}."} | look)


def _columns(tokens: int, held: int, gpus: int, narrow: bool) -> Block:
    """The GPUs twice: with their tokens, and with their experts."""
    side = 104 if narrow else 190

    def column(what: str, names, keys) -> Block:
        rows = [
            Block(
                f"GPU {gpu}",
                inside=[*map(_leaf, names(gpu), keys(gpu))],
                gap=5,
                key=f"{what} {gpu}",
            )
            for gpu in range(gpus)
        ]
        return Block(inside=[Block(note=what), *rows], gap=_GAP, wide=side)

    def token_numbers(gpu):
        return range(gpu * tokens, (gpu + 1) * tokens)

    def expert_numbers(gpu):
        return range(gpu * held, (gpu + 1) * held)

    left = column("tokens", lambda g: [ascii_lowercase[t] for t in token_numbers(g)], _keys("token", token_numbers))
    right = column("experts", lambda g: [f"E{e}" for e in expert_numbers(g)], _keys("expert", expert_numbers))
    return Block(inside=[left, Block(), right], across=True, gap=2)


def _keys(what: str, numbers):
    return lambda gpu: [f"{what} {n}" for n in numbers(gpu)]


def _leaf(word: str, key: str) -> Block:
    return Block(note=word, hue="memory" if key.startswith("token") else "compute", key=key, tall=_TALL)
