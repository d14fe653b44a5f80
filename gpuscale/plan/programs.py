"""The functions that compute a plan: those that the library stores, and any other one composed when it is asked for.

Composing takes sympy some seconds. What a plan, a search and an explanation need is stored in ``gpuscale.printed``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from gpuscale.plan.columns import NAMES
from gpuscale.printed.calling import takes


def stored(schedule: str, latent: bool) -> str:
    """The name of the module of ``gpuscale.printed`` that has the functions of a schedule."""
    return f"plan_{schedule.replace('-', '_')}" + ("_latent" if latent else "")


@cache
def program(schedule: str, latent: bool, wanted: tuple[str, ...] = NAMES):
    """The function that gives the wanted columns, and the names of its inputs in order; ``latent``: for latent
    attention."""
    found = import_module(f"gpuscale.printed.{stored(schedule, latent)}").PROGRAMS.get(wanted)
    if found is not None:
        return found, takes(found)
    from gpuscale.plan import costs  # imports sympy

    return costs.program(schedule, latent, wanted)
