"""Units: plain floats in base units inside the library, text with a unit outside.

Base units are the byte, the FLOP and the second (and what is made of them); a count has the unit "1".
``64*MB``, ``3*us`` and ``400*Gbit`` convert on the way in, ``show`` and ``parse`` on the way out and back.
Decimal prefixes are powers of 1000 (GB is 1e9 bytes); binary ones say so (GiB is 2**30 bytes).
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    tables=(
        "B kB MB GB TB PB KiB MiB GiB TiB bit kbit Mbit Gbit Tbit s ms us ns minute hour day "
        "FLOP kFLOP MFLOP GFLOP TFLOP PFLOP EFLOP Hz kHz MHz GHz "
        "BARE BASE_UNITS DIMENSIONS EXAMPLES NBSP SCALE WORDS UnitError base_unit dimension_word spelled"
    ),
    showing="show",
    arithmetic="Unreadable",
    reading="WrongDimension parse",
)
