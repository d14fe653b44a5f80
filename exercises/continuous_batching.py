"""Practice questions on continuous batching."""

from gpuscale import chip
from gpuscale.quiz import Question, QuestionSet
from gpuscale.serving import batching, cache_memory, speculation
from gpuscale.serving.given_decode import prefill, step
from gpuscale.specs import serving_row
from gpuscale.symbols import (
    B_seq,
    S,
    S_max,
    S_out,
    S_page,
    T_dec,
    T_pre,
    T_w,
    a_acc,
    lambda_req,
    n_draft,
    n_pool,
    r_draft,
    t_seq,
)

h100 = chip("h100_sxm")
one = step("llama3_8b", h100, context=2048)
T_weights, T_cache = one.V_w / h100.hbm_bw, one.V_kv / h100.hbm_bw
prompt = prefill("llama3_8b", h100, prompt=2048).bound
measured = {r.draft: r for r in (serving_row(f"trtblog1-mtp{n}") for n in range(6))}
first = measured[1].tokens_per_step - 1
equal = (1 - a_acc**4) / (1 - a_acc)
limit = B_seq / ((S_out - 1) * (T_w + B_seq * t_seq) + B_seq * T_pre)

questions = QuestionSet(
    "continuous_batching",
    "Continuous batching",
    intro="Questions on batches of requests, blocks of the KV cache, chunks, speculation and prices.",
    chapter="continuous_batching",
    questions=[
        Question(
            "{lambda_req:count} requests arrive per second, and each is in the system for {T_req:s} on average. How many "
            "requests are in the system?",
            answer=batching.requests_in_flight,
            given={"lambda_req": 12, "T_req": 9},
            unit="1",
            noun="requests",
            hint="Little's law: no other number is needed.",
            mistakes={"More requests per second mean more in the system, not fewer.": {"lambda_req": 1 / 12}},
        ),
        Question(
            "A server decodes for requests with {S_out:count} output tokens, at {T_dec:ms} per token. {lambda_req:count} "
            "requests arrive per second. How many sequences decode at a time?",
            answer=batching.little,
            given={"lambda_req": 8, "S_out": 251, "T_dec": 20e-3},
            unit="1",
            noun="sequences",
            hint="How long does a request stay in the batch? Prefill gives its first token.",
            mistakes={"A request stays for all of its tokens, not for one.": lambda_req * T_dec},
        ),
        Question(
            "How many blocks of {S_page:count} tokens does a sequence of {S:count} tokens take?",
            answer=cache_memory.blocks_of_sequence,
            given={"S": 1500, "S_page": 16},
            unit="1",
            noun="blocks",
            exact=True,
            hint="The last block may be partly empty.",
            mistakes={"The last tokens need a block, too.": S / S_page - 0.75},
        ),
        Question(
            "An engine has {n_pool:count} blocks of {S_page:count} tokens and accepts contexts of up to {S_max:count} "
            "tokens. What does it log as the number of such requests that fit?",
            answer=cache_memory.longest_concurrency,
            given={"n_pool": 30000, "S_page": 16, "S_max": 32768},
            unit="1",
            noun="requests",
            hint="How many tokens fit in all?",
            mistakes={"Blocks have several tokens.": n_pool / S_max},
        ),
        Question(
            "A server has room for {B_seq:count} sequences. A step takes {T_w:ms} and {t_seq:us} more for each sequence; a "
            "prefill takes {T_pre:ms}; answers have {S_out:count} tokens. At what rate of requests does the queue start to grow?",
            answer=batching.largest_rate,
            given={"B_seq": 100, "T_w": 6e-3, "t_seq": 40e-6, "T_pre": 50e-3, "S_out": 301},
            unit="/s",
            hint="Add up what a full batch costs: all its decode steps, and a prefill for each request.",
            mistakes={
                "Prefill takes time, too.": {"T_pre": 1e-12},
                "A full batch makes each step longer.": {"t_seq": 1e-12},
                "That is the rate for one request at a time.": 1 / ((S_out - 1) * (T_w + t_seq) + T_pre),
            },
        ),
        Question(
            "With {n_draft:count} draft tokens that are each accepted with a probability of {a_acc:%}, independent of each "
            "other, how many tokens does a step yield on average?",
            answer=speculation.tokens_per_step,
            given={"n_draft": 3, "a_acc": 0.8},
            unit="1",
            noun="tokens",
            hint="Draft token 2 counts only if token 1 is accepted. The model adds one token of its own.",
            mistakes={
                "A refused token ends the draft.": 1 + n_draft * a_acc,
                "The model adds a token of its own.": speculation.tokens_per_step.rhs - 1,
            },
        ),
        Question(
            "A step yields {a_step:1,2} tokens with {n_draft:count} draft tokens, each of which takes {r_draft:%} of the time "
            "of a step. By what factor is decode faster than without speculation?",
            answer=speculation.speculative_speedup,
            given={"a_step": 2.5, "n_draft": 4, "r_draft": 0.1},
            unit="1",
            hint="How long do the draft and the step that checks it take together, in steps?",
            mistakes={
                "The draft takes time, too.": {"r_draft": 1e-12},
                "All draft tokens take time, one after the other.": 2.5 / (1 + r_draft),
            },
        ),
        Question(
            "Which of these shortens the prefill of a request on a busy server whose memory is full?",
            choices=[
                ("a prefix cache that holds the beginning of the prompt", "Fewer tokens have to be processed.", True),
                ("a smaller chunk", "It shortens the gaps between tokens, but prefill takes more steps.", False),
                ("a larger limit of the batch", "There is no memory for more sequences.", False),
                ("speculative decoding", "It helps after the first token.", False),
            ],
        ),
        Question(
            "A static batch has 16 requests. Their answers have 100 to 1,000 tokens, 400 on average. The batch ends with its "
            "longest answer. In what fraction of its steps does a slot generate a token, on average?",
            predict=True,
            choices=[
                ("about 40%", "Each slot is occupied for as many steps as the longest answer has.", True),
                ("about 80%", "The mean is 400 of 1,000.", False),
                ("all of it", "A request that is done keeps its slot.", False),
            ],
            solution="About 40%: all slots are occupied for 1,000 steps, and 400 of them are useful on average. Continuous "
            "batching uses nearly all.",
        ),
        Question(
            "A paged cache has blocks of 16 tokens. What fraction of its memory do sequences of about 2,500 tokens waste?",
            predict=True,
            given={"S": 2500, "S_page": 16},
            choices=[
                (
                    "about 0.3%",
                    "Only the last block is partly empty.",
                    abs(cache_memory.paging_waste.rhs - 0.003) < 0.001,
                ),
                ("about 3%", "Half a block of 16 tokens is wasted, of 2,500.", cache_memory.paging_waste.rhs > 0.02),
                ("about 50%", "The last block is half empty, not all blocks.", cache_memory.paging_waste.rhs > 0.3),
            ],
            solution="About 0.3%. On average over many lengths, half of the last block is empty: 7.5 of about 2,500 tokens.",
        ),
        Question(
            "A server with unlimited memory is at half of its largest request rate. The rate grows by a half. What happens to "
            "the time per output token?",
            predict=True,
            choices=[
                ("it grows by a half", "The batch grows faster than the rate.", False),
                ("it about doubles", "What is left of each second falls from a half to a quarter.", True),
                ("it stays the same", "The caches of more sequences have to be read.", False),
            ],
            solution="It about doubles. Prefill and the reads of caches use half of each second at first, then three quarters. "
            "So the time left for weights falls from a half to a quarter, and a step takes twice as long.",
        ),
        Question(
            "A server with fewer GPUs than our example takes 20 ms for a decode step, and two seconds for a prompt of 32,000 "
            "tokens. Split into 100 chunks, the prompt takes part in 100 steps. What is the largest gap between two tokens of "
            "another user, without and with chunks?",
            predict=True,
            choices=[
                ("two seconds, and about 20 to 40 ms", "A chunk makes a step a little longer.", True),
                ("two seconds in both cases", "Between two chunks, all others decode.", False),
                ("20 ms in both cases", "A prompt that is processed whole stops all others.", False),
            ],
            solution="Two seconds without chunks: everyone waits for the whole prompt. With chunks, all others get a token in "
            "every step, so the gap is one step with a chunk. The new request waits for all of its chunks.",
        ),
    ],
)
