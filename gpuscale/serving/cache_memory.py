"""Memory of the KV cache: how many blocks and sequences fit, and how much of them is wasted."""

# fmt: off

from sympy import ceiling, floor, oo

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_PAGED = "kwon2023, section 4"

weights_stored = Formula("Memory that a server holds apart from its cache", V_res,
    b_w * (P - P_emb - P_exp) + b_head * P_emb + b_exp * P_exp + N_gpu * V_fix, source=_PAGED,
    assumes="for all weights, the embedding in the format of the head, and V_fix of buffers and graphs on each GPU",
    needs=(at_most(P_emb + P_exp, P),))
blocks_of_sequence = Formula("Blocks of a sequence", n_page, ceiling(S / S_page), source=_PAGED,
    assumes="when a block belongs to one sequence")
pool_blocks = Formula("Blocks that fit into memory", n_pool,
    floor((N_gpu * f_mem * S_hbm - V_res) / (S_page * V_tok)), source=_PAGED,
    assumes="when the engine may use a fraction f_mem of the HBM of N_gpu GPUs that share the cache, and weights and "
    "buffers hold V_res of it", needs=(at_most(V_res, N_gpu * f_mem * S_hbm),))
largest_batch = Formula("Largest batch that fits", B_seq, floor(n_pool / blocks_of_sequence.rhs), source=_PAGED,
    assumes="when each sequence holds the blocks of S tokens, none in common with another")
paging_waste = Formula("Waste of a paged cache", f_waste, (S_page - 1) / (2 * S + S_page - 1), source=_PAGED,
    assumes="when the last block of a sequence of S tokens is filled to any level, all equally likely",
    approx=(S_page - 1) / (2 * S), regime=((S, oo),))
contiguous_waste = Formula("Waste of a contiguous cache", f_waste, 1 - S / S_max, source="kwon2023, section 3",
    assumes="when each sequence has room for the largest context and holds S tokens", needs=(at_most(S, S_max),))
longest_concurrency = Formula("Sequences of the largest context that fit", B_seq, n_pool * S_page / S_max,
    source="kwon2023",
    assumes="when every sequence grows to the largest context, as an engine logs it: shorter ones leave room for more")

declare(globals())
