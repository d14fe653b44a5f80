"""Each formula of the network against a network laid out cable by cable and counted."""

from formulas.harness import load, of_room, room_tests

load()
(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_mutants_are_noticed,
    test_every_argument_decides_somewhere,
) = room_tests(of_room("network"))
