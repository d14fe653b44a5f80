"""The ledger of published numbers: what sources print, recomputed; ``published.toml`` is its one statement."""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    expressions="ExpressionError",
    rows=("VERDICTS WORDING_VERDICTS Claim Erratum LedgerError Wording claim claims errata erratum findings wordings"),
)
