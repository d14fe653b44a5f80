"""Practice questions of the lab on torch.distributed collectives."""

from sympy import Eq, ceiling, log

from gpuscale.collectives import algorithms, bus_bandwidth
from gpuscale.evidence import families
from gpuscale.quiz import Question, QuestionSet
from gpuscale.schedules.collectives import ring, trees
from gpuscale.symbols import N, T_comms, V
from gpuscale.units import MB, kB, ms

RANKS, ARRAY = 4, 16_000
FIXED = dict(next(one for one in families() if one.id == "gloo.send_recv").fixed)
HEADER, NOTICE = FIXED["header"], FIXED["notice"]
PAYLOAD = int(algorithms.all_reduce_bytes(V=ARRAY, N=RANKS))
FORWARD = int(ring.all_reduce(RANKS).over_sockets(ARRAY, HEADER, NOTICE)[0][1])
MESSAGES = int(algorithms.ring_all_reduce_steps(N=RANKS))
ROOT = int(trees.broadcast(RANKS).sent(0))

questions = QuestionSet(
    "lab_collectives",
    "Lab: torch.distributed collectives",
    intro="Questions on process groups, on deadlocks, and on counts that you can check with the functions of the lab.",
    chapter="lab_collectives",
    questions=[
        Question(
            "Predict first, then count with `links`: each of {N} ranks calls `dist.all_to_all_single` on a tensor of {V}. "
            "How many bytes does a rank send in all?",
            answer=V * (N - 1) / N,
            given=[{"V": 480 * kB, "N": 4}, {"V": 480 * kB, "N": 5}],
            mistakes={
                "That is an all-to-all whose V is the data of all ranks. Here V is the tensor of one rank.": V
                * (N - 1)
                / N**2,
                "A rank keeps the part that is meant for itself.": V,
            },
            hint="The tensor has one part for each rank. Which of them has to travel?",
            solution=[
                (V - V / N, "each part travels, except the rank's own one"),
                (V * (N - 1) / N, "together; the headers of gloo add less than 0.1%"),
            ],
        ),
        Question(
            "Predict first, then count with `links`: `dist.broadcast` sends {V} from rank 0 over gloo to {N} ranks in all. "
            "How many bytes does rank 0 send?",
            answer=ceiling(log(N, 2)) * V,
            given=[{"V": 1 * MB, "N": 8}, {"V": 1 * MB, "N": 6}],
            mistakes={
                "That is a direct broadcast. Gloo lets other ranks pass the array on.": V * (N - 1),
                "That is a chain, in which each rank sends to one other.": V,
            },
            hint="The lab finds that gloo's broadcast is a binomial tree. How many steps does it have?",
            solution=[
                (ceiling(log(N, 2)) * V, "in a binomial tree, the root sends the whole array once in each step"),
            ],
        ),
        Question(
            "An all-reduce of {V} on {N} ranks returns at once, because `async_op=True` was set. Its result is there "
            "after {T_comms}. What is the bus bandwidth?",
            answer=bus_bandwidth.all_reduce_bus.rhs.subs(
                bus_bandwidth.algorithm_bandwidth.lhs, bus_bandwidth.algorithm_bandwidth.rhs
            ),
            given=[{"V": 64 * MB, "N": 4, "T_comms": 40 * ms}, {"V": 64 * MB, "N": 8, "T_comms": 2 * ms}],
            mistakes={
                "That is the algorithm bandwidth.": V / T_comms,
                "That is the factor of an all-gather.": V * (N - 1) / (N * T_comms),
            },
            solution=[
                (V / T_comms, "bytes over time: the algorithm bandwidth"),
                (2 * V * (N - 1) / (N * T_comms), "times the bytes that a ring sends per byte of the array"),
            ],
        ),
        Question(
            "Rank 0 saves a checkpoint, and the others should wait for it. The script says `if dist.get_rank() == 0: save(); "
            "dist.barrier()`, all on one line. What happens?",
            choices=[
                ("All ranks wait until the checkpoint is written.", "Only rank 0 gets to the barrier.", False),
                (
                    "Rank 0 waits in the barrier, and the others go on.",
                    "Both calls belong to the `if`, so the other ranks skip the barrier.",
                    True,
                ),
                (
                    "The other ranks raise an error.",
                    "They don't know that rank 0 is in a barrier.",
                    False,
                ),
            ],
            solution="Both calls belong to the `if`. Put the barrier on a line of its own, outside.",
        ),
        Question(
            "Rank 0 all-reduces `b` and then `a`; the other ranks all-reduce `a` and then `b`. Both have the same shape and "
            "type. What happens?",
            choices=[
                ("The job hangs.", "Each rank finds a partner for each of its calls.", False),
                (
                    "Both sums are right, as a call knows its tensor.",
                    "A name in Python is not sent to other ranks.",
                    False,
                ),
                (
                    "Both sums are wrong, and no error is raised.",
                    "Calls are matched by their order.",
                    True,
                ),
            ],
            solution="Calls are matched by their order alone. The `b` of rank 0 is added to the `a` of the others, and the "
            "other way round. Try it in the lab: four lines are enough.",
        ),
        Question(
            "`dist.reduce(t, dst=0)` has returned on rank 2. What is in its tensor `t`?",
            choices=[
                ("the sum", "Only the root has it.", False),
                ("what was there before", "That may be so, but you can't rely on it: gloo overwrites it.", False),
                ("nothing that you may use", "Only the root's tensor is defined.", True),
            ],
            solution="Nothing that you may use. Gloo leaves partial sums. If you need the sum everywhere, call `all_reduce`.",
        ),
        Question(
            "A function runs in a notebook but fails with `NameError` in a script under `torchrun`. What is the most likely "
            "reason?",
            choices=[
                ("NCCL has no such function.", "Then the error would be another one.", False),
                (
                    "It uses a variable or an import of another cell.",
                    "`run` sends what a function refers to along with it; a script has to contain it.",
                    True,
                ),
                ("The ranks have started in a different order.", "All ranks run the same program.", False),
            ],
            solution="In a notebook, all cells share their names, and `run` sends to each rank what the function refers to. "
            "The reduce and barrier demonstrations of the playbook have bugs of this kind.",
        ),
        Question(
            "Each rank of a group gathers the tensors of all ranks and adds them up, beginning with its own. After many "
            "training steps, the losses on the ranks differ slightly. Why?",
            choices=[
                ("The gather is not exact.", "A gather copies bits.", False),
                (
                    "Each rank adds in a different order, so the sums differ in the last bits.",
                    "Floating-point addition is not associative.",
                    True,
                ),
                (
                    "Some ranks have not finished when the others go on.",
                    "The gather returns when the data is there.",
                    False,
                ),
            ],
            solution="Each rank adds in a different order. Begin with rank 0 on every rank, or let one rank add and send the "
            "result to the others, as a reduce-scatter and an all-gather do.",
        ),
        Question(
            "Ranks 0, 1 and 2 call an all-reduce, and rank 3 doesn't. Which ranks will the message name?",
            predict=True,
            choices=[
                ("rank 3", "Rank 3 has returned: it has nothing to wait for.", False),
                ("ranks 0, 1 and 2", "They wait for rank 3, which has gone on.", True),
                ("all four ranks", "Rank 3 never made the call, so it doesn't wait.", False),
            ],
            solution="Ranks 0, 1 and 2: they wait, and the message names the ranks that haven't answered. The rank to look "
            "for is the one that isn't named.",
        ),
        Question(
            "The root of a reduce ends with the sum, 10. What do the other ranks hold?",
            predict=True,
            choices=[
                ("their own values, as before", "That would be natural, but nobody promises it.", False),
                ("the sum as well", "That would be an all-reduce.", False),
                ("other numbers", "The tensor may be used for partial sums.", True),
            ],
            solution="Other numbers: gloo computes partial sums in the tensors that it was given.",
        ),
        Question(
            "Four ranks hold tensors of 400 elements, filled with one hundred million, 1, minus one hundred million, and 1. "
            "What is in the all-reduced tensor?",
            predict=True,
            choices=[
                (
                    "2 everywhere",
                    "That is the sum of real numbers. In fp32, 1 disappears next to a large number.",
                    False,
                ),
                (
                    "the same number everywhere, but not 2",
                    "The order of the additions differs within the tensor.",
                    False,
                ),
                ("different numbers in different places", "Each chunk is added up in a different order.", True),
            ],
            solution="Different numbers in different places. Each chunk of the ring starts at a different rank. Where a 1 is "
            "added to a large number it is lost, and where the large numbers cancel first it survives.",
        ),
        Question(
            f"The ring sends chunks of a tensor of {ARRAY:,} B, and the formula says {PAYLOAD:,} B. How many bytes will the "
            "kernel count from rank 0 to rank 1?",
            predict=True,
            choices=[
                (f"{PAYLOAD:,}", "Each message has headers, too.", False),
                (
                    f"{FORWARD:,}",
                    f"{MESSAGES} messages with {HEADER} bytes of headers each.",
                    FORWARD == PAYLOAD + MESSAGES * HEADER,
                ),
                (
                    f"{FORWARD + MESSAGES * NOTICE:,}",
                    "Rank 0 announces to rank 3, not to rank 1, that it is ready.",
                    False,
                ),
            ],
            solution=f"{FORWARD:,}: the {PAYLOAD:,} bytes travel in {MESSAGES} messages. Their notices go in the opposite "
            "direction, from rank 1 to rank 0.",
        ),
        Question(
            "In a broadcast over gloo, how many copies of the array does the root send to reach the three other ranks?",
            predict=True,
            given={"N": RANKS},
            choices=[
                ("1", "That would be a chain.", Eq(ceiling(log(N, 2)), 1)),
                ("2", "Rank 1 passes a copy on to rank 3.", Eq(ceiling(log(N, 2)), ROOT)),
                ("3", "That would be the direct broadcast. Other ranks can help.", Eq(ceiling(log(N, 2)), N - 1)),
            ],
            solution=f"{ROOT}. Rank 0 sends to ranks 1 and 2, and rank 1 passes the array on to rank 3: a binomial tree.",
        ),
        Question(
            "A message grows from 256 B to 1 KiB, four times its size. How does the time of the all-reduce change?",
            predict=True,
            choices=[
                ("it hardly changes", "Latency dominates in small messages.", True),
                ("it doubles", "Neither latency nor transfer time does that.", False),
                ("it grows fourfold", "That holds for large messages.", False),
            ],
            solution="It hardly changes. Each step of the algorithm costs its latency, however few bytes it moves.",
        ),
    ],
)
