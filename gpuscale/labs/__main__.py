"""Run a notebook's code cells as a script, on every rank that torchrun has started."""

from __future__ import annotations

import argparse
import contextlib
import json
import linecache
import os
from pathlib import Path

from gpuscale.labs import torchrun


def main() -> None:
    parser = argparse.ArgumentParser("torchrun --nproc-per-node=N -m gpuscale.labs", description=__doc__)
    parser.add_argument("notebook", type=Path, help="such as chapters/lab_collectives.ipynb")
    path = parser.parse_args().notebook.resolve()
    if not path.is_file():
        parser.error(f"there is no notebook {path}")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    os.chdir(path.parent)
    if (device := torchrun.own_device()) != "cpu":
        import torch

        torch.set_default_device(device)  # so that cells create their tensors where the ranks do
    names: dict[str, object] = {"__name__": "__main__"}
    quiet = contextlib.nullcontext() if torchrun.rank() == 0 else contextlib.redirect_stdout(None)
    with quiet:
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                source, place = "".join(cell["source"]), f"{path.name}, cell {number}"
                linecache.cache[place] = len(source), None, source.splitlines(True), place  # so tracebacks can quote it
                exec(compile(source, place, "exec"), names)


if __name__ == "__main__":
    main()
