"""XLA: the collectives, the FLOPs and the memory of programs that JAX compiles for up to 64 ranks on one CPU.

Nothing is run: all counts are read from the compiled programs. Most of the time goes into machine code that nobody
calls, so the compiler is told to make as little of it as it can; its passes over whole programs are left as they are.
"""

import os
from collections.abc import Iterator

FLAGS = (
    "--xla_force_host_platform_device_count=64",
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
)
os.environ |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(FLAGS)}

from engines import xla_memory, xla_models, xla_programs  # noqa: E402 (JAX reads the flags when it is imported)


def measure() -> Iterator[tuple[str, list]]:
    """The rows of each family."""
    for part in (*xla_programs.PROGRAMS, xla_models.flops, xla_memory.memory):
        for family, row in part():
            yield f"xla_{family}", [row]
