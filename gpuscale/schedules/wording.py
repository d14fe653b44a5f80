"""Words for the summaries of schedules."""


def counted(count: int, what: str, several: str = "s") -> str:
    """A number and what it counts: "1 rank", "1,024 ranks"."""
    return f"{count:,} {what}{several if count != 1 else ''}"
