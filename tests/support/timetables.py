"""Whether a timetable of a pipeline holds together."""

from gpuscale.schedules.pipelines.timetable import PipelineRun, Slot, needs_of


def check(run: PipelineRun) -> None:
    """Raises ValueError if two slots of a rank overlap, work comes before what it needs, or a piece of it is
    missing or done twice."""
    for rank in range(run.ranks):
        row = run.of(rank)
        for first, then in zip(row, row[1:], strict=False):
            if then.start < first.end:
                raise ValueError(f"rank {rank}: {name(then)} starts before {name(first)} ends")
    done = {(slot.kind, slot.microbatch, slot.stage): slot for slot in run.slots}
    sent = {(move.kind, move.microbatch, move.stage): move for move in run.transfers}
    if len(done) != len(run.slots):
        raise ValueError("slots: a piece of work is done twice")
    wanted = {(kind, m, s) for kind in "FB" for m in range(run.microbatches) for s in range(run.stages)}
    if missing := wanted - set(done):
        raise ValueError(f"slots: {min(missing)} is never done")
    for task, slot in done.items():
        for need in needs_of(task, run.stages):
            ready = done[need]
            arrives = sent[need].end if ready.rank != slot.rank else ready.end
            if slot.start < arrives:
                raise ValueError(f"{name(slot)} starts before {need} is there")


def name(slot: Slot) -> str:
    return f"{slot.kind} of microbatch {slot.microbatch}, stage {slot.stage}"
