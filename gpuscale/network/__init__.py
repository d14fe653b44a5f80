"""The network: formulas for links, switches, cuts and tori, and networks as objects, up to known clusters."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
