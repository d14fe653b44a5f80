"""Each formula of the collectives against schedules that move real chunks, and the costs over a tree of any depth."""

import pytest
from formulas.collectives import independent_hierarchy as levels
from formulas.harness import at, load, of_room, room_tests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.other_schedules import Switched

from gpuscale.collectives import hierarchy
from gpuscale.schedules.collectives import hierarchical, switched
from gpuscale.schedules.collectives.routes import Tree

load()
(
    test_the_library_agrees_with,
    test_every_formula_meets_something_independent,
    test_mutants_are_noticed,
    test_every_argument_decides_somewhere,
) = room_tests(of_room("collectives"))

few = settings(deadline=None, derandomize=True, max_examples=12, suppress_health_check=list(HealthCheck))
MOST = {1: 9, 2: 4, 3: 3, 4: 2}


def tree(depth, least=1):
    return levels.trees(depth, least, MOST[depth])


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_level_rule_of_any_depth_counts_each_phase_by_itself(depth):
    @few
    @given(tree(depth))
    def of_a_tree(case):
        degrees, rates = case
        known = levels.named(degrees, rates) | {"V": 3}
        phases = [3 * load / rates[level - 1] for level, load in levels.own_phases(degrees).items()]
        assert at(hierarchy.all_gather_rule(depth), **known) == max(phases, default=0)
        assert at(hierarchy.all_gather_sum(depth), **known) == sum(phases)
        waits = {f"alpha_{level}": level for level in range(1, depth + 1)}
        waiting = sum(level * (degree - 1) for level, degree in enumerate(degrees, 1))
        assert at(hierarchy.phased_all_gather(depth), **known, **waits) == waiting + sum(phases)

    of_a_tree()


@pytest.mark.parametrize("rails", [True, False], ids=["rails", "no rails"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_busiest_link_of_any_depth_is_that_of_the_schedule(depth, rails):
    @few
    @given(tree(depth), st.data())
    def of_a_tree(case, data):
        degrees, rates = case
        known = levels.named(degrees, rates) | {"V": 3}
        routes = Tree(degrees, rails)
        inner = data.draw(st.sampled_from(levels.inner_axes(degrees)))
        made = [(hierarchy.all_gather_links(depth, rails), hierarchical.all_gather(degrees))]
        if rails:
            made.append((hierarchy.sharded_links(depth), hierarchical.all_gather(degrees, inner)))
        for formula, schedule in made:
            assert at(formula, **known, Y=inner) == 3 * levels.slowest(schedule.per_link(routes), rates)

    of_a_tree()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_switches_of_any_depth_send_the_vector_once(depth):
    @few
    @given(tree(depth, least=2))
    def of_a_tree(case):
        degrees, rates = case
        expected = 3 * levels.slowest(switched.all_reduce(degrees).per_link(Switched(degrees)), rates)
        assert at(hierarchy.in_network_all_reduce(depth), **levels.named(degrees, rates), V=3) == expected

    of_a_tree()


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "two"])
def test_a_depth_is_a_whole_number(depth):
    with pytest.raises(ValueError, match="depth: expected a whole number of levels, at least 1"):
        hierarchy.all_gather_rule(depth)
