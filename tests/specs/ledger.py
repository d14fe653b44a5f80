"""The ledger of published numbers as checks: a row objects to a number if it changes the row's verdict.

``watching`` notes what the recomputation of a row reads, and asks again those rows that read a changed number.
"""

from __future__ import annotations

from dataclasses import replace

from specs.watching import Check

from gpuscale.ledger import Claim, claims


def verdict_stands(row: Claim) -> bool:
    """Whether a row has the verdict that is written down, computed afresh: a row keeps what it has computed."""
    return replace(row).found() == row.verdict


def rows() -> list[Check]:
    """A check for each row of the ledger."""
    return [Check(f"{row.id}: {row.says}", lambda row=row: verdict_stands(row)) for row in claims().values()]
