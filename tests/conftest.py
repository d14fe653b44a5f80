"""Shared by all tests: hypothesis' settings, the built site, and a real browser on it."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from gpuscale.book import chromium

ROOT = Path(__file__).resolve().parents[1]
PROBES = ROOT / "tests" / "browser" / "probes.js"
CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(autouse=True)
def no_digest(monkeypatch):
    """Digests of figures are for notebooks; tests of the library see what a reader sees."""
    monkeypatch.delenv("GPUSCALE_DIGEST", raising=False)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site, brought up to date if need be."""
    from gpuscale.book import build

    try:
        return build.ensure(ROOT)
    except build.BuildError as error:
        pytest.fail(str(error), pytrace=False)


def cannot(reason: str):
    """No browser: a failure under CI, a skip that says what to install elsewhere."""
    if CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    """Chromium, headless."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = chromium.find()
    if not found:
        cannot(chromium.MISSING)
    with playwright.sync_playwright() as play:
        try:
            running = play.chromium.launch(executable_path=found, args=chromium.ARGUMENTS)
        except playwright.Error as error:
            cannot(f"the browser {found} does not start: {str(error).splitlines()[0]}")
        yield running
        running.close()


# Sections far off the window are not laid out, and their figures not drawn, until a reader comes near. Tests look at
# all of them at once; test_far_sections.py tests what a reader meets.
LAID_OUT = """new MutationObserver((_, watch) => {
  if (!document.head) return;
  watch.disconnect();
  const rules = 'article * { content-visibility: visible !important; } section section { contain: content; }';
  document.head.append(Object.assign(document.createElement('style'), { textContent: `@media screen { ${rules} }` }));
}).observe(document, { childList: true, subtree: true });"""

DRAWN = """() => [...document.querySelectorAll('.drawn :is(.plot, .stage) > svg:empty')]
  .every((el) => !el.checkVisibility({ contentVisibilityAuto: true }))"""


class Visit:
    """A browser page on the site that remembers what went wrong and what was requested."""

    def __init__(self, page, site: Path):
        self.page, self.site = page, site
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda said: said.type in ("error", "warning") and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("requestfailed", lambda request: self.errors.append(f"{request.url}: {request.failure}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def __getattr__(self, name):
        return getattr(self.page, name)

    @property
    def outside(self) -> list[str]:
        """Requests that left the machine."""
        near = ("file:", "data:", "blob:", "http://localhost", "http://127.0.0.1")
        return [url for url in self.requests if not url.startswith(near)]

    def open(self, name: str, theme: str = "light", width: int = 1280, height: int = 900, base: str = "") -> "Visit":
        """Open a page of the site, from its file or under ``base``, and wait for its font and for its figures."""
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(f"{base or self.site.as_uri()}/{name}")
        self.page.evaluate("() => document.fonts.ready.then(() => null)")
        self.page.wait_for_function(DRAWN)
        return self


@pytest.fixture(scope="session")
def visiting(browser, site):
    """A context manager for a fresh visit of any length: with visiting(reduced_motion="reduce") as page. Without
    ``whole`` the browser lays out what is near the window alone, as it does for a reader."""

    @contextmanager
    def visit(whole=True, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(15_000)
        context.add_init_script(path=PROBES)
        if whole:
            context.add_init_script(LAID_OUT)
        try:
            yield Visit(context.new_page(), site)
        finally:
            context.close()

    return visit


@pytest.fixture
def page(visiting):
    """A fresh visit to the site: page.open("chapters/roofline.html", theme="dark", width=390)."""
    with visiting() as visit:
        yield visit
