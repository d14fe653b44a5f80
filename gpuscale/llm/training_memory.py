"""What a rank stores to train: weights, gradients, optimizer, and how ZeRO and model parallelism shard them.

A recipe is bytes per parameter: b_w for the weights that the passes use, b_grad for gradients, b_opt for the
optimizer (``data/recipes.toml``). X is the degree of data parallelism, over which ZeRO shards.
"""

# fmt: off

from sympy import ceiling, oo

from gpuscale.core.conditions import at_least, at_most, divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_ZERO = "zero2019, section 5"
_MEGATRON = "megatron2021, section 2"
_EVEN = "element by element, padded to equal shards, which adds less than one element of each array"

optimizer_bytes = Formula("Optimizer bytes per parameter", b_opt, b_master + 2 * b_mom, source="zero2019, section 3.1",
    assumes="for Adam: a master copy of the weights, if there is one, and two moments")

# ZeRO: every rank stores everything, or an X-th of it
replicated_state = Formula("Training state of a plain data-parallel rank", V_state, P * (b_w + b_grad + b_opt),
    source="zero2019, section 3.1",
    assumes="when every rank stores weights, gradients and optimizer of all P parameters")
zero1_state = Formula("Training state under ZeRO-1", V_state, P * (b_w + b_grad + b_opt / X), source=_ZERO,
    assumes=f"when the optimizer is sharded over X ranks, {_EVEN}", approx=P * (b_w + b_grad), regime=((X, oo),))
zero2_state = Formula("Training state under ZeRO-2", V_state, P * (b_w + (b_grad + b_opt) / X), source=_ZERO,
    assumes=f"when gradients and optimizer are sharded over X ranks, {_EVEN}", approx=P * b_w, regime=((X, oo),))
zero3_state = Formula("Training state under ZeRO-3", V_state, P * (b_w + b_grad + b_opt) / X, source=_ZERO,
    assumes=f"when weights, gradients and optimizer are sharded over X ranks, {_EVEN}; the gathered layer comes on top")
zero3_gpus = Formula("Fewest GPUs that hold a training state", N_gpu, ceiling(P * (b_w + b_grad + b_opt) / S_level),
    source=_ZERO, assumes="when all of it is sharded evenly and nothing else needs memory: a lower bound")

# FSDP2 shards by rows, so that every shard is a block of whole rows
fsdp_padding = Formula("Padding of a matrix that FSDP2 shards by rows", g_pad, ceiling(n_rows / N) * N / n_rows,
    source="pytorch-fsdp2", approx=1, regime=((n_rows, oo),),
    assumes="when N ranks share its rows and each sends as many as the fullest stores; zeros where rows are missing")

# Model parallelism: which parameters a rank holds to begin with
inner_stage_params = Formula("Parameters of a rank in an inner stage", P_rank, (P - P_emb) / (Y * N_stages),
    source=_MEGATRON,
    assumes="when all stages have the same number of layers; embedding and output head, P_emb together, are at the "
    "two ends",
    needs=(at_most(P_emb, P),))
edge_stage_params = Formula("Parameters of a rank in the first or last stage", P_rank,
    (P - P_emb) / (Y * N_stages) + P_emb / (2 * Y), source=_MEGATRON, needs=(at_most(P_emb, P), at_least(N_stages, 2)),
    assumes="for at least two stages with the same number of layers, the first with the embedding, the last with a "
    "head "
    "of the same size, P_emb together")
expert_params = Formula("Parameters of a rank with experts", P_rank, ((P - P_exp) / Y + P_exp / Z) / N_stages,
    source="deepseek-v3, section 3",
    assumes="when routed experts are spread whole over Z ranks, all else is sharded over Y, and the layers are spread "
    "evenly",
    needs=(at_most(P_exp, P),))


# With experts, ZeRO shards over X replicas of what is sharded over Y, and over X Y/Z replicas of every expert
_COPIES = "for stages of X Y GPUs, routed experts spread whole over Z of them, all else sharded over Y; "
_DENSE, _EXPERT = (P - P_exp) / (Y * N_stages), P_exp / (Z * N_stages)
expert_zero1_state = Formula("Training state with experts under ZeRO-1", V_state,
    _DENSE * (b_w + b_grad + b_opt / X) + _EXPERT * (b_w + b_grad + b_opt * Z / (X * Y)),
    source="deepseek-v3, section 3",
    assumes=_COPIES + "the replicas of each part share its optimizer", needs=(at_most(P_exp, P), divisible(X * Y, Z)))
expert_zero2_state = Formula("Training state with experts under ZeRO-2", V_state,
    _DENSE * (b_w + (b_grad + b_opt) / X) + _EXPERT * (b_w + (b_grad + b_opt) * Z / (X * Y)),
    source="deepseek-v3, section 3", assumes=_COPIES + "the replicas of each part share its gradients and optimizer",
    needs=(at_most(P_exp, P), divisible(X * Y, Z)))

declare(globals())
