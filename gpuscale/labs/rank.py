"""One rank of a run: it joins the group, calls the function, and reports what it printed and returned."""

from __future__ import annotations

import faulthandler
import io
import linecache
import os
import signal
import socket
import sys
import traceback

from gpuscale.labs.messages import receive, send


class Said(io.TextIOBase):
    """Standard output of a rank: what is written goes to the launcher."""

    def __init__(self, sock: socket.socket):
        self._sock = sock

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        send(self._sock, ("text", text))
        return len(text)


def main(number: int, count: int, folder: str, sock: socket.socket) -> None:
    """Be rank `number` of `count`. The launcher ends this process when all ranks have answered.

    A rank that left earlier would close its connections, and its neighbors would report an error that isn't theirs.
    """
    bind(number, count)
    errors = open(f"{folder}/errors-{number}", "w+b", buffering=0)
    os.dup2(errors.fileno(), 1)  # what C++ libraries print, and Python's last words if it crashes
    os.dup2(errors.fileno(), 2)
    stacks = open(f"{folder}/stack-{number}", "w")
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=False)
    faulthandler.enable(file=errors)
    sys.stdout = sys.stderr = Said(sock)
    job = receive(sock)
    if job is None:
        return
    try:
        import cloudpickle

        function, inputs, sources = cloudpickle.loads(job)
        linecache.cache.update(sources)  # so that a traceback can quote a cell
        join(number, count, folder)
        send(sock, ("result", cloudpickle.dumps(function(*inputs))))
    except BaseException as error:
        send(sock, ("error", told(error, __file__)))
    receive(sock)


def bind(number: int, count: int) -> None:
    """Stay on one core (Linux), as far from the others as the machine allows.

    A rank's threads hand each message on to each other. Between two cores that takes about twice as long.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number * max(1, len(cores) // count) % len(cores)]})


def join(number: int, count: int, folder: str) -> None:
    """Make the process group: gloo over the loopback interface; the ranks meet in a file, so no port is needed."""
    import torch
    import torch.distributed as dist

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    torch.set_num_threads(1)
    store = dist.FileStore(f"{folder}/store", count)
    dist.init_process_group("gloo", store=store, rank=number, world_size=count)


def told(error: BaseException, caller: str) -> str:
    """The traceback of an error without the outer frames, which are those of the file that called the function."""
    while error.__traceback__ and error.__traceback__.tb_frame.f_code.co_filename == caller:
        error.__traceback__ = error.__traceback__.tb_next
    return "".join(traceback.format_exception(error))
