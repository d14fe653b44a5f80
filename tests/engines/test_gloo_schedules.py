"""Over gloo, every schedule of the library is played."""

from engines.gloo import NODES, PLAYED
from support.generators import generators


def test_every_generator_is_played_on_all_numbers_of_nodes_that_it_allows():
    played = {made: {made(*inputs).nodes for inputs in cases} for makers in PLAYED.values() for made, cases in makers}
    assert set(played) == set(generators().values())
    assert all(nodes <= set(NODES) and max(nodes) == 8 for nodes in played.values())
