"""Speculative decoding: a draft of a few tokens, which the model checks in one step.

A step keeps the draft up to its first token that is refused, and adds a token of the model's own.
"""

# fmt: off

from gpuscale.core.conditions import below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_LEVIATHAN = "leviathan2023"

tokens_per_step = Formula("Tokens per step with speculation, equal acceptance", a_step,
    (1 - a_acc ** (n_draft + 1)) / (1 - a_acc), source=_LEVIATHAN,
    assumes="when every draft token is accepted with the same probability, whatever happened to those before it: too "
    "many for drafts of several tokens", needs=(below(a_acc, 1),))
tokens_per_step_measured = Formula("Tokens per step with speculation, measured acceptance", a_step,
    1 + a_acc_1 * (1 + a_acc_2 * (1 + a_acc_3 * (1 + a_acc_4 * (1 + a_acc_5)))), source="trtllm-blog1",
    assumes="for five draft tokens; of fewer, the rest are accepted with probability 0")
speculative_speedup = Formula("Speedup from speculative decoding", g_spec, a_step / (1 + n_draft * r_draft),
    source=_LEVIATHAN,
    assumes="when the step that checks the draft takes no longer than a step for one token")
speculative_token = Formula("Time per output token with speculation", T_tpot, (T_dec + n_draft * t_draft) / a_step,
    source=_LEVIATHAN, assumes="when T_dec is the time of the step that checks the draft, at its larger batch")
speculative_work = Formula("FLOPs of speculation per output token", g_ops,
    (n_draft * r_small + n_draft + 1) / a_step, source=_LEVIATHAN,
    assumes="for the matmuls: the draft model processes each draft token, the model all of them and one more")
verified_batch = Formula("Tokens per step that the model checks", B_check, B_seq * (n_draft + 1), source=_LEVIATHAN,
    assumes="for a draft of the same length for every sequence")

declare(globals())
