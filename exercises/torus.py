"""Practice questions on networks without switches."""

from gpuscale import chip
from gpuscale.collectives import exchange
from gpuscale.network import laws, topology
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N, V, W, W_nic, n_dim, n_x, n_y, n_z
from gpuscale.units import GB, MB, show

h100, pod = chip("h100_sxm"), topology("tpu_v5p_pod")
v5p, v5e = (chip(key).ici_link_bw for key in ("tpu_v5p", "tpu_v5e"))
SWITCH = exchange.all_to_all.where(alpha=0)
EQUAL_CHIPS = V / (4 * W) / SWITCH.rhs  # a chip of the ring sends W over its two links together
GATHER = laws.torus_all_gather
GROWN = GATHER.rhs.subs(N, N**2) / GATHER.rhs  # from N chips to N squared
FEW, MANY = (show(GATHER(V=1 * GB, N=n, n_dim=3, W=v5p), "s") for n in (64, 4096))

questions = QuestionSet(
    "torus",
    "TPU torus",
    intro="Questions on hops, all-gather and all-to-all over links between neighbors. Bandwidths are in one direction.",
    chapter="torus",
    questions=[
        Question(
            "How many hops apart are the farthest chips of a full TPU v5p pod?",
            answer=laws.torus_diameter,
            given=dict(zip(("n_x", "n_y", "n_z"), pod.sides, strict=True)),
            exact=True,
            noun="hops",
            mistakes={
                "Each side closes to a ring, so take the shorter direction.": n_x + n_y + n_z - 3,
                "On a ring, the farthest chip is only halfway around.": n_x + n_y + n_z,
                "That is the longest side alone, but the hops along all sides add up.": {"n_x": 1, "n_y": 1},
            },
            hint="The first section has the sides of the pod.",
        ),
        Question(
            "An array of {V} is all-gathered over a full pod of TPU v5e, 16 × 16 chips, with all links busy. How long does "
            "it take?",
            answer=laws.torus_all_gather,
            given={"V": 512 * MB, "N": 256, "n_dim": 2, "W": v5e},
            mistakes={
                "That is a ring in one direction.": V * (N - 1) / (N * W),
                "That uses one direction of each axis, but a chip has two links on each.": V
                * (N - 1)
                / (n_dim * N * W),
            },
            hint="The first figure has the bandwidth of a link.",
            remark="The number of chips hardly matters, because every chip has to receive nearly the whole array.",
        ),
        Question(
            "{N} TPU v5p chips form a ring and exchange an array of {V} all-to-all. How long does it take?",
            answer=laws.ring_all_to_all_even,
            given=[{"V": 1 * GB, "N": 16, "W": v5p}, {"V": 256 * MB, "N": 32, "W": v5p}],
            mistakes={
                "That needs W with both directions of a link, or both links of a chip, added up.": V / (4 * W),
                "That is the time behind a switch, where no block passes through other chips.": SWITCH,
                "A ring runs in both directions at once.": V / (2 * W),
            },
            hint="The first section has the bandwidth of a link.",
            remark="The number of chips doesn't matter, as long as it is even.",
        ),
        Question(
            "Give the exact number of bytes that each link carries in one direction in an all-to-all of $V$ bytes on a "
            "ring of an odd number $N$ of chips.",
            answer=laws.ring_load_odd.rhs,
            unit="B",
            symbols=(V, N),
            mistakes={
                "That is exact for an even ring, but for an odd one it is only the limit for many chips.": V / 8,
                "Both directions of a link share the load.": V * (N**2 - 1) / (4 * N**2),
                "There are N chips, each with these hops.": V * (N**2 - 1) / (8 * N**3),
            },
            solution=[
                (V / N**2 * (N**2 - 1) / 4, "all blocks of one chip, times the links that each passes"),
                (N * V / N**2 * (N**2 - 1) / 4 / (2 * N), "of all N chips, over 2N directed links"),
            ],
        ),
        Question(
            'Find the error. "An all-to-all costs V/4W on a ring of TPUs and V/8W on a node of eight GPUs, where W is what '
            'a chip can send; so the node is 2 times as fast." The second form is the limit for many GPUs. What is the exact '
            "factor between a ring of {N} and a node of {N}?",
            answer=EQUAL_CHIPS,
            given={"N": 8},
            unit="1",
            mistakes={"That is the ratio of the limits.": N / 4},
            solution=[(N**2 / (4 * (N - 1)), "V/4W over V(N - 1)/(N^2 W): of N blocks one stays on its chip")],
        ),
        Question(
            "The longer the sides of a torus, the less bandwidth a chip has in an all-to-all. At which length of the sides "
            "does a TPU v5e get exactly the bandwidth of an H100's NIC?",
            answer=8 * W / W_nic,
            given={"W": v5e, "W_nic": h100.nic_bw},
            unit="1",
            noun="chips per side",
            mistakes={
                "A ring carries V/8 on each link, so a chip gets 8 W divided by the side.": 4 * W / W_nic,
                "Two links of an axis share the load, and paths are a quarter of the side on average.": 2 * W / W_nic,
            },
            hint="The first figure has the bandwidth of a link of the v5e.",
            remark="The number of axes doesn't matter.",
        ),
        Question(
            "512 TPU v5p chips form a torus of 4 × 8 × 16. How long does an all-to-all of {V} take?",
            answer=laws.torus_all_to_all,
            given={"V": 1 * GB, "n_x": 4, "n_y": 8, "n_z": 16, "W": v5p},
            mistakes={
                "That is a cube with as many chips, but here the longest side sets the time.": V
                * 8
                / (8 * n_x * n_y * n_z * W),
                "That is for a single ring, but here many rings share the load.": V / (8 * W),
            },
            solution=[
                (V / 4, "crosses the cut through the middle in each direction"),
                (2 * W * n_x * n_y, "is the bandwidth of a cut across the longest side: two links per ring"),
                (V / (8 * W * n_x * n_y), "together"),
            ],
        ),
        Question(
            "The chips of a torus of 8 × 8 are numbered row by row, from 0 to 63. How many hops is it from chip 1 to "
            "chip 56?",
            predict=True,
            choices=[
                ("55", "That would be a line of chips, visited one after the other.", False),
                ("8", "The last row is next to the first, because columns close to rings.", False),
                ("2", "It is one hop along the row, and one over the wraparound of the column.", True),
            ],
            solution="2 hops. Chip 1 is the second chip of the first row, and chip 56 is the first chip of the last row. "
            "One hop leads to the first column, and one wraparound from the first row to the last.",
        ),
        Question(
            f"An all-gather of 1 GB takes {FEW} on a cube of 4 × 4 × 4 TPU v5p. How much longer does it take on 16 × 16 × "
            "16?",
            predict=True,
            given={"N": 64},
            choices=[
                (
                    "64 times as long",
                    "There are 64 times as many chips, but each part is 64 times smaller.",
                    GROWN > 50,
                ),
                ("4 times as long", "The paths are four times as long, but all links work all the time.", GROWN > 3),
                ("about as long", "Every chip has to receive the whole array over its six links.", GROWN < 1.1),
            ],
            solution=f"About as long: {MANY}. Every chip has to receive nearly the whole array over its six links, on "
            "either torus.",
        ),
        Question(
            "A ring grows from 8 to 16 chips, and the array that they exchange all-to-all stays the same. What happens to "
            "the time?",
            predict=True,
            choices=[
                ("it halves", "Behind a switch it would. On a ring, the blocks also travel twice as far.", False),
                ("it stays the same", "The blocks get smaller, but their paths get longer.", True),
                ("it doubles", "The paths double, but the number of links doubles, too.", False),
            ],
            solution="It stays the same. A chip has half as many bytes to send, but they travel twice as far.",
        ),
    ],
)
