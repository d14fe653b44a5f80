"""Published numbers of batches, drafts and fleets, which the formulas give, and drafts that are refused at random."""

import functools
import math

import numpy as np
from formulas.harness import checks, close

from gpuscale.specs import serving_row

DAY = 24 * 60 * 60


@checks("requests_in_flight")
def concurrency_of_an_engine(lib):
    """Requests per second and the mean latency give the concurrency that the benchmark held."""
    for name in ("trtdsr1-b200-fp8kv", "trtdsr1-h200-fp8"):
        row = serving_row(name)
        close(
            lib.requests_in_flight(lambda_req=row.also["requests_per_s"], T_req=row.also["mean_latency_s"]),
            row.batch,
            0.025,
        )


@checks("requests_in_flight", "speed_per_user", "throughput_per_gpu")
def concurrency_of_users(lib):
    """The same runs by their users: throughput over the speed of a user is the number of users, and requests per second
    times their output is the throughput."""
    for name in ("trtdsr1-b200-fp8kv", "trtdsr1-h200-fp8"):
        row = serving_row(name)
        per_user = row.also["tokens_per_s_and_user"]
        close(row.also["requests_per_s"] * row.output, row.value, 1e-4)
        close(row.value / per_user, row.batch, 0.03)
        step = 1 / per_user
        close(lib.speed_per_user(a_step=1, T_dec=step), per_user)
        close(lib.throughput_per_gpu(B_seq=row.batch, a_step=1, N_gpu=row.gpus, T_dec=step) * row.gpus, row.value, 0.03)
        # a request is in flight for its output, one token per step
        close(lib.requests_in_flight(lambda_req=row.value / row.output, T_req=row.output * step), row.batch, 0.03)


@checks("fleet_size", "prefill_decode_ratio", "colocated_rate")
def nodes_of_deepseek_s_day(lib):
    """Its rates per node count cached tokens of prompts as well."""
    row = serving_row("deepseek-day6-nodes")
    also, requests = row.also, 1e6  # the tokens of a day, dealt to as many requests as one likes
    given = {
        "S_in": also["input_tokens_per_day"] / requests,
        "S_out": also["output_tokens_per_day"] / requests,
        "S_hit": 0,
    }
    given |= {"r_pre": also["input_tokens_per_s_and_node"], "r_dec": also["output_tokens_per_s_and_node"]}
    nodes = lib.fleet_size(**given, lambda_req=requests / DAY)
    close(nodes, row.value, 0.001)
    close(requests / DAY / lib.colocated_rate(**given), row.value, 0.001)
    ratio = lib.prefill_decode_ratio(**given)
    decode = also["output_tokens_per_day"] / DAY / also["output_tokens_per_s_and_node"]
    close(decode * (1 + ratio), row.value, 0.001)
    price = row.also["gpus_per_node"] * row.also["usd_per_gpu_hour"] * 24 * row.value
    assert price == serving_row("deepseek-day6-cost").value


@checks("dollars_per_million")
def price_of_output_alone(lib):
    """LMSYS charges the nodes that decode, at the published rate of each."""
    row, rate = serving_row("lmsys-ep-cost"), serving_row("lmsys-ep72-2k")
    per_gpu = rate.value / 8
    close(lib.dollars_per_million(p_gpu=2, r_tok=per_gpu, f_busy=1), row.value, 0.005)


@checks("dollars_per_million")
def price_of_a_prompt(lib):
    """What LMSYS leaves out: node-hours of a million prompt tokens at the published rate of a node that prefills, eight
    GPUs at the same 2 USD. It is less than half of the price of as many output tokens."""
    decode = serving_row("lmsys-ep-cost")
    for name, dollars in (("lmsys-ep32-prefill-2048", 0.0815), ("lmsys-ep32-prefill-4096-balanced", 0.0749)):
        rate = serving_row(name).value
        by_hand = 8 * 2 * 1e6 / rate / 3600
        close(by_hand, dollars, 0.001)
        close(lib.dollars_per_million(p_gpu=2, r_tok=rate / 8, f_busy=1), by_hand)
        assert by_hand < decode.value / 2


@checks("speculative_speedup")
def speedups_of_five_drafts(lib):
    """One cost of a draft token, fitted to the five rows, gives each of them within 3%."""
    plain, *rows = [serving_row(f"trtblog1-mtp{n}") for n in range(6)]
    steps = [row.tokens_per_step / row.value * plain.value for row in rows]  # in times of a step without a draft
    cost = np.mean([(step - 1) / row.draft for step, row in zip(steps, rows, strict=True)])
    for row in rows:
        ours = lib.speculative_speedup(a_step=row.tokens_per_step, n_draft=row.draft, r_draft=cost)
        close(ours, row.value / plain.value, 0.03)


@checks("tokens_per_step_measured")
def acceptance_of_five_drafts(lib):
    """The acceptances that the rows imply, one draft token after another, give back the tokens of each."""
    tokens = [1.0, *(serving_row(f"trtblog1-mtp{n}").tokens_per_step for n in range(1, 6))]
    reached = [1.0, *np.diff(tokens)]  # the chance that a draft is accepted up to here
    chain = [after / before for before, after in zip(reached, reached[1:], strict=False)]
    close(lib.tokens_per_step_measured(**{f"a_acc_{i}": a for i, a in enumerate(chain, 1)}), tokens[-1])


@functools.cache
def drawn_drafts(acceptances, cycles=200_000):
    """Tokens of a cycle on average, draft tokens accepted by dice."""
    dice = np.random.default_rng(5).random((cycles, len(acceptances)))
    accepted = np.cumprod(dice < np.array(acceptances), axis=1)
    return 1 + accepted.sum() / cycles


@checks("tokens_per_step", "tokens_per_step_measured")
def drafts_refused_at_random(lib):
    close(lib.tokens_per_step(a_acc=0.8, n_draft=4), drawn_drafts((0.8,) * 4), 0.005)
    chain = (0.92, 0.7, 0.5, 0.4, 0.1)
    close(lib.tokens_per_step_measured(**{f"a_acc_{i}": a for i, a in enumerate(chain, 1)}), drawn_drafts(chain), 0.005)


@checks("tokens_per_step")
def equal_acceptance_promises_too_much(lib):
    """The first acceptance taken for all: right for one draft token, 64% too many for five."""
    measured = [serving_row(f"trtblog1-mtp{n}").tokens_per_step for n in range(1, 6)]
    first = measured[0] - 1
    over = [lib.tokens_per_step(a_acc=first, n_draft=n) / each - 1 for n, each in enumerate(measured, 1)]
    np.testing.assert_allclose(over, [0, 0.07, 0.26, 0.43, 0.64], atol=0.01)
    assert math.isclose(over[0], 0, abs_tol=1e-9)
