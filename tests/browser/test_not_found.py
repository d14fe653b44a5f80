"""The page that a server shows for an address that the book does not have: right from any depth, with search."""

from urllib.parse import urlsplit

import pytest

HOST = "http://book.test"


@pytest.fixture
def served(visiting, site):
    """A tab on a server of the site at a path of it."""
    with visiting() as page:
        page.thrown = []
        page.on("pageerror", lambda error: page.thrown.append(str(error)))

        def answer(route, root):
            path = site / urlsplit(route.request.url).path.removeprefix(root)
            if path.is_file():
                route.fulfill(path=path)
            else:
                route.fulfill(path=site / "404.html", status=404)

        def open_at(root: str, path: str):
            page.route(f"{HOST}/**", lambda route: answer(route, root))
            page.goto(f"{HOST}{root}{path}")
            return page

        yield open_at


@pytest.mark.parametrize(
    ("root", "path"),
    [("/", "nothing.html"), ("/", "a/b/c/"), ("/", "chapters/gone.html"), ("/book/", "chapters/deep/gone.html")],
)
def test_it_looks_and_searches_as_a_page_of_the_book(served, root, path):
    page = served(root, path)
    assert page.text_content("h1") == "Page not found"
    assert page.evaluate("() => getComputedStyle(document.body).display") == "grid"  # its styles are there
    page.keyboard.press("/")
    page.get_by_role("dialog").get_by_role("searchbox").fill("roofline")
    page.locator("#seek .seek-text mark").first.wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="first page").click()
    page.wait_for_url(f"{HOST}{root}chapters/welcome.html")
    assert page.thrown == []
