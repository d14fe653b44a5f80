"""Language models: parameters, operations and activations; what each kind of parallelism costs; a whole step."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
