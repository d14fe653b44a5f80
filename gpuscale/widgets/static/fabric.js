/* Fabric: leaves and spines drawn as they are, every cable straight and as wide as its bandwidth. The loads, the fair
   rates and the worst cut are the twin of schedules/fabrics.

   A cable has a number: NICs by their GPU, then uplinks by leaf and spine, then NVLink ports by their GPU. What can be
   removed has one as well: spines, leaves, uplinks, NICs. Along the leaves runs a, from the spines down to the nodes b;
   on a phone the drawing lies on its side. */
const LOOK = 3; // seconds that a transfer at full rate takes on the page
const RUN = 46; // pixels per second of a flow at full rate
const HAIR = 1e-9;
const PERMUTED = 'permutation';
const SPREAD = 'spread';
const HASH = 'hash';
const RUNS = 'runs';
const WORST = 1e6; // above every rank of a cut

/* 1. What is there, and what is left of it */
function wired(p, { U, N, R, S, nvlink }) {
  const { W } = p;
  const G = U * N * R;
  const L = U * R;
  const cables = L * S;
  const gone = new Set(p.gone);
  const left = (from, many) => range(many).map((i) => !gone.has(from + i));
  const [spine, leaf, cable, plug] = [left(0, S), left(S, L), left(S + L, cables), left(S + L + cables, G)];
  const f = {
    U,
    N,
    R,
    S,
    W,
    G,
    L,
    cables,
    unit: (g) => floor(g / N / R),
    node: (g) => floor(g / R),
    rail: (g) => g % R,
    leafOf: (g) => floor(g / N / R) * R + (g % R),
    spine,
    leaf,
    up: G,
    nvl: G + cables,
    links: 2 * G + cables,
    exits: [],
    wide: (W * N) / S / p.taper,
  };
  f.nic = range(G).map((g) => plug[g] && leaf[f.leafOf(g)]);
  f.uplink = range(cables).map((c) => cable[c] && leaf[floor(c / S)] && spine[c % S]);
  f.cap = [...f.nic.map((on) => on * W), ...f.uplink.map((on) => on * f.wide), ...range(G).map(() => nvlink)];
  return f;
}
/** A 32-bit hash of some numbers. */
function mixed32(...numbers) {
  let h = 0;
  for (const n of numbers) {
    h = Math.imul(h ^ n, 0x9e3779b1) >>> 0;
    h = Math.imul(h ^ (h >>> 15), 0x85ebca77) >>> 0;
    h = (h ^ (h >>> 13)) >>> 0;
  }
  return h;
}
/** Who sends to whom: [source, target, fraction of what the source sends]. */
const traffics = {
  rails: ({ G, R }) => range(G).map((g) => [g, (g + R) % G, 1]),
  units({ G, N, R }) {
    const unit = N * R;
    return range(G).map((g) => [g, g < G - unit ? g + unit : (g + R) % unit, 1]);
  },
  all_to_all({ G, R, U, N }) {
    const n = U * N;
    return range(G).flatMap((g) =>
      range(n)
        .filter((m) => m !== floor(g / R))
        .map((m) => [g, m * R + (g % R), 1 / (n - 1)]),
    );
  },
  permutation({ G, node }, seed) {
    const to = range(G);
    const swap = (i, j) => {
      [to[i], to[j]] = [to[j], to[i]];
    };
    for (let i = G - 1; i > 0; i--) swap(i, mixed32(seed, i) % (i + 1));
    for (let turn = 0, inside; (inside = range(G).filter((a) => node(a) === node(to[a]))).length;) {
      for (const a of inside) swap(a, mixed32(seed, G + turn++) % G);
    }
    return to.map((b, a) => [a, b, 1]);
  },
};
/** The GPUs of its node whose NICs work: its own, then the other rail of its pair, then those near it. */
function nearest(f, g) {
  const far = (e) => (e !== g) * WORST + abs((e % f.R) - ((g % f.R) ^ 1));
  return range(f.R)
    .map((r) => g - (g % f.R) + r)
    .filter((e) => f.nic[e])
    .sort((d, e) => far(d) - far(e) || d - e);
}
/** The routes with the fewest detours over NVLink, then the fewest switches: [[GPU out, GPU in, spines], ...]. */
function routesOf(f, a, b) {
  const joined = (out, entry) => {
    const x = f.leafOf(out);
    const y = f.leafOf(entry);
    const via = x === y ? [] : range(f.S).filter((s) => f.uplink[x * f.S + s] && f.uplink[y * f.S + s]);
    return f.nic[out] && f.nic[entry] && (x === y || via.length) ? [[out, entry, via]] : [];
  };
  const exits = (g) => (f.exits[g] ??= nearest(f, g));
  const own = joined(a, b);
  if (own.length) return own;
  let found = [];
  let least = WORST;
  for (const out of exits(a)) {
    for (const entry of exits(b)) {
      const cost = 2 * ((out !== a) + (entry !== b)) + (f.leafOf(out) !== f.leafOf(entry));
      const one = cost <= least ? joined(out, entry) : [];
      if (one.length) {
        found = cost === least ? [...found, ...one] : one;
        least = cost;
      }
    }
  }
  return found;
}
/** What a flow uses of every link: a map from the link, up or (links later) down, to a fraction of the flow. */
function used(f, a, b, turn) {
  const use = new Map();
  const add = (k, part) => use.set(k, (use.get(k) ?? 0) + part);
  const down = f.links;
  let found = routesOf(f, a, b);
  if (turn !== undefined && found.length) {
    const [out, entry, via] = found[0];
    found = [[out, entry, via.length ? [via[turn % via.length]] : via]];
  }
  for (const [out, entry, via] of found) {
    const part = 1 / found.length;
    if (out !== a) {
      add(f.nvl + a, part);
      add(down + f.nvl + out, part);
    }
    add(out, part);
    for (const s of via) {
      add(f.up + f.leafOf(out) * f.S + s, part / via.length);
      add(down + f.up + f.leafOf(entry) * f.S + s, part / via.length);
    }
    add(down + entry, part);
    if (entry !== b) {
      add(f.nvl + entry, part);
      add(down + f.nvl + b, part);
    }
  }
  return use;
}

/* 2. Loads, fair rates and cuts */
/** Max-min fair rates: all flows grow alike until a link is full; its flows stop there. */
function fair(f, flows, uses) {
  const rates = flows.map(() => 0);
  const growing = new Set(range(flows.length).filter((i) => uses[i].size));
  const room = [...f.cap, ...f.cap];
  const load = loads(f, flows, uses);
  for (let level = 0; growing.size;) {
    let step = Infinity;
    load.forEach((v, k) => {
      if (v > HAIR) step = min(step, room[k] / v);
    });
    if (level + step >= f.W) {
      for (const i of growing) rates[i] = f.W;
      break;
    }
    level += step;
    load.forEach((v, k) => {
      room[k] -= v * step;
    });
    const full = load.map((v, k) => v > HAIR && room[k] < HAIR * f.W);
    for (const i of growing) {
      let stops = false;
      for (const k of uses[i].keys()) {
        if (full[k]) {
          stops = true;
          break;
        }
      }
      if (!stops) continue;
      rates[i] = clean(level, f);
      growing.delete(i);
      uses[i].forEach((part, k) => {
        load[k] -= part * flows[i][2];
      });
    }
  }
  return rates;
}
/** The slowest of them. */
function slowest(f, flows, uses) {
  const load = loads(f, flows, uses);
  const cap = (k) => f.cap[k % f.links];
  return uses.every((use) => use.size)
    ? clean(
        load.reduce((least, v, k) => (v > HAIR ? min(least, cap(k) / v) : least), f.W),
        f,
      )
    : 0;
}
/** The load of each link if every flow had the rate 1. */
function loads(f, flows, uses) {
  const load = range(2 * f.links).map(() => 0);
  flows.forEach(([, , part], i) =>
    uses[i].forEach((v, k) => {
      load[k] += v * part;
    }),
  );
  return load;
}
/** A rate without the noise of its last digits. */
const clean = (rate, { W }) => (round((rate / W) * 1e12) / 1e12) * W;
/** The cut with the least capacity for each flow across, of all sets of nodes and of spines; of equal ones the simplest. */
function worstCut(f, flows) {
  const { U, N, R, S, W } = f;
  const T = U * N;
  const sets = 1 << T;
  const sides = 1 << S;
  const whole = (1 << N) - 1;
  const bits = range(max(sets, sides)).map(() => 0);
  for (let i = 1; i < bits.length; i++) bits[i] = bits[i >> 1] + (i & 1);
  const cells = range(U).map((u) =>
    range(whole + 1).map((own) =>
      range(sides).map((side) => {
        let capacity = 0;
        let cables = 0;
        for (let rail = 0; rail < R; rail++) {
          let i = 0;
          let o = 0;
          let up = 0;
          let above = 0; // cables that cross if the leaf is on the first side, and if not
          for (let n = 0; n < N; n++) if (f.nic[(u * N + n) * R + rail]) (own >> n) & 1 ? o++ : i++;
          for (let s = 0; s < S; s++) if (f.uplink[(u * R + rail) * S + s]) (side >> s) & 1 ? above++ : up++;
          const a = W * i + f.wide * up;
          const b = W * o + f.wide * above;
          const inside = a < b - HAIR * W || (a < b + HAIR * W && own === whole);
          capacity += inside ? a : b;
          cables += inside ? i + up : o + above;
        }
        return [capacity, cables];
      }),
    ),
  );
  const between = range(T).map(() => new Float64Array(T));
  const across = new Float64Array(sets);
  for (const [a, b, part] of flows) between[f.node(a)][f.node(b)] += part;
  for (let t = 1; t < sets; t++) {
    const i = 31 - Math.clz32(t);
    const rest = t ^ (1 << i);
    let v = across[rest];
    for (let j = 0; j < T; j++) v += (rest >> j) & 1 ? -between[j][i] : j === i ? 0 : between[i][j];
    across[t] = v;
  }
  let best = { bound: Infinity };
  for (let t = 1; t < sets - 1; t += 2) {
    // the first node is always in the set
    const flow = across[t]; // as much comes back: everyone receives what it sends
    for (let side = 0; side < sides; side++) {
      let capacity = 0;
      let cables = 0;
      let split = 0;
      for (let u = 0; u < U; u++) {
        const own = (t >> (u * N)) & whole;
        const cell = cells[u][own][side];
        capacity += cell[0];
        cables += cell[1];
        split += own > 0 && own < whole;
      }
      const bound = flow > HAIR ? min(capacity / flow, W) : W;
      const rank = (2 * split + (2 * bits[t] !== T)) * 2 + (side > 0 && side < sides - 1);
      if (bound < best.bound - HAIR * W || (bound < best.bound + HAIR * W && rank < best.rank)) {
        best = { set: t, side, capacity, cables, flows: flow, bound: min(bound, best.bound), rank };
      }
    }
  }
  return best;
}
/** Which cables a cut crosses, seen from its smaller side: { inside: node or not, top: spine or not, nics, uplinks }. */
function crossing(f, cut) {
  const T = f.U * f.N;
  const whole = (1 << f.N) - 1;
  const more = range(T).filter((m) => (cut.set >> m) & 1).length;
  const flip = 2 * more > T;
  const leaf = range(f.L).map((l) => {
    const u = floor(l / f.R);
    const own = (cut.set >> (u * f.N)) & whole;
    const cost = (side) =>
      range(f.N).filter((n) => f.nic[(u * f.N + n) * f.R + (l % f.R)] && ((own >> n) & 1) !== side).length * f.W +
      range(f.S).filter((s) => f.uplink[l * f.S + s] && ((cut.side >> s) & 1) !== side).length * f.wide;
    return +(cost(1) < cost(0) - HAIR * f.W || (cost(1) < cost(0) + HAIR * f.W && own === whole));
  });
  return {
    inside: range(T).map((m) => !!((cut.set >> m) & 1) !== flip),
    leaf: leaf.map((v) => !!v !== flip),
    nics: range(f.G).filter((g) => f.nic[g] && ((cut.set >> f.node(g)) & 1) !== leaf[f.leafOf(g)]),
    uplinks: range(f.cables).filter((c) => f.uplink[c] && ((cut.side >> (c % f.S)) & 1) !== leaf[floor(c / f.S)]),
  };
}
/** Flows and the links that each uses. */
function routed(p, data) {
  const f = wired(p, data);
  const flows = traffics[p.traffic](f, p.seed);
  const wrong = mixed32(p.seed, 7) % flows.length;
  const turn = ([a, b], i) =>
    p.routes === SPREAD ? undefined : p.routes === HASH ? mixed32(p.seed, a, b) : (f.node(a) % f.N) + (i === wrong);
  return { f, flows, uses: flows.map((flow, i) => used(f, flow[0], flow[1], turn(flow, i))) };
}
function solve(p, call, data) {
  const { f, flows, uses } = routed(p, data);
  const rates = fair(f, flows, uses);
  const rate = min(...rates);
  const together = p.traffic !== PERMUTED;
  const zeros = () => range(2 * f.links).map(() => 0);
  const asked = zeros();
  const carried = zeros();
  const possible = range(f.G).map(() => Infinity);
  flows.forEach(([a, , part], i) => {
    possible[a] = min(possible[a], rates[i]);
    uses[i].forEach((v, k) => {
      asked[k] += v * part * f.W;
      carried[k] += v * part * (together ? rate : rates[i]);
    });
  });
  const gets = together ? possible.map(() => rate) : possible;
  const total = p.V / (rate || f.W);
  return {
    f,
    flows,
    uses,
    rates,
    rate,
    together,
    asked,
    carried,
    possible,
    gets,
    mean: gets.reduce((x, y) => x + y) / f.G,
    cut: worstCut(f, flows),
    total,
    marks: [1, 2, 3].map((i) => (i * total) / 4),
  };
}
/** The rate of the slowest GPU if a part is removed, or restored. */
function otherwise({ p, data, solved }, part) {
  solved.other ??= {};
  if (part in solved.other) return solved.other[part];
  const { f, flows, uses } = routed({ ...p, gone: toggled(p, part) }, data);
  return (solved.other[part] = slowest(f, flows, uses));
}
const toggled = (p, part) => (p.gone.includes(part) ? p.gone.filter((k) => k !== part) : [...p.gone, part]);
/** What the bisection says, where it holds: all bytes cross it, and nothing but spines is gone. */
function formula({ p, solved: { f }, call }) {
  const live = f.spine.filter(Boolean).length;
  const whole = p.gone.every((k) => k < f.S);
  if (p.traffic !== 'units' || f.U % 2 || !whole || !live) return undefined;
  return call('share', { N: f.G, W_bis: call('bisection', { N: f.G, W: f.W, r_over: (p.taper * f.S) / live }) });
}
const busiest = ({ f, asked }) => {
  const over = (k) => (f.cap[k % f.links] ? asked[k] / f.cap[k % f.links] : 0);
  return range(2 * f.links).reduce((m, k) => (over(k) > over(m) + HAIR ? k : m), f.up);
};

/* 3. Where things stand: for the width there is, and on its side if that is small */
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
/** The flows on cables as dashes that run: one path for all of one speed. */
function streams({ p, solved: { f, asked, carried } }, g, t) {
  const groups = new Map();
  const time = (t * LOOK * f.W) / p.V;
  for (const d of [0, 1]) {
    for (let k = 0; k < f.nvl; k++) {
      const want = asked[d * f.links + k];
      const has = carried[d * f.links + k];
      if (want < HAIR * f.W || !f.cap[k]) continue;
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
  const there = range(f.nvl).map((k) => f.cap[k] > 0);
  const ask = (k) => max(s.asked[k], s.asked[f.links + k]);
  const flow = (k) => max(s.carried[k], s.carried[f.links + k]);
  out.push({
    key: 'spill',
    tag: 'path',
    class: 'spill',
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
      class: there[k] ? 'pipe' : 'pipe off',
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
    class: 'detours scaleup',
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
function traced({ p, solved: { f, flows, uses } }, g, squares) {
  const mine = range(flows.length).filter((i) => flows[i][0] === p.gpu);
  const lit = new Set(mine.flatMap((i) => [...uses[i].keys()].map((k) => k % f.links)));
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
      class: `cut ${cls} ${g.tall ? 'tall' : ''}`,
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

/** What is removed: by name, if it is one part. */
function removed({ p, words: w, solved: { f } }) {
  const n = p.gone.length;
  const kinds = [
    [w.count_spine, 0, f.S],
    [w.count_leaf, f.S, f.S + f.L],
    [w.count_uplink, f.S + f.L, f.S + f.L + f.cables],
    [w.count_plug, f.S + f.L + f.cables, Infinity],
  ];
  if (n < 2) return n ? worded(w.removed, named(w, f, p.gone[0])) : p.taper > 1 ? '' : w.whole;
  const each = kinds
    .map(([name, lo, hi]) => [name, p.gone.filter((k) => k >= lo && k < hi).length])
    .filter(([, many]) => many)
    .map(([name, many]) => worded(name[+(many > 1)], many));
  return worded(w.removed, each.length < 3 ? each.join(w.and) : worded(w.parts, n));
}
/** What sets the rate. */
function reason(view) {
  const { p, words: w, solved: s } = view;
  const { f, cut, rate } = s;
  const rt = (v) => rateText(view, v);
  const k = busiest(s);
  const near = (a, b) => abs(a - b) < 1e-6 * f.W;
  if (!rate) return w.stopped;
  if (near(rate, f.W)) return w.enough;
  if (near(rate, cut.bound)) return worded(w.by_cut, rt(cut.capacity), show(cut.flows, ONE, true));
  return worded(w.by_routes, rt(s.asked[k]), rt(f.cap[k % f.links]), rt(cut.bound));
}
function tracedWords({ p, words: w, solved: { f, flows, uses } }) {
  const mine = range(flows.length).filter((i) => flows[i][0] === p.gpu);
  const use = uses[mine[0]];
  if (mine.length > 1) return worded(w.trace_all, p.gpu, show(mine.length, COUNT));
  const tops = range(f.cables)
    .filter((c) => use.has(f.up + c))
    .map((c) => c % f.S);
  const spines = [...new Set(tops)];
  const via = !use.size
    ? w.no_route
    : !spines.length
      ? w.one_leaf
      : spines.length === 1
        ? worded(w.one_spine, spines[0])
        : worded(w.all_spines, spines.length);
  return worded(w.trace, p.gpu, flows[mine[0]][1], via);
}

figures.fabric = {
  mute: true,
  solve,
  pace: ({ V, W }) => (LOOK * W) / V,
  height: (view) => places(view.width, view.solved.f).height,
  draw(view, t) {
    if (view.drawn?.solved !== view.solved || view.drawn.width !== view.width) {
      const g = places(view.width, view.solved.f);
      view.drawn = { solved: view.solved, width: view.width, g, list: standing(view, g) };
    }
    const { g, list } = view.drawn;
    return list.map((shape) => (shape.key === RUNS ? streams(view, g, t) : shape));
  },
  fit: (p) => ({
    ...p,
    gone: [...new Set(p.gone.map(round))],
    gpu: round(p.gpu),
    seed: round(p.seed),
    taper: round(p.taper),
  }),
  handles(view) {
    const g = places(view.width, view.solved.f);
    const [a, z, , high] = wedge(g);
    return [
      {
        id: 'taper',
        label: view.words.taper_of,
        ...g.xy(a + (z - a) / view.p.taper, high),
        lo: 1,
        hi: 4,
        step: 1,
        leap: 3,
        value: view.p.taper,
        words: taperText(view),
      },
    ];
  },
  pull(view, id, x, y) {
    const g = places(view.width, view.solved.f);
    const [a, z] = wedge(g);
    return (z - a) / max(1, (g.tall ? y : x) - a);
  },
  cuts: 'cables',
  /** The cables that a line crosses. */
  crossed(view, from, to) {
    const { f } = view.solved;
    const g = places(view.width, f);
    const [[a, b], [c, d]] = g.tall
      ? [
          [from[1], from[0]],
          [to[1], to[0]],
        ]
      : [from, to];
    return range(f.nvl)
      .filter((k) => {
        const [x, low, high] = ends(f, k, g);
        const y = b + ((d - b) * (x - a)) / (c - a || HAIR);
        return (x - a) * (x - c) <= 0 && y >= (k < f.up ? min(low, high) : g.top) && y <= max(low, high);
      })
      .map((k) => partOf(f, k));
  },
  /** A press removes a part or restores it; a knife removes all that it crosses, or restores them if none is left. */
  act({ p }, what) {
    if (what instanceof Array) {
      const all = what.map(Number);
      const rest = p.gone.filter((k) => !all.includes(k));
      return { gone: all.every((k) => p.gone.includes(k)) ? rest : [...rest, ...all] };
    }
    return what[0] === 'g' ? { gpu: p.gpu === +what.slice(1) ? -1 : +what.slice(1) } : { gone: toggled(p, +what) };
  },
  uses: (p, name) => name !== 'seed' || p.routes !== SPREAD || p.traffic === PERMUTED,
  meter(view) {
    const {
      p,
      words: w,
      solved: { f, rate, mean, cut, together },
    } = view;
    const mark = formula(view);
    const rt = (v) => rateText(view, v);
    const label = mark === undefined ? worded(w.bound, rt(cut.bound)) : worded(FORMULA_SAYS, view.spec.mark, rt(mark));
    return {
      name: together ? w.every : worded(w.slowest, rt(mean)),
      words: worded(SENT_OF, rt(rate), rt(f.W)),
      value: rate,
      full: f.W,
      mark,
      met: abs(rate / mark - 1) < 1e-6,
      label,
      hue: 'scaleout',
    };
  },
  place({ p, words: w, spec, solved: { rate } }, t) {
    return worded(w.sent, show(rate * t, spec.units.V), show(p.V, spec.units.V));
  },
  sentence(view) {
    const {
      p,
      words: w,
      solved: { f, rate },
    } = view;
    const rt = (v) => rateText(view, v);
    const full = rate > f.W * (1 - 1e-6);
    const runs = !rate
      ? ''
      : full
        ? worded(w.runs_full, w.who[p.traffic], rt(rate))
        : worded(w.runs, w.who[p.traffic], rt(rate), rt(f.W));
    return [
      removed(view),
      p.taper > 1 ? worded(w.tapered, p.taper) : '',
      runs,
      reason(view),
      p.gpu >= 0 ? tracedWords(view) : '',
    ]
      .filter(Boolean)
      .join(' ');
  },
  numbers(view, t) {
    const { p, solved: s } = view;
    const { f, cut } = s;
    const crosses = crossing(f, cut);
    const k = busiest(s);
    return {
      rate: s.rate,
      mean: s.mean,
      total: s.total,
      sent: s.rate * t,
      formula: formula(view) ?? null,
      possible: s.possible,
      gets: s.gets,
      asked: s.asked,
      carried: s.carried,
      capacity: f.cap,
      cut: {
        capacity: cut.capacity,
        cables: cut.cables,
        flows: cut.flows,
        bound: cut.bound,
        crosses: crosses.nics.length + crosses.uplinks.length,
      },
      busiest: [s.asked[k], f.cap[k % f.links]],
      routes:
        p.gpu < 0
          ? []
          : range(s.flows.length)
              .filter((i) => s.flows[i][0] === p.gpu)
              .map((i) => [s.flows[i][1], [...s.uses[i].keys()].sort((a, b) => a - b)]),
    };
  },
  /** What it costs to lose each switch, the most expensive one first. */
  table(view) {
    const {
      p,
      words: w,
      solved: { f },
    } = view;
    const left = range(f.S + f.L).filter((k) => !p.gone.includes(k));
    return [
      [w.switch_name, w.without],
      ...left
        .sort((a, b) => otherwise(view, a) - otherwise(view, b))
        .map((k) => [named(w, f, k), rateText(view, otherwise(view, k))]),
    ];
  },
  hover(view, el) {
    const { p, words: w, solved: s } = view;
    const { f } = s;
    const rt = (v) => rateText(view, v);
    const what = el.dataset.told;
    if (!what) return `<b>${w.taper_of}</b>${taperText(view)}`;
    if (what[0] === 'g') {
      const i = +what.slice(1);
      return `<b>${worded(w.gpu, i)}</b>${worded(w.gets, rt(s.gets[i]))}${s.possible[i] > s.gets[i] * (1 + HAIR) ? `<br>${worded(w.waits, rt(min(f.W, s.possible[i])))}` : ''}`;
    }
    const part = +what;
    const gone = p.gone.includes(part);
    const other = worded(gone ? w.restored : w.lost, rt(otherwise(view, part)));
    const cable = part - f.S - f.L;
    if (cable < 0) return `<b>${named(w, f, part)}</b>${other}`;
    const k = cable < f.cables ? f.up + cable : cable - f.cables;
    const load = (d) => worded(w.carries, rt(s.carried[d * f.links + k]), rt(s.asked[d * f.links + k]));
    return `<b>${named(w, f, part)}, ${rt(f.cap[k])}</b>${f.cap[k] ? `${worded(w.upward, load(0))}<br>${worded(w.downward, load(1))}<br>` : ''}${other}`;
  },
  call(view) {
    const {
      p,
      data,
      solved: { f },
      spec: { units },
    } = view;
    const firsts = [0, f.S, f.S + f.L, f.S + f.L + f.cables];
    const part = (k) => {
      const kind = firsts.findLastIndex((first) => k >= first);
      return `${data.kinds[kind]} ${k - firsts[kind]}`;
    };
    const gone = p.gone.length ? `, gone=[${p.gone.map((k) => `"${part(k)}"`).join(', ')}]` : '';
    const taper = p.taper > 1 ? `, taper=${p.taper}` : '';
    const seed = this.uses(p, 'seed') ? `, seed=${p.seed}` : '';
    return `loaded(Fabric(${data.U}, ${data.N}, ${data.R}, ${data.S}, W=${literal(p.W, units.rate)}, nvlink=${literal(data.nvlink, units.rate)}${taper}${gone}), "${p.traffic}", "${p.routes}"${seed}).rate`;
  },
};
globalThis.gpuscale.wake?.();
