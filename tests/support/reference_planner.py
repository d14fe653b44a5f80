"""The costs of one choice the slow way: shapes, stored elements, links, timetables; exact, and without a formula."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from functools import cache, cached_property
from itertools import product
from math import comb, prod

from support import traffic

from gpuscale.emulate import shapes
from gpuscale.schedules.collectives import hierarchical
from gpuscale.schedules.collectives.routes import Tree, worst
from gpuscale.schedules.pipelines import both_ways, orders


def model_of(part) -> shapes.Model:
    """A model of the data, written out."""
    own = {name: part.get(name) for name in shapes.Model.__dataclass_fields__ if name in part}
    own.setdefault("kv_heads", part.heads)
    own.setdefault("head_dim", part.d_model // part.heads)
    return shapes.Model(**own)


@cache
def arrived(size: int, inner: int, node: int) -> tuple[F, F]:
    """Shares of an array that enter a GPU over NVLink, and a node from the network, when a group gathers it."""
    degrees = (min(size, node), max(size // node, 1))
    loads = worst(hierarchical.all_gather(degrees, inner).per_link(Tree(degrees, rails=True)))
    return F(loads.get(1, 0)), F(loads.get(2, 0))


def share_reached(experts: int, shards: int, picks: int) -> F:
    """Of the shards a token must reach: all sets of experts counted."""
    return 1 - F(comb(experts - experts // shards, picks), comb(experts, picks))


@cache
def _layer(m: shapes.Model, dense: bool, length: int, masked: bool = True) -> tuple[int, int]:
    """FLOPs of a layer's forward pass for one sequence: all of them, and those without a parameter."""
    layer = next(i for i in range(m.layers) if m.dense(i) == dense)
    found = shapes.layer_products(m, layer, length, causal=masked and not m.dropout)  # dropout: all scores in memory
    return shapes.flops(found), shapes.flops(p for p in found if not p.weight)


@cache
def _moved(m: shapes.Model, dense: bool, length: int, ranks: int, sequence: bool, width: int) -> dict[str, int]:
    """Bytes that kernels between the matmuls of a layer move for one sequence on a rank: forward, what of it is
    cheap, and backward."""
    layer = next(i for i in range(m.layers) if m.dense(i) == dense)
    there = traffic.forward(m, layer, 1, length, ranks, sequence)
    words = ("norm", "activation", "softmax", "dropout") + (("turning",) if m.kv_rank else ())
    parts = {"forward": there, "selective": [one for one in there if one.name.startswith(words)]}
    parts["core"] = [one for one in there if one.name.startswith(("softmax", "dropout of scores"))]
    parts["backward"] = traffic.backward(m, layer, 1, length, ranks, sequence)
    return {name: traffic.size(found, width) for name, found in parts.items()}


@cache
def _size(m: shapes.Model) -> int:
    return shapes.size(shapes.tensors(m))


class Slow:
    """``Slow(request, choice).numbers()``: the same names as the planner's, at the peaks and at the measured rates.

    Ranks hold whole heads: with more of them than key heads, it counts a model with one key head per rank.
    """

    def __init__(self, ask, choice):
        self.ask, self.c, self.told_of = ask, choice, model_of(ask.model)
        self.m = replace(self.told_of, kv_heads=max(self.told_of.kv_heads, choice.tp))
        self.node = min(ask.cluster.node, ask.gpus)
        self.width = F(ask.recipe.activations)
        self.tokens = ask.seq * choice.micro // choice.cp
        self.count = len(range(0, ask.batch // ask.seq // choice.dp, choice.micro))
        self._work()
        self._params()

    def _work(self):
        m, length = self.m, self.ask.seq
        every = [_layer(m, m.dense(i), length) for i in range(m.layers)]
        plain = self.told_of
        self.told = F(sum(_layer(plain, m.dense(i), length, masked=False)[0] for i in range(m.layers)), length)
        self.asked = F(sum(_layer(plain, m.dense(i), length)[0] for i in range(m.layers)), length)
        self.layer, self.attention = (F(sum(part), m.layers * length) for part in zip(*every, strict=True))
        self.head = F(2 * m.d_model * m.vocab)
        extra = 0
        while self.c.pp > 1 and extra * self.layer < self.head:
            extra += 1
        roomy, even = self._dealt(m.layers + extra), self._dealt(m.layers)
        if self.c.pp > 1:
            roomy = min(roomy, self._dealt(m.layers, self.c.pp - 1))  # the head has the last stage for itself
        ways = [(roomy * self.layer, roomy)]  # room for the head in the last stage, or the head on top of it
        ways += [(even * self.layer + self.head, even)] if even < roomy else []
        if self.c.even:
            ways = [(even * self.layer + self.head, even)]
        slowest, self.layers = min(ways)
        self.work = max(slowest, self.head, (m.layers * self.layer + self.head) / self.c.pp)

    def _dealt(self, layers: int, stages: int = 0) -> int:
        """Layers of a stage whose equal pieces hold that many in all."""
        size = 1
        while size * (stages or self.c.pp) * self.c.virtual < layers:
            size += 1
        return size * self.c.virtual

    def _params(self):
        m, share = self.m, F(self.layers, self.m.layers)
        routed = sum(3 if m.mlp_matrices == 3 else 2 for _ in range(m.experts)) * m.d_model * m.d_ff
        self.routed = share * routed * sum(not m.dense(i) for i in range(m.layers))
        ends = m.vocab_matrices * m.vocab * m.d_model
        whole = _size(m)
        kept = ends if self.c.pp == 1 else m.vocab * m.d_model
        self.dense = share * (whole - ends) + kept - self.routed
        self.rank = self.dense / self.c.tp + self.routed / self.c.ep

    def states(self) -> Counter:
        c, recipe, out = self.c, self.ask.recipe, Counter()
        widths = {"weights": recipe.weights, "gradients": recipe.gradients}
        if self.ask.schedule == "dualpipe":  # a stage of each direction; two ranks share the optimizer of both
            widths = {name: 2 * width for name, width in widths.items()}
        widths["optimizer"] = recipe.master + 2 * recipe.moment
        parts = ((self.dense / c.tp, c.dp * c.cp), (self.routed / c.ep, F(c.dp * c.cp * c.tp, c.ep)))
        for (mine, copies), (i, (name, width)) in product(parts, enumerate(widths.items())):
            out[name] += F(width) * mine / (copies if c.zero >= 3 - i else 1)
        return out

    def kept(self, again: str) -> F:
        """Bytes of one microbatch in an average layer on a rank."""
        c, m = self.c, self.m
        ranks = 1 if m.experts and c.sp else c.tp
        tokens = self.ask.seq // c.cp // (c.tp if m.experts and c.sp else 1)
        flat = c.micro * tokens * m.d_model // (c.tp if c.sp and not m.experts else 1)
        if again == "full":
            return self.width * flat
        total, flat_bytes = 0, 0
        for layer in range(m.layers):
            held = shapes.kept(m, layer, c.micro, tokens, ranks, c.sp and not m.experts)
            if again == "selective":
                held = [t for t in held if not self._cheap(t.name)]
                total -= 4 * flat  # the outputs of the two norms are recomputed; their inputs are no matmul's
                flat_bytes += 2 * flat * self.width
            total += shapes.size(held)
            if m.dropout:
                flat_bytes += self._dropped(tokens, again)
        width = F(self.ask.recipe.get("kept", self.width)) if again == "selective" else self.width
        on_top = sum(map(self._on_top, range(m.layers))) if again in {"none", "attention"} else 0
        return F(width * (total + on_top) + flat_bytes, m.layers)

    def _constant(self, name: str) -> F:
        return F(self.ask.calibration.constants.get(name, 4 if name == "b_logit" else 0))

    def _on_top(self, layer: int) -> F:
        """Elements that a framework stores besides: copies of the heads, results of the activation function."""
        c, m, rows = self.c, self.m, self.ask.seq * self.c.micro // self.c.cp
        wide = sum(m.width(layer) for _ in range(1 if m.dense(layer) else m.active_experts + m.shared_experts))
        own = self._constant("n_copy") * m.d_model + self._constant("n_wide") * wide
        return own * F(rows, c.tp)

    def _dropped(self, tokens: int, again: str) -> int:
        """Bytes that dropout adds to a layer: a mask of one byte an element after each block, and, unless they are
        recomputed, the scores after softmax and after dropout with their mask."""
        c, m = self.c, self.m
        here = [(c.micro, tokens // (c.tp if c.sp else 1), m.d_model)] * 2
        scores = (c.micro, m.heads // c.tp, tokens, self.ask.seq)
        stored = 2 * self.width + 1 if again == "none" else 0
        return sum(map(prod, here)) + stored * prod(scores)

    def _cheap(self, name: str) -> bool:
        latent = self.m.kv_rank and (name in {"queries", "keys", "values"} or name.endswith("before norm"))
        return name in {"result"} or "enters down" in name or name.startswith("leaves expert") or bool(latent)

    def held(self) -> F:
        """Microbatches in flight on the first rank, in shares of its layers: the timetable's peak."""
        c = self.c
        return F(self._shape.peak_activations(0), c.virtual)

    def memory(self) -> Counter:
        c, m, out = self.c, self.m, self.states()
        head = F(self.tokens, c.tp) * (2 * m.d_model * self.width + self._constant("b_logit") * m.vocab)
        layer = self.kept(c.recompute)
        out["activations"] = max(self.held() * self.layers * layer, self.layers * layer + head)
        one, recipe = self.rank / self.layers, self.ask.recipe
        buffers = [recipe.gradients] * (c.zero > 1) + [recipe.weights] * 2 * (c.zero > 2)
        out["working"] = sum(one * F(width) for width in buffers) + self._again() + self._constant("V_fix")
        out["working"] += self._unfreed()
        if c.dp > 1 or c.cp > 1:  # somebody to add gradients up with
            out["working"] += self._constant("b_bucket") * self.rank
        out["memory"] = sum(out.values())
        out["states"] = sum(out[name] for name in ("weights", "gradients", "optimizer"))
        return out

    def _unfreed(self) -> F:
        """Bytes of gathered arrays that the GPU has yet to free: what they have beyond the rank's own tokens, unless
        one of the nodes stalls the pipeline, or there are two stages."""
        c, nodes = self.c, max(self.ask.gpus // self.node, 1)
        if not c.sp or c.pp == 2:
            return F(0)
        calm = prod(self._constant("p_calm") for _ in range(nodes)) if c.pp > 2 else 1
        others = sum(F(self.tokens, c.tp) * self.m.d_model for rank in range(1, c.tp))
        return calm * self._constant("n_ahead") * self.width * others

    def _again(self) -> F:
        """Bytes that the backward pass makes again at a time: a layer, or the core of its attention."""
        whole = self.kept("none")
        return {"none": 0, "attention": whole - self.kept("attention")}.get(self.c.recompute, whole)

    def kernels(self) -> tuple[F, F]:
        """Bytes that the kernels between the matmuls move for a microbatch in a stage: forward, and backward."""
        c, m = self.c, self.m
        split = bool(m.experts and c.sp)  # each rank takes its tokens through whole layers
        how = (1, False) if split else (c.tp, c.sp)
        width = int(self.width)
        parts = [_moved(m, m.dense(i), self.ask.seq, *how, width) for i in range(m.layers)]
        own = c.micro * F(self.layers, m.layers * c.cp * (c.tp if split else 1))
        total = {name: own * sum(one[name] for one in parts) for name in parts[0]}
        again = {"none": 0, "selective": total["selective"], "full": total["forward"], "attention": total["core"]}
        return total["forward"], total["backward"] + again[c.recompute]

    def links(self) -> dict:
        """For each axis the bytes over both levels: of a microbatch in a stage; for DP of a byte a parameter."""
        c, m, b = self.c, self.m, self.width
        blocks = sum(2 if m.dense(i) else 1 for i in range(m.layers)) * F(self.layers, m.layers)
        rounds = 4 + c.sp + 2 * (c.recompute == "full")
        tp = [blocks * rounds * b * self.tokens * m.d_model * x for x in arrived(c.tp, 1, self.node)]
        wide = 2 * m.kv_heads * m.head_dim if not m.kv_rank else c.tp * (m.kv_rank + m.rope_dim)
        kv = self.layers * b * self.ask.seq * c.micro * wide * (3 + (c.recompute == "full"))
        cp = [kv * x for x in arrived(c.tp * c.cp, c.tp, self.node)]
        stage = c.tp * c.cp * c.dp
        dense, routed = arrived(stage, c.tp, self.node), arrived(stage, c.ep, self.node)
        dp = [self.dense * x + self.routed * y for x, y in zip(dense, routed, strict=True)]
        return {"tp": tp, "cp": cp, "ep": self._experts(), "dp": dp}

    def _experts(self) -> list:
        c, m = self.c, self.m
        if not m.experts:
            return [F(0), F(0)]
        nodes, peers = max(c.ep // self.node, 1), min(c.ep, self.node)
        moe = F(self.layers * sum(not m.dense(i) for i in range(m.layers)), m.layers)
        moved = moe * (2 + (c.recompute == "full")) * (F(self.ask.recipe.weights) + self.width)
        each = F(self.tokens, c.tp) * m.d_model * moved  # of one GPU's tokens
        limit = self.ask.model.get("route_nodes")
        reach = share_reached(m.experts, nodes, m.active_experts)
        reach = reach if limit is None else min(reach, F(limit, nodes))
        into_gpu = each * c.ep * share_reached(m.experts, c.ep, m.active_experts) * F(peers - 1, peers)
        into_node = each * peers * nodes * reach * F(nodes - 1, nodes)
        return [into_gpu, into_node]

    def _beside(self, forward, back, scatter, gather) -> F:
        """What data parallelism adds, pass by pass. What moves once in a step moves by virtual stages."""
        zero, late = self.c.zero, F(0)
        once = gather if zero in (1, 2) else 0, {0: 2 * scatter, 1: scatter}.get(zero, 0)
        for sent, took, kind in zip(once, (forward, back), "FB", strict=True):
            late += self._left_over(sent, took, kind)
        for _ in range(self.count):
            late += max((gather if zero == 3 else 0) - forward, 0)
            late += max((scatter if zero > 1 else 0) + (gather if zero == 3 else 0) - back, 0)
        return late

    def _left_over(self, sent, took, kind) -> F:
        """What a rank sends once in a step after its backward passes, or receives before its forward ones: each virtual
        stage its own part, from its last pass on, or until its first one."""
        slots = sorted((slot.start, slot.stage // self.c.pp) for slot in self._shape.slots
                       if slot.rank == 0 and slot.kind == kind)  # fmt: skip
        order = [stage for _, stage in slots][:: 1 if kind == "B" else -1]
        last = {stage: i for i, stage in enumerate(order)}
        free, each = F(0), F(took) / self.c.virtual
        for i in sorted(last.values()):
            free = max(free, i * each) + F(sent) / self.c.virtual
        return max(free - len(order) * each, 0)

    def _copies(self) -> F:
        """Bytes that data parallelism sends for a parameter in a step, pass by pass."""
        zero, recipe, sent = self.c.zero, self.ask.recipe, F(0)
        for i in range(self.count):
            gathers = 2 if zero == 3 else 1 if zero and i == 0 else 0
            scatters = (2 if zero == 0 else 1) if zero > 1 or i == self.count - 1 else 0
            sent += gathers * F(recipe.weights) + scatters * F(recipe.gradients)
        return sent

    def _timetable(self, forward, back, hop, weights):
        """The schedule of the request, played: the times of a whole stage, ``weights`` that of its weight gradients."""
        c, schedule = self.c, self.ask.schedule
        if c.virtual > 1:
            return orders.interleaved(c.pp, self.count, c.virtual, forward / c.virtual, back / c.virtual, hop)
        if schedule in {"zb-h1", "dualpipe"}:
            play = orders.zb_h1 if schedule == "zb-h1" else both_ways.dualpipe
            return play(c.pp, self.count, forward, back, weights, t_hop=hop)
        play = {"1f1b": orders.one_f_one_b, "gpipe": orders.gpipe}[schedule]
        return play(c.pp, self.count, forward, back, hop)

    def _started(self, k, recipe) -> F:
        """The latencies of a round of data parallelism: of each bucket, or each layer that is gathered."""
        bucket = sum(k["alpha_dp"] for rank in range(self.c.dp * self.c.cp) if rank)
        if self.c.zero == 3:
            return bucket * self.layers
        return bucket * max(F(recipe.weights) * self.rank / k["V_bucket"], F(1))

    def _idle_and_exposed(self, forward, back, hop, weights) -> tuple[F, F]:
        """How long a rank idles without transfers, and what these add; with split backward passes and from both sides
        they are assumed to add what they add to 1F1B."""
        c, work = self.c, self.count * (forward + back)
        if c.pp == 1:
            return F(0), F(0)
        if self.ask.schedule not in {"zb-h1", "dualpipe"}:
            run = self._timetable(forward, back, hop, weights)
            return run.bare - work, run.exposed
        usual = orders.one_f_one_b(c.pp, self.count, forward, back, hop)
        return self._timetable(forward, back, 0, weights).makespan - work, usual.exposed

    @cached_property
    def _shape(self):
        """The schedule with simple times: what is held and how often something is sent does not depend on them."""
        return self._timetable(1, 2, 1, F(1, 2))

    def _passed_on(self) -> int:
        """Transfers in a step between the first rank and the next, both directions."""
        run = self._shape
        home = {(slot.kind, slot.microbatch, slot.stage): slot.rank for slot in run.slots}
        step = {"F": 1, "B": -1}
        ends = [
            (home[m.kind, m.microbatch, m.stage], home[m.kind, m.microbatch, m.stage + step[m.kind]])
            for m in run.transfers
        ]
        return sum(pair in {(0, 1), (1, 0)} for pair in ends)

    def numbers(self) -> dict:
        c, place = self.c, self.ask.cluster
        links, out = self.links(), dict(self.memory())
        for axis, times in {"tp": self.count, "cp": self.count, "ep": self.count, "dp": self._copies()}.items():
            out |= {f"{axis}_nvlink": times * links[axis][0], f"{axis}_network_node": times * links[axis][1]}
        sent = self._passed_on() if c.pp > 1 and c.virtual == 1 else 2 * c.virtual * self.count * (c.pp > 1)
        out |= {"microbatches": self.count, "stage_layers": self.layers}
        out |= {"pp_bytes": sent * self.width * self.tokens * self.m.d_model / c.tp}
        node = F(place.W_node) * self.node / place.node
        peaks = F(place.C), F(place.W_nvl), node, F(place.W_hbm)
        reached = [peak * F(share) for peak, share in zip(peaks, self.ask.shares, strict=True)]
        out |= {f"{name}_at_peak": value for name, value in self._times(*peaks).items()}
        out |= {f"{name}_at_measured_rates": value for name, value in self._times(*reached).items()}
        return out | {f"{name}_expected": value for name, value in self._expected().items()}

    def _times(self, rate, nvlink, network, hbm) -> dict:
        c, recipe, links, out = self.c, self.ask.recipe, self.links(), {}
        again = self._repeated()
        per = F(self.tokens, c.tp) / rate
        weights = forward = max(self.work * per, F(recipe.weights) * self.rank / hbm)
        read = F(recipe.weights) + 2 * F(recipe.gradients)
        back = max((2 * self.work + self.layers * again) * per, read * self.rank / hbm)
        between = [moved / hbm for moved in self.kernels()]
        forward, back = forward + between[0], back + between[1]
        wait = {a: max(links[a][0] / nvlink, links[a][1] / network) for a in links}
        seen = {a: F(share) * wait[a] for a, share in zip(("tp", "cp", "ep"), self.ask.waits, strict=True)}
        micro = forward + back + sum(seen.values())
        slots = micro * forward / (forward + back), micro * back / (forward + back)
        late = self._beside(forward, back, F(recipe.gradients) * wait["dp"], F(recipe.weights) * wait["dp"])
        slow = nvlink if self.ask.gpus <= self.node else min(nvlink, network / self.node)
        hop = self.width * self.tokens * self.m.d_model / c.tp / slow
        idle, hops = self._idle_and_exposed(*slots, hop, weights)
        out["need"] = 3 * self.ask.batch * (self.asked + self.head) / (self.ask.gpus * rate)
        out |= {"kernels": self.count * sum(between), "math": self.count * (forward + back - sum(between))}
        out |= {f"{axis}_wait": self.count * time for axis, time in seen.items()}
        out |= {"bubble": idle, "dp_wait": late, "pp_wait": hops, "step": self.count * micro + idle + late + hops}
        counted = 3 * self.ask.batch * (self.told + self.head)
        return out | {"mfu": counted / (self.ask.gpus * F(self.ask.cluster.C) * out["step"])}

    def _repeated(self) -> F:
        """FLOPs of a layer and token that the backward pass recomputes."""
        core, whole = self.attention, self.layer
        return {"none": 0, "selective": core + self._up(), "full": whole, "attention": core}[self.c.recompute]

    def _expected(self) -> dict:
        """The expected times with the constants of the request's calibration, cause by cause."""
        c, m, place, recipe, links = self.c, self.m, self.ask.cluster, self.ask.recipe, self.links()
        k = {name: F(value) for name, value in self.ask.calibration.constants.items()}
        rate, nvlink = F(place.C) * k["eta_mat"], F(place.W_nvl) * k["eta_nvl"]
        node, hbm = F(place.W_node) * self.node / place.node, F(place.W_hbm) * F(self.ask.shares[3])
        share = F(self.layers, m.layers)
        dense = share * sum(m.dense(i) for i in range(m.layers))
        again = self._repeated()
        tokens, scores = F(self.tokens, c.tp), self.layers * self.attention
        expert = 2 * (3 if m.mlp_matrices == 3 else 2) * m.d_model * m.d_ff * (m.active_experts or 1)
        moved = self.kernels()
        gpu = {
            "matmuls": (3 * (self.work - scores) + self.layers * again) * tokens / rate,
            "attention": (1 + k["g_attn"]) * scores * tokens / (F(place.C) * k["eta_attn"]),
            "experts": 3 * (self.layers - dense) * expert * tokens * (k["g_grp"] - 1) / rate,
            "kernels": k["g_ker"] * sum(moved) / hbm,
            "loss": k["b_loss"] * m.vocab * tokens / hbm,
            "sums": k["b_acc"] * self.rank / hbm,
        }

        def wait(axis, ranks, calls=0):
            slower = max(F(self.ask.gpus, 2 * self.node), 1)
            network = node * k["eta_net"] * F(float(slower) ** -float(k["gamma_net"]))
            start = k["alpha_1"]
            if ranks > self.node:
                start = k["alpha_2"] + k["alpha_rank"] * max(ranks - 2 * self.node, 0)
            return max(links[axis][0] / nvlink, links[axis][1] / network) + calls * start

        full = c.recompute == "full"
        calls = {"tp": 0, "cp": 0, "ep": 0}
        for _ in range(2 + full):  # forward, backward, forward again
            calls["tp"] += (self.layers + dense) * (2 if c.sp else 1) * (c.tp > 1)
            calls["cp"] += self.layers * (c.cp > 1)
            calls["ep"] += 2 * (self.layers - dense) * (c.ep > 1)
        calls["tp"] += (self.layers + dense) * c.sp * (c.tp > 1)  # inputs again, for the gradients of weights
        calls["cp"] += self.layers * (c.cp > 1)  # gradients of keys and values
        ranks = {"tp": c.tp, "cp": c.tp * c.cp, "ep": c.ep}
        waits = {axis: wait(axis, ranks[axis], calls[axis]) for axis in calls}
        seen = {axis: F(part) * waits[axis] for axis, part in zip(waits, self.ask.waits, strict=True)}
        ours = c.dp * c.tp * c.cp
        cross = k["t_cross"] * c.tp if c.pp > 1 and self.ask.gpus > self.node else 0
        host = self.layers * (k["t_host"] + cross) + k["t_head"]
        busy = sum(gpu.values()) + sum(seen.values())
        waves = F(c.tp, self.node) if c.pp > 1 else 1
        late = waves * sum(k["t_far"] for _ in range(self.layers) for rank in range(c.tp) if rank >= self.node)
        micro = max(busy, host) + late
        out = {name: self.count * time for name, time in (gpu | seen).items()}
        out["tp"] += self.count * late
        out["host"] = self.count * max(host - busy, 0)
        # passes at these rates, for what overlaps with them
        read = F(recipe.weights) + 2 * F(recipe.gradients)
        weights = max(self.work * tokens / rate, F(recipe.weights) * self.rank / hbm)
        forward = weights + moved[0] / hbm
        back = max((2 * self.work + self.layers * again) * tokens / rate, read * self.rank / hbm) + moved[1] / hbm
        slots = micro * forward / (forward + back), micro * back / (forward + back)
        alone = self.ask.gpus <= self.node
        slow = nvlink if alone else min(nvlink, node * k["eta_net"] / self.node)
        hop = self.width * self.tokens * m.d_model / c.tp / slow + k["alpha_1" if alone else "alpha_2"]
        out["bubble"], out["pp"] = self._idle_and_exposed(*slots, hop, weights)
        byte = wait("dp", ours)
        scatter, gather = F(recipe.gradients) * byte, F(recipe.weights) * byte
        every, rounds = F(0), 0
        for i in range(self.count):
            gathers = 2 if c.zero == 3 else 1 if c.zero and i == 0 else 0
            scatters = (2 if c.zero == 0 else 1) if c.zero > 1 or i == self.count - 1 else 0
            every += gathers * gather + scatters * scatter
            rounds += 3 if c.zero == 3 else 1 if scatters else 0
        best = self._beside(forward, back, scatter, gather)
        waits = k["g_dp"] if c.zero or c.pp > 1 else 0
        seen_of_all = waits * every + (1 - waits) * best + every * k["n_edge"] / self.layers
        out["dp"] = min(seen_of_all, every) + self._started(k, recipe) * rounds
        owners = c.dp * c.cp if c.zero else 1
        out["update"] = k["b_upd"] * self.rank / hbm / owners + k["t_fix"]
        out["step"] = self.count * micro + sum(out[name] for name in ("bubble", "pp", "dp", "update"))
        heads = F(2 * m.d_model * m.vocab)
        plain = self.asked - F(sum(self.attention for _ in range(m.layers)))
        out["need"] = 3 * self.ask.batch * (plain + heads) / (self.ask.gpus * rate)
        counted = 3 * self.ask.batch * (self.told + self.head)
        return out | {"mfu": counted / (self.ask.gpus * F(place.C) * out["step"])}

    def _up(self) -> int:
        named = ("query up", "key up", "value up")
        return sum(2 * prod(size) for name, *size in shapes.attention_matrices(self.m) if name in named)
