"""Memory traffic of the kernels between the matmuls, which do little arithmetic but take time.

Every kernel reads its inputs from HBM once and writes its outputs once. The traffic of the matmuls is not counted
here: it hides behind their arithmetic. Fused attention counts as a matmul. Statistics of norms and of softmax, a few
bytes per token, are left out, and so are the embedding, the loss and the optimizer. The bytes of the first formulas
are those of one token in one layer.
"""

# fmt: off

from sympy import Expr, Integer, Piecewise

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_MOVES, _FUSED = "ivanov2021", "megatron2021, section 4.2"

# Between the blocks: attention, and the MLP
between_forward = Formula("Memory traffic between the blocks, forward", V_btw_fwd, D * (10 * b + 2 * n_drop * b_mask),
    source=_FUSED,
    assumes="for two norms (one array read, one written) and two additions (two read, one written), dropout fused "
    "with the addition, its mask written")
between_backward = Formula("Memory traffic between the blocks, backward", V_btw_bwd,
    D * (12 * b + n_drop * (4 * b + 2 * b_mask)), source=_FUSED,
    assumes="for two norms (gradient and input read, gradient written), two sums of gradients where the residual "
    "path around a block begins, and dropout (gradient and mask read, gradient written)")
norms_forward = Formula("Memory traffic of the norms, forward", V_btw_recompute, 4 * b * D, source=_MOVES,
    assumes="for two norms: one array read, one written")

# Inside attention
rotary_traffic = Formula("Memory traffic of rotary embedding, in either pass", V, 2 * b * d_head * (n_q + n_kv),
    source=_MOVES, assumes="for queries and keys read, rotated and written")
latent_norms_forward = Formula("Memory traffic of the norms in latent attention, forward", V, 2 * b * (r_q + r_kv),
    source=_MOVES, assumes="for the latent vectors of queries, and of keys with values: one array read, one written")
latent_norms_backward = Formula("Memory traffic of the norms in latent attention, backward", V, 3 * b * (r_q + r_kv),
    source=_MOVES, assumes="for each latent vector: gradient and input read, gradient written")
scores_forward = Formula("Memory traffic of softmax and its dropout, forward", V, n_q * S * (4 * b + b_mask),
    source=_FUSED,
    assumes="when scores are stored; scale, mask and softmax are one kernel and dropout another, over all S x S scores")
scores_backward = Formula("Memory traffic of softmax and its dropout, backward", V, n_q * S * (5 * b + b_mask),
    source=_FUSED,
    assumes="for dropout (gradient and mask read, gradient written) and softmax (gradient and result read, gradient "
    "written)")

# Inside the MLP
activation_forward = Formula("Memory traffic of the activation function, forward", V, b * n_mat * F, source=_MOVES,
    assumes="for one kernel that reads its inputs (the gate's factor too) and writes the input of the last matrix")
activation_backward = Formula("Memory traffic of the activation function, backward", V, b * (2 * n_mat - 1) * F,
    source=_MOVES,
    assumes="for one kernel that reads the gradient and its inputs, and writes a gradient for each input")
sorting_traffic = Formula("Memory traffic of sorting tokens by expert, in either pass", V,
    b * D * (3 * k + n_shared + 1), source=_MOVES,
    assumes="for a copy of the token for each of k experts (read, written), and the sum of all their results (read, "
    "one array written); backward the same in reverse; weights of the router applied with the activation function")

# Inside the blocks of an average layer
_mlps = (L_dense * F_dense + (L - L_dense) * (k + n_shared) * F) / L  # widths that a token passes through
_sorted = (L - L_dense) / L * sorting_traffic.rhs
_turned = Piecewise((rotary_traffic.rhs, n_pos < 1), (0, True))


def _inside(title: str, lhs: Expr, norms: Formula, scores: Formula, made: Formula, rest: Expr, assumes: str) -> Formula:
    """The kernels of both blocks: ``rest`` and those of the latent vectors, the scores and the activation function."""
    rhs = _turned + norms.rhs + n_drop * scores.rhs + made.rhs.subs(F, _mlps) + rest
    return Formula(title, lhs, rhs, source=_MOVES, assumes=assumes, needs=(at_most(L_dense, L),))


_ALL = "for rotary positions unless they are learned, norms of latent vectors if any, scores if "
_ALL += "there is dropout, the activation function"
inside_forward = _inside("Memory traffic inside the blocks, forward", V_blk_fwd, latent_norms_forward, scores_forward,
    activation_forward, _sorted, f"{_ALL}, and tokens sorted by expert in all but the first L_dense layers")
inside_backward = _inside("Memory traffic inside the blocks, backward", V_blk_bwd, latent_norms_backward,
    scores_backward, activation_backward, _sorted, inside_forward.assumes)
inside_recompute = _inside("Memory traffic inside the blocks that selective recomputation repeats", V_blk_recompute,
    latent_norms_forward, scores_forward, activation_forward, Integer(0),
    f"{_ALL}; stored queries and keys are not rotated again")

# A microbatch in a stage, on one rank
_flat = Piecewise((1, n_sp < 1), (Y, True))  # ranks that share the work outside the blocks
kernels_forward = Formula("Memory traffic between the matmuls, forward", V_fwd,
    L_stage * B_mb * (V_btw_fwd / _flat + V_blk_fwd / Y), source="korthikanti2022, section 4.2",
    assumes="for equal layers; Y ranks share the work inside a block, and the rest if they shard the tokens")
kernels_backward = Formula("Memory traffic between the matmuls, backward", V_bwd,
    L_stage * B_mb * (V_btw_bwd / _flat + V_blk_bwd / Y + Piecewise(
        (0, n_recompute < 1), (V_btw_recompute / _flat + V_blk_recompute / Y, n_recompute < 2),
        (V_btw_fwd / _flat + V_blk_fwd / Y, n_recompute < 3), (n_drop * scores_forward.rhs / Y, True))),
    source="korthikanti2022, section 4.2",
    assumes="with recomputation before it: of nothing, of the cheap parts, of whole layers, or of attention's core")

declare(globals())
