"""Practice questions on the all-to-all."""

from sympy import Abs

from gpuscale import chip, evaluate, model, show
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

array = {"V": 64 * MB, "N": 8, "W": h100.nvlink_bw}
gather = algorithms.ring_all_gather.where(alpha=0).rhs

questions = QuestionSet(
    "all_to_all",
    "All-to-all and mixture of experts",
    intro="Questions on dense all-to-alls, routed tokens and several nodes.",
    chapter="all_to_all",
    questions=[
        Question(
            "An array of {V} is sharded over {N} H100 SXM of one node. How long does an all-to-all take at best, without "
            "latency?",
            answer=plain,
            given=[{"V": 1 * GB, "N": 8, "W": h100.nvlink_bw}, {"V": 256 * MB, "N": 4, "W": h100.nvlink_bw}],
            mistakes={
                "That is an all-gather, in which every rank receives the whole array.": V / W * (N - 1) / N,
                "That is the limit for many ranks. One block in N stays at home.": V / (N * W),
                "Each rank owns only V/N.": V / W,
            },
            hint="The NVLink bandwidth of an H100 is in the hardware tables. Use one direction.",
            remark="The time falls with the number of ranks, because they share the array, and each has a link of its own.",
            vary={N: (4, 8)},
        ),
        Question(
            "Give the bytes that a rank sends to *one* other rank in an all-to-all of an array of $V$ bytes over $N$ "
            "ranks.",
            answer=V / N**2,
            unit="B",
            symbols=(V, N),
            mistakes={
                "That is all that a rank owns.": V / N,
                "That is everything that a rank sends. The question is about one block.": V * (N - 1) / N**2,
            },
            solution=[(V / N, "what a rank owns"), (V / N**2, "split into one block per rank")],
        ),
        Question(
            "An all-gather and an all-to-all of the same array run on {N} ranks with the same links. How many times as "
            "long does the all-gather take, without latency?",
            answer=N + 0,
            given=[{"N": 8}, {"N": 16}],
            unit="1",
            mistakes={
                "The factor N - 1 is in both times and cancels.": N - 1,
                "That is the all-reduce.": 2 * N,
            },
            solution=[
                (algorithms.ring_all_gather.where(alpha=0).rhs / plain.rhs, "both exact"),
                (N + 0, "the rest cancels"),
            ],
        ),
        Question(
            "A model has {Z} experts on {Z} GPUs, one per GPU. A token goes to {k} different experts. What fraction of "
            "the GPUs does it reach?",
            answer=bound,
            given=[{"Z": 16, "k": 4}, {"Z": 8, "k": 2}],
            mistakes={
                "Independent picks could hit one GPU twice. With one expert per GPU, different experts can't.": picks
            },
            solution=[(k / Z, "different experts are on different GPUs")],
        ),
        Question(
            "A layer has {E} experts on {Z} GPUs, and a token goes to {k} of them. What fraction of the GPUs does it "
            "reach on average?",
            answer=top,
            given={"E": 256, "Z": 8, "k": 8},
            mistakes={
                "That is the upper bound. Two experts of a token may share a GPU.": bound,
                "That is for independent picks. The experts of a token are different.": picks,
            },
            tolerance=0.005,
            remark="Independent picks give nearly the same result, because with many experts per GPU it hardly matters that the experts "
            "of a token are all different.",
        ),
        Question(
            'Find the error. "On {Z} GPUs with top-{k} routing, each token reaches every GPU, so routing saves nothing." '
            "Each GPU holds many experts, so assume {k} independent picks. What fraction of the dense traffic is really "
            "needed?",
            answer=picks,
            given={"Z": 8, "k": 8},
            mistakes={"That is the fraction that is saved.": 1 - picks.rhs},
            remark="The bound min(k/Z, 1) is more than 50% too high here. It is worst where k is close to Z.",
        ),
        Question(
            r'Find the error. "An all-to-all of $V/8W$ on one node of eight becomes $V/2W_\mathrm{node}$ on two, so it is '
            f'{claim("gpus:X-A2A4").published:g} times as slow." '
            "Both times are limits for many ranks. What is the exact factor for nodes of eight H100 SXM with one NIC per GPU?",
            answer=step,
            given={"W": h100.nvlink_bw, "W_node": 8 * h100.nic_bw},
            unit="1",
            mistakes={
                "That is the quoted factor. On two nodes the limit is twice the exact form.": 4 * W / W_node,
                "On two nodes the limit is twice the exact form.": V / (2 * W_node) / plain.rhs.subs(N, 8),
                "That takes the limit for the one node.": node.rhs.subs(M, 2) / (V / (8 * W)),
            },
            hint="NVLink and NIC of an H100 are in the hardware tables. A node has eight NICs.",
            solution=[
                (node.rhs.subs(M, 2), "two nodes, where half of all blocks stay at home"),
                (plain.rhs.subs(N, 8), "one node"),
                (step, "their ratio"),
            ],
        ),
        Question(
            "{B:count} tokens of DeepSeek-V3 are dispatched in fp8 over {Z} GPUs of a GB200 rack. Use the upper bound for "
            "the fraction of GPUs that a token reaches. How long does the dispatch take?",
            answer=dispatch,
            given={"B": 131072, "D": ds.d_model, "b": 1, "Z": 64, "k": ds.active_experts, "W": gb200.nvlink_bw},
            mistakes={
                "That sends every token to every GPU.": exchange.all_to_all.where(alpha=0, N=Z, V=Z * B * D * b),
                "That is for bf16.": {"b": 2},
                "V has one copy of each token per GPU: Z B D b.": exchange.sparse_all_to_all.where(
                    bound, N=Z, V=B * D * b
                ),
            },
            hint="The width D of the model and its experts per token are in the table of models. The NVLink bandwidth "
            "of a GB200 is in the hardware tables.",
            vary={Z: (16, 32, 64)},
        ),
        Question(
            "Tokens are routed to {k} of {E} experts on {Z} GPUs, and the fullest GPU has twice the mean load. What "
            "shortens the all-to-all most?",
            given={"k": 8, "E": 256, "Z": 64},
            choices=[
                ("balancing the load", "All GPUs wait for the fullest one. With an even load the time halves.", True),
                ("one expert fewer per token", "That saves about an eighth.", False),
                (
                    "twice as many tokens per batch",
                    "More tokens take longer, and the router still prefers some experts.",
                    False,
                ),
            ],
        ),
        Question(
            "An array of {V} is sharded over eight H100s. An all-gather takes 124 µs. How long does an all-to-all of the "
            "same array take?",
            predict=True,
            given=array,
            pick="smallest",
            choices=[
                ("124 µs, the same", "A rank doesn't need the whole array here.", Abs(plain.rhs - gather)),
                ("about half of that", "Count the bytes that each rank has to receive.", Abs(plain.rhs - gather / 2)),
                ("an eighth of that", "Each rank receives only its own eighth.", Abs(plain.rhs - gather / 8)),
                (
                    "eight times that",
                    "Each rank only receives the blocks that are meant for it.",
                    Abs(plain.rhs - 8 * gather),
                ),
            ],
            solution=f"An eighth: {show(plain(**array), 's')}. In an all-gather each rank receives the whole array. In an "
            "all-to-all it only receives the blocks that are meant for it, an eighth of the array.",
        ),
        Question(
            "256 experts are spread over eight GPUs, and each token goes to eight different experts. How many of the "
            "eight GPUs does a token reach on average?",
            predict=True,
            given={"E": 256, "Z": 8, "k": 8},
            pick="smallest",
            choices=[
                ("one", "Then all eight experts would have to be on the same GPU.", Abs(8 * top.rhs - 1)),
                ("about three", "It is more, because the experts are chosen among all GPUs.", Abs(8 * top.rhs - 3)),
                ("about five", "Some of the eight experts share a GPU.", Abs(8 * top.rhs - 5.3)),
                (
                    "all eight",
                    "Then each GPU would have to hold exactly one of the experts, which rarely happens.",
                    Abs(8 * top.rhs - 8),
                ),
            ],
            solution=f"About five: {show(8 * top(E=256, Z=8, k=8), '1')} on average. Several experts of a token often "
            "share a GPU, and then one copy serves all of them.",
        ),
        Question(
            "A job grows from one H100 node to two, with the same array. NVLink gives each of the eight GPUs of a node "
            "450 GB/s, and the NICs give each node 400 GB/s. How does the time of an all-to-all change?",
            predict=True,
            given={"W": h100.nvlink_bw, "W_node": 8 * h100.nic_bw},
            pick="smallest",
            choices=[
                (
                    "it halves",
                    "Twice as many GPUs share the array, but the network is slower than NVLink.",
                    Abs(step - 0.5),
                ),
                ("it stays the same", "Compare the bandwidth of all GPUs with that of the NICs.", Abs(step - 1)),
                (
                    "2.6 times as long",
                    "A quarter of the array crosses the network, in each direction.",
                    Abs(step - 2.6),
                ),
                (
                    "nine times as long",
                    "That compares 8 times 450 with 400 GB/s, but not all data leaves the node.",
                    Abs(step - 9),
                ),
            ],
            solution=f"It takes {show(evaluate(step, W=h100.nvlink_bw, W_node=8 * h100.nic_bw), '1')} times as long. The "
            "NICs of a node have a ninth of the bandwidth of its NVLinks, but only half of the data of a node has to "
            "leave it.",
        ),
    ],
)
