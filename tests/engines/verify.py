"""Run the engines again and compare what they count with the rows that are stored.

    PYTHONPATH=tests python -m engines.verify               # all of them, side by side
    PYTHONPATH=tests python -m engines.verify xla gloo      # some
    PYTHONPATH=tests python -m engines.verify --store xla   # replace the rows of a file by what the engine gives now

The program of an engine is the file of its name in this folder. Its function `measure` yields the id of a family and
its rows. A row has to equal the stored one; where a family has a tolerance, what the engine counts may differ by that.
"""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from gpuscale.evidence import engine, engines, totals
from gpuscale.evidence.rows import DATA, distance

FOLDER = Path(__file__).parent


def run(names: list[str]) -> dict[str, tuple[dict[str, list], float]]:
    """The rows that each engine gives now, by family, and its seconds; as many at a time as there are cores."""
    waiting, running, found = list(names), {}, {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            command = [sys.executable, "-m", "engines.verify", "--rows", name]
            running[name] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True), time.perf_counter()
        name = next(iter(running))
        process, start = running.pop(name)
        text, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"the engine {name} did not run: its error is above")
        found[name] = json.loads(text.splitlines()[-1]), time.perf_counter() - start
    return found


def rows_of(name: str) -> dict[str, list]:
    """What one engine counts now, by family."""
    rows: dict[str, list] = {}
    for key, some in importlib.import_module(f"engines.{name}").measure():
        rows.setdefault(key, []).extend(some)
    return rows


def differences(name: str, rows: dict[str, list]) -> list[str]:
    """How an engine's rows differ from the stored ones, one sentence each."""
    stored = {one.id: one for one in engine(name).families}
    wrong = [f"{name}: {key} is not stored" for key in rows.keys() - stored.keys()]
    wrong += [f"{name}: {key} was not run" for key in stored.keys() - rows.keys()]
    for key in stored.keys() & rows.keys():
        known = {json.dumps(row[:-1]): row[-1] for row in stored[key].rows}
        now = {json.dumps(row[:-1]): row[-1] for row in rows[key]}
        if len(now) < len(rows[key]):
            wrong.append(f"{name}: {key} has cases with the same inputs; give them an input that tells them apart")
        if known.keys() != now.keys():
            wrong.append(f"{name}: {key} has other cases now: {sorted(known.keys() ^ now.keys())[:3]}")
        for case in known.keys() & now.keys():
            if distance(known[case], now[case]) > stored[key].tolerance:
                wrong.append(f"{name}: {key} {case}: {known[case]} is stored, {now[case]} was counted")
    return wrong


def store(name: str, rows: dict[str, list]) -> None:
    """Put rows into the file of an engine, in place of those that are there."""
    path = DATA / f"{name}.toml"
    head, *parts = re.split(r"(?m)^(?=\[\[families\]\])", path.read_text(encoding="utf-8"))
    for number, part in enumerate(parts):
        key = re.search(r'(?m)^id = "(.+)"', part)[1]
        lines = "".join(f"    {json.dumps(row)},\n" for row in rows[key])
        before, _, after = re.split(r"(?ms)^(rows = \[\]\n|rows = \[\n.*?^\]\n)", part, maxsplit=1)
        parts[number] = f"{before}rows = [\n{lines}]\n{after}"
    path.write_text(head + "".join(parts), encoding="utf-8")


def table(found: dict[str, tuple[dict[str, list], float]]) -> str:
    """One line for each engine: cases that equal a formula, and deviations by name.

    Runs of our own schedules, and what our tests compute from an engine's order, have their columns.
    """
    lines = [
        f"{'engine':22}{'cases':>7}{'equal':>7}{'deviate':>9}{'ours':>7}{'replayed':>10}{'seconds':>9}  deviations"
    ]
    for name, (_, seconds) in found.items():
        ours = engine(name).families
        named = sorted({one.deviation for one in ours if one.deviation})
        sums = totals(ours)
        counts = f"{sums.cases:7}{sums.equal:7}{sums.deviate:9}{sums.ours:7}{sums.replayed:10}"
        lines.append(f"{name:22}{counts}{seconds:9.1f}  {', '.join(named) or 'none'}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser("python -m engines.verify", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"engines (default: all of {', '.join(engines())})")
    parser.add_argument("--store", action="store_true", help="replace the stored rows")
    parser.add_argument("--rows", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        print(json.dumps(rows_of(options.rows)))
        return 0
    found = run(options.names or list(engines()))
    if options.store:
        for name, (rows, _) in found.items():
            store(name, rows)
        return 0
    wrong = [one for name, (rows, _) in found.items() for one in differences(name, rows)]
    wrong += [
        f"{name}: {one.id} {list(row)}: the formula gives {one.ours(row)}"
        for name in found
        for one in engine(name).families
        for row in one.rows
        if not one.holds(row)
    ]
    print(table(found))
    print("\n".join(wrong) or "Every row is equal to what is stored, and to its formula.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
