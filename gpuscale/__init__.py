"""gpuscale: how GPUs scale for large language models, as formulas that derive, plot and check themselves.

The most used names are offered here. The rest is in its room: ``gpuscale.collectives``, ``gpuscale.llm``,
``gpuscale.plan``; ARCHITECTURE.md says what is in which.
"""

from gpuscale.faces import face

__version__ = "0.1.0"

__getattr__, __dir__ = face(
    __name__,
    core="Derivation Formula crossover evaluate",
    catalogue="find formulas",
    network="topology",
    page="remember say",
    quiz="ask check score",
    specs="chip chips link links load measured model models",
    units="parse show",
    widgets="explore",
)
