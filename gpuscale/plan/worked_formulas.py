"""The numbers behind a formula of the expected step in one plan: the values of its symbols, and its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuscale.core.formula import Formula
from gpuscale.plan.batch import possible_rows
from gpuscale.plan.choice import Choice
from gpuscale.plan.costs import compose, printed
from gpuscale.plan.errors import Refusal
from gpuscale.plan.evaluation import known
from gpuscale.plan.requests import Request
from gpuscale.symbols import Quantity, flop


def worked(ask: Request, choice: Choice, formulas: Sequence[Formula]) -> list[dict[Quantity, float]]:
    """For each formula, what the planner puts in for its inputs, and what it gets for the left side.

    A formula that a step uses more than once is worked at its first use: the time on both levels, for example, is that
    of tensor parallelism.
    Raises Refusal for a choice without a layout, and ValueError for a formula that the planner does not use.

    >>> from gpuscale.llm import update_time
    >>> from gpuscale.plan import request
    >>> from gpuscale.symbols import T_upd, t_fix
    >>> ask = request("llama3_8b", "h100_superpod", 64, "512k")
    >>> (numbers,) = worked(ask, Choice(dp=64), [update_time])
    >>> numbers[T_upd] > numbers[t_fix]
    True
    """
    rows, good = possible_rows(ask, [choice])
    if not good.all():
        raise Refusal(f"{choice}: expected a choice that has a layout; evaluate_choice says why it has none")
    steps, _ = compose(ask.schedule, "kv_rank" in ask.model)
    first = {step.formula: step for step in reversed(steps)}
    if strange := [formula.title for formula in formulas if formula not in first]:
        raise ValueError(f"{strange[0]}: the planner does not use this formula")
    wanted = []
    for formula in formulas:
        put = {q: first[formula].given.get(q, q) for q in formula.inputs if q is not flop}
        wanted.append(put | {formula.lhs: first[formula].value})
    function, names = printed(steps, [expr for one in wanted for expr in one.values()])
    given = known(ask, rows)
    with np.errstate(all="ignore"):
        found = function(*(given[name] for name in names))
    values = iter([float(np.ravel(value)[0]) for value in found])
    return [{q: next(values) for q in one} for one in wanted]
