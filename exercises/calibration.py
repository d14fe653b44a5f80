"""Practice questions on predicted and measured steps: MFU, GPU-hours, the constants of a run, and what a fit can tell."""

from dataclasses import replace

from gpuscale import chip, measured, model
from gpuscale.llm import memory_traffic, realistic_step, training_compute
from gpuscale.plan import load_calibration, read_runs, shipped
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import (
    HFU,
    MFU,
    N_MB,
    B_mb,
    C,
    L,
    M,
    N_gpu,
    N_stages,
    P,
    S,
    T,
    W_ref,
    Y,
    b,
    eta,
    eta_mat,
    flop,
    gamma_net,
    n_q,
    ops,
    ops_run,
    t_host,
)
from gpuscale.units import show

h100, ds = chip("h100_sxm"), model("deepseek_v3")
nanotron, megatron = (load_calibration(shipped(name)) for name in ("nanotron_h100", "megatron_a100"))
known = nanotron.constants
stages = {row["stage"]: row for row in measured("llama3_stages").rows}
step = training_compute.mfu_step_time.where(training_compute.training_flops, title="Time of a step from its MFU")
host_step = N_MB * L / N_stages * t_host
busy = t_host * eta_mat * C * Y * L / (6 * flop * P)
many = realistic_step.many_nodes
NODE = {"W_ref": 8 * h100.nic_bw, "eta": known["eta_net"], "gamma_net": known["gamma_net"]}
HOURS = measured("deepseek_v3_cost").row(stage="pre-training")["gpu_hours"]

# The layout in which the microbatch matters most, among the runs that a fit explains
alike = {}
for i, run in enumerate(read_runs(shipped("nanotron_h100").parent / "nanotron_h100.csv")):
    if i not in nanotron.far:
        alike.setdefault((run.model, run.gpus, replace(run.choice, micro=1)), {})[run.choice.micro] = run.seconds
SLOWER = max(sizes[1] / sizes[16] for sizes in alike.values() if {1, 16} <= sizes.keys())
WITHIN, BEYOND = (
    next(check.median for check in nanotron.checks if check.left_out == kind) for kind in ("128 GPUs", "512 GPUs")
)
FEWER, MORE = (stages[stage]["mfu"] for stage in ("8k GPUs", "16k GPUs"))
APART = 1.80 / 1.60  # the expected times of two plans, as the question says them

questions = QuestionSet(
    "calibration",
    "Predicted against measured step times",
    intro="Questions on reported and expected steps, and on the constants that lie between them.",
    chapter="calibration",
    questions=[
        Question(
            "A run recomputes every layer in the backward pass and reports {HFU:%} of the peak, recomputation "
            "included. What is its MFU? Leave attention out.",
            answer=training_compute.mfu_from_hfu.rhs.subs({ops: 6 * flop, ops_run: 8 * flop}),
            given=[{"HFU": 0.52}, {"HFU": 0.44}],
            unit="1",
            mistakes={
                "Recomputed FLOPs do not count for the model.": HFU + 0,
                "It is the other way around.": HFU * 8 / 6,
            },
            solution=[(HFU * 6 / 8, "the model needs 6 FLOPs per parameter per token, the GPUs do 8")],
        ),
        Question(
            "A run on {N_gpu} H100s reports an MFU of {MFU:%} in bf16. The model has {P_act} active parameters, and a "
            "step has {B:count} tokens. How long does a step take? Leave attention out.",
            answer=step,
            unit="s",
            given=[
                {"N_gpu": 8192, "MFU": FEWER, "P_act": 405e9, "B": 2**24, "C": h100.bf16},
                {"N_gpu": 16384, "MFU": MORE, "P_act": 405e9, "B": 2**24, "C": h100.bf16},
            ],
            mistakes={
                "That is at the peak rate; the run reaches only a fraction of it, the MFU.": step.rhs * MFU,
                "That is the forward pass alone; the backward pass costs twice as much again.": step.rhs / 3,
            },
            hint="The hardware tables have the dense bf16 peak of an H100.",
        ),
        Question(
            "DeepSeek-V3's report gives the GPU-hours of its pre-training, and so does a table of the hardware page. The run "
            "had {N_gpu} H800s. How long did the pre-training take?",
            answer=T / N_gpu,
            unit="days",
            given={"T": HOURS * 3600, "N_gpu": ds.train_gpus},
            mistakes={"That is on a single GPU.": T},
            hint="Take pre-training alone, without the extension of the context and post-training.",
            fixed="a published run",
        ),
        Question(
            "nanotron trains a model of {L} layers on H100s, in {N_stages} stages inside a node. A pipeline gets {N_MB} "
            "microbatches per step. Its host needs the time per layer that the fit found. How long does a step take at "
            "least, without the bubble?",
            answer=host_step,
            unit="s",
            given=[
                {"L": 16, "N_stages": 4, "N_MB": 256, "t_host": known["t_host"]},
                {"L": 32, "N_stages": 8, "N_MB": 128, "t_host": known["t_host"]},
            ],
            mistakes={
                "A stage has only some of the layers.": N_MB * L * t_host,
                "That is one microbatch.": L / N_stages * t_host,
            },
            solution=[
                (L / N_stages * t_host, "the host's time for a microbatch in a stage"),
                (host_step, "for all microbatches"),
            ],
            remark="Larger microbatches are fewer: with the same batch, the host's time shrinks in proportion.",
        ),
        Question(
            "How many tokens must a microbatch have, so that an H100 computes as long on a layer as nanotron's host needs "
            "for it? The model has {P} parameters in {L} layers, and {Y}-way tensor parallelism. Take the fitted fraction "
            "of the peak for matmuls, and leave attention and other kernels out.",
            answer=busy,
            unit="1",
            given=[
                {"P": 8e9, "L": 32, "Y": 2, "C": h100.bf16, "t_host": known["t_host"], "eta_mat": known["eta_mat"]},
                {"P": 70e9, "L": 80, "Y": 8, "C": h100.bf16, "t_host": known["t_host"], "eta_mat": known["eta_mat"]},
            ],
            tolerance=0.03,
            mistakes={
                "That is without tensor parallelism: each GPU computes only a Y-th of the layer.": busy / Y,
                "The matmuls reach only a fraction of the peak.": busy / eta_mat,
                "That is the forward pass alone; the host's time is for both passes.": 3 * busy,
            },
            solution=[
                (6 * flop * P / L * B_mb / (eta_mat * C * Y), "the time of a layer's matmuls, both passes"),
                (busy, "as long as the host, solved for the tokens"),
            ],
        ),
        Question(
            "By nanotron's fitted constants, how much of the network's bandwidth do the collectives of a run on {M} nodes "
            "of eight H100s reach per node?",
            answer=many,
            given=[NODE | {"M": 64}, NODE | {"M": 16}],
            unit="B/s",
            tolerance=0.03,
            mistakes={
                "That is on two nodes; with more nodes it falls.": eta * W_ref,
                "The exponent counts from two nodes, not from one.": eta * W_ref * M ** (-gamma_net),
            },
            hint="The table of constants has the fraction on two nodes, and the exponent.",
        ),
        Question(
            "A GPT with {n_q:count} heads trains without fused attention, on sequences of {S:count} tokens. Softmax "
            "reads each score and writes a weight, {b} each. Dropout reads the weight, writes the result, and writes "
            "{b_mask} of mask. How many bytes do both move per token per layer, forward?",
            answer=memory_traffic.scores_forward,
            given=[
                {"n_q": 96, "S": 2048, "b": 2, "b_mask": 1},
                {"n_q": 32, "S": 8192, "b": 2, "b_mask": 1},
            ],
            unit="B",
            mistakes={
                "Each kernel reads an array and writes one, so the weights go through memory between the two.": memory_traffic.scores_forward.rhs
                - 2 * b * n_q * S,
                "That is one head.": memory_traffic.scores_forward.rhs / n_q,
                "The mask is written, too.": 4 * b * n_q * S,
            },
            solution=[
                (n_q * S, "scores per token"),
                (memory_traffic.scores_forward.rhs, "each read twice and written twice, and its mask written"),
            ],
            remark="Fused attention keeps the scores of a tile on the chip and writes none of them.",
        ),
        Question(
            "The planner expects 1.60 s for one plan and 1.80 s for another. Which of the two calibrations that come with "
            "the library would tell you which plan is faster, if it fitted your cluster?",
            choices=[
                ("both", "For one of them, plans so close are a tie.", bool(APART > nanotron.tie)),
                (
                    "Megatron-LM's alone",
                    "The times are farther apart than its factor for ties, and closer than nanotron's.",
                    bool(megatron.tie < APART < nanotron.tie),
                ),
                (
                    "nanotron's alone",
                    "Its factor for ties is the larger one.",
                    bool(nanotron.tie < APART < megatron.tie),
                ),
                ("neither", "For one of them, the times are far enough apart.", bool(APART < megatron.tie)),
            ],
            solution=f"The times differ by a factor of {show(APART, '1')}. Plans closer than {show(megatron.tie, '1')} are a tie "
            f"for Megatron-LM, and plans closer than {show(nanotron.tie, '1')} for nanotron.",
        ),
        Question(
            "nanotron trained one model on 32 GPUs, with the same batch and the same degrees, once with one sequence per "
            "microbatch and once with 16. By the bound, one sequence is slightly faster. What was measured?",
            predict=True,
            choices=[
                ("one sequence is slightly faster", "That is the bound, which leaves out the host.", bool(SLOWER < 1)),
                (
                    "one sequence takes about twice as long",
                    "The effect is much larger: the GPUs wait for the host most of the time.",
                    bool(1 < SLOWER < 5),
                ),
                (
                    "one sequence takes more than ten times as long",
                    "With one sequence there are 16 times as many microbatches, each with about the same work for the host.",
                    bool(SLOWER > 10),
                ),
            ],
            solution=f"One sequence takes {show(SLOWER, '1')} times as long. The host needs the same time for a layer of a "
            "microbatch, whatever its size. That alone makes 16 times as many microbatches take up to 16 times as long.",
        ),
        Question(
            f"On 8,192 GPUs, Meta reports an MFU of {show(FEWER, '%', digits=2)} for Llama 3 405B. It then trained with the same "
            "batch on twice as many GPUs. Which MFU did it report there?",
            predict=True,
            choices=[
                (
                    "as much as before",
                    "Each pipeline gets half as many microbatches, so the bubble and the exposed transfers grow.",
                    bool(MORE > FEWER - 0.005),
                ),
                (
                    "a little less",
                    "The bubble and the exposed transfers are a larger part of a shorter step.",
                    bool(0.9 * FEWER < MORE < FEWER - 0.005),
                ),
                ("about half", "The bubble grows, but it's only a part of the step.", bool(MORE < 0.6 * FEWER)),
            ],
            solution=f"{show(MORE, '%', digits=2)}. Each pipeline gets half as many microbatches, so its bubble is a larger part of "
            "the step. Meta's pipeline is interleaved, so even then the bubble is short.",
        ),
        Question(
            f"Constants are fitted to all runs except those on 128 GPUs, and the median error there is "
            f"{show(WITHIN, '%', digits=2)}. Now they are fitted to all runs except those on 512 GPUs, the most of all. What "
            "happens to the median error on these?",
            predict=True,
            choices=[
                (
                    "it is smaller",
                    "More GPUs per run do not make more runs, and none of the fitted runs was that large.",
                    bool(BEYOND < 0.8 * WITHIN),
                ),
                (
                    "it is about the same",
                    "128 GPUs are between numbers that were measured; 512 are beyond them.",
                    bool(0.8 * WITHIN <= BEYOND <= 1.2 * WITHIN),
                ),
                (
                    "it is larger",
                    "The fit has to extrapolate what grows with the cluster, such as the loss of network bandwidth.",
                    bool(BEYOND > 1.2 * WITHIN),
                ),
            ],
            solution=f"It is larger, {show(BEYOND, '%', digits=2)}. The fit has to extrapolate what grows with the cluster, such as "
            "the loss of network bandwidth.",
        ),
    ],
)
