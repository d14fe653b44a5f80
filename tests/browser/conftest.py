"""For all browser tests: the site over http, one tab that all tests of a page share, the figures on it."""

import functools
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser.bookpages import PAGES, calling

HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Page by page, so that each is opened once for all: first whether it opens well, then what it holds."""

    def order(item):
        page = re.search(r"\[([\w/]+\.html)", item.name)
        where = PAGES.index(page[1]) if page and page[1] in PAGES else len(PAGES)
        return where, item.path.name != "test_pages.py"

    ours = [item for item in items if item.path.is_relative_to(HERE)]
    for item in ours:
        item.add_marker(pytest.mark.browser)
    rest = [item for item in items if not item.path.is_relative_to(HERE)]
    items[:] = sorted(ours, key=order) + rest  # the long ones first, so that no core is idle at the end


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def served(site):
    """The address of the site over plain http."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


# Whether a tab looks as it does at first: to say so again makes Chromium compute all styles of the page anew.
AS_EVER = """() => ['screen', '(prefers-color-scheme: light)', '(prefers-reduced-motion: no-preference)']
  .every((query) => matchMedia(query).matches)"""


@pytest.fixture(scope="session")
def tab(visiting):
    """tab("chapters/roofline.html") is a tab on that page, on a desk, in the light; it stays until another is asked
    for, which opens in the same tab with nothing kept. With ``as_left``, a page that is open stays as it was left."""
    with visiting(permissions=["clipboard-read", "clipboard-write"]) as visit:
        at = ""

        def find(name: str, as_left: bool = False):
            nonlocal at
            if name == at and as_left:
                return visit
            if name != at:
                if at:
                    visit.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
                    visit.goto("about:blank")  # where a change of size or theme costs nothing
                    visit.errors.clear()
                    visit.requests.clear()
            visit.set_viewport_size({"width": 1280, "height": 900})
            if not visit.evaluate(AS_EVER):
                visit.emulate_media(media="screen", color_scheme="light", reduced_motion="no-preference")
            if name != at:
                at = name
                visit.open(name)
            return visit

        yield find


@functools.cache
def twins(page: str) -> dict:
    """The figures of a page in Python: making them runs its notebook."""
    from browser import twin

    return twin.figures(page)


@pytest.fixture(scope="module", params=calling("explore"))
def figures(request, tab):
    """The live figures of each page in turn."""
    from browser.livefigure import Figure

    page = tab(request.param)
    return [Figure(page, name, other) for name, other in twins(request.param).items()]
