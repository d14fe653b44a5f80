"""Practice questions on racks as nodes, and on networks without switches."""

from gpuscale import chip
from gpuscale.collectives import exchange
from gpuscale.network import domain_bandwidth, laws, node_egress
from gpuscale.quiz import Question, QuestionSet, bits_for_bytes, both_directions
from gpuscale.symbols import D_1, D_2, D_3, M, N, V, W, W_nic, W_nvl, n_dim, n_nic
from gpuscale.units import GB, MB

h100, b200, gb200 = (chip(key) for key in ("h100_sxm", "b200_sxm", "gb200"))
v5p, v5e = (chip(key).ici_link_bw for key in ("tpu_v5p", "tpu_v5e"))
SWITCH = exchange.all_to_all.where(alpha=0)
EQUAL_CHIPS = V / (4 * W) / SWITCH.rhs  # a chip of the ring sends W over its two links together
links = W_nvl * D_1 / (D_1 - 1)
nics = D_1 * W_nic * M / (M - 1)

questions = QuestionSet(
    "other_shapes",
    "Other shapes",
    intro="Questions on domains of 72 GPUs, on tori of TPUs, and on what either is good for.",
    chapter="other_shapes",
    questions=[
        Question(
            "A rack has {n_nic} GPUs, each with a NIC of {W_nic} one way. How much can the rack send out?",
            answer=node_egress,
            given=[{"n_nic": 72, "W_nic": gb200.nic_bw}, {"n_nic": 36, "W_nic": gb200.nic_bw}],
            mistakes={
                **both_directions(W_nic),
                **bits_for_bytes(W_nic),
                "That is one tray of four GPUs.": {"n_nic": 4},
                "That is one NIC.": W_nic + 0,
            },
            solution=[(n_nic * W_nic, "every NIC at its full rate, one direction")],
        ),
        Question(
            "{M} NVLink domains of {D_1} GPUs all-gather an array. A GPU has {W_nvl} of NVLink and a NIC of "
            "{W_nic}, "
            "one way; the levels overlap. What bandwidth does the collective see?",
            answer=domain_bandwidth,
            given=[
                {"M": 4, "D_1": 72, "W_nvl": gb200.nvlink_bw, "W_nic": gb200.nic_bw},
                {"M": 4, "D_1": 8, "W_nvl": b200.nvlink_bw, "W_nic": b200.nic_bw},
            ],
            mistakes={
                "That is the faster of the two levels; the slower one binds.": links + nics - domain_bandwidth.rhs,
                "That is one NIC; all NICs of a domain work together.": W_nic * M / (M - 1),
                "A GPU has its part from the start: divide by (D_1 - 1)/D_1.": 1 * W_nvl,
                "A domain has one part in M from the start: its NICs bring in only the rest.": D_1 * W_nic,
            },
            tolerance=0.005,
            remark="In the rack NVLink binds, in a node of eight the NICs.",
        ),
        Question(
            "How many GPUs must an NVLink domain have so that its NICs and the NVLink of a GPU are equally slow "
            "in an "
            "all-gather over very many domains? Each GPU has one NIC.",
            answer=1 + W_nvl / W_nic,
            symbols=(W_nvl, W_nic),
            unit="1",
            mistakes={
                "Nearly: a GPU holds a part itself, so only the other GPUs' parts cross its NVLink.": W_nvl / W_nic,
                "The other way round: faster NICs need fewer GPUs.": 1 + W_nic / W_nvl,
            },
            solution=[
                (1 + (1 - 1 / M) * W_nvl / W_nic, "NVLink and M domains' NICs set equal"),
                (1 + W_nvl / W_nic, "for very many domains"),
            ],
        ),
        Question(
            "How many hops apart are the farthest chips on a torus with sides of {D_1}, {D_2} and {D_3}, all "
            "closed to "
            "rings?",
            answer=laws.torus_diameter,
            given=[{"D_1": 8, "D_2": 8, "D_3": 16}, {"D_1": 16, "D_2": 20, "D_3": 28}],
            exact=True,
            noun="hops",
            mistakes={
                "Each side closes to a ring: go the shorter way round.": D_1 + D_2 + D_3 - 3,
                "Half-way round is the farthest.": D_1 + D_2 + D_3,
                "That is the longest side alone; the ways along all sides add up.": {"D_1": 1, "D_2": 1},
            },
        ),
        Question(
            "An array of {V} is all-gathered on a torus of {N} chips with {n_dim} axes of equal "
            "sides. Each link carries "
            "{W} one way, and all are busy. How long does it take?",
            answer=laws.torus_all_gather,
            given=[
                {"V": 1 * GB, "N": 4096, "n_dim": 3, "W": v5p},
                {"V": 512 * MB, "N": 256, "n_dim": 2, "W": v5e},
            ],
            mistakes={
                "That is a ring in one direction.": V * (N - 1) / (N * W),
                "That uses one direction of each axis; a chip has two links on each.": V * (N - 1) / (n_dim * N * W),
            },
            remark="The number of chips hardly matters.",
        ),
        Question(
            "A ring of {N} chips does an all-to-all of an array of {V} in all. Each link carries {W} one way. "
            "How long "
            "does it take?",
            answer=laws.ring_all_to_all_even,
            given=[{"V": 1 * GB, "N": 16, "W": v5p}, {"V": 256 * MB, "N": 32, "W": v5e}],
            mistakes={
                "That needs W with both directions of a link, or both links of a chip, added up.": V / (4 * W),
                "That is a switch: there no block passes through other chips.": SWITCH,
                "A ring runs both ways round at once.": V / (2 * W),
            },
            remark="Whatever the number of chips, if it is even.",
        ),
        Question(
            "Give the exact number of bytes that each link carries one way in an all-to-all of V bytes on a ring "
            "of an "
            "odd number N of chips.",
            answer=laws.ring_load_odd.rhs,
            unit="B",
            symbols=(V, N),
            mistakes={
                "That is the even ring, and the limit of many chips.": V / 8,
                "Both directions of a link share the load.": V * (N**2 - 1) / (4 * N**2),
                "There are N chips, each with these ways to go.": V * (N**2 - 1) / (8 * N**3),
            },
            solution=[
                (V / N**2 * (N**2 - 1) / 4, "all blocks of one chip, times the links that each passes"),
                (N * V / N**2 * (N**2 - 1) / 4 / (2 * N), "of all N chips, over 2N directed links"),
            ],
        ),
        Question(
            'Find the error. "An all-to-all costs V/4W on a ring of TPUs and V/8W on a node of eight '
            "GPUs, where W is what "
            'a chip can send; so the node is 2 times as fast." The second form is a limit of many '
            "GPUs. What is the exact "
            "factor between a ring of {N} and a node of {N}?",
            answer=EQUAL_CHIPS,
            given={"N": 8},
            unit="1",
            mistakes={"That is the ratio of the limits.": N / 4},
            solution=[
                (N**2 / (4 * (N - 1)), "V/4W over V(N - 1)/(N^2 W): of N blocks one stays at home"),
            ],
        ),
        Question(
            "The longer the sides of a torus, the less a chip sends in an all-to-all. With links of {W} one way: at "
            "which side is it as much as a GPU's NIC of {W_nic} carries?",
            answer=8 * W / W_nic,
            given=[{"W": v5p, "W_nic": h100.nic_bw}, {"W": v5e, "W_nic": h100.nic_bw}],
            unit="1",
            noun="chips on a side",
            mistakes={
                "A ring of D_1 chips carries V/8 on each link, so a chip gets 8 W over the side.": 4 * W / W_nic,
                "Two links of an axis share the load, and ways are a quarter of the side on average.": 2 * W / W_nic,
            },
            remark="Whatever the number of axes.",
        ),
        Question(
            "A mixture of experts exchanges {V} all-to-all among 64 chips. On which network is it fastest?",
            given={
                "V": 1 * GB,
                "N": 64,
                "D_1": 4,
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
                    "Every block goes straight to its place, at the full NVLink of a GPU.",
                    V * (N - 1) / (N**2 * W_nvl),
                ),
                (
                    "a cube of TPU v5p, 4 × 4 × 4",
                    "Blocks pass through other chips, so a chip gets 8 W over the side of 4.",
                    V * D_1 / (8 * D_1**n_dim * W),
                ),
                (
                    "eight H100 nodes",
                    "Seven blocks of eight leave the node, and all eight NICs are busy with them.",
                    V * (M - 1) / (M * N * W_nic),
                ),
            ],
        ),
        Question(
            "A dense model all-gathers its weights over everything there is. Which network gives the most bandwidth?",
            given={
                "N": 4096,
                "n_dim": 3,
                "W": v5p,
                "W_nic": h100.nic_bw,
                "D_1": 8,
                "D_2": 72,
                "M": 128,
                "W_nvl": gb200.nvlink_bw,
            },
            pick="largest",
            choices=[
                (
                    "an H100 pod",
                    "The NICs of a node of eight bind.",
                    D_1 * W_nic * M / (M - 1),
                ),
                (
                    "eight GB200 racks",
                    "Their NICs bring more than NVLink can hand round, so the NVLink of a GPU is what counts.",
                    W_nvl * D_2 / (D_2 - 1),
                ),
                (
                    "16 × 16 × 16 TPU v5p",
                    "All six links are busy, whatever the size: more than the pod, less than the racks.",
                    2 * n_dim * W * N / (N - 1),
                ),
            ],
        ),
    ],
)
