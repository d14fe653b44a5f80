"""Code that a reader opens can be read: it wraps instead of running out of its column."""

import pytest

OPENED = """() => {
  for (const fold of document.querySelectorAll('details.hide')) fold.open = true;
  const code = [...document.querySelectorAll('.cell_input pre')];
  const wide = code.filter((pre) => pre.scrollWidth > pre.clientWidth + 1);
  return [code.length, wide.map((pre) => pre.textContent.slice(0, 40))];
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["pipeline_parallelism", "lab_pipelines", "expert_parallelism"])
def test_opened_code_fits_its_column(page, name, width):
    page.open(f"chapters/{name}.html", width=width)
    count, wide = page.evaluate(OPENED)
    assert count > 5 and wide == []
