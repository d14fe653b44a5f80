"""Ranks for the labs: ``run(fn, ranks=4)`` calls a function in processes that form one ``torch.distributed`` group.

Needs the extra ``labs`` (PyTorch), which nothing else in the library imports.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    errors="RankError",
    launcher="run warm_up",
    measure="measure_here",
    spec_file="write_spec",
    wire="bytes_sent peers_sent",
)
