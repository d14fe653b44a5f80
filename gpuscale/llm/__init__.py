"""Language models: parameters, FLOPs and activations; the cost of each kind of parallelism; a whole step."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
