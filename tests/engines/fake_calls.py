"""Process groups without processes: one rank of many runs, and what it would have to send is read from its calls."""

import contextlib
import math
from collections.abc import Iterator

import torch
import torch.distributed as dist
from engines.tally import Collective, Tally
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.distributed_c10d import _resolve_process_group
from torch.distributed.tensor import DTensor
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

# Each call of a collective: its kind, where its group is among the arguments, and where the whole buffer is.
CALLS = {
    "c10d._allgather_base_": ("all-gather", 2, 0),
    "c10d._reduce_scatter_base_": ("reduce-scatter", 2, 1),
    "c10d.allreduce_": ("all-reduce", 1, 0),
    "_c10d_functional.all_gather_into_tensor": ("all-gather", 2, None),
    "_c10d_functional.reduce_scatter_tensor": ("reduce-scatter", 3, 0),
    "_c10d_functional.all_reduce": ("all-reduce", 2, 0),
}
SILENT = ("_c10d_functional.wait_tensor", "_c10d_functional._wrap_tensor_autograd")
SENT = {"all-gather": 1, "reduce-scatter": 1, "all-reduce": 2}


@contextlib.contextmanager
def groups(*shape: int) -> Iterator[DeviceMesh]:
    """A mesh of ranks of which this process is the first; the last axis has neighbors."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=math.prod(shape))
    try:
        yield init_device_mesh("cpu", shape, mesh_dim_names=("x", "y", "z")[: len(shape)])
    finally:
        dist.destroy_process_group()


class Calls(Tally, TorchDispatchMode):
    """Records every collective that is called while it is active, with whether the backward pass called it."""

    def __init__(self):
        TorchDispatchMode.__init__(self)
        Tally.__init__(self)
        self.backward = False

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        if any(issubclass(one, DTensor) for one in types):
            return NotImplemented  # until it has become calls on the shards of this rank
        found = call(*args, **(kwargs or {}))
        name = str(call.overloadpacket)
        if name in CALLS:
            self._record(*CALLS[name], args, found)
        elif "c10d" in name and name not in SILENT:
            raise ValueError(f"{name} is not a collective that is known here; expected one of {', '.join(CALLS)}")
        return found

    def _record(self, kind: str, group: int, whole: int | None, args, found) -> None:
        group = args[group]
        group = _resolve_process_group(group) if isinstance(group, str) else group
        group = group if isinstance(group, dist.ProcessGroup) else dist.ProcessGroup.unbox(group)
        ranks = dist.get_process_group_ranks(group)
        buffers = found if whole is None else args[whole]
        size = sum(one.nbytes for one in (buffers if isinstance(buffers, list | tuple) else [buffers]))
        sent = SENT[kind] * size * (len(ranks) - 1) // len(ranks)
        self.add(Collective(kind, len(ranks), ranks[1] - ranks[0], sent, self.backward))


def passes(model, x: torch.Tensor) -> Calls:
    """What a forward and a backward pass call."""
    calls = Calls()
    with calls:
        result = model(x)
        calls.backward = True
        result.backward(torch.ones_like(result))
    return calls
