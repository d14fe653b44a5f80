"""Programs that shard a layer in all ways of the book, and the collectives of what XLA makes of them.

Each program is compiled for several numbers of ranks and sizes. What it states itself (an all-gather in its forward
pass) is little evidence; what automatic differentiation adds, what the compiler's partitioner chooses, and what its
passes remove or repeat is more.
"""

import functools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
from engines.xla_compile import Spec, array, both, chosen, mesh, written
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import Mesh, NamedSharding

RANKS = (4, 6, 8, 12, 16, 32, 64)
MESHES = ((2, 2), (3, 2), (2, 4), (4, 4), (2, 8), (4, 8), (3, 16), (8, 8))
D, F = 192, 384


def gather(x, axis: str):
    """The shards of all ranks, along the first dimension."""
    return lax.all_gather(x, axis, tiled=True)


def scatter(x, axis: str):
    """The sum over all ranks; each gets a part of the first dimension."""
    return lax.psum_scatter(x, axis, tiled=True)


# An MLP of two matrices, of three, or of two whose first is the gate and the up projection in one


def mlp(x, into: tuple, out):
    """The matrices one after another, each with a matmul of its own."""
    hidden = [x @ matrix for matrix in into]
    return (jax.nn.relu(hidden[0]) * hidden[1] if len(into) == 2 else jax.nn.relu(hidden[0])) @ out


def fused_mlp(x, into, out):
    """The gate and the up projection as one matmul; a rank has the same columns of both."""
    hidden = jnp.einsum("td,dcf->tcf", x, into)
    return (jax.nn.relu(hidden[:, 0]) * hidden[:, 1]) @ out


def matrices(n_mat: int) -> tuple[tuple, jax.ShapeDtypeStruct]:
    """The shapes of an MLP's matrices."""
    return (array(D, F),) * (n_mat - 1), array(F, D)


FORMS = (("two", 2, mlp), ("gated", 3, mlp), ("fused", 3, fused_mlp))


def form(name: str):
    """The function of an MLP, the shapes of its matrices, and how tensor parallelism shards them over an axis."""
    _, n_mat, f = next(one for one in FORMS if one[0] == name)
    into, out = matrices(n_mat)
    if name == "fused":
        return f, array(D, 2, F), out, Spec(None, None, "y"), Spec("y")
    return f, into, out, (Spec(None, "y"),) * len(into), Spec("y")


# Data parallelism and ZeRO


def data_parallel() -> Iterator:
    """Weights on every rank, tokens sharded: the gradients are reduced."""
    for ranks in RANKS:
        for n_mat in (2, 3):
            x, (into, out) = array(2 * ranks, D), matrices(n_mat)
            over, row = mesh(x=ranks), [ranks, n_mat, D, F]
            ins, outs = (Spec("x"), Spec(), Spec(), Spec("x")), (Spec("x"), Spec("x"), Spec(), Spec())
            count = written(both(mlp), over, ins, outs, x, into, out, x)
            yield "dp", [*row, count.one("all-reduce", True)]
            yield "dp_flops", [ranks, x.shape[0], n_mat, D, F, count.flops]
            count.empty()
            tree = (Spec(),) * (n_mat - 1)
            ins, outs = (Spec("x"), tree, Spec(), Spec("x")), (Spec("x"), Spec("x"), tree, Spec())
            count = chosen(both(mlp), over, ins, outs, x, into, out, x)
            yield "dp_chosen", [*row, count.one("all-reduce")]
            count.empty()


def gathered_mlp(x, into, out):
    """The MLP of a rank that has a shard of each matrix."""
    return mlp(x, tuple(gather(one, "x") for one in into), gather(out, "x"))


def zero() -> Iterator:
    """Shards of the weights on every rank: gathered once (ZeRO-2), or once for each pass (ZeRO-3)."""
    for ranks in RANKS:
        for n_mat in (2, 3):
            x, (into, out) = array(2 * ranks, D), matrices(n_mat)
            over, row = mesh(x=ranks), [ranks, n_mat, D, F]
            specs = (Spec("x"),) * 4
            for family, f, again in (
                ("zero2", gathered_mlp, False),
                ("zero3", jax.checkpoint(gathered_mlp), True),
                ("zero3_merged", jax.checkpoint(gathered_mlp), False),
            ):
                count = written(both(f), over, specs, specs, x, into, out, x, again=again)
                yield f"{family}_gather", [*row, count.one("all-gather")]
                scattered = count.one("reduce-scatter", True)
                if family != "zero3_merged":
                    yield f"{family}_scatter", [*row, scattered]
                count.empty()
            x, specs = array(128 * ranks, D), (Spec("x"), (Spec("x"),) * (n_mat - 1), Spec("x"))
            count = chosen(both(mlp), over, (*specs, Spec("x")), (Spec("x"), *specs), x, into, out, x)
            yield "zero_chosen_gather", [*row, count.one("all-gather")]
            yield "zero_chosen_reduce", [*row, count.one("all-reduce")]
            count.empty()


def two_levels() -> Iterator:
    """Weights sharded inside a node and replicated over nodes, or sharded over both."""
    for nodes, node in MESHES:
        over, row = mesh(m=nodes, g=node), [nodes, node, D, F]
        tokens = Spec(("m", "g"))
        shapes = array(2 * nodes * node, D), array(D, F), array(2 * nodes * node, F)

        def hybrid(x, w):
            return x @ gather(lax.pcast(w, "m", to="varying"), "g")

        count = written(both(hybrid), over, (tokens, Spec("g"), tokens), (tokens, tokens, Spec("g")), *shapes)
        yield "hybrid_gather", [*row, count.one("all-gather", False)]
        yield "hybrid_scatter", [*row, count.one("reduce-scatter", True)]
        yield "hybrid_reduce", [*row, count.one("all-reduce", True)]
        count.empty()

        def sharded(x, w):
            return x @ gather(gather(w, "m"), "g")

        shards = Spec(("g", "m"))
        count = written(both(sharded), over, (tokens, shards, tokens), (tokens, tokens, shards), *shapes)
        inner, outer = count.take("all-gather", False)
        yield "levels_gather_inner", [*row, inner]
        yield "levels_gather_outer", [*row, outer]
        inner, outer = count.take("reduce-scatter", True)
        yield "levels_scatter_inner", [*row, inner]
        yield "levels_scatter_outer", [*row, outer]
        count.empty()


# Tensor and sequence parallelism


def tensor_parallel() -> Iterator:
    """An MLP by columns, then rows; every rank has all tokens."""
    for ranks in RANKS:
        for name, n_mat, _ in FORMS:
            f, into, out, by_columns, by_rows = form(name)
            x, over = array(2 * ranks, D), mesh(y=ranks)
            ins, outs = (Spec(), by_columns, by_rows, Spec()), (Spec(), Spec(), by_columns, by_rows)
            row = [name, ranks, x.shape[0], D]

            def reduced(x, into, out, f=f):
                return lax.psum(f(x, into, out), "y")

            for family, count in (
                ("tp", written(both(reduced), over, ins, outs, x, into, out, x)),
                ("tp_chosen", chosen(both(f), over, ins, outs, x, into, out, x)),
            ):
                yield f"{family}_forward", [*row, count.one("all-reduce", False)]
                yield f"{family}_flops", [*row, F, n_mat, count.flops]
                which = f"{family}_separate" if name == "gated" else f"{family}_backward"
                yield which, [*row, count.one("all-reduce", True)]
                count.empty()


def attention(x, queries, keys, values, out):
    """A matmul each for queries, keys and values. Weights are [width, groups, heads of a group, width of a head]."""
    q, k, v = (jnp.einsum("td,dngh->tngh", x, w) for w in (queries, keys, values))
    return attend(q, k[:, :, 0], v[:, :, 0], out)


def fused_attention(x, together, out):
    """The same with one matmul; the last two heads of each group are its key and value."""
    heads = jnp.einsum("td,dngh->tngh", x, together)
    return attend(heads[:, :, :-2], heads[:, :, -2], heads[:, :, -1], out)


def attend(q, k, v, out):
    """Scores and weighted sum of some groups of heads, and the last matrix. In place of softmax, what compiles fast."""
    weights = jax.nn.relu(jnp.einsum("tngh,snh->ngts", q, k))
    return jnp.einsum("tngh,nghd->td", jnp.einsum("ngts,snh->tngh", weights, v), out)


def attention_parallel() -> Iterator:
    """Attention by heads: each rank has whole groups of heads, and all tokens."""
    for ranks in RANKS:
        over, x, head = mesh(y=ranks), array(2 * ranks, D), 8
        query, key = array(D, ranks, 2, head), array(D, ranks, 1, head)
        out = array(ranks, 2, head, D)
        split = Spec(None, "y")
        for suffix, f, weights in (
            ("separate", attention, (query, key, key)),
            ("fused", fused_attention, (array(D, ranks, 4, head),)),
        ):
            row = [suffix, ranks, x.shape[0], D]
            ins = (Spec(), *(split,) * len(weights), Spec("y"), Spec())
            outs = (Spec(), Spec(), *(split,) * len(weights), Spec("y"))

            def reduced(*inputs, f=f):
                return lax.psum(f(*inputs), "y")

            for family, count in (
                ("attention", written(both(reduced), over, ins, outs, x, *weights, out, x)),
                ("attention_chosen", chosen(both(f), over, ins, outs, x, *weights, out, x)),
            ):
                yield f"{family}_forward", [*row, count.one("all-reduce", False)]
                yield f"{family}_{suffix}", [*row, count.one("all-reduce", True)]
                yield f"{family}_flops", [*row, 2 * ranks, ranks, head, count.flops]
                count.empty()


def sequence_parallel() -> Iterator:
    """Between the blocks each rank has a part of the tokens. The gathered input is stored, or gathered again."""
    for ranks in RANKS:
        for name in ("two", "gated"):
            f, into, out, by_columns, by_rows = form(name)
            x, over = array(2 * ranks, D), mesh(y=ranks)
            ins = (Spec("y"), by_columns, by_rows, Spec("y"))
            outs = (Spec("y"), Spec("y"), by_columns, by_rows)
            row = [name, ranks, x.shape[0], D]

            def stored(x, into, out, f=f):
                return scatter(f(gather(x, "y"), into, out), "y")

            count = written(both(stored), over, ins, outs, x, into, out, x)
            yield "sp_forward_gather", [*row, count.one("all-gather", False)]
            yield "sp_forward_scatter", [*row, count.one("reduce-scatter", False)]
            yield "sp_flops", [*row, F, 2 if name == "two" else 3, count.flops]
            yield "sp_stored_gather", [*row, count.one("all-gather", True)]
            yield "sp_stored_scatter", [*row, count.one("reduce-scatter", True)]
            count.empty()

            count = chosen(both(f), over, ins, outs, x, into, out, x)
            yield "sp_chosen_gather", [*row, count.one("all-gather")]
            yield "sp_chosen_forward", [*row, count.one("all-reduce", False)]
            which = "sp_chosen_backward" if name == "two" else "sp_chosen_separate"
            yield which, [*row, count.one("all-reduce", True)]
            count.empty()

            def again(x, into, out, f=f):
                def first(x, into):
                    whole = gather(x, "y")
                    return checkpoint_name(tuple(whole @ one for one in into), "hidden")

                kept = jax.checkpoint_policies.save_only_these_names("hidden")
                hidden = jax.checkpoint(first, policy=kept)(x, into)
                return scatter(functools.reduce(lambda a, b: jax.nn.relu(a) * b, hidden) @ out, "y")

            count = written(both(again), over, ins, outs, x, into, out, x, again=True)
            count.take("all-gather", False), count.take("reduce-scatter", False)  # as before
            yield "sp_again_gather", [*row, count.one("all-gather", True)]
            yield "sp_again_scatter", [*row, count.one("reduce-scatter", True)]
            count.empty()


def mixed() -> Iterator:
    """Two axes: replicas of a tensor-parallel MLP, and ZeRO around tensor and sequence parallelism."""
    for copies, ranks in MESHES:
        over, x = mesh(x=copies, y=ranks), array(4 * copies * ranks, D)
        row = [copies, ranks, x.shape[0], D, F]
        f, into, out, by_columns, by_rows = form("fused")
        ins = (Spec("x"), by_columns, by_rows, Spec("x"))
        outs = (Spec("x"), Spec("x"), by_columns, by_rows)

        def reduced(x, into, out, f=f):
            return lax.psum(f(x, into, out), "y")

        for family, count in (
            ("dp_tp", written(both(reduced), over, ins, outs, x, into, out, x)),
            ("dp_tp_chosen", chosen(both(f), over, ins, outs, x, into, out, x)),
        ):
            yield f"{family}_forward", [*row, count.one("all-reduce", False)]
            inner, outer = count.take("all-reduce", True)
            yield f"{family}_backward", [*row, inner]
            yield f"{family}_gradients", [*row, outer]
            count.empty()

        def everything(x, into, out, f=f):
            into, out = gather(into, "x"), lax.all_gather(out, "x", axis=1, tiled=True)
            return scatter(f(gather(x, "y"), into, out), "y")

        tokens, into_shards, out_shards = Spec(("x", "y")), Spec("x", None, "y"), Spec("y", "x")
        ins = (tokens, into_shards, out_shards, tokens)
        outs = (tokens, tokens, into_shards, out_shards)
        count = written(both(everything), over, ins, outs, x, into, out, x)
        inner, outer = count.take("all-gather", False)
        yield "zero_tp_forward_gather", [*row, inner]
        yield "zero_tp_weights", [*row, outer]
        yield "zero_tp_forward_scatter", [*row, count.one("reduce-scatter", False)]
        yield "zero_tp_backward_gather", [*row, count.one("all-gather", True)]
        inner, outer = count.take("reduce-scatter", True)
        yield "zero_tp_backward_scatter", [*row, inner]
        yield "zero_tp_gradients", [*row, outer]
        count.empty()


# Expert, context and pipeline parallelism


def routed(x, into, out, visits: int, ranks: int):
    """Tokens of a rank sent to their experts, one on each rank, and back. Copy c of a token goes c ranks further."""
    parts = x.reshape(ranks, -1, D)
    sent = jnp.concatenate([jnp.roll(parts, c, axis=0) for c in range(visits)], axis=1)
    there = lax.all_to_all(sent, "z", 0, 0, tiled=True)
    done = jax.nn.relu(there.reshape(-1, D) @ into[0]) @ out[0]
    back = lax.all_to_all(done.reshape(there.shape), "z", 0, 0, tiled=True)
    return sum(jnp.roll(part, -c, axis=0) for c, part in enumerate(jnp.split(back, visits, axis=1))).reshape(x.shape)


def slotted(x, into, out, over: Mesh):
    """Slots of tokens for each sender and expert: sharded by sender, then by expert, then by sender again."""
    sender, expert = NamedSharding(over, Spec("z")), NamedSharding(over, Spec(None, "z"))
    hidden = jax.nn.relu(jnp.einsum("secd,edf->secf", lax.with_sharding_constraint(x, expert), into))
    done = lax.with_sharding_constraint(jnp.einsum("secf,efd->secd", hidden, out), expert)
    return lax.with_sharding_constraint(done, sender)


def expert_parallel() -> Iterator:
    """An expert on each rank: two all-to-alls forward, two backward; with replicas their gradients are reduced."""
    for ranks in RANKS:
        over, x = mesh(z=ranks), array(2 * ranks * ranks, D)
        shapes, row = (x, array(ranks, D, F), array(ranks, F, D), x), [ranks, x.shape[0], D]
        for visits in (1, 2, 4):
            f = functools.partial(routed, visits=visits, ranks=ranks)
            count = written(both(f), over, (Spec("z"),) * 4, (Spec("z"),) * 4, *shapes)
            yield "ep_forward", [*row, visits, count.one("all-to-all", False)]
            yield "ep_flops", [*row, visits, F, count.flops]
            yield "ep_backward", [*row, visits, count.one("all-to-all", True)]
            count.empty()
        slots, specs = array(ranks, ranks, 2, D), (Spec("z"),) * 4
        f = functools.partial(slotted, over=over)
        count = chosen(both(f), over, specs, specs, slots, array(ranks, D, F), array(ranks, F, D), slots)
        yield "ep_chosen", [ranks, 2 * ranks * ranks, D, count.one("all-to-all")]
        count.empty()
    for copies, ranks in MESHES:
        over, x = mesh(x=copies, z=ranks), array(2 * copies * ranks * ranks, D)
        shapes, row = (x, array(ranks, D, F), array(ranks, F, D), x), [copies, ranks, x.shape[0], D, F]
        f, tokens = functools.partial(routed, visits=2, ranks=ranks), Spec(("x", "z"))
        specs = (tokens, Spec("z"), Spec("z"), tokens), (tokens, tokens, Spec("z"), Spec("z"))
        count = written(both(f), over, *specs, *shapes)
        yield "ep_dp_forward", [*row, count.one("all-to-all", False)]
        yield "ep_dp_backward", [*row, count.one("all-to-all", True)]
        yield "ep_dp_gradients", [*row, count.one("all-reduce", True)]
        count.empty()


def attend_all(q, k, v):
    """Attention of some queries to all keys, for groups of heads."""
    weights = jax.nn.relu(jnp.einsum("tngh,snh->ngts", q, k))
    return jnp.einsum("ngts,snh->tngh", weights, v)


def context_parallel() -> Iterator:
    """One sequence over ranks: keys and values gathered, passed around a ring, or tokens swapped for heads."""
    for ranks in RANKS:
        over, heads, width = mesh(c=ranks), ranks, 4
        q, k = array(2 * ranks, heads, 2, width), array(2 * ranks, heads, width)
        row = [ranks, q.shape[0], 2 * heads, heads, width]
        specs = (Spec("c"),) * 4

        def gathered(q, k, v):
            return attend_all(q, gather(k, "c"), gather(v, "c"))

        def swapped(q, k, v):
            swap = functools.partial(lax.all_to_all, axis_name="c", tiled=True)
            whole = attend_all(*(swap(part, split_axis=1, concat_axis=0) for part in (q, k, v)))
            return swap(whole, split_axis=0, concat_axis=1)

        def ring(q, k, v, ranks=ranks):
            turn = [(rank, (rank + 1) % ranks) for rank in range(ranks)]
            total = norm = 0
            for step in range(ranks):
                weights = jnp.exp(jnp.einsum("tngh,snh->tngs", q, k))
                total += jnp.einsum("tngs,snh->tngh", weights, v)
                norm += weights.sum(-1, keepdims=True)
                if step < ranks - 1:
                    k, v = lax.ppermute((k, v), "c", turn)
            return total / norm

        count = written(both(gathered), over, specs, specs, q, k, k, q)
        yield "cp_gather", [*row, count.one("all-gather", False)]
        yield "cp_flops", ["gather", *row, count.flops]
        yield "cp_scatter", [*row, count.one("reduce-scatter", True)]
        count.empty()
        count = written(both(swapped), over, specs, specs, q, k, k, q)
        yield "cp_heads_forward", [*row, count.one("all-to-all", False)]
        yield "cp_flops", ["heads", *row, count.flops]
        yield "cp_heads_backward", [*row, count.one("all-to-all", True)]
        count.empty()
        if ranks <= 12:
            count = written(both(ring), over, specs, specs, q, k, k, q)
            yield "cp_ring_forward", [*row, count.one("collective-permute", False)]
            yield "cp_ring_backward", [*row, count.one("collective-permute", True)]
            count.empty()


def pipeline() -> Iterator:
    """Microbatches through stages, one matrix each: in every slot but the last, each stage passes on what it has."""
    for stages in (4, 6, 8):
        for microbatches in (2, 4, 8):
            over, x = mesh(p=stages), array(microbatches, 8, D)

            def passed(x, w, stages=stages, microbatches=microbatches):
                first = lax.axis_index("p") == 0
                here, found = jnp.zeros_like(x[0]), []
                for slot in range(microbatches + stages - 1):
                    enters = x[min(slot, microbatches - 1)]
                    here = jnp.where(first, enters, here) @ w[0]
                    found.append(here)
                    if slot < microbatches + stages - 2:
                        here = lax.ppermute(here, "p", [(rank, rank + 1) for rank in range(stages - 1)])
                return jnp.stack(found[stages - 1 :])[None]

            specs = (Spec(), Spec("p"), Spec("p")), (Spec("p"), Spec(), Spec("p"))
            gradient = array(stages, microbatches, 8, D)
            count = written(both(passed), over, *specs, x, array(stages, D, D), gradient)
            row = [stages, microbatches, 8 * microbatches, D]
            yield "pp_forward", [*row, count.one("collective-permute", False)]
            yield "pp_backward", [*row, count.one("collective-permute", True)]
            count.take("all-reduce", True)  # the gradient of x, which every rank got
            count.empty()


PROGRAMS = (data_parallel, zero, two_levels, tensor_parallel, attention_parallel, sequence_parallel, mixed)
PROGRAMS += (expert_parallel, context_parallel, pipeline)
