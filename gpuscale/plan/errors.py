"""What cannot be planned, and why."""


class Refusal(ValueError):
    """A request that cannot be met; the message says what was asked, what stands against it and what would do."""
