/* Deployments: the best batch and load of every layout within the limits. The twin of gpuscale/serve/search.py; each cost
   is a formula of the library, and tests compare the two. A pair is a bound and an expected value.                     */
/** A function that runs once, when it is first called. */
const later = (make) => {
  let made;
  return () => (made ??= make());
};
/** A layout for replicas that do both; ``apart``, where GPUs that only decode have no chunks. */
function bothKinds(ask, row) {
  const one = evaluated(ask, row);
  return Object.defineProperty(one, 'apart', {
    get: later(() => (ask.chunked ? evaluated({ ...ask, chunked: false }, row) : one)),
  });
}

/** A limit, which is none at the end of its scale. */
const limited = (p, data, name) => (p[name] >= data[name][1] ? Infinity : p[name]);
/** A batch of replicas that prefill and decode, at a load: its TTFT with the queue, and what it serves. */
function busy(ask, one, c, load) {
  const { call, p } = ask;
  const slots = { f_load: load, B_seq: c.alive, c_scv: 0, T_hold: (p.output - 1) * c.token[1] };
  const f_slot = call('slot_taken', slots);
  const T_slot = call('slot_queue', { ...slots, f_slot });
  const line = {
    f_svc: ((load * c.rates[1]) / one.row.n_dpa) * c.service,
    T_svc: c.service,
    c_scv: one.spread,
    f_late: ask.data.late,
  };
  const T_line = call('queue_time', line);
  const wait = call('replica_queue', { T_slot, T_line, T_dec: c.step[1] });
  const first = [c.first[0], c.first[1] + wait];
  const late =
    call('queue_percentile', { ...line, T_queue: T_line }) +
    call('queue_percentile', { T_queue: T_slot, f_svc: f_slot, f_late: ask.data.late });
  return {
    ...c,
    load,
    wait,
    first,
    tail: first[1] + late - T_line - T_slot,
    perGpu: [c.perGpu[0], c.perGpu[1] * load],
  };
}
/** A batch at the highest load whose TTFT keeps its limit, the lowest one if none does. */
function loaded(ask, one, c, { ttft, load }) {
  let found;
  for (const part of ask.data.loads) if ((found = busy(ask, one, c, part * load)).first[1] <= ttft) break;
  return found;
}
/** The best batch and load of a layout that also prefills, and what keeps it from more. */
function colocated(ask, one, within) {
  const { ttft, tpot, load } = within;
  let at = -1;
  let point;
  one.points.forEach((c, j) => {
    if (c.token[1] > tpot || c.first[1] > ttft || (at >= 0 && c.perGpu[1] * load <= point.perGpu[1])) return;
    const found = loaded(ask, one, c, within);
    if (found.first[1] <= ttft && !(at >= 0 && found.perGpu[1] <= point.perGpu[1])) {
      at = j;
      point = found;
    }
  });
  if (at < 0) return null;
  const next = one.points[at + 1];
  const late = () => busy(ask, one, next, load).first[1] > ttft;
  const binds =
    point.load < load * ask.data.loads[0]
      ? 'ttft'
      : point.batch >= one.most
        ? 'memory'
        : point.batch + 1 > one.fed
          ? 'chunk'
          : !next
            ? 'compute'
            : next.token[1] > tpot
              ? 'tpot'
              : late()
                ? 'ttft'
                : 'compute';
  return { ...one, point, binds };
}
/** The best split of the GPUs between replicas of other layouts that prefill and those of a layout, at one of its batches. */
function parted(ask, one, c, { ttft, load }) {
  const { call, p, senders } = ask;
  const n = one.row.n_gpu;
  let best = null;
  for (const s of senders) {
    const began = s.alone[1] + s.sent + c.step[1];
    const room = floor((p.gpus - s.row.n_gpu) / n);
    if (began > ttft || room < 1) continue;
    const served = { T_svc: s.service, c_scv: s.spread };
    const allowed = ttft < Infinity ? call('largest_load', { ...served, T_queue: ttft - began }) : 1;
    const most = min(load, allowed);
    let rate = 0;
    let decoders = 0;
    let others = 0;
    for (let d = 1; d <= room; d++) {
      const o = floor((p.gpus - d * n) / s.row.n_gpu);
      const r = min(o * s.prompts[1] * most, d * c.decoded[1] * load);
      if (r > rate) [rate, decoders, others] = [r, d, o];
    }
    if (!rate || (best && rate < best.rate)) continue; // of equal rates the earlier first token
    const queue = { ...served, f_svc: rate / (others * s.prompts[1]), f_late: ask.data.late };
    queue.T_queue = call('queue_time', queue);
    const first = began + queue.T_queue;
    if (!best || rate > best.rate || first < best.first) best = { rate, first, s, others, decoders, most, queue };
  }
  if (!best) return null;
  const { rate, s, others, decoders, most, queue } = best;
  const first = both((i) =>
    call('first_token_time', { T_queue: i * queue.T_queue, T_send: s.sent, T_pre: s.alone[i], T_dec: c.step[i] }),
  );
  const tail = first[1] - queue.T_queue + call('queue_percentile', queue);
  const perGpu = [min(others * s.prompts[0], decoders * c.decoded[0]), rate].map((r) => (r * p.output) / p.gpus);
  const slower = most < load ? 'ttft' : 'prefill';
  const binds = others * s.prompts[1] * most >= decoders * c.decoded[1] * load ? 'decode' : slower;
  const from = {
    row: s.row,
    count: others,
    own: s.own,
    sent: s.sent,
    load: queue.f_svc,
    wait: queue.T_queue,
    prompts: s.prompts,
  };
  return { ...c, token: c.spoken, gap: c.step, first, perGpu, binds, from, decoders, tail, load: from.load };
}
/** The best split for a layout, at the batch at which it decodes most. */
function disaggregated(ask, one, within) {
  let at = null;
  for (const c of one.points) if (c.spoken[1] <= within.tpot && !(at && c.decoded[1] <= at.decoded[1])) at = c;
  const point = at && parted(ask, one, at, within);
  return point && { ...one, point, binds: point.binds, count: point.decoders, from: point.from };
}
/** The points of a deployment's curve: every batch, and with prefill GPUs the best split at each. */
const curved = (ask, one, within) =>
  one.from
    ? one.points.map((c) => parted(ask, one, c, within)).filter(Boolean)
    : one.points.map((c) => loaded(ask, one, c, within));
/** Replicas that the request rate of the peak hour takes, at the loads of a deployment: those that decode, those that only
 *  prefill, their GPUs, and dollars per hour. */
function fleet({ call, p, place }, { row, point, from }) {
  if (!p.rate) return null;
  const many = (load, own) => call('replicas_for_rate', { lambda_req: p.rate, r_rep: load * own });
  const replicas = from ? many(p.load, point.decoded[1]) : many(point.load, point.rates[1]);
  const ahead = from ? many(from.load, from.prompts[1]) : 0;
  const parts = [[replicas, row.n_gpu], ...(from ? [[ahead, from.row.n_gpu]] : [])];
  const hour = place.price
    ? parts.reduce((sum, [n_rep, N_gpu]) => sum + call('hourly_price', { n_rep, N_gpu, p_gpu: place.price }), 0)
    : null;
  return { replicas, prefill: ahead, gpus: parts.reduce((sum, [n, gpus]) => sum + n * gpus, 0), hour };
}
/** Dollars per million output tokens, of the fleet if there is a rate. */
function priced(ask, best) {
  const { call, p, place } = ask;
  const some = fleet(ask, best);
  return place.price
    ? call('dollars_per_million', {
        p_gpu: place.price,
        f_busy: 1,
        r_tok: some ? (p.rate * p.output) / some.gpus : best.point.perGpu[1],
      })
    : null;
}
/** The kinds of deployments that are compared. */
const MODES = { colocated: [1, 0], disaggregated: [0, 1], both: [1, 1] };
/** What a layout is, at the least: time per token, and time to first token. */
function leasts(ask, one) {
  const [together, apart] = MODES[ask.mode];
  const of = (f, points = one.points) => min(Infinity, ...points.map(f));
  const light = ask.data.loads.at(-1) * ask.p.load;
  const beside = apart ? ask.free.filter((s) => s.row.n_gpu + one.row.n_gpu <= ask.p.gpus) : [];
  const ahead = min(...beside.map((s) => s.alone[1] + s.sent));
  const token = min(
    together ? of((c) => c.token[1]) : Infinity,
    beside.length ? of((c) => c.spoken[1], one.apart.points) : Infinity,
  );
  return {
    token,
    first: min(
      together ? of((c) => busy(ask, one, c, light).first[1]) : Infinity,
      ahead + of((c) => c.step[1], one.apart.points),
    ),
  };
}
/** A cell of the map: its best layout within the limits, or why there is none. */
function judged(ask, cell, within) {
  const [together, apart] = MODES[ask.mode];
  let best = null;
  for (const one of cell.rows) {
    for (const found of [together && colocated(ask, one, within), apart && disaggregated(ask, one.apart, within)]) {
      if (found && !(best && found.point.perGpu[1] <= best.point.perGpu[1])) best = found;
    }
  }
  if (best) return { ...cell, best };
  const all = cell.rows.map((one) => leasts(ask, one));
  const token = min(...all.map((c) => c.token));
  const first = min(...all.map((c) => c.first));
  const fits = cell.rows.some((one) => one.points.length);
  const out =
    cell.out ??
    (!fits
      ? 'memory'
      : token === Infinity
        ? 'all'
        : token > within.tpot
          ? 'tpot'
          : first > within.ttft
            ? 'ttft'
            : 'both');
  return { ...cell, out, token, first, need: min(...cell.rows.map((one) => one.least)) };
}
/** Whether a layout prefills at least as well as another, with no more GPUs. */
const better = (a, b) =>
  [
    (s) => s.row.n_gpu,
    (s) => -s.prompts[1] / s.row.n_gpu,
    (s) => -s.prompts[1],
    (s) => s.alone[1] + s.sent,
    (s) => s.service,
    (s) => s.spread,
  ].every((f) => f(a) <= f(b));
const order = (a, b) =>
  a.row.Y - b.row.Y || a.row.N_stages - b.row.N_stages || a.row.n_dpa - b.row.n_dpa || a.row.n_ep - b.row.n_ep;
let kept = null; // the layouts of the request that was asked last
const givenOf = (p) => JSON.stringify(EVALUATED.map((k) => p[k]));
/** Whether the layouts of a request have yet to be evaluated. */
const unknown = (p, data) => kept?.given !== givenOf(p) || kept.data !== data;
/** Evaluates the layouts of a request, one at a time. */
function* laying(p, call, data) {
  const ask = asked(p, call, data);
  const across = powers(min(p.gpus, 2 * ask.x.G));
  const down = powers(min(p.gpus, p.down === 'pp' ? data.stages : p.gpus));
  const cells = [];
  for (const row of down) {
    for (const tp of across) {
      const [layouts, why] = tp * row > p.gpus ? [[]] : laidOut(ask, tp, row);
      const rows = [];
      for (const one of layouts) {
        rows.push(bothKinds(ask, one));
        yield;
      }
      const out = tp * row > p.gpus ? { out: 'many' } : !rows.length && { out: 'layout', why };
      cells.push({ tp, row, rows, ...out });
    }
  }
  const able = later(() => {
    const able = cells
      .flatMap((c) => c.rows.map((one) => one.apart))
      .filter((one) => one.points.length && one.row.n_gpu < p.gpus)
      .sort(order);
    return able.filter((s, i) => !able.some((o, j) => o !== s && better(o, s) && (j < i || !better(s, o))));
  });
  kept = { given: givenOf(p), data, ask, across, down, cells, able };
}
/** All cells of a request within its limits. */
function searched(p, call, data) {
  if (unknown(p, data)) for (const _ of laying(p, call, data));
  const [ttft, tpot] = ['ttft', 'tpot'].map((name) => limited(p, data, name));
  const within = { ttft, tpot, load: p.load };
  const free = p.mode === 'colocated' ? [] : kept.able();
  const ask = { ...kept.ask, p, mode: p.mode, free, senders: free.filter((s) => s.alone[1] <= ttft) };
  const cells = kept.cells.map((cell) => judged(ask, cell, within));
  const ranked = cells.filter((c) => c.best).sort((a, b) => b.best.point.perGpu[1] - a.best.point.perGpu[1]);
  const all = cells.flatMap((c) => c.rows);
  const at = cells.find((c) => c.tp === p.tp && c.row === p.row) ?? ranked[0];
  const least = (of) => min(...(ranked.length ? [] : all.map((one) => of(leasts(ask, one)))));
  return {
    ...kept,
    ask,
    cells,
    ranked,
    at,
    ttft,
    tpot,
    within,
    first: ranked[0],
    leastToken: least((c) => c.token),
    leastFirst: least((c) => c.first),
    leastMemory: min(...all.map((one) => one.least)),
    fits: all.some((one) => one.points.length),
  };
}
