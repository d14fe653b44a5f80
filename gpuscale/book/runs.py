"""Run the book's notebooks in parallel, one per core, while Sphinx reads the pages.

Each runs in a kernel of its own, as in Jupyter, and in its own folder; nothing is written there. Kernels are forked
from a process that has imported numpy and sympy, which is most of what starting one takes.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal

from gpuscale.book import warm
from gpuscale.book.build import COLOUR
from gpuscale.book.normalise import ENGINE, PATIENCE
from gpuscale.core.html import PAGE

MOST = 16  # kernels at a time, so that a machine of many cores keeps its memory


class NotebookRun(NamedTuple):
    """What a run left: the notebook with its outputs, the seconds it took, and why it ended early ("" if not)."""

    notebook: nbformat.NotebookNode
    seconds: float
    error: str


class Runs:
    """Runs of notebooks that begin at once, in the order given, `cores` at a time; later ones wait their turn."""

    def __init__(self, paths: list[Path], timeout: int, cores: int | None = None):
        self._found: dict[Path, Future[NotebookRun]] = {path: Future() for path in paths}
        self._timeout, self._cores = timeout, cores or min(MOST, len(os.sched_getaffinity(0)))
        threading.Thread(target=lambda: asyncio.run(self._all()), daemon=True).start()

    def __getitem__(self, path: Path) -> NotebookRun:
        """The run of a notebook, once it has ended; KeyError for one that was not asked for."""
        return self._found[path].result()

    def __contains__(self, path: Path) -> bool:
        return path in self._found

    def stop(self) -> None:
        """Begin no more runs."""
        for future in self._found.values():
            future.cancel()

    async def _all(self) -> None:
        turn = asyncio.Semaphore(self._cores)
        await asyncio.gather(*(self._one(path, future, turn) for path, future in self._found.items()))

    async def _one(self, path: Path, future: Future, turn: asyncio.Semaphore) -> None:
        async with turn:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(await run(path, self._timeout))
                except BaseException as error:  # those who wait for this run must be told
                    future.set_exception(error)


async def run(path: Path, timeout: int) -> NotebookRun:
    """Run a notebook from its file, each cell for at most `timeout` seconds, showing readers figures, not digests.

    A cell that needs an engine, such as PyTorch, is not run: readers see the output that is stored with it.
    """
    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        if cell.cell_type == "code" and ENGINE not in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = [], None
    where = {"metadata": {"path": str(path.parent)}}
    # What a cell prints is one stream, however many messages it came in.
    settings = {"timeout": timeout, "record_timing": False, "coalesce_streams": True, "resources": where}
    settings |= PATIENCE
    settings["skip_cells_with_tag"] = ENGINE
    client = NotebookClient(nb, km=warm.manager(), shutdown_kernel="immediate", **settings)
    environment = os.environ | {"GPUSCALE_DIGEST": PAGE}
    start, error = time.perf_counter(), ""
    try:
        await client.async_execute(env=environment, cleanup_kc=True)
    except (CellControlSignal, RuntimeError, TimeoutError) as wrong:
        error = COLOUR.sub("", str(wrong)).strip() or repr(wrong)
    return NotebookRun(nb, time.perf_counter() - start, error)
