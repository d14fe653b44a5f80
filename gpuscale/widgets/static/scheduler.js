/* Continuous batching that one can watch: requests arrive, wait, are prefilled and decode, in the slots of a batch and the
   blocks of the KV cache. The scheduler is the twin of emulate.requests.serve; what a step costs, and the rate from which the
   queue grows, are formulas. */
const seconds = (view, v, short) => show(v, view.spec.units.T, short);
const count = (v) => show(v, COUNT);
const percent = (v) => show(v, SHARE);
const path = (key, d, cls, more) => ({ key, tag: 'path', d, class: cls, 'pointer-events': 'none', ...more });
const KINDS_OF = ['continuous', 'static'];
const QUEUE = 240; // points of the queue's curve
const HAIR = 1e-9; // seconds, for formulas take no 0
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

const kept = new Map();
/** A value that is worked out once for each key; the latest few are kept. */
function once(key, make) {
  if (!kept.has(key)) {
    if (kept.size > 12) kept.delete(kept.keys().next().value);
    kept.set(key, make());
  }
  return kept.get(key);
}
/** What a step costs and how many blocks the cache has, of a state; and each of its runs, with a key to keep it under. */
function engine(p, call, data) {
  const { given } = data.machines[p.machine];
  const x = { ...given, f_mem: p.f, S_in: p.S_in, S_out: p.S_out, S_page: data.page };
  const chunk = p.chunk >= data.whole ? Infinity : p.chunk;
  const cost = (B, c, tokens, pairs) => {
    x.B_seq = B;
    x.S_chunk = c;
    x.S = tokens;
    x.n_ask = pairs;
    return call('step', x);
  };
  const pool = max(0, call('pool', x));
  const same = [p.machine, p.S_in, p.S_out, p.slots, p.f];
  const backlog = p.slots * ceil(data.backlog / p.slots);
  const run = (kind, backlog) => ({
    key: [
      data.span,
      data.draw.most,
      kind,
      !backlog && p.rate,
      kind === 'continuous' && p.chunk,
      ...same,
      backlog,
    ].join(),
    steps: () =>
      played(
        arrivals(p, data, backlog),
        {
          continuous: kind === 'continuous',
          slots: p.slots,
          chunk,
          pool,
          page: data.page,
          until: backlog ? Infinity : data.span,
          cost,
        },
        data,
      ),
  });
  return { given, x, chunk, cost, pool, same, run, flood: () => run('static', backlog) };
}
const ran = ({ key, steps }) => once(key, () => whole(steps()));

figures.scheduler = {
  /** The run that is shown and the one that finds the limit of static batching, some steps at a time. */
  *ahead(p, call, data) {
    const { run, flood } = engine(p, call, data);
    for (const { key, steps } of [run(p.kind), flood()]) {
      if (!kept.has(key)) {
        const made = yield* steps();
        once(key, () => made);
      }
    }
  },
  solve(p, call, data) {
    const { given, x, chunk, cost, pool, same, run: started, flood } = engine(p, call, data);
    const kv = (S) => {
      x.S = S;
      return call('kv', x);
    };
    const read = (V) => {
      x.V_read = V;
      return call('read', x);
    };
    const run = ran(started(p.kind));
    // the steady state: a step, what a sequence adds to it, and what a prompt adds
    const context = call('context', x);
    const room = max(1, min(p.slots, floor((pool * data.page) / context)));
    const t_seq = read(kv(context));
    const prefill = (B) => {
      let sum = 0;
      for (let h = 0; h < p.S_in;) {
        const c = min(chunk, p.S_in - h);
        sum +=
          cost(B, c, B * context + h, B * context + c * h + (c * (c + 1)) / 2) - cost(B, 0, B * context, B * context);
        h += c;
      }
      return max(sum, HAIR);
    };
    const base = (B) => cost(B, 0, B * context, B * context) - B * t_seq;
    const closed = (B) => ({ ...x, lambda_req: p.rate, B_seq: B, t_seq, T_w: base(B), T_pre: prefill(B) });
    const full = cost(room, 0, room * context, room * context);
    const one = cost(1, 0, context, context);
    const given_ = closed(room);
    const c = min(chunk, p.S_in);
    const byRoom = call('largest', given_);
    // where every step has a full chunk of prompts, and so many sequences decode as their prompts begin and answers end
    const filled = chunk < Infinity ? call('filled', { ...x, S_chunk: chunk }) : Infinity;
    const busy = cost(
      filled,
      chunk,
      filled * context + (p.S_in - c) / 2,
      filled * context + (chunk * (p.S_in + 1)) / 2,
    );
    const byChunk = filled < room ? call('chunks', { ...x, S_chunk: chunk, T_mix: busy }) : Infinity;
    const limits = {
      continuous: byChunk < Infinity ? byChunk : byRoom,
      get static() {
        return once([data.draw.most, ...same].join(), () => served(ran(flood())));
      },
    }; // played when it is drawn: two runs at once keep a page from opening
    let batch = room / 2;
    for (const _ of range(30)) {
      const next = call('batch', closed(batch));
      if (!(next > 0)) {
        batch = NaN;
        break;
      }
      const to = min(next, 2 * room);
      const near = abs(to - batch) < 1e-6 * to;
      batch = (batch + to) / 2;
      if (near) break;
    }
    const peak = data.peaks.find((v) => v >= 1.1 * full) ?? data.peaks.at(-1);
    const stable = p.kind === 'continuous' && p.rate < limits.continuous && batch <= room;
    return {
      peak,
      run,
      runs: () => fromEntries(KINDS_OF.map((k) => [k, ran(started(k))])),
      pool,
      context,
      room,
      full,
      one,
      limits,
      why:
        byChunk < Infinity
          ? 'chunk'
          : p.rate * given_.T_pre > 0.5 || limits.continuous * given_.T_pre > 0.5
            ? 'prompts'
            : room < p.slots
              ? 'cache'
              : 'slots',
      batch: stable ? batch : NaN,
      steady: stable ? call('steady', closed(batch)) : NaN,
      largest: { B_seq: room, S_out: p.S_out, T_w: given_.T_w, t_seq, T_pre: given_.T_pre },
      byRoom,
      byChunk,
      filled,
      pieces: { S_chunk: chunk, S_in: p.S_in, T_mix: busy },
      weights: read(given.V_w),
      chunkT: cost(0, c, 0, (c * (c + 1)) / 2),
      total: data.span,
      marks: run.steps.map((s) => s.to).filter((t) => t < data.span),
    };
  },
  pace: (p, solved) => 4,
  height(view) {
    const L = layout(view);
    return L.rail + 48;
  },

  draw(view, t) {
    const { p, solved: f, data, words, width, hatch, call } = view;
    const L = layout(view);
    const { small, right, top, high, X, from } = { ...L, ...axisOf(view, t) };
    const out = [];
    const { run } = f;
    const { requests, steps } = run;
    const machine = data.machines[p.machine];
    // one request, on average
    out.push(
      label('one', 0, 14, small ? words.request : words.average, 'strong'),
      path('prompt', box(L.inX(p.S_in), 26, L.mid - L.inX(p.S_in), 15), 'compute solid'),
      path('answer', box(L.mid + 1, 26, L.outX(p.S_out) - L.mid - 1, 15), 'memory pale'),
      path(
        'tokens',
        joined(range(max(1, floor((L.outX(p.S_out) - L.mid) / 4))), (i) => `M${px(L.mid + 3.5 + 4 * i)} 26v15`),
        'memory tick',
      ),
    );
    out.push(
      label('promptname', L.mid - 6, 58, worded(words.prompt, count(p.S_in)), 'compute small name', 'end'),
      label('answername', L.mid + 6, 58, worded(words.answer, count(p.S_out)), 'memory small name'),
    );
    // lanes: a slot each; below them the queue
    const pitch = L.slotsH / p.slots;
    const bar = max(0.6, pitch - (pitch > 3 ? 1 : 0.2));
    const lane = (k) => top + k * pitch;
    const qTop = top + L.slotsH + 28;
    const qRows = floor((top + high - qTop) / 7);
    const i0 = stepAt(steps, max(0, from));
    const i1 = min(steps.length, stepAt(steps, t) + 1);
    out.push({ key: 'lanes', tag: 'rect', x: 0, y: top, width: right, height: L.slotsH, class: 'well' });
    const seen = [];
    const gone = { pre: '', dec: '', kept: '' };
    let waiting = 0;
    for (const r of requests) {
      if (r.t > t) break;
      if (partAt(r, t)?.kind === 'wait') waiting++;
      if ((r.parts.at(-1)?.to ?? 0) >= from) seen.push(r);
    }
    const bars = [];
    const glides = p.slots <= 64;
    for (const r of seen) {
      r.parts.forEach((s, k) => {
        if (s.to < from || s.from > t) return;
        const a = max(0, X(s.from));
        const b = min(right, X(min(s.to, t)));
        const w = max(0.3, b - a);
        if (s.kind === 'wait') {
          if (s.row < qRows) {
            bars.push(
              {
                key: `wait${r.i}.${k}`,
                tag: 'rect',
                x: a,
                y: qTop + 7 * s.row,
                width: w,
                height: 5,
                fill: hatch,
                told: `req ${r.i}`,
              },
              X(s.from) > 0
                ? {
                    key: `came${r.i}.${k}`,
                    tag: 'rect',
                    x: X(s.from),
                    y: qTop + 7 * s.row - 1,
                    width: s.again ? 3 : 1.5,
                    height: 7,
                    class: s.again ? 'evicted' : 'wait solid',
                  }
                : null,
            );
          }
          return;
        }
        if (!glides) {
          gone[s.kind] += box(a, lane(s.row), w, bar);
          return;
        }
        bars.push({
          key: `${s.kind}${r.i}.${k}`,
          tag: 'rect',
          x: a,
          y: lane(s.row),
          width: s.kind === 'pre' ? max(w, 1.5) : w,
          height: bar,
          ...(s.kind === 'kept' ? { fill: hatch } : { class: s.kind === 'pre' ? 'compute solid' : 'memory half' }),
          told: `req ${r.i}`,
        });
        if (r.parts[k + 1]?.again && s.to <= t) {
          bars.push({
            key: `out${r.i}.${k}`,
            tag: 'rect',
            x: b - 1.5,
            y: lane(s.row),
            width: 3,
            height: max(2, bar),
            class: 'evicted',
          });
        }
      });
    }
    if (!glides) {
      out.push(
        path('dec', gone.dec, 'memory half'),
        path('pre', gone.pre, 'compute solid'),
        path('kept', gone.kept, '', { fill: hatch }),
      );
    }
    out.push(bars);
    const wide = (right / data.window) * f.one;
    if (wide > 1.6) {
      out.push(
        path(
          'beats',
          joined(range(i1 - i0), (i) => {
            const x = X(steps[i0 + i].to);
            return x > 0 && x <= right ? `M${px(x)} ${px(top)}V${px(top + L.slotsH)}` : '';
          }),
          'beats',
        ),
      );
    }
    out.push(
      path('rule', `M0 ${px(top + L.slotsH + 4)}H${px(right)}`, 'pull'),
      label('slots', 20, top + L.slotsH + 19, worded(words.slots, p.slots), 'strong'),
      label(
        'queue',
        small ? 90 : 96,
        top + L.slotsH + 19,
        waiting ? worded(waiting > 1 ? words.waiting : words.waits, count(waiting)) : words.empty,
        'small soft',
      ),
    );
    // memory, true to scale
    const per = call('block', { ...machine.given, S_page: data.page });
    const all = machine.memory;
    const Y = (V) => top + high * (1 - V / all);
    const held = { even: '', odd: '' };
    const live = seen
      .map((r) => [r, partAt(r, t)])
      .filter(([, s]) => s && s.kind !== 'wait')
      .sort((a, b) => a[1].row - b[1].row);
    let y = Y(machine.resident);
    let used = 0;
    const budget = Y(p.f * all);
    out.push(
      path('hbm', box(L.mem, top, L.memW, high), 'well'),
      path('unused', box(L.mem, top, L.memW, budget - top), '', { fill: hatch }),
      path('weights', box(L.mem, y, L.memW, top + high - y), 'memory solid'),
    );
    live.forEach(([r, s], k) => {
      const n = ceil(tokensOf(r, s, i1 - 1, p) / data.page);
      const h = (n * per * high) / all;
      used += n;
      y -= h;
      held[k % 2 ? 'odd' : 'even'] += box(L.mem, y, L.memW, max(0.2, h - (h > 3 ? 1 : 0)));
    });
    out.push(
      path('even', held.even, 'memory half'),
      path('odd', held.odd, 'memory half odd'),
      path('frame', box(L.mem + 0.5, top, L.memW - 1, high), 'outline'),
      path('budget', `M${L.mem - 4} ${px(budget)}h${L.memW + 4}`, 'pull'),
    );
    const fullness = f.pool ? used / f.pool : 0;
    const low = budget + (small ? 22 : 36);
    const ky = clamp(y - (small ? 6 : 2), low, max(low, Y(machine.resident) - (small ? 6 : 18)));
    out.push(
      label(
        'memory',
        small ? width : L.mem,
        top - 8,
        small ? machine.short : machine.words,
        'small strong',
        small ? 'end' : 'start',
      ),
      label(
        'weightsname',
        L.mem + L.memW / 2,
        (Y(machine.resident) + top + high) / 2 + 4,
        small ? '' : words.weights,
        'on small',
        'middle',
      ),
    );
    if (small) out.push(label('kv', L.mem + L.memW / 2, ky, percent(fullness), 'memory small name halo', 'middle'));
    else {
      out.push(
        label('kv', L.mem + L.memW + 6, ky, words.kv, 'memory small name'),
        label('kvfull', L.mem + L.memW + 6, ky + 15, worded(words.full, percent(fullness)), 'memory small name'),
        label('free', L.mem + L.memW + 12, budget + 1, words.usable, 'small tip'),
        label('freepart', L.mem + L.memW + 12, budget + 15, show(p.f, SHARE, true), 'small tip'),
      );
    }
    return [out, strips(view, t, L, i0, i1)];
  },

  handles(view) {
    const { p, solved: f, words, data } = view;
    const L = layout(view);
    const Y = (V) => L.top + L.high * (1 - V);
    const one = (id, x, y, lo, hi, step, leap, said, grid = 1) => ({
      id,
      label: words.handles[id],
      x,
      y,
      lo,
      hi,
      step,
      leap,
      grid,
      value: p[id],
      words: said,
    });
    return [
      one(
        'S_in',
        L.inX(p.S_in),
        33.5,
        16,
        16384,
        max(1, two(p.S_in / 4)),
        max(2, p.S_in),
        worded(words.tokens, count(p.S_in)),
      ),
      one(
        'S_out',
        L.outX(p.S_out),
        33.5,
        8,
        2048,
        max(1, two(p.S_out / 4)),
        max(2, p.S_out),
        worded(words.tokens, count(p.S_out)),
      ),
      one('slots', 8, L.top + L.slotsH + 4, 4, 256, max(1, two(p.slots / 8)), p.slots, worded(words.slots, p.slots)),
      one('f', L.mem + L.memW, Y(p.f), 0.25, 0.95, 0.01, 0.1, percent(p.f), 0.01),
      p.kind === 'continuous'
        ? one(
            'chunk',
            L.right + (small(view) ? 50 : 60),
            L.chunkY(p, f),
            64,
            data.whole,
            64 * max(1, round(p.chunk / 256)),
            p.chunk,
            p.chunk >= data.whole ? words.whole : worded(words.tokens, count(p.chunk)),
            64,
          )
        : null,
      one(
        'rate',
        L.R(p.rate),
        L.rail,
        0.5,
        100,
        max(0.1, +(p.rate / 20).toPrecision(1)),
        max(1, p.rate),
        worded(words.rate, show(p.rate)),
        0.1,
      ),
    ].filter(Boolean);
  },
  pull(view, id, x, y) {
    const L = layout(view);
    const { data } = view;
    if (id === 'S_in') return two(16 * 2 ** ((L.mid - x) / L.oct));
    if (id === 'S_out') return two(8 * 2 ** ((x - L.mid) / L.oct));
    if (id === 'slots') return two(4 * 2 ** (6 * clamp((y - 4 - L.top - 64) / 160, 0, 1) ** 2));
    if (id === 'f') return 1 - (y - L.top) / L.high;
    if (id === 'rate') return +L.R.inv(x).toPrecision(2);
    return y < L.strip - 4
      ? data.whole
      : [64, 128, 256, 512, 1024, 2048, 4096].reduce((a, c) =>
          abs(L.sy(chunkTime(view, c)) - y) < abs(L.sy(chunkTime(view, a)) - y) - 0.5 ? c : a,
        );
  },
  place: ({ spec }, t) => show(t, spec.units.T),
  meter(view, t) {
    const { p, solved: f, words } = view;
    const { batch, from } = tally(f.run, t);
    const met = abs(batch / f.batch - 1) < 0.015;
    return {
      name: from ? worded(words.meanafter, seconds(view, from, true), p.slots) : worded(words.mean, p.slots),
      words: show(batch),
      value: batch,
      full: max(p.slots, batch),
      mark: f.batch,
      hue: 'memory',
      met,
      label: real(f.batch)
        ? worded(words.little, show(f.batch), seconds(view, f.steady))
        : p.kind === 'static'
          ? words.nolaw
          : words.nosteady,
    };
  },
  uses: (p, name) => name !== 'chunk' || p.kind === 'continuous',
  numbers({ p, solved: f }, t) {
    const { run, runs, marks, ...rest } = f;
    return {
      ...rest,
      tallies: fromEntries(KINDS_OF.map((k) => [k, tally(runs()[k], t)])),
      steps: run.steps.length,
      end: run.end,
      evicted: run.evicted,
    };
  },
  sentence(view, t) {
    const { p, solved: f, words } = view;
    const limit = f.limits[p.kind];
    const { evicted } = tally(f.run, t);
    const out = [];
    out.push(worded(words.cheap, f.room, show(f.full / f.one)));
    out.push(
      p.kind === 'continuous'
        ? worded(words.upto, show(limit), words.why[f.why])
        : worded(words.staticupto, show(limit)),
    );
    out.push(p.rate <= limit ? words.keeps : worded(words.grows, show(p.rate)));
    if (evicted) out.push(worded(evicted > 1 ? words.lost : words.lostone, count(evicted)));
    return out.join(' ');
  },
  table(view, t) {
    const { solved: f, words } = view;
    const T = (v) => seconds(view, v);
    const rows = KINDS_OF.map((k) => tally(f.runs()[k], t));
    const row = (name, of) => [name, ...rows.map(of)];
    return [
      [worded(words.until, seconds(view, t)), ...KINDS_OF.map((k) => words.kinds[k])],
      row(words.rows[0], (a) => T(a.ttft)),
      row(words.rows[1], (a) => T(a.ttft95)),
      row(words.rows[2], (a) => T(a.tpot)),
      row(words.rows[3], (a) => T(a.tpot95)),
      row(words.rows[4], (a) => count(a.rate)),
      row(words.rows[5], (a) => show(a.batch)),
      row(words.rows[6], (a, i) => show(f.limits[KINDS_OF[rows.indexOf(a)]])),
    ];
  },
  hover(view, el, t) {
    const { solved: f, words, call, p, data } = view;
    const [what, i] = (el.dataset.told ?? '').split(' ');
    if (what === 'req') {
      const r = f.run.requests[+i];
      const s = partAt(r, t) ?? r.parts.at(-1);
      return `<b>${worded(words.number, count(r.i + 1))}</b>${worded(words.inout, count(r.prompt), count(r.answer))}<br>${r.first && r.first <= t ? worded(words.firstafter, seconds(view, r.first - r.t)) : worded(words.waited, seconds(view, t - r.t))}${s?.kind === 'kept' ? `<br>${words.keptslot}` : ''}`;
    }
    return '';
  },
  call({ p, solved: f, spec, data: { machines, draw, backlog } }) {
    const of = (v) => literal(v, spec.units.T);
    const g = f.largest;
    const { call, given } = machines[p.machine];
    if (p.kind === 'static') {
      return worded(
        spec.words.staticcall,
        ...call,
        of(given.alpha),
        draw.most,
        draw.seed,
        draw.group,
        p.S_in,
        p.S_out,
        p.slots,
        f.pool,
        backlog,
      );
    }
    return f.byChunk < Infinity
      ? worded(spec.words.chunkcall, f.pieces.S_chunk, f.pieces.S_in, of(f.pieces.T_mix))
      : `largest_rate(B_seq=${g.B_seq}, S_out=${g.S_out}, T_w=${of(g.T_w)}, t_seq=${of(g.t_seq)}, T_pre=${of(g.T_pre)})`;
  },
};
const two = (v) => round(+v.toPrecision(2));
const small = ({ width }) => width < 480;
const chunkTime = ({ p, call, data }, c) => {
  const { given } = data.machines[p.machine];
  return call('step', { ...given, B_seq: 0, S_chunk: c, S: 0, n_ask: (c * (c + 1)) / 2 });
};
/** Tokens of a request whose keys and values are held, or have a place kept for them. */
function tokensOf(r, s, step, p) {
  if (p.kind === 'static') return r.prompt + r.answer;
  return s.kind === 'pre' ? s.base : s.base + step - s.step;
}
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
/** Where things stand. */
function layout({ width, p, data, solved: { peak } }) {
  const narrow = width < 480;
  const right = narrow ? width - 74 : width - 152;
  const top = 92;
  const high = 262;
  const slotsH = 64 + 140 * Math.sqrt(Math.log2(p.slots / 4) / 6);
  const strip = top + high + 40;
  const stripH = 76;
  const ttft = strip + stripH + 46;
  const ttftH = 56;
  const over = ttft + ttftH + 44;
  const overH = 40;
  const rail = over + overH + 76;
  const mid = narrow ? right * 0.56 : right * 0.6;
  const oct = narrow ? 13.5 : 24;
  const left = narrow ? 6 : 6;
  const end = width - 10;
  const by = (end - left) / Math.log(200);
  const R = (r) => left + by * Math.log(clamp(r, 0.5, 100) / 0.5);
  R.inv = (x) => 0.5 * Math.exp((clamp(x, left, end) - left) / by);
  const sy = (T) => strip + stripH * (1 - min(T, peak) / peak);
  const ty = (T) =>
    ttft + ttftH * (1 - clamp(Math.log(T / data.first[0]) / Math.log(data.first[1] / data.first[0]), 0, 1));
  return {
    right,
    top,
    high,
    slotsH,
    strip,
    stripH,
    ttft,
    ttftH,
    over,
    overH,
    rail,
    mid,
    oct,
    left,
    end,
    R,
    sy,
    ty,
    mem: narrow ? width - 52 : width - 118,
    memW: narrow ? 42 : 54,
    inX: (v) => mid - oct * Math.log2(v / 16),
    outX: (v) => mid + oct * Math.log2(v / 8),
    chunkY: (q, f) => (q.chunk >= data.whole ? strip - 10 : clamp(sy(f.chunkT), strip - 4, strip + stripH)),
  };
}
/** The time axis of lanes and strips: `now` is at the right. */
function axisOf(view, t) {
  const { right } = layout(view);
  const from = t - view.data.window;
  return { small: small(view), from, X: (u) => ((u - from) * right) / view.data.window };
}
/** Below the lanes: the time of each step, the time to first token, the queue of the whole run, the rate. */
function strips(view, t, L, i0, i1) {
  const { p, solved: f, data, words, width, hatch, call } = view;
  const { small: narrow, X } = axisOf(view, t);
  const { right, strip, stripH, sy, ty, ttft, ttftH, over, overH, rail, R } = L;
  const out = [];
  const { steps, requests } = f.run;
  const { given } = data.machines[p.machine];
  const kinds = { weights: '', caches: '', math: '', comm: '', cut: '' };
  const base = strip + stripH;
  const tall = (T) => (stripH * T) / f.peak;
  const a = tally(f.run, t);
  const now = steps[min(steps.length - 1, stepAt(steps, t))];
  for (const s of steps.slice(i0, i1)) {
    const x = max(0, X(s.from));
    const w = max(0.5, min(right, X(s.to)) - x - (X(s.to) - X(s.from) > 3 ? 0.8 : 0));
    const caches = call('read', { ...given, V_read: call('kv', { ...given, S: s.read }) });
    const comm = call('comm', { ...given, B_seq: s.batch, S_chunk: s.tokens });
    let y = base;
    if (s.T > f.peak * 1.08) {
      kinds.cut += `M${px(x)} ${px(strip + 3)}h${px(w + 1)}M${px(x)} ${px(strip + 7)}h${px(w + 1)}`;
    }
    for (const [key, T] of [
      ['weights', f.weights],
      ['caches', caches],
      ['math', s.T - f.weights - caches - comm],
      ['comm', comm],
    ]) {
      const h = min(tall(max(0, T)), y - strip + 6);
      if (h > 0.05) {
        kinds[key] += box(x, y - h, w, h);
        y -= h;
      }
    }
  }
  for (const v of data.ticks.map((part) => part * f.peak)) {
    out.push(
      path(`s${round((v / f.peak) * 16)}`, `M0 ${px(sy(v))}H${right}`, 'grid'),
      label(`st${round((v / f.peak) * 16)}`, right + 5, sy(v) + 4, seconds(view, v, true)),
    );
  }
  out.push(
    path('sweights', kinds.weights, 'memory solid'),
    path('scaches', kinds.caches, 'memory half'),
    path('smath', kinds.math, 'compute solid'),
    path('scomm', kinds.comm, 'scaleup solid'),
    path('scut', kinds.cut, 'cut'),
  );
  out.push(
    label('steps', 0, strip - 18, words.steps, 'strong'),
    narrow
      ? null
      : label(
          'stepnow',
          152,
          strip - 18,
          now && now.from <= t ? worded(words.now, seconds(view, now.T), count(now.batch)) : words.idle,
        ),
  );
  if (p.kind === 'continuous') {
    const y = L.chunkY(p, f);
    const x = right + (narrow ? 50 : 60);
    out.push(
      path('chunk', `M0 ${px(y)}H${px(right)}M${px(x - 14)} ${px(y)}H${px(x)}`, 'pull dashed'),
      label(
        'chunkname',
        narrow ? width : x + 12,
        narrow ? strip - 24 : y - 2,
        words.chunk,
        'small tip',
        narrow ? 'end' : 'start',
      ),
      narrow
        ? null
        : label('chunksize', x + 12, y + 13, p.chunk >= data.whole ? words.off : count(p.chunk), 'small tip'),
    );
  }
  // time to first token, at the time of the first token
  data.decades.forEach((v, k) =>
    out.push(
      path(`f${v}`, `M0 ${px(ty(v))}H${right}`, 'grid'),
      k % 2 ? label(`ft${v}`, right + 5, ty(v) + 4, seconds(view, v, true)) : null,
    ),
  );
  let dots = '';
  for (const r of requests) {
    if (r.first && r.first <= t && X(r.first) > 0) {
      dots += `M${px(X(r.first) - 2)} ${px(ty(r.first - r.t))}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`;
    }
  }
  out.push(
    path('dots', dots, 'dots'),
    label('ttft', 0, ttft - 12, words.ttft, 'strong'),
    label(
      'ttftnow',
      right - 4,
      ttft - 12,
      real(a.ttft95) && width > 300
        ? worded(
            narrow ? words.p95 : words.percentiles,
            ...(narrow ? [] : [seconds(view, a.ttft)]),
            seconds(view, a.ttft95),
          )
        : '',
      'small soft',
      'end',
    ),
  );
  out.push(
    path('now', `M${px(right)} ${L.top - 4}V${ttft + ttftH}`, 'now-line'),
    label('nowname', right - 5, ttft + ttftH + 15, worded(words.at, seconds(view, t)), 'small strong', 'end'),
  );
  // the queue of the whole run
  const far = max(20, f.run.longest);
  const at = (u) => (u / data.span) * right;
  const line = `M0 ${over + overH}${joined(f.run.queue, (n, k) => `L${px((k / QUEUE) * right)} ${px(over + overH * (1 - n / far))}`)}`;
  out.push(
    path('queuearea', `${line}L${px(right)} ${over + overH}z`, 'wait area'),
    path('queuebase', `M0 ${over + overH}H${right}`, 'spine'),
    label('queued', 0, over - 10, words.queued, 'strong'),
    label('queuemost', right + 5, over + 6, count(far)),
    label('queuenone', right + 5, over + overH + 4, count(0)),
    label('queueend', right, over + overH + 14, seconds(view, data.span, true), 'small soft', 'end'),
    path('queuenow', `M${px(at(t))} ${over - 4}v${overH + 8}`, 'now-line'),
  );
  // the rate, and the largest ones
  const limit = f.limits[p.kind];
  const other = p.kind === 'static' ? 'continuous' : 'static';
  const x = R(limit);
  const z = R(f.limits[other]);
  out.push(
    label('rates', 0, rail - 24, words.rates, 'strong'),
    path('grows', box(x, rail - 6, max(0, L.end - x), 12), '', { fill: hatch }),
    path('rail', `M${L.left} ${rail}H${L.end}`, 'rail'),
    path('limit', `M${px(x)} ${rail - 9}v18`, 'now-line'),
    path('otherlimit', `M${px(z)} ${rail - 7}v14`, 'spine'),
  );
  const lx = clamp(x, 60, width - 60);
  for (const v of [1, 10, 100]) {
    out.push(
      path(`r${v}`, `M${px(R(v))} ${rail}v6`, 'spine'),
      abs(R(v) - lx) > 92 && abs(R(v) - z) > 92
        ? label(`rt${v}`, R(v), rail + 24, count(v), 'small soft', v === 100 ? 'end' : 'middle')
        : null,
    );
  }
  out.push(
    label(
      'limitname',
      x > width - 110 ? min(x + 4, width) : x,
      rail + 24,
      worded(words.kindlimit, words.kinds[p.kind], show(limit)),
      'small strong',
      x > width - 110 ? 'end' : x < 70 ? 'start' : 'middle',
    ),
    abs(x - z) > 150
      ? label(
          'othername',
          z,
          rail + 24,
          worded(words.kindlimit, words.kinds[other], show(f.limits[other])),
          'small soft',
          z > width - 90 ? 'end' : z < 70 ? 'start' : 'middle',
        )
      : null,
  );
  out.push(label('ratename', width, rail - 24, worded(words.rate, show(p.rate)), 'small tip', 'end'));
  return out;
}
globalThis.gpuscale.wake?.();
