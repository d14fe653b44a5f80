"""Practice questions on the all-to-all."""

from gpuscale import chip, model
from gpuscale.collectives import algorithms, exchange
from gpuscale.ledger import claim
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, D, M, N, V, W, W_node, Z, b, k
from gpuscale.units import GB, MB

h100, gb200 = chip("h100_sxm"), chip("gb200")
ds = model("deepseek_v3")
plain = exchange.all_to_all.where(alpha=0)
node = exchange.node_all_to_all
bound, picks, top = exchange.hit_bound, exchange.hit_independent, exchange.hit_top_k
dispatch = exchange.sparse_all_to_all.where(bound, N=Z, V=Z * B * D * b, title="Dispatch of tokens")
step = node.rhs.subs(M, 2) / plain.rhs.subs(N, 8)

questions = QuestionSet(
    "all_to_all",
    "All-to-all",
    intro="Questions on transposed blocks, routed tokens, and what leaves a node.",
    chapter="all_to_all",
    questions=[
        Question(
            "An array of {V} lies spread over {N} H100 of one node ({W} each, one way). How long does an "
            "all-to-all of "
            "it take at best?",
            answer=plain,
            given=[{"V": 1 * GB, "N": 8, "W": h100.nvlink_bw}, {"V": 256 * MB, "N": 4, "W": h100.nvlink_bw}],
            mistakes={
                "That is an all-gather: there every rank wants all of the array.": V / W * (N - 1) / N,
                "That is the limit of many ranks; one block in N stays at home.": V / (N * W),
                "Each rank owns V/N only.": V / W,
            },
            remark="The time falls with the number of ranks: they share the array, each with a link of its own.",
        ),
        Question(
            "Give the bytes that one rank sends to ONE other rank in an all-to-all of an array of V bytes over N "
            "ranks.",
            answer=V / N**2,
            unit="B",
            symbols=(V, N),
            mistakes={
                "That is all that a rank owns.": V / N,
                "That is all that a rank sends; asked is one block.": V * (N - 1) / N**2,
            },
            solution=[(V / N, "what a rank owns"), (V / N**2, "cut into one block for each rank")],
        ),
        Question(
            "How many times as long as an all-to-all does an all-gather of the same array take, among {N} ranks "
            "on the "
            "same links?",
            answer=N + 0,
            given=[{"N": 8}, {"N": 16}],
            unit="1",
            mistakes={
                "The block at home is missing from both, so it cancels.": N - 1,
                "That is the all-reduce.": 2 * N,
            },
            solution=[
                (algorithms.ring_all_gather.where(alpha=0).rhs / plain.rhs, "both exact"),
                (N + 0, "the rest cancels"),
            ],
        ),
        Question(
            "Experts lie on {Z} ranks, one expert on each, and a token goes to {k} different ones. Which share "
            "of the "
            "ranks does it reach?",
            answer=bound,
            given=[{"Z": 16, "k": 4}, {"Z": 8, "k": 2}],
            mistakes={"Independent picks could fall on one rank twice; different experts cannot.": picks},
            solution=[(k / Z, "different experts are different ranks")],
        ),
        Question(
            "A layer has {E} experts, spread over {Z} ranks, and a token goes to {k} of them. Which share of the "
            "ranks "
            "does it reach on average?",
            answer=top,
            given={"E": 256, "Z": 8, "k": 8},
            mistakes={
                "That is the upper bound: two experts of a token may share a rank.": bound,
                "That is for independent picks; the experts of a token are different ones.": picks,
            },
            tolerance=0.005,
            remark="Independent picks would give nearly the same: with many experts on a rank it hardly matters that "
            "they differ.",
        ),
        Question(
            'Find the error. "On {Z} ranks with top-{k} routing each token reaches every rank, so we save nothing '
            'against a dense all-to-all." Experts are many on each rank, so take {k} independent picks: which share of '
            "the dense traffic is really needed?",
            answer=picks,
            given={"Z": 8, "k": 8},
            mistakes={"That is the share that is saved.": 1 - picks.rhs},
            remark="The bound min(k/Z, 1) is half as large again here, and worst where k is near Z.",
        ),
        Question(
            'Find the error. "An all-to-all of V/8W on one node of eight becomes V/2W_node on two, so it is '
            f'{claim("gpus:X-A2A4").published:g} times as dear." '
            "Both are limits of many ranks. What is the exact factor with {W} for a GPU in the node and "
            "{W_node} for the node?",
            answer=step,
            given={"W": h100.nvlink_bw, "W_node": 8 * h100.nic_bw},
            unit="1",
            mistakes={
                "That is the quoted one: at two nodes the limit is twice the exact form.": 4 * W / W_node,
                "At two nodes the limit is twice the exact form.": V / (2 * W_node) / plain.rhs.subs(N, 8),
                "That takes the limit for the one node.": node.rhs.subs(M, 2) / (V / (8 * W)),
            },
            solution=[
                (node.rhs.subs(M, 2), "two nodes: half of all blocks stay at home"),
                (plain.rhs.subs(N, 8), "one node"),
                (step, "their ratio"),
            ],
        ),
        Question(
            "{B} tokens of {D} numbers in fp8 ({b} byte each) are dispatched over {Z} ranks of a GB200 rack ({W} "
            "each, "
            "one way), {k} experts a token. Use the upper bound for the share of ranks. How long does it take?",
            answer=dispatch,
            given={"B": 131072, "D": ds.d_model, "b": 1, "Z": 64, "k": ds.active_experts, "W": gb200.nvlink_bw},
            mistakes={
                "That sends every token to every rank.": exchange.all_to_all.where(alpha=0, N=Z, V=Z * B * D * b),
                "That is for bf16.": {"b": 2},
                "V counts a copy of each token for each rank: Z B D b.": exchange.sparse_all_to_all.where(
                    bound, N=Z, V=B * D * b
                ),
            },
        ),
        Question(
            "Tokens are routed to {k} of {E} experts on {Z} ranks, and the fullest rank has twice the mean load. "
            "What "
            "shortens the layer's all-to-all most?",
            given={"k": 8, "E": 256, "Z": 64},
            choices=[
                ("balancing the load", "Everyone waits for the fullest rank: evened out, the time halves.", True),
                ("dropping one of the experts per token", "That saves about an eighth.", False),
                ("twice the tokens per batch", "More tokens take longer, and a preference stays one.", False),
            ],
        ),
    ],
)
