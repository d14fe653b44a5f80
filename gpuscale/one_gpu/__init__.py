"""One GPU: cycles and occupancy of an SM, bytes from each level of memory, the roofline."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
