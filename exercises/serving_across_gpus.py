"""Practice questions on serving across GPUs."""

from sympy import Min

from gpuscale import chip
from gpuscale.quiz import Question, QuestionSet
from gpuscale.serving import across_gpus, fleet
from gpuscale.serving.given_decode import decode_inputs, step
from gpuscale.serving.measured import gpt_fast
from gpuscale.specs import model, serving_row
from gpuscale.symbols import (
    L,
    S_in,
    S_out,
    T_mem,
    V_tok,
    Y,
    n_kv,
    r_dec,
    r_pre,
    t_ar,
)
from gpuscale.units import show

h100, h200 = chip("h100_sxm"), chip("h200_sxm")
latency = serving_row("sgl2904-ar-tp8-32768").base
day = serving_row("deepseek-day6-nodes").also
read_8b_fp8 = step("llama3_8b", h100, weights="fp8", context=2048).V_read / h100.hbm_bw
read_8b = step("llama3_8b", h100, context=2048).V_read / h100.hbm_bw
token_8b = step("llama3_8b", h100, context=2048)
alike = T_mem / 8 + 2 * L * t_ar
layers_8b = 32 * gpt_fast().t_layer
with_layers = (read_8b / gpt_fast().eta_hbm + layers_8b) / (read_8b / 8 / gpt_fast().eta_hbm + layers_8b)

questions = QuestionSet(
    "serving_across_gpus",
    "Serving across GPUs",
    intro="Questions on the split of a model that serves requests, and on the size of a fleet.",
    chapter="serving_across_gpus",
    questions=[
        Question(
            "Llama 3 405B decodes in fp8 on eight H200s. Reading its weights and caches takes {T_mem:ms} on one such GPU. "
            "An all-reduce takes {t_ar:us}, and nothing else costs time. How long is a step?",
            answer=across_gpus.decode_tensor_parallel,
            given={
                "T_mem": round(step("llama3_405b", h200, weights="fp8", context=2048).V_read / h200.hbm_bw, 3),
                "Y": 8,
                "L": model("llama3_405b").layers,
                "t_ar": 10e-6,
                "t_layer": 0,
            },
            unit="s",
            hint="The model has 126 layers. How many all-reduces does each of them need?",
            mistakes={
                "Each layer has two all-reduces.": T_mem / Y + L * t_ar,
                "Every layer adds its all-reduces to the read.": T_mem / Y,
                "Eight GPUs read at the same time.": T_mem + 2 * L * t_ar,
            },
        ),
        Question(
            "For Llama 3 8B on H100s in fp8, at how many GPUs do all-reduces take as long as reading? A step of one "
            "sequence reads its bytes in {T_mem:ms} on one GPU, and an all-reduce takes {t_ar:us}.",
            answer=across_gpus.gain_ends,
            given={"T_mem": round(read_8b_fp8, 5), "L": 32, "t_ar": 8e-6, "t_layer": 0},
            unit="1",
            noun="GPUs",
            hint="Two all-reduces per layer, and 32 layers.",
            mistakes={"Each layer has two all-reduces.": T_mem / (L * t_ar)},
        ),
        Question(
            "Llama 3 8B has eight key-value heads. It is split over {Y:count} GPUs by tensor parallelism, with a cache in "
            "bf16. How many bytes of cache does a token take on each GPU?",
            answer=across_gpus.cache_per_gpu,
            given={"V_tok": decode_inputs("llama3_8b")["V_tok"], "Y": 16, "n_kv": 8},
            unit="B",
            hint="More GPUs than key-value heads store copies. A token takes 131 kB in all.",
            mistakes={
                "Only eight GPUs can share eight heads.": V_tok / Y,
                "Heads are shared as far as there are any.": V_tok,
            },
        ),
        Question(
            "How many bytes of cache are handed over after the prefill of {S_in:count} tokens of Llama 3 405B, in bf16?",
            answer=fleet.handover_bytes,
            given={"V_tok": decode_inputs("llama3_405b")["V_tok"], "S_in": 4000},
            unit="B",
            hint="126 layers with eight key-value heads of 128, keys and values.",
            mistakes={"Keys and values are both handed over.": V_tok * S_in / 2},
        ),
        Question(
            "A GPU prefills {r_pre:count} prompt tokens per second, or decodes {r_dec:count} output tokens per second. "
            "Requests have {S_in:count} prompt tokens, none of them cached, and {S_out:count} output tokens. How many "
            "prefill GPUs does each decode GPU need?",
            answer=fleet.prefill_decode_ratio,
            given={"r_pre": 12000, "r_dec": 1500, "S_in": 3000, "S_out": 500, "S_hit": 0},
            unit="1",
            hint="For each request, compare the time of its prefill with the time of its decode.",
            mistakes={
                "That is the number of decode GPUs per prefill GPU.": S_out * r_pre / (S_in * r_dec),
                "The two rates differ, too.": S_in / S_out,
            },
        ),
        Question(
            "With the same rates and lengths, how many requests per second does one GPU serve if it does both phases in "
            "turn: {r_pre:count} prompt tokens per second or {r_dec:count} output tokens per second, for requests of "
            "{S_in:count} and {S_out:count} tokens?",
            answer=fleet.colocated_rate,
            given={"r_pre": 12000, "r_dec": 1500, "S_in": 3000, "S_out": 500, "S_hit": 0},
            unit="/s",
            hint="Add the seconds that a request takes in prefill and in decode.",
            mistakes={
                "Its prefill takes time, too.": r_dec / S_out,
                "Its decode takes time, too.": r_pre / S_in,
            },
        ),
        Question(
            "A GPU costs {p_gpu:USD/h} and serves {r_tok:count} output tokens per second at full load. The fleet "
            "is {f_busy:%} busy on average. What do a million output tokens cost?",
            answer=fleet.dollars_per_million,
            given={"p_gpu": 2.5, "r_tok": 1200, "f_busy": 0.4},
            unit="USD",
            hint="How many tokens does the GPU serve in an hour?",
            mistakes={"An idle GPU costs as much as a busy one.": {"f_busy": 1}},
        ),
        Question(
            "Which splits make the next token of a single user come sooner?",
            choices=[
                ("tensor parallelism", "All GPUs read their shards at the same time.", True),
                ("more replicas", "They serve more users, each as fast as before.", False),
                ("a pipeline", "A token still passes through all layers in turn.", False),
                ("DP attention", "More sequences fit, but each token takes a little longer.", False),
            ],
        ),
        Question(
            "You serve one user with Llama 3 8B in bf16. Eight H100s read the weights eight times as fast as one. By what "
            "factor does a step get shorter if an all-reduce takes {t_ar:s} and everything else is free?",
            predict=True,
            given={"T_mem": read_8b, "L": 32, "t_ar": latency},
            choices=[
                ("about 8", "The all-reduces take time, too.", T_mem / alike > 7),
                (
                    "about 4",
                    "Each of 32 layers adds two all-reduces.",
                    abs(T_mem / alike - 4) < 0.7,
                ),
                ("about 2", "The all-reduces take less than the read.", T_mem / alike < 3),
            ],
            solution=f"About 4. Reading takes {show(read_8b / 8, 's')} instead of {show(read_8b, 's')}, and the 64 "
            f"all-reduces add {show(64 * latency, 's')}. Launches and small kernels don't shrink either: with the "
            f"constants that were fitted to gpt-fast, the factor is only {show(with_layers, '1', digits=2)}.",
        ),
        Question(
            "Llama 3 70B has eight key-value heads. You go from 8 to 16 GPUs by tensor parallelism. By what factor does "
            "the number of cached tokens grow? Leave aside the memory that smaller shards of the weights free.",
            predict=True,
            given={"n_kv": 8},
            choices=[
                ("it doubles", "Are there enough heads to share?", Min(16, n_kv) > 10),
                (
                    "it stays the same",
                    "Sixteen GPUs store each head twice.",
                    abs(Min(16, n_kv) - 8) < 0.5,
                ),
                ("it halves", "The copies don't take more than a GPU had before.", Min(16, n_kv) < 5),
            ],
            solution="It stays the same. With 16 GPUs, each head is stored twice, so a token takes as many bytes on each GPU as with "
            "eight. Only the smaller shard of the weights leaves more room.",
        ),
        Question(
            "You go from one pipeline stage to two, each with as many GPUs as before. What happens to the time per token of a "
            "single user?",
            predict=True,
            choices=[
                ("it halves", "A token has to pass through all layers, one stage after the other.", False),
                ("it stays about the same", "Each stage is half as long, and there are two of them.", True),
                ("it doubles", "Each stage has only half of the layers.", False),
            ],
            solution="It stays about the same, plus the transfer between the stages. The second stage is idle while the first "
            "one works, unless other requests fill it. So the throughput can double.",
        ),
        Question(
            "DeepSeek's service reads 608 billion prompt tokens in a day and writes 168 billion. Which phase keeps more nodes "
            "busy?",
            predict=True,
            given={
                "r_pre": day["input_tokens_per_s_and_node"],
                "r_dec": day["output_tokens_per_s_and_node"],
                "S_in": 608,
                "S_out": 168,
            },
            choices=[
                (
                    "prefill, by far",
                    "A node reads five times as many tokens as it writes.",
                    S_in / r_pre > 2 * S_out / r_dec,
                ),
                (
                    "decode, though it has fewer tokens",
                    "A node writes 14,800 tokens per second and reads 73,700.",
                    S_in / r_pre < S_out / r_dec,
                ),
                (
                    "both the same",
                    "Divide the tokens of each phase by the rate of a node.",
                    abs(S_in * r_dec / (S_out * r_pre) - 1) < 0.05,
                ),
            ],
            solution="Decode. A node reads "
            f"{show(day['input_tokens_per_s_and_node'], 'count')} prompt tokens per second and writes "
            f"{show(day['output_tokens_per_s_and_node'], 'count')}. So prefill keeps fewer nodes busy, although it has more "
            "than three times as many tokens.",
        ),
    ],
)
