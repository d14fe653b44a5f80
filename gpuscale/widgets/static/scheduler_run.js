/* Requests through an engine, step by step: they arrive, wait, are prefilled and decode, in the slots of a batch and the
   blocks of the KV cache. The twin of emulate.requests; times come from what a step costs.                               */
const QUEUE = 240; // points of the queue's curve
const AT_ONCE = 50; // steps of a run between which the page does nothing else

/** Random numbers between 0 and 1, the same for every state: a hand changes scales alone. */
function dice(seed) {
  let s = seed;
  return () => (s = (s * 48271) % 2147483647) / 2147483647;
}
/** Requests: exponential gaps and gamma lengths of shape 2, each with mean 1 over every GROUP of them. */
function drawn({ seed, most, group }) {
  const u = dice(seed);
  const exp = () => -Math.log(u());
  const out = range(most).map(() => [exp(), (exp() + exp()) / 2, (exp() + exp()) / 2]);
  for (let b = 0; b < most; b += group) {
    for (const k of [0, 1, 2]) {
      const part = out.slice(b, b + group);
      const mean = part.reduce((sum, r) => sum + r[k], 0) / part.length;
      for (const r of part) r[k] /= mean;
    }
  }
  return out;
}
let draws = {};
function arrivals(p, data, backlog) {
  if (draws.of !== data.draw) draws = { of: data.draw, rows: drawn(data.draw) };
  const out = [];
  let t = 0;
  for (const [gap, long, talk] of draws.rows) {
    t += gap / p.rate;
    if (backlog ? out.length === backlog : t >= data.span) break;
    out.push({
      i: out.length,
      t: backlog ? 0 : t,
      prompt: max(1, round(p.S_in * long)),
      answer: max(2, round(p.S_out * talk)),
    });
  }
  return out;
}

/** What comes of steps that are taken one at a time, when nobody waits between them. */
function whole(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
/** The engine: every step admits what fits, gives prompts their chunk, and every other sequence one token. What a request
 *  goes through are its parts: [from, to] in time, [step, last] in steps. */
function* play(list, { continuous, slots, chunk, pool, page, until, cost }) {
  const requests = list.map((r) => ({
    ...r,
    need: r.prompt,
    fill: 0,
    made: 0,
    held: 0,
    first: 0,
    done: 0,
    slot: -1,
    row: -1,
    at: null,
    parts: [],
  }));
  const rows = [];
  const places = Array(slots).fill(null);
  const steps = [];
  const blocks = (tokens) => ceil(tokens / page);
  let run = [];
  let queue = [];
  let now = 0;
  let next = 0;
  let used = 0;
  let evicted = 0;
  const begin = (r, kind, from, row, more) => {
    if (r.at) {
      r.at.to = from;
      r.at.last = steps.length;
    }
    r.parts.push(
      (r.at = { kind, from, to: Infinity, row, step: steps.length, last: Infinity, base: r.prompt + r.made, ...more }),
    );
  };
  const wait = (r, t, again) => {
    let k = rows.indexOf(null);
    if (k < 0) k = rows.length;
    rows[k] = r;
    r.row = k;
    begin(r, 'wait', t, k, { again });
  };
  const take = (r, keep) => {
    rows[r.row] = null;
    r.slot = places.indexOf(null);
    places[r.slot] = r;
    r.held = keep;
    used += keep;
    run.push(r);
    begin(r, 'pre', now, r.slot);
  };
  const free = (r) => {
    places[r.slot] = null;
    used -= r.held;
    r.held = 0;
  };
  const leave = (r, t) => {
    r.at.to = t;
    r.at.last = steps.length;
    r.at = null;
  };
  while (now < until) {
    while (next < requests.length && requests[next].t <= now) {
      wait(requests[next], requests[next].t);
      queue.push(requests[next++]);
    }
    const fed = [];
    let left = continuous ? chunk : Infinity;
    const feed = (r) => {
      const c = min(left, r.need - r.fill);
      fed.push([r, c]);
      left -= c;
    };
    for (const r of run) if (r.fill < r.need && left > 0) feed(r);
    if (continuous || !run.length) {
      while (queue.length && run.length < slots && left > 0) {
        const r = queue[0];
        const keep = blocks(continuous ? r.need : r.prompt + r.answer);
        if (used + keep > pool && run.length) break;
        queue.shift();
        if (keep > pool) {
          rows[r.row] = null;
          leave(r, now);
          continue;
        } // it could never fit
        take(r, keep);
        feed(r);
      }
    }
    if (!run.length) {
      if (next >= requests.length) break;
      now = requests[next].t;
      continue;
    }
    let batch = 0;
    let read = 0;
    let tokens = 0;
    let again = 0;
    let pairs = 0;
    let over = 0;
    for (let i = 0; i < run.length; i++) {
      const r = run[i];
      if (r.fill < r.need || r.done) continue;
      while (r.slot >= 0 && r.prompt + r.made > r.held * page) {
        // it needs one more block
        if (used < pool) {
          r.held++;
          used++;
          continue;
        }
        const last = run.pop(); // the last one in gives up its blocks
        free(last);
        last.slot = -1;
        last.need = last.prompt + last.made;
        last.fill = 0;
        evicted++;
        wait(last, now, true);
        queue.unshift(last);
      }
      if (r.slot >= 0) {
        batch++;
        read += r.prompt + r.made;
      }
    }
    for (const [r, c] of fed) {
      if (r.slot >= 0) {
        tokens += c;
        again += r.fill;
        pairs += c * r.fill + (c * (c + 1)) / 2;
      }
    }
    const T = cost(batch, tokens, read + again, read + pairs);
    const to = now + T;
    if (steps.length % AT_ONCE === 0) yield;
    steps.push({ from: now, to, T, batch, tokens, read: read + again, used, queue: queue.length });
    now = to;
    for (let i = 0; i < run.length; i++) {
      const r = run[i];
      if (r.fill >= r.need && !r.done && ++r.made >= r.answer) {
        r.done = to;
        over++;
      }
    }
    for (const [r, c] of fed) {
      if (r.slot >= 0) {
        r.fill += c;
        if (r.fill === r.need) {
          r.first ||= to;
          r.made++;
          begin(r, 'dec', to, r.slot);
          if (r.made >= r.answer) {
            r.done = to;
            over++;
          }
        }
      }
    }
    if (over) {
      for (const r of run) {
        if (r.done === now) {
          if (continuous) {
            free(r);
            leave(r, now);
          } else begin(r, 'kept', now, r.slot);
        }
      }
    }
    if (over) {
      if (continuous) run = run.filter((r) => !r.done);
      else if (run.every((r) => r.done)) {
        for (const r of run) {
          free(r);
          leave(r, now);
        }
        run = [];
      }
    }
  }
  for (const r of requests) {
    if (r.at && r.at.kind !== 'wait') {
      r.at.to = now;
      r.at.last = steps.length;
    }
  }
  return { requests, steps, evicted, end: now };
}
const quantile = (list, q) => {
  if (!list.length) return NaN;
  const a = [...list].sort((x, y) => x - y);
  const i = q * (a.length - 1);
  const k = floor(i);
  return a[k] + (i - k) * (a[min(k + 1, a.length - 1)] - a[k]);
};
/** What has been counted until t. Whoever still waits for a first token counts with the time so far; the mean batch leaves
 *  out the start, in which it fills. */
function tally(run, t) {
  if (run.tally?.t === t) return run.tally;
  const { requests, steps } = run;
  const from = t > 2 * run.warm ? run.warm : 0;
  const ttft = [];
  const tpot = [];
  let tokens = 0;
  let area = 0;
  let evicted = 0;
  for (const r of requests) {
    if (r.t > t) break;
    ttft.push((r.first && r.first <= t ? r.first : t) - r.t);
    if (r.done && r.done <= t && r.answer > 1) tpot.push((r.done - r.first) / (r.answer - 1));
    evicted += r.parts.filter((s) => s.again && s.from <= t).length;
  }
  for (const s of steps) {
    if (s.to > t) break;
    tokens += s.batch;
    if (s.from >= from) area += s.batch * s.T;
  }
  return (run.tally = {
    t,
    ttft: quantile(ttft, 0.5),
    ttft95: quantile(ttft, 0.95),
    tpot: quantile(tpot, 0.5),
    tpot95: quantile(tpot, 0.95),
    rate: t ? tokens / t : 0,
    from,
    batch: t ? area / (t - from) : 0,
    done: tpot.length,
    evicted,
  });
}
/** The first step that ends at or after t. */
function stepAt(steps, t) {
  let lo = 0;
  let hi = steps.length;
  while (lo < hi) {
    const m = floor((lo + hi) / 2);
    if (steps[m].to < t) lo = m + 1;
    else hi = m;
  }
  return lo;
}
const partAt = (r, t) => r.parts.find((s) => s.from <= t && t < s.to);

/** Requests per second of static batches, one after another. */
const served = ({ requests, end }) => requests.filter((r) => r.done).length / end;
/** A run, with the queue at even times of it. */
function* played(list, engine, { span, warm }) {
  const run = yield* play(list, engine);
  const { steps } = run;
  run.warm = warm;
  run.queue = range(QUEUE + 1).map((k) => {
    const t = (k / QUEUE) * span;
    const s = steps[min(steps.length - 1, stepAt(steps, t))];
    return s && s.from <= t ? s.queue : 0;
  });
  run.longest = steps.reduce((most, s) => max(most, s.queue), 0);
  return run;
}
