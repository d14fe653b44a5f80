"""Traffic on a fabric: which links its routes load, and the rates that are left: the twin of the page's figure.

Rates are max-min fair: all flows grow alike until a link is full; its flows stop there and the others grow on.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuscale.schedules.fabrics.cuts import Cut, worst_cut
from gpuscale.schedules.fabrics.leaf_spine import Fabric
from gpuscale.schedules.fabrics.traffic import TRAFFIC, mixed

ROUTES = ("spread", "hash", "bad")


@dataclass(frozen=True, eq=False)
class Load:
    """Flows on the links of a fabric. Rates are those of the sending GPU, all its flows together [B/s].

    ``flows`` are (source, target, fraction), ``use[i, d, k]`` the fraction of flow i that link k carries up (d = 0) or
    down (d = 1), and ``rates[i]`` the rate of the sender that flow i allows.
    """

    fabric: Fabric
    flows: list[tuple[int, int, float]]
    use: np.ndarray
    rates: np.ndarray
    together: bool

    @property
    def rate(self) -> float:
        """The rate of the slowest GPU: in a collective, that of all."""
        return float(self.rates.min())

    @property
    def mean(self) -> float:
        """The mean rate of a GPU."""
        return float(self.gpu_rates.mean())

    @cached_property
    def possible(self) -> np.ndarray:
        """The rate that each GPU could have, if it waited for nobody."""
        out = np.full(self.fabric.gpus, np.inf)
        np.minimum.at(out, [a for a, _, _ in self.flows], self.rates)
        return out

    @property
    def gpu_rates(self) -> np.ndarray:
        """The rate of each GPU. In a collective everyone waits for the slowest."""
        return np.full_like(self.possible, self.rate) if self.together else self.possible

    @cached_property
    def asked(self) -> np.ndarray:
        """Load of each link, shape (2, links), if every GPU sent at the rate of its NIC [B/s]."""
        return np.einsum("idk,i->dk", self.use, [part * self.fabric.W for _, _, part in self.flows])

    @cached_property
    def carried(self) -> np.ndarray:
        """What each link carries, shape (2, links) [B/s]."""
        rates = np.full_like(self.rates, self.rate) if self.together else self.rates
        return np.einsum("idk,i->dk", self.use, rates * [part for _, _, part in self.flows])

    @cached_property
    def cut(self) -> Cut:
        """The cut that bounds the rate most, whatever the routes."""
        return worst_cut(self.fabric, self.flows)


def loaded(fabric: Fabric, traffic: str = "rails", routes: str = "spread", seed: int = 1) -> Load:
    """Route a traffic over a fabric and fill its links.

    ``traffic``: rails, units, all_to_all or permutation (see ``traffic``). ``routes``: "spread" divides each flow over
    all its routes, "hash" puts it on one spine by a hash, and "bad" has a spine for each node of a unit, so that none
    collides, but for one flow that went to another's. ``seed`` rolls the permutation, the hash and the bad route.
    Raises ValueError for another traffic, and for other routes.

    >>> from gpuscale.schedules.fabrics.leaf_spine import Fabric
    >>> pod = Fabric(2, 4, 8, 4, W=50e9, nvlink=450e9)
    >>> [f"{loaded(pod, 'units', routes).rate:.3g}" for routes in ("spread", "bad")]
    ['5e+10', '2.5e+10']
    """
    if traffic not in TRAFFIC or routes not in ROUTES:
        known = f"traffic: {', '.join(TRAFFIC)}; routes: {', '.join(ROUTES)}"
        raise ValueError(f"expected {known}; got {traffic!r} and {routes!r}")
    flows = TRAFFIC[traffic](fabric, seed)
    use = np.zeros((len(flows), 2, len(fabric.capacity)))
    wrong = mixed(seed, 7) % len(flows)  # the flow of the bad route
    for i, (a, b, _) in enumerate(flows):
        turn = mixed(seed, a, b) if routes == "hash" else a // fabric.rails % fabric.nodes + (i == wrong)
        _route(fabric, a, b, use[i], None if routes == "spread" else turn)
    parts = np.array([part for _, _, part in flows])
    rates = _fair(use * parts[:, None, None], fabric.capacity, fabric.W)
    return Load(fabric, flows, use, rates, together=traffic != "permutation")


def _route(fabric: Fabric, a: int, b: int, use: np.ndarray, turn: int | None):
    """Adds what a flow uses of each link. A number picks one route and one spine of it, in turn; None takes all."""
    found, (up, down) = fabric.routes(a, b), use
    uplinks, nvlinks = fabric.gpus, fabric.gpus + fabric.leaves * fabric.spines
    if turn is not None and found:
        out, entry, spines = found[0]
        found = [(out, entry, spines and [spines[turn % len(spines)]])]
    for out, entry, spines in found:
        part = 1 / len(found)
        if out != a:
            up[nvlinks + a] += part
            down[nvlinks + out] += part
        up[out] += part
        for spine in spines:
            up[uplinks + fabric.leaf(out) * fabric.spines + spine] += part / len(spines)
            down[uplinks + fabric.leaf(entry) * fabric.spines + spine] += part / len(spines)
        down[entry] += part
        if entry != b:
            up[nvlinks + entry] += part
            down[nvlinks + b] += part


def _fair(use: np.ndarray, capacity: np.ndarray, most: float) -> np.ndarray:
    """Max-min fair rates by progressive filling; 0 for a flow without a route, ``most`` where no link stops it."""
    rates, growing = np.zeros(len(use)), use.any(axis=(1, 2))
    room, level = np.stack([capacity, capacity]).astype(float), 0.0
    while growing.any():
        load = use[growing].sum(axis=0)
        step = np.min(room[load > 1e-9] / load[load > 1e-9])
        if level + step >= most:
            rates[growing] = most
            break
        level += step
        room -= load * step
        full = (room < 1e-9 * most) & (load > 1e-9)
        stops = growing & (use[:, full] > 0).any(axis=1)
        rates[stops] = round(level / most, 12) * most  # without the noise of the last digits
        growing &= ~stops
    return rates
