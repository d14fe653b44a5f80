"""Expert parallelism: published costs and conditions beside the exact ones."""

from published.rows import BOOK, NOTES, Row

from gpuscale.collectives import hit_bound, hit_top_k, node_limited
from gpuscale.core import evaluate
from gpuscale.llm import expert_parallel as ep
from gpuscale.specs import chip, model
from gpuscale.symbols import b_combine
from gpuscale.units import GB

EP, TAKEAWAY = f"{BOOK}, expert parallelism", f"{BOOK}, expert parallelism, takeaway"
DEEPSEEK = "deepseek-v3, section 3.2.2"

H100 = {"C": 990e12, "W_node": 400 * GB, "D_1": 8}
TWO = {"n_mat": 2, "b_dispatch": 2, "b_combine": 2}
LAYER = {"B": 4e6, "D": 7168, "F": 2048, "k": 8, "n_mat": 2, "C": 990e12, "Z": 64}


def one_way(**given):
    """An all-to-all across nodes, the tokens alone."""
    return evaluate(ep.ep_node_comms.rhs.subs(b_combine, 0), **given)


def both(share):
    """Dispatch and combine of that layer over 8 nodes."""
    return ep.ep_node_comms(B=4e6, D=7168, M=8, W_node=400 * GB, f_hit=share, b_dispatch=2, b_combine=2)


def bound_width(nodes):
    return ep.ep_node_width_bound(M=nodes, k=8, **H100, **TWO)


def deepseek():
    """The width that DeepSeek-V3's layer would need over 8 nodes, over the one that it has."""
    return bound_width(8) / model("deepseek_v3").d_ff


def experts_of_a_node():
    """Experts of a token on each node at which NVLink takes the time of the network, on 8 nodes of 8 H800."""
    work = {"B": 64, "D": 7168, "b_dispatch": 1, "b_combine": 2}
    a_node = ep.ep_node_comms(**work, M=8, W_node=8 * chip("h800_sxm").nic_bw, f_hit=1 / 8)
    a_gpu = ep.ep_fan_out(**work, D_1=8, W_nvl=160 * GB, f_hit=1 / 64)
    return a_node / a_gpu


def conditions(where):
    """The rows that the chapter and the notes on it share."""
    return [
        Row(
            where,
            "two-matrix experts, forward arithmetic",
            4 * 4e6 * 8 * 7168 * 2048 / (64 * 990e12),
            lambda: ep.ep_math(**LAYER),
        ),
        Row(
            where,
            "one all-to-all across nodes, in seconds as printed",
            2 * 4e6 * 7168 * 56 / 64,
            lambda: one_way(B=4e6, D=7168, M=8, W_node=400 * GB, f_hit=hit_bound(k=8, Z=8), b_dispatch=2),
            "disagrees",
            0.12544,
        ),
        Row(
            where,
            "dispatch and combine across nodes",
            4 * 4e6 * 7168 * 56 / (400e9 * 64),
            lambda: both(hit_top_k(E=256, k=8, Z=8)),
            "rounds",
            0.16604034,
            lambda: both(hit_bound(k=8, Z=8)),
        ),
        Row(where, "width for few shards, 16 of them and 8 experts", 2475, lambda: bound_width(2)),
        Row(
            where,
            "width for many shards, 256 of them and 8 experts",
            19_800,
            lambda: bound_width(32),
            "rounds",
            19_181.25,
            lambda: bound_width(10**7),
        ),
    ]


ROWS = [
    *conditions(EP),
    *conditions(f"{NOTES}, section 4.3"),
    Row(
        EP,
        "DeepSeek-V3 as an instance: width needed over the width it has, at most",
        1,
        deepseek,
        "disagrees",
        8.4594727,
    ),
    Row(TAKEAWAY, "8 C/W_node on H100", 19_800, lambda: bound_width(10**7)),
    Row(
        TAKEAWAY,
        "nodes that expert parallelism can fill, 256 experts",
        256,
        lambda: model("deepseek_v3").experts / H100["D_1"],
        "disagrees",
        32,
    ),
    Row(EP, "both regimes at their ends: 8 C/W_node over C/W_node", 8, lambda: bound_width(10**7) / 2475),
    Row(DEEPSEEK, "nodes of a token, at most", 4, lambda: node_limited(M_lim=4, k=8)),
    Row(DEEPSEEK, "NVLink over InfiniBand: experts of a token on a node at no more cost", 3.2, experts_of_a_node),
    Row(DEEPSEEK, "experts of a token at the cost of 8", 13, lambda: 4 * experts_of_a_node(), "rounds", 12.8),
]
