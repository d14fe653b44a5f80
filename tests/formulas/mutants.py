"""Mutants of formulas: copies with one part changed, such as a sum without an addend or Min in place of Max."""

import dataclasses
import functools
import math
from collections import Counter

import sympy
from sympy.core.sorting import default_sort_key

from gpuscale.core.dimension import DimensionError
from gpuscale.core.formula import Formula

FACTORS = {"twice": sympy.Integer(2), "GiB for GB in": sympy.Rational(2**30, 10**9)}
SWAPPED = {
    sympy.Max: sympy.Min,
    sympy.Min: sympy.Max,
    sympy.ceiling: sympy.floor,
    sympy.floor: sympy.ceiling,
    sympy.StrictLessThan: sympy.LessThan,
    sympy.LessThan: sympy.StrictLessThan,
    sympy.StrictGreaterThan: sympy.GreaterThan,
    sympy.GreaterThan: sympy.StrictGreaterThan,
}

# Mutants that say the same as the formula wherever it holds, with the reason. A test fails where one is noticed.
_INFINITE = "where the two sides are equal the denominator is zero: infinite, as in the other branch"
_BELOW = "is less than zero where the formula has zero: the largest of the levels counts, and another is not less"
_WHOLE = (
    "is 1 or more either way where it is not zero, as ZeRO's stage is a whole number, and 1 is the most that counts"
)
_NOTHING = "is multiplied by the nodes' share, which is zero wherever this argument decides"
EQUIVALENT: dict[str, dict[str, str]] = {
    "critical_batch": {"GreaterThan for D*F > B_rule*(D + F)": _INFINITE},
    "critical_batch_cached": {"LessThan for C*V_seq < W_hbm*ops_tok": _INFINITE},
    "critical_batch_mixed": {"GreaterThan for D*F > I_ridge*b*(D + F)/(2*flop)": _INFINITE},
    "two_level_sharded": dict.fromkeys(["without Y in Max(G, Y)", "without Y in Max(Y, G*M)"], _BELOW),
    "three_level_sharded": dict.fromkeys(
        [
            "without Y in Max(G, Y)",
            "without Y in Max(Y, G*G_2*G_3)",
            "without Y in Max(Y, G*G_2*G_3) #2",
        ],
        _BELOW,
    ),
    "expected_dp": {f"{said} n_zero in N_stages + n_zero - 1": _WHOLE for said in FACTORS},
    "nodes_bandwidth": {"without 1 in Min(1, G_2/M)": _BELOW},
    "sharded_dp_threshold": dict.fromkeys(["without Y in Max(G, Y)", "without Y in Max(Y, G*M)"], _BELOW),
    "ep_level_comms": {"without 1 in Max(1, Z/G)": _NOTHING, "without 1 in Max(1, Z/G) #2": _BELOW},
    "ep_level_width": {"without 1 in Max(1, Z/G)": _NOTHING, "without 1 in Max(1, Z/G) #2": _BELOW},
    "ep_layer": {"without 1 in Max(1, Z/G)": _BELOW, "without 1 in Max(1, Z/G) #2": _NOTHING},
    "tp_node_ratio": {"without G in Max(G, Y)": _BELOW},
    "tp_node_comms": {"without G in Max(G, Y)": _BELOW},
    "mixed_dp_limit": {"without Y in Max(G, Y)": _BELOW},
    "group_network": {"without Y in Max(G, Y, X*Y)": "X is one or more: X*Y is as much at least"},
    "dp_network": dict.fromkeys(
        ["without Y in Max(G, Y, X*Y*n_cp)", "without Z in Max(G, Z, X*Y*n_cp)"],
        "Y and Z divide all ranks of a stage: those are as many at least",
    ),
    "exchange_network": {"without 1 in Max(1, Z/G) #2": _NOTHING},
    "limited_nodes_hit": {
        "without 1 in Max(1, Z/G)": "in part of a node the limit is divided by less than 1: no share is larger"
    },
}


class Mutant(Formula):
    """A formula with something wrong in it: it passes over inputs that it lost, and may be no number anywhere."""

    def __call__(self, /, **values):
        try:
            return super().__call__(**{q.name: values[q.name] for q in self.inputs})
        except ValueError:
            return math.nan


def planted(formula, rhs) -> Mutant:
    """A copy of a formula with another right side; conditions on inputs that it lost go as well."""
    needs = tuple(need for need in formula.needs if need.symbols <= rhs.free_symbols)
    optional = tuple(q for q in formula.optional if q in rhs.free_symbols)
    parts = {part.name: getattr(formula, part.name) for part in dataclasses.fields(formula)}
    changed = {"rhs": rhs, "needs": needs, "approx": None, "regime": (), "optional": optional, "means": {}}
    return Mutant(**parts | changed)


def factors(rhs) -> dict:
    """A factor on the whole right side."""
    return {f"{said} the whole": factor * rhs for said, factor in FACTORS.items()}


def of(formula) -> dict[str, Mutant]:
    """Every mutant of a formula by what is wrong with it, without those that sympy or the units tell apart at once.

    A mutant that sympy writes like the formula is the formula; one whose units do not balance cannot be declared.
    """
    out, known, met = {}, {formula.rhs}, Counter()
    for label, rhs in [*factors(formula.rhs).items(), *_everywhere(formula.rhs)]:
        met[label] += 1
        if rhs in known:
            continue
        known.add(rhs)
        try:
            out[f"{label} #{met[label]}" if met[label] > 1 else label] = planted(formula, rhs)
        except DimensionError:
            pass
    return out


def _parts(expr) -> list:
    """(place, argument) in an order that is the same in every run; sympy keeps those of Max and Min as a set."""
    return sorted(enumerate(expr.args), key=lambda part: default_sort_key(part[1]))


def _made(func, args):
    """An expression of a kind; a maximum is left as it is, since sympy takes long to compare its arguments."""
    return func(*args, evaluate=False) if func in (sympy.Max, sympy.Min) else func(*args)


def _everywhere(expr):
    """(what is changed, the expression with the change), node by node."""
    for label, new in _here(expr):
        yield label, new
    for i, part in _parts(expr):
        for label, new in _everywhere(part):
            if not new.has(sympy.zoo, sympy.nan):  # nobody writes that, and Max does not accept it
                yield label, _made(expr.func, (*expr.args[:i], new, *expr.args[i + 1 :]))


_said = functools.cache(str)  # mutants share most of their nodes


def _here(expr):
    args, whole = expr.args, _said(expr)
    without = [(part, args[:i] + args[i + 1 :]) for i, part in _parts(expr)]
    if expr.is_Add:
        for part, rest in without:
            yield f"without {_said(part)} in {whole}", expr.func(*rest)
            for said, factor in FACTORS.items():
                yield f"{said} {_said(part)} in {whole}", expr.func(*rest, factor * part)
    elif expr.is_Mul:
        for part, rest in without:
            yield f"without the factor {_said(part)} in {whole}", expr.func(*rest)
    elif isinstance(expr, sympy.Max | sympy.Min):
        for part, rest in without:
            yield f"without {_said(part)} in {whole}", _made(expr.func, rest)
    elif isinstance(expr, sympy.Piecewise):
        yield from _branches(expr)
    if expr.func in SWAPPED:
        yield f"{SWAPPED[expr.func].__name__} for {whole}", _made(SWAPPED[expr.func], args)


def _branches(expr):
    pairs, whole = list(expr.args), _said(expr)
    for i, (value, _) in enumerate(pairs[:-1]):
        yield f"without {_said(value)} in {whole}", sympy.Piecewise(*pairs[:i], *pairs[i + 1 :])
        after = pairs[i + 1]
        swapped = [(after.expr, pairs[i].cond), (value, after.cond)]
        yield (
            f"{_said(value)} and {_said(after.expr)} swapped in {whole}",
            sympy.Piecewise(*pairs[:i], *swapped, *pairs[i + 2 :]),
        )
