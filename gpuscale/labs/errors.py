"""What `run` raises, and how it says where ranks stand."""

import sysconfig
from pathlib import Path

# What is not the reader's own code: Python, its packages, and this one.
INSTALLED = (*{sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")}, str(Path(__file__).parent))


class RankError(RuntimeError):
    """A rank raised an error, or ended without an answer; the message has its traceback."""


def overdue(seconds: float, stands: dict[int, str]) -> str:
    """Which ranks have not answered in time, and the line at which each stands, if it is known."""
    names = "rank" if len(stands) == 1 else "ranks"
    lines = [f"no answer within {seconds:g} s from {names} {', '.join(map(str, stands))}"]
    return "\n".join(lines + [f"rank {rank}: {where}" for rank, where in stands.items() if where])
