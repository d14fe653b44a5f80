"""The network: laws of links, switches, cuts and tori; and networks as objects, from a level to a known cluster."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
