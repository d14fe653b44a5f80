"""nbval runs the notebooks as they are stored: figures as text digests, in kernels that start warm.

Cells and tests that need an engine, such as PyTorch, run with --engines only: they belong to `make labs`.
"""

import gc
import re
from functools import partial
from pathlib import Path

import pytest

ENGINES = {Path(__file__).parent / "tests" / name for name in ("labs", "engines")}


def pytest_addoption(parser):
    parser.addoption("--engines", action="store_true", help="run what needs an extra of the labs, too")


def pytest_ignore_collect(collection_path, config):
    """Leave out the folders of tests that need an engine."""
    return True if collection_path in ENGINES and not config.getoption("engines") else None


def pytest_collection_finish(session):
    """What is loaded by now stays: to look for garbage in it, often, is a tenth of what the tests of formulas take."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_modifyitems(config, items):
    """Leave out the cells that need an engine; the others must run without them."""
    if not config.getoption("engines"):
        needing = [item for item in items if "engine" in _tags(item)]
        items[:] = [item for item in items if item not in needing]
        config.hook.pytest_deselected(items=needing)


def _tags(item) -> list[str]:
    cell = getattr(item, "cell", None)  # of a test that nbval makes from a notebook
    return cell.metadata.get("tags", []) if cell else []


def pytest_configure(config):
    if config.getoption("nbval", None):
        import nbval.kernel

        from gpuscale.book import warm

        digest = {"GPUSCALE_DIGEST": "1"}
        nbval.kernel.KernelManager = partial(warm.manager, nbval.kernel.KernelManager, environment=digest)
        nbval.kernel.pformat = lambda message: message  # for a log that is off, nbval formats every message


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """What shares a process: the tests of a file, of the site in a browser the tests of a page, and all that read the
    texts of the project, which takes as long as to check them."""
    from xdist.scheduler import LoadFileScheduling

    class ByPage(LoadFileScheduling):
        def _split_scope(self, nodeid):
            page = re.search(r"^tests/browser/.*\[([\w/]+\.html)|^tests/(reading)/", nodeid)
            return page[1] or page[2] if page else super()._split_scope(nodeid)

    return ByPage(config, log)
