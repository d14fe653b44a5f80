"""Practice questions of the lab on pipeline schedules from scratch."""

from gpuscale.llm import pipeline
from gpuscale.quiz import Question, QuestionSet
from gpuscale.schedules.pipelines import both_ways, orders
from gpuscale.symbols import N_MB, N_stages, n_virt

RANKS, MICROBATCHES = 4, 8
HOP = 4 * 32 * 8  # bytes of the lab's activations of a microbatch: rows, width, bytes per element
PARTS = {"t_F": 1, "t_B": 2, "t_W": 1}


def mixed(run) -> int:
    """The pairs of neighbors whose messages are needed in a different order than they are sent."""
    home = {task: rank for rank in range(run.ranks) for task in run.tasks(rank)}
    sent, wanted = {}, {}
    for rank in range(run.ranks):
        for kind, m, s in run.tasks(rank):
            step = {"F": 1, "B": -1, "W": 0}[kind]
            source, target = home.get((kind, m, s - step)), home.get((kind, m, s + step))
            wanted.setdefault((source, rank), []).append((kind, m, s - step))
            sent.setdefault((rank, target), []).append((kind, m, s))
    return sum(sent[pair] != wanted[pair] for pair in sent.keys() & wanted.keys() if pair[0] != pair[1])


PLAIN = mixed(orders.one_f_one_b(RANKS, MICROBATCHES)) + mixed(orders.interleaved(RANKS, MICROBATCHES, 2))
FOLDED = mixed(both_ways.zb_v(RANKS, MICROBATCHES))

questions = QuestionSet(
    "lab_pipelines",
    "Lab: pipeline schedules from scratch",
    intro="Questions on what ranks of a pipeline store, send and wait for, in the lab and in larger pipelines.",
    chapter="lab_pipelines",
    questions=[
        Question(
            "In the lab, the activations of a microbatch take {V_hop} at every stage. How many bytes pass between rank 0 "
            "and rank 1 in a step, in both directions, with {N_MB} microbatches and {n_virt} virtual stages per rank?",
            answer=pipeline.pipeline_bytes,
            given=[
                {"N_stages": RANKS, "N_MB": MICROBATCHES, "n_virt": 4, "V_hop": HOP},
                {"N_stages": RANKS, "N_MB": 2 * MICROBATCHES, "n_virt": 3, "V_hop": HOP},
            ],
            mistakes={
                "Each of the virtual stages sends.": {"n_virt": 1},
                "The gradients go back along the same path.": pipeline.pipeline_bytes.rhs / 2,
            },
            hint="Which messages does one microbatch cause between the two ranks?",
        ),
        Question(
            "A pipeline of {N_stages} ranks runs {N_MB} microbatches by interleaved zero bubble, with {n_virt} virtual "
            "stages per rank. The backward pass takes twice as long as the forward pass, and half of it is for the weights. "
            "What is the bubble overhead, idle over busy time?",
            answer=pipeline.interleaved_zb_overhead,
            given=[
                {"N_stages": 8, "N_MB": 32, "n_virt": 2, **PARTS},
                {"N_stages": 16, "N_MB": 64, "n_virt": 4, **PARTS},
            ],
            mistakes={
                "That is ZB-H1. The virtual stages shorten its bubble.": pipeline.zb_overhead,
                "That is interleaved 1F1B. Weight gradients fill a part of its bubble.": pipeline.interleaved_overhead,
            },
            hint="Take the bubble of ZB-H1, with the times of a virtual stage.",
        ),
        Question(
            "How many activations of virtual stages does the last of {N_stages} ranks store at most under interleaved zero "
            "bubble, with {n_virt} virtual stages per rank and at least as many microbatches as ranks?",
            answer=pipeline.interleaved_zb_held,
            given=[{"N_stages": 8, "n_virt": 2}, {"N_stages": 16, "n_virt": 4}],
            exact=True,
            mistakes={
                "A rank has several virtual stages.": N_stages,
                "That is what the last rank has begun when its first backward pass starts. Weight gradients come on top.": (
                    (n_virt - 1) * N_stages + 1
                ),
            },
            hint="The last rank runs ahead least and defers its weight gradients longest.",
        ),
        Question(
            "A backward pass has been divided. Its first half has computed the gradient of the input and sent it. What must "
            "the rank still store for the second half?",
            choices=[
                (
                    "of each matmul the input and the gradient of the output",
                    "The gradient of the weights is a matmul of these two.",
                    True,
                ),
                ("only the gradient of the stage's output", "Each matmul has its own input and output.", False),
                ("nothing but the weights", "The gradient of the weights doesn't depend on the weights.", False),
            ],
            solution="The gradient of a weight matrix is a matmul of the input and the gradient of the output. Both have to "
            "be stored until it is computed. What only the gradient of the input needs, such as the derivative of GELU, is "
            "free.",
        ),
        Question(
            "PyTorch's GPipe runs its backward passes with the first microbatch first, and GPipe as published with the last "
            "one first. What does PyTorch's order change in a pipeline of equal stages?",
            choices=[
                ("the bubble grows", "The last stage begins at once in both orders.", False),
                (
                    "the first stage stores more activations",
                    "In both orders it stores those of all microbatches.",
                    False,
                ),
                ("neither bubble nor peak", "All forward passes come first in both orders.", True),
            ],
            solution="Neither. All forward passes come before the first backward pass, whichever it is, and the backward "
            "passes then follow one another without a gap.",
        ),
        Question(
            "Each rank receives what it needs, computes, and sends the result with a call that returns only when the "
            "neighbor has received it. Which schedule ends up with ranks that wait for each other forever?",
            predict=True,
            choices=[
                ("GPipe", "All messages flow in one direction, and then all in the other.", False),
                (
                    "1F1B",
                    "In its steady state two neighbors send to each other, one an activation and one a gradient.",
                    True,
                ),
                ("both", "In GPipe all messages flow in one direction at a time.", False),
                ("neither", "Two neighbors that both send wait for each other forever.", False),
            ],
            solution="1F1B. A rank that has finished a forward pass sends it on while the next rank, which has finished a "
            "backward pass, sends its gradient back. Neither of them receives.",
        ),
        Question(
            "How many microbatches will the last rank store at most under ZB-H1, with {N_MB} microbatches on {N_stages} "
            "ranks?",
            answer=pipeline.zb_held,
            given={"N_stages": RANKS, "N_MB": MICROBATCHES, "i_stage": RANKS - 1},
            exact=True,
            predict=True,
            mistakes={
                "That is 1F1B, which needs a microbatch no longer after its backward pass.": pipeline.one_f_one_b_held,
                "A microbatch is released when its weight gradients are done.": N_MB,
            },
            hint="The last rank defers weight gradients by as many microbatches as ranks precede it.",
            solution="As many as there are ranks: the last rank runs ahead by none, but it defers the weight gradients of "
            "three microbatches, and works on a fourth.",
            fixed="the lab's own pipeline",
        ),
        Question(
            f"Four ranks run {MICROBATCHES} microbatches. The backward pass takes twice as long as the forward pass, and half "
            "of it is for the weights. Which step will be the shortest?",
            predict=True,
            given={"N_stages": RANKS, "N_MB": MICROBATCHES, "n_virt": 2, **PARTS},
            pick="smallest",
            choices=[
                ("1F1B", "It waits for the longest fill and drain.", pipeline.bubble_time.rhs),
                (
                    "interleaved 1F1B, two virtual stages",
                    "Virtual stages halve the bubble of 1F1B.",
                    pipeline.bubble_time.rhs / n_virt,
                ),
                ("ZB-H1", "Weight gradients fill two thirds of the bubble of 1F1B.", pipeline.zb_bubble.rhs),
                (
                    "interleaved zero bubble, two virtual stages",
                    "It has both: half of the bubble of ZB-H1.",
                    pipeline.interleaved_zb_bubble.rhs,
                ),
            ],
            solution="Interleaved zero bubble. Deferred weight gradients leave a third of the bubble of 1F1B, and two virtual "
            "stages halve that.",
        ),
        Question(
            "Suppose that messages carry no tags: a rank takes what arrives next from a neighbor. All messages have the same "
            "shape, so nothing fails. Which schedule computes wrong gradients?",
            predict=True,
            choices=[
                (
                    "1F1B",
                    "Between two of its ranks, one direction carries activations, the other gradients.",
                    PLAIN > 0,
                ),
                (
                    "interleaved 1F1B",
                    "Neighbors take its messages in the order in which they are sent.",
                    PLAIN > 0,
                ),
                (
                    "ZB-V",
                    "Two neighbors exchange messages of the path to the turn and of the path back.",
                    FOLDED > PLAIN,
                ),
                ("all of them", "Between two ranks of 1F1B, messages can't overtake each other.", False),
            ],
            solution="ZB-V. The same pair of ranks exchanges messages of both halves of the V, and the receiver needs some of "
            "them in a different order than they are sent.",
        ),
    ],
)
