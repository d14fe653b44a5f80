"""Published measurements of serving next to their lower bounds, which the formulas of this room give.

``measured_bounds()`` has a ``Bounded`` for each row of ``specs.serving_rows()`` that has a bound, or that a formula
recomputes: the measured time of one thing, such as a decode step, the bound of the same thing, and an estimate where
there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache as remembered
from typing import NamedTuple

from gpuscale.collectives.algorithms import one_shot_all_reduce, two_shot_all_reduce
from gpuscale.llm.kv_caches import kv_token
from gpuscale.llm.model_counts import counts
from gpuscale.serving import across_gpus, cache_memory, decode_bytes, decode_compute, decode_time, fleet
from gpuscale.serving.estimates import constants
from gpuscale.serving.given_decode import decode_attention, decode_inputs, gpt_fast, peak, value
from gpuscale.specs.measured_serving import ServingRow, serving_row, serving_rows
from gpuscale.specs.registry import chip as _chip
from gpuscale.units import day, hour

HEAD = "bf16"  # the format of the output head, unless a row says otherwise
WHOLE_HEAD = ("gpt-fast",)  # engines of which each GPU reads all of the output head
USABLE = 0.95  # of HBM, where a row does not state how many sequences are in flight
NODE = 8  # GPUs
FP8_SCALES = 4 / 128  # bytes of scales per element that DeepEP dispatches in fp8
ENDS = (256, 125_000)  # contexts between which the slopes were measured
B_ACT = 2  # bytes per element of activations that GPUs exchange
UNLIMITED = 1e60  # a rate at which a time is zero


class Bounded(NamedTuple):
    """A row, the measured time of one ``thing``, its lower bound, and what that follows from: "weights", "cache",
    "compute" or "network". ``memory`` and ``compute`` are the two times of a bound by the roofline, ``prefill`` is the
    part of it before the first token. Without a bound, ``estimate`` is what a formula makes of other numbers of the
    source. ``added`` is the part of the estimate that sequences beyond the first add. In seconds; energy, money and
    nodes as printed.
    """

    row: ServingRow
    thing: str
    measured: float
    bound: float | None
    limit: str = ""
    memory: float | None = None
    compute: float | None = None
    estimate: float | None = None
    prefill: float = 0.0
    added: float = 0.0

    @property
    def ratio(self) -> float | None:
        """The measurement over the bound: 1 is as fast as the hardware allows."""
        return self.measured / self.bound if self.bound else None

    @property
    def over_estimate(self) -> float | None:
        """The measurement over the estimate."""
        return self.measured / self.estimate if self.estimate else None


class RooflineTimes(NamedTuple):
    """What a decode step or a prefill reads, its two times at the peaks, and its estimate.

    ``added``: the part of the estimate of a step that sequences beyond the first add; ``among``: the estimate of a
    prefill that shares launches and the reading of weights with others.
    """

    V_w: float
    V_kv: float
    memory: float
    compute: float
    estimate: float
    among: float = 0.0
    added: float = 0.0

    @property
    def bound(self) -> float:
        """The larger of the two times."""
        return max(self.memory, self.compute)

    @property
    def limit(self) -> str:
        """What the bound follows from."""
        if self.compute > self.memory:
            return "compute"
        return "weights" if self.V_w >= self.V_kv else "cache"


@remembered
def measured_bounds() -> Mapping[str, Bounded]:
    """By the id of a row: its bound, for each row that has one. Flagged rows are among them."""
    found = {row.id: _METRICS[row.metric](row) for row in serving_rows() if row.metric in _METRICS}
    return {key: one for key, one in found.items() if one is not None}


def batch_that_fits(row: ServingRow) -> int:
    """The most sequences of the mean context whose cache fits next to every weight, as a row in flight is bounded."""
    known = _known(row) | {"f_mem": USABLE, "V_fix": 0, "S_page": 1}
    stored, shared = (value(cache_memory.weights_stored, known | more) for more in ({}, _without_experts(known)))
    known |= {"V_res": stored + (row.copies - 1) * shared, "V_tok": known["V_seq"] / known["S"]}
    return int(value(cache_memory.largest_batch, known, n_pool=value(cache_memory.pool_blocks, known)))


def step_times(row: ServingRow, batch: float, tokens: float = 1) -> RooflineTimes:
    """A decode step of a row's model on its GPUs, for a batch of all of them."""
    many = _many(row, batch, tokens)
    memory = value(decode_time.decode_bound, many, C=UNLIMITED, C_attn=UNLIMITED)
    compute = value(decode_time.decode_bound, many, W_hbm=UNLIMITED)
    expected, one = _expected(row, many), _expected(row, _many(row, 1, tokens))
    return RooflineTimes(many["V_w"], many["V_kv"], memory, compute, expected, added=expected - one)


def _many(row: ServingRow, batch: float, tokens: float) -> dict[str, float]:
    """What the formulas of a step need: a batch of sequences that work on some tokens each."""
    known = _known(row, batch, tokens)
    read = value(decode_bytes.cache_read, known)
    many = known | {"V_kv": read, "V_read": known["V_w"] + read, "B_seq": batch * tokens}
    return many | {"ops_kv": value(decode_attention(known), many)}


def _expected(row: ServingRow, many: Mapping[str, float]) -> float:
    """The estimate of a decode step, with what its GPUs exchange."""
    if row.engine in WHOLE_HEAD:
        many = many | {"V_w": many["N_gpu"] * value(across_gpus.whole_head_read, many, Y=many["N_gpu"])}
    used, (matmuls, attention) = constants(), _fractions(row)
    layer = used.layer(counts(row.model).moe, row.weights, row.experts or row.weights)
    own = {"eta_hbm": used.eta_hbm, "t_layer": layer}
    slower = {"C": matmuls * many["C"], "C_attn": attention * many["C_attn"]}
    return value(decode_time.decode_estimate, many | own | slower) + exchanged(row, many, many["B_seq"])


def _fractions(row: ServingRow) -> tuple[float, float]:
    """Fractions of their peaks that matmuls and attention reach."""
    forms = row.experts or row.weights, row.attention or row.cache or "bf16"
    return tuple(constants().matmuls(_chip(row.chip), form) for form in forms)


def exchanged(row: ServingRow, known: Mapping[str, float], tokens: float) -> float:
    """The time in which all layers send their tokens, at the bandwidth of the links: all-reduces of tensor parallelism,
    or the all-to-alls of experts where each GPU has its own attention."""
    gpus, rate = known["N_gpu"], _chip(row.chip).get("nvlink_bw")
    if gpus == 1 or rate is None:
        return 0.0
    if row.copies > 1:
        near = {"alpha": 0, "B_gpu": tokens / gpus, "b_dispatch": B_ACT, "b_combine": B_ACT, "Z": gpus, "G": 1}
        sent = value(across_gpus.expert_parallel_exchange, known | near, W_nic=rate)
        return (known["L"] - known.get("L_dense", 0)) * sent
    reduced = value(two_shot_all_reduce, {"alpha": 0, "V": tokens * known["D"] * B_ACT, "N": gpus, "W": rate})
    return 2 * known["L"] * reduced


def prefill_times(row: ServingRow, prompts: float = 1) -> RooflineTimes:
    """The prefill of prompts on all GPUs of a row: the weights are read once."""
    known = _known(row, context=1) | {"S_in": row.input, "S_hit": 0}
    formula = decode_compute.prefill_flop_latent if "r_kv" in known else decode_compute.prefill_flop_windowed
    head = known["n_vocab"] * known["D"]
    attention = value(formula, known, P_act=head) - 2 * head  # what is left without layers' matmuls, less the head's
    matmuls = value(formula, known) - attention
    compute = prompts * (matmuls / known["C"] + attention / known["C_attn"]) / row.gpus
    memory = known["V_w"] / known["W_hbm"] / row.gpus
    known["N_gpu"] = row.gpus
    used, sent = constants(), exchanged(row, known, prompts * row.input)
    rates = (eta * known[name] for eta, name in zip(_fractions(row), ("C", "C_attn"), strict=True))
    among = prompts * sum(ops / rate for ops, rate in zip((matmuls, attention), rates, strict=True)) / row.gpus
    own = {"eta_hbm": used.eta_hbm, "eta_mat": 1, "t_layer": used.t_layer, "ops": among * known["C"] * row.gpus}
    expected = value(decode_time.prefill_estimate, known | own) + sent
    return RooflineTimes(known["V_w"], 0, memory, compute, expected, among + sent)


def read_context(row: ServingRow) -> float:
    """Tokens of the cache that a step reads per sequence, on average over the answer."""
    if row.context is not None:
        return max(row.context, 1)
    return row.input + (row.output or 0) / 2


def _known(row: ServingRow, batch: float = 1, tokens: float = 1, context: float | None = None) -> dict[str, float]:
    """What the formulas need of a row: its model in its formats, its GPUs at their peaks, the weights that are read."""
    gpu, formats = _chip(row.chip), {"experts": row.experts or None, "head": row.head or HEAD}
    more = {"batch": batch, "tokens": tokens, "context": context or read_context(row)}
    known = decode_inputs(row.model, row.weights, row.cache or "bf16", **more, **formats)
    known |= {"C": peak(gpu, row.experts or row.weights), "C_attn": peak(gpu, row.attention or row.cache or "bf16")}
    known |= {"N_gpu": row.decode_gpus or row.gpus, "W_hbm": gpu.hbm_bw, "S_hbm": gpu.hbm}
    again = known["P_exp"] * row.redundant / known["E"]
    known |= {"P": known["P"] + again, "P_exp": known["P_exp"] + again}
    known["V_w"] = value(decode_bytes.weights_read_moe, known)
    known["V_attn"] = value(decode_bytes.weights_read_moe, known | _without_experts(known))
    if row.copies > 1:
        known["V_w"] = known["N_gpu"] * value(across_gpus.data_parallel_read, known, Y=1)
    return known


def _without_experts(known: Mapping[str, float]) -> dict[str, float]:
    return {"P": known["P"] - known["P_exp"], "P_exp": 0}


# A row's Bounded, by what was measured


def _bounded(row: ServingRow, thing: str, measured: float, times: RooflineTimes, many: float = 1) -> Bounded:
    whole = (many * one for one in (times.memory, times.compute, times.estimate))
    return Bounded(row, thing, measured, many * times.bound, times.limit, *whole, added=many * times.added)


def _rate(row: ServingRow) -> Bounded:
    times = step_times(row, row.batch, 1 + (row.draft or 0))
    return _bounded(row, "decode step", (row.tokens_per_step or 1) / row.base, times)


def _step(row: ServingRow) -> Bounded:
    """A step of the sequences that decode: by Little's law, those of a concurrency that have their first token."""
    prefilling = row.also["mean_ttft_s"] / row.also["mean_latency_s"] if "mean_ttft_s" in row.also else 0
    return _bounded(row, "decode step", row.base, step_times(row, row.batch * (1 - prefilling)))


def _steps(row: ServingRow) -> Bounded:
    return _bounded(row, "all decode steps", row.base, step_times(row, row.batch), row.output - 1)


def _whole_batch(row: ServingRow, measured: float | None = None) -> Bounded:
    """Prefill of a batch that starts together, then a step for every token but the first."""
    first, step, steps = prefill_times(row, row.batch), step_times(row, row.batch), row.output - 1
    memory, compute, expected, bound = (
        getattr(first, name) + steps * getattr(step, name) for name in ("memory", "compute", "estimate", "bound")
    )
    limit = step.limit if steps * step.bound >= first.bound else first.limit
    return Bounded(row, "whole batch", measured or row.base, bound, limit, memory, compute, expected, first.bound)


def _throughput(row: ServingRow) -> Bounded | None:
    """By regime: a static batch, requests in flight, or a fleet's step; a fleet without a batch or model has none."""
    gpus = {"throughput": 1, "throughput_per_gpu": row.gpus, "throughput_per_node": row.gpus / NODE}[row.metric]
    if row.regime == "fleet":
        return None
    if row.regime == "static_batch":
        return _whole_batch(row, row.batch * row.output / (row.base * gpus))
    if row.batch is None:
        return _in_flight(row, row.output / (row.base * gpus))
    if "tokens_per_s_and_user" in row.also:
        return _at_concurrency(row)
    return _bounded(row, "decode step", row.batch / (row.base * gpus), step_times(row, row.batch))


def _in_flight(row: ServingRow, measured: float) -> Bounded:
    """A request's part of the time of all GPUs: its tokens at the largest batch, and its prefill."""
    batch = batch_that_fits(row)
    step, first = step_times(row, batch), prefill_times(row)
    part = row.output / batch
    memory, compute = part * step.memory, part * step.compute + first.compute
    limit = "compute" if compute > memory else step.limit
    expected = part * step.estimate + first.among
    bound = max(memory, compute)
    return Bounded(row, "request", measured, bound, limit, memory, compute, expected, added=part * step.added)


def _at_concurrency(row: ServingRow) -> Bounded:
    """A step of all sequences, and the prefills of those that finish in it."""
    step = step_times(row, row.batch)
    first, many = prefill_times(row), row.batch / row.output
    measured, prompts = 1 / row.also["tokens_per_s_and_user"], many * first.compute
    whole = (step.memory + prompts, step.compute + prompts, step.estimate + many * first.among)
    bound = step.bound + prompts
    return Bounded(row, "step and prefills", measured, bound, step.limit, *whole, added=step.added)


def _first_token(row: ServingRow) -> Bounded:
    return _bounded(row, "prefill", row.base, prefill_times(row, row.batch))


def _prefill_rate(row: ServingRow) -> Bounded:
    """A token of a prompt on one GPU, at a batch at which reading weights takes no time."""
    first, each = prefill_times(row), row.gpus / row.input
    gpus, bound = NODE if row.metric == "prefill_per_node" else 1, each * first.compute
    return Bounded(row, "prompt token", gpus / row.base, bound, "compute", compute=bound, estimate=each * first.among)


def _mixed(row: ServingRow) -> Bounded:
    """A step with a whole prompt and one decode less than the batch."""
    first, step = prefill_times(row), step_times(row, row.batch - 1)
    memory, compute = step.memory, first.compute + step.compute
    limit = "compute" if compute > memory else step.limit
    return Bounded(row, "mixed step", row.base, max(memory, compute), limit, memory, compute)


def _slope(row: ServingRow) -> Bounded:
    """Bytes that a further token of context adds to a step; ``memory`` is without windows, as every layer would."""
    (low, short), (high, long) = ((end, _known(row, context=end)) for end in ENDS)
    added = (long["V_seq"] - short["V_seq"]) / (high - low) / long["W_hbm"]
    every_layer = value(kv_token, long) / long["W_hbm"]
    return Bounded(row, "token of context", row.base, added, "cache", every_layer, None, added / gpt_fast().eta_hbm)


def _exchange(row: ServingRow) -> Bounded | None:
    """Copies that leave the node, at the rate of the NIC."""
    if row.gpus <= NODE:
        return None
    width = {"dispatch": 1 + FP8_SCALES, "combine": 2}[row.metric]
    known = {"B_gpu": row.batch, "Z": row.gpus, "G": NODE, "W_nic": _chip(row.chip).nic_bw, "alpha": 0}
    known |= {name: n for name, n in decode_inputs(row.model).items() if name in ("k", "D")}
    known |= {"b_dispatch": width / 2, "b_combine": width / 2}
    return Bounded(row, row.metric, row.base, value(across_gpus.expert_parallel_exchange, known), "network")


def _all_reduce(row: ServingRow) -> Bounded:
    """The shorter of one shot and two, without latency."""
    known = {"V": row.size, "N": row.gpus, "W": _chip(row.chip).nvlink_bw, "alpha": 0}
    bound = min(value(formula, known) for formula in (one_shot_all_reduce, two_shot_all_reduce))
    return Bounded(row, "all-reduce", row.base, bound, "network")


def _energy(row: ServingRow) -> Bounded:
    """The largest power for as long as the bound of a step. No bound: a longer step may draw less power."""
    power = _chip(row.chip).power / row.batch
    return Bounded(row, "output token", row.base, None, estimate=power * step_times(row, row.batch).bound)


def _nodes(row: ServingRow) -> Bounded:
    """Nodes that the tokens of a day keep busy, at the stated rates."""
    said = row.also
    known = {"lambda_req": 1 / day, "S_in": said["input_tokens_per_day"], "S_out": said["output_tokens_per_day"]}
    known |= {"r_pre": said["input_tokens_per_s_and_node"], "r_dec": said["output_tokens_per_s_and_node"], "S_hit": 0}
    return Bounded(row, "nodes", row.base, None, estimate=value(fleet.fleet_size, known))


def _day(row: ServingRow) -> Bounded:
    nodes = serving_row("deepseek-day6-nodes")
    price = nodes.also["gpus_per_node"] * nodes.also["usd_per_gpu_hour"] * day / hour
    return Bounded(row, "day", row.base, None, estimate=nodes.value * price)


def _million(row: ServingRow) -> Bounded:
    """The nodes that decode alone, at their own throughput."""
    rate = serving_row("lmsys-ep72-2k").base / NODE
    price = {"p_gpu": serving_row("deepseek-day6-nodes").also["usd_per_gpu_hour"], "r_tok": rate, "f_busy": 1}
    return Bounded(row, "million tokens", row.base, None, estimate=value(fleet.dollars_per_million, price))


_METRICS: Mapping[str, Callable[[ServingRow], Bounded | None]] = {
    "decode_rate": _rate,
    "time_per_token": _step,
    "inter_token_latency": _step,
    "latency_slope": _slope,
    "generation_time": _steps,
    "request_latency": _whole_batch,
    "first_token": _first_token,
    **dict.fromkeys(("prefill_per_gpu", "prefill_per_node"), _prefill_rate),
    **dict.fromkeys(("throughput", "throughput_per_gpu", "throughput_per_node"), _throughput),
    "mixed_step": _mixed,
    **dict.fromkeys(("dispatch", "combine"), _exchange),
    "all_reduce": _all_reduce,
    "energy_per_token": _energy,
    "nodes": _nodes,
    "cost_per_day": _day,
    "cost_per_million": _million,
}
