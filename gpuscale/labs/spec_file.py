"""What was measured as a file of parts: a chip, measured tables, a network and a cluster for the planner."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable
from pathlib import Path

from gpuscale.collectives import bus_bandwidth
from gpuscale.core.evaluation import evaluate
from gpuscale.specs import chip as published
from gpuscale.specs import load
from gpuscale.specs.measured_table import Column
from gpuscale.specs.writing import file_text, part_text, table_text

BUS = {
    "all-reduce": bus_bandwidth.all_reduce_bus,
    "all-gather": bus_bandwidth.all_gather_bus,
    "reduce-scatter": bus_bandwidth.all_gather_bus,
    "all-to-all": bus_bandwidth.all_to_all_bus,
}
SIZE = "size of the full buffer, V; of an all-to-all, and of a message to the next rank, what one rank holds"
KEPT = ("bf16", "hbm_bw", "nvlink_bw", "nic_bw")  # what the planner asks of a chip


def write_spec(found: dict, path, key: str = "mine", chip: str = "", nic: float = 0.0) -> list:
    """Write what ``measure_here`` has found as a TOML file, load it, and return its parts.

    The planner takes fractions of peaks. ``chip``, a chip of the book, gives published peaks, and ``nic`` the bandwidth
    of a GPU's NICs in B/s where it differs. Without them the best sample of each measurement stands for the peak, and
    the fraction says how far the median stays below it. Raises SpecError for a file that cannot be loaded, UnknownPart
    for an unknown chip.
    """
    peaks = {name: published(chip).get(name) for name in KEPT} if chip else {}
    peaks |= {"nic_bw": nic} if nic else {}
    text = _Spec(found, key, {name: value for name, value in peaks.items() if value}, chip).text()
    path = Path(path).expanduser()
    spare = path.with_name(path.name + ".part")
    spare.write_text(text, encoding="utf-8")
    os.replace(spare, path)
    return load(path)


class _Spec:
    def __init__(self, found: dict, key: str, peaks: dict, chip: str):
        self.found, self.key, self.peaks, self.chip = found, key, peaks, chip
        self.date = datetime.date.today().isoformat()
        gpus = f"{found['ranks']} ranks, {found['device']}, {found['backend']}, PyTorch {found['torch']}"
        self.source = f"gpuscale.labs.measure, {gpus}, {self.date}"
        self.title = f"{found['device']}, {platform.machine()}" if "CPU" in found["device"] else found["device"]
        self.nodes = found["ranks"] // found["per_node"]

    def text(self) -> str:
        """The whole file."""
        parts = [self._matmul(), self._memory()]
        if self.found["collectives"]:
            parts += [self._collectives(), self._chip(), *self._network(), self._cluster()]
        else:
            parts += [self._chip()]
        return file_text(parts, self.date, "Written by gpuscale.labs.measure; gpuscale.load reads it.")

    # ---- tables

    def _matmul(self) -> str:
        rate = self._column("rate", "rate", "TFLOP/s", f"{self.found['dtype']}, dense, per rank, from the median")
        rows = [[x["n"], x["best"] * 1e6, x["median"] * 1e6, _flops(x, "median") / 1e12] for x in self.found["matmul"]]
        columns = [self._column("n", "width", "1", "rows and columns of each matrix"), *self._times(), rate]
        return table_text(f"{self.key}_matmul", "Square matrix multiplications", columns, rows, self._note())

    def _memory(self) -> str:
        columns = [
            Column("operation", "operation", "text"),
            self._column("size", "size", "B", "one array, fp32"),
            *self._times(),
            self._column("bandwidth", "bandwidth", "GB/s", "read and written, per rank, from the median"),
        ]
        rows = [
            [x["operation"], x["size"], x["best"] * 1e6, x["median"] * 1e6, _moved(x, "median") / 1e9]
            for x in self.found["memory"]
        ]
        return table_text(f"{self.key}_memory", "Copies and triads", columns, rows, self._note())

    def _collectives(self) -> str:
        columns = [
            Column("level", "level", "text"),
            self._column("ranks", "ranks", "1", "of a group; all groups of a level at once"),
            Column("collective", "collective", "text"),
            self._column("size", "size", "B", SIZE),
            *self._times(),
            self._column("busbw", "bus bandwidth", "GB/s", "per rank, one direction, from the median"),
        ]
        rows = [
            [
                x["level"],
                x["ranks"],
                x["collective"],
                x["size"],
                x["best"] * 1e6,
                x["median"] * 1e6,
                _bus(x, "median") / 1e9,
            ]
            for x in self.found["collectives"]
        ]
        return table_text(f"{self.key}_collectives", "Collectives by level", columns, rows, self._note())

    def _times(self) -> list[Column]:
        best, median = (f"{what} of {self.found['repeats']} samples, slowest rank" for what in ("minimum", "median"))
        return [self._column("best", "best", "us", best), self._column("median", "median", "us", median)]

    def _column(self, name: str, title: str, unit: str, basis: str) -> Column:
        return Column(name, title, unit, basis, self.source)

    def _note(self) -> str:
        return f"All {self.found['ranks']} ranks at the same time; each time is that of the slowest rank."

    # ---- what the planner needs besides

    def _chip(self) -> str:
        """The chip, with published peaks or with the best that was measured."""
        rows = {"node": self._gathers("node"), "across": self._gathers("across")}
        best = {"bf16": _best(self.found["matmul"], _flops), "hbm_bw": _best(self._largest(), _moved)}
        best |= {"nvlink_bw": _best(rows["node"] or rows["across"], _bus), "nic_bw": _best(rows["across"], _bus)}
        said = {
            "bf16": ("TFLOP/s", 1e12, f"best matmul, {self.found['dtype']}, dense, per rank"),
            "hbm_bw": ("GB/s", 1e9, "best triad or copy, per rank"),
            "nvlink_bw": ("GB/s", 1e9, "best bus bandwidth of an all-gather inside a node, one direction, per rank"),
            "nic_bw": ("GB/s", 1e9, "best bus bandwidth of an all-gather across nodes, one direction, per rank"),
        }
        numbers = {"hbm": (self.found["memory_of_rank"] / 1e9, "GB", "per rank", self.source)}
        for name, (unit, scale, basis) in said.items():
            if name in self.peaks:
                source = f"peak of {self.chip}" if self.chip else "as given"
                numbers[name] = (
                    self.peaks[name] / scale,
                    unit,
                    "peak, per GPU, one direction where it is a link",
                    source,
                )
            elif best[name]:
                numbers[name] = (_above(best[name] / scale), unit, basis, self.source)
        return part_text("chip", f"{self.key}_chip", self.title, {"short": self.title}, numbers)

    def _network(self) -> list[str]:
        size, levels = self.found["per_node"], [f"{self.key}_node"]
        bw = f"{self.key}_chip"
        parts = [self._level("node", "Node", size, 1, "nvlink_bw", "ranks of a node")]
        if self.nodes > 1:
            levels.append(f"{self.key}_across")
            parts.append(self._level("across", "Cluster", self.nodes, size, "nic_bw", "nodes that took part"))
        title = f"{self.found['ranks']} ranks in {'one node' if self.nodes == 1 else f'{self.nodes} nodes'}"
        count = {"gpus": (self.found["ranks"], "1", f"ranks that took part, chip {bw}", self.source)}
        return [*parts, part_text("topology", f"{self.key}_network", title, {"levels": ", ".join(levels)}, count)]

    def _level(self, name: str, title: str, degree: int, cables: int, peak: str, basis: str) -> str:
        numbers = {
            "degree": (degree, "1", basis, self.source),
            "cables": (cables, "1", "one per rank below", self.source),
            "link_bw": (self._peak(peak) / 1e9, "GB/s", "one direction, per rank", self.source),
        }
        labels = {"makes": title.lower(), "network": "scale-up" if name == "node" else "scale-out"}
        return part_text("level", f"{self.key}_{name}", title, labels, numbers)

    def _peak(self, name: str) -> float:
        if name in self.peaks:
            return self.peaks[name]
        level = "across" if name == "nic_bw" or self.found["per_node"] == 1 else "node"
        return _above(_best(self._gathers(level), _bus))

    def _cluster(self) -> str:
        """Where the planner finds each fraction of a peak."""
        key, inside = self.key, "node" if self.found["per_node"] > 1 else "across"
        largest = max(x["size"] for x in self.found["memory"])
        gathers = f"{key}_chip: {key}_collectives.busbw[collective=all-gather, level=%s]"
        labels = {
            "chip": f"{key}_chip",
            "network": f"{key}_network",
            "matmul": f"{key}_chip: {key}_matmul.rate",
            "scaleup": gathers % inside,
            "memory": f"{key}_chip: {key}_memory.bandwidth[size={largest}]",
        }
        labels |= {"scaleout": gathers % "across"} if self.nodes > 1 else {}
        return part_text("cluster", key, f"{self.title}, measured", labels, {})

    def _gathers(self, level: str) -> list[dict]:
        return [x for x in self.found["collectives"] if x["level"] == level and x["collective"] == "all-gather"]

    def _largest(self) -> list[dict]:
        """The largest arrays: smaller ones may fit into a cache."""
        size = max(x["size"] for x in self.found["memory"])
        return [x for x in self.found["memory"] if x["size"] == size]


def _flops(row: dict, which: str) -> float:
    return 2 * row["n"] ** 3 / row[which]


def _moved(row: dict, which: str) -> float:
    return row["bytes"] / row[which]


def _bus(row: dict, which: str) -> float:
    """The bus bandwidth of a row [B/s]; a message to the next rank counts as it is."""
    rate = evaluate(bus_bandwidth.algorithm_bandwidth.rhs, V=row["size"], T_comms=row[which])
    return evaluate(BUS[row["collective"]].rhs, W_alg=rate, N=row["ranks"]) if row["collective"] in BUS else rate


def _best(rows: list[dict], rate: Callable[[dict, str], float]) -> float:
    return max((rate(row, "best") for row in rows), default=0.0)


def _above(value: float) -> float:
    """A peak, a little above what is printed of the rates below it."""
    return value * (1 + 1e-5)
