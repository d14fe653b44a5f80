"""What the recorder of calls says about collectives that a test calls itself."""

import pytest
import torch
import torch.distributed as dist
from engines.fake_calls import Calls, groups


def test_each_kind_its_group_and_what_a_rank_sends():
    part, whole = torch.zeros(2), torch.zeros(8)
    with groups(3, 4) as mesh:
        outer, inner = mesh.get_group("x"), mesh.get_group("y")
        with Calls() as calls:
            dist.all_gather_single(whole, part, group=inner)
            calls.backward = True
            dist.reduce_scatter_single(part, whole, group=inner)
            dist.all_reduce(torch.zeros(6), group=outer)
            dist.all_reduce(torch.zeros(6), group=outer)
    assert calls.one("all-gather", False) == [4, 1, 24]
    assert calls.one("reduce-scatter", True) == [4, 1, 24]
    with pytest.raises(ValueError, match="all-reduce"):
        calls.empty()
    assert calls.one("all-reduce") == [3, 4, 2 * 2 * 16]
    calls.empty()


def test_another_collective_is_refused():
    with groups(4), Calls(), pytest.raises(ValueError, match="broadcast_ is not a collective that is known here"):
        dist.broadcast(torch.zeros(2), 0)
