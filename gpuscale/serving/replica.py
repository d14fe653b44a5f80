"""A replica: the GPUs that hold a model once, and what the busiest of them holds, reads and computes.

A replica is a pipeline of stages, the fullest of L_stage layers. In each stage, n_dpa attention groups of Y
tensor-parallel ranks decode their own sequences, and the experts are spread over the Z ranks of the stage. While one
stage works on some sequences, the other stages work on others: B_seq are those of one attention group that a stage
works on at a time. The last stage has the output head on top of its layers, so it is the slowest.
"""

# fmt: off

from sympy import Min

from gpuscale.core.conditions import at_least, at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_EVEN = "for the fullest stage; matrices and key-value heads are split over tensor-parallel ranks, experts over " \
    "all ranks of a stage"
_ROWS = n_vocab * D

replica_weights = Formula("Weights that a GPU of a replica holds", V_own,
    b_w * (P - P_emb - P_exp) * L_stage / (Y * L) + b_exp * P_exp * L_stage / (Z * L) + b_w * P_emb / Y,
    source="megatron2021; scaling-book-inference",
    assumes=f"{_EVEN}; embedding and output head on the same GPUs, as without a pipeline",
    needs=(at_most(P_emb + P_exp, P),))
replica_weights_read = Formula("Weights that a GPU of a replica reads in a step", V_w,
    b_w * (P - P_emb - P_exp) * L_stage / (Y * L) + b_head * _ROWS / Y + b_exp * P_exp * E_hit * L_stage / (E * Z * L),
    source="gpt-fast; mixtral", assumes=f"{_EVEN}; on average over the ranks that have experts",
    needs=(at_most(P_emb + P_exp, P), at_most(E_hit, E)))
replica_cache = Formula("KV cache that a GPU of a replica reads in a step", V_kv,
    B_seq * V_seq * L_stage / (Min(Y, n_kv) * L), source="scaling-book-inference",
    assumes=f"{_EVEN}; more ranks than key-value heads hold copies, and a latent vector counts as one head")
replica_params = Formula("Parameters of a GPU per token of its attention group", P_tok,
    (P_act - k * P_exp / E - _ROWS) * L_stage / (Y * L) + n_dpa * k * P_exp * L_stage / (E * Z * L) + _ROWS / Y,
    source="scaling-book-inference", assumes=f"{_EVEN}; every expert gets the same number of tokens",
    needs=(at_least(P_act, k * P_exp / E + _ROWS),))
replica_attention = Formula("FLOPs of attention of a GPU of a replica", ops, ops_kv * L_stage / (Y * L),
    source="scaling-book-inference", assumes=_EVEN)
full_token_time = Formula("Time per output token at a full batch", T_tpot, T_dec + B_seq * T_pre / (S_out - 1),
    source="little1961; orca2022",
    assumes="when a request takes the place of each one that ends, so that B_seq always decode, and its prefill stops "
    "them", needs=(at_least(S_out, 2),))

full_rate = Formula("Request rate of a full batch", lambda_req, B_mean / ((S_out - 1) * T_tpot), source="little1961",
    assumes="when B_mean sequences decode at a time, and the prefill gives the first token of S_out",
    needs=(at_least(S_out, 2),))

declare(globals())
