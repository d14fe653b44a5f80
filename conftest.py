"""nbval runs the notebooks as they are stored: figures as text digests, in kernels that start warm."""

import os
from functools import partial


def pytest_configure(config):
    os.environ["GPUSCALE_DIGEST"] = "1"
    if config.getoption("nbval", None):
        import nbval.kernel

        from gpuscale.book import warm

        nbval.kernel.KernelManager = partial(warm.manager, nbval.kernel.KernelManager)


def pytest_collection_modifyitems(items):
    """The long files first, so that no core is idle at the end: with --no-loadscope-reorder they are begun in order."""
    items.sort(key=lambda item: "browser" not in item.path.parts)
