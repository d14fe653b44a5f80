"""Practice questions on decode and prefill."""

from gpuscale import chip
from gpuscale.llm import counts
from gpuscale.quiz import Question, QuestionSet
from gpuscale.serving import decode_bytes, decode_compute, decode_time
from gpuscale.serving.given_decode import decode_inputs, prefill, step
from gpuscale.specs import model
from gpuscale.symbols import (
    B,
    B_seq,
    C,
    D,
    L,
    P,
    P_act,
    P_emb,
    S,
    S_in,
    V_seq,
    V_tok,
    V_w,
    W_hbm,
    b_w,
    d_head,
    k,
    n_q,
    n_vocab,
)
from gpuscale.units import show

h100, h200, a100 = chip("h100_sxm"), chip("h200_sxm"), chip("a100_sxm")
small, large, ds = counts("llama3_8b"), counts("llama3_70b"), counts("deepseek_v3")
x, big = small.inputs, large.inputs
HINT = "The hardware tables have the dimensions of every model and the bandwidth of every GPU."
CHAT = 8192


def sizes(found):
    """Parameters of a model, by the symbols of the bytes of a step."""
    return {"P": found.P, "P_emb": found.P_emb, "n_vocab": found.inputs["n_vocab"], "D": found.inputs["D"]}


one = step("llama3_8b", h100, context=CHAT)
llama_cache = decode_inputs("llama3_70b", context=CHAT)["V_seq"]
pairs = 4 * L * n_q * d_head * S_in**2 / 2

questions = QuestionSet(
    "decode_and_prefill",
    "Decode and prefill",
    intro="Questions on the bytes, the FLOPs and the time of a decode step and of a prefill.",
    chapter="decode_and_prefill",
    questions=[
        Question(
            "How many bytes of weights does a decode step of Qwen3 8B read, in bf16?",
            answer=decode_bytes.weights_read,
            given=sizes(counts("qwen3_8b")) | {"b_w": 2},
            hint=HINT,
            mistakes={
                "The embedding is only looked up, a row per token.": b_w * P,
                "The output head is read in full.": b_w * (P - P_emb),
                "Those are parameters, not bytes.": P - P_emb + n_vocab * D,
            },
        ),
        Question(
            "What is the lower bound of the time per output token of Llama 3 70B in bf16 on one H200, for a single "
            "sequence whose cache is negligible?",
            answer=V_w / W_hbm,
            given={"V_w": step("llama3_70b", h200).V_w, "W_hbm": h200.hbm_bw},
            unit="s",
            hint="First find the bytes of weights of a step. The hardware tables have the bandwidth.",
            mistakes={
                "That is the bandwidth of an H100.": {"W_hbm": h100.hbm_bw},
                "A step reads the weights once, not twice.": 2 * V_w / W_hbm,
            },
        ),
        Question(
            "{B_seq:count} sequences of {S:count} tokens decode together, with Llama 3 70B and a cache in bf16. How many "
            "bytes of cache does a step read?",
            answer=decode_bytes.cache_read.where(decode_bytes.cache_sequence),
            given={"B_seq": 16, "S": 4096, "V_tok": decode_inputs("llama3_70b")["V_tok"]},
            unit="B",
            hint="Find the bytes per token first: a key and a value per layer and key-value head.",
            mistakes={
                "Each sequence reads its own cache.": S * V_tok,
                "Keys and values are both read.": B_seq * S * V_tok / 2,
                "64 query heads share 8 key-value heads.": 8 * B_seq * S * V_tok,
            },
        ),
        Question(
            "At which batch size does a step of Llama 3 70B in bf16 read as many bytes of cache as of weights, with "
            "{S:count} tokens per sequence?",
            answer=V_w / (S * V_tok),
            given={"V_w": step("llama3_70b", h100).V_w, "S": CHAT, "V_tok": decode_inputs("llama3_70b")["V_tok"]},
            unit="1",
            noun="sequences",
            hint="Divide the bytes of weights of a step by the cache of one sequence.",
            mistakes={"That is the number of tokens, not of sequences.": V_w / V_tok},
        ),
        Question(
            "Beyond which context is decode of Llama 3 405B in bf16 memory-bound on an H100 at every batch size? Leave "
            "out the FLOPs of attention.",
            answer=decode_time.longest_compute_bound,
            given={
                "P_act": counts("llama3_405b").P_act,
                "W_hbm": h100.hbm_bw,
                "C": h100.bf16,
                "V_tok": decode_inputs("llama3_405b")["V_tok"],
            },
            unit="1",
            noun="tokens",
            hint="Compare the FLOPs of a token at the peak with the read of its sequence's cache. The hardware "
            "tables have the model.",
            mistakes={
                "A token takes two FLOPs per parameter.": P_act * W_hbm / (C * V_tok),
            },
        ),
        Question(
            "A step decodes {B:count} tokens with gpt-oss-120b, which sends each token to {k:count} of {E:count} experts. "
            "How many experts of a layer does it read, on average, if routing is random?",
            answer=decode_bytes.experts_touched,
            given={"B": 32, "k": model("gpt_oss_120b").active_experts, "E": model("gpt_oss_120b").experts},
            unit="1",
            noun="experts",
            hint="What is the probability that none of the tokens is sent to a given expert?",
            mistakes={
                "Several tokens share an expert.": k * B,
                "That is what one token reads.": 1 * k,
            },
        ),
        Question(
            "What is the lower bound of the time to prefill a prompt of {S_in:count} tokens with Llama 3 70B in bf16, on "
            "eight H100s that split the work evenly?",
            answer=decode_compute.prefill_flop.rhs / C / 8,
            given={n: big[n] for n in ("L", "n_q", "d_head", "n_vocab", "D")}
            | {"P_act": large.P_act, "S_in": 8192, "C": h100.bf16},
            unit="s",
            hint="Count two FLOPs per parameter and token, and attention on top.",
            mistakes={
                "That is the time on one GPU.": decode_compute.prefill_flop.rhs / C,
                "Attention is a part of the work, too.": 2 * P_act * S_in / C / 8,
            },
        ),
        Question(
            "Which change makes a decode step of one short conversation on one GPU faster?",
            choices=[
                ("weights in a smaller format", "Almost all bytes of the step are weights.", True),
                ("a GPU with more FLOP/s and the same HBM", "The step waits for memory, not for arithmetic.", False),
                ("a larger batch", "It raises the throughput, not the speed of one conversation.", False),
                ("a cache in fp8", "With a short context, the cache is a small part of the bytes.", False),
            ],
        ),
        Question(
            "An H100 generates an answer of 500 tokens with Llama 3 8B, to a prompt of 2,048 tokens. Which takes longer: "
            "prefill, or decode?",
            predict=True,
            choices=[
                ("prefill", "The prompt has more tokens, but all of them are processed together.", False),
                ("about the same", "Compare the time per token of the two phases.", False),
                ("decode, by far", "Each of the 500 tokens reads all weights again.", True),
            ],
            solution="Decode, by far. Prefill takes at least "
            f"{show(prefill('llama3_8b', h100, prompt=2048).bound, 's')}. Each token takes at least "
            f"{show(step('llama3_8b', h100, context=2048).bound, 's')}, so the answer takes at least "
            f"{show(499 * step('llama3_8b', h100, context=2048).bound, 's')}.",
        ),
        Question(
            "Llama 3 8B in bf16 decodes for one conversation of 8,192 tokens. By how much does a step get longer if a "
            "second conversation of this length joins?",
            predict=True,
            given={"V_w": one.V_w, "V_seq": one.V_kv},
            choices=[
                ("by about 7%", "The weights are read once for both.", abs(V_seq / (V_w + V_seq) - 0.07) < 0.01),
                ("by about half", "How many bytes are weights, and how many are cache?", V_seq / (V_w + V_seq) > 0.4),
                ("it takes twice as long", "The weights are read once for both.", V_seq / V_w > 0.9),
            ],
            solution=f"By about 7%. The weights take {show(one.V_w, 'B')}, and a cache of this length "
            f"{show(one.V_kv, 'B')}. Both conversations share the weights, and each has its own cache.",
        ),
        Question(
            "A layer of DeepSeek-V3 has 256 experts, of which a token uses 8. How many of them does a step of 32 tokens "
            "read?",
            predict=True,
            given={"E": 256, "k": 8, "B": 32},
            choices=[
                ("8", "Different tokens choose different experts.", decode_bytes.experts_touched.rhs < 20),
                (
                    "about 160",
                    "Most experts are chosen by some token, and many by several.",
                    abs(decode_bytes.experts_touched.rhs - 163) < 5,
                ),
                ("all 256", "32 tokens make 256 choices, but some coincide.", decode_bytes.experts_touched.rhs > 250),
            ],
            solution="About 163 if routing is random. The 32 tokens make 256 choices, but many of them coincide, and some "
            "experts are never chosen.",
        ),
        Question(
            "You serve Llama 3 8B on one H100, with contexts of 8,192 tokens. At which batch size does decode become "
            "compute-bound?",
            predict=True,
            given={
                "V_seq": one.V_kv,
                "P_act": small.P_act,
                "C": h100.bf16,
                "W_hbm": h100.hbm_bw,
            },
            choices=[
                ("about 300", "That is the critical batch of a matmul, without a cache.", V_seq / W_hbm < P_act / C),
                ("about 600", "Compare what one more sequence adds to both times.", V_seq / W_hbm < 2 * P_act / C),
                (
                    "never",
                    "One more sequence takes longer to read than its token to compute.",
                    V_seq / W_hbm > 2 * P_act / C,
                ),
            ],
            solution="Never. Each further sequence adds the read of its cache, "
            f"{show(one.V_kv / h100.hbm_bw, 's')}, and only {show(2 * small.P_act / h100.bf16, 's')} of matmuls at the peak.",
        ),
        Question(
            "Llama 3 8B prefills 8,192 tokens. What fraction of the FLOPs is attention?",
            predict=True,
            given={n: x[n] for n in ("L", "n_q", "d_head")} | {"S_in": 8192, "P_act": small.P_act},
            choices=[
                (
                    "about an eighth",
                    "Under the causal mask, half of the pairs count.",
                    pairs / (2 * P_act * S_in) < 0.2,
                ),
                ("about a half", "The prompt is not long enough for that.", pairs / (2 * P_act * S_in) > 0.4),
                ("almost all", "Attention dominates only far longer prompts.", pairs / (2 * P_act * S_in) > 0.8),
            ],
            solution="About an eighth. Attention grows with the square of the prompt, the matmuls in proportion to it. They "
            "are equal only at tens of thousands of tokens.",
        ),
    ],
)
