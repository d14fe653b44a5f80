"""Call a function on every rank of a process group, from a notebook or under torchrun."""

from __future__ import annotations

import atexit
import importlib.util
import linecache
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpuscale.labs import torchrun
from gpuscale.labs.errors import INSTALLED, RankError, overdue
from gpuscale.labs.messages import receive, send

OUTPUTS = ("ordered", "live", "none")
MOST = 64
# The server in a fresh Python: its path is the notebook's, so that it finds what the notebook finds.
START = """
import runpy, sys
sys.path[:] = eval(sys.argv.pop(1))
runpy.run_module("gpuscale.labs.server", run_name="__main__")
"""
CELL = re.compile(r'File ".*/ipykernel_\d+/\d+\.py"')
FRAME = re.compile(r'File "(.+)", line (\d+) in (.+)')


def run(function, *inputs, ranks: int = 4, seconds: float = 60, output: str = "ordered") -> list:
    """What ``function(*inputs)`` returns on each rank, in the order of the ranks.

    Each rank is a process of its own, and all form one group of ``torch.distributed`` (gloo), so `function` may use
    every collective. It may be defined in a notebook; its inputs and results are copied. What ranks print appears
    with the rank before each line: in the order of the ranks when all have ended ("ordered"), at once ("live"), or
    not at all ("none").

    Under ``torchrun`` the same call uses the processes that torchrun has started.

    Raises ValueError for a wrong argument, RankError with the traceback of a rank that fails, TimeoutError if some
    have not answered after `seconds`, with the line at which each stands, and ImportError without PyTorch.
    """
    _checked(function, ranks, seconds, output)
    if torchrun.inside():
        return torchrun.call(function, inputs, ranks, seconds, output)
    server = _server()
    with tempfile.TemporaryDirectory(prefix="gpuscale-") as folder:
        job = _packed(function, inputs)
        try:
            return _Run(server, folder, job, ranks, output).results(seconds)
        finally:
            server.end()


def warm_up() -> None:
    """Load PyTorch in the background, so that the first call of `run` need not wait for it.

    Prints why `run` will not work, if so: on Windows, and without PyTorch. Does nothing under ``torchrun``.
    """
    if reason := _reason():
        print(reason)
    elif not torchrun.inside():
        _server()


def _checked(function, ranks: int, seconds: float, output: str) -> None:
    if not callable(function):
        raise ValueError(f"run: the first argument is called on every rank, so it must be a function, not {function!r}")
    if not isinstance(ranks, int) or not 1 <= ranks <= MOST:
        raise ValueError(f"run: ranks={ranks!r}; a whole number from 1 to {MOST} was expected")
    if not seconds > 0:
        raise ValueError(f"run: seconds={seconds!r}; a positive number was expected")
    if output not in OUTPUTS:
        raise ValueError(f"run: output={output!r}; one of {', '.join(map(repr, OUTPUTS))} was expected")
    if reason := _reason():
        raise ImportError(reason)


def _reason() -> str:
    """Why no ranks can be started here, and what to do; empty if they can."""
    if sys.platform == "win32":
        return "The labs start ranks by fork, which Windows does not have: use WSL (Linux on Windows)"
    missing = [name for name in ("torch", "cloudpickle") if importlib.util.find_spec(name) is None]
    return f'The labs need {" and ".join(missing)}: pip install "gpuscale[labs]"' if missing else ""


def _packed(function, inputs) -> bytes:
    """The function with everything it refers to, its inputs, and the sources of the notebook's cells."""
    import cloudpickle

    cells = {name: entry for name, entry in linecache.cache.items() if len(entry) == 4 and entry[1] is None}
    return cloudpickle.dumps((function, inputs, cells))


class _Server:
    """The process that ranks are forked from, as the launcher sees it."""

    def __init__(self):
        near, far = socket.socketpair()
        with far:
            command = [sys.executable, "-c", START, repr(sys.path), str(far.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[far.fileno()], stdin=subprocess.DEVNULL)
        self._control, self.owner, self._loaded = near, os.getpid(), False

    def start(self, ranks: int, folder: str) -> list[socket.socket]:
        """Fork the ranks, as soon as PyTorch is loaded; returns a socket to each."""
        self._load()
        pairs = [socket.socketpair() for _ in range(ranks)]
        self._ask(("start", ranks, folder, sys.path), [far.fileno() for _, far in pairs])
        for _, far in pairs:
            far.close()
        return [near for near, _ in pairs]

    def _load(self) -> None:
        """Wait for the server's first message: it is empty if PyTorch is loaded, else it says what is wrong."""
        if self._loaded:
            return
        try:
            wrong = self._answer()
        except BaseException:  # an interrupt: see _ask
            self.stop()
            raise
        if wrong:
            self.stop()
            raise ImportError(f"PyTorch does not load: {wrong}")
        self._loaded = True

    def ask(self) -> None:
        """Let each rank write down where it stands."""
        self._ask(("ask",))

    def end(self) -> None:
        """End all ranks. Returns when they have gone."""
        if self.alive:
            self._ask(("end",))

    def stop(self) -> None:
        """End the server, and with it all ranks."""
        if not self._loaded:
            self._process.kill()  # it would only find out when it has loaded everything
        self._control.close()
        self._process.wait()

    def _ask(self, message: tuple, files: list[int] = ()) -> None:
        try:
            send(self._control, message)
            if files:
                socket.send_fds(self._control, [b"."], files)
            self._answer()
        except BaseException:  # also an interrupt: the answer may still come, so this server is of no more use
            self.stop()
            raise

    def _answer(self) -> str:
        answer = receive(self._control)
        if answer is None:
            raise RankError("the process that starts the ranks has ended; the next call starts a new one")
        return answer

    @property
    def alive(self) -> bool:
        """Whether it can start ranks for this process; a fork of this process needs its own."""
        return self.owner == os.getpid() and self._control.fileno() >= 0 and self._process.poll() is None


_started: list[_Server] = []


def _server() -> _Server:
    """The server, started at the first call and again if it has ended."""
    if not _started or not _started[0].alive:
        _started[:] = [_Server()]
    return _started[0]


@atexit.register
def _stop() -> None:
    for server in _started:
        if server.alive:
            server.stop()


class _Run:
    """One run: what each rank has said and returned so far."""

    def __init__(self, server: _Server, folder: str, job: bytes, ranks: int, output: str):
        self._server, self._folder, self._output = server, Path(folder), output
        self._sockets = server.start(ranks, folder)
        self._said = [""] * ranks
        self._found: dict[int, object] = {}
        for sock in self._sockets:
            send(sock, job)

    def results(self, seconds: float) -> list:
        """Wait for all ranks, then return what each returned."""
        end = time.monotonic() + seconds
        try:
            while len(self._found) < len(self._sockets):
                waiting = {sock: rank for rank, sock in enumerate(self._sockets) if rank not in self._found}
                ready, _, _ = select.select(list(waiting), [], [], max(0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError(self._overdue(seconds, sorted(waiting.values())))
                for sock in ready:
                    self._take(waiting[sock], receive(sock))
        finally:
            for rank in range(len(self._sockets)):
                self._show(rank, whole=True)
                self._sockets[rank].close()
        return [self._found[rank] for rank in range(len(self._sockets))]

    def _take(self, rank: int, message) -> None:
        import cloudpickle

        match message:
            case "text", text:
                self._said[rank] += text
                if self._output == "live":
                    self._show(rank)
            case "result", data:
                self._found[rank] = cloudpickle.loads(data)
            case "error", text:
                raise RankError(f"rank {rank} failed\n{CELL.sub('Cell', text)}")
            case None:
                last = (self._folder / f"errors-{rank}").read_text(errors="replace").strip()
                raise RankError(f"rank {rank} ended without an answer{': ' if last else ''}{last[-2000:]}")

    def _show(self, rank: int, whole: bool = False) -> None:
        """Print the lines that a rank has finished; with `whole` also the last one."""
        lines, rest = self._said[rank].rpartition("\n")[::2]
        if whole:
            lines, rest = self._said[rank], ""
        self._said[rank] = rest
        if self._output != "none":
            print("".join(f"rank {rank} | {line}\n" for line in lines.splitlines()), end="", flush=True)

    def _overdue(self, seconds: float, waiting: list[int]) -> str:
        """Which ranks have not answered, and the line of the notebook at which each stands."""
        self._server.ask()
        time.sleep(0.2)
        return overdue(seconds, {rank: self._where(rank) for rank in waiting})

    def _where(self, rank: int) -> str:
        """The innermost line of the reader's own code that a rank is in; empty if there is none."""
        stack = (self._folder / f"stack-{rank}").read_text(errors="replace")
        for name, line, function in FRAME.findall(stack):
            source = linecache.getline(name, int(line)).strip()
            if source and not name.startswith(INSTALLED):
                place = "Cell" if "ipykernel_" in name else Path(name).name
                return f"{place}, line {line}, in {function}: {source}"
        return ""
