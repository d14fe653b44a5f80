"""Each formula of Part IV against counts over explicit shapes, schedules in slots, and stored bytes."""

import importlib
from pathlib import Path

from judging import part_of, verdicts

for _file in sorted(Path(__file__).parent.glob("judging_models_*.py")):
    importlib.import_module(_file.stem)

(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_a_slip_is_noticed_by_every_check_that_judges_the_formula,
) = verdicts(part_of("models"))
