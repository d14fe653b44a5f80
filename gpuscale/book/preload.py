"""What every notebook imports, of other people's packages: a process that imports this module is warm.

Nothing of this library does; ``gpuscale.book.warm`` names it to the process that kernels are forked from. ipykernel
names the backend of matplotlib before anything imports that, and so do we.
"""

import importlib
import os

os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
for name in ("ipykernel.kernelapp", "sympy", "anywidget", "matplotlib.pyplot"):
    importlib.import_module(name)
