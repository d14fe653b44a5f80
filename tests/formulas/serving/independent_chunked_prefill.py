"""Steps that carry chunks: FLOPs counted matrix by matrix and token by token, reads and steps one by one."""

from fractions import Fraction

from formulas.harness import at, checks, close
from hypothesis import strategies as st

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
