"""Quiz 6: serving. One token, many requests, many GPUs, and money; published claims are those of the ledger."""

from gpuscale import chip
from gpuscale.ledger import claim
from gpuscale.quiz import Question, QuestionSet
from gpuscale.serving import (
    across_gpus,
    batching,
    cache_memory,
    chunked_prefill,
    decode_bytes,
    decode_compute,
    decode_time,
    fleet,
    speculation,
)
from gpuscale.serving.given_decode import decode_inputs, prefill
from gpuscale.specs import serving_row
from gpuscale.symbols import (
    B,
    B_gpu,
    B_seq,
    C,
    D,
    L,
    N_gpu,
    P,
    P_emb,
    S,
    S_in,
    S_out,
    S_page,
    T,
    T_mem,
    T_pre,
    T_w,
    V_res,
    V_tok,
    V_w,
    W_hbm,
    W_nic,
    Y,
    a_acc_1,
    a_acc_2,
    a_acc_3,
    a_acc_4,
    a_acc_5,
    alpha,
    b,
    b_combine,
    b_dispatch,
    b_w,
    cost,
    cost_mtok,
    d_head,
    k,
    lambda_req,
    n_kv,
    p_gpu,
    r_dec,
    r_pre,
    r_tok,
    t_ar,
    t_seq,
)
from gpuscale.units.tables import day

h100, h200, b200, h800 = (chip(name) for name in ("h100_sxm", "h200_sxm", "b200_sxm", "h800_sxm"))
TABLES = "The hardware tables have the GPU and the dimensions of the model."


def inputs(formula, known, **more):
    """Those of the known quantities that a formula needs."""
    known = known | more
    return {q.name: known[q.name] for q in formula.inputs if q.name in known}


qwen, oss = decode_inputs("qwen3_32b"), decode_inputs("gpt_oss_120b", context=32768)
llama2, ds = decode_inputs("llama2_70b"), decode_inputs("deepseek_v3")
read = decode_bytes.weights_read
rate = W_hbm / read.rhs
window = decode_bytes.cache_token_windowed
latent = decode_compute.latent_intensity
heads = {name: ds[name] for name in ("n_q", "r_kv", "d_rope", "b")}
printed = claim("serving:rate-h200").published

one_token = [
    Question(
        heading="1. One token",
        ask="How many bytes of weights does a decode step of Qwen3 32B read, in bf16?",
        answer=read,
        unit="B",
        tolerance=0.004,
        given=inputs(read, qwen, b_w=2),
        mistakes={
            "That includes the embedding, of which a token reads one row.": b_w * P,
            "The output head is read in full.": b_w * (P - P_emb),
        },
        hint=f"{TABLES} Which of its matrices does a token not read in full?",
    ),
    Question(
        "Qwen3 32B in bf16 runs on a single B200. How many tokens per second does it generate at most for one user with a "
        "short conversation?",
        answer=rate,
        unit="/s",
        given=inputs(read, qwen, b_w=2) | {"W_hbm": b200.hbm_bw},
        mistakes={
            "That is the bandwidth of an H100.": {W_hbm: h100.hbm_bw},
            "That is with one byte per weight.": {b_w: 1},
        },
        hint="Each token reads all of the weights of the question above, and hardly any cache.",
    ),
    Question(
        f"Find the error: a page of benchmarks prints {printed:.0f} tokens per second for one user of Llama 2 70B in fp16 "
        "on one H200. By what factor does that exceed what the HBM allows, without speculation?",
        answer=r_tok / rate,
        unit="1",
        given=inputs(read, llama2, b_w=2) | {"r_tok": printed, "W_hbm": h200.hbm_bw},
        mistakes={
            "That is with one byte per weight.": {b_w: 1},
            "That is how many tokens per second the HBM allows.": rate,
        },
        hint="Compare the printed rate with the bandwidth over the bytes of a step. Each token is a step.",
        remark="A batch would explain such a throughput, but the page calls it the rate of one user.",
    ),
    Question(
        "gpt-oss-120b decodes for a sequence of {S:count} tokens, with its cache in bf16. How many bytes of cache does a "
        "step read?",
        answer=window,
        unit="B",
        given=inputs(window, oss),
        mistakes={
            "In half of the layers, a token sees only its window.": 2 * b * L * n_kv * d_head * S,
            "Keys and values are both read.": window.rhs / 2,
        },
        hint=f"{TABLES} Which of the layers have a sliding window?",
        vary={S: (8192, 16384, 32768, 65536)},
    ),
    Question(
        "Beyond which context does no batch make decode of Qwen3 32B in bf16 compute-bound on an H200? Leave out the FLOPs "
        "of attention.",
        answer=decode_time.longest_compute_bound,
        unit="1",
        noun="tokens",
        given=inputs(decode_time.longest_compute_bound, qwen, W_hbm=h200.hbm_bw, C=h200.bf16),
        mistakes={
            "That is on an H100, whose HBM is slower.": {"W_hbm": h100.hbm_bw},
            "A parameter takes two FLOPs per token.": decode_time.longest_compute_bound.rhs / 2,
        },
        hint="At which context does a cache take as long to read as its token takes to compute? The model has grouped heads.",
    ),
    Question(
        "Absorbed latent attention of DeepSeek-V3 decodes over a long context in bf16. Speculation lets a step work on "
        "{n_ask:count} tokens of a sequence. How many FLOPs does attention do per byte of cache?",
        answer=latent.approx,
        unit="FLOP/B",
        given=heads | {"n_ask": 2},
        mistakes={
            "That is for one token at a time.": {"n_ask": 1},
            "That is per element of the cache, and an element has two bytes.": {"b": 1},
        },
        hint="For each head, a cached token is multiplied once for its score and once for the weighted sum.",
        vary={"n_ask": (2, 3, 4)},
    ),
    Question(
        "Is that attention limited by the HBM of an H100, if the number of tokens of a sequence per step is {n_ask:count}?",
        given=[heads | {"n_ask": n, "C": h100.bf16, "W_hbm": h100.hbm_bw} for n in (1, 2)],
        choices=[
            ("yes", "Compare its intensity with the ridge point.", latent.approx < C / W_hbm),
            ("no", "Compare its intensity with the ridge point.", latent.approx >= C / W_hbm),
        ],
    ),
    Question(
        f"Find the error: an issue of a simulator lets three tokens of Mixtral 8x7B touch {claim('serving:experts-mixtral').published:.0f} "
        "experts of a layer. How many do {B:count} tokens touch on average, if routing is random?",
        answer=decode_bytes.experts_touched,
        unit="1",
        noun="experts",
        tolerance=0.01,
        given={"B": 3} | {name: decode_inputs("mixtral_8x7b")[name] for name in ("E", "k")},
        mistakes={"Some tokens share an expert.": k * B},
        hint="With which probability does no token choose a given expert?",
        fixed="the error is about three tokens",
    ),
]

# One server: two H200 with Qwen3 32B in bf16
PROMPT, ANSWER, PAGE, USABLE, GPUS = 3000, 401, 16, 0.9, 2
held = qwen["b_w"] * qwen["P"]
weights_time = read(**inputs(read, qwen)) / h200.hbm_bw / GPUS
cache_time = qwen["V_tok"] * batching.mean_context(S_in=PROMPT, S_out=ANSWER) / h200.hbm_bw / GPUS
prompt_time = prefill("qwen3_32b", h200, prompt=PROMPT, gpus=GPUS).bound
pool = {"N_gpu": GPUS, "f_mem": USABLE, "S_hbm": h200.hbm, "V_res": held, "S_page": PAGE, "V_tok": qwen["V_tok"]}
blocks = cache_memory.pool_blocks(**pool)
room = cache_memory.largest_batch(n_pool=blocks, S=PROMPT + ANSWER, S_page=PAGE)
work = {"T_w": weights_time, "t_seq": cache_time, "T_pre": prompt_time, "S_out": ANSWER}
SERVER = "Two H200s serve Qwen3 32B, weights and cache in bf16, and split every step evenly."
BOUNDS = "Take lower bounds for all times, and let each prefill stop the steps."
busy = {"lambda_req": 3.0} | work
three_drafted = speculation.tokens_per_step_measured.rhs.subs({a_acc_4: 0, a_acc_5: 0})

many_requests = [
    Question(
        heading="2. Many requests: size a server",
        ask=f"{SERVER} The engine may use {{f_mem:%}} of the HBM and needs no buffers. How many blocks of {{S_page:count}} "
        "tokens fit next to the weights?",
        answer=cache_memory.pool_blocks,
        unit="1",
        noun="blocks",
        tolerance=0.01,
        given=pool,
        mistakes={
            "The weights take memory, too.": {V_res: 1},
            "That is with all of the HBM.": {"f_mem": 1},
            "Those are tokens; a block has several.": cache_memory.pool_blocks.rhs * S_page,
        },
        hint=f"{TABLES} All parameters are stored, the embedding as well.",
    ),
    Question(
        f"Requests have {PROMPT:,} prompt tokens and {ANSWER} output tokens. How many fit into these blocks at the same time, "
        "if each may grow to its end?",
        answer=cache_memory.largest_batch,
        unit="1",
        noun="sequences",
        tolerance=0.01,
        given={"n_pool": blocks, "S": PROMPT + ANSWER, "S_page": PAGE},
        mistakes={"An answer needs blocks, too.": {"S": PROMPT}},
        hint="How many blocks of 16 tokens does one sequence have at its end?",
        fixed="they belong to the server of this part",
    ),
    Question(
        "With {B_seq:count} such sequences in the batch, at their mean context, how long does a decode step take at least? "
        "It is limited by memory bandwidth.",
        answer=T_w + B_seq * t_seq,
        unit="s",
        given={"B_seq": 64, "T_w": weights_time, "t_seq": cache_time},
        mistakes={
            "The weights are read, too.": B_seq * t_seq,
            "Each sequence reads a cache of its own.": T_w + t_seq,
            "Both GPUs read at the same time.": 2 * (T_w + B_seq * t_seq),
        },
        hint="The weights are read once for all. A sequence begins with its prompt and ends with its whole answer, too; take the "
        "mean.",
        vary={B_seq: (32, 64, 96, 128)},
    ),
    Question(
        f"At what rate of such requests does the queue start to grow, if the batch is as large as memory allows? {BOUNDS}",
        answer=batching.largest_rate,
        unit="/s",
        given=work | {"B_seq": room},
        mistakes={
            "Every request needs a prefill as well.": {T_pre: 0},
            "Steps read the caches, too.": {t_seq: 0},
        },
        hint="Add up what a full batch of requests costs: their decode steps together, and a prefill each.",
        fixed="they belong to the server of this part",
    ),
    Question(
        f"{{lambda_req:count}} such requests arrive per second. How long is a decode step on average in the steady "
        f"state, stops for prefill included? {BOUNDS}",
        answer=batching.steady_step,
        unit="s",
        given=busy,
        mistakes={
            "That is a step with the weights alone.": T_w,
            "Prefill takes a part of each second, too.": {T_pre: 0},
        },
        hint="What part of each second do caches and prefills take? The rest is left for the reads of the weights.",
        vary={lambda_req: (2, 3, 4)},
    ),
    Question(
        "And how many of these requests decode at a time on average, with {lambda_req:count} arrivals per second?",
        answer=batching.steady_batch,
        unit="1",
        noun="sequences",
        given=busy,
        mistakes={
            "That leaves out the prefills.": {T_pre: 0},
            "That is one step's worth of arrivals.": lambda_req * batching.steady_step.rhs,
        },
        hint="Little's law: a request stays for all its decode steps.",
        vary={lambda_req: (2, 3, 4)},
    ),
    Question(
        "A step that also processes a chunk of a prompt may take {T_mix:ms}, and {B_seq:count} sequences decode. How many "
        "prompt tokens can the chunk have at most, if the matmuls take the whole step?",
        answer=chunked_prefill.chunk_within,
        unit="1",
        noun="tokens",
        given=inputs(chunked_prefill.chunk_within, qwen, T_mix=40e-3, B_seq=64, C=GPUS * h200.bf16),
        mistakes={"There are two GPUs.": {"C": h200.bf16}},
        hint="How many FLOPs do two H200s do in that time? A token takes two per parameter.",
        vary={B_seq: (32, 64), "T_mix": (30e-3, 40e-3, 50e-3)},
    ),
    Question(
        "A server drafts three tokens. The first is accepted in {a_acc_1:%} of the steps, the second in {a_acc_2:%} of those "
        "in which the first was, and the third in {a_acc_3:%} of those in which both were. How many tokens does a step yield?",
        answer=three_drafted,
        unit="1",
        noun="tokens",
        given={"a_acc_1": 0.9, "a_acc_2": 0.7, "a_acc_3": 0.5},
        tolerance=0.01,
        mistakes={
            "That takes the first acceptance for all of them.": {a_acc_2: a_acc_1, a_acc_3: a_acc_1},
            "A rejected token ends the draft.": 1 + a_acc_1 + a_acc_2 + a_acc_3,
            "The model adds a token of its own.": three_drafted - 1,
        },
        hint="A token counts only if all tokens before it were accepted.",
    ),
    Question(
        "Another server has several hundred sequences in its batch, all with short contexts, and compute limits its steps. "
        "What does speculation do to its throughput?",
        choices=[
            ("it raises it by the tokens per step", "The check takes as many FLOPs as all drafted tokens.", False),
            ("it doesn't change it", "Rejected tokens cost FLOPs, too.", False),
            ("it lowers it", "Each rejected token costs FLOPs and yields nothing.", True),
        ],
    ),
]

ds_fp8 = decode_inputs("deepseek_v3", "fp8", "bf16")
attention_bytes = ds_fp8["b_w"] * ds_fp8["L"] * ds_fp8["P_attn"]
spread = {
    "N_gpu": 16,
    "Y": 1,
    "f_mem": USABLE,
    "S_hbm": h200.hbm,
    "V_res": ds_fp8["b_w"] * ds_fp8["P"],
    "V_attn": attention_bytes,
    "V_tok": ds_fp8["V_tok"],
    "n_kv": 1,
}
fits = across_gpus.data_parallel_attention
swap = {
    "B_gpu": 128,
    "k": ds["k"],
    "D": ds["D"],
    "b_dispatch": 1,
    "b_combine": 2,
    "Z": 32,
    "G": 8,
    "W_nic": h800.nic_bw,
}
swap |= {"alpha": 20e-6}
exchange = across_gpus.expert_parallel_exchange
many_gpus = [
    Question(
        heading="3. Many GPUs",
        ask="DeepSeek-V3 is split over {Y:count} GPUs by tensor parallelism, also in attention, with its cache in bf16. How "
        "many bytes of cache does each GPU store per token?",
        answer=across_gpus.cache_per_gpu,
        unit="B",
        given={"V_tok": ds["V_tok"], "Y": 8, "n_kv": 1},
        mistakes={
            "All heads use the same latent vector, so each GPU needs all of it.": V_tok / Y,
        },
        hint="Latent attention stores a latent vector and a rotary key per layer. Which heads use them?",
    ),
    Question(
        "Sixteen H200s serve DeepSeek-V3, weights in fp8 and cache in bf16. With DP attention on every GPU, and experts "
        "spread over all, how many tokens of cache fit? The engine may use {f_mem:%} of the HBM.",
        answer=fits,
        unit="1",
        noun="tokens",
        given=spread,
        mistakes={
            "That is with tensor parallelism in attention.": {Y: 16},
            "Each GPU stores all weights of attention.": {"V_attn": 0},
        },
        hint="Subtract all weights once, and those of attention 15 times more. Each latent vector is stored once.",
        fixed="they belong to one server",
    ),
    Question(
        "What happens to that number, roughly, if all sixteen GPUs shard attention by tensor parallelism instead?",
        given=spread,
        choices=[
            (
                "it grows a little",
                "The weights of attention take less room, but what about the cache?",
                fits.rhs.subs(Y, N_gpu) > fits.rhs,
            ),
            (
                "it falls to less than a tenth",
                "Every GPU stores the same latent vectors.",
                10 * fits.rhs.subs(Y, N_gpu) < fits.rhs,
            ),
            (
                "it halves",
                "How many GPUs store each latent vector?",
                abs(fits.rhs.subs(Y, N_gpu) / fits.rhs - 0.5) < 0.2,
            ),
        ],
    ),
    Question(
        "Qwen3 32B decodes in bf16 for one user on {Y:count} H200s. An all-reduce takes {t_ar:us}. How long does a step take "
        "at least, if all of its all-reduces are exposed?",
        answer=across_gpus.decode_tensor_parallel,
        unit="s",
        given={"T_mem": weights_time * GPUS, "Y": 8, "L": qwen["L"], "t_ar": 8e-6, "t_layer": 0},
        mistakes={
            "Each layer has two all-reduces.": T_mem / Y + L * t_ar,
            "The all-reduces take time, too.": T_mem / Y,
        },
        hint="Reading takes an eighth of the time on one GPU. How many layers does the model have?",
        vary={Y: (4, 8), t_ar: (6e-6, 8e-6, 10e-6)},
    ),
    Question(
        "DeepSeek-V3 decodes with expert parallelism over {Z:count} H800s in nodes of {G:count}, with {B_gpu:count} tokens "
        "per GPU. Dispatch is in fp8 and combine in bf16, each with a latency of {alpha:us}. How long do both take per "
        "layer, if each copy of a token crosses the NIC by itself?",
        answer=exchange,
        unit="s",
        given=swap,
        mistakes={
            "A quarter of the experts is in the token's own node.": 2 * alpha
            + B_gpu * k * D * (b_dispatch + b_combine) / W_nic,
            "Each token is sent to several experts.": {k: 1},
        },
        hint="Of 32 GPUs, 24 are in other nodes. The hardware tables have the NIC.",
        vary={B_gpu: (64, 128, 256)},
    ),
    Question(
        f"Find the error: a benchmark of expert parallelism prints {claim('serving:deepep-rdma').published / 1e9:.0f} GB/s of RDMA bandwidth "
        "per GPU for eight H800s of one node. What is wrong?",
        choices=[
            ("the GPU has two NICs", "A node has one NIC per GPU.", False),
            (
                "bytes that NVLink carries are counted",
                "Within a node nothing has to cross a NIC, so the bandwidth of a NIC is no limit.",
                True,
            ),
            ("both directions are added", "The bytes of a dispatch are counted once.", False),
        ],
    ),
    Question(
        "A prefill of {S_in:count} tokens of Qwen3 32B in bf16 takes {T_pre:ms}. Which bandwidth to the GPUs that decode "
        "hides the handover of its cache?",
        answer=fleet.handover_bandwidth,
        unit="B/s",
        given={"V_tok": qwen["V_tok"], "S_in": 4000, "T_pre": 0.3},
        mistakes={"Keys and values are both handed over.": V_tok * S_in / T_pre / 2},
        hint="Cache bytes of the prompt, over the time in which they are computed.",
        vary={S_in: (2000, 4000, 8000), T_pre: (0.2, 0.3, 0.4)},
    ),
]

said = serving_row("deepseek-day6-nodes").also
nodes = inputs(
    fleet.fleet_size,
    {
        "lambda_req": 1 / day,
        "S_in": said["input_tokens_per_day"],
        "S_out": said["output_tokens_per_day"],
        "S_hit": 0,
        "r_pre": said["input_tokens_per_s_and_node"],
        "r_dec": said["output_tokens_per_s_and_node"],
    },
)
bill = {"N_gpu": round(fleet.fleet_size(**nodes)) * said["gpus_per_node"], "p_gpu": said["usd_per_gpu_hour"], "T": day}
daily = N_gpu * p_gpu * T / 3600
cheap = claim("serving:cheaper").published
money = [
    Question(
        heading="4. Money: DeepSeek's day",
        ask="On one day, DeepSeek's service read {S_in:count} prompt tokens and wrote {S_out:count} tokens. A node reads "
        "{r_pre:count} prompt tokens per second, those from the prefix cache included, or writes {r_dec:count}. How many "
        "nodes are busy on average?",
        answer=fleet.fleet_size,
        unit="1",
        noun="nodes",
        tolerance=0.01,
        given=nodes,
        mistakes={
            "Some nodes prefill.": lambda_req * S_out / r_dec,
            "Some nodes decode.": lambda_req * S_in / r_pre,
        },
        hint="A day has 86,400 seconds. Divide the tokens of each kind by the rate of a node.",
        fixed="DeepSeek's numbers",
    ),
    Question(
        "Each node has eight GPUs, and a GPU costs {p_gpu:USD/h}. What do the nodes of the question above cost on that day?",
        answer=daily,
        unit="USD",
        tolerance=0.01,
        given=bill,
        mistakes={"That is one GPU per node.": daily / 8, "That is one hour.": daily / 24},
        hint="Multiply nodes, GPUs per node, hours and price.",
        fixed="DeepSeek's numbers",
    ),
    Question(
        "What does a million output tokens cost on that day, if the output tokens pay for everything?",
        answer=10**6 * daily / S_out,
        unit="USD",
        given=bill | {"S_out": said["output_tokens_per_day"]},
        mistakes={"That is per thousand tokens.": 10**3 * daily / S_out},
        hint="Divide the cost of the day by the tokens that were written.",
        fixed="DeepSeek's numbers",
    ),
    Question(
        f"Find the error: a report on the same model prints {claim('serving:lmsys-price').published:.2f} dollars per million output "
        "tokens. Its GPUs cost as much per hour, and those that decode write at the rate that the price implies. What does "
        "the price leave out?",
        choices=[
            ("the GPUs that prefill", "The prompt has to be paid for, too.", True),
            ("the GPUs that decode", "The price is exactly theirs.", False),
            ("the prefix cache", "It would make the prompts cheaper, not the output.", False),
        ],
    ),
    Question(
        f"Find the error: a comparison calls a million tokens for {{cost_mtok:USD}} {cheap:.0%} cheaper than for {{cost:USD}}. How "
        "many percent cheaper are they?",
        answer=1 - cost_mtok / cost,
        unit="%",
        tolerance=0.01,
        given={"cost_mtok": 0.022, "cost": 0.179},
        mistakes={"That is what is left of the price, not what is saved.": cost_mtok / cost},
        hint="By what part does the price fall?",
        fixed="the comparison's numbers",
    ),
    Question(
        "At which batch does a step of Qwen3 32B in bf16 read as many bytes of cache as of weights, with {S:count} tokens "
        "per sequence?",
        answer=V_w / (S * V_tok),
        unit="1",
        noun="sequences",
        given={"V_w": read(**inputs(read, qwen)), "S": 4096, "V_tok": qwen["V_tok"]},
        mistakes={"That is in tokens, not in sequences.": V_w / V_tok},
        hint="Divide the bytes of weights of a step by the cache of one sequence.",
        remark="Beyond this knee of the frontier, throughput costs more and more speed per user.",
        vary={S: (2048, 4096, 8192)},
    ),
    Question(
        "A GPU decodes {r_tok:count} tokens per second and costs {p_gpu:USD/h}. The fleet is {f_busy:%} busy on "
        "average. What does a million tokens cost?",
        answer=fleet.dollars_per_million,
        unit="USD",
        given={"r_tok": 900, "p_gpu": 2.0, "f_busy": 0.5},
        mistakes={"An idle GPU costs as much as a busy one.": {"f_busy": 1}},
        hint="How many tokens does it serve in an hour?",
        vary={r_tok: (600, 900, 1200)},
    ),
]

questions = QuestionSet(
    "serving",
    "Quiz 6: Serving",
    intro="Questions on serving language models in four parts: one token, many requests, many GPUs, and money. The second "
    "part sizes a server, and the last one works out DeepSeek's published day. Five questions look for an error in a "
    "published number. The numbers of GPUs and models are in the [hardware tables](../chapters/hardware_tables.ipynb). The "
    "questions cover [Decode and prefill](../chapters/decode_and_prefill.ipynb), [Continuous "
    "batching](../chapters/continuous_batching.ipynb) and [Serving across GPUs]"
    "(../chapters/serving_across_gpus.ipynb).",
    questions=[*one_token, *many_requests, *many_gpus, *money],
)
