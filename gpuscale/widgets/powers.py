"""One zoom from a pod to a Tensor Core, and the same bytes brought from six memories at once.

``widgets.powers_world`` says where things stand and the page's script (``static/powers.js``) draws them. The times are
those of the formulas given, the counts those of a GPU and of a network.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gpuscale.core.formula import Formula
from gpuscale.symbols import V as whole
from gpuscale.units import MB, kB, show
from gpuscale.widgets import powers_world
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

SIZES = 100 * kB, 10 * MB
PARTS = {
    "gpus": 8,
    "nodes": 32,
    "leaves": 8,
    "units": 4,
    "spines": 16,
    "sms": 132,
    "quarters": 4,
    "switches": 4,
    "links": 18,
}  # as it is drawn
SIDE = 8  # of the matrices that a Tensor Core multiplies in the drawing
LABELS = {
    "spines": "{spines} spines",
    "unit": "{unit} per unit",
    "up": "to the spines {unit}",
    "column": "{column} from 4 nodes",
    "nvswitch": ["NVSwitch", ""],
    "nic": ["NIC", ""],
    "cpu": ["CPU", ""],
    "nvlink": "NVLink {nvlink} per GPU",
    "nvlink_port": "NVLink {nvlink}",
    "pcie": ["PCIe {host}", "PCIe"],
    "ib": ["InfiniBand {nic} per GPU", "InfiniBand {nic}"],
    "host": ["memory", ""],
    "hbm": "HBM",
    "l2": ["L2 cache, {l2_size}", "L2, {l2_size}"],
    "l2_rate": ["to the SMs {l2}", "{l2}"],
    "stack": ["{stack} each", "{stack}"],
    "smem": "shared memory, {smem_size}",
    "registers": "registers",
    "tensor": ["Tensor", ""],
    "core": ["Core", ""],
    "register_rate": "{quarter_registers}",
    "smem_rate": "{quarter_smem}",
    "A": "A",
    "B": "B",
    "C": "C",
    "multiply": ["{multiplies} multiply-adds per cycle", "{multiplies} per cycle"],
    **{f"leaf{i}": [f"leaf {i}", str(i)] for i in range(8)},
    **{f"nic{i}": str(i) for i in range(8)},
}
WORDS = {
    "bring": "Bring {} from {}",
    "into": "Zoom to: {}",
    "out": "Zoom out to: {}",
    "scale": "{}: every pipe is as wide as its bandwidth",
    "scaleShort": "{}: all pipes to scale",
    "zoom": "Level",
    "now": "{} of {}, {} of {} done",
    "takes": "{} from {} takes <b>{}</b>.",
    "split": "The latency is {}, and the bytes take {}.",
    "longer": "That is {} times as long as from the GPU's own HBM.",
    "shorter": "That is {} of the time from the GPU's own HBM.",
    "brings": "{}: latency, then bytes",
    "both": "{} at {}",
    "count": "× {}",
    "memory": "Memory",
    "holds": "holds",
    "delivers": "delivers",
    "latency": "latency",
    "flow": "bytes",
    "time": "time",
    "inFlight": "in flight",
    "hover": "{} of latency, then {} for the bytes",
    "little": "{} in flight keep its path busy",
}


class Memory(NamedTuple):
    """A memory that the SMs of one GPU read: its capacity [B], its bandwidth to them [B/s], the latency [s]."""

    name: str
    short: str
    hue: str
    capacity: float
    bandwidth: float
    latency: float


def powers_stage(
    gpu,
    pod,
    memories: Mapping[str, Memory],
    *,
    time: Formula,
    flight: Formula,
    registers: float,
    name: str,
    title: str,
    caption: str,
    V: float,
):
    """A zoom from a pod to a Tensor Core, and ``V`` bytes brought from each memory.

    ``gpu`` is a chip of the data and ``pod`` a network of nodes, leaves and spines. ``memories`` are by key: smem, l2,
    hbm, nvlink, host, network, in this order; ``registers`` is the bandwidth of those of one SM. ``time`` is the
    formula of a transfer, of alpha, V and W, and ``flight`` that of the bytes in flight, of alpha and W. It opens on
    the node, when all bytes have arrived. Returns a widget whose ``values`` hold zoom, from 0 (the pod) to 5 (a Tensor
    Core), V, and only: 0 for all memories, or the place of the one that is read, from 1.
    Raises ValueError for other memories, and for a GPU or a network of another shape than the drawing's.
    """
    places = powers_world.presses()
    if list(memories) != list(places):
        raise ValueError(f"{name}: memories: expected {', '.join(places)}; got {', '.join(memories)}")
    if len(pod.levels) != 3:
        raise ValueError(f"{name}: expected a network with nodes, leaves and spines; got {pod.title}")
    node, unit, top = pod.levels
    counts = {
        "gpus": node.degree,
        "nodes": unit.degree,
        "leaves": unit.switches,
        "units": top.degree,
        "spines": top.switches,
        "sms": gpu.sm,
        "quarters": gpu.tensor_cores_per_sm,
        "switches": node.switches,
        "links": gpu.nvlink_links,
    }
    if counts != PARTS:
        raise ValueError(f"{name}: expected {PARTS}; got {counts}")
    quarters = counts["quarters"]
    W = {key: each.bandwidth for key, each in memories.items()}
    W |= {"nic": unit.link_bw, "link": node.link_bw, "registers": registers, "smem": W["smem"] / gpu.sm}
    column = 4 * node.degree * unit.link_bw
    said = {key: show(value, "B/s") for key, value in W.items()} | {
        "spines": str(top.switches),
        "unit": show(unit.degree * node.degree * unit.link_bw, "B/s"),
        "column": show(column, "B/s"),
        "stack": show(W["hbm"] / 5, "B/s"),
        "l2_size": show(gpu.l2, "MiB", short=True),
        "smem_size": show(gpu.smem_per_sm, "KiB", short=True),
        "multiplies": show(gpu.tensor_flop_per_cycle / 2, "count"),
        "quarter_smem": show(W["smem"] / quarters, "B/s"),
        "quarter_registers": show(registers / quarters, "B/s"),
    }
    times = {key: float(time(V=V, W=each.bandwidth, alpha=each.latency)) for key, each in memories.items()}
    return stage_figure(
        "powers",
        name=name,
        title=title,
        caption=caption,
        start={"zoom": 2, "V": V, "only": 0},
        text=[f"{each.name}: {show(V, 'B')} in {show(times[key], 's')}" for key, each in memories.items()],
        sliders={whole: Slider(*SIZES, V, label="bytes")},
        presets={"Race all six": {"only": 0, "zoom": 2}},
        within={"zoom": (0, 5), "only": (0, len(memories))},
        counts=["only"],
        formulas={"time": time, "flight": flight},
        units={"V": "B", "alpha": "s", "W": "B/s"},
        words=WORDS,
        data={
            "memories": [
                {
                    "key": key,
                    "name": each.name,
                    "short": each.short,
                    "hue": each.hue,
                    "holds": each.capacity,
                    "W": each.bandwidth,
                    "latency": each.latency,
                    "press": places[key],
                }
                for key, each in memories.items()
            ],
            "call": time.name,
            "levels": _levels(gpu, counts, W, memories),
            "path": [list(frame) for frame in powers_world.PATH],
            "frames": powers_world.frames(),
            "layers": powers_world.layers(W),
            "labels": powers_world.labels(_filled(LABELS, said)),
            "routes": powers_world.routes(),
        },
        python=f"from {time.room} import {time.name}",
        at=1.0,
    )


def _filled(texts: Mapping, said: Mapping[str, str]) -> dict:
    """The texts, and the texts of lists, with their gaps filled."""
    return {
        key: [each.format(**said) for each in text] if isinstance(text, list) else text.format(**said)
        for key, text in texts.items()
    }


def _levels(gpu, counts, W, memories) -> list[dict]:
    """The six levels: name, short name, how many of them the pod has, and a sentence."""
    units, nodes, gpus = counts["units"], counts["nodes"], counts["gpus"]
    many = [1, units, units * nodes, units * nodes * gpus]
    many += [many[-1] * gpu.sm, many[-1] * gpu.sm * counts["quarters"]]
    rate = lambda key: show(W[key], "B/s")  # noqa: E731
    hbm, l2 = memories["hbm"], memories["l2"]
    multiplies = gpu.tensor_flop_per_cycle / 2
    says = [
        f"<b>A pod</b> has {show(many[3], 'count')} GPUs in {units} scalable units. "
        f"Each unit has {show(nodes * gpus * W['nic'], 'B/s')} to the spine switches, as much as its NICs send.",
        f"<b>A scalable unit</b> has {nodes} nodes under {counts['leaves']} leaf switches. "
        "NICs of equal number meet at one leaf: a <b class='scaleout'>rail</b>.",
        f"<b>A node</b> has {gpus} GPUs, connected by <b class='scaleup'>NVLink</b> at {rate('nvlink')} per GPU. "
        f"To other nodes, each GPU has a <b class='scaleout'>NIC</b> with {rate('nic')}.",
        f"<b>A GPU</b> has {gpu.sm} SMs around an L2 cache that delivers {rate('l2')}. "
        f"Its <b class='memory'>HBM</b> holds {show(hbm.capacity / l2.capacity, 'count')} times as much "
        f"and delivers {show(W['hbm'] / W['l2'], '%')} of that.",
        f"<b>An SM</b> has {counts['quarters']} Tensor Cores and one <b class='memory'>shared memory</b>. "
        f"Registers have {show(W['registers'] / W['smem'], '1', short=True)} times the bandwidth of shared memory.",
        f"<b>A Tensor Core</b> does {show(multiplies, 'count')} multiply-adds per cycle, such as a matmul of two "
        f"{SIDE} × {SIDE} matrices. The pod has {show(many[5], 'count')} Tensor Cores.",
    ]
    names = ["Pod", "Unit", "Node", "GPU", "SM", "Tensor Core"]
    return [
        {"name": name, "short": name.split()[0], "count": count, "says": sentence}
        for name, count, sentence in zip(names, many, says, strict=True)
    ]
