"""Practice questions on the roofline, and the predictions of its chapter."""

from gpuscale import chip, measured, model, show
from gpuscale.core import evaluate
from gpuscale.one_gpu import roofline
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, B_rule, C, D, F, I_ridge, W_hbm, W_ref, alpha, b, b_w, flop, n

h100, h200, b200, gb200 = (chip(k) for k in ("h100_sxm", "h200_sxm", "b200_sxm", "gb200"))
I_H100, I_H200 = (roofline.ridge_point(C=c.bf16, W_hbm=c.hbm_bw) for c in (h100, h200))
RULE_H100 = roofline.rule_batch(I_ridge=I_H100, b_w=2)
short, long = measured("vector_add_h100").rows
best = measured("mamf_bf16").row(part="h100_sxm")["measured"]
math, traffic = roofline.matmul_math_time.rhs, roofline.matmul_memory_time.rhs
stream = 3 * b * n / W_hbm
LAYER = {"D": model("llama3_8b").d_model, "F": model("llama3_8b").d_ff}  # the example of the chapter
LARGE = {"D": model("llama3_70b").d_model, "F": model("llama3_70b").d_ff}
BYTES = {"b": 2, "b_w": 2}
on_h100, on_b200 = (BYTES | {"C": c.bf16, "W_hbm": c.hbm_bw} for c in (h100, b200))
exact = B_rule * D * F / (D * F - B_rule * (D + F))
launch = short["time"] - evaluate(stream, b=4, n=short["n"], W_hbm=h100.hbm_bw)


def layer_time(rows):
    return roofline.matmul_time(B=rows, **LAYER, **on_h100)


questions = QuestionSet(
    "roofline",
    "The roofline",
    intro="Questions on arithmetic intensity, ridge points and the critical batch. The numbers of the chips are in the "
    "chapter and in the hardware tables; those of the models in the table of models.",
    chapter="roofline",
    questions=[
        Question(
            "What is the ridge point of a GB200 in fp8?",
            answer=roofline.ridge_point,
            given={"C": gb200.fp8, "W_hbm": gb200.hbm_bw},
            mistakes={
                "That is bf16.": {"C": gb200.bf16},
                "That is a B200; a GB200 has a higher peak rate.": {"C": b200.fp8},
            },
            hint="Divide its dense peak rate in fp8 by its HBM bandwidth. Both are in the hardware tables.",
        ),
        Question(
            "A server generates text with Llama 3 70B in bf16, for {B} requests at once. How long does the matmul from "
            "the model width D to the feed-forward width F take at best on a B200?",
            answer=roofline.matmul_time,
            given=[LARGE | on_b200 | {"B": 32}, LARGE | on_b200 | {"B": 8}],
            mistakes={
                "That is the compute time; reading the weights takes longer.": math,
                "In bf16 an element has two bytes.": {"b": 1, "b_w": 1},
                "That is an H100.": {"C": h100.bf16, "W_hbm": h100.hbm_bw},
            },
            solution=[
                (math, "the compute time"),
                (traffic, "the memory time; with so few rows it is the longer one"),
                (roofline.matmul_time.rhs, "the larger of the two"),
            ],
            hint="Each request brings one row. D and F are in the table of models.",
        ),
        Question(
            "The matmul from D to F of Llama 3 70B runs in bf16 with 16 rows on an H100 SXM. What would shorten it "
            "most?",
            given=LARGE | on_h100 | {"B": 16},
            choices=[
                ("twice the FLOP/s", "The compute time is a small part of the memory time here.", math > traffic),
                ("twice the HBM bandwidth", "Nearly all of the time goes into reading the weights.", math < traffic),
                ("half the rows", "The weights have to be read anyway, so the time would hardly change.", False),
            ],
        ),
        Question(
            "What is the arithmetic intensity of a matmul [B, D] × [D, F] with b bytes per element, in the limit of "
            "very wide matrices? Leave the unit FLOP out.",
            answer=2 * flop * B / b,
            unit="FLOP/B",
            symbols=(B, D, F, b),
            mistakes={
                "That holds for two bytes per element; keep b.": B,
                "That is the exact form; now let D and F grow without bound.": roofline.matmul_intensity.rhs,
                "A multiply-add is two FLOPs.": flop * B / b,
                "Each element has b bytes, and the weights are read once.": flop * B / (2 * b),
            },
            solution=[
                (roofline.matmul_intensity.rhs, "FLOPs over bytes"),
                (roofline.matmul_intensity.approx, "D and F far larger than B"),
            ],
        ),
        Question(
            "At which batch does a {D} × {F} layer become compute-bound on an H100 SXM in bf16, by the exact form?",
            answer=roofline.critical_batch,
            given=[
                {"B_rule": RULE_H100, "D": 4096, "F": 4096},
                {"B_rule": RULE_H100, "D": 2048, "F": 8192},
            ],
            noun="rows",
            mistakes={
                "That is the rule of thumb; inputs and outputs move as well.": 1 * B_rule,
                "That leaves out the outputs.": B_rule * F / (F - B_rule),
            },
            hint="The rule of thumb gives the ridge point. Inputs and outputs spend B_rule/F and B_rule/D of the "
            "budget.",
        ),
        Question(
            'Find the error. "Our layer with D = F = {D} runs with {B} rows on an H100 SXM in bf16. That is more than '
            '295, so it runs at peak." What fraction of the peak can it reach at best?',
            answer=roofline.matmul_intensity.rhs / I_ridge,
            unit="%",
            given={"B": 400, "D": 1024, "F": 1024, "b": 2, "I_ridge": I_H100},
            mistakes={"That leaves out the outputs, which are written as well.": B * F / (B + F) / I_ridge * flop},
            solution=[(roofline.matmul_intensity.rhs / I_ridge, "its intensity over the ridge point")],
            remark="The three matrices together spend more than the whole budget, so memory takes longer than "
            "arithmetic.",
            hint="Add up the three shares of the budget.",
        ),
        Question(
            "Square layers, D = F, never become compute-bound below a certain width. Which width is it on an H100 SXM "
            "in bf16?",
            answer=2 * B_rule,
            given={"B_rule": RULE_H100},
            unit="1",
            noun="columns",
            mistakes={"Inputs and outputs both count.": 1 * B_rule},
            solution=[(2 * B_rule, "where B_rule/D + B_rule/F = 1 with D = F")],
        ),
        Question(
            "The weights are stored in fp8 and widened to bf16 for the multiplication. At which batch does a very wide "
            "matmul become compute-bound on an H100 SXM?",
            answer=roofline.rule_batch,
            given={"I_ridge": I_H100, "b_w": 1},
            noun="rows",
            mistakes={"That is with weights of two bytes.": {"b_w": 2}},
            hint="Only the bytes of the weights count in a very wide matmul.",
        ),
        Question(
            "A kernel has a launch latency of {alpha}. How many elements must an fp32 vector addition have on an H100 "
            "SXM so that moving its bytes takes as long as the launch?",
            answer=roofline.launch_bound_length,
            given=[
                {"alpha": 2e-6, "b": 4, "W_hbm": h100.hbm_bw},
                {"alpha": 5e-6, "b": 4, "W_hbm": h100.hbm_bw},
            ],
            noun="elements",
            mistakes={
                "Three vectors move, not one.": alpha * W_hbm / b,
                "An fp32 element has four bytes.": {"b": 1},
            },
        ),
        Question(
            "An upgrade. The matmul from D to F of Llama 3 70B runs in bf16 with {B} rows on an H100 SXM. How many "
            "times faster is it on an H200?",
            answer=roofline.matmul_time.rhs / roofline.matmul_time.rhs.subs(W_hbm, W_ref),
            unit="1",
            noun="times",
            given=LARGE | on_h100 | {"B": 250, "W_ref": h200.hbm_bw},
            mistakes={"That is the ratio of the bandwidths; on the H200 the matmul is compute-bound.": W_ref / W_hbm},
            solution=[
                f"The critical batch is {show(roofline.critical_batch(B_rule=I_H100, **LARGE), '1')} on the H100 and "
                f"{show(roofline.critical_batch(B_rule=I_H200, **LARGE), '1')} on the H200. 250 lies between them.",
                (
                    roofline.matmul_time.rhs / roofline.matmul_time.rhs.subs(W_hbm, W_ref),
                    "memory-bound over compute-bound",
                ),
            ],
            hint="Compare the batch with the critical batch on both chips first.",
            fixed="the batch between two critical ones",
        ),
        Question(
            "Fusion. A bias and an activation function follow our layer with {B} rows ({D} × {F}, bf16, H100 SXM), in "
            "two separate kernels. By what percentage of the matmul's time do these two kernels lengthen it?",
            answer=(2 * 2 * b * B * F / W_hbm) / math,
            unit="%",
            given=LAYER | {"B": 8192, "b": 2, "C": h100.bf16, "W_hbm": h100.hbm_bw},
            mistakes={
                "Each of the two kernels reads the [B, F] matrix and writes it back.": (2 * b * B * F / W_hbm) / math,
                "That would be with elements of one byte.": (b * B * F / W_hbm) / math,
            },
            solution=[
                (math, "the matmul is compute-bound"),
                ((2 * 2 * b * B * F / W_hbm), "two kernels, each reading and writing the outputs; the bias is small"),
                ((2 * 2 * b * B * F / W_hbm) / math, "their ratio"),
            ],
            remark="As one fused kernel they would add half of that, and fused into the matmul almost nothing.",
            hint="Count how often the [B, F] matrix crosses the memory bus.",
            fixed="the layer of the chapter",
        ),
        Question(
            "The measured ridge. Replace the peak rate of the H100 SXM by its measured matmul rate, and its bandwidth "
            "by that of the measured vector addition. What is the critical batch of our layer ({D} × {F}, bf16) now?",
            answer=roofline.critical_batch.where(roofline.rule_batch.where(roofline.ridge_point)),
            unit="1",
            noun="rows",
            given=LAYER | {"C": best, "W_hbm": long["bandwidth"], "b_w": 2},
            mistakes={
                "That is the ridge point; inputs and outputs move as well.": C / W_hbm * b_w / (2 * flop),
                "That is with the peaks of the data sheet.": {"C": h100.bf16, "W_hbm": h100.hbm_bw},
            },
            remark="Arithmetic misses its peak by more than memory does, so it becomes the limit at a smaller batch.",
            hint="The chapter gives the measured rate in a table, and the fraction of the bandwidth below it.",
            fixed="the layer of the chapter",
        ),
        Question(
            "An H200 is an H100 with a faster memory. Does a kernel on an H200 need more FLOPs per byte to be "
            "compute-bound, or fewer?",
            predict=True,
            choices=[
                ("more", "A faster memory brings more bytes per second for the same FLOP/s.", C / W_hbm > C / W_ref),
                ("fewer", "The ridge point is C over W, and W has grown.", C / W_hbm < C / W_ref),
                ("the same number", "The ridge point depends on the bandwidth too.", False),
            ],
            given={"C": h200.bf16, "W_hbm": h200.hbm_bw, "W_ref": h100.hbm_bw},
            solution=f"Fewer: {show(I_H200, 'FLOP/B')}. The bytes arrive faster, so the chip has time for fewer FLOPs "
            "between one byte and the next. A faster memory makes it easier to be compute-bound.",
        ),
        Question(
            f"With one row, our layer takes {show(layer_time(1), 's')} on an H100. How long does it take with 64 rows?",
            predict=True,
            choices=[
                ("64 times as long", "All rows share the weights, which are read once.", False),
                ("about 8 times as long", "Compare the compute time of 64 rows with the memory time.", False),
                ("about as long", "Reading the weights takes nearly all of the time.", math < traffic),
            ],
            given=LAYER | on_h100 | {"B": 64},
            solution=f"About as long: {show(layer_time(64), 's')}, which is "
            f"{show(layer_time(64) / layer_time(1) - 1, '%', digits=1)} longer. Nearly all of the time goes into "
            "reading the weights, and the rows share that cost. Once the compute time is the longer one, every further "
            "row costs time of its own.",
        ),
        Question(
            "A small layer has D = F = 1,024. What is its critical batch on an H100 in bf16?",
            predict=True,
            choices=[
                ("less than 295 rows", "Inputs and outputs add bytes, so it takes more rows.", False),
                ("about 295 rows", "That rule ignores inputs and outputs, which count in a narrow layer.", False),
                ("more than twice 295 rows", "Inputs and outputs spend much of the budget.", exact > 2 * B_rule),
            ],
            given={"B_rule": RULE_H100, "D": 1024, "F": 1024},
            solution=f"More than twice: {show(roofline.critical_batch(B_rule=RULE_H100, D=1024, F=1024), '1')} rows. "
            f"Inputs and outputs take {show(RULE_H100 / 1024, '%')} of the budget each, and the weights have to get by "
            "on the rest.",
        ),
        Question(
            "What cuts the critical batch of a wide matmul in half: storing only the weights in fp8, or running "
            "everything in fp8?",
            predict=True,
            choices=[
                ("weights in fp8", "It halves the memory time and leaves the compute time alone.", True),
                ("everything in fp8", "That halves both times, so their ratio stays.", False),
                ("both", "Everything in fp8 halves the compute time as well.", False),
            ],
            solution="Weights in fp8. That halves the traffic of the weights and leaves the compute time alone. "
            "With everything in fp8 both times halve, so their ratio does not change.",
        ),
        Question(
            f"Two fp32 vectors of {show(short['n'], 'count')} elements are added on an H100. Each vector has "
            f"{show(4 * short['n'], 'B')}, and HBM delivers {show(h100.hbm_bw, 'B/s')}. About how long does the "
            "addition take?",
            predict=True,
            choices=[
                ("0.08 µs", "Three vectors move, and there is a cost that has nothing to do with bytes.", False),
                ("0.24 µs", "The bytes alone take that long, but a kernel also has to start.", stream > alpha),
                ("1.5 µs", "The fixed cost of a kernel is several times the time of these bytes.", stream < alpha),
            ],
            given={"n": short["n"], "b": 4, "W_hbm": h100.hbm_bw, "alpha": launch},
            solution=f"It was measured at {show(short['time'], 's')}, although the bytes alone need only "
            f"{show(short['time'] - launch, 's')}. The rest is fixed cost: starting the kernel, waiting for the first "
            "load, finishing the last block.",
        ),
        Question(
            "A launch takes the host 1 µs, and the kernel runs for 10 µs. You start a stopwatch on the host, launch "
            "100 kernels and stop it. What does it show?",
            predict=True,
            choices=[
                ("about 100 µs", "The launches return as soon as the kernels are in the queue.", True),
                ("about 1,000 µs", "That is what the GPU needs, but nobody has waited for it.", False),
                ("about 1,100 µs", "Launches and kernels overlap, and nobody has waited for the GPU.", False),
            ],
            solution="It shows the launches, 100 µs, while the GPU needs 1,001 µs. If you wait for the queue to empty "
            "before you stop the watch, it shows the right number.",
        ),
    ],
)
