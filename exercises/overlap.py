"""Practice questions on overlap."""

from sympy import Min, sqrt

from gpuscale import chip, measured, model
from gpuscale.collectives import ring_all_reduce, ring_all_reduce_steps
from gpuscale.llm import context_parallel, counts, data_parallel, overlap, tensor_parallel
from gpuscale.quiz import Question, QuestionSet
from gpuscale.schedules.timelines import buckets
from gpuscale.symbols import (
    C,
    L_stage,
    T_bucket,
    T_comms,
    T_math,
    W,
    Y,
    alpha,
    b,
    b_grad,
    flop,
    g_slow,
    n_bucket,
    n_steps,
    r_comm,
)
from gpuscale.units import MiB, ms, show, us

h100, b200 = chip("h100_sxm"), chip("b200_sxm")
llama, small = counts("llama3_70b"), counts("llama3_8b")
node_bw = 8 * h100.nic_bw
dp, tp, pp = overlap.dp_ratio, overlap.tp_ratio, overlap.pp_ratio

# A backward pass of Llama 3 8B on 64 H100s, as in the chapter
tokens = 4096
back = data_parallel.dp_math(B=tokens * 64, X=64, C=h100.bf16, D=1, F=small.P_act, n_mat=1)
grads = 2 * small.P
many = overlap.bucket_count(V=grads, V_bucket=25 * MiB)
bytes_alone = ring_all_reduce(V=grads / many, N=64, alpha=0, W=node_bw)
waits = ring_all_reduce_steps(N=64) * 5 * us
filled = back / many
queued = overlap.bucketed_exposed(T_math=back, T_bucket=bytes_alone + waits, n_bucket=many)

# The all-gather of ZeRO-3, and the MLP of Llama 3 70B on a node
gather = overlap.zero3_forward_ratio(b_w=2, B_gpu=tokens, X=64, C=h100.bf16, W=node_bw)
halved = overlap.zero3_forward_ratio(b_w=2, B_gpu=tokens / 2, X=64, C=h100.bf16, W=node_bw)
mlp = {"F": llama.inputs["F"], "n_mat": 3, "Y": 8, "b": 2, "C": h100.bf16, "W": h100.nvlink_bw}
beside = tp(**mlp)
lost = 1 - tensor_parallel.tp_efficiency(**mlp)

# One wave of tiles next to an all-gather, in milliseconds
wave = {"count": h100.sm, "sms": h100.sm, "busy": 24, "each": 1, "until": 0.8}
together = float(buckets.tiles_done(**wave))
spread = overlap.slowed_time(T_math=1, T_comms=0.8, g_slow=overlap.sm_slowdown(n_sm=h100.sm, n_comm=24))

two_nodes = {row["size"]: row["time_infiniband"] for row in measured("allreduce_h100_2_nodes").rows}
filling = {size: back / overlap.bucket_count(V=grads, V_bucket=size) for size in (32 * MiB, 64 * MiB)}

questions = QuestionSet(
    "overlap",
    "Overlap",
    intro="Questions on which communication can be hidden behind arithmetic, and how much stays exposed.",
    chapter="overlap",
    questions=[
        Question(
            "A communication takes {T_comms}; arithmetic that does not depend on it takes {T_math}. How long do both "
            "take when they overlap fully?",
            answer=overlap.overlapped_time,
            given=[{"T_math": 8 * ms, "T_comms": 6 * ms}, {"T_math": 5 * ms, "T_comms": 9 * ms}],
            mistakes={
                "That is one after the other.": overlap.serial_time,
                "That is the shorter of the two, and the longer one sets the time.": Min(T_math, T_comms),
            },
        ),
        Question(
            "The ratio of communication to arithmetic is {r_comm}. By what factor does full overlap shorten the step?",
            answer=overlap.overlap_gain,
            given=[{"r_comm": 3}, {"r_comm": 2}],
            mistakes={
                "The step never gets shorter than the longer of the two.": 1 + r_comm,
                "The gain is not the ratio itself.": r_comm + 0,
            },
            remark="A ratio and its inverse give the same gain, but with the larger one the GPU waits.",
        ),
        Question(
            "Data parallelism over {X} H100s across nodes, with bf16 gradients and {B_gpu} tokens per GPU. What is the "
            "ratio of the all-reduce to the backward pass?",
            answer=dp,
            given={"X": 64, "B_gpu": 4096, "b_grad": 2, "C": h100.bf16, "W": node_bw},
            mistakes={
                "That counts elements as if each were one byte.": dp.rhs / b_grad,
                "That is twice as much: gradients in bf16 have two bytes, and the backward pass has four FLOPs.": (
                    dp.rhs * 2
                ),
            },
            hint="The table of links has the bandwidth of all NICs of a node, and the hardware tables the peak.",
        ),
        Question(
            "At how many tokens per GPU does ZeRO-3's forward pass just hide its all-gathers, for very many GPUs? Use "
            "the peak $C$, the bandwidth $W$ and weights of $b$ bytes.",
            answer=b * C / (2 * flop * W),
            unit="1",
            symbols=(b, C, W),
            mistakes={
                "You divide bytes by bytes per second: b is missing.": C / (2 * flop * W),
                "The forward pass has 2 FLOPs per parameter per token.": b * C / (6 * flop * W),
            },
            solution=[
                (b * C / (2 * flop * W), "b P/W for the bytes equals 2 P FLOPs per token over C; P cancels"),
            ],
        ),
        Question(
            "The MLP of Llama 3 70B is sharded over {Y} H100s with NVLink, in bf16. What is the ratio of its "
            "communication to its arithmetic in the forward pass?",
            answer=tp,
            given=mlp,
            mistakes={
                "The MLP has a gate, so there are three matrices.": {"n_mat": 2},
                "A GPU holds its own shard already: Y - 1.": tp.rhs * Y / (Y - 1),
                "That counts elements as if each were one byte.": {"b": 1},
            },
            hint="The table of models has the width F, and an MLP with a gate has three matrices.",
        ),
        Question(
            "You double the tokens of a batch. What happens to the ratio of tensor parallelism?",
            choices=[
                ("it stays the same", "Activations and arithmetic both double.", True),
                ("it halves", "That is data parallelism: its gradients do not grow with the tokens.", False),
                ("it doubles", "The bytes double, but so does the arithmetic.", False),
            ],
        ),
        Question(
            "Llama 3 70B runs in pipeline stages of {L_stage} layers, in bf16, and each H100 sends through its own NIC. "
            "What is the ratio of a transfer between stages to a stage's forward pass?",
            answer=pp,
            given={
                "L_stage": 10,
                "P_layer": llama.P_layer,
                "D": llama.inputs["D"],
                "b": 2,
                "C": h100.bf16,
                "W": h100.nic_bw,
            },
            mistakes={
                "That counts elements as if each were one byte.": {"b": 1},
                "That is for a stage of one layer.": pp.rhs * L_stage,
                "A forward pass has 2 FLOPs per parameter per token.": pp.rhs * 2,
            },
            hint="A layer has attention and MLP matrices; the table of models gives their sizes.",
            remark="Even one layer takes several times as long as its transfer.",
        ),
        Question(
            r'Find the error. "$t_\mathrm{comm} = 16 h^2 (\mathrm{DP} - 1)/(\mathrm{DP}\,W)$ and '
            r"$t_\mathrm{compute} = 32 s h^2/C$, so the ratio is "
            r'$(\mathrm{DP} - 1)\,C/(2 s\,\mathrm{DP}\,W)$." '
            "With {B_gpu} tokens $s$ per GPU, {X} GPUs and bf16, what is the true ratio on H100 nodes?",
            answer=overlap.zero3_forward_ratio,
            given={"B_gpu": 4096, "X": 512, "b_w": 2, "C": h100.bf16, "W": node_bw},
            mistakes={
                "That is the quoted one: its sizes are in elements, W is in bytes.": {"b_w": 1},
                "Weights in bf16 have two bytes.": {"b_w": 4},
            },
            hint="Check the units of the first quotient, then put in the bandwidth of all NICs of a node.",
            remark="The unit of the quoted ratio is one over bytes: checking units finds it.",
        ),
        Question(
            "A backward pass of {T_math} produces its gradients in {n_bucket} equal buckets; the all-reduce of each "
            "takes {T_bucket}. How much communication is exposed?",
            answer=overlap.bucketed_exposed,
            given=[
                {"T_math": 100 * ms, "n_bucket": 50, "T_bucket": 1.5 * ms},
                {"T_math": 60 * ms, "n_bucket": 20, "T_bucket": 4 * ms},
            ],
            mistakes={
                "That is all of the communication; most of it runs next to the backward pass.": n_bucket * T_bucket,
                "Communication starts only when the first bucket is full.": overlap.exposed_time.where(
                    T_comms=n_bucket * T_bucket
                ),
            },
        ),
        Question(
            "Every all-reduce of a bucket takes {n_steps} steps with a latency of {alpha} each. All gradients at full "
            "bandwidth take {T_comms}, and the backward pass takes {T_math}. How many buckets expose least?",
            answer=overlap.best_buckets,
            given={"alpha": 5 * us, "n_steps": 126, "T_comms": 80 * ms, "T_math": 130 * ms},
            mistakes={
                "That is where the queue is shortest; here the bytes fit with room to spare.": (
                    sqrt(T_math / (n_steps * alpha))
                ),
                "The bytes themselves need time too.": T_math / (n_steps * alpha),
            },
            tolerance=0.02,
        ),
        Question(
            "Communication occupies {n_comm} SMs of an H100. A matmul of {n_tiles} equal tiles runs next to it, one "
            "tile per SM at a time. By what factor is it slower?",
            answer=overlap.wave_slowdown,
            given=[
                {"n_comm": 20, "n_sm": h100.sm, "n_tiles": 264},
                {"n_comm": 24, "n_sm": h100.sm, "n_tiles": 132},
            ],
            mistakes={"Tiles do not spread evenly: count the waves.": overlap.sm_slowdown},
            hint="How many tiles can run at once, with and without the communication?",
        ),
        Question(
            "A step has {T_math} of arithmetic and {T_comms} of communication next to it. While the communication "
            "lasts, the arithmetic is slower by a factor of {g_slow}. How long is the step?",
            answer=overlap.slowed_time,
            given={"T_math": 10 * ms, "T_comms": 6 * ms, "g_slow": 1.2},
            mistakes={
                "The arithmetic is slower only while the communication runs.": T_math * g_slow,
                "That is overlap without any slowdown.": overlap.overlapped_time,
                "That is one after the other.": overlap.serial_time,
            },
        ),
        Question(
            "Your step spends half as long on the gradient all-reduce as on the backward pass, and nothing overlaps yet. "
            "You double the number of GPUs at the same batch. What should you do?",
            choices=[
                (
                    "overlap: the ratio becomes one, and everything is still just hidden",
                    "Half the tokens per GPU double the ratio from a half to one.",
                    True,
                ),
                (
                    "buy a faster network first: the ratio will be two",
                    "Gradients keep their size; only the arithmetic of each GPU halves.",
                    False,
                ),
                (
                    "nothing: gradients shrink with the number of GPUs",
                    "Each GPU sends twice its gradients, however many take part.",
                    False,
                ),
            ],
        ),
        Question(
            f"With {tokens:,} tokens per GPU, the all-gather in the figure takes {show(gather, '%', digits=2)} as long "
            "as the arithmetic. You halve the batch. What fraction of the all-gather is exposed now?",
            predict=True,
            choices=[
                ("none", "That holds only as long as the ratio stays below one.", halved <= 1),
                (show(1 - 1 / halved, "%", digits=2), "The ratio doubles.", halved > 1),
                (show(gather, "%", digits=2), "That is the ratio before.", False),
            ],
            solution=f"{show(1 - 1 / halved, '%', digits=2)}. Half the tokens mean half the arithmetic, but the weights are as large as "
            f"before. So the ratio doubles to {show(halved, '1')}, and one minus its inverse is exposed.",
        ),
        Question(
            f"In the MLP of Llama 3 70B on eight H100s, the collectives take {show(beside, '%', digits=2)} as long as the matmuls, "
            "and they run in sequence. What fraction of the MLP's time is exposed communication?",
            predict=True,
            choices=[
                ("none: the ratio is far below one", "The ratio is small, yet each step needs the one before.", False),
                (show(lost, "%", digits=2), "The time is matmuls plus communication.", True),
                (show(beside, "%", digits=2), "That is the fraction of the matmul time, not of the whole time.", False),
            ],
            solution=f"{show(lost, '%', digits=2)}. The ratio is far below one, yet nothing is hidden. The MLP takes "
            f"{show(1 + beside, '1')} times as long as its matmuls.",
        ),
        Question(
            f"Llama 3 8B runs on 64 H100s, with {tokens:,} tokens each. Its gradients form {many:.0f} buckets of 25 MiB. The "
            f"backward pass fills one every {show(filled, 's')}. The all-reduce of one takes {show(bytes_alone + waits, 's')} in a "
            "flat ring, mostly latency. How much communication is exposed?",
            predict=True,
            choices=[
                (
                    f"about {show(bytes_alone + waits, 's', digits=1)}: the last bucket",
                    "That is right if buckets keep up.",
                    bytes_alone + waits <= filled,
                ),
                (
                    f"about {show(many * (bytes_alone + waits), 's', digits=3)}: all of it",
                    "Some of it runs next to the backward pass.",
                    False,
                ),
                (
                    f"about {show(queued, 's', digits=3)}: the buckets queue",
                    "Each all-reduce takes longer than a bucket needs to fill.",
                    bytes_alone + waits > filled,
                ),
            ],
            solution=f"{show(queued, 's')}, {show(queued / back, '1', digits=2)} times the whole backward pass. During each all-reduce, almost four "
            f"more buckets fill, so the queue grows to the end. Without the latency of {show(waits, 's')}, the buckets would keep up.",
        ),
        Question(
            f"A matmul of {h100.sm:.0f} equal tiles, one per SM, takes 1 ms. An all-gather of 0.8 ms occupies 24 SMs. Both "
            "start together. When are they done?",
            predict=True,
            choices=[
                ("after 1 ms", "24 tiles do not find a free SM.", False),
                (f"after {show(spread, '1')} ms", "That is right if arithmetic spreads evenly over the SMs.", False),
                (f"after {show(together, '1')} ms", "24 tiles wait until the all-gather ends.", together > spread),
            ],
            solution=f"After {show(together, '1')} ms. At first, only 108 tiles find a free SM. The other 24 wait until the all-gather ends, and "
            f"then need a full millisecond. That makes the sum of both times, so overlap has gained nothing. The formula above says {show(spread, '1')} ms because "
            "it spreads the arithmetic evenly over the SMs.",
        ),
        Question(
            "You may take out one thing: wait A, wait B, or the line `with torch.cuda.stream(comm)`. After "
            "which change is the result still correct?",
            predict=True,
            choices=[
                (
                    "A: the wait before the all-reduce",
                    "Then the all-reduce may send gradients that aren't finished.",
                    False,
                ),
                (
                    "B: the wait before the optimizer",
                    "Then the optimizer may read gradients that aren't summed yet.",
                    False,
                ),
                (
                    "C: the line `with torch.cuda.stream(comm)`",
                    "One queue runs in order, so nothing overlaps and nothing breaks.",
                    True,
                ),
            ],
            solution="Without the line `with`. The all-reduce then enters the compute queue, which runs in order: correct, but nothing "
            "overlaps. Without A or B, the result can be wrong, and no error is raised.",
        ),
        Question(
            "Llama 3 8B trains data-parallel on {X} B200s in nodes of eight, with {B_gpu} tokens per GPU and bf16 gradients. What is the "
            "ratio of the all-reduce of a layer's gradients to its backward pass?",
            answer=dp,
            given={"X": 1024, "B_gpu": 4096, "b_grad": 2, "C": b200.bf16, "W": 8 * b200.nic_bw},
            hint="A B200 has the NIC of an H100, and more than twice its peak.",
            mistakes={"That is the peak of an H100.": {"C": h100.bf16}, "A node has eight NICs.": {"W": b200.nic_bw}},
            remark="On B200 nodes, data parallelism needs more than twice the tokens, because the NICs are no faster.",
        ),
        Question(
            "A run on 128 H100 nodes uses ZeRO-3 and 16 microbatches of {B_gpu} tokens per GPU. What fraction of each "
            "all-gather of the forward pass is exposed?",
            answer=overlap.exposed_fraction.where(overlap.zero3_forward_ratio),
            unit="%",
            given={"B_gpu": 1024, "X": 1024, "b_w": 2, "C": h100.bf16, "W": node_bw},
            hint="How many tokens share one all-gather of the weights?",
            mistakes={
                "The microbatches do not share one gather: the weights are gathered for each of them.": {
                    "B_gpu": 16 * 1024 / 8
                },
            },
            remark="With four microbatches of four times the tokens the gathers are hidden, if the activations fit.",
        ),
        Question(
            'Find the error. "Our matmul has 264 equal tiles. An all-reduce next to it takes {n_comm} SMs of the H100, 15% of them. So the '
            'matmul takes 15% longer." By what factor is it slower, tile by tile?',
            answer=overlap.wave_slowdown,
            given={"n_comm": 20, "n_sm": h100.sm, "n_tiles": 264},
            hint="How many waves are there with and without the all-reduce?",
            mistakes={
                "That is right for perfectly even work; tiles come in waves.": overlap.sm_slowdown,
            },
        ),
        Question(
            "Llama 3 8B runs on two H100 nodes with 4,096 tokens per GPU. Over InfiniBand, which buckets keep up: 32 MiB "
            "or 64 MiB? The hardware tables have the measured all-reduces of two nodes.",
            hint="The backward pass takes as long on any number of GPUs. Divide it by the number of buckets.",
            choices=[
                ("both", "The smaller bucket pays the latency more often.", two_nodes[32 * MiB] <= filling[32 * MiB]),
                (
                    "only 64 MiB",
                    "Its all-reduce ends before the next bucket is full.",
                    two_nodes[32 * MiB] > filling[32 * MiB] and two_nodes[64 * MiB] <= filling[64 * MiB],
                ),
                (
                    "neither",
                    "The larger bucket is filled more slowly than it is reduced.",
                    two_nodes[64 * MiB] > filling[64 * MiB],
                ),
            ],
        ),
        Question(
            "Ring attention runs across H100 nodes, and each GPU sends through its own NIC. How many tokens per GPU hide it in "
            "GPT-3 175B, in bf16?",
            answer=context_parallel.ring_attention_limit,
            given={
                "b": 2,
                "C": h100.bf16,
                "n_kv": model("gpt3_175b").kv_heads,
                "n_q": model("gpt3_175b").heads,
                "W": h100.nic_bw,
            },
            noun="tokens",
            hint="Compare query heads and key-value heads in the table of models.",
            mistakes={"GPT-3 has a key-value head for each query head.": {"n_kv": model("gpt3_175b").heads / 8}},
            remark="In Llama 3 70B, eight query heads share each key and value that is sent.",
        ),
    ],
)
