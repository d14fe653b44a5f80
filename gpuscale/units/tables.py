"""Every unit that is written or read, its size, and what it measures. Page and notebook share these tables."""

import itertools

B = 1.0
kB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KiB, MiB, GiB, TiB = 2.0**10, 2.0**20, 2.0**30, 2.0**40
bit, kbit, Mbit, Gbit, Tbit = 1 / 8, 1e3 / 8, 1e6 / 8, 1e9 / 8, 1e12 / 8
s, ms, us, ns = 1.0, 1e-3, 1e-6, 1e-9
minute, hour, day = 60.0, 3600.0, 86400.0
FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP = 1.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18
Hz, kHz, MHz, GHz = 1.0, 1e3, 1e6, 1e9

NBSP = "\u00a0"
ONE, BYTE = "1", "B"
SHARE, COUNT = "%", "count"  # shown in percent, shown as an exact whole number
STEPS = "nµm kMGTP"  # the prefixes with which amounts are shown
TYPED_STEPS = STEPS.replace("µ", "u")
SPELLED = {"us": "µs"}  # what is typed, and what is shown
BARE = ("", ONE, "FLOP/B", "/s", "/J", "USD", "USD/h")  # shown without an SI prefix

# Each base unit: exponents of the base dimensions, what it measures in words, two examples.
BASE_UNITS: dict[str, tuple[dict[str, int], str, str, str]] = {
    "1": ({}, "a number", "512", "12"),
    "B": ({"B": 1}, "a number of bytes", "64 MB", "3 GB"),
    "B/s": ({"B": 1, "s": -1}, "a bandwidth", "3.35 TB/s", "50 GB/s"),
    "s": ({"s": 1}, "a time", "65 us", "2 ms"),
    "FLOP": ({"FLOP": 1}, "a number of FLOPs", "2 GFLOP", "5 TFLOP"),
    "FLOP/s": ({"FLOP": 1, "s": -1}, "a compute rate", "990 TFLOP/s", "60 TFLOP/s"),
    "FLOP/B": ({"FLOP": 1, "B": -1}, "an arithmetic intensity", "40 FLOP/B", "12 FLOP/B"),
    "Hz": ({"s": -1}, "a frequency", "1.83 GHz", "1.2 GHz"),
    "/s": ({"s": -1}, "a rate", "40 /s", "3 tokens/s"),
    "W": ({"W": 1}, "a power", "700 W", "1 kW"),
    "/J": ({"W": -1, "s": -1}, "tokens per joule", "8 /J", "3 tokens/J"),
    "USD": ({"USD": 1}, "an amount of money", "20 USD", "3 USD"),
    "USD/h": ({"USD": 1, "s": -1}, "a price per hour", "2 USD/h", "3 USD/h"),
}
DIMENSIONS = {unit: row[0] for unit, row in BASE_UNITS.items()}
WORDS = {unit: row[1] for unit, row in BASE_UNITS.items()}
EXAMPLES = {unit: row[2] for unit, row in BASE_UNITS.items()}

PREFIXES = {
    "small": {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3},
    "large": {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18},
    "binary": {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50},
    "spelled": {
        **{"nano": 1e-9, "micro": 1e-6, "milli": 1e-3},
        **{"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15, "exa": 1e18},
    },
}
# The units themselves: kinds of prefix, names, size, base unit, and the endings that each name may have. An ending that
# makes another base unit of this one does so (B/s); any other leaves it (FLOP/cycle, GPUs).
UNITS: tuple[tuple, ...] = (
    ("", "1 half halves way switch switches microbatch microbatches x ×", 1, "1"),
    ("", "GPU SM core unit lane warp thread block register word link port token element parameter", 1, "1", "s"),
    ("", "layer head ALU row cycle time step hop node rank expert stage chip level group", 1, "1", "s"),
    ("", "instruction operation sequence request", 1, "1", "s"),
    ("", "%", 0.01, "1"),
    ("", "/s token/s tokens/s tok/s request/s requests/s req/s", 1, "/s"),
    ("", "/J token/J tokens/J", 1, "/J"),
    ("", "USD", 1, "USD", "/h"),
    ("small large", "s", 1, "s"),
    ("small", "sec secs", 1, "s"),
    ("spelled", "second", 1, "s", "s"),
    ("", "min mins minute minutes", 60, "s"),
    ("", "h hr hrs hour hours", 3600, "s"),
    ("", "d day days", 86400, "s"),
    ("", "week weeks", 604800, "s"),
    ("large binary", "B", 1, "B", "/s", "/cycle"),
    ("large binary", "b", 1 / 8, "B", "/s"),
    ("large binary", "Bps", 1, "B/s"),
    ("large binary", "bps", 1 / 8, "B/s"),
    ("large binary spelled", "byte bytes", 1, "B", "/s", "/cycle"),
    ("large binary spelled", "bit bits", 1 / 8, "B", "/s"),
    ("large spelled", "FLOP FLOPs flop flops", 1, "FLOP", "/s", "/B", "/cycle"),
    ("large spelled", "FLOPS", 1, "FLOP/s"),
    ("large", "FLOP/byte FLOPs/byte", 1, "FLOP/B"),
    ("large", "FLOP/b FLOP/bit", 8, "FLOP/B"),
    ("small large", "Hz", 1, "Hz"),
    ("small large", "W", 1, "W"),
    ("spelled", "hertz", 1, "Hz"),
    ("spelled", "watt", 1, "W", "s"),
)
# Words that multiply the number before them: "70 billion parameters", "8k tokens".
MANY = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
MANY |= {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


class UnitError(ValueError):
    """A text that is not a quantity of the expected kind."""


def dimension_word(unit: str) -> str:
    """What a base unit measures, in words: ``"B/s"`` is "a bandwidth"."""
    return WORDS.get(base_unit(unit), f"a quantity in {unit}")


def _scales() -> dict[str, tuple[float, str]]:
    """Every unit that can be written: its size in base units, and the base unit."""
    out = {}
    for kinds, names, size, base, *ends in UNITS:
        prefixes = {"": 1.0}
        for kind in kinds.split():
            prefixes |= PREFIXES[kind]
        for name, end, prefix in itertools.product(names.split(), ["", *ends], prefixes):
            out[prefix + name + end] = (prefixes[prefix] * size, base + end if base + end in BASE_UNITS else base)
    return out


SCALE = _scales()


def base_unit(unit: str) -> str:
    """The base unit of a unit: ``"GB/s"`` gives ``"B/s"``. Raises UnitError for an unknown one."""
    if unit in SCALE:
        return SCALE[unit][1]
    raise UnitError(f"unit: {unit!r} is not known; expected one such as {', '.join(list(DIMENSIONS)[1:8])}")


def spelled(unit: str) -> str:
    """A unit as pages spell it: a typed "us" is shown as "µs"."""
    return SPELLED.get(unit, unit)
