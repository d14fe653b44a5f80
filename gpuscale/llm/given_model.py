"""Any formula with a model of the data filled in: ``given(formula, "llama3_70b", S=8192)``."""

from __future__ import annotations

import sympy

from gpuscale.core.evaluation import evaluate
from gpuscale.core.formula import Formula
from gpuscale.llm.model_counts import counts, inputs
from gpuscale.specs.entry import Part


def given(formula: Formula | sympy.Expr, model: Part | str, **more) -> float:
    """A formula in numbers, with the model's dimensions and parameters filled in; ``more`` has the rest."""
    known = {name: value for name, value in counts(model)._asdict().items() if isinstance(value, int)}
    known = inputs(model) | known
    needed = [q.name for q in (formula.inputs if isinstance(formula, Formula) else formula.free_symbols)]
    return evaluate(formula, **{name: value for name, value in known.items() if name in needed} | more)
