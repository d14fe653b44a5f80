"""What the labs say of the library holds for all of it."""

import re
from pathlib import Path

import nbformat
from support.generators import generators

LAB = Path(__file__).resolve().parents[2] / "chapters/lab_collectives.ipynb"
SWITCHED = ("in_network.", "switched.")  # a lab on sockets has no switch
OTHERS = {"direct.barrier", "direct.send_recv", "exchange.dispatch"}  # none of the eight collectives of the lab


def test_the_lab_on_collectives_plays_every_schedule_without_a_switch():
    (cell,) = (cell.source for cell in nbformat.read(LAB, 4).cells if "\nschedules = [" in cell.source)
    played = set(re.findall(r'\("\w+", (\w+\.\w+)\(', cell))
    assert played == {name for name in generators() if not name.startswith(SWITCHED)} - OTHERS
