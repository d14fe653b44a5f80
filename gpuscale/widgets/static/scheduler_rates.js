/* What a state of the engine comes to: its run, and by formulas of the library the steady state and the largest rates. */
const KINDS_OF = ['continuous', 'static'];
const HAIR = 1e-9; // seconds, for formulas take no 0

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
/** All that follows from the inputs. */
function solved(p, call, data) {
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
  const busy = cost(filled, chunk, filled * context + (p.S_in - c) / 2, filled * context + (chunk * (p.S_in + 1)) / 2);
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
}
