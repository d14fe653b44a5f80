"""The ledger of published numbers as checks: a row objects to a number if it changes the row's verdict.

``watching`` notes what the recomputation of a row reads, and asks again those rows that read a changed number. A row
that reads one number alone, and comes from the source that the data cite for it, is a copy of it and no check.
"""

from __future__ import annotations

from dataclasses import replace

from specs.watching import Check, Watch, numbers, source_keys

from gpuscale.ledger import Claim, claims


def verdict_stands(row: Claim) -> bool:
    """Whether a row has the verdict that is written down, computed again: a row keeps what it has computed."""
    return replace(row).found() == row.verdict


def rows(watch: Watch) -> list[Check]:
    """A check for each row of the ledger that says more than the data do."""
    stated, found = numbers(), []
    for row in claims().values():
        check = Check(f"{row.id}: {row.says}", lambda row=row: verdict_stands(row))
        read = [number for number in watch.reads(check) if number.at is None or number.kind == "measured"]
        if len(read) != 1 or row.source not in source_keys(stated[read[0]].source):
            found.append(check)
    return found
