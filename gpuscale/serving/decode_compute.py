"""FLOPs of a decode step and of the prefill of a prompt, counted exactly: the mask, windows and cached prefixes too."""

# fmt: off

from sympy import Expr, Min, oo

from gpuscale.core.conditions import at_most, below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-inference"
_MLA = "deepseek-v2, section 2.1.2"
_NEW = "for one new token in each of B_seq sequences, which sees S tokens, itself among them"
_PAIR = 4 * flop * n_q * d_head  # a query and a key, a weight and a value
_LATENT_PAIR = 2 * flop * n_q * (d_nope + d_rope + d_v)
_EXPAND = 2 * flop * n_q * r_kv * (d_nope + d_v)  # a latent vector to the keys and values of all heads

# A decode step
attention_flop_decode = Formula("FLOPs of attention in a decode step", ops_kv,
    B_seq * _PAIR * ((L - L_win) * S + L_win * Min(S, S_win)), source="megatron2021, appendix",
    assumes=f"{_NEW}, or the last S_win in L_win of the layers; scores and weighted sums alone",
    needs=(at_most(L_win, L),))
attention_flop_absorbed = Formula("FLOPs of absorbed latent attention in a decode step", ops_kv,
    2 * flop * B_seq * L * n_q * S * (2 * r_kv + d_rope), source=_MLA,
    assumes=f"{_NEW}, when each head's query is brought to the latent width and its result back: the matrices of keys "
    "and values work on the new token alone, with its other weights")
attention_flop_unabsorbed = Formula("FLOPs of expanded latent attention in a decode step", ops_kv,
    B_seq * L * (_LATENT_PAIR * S + _EXPAND * (S - 1)), source=_MLA,
    assumes=f"{_NEW}, when the latent vectors of all earlier tokens are expanded to keys and values in each step")
decode_flop = Formula("FLOPs of a decode step", ops, 2 * flop * B_seq * P_act + ops_kv, source="pope2022, section 2",
    assumes="for one token per sequence through the weights that work on it, and attention over the cache",
    approx=2 * flop * B_seq * P_act, regime=((P_act, oo),))
latent_intensity = Formula("Intensity of absorbed latent attention", I,
    2 * flop * n_ask * S * n_q * (2 * r_kv + d_rope) / (b * (n_ask * n_q * (2 * r_kv + d_rope) + S * (r_kv + d_rope))),
    source=_MLA,
    assumes="for fused scores and weighted sum, with queries, latent vectors and result crossing memory once, no mask",
    approx=2 * flop * n_ask * n_q * (2 * r_kv + d_rope) / (b * (r_kv + d_rope)), regime=((S, oo),))
expanded_from = Formula("Query tokens above which expanded latent attention takes fewer FLOPs", n_ask,
    r_kv * (d_nope + d_v) / (2 * r_kv - d_nope - d_v), source=_MLA,
    assumes="when all of them see the same cached tokens, whose latent vectors are expanded once for all: in prefill "
    "there are more, in decode fewer",
    needs=(below(d_nope + d_v, 2 * r_kv),), approx=(d_nope + d_v) / 2, regime=((r_kv, oo),))

# Prefill
_HEAD = n_vocab * D


def _prefill(title: str, tokens: Expr, attention: Expr, assumes: str, needs: tuple = (), **more) -> Formula:
    """A prompt of which ``tokens`` pass through the layers, and the last one through the output head."""
    return Formula(title, ops, 2 * flop * ((P_act - _HEAD) * tokens + _HEAD) + attention, **more,
        assumes=f"{assumes}; the output head works on the last token alone", needs=(at_most(_HEAD, P_act), *needs))


def _seen(window: Expr, tokens: Expr) -> Expr:
    """Twice the tokens that the first ``tokens`` of a prompt see in a layer with a window, added up."""
    near = Min(tokens, window)
    return near * (near + 1) + 2 * (tokens - near) * window


_new = S_in - S_hit
_twice = S_in * (S_in + 1)  # twice the pairs of a token and one that it sees
_new_twice = _twice - S_hit * (S_hit + 1)
_cached = (below(S_hit, S_in),)
prefill_flop = _prefill("FLOPs of prefill", S_in, L * _PAIR / 2 * _twice,
    "for a prompt of S_in tokens under a causal mask", source=_BOOK,
    approx=2 * flop * L * n_q * d_head * S_in**2, regime=((S_in, oo),))
prefill_flop_cached = _prefill("FLOPs of prefill with a cached prefix", _new, L * _PAIR / 2 * _new_twice,
    "under a causal mask, when the cache of the first S_hit of S_in tokens is there already",
    source="kwon2023, section 4.4", needs=_cached)
prefill_flop_windowed = _prefill("FLOPs of prefill with sliding windows", _new,
    _PAIR / 2 * ((L - L_win) * _new_twice + L_win * (_seen(S_win, S_in) - _seen(S_win, S_hit))),
    "under a causal mask, when a token sees the last S_win tokens in L_win of the layers, and S_hit tokens are cached",
    source="gpt-oss, section 2", needs=(*_cached, at_most(L_win, L)))
prefill_flop_latent = _prefill("FLOPs of prefill with latent attention", _new,
    L * (_LATENT_PAIR / 2 * _new_twice + _EXPAND * S_hit),
    "under a causal mask, when keys and values are expanded from the latent vectors, those of S_hit cached tokens too",
    source=_MLA, needs=_cached)

declare(globals())
