"""The pages of the book: sentences that compute their numbers, and appendices."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__, terms="glossary", sentences="Sentence fold grid remember say")
