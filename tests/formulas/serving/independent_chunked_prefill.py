"""Steps that carry chunks: FLOPs counted matrix by matrix and token by token, reads and steps one by one."""

import functools
from fractions import Fraction

import numpy as np
from formulas.harness import at, checks, close
from hypothesis import strategies as st

from gpuscale.emulate.requests import draw, requests, serve

SMALL = st.integers(1, 6)
TIME = st.fractions(Fraction(1, 8), 9, max_denominator=8)
MODEL = st.tuples(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=4), SMALL, SMALL)
LOAD = st.tuples(MODEL, SMALL, SMALL)


def flops(model, decodes, chunk):
    """Each decoding token meets every matrix and the head, each token of a chunk every matrix."""
    matrices, width, vocabulary = model
    head = [(width, vocabulary)]
    met = [*(matrices + head for _ in range(decodes)), *(matrices for _ in range(chunk))]
    return sum(1 + 1 for token in met for rows, columns in token for _ in range(rows * columns))  # multiply, add


def given(model, decodes):
    matrices, width, vocabulary = model
    active = sum(rows * columns for rows, columns in [*matrices, (width, vocabulary)])
    return {"P_act": active, "D": width, "n_vocab": vocabulary, "B_seq": decodes}


@checks("mixed_step", over=st.tuples(LOAD, st.integers(0, 50), st.integers(1, 400), SMALL, SMALL))
def the_longer_of_bytes_and_flops(lib, case):
    (model, decodes, chunk), attention, read, rate, peak = case
    memory, math = Fraction(read, rate), Fraction(flops(model, decodes, chunk) + attention, peak)
    asked = {"V_read": read, "W_hbm": rate, "C": peak, "ops_kv": attention, "S_chunk": chunk}
    assert at(lib.mixed_step, **asked, **given(model, decodes)) == max(memory, math)


@checks("chunk_within", "largest_chunk", over=st.tuples(LOAD, SMALL, SMALL))
def chunks_enlarged_until_the_step_is_full(lib, case):
    (model, decodes, largest), rate, peak = case
    time = Fraction(flops(model, decodes, largest), peak)
    chunk = 0
    while Fraction(flops(model, decodes, chunk + 1), peak) <= time:
        chunk += 1
    assert at(lib.chunk_within, T_mix=time, C=peak, **given(model, decodes)) == chunk
    assert at(lib.largest_chunk, V_read=time * rate, W_hbm=rate, C=peak, **given(model, decodes)) == chunk


def chunks(prompt, size):
    """(tokens before it, tokens) of each chunk."""
    out, done = [], 0
    while done < prompt:
        out.append((done, min(size, prompt - done)))
        done += out[-1][1]
    return out


@checks("chunk_rereads", over=st.tuples(st.integers(1, 60), st.integers(1, 20), SMALL))
def a_cache_that_every_chunk_reads(lib, case):
    prompt, size, token = case
    read = sum(token for before, _ in chunks(prompt, size) for _ in range(before))
    assert at(lib.chunk_rereads, V_tok=token, S_in=prompt, S_chunk=size) == read


@checks("rereads_dominate", over=st.tuples(st.integers(1, 3), SMALL, SMALL, SMALL), examples=8)
def a_prompt_of_very_many_chunks(lib, case):
    """At that chunk its reads take as long as its matmuls, but for the first chunk, which reads nothing."""
    size, token, weights, rate = case
    prompt, peak = 9000 * size, 7
    link = Fraction(token * prompt * peak, 4 * weights * size)  # the bandwidth for which that chunk is the answer
    ours = at(lib.rereads_dominate, V_tok=token, S_in=prompt, C=peak, P_act=weights, W_hbm=link * rate) * rate
    reads = sum(before * token for before, _ in chunks(prompt, size)) / link
    matmuls = Fraction(sum(2 * weights * many for _, many in chunks(prompt, size)), peak)
    close(float(reads / matmuls), float(ours / size), 1e-3)


@checks("stalled_decode", over=st.tuples(TIME, TIME, st.integers(0, 5)))
def prompts_between_two_tokens(lib, case):
    step, prefill, prompts = case
    clock = token = Fraction(3)
    for _ in range(prompts):
        clock += prefill
    clock += step
    assert at(lib.stalled_decode, T_dec=step, T_pre=prefill, n_stall=prompts) == clock - token


@checks("chunked_first_token", over=st.tuples(TIME, TIME, st.integers(1, 60), st.integers(1, 20)))
def chunks_one_after_another(lib, case):
    queue, step, prompt, size = case
    clock = queue + sum(step for _ in chunks(prompt, size))
    assert at(lib.chunked_first_token, T_queue=queue, T_mix=step, S_in=prompt, S_chunk=size) == clock


@checks("chunk_time", over=st.tuples(st.integers(2, 30), st.integers(1, 10), TIME, st.integers(0, 9)))
def the_mean_of_all_chunks(lib, case):
    """A token of a prompt takes longer the more tokens it attends to."""
    new, size, unit, cached = case
    times = [sum(unit * (5 + cached + i) for i in range(done, done + many)) for done, many in chunks(new * size, size)]
    given = {"S_chunk": size, "S_in": cached + new * size, "S_hit": cached}
    assert at(lib.chunk_time, T_pre=sum(times), **given) == sum(times) / new


@checks("mixed_bound", "mixed_estimate", over=st.tuples(LOAD, st.tuples(SMALL, SMALL, TIME, TIME), st.integers(0, 90)))
def a_step_that_adds_up_its_work(lib, case):
    (model, decodes, chunk), (rate, peak, per_layer, part), attention = case
    matrices, *_ = model
    tokens, prompt = Fraction(flops(model, decodes, 0), peak), Fraction(flops(model, 0, chunk), peak)
    weights, cache, attends = Fraction(7 * chunk, rate), Fraction(3 * decodes, rate), Fraction(attention, peak + 1)
    given = {"C": peak, "C_attn": peak + 1, "ops_kv": attention, "B_seq": decodes, "T_chunk": prompt}
    given["P_act"] = Fraction(flops(model, decodes, 0), 2 * decodes)
    memory = 7 * chunk + 3 * decodes
    least = at(lib.mixed_bound, V_read=memory, W_hbm=rate, **given)
    assert least == max(weights + cache, tokens + prompt + attends)
    given |= {"V_w": 7 * chunk * part, "V_kv": 3 * decodes * part, "W_hbm": rate, "eta_hbm": part / 9}
    slow = {"eta_hbm": part / 9, "V_w": 7 * chunk * part / 9, "V_kv": 3 * decodes * part / 9}
    ours = at(lib.mixed_estimate, **given | slow, L=len(matrices), t_layer=per_layer)
    matmuls, caches = max(weights, tokens + prompt), max(cache, attends)
    assert ours == matmuls + caches + sum(per_layer for _ in matrices)


PLAIN, EACH, TOKEN = 0.02, 1e-4, 5e-5  # seconds of a step, of a sequence that decodes, and of a token of a prompt


@functools.cache
def backlog(slots, prompt, answer, chunk):
    """A server whose queue never ends: its steps, and the gaps of requests that it began and ended in the middle."""
    coming = requests(draw(900, seed=11), 1e9, prompt, answer)
    for one in coming:
        one.prompt = prompt  # only the lengths of answers vary
    run = serve(coming, lambda decodes, fed, *_: PLAIN + EACH * decodes + TOKEN * fed, slots, chunk=chunk)
    end = coming[-150].tokens[0]
    middle = [step for step in run.steps if 0.25 * end < step.start < end]
    gaps = np.concatenate([np.diff(one.tokens) for one in coming[200:600]])
    return middle, gaps, float(np.mean([one.answer for one in coming[200:700]]))


@checks("chunk_steps", "largest_fed", "chunked_token_time", "gap_percentile")
def a_scheduler_with_a_backlog(lib):
    for slots, prompt, answer, chunk in [(40, 1000, 200, 512), (24, 2000, 300, 250), (16, 700, 400, 512)]:
        steps, gaps, length = backlog(slots, prompt, answer, chunk)
        mixed, decodes = [step for step in steps if step.prompt], np.mean([step.decodes for step in steps])
        given = {"S_in": prompt, "S_hit": 0, "S_out": length, "S_chunk": chunk, "a_step": 1}
        full = np.mean([step.prompt for step in mixed]) / chunk  # the last chunk of a prompt may not be
        part = lib.chunk_steps(B_seq=decodes, **given) / full
        close(part, len(mixed) / len(steps), 0.04)
        close(lib.largest_fed(**given) / decodes, full * len(steps) / len(mixed) / full**2, 0.04)
        plain, slow = PLAIN + EACH * decodes, PLAIN + EACH * decodes + TOKEN * chunk * full
        close(lib.chunked_token_time(T_dec=plain, T_mix=slow, f_chunk=part, a_step=1), gaps.mean(), 0.03)
        close(lib.chunked_token_time(T_dec=plain, T_mix=slow, f_chunk=part, a_step=2), gaps.mean() / 2, 0.03)
        for late in (0.05, 0.7, 0.95) if full > 0.9 else ():
            ours = lib.gap_percentile(T_dec=plain, T_mix=plain + TOKEN * chunk, f_chunk=part, f_late=late)
            close(ours, np.quantile(gaps, 1 - late), 0.05)


@checks("chunked_token_time", "gap_percentile", over=st.tuples(TIME, TIME, SMALL, SMALL, SMALL, st.integers(1, 11)))
def steps_in_order_of_their_time(lib, case):
    step, more, plain, mixed, speed, late = case
    gaps = [step] * plain + [step + more] * mixed
    given = {"T_dec": step, "T_mix": step + more, "f_chunk": Fraction(mixed, len(gaps))}
    assert at(lib.chunked_token_time, **given, a_step=speed) == sum(gaps) / (speed * len(gaps))
    longer = Fraction(late, 12)
    least = next(gap for gap in gaps if sum(one > gap for one in gaps) <= longer * len(gaps))
    assert at(lib.gap_percentile, **given, f_late=longer) == least


@checks("prompts_per_step", over=st.tuples(SMALL, st.integers(2, 9), SMALL))
def answers_that_end(lib, case):
    """Sequences that began at different times: after as many steps as an answer takes, each ended once per speed."""
    batch, answer, speed = case
    left, ended = [Fraction((answer - 1) * (i + 1), batch) for i in range(batch)], 0
    for _ in range(answer - 1):
        left = [tokens - speed for tokens in left]
        for i in range(batch):
            while left[i] <= 0:
                left[i], ended = left[i] + answer - 1, ended + 1
    assert at(lib.prompts_per_step, B_seq=batch, S_out=answer, a_step=speed) == Fraction(ended, answer - 1)


@checks("chunk_steps", "largest_fed", over=st.tuples(SMALL, st.integers(2, 9), SMALL, SMALL, st.integers(0, 4)))
def tokens_of_prompts_per_step(lib, case):
    """Each step adds tokens to every sequence; each answer that ends brings the new tokens of the next prompt."""
    batch, answer, speed, chunk, cached = case
    prompt = cached + 3
    steps = 60 * (answer - 1)
    ended = sum(Fraction(speed, answer - 1) for _ in range(steps) for _ in range(batch))
    brought = ended * (prompt - cached)
    given = {"S_in": prompt, "S_hit": cached, "S_out": answer, "a_step": speed}
    size = chunk * 3 * batch * speed
    assert at(lib.chunk_steps, B_seq=batch, S_chunk=size, **given) == brought / size / steps
    assert at(lib.largest_fed, S_chunk=size, **given) == size * steps * batch / brought
