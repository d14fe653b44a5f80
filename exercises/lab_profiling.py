"""Practice questions of the lab on profiling and custom kernels."""

from sympy import ceiling, floor

from gpuscale import chip
from gpuscale.one_gpu import limits
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import R, R_sm, T, W_hbm, b, g_reg, n, n_sub, t_block, w_lanes, w_max

h100 = chip("h100_sxm")

SM = {
    "R_sm": h100.registers_per_sm,
    "n_sub": h100.subpartitions_per_sm,
    "g_reg": h100.register_allocation_unit,
    "w_lanes": h100.warp_size,
    "S_smem": h100.smem_per_sm,
    "S_res": h100.smem_reserved_per_block,
    "g_smem": h100.smem_allocation_unit,
    "w_max": h100.max_warps_per_sm,
    "n_block": h100.max_blocks_per_sm,
    "S_block": 0,
}
one_by_one = n_sub * floor(R_sm / n_sub / (ceiling(R * w_lanes / g_reg) * g_reg))

questions = QuestionSet(
    "lab_profiling",
    "Lab: profiling and custom kernels",
    intro="Questions on clocks, traces and reports, and on the operator of the lab.",
    chapter="lab_profiling",
    questions=[
        Question(
            "A kernel adds two vectors of {n} elements, one thread per element, in blocks of {t_block} threads. How many "
            "threads of the last block have nothing to do?",
            answer=ceiling(n / t_block) * t_block - n,
            given=[{"n": 10_000, "t_block": 1024}, {"n": 1_000_000, "t_block": 256}],
            exact=True,
            noun="threads",
            mistakes={
                "Those are the threads of the last block that do have an element.": n - floor(n / t_block) * t_block,
                "Those are the blocks.": ceiling(n / t_block),
            },
            hint="Only whole blocks are launched. How many threads do they have in all?",
            vary={t_block: (128, 256, 512, 1024)},
        ),
        Question(
            "Nsight Compute reports a Duration of {T} for a vector addition of {n} fp32 elements on an H100 SXM. What "
            "fraction of the HBM bandwidth does the kernel achieve?",
            answer=3 * b * n / (T * W_hbm),
            given=[
                {"n": 2**28, "T": 1.05e-3, "b": 4, "W_hbm": h100.hbm_bw},
                {"n": 2**26, "T": 0.3e-3, "b": 4, "W_hbm": h100.hbm_bw},
            ],
            mistakes={
                "The result has to be written, too.": 2 * b * n / (T * W_hbm),
                "Two vectors are read and one is written.": b * n / (T * W_hbm),
            },
            hint="Count the bytes of all three vectors, and divide by the duration.",
        ),
        Question(
            "A report shows {R} registers per thread, blocks of {w_block} warps and no shared memory. Which Theoretical "
            "Occupancy does it show on an H100?",
            answer=limits.occupancy,
            given=[SM | {"R": 40, "w_block": 32}, SM | {"R": 48, "w_block": 16}],
            mistakes={
                "That many warps would fit one by one, but a block is resident as a whole.": one_by_one / w_max,
            },
            hint="Count the warps that the registers of a subpartition hold, then whole blocks. The limits are in the "
            "table of the section Occupancy of Inside a GPU.",
        ),
        Question(
            "A kernel's report shows a DRAM Throughput of 93% and a Compute (SM) Throughput of 12%. What makes the "
            "program faster?",
            choices=[
                (
                    "fuse the kernel with its neighbors, so that fewer bytes cross the memory bus",
                    "The kernel moves its bytes almost as fast as the memory allows, so it has to move fewer.",
                    True,
                ),
                (
                    "raise the occupancy",
                    "More warps hide more latency, but the memory is already busy.",
                    False,
                ),
                (
                    "use the Tensor Cores",
                    "Arithmetic is not the limit: its units are idle most of the time.",
                    False,
                ),
            ],
            solution="Fuse it. The kernel is at its roof, and a kernel on the slope gets faster only if it moves fewer bytes.",
        ),
        Question(
            "In a trace, the host launches without a pause, and each kernel ends before the next launch does. What makes the "
            "program faster?",
            choices=[
                (
                    "a GPU with a faster memory",
                    "The GPU already waits for the host, and it would wait longer.",
                    False,
                ),
                (
                    "launching many kernels at once, with a CUDA graph, or fusing them",
                    "The host sets the pace. It has to do less per kernel.",
                    True,
                ),
                (
                    "a second stream",
                    "The same host would launch the kernels of both streams, no faster than before.",
                    False,
                ),
            ],
            solution="The program is launch-bound. Fewer launches, or one launch for a whole graph of kernels, take work off "
            "the host.",
        ),
        Question(
            "`schedule(wait=2, warmup=1, active=3, repeat=2)` is given to the profiler. Steps are counted from 0. Which of "
            "them does it record?",
            choices=[
                ("3 to 5", "That is the first cycle, and `repeat=2` asks for two.", False),
                ("3 to 5 and 9 to 11", "A cycle has six steps, and its last three are recorded.", True),
                ("3 to 5 and 6 to 8", "Each cycle waits and warms up again.", False),
                ("2 to 5 and 8 to 11", "Steps 2 and 8 are warm-up. The profiler runs, but it throws them away.", False),
            ],
            solution="Steps 3 to 5 and 9 to 11. Each cycle is two steps of waiting, one of warm-up and three recorded ones. "
            "`key_averages()` reports only the last cycle, unless the profiler gets `acc_events=True`. The usual way is a "
            "function `on_trace_ready`, which saves each cycle.",
        ),
        Question(
            "A training loop prints `loss.item()` after every step. A colleague removes the line, and the GPU's idle time "
            "in the trace disappears. Why?",
            choices=[
                ("printing is slow", "A line of text takes far less time than a step.", False),
                (
                    "`item()` waits for the GPU, and meanwhile the host launches nothing",
                    "After each step the queue is empty, and the GPU waits for the first launches of the next one.",
                    True,
                ),
                ("`item()` copies the whole model", "It copies one element.", False),
            ],
            solution="`item()` needs the value, so it synchronizes. Collect the losses on the GPU, and print them every "
            "hundred steps.",
        ),
        Question(
            "Rank 1 begins its all-reduce half a second after rank 0. Rank 0 uses `async_op=True` and reads its clock "
            "before and after the call. Roughly what does it measure?",
            predict=True,
            choices=[
                ("half a second", "That is how long the sum takes to arrive. The call doesn't wait for it.", False),
                (
                    "a small fraction of a second",
                    "The call only starts the collective, and returns.",
                    True,
                ),
            ],
            solution="Well under a millisecond, as a rule: the call returns before the sum is there. Only `wait()` takes half "
            "a second.",
        ),
        Question(
            "A network has a linear layer and a layer norm, four parameter tensors in all. How many tensors of zeros does "
            "Adam allocate in its first step, and how many in its second?",
            predict=True,
            choices=[
                ("8 and 8", "The moments are kept from step to step.", False),
                ("4 and 0", "Adam has two moments per parameter.", False),
                ("8 and 0", "Two moments for each of the four tensors, once.", True),
            ],
            solution="8 and 0: two moments per tensor, which are made when they are first needed.",
        ),
        Question(
            "A loop has ten steps, numbered from 0, and the profiler gets `schedule(wait=1, warmup=3, active=2, repeat=1)`. "
            "Which steps does its table show?",
            predict=True,
            choices=[
                ("all ten", "The schedule leaves most of them out.", False),
                ("0 to 5", "Those are all steps of the cycle, with waiting and warm-up.", False),
                ("4 and 5", "One step of waiting and three of warm-up come first.", True),
                ("8 and 9", "The cycle starts at step 0, and it isn't repeated.", False),
            ],
            solution="4 and 5. One cycle has six steps, and only the last two are recorded. After it, nothing is.",
        ),
        Question(
            "A layer norm written with simple PyTorch operators launches one kernel after the other. Each of them reads "
            "whole tensors from memory and writes whole tensors back. How many times as many bytes does it move as one fused kernel?",
            predict=True,
            choices=[
                ("as many: the result is the same", "The intermediate results are written and read again.", False),
                ("about twice", "Count the operators that read or write a whole tensor.", False),
                ("about six times", "Twelve tensors cross the bus instead of two.", True),
            ],
            solution="About six times. The fused kernel reads one tensor and writes one. The operators read and write twelve.",
        ),
        Question(
            "A launch takes the host 5 µs, and each kernel runs for 2 µs. In a long loop of such launches, how much of the time is "
            "the GPU busy?",
            predict=True,
            choices=[
                ("2/7 of the time", "The next launch doesn't wait for the kernel.", False),
                ("2/5 of the time", "A kernel starts every 5 µs and runs for 2 µs.", True),
                ("all of the time", "It is always waiting for the next launch.", False),
            ],
            solution="2/5 of the time. The host is slower, so it sets the pace.",
        ),
        Question(
            "Two vector additions, each of them long enough to use the full HBM bandwidth, run on two streams at the same "
            "time. How much time does this save, compared with one after the other?",
            predict=True,
            choices=[
                ("half of it", "Each of them needs the whole bandwidth.", False),
                ("a quarter of it", "They share one memory, which is busy in either case.", False),
                ("none", "The bytes are the same, and so is the bandwidth.", True),
            ],
            solution="None. Overlap helps where two kernels need different things.",
        ),
    ],
)
