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
SAID = claim("gpus:MEM-8").published  # L2 over HBM of two versions, by the source
OWN_L2 = show(pcie_card.l2_bw / pcie_card.hbm_bw, "1")  # L2 over HBM on one GPU
B200 = {"n_sm": b200.sm, "W": b200.hbm_bw, "alpha": LOAD, "w_lanes": b200.warp_size}
# Every thread slot of an H200 taken, one 8-byte load in each; copies from a host as they were measured
FULL = {"n_sm": h200.sm, "w_res": h200.max_warps_per_sm, "w_lanes": 32, "n_load": 1, "b_load": 8}
FULL |= {"alpha": LOAD, "W": h200.hbm_bw}
ASKED = memory.loads_in_flight(**{k: v for k, v in FULL.items() if k not in ("alpha", "W")})
THREADS = show(h200.sm * h200.max_warps_per_sm * 32, "count")
BEST = max(row["bandwidth"] for row in measured("read_by_threads").rows if row["part"] == h200.key)
copies = measured("memcpy_v100_pcie")
SMALL, LARGE = ((float(copies.size[k]), float(copies.size[k] / copies.bandwidth[k])) for k in (1, 4))
IN_LINKS = "The table of links in this chapter has the bandwidth."
NCCL_HINT = (
    "The latency that NCCL assumes stands above the figure of transfer times; " + IN_LINKS[0].lower() + IN_LINKS[1:]
)
share = V / (V + alpha * W)
warps = alpha * W / (n_sm * w_lanes * n_load * b_load)

questions = QuestionSet(
    "memory_hierarchy",
    "The memory hierarchy",
    intro="From reading a memory once to keeping it busy, with a few published figures to correct.",
    chapter="memory_hierarchy",
    questions=[
        Question(
            "How long does it take at least to read an HBM of {S_level} once, if it delivers {W}?",
            answer=memory.sweep_time,
            given=[{"S_level": b300.hbm, "W": b300.hbm_bw}, {"S_level": a100.hbm, "W": a100.hbm_bw}],
            mistakes={"It is read once, and nothing is written.": 2 * S_level / W},
            remark="If a model fills this memory and reads all of it in every step, no step is faster than that.",
        ),
        Question(
            "What bandwidth does the shared memory of all SMs of an A100 have together, at its boost clock?",
            answer=processor.chip_bandwidth,
            given={"n_sm": a100.sm, "w_sm": a100.smem_bytes_per_cycle, "f_clock": a100.boost_clock},
            mistakes={
                "That is one SM.": w_sm * f_clock,
                "Those are words of 4 bytes.": n_sm * w_sm * f_clock / 4,
            },
            hint="Multiply the SMs, the bytes per SM per cycle, and the clock. The hardware tables list all three.",
        ),
        Question(
            "A transfer over NVLink has a latency of {alpha}, and the link carries {W} in one direction. How large is "
            "a transfer that sees half of that bandwidth?",
            answer=memory.half_size,
            given=[{"alpha": NVLINK, "W": h100.nvlink_bw}, {"alpha": NVLINK, "W": b200.nvlink_bw}],
            mistakes={
                **both_directions(W),
                "At that size the transfer sees a third of the bandwidth.": alpha * W / 2,
            },
            solution=[(alpha * W, "the latency equals the time on the wire")],
        ),
        Question(
            "An H100 sends {V} to another machine through its NIC. What would shorten this most?",
            given=[
                {"V": size, "alpha": NETWORK, "W": h100.nic_bw, "T_mem": size / h100.nic_bw}
                for size in (64 * kB, 256 * MB)
            ],
            choices=[
                (
                    "a NIC twice as fast",
                    "The bytes take {T_mem}, the latency is {alpha}. A faster NIC shortens only the first.",
                    V / W > alpha,
                ),
                (
                    "half the latency",
                    "The latency is {alpha}, the bytes take {T_mem}. A lower latency shortens only the first.",
                    V / W < alpha,
                ),
                (
                    "both help equally",
                    "That is so at one size, latency times bandwidth. Here, {alpha} compare with {T_mem}.",
                    Eq(V / W, alpha),
                ),
            ],
            hint=NCCL_HINT,
        ),
        Question(
            "Give the fraction of a link's bandwidth that a transfer of $V$ bytes sees, from the latency $\\alpha$ and "
            "the bandwidth $W$.",
            answer=share,
            unit="1",
            symbols=(V, alpha, W),
            mistakes={
                "That is the fraction of the time that is latency.": 1 - share,
                "That is the time on the wire over the latency, not over the whole time.": V / (alpha * W),
                "That is the bandwidth itself; divide it by W.": share * W,
            },
            solution=[(V / (alpha + V / W) / W, "bytes over time, over W"), (share, "multiply by W")],
        ),
        Question(
            "How large does a message between two H100 machines have to be to see 90% of the bandwidth of its NIC?",
            answer=9 * alpha * W,
            unit="B",
            given={"alpha": NETWORK, "W": h100.nic_bw},
            mistakes={
                "That size sees half of it.": alpha * W,
                "That size sees ten elevenths of it, a little more than 90%.": 10 * alpha * W,
                "The {W} are bytes already.": 9 * alpha * W / 8,
            },
            hint=NCCL_HINT,
            solution=[(9 * alpha * W, "V / (V + αW) = 0.9, solved for V")],
        ),
        Question(
            "On a B200, a load takes about {alpha}, and each thread keeps {n_load} loads of {b_load} in flight. How many "
            "whole warps must be resident on every SM to use the full bandwidth of HBM, if all requests overlap?",
            answer=ceiling(warps),
            unit="1",
            noun="warps",
            exact=True,
            given=[B200 | {"n_load": 2, "b_load": 16}, B200 | {"n_load": 4, "b_load": 4}],
            mistakes={
                "Rounded down, they do not quite reach it.": floor(warps),
                "That counts threads; a warp has 32.": ceiling(alpha * W / (n_sm * n_load * b_load)),
                "That is for the whole GPU. Divide it by the number of SMs.": ceiling(
                    alpha * W / (w_lanes * n_load * b_load)
                ),
                "Each thread has more than one load in flight.": ceiling(alpha * W / (n_sm * w_lanes * b_load)),
            },
            hint="Divide the bytes that have to be in flight by those that one warp on each SM asks for. The hardware "
            "tables list the SMs and the bandwidth.",
            solution=[
                (warps, "bytes in flight, over the bytes that one warp on each SM asks for"),
                (ceiling(warps), "whole warps"),
            ],
            vary={n_load: (), b_load: ()},
        ),
        Question(
            "A program keeps {Q} in flight, and each load takes {alpha}. What bandwidth can it reach at most, if the "
            "memory delivers {W}?",
            answer=memory.concurrent_bandwidth,
            given=[{"Q": size, "alpha": 600 * ns, "W": h200.hbm_bw} for size in (1.2 * MB, 6 * MB)],
            mistakes={"That is a single transfer. These overlap.": Q / (alpha + Q / W)},
            remark="Without any overlap it would be lower, but never by more than a factor of two.",
        ),
        Question(
            "A program reads scattered pieces from the HBM of an H100 SXM. A load takes about {alpha}, and {Q} are in "
            "flight. What would make it faster?",
            given=[{"Q": size, "alpha": LOAD, "W": h100.hbm_bw, "W_eff": size / LOAD} for size in (200 * kB, 8 * MB)],
            choices=[
                (
                    "more bandwidth of HBM",
                    "HBM delivers {W}, and {Q} over {alpha} ask for {W_eff}. The smaller one is the limit.",
                    Q / alpha > W,
                ),
                (
                    "more bytes in flight",
                    "{Q} over {alpha} ask for {W_eff}, and HBM delivers {W}. The smaller one is the limit.",
                    Q / alpha < W,
                ),
                ("a larger HBM", "It holds the data already.", False),
            ],
        ),
        Question(
            "**Find the error.** The scaling book takes {W_ref} for the L2 of an H100 from a measurement and {W} for "
            f"HBM from the SXM data sheet. It concludes that L2 is {SAID:g} times as fast. What is wrong?",
            given={"W_ref": pcie_card.l2_bw, "W": h100.hbm_bw},
            choices=[
                ("The division gives another number.", "It does not; check it.", abs(W_ref / W - SAID) > 0.1),
                ("L2 counts both directions, HBM one.", "Both are rates of reading.", False),
                (
                    "It mixes two versions: the L2 is that of the PCIe version.",
                    f"The PCIe card has a slower HBM. On this GPU, L2 is {OWN_L2} times as fast.",
                    abs(W_ref / W - SAID) <= 0.1,
                ),
                ("L2 cannot be faster than HBM.", "A cache that is not faster would be of little use.", False),
            ],
        ),
        Question(
            f"A lecture gives PCIe {show(claim('cs336-8:PCIE').published, 'B/s')}, which is PCIe 7.0. How long does it really "
            "take to copy the whole HBM of an H100 SXM to its host?",
            answer=V / W,
            unit="s",
            given={"V": h100.hbm, "W": h100.pcie_bw},
            mistakes={
                f"{show(pcie_7.bw, 'B/s')} is PCIe 7.0.": {"W": pcie_7.bw},
                **both_directions(W),
                "That is NVLink, which leads to other GPUs.": {"W": h100.nvlink_bw},
            },
            hint="An H100 has PCIe 5.0 with 16 lanes. " + IN_LINKS,
            solution=[(V / W, "one direction of PCIe 5.0 with 16 lanes")],
        ),
        Question(
            "In a GB200, two GPUs share one Grace CPU over a single NVLink-C2C link. Both of them load {V} from its memory "
            "at the same time. How long does that take, if the memory keeps up?",
            answer=2 * V / W,
            unit="s",
            given={"V": 100 * GB, "W": gb200.host_bw},
            mistakes={
                "The two GPUs share the link.": V / W,
                "That is the time from another GPU, over NVLink.": V / (2 * W),
            },
            hint=IN_LINKS,
            solution=[(2 * V / W, "two loads over one link")],
        ),
        Question(
            "A language model fills the HBM of an H100 with its weights, the numbers that it has learned. To write one token, "
            "which is a word or a piece of a word, it reads all of them once. How many tokens per second can it write at most, one after another?",
            predict=True,
            choices=[
                ("about 40", "Divide the bandwidth by the bytes of the weights.", True),
                ("about 4,000", "One token would then take a quarter of a millisecond.", False),
                ("that depends on the FLOP/s", "The weights have to be read, however fast the arithmetic is.", False),
            ],
            solution=f"About {h100.hbm_bw / h100.hbm:.0f}. Reading {show(h100.hbm, 'B')} at {show(h100.hbm_bw, 'B/s')} takes "
            f"{show(h100.hbm / h100.hbm_bw, 's')}, and every token has to wait for it.",
        ),
        Question(
            "The 32 threads of a warp read one 4-byte element each, and each element is in a different row of a large matrix. "
            "Memory delivers sectors of 32 bytes. What fraction of the bytes that arrive is used?",
            predict=True,
            choices=[
                ("all of them", "Each thread gets its element, but memory sends more than that.", False),
                ("1/8", "One element per sector.", True),
                ("1/32", "The 32 threads do not share a sector; each of them uses a part of its own.", False),
            ],
            solution="1/8. Each element is in a sector of its own, so 32 bytes arrive for every 4 that are used. The "
            "kernel sees an eighth of the memory's bandwidth.",
        ),
        Question(
            f"Copying {show(SMALL[0], 'KiB', short=True)} from a CPU to a GPU takes {show(SMALL[1], 's')}. How long does it take to copy 16 "
            "times as many bytes over the same link?",
            predict=True,
            choices=[
                ("16 times as long", "Only if the time went into the bytes.", LARGE[1] / SMALL[1] > 10),
                ("4 times as long", "Even that is too much: these copies are small.", 3 < LARGE[1] / SMALL[1] < 10),
                ("hardly any longer", "Nearly all of the time is latency.", LARGE[1] / SMALL[1] < 1.5),
            ],
            solution=f"Hardly any longer: {show(LARGE[1], 's')} were measured for {show(LARGE[0], 'KiB', short=True)}. Nearly all of the time "
            "is a fixed latency, which a copy has to pay whatever its size.",
        ),
        Question(
            f"All thread slots of an H200 are taken. Each of its {THREADS} threads waits for one 8-byte load, which takes "
            "{alpha}. Do these loads use the full {W} of HBM?",
            given=FULL,
            predict=True,
            choices=[
                (
                    f"yes, {THREADS} loads at a time are plenty",
                    "Count their bytes: how many arrive per second?",
                    memory.loads_in_flight.rhs > alpha * W,
                ),
                (
                    "no, too few bytes are in flight",
                    "Bytes in flight over the latency is less than the bandwidth.",
                    memory.loads_in_flight.rhs < alpha * W,
                ),
            ],
            solution=f"No. {show(ASKED, 'B')} are in flight. Divided by the latency, that is {show(ASKED / LOAD, 'B/s')} at most, "
            f"and {show(BEST, 'B/s')} were measured. The threads would have to ask for more bytes each.",
        ),
    ],
)
