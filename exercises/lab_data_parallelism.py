"""Practice questions of the lab on data parallelism and ZeRO from scratch."""

from math import log

from sympy import Eq, ceiling

from gpuscale import model
from gpuscale.llm import data_parallel, fsdp_padding
from gpuscale.quiz import Question, QuestionSet
from gpuscale.schedules.timelines import buckets
from gpuscale.symbols import N_MB, N, P, V, V_bucket, X, b_grad, b_w, n_rows
from gpuscale.units import MiB, show

LAYERS = ((64, 256), (256, 256), (256, 256), (256, 16))  # inputs and outputs of the lab's network
PARAMETERS = sum(inputs * outputs + outputs for inputs, outputs in LAYERS)
BYTES = 4 * PARAMETERS
CLASSES = LAYERS[-1][1]
llama = model("llama3_8b")

# Gradients of a layer of Llama 3 8B, in the order of the backward pass: bytes of each tensor in bf16
D, F, KV = llama.d_model, llama.d_ff, llama.d_model * llama.kv_heads // llama.heads
TENSORS = [2 * size for size in (F * D, D * F, D * F, D, D * D, KV * D, KV * D, D * D, D)]
CLOSED = len(buckets.capped([(0, int(size)) for size in TENSORS], 25 * MiB, 25 * MiB)) - 1  # the rest waits for more

questions = QuestionSet(
    "lab_data_parallelism",
    "Lab: data parallelism and ZeRO from scratch",
    intro="Questions on what ranks store and send in the lab, and on what PyTorch's own tools do differently.",
    chapter="lab_data_parallelism",
    questions=[
        Question(
            "The lab's network has {P} parameters in fp32. It runs {N_MB} microbatches per step on {X} ranks and updates "
            "once. How many bytes does a rank send per step under ZeRO-2?",
            answer=(N_MB * b_grad + b_w) * P * (X - 1) / X,
            given=[
                {"P": PARAMETERS, "N_MB": 4, "X": 4, "b_w": 4, "b_grad": 4},
                {"P": PARAMETERS, "N_MB": 8, "X": 4, "b_w": 4, "b_grad": 4},
            ],
            mistakes={
                "That is one reduce-scatter per step. Where would a rank keep the sum of the microbatches?": (
                    data_parallel.zero2_traffic
                ),
                "The weights are gathered once per step, not after every microbatch.": N_MB
                * data_parallel.zero2_traffic.rhs,
            },
            hint="Under ZeRO-2 a rank has room for one shard of the gradients. How often does it reduce-scatter?",
            solution=[
                (N_MB * b_grad * P * (X - 1) / X, "one reduce-scatter per microbatch, as no rank has a whole gradient"),
                ((N_MB * b_grad + b_w) * P * (X - 1) / X, "and one all-gather of the new weights"),
            ],
        ),
        Question(
            "A matrix of {n_rows} rows is sharded by rows with FSDP2 on {N} ranks. By what factor does padding enlarge "
            "what a rank sends?",
            answer=fsdp_padding,
            given=[{"n_rows": 1000, "N": 64}, {"n_rows": 96, "N": 64}],
            tolerance=0.005,
            mistakes={"That is the fraction of the bytes that is not padding.": 1 / fsdp_padding.rhs},
            hint="Each shard has as many rows as the fullest one.",
        ),
        Question(
            "`DistributedDataParallel` trains Llama 3 8B in bf16 with buckets of 25 MiB. A bucket is closed as soon as it "
            "holds that much, and a tensor is never split. How many all-reduces begin in the backward pass of one layer?",
            choices=[
                ("1", "A single matrix of the MLP is larger than 25 MiB.", False),
                (str(CLOSED), "Go from the end of the layer to its start.", CLOSED == 5),
                ("9", "The norms and the matrices of keys and values are smaller than a bucket.", False),
                ("16", "A tensor is never split.", False),
            ],
            hint="A layer has seven matrices and two norms. The table of models has their widths.",
            solution=f"{CLOSED}. Each MLP matrix has {show(TENSORS[0], 'MiB')} and fills a bucket alone. The output matrix "
            f"of the attention, with {show(TENSORS[4], 'MiB')}, takes the norm before the MLP along. The query matrix is as "
            f"large, and closes the last bucket. The small matrices for keys and values share it.",
        ),
        Question(
            "A language model uses its embedding matrix a second time as its output head (tied embeddings). When is the "
            "gradient of this matrix ready to be sent?",
            choices=[
                ("first of all", "The head's part is ready first, but the embedding adds to it.", False),
                ("last of all", "The hook runs when all parts have been added up.", True),
                ("twice", "The hook runs once, when the gradient is complete.", False),
            ],
            solution="Last of all: the embedding's part arrives at the very end of the backward pass. So the largest matrix "
            "of a small language model has nothing to overlap with.",
        ),
        Question(
            "`run(ddp, ranks=7)` ends at a loss that differs from the reference in the third digit. Rounding can't do that. "
            "What happened?",
            choices=[
                (
                    "the ring needs an even number of ranks",
                    "A ring works with any number of ranks.",
                    False,
                ),
                (
                    "the last rank has fewer rows, and its average counts as much as the others'",
                    "`chunk(7)` of 120 rows gives six ranks 18 rows each and the last one 12.",
                    True,
                ),
                ("seven buckets do not fit into 25 MiB", "The number of buckets changes no sum.", False),
            ],
            solution="The parts are unequal. Let each rank compute the sum of its losses times the number of ranks, divided "
            "by all rows; the average over ranks is then the gradient of the whole batch.",
        ),
        Question(
            f"The network has just been initialized and gives all {CLASSES} classes about the same probability. Which loss do "
            "you expect at the first step?",
            predict=True,
            choices=[
                ("0", "That would be a perfect prediction.", False),
                (
                    f"1/{CLASSES}",
                    "That is the probability of the right class; the loss is its negative logarithm.",
                    False,
                ),
                (
                    show(log(CLASSES), "1"),
                    f"The right class has a probability of about 1/{CLASSES}.",
                    True,
                ),
            ],
            solution=f"${{-\\ln(1/{CLASSES})}} = \\ln {CLASSES}$, about {show(log(CLASSES), '1')}.",
        ),
        Question(
            "Suppose that the ranks forget to divide the summed gradient by four. What happens to the losses?",
            predict=True,
            choices=[
                (
                    "SGD behaves as with four times the learning rate; Adam hardly changes",
                    "SGD's step is proportional to the gradient; Adam divides by its size.",
                    True,
                ),
                (
                    "both behave as with four times the learning rate",
                    "Adam divides the gradient by its own size.",
                    False,
                ),
                ("nothing changes", "SGD's step is proportional to the gradient.", False),
            ],
            solution="SGD behaves as with four times the learning rate. Adam divides its averaged gradient by the root of "
            "its averaged square, so a common factor cancels.",
        ),
        Question(
            f"Our gradients take {show(BYTES, 'MB')}. With our `Buckets` and a size of 25 MiB, how many all-reduces begin "
            "before the backward pass has ended?",
            predict=True,
            given={"V": BYTES, "V_bucket": 25 * MiB},
            choices=[
                ("0", "The only bucket is complete when the last gradient is ready.", Eq(ceiling(V / V_bucket), 1)),
                ("1", "A bucket leaves when it is complete.", ceiling(V / V_bucket) > 1),
                ("8", "That is one per tensor.", ceiling(V / V_bucket) > 2),
            ],
            solution="None. All gradients fill one bucket, and it is complete only when the very last gradient is ready.",
        ),
        Question(
            f"The last matrix has {CLASSES} rows. How many of them does each of five ranks store under FSDP2?",
            predict=True,
            given={"n_rows": CLASSES, "N": 5},
            choices=[
                ("3.2", "A shard is a block of whole rows.", Eq(ceiling(n_rows / N), n_rows / N)),
                (
                    "4, 3, 3, 3, 3",
                    "That would be the most even way. FSDP2 fills one shard after the other.",
                    n_rows < N,
                ),
                (
                    "4, 4, 4, 4, 0",
                    "Shards of four rows, until none are left.",
                    Eq(ceiling(n_rows / N) * (N - 1), n_rows),
                ),
            ],
            solution="4, 4, 4, 4 and 0. FSDP2 divides like `torch.chunk`. Every rank still sends and receives a shard of four "
            "rows, so the five ranks gather 20 rows instead of 16.",
        ),
        Question(
            "In ZeRO-1, only one rank has the Adam moments of a chunk, so only this rank can update the chunk. An all-reduce "
            "is a reduce-scatter and an all-gather. How does ZeRO-1 change it?",
            predict=True,
            given={"b_w": 4, "b_grad": 4},
            choices=[
                (
                    "the all-gather sends new weights instead of summed gradients, and as many bytes",
                    "The rank that updates a chunk needs its summed gradient; the others need its new weights.",
                    Eq(b_w, b_grad),
                ),
                (
                    "the reduce-scatter sends Adam's moments instead of gradients, and twice as many bytes",
                    "Moments stay on the rank that uses them.",
                    False,
                ),
                (
                    "an all-gather of the new weights comes on top of both halves",
                    "The other ranks no longer need the summed gradient of a chunk that they don't update.",
                    False,
                ),
            ],
            solution="The reduce-scatter stays: it gives each rank the summed gradient of its chunk. The rank updates the "
            "chunk, and the all-gather sends the new weights. In fp32 they have as many bytes as the gradients.",
        ),
    ],
)
