"""Measure a machine: matmul rate, memory bandwidth, and collectives over sizes and levels, as a file of parts.

    torchrun --nproc-per-node=8 -m gpuscale.labs.measure -o mine.toml

With GPUs, NCCL and CUDA events measure; elsewhere gloo and a clock that never goes back. Without torchrun the same
command starts ranks on this machine. A notebook calls ``run(measure_here)`` and ``write_spec``. ``gpuscale.load`` reads
the file, and ``python -m gpuscale.plan --spec mine.toml`` plans with it.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gpuscale.labs import torchrun
from gpuscale.labs.launcher import run
from gpuscale.labs.spec_file import write_spec

WARM, MOST = 2, 10**6  # calls before the first sample; calls of a sample at most
KIB, MIB = 2**10, 2**20
ON_CPU = {"matmul": (128, 256, 512), "memory": (MIB, 32 * MIB), "messages": (KIB, 16 * KIB, 256 * KIB, 4 * MIB)}
ON_GPU = {
    "matmul": (1024, 2048, 4096, 8192, 16384),
    "memory": (64 * MIB, 256 * MIB, 1024 * MIB),
    "messages": tuple(KIB * 4**power for power in range(11)),
}


def measure_here(
    matmul: Sequence[int] = (),
    memory: Sequence[int] = (),
    messages: Sequence[int] = (),
    repeats: int = 5,
    per_node: int = 0,
    dtype: str = "",
    sample: float = 0.01,
) -> dict:
    """What this machine reaches; called on every rank, and the same on all.

    ``matmul`` are widths of square matrices, ``memory`` bytes of an array, ``messages`` bytes of a collective, as
    nccl-tests counts them; the usual ones if empty. Every time is that of the slowest rank, after warm-up and between
    synchronizations. Each number is the minimum and the median of ``repeats`` samples, and a sample holds as many calls
    as fit into ``sample`` seconds. ``per_node`` ranks form a node, by default those that torchrun started there.
    """
    import torch
    import torch.distributed as dist

    device = torch.empty(()).device
    usual = ON_CPU if device.type == "cpu" else ON_GPU
    dtype = dtype or ("float32" if device.type == "cpu" else "bfloat16")
    ranks = dist.get_world_size()
    per_node = per_node or int(os.environ.get("LOCAL_WORLD_SIZE", ranks))
    if repeats < 1 or not sample > 0:
        raise ValueError(
            f"measure_here: repeats={repeats}, sample={sample}; expected at least one repeat of some seconds"
        )
    if ranks % per_node:
        raise ValueError(
            f"measure_here: {ranks} ranks are not whole nodes of {per_node}; expected a divisor of {ranks}"
        )
    clock = _Clock(device, repeats, sample)
    found = {
        "matmul": list(_matmul(clock, matmul or usual["matmul"], getattr(torch, dtype))),
        "memory": list(_memory(clock, memory or usual["memory"])),
        "collectives": list(_collectives(clock, messages or usual["messages"], per_node)) if ranks > 1 else [],
    }
    gpu = device.type != "cpu"
    whole = torch.cuda.mem_get_info()[1] if gpu else _memory_of_a_node() // per_node
    place = {"ranks": ranks, "per_node": per_node, "dtype": dtype, "memory_of_rank": whole, "repeats": repeats}
    name = torch.cuda.get_device_name() if gpu else "one CPU thread"
    return found | place | {"device": name, "backend": dist.get_backend(), "torch": torch.__version__}


def _memory_of_a_node() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class _Clock:
    """Times calls on all ranks at once."""

    def __init__(self, device, repeats: int, sample: float):
        import torch

        self.device, self._repeats, self._sample = device, repeats, sample
        self._token = torch.zeros(1, device=device)

    def __call__(self, call: Callable[[], object]) -> dict[str, float]:
        """Seconds of a call: the best and the median sample, each that of the slowest rank."""
        import torch

        # Under torchrun a function mode sets the default device, and a detour through Python would add 2 us to each
        # call. PyTorch has no public name for this switch.
        with torch._C.DisableTorchFunction():
            for _ in range(WARM):
                call()
            (once,) = self._slowest([self._sampled(call, 1)])
            calls = max(1, min(MOST, int(self._sample / once)))
            times = self._slowest([self._sampled(call, calls) for _ in range(self._repeats)])
        return {"best": min(times), "median": statistics.median(times)}

    def _together(self) -> None:
        """All ranks have come to this line, and their devices have nothing left to do."""
        import torch.distributed as dist

        dist.all_reduce(self._token)
        self._synchronize()

    def _synchronize(self) -> None:
        import torch

        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _sampled(self, call: Callable[[], object], calls: int) -> float:
        self._together()
        if self.device.type == "cuda":
            return self._by_events(call, calls)
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) / calls

    def _by_events(self, call: Callable[[], object], calls: int) -> float:
        import torch

        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / calls

    def _slowest(self, times: list[float]) -> list[float]:
        """The maximum over ranks, sample by sample."""
        import torch
        import torch.distributed as dist

        both = torch.tensor(times, dtype=torch.float64, device=self.device)
        dist.all_reduce(both, op=dist.ReduceOp.MAX)
        return both.tolist()


def _matmul(clock: _Clock, widths: Sequence[int], dtype) -> Iterator[dict]:
    """Square matrices, on all ranks at once. Random ones: constants take less power, and a GPU runs faster on them."""
    import torch

    for n in widths:
        a, b, out = (torch.randn(n, n, dtype=dtype) for _ in range(3))
        yield {"n": n} | clock(lambda a=a, b=b, out=out: torch.mm(a, b, out=out))


def _memory(clock: _Clock, sizes: Sequence[int]) -> Iterator[dict]:
    """A copy, which reads and writes one array each, and a triad, which reads two and writes one."""
    import torch

    for size in sizes:
        a, b, out = (torch.ones(int(size) // 4) for _ in range(3))
        for operation, arrays, call in (
            ("copy", 2, lambda a=a, out=out: out.copy_(a)),
            ("triad", 3, lambda a=a, b=b, out=out: torch.add(a, b, alpha=3.0, out=out)),
        ):
            yield {"operation": operation, "size": a.nbytes, "bytes": arrays * a.nbytes} | clock(call)


def _collectives(clock: _Clock, sizes: Sequence[int], per_node: int) -> Iterator[dict]:
    """Five collectives in the groups of each level; all groups of a level are busy at the same time."""
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    nodes = [list(range(start, start + per_node)) for start in range(0, ranks, per_node)]
    levels = {"node": nodes, "across": [list(one) for one in zip(*nodes, strict=True)]}
    for level, groups in levels.items():
        if len(groups[0]) == 1:
            continue
        made = [(members, dist.new_group(members)) for members in groups]  # every rank has to make every group
        members, group = next((members, group) for members, group in made if rank in members)
        for name, prepare in COLLECTIVES.items():
            for size in sizes:
                exact = math.ceil(size / (4 * len(members))) * 4 * len(members)
                times = clock(prepare(exact // 4, members, group))
                yield {"level": level, "ranks": len(members), "collective": name, "size": exact} | times


def _all_reduce(elements: int, members: list[int], group) -> Callable:
    import torch
    import torch.distributed as dist

    whole = torch.zeros(elements)
    return lambda: dist.all_reduce(whole, group=group)


def _all_gather(elements: int, members: list[int], group) -> Callable:
    import torch
    import torch.distributed as dist

    gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor  # the name before PyTorch 2.13
    whole, part = torch.zeros(elements), torch.zeros(elements // len(members))
    return lambda: gather(whole, part, group=group)


def _reduce_scatter(elements: int, members: list[int], group) -> Callable:
    import torch
    import torch.distributed as dist

    scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
    whole, part = torch.zeros(elements), torch.zeros(elements // len(members))
    return lambda: scatter(part, whole, group=group)


def _all_to_all(elements: int, members: list[int], group) -> Callable:
    import torch
    import torch.distributed as dist

    sent, received = torch.zeros(elements), torch.zeros(elements)
    return lambda: dist.all_to_all_single(received, sent, group=group)


def _send_recv(elements: int, members: list[int], group) -> Callable:
    """Each rank sends to the next one and receives from the one before, in one batch, as NCCL requires."""
    import torch
    import torch.distributed as dist

    sent, received = torch.zeros(elements), torch.zeros(elements)
    place = members.index(dist.get_rank())
    there, back = members[(place + 1) % len(members)], members[place - 1]

    def call():
        both = dist.P2POp(dist.isend, sent, there, group), dist.P2POp(dist.irecv, received, back, group)
        for work in dist.batch_isend_irecv(list(both)):
            work.wait()

    return call


COLLECTIVES = {
    "all-reduce": _all_reduce,
    "all-gather": _all_gather,
    "reduce-scatter": _reduce_scatter,
    "all-to-all": _all_to_all,
    "send-recv": _send_recv,
}


def main(arguments=None) -> int:
    """Measure, and write the file; the exit status."""
    parser = argparse.ArgumentParser(
        "torchrun --nproc-per-node=N -m gpuscale.labs.measure", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="the TOML file to write, such as mine.toml")
    parser.add_argument("--key", default="mine", help="name of the cluster in the file (mine)")
    parser.add_argument("--chip", default="", help="a chip of the book, such as h100_sxm, whose published peaks to use")
    parser.add_argument("--nic", type=float, default=0, help="Gbit/s of the NICs per GPU, if not those of the chip")
    parser.add_argument("--ranks", type=int, default=4, help="ranks to start if torchrun has not started any (4)")
    parser.add_argument(
        "--per-node", type=int, default=0, help="ranks per node, if not those that torchrun started there"
    )
    parser.add_argument("--repeats", type=int, default=5, help="samples of each measurement (5)")
    parser.add_argument(
        "--sample", type=float, default=0.01, help="seconds of a sample (0.01); a few for rates that have to last"
    )
    parser.add_argument("--seconds", type=float, default=1800, help="time limit (1800)")
    found = parser.parse_args(arguments)
    ranks = int(os.environ["WORLD_SIZE"]) if torchrun.inside() else found.ranks
    try:
        settings = (), (), (), found.repeats, found.per_node, "", found.sample
        results = run(measure_here, *settings, ranks=ranks, seconds=found.seconds, output="none")
        if torchrun.rank() == 0:
            made = write_spec(results[0], found.output, found.key, found.chip, found.nic * 1e9 / 8)
            print(f"{found.output}: {', '.join(part.key for part in made)}")
            print(f"python -m gpuscale.plan --spec {found.output} --model llama3-8b --gpus {ranks} --batch 64k")
    except (ValueError, KeyError, ImportError) as error:
        print(f"gpuscale.labs.measure: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    from gpuscale.labs.measure import main as importable  # so that ranks find the functions by their names

    sys.exit(importable())
