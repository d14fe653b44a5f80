"""Collectives: bytes, steps and time of each algorithm, over one switch or a hierarchy of levels."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
