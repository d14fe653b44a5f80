"""For all browser tests: the site over http, one open tab for each page of a test file, the figures on it."""

import threading
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from bookpages import calling

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def served(site):
    """The address of the site over plain http."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def tab(visiting):
    """tab("chapters/roofline.html") is this file's one tab on that page, opened when first asked for."""
    with ExitStack() as stack:
        open_tabs = {}

        def find(name: str):
            if name not in open_tabs:
                allowed = ["clipboard-read", "clipboard-write"]
                open_tabs[name] = stack.enter_context(visiting(permissions=allowed)).open(name)
            return open_tabs[name]

        yield find


@pytest.fixture(scope="module", params=calling("explore"))
def figures(request, tab):
    """The live figures of each page in turn."""
    import twin
    from livefigure import Figure

    return [Figure(tab(request.param), name, other) for name, other in twin.figures(request.param).items()]
