"""Practice questions on measured serving: bounds, estimates, and the settings of engines."""

from gpuscale import chip
from gpuscale.llm import counts
from gpuscale.quiz import Question, QuestionSet
from gpuscale.serving import decode_time
from gpuscale.serving.estimates import constants
from gpuscale.serving.given_decode import decode_inputs, gpt_fast, prefill, step
from gpuscale.serving.measured import measured_bounds
from gpuscale.serving.measured_kinds import loaded
from gpuscale.symbols import (
    B_seq,
    C,
    S,
    T,
    T_dec,
    T_many,
    T_one,
    V_tok,
    V_w,
    W_hbm,
    eta_hbm,
    g_added,
    ops,
    r_tok,
    r_user,
)
from gpuscale.units import show

h100, h200 = chip("h100_sxm"), chip("h200_sxm")
bounds, fit, rates = measured_bounds(), gpt_fast(), constants()
HINT = "The hardware tables have the dimensions of every model and the bandwidth of every GPU."
small, qwen = step("llama3_8b", h100), step("qwen3_8b", h200)
cache = decode_inputs("llama3_8b")["V_tok"]
read = (V_w + B_seq * S * V_tok) / W_hbm
short = prefill("llama3_8b", h100, prompt=1024)
example, dense, sparse = (
    bounds[key]
    for key in ("lmd-llama2_7b-b16-2048-2048", "vllmkv-l8b-h100-bf16-intercept", "vllmkv-oss20-b200-bf16-intercept")
)
windowed = bounds["vllmkv-oss20-h100-bf16"]
reported = bounds["aic1150-mix-2048-b4"]
layer = rates.layer(True, sparse.row.weights, sparse.row.experts)

questions = QuestionSet(
    "measured_serving",
    "Measured serving",
    intro="Questions on measurements of serving engines, their bounds and estimates, and on settings.",
    chapter="measured_serving",
    questions=[
        Question(
            "An engine decodes {B_seq:count} sequences of {S:count} tokens with Llama 3 8B on one H100, weights and cache "
            "in bf16, and takes {T:ms} per step. How many times the bound is that?",
            answer=T / read,
            given={"B_seq": 16, "S": 4096, "T": 9e-3, "V_w": small.V_w, "V_tok": cache, "W_hbm": h100.hbm_bw},
            unit="1",
            hint="Find the bytes of weights and of all caches. " + HINT,
            mistakes={
                "The caches are read, too.": T * W_hbm / V_w,
                "Each sequence reads its own cache.": T * W_hbm / (V_w + S * V_tok),
                "That is the bound over the measured time.": read / T,
            },
            fixed="a step that is near its bound",
        ),
        Question(
            "Estimate a decode step of Qwen3 8B in bf16 for a single sequence with a negligible cache, on one H200. HBM "
            "sustains {eta_hbm:%} of its bandwidth, and a layer takes {t_layer:us} on top.",
            answer=decode_time.decode_estimate.where(V_kv=0, ops_kv=0, N_gpu=1, B_seq=1),
            given={
                "eta_hbm": round(fit.eta_hbm, 2),
                "t_layer": round(fit.t_layer, 6),
                "V_w": qwen.V_w,
                "W_hbm": h200.hbm_bw,
                "L": counts("qwen3_8b").inputs["L"],
                "P_act": counts("qwen3_8b").P_act,
                "C": h200.bf16,
            },
            hint="Bytes of weights over the sustained bandwidth, plus the time of all layers. " + HINT,
            mistakes={
                "The layers take time of their own.": V_w / (eta_hbm * W_hbm),
                "HBM sustains less than its peak.": {"eta_hbm": 1},
            },
        ),
        Question(
            "Estimate the prefill of {S_in:count} tokens with Llama 3 8B in bf16 on one H100. Matmuls sustain "
            "{eta_mat:%} of the peak, and a layer takes {t_layer:us} on top.",
            answer=decode_time.prefill_estimate.where(N_gpu=1),
            given={
                "S_in": 1024,
                "eta_mat": round(rates.eta_wide, 2),
                "t_layer": round(fit.t_layer, 6),
                "ops": short.ops,
                "C": h100.bf16,
                "V_w": short.V_w,
                "W_hbm": h100.hbm_bw,
                "eta_hbm": fit.eta_hbm,
                "L": counts("llama3_8b").inputs["L"],
            },
            hint="First count the FLOPs of the prompt, attention included.",
            mistakes={
                "That is the bound: no matmul reaches the peak.": ops / C,
                "The layers take time of their own.": {"t_layer": 0},
            },
            fixed="the FLOPs belong to this prompt",
        ),
        Question(
            "By the estimate, a step of a mixture of experts takes {T_one:ms} for one sequence and {T_many:ms} for the whole "
            "batch. Under load, the sequences after the first lengthen a step by {g_added:1,2} times as much as estimated. "
            "How long a step do you expect?",
            answer=decode_time.loaded_step,
            given={"T_one": 12e-3, "T_many": 20e-3, "g_added": round(loaded(), 1)},
            hint="Only the part that further sequences add grows.",
            mistakes={
                "The step of the first sequence keeps its estimate.": g_added * T_many,
                "That is what the further sequences add.": g_added * (T_many - T_one),
            },
        ),
        Question(
            "A server streams {a_step:count} tokens per message. Its mean inter-token latency, from message to message, is "
            "{T_dec:ms}. What is its time per output token?",
            answer=decode_time.time_per_token,
            given={"T_dec": 120e-3, "a_step": 8},
            hint="A message carries several tokens.",
            mistakes={"That is the time between messages.": T_dec},
        ),
        Question(
            "A benchmark of an engine with requests in flight reports {r_tok:count} output tokens per second in total, and "
            "{r_user:count} tokens per second per user. How many sequences decode at a time?",
            answer=r_tok / r_user,
            given={"r_tok": 24_000, "r_user": 15},
            unit="1",
            noun="sequences",
            hint="By Little's law, the batch is the total rate over the rate of a user.",
            mistakes={"It is the other way around.": r_user / r_tok},
        ),
        Question(
            "In a measurement on one H100, a step gets {T:ns} longer with each token of context. HBM sustains {eta_hbm:%} of "
            "its bandwidth. How many bytes of cache does a step read per token?",
            answer=T * eta_hbm * W_hbm,
            given={"T": 45e-9, "eta_hbm": 0.85, "W_hbm": h100.hbm_bw},
            unit="B",
            hint="Bytes are time multiplied by bandwidth. The hardware tables have the bandwidth.",
            mistakes={"HBM sustains less than its peak.": T * W_hbm},
        ),
        Question(
            "Users of a chat service complain that their answers pause now and then. TPOT is fine on average, and no block "
            "of the cache runs out. What helps?",
            choices=[
                ("fewer tokens per step", "A step that prefills less is shorter.", True),
                ("a higher batch limit", "It makes steps longer, if anything.", False),
                ("more memory for the cache", "Blocks don't run out.", False),
                ("weights in a smaller format", "The pauses are steps that prefill, which are compute-bound.", False),
            ],
        ),
        Question(
            f"LMDeploy decodes {example.row.batch} sequences of Llama 2 7B in fp16 on one A100. Prompts have "
            f"{example.row.input:,} tokens, answers just as many, and a step takes {show(example.measured, 's')}. How does "
            "that compare with the bound?",
            predict=True,
            given={"T": example.measured, "T_dec": example.bound},
            choices=[
                ("it is at the bound", "Reading weights and caches takes less than that.", T / T_dec < 1.1),
                (
                    "about 1.3 times the bound",
                    "HBM sustains less than its peak, and layers take time.",
                    abs(T / T_dec - 1.3) < 0.1,
                ),
                ("about 5 times the bound", "One GPU has nothing to communicate.", T / T_dec > 4),
            ],
            solution=f"About 1.3 times. Reading weights and caches takes at least {show(example.bound, 's')}. By the "
            "estimate, the rest is bandwidth that HBM doesn't sustain, and the launches of every layer.",
        ),
        Question(
            f"For one short sequence, a step of Llama 3 8B on an H100 takes {show(dense.ratio, '1', digits=2)} times its "
            f"bound. gpt-oss-20b on a B200 reads fewer bytes at a higher bandwidth, so its bound is only {show(sparse.bound, 's')}. "
            "What do you expect of its ratio?",
            predict=True,
            given={"T": sparse.ratio, "T_dec": dense.ratio},
            choices=[
                ("a lower one", "The layers take time even if they read little.", T < 0.9 * T_dec),
                ("about the same", "The layers take time even if they read little.", abs(T / T_dec - 1) < 0.1),
                ("one several times as high", "The time per layer stays, while the bound shrinks.", T > 3 * T_dec),
            ],
            solution=f"It is {show(sparse.ratio, '1', digits=2)}. By the estimate, each layer takes "
            f"{show(layer, 's')} for launches, small kernels, unpacking and routing, however little it reads. "
            f"{counts(sparse.row.model).inputs['L']} such layers take several times as long as the reads.",
        ),
        Question(
            "If every layer of gpt-oss-20b read the whole context, a further token of context would add at least "
            f"{show(windowed.memory, 's')} to a step on an H100. vLLM measured {show(windowed.measured, 's')}. What follows?",
            predict=True,
            given={"T": windowed.measured, "T_dec": windowed.memory},
            choices=[
                ("some layers read less than the whole context", "Then the bound is lower.", T < T_dec),
                ("the GPU is faster than its data sheet", "No kernel reads HBM faster than its peak.", False),
                ("the cache was in fp8", "The source states bf16.", False),
            ],
            solution="Some layers read less. Every other layer of gpt-oss-20b has a window, so only half of the layers read a "
            f"further token. Their bound is {show(windowed.bound, 's')}, below the measurement.",
        ),
        Question(
            f"A GitHub issue reports {show(reported.measured, 's')} for a step of Qwen3 8B on one H200. The step includes a "
            f"prompt of {reported.row.input:,} tokens. Is that possible in bf16?",
            predict=True,
            given={"T": reported.measured, "T_dec": reported.bound},
            choices=[
                ("yes, easily", "Count the FLOPs of the prompt.", T > 1.5 * T_dec),
                (
                    "yes, if all kernels reach the peak",
                    "Count the FLOPs of the prompt.",
                    abs(T / T_dec - 1) < 0.05,
                ),
                ("no", "The matmuls alone take longer at the peak.", T < T_dec),
            ],
            solution=f"No. The matmuls of the prompt take {show(reported.bound, 's')} at the peak in bf16. Either the step held "
            "only a part of the prompt, or its weights were in another format.",
        ),
    ],
)
