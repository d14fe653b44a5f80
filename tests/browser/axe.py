"""axe on a page, in both themes, on a desk and on a phone: what is serious, and where."""

from pathlib import Path

import pytest
from bookpages import PAGES, SETTLE, said

AXE = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js")
# Everything once on each page; in the other settings what depends on colours and width, and there not inside of
# mathematics, which has the colour of the text around it. What only a phone shows is the same bar on every page.
ALL: list[str] = []
SOME = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
SETTINGS = [(1280, "light", ALL), (1280, "dark", SOME), (390, "dark", SOME), (390, "light", SOME)]
ON_PHONES_TOO = (PAGES[0], PAGES[1], "exercises/hardware.html", "search.html")
RUN = """async (only) => {
  const options = { resultTypes: ['violations'], preload: false, ...only.length && { runOnly: only } };
  const part = only.length ? { exclude: [['mjx-container']] } : document;
  const { violations } = await axe.run(part, options);
  return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) =>
    `${v.impact} ${v.id} (${v.nodes.length}): ${v.nodes[0].target} ${v.nodes[0].failureSummary.slice(0, 200)}`);
}"""


def violations(page, only=ALL) -> list[str]:
    """What axe finds, each with the place it found first."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RUN, only)


def nothing_serious(page, name) -> None:
    """Fails, naming what axe found, unless it found nothing serious in any setting."""
    problems = []
    before = 0
    for width, theme, only in SETTINGS:
        if width != before:
            page.open(name, width=width)
        before = width
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        page.evaluate(SETTLE)
        everything = (width, theme) == (390, "dark") and name in ON_PHONES_TOO
        problems += [f"{theme}, {width} px: {what}" for what in violations(page, ALL if everything else only)]
    assert not problems, said(problems)
