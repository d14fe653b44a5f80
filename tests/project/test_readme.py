"""The README is correct: its examples run, are short, and name commands that exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
TOML = [code for language, code in BLOCKS if language == "toml"]


def test_every_promised_kind_of_example_is_there():
    assert len(PYTHON) >= 5 and len(TOML) == 1
    for heading in ("Add a formula", "Add a part of your own", "Add a question", "Add a chapter"):
        assert f"## {heading}" in TEXT


@pytest.mark.parametrize("code", PYTHON + TOML, ids=lambda code: code.strip().splitlines()[-1][:30])
def test_worked_examples_are_short(code):
    assert len(code.strip().splitlines()) < 20


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.strip().splitlines()[-1][:30])
def test_worked_examples_run(code, tmp_path):
    (tmp_path / "parts.toml").write_text(TOML[0], encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_example_part_gives_its_ridge_point(tmp_path):
    (tmp_path / "parts.toml").write_text(TOML[0], encoding="utf-8")
    code = next(c for c in PYTHON if "parts.toml" in c)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout) == 125  # 500 TFLOP/s over 4 TB/s


def test_targets_and_files_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in re.findall(r"\]\(([\w./-]+)\)", TEXT):
        assert (ROOT / path).exists(), path
    for path in re.findall(
        r"`((?:gpuscale|exercises|chapters)/[\w/]+\.(?:py|toml|ipynb))`", TEXT.replace("NAME", "roofline")
    ):
        assert (ROOT / path).exists(), path


def test_the_number_of_quiz_parts_is_the_number_of_questions():
    from gpuscale import quiz

    sets = ("hardware", "the_node", "beyond_the_pod", "collectives_quiz", "llm_rooflines", "pop_quizzes")
    assert f"{sum(len(quiz.load_set(name).questions) for name in sets)} parts" in TEXT
