/* The drawing of a fabric: leaves and spines as they are, every cable straight and as wide as its bandwidth. Along the
   leaves runs a, from the spines down to the nodes b; on a phone the drawing lies on its side. */
const LOOK = 3; // seconds that a transfer at full rate takes on the page
const RUN = 46; // pixels per second of a flow at full rate
const RUNS = 'runs';

/** Where things stand at a width. */
function places(width, { U, N, R, S, L }) {
  const tall = width < 480;
  const gap = tall ? 34 : 22;
  const a0 = tall ? 68 : 66;
  const p = tall ? 24 : (width - a0 - (U - 1) * gap - 1) / L;
  const high = 14;
  const q = p * 0.215;
  const spine = (s) => (tall ? 2 + 24 * s : 4 + 22 * s);
  const top = spine(S - 1) + high;
  const leaf = tall ? top + 62 : top + 92;
  const leafHigh = tall ? 20 : 22;
  const size = tall ? 15 : 18;
  const broad = max(size, 3 * q + 5);
  const step = tall ? (width - leaf - leafHigh - 22) / N : 38;
  const gpu = (n) => leaf + leafHigh + (tall ? 18 : 34) + step * n;
  const end = gpu(N - 1) + size + 10;
  const col = (l) => a0 + floor(l / R) * (R * p + gap) + ((l % R) + 0.5) * p;
  const edge = (u, after) => col(u * R + (after ? R - 1 : 0)) + (after ? p / 2 : -p / 2);
  const last = edge(U - 1, 1);
  const at = (a, b) => (tall ? `${px(b)} ${px(a)}` : `${px(a)} ${px(b)}`);
  const xy = (a, b) => (tall ? { x: b, y: a } : { x: a, y: b });
  return {
    width,
    tall,
    a0,
    gap,
    p,
    q,
    high,
    spine,
    top,
    leaf,
    leafHigh,
    size,
    gpu,
    end,
    col,
    edge,
    last,
    at,
    xy,
    broad,
    wide: q * 0.56,
    across: (top + leaf) / 2,
    height: tall ? last + 32 : end + 44,
    strand: (l, i, many) => col(l) + ((i - (many - 1) / 2) * q * 4) / max(4, many),
    line: (a, b, c, d) => `M${at(a, b)}L${at(c, d)}`,
    box: (a, b, c, d) =>
      tall ? { x: b, y: a, width: d - b, height: c - a } : { x: a, y: b, width: c - a, height: d - b },
    ring: (a, b, c, d) => `M${at(a, b)}L${at(c, b)}L${at(c, d)}L${at(a, d)}Z`,
  };
}
/** The ends of a cable along its line: [a, from below, to above]. */
const ends = (f, k, g) =>
  k < f.up
    ? [g.strand(f.leafOf(k), f.node(k) % f.N, f.N), g.gpu(f.node(k) % f.N) + 1, g.leaf + g.leafHigh]
    : [g.strand(floor((k - f.up) / f.S), (k - f.up) % f.S, f.S), g.leaf, g.spine((k - f.up) % f.S) + g.high / 2];
/** The number of a part that can be removed, for a cable. */
const partOf = (f, k) => (k < f.up ? f.S + f.L + f.cables + k : f.S + f.L + k - f.up);
function named(words, f, part) {
  const { S, L, R, cables } = f;
  if (part < S) return worded(words.spine, part);
  if (part < S + L) return worded(words.leaf, (part - S) % R, floor((part - S) / R));
  if (part < S + L + cables) {
    const c = part - S - L;
    return worded(words.uplink, floor(c / S) % R, floor(c / S / R), c % S);
  }
  return worded(words.plug, part - S - L - cables);
}
/** The flows of the chosen GPU, and the cables that they use; without one, of all cables. */
function chosen({ p, solved: { f, flows, uses } }) {
  const mine = range(flows.length).filter((i) => flows[i][0] === p.gpu);
  const lit = new Set(mine.flatMap((i) => [...uses[i].keys()].map((k) => k % f.links)));
  return { mine, lit, shows: (k) => p.gpu < 0 || lit.has(k) };
}
/** The flows on cables as dashes that run: one path for all of one speed. */
function streams(view, g, t) {
  const {
    p,
    solved: { f, asked, carried },
  } = view;
  const { shows } = chosen(view);
  const groups = new Map();
  const time = (t * LOOK * f.W) / p.V;
  for (const d of [0, 1]) {
    for (let k = 0; k < f.nvl; k++) {
      const want = asked[d * f.links + k];
      const has = carried[d * f.links + k];
      if (want < HAIR * f.W || !f.cap[k] || !shows(k)) continue;
      const gap = clamp((22 * f.W) / want, 5, 66);
      const speed = (RUN * has) / want;
      const full = has > 0.7 * f.cap[k];
      const key = `${full} ${gap.toFixed(1)} ${speed.toFixed(1)}`;
      if (!groups.has(key)) groups.set(key, { gap, speed, full, d: '' });
      const [a, low, high] = ends(f, k, g);
      const x = a + (d ? 0.25 : -0.25) * g.wide;
      groups.get(key).d += d ? g.line(x, high, x, low) : g.line(x, low, x, high);
    }
  }
  return [...groups].map(([key, { gap, speed, full, d }]) => ({
    key: `run ${key}`,
    tag: 'path',
    class: full ? 'run full' : 'run',
    d,
    'stroke-dasharray': `2.4 ${px(gap - 2.4)}`,
    'stroke-dashoffset': -((time * speed) % gap),
  }));
}
/** The cut: across the cables that it crosses, and round what it parts from the rest. */
function cutPath(f, cut, g) {
  const { inside, nics, uplinks } = crossing(f, cut);
  const { N, R } = f;
  let d = '';
  for (const u of range(f.U)) {
    const a = g.edge(u, 0) - 5;
    const z = g.edge(u, 1) + 5;
    const own = range(N).filter((n) => inside[u * N + n]);
    if (own.length === N) d += `M${g.at(a, g.end + 4)}L${g.at(a, g.across)}L${g.at(z, g.across)}L${g.at(z, g.end + 4)}`;
    else for (const n of own) d += g.ring(a + 1, g.gpu(n) - 6, z - 1, g.gpu(n) + g.size + 9);
    if (own.length < N) {
      for (const c of uplinks) {
        if (floor(c / f.S / R) === u) {
          const [x] = ends(f, f.up + c, g);
          d += g.line(x - g.q / 2, g.across, x + g.q / 2, g.across);
        }
      }
    }
    if (own.length === N || !own.length) {
      for (const k of nics) {
        if (f.unit(k) === u) {
          const [x, b] = ends(f, k, g);
          d += g.line(x - g.q / 2, b - 7, x + g.q / 2, b - 7);
        }
      }
    }
  }
  return d;
}
/** NVLink in use: in each node from the first to the last GPU that takes part, with a stub to each of them. */
function detours(f, g, takes) {
  return joined(range(f.U * f.N), (m) => {
    const on = range(f.R).filter((r) => takes(f.nvl + m * f.R + r));
    const x = (r) => g.col(floor(m / f.N) * f.R + r);
    const b = g.gpu(m % f.N) + g.size;
    return on.length < 2
      ? ''
      : g.line(x(on[0]), b + 5, x(on.at(-1)), b + 5) + joined(on, (r) => g.line(x(r), b, x(r), b + 5));
  });
}

/** What only a change of inputs or of the width moves. */
function standing(view, g) {
  const { p, words: w, solved: s } = view;
  const { f } = s;
  const { N, R, S, W } = f;
  const gone = new Set(p.gone);
  const out = [];
  const word = (key, a, b, words, anchor = 'middle', cls = 'small') => ({
    key,
    tag: 'text',
    class: cls,
    ...g.xy(a, b),
    'text-anchor': anchor,
    words,
  });
  const bars = range(f.G).map((i) => {
    const a = g.col(f.leafOf(i)) - g.broad / 2;
    const b = g.gpu(f.node(i) % N);
    return g.tall ? [b, a] : [a, b];
  });
  const [wx, wy] = g.tall ? [g.size, g.broad] : [g.broad, g.size];
  const squares = (which, more = 0) =>
    joined(
      which,
      ([x, y]) => `M${px(x - more)} ${px(y - more)}h${px(wx + 2 * more)}v${px(wy + 2 * more)}h-${px(wx + 2 * more)}z`,
    );
  const filled = (rates) =>
    joined(bars, ([x, y], i) => {
      const high = ((wy - 2) * rates[i]) / W;
      return `M${px(x + 1)} ${px(y + wy - 1 - high)}h${px(wx - 2)}v${px(high)}h-${px(wx - 2)}z`;
    });
  out.push({
    key: 'nvlink',
    tag: 'path',
    class: 'nvlink scaleup',
    d: joined(range(f.U * N), (m) => {
      const u = floor(m / N);
      const b = g.gpu(m % N) + g.size + 5;
      return g.line(g.edge(u, 0) + 3, b, g.edge(u, 1) - 3, b);
    }),
  });
  const { shows } = chosen(view);
  const there = range(f.nvl).map((k) => f.cap[k] > 0);
  const ask = (k) => max(s.asked[k], s.asked[f.links + k]);
  const flow = (k) => max(s.carried[k], s.carried[f.links + k]);
  out.push({
    key: 'spill',
    tag: 'path',
    class: p.gpu < 0 ? 'spill' : 'spill back',
    d: joined(range(f.nvl), (k) => {
      const [a, low, high] = ends(f, k, g);
      const over = there[k] && ask(k) > f.cap[k] * (1 + HAIR);
      const half = over ? (g.wide * ask(k)) / W / 2 + 0.5 : 0;
      return g.ring(a - half, low, a + half, high);
    }),
  });
  for (const k of range(f.nvl)) {
    const [a, low, high] = ends(f, k, g);
    const full = k < f.up ? W : f.wide;
    out.push({
      key: `c${k}`,
      tag: 'path',
      class: `pipe${there[k] ? '' : ' off'}${shows(k) ? '' : ' back'}`,
      d: g.line(a, low, a, high),
      'stroke-width': there[k] ? (g.wide * full) / W : 0.8,
      style: `--t:${(there[k] ? (ask(k) > 0) * 0.12 + (0.88 * flow(k)) / full : 0).toFixed(3)}`,
    });
  }
  out.push({ key: RUNS });
  for (const k of range(f.nvl)) {
    const [a, low, high] = ends(f, k, g);
    const part = partOf(f, k);
    out.push({
      key: `h${k}`,
      tag: 'path',
      class: 'near',
      d: g.line(a, low, a, k < f.up ? high : max(high, g.top)),
      'stroke-width': (g.q * 4) / max(4, k < f.up ? N : S),
      act: part,
      told: part,
      group: 'cables',
      pressed: gone.has(part),
      label: named(w, f, part),
    });
  }
  out.push({
    key: 'detours',
    tag: 'path',
    class: p.gpu < 0 ? 'detours scaleup' : 'detours scaleup back',
    d: detours(f, g, (k) => s.asked[k] > HAIR || s.asked[f.links + k] > HAIR),
  });
  for (const i of range(S)) {
    out.push({
      key: `s${i}`,
      tag: 'rect',
      class: f.spine[i] ? 'box' : 'box off',
      ...g.box(g.a0 - 3, g.spine(i), g.last + 1, g.spine(i) + g.high),
      rx: 2.5,
      act: i,
      told: i,
      group: 'switches',
      pressed: gone.has(i),
      label: worded(w.spine, i),
    });
    if (!g.tall) {
      out.push(word(`sn${i}`, g.a0 - 9, g.spine(i) + g.high / 2 + 4.5, worded(w.spine, i), 'end', 'small soft'));
    }
  }
  out.push({
    key: 'joints',
    tag: 'path',
    class: 'joints',
    d: joined(
      range(f.cables).filter((c) => f.uplink[c]),
      (c) => {
        const [a, , b] = ends(f, f.up + c, g);
        return `M${g.at(a, b)}h.01`;
      },
    ),
  });
  for (const l of range(f.L)) {
    out.push({
      key: `l${l}`,
      tag: 'rect',
      class: f.leaf[l] ? 'box' : 'box off',
      ...g.box(g.col(l) - g.p / 2 + 1.5, g.leaf, g.col(l) + g.p / 2 - 1.5, g.leaf + g.leafHigh),
      rx: 3,
      act: S + l,
      told: S + l,
      group: 'switches',
      pressed: gone.has(S + l),
      label: named(w, f, S + l),
    });
    out.push({
      ...word(
        `ln${l}`,
        g.col(l) + (g.tall ? 4 : 0),
        g.leaf + g.leafHigh / 2 + (g.tall ? 0 : 4.5),
        f.leaf[l] ? `${l % R}` : '×',
        'middle',
        f.leaf[l] ? 'name' : 'name off',
      ),
    });
  }
  out.push({ key: 'gpus', tag: 'path', class: 'gpus compute', d: squares(bars) });
  out.push(
    { key: 'could', tag: 'path', class: 'could compute', d: filled(s.possible.map((v) => min(v, W))) },
    { key: 'gets', tag: 'path', class: 'gets compute', d: filled(s.gets) },
  );
  if (p.gpu >= 0) {
    out.push(
      ...traced(view, g, (list) =>
        squares(
          list.map((i) => bars[i]),
          1,
        ),
      ),
    );
  }
  for (const i of range(f.G)) {
    const [x, y] = bars[i];
    out.push({
      key: `g${i}`,
      tag: 'rect',
      class: 'gpu',
      x: x - 1,
      y: y - 1,
      width: wx + 2,
      height: wy + 2,
      rx: 2,
      act: `g${i}`,
      told: `g${i}`,
      group: 'gpus',
      pressed: p.gpu === i,
      label: worded(w.gpu_at, i, rateText(view, s.gets[i])),
    });
  }
  return [...out, ...around(view, g, word)];
}
/** The routes of the chosen GPU, before everything else in pale. */
function traced(view, g, squares) {
  const {
    p,
    solved: { f, flows },
  } = view;
  const { mine, lit } = chosen(view);
  const spots = [p.gpu, ...mine.map((i) => flows[i][1])];
  return [
    {
      key: 'trace',
      tag: 'path',
      class: 'trace',
      d:
        joined(
          [...lit].filter((k) => k < f.nvl),
          (k) => {
            const [a, low, high] = ends(f, k, g);
            return g.line(a, low, a, high);
          },
        ) + detours(f, g, (k) => lit.has(k)),
    },
    { key: 'spots', tag: 'path', class: 'trace', d: squares(spots) },
  ];
}
/** Names, the wedge of the uplinks, the worst cut and the busiest cable. */
function around(view, g, word) {
  const { p, words: w, solved: s } = view;
  const { f } = s;
  const { N, R, S, U } = f;
  const { cut } = s;
  const out = [];
  const soft = (key, a, b, words, anchor) => word(key, a, b, words, anchor, 'small soft');
  if (g.tall) {
    out.push(
      soft('nl', 12, 2, w.spines, 'start'),
      soft('ll', 12, g.leaf + g.leafHigh - 4, w.leaves, 'end'),
      ...range(N).map((n) => soft(`nn${n}`, 12, g.gpu(n) + g.size / 2, n ? `${n}` : worded(w.node, n))),
    );
    out.push(...range(U).map((u) => soft(`un${u}`, g.edge(u, 0) - 14, g.width, worded(w.unit, u, N * R), 'end')));
  } else {
    out.push(
      soft('ll', g.a0 - 9, g.leaf + g.leafHigh / 2 + 4.5, w.leaves, 'end'),
      ...range(N).map((n) => soft(`nn${n}`, g.a0 - 9, g.gpu(n) + g.size / 2 + 4.5, worded(w.node, n), 'end')),
    );
    out.push({ ...word('nv', g.a0 - 9, g.gpu(N - 1) + g.size + 11, w.nvlink, 'end'), class: 'small rate scaleup' });
    out.push(
      ...range(U).map((u) => soft(`un${u}`, (g.edge(u, 0) + g.edge(u, 1)) / 2, g.end + 38, worded(w.unit, u, N * R))),
    );
  }
  const [a, z, low, high] = wedge(g);
  const tip = a + (z - a) / p.taper;
  out.push(
    {
      key: 'wedge',
      tag: 'path',
      class: 'wedge',
      d: `M${g.at(a, low)}L${g.at(z, low)}L${g.at(tip, high)}L${g.at(a, high)}Z`,
    },
    word(
      'ratio',
      g.tall ? (a + z) / 2 + 4 : (a + z) / 2,
      low + (g.tall ? 7 : 15),
      taperText(view),
      g.tall ? 'start' : 'middle',
      'small rate scaleout',
    ),
  );
  const d = cutPath(f, cut, g);
  out.push(
    ...['', 'over'].map((cls) => ({
      key: `cut ${cls} ${d}`,
      tag: 'path',
      class: `cut ${cls} ${g.tall ? 'tall' : ''} ${p.gpu < 0 ? '' : 'back'}`,
      d,
    })),
  );
  out.push(
    word(
      'cutname',
      g.tall ? g.last + 24 : clamp(middle(f, cut, g), 150, g.width - 110),
      g.tall ? 0 : g.end + 20,
      worded(w.cut, show(cut.cables, COUNT), rateText(view, cut.capacity)),
      g.tall ? 'start' : 'middle',
      'small strong',
    ),
  );
  const k = busiest(s);
  const worst = s.asked[k];
  const at = k % f.links;
  if (!g.tall && worst > f.cap[at] * (1 + HAIR) && p.gpu < 0) {
    const [x, , top] = ends(f, at, g);
    const right = x < g.width - 190;
    out.push(
      word(
        'tag',
        x + (right ? 1 : -1) * ((g.wide * worst) / f.W / 2 + 6),
        at < f.up ? g.leaf + g.leafHigh + 15 : max(top, g.top) + 22,
        worded(w.load, rateText(view, worst), rateText(view, f.cap[at])),
        right ? 'start' : 'end',
        'small strong tag',
      ),
    );
  }
  return out;
}
const wedge = (g) => (g.tall ? [20, 48, g.leaf - 6, g.top + 4] : [4, 56, g.leaf - 26, g.top + 14]);
const middle = (f, cut, g) => {
  const { inside } = crossing(f, cut);
  const on = range(f.U).filter((u) => range(f.N).some((n) => inside[u * f.N + n]));
  return (g.edge(on[0], 0) + g.edge(on.at(-1), 1)) / 2;
};
const rateText = (view, v) => show(v, view.spec.units.rate);
const taperText = ({ p, words: w }) => (p.taper === 1 ? w.full : worded(w.taper, p.taper));
