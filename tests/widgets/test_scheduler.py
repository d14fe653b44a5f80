"""The scheduler of the page in a JavaScript engine, against the requests that Python serves, and closed forms."""

import json
import math
import random
import re

import numpy as np
import pytest
from scipy.optimize import brentq

from gpuscale.book.frames import engine
from gpuscale.emulate.requests import draw, requests, serve
from gpuscale.llm.model_counts import counts
from gpuscale.serving import largest_rate, mean_context_mixed, mixed_step, scheduler_page, steady_batch, steady_step
from gpuscale.specs import chip
from gpuscale.units import show, us
from gpuscale.widgets import scheduler_stage
from gpuscale.widgets.scheduler import DRAW, PAGE, WHOLE
from gpuscale.widgets.stage import stage_figure

GPU, LATENCY = chip("h100_sxm"), 3 * us
MACHINES = {"one": ("llama3_8b", 1), "eight": ("llama3_70b", 8)}
SPAN, WARM, BACKLOG = 0.6, 0.1, 12
SHORT = {"seed": 7, "most": 300, "group": 50}
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const scheduler = gpuscale.figures.scheduler, view = Object.assign(gpuscale.seen(spec, p), { width: p.width });
  view.height = scheduler.height(view);
  const t = p.at * view.solved.total, shapes = scheduler.draw(view, t).flat(9).filter(Boolean), { run } = view.solved;
  const words = Object.fromEntries(shapes.filter((s) => s.words).map((s) => [s.key, s.words]));
  const dots = shapes.find((s) => s.key === 'dots').d.split('M').length - 1;
  const told = run.requests.length ? scheduler.hover(view, { dataset: { told: 'req 0' } }, t) : '';
  const said = Object.fromEntries(['sentence', 'table', 'call'].map((name) => [name, scheduler[name](view, t)]));
  const more = { place: scheduler.place(view, t), meter: scheduler.meter(view, t), told, dots, t };
  const part = (s) => [s.kind, s.from, s.to, s.kind === 'wait' ? -1 : s.row];
  const served = run.requests.map((r) => [r.t, r.prompt, r.answer, r.first, r.done, r.parts.map(part)]);
  const steps = run.steps.map((s) => [s.from, s.to, s.batch, s.tokens, s.read, s.used, s.queue]);
  return { ...scheduler.numbers(view, t), ...said, ...more, words, served, steps };
}))"""


def figure(**options):
    page = scheduler_page({key: (model, "h100_sxm", n) for key, (model, n) in MACHINES.items()}, latency=LATENCY)
    return scheduler_stage(page, **dict(name="scheduler", title="Requests", caption="<b>In steps.</b>") | options)


def plain(text) -> str:
    return re.sub(r"<.*?>", "", str(text)).replace("\u00a0", " ")


def states(many: int) -> list[dict]:
    dice = random.Random(4)
    out = []
    for _ in range(many):
        chunk = dice.choice([64, 128, 512, 1024, WHOLE])
        state = {
            "machine": dice.choice(list(MACHINES)),
            "kind": dice.choice(["continuous", "continuous", "static"]),
            "rate": round(10 ** dice.uniform(0.7, 2), 1),
            "S_in": dice.choice([16, 300, 1000, 4000]),
            "S_out": dice.choice([8, 20, 60]),
            "slots": dice.choice([4, 5, 12, 32]),
            "chunk": chunk,
            "f": round(dice.uniform(0.25, 0.95), 2),
            "width": dice.choice([270, 340, 650]),
            "at": dice.choice([0.1, 1, round(dice.random(), 3)]),
        }
        if dice.random() < 0.25:  # so little memory that sequences are evicted
            state |= {"machine": "one", "f": 0.21, "S_in": 300, "S_out": 60, "slots": 32, "rate": 60}
        if dice.random() < 0.15:  # a few blocks, which short requests often fill exactly
            blocks = (counts("llama3_8b").P * 2 + dice.randint(3, 20) * PAGE * counts("llama3_8b").V_kv + 1) / GPU.hbm
            state |= {"machine": "one", "f": blocks, "S_in": 16, "S_out": 20, "slots": 32, "rate": 100}
        out.append(state)
    return out


def shown_of(many, span=SPAN, short=SHORT, backlog=BACKLOG, warm=WARM):
    spec = json.loads(figure().spec)
    spec["data"] |= {"span": span, "draw": short, "backlog": backlog, "warm": warm}
    return list(
        zip(
            many,
            json.loads(engine("scheduler").eval(f"({SHOWN})({json.dumps(spec)}, {json.dumps(many)})")),
            strict=True,
        )
    )


class Machine:
    """What steps cost, added up from shapes and rates."""

    def __init__(self, state: dict):
        key, n = MACHINES[state["machine"]]
        found = counts(key)
        self.x = x = found.inputs
        self.n, self.token, self.head = n, found.V_kv, x["n_vocab"] * x["D"]
        self.active, self.body = found.P_act, found.P_act - self.head
        self.weights, self.resident = 2 * (found.P - self.head), 2 * found.P
        self.bandwidth, self.flops = n * GPU.hbm_bw, n * GPU.bf16
        self.pool = max(0, math.floor((n * state["f"] * GPU.hbm - self.resident) / self.token / PAGE))

    def __call__(self, decodes, prompt, read, pairs):
        x, n = self.x, self.n
        sent = 2 * (decodes + prompt) * x["D"]
        one, two = LATENCY + (n - 1) * sent / 450e9, 2 * LATENCY + 2 * (n - 1) / n * sent / 450e9
        math_ = 2 * (self.active * decodes + self.body * prompt) + 4 * x["L"] * x["n_q"] * x["d_head"] * pairs
        step = max((self.weights + self.token * read) / self.bandwidth, math_ / self.flops)
        return step + (2 * x["L"] * min(one, two) if n > 1 else 0)


def run_of(state, kind, span=SPAN, short=SHORT, backlog=0):
    machine, drawn = Machine(state), DRAWN[str(short)]
    coming = requests(drawn, state["rate"], state["S_in"], state["S_out"])
    if backlog:
        coming = coming[:backlog]
        for each in coming:
            each.arrival = 0.0
    else:
        coming = [each for each in coming if each.arrival < span]
    chunk = math.inf if state["chunk"] >= WHOLE else state["chunk"]
    options = dict(slots=state["slots"], chunk=chunk, pool=machine.pool, page=PAGE, static=kind == "static")
    return serve(coming, machine, **options, until=math.inf if backlog else span)


DRAWN = {str(each): draw(each["most"], each["seed"], each["group"]) for each in (SHORT, DRAW)}


@pytest.fixture(scope="module")
def shown():
    return [(state, page, run_of(state, state["kind"])) for state, page in shown_of(states(220))]


def test_steps_are_those_of_the_twin(shown):
    for state, page, run in shown:
        own = [[s.start, s.end, s.decodes, s.prompt, s.read, s.blocks, s.queued] for s in run.steps]
        assert len(page["steps"]) == len(own), state
        if own:
            assert np.array(page["steps"]) == pytest.approx(np.array(own), rel=1e-9), state


def test_requests_go_through_the_same_parts(shown):
    kinds, evicted = {"wait": "queue", "pre": "prefill", "dec": "decode", "kept": "kept"}, 0
    for state, page, run in shown:
        assert len(page["served"]) == len(run.requests)
        end = run.steps[-1].end if run.steps else 0
        for (t, prompt, answer, first, done, parts), own in zip(page["served"], run.requests, strict=True):
            assert (prompt, answer) == (own.prompt, own.answer) and t == pytest.approx(own.arrival)
            assert (first or None) == (pytest.approx(own.tokens[0]) if own.tokens else None), state
            assert (done or None) == (pytest.approx(own.tokens[-1]) if own.done else None)
            mine = [(kinds[kind], start, stop, row) for kind, start, stop, row in parts]
            for (kind, start, stop, row), (other, begun, ended, slot) in zip(mine, own.parts, strict=True):
                assert (kind, row) == (other, slot), state
                assert start == pytest.approx(begun)
                assert stop is None or kind == "queue" or stop == pytest.approx(min(ended, end))
            evicted += own.evictions
    assert evicted > 50


def counted(run, t: float, warm: float = WARM) -> dict[str, float]:
    """What the figure counts, from the tokens of the requests."""
    since = warm if t > 2 * warm else 0
    here = [r for r in run.requests if r.arrival <= t]
    steps = [s for s in run.steps if s.end <= t]
    first = [(r.tokens[0] if r.tokens and r.tokens[0] <= t else t) - r.arrival for r in here]
    gaps = [(r.tokens[-1] - r.tokens[0]) / (r.answer - 1) for r in here if r.done and r.tokens[-1] <= t]
    times = np.array([s.end - s.start for s in steps])
    decodes = np.array([s.decodes for s in steps])
    quantile = lambda values, q: float(np.quantile(values, q)) if values else math.nan  # noqa: E731
    return {
        "ttft": quantile(first, 0.5),
        "ttft95": quantile(first, 0.95),
        "tpot": quantile(gaps, 0.5),
        "tpot95": quantile(gaps, 0.95),
        "rate": decodes.sum() / t,
        "batch": (times * decodes)[np.array([s.start >= since for s in steps], bool)].sum() / (t - since),
        "done": len(gaps),
    }


def test_what_is_counted_follows_from_the_tokens(shown):
    for state, page, run in shown:
        own, page_own = counted(run, page["t"]), page["tallies"][state["kind"]]
        for key, value in own.items():
            assert page_own[key] is None if math.isnan(value) else page_own[key] == pytest.approx(value, rel=1e-9), key


def closed(state: dict):
    """What the steady state follows from: a machine, a chunk, the mean context, slots that can be filled."""
    machine, chunk = Machine(state), math.inf if state["chunk"] >= WHOLE else state["chunk"]
    context = mean_context_mixed(S_in=state["S_in"], S_out=state["S_out"], c_var=0.5**0.5)
    room = max(1, min(state["slots"], math.floor(machine.pool * PAGE / context)))
    each = machine.token * context / machine.bandwidth

    def prompt(batch):
        """What the chunks of a prompt add to the steps that take them."""
        total, done, cached = 0, 0, batch * context
        while done < state["S_in"]:
            c = min(chunk, state["S_in"] - done)
            step = machine(batch, c, cached + done, cached + c * done + c * (c + 1) / 2)
            total += step - machine(batch, 0, cached, cached)
            done += c
        return max(total, 1e-9)  # the formulas take no zero

    def given(batch):
        base = machine(batch, 0, batch * context, batch * context) - batch * each
        return dict(S_out=state["S_out"], T_w=base, t_seq=each, T_pre=prompt(batch))

    return machine, chunk, context, room, given


def test_the_largest_rate_is_the_formula_s(shown):
    for state, page, _ in shown:
        machine, chunk, context, room, given = closed(state)
        assert page["pool"] == machine.pool and page["room"] == room, state
        assert page["context"] == pytest.approx(context)
        most = largest_rate(B_seq=room, **given(room))
        assert page["byRoom"] == pytest.approx(most, rel=1e-9), state
        filled = (state["S_out"] - 1) * chunk / state["S_in"]  # a chunk in each step: so many decode
        if filled < room:
            tokens, first = filled * context, min(chunk, state["S_in"])
            full = machine(
                filled, chunk, tokens + (state["S_in"] - first) / 2, tokens + chunk * (state["S_in"] + 1) / 2
            )
            most = chunk / state["S_in"] / full
            assert page["byChunk"] == pytest.approx(most, rel=1e-9)
        assert page["limits"]["continuous"] == pytest.approx(most, rel=1e-9)
        assert page["full"] == pytest.approx(machine(room, 0, room * context, room * context), rel=1e-9)
        assert page["one"] == pytest.approx(machine(1, 0, context, context), rel=1e-9)


def test_static_batches_are_counted_from_a_full_queue(shown):
    for state, page, _ in shown[::3]:
        run = run_of(state, "static", backlog=state["slots"] * math.ceil(BACKLOG / state["slots"]))
        done = [r for r in run.requests if r.done]
        rate = len(done) / run.steps[-1].end if run.steps else 0
        assert (page["limits"]["static"] or 0) == pytest.approx(rate, rel=1e-9), state


def over(batch, rate, given) -> float:
    """By how much the mean batch is larger than the one that its steps follow from."""
    return steady_batch(lambda_req=rate, **given(batch)) - batch


def test_the_mean_batch_is_where_little_s_law_holds(shown):
    seen = 0
    for state, page, _ in shown:
        *_, room, given = closed(state)
        if page["batch"] is None:
            continue
        seen += 1
        own = brentq(over, 1e-3, room + 1, args=(state["rate"], given), xtol=1e-9)
        assert page["batch"] == pytest.approx(own, rel=1e-5), state
        assert page["steady"] == pytest.approx(steady_step(lambda_req=state["rate"], **given(own)), rel=1e-4)
        assert page["meter"]["met"] == (abs(page["tallies"]["continuous"]["batch"] / page["batch"] - 1) < 0.015)
    assert seen > 40


def test_a_tick_means_within_one_and_a_half_percent():
    state = {"machine": "one", "kind": "continuous", "S_in": 200, "S_out": 100, "slots": 64, "chunk": 512, "f": 0.9}
    many = [state | {"rate": rate, "width": 650, "at": at} for rate in (20, 30, 40) for at in (0.3, 0.5, 0.7, 1)]
    ratios = []
    for state, page in shown_of(many, span=10, short=DRAW, warm=2):
        run = run_of(state, "continuous", span=10, short=DRAW)
        ratios.append(counted(run, page["t"], 2)["batch"] / page["batch"])
        assert page["meter"]["met"] == (abs(ratios[-1] - 1) < 0.015), (state, ratios[-1])
    off = np.abs(np.array(ratios) - 1)
    assert (off < 0.014).any() and ((off > 0.016) & (off < 0.05)).any()


def test_words_say_the_same_numbers(shown):
    for state, page, run in shown:
        sentence, words = plain(page["sentence"]), {key: plain(text) for key, text in page["words"].items()}
        say = lambda v, unit="1": plain(show(v, unit))  # noqa: E731
        own, t, kind, limit = counted(run, page["t"]), page["t"], state["kind"], page["limits"][state["kind"]]
        assert sentence.startswith(
            f"A step with {page['room']} sequences takes {say(page['full'] / page['one'])} times"
        )
        assert f"{kind.capitalize()} batching sustains {say(limit or 0)} requests/s" in sentence, state
        assert ("The queue stays short." in sentence) == (state["rate"] <= (limit or 0))
        assert (f"At {say(state['rate'])} requests/s, the queue grows" in sentence) == (state["rate"] > (limit or 0))
        evicted = sum(
            part[0] == "queue" and n > 0 and part[1] <= t for r in run.requests for n, part in enumerate(r.parts)
        )
        assert ("evicted" in sentence) == (evicted > 0)
        if evicted:
            assert f"{evicted:,} sequence" in sentence, state
        longest = max((s.end - s.start for s in run.steps if s.end <= t), default=0)
        stalls = kind == "continuous" and state["chunk"] == WHOLE and longest > page["peak"]
        assert ("a whole prompt holds up all sequences" in sentence) == stalls, state
        assert f"The longest step so far took {say(longest, 's')}:" in sentence or not stalls
        assert words["promptname"] == f"prompt: {state['S_in']:,} tokens"
        assert words["answername"] == f"answer: {state['S_out']:,} tokens"
        assert words["slots"] == f"{state['slots']} slots" and words["ratename"] == f"{say(state['rate'])} requests/s"
        waiting = sum(
            part[0] == "queue" and part[1] <= t < part[2] for r in run.requests if r.arrival <= t for part in r.parts
        )
        assert words["queue"] == (
            "queue empty" if not waiting else f"{waiting:,} request{'s' * (waiting > 1)} in the queue"
        )
        assert words["nowname"] == f"now: {say(t, 's')}" and page["place"] == show(t, "s")
        assert words["limitname"] == f"{kind}: {say(limit or 0)}/s"
        column = {"continuous": 1, "static": 2}[kind]
        rows = {row[0]: plain(row[column]) for row in page["table"][1:]}
        assert rows["Time to first token, 95th percentile"] == say(own["ttft95"], "s")
        assert rows["Time to first token, median"] == say(own["ttft"], "s")
        assert rows["Time per output token, median"] == say(own["tpot"], "s")
        assert rows["Time per output token, 95th percentile"] == say(own["tpot95"], "s")
        assert (
            rows["Output tokens per second"] == plain(show(own["rate"], "count"))
            or rows["Output tokens per second"] == f"{round(own['rate']):,}"
        )
        assert rows["Mean batch"] == say(own["batch"]) == plain(page["meter"]["words"])
        assert rows["Largest arrival rate per second"] == say(limit or 0)
        after = page["words"].get("ttftnow", "")
        assert state["width"] < 300 or not own["done"] or say(own["ttft95"], "s") in plain(after)
        shown_dots = sum(bool(r.tokens) and t - 1.5 < r.tokens[0] <= t for r in run.requests)
        assert page["dots"] == shown_dots, state


def test_the_call_gives_the_largest_rate_of_the_batching_that_is_shown(shown):
    lines = json.loads(figure().spec)["python"].splitlines()
    counts = {"continuous": 0, "static": 0}
    for state, page, _ in shown[:80]:
        names = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
        exec("\n".join(lines), names)
        found = eval(page["call"], names)
        assert found == pytest.approx(page["limits"][state["kind"]] or 0, rel=1e-4), state
        counts[state["kind"]] += 1
    assert min(counts.values()) > 15, counts


def test_the_time_of_a_step_is_the_formula_s():
    state = {"machine": "one", "f": 0.9}
    machine, x = Machine(state), counts("llama3_8b").inputs
    for decodes, prompt, read, pairs in (
        (1, 16, 500, 500),
        (32, 512, 40000, 40000 + 512 * 256),
        (8, 4096, 0, 4096 * 2048),
    ):
        given = dict(V_read=machine.weights + machine.token * read, W_hbm=GPU.hbm_bw, C=GPU.bf16, P_act=machine.active)
        given |= dict(ops_kv=4 * x["L"] * x["n_q"] * x["d_head"] * pairs, B_seq=decodes, S_chunk=prompt)
        own = mixed_step(**given, n_vocab=x["n_vocab"], D=x["D"])
        assert machine(decodes, prompt, read, pairs) == pytest.approx(own, rel=1e-12)


@pytest.mark.parametrize(
    "load",
    [
        {"S_in": 1000, "S_out": 200, "slots": 32, "chunk": 512, "f": 0.9},
        {"S_in": 300, "S_out": 100, "slots": 16, "chunk": 1024, "f": 0.9},
        {"S_in": 4000, "S_out": 100, "slots": 64, "chunk": 512, "f": 0.9},
    ],
)
def test_the_queue_grows_from_the_largest_rate(load):
    """Served for 30 seconds at 15% less and 15% more."""
    state = {"machine": "one", "kind": "continuous", "rate": 1, "width": 650, "at": 1, **load}
    [(_, page)] = shown_of([state])
    queued = []
    for part in (0.85, 1.15):
        run = run_of(state | {"rate": part * page["limits"]["continuous"]}, "continuous", span=30, short=DRAW)
        long = [s.queued for s in run.steps if s.end > 20]
        queued.append(np.mean(long))
    assert queued[0] < 10 and queued[1] > 20 and queued[1] > 5 * queued[0], queued


def test_presets_show_what_they_are_called():
    spec = json.loads(figure().spec)
    presets = {label: (p, at) for label, p, at in spec["presets"]}
    many = [p | {"width": 650, "at": at} for p, at in presets.values()]
    shown = dict(zip(presets, (page for _, page in shown_of(many, span=30, short=DRAW, warm=2)), strict=True))
    now = {label: shown[label]["t"] for label in presets}
    window = spec["data"]["window"]

    def parts(label, kind):
        """What requests go through in the time that the lanes show."""
        every = [part for *_, own in shown[label]["served"] for part in own if part[0] == kind]
        return [p for p in every if p[1] <= now[label] and (p[2] or math.inf) > now[label] - window]

    static = shown["Static batches"]
    assert static["tallies"]["static"]["batch"] < static["tallies"]["continuous"]["batch"] / 2
    assert len(parts("Static batches", "kept")) > 16 and parts("Static batches", "pre")  # one batch ends, one begins
    long = shown["Long prompts, no chunks"]
    steps = [end - start for start, end, *_ in long["steps"] if start > now["Long prompts, no chunks"] - window]
    assert max(steps) > 10 * np.median(steps)
    sentence = plain(shown["KV cache full"]["sentence"])
    assert int(re.search(r"(\d+) sequences were evicted", sentence)[1]) > 4
    full = [step[5] for step in shown["KV cache full"]["steps"] if step[0] < now["KV cache full"]]
    assert full[-1] > 0.97 * shown["KV cache full"]["pool"]


def test_it_opens_below_the_rate_from_which_the_queue_grows():
    assert "continuous batching on Llama 3 8B, 1 H100: 20 requests/s, 32 slots" in repr(figure())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"machine": "two"}, "machine: expected one of one, eight; got two"),
        ({"kind": "dynamic"}, "kind: expected one of static, continuous; got dynamic"),
        ({"slots": 2}, "slots: expected 4 to 256; got 2"),
        ({"rate": 1000}, "rate: expected 0.5 to 100; got 1000"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)


def test_the_moment_of_a_preset_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="f: moments: Late: expected presets: Early"):
        stage_figure(
            "scheduler", name="f", title="", caption="", start={}, text=(), presets={"Early": {}}, moments={"Late": 1}
        )


def test_a_model_with_experts_is_refused():
    with pytest.raises(ValueError, match="expected a dense model"):
        scheduler_page({"one": ("gpt_oss_20b", "h100_sxm", 1)}, latency=LATENCY)
