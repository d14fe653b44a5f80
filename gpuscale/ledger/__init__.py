"""The ledger of published numbers: what sources print, recomputed; ``published.toml`` is its one statement."""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    expressions="ExpressionError",
    pages=(
        "common_mistake ledger_errata ledger_filter ledger_findings ledger_rows "
        "ledger_sources ledger_summary ledger_verdicts"
    ),
    rows=("VERDICTS WORDING_VERDICTS Claim Erratum LedgerError Wording claim claims errata erratum findings wordings"),
)
