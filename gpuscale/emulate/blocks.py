"""A KV cache in blocks: a pool gives them out one by one as sequences grow, token by token, and takes them back."""

import numpy as np

from gpuscale.schedules.counts import need_count


class Pool:
    """Blocks of ``page`` tokens each. ``owner[i]`` is the sequence that has block i, or -1."""

    def __init__(self, blocks: int, page: int):
        need_count(page, "page")
        self.page = page
        self.owner = np.full(blocks, -1)
        self.tokens: dict[int, int] = {}

    def append(self, sequence: int, tokens: int = 1) -> bool:
        """Room for more tokens of a sequence: False, and nothing changed, if no block is left for them."""
        there = self.tokens.get(sequence, 0)
        short = there + tokens - self.page * self.held(sequence)
        free = np.flatnonzero(self.owner < 0)
        picked = []
        while short > 0:
            if len(picked) == free.size:
                return False
            picked.append(free[len(picked)])
            short -= self.page
        self.owner[picked] = sequence
        self.tokens[sequence] = there + tokens
        return True

    def held(self, sequence: int) -> int:
        """Blocks of a sequence."""
        return int(np.count_nonzero(self.owner == sequence))

    def release(self, sequence: int) -> None:
        """Takes all blocks of a sequence back. Raises KeyError for one that has none."""
        del self.tokens[sequence]
        self.owner[self.owner == sequence] = -1

    @property
    def free(self) -> int:
        """Blocks that no sequence has."""
        return int(np.count_nonzero(self.owner < 0))

    @property
    def empty_slots(self) -> int:
        """Places for tokens in blocks that are given out, with no token in them."""
        return self.page * int(np.count_nonzero(self.owner >= 0)) - sum(self.tokens.values())
