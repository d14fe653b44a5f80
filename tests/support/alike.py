"""Models whose layers differ from those of another model in their numbers alone: engines need not count them again."""

ALIKE = frozenset(
    "mistral_7b gemma2_9b qwen2_5_7b qwen3_8b qwen3_32b qwen3_30b_a3b qwen3_235b_a22b gpt_oss_20b deepseek_v2".split()
)
