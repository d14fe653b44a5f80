"""States of the pipeline that is played with, and what it has to show in each, by the library's timetables."""

import random
from fractions import Fraction

from gpuscale.llm import bubble_fraction, dualpipe_bubble, interleaved_fraction, zb_overhead, zb_v_overhead
from gpuscale.schedules.pipelines.both_ways import dualpipe, zb_v
from gpuscale.schedules.pipelines.orders import gpipe, interleaved, one_f_one_b, zb_h1
from gpuscale.widgets import Scheduled, pipeline_stage

TABS = {
    "GPipe": Scheduled(gpipe, bubble_fraction),
    "1F1B": Scheduled(one_f_one_b, bubble_fraction),
    "Interleaved": Scheduled(interleaved, interleaved_fraction),
    "ZB-H1": Scheduled(zb_h1, zb_overhead),
    "ZB-V": Scheduled(zb_v, zb_v_overhead),
    "DualPipe": Scheduled(dualpipe, dualpipe_bubble),
}
FEW = {"interleaved": lambda p: range(p, 17, p), "zb_v": lambda p: range(2 * p - 1, 17)}
FEW |= {"dualpipe": lambda p: range(2 * p, 17, 2)}


def figure(tabs=None, **options):
    """The pipeline of the book, or one with other tabs and options."""
    book = dict(opens="1F1B", name="pipeline", title="A pipeline", caption="<b>A pipeline.</b>")
    return pipeline_stage(tabs or TABS, **(book if tabs is None else book | {"opens": ""}) | options)


def states(many: int, seed: int = 1) -> list[dict]:
    """Inputs as the page takes them, and a moment, from 0 to 1; a third of them have equal ranks."""
    dice = random.Random(seed)

    def state(turn):
        kind = list(each.schedule.__name__ for each in TABS.values())[turn % len(TABS)]
        p, t_B = dice.choice([2, 4, 6, 8]), dice.randint(4, 16) / 4
        t_W = dice.randint(2, int(4 * t_B) - 2) / 4
        slow = dice.random() < 0.67
        return {
            "kind": kind,
            "N_stages": p,
            "N_MB": dice.choice(FEW.get(kind, lambda p: range(1, 17))(p)),
            "t_B": t_B,
            "t_W": t_W,
            "pace": [dice.choice([1, 1, 1.05, 1.6, 3]) if slow else 1 for _ in range(8)],
            "follow": -1,
            "at": round(dice.random(), 3),
        }

    return [state(turn) for turn in range(many)]


def run(state: dict, equal: bool = False):
    """The state's timetable; ``equal``: with equal ranks."""
    p, m, b, w = state["N_stages"], state["N_MB"], Fraction(state["t_B"]), Fraction(state["t_W"])
    half = Fraction(1, 2)
    made = {
        "gpipe": lambda: gpipe(p, m, 1, b),
        "one_f_one_b": lambda: one_f_one_b(p, m, 1, b),
        "interleaved": lambda: interleaved(p, m, 2, half, b / 2),
        "zb_h1": lambda: zb_h1(p, m, 1, b, w),
        "zb_v": lambda: zb_v(p, m, half, b / 2, w / 2),
        "dualpipe": lambda: dualpipe(p, m, 1, b, w),
    }[state["kind"]]()
    return made if equal else made.slowed([Fraction(str(one)) for one in state["pace"][:p]])


def bubble(state: dict) -> float | None:
    """The formula's bubble fraction; None for unequal ranks and where the formula refuses."""
    if len(set(state["pace"][: state["N_stages"]])) > 1:
        return None
    sizes = {key: state[key] for key in ("N_stages", "N_MB")}
    times = {"t_F": 1, "t_B": state["t_B"], "t_W": state["t_W"]}
    try:
        if state["kind"] in ("gpipe", "one_f_one_b"):
            return bubble_fraction(**sizes)
        if state["kind"] == "interleaved":
            return interleaved_fraction(**sizes, n_virt=2)
        if state["kind"] == "dualpipe":
            lost = dualpipe_bubble(N_stages=state["N_stages"], **times) / (state["N_MB"] * (1 + state["t_B"]))
        else:
            lost = {"zb_h1": zb_overhead, "zb_v": zb_v_overhead}[state["kind"]](**sizes, **times)
    except ValueError:
        return None
    return lost / (1 + lost)
