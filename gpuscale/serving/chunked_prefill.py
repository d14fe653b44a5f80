"""Chunked prefill: a step that decodes for some sequences and processes a chunk of a prompt for another.

The output head works on the tokens that decode; of a chunk it needs the last token of the prompt at most, which is
left out.
"""

# fmt: off

from sympy import Max, Piecewise, ceiling

from gpuscale.core.conditions import at_least, at_most, below
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
prompts_per_step = Formula("Prompts that are prefilled per decode step", n_come, B_seq * a_step / (S_out - 1),
    source=_SARATHI, assumes="for a full batch whose answers are replaced as they end, on average",
    needs=(at_least(S_out, 2),))
stalled_decode = Formula("Longest time between tokens without chunks", T_gap, T_dec + n_stall * T_pre, source=_SARATHI,
    assumes="when prompts are prefilled whole, and no sequence decodes meanwhile")
chunked_first_token = Formula("Time to first token with chunks", T_ttft, T_queue + _chunks * T_mix, source=_SARATHI,
    assumes="for one chunk per step, every step as long as T_mix; the last one gives the token")

# A full batch whose prompts come in chunks
_new = S_in - S_hit
_FULL = "for a full batch whose answers are replaced as they end, and full chunks: where a prompt ends, the next begins"
_decodes = 2 * flop * B_seq * P_act / C  # the time of the matmuls of the tokens that decode
chunk_time = Formula("Time of the arithmetic of a chunk", T_chunk, S_chunk * T_pre / _new, source=_SARATHI,
    assumes="on average over the chunks of a prompt whose arithmetic takes T_pre; the last one attends to more tokens "
    "than the first", needs=(below(S_hit, S_in),))
mixed_bound = Formula("Lower bound of a step with a chunk", T_mix,
    Max(V_read / W_hbm, _decodes + ops_kv / C_attn + T_chunk), source=_SARATHI,
    assumes="when reads and arithmetic overlap, each at its peak; what the chunk reads of its own cache is left out")
mixed_estimate = Formula("Estimate of a step with a chunk", T_mix,
    Max(V_w / (eta_hbm * W_hbm), _decodes + T_chunk) + Max(V_kv / (eta_hbm * W_hbm), ops_kv / C_attn) + L * t_layer,
    source=_SARATHI,
    assumes="when the matmuls of the chunk run with those of the tokens that decode, while the weights are read; what "
    "it reads of its own cache is left out")
chunk_steps = Formula("Fraction of steps that carry a chunk", f_chunk, B_seq * a_step * _new / (S_chunk * (S_out - 1)),
    source=_SARATHI, assumes=_FULL, needs=(at_least(S_out, 2), at_most(S_hit, S_in),
        at_most(B_seq * a_step * _new, S_chunk * (S_out - 1))))
largest_fed = Formula("Largest batch that chunks keep full", B_seq, S_chunk * (S_out - 1) / (a_step * _new),
    source=_SARATHI, assumes=f"{_FULL}, and every step has one", needs=(at_least(S_out, 2), below(S_hit, S_in)))
chunked_token_time = Formula("Time per output token with chunks", T_tpot,
    (T_dec + f_chunk * (T_mix - T_dec)) / a_step, source=_SARATHI,
    assumes="on average over steps of T_dec and steps of T_mix, which carry a chunk")
gap_percentile = Formula("Percentile of the time between tokens with chunks", T_gap,
    Piecewise((T_mix, f_chunk > f_late), (T_dec, True)), source=_SARATHI,
    assumes="when a fraction f_late of the gaps may be longer, and all steps with a chunk take T_mix, all others T_dec")

declare(globals())
