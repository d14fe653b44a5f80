"""Context parallelism: one sequence sharded over ranks, whose queries need the keys and values of all others.

S is the whole sequence. A ring passes each rank's block of keys and values once around; an all-gather brings all of
them at once; an all-to-all swaps tokens for heads. Everything else in a layer treats each token alone and needs no
communication.
"""

# fmt: off

from sympy import oo

from gpuscale.core.conditions import at_least, divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_RING = "ring-attention2023"
_LLAMA = "llama3, section 3.3.2"
_CAUSAL = "for a causal mask whose hidden half is skipped, each rank holding a piece from either end of the sequence"
_KV = 2 * b * S * n_kv * d_head  # keys and values of the whole sequence in one layer

# The ring
ring_step_comms = Formula("Transfer in a step of ring attention", T_comms, _KV / (n_cp * W), source=_RING,
    assumes="for a block of keys and values to the next rank")
ring_step_math = Formula("Arithmetic in a step of ring attention", T_math,
    2 * flop * S**2 * n_q * d_head / (n_cp**2 * C), source=_RING, assumes=_CAUSAL + "; for any step but the first")
ring_attention_limit = Formula("Tokens per rank that hide the ring", S_cp, b * C * n_kv / (flop * W * n_q),
    source=_RING, assumes=_CAUSAL + "; half of that without a mask")
ring_kv_held = Formula("Keys and values held by ring attention", V, 2 * _KV / n_cp, source=_RING,
    assumes="for the block in use and the block that is arriving", needs=(at_least(n_cp, 2),))

# All keys and values at once, and the work of all steps
cp_math = Formula("Arithmetic of attention over a sharded sequence", T_math,
    2 * flop * S * (S + 1) * n_q * d_head / (n_cp * C), source=_LLAMA, assumes=_CAUSAL,
    approx=2 * flop * S**2 * n_q * d_head / (n_cp * C), regime=((S, oo),))
cp_gather_comms = Formula("All-gather of keys and values", T_comms, _KV / W * (n_cp - 1) / n_cp, source=_LLAMA,
    assumes="for one layer in the forward pass, before the attention begins", approx=_KV / W, regime=((n_cp, oo),))
gathered_kv_held = Formula("Keys and values held after an all-gather", V, _KV, source=_LLAMA,
    assumes="for the layer in progress")
cp_imbalance = Formula("Load imbalance of contiguous sequence shards", g_work,
    ((2 * n_cp - 1) * S / n_cp + 1) / (S + 1), source=_RING,
    assumes="for a causal mask: the last tokens attend to all others, the first to few", approx=2 - 1 / n_cp,
    regime=((S, oo),))

# Tokens for heads
head_exchange_comms = Formula("All-to-alls that swap tokens for heads", T_comms,
    2 * b * S * d_head * (n_q + n_kv) / W * (n_cp - 1) / n_cp**2, source="ulysses2023",
    assumes="for queries, keys and values in and the result out, whole heads on each rank",
    approx=2 * b * S * d_head * (n_q + n_kv) / (n_cp * W), regime=((n_cp, oo),),
    needs=(divisible(n_q, n_cp), divisible(n_kv, n_cp)))

declare(globals())
