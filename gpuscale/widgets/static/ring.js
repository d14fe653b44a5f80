/* Ring: GPUs are spokes, chunk c has the same circle on every spoke, a link is the band between two spokes and as wide as
   its bandwidth. Every rank sends as soon as its last send is over and the next chunk has come: the twin of
   schedules/timelines/sending.py for rings. */
const LETTERS = 'ABCDEFGHIJKL';
const LOOK = 1.1; // seconds that a hop at full speed takes on the page
const mod = (a, n) => ((a % n) + n) % n;
const ADDS = ['reduce_scatter', 'all_reduce'];
const hopsOf = ({ kind, N }) => (kind === 'all_reduce' ? 2 : 1) * (N - 1);
const rates = (p) => range(p.N).map((r) => p.W * p.share[r]);
const slowest = (p) => range(p.N).reduce((a, r) => (p.share[r] < p.share[a] ? r : a), 0);

/** A value in the unit of an input: V, alpha or W. */
const amount = ({ spec }, k, v) => show(v, spec.units[k], !v);

/** What rank r sends in hop h: the chunk, and how many ranks' data it holds. */
function sends({ kind, N }, r, h) {
  if (ADDS.includes(kind) && h < N - 1) return { chunk: mod(r - h - 1, N), parts: h + 1 };
  return { chunk: mod(r - (kind === 'all_reduce' ? h - (N - 1) : h), N), parts: N };
}
/** When every hop of every rank begins and ends, and how long its bytes take. */
function timing(p) {
  const begin = [];
  const end = [];
  const span = rates(p).map((rate) => p.V / p.N / rate);
  const ranks = range(p.N);
  for (const h of range(hopsOf(p))) {
    const before = end[h - 1];
    begin.push(ranks.map((r) => (before ? max(before[r], before[mod(r - 1, p.N)]) : 0)));
    end.push(ranks.map((r) => begin[h][r] + p.alpha + span[r]));
  }
  return { begin, end, span, marks: end.map((row) => max(...row)), total: max(...end.at(-1)) };
}
/** What every link does at the time t, how many bytes it has carried, and who waits. */
function moment(p, solved, t) {
  const hops = hopsOf(p);
  const hair = solved.total * 1e-9;
  const links = range(p.N).map((r) => {
    let done = 0;
    while (done < hops && solved.end[done][r] <= t + hair) done++;
    const busy = done < hops && solved.begin[done][r] <= t + hair && t + hair < solved.total;
    const past = busy ? t - solved.begin[done][r] : 0;
    const along = busy ? clamp((past - p.alpha) / solved.span[r], 0, 1) : 0;
    return {
      done,
      busy,
      along,
      moving: busy && past >= p.alpha,
      starting: p.alpha ? clamp(past / p.alpha, 0, 1) : 1,
      left: hops - done,
      bytes: ((done + along) * p.V) / p.N,
      ...(done < hops ? sends(p, r, done) : {}),
    };
  });
  return { links, waits: links.map((l) => t > 0 && t < solved.total - hair && !l.busy) };
}
/** How many ranks' data rank r holds of chunk c: what it has sent on counts until something else comes. */
function holding(p, { links }, r, c) {
  const n = p.N;
  const came = links[mod(r - 1, n)].done; // hops that have arrived
  let held = p.kind === 'all_gather' ? (r === c ? n : 0) : 1;
  for (const h of range(came)) {
    const s = sends(p, mod(r - 1, n), h);
    if (s.chunk === c) held = ADDS.includes(p.kind) && h < n - 1 ? s.parts + 1 : s.parts;
  }
  return held;
}
/** The same, less the sums that are on their way to the next rank: what is drawn. */
function drawn(p, now, r, c) {
  const link = now.links[r];
  const gone = link.done + link.moving;
  const left = ADDS.includes(p.kind) && range(min(gone, p.N - 1)).some((h) => sends(p, r, h).chunk === c);
  const finished = p.kind === 'all_reduce' && holding(p, now, r, c) === p.N;
  return left && !finished ? 0 : holding(p, now, r, c);
}
/** The fraction of its time in which a link stands still, averaged over the links. */
const waiting = (p, solved) =>
  1 - solved.span.reduce((sum, s) => sum + hopsOf(p) * (p.alpha + s), 0) / p.N / solved.total;
const inputs = (p) => ({ ...p, W: min(...rates(p)) });

/** Where things stand, for a width and a number of ranks; angles are in turns, and a band has its middle at 1/2. */
function shape(width, n) {
  const small = width < 480;
  const outer = min(238, width / 2 - (small ? 56 : 62));
  const slot = min(small ? 17 : 25, (outer - (small ? 58 : 96)) / n);
  const inner = outer - n * slot;
  const card = min(small ? 34 : 48, (0.54 * 2 * Math.PI * inner) / n);
  const turn = (2 * Math.PI) / n;
  const mid = inner + 0.3 * (outer - inner);
  const edge = Math.asin(card / 2 / inner) / turn + 0.01;
  const height = 2 * (outer + (small ? 38 : 46));
  const x0 = width / 2;
  const y0 = height / 2;
  const smooth = (x) => {
    const u = clamp(x, 0, 1);
    return u * u * (3 - 2 * u);
  };
  const squeeze = (u, k) => 1 - (1 - k) * smooth((min(u, 1 - u) - edge) / ((0.5 - edge) * 0.85));
  const orbit = (c) => inner + (n - c - 0.5) * slot;
  const at = (r, u, radius) => {
    const a = turn * (r + u) - Math.PI / 2;
    return [x0 + radius * Math.cos(a), y0 + radius * Math.sin(a)];
  };
  /** Points on the circle of this radius from spoke r on, pinched as its link is. */
  function line(r, k, radius, from = 0, to = 1) {
    const many = from === to ? 1 : max(10, ceil(48 * (to - from)));
    return range(many + 1).map((i) => {
      const u = from + ((to - from) * i) / many;
      return at(r, u, mid + (radius - mid) * squeeze(u, k));
    });
  }
  const gap = Math.asin(card / 2 / outer) / turn;
  return {
    n,
    small,
    outer,
    inner,
    slot,
    card,
    turn,
    mid,
    squeeze,
    orbit,
    at,
    line,
    gap,
    rim: outer + 13,
    x0,
    y0,
    height,
  };
}
const placed = (view) =>
  view.g?.n === view.p.N && view.g.x0 === view.width / 2 ? view.g : (view.g = shape(view.width, view.p.N));
const route = (points) => `M${joined(points, ([x, y], i) => `${i ? 'L' : ''}${px(x)} ${px(y)}`)}`;
const rimArc = (g, r) => route(range(25).map((i) => g.at(r, g.gap + 0.02 + ((1 - 2 * g.gap - 0.04) * i) / 24, g.rim)));
const goal = (g, r) => {
  const u = g.gap + 0.02 + ((1 - 2 * g.gap - 0.04) * (g.n - 1)) / g.n;
  return route([g.at(r, u, g.rim - 5), g.at(r, u, g.rim + 5)]);
};
const tint = (c) => `--i:${c};--odd:${c % 2}`;
const written = (g, key, x, y, words, cls, more) => ({
  key,
  tag: 'text',
  x,
  y,
  words,
  class: cls,
  'text-anchor': 'middle',
  ...more,
});
/** The letter of a chunk, where there is room for it. */
const letter = (g, key, at, c, more) =>
  g.slot > 9.5 && written(g, key, ...at, LETTERS[c], g.slot > 15 ? 'name' : 'name tiny', more);

/** A link at rest: the band that is as wide as its bandwidth, its orbits, and the rail on which its bytes are counted. */
function band(view, g, r) {
  const k = view.p.share[r];
  const told = `link ${r}`;
  const [x, y] = g.at(r, 0.5, g.rim + (g.small ? 15 : 18));
  const out = abs(x - g.x0) > 0.3 * g.outer ? sign(x - g.x0) * (g.small ? 9 : 14) : 0;
  return {
    at: [x + out, y - 7 * (k < 1)],
    band: `${route([...g.line(r, k, g.outer + 2), ...g.line(r, k, g.inner - 2).reverse()])}Z`,
    fixed: [
      {
        key: `orbits${r}`,
        tag: 'path',
        d: joined(range(g.n), (c) => route(g.line(r, k, g.orbit(c)))),
        class: 'scaleup orbits',
        told,
      },
      { key: `rail${r}`, tag: 'path', d: rimArc(g, r), class: 'scaleup rail', told },
      { key: `goal${r}`, tag: 'path', d: goal(g, r), class: 'goal' },
      k < 1 && written(g, `rate${r}`, x + out, y + 7, amount(view, 'W', view.p.W * k), 'scaleup small rate'),
    ],
  };
}
/** A rank without its chunks. */
function spoke(view, g, r) {
  const angle = (360 * r) / g.n;
  const turned = `rotate(${px(angle)} ${g.x0} ${g.y0})`;
  const wide = g.card - 4;
  const slots = range(g.n).map(
    (c) =>
      `M${px(g.x0 - wide / 2)} ${px(g.y0 - g.orbit(c) + 1 - g.slot / 2)}h${px(wide)}v${px(g.slot - 2)}h${px(-wide)}z`,
  );
  const box = {
    tag: 'rect',
    x: g.x0 - g.card / 2,
    y: g.y0 - g.outer - 2,
    width: g.card,
    height: g.n * g.slot + 4,
    rx: 4,
    transform: turned,
  };
  const told = `rank ${r}`;
  return {
    turned,
    idle: { ...box, key: `idle${r}`, class: 'idle', fill: view.hatch },
    fixed: [
      { ...box, key: `gpu${r}`, class: 'gpu', told },
      { key: `slots${r}`, tag: 'path', d: slots.join(''), class: 'slot', transform: turned },
      written(
        g,
        `name${r}`,
        ...g.at(r, 0, g.outer + (g.small ? 15 : 17)),
        g.small || r ? `${r}` : worded(view.words.rank, 0),
        'strong',
      ),
    ],
  };
}
/** What a rank holds of each chunk: the part of it that has come, over the pale whole, and the cuts between ranks. */
function cells({ p }, g, helds, r, turned) {
  const wide = g.card - 4;
  const left = g.x0 - wide / 2;
  const high = g.slot - 2;
  const told = `rank ${r}`;
  const cuts = [];
  const out = range(p.N).map((c) => {
    const held = helds[c];
    const from = held === 1 && p.kind !== 'all_gather' ? mod(r - c - 1, p.N) : 0;
    const y = g.y0 - g.orbit(c) + 1 - g.slot / 2;
    if (!held) return [];
    const box = { tag: 'rect', y, height: high, transform: turned, style: tint(c), told };
    if (held < p.N) {
      cuts.push(...range(p.N - 1).map((i) => `M${px(left + (wide * (i + 1)) / p.N)} ${px(y)}v${px(high)}`));
    }
    return [
      held < p.N && { ...box, key: `ghost${r}.${c}`, x: left, width: wide, class: 'chunk gone' },
      { ...box, key: `full${r}.${c}`, x: left + (wide * from) / p.N, width: (wide * held) / p.N, class: 'chunk' },
    ];
  });
  return [
    out,
    cuts.length &&
      p.kind !== 'all_gather' && { key: `cuts${r}`, tag: 'path', d: cuts.join(''), class: 'cut', transform: turned },
  ];
}

figures.ring = {
  mute: true,
  solve: timing,
  pace: (p) => LOOK / (p.alpha + p.V / p.N / p.W),
  height: (view) => placed(view).height,

  draw(view, t) {
    const { p, solved, words, call } = view;
    const g = placed(view);
    const now = moment(p, solved, t);
    const whole = (p.kind === 'all_reduce' ? 2 : 1) * p.V;
    const ranks = range(p.N);
    const state = `${[p.N, view.width, p.W, p.share]}`; // while only the clock runs, these stand
    if (view.at !== state) {
      Object.assign(view, {
        at: state,
        bands: ranks.map((r) => band(view, g, r)),
        spokes: ranks.map((r) => spoke(view, g, r)),
      });
    }
    const roomy = !g.small || p.N < 9; // else a number lies on its neighbor
    const links = now.links.map((link, r) => {
      const {
        at,
        band: d,
        fixed: [orbits, rail, mark, slow],
      } = view.bands[r];
      const k = p.share[r];
      const told = `link ${r}`;
      return [
        { key: `band${r}`, tag: 'path', d, class: `scaleup band ${now.waits[r] ? 'waits' : ''}`, told },
        orbits,
        link.busy && {
          key: `flow${r}`,
          tag: 'path',
          d: route(g.line(r, k, g.orbit(link.chunk), 0, link.moving ? 1 : max(0.01, link.starting))),
          class: link.moving ? 'scaleup flow' : 'scaleup flow start',
        },
        rail,
        {
          key: `sent${r}`,
          tag: 'path',
          d: rail.d,
          pathLength: 100,
          'stroke-dasharray': `${px((100 * link.bytes) / whole)} 200`,
          class: 'scaleup sent',
          told,
        },
        mark,
        roomy &&
          written(g, `amount${r}`, ...at, amount(view, 'V', link.bytes) + (link.left || g.small ? '' : ' ✓'), 'small'),
        slow,
      ];
    });
    const spokes = ranks.map((r) => {
      const { turned, idle, fixed } = view.spokes[r];
      const helds = ranks.map((c) => drawn(p, now, r, c));
      return [
        fixed,
        cells(view, g, helds, r, turned),
        now.waits[r] && idle,
        helds.map((held, c) => held > 0 && letter(g, `letter${r}.${c}`, g.at(r, 0, g.orbit(c)), c)),
      ];
    });
    const middle = (key, cls, y, small, text) =>
      written(g, key, g.x0, g.y0 + (g.small ? small : y), text, cls, { 'data-c': key });
    return [
      !g.small &&
        words.pull.map((line, i) => ({
          key: `pull${i}`,
          tag: 'text',
          class: 'pulled',
          x: 0,
          y: 12 + 16 * i,
          words: line,
        })),
      links,
      spokes,
      now.links.map((link, r) => link.busy && carried(g, p, link, r)),
      middle('hop', 'soft', -58, -40, this.place(view, t)),
      middle('clock', 'big', -33, -20, amount(view, 'alpha', t)),
      middle('of', 'soft', -10, -2, worded(words.of, amount(view, 'alpha', solved.total))),
      middle('rate', 'mid', 28, 22, amount(view, 'W', call(`bytes_${p.kind}`, inputs(p)) / solved.total)),
      middle('what', 'soft', 49, 38, words.perLink),
    ];
  },

  handles(view) {
    const { p, words } = view;
    const g = placed(view);
    return range(p.N).map((r) => {
      const [x, y] = g.at(r, 0.5, g.mid + (g.outer + 2 - g.mid) * p.share[r]);
      return {
        id: `share.${r}`,
        label: worded(words.bandwidthOf, r, mod(r + 1, p.N)),
        x,
        y,
        lo: 0.1,
        hi: 1,
        step: 0.05,
        leap: 0.25,
        value: p.share[r],
        words: amount(view, 'W', p.W * p.share[r]),
      };
    });
  },
  pull(view, id, x, y) {
    const g = placed(view);
    const a = g.turn * (+id.split('.')[1] + 0.5) - Math.PI / 2;
    return ((x - g.x0) * Math.cos(a) + (y - g.y0) * Math.sin(a) - g.mid) / (g.outer + 2 - g.mid);
  },

  meter(view, t) {
    const { p, solved, call, words, data } = view;
    const bytes = min(...moment(p, solved, t).links.map((l) => l.bytes));
    const mark = call(`bytes_${p.kind}`, inputs(p));
    return {
      name: words.leastSent,
      words: amount(view, 'V', bytes),
      value: bytes,
      full: (p.kind === 'all_reduce' ? 2 : 1) * p.V,
      mark,
      met: abs(bytes / mark - 1) < 1e-6,
      label: worded(FORMULA_SAYS, data[p.kind], amount(view, 'V', mark)),
      hue: 'scaleup',
    };
  },
  place({ p, solved, words }, t) {
    const hops = hopsOf(p);
    const done = moment(p, solved, t).links.reduce((least, l) => min(least, l.done), hops);
    return done === hops ? worded(words.allHops, hops) : worded(words.hop, done + 1, hops);
  },
  /** All numbers that are shown. */
  numbers(view, t) {
    const { p, solved, call } = view;
    const now = moment(p, solved, t);
    return {
      total: solved.total,
      formula: call(`time_${p.kind}`, inputs(p)),
      perLink: call(`bytes_${p.kind}`, inputs(p)) / solved.total,
      waiting: waiting(p, solved),
      bytes: now.links.map((l) => l.bytes),
      held: range(p.N).map((r) => range(p.N).map((c) => holding(p, now, r, c))),
    };
  },
  sentence(view) {
    const { p, solved, words } = view;
    const all = this.numbers(view, 0);
    const r = slowest(p);
    const slow = p.share[r] < 1;
    const name = view.spec.choices.kind.of.find(([k]) => k === p.kind)[1];
    const first = worded(
      words.time,
      name,
      amount(view, 'V', p.V),
      p.N,
      amount(view, 'alpha', all.total),
      amount(view, 'W', all.perLink),
    );
    const second = slow
      ? worded(words.slow, r, mod(r + 1, p.N), amount(view, 'W', p.W * p.share[r]), show(all.waiting, SHARE))
      : worded(words.even, show((hopsOf(p) * p.alpha) / solved.total, SHARE));
    return `${first} ${second}`;
  },
  table(view) {
    const { p, solved, words } = view;
    const sent = (hopsOf(p) * p.V) / p.N;
    return [
      words.heads,
      ...range(p.N).map((r) => [
        `${r} → ${mod(r + 1, p.N)}`,
        amount(view, 'W', p.W * p.share[r]),
        amount(view, 'V', sent),
        show((hopsOf(p) * (p.alpha + solved.span[r])) / solved.total, SHARE),
      ]),
    ];
  },
  hover(view, el, t) {
    const { p, solved, words } = view;
    const now = moment(p, solved, t);
    const [what, i] = (el.dataset.told ?? `link ${el.dataset.grip.split('.')[1]}`).split(' ');
    if (what === 'link') {
      const link = now.links[i];
      const does = link.busy
        ? worded(link.moving ? words.sends : words.starts, LETTERS[link.chunk])
        : link.left
          ? words.idle
          : words.allSent;
      return `<b>${i} → ${mod(+i + 1, p.N)}, ${amount(view, 'W', p.W * p.share[i])}</b>${worded(SENT_OF, amount(view, 'V', link.bytes), amount(view, 'V', (hopsOf(p) * p.V) / p.N))}<br>${does}`;
    }
    const full = range(p.N).filter((c) => drawn(p, now, +i, c) === p.N);
    return `<b>${worded(words.rank, i)}</b>${full.length ? worded(words.holds, full.map((c) => LETTERS[c]).join(' ')) : words.holdsParts}${now.waits[i] ? `<br>${words.waits}` : ''}`;
  },
  call(view) {
    const { p } = view;
    const even = range(p.N).every((r) => p.share[r] === p.share[0]);
    const rate = (r) => literal(+(p.W * p.share[r]).toPrecision(6), view.spec.units.W);
    return `clocked(ring.${p.kind}(${p.N}), V=${literal(p.V, view.spec.units.V)}, alpha=${literal(p.alpha, view.spec.units.alpha)}, W=${even ? rate(0) : `[${range(p.N).map(rate).join(', ')}]`}).total`;
  },
};

/** The chunk on a link lies along its circle: where the link is narrow it is thin and long. */
function carried(g, p, link, r) {
  const k = p.share[r];
  const squeezed = g.squeeze(link.along, k);
  const radius = g.mid + (g.orbit(link.chunk) - g.mid) * squeezed;
  const half = (g.card - 4) / 2 / radius / g.turn;
  const reach = min(half / squeezed, half + 0.8 * min(link.along, 1 - link.along));
  const o = g.orbit(link.chunk);
  const high = g.slot / 2 - 1;
  const piece = (i, j) => {
    const a = link.along - reach + (2 * reach * i) / p.N;
    const b = link.along - reach + (2 * reach * j) / p.N;
    return `${route([...g.line(r, k, o + high, a, b), ...g.line(r, k, o - high, a, b).reverse()])}Z`;
  };
  const rim = piece(0, p.N);
  const one = (key, d, cls) => ({ key: `${key}${r}`, tag: 'path', d, class: cls, style: tint(link.chunk) });
  return [
    one('rim', rim, 'chunk rim'),
    one('load', piece(0, link.parts), 'chunk'),
    ADDS.includes(p.kind) &&
      link.parts > 1 &&
      one(
        'loadcuts',
        joined(range(link.parts - 1), (i) => piece(i + 1, i + 1)),
        'cut',
      ),
    one('edge', rim, 'came'),
    squeezed * g.slot > 9.5 && letter(g, `load${r}name`, g.at(r, link.along, radius), link.chunk),
  ];
}
globalThis.gpuscale.wake?.();
