/* A fabric to cut, oversubscribe and congest: what is said of it, and what a hand does to it. Its loads are in
   fabric_loads.js, its drawing in fabric_shapes.js. */

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
