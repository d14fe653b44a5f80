"""The third-party packages that every notebook imports: a process that imports this module is warm.

Nothing of this library does; ``gpuscale.book.warm`` names it to the process that kernels are forked from.
"""

import importlib

for name in ("ipykernel.kernelapp", "sympy", "anywidget"):
    importlib.import_module(name)
