"""A model from a Hugging Face configuration: ``model("path/to/config.json")``, or the folder that has the file.

A table at the head of this file says for each ``model_type`` which field of the file is which number of the library,
what every model of the type has, and what has to hold so that the formulas count it. Nothing is guessed: a field that
this file does not know is an error, and so is a type. Parameters that the formulas of ``llm`` leave out, such as the
norms of queries and keys, are counted here, as ``uncounted``, and named in the model's ``note``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from reprlib import repr  # a long list does not fit into a message
from typing import NamedTuple

from gpuscale.specs.entry import Part
from gpuscale.specs.number import Spec
from gpuscale.specs.reading import SpecError, Where

LARGEST = 0.01  # of the parameters may be left out
MOST = 10**9  # of any size, so that products of several stay in range


class Kind(NamedTuple):
    """How the files of a model type are read.

    ``fields``: the library's number, and the file's name for it. ``default``: what the configuration class of the type
    fills in where a file leaves a field out. ``fixed``: what all models of the type have. ``must``: values that the
    formulas need, if a field is there. ``more``: parameters that the formulas leave out. ``window``: which layers have
    a sliding window, if the file does not list them. ``known``: fields that are read one by one.
    """

    title: str
    fields: Mapping[str, str]
    default: Mapping[str, object] = {}
    fixed: Mapping[str, int] = {}
    must: Mapping[str, tuple] = {}
    more: tuple[str, ...] = ()
    window: str = ""
    known: frozenset[str] = frozenset()


# ---- the library's names and the files'

_SIZES = {
    "layers": "num_hidden_layers",
    "d_model": "hidden_size",
    "d_ff": "intermediate_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "vocab": "vocab_size",
    "max_tokens": "max_position_embeddings",
}
_HEAD = {"head_dim": "head_dim"}
_LATENT = {
    "q_rank": "q_lora_rank",
    "kv_rank": "kv_lora_rank",
    "nope_dim": "qk_nope_head_dim",
    "rope_dim": "qk_rope_head_dim",
    "value_dim": "v_head_dim",
}
_LOCAL = {"experts": "num_local_experts", "active_experts": "num_experts_per_tok"}
_NAMED = {"experts": "num_experts", "active_experts": "num_experts_per_tok", "d_ff": "moe_intermediate_size"}
_ROUTED = {
    "experts": "n_routed_experts",
    "active_experts": "num_experts_per_tok",
    "shared_experts": "n_shared_experts",
    "dense_layers": "first_k_dense_replace",
    "d_ff": "moe_intermediate_size",
    "d_ff_dense": "intermediate_size",
}
_GATED = {"mlp_matrices": 3, "norm_vectors": 1}
_APART, _TIED = {"tie_word_embeddings": False}, {"tie_word_embeddings": True}
_EVERY = {"decoder_sparse_step": (1,)}  # layer has experts
_NO_BIAS = {"attention_bias": (False,), "mlp_bias": (False,)}
_GROUPS = frozenset({"n_group", "topk_group", "topk_method", "moe_layer_freq", "num_nextn_predict_layers"})
_QWEN = frozenset({"use_sliding_window", "max_window_layers"})
_LISTED = frozenset({"mlp_only_layers"})

_LLAMA = Kind(
    "Llama", _SIZES | _HEAD, {"num_key_value_heads": "num_attention_heads", "head_dim": None} | _APART, _GATED
)
_MISTRAL = Kind("Mistral", _SIZES | _HEAD, {"head_dim": None} | _APART, _GATED, window="all")
_QWEN2 = Kind("Qwen2", _SIZES, _APART, _GATED, more=("biases of queries, keys and values",), window="last", known=_QWEN)
_QWEN3 = Kind("Qwen3", _SIZES | _HEAD, _APART, _GATED, more=("norms of queries and keys",), window="last", known=_QWEN)
_GEMMA = Kind("Gemma", _SIZES | _HEAD, _TIED, _GATED)
_DEEPSEEK = Kind(
    "DeepSeek",
    _SIZES | _ROUTED | _LATENT,
    _APART | {"n_shared_experts": None, "num_key_value_heads": "num_attention_heads"},
    _GATED,
    {"moe_layer_freq": (1,)} | _NO_BIAS,
    known=_GROUPS | {"head_dim"},
)

KINDS = {
    "llama": _LLAMA._replace(known=frozenset({"attention_bias", "mlp_bias"})),
    "mistral": _MISTRAL,
    "mixtral": _MISTRAL._replace(title="Mixtral", fields=_SIZES | _HEAD | _LOCAL),
    "qwen2": _QWEN2,
    "qwen2_moe": _QWEN2._replace(
        title="Qwen2 MoE",
        fields=_SIZES | _NAMED | {"d_ff_dense": "intermediate_size"},
        must=_EVERY | {"qkv_bias": (True,), "use_sliding_window": (False,)},
        more=("biases of queries, keys and values", "gates of shared experts"),
        known=_QWEN | _LISTED | {"shared_expert_intermediate_size"},
    ),
    "qwen3": _QWEN3._replace(known=_QWEN | {"attention_bias"}),
    "qwen3_moe": _QWEN3._replace(
        title="Qwen3 MoE",
        fields=_SIZES | _HEAD | _NAMED | {"d_ff_dense": "intermediate_size"},
        must=_EVERY | {"use_sliding_window": (False,)},
        known=_QWEN | _LISTED | {"attention_bias"},
    ),
    "gemma": _GEMMA._replace(must=_NO_BIAS),
    "gemma2": _GEMMA._replace(
        title="Gemma 2",
        must=_NO_BIAS,
        more=("two more norms per layer",),
        window="every other",
        known=frozenset({"sliding_window_size"}),
    ),
    "gemma3_text": _GEMMA._replace(
        title="Gemma 3",
        default=_TIED
        | {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208}
        | {"max_position_embeddings": 131072, "sliding_window_pattern": 6},
        must=_NO_BIAS,
        more=("two more norms per layer", "norms of queries and keys"),
        window="all but one of a pattern",
        known=frozenset({"sliding_window_pattern", "_sliding_window_pattern"}),
    ),
    "deepseek_v2": _DEEPSEEK._replace(title="DeepSeek-V2"),
    "deepseek_v3": _DEEPSEEK._replace(title="DeepSeek-V3", more=("corrections of the router",)),
    "kimi_k2": _DEEPSEEK._replace(title="Kimi K2", more=("corrections of the router",)),
    "glm4_moe": Kind(
        "GLM-4.5",
        _SIZES | _HEAD | _ROUTED,
        _APART,
        _GATED,
        _EVERY,
        ("corrections of the router",),
        known=_GROUPS | {"use_qk_norm", "attention_bias"},
    ),
    "gpt_oss": Kind(
        "gpt-oss",
        _SIZES | _HEAD | _LOCAL,
        _APART,
        _GATED | {"biases": 1},
        {"attention_bias": (True,)},
        ("attention sinks",),
        "every other",
        frozenset({"experts_per_token"}),
    ),
    "gpt_neox": Kind(
        "GPT-NeoX",
        {ours: theirs for ours, theirs in _SIZES.items() if ours != "kv_heads"},
        _APART,
        {"mlp_matrices": 2, "norm_vectors": 2, "biases": 1},
        {"attention_bias": (True,)},
    ),
}
INSIDE = {"gemma3": ("gemma3_text", "text_config")}  # files that have the text model in a part of their own

# ---- parameters that the formulas leave out, from the numbers of a model


def _head(x: Mapping) -> int:
    return x.get("head_dim", x["d_model"] // x["heads"])


def _routers(x: Mapping) -> int:
    return x["layers"] - x.get("dense_layers", 0)


MORE: dict[str, Callable[[Mapping], int]] = {
    "biases of queries, keys and values": lambda x: x["layers"] * _head(x) * (x["heads"] + 2 * x["kv_heads"]),
    "biases of the output matrices": lambda x: x["layers"] * x["d_model"],
    "norms of queries and keys": lambda x: x["layers"] * 2 * _head(x),
    "two more norms per layer": lambda x: x["layers"] * 2 * x["d_model"],
    "attention sinks": lambda x: x["layers"] * x["heads"],
    "corrections of the router": lambda x: _routers(x) * x["experts"],
    "gates of shared experts": lambda x: _routers(x) * x["d_model"],
}

# ---- fields of the files that change no count

IGNORED = frozenset(
    """
    architectures auto_map model_type transformers_version _name_or_path name_or_path torch_dtype dtype use_cache
    unsloth_version unsloth_fixed _commit_hash attn_implementation _attn_implementation _attn_implementation_autoset
    bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id decoder_start_token_id tokenizer_class
    image_token_id image_token_index boi_token_index boi_token_id eoi_token_index eoi_token_id mm_tokens_per_image
    id2label label2id num_labels problem_type finetuning_task task_specific_params classifier_dropout prefix
    is_decoder is_encoder_decoder add_cross_attention cross_attention_hidden_size tie_encoder_decoder
    chunk_size_feed_forward output_attentions output_hidden_states return_dict torchscript use_bfloat16
    tf_legacy_loss keys_to_ignore_at_inference pruned_heads max_length min_length do_sample early_stopping num_beams
    num_beam_groups diversity_penalty temperature top_k top_p typical_p repetition_penalty length_penalty
    no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences
    exponential_decay_length_penalty suppress_tokens begin_suppress_tokens forced_bos_token_id forced_eos_token_id
    remove_invalid_values output_scores return_dict_in_generate hidden_act hidden_activation swiglu_limit
    swiglu_alpha initializer_range initializer_factor rms_norm_eps layer_norm_eps norm_eps attention_dropout
    hidden_dropout attention_probs_dropout_prob hidden_dropout_prob embd_pdrop
    resid_pdrop attn_pdrop rope_theta rope_scaling rope_parameters rope_interleave
    rope_local_base_freq partial_rotary_factor rotary_pct rotary_emb_base initial_context_length
    query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping cache_implementation use_parallel_residual
    use_bidirectional_attention router_aux_loss_coef router_jitter_noise output_router_logits aux_loss_alpha seq_aux
    norm_topk_prob routed_scaling_factor scoring_func ep_size pretraining_tp quantization_config use_mrope
    """.split()
)
DROPOUT = "attention_dropout hidden_dropout attention_probs_dropout_prob hidden_dropout_prob".split()
ASIDE = frozenset({"text_config", "vision_config"})
WINDOW = frozenset({"sliding_window", "layer_types", "tie_word_embeddings"})


def is_file(key) -> bool:
    """Whether that is the name of a file or of a folder rather than the key of a model."""
    return isinstance(key, os.PathLike) or key.endswith(".json") or "/" in key or os.sep in key


def read(path: str | os.PathLike) -> Part:
    """The model of a configuration. Raises SpecError, which names the file, the field and what was expected."""
    place = Path(path).expanduser()
    place = place / "config.json" if place.is_dir() else place
    where = Where(str(place))
    try:
        found = json.loads(place.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise where.wrong(f"cannot be read ({error.strerror})", "a config.json of Hugging Face") from None
    except (ValueError, RecursionError) as error:
        raise where.wrong(f"is not JSON ({error})", "a config.json of Hugging Face") from None
    if not isinstance(found, dict):
        raise where.wrong("is not a JSON object", "a config.json of Hugging Face")
    return _Reading(where, found).part(place)


def _once(pairs: list[tuple[str, object]]) -> dict:
    """An object of JSON. Raises ValueError for a field that is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise ValueError(f"field {twice} is there twice")
    return found


class _Reading:
    """One file while it is read: its fields, and notes on what the numbers leave out."""

    def __init__(self, where: Where, found: dict):
        self.where, self.notes = where, []
        name = found.get("model_type")
        if name is not None and not isinstance(name, str):
            raise where.at(field="model_type").wrong(f"value {repr(name)}", "a word, such as llama")
        if name in INSIDE:
            outer, (name, inside) = found, INSIDE[name]
            self._known(outer, IGNORED | ASIDE | WINDOW)
            if not isinstance(outer.get(inside), dict):
                said = f"value {repr(outer[inside])}" if inside in outer else "is missing"
                raise where.at(field=inside).wrong(said, "an object with the fields of the text model")
            found = {key: outer[key] for key in WINDOW & outer.keys()} | outer[inside]
            self.notes += ["text model alone; the vision encoder is not counted"] if "vision_config" in outer else []
        if name not in KINDS:
            said = "is missing" if name is None else f"{name!r} is not known"
            raise where.at(field="model_type").wrong(said, f"one of {', '.join([*KINDS, *INSIDE])}")
        self.name, self.kind = name, KINDS[name]
        self.file = {key: value for key, value in found.items() if value is not None}
        self.null = found.keys() - self.file.keys()
        self._known(self.file, IGNORED | WINDOW | self.kind.known | {*self.kind.fields.values(), *self.kind.must})
        for field, good in self.kind.must.items():
            if field in self.file and self.file[field] not in good:
                raise self._wrong(field, f"{good[0]}: the formulas count no other {self.kind.title}")

    def _known(self, found: Mapping, known: frozenset) -> None:
        if strange := sorted(found.keys() - known):
            close = {name: get_close_matches(name, known, 1, 0.85) for name in strange}
            names = ", ".join(name + "".join(f" (did you mean {one}?)" for one in close[name]) for name in strange)
            raise self.where.wrong(
                f"unknown {'fields' if strange[1:] else 'field'} {names}",
                "fields that are known to change the counts, or known not to; remove one that changes nothing",
            )

    def _wrong(self, field: str, expected: str) -> SpecError:
        return self.where.at(field=field).wrong(f"value {repr(self.file.get(field))}", expected)

    # ---- the numbers, each with the name of the field that has it

    def part(self, place: Path) -> Part:
        """The model, with a number for each that the file states or its type implies."""
        x, said = self._sizes()
        x["vocab_matrices"] = 1 if self._flag("tie_word_embeddings") else 2
        said["vocab_matrices"] = "tie_word_embeddings"
        for add in (self._experts, self._latent, self._window, self._biases):
            add(x, said)
        self._fits(x)
        self._left_out(x, said)
        specs = {name: Spec(name, value, "1", said[name], str(place)) for name, value in x.items()}
        labels = {"short": place.parent.name if place.name == "config.json" else place.stem}
        labels = {name: text for name, text in labels.items() if text}
        labels |= {"note": "; ".join(self.notes)} if self.notes else {}
        title = f"{self.kind.title}, {place}"
        return Part("model", self.name, title, labels, specs, origin=str(place.resolve()))

    def _sizes(self) -> tuple[dict[str, int], dict[str, str]]:
        default, x, said = self.kind.default, {}, {}
        for ours, theirs in self.kind.fields.items():
            if theirs in self.null and ours == "q_rank":  # queries without compression
                x[ours], said[ours] = 0, f"{theirs}: null"
            elif theirs in self.file:
                least = 0 if ours in {"dense_layers", "shared_experts"} else 1
                x[ours], said[ours] = self._whole(theirs, least), theirs
            elif isinstance(default.get(theirs), str):  # the same as another field
                x[ours], said[ours] = self._whole(default[theirs]), f"{default[theirs]}, as {theirs} is not there"
            elif isinstance(default.get(theirs), int):
                x[ours], said[ours] = default[theirs], f"{theirs}: what the type has where a file does not say"
            elif theirs not in default and ours != "max_tokens":
                said = "is null" if theirs in self.null else "is missing"
                raise self.where.at(field=theirs).wrong(said, f"a whole number, the model's {ours}")
        x |= self.kind.fixed
        x.setdefault("kv_heads", x["heads"])
        told = f"model type {self.name}"
        return x, dict.fromkeys(x, told) | said

    def _whole(self, field: str, least: int = 1) -> int:
        value = self.file.get(field)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self._wrong(field, f"a whole number, {least} or more")
        if value > MOST:
            raise self._wrong(field, f"a whole number, {MOST:,} or less")
        return value

    def _flag(self, field: str) -> bool:
        value = self.file.get(field, self.kind.default.get(field, False))
        if not isinstance(value, bool):
            raise self._wrong(field, "true or false")
        return value

    def _experts(self, x: dict, said: dict) -> None:
        if "experts" not in x:
            return
        if x["active_experts"] > x["experts"]:
            raise self._wrong(said["active_experts"], f"at most {x['experts']}, the number of experts")
        if "experts_per_token" in self.file and self._whole("experts_per_token") != x["active_experts"]:
            raise self._wrong("experts_per_token", f"{x['active_experts']}, as num_experts_per_tok says")
        if "mlp_only_layers" in self.kind.known:
            first = self.file.get("mlp_only_layers", [])
            if first != list(range(len(first))):
                raise self._wrong("mlp_only_layers", "the first layers, such as [] or [0, 1]")
            x["dense_layers"], said["dense_layers"] = len(first), "mlp_only_layers"
        if "shared_expert_intermediate_size" in self.kind.known:
            wide = self._whole("shared_expert_intermediate_size", 0)
            if wide % x["d_ff"]:
                raise self._wrong(
                    "shared_expert_intermediate_size", f"a multiple of {x['d_ff']}, the width of an expert"
                )
            x["shared_experts"] = wide // x["d_ff"]
            said["shared_experts"] = "shared_expert_intermediate_size over moe_intermediate_size"
        if not x.get("dense_layers", 1):
            x.pop("d_ff_dense", None)
        if "dense_layers" in x and x["dense_layers"] >= x["layers"]:
            raise self._wrong(said["dense_layers"], f"fewer than the {x['layers']} layers")
        for name in ("dense_layers", "shared_experts"):  # a number that a model lacks is 0
            if not x.get(name, 1):
                del x[name]
        groups = self.file.get("n_group", 1), self.file.get("topk_group", 1)
        if self.name == "deepseek_v3" and groups[1] < groups[0]:
            x["route_nodes"] = self._whole("topk_group")
            said["route_nodes"] = "topk_group, for a group of experts in each node"
        if many := self.file.get("num_nextn_predict_layers"):
            self.notes.append(f"without {many} layer{'s' * (many > 1)} of multi-token prediction")

    def _latent(self, x: dict, said: dict) -> None:
        if "kv_rank" in self.kind.fields and x["kv_heads"] != x["heads"]:
            raise self._wrong("num_key_value_heads", f"{x['heads']}, one per query head, in latent attention")

    def _window(self, x: dict, said: dict) -> None:
        layers, size = x["layers"], self.file.get("sliding_window")
        listed = self.file.get("layer_types")
        if self.file.get("sliding_window_size", size) != size:
            raise self._wrong("sliding_window_size", f"{size}, as sliding_window says")
        if size is not None and not self.kind.window:
            raise self._wrong("sliding_window", f"null: {self.kind.title} attends to all tokens")
        if listed is not None:
            odd = [kind for kind in listed if kind not in ("full_attention", "sliding_attention")]
            if odd or len(listed) != layers:
                raise self._wrong("layer_types", f"{layers} of full_attention and sliding_attention")
            many, why = listed.count("sliding_attention"), "layer_types"
        elif size is None or (self.kind.window == "last" and not self._flag("use_sliding_window")):
            many, why = 0, ""
        elif self.kind.window == "last":
            many, why = max(0, layers - self._whole("max_window_layers", 0)), "max_window_layers"
        elif self.kind.window == "all":
            many, why = layers, "sliding_window: every layer"
        elif self.kind.window == "every other":
            many, why = (layers + 1) // 2, f"model type {self.name}: every other layer"
        else:
            names = [name for name in ("sliding_window_pattern", "_sliding_window_pattern") if name in self.file]
            pattern = self._whole(names[0]) if names else self.kind.default["sliding_window_pattern"]
            many, why = layers - layers // pattern, f"all but one of {pattern} layers"
        if many:
            x["window"], said["window"] = self._whole("sliding_window"), "sliding_window"
            x["window_layers"], said["window_layers"] = many, why

    def _biases(self, x: dict, said: dict) -> None:
        if "attention_bias" not in self.kind.known:
            return
        attention = self._flag("attention_bias")
        if self._flag("mlp_bias"):
            if not attention:
                raise self._wrong(
                    "mlp_bias", "false, or attention_bias as well: biases in all matrices or in attention alone"
                )
            x["biases"], said["biases"] = 1, "attention_bias, mlp_bias"
        elif attention:
            wide = ("biases of queries, keys and values",)
            wide += () if self.name == "glm4_moe" else ("biases of the output matrices",)
            self.kind = self.kind._replace(more=(*self.kind.more, *wide))

    def _fits(self, x: dict) -> None:
        if x["heads"] % x["kv_heads"]:
            raise self._wrong(self.kind.fields["kv_heads"], f"a divisor of the {x['heads']} query heads")
        if "head_dim" not in x and "kv_rank" not in x and x["d_model"] % x["heads"]:
            raise self._wrong("hidden_size", f"a multiple of the {x['heads']} heads, or head_dim as well")
        if any(self.file.get(name) for name in DROPOUT):
            self.notes.append("without the dropout that the file states")

    def _left_out(self, x: dict, said: dict) -> None:
        names = list(self.kind.more)
        if self.file.get("use_qk_norm"):
            names.append("norms of queries and keys")
        sizes = {name: MORE[name](x) for name in names}
        total = sum(sizes.values())
        counted = x["d_model"] * (x["vocab"] + x["layers"] * x["mlp_matrices"] * x["d_ff"])  # these alone, at least
        if total > LARGEST * counted:
            raise self.where.wrong(
                f"{', '.join(names)}: {total:,} parameters", "what the formulas leave out to be below 1%"
            )
        if total:
            x["uncounted"], said["uncounted"] = total, ", ".join(names)
            listed = ", ".join(f"{name} ({size:,})" for name, size in sizes.items())
            self.notes.append(f"left out of the counts, in parameters: {listed}")
