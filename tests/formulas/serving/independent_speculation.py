"""Drafts accepted and refused: every outcome enumerated with its probability, cycles played in time."""

from fractions import Fraction
from itertools import product

from formulas.harness import at, checks
from hypothesis import strategies as st

PART = st.fractions(0, Fraction(8, 9), max_denominator=9)
DRAFT = st.integers(0, 5)
TIME = st.fractions(Fraction(1, 8), 9, max_denominator=8)


def expected(acceptances):
    """Tokens of a step on average: all sequences of accept and refuse, even after a token that was refused."""
    total = Fraction(0)
    for outcome in product([True, False], repeat=len(acceptances)):
        chance, tokens, still = Fraction(1), 1, True  # the model's own token
        for accepted, probability in zip(outcome, acceptances, strict=True):
            chance *= probability if accepted else 1 - probability
            still = still and accepted
            tokens += still
        total += chance * tokens
    return total


@checks("tokens_per_step", over=st.tuples(PART, DRAFT))
def every_outcome_of_equal_acceptance(lib, case):
    each, draft = case
    assert at(lib.tokens_per_step, a_acc=each, n_draft=draft) == expected([each] * draft)


@checks("tokens_per_step_measured", over=st.tuples(*[PART] * 5))
def every_outcome_of_measured_acceptance(lib, case):
    given = {f"a_acc_{i}": each for i, each in enumerate(case, 1)}
    assert at(lib.tokens_per_step_measured, **given) == expected(case)


CYCLES = st.tuples(st.lists(st.integers(1, 6), min_size=1, max_size=8), DRAFT, TIME, TIME)


@checks("speculative_speedup", "speculative_token", over=CYCLES)
def cycles_of_draft_and_check(lib, case):
    """``found``: the tokens that each cycle gives."""
    found, draft, step, small = case
    clock = Fraction(0)
    for _ in found:
        clock += sum(small for _ in range(draft)) + step
    plain = sum(step for tokens in found for _ in range(tokens))
    each = Fraction(sum(found), len(found))
    ours = at(lib.speculative_speedup, a_step=each, n_draft=draft, r_draft=small / step)
    assert ours == plain / clock
    ours = at(lib.speculative_token, T_dec=step, n_draft=draft, t_draft=small, a_step=each)
    assert ours == clock / sum(found)


@checks("speculative_work", over=CYCLES)
def flops_of_every_cycle(lib, case):
    found, draft, model, small = case
    work = Fraction(0)
    for _ in found:
        drafted = ["draft" for _ in range(draft)]
        work += sum(small for _ in drafted) + sum(model for _ in ["last", *drafted])
    plain = sum(model for tokens in found for _ in range(tokens))
    each = Fraction(sum(found), len(found))
    assert at(lib.speculative_work, n_draft=draft, r_small=small / model, a_step=each) == work / plain


@checks("verified_batch", over=st.tuples(st.integers(1, 20), DRAFT))
def rows_of_a_step(lib, case):
    sequences, draft = case
    rows = [(s, place) for s in range(sequences) for place in ("last", *range(draft))]
    assert at(lib.verified_batch, B_seq=sequences, n_draft=draft) == len(rows)
