"""The search: what readers type finds what they mean, from every page, by keyboard alone, and from a file."""

import pytest
from browser.bookpages import PAGES

FIND = "(query) => globalThis.gpuscale.search.find(query)"
# What is typed, and the pages or places under chapters/ of which one has to come first.
OURS = [
    ("all-reduce", "rings_and_trees.html"),
    ("ring allreduce", "rings_and_trees.html"),
    ("NVLink bandwidth H100", "hardware_tables.html#row-links-of-a-gpu-h100-sxm"),
    ("FlashAttention", "parameters_and_flops.html#flashattention"),
    ("flash attention", "parameters_and_flops.html#flashattention"),
    ("ZeRO-3", "data_parallelism.html#zero-3"),
    ("oversubscription", "beyond_the_node.html#oversubscription"),
    ("why is my all-reduce slow", "theory_and_measurement.html"),
    ("how many microbatches", "pipeline_parallelism.html"),
    ("why is a ring optimal", "rings_and_trees.html#the-ring-is-bandwidth-optimal"),
    ("busbw of a broadcast", "formula_index.html#index-collectives-broadcast-bus"),
    ("how much memory does Adam need", "training_memory.html#fig-memory-of-training"),
    ("KV cache size of a 70B model", "training_memory.html#inference-the-kv-cache"),
    ("how many microbatches do I need", "pipeline_parallelism.html#bubble"),
    ("alpha-beta model", "theory_and_measurement.html#the-alpha-beta-model"),
    ("roofline", "roofline.html"),
    ("mixture of expert", "glossary.html#term-mixture-of-experts all_to_all.html"),
    ("paralell pipeline", "pipeline_parallelism.html"),
    ("occupancy", "inside_a_gpu.html#occupancy"),
    ("export my answers", "score.html"),
    ("gradient accumulation", "glossary.html#term-gradient-accumulation"),
    ("pipeline schedule figure", "pipeline_parallelism.html#stage-gpipe-and-1f1b"),
    ("ring all-reduce figure", "rings_and_trees.html#stage-ring"),
    ("race of all-reduces figure", "rings_and_trees.html#stage-race"),
    ("scheduler figure", "continuous_batching.html#stage-scheduler"),
    ("decode figure", "decode_and_prefill.html#stage-decode-step-by-bytes"),
    ("planner figure", "planner.html#stage-planner"),
]
# Written by a reader who knew the titles of the pages and their sections, and nothing of the search
NEWCOMER = [
    ("allreduce", "rings_and_trees primitives glossary"),
    ("all gather", "primitives rings_and_trees glossary"),
    ("reduce_scatter", "primitives rings_and_trees glossary"),
    ("how many GPUs do I need for 70B", "putting_it_together training_memory"),
    ("what is a rail", "beyond_the_node glossary"),
    ("warps", "inside_a_gpu glossary"),
    ("tensor core", "inside_a_gpu glossary hardware_tables"),
    ("T_comms", "notation formula_index"),
    ("H100 memory bandwidth", "hardware_tables memory_hierarchy"),
    ("B200 fp8 flops", "hardware_tables"),
    ("nvl72", "rack_scale inside_the_node glossary"),
    ("infinband", "beyond_the_node glossary"),
    ("nv switch", "inside_the_node glossary"),
    ("SHARP", "in_network_reduction glossary"),
    ("MFU", "parameters_and_flops glossary"),
    ("zero 3", "data_parallelism lab_data_parallelism glossary"),
    ("fsdp vs ddp", "data_parallelism lab_data_parallelism"),
    ("pipline bubble", "pipeline_parallelism cheat_sheet glossary"),
    ("1f1b schedule", "pipeline_parallelism lab_pipelines glossary"),
    ("DualPipe", "pipeline_parallelism glossary"),
    ("ring attention", "context_parallelism glossary"),
    ("kv cache size", "training_memory formula_index glossary decode_and_prefill continuous_batching"),
    ("gradient checkpointing", "training_memory parameters_and_flops glossary"),
    ("why is tensor parallelism limited to 8 gpus", "tensor_parallelism"),
    ("deepseek v3 expert parallelism", "expert_parallelism putting_it_together"),
    ("memory coalescing", "memory_hierarchy glossary"),
    ("nccl-tests busbw", "rings_and_trees lab_measure glossary"),
    ("fat tree oversubscription", "beyond_the_node glossary"),
    ("arithmetic intensity", "roofline glossary"),
    ("how to profile a cuda kernel with nsight", "lab_profiling"),
]
# What who runs or buys an engine for serving types
SERVING = [
    ("KV cache size", "decode_and_prefill training_memory.html#inference-the-kv-cache continuous_batching.html#paged"),
    ("Llama 3 70B KV cache per token", "training_memory.html#inference-the-kv-cache"),
    ("TTFT", "serving_planner decode_and_prefill.html#time-to-first-token glossary.html#term-time-to-first-token"),
    ("time per output token", "glossary.html#term-time-per-output-token serving_planner"),
    ("continuous batching", "continuous_batching.html"),
    ("in-flight batching", "continuous_batching.html glossary.html#term-continuous-batching"),
    ("vLLM", "measured_serving"),
    ("speculative decoding", "continuous_batching.html#speculative-decoding"),
    ("EAGLE", "continuous_batching.html#speculative-decoding"),
    ("disaggregation", "glossary.html#term-disaggregation serving_across_gpus.html#disaggregated-prefill"),
    ("prefill decode disaggregation", "serving_across_gpus.html#disaggregated-prefill-and-decode"),
    ("cost per million tokens", "continuous_batching.html#dollars-and-joules-per-token"),
    ("prefill chunk", "continuous_batching.html#chunked-prefill"),
    ("PagedAttention", "continuous_batching.html#paged-kv-cache-how-many-requests-fit"),
    ("tensor parallel latency decode", "serving_across_gpus.html#limit-of-tensor-parallelism-in-decode"),
    ("when is decode compute bound", "decode_and_prefill.html#critical-batch-size-with-a-kv-cache"),
    ("autoregressive decode", "decode_and_prefill"),
    ("wide EP", "serving_across_gpus.html#expert-parallelism-in-decode"),
    ("DP attention", "glossary.html#term-dp-attention serving_across_gpus.html#data-parallel-attention"),
    ("prefix caching", "glossary.html#term-prefix-cache"),
    ("int4 weights", "decode_and_prefill.html#quantization glossary.html#term-weight-only"),
    ("goodput", "serving_planner.html#throughput-within-limits"),
    ("tokens per second per GPU", "continuous_batching.html#throughput-against-speed-the-frontier"),
    ("how many GPUs to serve 70B", "serving_across_gpus serving_planner"),
]
# Written by a reader who trains, serves and opens the labs for the first time
FIRST_DAY = [
    ("how much does it cost to train a model", "parameters_and_flops.html#gpu-hours-and-days"),
    ("out of memory during training", "training_memory"),
    ("sequence length too long", "context_parallelism"),
    ("fp8 training", "training_memory roofline.html#low-precision"),
    ("gradient bucket size ddp", "lab_data_parallelism.html#gradient-buckets overlap.html#gradient-buckets"),
    ("a100 vs h100 memory", "memory_hierarchy.html#hbm-by-generation hardware_tables"),
    ("why is the first token slow", "decode_and_prefill.html#time-to-first-token"),
    ("why is decode slow", "decode_and_prefill.html"),
    ("queue of requests waiting", "continuous_batching.html"),
    ("preemption kv cache full", "continuous_batching.html#paged-kv-cache"),
    ("quantize kv cache", "decode_and_prefill.html#quantization"),
    ("torchrun hangs", "lab_collectives.html#a-deadlock-and-how-to-find-it"),
    ("compare my measured bandwidth with the formula", "lab_measure.html"),
    ("write a cuda kernel pytorch extension", "lab_profiling"),
    ("build a toy inference server", "lab_serving"),
]


@pytest.fixture(scope="module")
def found(visiting):
    """found("warps"): the results, on the page of the search as it is opened from a file."""
    with visiting() as page:
        page.open("search.html")
        page.wait_for_selector("#seek-here input")
        yield lambda query: page.evaluate(FIND, query)
        assert page.errors == []


@pytest.mark.parametrize(
    ("query", "expected"), [*OURS, *NEWCOMER, *SERVING, *FIRST_DAY], ids=lambda text: text.replace(" ", "_")[:40]
)
def test_the_first_result_is_what_is_meant(found, query, expected):
    paths = [one["path"] for one in found(query)["results"]]
    assert paths and paths[0].startswith(tuple(f"chapters/{place}" for place in expected.split())), paths[:4]


def test_every_result_leads_to_a_place_that_exists(found, site):
    pages = {}
    for query in ("all-reduce", "memory", "H100", "bubble", "T_step", "expert"):
        for one in found(query)["results"]:
            path, _, anchor = one["path"].partition("#")
            pages.setdefault(path, (site / path).read_text(encoding="utf-8"))
            assert not anchor or f'id="{anchor}"' in pages[path], one["path"]


def test_each_kind_can_be_found(found):
    kinds = {
        "roofline": "page", "ring all-reduce": "section", "Bus bandwidth of an all-to-all": "formula",
        "T_comms": "symbol", "oversubscription": "term", "H100 SXM HBM bandwidth": "hardware",
        "Peak of a GPU's links in one direction, not reached even at 10 GB": "ledger",
        "Sequence parallelism shards the activations that every GPU used to repeat": "figure",
        "What is the ridge point of an H100 SXM in bf16?": "question",
    }  # fmt: skip
    for query, kind in kinds.items():
        assert kind in [one["kind"] for one in found(query)["results"][:3]], query


def test_words_are_forgiven(found):
    """Spelling, plural, hyphens; what nothing has is said, and the rest is still found."""
    for typed in ("all-gather", "allgather", "All Gathers", "all gather"):
        assert "term-all-gather" in "".join(one["path"] for one in found(typed)["results"][:3]), typed
    for wrong, right in {
        "occupncy": "occupancy",
        "bisecton": "bisection",
        "oversubscribtion": "oversubscription",
    }.items():
        assert found(wrong)["results"][0]["path"] == found(right)["results"][0]["path"], wrong
    odd = found("ring qqqqqqqq")
    assert odd["strange"] == ["qqqqqqqq"] and odd["results"]
    assert found("zxqvzxqv") == {"results": [], "strange": ["zxqvzxqv"]}
    assert found("   ")["results"] == []


@pytest.mark.parametrize(("base", "width"), [("file", 1280), ("http", 390)])
def test_the_dialog_works_by_keyboard_alone(page, served, site, base, width):
    page.open(PAGES[3], base=served if base == "http" else site.as_uri(), width=width)
    page.keyboard.press("/" if base == "file" else "Control+k")
    page.wait_for_selector("#seek[open] input")
    page.keyboard.type("ring all-reduce")
    page.wait_for_selector("#seek mark")
    assert page.evaluate("() => document.querySelector('#seek').scrollWidth <= innerWidth")
    assert "results" in page.text_content("#seek [role=status]")
    first = page.text_content("#seek li:first-child b")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.textContent").startswith(first)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    assert page.locator("#seek[open]").count() == 0
    page.keyboard.press("/")
    page.wait_for_selector("#seek[open] mark")  # with what was typed before
    page.keyboard.press("Enter")
    page.wait_for_url("**/chapters/rings_and_trees.html*")
    assert page.errors == [] and page.outside == []


def test_a_closed_dialog_keeps_no_focus(page):
    """Not even until the next frame: a "/" typed at once has to open the search again."""
    page.open(PAGES[3])
    page.keyboard.press("/")
    page.wait_for_selector("#seek[open] input")
    escape = "new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true })"
    focused = f"() => {{ document.activeElement.dispatchEvent({escape}); return document.activeElement.tagName; }}"
    assert page.evaluate(focused) == "BODY"
    assert page.locator("#seek[open]").count() == 0


def test_a_slash_in_a_field_is_a_slash(page):
    page.open("exercises/hardware.html")
    field = page.locator(".quiz .answer input").first
    field.fill("")
    page.keyboard.press("/")
    assert field.input_value() == "/" and page.locator("#seek").count() == 0


def test_the_sentence_with_the_words_is_shown_and_marked(page):
    page.open(PAGES[3])
    page.click(".toc [data-seek]")
    page.fill("#seek input", "FlashAttention scores")
    page.wait_for_selector("#seek .seek-text mark")
    marks = {text.lower() for text in page.locator("#seek li:first-child mark").all_text_contents()}
    assert {"flashattention", "scores"} <= marks
    page.mouse.click(5, 5)  # outside the dialog
    assert page.locator("#seek[open]").count() == 0


def test_the_page_of_the_search_takes_a_query(page):
    page.open("search.html?q=zxqvzxqv")
    page.wait_for_selector("#seek-here [role=status]")
    assert "Nothing found; nothing has the word “zxqvzxqv”" in page.text_content("#seek-here")
    page.fill("#seek-here input", "roofline")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chapters/roofline.html*")
    assert page.errors == []
