"""Values to try: what a quantity usually is, what it never is, and texts that people type."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy
from hypothesis import strategies as st

USUAL = {
    "1": (1.0, 1e5),
    "B": (1.0, 1e12),
    "B/s": (1e8, 1e14),
    "s": (1e-9, 1e2),
    "FLOP": (1.0, 1e18),
    "FLOP/s": (1e10, 1e17),
    "FLOP/B": (1e-2, 1e4),
    "Hz": (1e8, 1e10),
    "/s": (1e-3, 1e5),
    "W": (1.0, 1e6),
    "/J": (1e-3, 1e3),
    "USD": (1.0, 1e9),
    "USD/h": (1e-2, 1e3),
}
# Where the unit alone says too little: ranges that meet each other, so that floors are seldom zero.
NAMED = {
    "R": (1, 255),
    "R_sm": (2**14, 2**18),
    "g_reg": (64, 512),
    "S_block": (1, 2**16),
    "S_smem": (2**15, 2**18),
    "S_res": (1, 2048),
    "g_smem": (64, 1024),
    "t_block": (1, 1024),
    "w_block": (1, 32),
    "w_max": (16, 128),
    "w_lanes": (16, 64),
    "w_res": (1, 64),
    "n_block": (4, 64),
    "n_sub": (1, 8),
    "n_tc": (1, 16),
    "n_sm": (16, 160),
    "n_lane": (32, 256),
    "n_ways": (1, 32),
    "n_tiles": (1, 4096),
    "m_then": (1e-3, 1),
    "s_vec": (1e-3, 0.999),
    "f_svc": (0.02, 0.98),
    "f_load": (0.02, 0.98),
    "f_late": (1e-3, 0.5),
    "f_pre": (0.02, 0.98),
    "N": (1, 2**20),
    "M": (1, 4096),
    "n_chunk": (1, 4096),
    "n_port": (2, 256),
    "T_host": (64, 4096),  # seconds, more than the GPU takes half of the time
    "n_down": (1, 2**14),
    "E": (1, 512),
    "Z": (1, 64),
    "k": (1, 16),
    "r_ring": (0.5, 2.5),
    "r_over": (0.5, 16),
    "n_hop": (1, 8),
    "n_in": (1, 256),
    "n_unit": (1, 4096),
    "Y": (1, 1024),
    "G": (1, 128),
    "G_2": (1, 64),
    "G_3": (1, 32),
    "n_x": (1, 128),
    "n_y": (1, 64),
    "n_z": (1, 32),
    "n_dim": (1, 3),
    "N_stages": (1, 32),
    "N_MB": (1, 1024),
    "n_virt": (1, 8),
    "i_stage": (0, 16),
    "t_F": (0.8, 1.2),
    "t_B": (1.6, 2.4),
    "t_W": (0.4, 1.6),
    "t_FB": (2, 3),
    "S_in": (1, 2**14),
    "S_chunk": (1, 256),
    "S_hit": (1, 256),
    "n_draft": (1, 16),
    "c_var": (1e-2, 10),
    "f_busy": (1e-2, 1),
    **dict.fromkeys(["a_acc", "a_acc_1", "a_acc_2", "a_acc_3", "a_acc_4", "a_acc_5"], (1e-2, 1)),
}


def usual(q) -> tuple[float, float]:
    """The range of values that a quantity usually has."""
    low, high = NAMED.get(q.name, USUAL[q.unit])
    return max(low, q.least, min(1e-3, q.most)), min(high, q.most)


def points(formula, count: int, rng) -> dict[str, np.ndarray]:
    """Random usual inputs of a formula, spread over the decades, whole where the quantity is a count.

    Where a formula needs more than that of its inputs, half of the counts are powers of two, and what breaks a
    need is drawn again.
    """

    def draw(q, many):
        low, high = usual(q)
        drawn = np.exp(rng.uniform(math.log(low), math.log(high), many))
        if not q.whole:
            return drawn
        drawn = np.maximum(np.round(drawn), q.least)
        return np.where(rng.random(many) < 0.5, drawn, _powers(low, high, many, rng)) if formula.needs else drawn

    return _drawn(formula, count, draw)


def steps(formula, count: int, rng) -> dict[str, np.ndarray]:
    """Whole inputs, half of them powers of two: quotients are often whole, and there floors flip."""

    def draw(q, many):
        if np.isfinite(q.most):  # a switch
            return rng.integers(round(q.least), round(q.most) + 1, many).astype(float)
        low, high = (round(x) for x in NAMED.get(q.name, (1, 64)))
        drawn = np.exp(rng.uniform(math.log(max(low, 1)), math.log(high), many)).round()
        return np.where(rng.random(many) < 0.5, drawn, _powers(low, high, many, rng))

    return _drawn(formula, count, draw)


def _powers(low, high, many, rng):
    return 2.0 ** rng.integers(math.ceil(math.log2(max(low, 1))), math.floor(math.log2(high)) + 1, many)


def _drawn(formula, count, draw) -> dict[str, np.ndarray]:
    """``count`` inputs that meet the needs of the formula."""
    many = 200 * count if formula.needs else count
    out = {q.name: draw(q, many) for q in formula.inputs}
    good = np.ones(many, bool)
    for need in formula.needs:
        good &= kept(need, out)
    assert good.sum() >= count, f"{formula.name}: only {good.sum()} of {many} points meet its needs"
    return {name: values[good][:count] for name, values in out.items()}


def kept(need, values) -> np.ndarray:
    """Where inputs meet a need, by sympy's own printing and nothing of the library's."""
    names = sorted(q.name for q in need.symbols)
    test = sympy.lambdify(names, need.relation, modules=[{"log2": np.log2}, "numpy"])
    return np.broadcast_to(test(*(np.asarray(values[name]) for name in names)), np.shape(values[names[0]]))


def exact(value) -> Fraction:
    """A float as the fraction that it is."""
    return Fraction(float(value))


QUANTITY_TEXTS = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"\A\s*[-+−]?[0-9.,eE^*]{0,12}\s*[A-Za-zµμ/%$×]{0,8}\s*\Z"),
    st.builds(
        lambda number, gap, unit: f"{number}{gap}{unit}",
        st.one_of(
            st.floats(),
            st.integers(),
            st.sampled_from(["1,000", "1,5", "2^10", "10**400", "0^-1", ".5", "5."]),
        ),
        st.sampled_from(["", " ", "\u00a0", "\u202f", "  "]),
        st.sampled_from(
            [
                "",
                "s",
                "us",
                "µs",
                "GB",
                "GiB",
                "GB/s",
                "Gbit/s",
                "TFLOP/s",
                "TFLOPS",
                "%",
                "foo",
                "GB / s",
                "min",
            ]
        ),
    ),
)

# Spellings of an amount: (text, factor before the unit), the units they stand with, and what surrounds them.
SPELT_NUMBERS = st.one_of(
    st.tuples(
        st.integers(1, 999),
        st.integers(-12, 12),
        st.sampled_from(["x10^", " x 10^", "×10^", "*10**", " times 10^", "e"]),
    ).map(lambda p: (f"{p[0] / 100}{p[2]}{p[1]}", p[0] / 100 * 10.0 ** p[1])),
    st.tuples(st.integers(1, 99), st.integers(1, 9)).map(
        lambda p: (f"{p[0]}·10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[p[1]]}", p[0] * 10.0 ** p[1])
    ),
    st.integers(1, 10**9).map(lambda n: (f"{n:,}", float(n))),
    st.floats(1e-6, 1e6).map(lambda x: (repr(x), x)),
)
HEDGES = st.sampled_from(
    ["", "about ", "About ", "approx. ", "approximately ", "around ", "roughly ", "ca. ", "~", "≈ ", "T = "]
)
PERS = st.sampled_from(["/", " / ", " per ", "/ "])


NO_NUMBERS = [
    "5",
    "64 MB",
    b"5",
    True,
    np.True_,
    None,
    1j,
    np.complex128(2),
    object(),
    {},
    {1.0},
    ["5"],
    [True],
    [None],
    [[1], [1, 2]],
    np.array(["5"]),
    np.array([1j]),
    np.array([True, 2.0], dtype=object),
    np.ma.masked_array([1.0, 2.0], [0, 1]),
    np.datetime64("2026-01-01"),
    np.timedelta64(3, "s"),
    10**400,
    10**5000,
    lambda: 1.0,
]

BAD_NUMBERS = [
    math.nan,
    math.inf,
    -math.inf,
    -1.0,
    -1e-300,
    np.float32("nan"),
    [1.0, math.nan],
    [2.0, -3.0],
    np.array([1.0, np.inf]),
]
