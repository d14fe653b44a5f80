"""Every generator of a schedule in the library, by its file and name."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable

from gpuscale.schedules import collectives
from gpuscale.schedules.collectives.schedule import Schedule


def generators() -> dict[str, Callable[..., Schedule]]:
    """Functions that return a schedule, such as "ring.all_reduce". The file of the type itself has none of its own."""
    files = [one.name for one in pkgutil.iter_modules(collectives.__path__) if one.name != "schedule"]
    return {
        f"{file}.{name}": made
        for file in files
        for name, made in vars(importlib.import_module(f"{collectives.__name__}.{file}")).items()
        if inspect.isfunction(made)
        and made.__module__.endswith(f".{file}")
        and not name.startswith("_")
        and inspect.signature(made).return_annotation is Schedule
    }
