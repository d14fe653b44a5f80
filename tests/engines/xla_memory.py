"""Bytes of weights, gradients and optimizer that XLA gives a rank, for every stage of ZeRO.

The program is a step of Adam on one matrix; only where its arrays are is stated.
"""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
from engines.xla_compile import Spec, array, mesh
from jax.sharding import NamedSharding

RANKS = (2, 4, 8, 16, 32, 64)
ROWS, COLUMNS = 1024, 256


def step(weights, gradients, master, mean, square):
    """A step of Adam, without its corrections: weights in bf16, all else in fp32."""
    mean = 0.9 * mean + 0.1 * gradients
    square = 0.99 * square + 0.01 * gradients**2
    master = master - 1e-3 * mean / (jnp.sqrt(square) + 1e-8)
    return master.astype(weights.dtype), gradients * 0, master, mean, square


def memory() -> Iterator:
    """The bytes of the arguments of a rank."""
    full = array(ROWS, COLUMNS)
    for ranks in RANKS:
        over = mesh(x=ranks)
        whole, part = NamedSharding(over, Spec()), NamedSharding(over, Spec("x"))
        for stage in range(4):
            places = tuple(part if sharded else whole for sharded in (stage > 2, stage > 1, *(stage > 0,) * 3))
            program = jax.jit(step, in_shardings=places, out_shardings=places, keep_unused=True)
            compiled = program.lower(array(ROWS, COLUMNS, kind=jnp.bfloat16), full, full, full, full).compile()
            held = compiled.memory_analysis().argument_size_in_bytes
            yield f"memory_{stage}", [ranks, ROWS * COLUMNS, 2, 4, 12, held]
