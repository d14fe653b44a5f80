/* The timetable: each rank works through its list, a block as soon as the rank is free and all inputs have arrived. Times are
   in forward passes of a microbatch on a rank.                                                                           */
const paces = (p) => p.pace.slice(0, p.N_stages);
const virtual = (kind) => (HALVES.includes(kind) ? 2 : 1);
/** The blocks of all ranks, each behind all that it needs: an order that no times change. */
const plans = {};
function plan(kind, p, m) {
  const stages = virtual(kind) * p;
  const lists = range(p).map((r) => ORDERS[kind](p, m, r));
  const at = range(p).map(() => 0);
  const done = new Uint8Array(3 * m * stages);
  const out = [];
  const no = (k, i, s) => ('FBW'.indexOf(k) * m + i) * stages + s;
  const needs = ([k, i, s]) =>
    k === 'F'
      ? s
        ? [no('F', i, s - 1)]
        : []
      : k === 'W'
        ? [no('B', i, s)]
        : [no('F', i, s), ...(s + 1 < stages ? [no('B', i, s + 1)] : [])];
  for (let moved = true; moved;) {
    moved = false;
    for (const r of range(p)) {
      for (; at[r] < lists[r].length; at[r]++) {
        const block = lists[r][at[r]];
        const ids = block.map((task) => no(...task));
        const wants = block.flatMap(needs).filter((id) => !ids.includes(id));
        if (wants.some((id) => !done[id])) break;
        for (const id of ids) done[id] = 1;
        out.push({ r, block, ids, wants });
        moved = true;
      }
    }
  }
  return out;
}
function timetable({ kind, N_stages: p, N_MB: m, t_B, t_W }, pace, bare = false) {
  const v = virtual(kind);
  const lasts = { F: 1 / v, B: (SPLIT.includes(kind) ? t_B - t_W : t_B) / v, W: t_W / v };
  const done = [];
  const by = [];
  const free = range(p).map(() => 0);
  const slots = [];
  for (const { r, block, ids, wants } of (plans[[kind, p, m]] ??= plan(kind, p, m))) {
    let t = free[r];
    let late;
    for (const id of wants) {
      if (done[id] > t + 1e-9) {
        late = by[id];
        t = done[id];
      }
    }
    block.forEach(([k, i, s], n) => {
      const a = t;
      t += lasts[k] * pace[r];
      if (!bare) slots.push({ id: ids[n], rank: r, kind: k, m: i, s, a, b: t, late: n ? undefined : late });
    });
    for (const id of ids) {
      done[id] = t;
      by[id] = slots.at(-1);
    } // a block hands its results over at its end
    free[r] = t;
  }
  return { slots, total: max(...free) };
}
/** What a rank stores: [time, microbatches of its layers] whenever that changes. */
function stored(slots, unit) {
  const last = {};
  const out = [];
  for (const s of slots) last[[s.m, s.s]] = s;
  const moves = [
    ...slots.filter((s) => s.kind === 'F').map((s) => [s.a, 1]),
    ...Object.values(last).map((s) => [s.b, -1]),
  ];
  let now = 0;
  for (const [t, change] of moves.sort((x, y) => x[0] - y[0])) {
    now += change;
    if (out.at(-1)?.[0] === t) out.pop();
    out.push([t, unit * now]);
  } // of changes at one time the last one counts
  return out;
}
function gaps(slots, total) {
  const out = [];
  let at = 0;
  for (const s of slots) {
    if (s.a > at + 1e-9) out.push([at, s.a]);
    at = max(at, s.b);
  }
  return at < total - 1e-9 ? [...out, [at, total]] : out;
}
const even = (p) => paces(p).every((k) => k === p.pace[0]);
const slowed = (p) => paces(p).some((k) => k !== 1);
/** The slots that the step consists of: each begins when the one before it on its rank ends, or when its input arrives. */
function critical({ slots, total }, rows) {
  const path = [slots.filter((s) => s.b > total - 1e-9).reduce((x, s) => (s.rank < x.rank ? s : x))];
  for (let s = path[0]; s; s = s.late ?? rows[s.rank][rows[s.rank].indexOf(s) - 1]) if (s !== path[0]) path.unshift(s);
  return path;
}
const ends = (slots, p, r) => max(...slots.filter((s) => s.rank === r).map((s) => s.b));
/** The idle time of all ranks up to the time t. */
const idle = (solved, t) => solved.gaps.flat().reduce((sum, [a, b]) => sum + max(0, min(b, t) - min(a, t)), 0);
const held = (row, t) => row.findLast(([when]) => when <= t + 1e-9)?.[1] ?? 0;
