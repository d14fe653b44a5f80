"""The pages of the book: sentences that compute their numbers, ledgers of published numbers, appendices."""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    claims="Claim ledger",
    sentences="Sentence remember say",
)
