"""Practice questions on racks whose GPUs all share NVLink."""

from sympy import Eq

from gpuscale import chip, topology
from gpuscale.network import domain_bandwidth, node_egress
from gpuscale.quiz import Question, QuestionSet, bits_for_bytes, both_directions
from gpuscale.symbols import C, G, M, N, V, W, W_nic, W_node, W_nvl, n_dim, n_nic, n_unit, n_x
from gpuscale.units import GB, show

h100, b200, gb200 = (chip(key) for key in ("h100_sxm", "b200_sxm", "gb200"))
v5p = chip("tpu_v5p").ici_link_bw
pod, superpod = topology("h100_pod_1024"), topology("gb200_superpod_576")
links = W_nvl * G / (G - 1)
nics = G * W_nic * M / (M - 1)
POD = domain_bandwidth(G=8, M=pod.nodes, W_nvl=h100.nvlink_bw, W_nic=h100.nic_bw)
RACKS = domain_bandwidth(G=72, M=8, W_nvl=gb200.nvlink_bw, W_nic=gb200.nic_bw)
BEYOND = show(h100.bf16 / (8 * h100.nic_bw), "FLOP/B", digits=4)

questions = QuestionSet(
    "rack_scale",
    "Rack scale",
    intro="Questions on NVLink domains of 72 GPUs and on the networks between them. Bandwidths are in one direction.",
    chapter="rack_scale",
    questions=[
        Question(
            "A smaller rack, the NVL36, has {n_nic} GPUs of the same kind with one NIC each. How much can it send into the "
            "network?",
            answer=node_egress,
            given={"n_nic": 36, "W_nic": gb200.nic_bw},
            mistakes={
                **both_directions(W_nic),
                **bits_for_bytes(W_nic),
                "That is one tray of four GPUs.": {"n_nic": 4},
                "That is one NIC.": W_nic + 0,
            },
            hint="The table of NVLink domains has the bandwidth of a NIC.",
            solution=[(n_nic * W_nic, "every NIC at its full rate, one direction")],
            fixed="a rack as it is sold",
        ),
        Question(
            "An all-gather of a large array runs over {M} racks of {G} GB200 GPUs, and NVLink and NICs work at the same time. What "
            "bandwidth does it see?",
            answer=domain_bandwidth,
            given=[
                {"M": 4, "G": 72, "W_nvl": gb200.nvlink_bw, "W_nic": gb200.nic_bw},
                {"M": 4, "G": 36, "W_nvl": gb200.nvlink_bw, "W_nic": gb200.nic_bw},
            ],
            mistakes={
                "That is the faster of the two levels, but the slower one sets the time.": links
                + nics
                - domain_bandwidth.rhs,
                "That is one NIC, but all NICs of a domain work together.": W_nic * M / (M - 1),
                "A GPU has its own part from the start, so divide by (G - 1)/G.": 1 * W_nvl,
                "A domain has one part in M from the start, so its NICs bring in only the rest.": G * W_nic,
            },
            tolerance=0.005,
            hint="Compute both terms; the table of NVLink domains has the bandwidths.",
            remark="In a rack, NVLink is the bottleneck; in a node of eight, the NICs are.",
        ),
        Question(
            "How many GPUs must an NVLink domain have so that its NICs and the NVLink of a GPU take equally long in an "
            r"all-gather over very many domains? Each GPU has one NIC of bandwidth $W_\mathrm{NIC}$, and its NVLink has "
            r"$W_\mathrm{NVLink}$. Give a formula.",
            answer=1 + W_nvl / W_nic,
            symbols=(W_nvl, W_nic),
            unit="1",
            mistakes={
                "Nearly: a GPU holds a part itself, so only the other GPUs' parts cross its NVLink.": W_nvl / W_nic,
                "It is the other way around, because faster NICs need fewer GPUs.": 1 + W_nic / W_nvl,
            },
            solution=[
                (1 + (1 - 1 / M) * W_nvl / W_nic, "NVLink and the NICs of M domains set equal"),
                (1 + W_nvl / W_nic, "for very many domains"),
            ],
        ),
        Question(
            "An array of {V} is exchanged all-to-all among 64 chips. On which network is it fastest?",
            given={
                "V": 1 * GB,
                "N": 64,
                "n_x": 4,
                "n_dim": 3,
                "W": v5p,
                "W_nvl": gb200.nvlink_bw,
                "W_nic": h100.nic_bw,
                "M": 8,
            },
            pick="smallest",
            choices=[
                (
                    "64 GPUs of a GB200 rack",
                    "Every block goes straight to its place, at the full NVLink bandwidth of a GPU.",
                    V * (N - 1) / (N**2 * W_nvl),
                ),
                (
                    "a cube of TPU v5p, 4 × 4 × 4",
                    "Blocks pass through other chips, so a chip gets 8 W divided by the side of 4.",
                    V * n_x / (8 * n_x**n_dim * W),
                ),
                (
                    "eight H100 nodes",
                    "Seven blocks of eight leave the node, and all eight NICs are busy with them.",
                    V * (M - 1) / (M * N * W_nic),
                ),
            ],
        ),
        Question(
            "A large array is all-gathered over a whole machine. Which machine sees the most bandwidth?",
            given={
                "N": 4096,
                "n_dim": 3,
                "W": v5p,
                "W_nic": h100.nic_bw,
                "G": 8,
                "n_unit": 72,
                "M": 128,
                "W_nvl": gb200.nvlink_bw,
            },
            pick="largest",
            choices=[
                (
                    "an H100 pod",
                    "The NICs of a node of eight are the bottleneck.",
                    G * W_nic * M / (M - 1),
                ),
                (
                    "eight GB200 racks",
                    "Their NICs bring in more than NVLink can pass on, so the NVLink bandwidth of a GPU counts.",
                    W_nvl * n_unit / (n_unit - 1),
                ),
                (
                    "16 × 16 × 16 TPU v5p",
                    "All six links are busy at any size. That is more than in the pod, and less than in the racks.",
                    2 * n_dim * W * N / (N - 1),
                ),
            ],
        ),
        Question(
            f"Over an H100 pod, an all-gather sees {show(POD, 'B/s')}. Compared with an H100 node, a GB200 rack has 9 times "
            "as many NICs, and each GPU has twice the NVLink. How much bandwidth does an all-gather see over eight such "
            "racks?",
            predict=True,
            given={"G": 72, "M": 8, "W_nvl": gb200.nvlink_bw, "W_nic": gb200.nic_bw, "n_unit": 8, "N": 1024},
            choices=[
                (
                    "about 9 times as much",
                    "The NICs could, but each GPU also has to collect nearly everything over its own NVLink.",
                    domain_bandwidth.rhs > 8 * n_unit * W_nic * N / (N - n_unit),
                ),
                (
                    "about twice as much",
                    "The NVLink of a GPU is now slower than the NICs of the rack.",
                    domain_bandwidth.rhs < 3 * n_unit * W_nic * N / (N - n_unit),
                ),
            ],
            solution=f"{show(RACKS / POD, '1')} times as much, {show(RACKS, 'B/s')}. The NICs of the rack could bring in "
            "more, but each GPU collects nearly the whole array over its own NVLink.",
        ),
        Question(
            f"To hide network traffic, an H100 needs {BEYOND}. A B200 node has the same NICs. How much does a B200 need?",
            predict=True,
            given={"C": b200.bf16, "W_node": 8 * b200.nic_bw, "N": h100.bf16 / (8 * h100.nic_bw)},
            choices=[
                ("less than half", "A faster GPU needs more FLOPs per byte, not fewer.", C / W_node < N / 2),
                ("about the same", "The NICs are the same, but the GPU computes faster.", Eq(C / W_node, N)),
                (
                    "more than twice as much",
                    "It computes more than twice as fast with the same NICs.",
                    C / W_node > 2 * N,
                ),
            ],
            solution=f"More than twice as much, {show(b200.bf16 / (8 * b200.nic_bw), 'FLOP/B', digits=4)}. A B200 computes "
            f"{show(b200.bf16 / h100.bf16, '1')} times as fast on the same network.",
        ),
        Question(
            "A job runs an all-to-all inside one rack, and then over two racks with twice as many GPUs. How much of its "
            "bandwidth does each GPU lose?",
            predict=True,
            choices=[
                ("hardly any", "Half of the blocks now have to leave the rack.", False),
                ("about half", "Half of the blocks leave the rack, but each NIC is far slower than NVLink.", False),
                ("much more than half", "Half of the blocks pass a NIC that is far slower than NVLink.", True),
            ],
            solution="Much more than half. Half of the blocks have to pass the GPU's own NIC, which is far slower than its "
            "NVLink, and everything waits for them.",
        ),
    ],
)
