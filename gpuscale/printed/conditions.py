"""Conditions of formulas that are constraints on layouts.

Printed by ``make printed``; do not edit.
"""

from numpy import equal, maximum, minimum, mod


def whole_key_heads(n_kv, Y):
    """What gpuscale.llm.whole_key_heads needs: that one of n_kv and Y divides the other."""
    return equal(mod(maximum(Y, n_kv), minimum(Y, n_kv)), 0)


def microbatches(B, S, n_seq, X):
    """What gpuscale.llm.microbatches needs: that B is divisible by S*X*n_seq."""
    return equal(mod(B, S*X*n_seq), 0)


def first_stage_held(N_stages, N_MB, n_virt):
    """What gpuscale.llm.first_stage_held needs: that N_MB is divisible by N_stages if n_virt is at least 2."""
    return equal(mod(N_MB, N_stages**minimum(1, n_virt - 1)), 0)


def dualpipe_held(N_stages):
    """What gpuscale.llm.dualpipe_held needs: that N_stages is divisible by 2."""
    return equal(mod(N_stages, 2), 0)
