"""Each formula of Part V against tensors and matmuls listed one by one, real arrays, and requests that are served."""

from formulas.harness import load, of_room, room_tests

load()
(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_mutants_are_noticed,
    test_every_argument_decides_somewhere,
) = room_tests(of_room("serving"))
