"""How a program is compiled for a mesh of ranks, and what is asked of the result."""

import functools
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from engines.tally import Tally
from engines.xla_hlo import collectives, matmul_flops
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

Spec = PartitionSpec
# A pass that packs all-reduces of the forward and of the backward pass into one, and one that lets the compiler merge
# what a program computes twice on purpose.
PACKS, MERGES = "cpu-all-reduce-combiner", "cse_barrier_expander"


def array(*shape: int, kind=jnp.float32) -> jax.ShapeDtypeStruct:
    """The shape of an array: nothing is ever computed."""
    return jax.ShapeDtypeStruct(shape, kind)


def mesh(**axes: int) -> Mesh:
    """A mesh over the first ranks; the last axis has neighbors."""
    devices, kinds = jax.devices()[: math.prod(axes.values())], (AxisType.Auto,) * len(axes)
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=kinds, devices=devices)


class Counted(Tally):
    """The collectives of a compiled program, and the FLOPs of a rank's matmuls."""

    def __init__(self, compiled):
        text = compiled.as_text()
        super().__init__(collectives(text))
        self.flops = matmul_flops(text)


def built(program, *without: str):
    """A program compiled without some passes of the compiler."""
    return program.compile({"xla_disable_hlo_passes": ",".join(without)})


def written(f: Callable, over: Mesh, ins, outs, *shapes, again: bool = False) -> Counted:
    """A program that says what every rank does, compiled."""
    program = jax.jit(jax.shard_map(f, mesh=over, in_specs=ins, out_specs=outs))
    return Counted(built(program.lower(*shapes), PACKS, *(MERGES,) * again))


def chosen(f: Callable, over: Mesh, ins, outs, *shapes) -> Counted:
    """A program that says only how arrays are sharded, compiled: the partitioner chooses the collectives."""
    place = functools.partial(jax.tree.map, functools.partial(NamedSharding, over))
    program = jax.jit(f, in_shardings=place(ins), out_shardings=place(outs))
    return Counted(built(program.lower(*shapes), PACKS))


def both(f: Callable) -> Callable:
    """The forward and backward pass of a function: its value, and the gradients of all inputs but the last.

    The last input is the gradient of the value, from the layers after it.
    """

    def passes(*inputs):
        *inputs, gradient = inputs
        out, back = jax.vjp(f, *inputs)
        return out, *back(gradient)

    return passes
