"""Practice questions on the memory hierarchy."""

from sympy import Eq, ceiling, floor

from gpuscale import chip, link, measured, show
from gpuscale.ledger import claim
from gpuscale.one_gpu import memory, processor
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import Q, S_level, V, W, W_ref, alpha, b_load, f_clock, n_load, n_sm, w_lanes, w_sm
from gpuscale.units import GB, MB, kB, ns

a100, h100, h200, b200, gb200 = (chip(k) for k in ("a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm", "gb200"))
pcie_card, b300, pcie_7 = chip("h100_pcie"), chip("b300_sxm"), link("pcie_7")
nccl = measured("nccl_latency")
NVLINK, NETWORK = (nccl.row(link=k)["simple"] for k in ("NVLink", "network"))
LOAD = 550 * ns  # about what a load took on an H200, the thread's start and end included
SAID = claim("gpus:MEM-8").published  # L2 over HBM of two cards, by the source
OWN_L2 = show(pcie_card.l2_bw / pcie_card.hbm_bw, "1")  # L2 over HBM on one card
B200 = {"n_sm": b200.sm, "W": b200.hbm_bw, "alpha": LOAD, "w_lanes": b200.warp_size}
share = V / (V + alpha * W)
warps = alpha * W / (n_sm * w_lanes * n_load * b_load)

questions = QuestionSet(
    "memory_hierarchy",
    "The memory hierarchy",
    intro="From reading a level once to keeping it busy, with a few published figures to mend.",
    chapter="memory_hierarchy",
    questions=[
        Question(
            "How long does it take at least to read the whole HBM of a GPU once, if it holds {S_level} and "
            "delivers {W}?",
            answer=memory.sweep_time,
            given=[{"S_level": b300.hbm, "W": b300.hbm_bw}, {"S_level": a100.hbm, "W": a100.hbm_bw}],
            mistakes={"It is read once, and nothing is written.": 2 * S_level / W},
            remark="A model that reads all of it in every step makes no step faster than that.",
        ),
        Question(
            "The shared memory of an SM delivers {w_sm} in a cycle. An A100 has {n_sm} SMs at {f_clock}. "
            "What do they deliver together?",
            answer=processor.chip_bandwidth,
            given={"n_sm": a100.sm, "w_sm": a100.smem_bytes_per_cycle, "f_clock": a100.boost_clock},
            mistakes={
                "That is one SM.": w_sm * f_clock,
                "Those are words of 4 bytes.": n_sm * w_sm * f_clock / 4,
            },
        ),
        Question(
            "A step over NVLink starts after {alpha}, and the link carries {W} in one direction. How large is "
            "the transfer that sees half of that bandwidth?",
            answer=memory.half_size,
            given=[{"alpha": NVLINK, "W": h100.nvlink_bw}, {"alpha": NVLINK, "W": b200.nvlink_bw}],
            mistakes={
                **both_directions(W),
                "At that size the transfer sees a third of the bandwidth.": alpha * W / 2,
            },
            solution=[(alpha * W, "the wait equals the time on the wire")],
        ),
        Question(
            "One GPU sends {V} to another machine. The step starts after {alpha}, the NIC carries {W}. "
            "What would shorten it most?",
            given=[
                {"V": size, "alpha": NETWORK, "W": h100.nic_bw, "T_mem": size / h100.nic_bw}
                for size in (64 * kB, 256 * MB)
            ],
            choices=[
                (
                    "a NIC twice as fast",
                    "Moving takes {T_mem}, waiting {alpha}; a faster NIC shortens the moving.",
                    V / W > alpha,
                ),
                (
                    "half the start-up latency",
                    "Waiting takes {alpha}, moving {T_mem}; a lower latency shortens the waiting.",
                    V / W < alpha,
                ),
                (
                    "either helps as much",
                    "That is so at one size, latency times bandwidth. Here {alpha} stand against {T_mem}.",
                    Eq(V / W, alpha),
                ),
            ],
        ),
        Question(
            "Give the share of a link's bandwidth that a transfer of $V$ bytes sees, from the start-up "
            "latency $\\alpha$ and the bandwidth $W$.",
            answer=share,
            unit="1",
            symbols=(V, alpha, W),
            mistakes={
                "That is the share of the time that is spent waiting.": 1 - share,
                "That is the time on the wire over the wait, not over the whole.": V / (alpha * W),
                "That is the bandwidth itself; divide it by W.": share * W,
            },
            solution=[(V / (alpha + V / W) / W, "bytes over time, over W"), (share, "multiply by W")],
        ),
        Question(
            "Messages between machines start after {alpha} and move at {W}. How large must one be to see "
            "90% of that bandwidth?",
            answer=9 * alpha * W,
            unit="B",
            given={"alpha": NETWORK, "W": h100.nic_bw},
            mistakes={
                "That size sees half of it.": alpha * W,
                "That size sees ten elevenths of it, a little more than 90%.": 10 * alpha * W,
                "The {W} are bytes already.": 9 * alpha * W / 8,
            },
            solution=[(9 * alpha * W, "V / (V + αW) = 0.9, solved for V")],
        ),
        Question(
            "On a B200 ({n_sm} SMs, {W}) a load takes about {alpha}. A warp has {w_lanes} lanes, and each lane "
            "keeps {n_load} loads of {b_load} in flight. How many whole warps must be resident on every SM to "
            "fill HBM, if all requests overlap?",
            answer=ceiling(warps),
            unit="1",
            noun="warps",
            exact=True,
            given=[B200 | {"n_load": 2, "b_load": 16}, B200 | {"n_load": 4, "b_load": 4}],
            mistakes={
                "Rounded down, they do not quite fill it.": floor(warps),
                "That counts threads; a warp has 32.": ceiling(alpha * W / (n_sm * n_load * b_load)),
                "That is for the whole GPU; share it among the SMs.": ceiling(alpha * W / (w_lanes * n_load * b_load)),
                "Each lane has more than one load under way.": ceiling(alpha * W / (n_sm * w_lanes * b_load)),
            },
            solution=[
                (warps, "bytes in flight, over the bytes that one warp on each SM asks for"),
                (ceiling(warps), "whole warps"),
            ],
        ),
        Question(
            "With {Q} in flight, loads that take {alpha} and a memory of {W}: which bandwidth can be seen at most?",
            answer=memory.concurrent_bandwidth,
            given=[{"Q": size, "alpha": 600 * ns, "W": h200.hbm_bw} for size in (1.2 * MB, 6 * MB)],
            mistakes={"That is one transfer alone; these overlap.": Q / (alpha + Q / W)},
            remark="A memory that reaches its peak stays within a factor of two of it, whatever the queue does.",
        ),
        Question(
            "Scattered pieces are read from the HBM of an H100 ({W}). A load takes about {alpha}, and the "
            "program keeps {Q} in flight. What should it have more of?",
            given=[{"Q": size, "alpha": LOAD, "W": h100.hbm_bw, "W_eff": size / LOAD} for size in (200 * kB, 8 * MB)],
            choices=[
                (
                    "bandwidth of HBM",
                    "HBM delivers {W}; {Q} over {alpha} ask for {W_eff}. The smaller one is the limit.",
                    Q / alpha > W,
                ),
                (
                    "bytes in flight",
                    "{Q} over {alpha} ask for {W_eff}; HBM delivers {W}. The smaller one is the limit.",
                    Q / alpha < W,
                ),
                ("capacity of HBM", "It holds the data already.", False),
            ],
        ),
        Question(
            "**Find the error.** A text takes {W_ref} for the L2 of an H100 from a measurement and {W} for "
            f"HBM from the SXM data sheet, and concludes that L2 is {SAID:g} times as fast. What is wrong?",
            given={"W_ref": pcie_card.l2_bw, "W": h100.hbm_bw},
            choices=[
                ("The division gives another number.", "It does not; check it.", abs(W_ref / W - SAID) > 0.1),
                ("L2 counts both directions, HBM one.", "Both are rates of reading.", False),
                (
                    "Two products are mixed: the L2 is that of the PCIe card.",
                    f"The PCIe card has a slower HBM; on it L2 is {OWN_L2} times as fast.",
                    abs(W_ref / W - SAID) <= 0.1,
                ),
                ("L2 cannot be faster than HBM.", "A cache that is not would be of little use.", False),
            ],
        ),
        Question(
            f"A lecture gives PCIe {show(claim('cs336-8:PCIE').published, 'B/s')}, which is PCIe 7.0. The slots of an H100 "
            "node are PCIe 5.0 with 16 lanes. Look up their bandwidth in the table of links: how long does a "
            "checkpoint of {V} take from one H100 to its host?",
            answer=V / W,
            unit="s",
            given={"V": h100.hbm, "W": h100.pcie_bw},
            mistakes={
                f"{show(pcie_7.bw, 'B/s')} is PCIe 7.0.": {"W": pcie_7.bw},
                **both_directions(W),
                "That is NVLink, which leads to other GPUs.": {"W": h100.nvlink_bw},
            },
            solution=[(V / W, "one direction of PCIe 5.0 with 16 lanes")],
        ),
        Question(
            "A text says that on a GB200 the host's memory is as near as a peer's. But two GPUs share one Grace "
            "CPU, whose link carries {W} in one direction. Both load {V} from it at once. How long does that "
            "take, if its memory keeps up?",
            answer=2 * V / W,
            unit="s",
            given={"V": 100 * GB, "W": gb200.host_bw},
            mistakes={
                "The two share the link.": V / W,
                "So long it would take from peers, over NVLink.": V / (2 * W),
            },
            solution=[(2 * V / W, "two loads over one link")],
        ),
    ],
)
