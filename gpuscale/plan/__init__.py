"""A planner: which parallelism for a model on a cluster, what it costs, and what stands against the rest.

    >>> from gpuscale.plan import plan
    >>> plan("llama3_70b", "h100_superpod", gpus=4096, batch="4M")

From the shell: ``python -m gpuscale.plan --model llama3-70b --cluster h100-superpod --gpus 4096 --batch 4M``.
"""

from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.refusal import Refusal

__all__ = [
    "Choice", "Cluster", "Outcome", "Plan", "Refusal", "Request", "cluster", "evaluate_choice", "plan", "request",
]  # fmt: skip

_WHERE = {"Choice": "outcome", "Outcome": "outcome", "Plan": "planner", "Request": "asked", "request": "asked",
          "evaluate_choice": "planner", "plan": "planner"}  # fmt: skip


def __getattr__(name: str):
    """What needs sympy is loaded when it is asked for, so that refusals and lists come at once."""
    if name not in _WHERE:
        raise AttributeError(f"module 'gpuscale.plan' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"gpuscale.plan.{_WHERE[name]}"), name)
