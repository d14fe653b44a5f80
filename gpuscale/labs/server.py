"""The process that ranks are forked from: it loads PyTorch once, and then forks in milliseconds.

Plain ``fork`` from a notebook can deadlock: it copies the locks that other threads hold, but not those threads.
This process has one thread. It talks to the launcher through a socket, and ends when the launcher does.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys

from gpuscale.labs import rank
from gpuscale.labs.messages import receive, send

# What a rank would import at its first collective or optimizer step, at one to eight seconds a rank.
PRELOAD = (
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.nn.parallel",
    "torch.optim",
    "torch.func",
    "torch._dynamo",
)


def serve(control: socket.socket) -> None:
    """Answer the launcher until it hangs up."""
    for name in PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError as error:
            send(control, str(error))
            return
    gc.freeze()  # a rank's garbage collector passes over what is loaded here: a full collection takes milliseconds
    send(control, "")
    children: list[int] = []
    while message := receive(control):
        match message:
            case "start", count, folder, path:
                sys.path[:] = path  # as the notebook's is now
                _, fds, _, _ = socket.recv_fds(control, 1, count)
                children = [_fork(number, count, folder, fds, control) for number in range(count)]
                for fd in fds:
                    os.close(fd)
                send(control, "started")
            case ("ask",):  # each rank writes down where it stands
                _tell(children, signal.SIGUSR1)
                send(control, "asked")
            case ("end",):
                _end(children)
                children = []
                send(control, "ended")
    _end(children)


def _fork(number: int, count: int, folder: str, fds: list[int], control: socket.socket) -> int:
    """Fork one rank; in the child this never returns."""
    child = os.fork()
    if child:
        return child
    control.close()
    for other, fd in enumerate(fds):
        if other != number:
            os.close(fd)
    try:
        rank.main(number, count, folder, socket.socket(fileno=fds[number]))
    finally:
        os._exit(1)  # never back into the server's loop; the launcher has its answer or sees that there is none


def _tell(children: list[int], number: int) -> None:
    for child in children:
        try:
            os.kill(child, number)
        except ProcessLookupError:  # it has ended
            pass


def _end(children: list[int]) -> None:
    _tell(children, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the launcher decides when a run ends
    serve(socket.socket(fileno=int(sys.argv[1])))
