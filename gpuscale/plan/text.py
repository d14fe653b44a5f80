"""A plan in words: the request in a line, the table for a terminal, the reasons."""

from __future__ import annotations

from gpuscale.core.html import aligned
from gpuscale.plan.calibration import DEFAULTS
from gpuscale.plan.layouts import VIRTUAL
from gpuscale.plan.outcome import Outcome
from gpuscale.plan.requests import SCHEDULES, Request
from gpuscale.plan.typed import some
from gpuscale.units import show

HEADS = (
    *("", "TP", "CP", "EP", "PP", "DP", "micro", "ZeRO", "recompute", "memory"),
    *("expected", "band", "MFU", "at measured rates", "at peak", "bottleneck"),
)
LEFT = ("", "recompute", "bottleneck")
TIE = "="  # in front of a plan that the expected times cannot tell from the first


def heading(ask: Request) -> str:
    """The request in a sentence."""
    return (
        f"{ask.model.title} on {some(ask.gpus, 'GPU')} ({ask.cluster.title}): {some(ask.batch, 'token')} per step,"
        f" {some(ask.sequences, 'sequence')} of {ask.seq:,}; {ask.recipe.title}; {SCHEDULES[ask.schedule]}"
    )


def remarks(ask: Request) -> list[str]:
    """What the counts of the model leave out, a run larger than its cluster, and tensor parallelism that was fixed to
    cross nodes."""
    out = [f"Model: {ask.model.note}."] if "note" in ask.model else []
    if "uncounted" in ask.model and not out:
        spec = ask.model.spec("uncounted")
        out.append(f"Model: left out of the counts, in parameters: {spec.basis} ({spec.value:,}).")
    if ask.cluster.most and ask.gpus > ask.cluster.most:
        out.append(f"Cluster: {ask.cluster.most:,} GPUs in the data; more are assumed to have the same network.")
    if (tp := ask.pins.get("tp", 1)) > ask.cluster.node:
        node = some(ask.cluster.node, "GPU")
        out.append(f"Warning: TP {tp} is fixed and crosses nodes of {node}, so every layer exchanges over the network.")
    return out


def efficiencies(ask: Request) -> list[str]:
    """The achieved fractions of the peaks, and where they come from."""
    what = ("arithmetic", "NVLink", "network", "HBM")
    out = []
    for name, share, known in zip(what, ask.shares, ask.cluster.shares, strict=True):
        source = known.words if share == known.value else "as given"
        out.append(f"{name} {show(share, '%')}: {source}")
    return out


def columns(plan) -> list[str]:
    """What the columns of times mean, with the source of the expected ones."""
    known, ask = plan.ask.calibration, plan.ask
    out = [f"expected: seconds of a step. Constants: {known.source or 'measured runs'}."]
    if known.runs:
        out += [f"band: nine of ten runs outside that fit were within it, a factor of {known.band:.2f} either way."]
        if new := list(dict.fromkeys(words for row in plan.rows for words in row.unlike)):
            widest = max(row.factor for row in plan.rows if row.unlike)
            out += [f"band without such runs, an estimate: a factor of {widest:.2f}. New here: {', '.join(new)}."]
    else:
        out += [f"band: an estimate, a factor of {known.band:.2f} either way; --calibrated takes runs of your own."]
    out += ["at peak: a bound for this schedule and this overlap, at data-sheet rates."]
    out += ["at measured rates: the same bound at the best rates measured on such machines or similar ones."]
    if any(tied(plan.rows)):
        closest = max(row.closest for row, tie in zip(plan.rows, tied(plan.rows), strict=True) if tie)
        out += [f"{TIE}: a tie. Plans closer than a factor of {closest:.2f} may well come in the other order."]
    return [*out, convention(ask)]


def tied(rows) -> list[bool]:
    """For each row, whether it is one of several that the expected times cannot tell from the first."""
    same = [row.ties_with(rows[0]) for row in rows]
    return same if sum(same) > 1 else [False] * len(rows)


def convention(ask: Request) -> str:
    """What MFU counts, and against which peak, if the recipe's matmuls are not in 16 bits."""
    said = "MFU: attention over whole sequences, as reports count it, against the dense bf16 peak"
    other = {1: "fp8", 4: "fp32"}.get(ask.recipe.weights)
    return f"{said}; arithmetic is counted at that peak too, not at {other}'s." if other else f"{said}."


def stages(choice) -> str:
    """The stages, with their virtual stages."""
    return str(choice.pp) + (f"x{choice.virtual}" if choice.virtual > 1 else "")


def seconds(low: float, high: float) -> str:
    """A band of times, with its unit once where both ends have the same."""
    first, last = show(low, "s"), show(high, "s")
    (start, unit), (_, other) = first.rsplit(None, 1), last.rsplit(None, 1)
    return f"{start} to {last}" if unit == other else f"{first} to {last}"


def cells(row: Outcome, tie: bool) -> list[str]:
    """A row of the terminal's table."""
    c = row.choice
    shared = "+SP" if c.sp and c.tp > 1 else ""
    degrees = [f"{c.tp}{shared}", str(c.cp), str(c.ep), stages(c), str(c.dp), str(c.micro), str(c.zero)]
    peak, measured, expected = (show(step, "s") for step in row.step)
    times = [expected, seconds(*row.band), show(row.mfu[2], "%", digits=2), measured, peak]
    return [TIE if tie else "", *degrees, c.recompute, show(row.memory, "B"), *times, row.binds]


def text(plan, colour: bool = False, why: bool = False) -> str:
    """The plan for a terminal."""
    lines = [heading(plan.ask), *remarks(plan.ask), ""]
    if plan.rows:
        lines += [f"{needed(plan.ask)} {room(plan.ask)}", *columns(plan), ""]
        lines += table(plan.rows, colour)
    else:
        lines += [f"Nothing fits: {plan.why_nothing}."]
    lines += [f"Hint: {plan.hint}"] if plan.hint else []
    if plan.rows:
        lines += ["", f"{plan.tried:,} choices tried, {plan.fit:,} fit; the best of each layout is shown."]
        lines += ["Measured rates, as fractions of the peaks:", *(f"  {line}" for line in efficiencies(plan.ask))]
    else:
        lines += ["", f"{some(plan.tried, 'choice')} tried. {room(plan.ask)}"]
    if why or not plan.rows:
        lines += ["", "Why the others are excluded (each reason with one example):", *reasons(plan)]
    return "\n".join(lines)


def needed(ask: Request) -> str:
    """What the memory of a plan counts."""
    known = ask.calibration.constants
    fitted = any(known.get(name, default) != default for name, default in DEFAULTS.items())
    buffers = "the framework's buffers are counted" if fitted else "frameworks add buffers"
    return f"memory: what the model needs on the fullest stage; {buffers}."


def room(ask: Request) -> str:
    """The available memory."""
    sizes = ask.reserve, ask.cluster.hbm, ask.room
    free, whole, used = (show(size, "B", short=True) for size in sizes)
    return f"{used} of {whole} are available, {free} stay free (--reserve)."


def ranked(plan) -> list:
    """The reasons, the most frequent first; if nothing fits, memory before them, and nothing about virtual stages
    that were not requested."""
    if plan.rows:
        return sorted(plan.rejected, key=lambda reason: -reason.count)
    kept = [r for r in plan.rejected if r.name not in VIRTUAL or "virtual" in plan.ask.pins]
    return sorted(kept, key=lambda r: (not r.name.startswith("memory"), -r.count))


def reasons(plan) -> list[str]:
    """The reasons as lines."""
    told = ranked(plan)
    wide = max((len(f"{reason.count:,}") for reason in told), default=0)
    return [f"  {reason.count:>{wide},}  {reason.words}" for reason in told]


def table(rows, colour: bool) -> list[str]:
    """Aligned columns; degrees that are 1 in every row are left out."""
    body = [cells(row, tie) for row, tie in zip(rows, tied(rows), strict=True)]
    alike = {"CP": "1", "EP": "1", "": ""}  # columns that say nothing if every row has this
    keep = [i for i, name in enumerate(HEADS) if any(line[i] != alike.get(name) for line in body)]
    lines = [[HEADS[i] for i in keep], *([line[i] for i in keep] for line in body)]
    out = aligned(lines, {i for i, k in enumerate(keep) if HEADS[k] in LEFT})
    if colour:
        out[0], out[1] = f"\033[1m{out[0]}\033[0m", f"\033[32m{out[1]}\033[0m"
    return out
