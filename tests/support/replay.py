"""What the build of the site ran, told to nbval as a kernel would: a notebook that ran is not run again for its test.

The build runs every notebook from the sources of its fingerprint, marks the outputs whose drawing is not stored, and
keeps the runs. They are compared here if the site is that of the present sources; otherwise nbval runs the notebooks.
"""

import functools
import json
from pathlib import Path
from queue import Empty

from nbval import plugin

from gpuscale.book import build


class Replay:
    """A run of a notebook, with the methods of nbval's kernels: cells are executed in their order, some may be left
    out."""

    def __init__(self, nb: dict):
        self._cells = iter([cell for cell in nb["cells"] if cell["cell_type"] == "code"])
        self._messages: list[dict] = []
        self._alive = True

    def execute_cell_input(self, source: str, allow_stdin=None) -> str:
        """Take up the next cell with that source: its outputs are what comes next."""
        cell = next((cell for cell in self._cells if "".join(cell["source"]) == source), None)
        assert cell, "the build has not run this cell"
        assert cell["execution_count"], "the build ended before this cell"
        number = str(cell["execution_count"])
        told = [(output["output_type"], content(output)) for output in cell["outputs"]]
        told.append(("status", {"execution_state": "idle"}))
        self._messages = [
            {"msg_type": kind, "content": said, "parent_header": {"msg_id": number}} for kind, said in told
        ]
        return number

    def await_reply(self, msg_id: str, timeout=None) -> None:
        """The cell has run."""

    def await_idle(self, parent_id: str, timeout=None) -> None:
        self._messages.clear()

    def get_message(self, stream: str, timeout=None) -> dict:
        """The next output of the cell, and at last that it is idle."""
        if not self._messages:
            raise Empty
        return self._messages.pop(0)

    def is_alive(self) -> bool:
        return self._alive

    def stop(self) -> None:
        self._alive = False


def content(output: dict) -> dict:
    """An output as a notebook stores it: of what the build marked as drawn, the text alone."""
    text = {key: "".join(value) for key, value in output.items() if key in ("text", "name")}
    kept = {key: value for key, value in output.items() if key != "output_type"} | text
    if "data" in output:
        drawn = output["metadata"].get("drawn")
        data = {key: "".join(value) if isinstance(value, list) else value for key, value in output["data"].items()}
        kept["data"] = {key: value for key, value in data.items() if not (drawn and key == "text/html")}
    return kept


fresh = functools.cache(build.fresh)


def of(path: Path) -> Replay | None:
    """The run that the build kept of a notebook, if the built site is that of the sources."""
    kept = build.ROOT / "_build" / build.RUNS / path.relative_to(build.ROOT)
    if not kept.exists() or not fresh(build.ROOT):
        return None
    return Replay(json.loads(kept.read_text(encoding="utf-8")))


def install() -> None:
    """Let nbval compare the build's runs, where there are any."""
    start = plugin.IPyNbFile.setup

    def setup(notebook) -> None:
        notebook.kernel = of(notebook.path)
        if notebook.kernel:
            notebook.setup_sanitize_files()
        else:
            start(notebook)

    plugin.IPyNbFile.setup = setup
