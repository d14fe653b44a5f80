"""Formulas as values: one object gives the equation, the numbers, the JavaScript twin and the tests."""

import importlib
from dataclasses import dataclass, field, fields, replace

import sympy

from gpuscale.core.cards import formula_card
from gpuscale.core.conditions import Condition
from gpuscale.core.dimension import must_fit
from gpuscale.core.evaluation import evaluate, expected, inputs
from gpuscale.core.latex import tex
from gpuscale.symbols import Quantity, quantities

_TOLD = (
    "lhs",
    "title",
    "source",
    "assumes",
    "approx",
    "regime",
    "needs",
    "optional",
    "means",
)  # no quantity has one of these names


@dataclass(frozen=True, eq=False)
class Formula:
    """A cost or size in closed form: ``lhs`` equals ``rhs`` under the stated assumptions.

    ``title`` is a noun phrase; ``source`` a key of the bibliography, with a place after a comma; ``assumes``
    the conditions, of which it enforces those in ``needs`` (see ``gpuscale.core.conditions``). ``approx`` is the common
    approximation: rhs/approx tends to 1 along ``regime``, a tuple of (quantity, limit) pairs taken in order.
    ``optional``: the inputs that a call may leave out, such as a latency; they are then 0.
    ``means``: what a quantity is in this formula, where its own meaning is wider; formulas made of this one inherit it.
    Called with keywords in base units it gives floats or arrays; inputs that break a need raise ValueError.
    Raises DimensionError if the sides do not balance, TypeError for a symbol that is not a quantity.

    >>> from gpuscale.symbols import N, T_comms, V, W
    >>> gather = Formula("Gather", T_comms, V / W * (N - 1) / N, source="a sketch", assumes="for N equal ranks")
    >>> gather
    T_comms = V*(N - 1)/(N*W)
    >>> gather(V=64e6, N=8, W=450e9)
    0.00012444444444444444
    >>> [q.name for q in gather.inputs]
    ['V', 'W', 'N']
    """

    title: str
    lhs: Quantity
    rhs: sympy.Expr
    source: str
    assumes: str
    approx: sympy.Expr | None = None
    regime: tuple = ()
    needs: tuple[Condition, ...] = ()
    optional: tuple[Quantity, ...] = ()
    means: dict[Quantity, str] = field(default_factory=dict, repr=False)
    name: str = field(default="", repr=False)
    module: str = field(default="", repr=False)

    def __post_init__(self):
        object.__setattr__(self, "rhs", sympy.sympify(self.rhs))
        if self.approx is not None:
            object.__setattr__(self, "approx", sympy.sympify(self.approx))
        for what, expr in (("rhs", self.rhs), ("approx", self.approx)):
            if expr is not None:
                must_fit(f"{self.title}: {what}", self.lhs, expr)
        if (self.approx is None) != (not self.regime):
            raise ValueError(f"{self.title}: approx and regime belong together; got only one of them")
        for need in self.needs:
            if need.relation == False:  # noqa: E712
                raise ValueError(f"{self.title}: needs that {need}, which never holds")
            if not need.symbols <= set(self.inputs):
                raise ValueError(f"{self.title}: needs that {need}; expected a condition on its inputs alone")
        for q in self.means:
            if q not in (self.lhs, *self.inputs):
                raise ValueError(f"{self.title}: {q} has a meaning, but the formula has no {q}")
        for q in self.optional:
            if q not in self.inputs or not q.zero:
                raise ValueError(f"{self.title}: {q} cannot be optional; expected an input that can be zero")

    @property
    def room(self) -> str:
        """The package that offers it, such as "gpuscale.collectives"; "" for one that no module declares."""
        return ".".join(self.module.split(".")[:2])

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        """The quantities to be given, in the order of the notation."""
        return inputs(self.rhs)

    def __call__(self, /, **values):
        return evaluate(self, **values)

    def where(self, *others: "Formula", **values) -> "Formula":
        """This formula with others put in for their left-hand side, and expressions for symbols, all at once.

        ``f.where(g, N=n, V=b*n)``. Other parts that change are passed by name: ``lhs``, ``title``, ``source``,
        ``assumes``, ``needs`` in place of those that this formula and the others bring, ``approx`` with ``regime``,
        ``optional`` in place of the inputs that every formula with them has as optional, ``means`` in addition to the
        meanings that they bring.
        Raises if two formulas give one quantity, if a name is not an input, or if an expression's dimension is not
        its symbol's.

        >>> from gpuscale.collectives import ring_all_reduce
        >>> ring_all_reduce.where(alpha=0, N=8, title="Ring all-reduce of eight, without latency")
        T_comms = 7*V/(4*W)
        """
        told = {part: values.pop(part) for part in _TOLD if part in values}
        swaps: dict = {}
        for other in others:
            if other.lhs in swaps:
                raise ValueError(f"where: two formulas give {other.lhs}; expected one per quantity")
            swaps[other.lhs] = other.rhs
        known = quantities()
        for name, expr in values.items():
            symbol = known.get(name, name)
            if symbol in swaps:
                raise ValueError(f"where: {name} is given twice")
            swaps[symbol] = sympy.sympify(expr)
        for symbol, expr in swaps.items():
            if symbol not in self.inputs:
                raise TypeError(f"where: {symbol} is not an input of {self.title}; {expected(self.inputs)}")
            must_fit(f"where: {symbol}", symbol, expr)
        rhs = self.rhs.subs(swaps, simultaneous=True)
        needs = [need.put(swaps) for need in self.needs] + [need for other in others for need in other.needs]
        needs = tuple(dict.fromkeys(need for need in needs if need.relation != True))  # noqa: E712
        parts = (self, *others)
        asked = {q for part in parts for q in part.inputs if q not in part.optional}
        spare = dict.fromkeys(q for part in parts for q in part.optional if q not in asked)
        new = {"rhs": rhs, "needs": needs, "approx": None, "regime": (), "name": "", "module": ""}
        new["optional"] = tuple(q for q in spare if q in rhs.free_symbols)
        told_of = {q: text for part in reversed(parts) for q, text in part.means.items()} | told.pop("means", {})
        new["means"] = {q: text for q, text in told_of.items() if q in {told.get("lhs", self.lhs), *rhs.free_symbols}}
        return replace(self, **new | told)

    def equation(self) -> sympy.Eq:
        """lhs = rhs for sympy's own tools.

        >>> from gpuscale.one_gpu import transfer_time
        >>> transfer_time.equation()
        Eq(T_mem, V/W + alpha)
        """
        return sympy.Eq(self.lhs, self.rhs, evaluate=False)

    def about(self):
        """The card: equation, assumptions, approximation, symbols with units, source.

        >>> from gpuscale.one_gpu import transfer_time
        >>> print(str(transfer_time.about()).splitlines()[0])
        Time to move bytes: T_mem = V/W + alpha  [s]
        """
        return formula_card(self)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {tex(self.lhs)} = {tex(self.rhs)}$"

    def __repr__(self) -> str:
        return f"{self.lhs} = {self.rhs}"

    def __reduce__(self):
        if self.name and _lookup(self.module, self.name) is self:  # a formula of the library stays the same object
            return _lookup, (self.module, self.name)
        return type(self), tuple(getattr(self, part.name) for part in fields(self))


def _lookup(module: str, name: str) -> Formula:
    return getattr(importlib.import_module(module), name, None)


def declare(namespace: dict) -> None:
    """Tell the formulas of a module their names: ``declare(globals())`` is the last line of such a module.

    A formula made in the module gets the name it is assigned to and the module's own; an imported one has both already.

    >>> from gpuscale.symbols import T_comms, V, W
    >>> namespace = {"__name__": "notes", "best_case": Formula("Best case", T_comms, V / W, "a sketch", "at full rate")}
    >>> declare(namespace)
    >>> namespace["best_case"].name, namespace["best_case"].module
    ('best_case', 'notes')
    """
    for name, value in namespace.items():
        if isinstance(value, Formula) and not value.name and not name.startswith("_"):
            object.__setattr__(value, "name", name)
            object.__setattr__(value, "module", namespace["__name__"])
