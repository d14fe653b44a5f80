"""What cannot be planned, and why."""


class Refusal(ValueError):
    """A request that cannot be met; the message says what was requested, why it is impossible and what would work."""
