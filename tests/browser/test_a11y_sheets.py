"""axe on every page that is no chapter."""

import pytest
from axe import nothing_serious
from bookpages import PAGES


@pytest.mark.parametrize("name", [*(name for name in PAGES if not name.startswith("chapters/")), "search.html"])
def test_a_page_has_no_serious_violation(page, name):
    nothing_serious(page, name)
