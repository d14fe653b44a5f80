"""What every notebook imports, and all formulas: a process that imports this module is warm.

``gpuscale.book.warm`` names it to the process that kernels are forked from. Data is read by each kernel itself.
"""

import importlib

from gpuscale.catalogue import sweep

for name in ("ipykernel.kernelapp", "sympy", "anywidget", "gpuscale.notebook", *sweep.modules()):
    importlib.import_module(name)
