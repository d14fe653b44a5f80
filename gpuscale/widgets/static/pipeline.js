/* Pipeline: a lane for each rank, a block for each slot, and below each lane the activations that the rank stores. The
   orders and the timetable are twins of schedules/pipelines; times are in forward passes of a microbatch on a rank. */
const HALVES = ['interleaved', 'zb_v'];
const SPLIT = ['zb_h1', 'zb_v', 'dualpipe'];
const MOST_MB = 16;
const MOST_PACE = 3;
const LEAST = 0.5;
const NUDGE = 0.25; // microbatches, slowdown, least part of a backward pass, step of times

/* 1. Orders: for each rank its blocks of tasks [kind, microbatch, stage], the tasks of a block running in a row */
const alone = (tasks) => tasks.map((task) => [task]);
const all = (kind, m, s) => range(m).map((i) => [kind, i, s]);
const repeat = (times, f) => range(max(0, times)).forEach(f);
/** So many forward tasks ahead, then pairs of a forward and a backward one, then the backward ones that are left. */
function alternate(forward, backward, ahead) {
  const n = min(ahead, forward.length);
  return alone([
    ...forward.slice(0, n),
    ...forward.slice(n).flatMap((f, i) => [f, backward[i]]),
    ...backward.slice(forward.length - n),
  ]);
}
/** Writes the blocks of a rank: phase 0 is what enters on its own side, phase 1 what comes from the other one. */
function writer(ways) {
  const blocks = [];
  const late = [];
  const n = { F: [0, 0], B: [0, 0] };
  const next = (kind, phase) => [kind, ways[phase][0] + n[kind][phase]++, ways[phase][1]];
  const back = (phase) => {
    const [, i, s] = next('B', phase);
    return [
      ['B', i, s],
      ['W', i, s],
    ];
  };
  return {
    blocks,
    late,
    n,
    forward: (phase) => blocks.push([next('F', phase)]),
    backward: (phase) => blocks.push(back(phase)),
    parts: (phase) => blocks.push(...alone(back(phase))),
    split(phase) {
      const [one, other] = back(phase);
      blocks.push([one]);
      late.push(other);
    },
    both: (ahead, behind) => blocks.push([next('F', ahead), ...back(behind)]),
    weights: (phase) =>
      blocks.push(
        late.splice(
          late.findIndex((w) => phase === undefined || w[2] === ways[phase][1]),
          1,
        ),
      ),
  };
}
const ORDERS = {
  gpipe: (p, m, r) => alone([...all('F', m, r), ...all('B', m, r).reverse()]),
  one_f_one_b: (p, m, r) => alternate(all('F', m, r), all('B', m, r), p - r - 1),
  interleaved(p, m, r) {
    const turns = range(2 * m).map((k) => [floor(k / (2 * p)) * p + (k % p), floor((k % (2 * p)) / p)]);
    return alternate(
      turns.map(([i, c]) => ['F', i, c * p + r]),
      turns.map(([i, c]) => ['B', i, (1 - c) * p + r]),
      2 * (p - r - 1) + p,
    );
  },
  zb_h1(p, m, r) {
    const out = [];
    const late = [];
    for (const block of ORDERS.one_f_one_b(p, m, r)) {
      const [[kind, i, s]] = block;
      out.push(block);
      if (kind === 'B') late.push([['W', i, s]]);
      if (kind === 'B' && late.length > r) out.push(late.shift());
    }
    return [...out, ...late];
  },
  zb_v(p, m, r) {
    const w = writer([
      [0, r],
      [0, 2 * p - 1 - r],
    ]);
    repeat(2 * (p - r) - 1, () => w.forward(0));
    repeat(r, () => {
      w.forward(1);
      w.forward(0);
    });
    repeat(p - r, () => {
      w.forward(1);
      w.parts(1);
    });
    while (w.n.F[1] < m) {
      if (w.n.F[0] < m) w.forward(0);
      w.parts(0);
      w.forward(1);
      w.parts(1);
    }
    repeat(r, () => {
      w.split(0);
      w.split(1);
    });
    repeat(p - r, () => {
      w.split(0);
      w.weights(0);
    });
    while (w.late.length) w.weights(w.late.some((one) => one[2] !== r) ? 1 : 0);
    return w.blocks;
  },
  dualpipe(p, m, r) {
    const place = min(r, p - 1 - r);
    const half = p / 2;
    const middle = half - place - 1;
    const ways = [
      [0, r],
      [m / 2, p - 1 - r],
    ];
    const w = writer(r < half ? ways : ways.reverse());
    repeat(2 * middle, () => w.forward(0));
    repeat(place + 1, () => {
      w.forward(0);
      w.forward(1);
    });
    repeat(middle, () => {
      w.split(1);
      w.weights();
      w.forward(1);
    });
    repeat(m / 2 - p + place + 1, (turn) => {
      if (turn || middle) w.both(0, 1);
      else {
        w.forward(0);
        w.backward(1);
      }
      w.both(1, 0);
    });
    repeat(middle, () => {
      w.backward(1);
      w.both(1, 0);
    });
    repeat(2 * (place + 1), (turn) => (turn <= place ? w.backward : w.split)(1 - (turn % 2)));
    repeat(middle, () => {
      w.weights();
      w.split(0);
    });
    repeat(place + 1, () => w.weights());
    return w.blocks;
  },
};
/** Which numbers of microbatches a schedule can run. */
const RUNS = {
  interleaved: (p, m) => m % p === 0,
  zb_v: (p, m) => m >= 2 * p - 1,
  dualpipe: (p, m) => m % 2 === 0 && m >= 2 * p,
};
const can = (kind, p, m) => RUNS[kind]?.(p, m) ?? true;
const possible = ({ kind, N_stages: p }) =>
  range(MOST_MB)
    .map((i) => i + 1)
    .filter((m) => can(kind, p, m));

/* 2. The timetable: each rank works through its list, a block as soon as the rank is free and all inputs have arrived */
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

/* 3. The drawing */
const number = (v) => show(+v.toFixed(2), '1', true, 4);
const hue = (m) => 20 + 45 * m + (m > 7 ? 22.5 : 0);
const span = (words) => 6.3 * words.replace(/<[^>]*>/g, '').length; // pixels that words take, about
function shape({ width, p, solved }) {
  const small = width < 480;
  const left = small ? 40 : 58;
  const right = small ? 18 : 26;
  const n = p.N_stages;
  const pitch = clamp(340 / n, 56, 84);
  const lane = pitch < 70 ? 22 : 26;
  const top = 70;
  return {
    small,
    left,
    right,
    pitch,
    lane,
    top,
    foot: top + n * pitch,
    strip: pitch - lane - 24,
    unit: min(100, (width - left - right) / 5),
    full: max(p.N_MB, n + 1),
    room: width - left - right,
    lanes: (r) => top + r * pitch,
  };
}
/** The time that the width shows: so long that every tab fits, unless a hand holds a handle. */
const across = (view) => (view.held && view.across) || (view.across = view.solved.across);
const place = (view, g) => {
  const per = g.room / across(view);
  return (t) => g.left + min(t * per, g.room + 4);
};
const faint = (view, opacity) => (view.svg || opacity < 1) && { opacity }; // a still is small
const way = (slots, g, X) =>
  joined(
    slots,
    (s, i) =>
      `${i ? 'L' : 'M'}${px(X(s.a))} ${px(g.lanes(s.rank) + g.lane + 1.5)}L${px(X(s.b))} ${px(g.lanes(s.rank) + g.lane + 1.5)}`,
  );
/** How much of the critical path lies on a rank, and on which rank most of it does. */
const onPath = ({ path, total }, r) => path.reduce((sum, s) => sum + (s.rank === r ? s.b - s.a : 0), 0) / total;
const mostly = (solved) =>
  solved.rows.reduce((best, _, r) => (onPath(solved, r) > onPath(solved, best) + 1e-9 ? r : best), 0);
const named = (p, s) => (p.kind === 'dualpipe' ? s.s !== s.rank : s.s >= p.N_stages); // the other stage of its rank

figures.pipeline = {
  mute: true,
  glide: 1100,
  settles: true,
  units: true,
  solve(p, call, kinds) {
    const run = timetable(p, p.pace);
    const rows = range(p.N_stages).map((r) => run.slots.filter((s) => s.rank === r));
    const marks = [...new Set(run.slots.flatMap((s) => [s.a, s.b].map((t) => +t.toFixed(9))))].sort((x, y) => x - y);
    const kept = rows.map((row) => stored(row, 1 / virtual(p.kind)));
    const peaks = kept.map((row) => max(...row.map(([, n]) => n)));
    const alike = slowed(p)
      ? timetable(
          p,
          p.pace.map(() => 1),
          true,
        ).total
      : run.total;
    const others = kinds
      .filter((kind) => kind !== p.kind && can(kind, p.N_stages, p.N_MB))
      .map((kind) => timetable({ ...p, kind }, p.pace, true).total);
    return {
      ...run,
      marks: marks.filter((t) => t > 0),
      rows,
      kept,
      peaks,
      alike,
      path: critical(run, rows),
      across: max(run.total, ...others),
      gaps: rows.map((row) => gaps(row, run.total)),
    };
  },
  pace: (p) => 9 / (p.N_MB + p.N_stages) / (1 + p.t_B),
  height: (view) => {
    const g = shape(view);
    return g.foot + 40;
  },
  fit(p, was = p) {
    const t_B = clamp(p.t_B, 1, 4);
    const list = possible(p);
    const way = p.N_MB - was.N_MB;
    const near = (m) => abs(m - p.N_MB) + (way && (m - p.N_MB) * way < 0 ? MOST_MB : 0);
    return {
      ...p,
      t_B,
      t_W: clamp(p.t_W, LEAST, t_B - LEAST),
      N_MB: list.reduce((best, m) => (near(m) <= near(best) ? m : best)),
      follow: p.follow < p.N_MB ? p.follow : -1,
    };
  },

  draw(view, t) {
    const { p, solved, words, hatch } = view;
    const g = shape(view);
    const X = place(view, g);
    const v = virtual(p.kind);
    const now = t < solved.total ? t : Infinity;
    const dim = (m) => (p.follow >= 0 && p.follow !== m ? 0.2 : 1);
    const block = (s) => {
      const x0 = X(s.a);
      const x1 = X(s.b);
      const wide = x1 - x0;
      const half = v === 2 ? s.s : 2 * s.s;
      const y = g.lanes(s.rank);
      const later = s.a >= now - 1e-9 ? 0.25 : 1;
      const opacity = min(dim(s.m), later);
      if (wide < 0.5) return null;
      const key = `${s.kind}${s.m}.${half}`;
      const from = `${s.kind === 'F' ? 'F' : 'B'}${s.m}.${half - (half % 2)}`;
      const digits = String(s.m).length;
      const fine = wide < 6.7 * digits + 2.4 || g.small;
      const box = {
        key,
        from,
        tag: 'rect',
        class: `pass ${s.kind}${wide < 5 ? ' thin' : ''}`,
        style: `--h:${hue(s.m)}`,
        x: x0 + 0.5,
        y,
        width: max(0.4, wide - 1),
        height: g.lane,
        ...faint(view, opacity),
        told: s.id,
        act: s.m,
        group: 'slots',
        pressed: p.follow === s.m,
        label: worded(
          words.block,
          words.kinds[SPLIT.includes(p.kind) ? s.kind : s.kind === 'B' ? 'whole' : 'F'],
          s.m,
          s.rank,
        ),
      };
      const say = wide >= 5.8 * digits + 2.3 && {
        key: `n${key}`,
        from: `n${from}`,
        tag: 'text',
        class: `count ${s.kind}${fine ? ' fine' : ''}`,
        x: (x0 + x1) / 2,
        y: y + g.lane / 2 + 0.5,
        ...faint(view, opacity),
        words: `${s.m}`,
        ...(named(p, s) && { 'text-decoration': 'underline' }),
      };
      return [box, say];
    };
    const longest = solved.gaps
      .flatMap((list, r) => list.map(([a, b]) => [b - a, a, b, r]))
      .reduce((x, z) => (z[0] > x[0] + 1e-9 ? z : x), [0, 0, 0, 0]);
    const wait = (r) =>
      solved.gaps[r].map(
        ([a, b], i) =>
          a < now && {
            key: `i${r}.${i}`,
            tag: 'rect',
            class: 'idle',
            fill: hatch,
            x: X(a),
            y: g.lanes(r),
            width: max(0, X(min(b, now)) - X(a)),
            height: g.lane,
            told: `idle.${r}.${i}`,
          },
      );
    const label = worded(words.idle, number(longest[0]));
    const fits = X(longest[2]) - X(longest[1]) > span(label) + 6 && longest[2] <= now;
    return [
      t < solved.total && {
        key: 'now',
        tag: 'path',
        class: 'now',
        d: `M${px(X(t))} ${px(g.top - 6)}V${px(g.foot + 2)}`,
      },
      this.pass(view, g),
      range(p.N_stages).map((r) => this.rank(view, g, X, r, now)),
      range(p.N_stages).map(wait),
      fits && [
        {
          key: 'gap',
          tag: 'rect',
          class: 'plate',
          x: (X(longest[1]) + X(longest[2])) / 2 - span(label) / 2 - 2,
          y: g.lanes(longest[3]) + 4,
          width: span(label) + 4,
          height: g.lane - 8,
          rx: 3,
        },
        {
          key: 'gapped',
          tag: 'text',
          class: 'small',
          x: (X(longest[1]) + X(longest[2])) / 2,
          y: g.lanes(longest[3]) + g.lane / 2 + 0.5,
          'text-anchor': 'middle',
          words: label,
        },
      ],
      solved.slots.map(block),
      p.follow < 0 && slowed(p) && this.critical(view, g, X, now),
      this.route(view, g, X, now),
      this.hint(view, g, X, t),
      this.axis(view, g, X, t),
    ];
  },
  /** One microbatch on one rank: the blocks that all schedules are made of, with handles for their times. */
  pass({ p, words }, g) {
    const split = SPLIT.includes(p.kind);
    const parts = split
      ? [
          ['F', 1],
          ['B', p.t_B - p.t_W],
          ['W', p.t_W],
        ]
      : [
          ['F', 1],
          ['whole', p.t_B],
        ];
    let x = g.left;
    const box = ([kind, time]) => {
      const at = x;
      const wide = time * g.unit;
      const cls = kind === 'whole' ? 'B' : kind;
      const said = words.pass[kind].map((w) => worded(w, number(time))).find((w) => span(w) < wide - 18) ?? '';
      x += wide;
      return [
        {
          key: `pass${cls}`,
          from: 'passB',
          tag: 'rect',
          class: `pass ${cls} gray`,
          x: at + 0.5,
          y: 20,
          width: max(0.4, wide - 1),
          height: 24,
        },
        { key: `passed${cls}`, tag: 'text', class: `count ${cls} gray`, x: at + wide / 2, y: 32.5, words: said },
      ];
    };
    return [{ key: 'one', tag: 'text', class: 'small', x: g.left, y: 8, words: words.one }, parts.map(box)];
  },
  /** The name of a rank, and the step curve of what it stores. */
  rank(view, g, X, r, now) {
    const { p, solved, words } = view;
    const y = g.lanes(r);
    const base = y + g.lane + 4;
    const kept = solved.kept[r];
    const deep = (n) => px(base + (n * g.strip) / g.full);
    const most = solved.peaks[r];
    const peak = kept.find(([, n]) => n === most);
    const level = now < Infinity ? held(kept, now) : most;
    const points = range(view.svg ? 4 * p.N_MB : kept.length).map((i) => kept[min(i, kept.length - 1)]);
    const end = min(now, kept.at(-1)[0]);
    const curve = `M${px(X(min(kept[0][0], now)))} ${px(base)}${joined(points, ([t, n]) => `H${px(X(min(t, end)))}V${t <= end ? deep(n) : deep(held(kept, end))}`)}H${px(X(end))}V${px(base)}Z`;
    const said = worded(r || g.small ? words.few : level === 1 ? words.store : words.stores, number(level));
    return [
      {
        key: `who${r}`,
        tag: 'text',
        class: 'strong who',
        x: 0,
        y: y + g.lane / 2 + (p.pace[r] > 1 ? -7 : 0),
        words: worded(words.rank, r),
      },
      p.pace[r] > 1 && {
        key: `slow${r}`,
        tag: 'text',
        class: 'small',
        x: 0,
        y: y + g.lane / 2 + 9,
        words: worded(words.times, number(p.pace[r])),
      },
      { key: `kept${r}`, tag: 'path', class: 'memory kept', d: curve, told: `kept.${r}` },
      {
        key: `most${r}`,
        tag: 'text',
        class: 'memory stores',
        x: X(peak[0]),
        y: base + (most * g.strip) / g.full + 9,
        words: said,
      },
    ];
  },
  /** Where there is room, what a hand can do. */
  hint(view, g, X, t) {
    const { p, solved, words, width } = view;
    const at = range(p.N_stages).map((r) => X(ends(solved.slots, p, r)));
    const least = at.reduce((best, x, r) => (x < at[best] ? r : best), 0);
    const need = span(words.hint) + 24;
    const last = at.lastIndexOf(max(...at));
    const r = X(solved.total) - at[least] > need ? least : last;
    const x = at[r];
    const fits = r === least || width - x > need;
    return (
      view.svg &&
      fits &&
      t >= solved.total &&
      !slowed(p) &&
      p.follow < 0 && {
        key: 'hint',
        tag: 'text',
        class: 'hint',
        x: x + 21,
        y: g.lanes(r) + g.lane / 2 + 0.5,
        words: words.hint,
      }
    );
  },
  /** The critical path along the lower edges of the lanes, named where it stays longest. */
  critical(view, g, X, now) {
    const { solved, words } = view;
    const path = solved.path.filter((s) => s.b <= now);
    const most = mostly(solved);
    const own = path.filter((s) => s.rank === most);
    const end = own.at(-1);
    return (
      end && [
        { key: 'critical', tag: 'path', class: 'route', d: way(path, g, X) },
        {
          key: 'criticals',
          tag: 'text',
          class: 'strong named',
          'text-anchor': 'end',
          x: max(X(end.b), span(words.critical) * 1.2),
          y: g.lanes(end.rank) - 8.5,
          words: words.critical,
        },
      ]
    );
  },
  /** The way of the microbatch that is followed: forward through the stages, and back. */
  route({ p, solved }, g, X, now) {
    const own = solved.slots.filter((s) => s.m === p.follow && s.kind !== 'W' && s.b <= now).sort((s, o) => s.a - o.a);
    return own.length > 1 && { key: 'route', tag: 'path', class: 'route', d: way(own, g, X) };
  },
  axis(view, g, X, t) {
    const { p, solved, words } = view;
    const y = g.foot + 2;
    const step = [1, 2, 3, 5, 10, 20, 50, 100].find((n) => X(n) - X(0) > (g.small ? 38 : 44));
    const shown = solved.total <= across(view) + 1e-9;
    const last = min(solved.total, across(view));
    const ticks = range(floor(last / step) + 1)
      .map((i) => i * step)
      .filter((v) => X(last) - X(v) > 34);
    const slow = solved.total > solved.alike + 1e-9;
    const equal = worded(words.equal, number(solved.alike));
    const x = X(solved.alike);
    return [
      ticks.map((v) => [
        { key: `tick${v}`, tag: 'path', class: 'tick', d: `M${px(X(v))} ${px(y)}v4` },
        { key: `at${v}`, tag: 'text', class: 'small', 'text-anchor': 'middle', x: X(v), y: y + 12, words: `${v}` },
      ]),
      { key: 'end', tag: 'path', class: 'end', d: `M${px(X(last))} ${px(g.top - 4)}V${px(y + 4)}` },
      {
        key: 'total',
        tag: 'text',
        class: 'strong',
        'text-anchor': 'middle',
        x: X(last),
        y: y + 12,
        words: shown ? number(solved.total) : `${number(solved.total)} →`,
      },
      slow && [
        { key: 'alike', tag: 'path', class: 'alike', d: `M${px(x)} ${px(g.top - 4)}V${px(y + 20)}` },
        {
          key: 'alikes',
          tag: 'text',
          class: 'small',
          'text-anchor': 'middle',
          x: clamp(x, g.left + span(equal) / 2, view.width - span(equal) / 2),
          y: y + 28,
          words: equal,
        },
      ],
    ];
  },

  handles(view) {
    const { p, solved, words } = view;
    const g = shape(view);
    const X = place(view, g);
    const split = SPLIT.includes(p.kind);
    const leap = 1;
    const grip = (id, label, x, y, lo, hi, step, value, said, grid = step) => ({
      id,
      label,
      x,
      y,
      lo,
      hi,
      step,
      grid,
      leap,
      value,
      words: said,
    });
    return [
      grip('t_B', words.t_B, g.left + (1 + p.t_B) * g.unit, 32, 1, 4, NUDGE, p.t_B, number(p.t_B)),
      split &&
        grip(
          't_W',
          words.t_W,
          g.left + (1 + p.t_B - p.t_W) * g.unit,
          32,
          LEAST,
          p.t_B - LEAST,
          NUDGE,
          p.t_W,
          number(p.t_W),
        ),
      ...range(p.N_stages).map((r) =>
        grip(
          `pace.${r}`,
          worded(words.pace, r),
          min(X(ends(solved.slots, p, r)) + 10, view.width - 8),
          g.lanes(r) + g.lane / 2,
          1,
          MOST_PACE,
          0.05,
          p.pace[r],
          worded(words.times, number(p.pace[r])),
          0.01,
        ),
      ),
    ].filter(Boolean);
  },
  /** A rank's pace is the one at which its last block ends under the hand. */
  pull(view, id, x) {
    const { p } = view;
    const g = shape(view);
    const unit = (x - g.left) / g.unit;
    if (id === 't_B') return unit - 1;
    if (id === 't_W') return 1 + p.t_B - unit;
    const r = +id.split('.')[1];
    const want = ((x - 10 - g.left) * across(view)) / g.room;
    const end = (pace) =>
      ends(
        timetable(
          p,
          p.pace.map((k, i) => (i === r ? pace : k)),
        ).slots,
        p,
        r,
      );
    let lo = 1;
    let hi = MOST_PACE;
    repeat(12, () => {
      const mid = (lo + hi) / 2;
      if (end(mid) < want) lo = mid;
      else hi = mid;
    });
    return (lo + hi) / 2;
  },
  act: ({ p }, m) => ({ follow: p.follow === +m ? -1 : +m }),

  /** The published bubble, where it holds: for equal stages, and within the conditions of its formula. */
  formula({ p, call }) {
    const f = even(p) ? call(p.kind, { ...p, t_F: 1, n_virt: 2 }) : NaN;
    return f >= 0 ? f : NaN;
  },
  meter(view, t) {
    const { p, solved, words } = view;
    const whole = p.N_stages * solved.total;
    const now = idle(solved, t);
    const mark = this.formula(view);
    return {
      name: words.meter,
      words: worded(words.bubble, number(now), number(whole), show(now / whole, SHARE)),
      value: now / whole,
      full: 1,
      mark,
      met: t >= solved.total && abs(now / whole - mark) < 1e-9,
      label: real(mark)
        ? worded(FORMULA_SAYS, words.formula, show(mark, SHARE))
        : even(p)
          ? words.without
          : words.uneven,
      hue: 'wait',
    };
  },
  place: ({ solved, words }, t) => worded(words.time, number(t), number(solved.total)),
  numbers(view, t) {
    const { p, solved } = view;
    const mark = this.formula(view);
    return {
      total: solved.total,
      alike: solved.alike,
      peaks: solved.peaks,
      held: solved.kept.map((row) => held(row, t)),
      idle: idle(solved, t),
      bubble: idle(solved, solved.total) / p.N_stages / solved.total,
      formula: real(mark) ? mark : null,
      slots: solved.rows.map((row) => row.map((s) => [s.kind, s.m, s.s, s.a, s.b])),
      busy: solved.rows.map((row) => row.reduce((sum, s) => sum + s.b - s.a, 0)),
      waits: solved.gaps.map((list) => list.reduce((sum, [a, b]) => sum + b - a, 0)),
      path: solved.path.map((s) => [s.kind, s.m, s.s]),
      onPath: solved.rows.map((_, r) => onPath(solved, r)),
      longest: max(...solved.gaps.flat().map(([a, b]) => b - a)),
    };
  },
  sentence(view) {
    const { p, solved, words } = view;
    const all = this.numbers(view, solved.total);
    const k = paces(p);
    const worst = max(...k);
    const slow = range(p.N_stages).filter((r) => k[r] > 1);
    const name = words.names[p.kind];
    const [most, least] = [max(...all.peaks), min(...all.peaks)];
    const first = all.peaks[0];
    const last = all.peaks.at(-1);
    const many = (n) => worded(n === 1 ? words.single : words.several, number(n));
    const pace = !slow.length
      ? worded(words.equally, name, number(all.total), show(all.bubble, SHARE))
      : slow.length === 1
        ? worded(
            words.one_slow,
            slow[0],
            number(worst),
            show(all.total / all.alike - 1, SHARE),
            show(all.onPath[slow[0]], SHARE),
            show(all.bubble, SHARE),
          )
        : worded(words.some_slow, show(all.total / all.alike - 1, SHARE), show(all.bubble, SHARE));
    const memory = slow.length
      ? ''
      : most === least
        ? worded(words.alike, many(most))
        : first === most && last === least
          ? worded(words.falling, many(first), many(last))
          : worded(words.most, all.peaks.indexOf(most), many(most));
    return `${pace}${memory && ` ${memory}`}${slow.length ? '' : (words.notes[p.kind] ?? '')}`;
  },
  table(view) {
    const { p, solved, words } = view;
    const all = this.numbers(view, solved.total);
    const order = (r) =>
      [
        ...solved.rows[r].map((s) => [s.a, `${s.kind}${s.m}${named(p, s) ? '′' : ''}`]),
        ...solved.gaps[r].map(([a]) => [a, '–']),
      ]
        .sort((x, y) => x[0] - y[0])
        .map(([, w]) => w)
        .join(' ');
    return [
      words.heads,
      ...range(p.N_stages).map((r) => [
        `<b>${r}</b> <small>${order(r)}</small>`,
        number(all.busy[r]),
        number(all.waits[r]),
        number(all.peaks[r]),
      ]),
    ];
  },
  hover({ p, solved, words, held }, el) {
    const [what, r, i] = (el.dataset.told ?? el.dataset.grip).split('.');
    if (what === 'pace') return held ? null : worded(words.paced, r, number(p.pace[r]));
    if (what === 'kept') return worded(words.keeps, r, number(solved.peaks[r]));
    if (what === 'idle') {
      const [a, b] = solved.gaps[r][i] ?? [0, 0];
      return worded(words.waited, r, number(b - a), number(a), number(b));
    }
    const s = solved.slots.find((one) => one.id === +what);
    if (!s) return null;
    const kind = words.kinds[SPLIT.includes(p.kind) ? s.kind : s.kind === 'B' ? 'whole' : 'F'];
    return (
      worded(words.told, kind, s.m, s.rank, number(s.a), number(s.b)) + (s.late ? worded(words.late, s.late.rank) : '')
    );
  },
  call({ p, words }) {
    const v = virtual(p.kind);
    const run = worded(words.calls[p.kind], p.N_stages, p.N_MB, ...[p.t_B, p.t_W].map((t) => literal(t / v)));
    return `float(${run}${
      slowed(p)
        ? `.slowed([${paces(p)
            .map((k) => literal(k))
            .join(', ')}])`
        : ''
    }.bubble_fraction)`;
  },
};
globalThis.gpuscale.wake?.();
