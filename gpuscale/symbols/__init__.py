"""Every quantity of the book, once: Python name, unit, meaning, LaTeX.

The Python name, the symbol's name and the keyword argument of a formula are one word. Nothing else in the
project makes a symbol. Bandwidths are one direction, per GPU, in bytes; peaks are dense; counts have "1".
``quantity`` holds what a quantity is; the other files declare them, one per part of the book. The order here is the
order of the notation, of arguments and of factors in an equation.
"""

# isort: off
from gpuscale.symbols.quantity import Quantity, indexed, quantities
from gpuscale.symbols.one_gpu import *  # noqa: F403
from gpuscale.symbols.llm import *  # noqa: F403
from gpuscale.symbols.network import *  # noqa: F403
from gpuscale.symbols.parallel import *  # noqa: F403
from gpuscale.symbols.step import *  # noqa: F403
from gpuscale.symbols.serving import *  # noqa: F403
from gpuscale.symbols.fleet import *  # noqa: F403

# isort: on

__all__ = ["Quantity", "degree", "indexed", "quantities", "uplink", *sorted(quantities())]  # noqa: F405, PLE0604
