/* The loads of a fabric, the fair rates and the worst cut: the twin of schedules/fabrics.

   A cable has a number: NICs by their GPU, then uplinks by leaf and spine, then NVLink ports by their GPU. What can be
   removed has one as well: spines, leaves, uplinks, NICs. */
const HAIR = 1e-9;
const PERMUTED = 'permutation';
const SPREAD = 'spread';
const HASH = 'hash';
const WORST = 1e6; // above every rank of a cut

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
