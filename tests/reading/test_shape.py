"""Every chapter has the same shape: a picture first, predictions, an experiment, limits, take-aways."""

import re

import pytest
import yaml
from reading.passages import ROOT, cells, output
from reading.sentences import sentences

PART = re.compile(r"(I|II|III|IV|V)\. ")
SECTIONS = ("Try it", "Where this breaks", "Take-aways", "Practice")
FORMULA = re.compile(r"^\s*\$\$|\\begin\{", re.M)


def chapters() -> list[str]:
    """The pages of the five parts with chapters, as the contents name them."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    names = [one["file"] for part in contents if PART.match(part.get("caption", "")) for one in part["chapters"]]
    return names


def outputs(cell: dict, kind: str = "") -> str:
    """The outputs of a code cell as one text: of a kind, or what is read of each."""
    stored = cell.get("outputs", [])
    if kind:
        return "\n".join("".join(one.get("data", {}).get(kind, "")) for one in stored)
    return "\n".join(output(one)[1] for one in stored)


def prose(cell: dict) -> str:
    """What a cell says in words: a Markdown cell, or the Markdown that it puts out."""
    return cell["source"] if cell["cell_type"] == "markdown" else outputs(cell, "text/markdown")


def derives(cell: dict) -> bool:
    return "Derivation(" in cell["source"] and 'class="derivation"' in outputs(cell, "text/html")


def pictures(cell: dict) -> bool:
    """Whether a cell shows a figure, on a stage or not."""
    drawn = re.search(r"^(live )?figure ", outputs(cell, "text/plain"), re.M)
    return cell["cell_type"] == "code" and bool(drawn or re.search(r"\w+_stage\(", cell["source"]))


def states(cell: dict) -> bool:
    """Whether a cell shows a formula on a line of its own: typed, as a value of the library, or as a card."""
    if FORMULA.search(prose(cell)):
        return True
    html = outputs(cell, "text/html")
    return bool(outputs(cell, "text/latex")) or 'class="card formula"' in html or derives(cell)


def lacking(page: list[dict]) -> list[str]:
    """What a chapter's cells lack of the shape of a chapter, one sentence each."""
    found = []
    for number, cell in enumerate(page):
        if cell["cell_type"] == "code" and derives(cell) and not {"hide-input", "remove-input"} & set(cell["tags"]):
            found.append(f"cell {number} shows the code of a derivation: tag it hide-input")
        if re.match(r"(say|grid)\(", cell["source"]) and cell["cell_type"] == "code" and not cell["tags"]:
            found.append(f"cell {number} shows the code of its prose: tag it remove-input")
    asked = sum(outputs(cell).count(", predict first)") for cell in page)
    if asked < 3:
        found.append(f"it asks for {asked} predictions; three at least")
    opened = next((number for number, cell in enumerate(page) if re.search(r"^## ", prose(cell), re.M)), len(page))
    if late := [number for number, cell in enumerate(page) if "lead" in cell["tags"] and number > opened]:
        found.append(f"cell {late[0]} has the large type of the opening: take away the tag lead")
    headings = [line for cell in page for line in re.findall(r"^## (.+?) *$", prose(cell), re.M)]
    if [heading for heading in headings if heading in SECTIONS] != list(SECTIONS):
        found.append(f"it needs the sections {', '.join(SECTIONS)}, in this order")
    if said := in_words(page):
        found.append(said)
    first = next((number for number, cell in enumerate(page) if states(cell)), len(page))
    if not any(pictures(cell) for cell in page[:first]):
        found.append("there is no figure before the first formula")
    return found


def in_words(page: list[dict]) -> str:
    """What the take-aways lack: three sentences in words before their table."""
    told, inside = [], False
    for cell in page:
        for block in re.split(r"(?m)^(?=## )", prose(cell)):
            inside = block.startswith("## Take-aways") or (inside and not block.startswith("## "))
            told += list(sentences(block)) if inside else []
        if "remember(" in cell["source"] and cell["cell_type"] == "code":
            break
    return (
        "" if len([one for one in told if one != "Take-aways"]) >= 3 else "its take-aways need three sentences in words"
    )


@pytest.mark.parametrize("name", chapters() or [None])
def test_a_chapter_has_the_shape_of_a_chapter(name):
    if name:
        assert lacking(cells(ROOT / f"{name}.ipynb")) == []


def cell(kind: str, source: str, *tags: str, **data: str) -> dict:
    """A cell as it is stored, with one output."""
    stored = [{"data": {f"text/{one}": text for one, text in data.items()}}] if data else []
    return {"cell_type": kind, "source": source, "tags": list(tags), "outputs": stored}


GOOD = [
    cell("markdown", "# Title\n\nA question, and its answer in $x$."),
    cell("code", "curves(...)", "hide-input", plain="figure a: b."),
    cell("code", "Derivation(T).given(V, '')", "hide-input", html='<ol class="derivation">', plain="T = V    (why)"),
    *[cell("code", f'ask("a.{number}")', plain=f"a.{number} (choice, predict first): why?") for number in (1, 2, 3)],
    cell("markdown", "## Try it"),
    cell("markdown", "## Where this breaks"),
    cell("markdown", "## Take-aways"),
    cell("code", "say(...)", "remove-input", markdown="- One.\n- Two.\n- Three."),
    cell("code", "remember([])", html='<section class="card remember">'),
    cell("markdown", "## Practice"),
]


def test_a_good_chapter_lacks_nothing():
    assert lacking(GOOD) == []


@pytest.mark.parametrize(
    ("place", "instead", "said"),
    [
        (1, cell("markdown", "No picture."), "no figure"),
        (1, cell("markdown", "$$\nT = V\n$$"), "no figure"),
        (2, GOOD[2] | {"tags": []}, "hide-input"),
        (3, cell("markdown", "One fewer."), "2 predictions"),
        (6, cell("markdown", "## Experiment"), "sections"),
        (7, cell("markdown", "## Practice"), "sections"),
        (9, cell("code", "say(...)", "remove-input", markdown="- One.\n- Two."), "three sentences"),
        (9, GOOD[9] | {"tags": []}, "remove-input"),
        (9, GOOD[9] | {"tags": ["remove-input", "lead"]}, "large type"),
    ],
)
def test_what_is_lacking_is_named(place, instead, said):
    changed = [*GOOD[:place], instead, *GOOD[place + 1 :]]
    assert any(said in one for one in lacking(changed)), lacking(changed)
