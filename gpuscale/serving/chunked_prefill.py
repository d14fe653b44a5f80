"""Chunked prefill: a step that decodes for some sequences and processes a chunk of a prompt for another.

The output head works on the tokens that decode; of a chunk it needs the last token of the prompt at most, which is
left out.
"""

# fmt: off

from sympy import Max, ceiling

from gpuscale.core.conditions import at_most, below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_SARATHI = "sarathi2024"
_body = P_act - n_vocab * D  # parameters that work on a token of a prompt
_work = 2 * flop * (P_act * B_seq + _body * S_chunk)
_HEAD = below(n_vocab * D, P_act)

mixed_step = Formula("Time of a step that decodes and prefills", T_mix, Max(V_read / W_hbm, (_work + ops_kv) / C),
    source=_SARATHI,
    assumes="for B_seq tokens that decode and a chunk of a prompt, on GPUs whose bandwidths and peaks add up to W_hbm "
    "and C: a lower bound", needs=(_HEAD,))
chunk_within = Formula("Largest chunk in a step of a given time", S_chunk,
    (T_mix * C / (2 * flop) - P_act * B_seq) / _body, source=_SARATHI,
    assumes="when the matmuls take the whole step, attention's FLOPs left out: no chunk for that time is larger",
    needs=(_HEAD, at_most(2 * P_act * B_seq, T_mix * C)))
largest_chunk = Formula("Largest chunk that does not lengthen a decode step", S_chunk,
    (V_read * C / (2 * flop * W_hbm) - P_act * B_seq) / _body, source=_SARATHI,
    assumes="when the step waits for the bytes that it reads anyway, attention's FLOPs left out",
    needs=(_HEAD, at_most(2 * P_act * B_seq, V_read * C / W_hbm)))
_chunks = ceiling(S_in / S_chunk)
chunk_rereads = Formula("Bytes that chunked prefill reads back", V_again,
    V_tok * S_chunk * _chunks * (_chunks - 1) / 2, source=_SARATHI,
    assumes="when a chunk reads the keys and values of all chunks before it once")
rereads_dominate = Formula("Chunk below which prefill waits for the cache", S_chunk,
    V_tok * S_in * C / (4 * flop * P_act * W_hbm), source=_SARATHI,
    assumes="when a prompt is much longer than a chunk: reading its cache back takes as long as its matmuls")
stalled_decode = Formula("Longest time between tokens without chunks", T_gap, T_dec + n_stall * T_pre, source=_SARATHI,
    assumes="when prompts are prefilled whole, and no sequence decodes meanwhile")
chunked_first_token = Formula("Time to first token with chunks", T_ttft, T_queue + _chunks * T_mix, source=_SARATHI,
    assumes="for one chunk per step, every step as long as T_mix; the last one gives the token")

declare(globals())
