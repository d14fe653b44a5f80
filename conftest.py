"""nbval runs the notebooks as they are stored: figures as text digests, in kernels that start warm."""

import re
from functools import partial

import pytest


def pytest_configure(config):
    if config.getoption("nbval", None):
        import nbval.kernel

        from gpuscale.book import warm

        digest = {"GPUSCALE_DIGEST": "1"}
        nbval.kernel.KernelManager = partial(warm.manager, nbval.kernel.KernelManager, environment=digest)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """What shares a process: the tests of a file, and of the site in a browser the tests of a page."""
    from xdist.scheduler import LoadFileScheduling

    class ByPage(LoadFileScheduling):
        def _split_scope(self, nodeid):
            page = re.search(r"^tests/browser/.*\[([\w/]+\.html)", nodeid)
            return page[1] if page else super()._split_scope(nodeid)

    return ByPage(config, log)
