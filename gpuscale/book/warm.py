"""Kernels that start warm: each is forked from one process that has imported what every notebook imports.

Each is a process of its own with an empty namespace. Starting a fresh Python and importing sympy and the formulas
again is most of what an exercise sheet takes.
"""

from __future__ import annotations

import multiprocessing
import os
import uuid

from jupyter_client import AsyncKernelManager, KernelManager
from jupyter_client.provisioning import LocalProvisioner

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["gpuscale.book.preload"])


def serve(arguments: list[str], folder: str, environment: dict[str, str], quiet: bool) -> None:
    """Be a kernel, in the new process, until told to end; it ends with the process that it was forked from."""
    from ipykernel.kernelapp import IPKernelApp

    if quiet:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    IPKernelApp.launch_instance(argv=[*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


class Forked:
    """A forked kernel with the methods of a `subprocess.Popen` that a provisioner calls."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self._process, self.pid = process, process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


class WarmProvisioner(LocalProvisioner):
    """Starts a kernel by a fork; jupyter_client's own starts a fresh Python. `environment` is added to its own."""

    environment: dict[str, str] = {}

    async def launch_kernel(self, cmd, **kwargs):
        """Fork a kernel. `cmd` is `python -m ipykernel_launcher` and its options, which the kernel gets."""
        self.cwd = str(kwargs.get("cwd") or os.getcwd())
        arguments = cmd[3:], self.cwd, {**kwargs["env"], **self.environment}, kwargs.get("stderr") is not None
        process = FORKS.Process(target=serve, args=arguments, daemon=True)
        process.start()
        self.process, self.pid = Forked(process), process.pid
        return self.connection_info


def manager(
    kind: type[KernelManager] = AsyncKernelManager, environment: dict[str, str] | None = None, **options
) -> KernelManager:
    """A manager of one kernel, not yet started; `environment` is added to ours, `options` are those of its kind."""
    km = kind(**{"kernel_name": "python3"} | options)
    km.kernel_id = str(uuid.uuid4())
    km.provisioner = WarmProvisioner(kernel_id=km.kernel_id, kernel_spec=km.kernel_spec, parent=km)
    km.provisioner.environment = environment or {}
    return km
