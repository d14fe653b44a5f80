"""Configurations of Hugging Face: the published ones give the published counts, and what is not known is refused."""

import json

import pytest

from gpuscale import specs
from gpuscale.llm import counts
from gpuscale.specs import SpecError, hugging_face

COMMON = {
    "architectures": ["ForCausalLM"],
    "torch_dtype": "bfloat16",
    "transformers_version": "4.57.0",
    "use_cache": True,
}
COMMON |= {"bos_token_id": 1, "eos_token_id": [2, 3], "initializer_range": 0.02, "hidden_act": "silu"}


def sizes(kind, layers, width, ff, heads, kv, vocab, **more) -> dict:
    """A configuration as it is published, with the fields of its type in ``more``."""
    names = (
        "model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads vocab_size"
    )
    said = dict(zip(names.split(), (kind, layers, width, ff, heads, kv, vocab), strict=True))
    return COMMON | {"max_position_embeddings": 32768} | said | more


LLAMA = {
    "attention_bias": False,
    "attention_dropout": 0.0,
    "mlp_bias": False,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-5,
}
LLAMA |= {"rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "rope_theta": 5e5, "tie_word_embeddings": False}
QWEN = {"attention_dropout": 0.0, "max_window_layers": 28, "sliding_window": None, "use_sliding_window": False}
QWEN |= {"rope_scaling": None, "tie_word_embeddings": False, "use_mrope": False}
QWEN3 = QWEN | {"attention_bias": False, "head_dim": 128}
QWEN3_MOE = QWEN3 | {"decoder_sparse_step": 1, "mlp_only_layers": [], "num_experts": 128, "num_experts_per_tok": 8}
QWEN3_MOE |= {"norm_topk_prob": True, "output_router_logits": False, "router_aux_loss_coef": 0.001}
LATENT = {"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
DEEPSEEK = LATENT | {
    "moe_layer_freq": 1,
    "ep_size": 1,
    "seq_aux": True,
    "aux_loss_alpha": 0.001,
    "attention_bias": False,
}
DEEPSEEK |= {"routed_scaling_factor": 2.5, "auto_map": {}, "norm_topk_prob": True, "scoring_func": "sigmoid"}
DEEPSEEK |= {"quantization_config": {"quant_method": "fp8"}, "num_experts_per_tok": 8, "tie_word_embeddings": False}
SOFT = {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "query_pre_attn_scalar": 224}
OSS = {"head_dim": 64, "attention_bias": True, "sliding_window": 128, "experts_per_token": 4, "num_experts_per_tok": 4}
OSS |= {"initial_context_length": 4096, "swiglu_limit": 7.0, "router_aux_loss_coef": 0.9, "tie_word_embeddings": False}


def alternating(layers: int) -> list[str]:
    return ["sliding_attention", "full_attention"] * (layers // 2)


CONFIGS = {
    "llama3_8b": (sizes("llama", 32, 4096, 14336, 32, 8, 128256, **LLAMA), 8_030_261_248),
    "llama3_70b": (sizes("llama", 80, 8192, 28672, 64, 8, 128256, **LLAMA), 70_553_706_496),
    "llama3_405b": (sizes("llama", 126, 16384, 53248, 128, 8, 128256, **LLAMA), 405_853_388_800),
    "mistral_7b": (sizes("mistral", 32, 4096, 14336, 32, 8, 32768, head_dim=128, sliding_window=None), 7_248_023_552),
    "mixtral_8x7b": (
        sizes("mixtral", 32, 4096, 14336, 32, 8, 32000, num_local_experts=8, num_experts_per_tok=2, sliding_window=None)
        | {"router_jitter_noise": 0.0, "output_router_logits": False},
        46_702_792_704,
    ),
    "qwen2.5_7b": (sizes("qwen2", 28, 3584, 18944, 28, 4, 152064, **QWEN | {"sliding_window": 131072}), 7_615_616_512),
    "qwen1.5_moe": (
        sizes("qwen2_moe", 24, 2048, 5632, 16, 16, 151936, **QWEN | {"sliding_window": 32768})
        | {"moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60}
        | {"num_experts_per_tok": 4, "decoder_sparse_step": 1},
        14_315_784_192,
    ),
    "qwen3_8b": (sizes("qwen3", 36, 4096, 12288, 32, 8, 151936, **QWEN3), 8_190_735_360),
    "qwen3_32b": (sizes("qwen3", 64, 5120, 25600, 64, 8, 151936, **QWEN3), 32_762_123_264),
    "qwen3_30b_a3b": (
        sizes("qwen3_moe", 48, 2048, 6144, 32, 4, 151936, **QWEN3_MOE, moe_intermediate_size=768),
        30_532_122_624,
    ),
    "qwen3_235b_a22b": (
        sizes("qwen3_moe", 94, 4096, 12288, 64, 4, 151936, **QWEN3_MOE, moe_intermediate_size=1536),
        235_093_634_560,
    ),
    "gemma_7b": (sizes("gemma", 28, 3072, 24576, 16, 16, 256000, head_dim=256), 8_537_680_896),
    "gemma2_9b": (
        sizes("gemma2", 42, 3584, 14336, 16, 8, 256000, head_dim=256, sliding_window=4096, **SOFT)
        | {"sliding_window_size": 4096},
        9_241_705_984,
    ),
    "gemma3_1b": (
        sizes("gemma3_text", 26, 1152, 6912, 4, 1, 262144, head_dim=256, sliding_window=512, sliding_window_pattern=6),
        999_885_952,
    ),
    "deepseek_v2": (
        sizes("deepseek_v2", 60, 5120, 12288, 128, 128, 102400, **DEEPSEEK | {"num_experts_per_tok": 6}, n_group=8)
        | {"n_routed_experts": 160, "n_shared_experts": 2, "first_k_dense_replace": 1, "moe_intermediate_size": 1536}
        | {"topk_group": 3, "topk_method": "group_limited_greedy"},
        235_741_434_880,
    ),
    "deepseek_v2_lite": (
        sizes("deepseek_v2", 27, 2048, 10944, 16, 16, 102400, **DEEPSEEK | {"num_experts_per_tok": 6}, n_group=1)
        | {"n_routed_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 1, "moe_intermediate_size": 1408}
        | {"topk_group": 1, "topk_method": "greedy", "q_lora_rank": None},
        15_706_484_224,
    ),
    "deepseek_v3": (
        sizes(
            "deepseek_v3",
            61,
            7168,
            18432,
            128,
            128,
            129280,
            **DEEPSEEK,
            n_group=8,
            topk_group=4,
            topk_method="noaux_tc",
        )
        | {"n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3, "moe_intermediate_size": 2048}
        | {"num_nextn_predict_layers": 1},
        671_026_419_200,
    ),
    "kimi_k2": (
        sizes("kimi_k2", 61, 7168, 18432, 64, 64, 163840, **DEEPSEEK, n_group=1, topk_group=1, topk_method="noaux_tc")
        | {"n_routed_experts": 384, "n_shared_experts": 1, "first_k_dense_replace": 1, "moe_intermediate_size": 2048}
        | {"num_nextn_predict_layers": 0},
        1_026_408_232_448,
    ),
    "glm_4.5": (
        sizes("glm4_moe", 92, 5120, 12288, 96, 8, 151552, head_dim=128, attention_bias=True, use_qk_norm=True)
        | {"n_routed_experts": 160, "n_shared_experts": 1, "first_k_dense_replace": 3, "moe_intermediate_size": 1536}
        | {
            "num_experts_per_tok": 8,
            "n_group": 1,
            "topk_group": 1,
            "norm_topk_prob": True,
            "partial_rotary_factor": 0.5,
        }
        | {"routed_scaling_factor": 2.5, "num_nextn_predict_layers": 1, "tie_word_embeddings": False},
        358_337_791_296 - 5_539_962_272,  # the checkpoint, without its layer of multi-token prediction
    ),
    "gpt_oss_120b": (
        sizes("gpt_oss", 36, 2880, 2880, 64, 8, 201088, **OSS, num_local_experts=128, layer_types=alternating(36)),
        116_829_156_672,
    ),
    "gpt_oss_20b": (
        sizes("gpt_oss", 24, 2880, 2880, 64, 8, 201088, **OSS, num_local_experts=32, layer_types=alternating(24)),
        20_914_757_184,
    ),
    "gpt_neox_20b": (
        {k: v for k, v in sizes("gpt_neox", 44, 6144, 24576, 64, 0, 50432).items() if k != "num_key_value_heads"}
        | {"rotary_pct": 0.25, "rotary_emb_base": 10000, "use_parallel_residual": True, "layer_norm_eps": 1e-5}
        | {"hidden_dropout": 0.0, "attention_dropout": 0.0, "tie_word_embeddings": False}
        | {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0},
        20_554_567_680,
    ),
}


@pytest.fixture
def put(tmp_path):
    def write(config: dict) -> str:
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        return str(tmp_path / "config.json")

    return write


@pytest.mark.parametrize("name", CONFIGS)
def test_published_counts_come_out_to_the_last_parameter(put, name):
    """What the formulas leave out is counted next to them, and is less than a thousandth."""
    config, published = CONFIGS[name]
    model = specs.model(put(config))
    left = model.get("uncounted", 0)
    assert counts(model).P + left == published and left < published / 1000
    assert not left or f"({left:,})" in model.note or model.note.count("(") > 1


SAME = "llama3_8b llama3_70b llama3_405b mixtral_8x7b deepseek_v3 gpt_oss_120b"
FREE = {"max_tokens", "params", "active_params", "checkpoint", "uncounted", "head_dim"}  # not in a file, or otherwise


@pytest.mark.parametrize("name", SAME.split())
def test_shipped_models_are_those_of_their_configurations(put, name):
    ours, theirs = specs.model(name), specs.model(put(CONFIGS[name][0]))
    assert counts(ours) == counts(theirs)
    for field in theirs.fields:
        assert field in FREE or ours.get(field, 1) == theirs.get(field), field
    assert not {f for f in ours.fields if not f.startswith("train") and f not in FREE} - set(theirs.fields)


def test_queries_without_compression_have_one_matrix(put):
    """DeepSeek-V2-Lite: 15.7 billion parameters, of which 2.4 work on a token (embedding aside)."""
    config, _ = CONFIGS["deepseek_v2_lite"]
    found = counts(specs.model(put(config)))
    queries, latent, result = 2048 * 16 * 192, 2048 * 576 + 512 * 16 * 256, 16 * 128 * 2048
    assert found.P_attn == queries + latent + result
    assert f"{found.P / 1e9:.1f}" == "15.7" and f"{int(found.P_act / 1e8) / 10}" == "2.4"
    missing = {name: value for name, value in config.items() if name != "q_lora_rank"}
    with pytest.raises(specs.SpecError, match="field 'q_lora_rank': is missing"):
        specs.model(put(missing))


def test_a_folder_and_a_path_are_as_good_as_a_name(put, tmp_path):
    path = put(CONFIGS["llama3_8b"][0])
    assert specs.model(tmp_path) == specs.model(tmp_path / "config.json")
    assert counts(path).P == 8_030_261_248
    assert specs.model(path).title == f"Llama, {path}" and "num_hidden_layers" in repr(specs.model(path).about())


WINDOWS = {
    "mistral": (sizes("mistral", 32, 4096, 14336, 32, 8, 32000, sliding_window=4096), (4096, 32)),
    "qwen2": (
        sizes(
            "qwen2",
            28,
            3584,
            18944,
            28,
            4,
            152064,
            **QWEN | {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 20},
        ),
        (4096, 8),
    ),
    "gemma2": (CONFIGS["gemma2_9b"][0], (4096, 21)),
    "gemma3": (CONFIGS["gemma3_1b"][0], (512, 22)),
    "gpt_oss": ({k: v for k, v in CONFIGS["gpt_oss_120b"][0].items() if k != "layer_types"}, (128, 18)),
    "listed": (CONFIGS["qwen3_8b"][0] | {"sliding_window": 64, "layer_types": alternating(36)}, (64, 18)),
    "none": (CONFIGS["qwen3_8b"][0] | {"layer_types": ["full_attention"] * 36}, (None, None)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_layers_with_a_window(put, name):
    config, want = WINDOWS[name]
    model = specs.model(put(config))
    assert (model.get("window"), model.get("window_layers")) == want


def test_a_text_model_inside_and_what_its_type_fills_in(put):
    """Gemma 3 4B states neither heads nor vocabulary: 3.88e9 parameters, and a vision encoder that is not counted."""
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    text |= {"sliding_window": 1024, "rope_scaling": None}
    model = specs.model(
        put({"model_type": "gemma3", "text_config": text, "vision_config": {}, "mm_tokens_per_image": 256})
    )
    assert counts(model).P + model.uncounted == 3_880_263_168
    assert model.window_layers == 29 and model.note.startswith("text model alone")
    assert "what the type has" in model.spec("heads").basis


def test_biases_of_attention_are_counted_beside_and_those_of_all_matrices_within(put):
    config = CONFIGS["llama3_8b"][0]
    attention = specs.model(put(config | {"attention_bias": True}))
    assert attention.uncounted == 32 * (128 * 48 + 4096) and "biases" not in attention
    both = specs.model(put(config | {"attention_bias": True, "mlp_bias": True}))
    assert counts(both).P - counts("llama3_8b").P == 32 * (128 * 48 + 4096 + 2 * 14336 + 4096)
    assert counts(specs.model(put(config | {"tie_word_embeddings": True}))).P == 8_030_261_248 - 128256 * 4096
    assert specs.model(put(config | {"num_key_value_heads": None})).kv_heads == 32


L, Q, D, M = (CONFIGS[name][0] for name in ("llama3_8b", "qwen3_30b_a3b", "deepseek_v3", "qwen1.5_moe"))
REFUSED = {
    "type": (L | {"model_type": "mamba"}, "field 'model_type': 'mamba' is not known; expected one of llama, mistral"),
    "no type": ({"hidden_size": 1}, "field 'model_type': is missing"),
    "strange": (L | {"num_loops": 2, "altup": 1}, "unknown fields altup, num_loops; expected fields that are known"),
    "misspelt": (L | {"hiden_size": 4096}, r"unknown field hiden_size \(did you mean hidden_size\?\); expected fields"),
    "a list for a type": (L | {"model_type": ["llama"]}, r"field 'model_type': value \['llama'\]; expected a word"),
    "huge": (L | {"hidden_size": 10**30}, "field 'hidden_size': value 10{30}; expected a whole number, 1,000,000,000"),
    "no text model": ({"model_type": "gemma3"}, "field 'text_config': is missing; expected an object with the fields"),
    "text model of no kind": ({"model_type": "gemma3", "text_config": 7}, "field 'text_config': value 7; expected an"),
    "missing": (
        {k: v for k, v in L.items() if k != "hidden_size"},
        "field 'hidden_size': is missing; expected a whole",
    ),
    "head_dim": ({k: v for k, v in Q.items() if k != "head_dim"}, "field 'head_dim': is missing"),
    "text": (
        L | {"num_hidden_layers": "32"},
        "field 'num_hidden_layers': value '32'; expected a whole number, 1 or more",
    ),
    "zero": (L | {"hidden_size": 0}, "field 'hidden_size': value 0"),
    "flag": (L | {"tie_word_embeddings": "no"}, "field 'tie_word_embeddings': value 'no'; expected true or false"),
    "kv": (L | {"num_key_value_heads": 5}, "expected a divisor of the 32 query heads"),
    "width": (L | {"num_attention_heads": 24}, "expected a multiple of the 24 heads, or head_dim"),
    "bias": (L | {"mlp_bias": True}, "field 'mlp_bias': value True; expected false, or attention_bias"),
    "window": (L | {"sliding_window": 4096}, "field 'sliding_window': value 4096; expected null"),
    "listed": (
        L | {"layer_types": ["linear_attention"] * 32},
        "field 'layer_types': .*; expected 32 of full_attention",
    ),
    "sparse": (Q | {"decoder_sparse_step": 2}, "field 'decoder_sparse_step': value 2; expected 1"),
    "only": (Q | {"mlp_only_layers": [3]}, r"field 'mlp_only_layers': value \[3\]; expected the first layers"),
    "active": (Q | {"num_experts_per_tok": 129}, "field 'num_experts_per_tok': value 129; expected at most 128"),
    "shared": (M | {"shared_expert_intermediate_size": 5000}, "expected a multiple of 1408"),
    "latent": (D | {"kv_lora_rank": None}, "field 'kv_lora_rank': is null"),
    "two windows": (
        CONFIGS["gemma2_9b"][0] | {"sliding_window_size": 8192},
        "field 'sliding_window_size': value 8192; expected 4096, as sliding_window says",
    ),
    "latent heads": (D | {"num_key_value_heads": 8}, "expected 128, one per query head"),
    "dense": (D | {"first_k_dense_replace": 61}, "expected fewer than the 61 layers"),
    "left out": (Q | {"vocab_size": 10, "hidden_size": 16, "moe_intermediate_size": 4}, "to be below 1%"),
}


@pytest.mark.parametrize(("config", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_known_is_named(put, config, said):
    with pytest.raises(SpecError, match=said) as found:
        specs.model(put(config))
    assert "config.json" in str(found.value)


def test_files_that_are_none(put, tmp_path):
    with pytest.raises(
        SpecError, match=r"meta/Llama: cannot be read \(No such file or directory\); expected a config.json"
    ):
        specs.model("meta/Llama")
    wrong = {"{": "is not JSON", "[]": "is not a JSON object", '{"a":' + "[" * 10**5: "is not JSON"}
    wrong['{"hidden_size": 1, "hidden_size": 2}'] = r"is not JSON \(field hidden_size is there twice\)"
    for text, said in wrong.items():
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(SpecError, match=said):
            specs.model(tmp_path / "x.json")
    with pytest.raises(specs.UnknownPart, match="no model 'llama'"):
        specs.model("llama")


def test_every_type_has_a_configuration_here():
    assert set(hugging_face.KINDS) == {config["model_type"] for config, _ in CONFIGS.values()}
    assert set(hugging_face.MORE) >= {name for kind in hugging_face.KINDS.values() for name in kind.more}
