"""Each formula of the network against a network laid out cable by cable and counted."""

from formulas.harness import load, of_room, verdicts

load()
(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_a_slip_is_noticed_by_every_check_that_judges_the_formula,
) = verdicts(of_room("network"))
