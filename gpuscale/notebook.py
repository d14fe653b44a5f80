# ruff: noqa: F401, F403
"""What every notebook of the book begins with: ``from gpuscale.notebook import *``.

It offers the tools, under the same names as everywhere: derivations, numbers with units, parts of the data,
figures, quizzes, and the sentences that compute their numbers. Formulas come from their rooms and quantities from
``gpuscale.symbols``, by name, so that each chapter says which it uses. ``look()`` at the end of the first cell gives
a notebook the book's styles; the site has them already.
"""

from gpuscale.core import Derivation, DimensionError, Formula, crossover, evaluate
from gpuscale.evidence import evidence_summary
from gpuscale.ledger import common_mistake, ledger_summary
from gpuscale.network import topology
from gpuscale.page import appendices, fold, grid, remember, say
from gpuscale.plotting import *
from gpuscale.quiz import ask, check, quiz, score
from gpuscale.specs import chip, chips, link, measured, model, part, parts
from gpuscale.units import GB, MB, PFLOP, TB, TFLOP, GHz, GiB, KiB, MiB, kB, ns, show, us
from gpuscale.widgets import *

__all__ = sorted(name for name in globals() if not name.startswith("_"))
