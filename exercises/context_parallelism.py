"""Practice questions on context parallelism."""

from gpuscale import chip, model
from gpuscale.llm import context_parallel as cp
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import C, S, W, W_nvl, b, d_head, flop, n_cp, n_kv
from gpuscale.units import show

h100, b200 = chip("h100_sxm"), chip("b200_sxm")
llama, large = model("llama3_70b"), model("llama3_405b")
width = large.d_model // large.heads
RANKS, CONTIGUOUS = 4, float(cp.cp_imbalance.approx.subs(n_cp, 4))
nic = dict(b=2, W=h100.nic_bw, C=h100.bf16)
needed = cp.ring_attention_limit(n_q=llama.heads, n_kv=llama.kv_heads, **nic)
full = cp.ring_attention_limit(n_q=llama.heads, n_kv=llama.heads, **nic)

questions = QuestionSet(
    "context_parallelism",
    "Context parallelism",
    intro="Questions on sequences that several GPUs share: the bytes that travel, and how many tokens hide them.",
    chapter="context_parallelism",
    questions=[
        Question(
            "Causal ring attention runs between nodes of H100 SXM in bf16. The model has {n_q} query heads and {n_kv} "
            "key-value heads. How many tokens must each GPU hold, so that its own NIC keeps up?",
            answer=cp.ring_attention_limit,
            given=[
                {"n_q": large.heads, "n_kv": large.kv_heads, "b": 2, "W": h100.nic_bw, "C": h100.bf16},
                {"n_q": llama.heads, "n_kv": llama.kv_heads, "b": 2, "W": h100.nic_bw, "C": h100.bf16},
            ],
            noun="tokens",
            hint="You need the bf16 peak and the bandwidth of one NIC (hardware tables).",
            mistakes={
                "That is without a mask, where each block has twice the arithmetic.": cp.ring_attention_limit.rhs / 2,
                "That is with a key-value head for each query head.": b * C / (flop * W),
            },
        ),
        Question(
            "A causal sequence of {S} tokens is divided into {n_cp} contiguous parts, one per GPU. By what factor does the "
            "work of the last GPU exceed the mean?",
            answer=cp.cp_imbalance,
            given={"S": 65536, "n_cp": 8},
            mistakes={
                "That is the limit of very many GPUs; here the last GPU has one of {n_cp} parts.": 2 * S / (S + 1),
            },
            tolerance=0.01,
            remark="With a piece from each end of the sequence for every GPU, the factor is 1.",
        ),
        Question(
            "Which change lets ring attention hide its transfers with fewer tokens per GPU?",
            choices=[
                ("wider heads", "Arithmetic and bytes both grow with the width of a head.", False),
                ("fewer key-value heads for the same query heads", "Fewer bytes travel for the same scores.", True),
                ("more GPUs in the ring", "What counts is the number of tokens per GPU.", False),
                ("a GPU with a higher peak rate", "A faster GPU leaves less time for the transfer.", False),
            ],
        ),
        Question(
            "Llama 3 405B runs on sequences of {S} tokens, 8-way tensor parallel, so each GPU has one of its key-value heads. "
            "An all-gather collects the keys and values of a layer in bf16. How many bytes do they take on a GPU?",
            answer=cp.gathered_kv_held,
            given={"S": large.max_tokens, "n_kv": 1, "d_head": width, "b": 2},
            hint="Keys and values are two arrays. The width of a head is the model width over the number of query heads.",
            mistakes={
                "That is the keys alone; there are as many values.": b * S * n_kv * d_head,
                "The GPU has one key-value head of the eight.": {"n_kv": large.kv_heads},
            },
        ),
        Question(
            "A sequence of {S} tokens of Llama 3 70B is trained on H100 SXM with causal ring attention through one NIC per "
            "GPU, in bf16. What is the largest number of GPUs in the ring that still hides the transfers? (The answer need "
            "not be whole.)",
            answer=S / cp.ring_attention_limit.rhs,
            given={"S": llama.max_tokens, "n_q": llama.heads, "n_kv": llama.kv_heads, **nic},
            unit="1",
            hint="Find the tokens per GPU first.",
            mistakes={
                "That is for a key-value head per query head.": S * flop * W / (b * C),
                "That is without a mask; a causal mask halves the arithmetic.": 2 * S / cp.ring_attention_limit.rhs,
            },
        ),
        Question(
            'Find the error. "Our ring hides its transfers over NVLink with {S_cp} tokens per GPU, so it will hide them over '
            'the NICs too." The GPUs are H100 SXM. How many times as many tokens per GPU does it take to hide the transfers over '
            "the NICs, compared with NVLink?",
            answer=W_nvl / W,
            given={"S_cp": 600, "W": h100.nic_bw, "W_nvl": h100.nvlink_bw},
            unit="1",
            mistakes={"The NICs are slower, so hiding the transfers takes more tokens, not fewer.": W / W_nvl},
            hint="Compare the NVLink of a GPU with its own NIC.",
            remark="Each block of keys and values is for one GPU, so a single NIC counts, not all NICs of a node.",
        ),
        Question(
            f"{RANKS} GPUs share a causal sequence in contiguous parts: GPU 0 has the first quarter, GPU {RANKS - 1} the last. "
            f"All of them wait for the slowest. How much work does GPU {RANKS - 1} have, compared with the mean?",
            predict=True,
            choices=[
                ("as much as the mean", "A later token attends to more keys.", False),
                (f"{show(CONTIGUOUS, '1')} times the mean", "Its queries see nearly all keys.", 1.5 < CONTIGUOUS < 2),
                (
                    f"{RANKS} times the mean",
                    "The other GPUs have work too: every token sees itself and all before it.",
                    False,
                ),
            ],
            solution=f"{show(CONTIGUOUS, '1')} times the mean. Of the scores below the diagonal, 7 of 16 parts are in the last "
            "quarter of the rows. With very many GPUs, the factor approaches 2.",
        ),
        Question(
            "A ring hides its transfers. You double the number of GPUs for the same sequence. What happens to the FLOPs per "
            "byte in a step of the ring?",
            predict=True,
            choices=[
                ("they stay the same", "Each GPU has half of the queries *and* meets half as many keys.", False),
                ("they halve", "A quarter of the scores, half of the bytes.", True),
                ("they double", "Fewer tokens per GPU mean less reuse, not more.", False),
            ],
            solution="They halve. A block of keys and values is half as large, so it takes half the time. But it meets only half "
            "as many queries, so the arithmetic falls to a quarter.",
        ),
        Question(
            f"Llama 3 70B has {llama.heads // llama.kv_heads} query heads per key-value head and needs "
            f"{show(needed, 'count')} tokens per GPU over a NIC. How many would it need with one key-value head per query "
            "head?",
            predict=True,
            choices=[
                (
                    f"{show(needed, 'count')} as well",
                    "The scores are the same, but more bytes travel.",
                    full < 1.5 * needed,
                ),
                (f"{show(2 * needed, 'count')}", "Count the key-value heads.", False),
                (f"{show(full, 'count')}", "Eight times the bytes for the same scores.", full > 4 * needed),
            ],
            solution=f"{show(full, 'count')}, eight times as many. All {llama.heads} key-value heads would have to travel, while "
            "the number of scores stays the same.",
        ),
    ],
)
