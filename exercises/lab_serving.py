"""Practice questions of the lab on an engine for serving."""

from sympy import ceiling

from gpuscale.llm.kv_caches import kv_token
from gpuscale.quiz import Question, QuestionSet
from gpuscale.serving import batching, chunked_prefill, decode_bytes, speculation
from gpuscale.symbols import B_seq, L, P, P_emb, S_chunk, S_in, S_out, S_page, T_dec, V_tok, b_w, lambda_req, n_draft

LAB = {"b": 8, "L": 2, "n_kv": 2, "d_head": 16}

questions = QuestionSet(
    "lab_serving",
    "Lab: an LLM serving engine from scratch",
    intro="Questions on the loop of an engine, on its blocks, and on what it reads in a step.",
    chapter="lab_serving",
    questions=[
        Question(
            "A model in fp64 has {P:count} parameters, {P_emb:count} of them in embedding and output head, which are two "
            "matrices of {n_vocab:count} by {D:count}. How many bytes of weights does a step of the engine read?",
            answer=decode_bytes.weights_read,
            unit="B",
            given={"b_w": 8, "P": 150_000, "P_emb": 32_000, "n_vocab": 200, "D": 80},
            mistakes={
                "A token reads one row of the embedding.": b_w * P,
                "The output head is read in full.": b_w * (P - P_emb),
            },
            hint="An element in fp64 has eight bytes. Which matrix is only looked up?",
            fixed="the sizes of one model",
        ),
        Question(
            "How many bytes of cache does the lab's model store per token, with {L:count} layers, {n_kv:count} key-value "
            "heads of {d_head:count} elements, and fp64?",
            answer=kv_token,
            unit="B",
            given=LAB,
            mistakes={
                "Keys and values are both stored, and every layer has its own.": kv_token.rhs / L,
                "An element in fp64 has eight bytes.": {"b": 2},
            },
            hint="A key and a value per layer and head.",
            fixed="the lab's model",
        ),
        Question(
            "A request has {S_in:count} prompt tokens and {S_out:count} output tokens. The engine never processes the last "
            "token that it finds. How many blocks of {S_page:count} tokens does the request hold at its end?",
            answer=ceiling((S_in + S_out - 1) / S_page),
            unit="1",
            noun="blocks",
            exact=True,
            given={"S_in": 37, "S_out": 44, "S_page": 8},
            mistakes={"The last token is never put into the cache.": ceiling((S_in + S_out) / S_page)},
            hint="How many tokens are in the cache after the last step?",
            fixed="only there does the last token matter",
        ),
        Question(
            "The engine reads a prompt of {S_in:count} tokens in chunks of {S_chunk:count}. A token takes {V_tok:B} of cache. "
            "How many bytes more does it read than with the prompt as a whole?",
            answer=chunked_prefill.chunk_rereads,
            unit="B",
            given={"V_tok": 1024, "S_in": 96, "S_chunk": 16},
            mistakes={
                "That is what all chunks read, their own tokens included.": chunked_prefill.chunk_rereads.rhs
                + V_tok * S_in,
                "A chunk reads all chunks before it, not just one.": V_tok * (S_in - S_chunk),
            },
            hint="The second chunk reads the first one back, the third one both of them.",
            vary={S_in: (64, 96, 128), S_chunk: (8, 16, 32)},
        ),
        Question(
            "{lambda_req:count} requests arrive per second, have {S_out:count} output tokens, and steps take {T_dec:ms} on "
            "average. How many sequences does the engine decode at a time?",
            answer=batching.little,
            unit="1",
            noun="sequences",
            given={"lambda_req": 130, "S_out": 41, "T_dec": 1.5e-3},
            mistakes={"A sequence stays for all its steps.": lambda_req * T_dec},
            hint="The prefill gives the first token; the others take a step each.",
            vary={lambda_req: (100, 130, 160), S_out: (21, 41, 61)},
        ),
        Question(
            "Which of these can the engine change without changing a single token of an answer, apart from rounding?",
            choices=[
                (
                    "the size of blocks, of chunks and of drafts",
                    "They change what is read when, not what is computed.",
                    True,
                ),
                ("only the size of blocks", "Drafts are checked, and a chunk attends to all tokens before it.", False),
                ("none of them", "The model sees the same tokens in every case.", False),
            ],
        ),
        Question(
            "The loop takes a request only if the blocks of its whole answer will fit. What would happen if it took requests "
            "as long as any block is free?",
            choices=[
                ("answers would be wrong", "Blocks belong to one sequence at a time.", False),
                (
                    "the pool could run out in the middle of answers",
                    "Then a request has to give its blocks back and be prefilled again later, which is called preemption.",
                    True,
                ),
                ("fewer requests would run at a time", "More of them would run, until the pool is empty.", False),
            ],
        ),
        Question(
            "{B_seq:count} sequences decode, each with a draft of {n_draft:count} tokens. How many tokens do the matmuls of "
            "the step process?",
            answer=speculation.verified_batch,
            unit="1",
            noun="tokens",
            exact=True,
            given={"B_seq": 8, "n_draft": 3},
            mistakes={"The last known token is processed, too.": B_seq * n_draft},
            hint="A sequence brings its last known token and its draft.",
            vary={B_seq: (4, 8, 16), n_draft: (2, 3, 4)},
        ),
        Question(
            "Ten sequences decode in a step. How many times does the engine read each weight matrix of a layer?",
            predict=True,
            choices=[
                ("once", "The tokens of all sequences go through one matmul.", True),
                ("ten times", "That would be ten steps of one sequence.", False),
                ("never, it is in the cache", "The cache holds keys and values, not weights.", False),
            ],
            solution="Once. The tokens of all sequences are the rows of one matmul. This is why a batch raises the throughput: "
            "only the caches are read for each sequence.",
        ),
        Question(
            "You run the same requests three times: with whole prompts, with chunks of a prompt, and with drafts of a smaller "
            "model. Which runs give the same answers as a model without a cache?",
            predict=True,
            choices=[
                ("only the first", "A chunk sees all tokens before it, as in the whole prompt.", False),
                ("the first two", "A draft token is kept only if the model would have chosen it.", False),
                ("all three", "Each of them computes the same function of the same tokens.", True),
            ],
            solution="All three. A cache, blocks and chunks only change when keys and values are computed and where they are "
            "stored. Of a draft, the engine keeps the tokens that the model itself would have chosen.",
        ),
        Question(
            "The draft model agrees with the model in more than a third of the first tokens of a draft. How many tokens does a step "
            "with three drafted tokens yield?",
            predict=True,
            choices=[
                ("more than three", "Most drafts are refused at once.", False),
                ("between one and two", "There is always one, and every accepted token adds one more.", True),
                ("less than one", "The model's own token is always right.", False),
            ],
            solution="Between one and two. The model adds a token of its own to every draft, even to one that it refuses.",
        ),
    ],
)
