/* Five all-reduces on one clock. A lane has a row for each drawn rank: latency, bytes of growing sums, bytes that complete
   some. Below, time over size, and who is first at what size. */
const ROW = 4;
const TALL = 67;
const LOW = 26;
const ROWS = 8; // pixels of a row, of a lane, and of one that is not in the race; how many rows a lane has at most
const runnersIn = (p, data) => data.runners.map((r, i) => ({ ...r, i })).filter(({ i }) => !p.out[i]);
const size = (view, v, short) => show(v, view.spec.units.V, short);
const time = (view, v, short) => show(v, view.spec.units.alpha, short);
const inputs = (p, V = p.V) => ({ N: p.N, V, alpha: p.alpha, W: p.W });

/** Every run of equal steps with its place in time. */
function timed(p, runs) {
  let at = 0;
  let from = { rows: runs[0][5].map(() => 0), least: 0 };
  return runs.map(([many, lags, part, partial, mask, rows, least]) => {
    const lag = lags * p.alpha;
    const one = lag + (part * p.V) / p.W;
    const run = { at, many, lag, one, partial, mask, end: at + many * one, from, to: { rows, least } };
    at = run.end;
    from = run.to;
    return run;
  });
}
const stepsOf = (p, lane) => lane.reduce((n, run) => n + run.many * round(run.lag / p.alpha), 0);
const critical = (p, lane) => lane.reduce((n, run) => n + run.many * (run.one - run.lag) * p.W, 0); // bytes that follow one another
/** What the rows and the slowest rank know of their result at a time, and how many steps are over. */
function moment(lane, t) {
  let steps = 0;
  for (const run of lane) {
    if (t < run.end) {
      const k = floor((t - run.at) / run.one);
      const in_ = t - run.at - k * run.one;
      const bytes = run.one - run.lag;
      const u = (k + (bytes ? clamp((in_ - run.lag) / bytes, 0, 1) : 0)) / run.many;
      const mix = (a, b) => a + (b - a) * u;
      return {
        steps: steps + k,
        rows: run.from.rows.map((v, i) => mix(v, run.to.rows[i])),
        least: mix(run.from.least, run.to.least),
      };
    }
    steps += run.many;
  }
  return { steps, rows: lane.at(-1).to.rows, least: lane.at(-1).to.least };
}
/** Who is first at what size: [{ i, from, to }], by bisection between sizes at which the first one differs. */
function winners(p, call, data) {
  const all = runnersIn(p, data);
  const [lo, hi] = data.sizes;
  const first = (V) => all.reduce((best, r) => (call(r.key, inputs(p, V)) < call(best.key, inputs(p, V)) ? r : best)).i;
  const out = [{ i: first(lo), from: lo }];
  const n = 60;
  const at = (k) => lo * (hi / lo) ** (k / n);
  for (const k of range(n)) {
    if (first(at(k + 1)) === out.at(-1).i) continue;
    let a = at(k);
    let b = at(k + 1);
    for (const _ of range(50)) {
      const m = Math.sqrt(a * b);
      if (first(m) === out.at(-1).i) a = m;
      else b = m;
    }
    out.at(-1).to = b;
    out.push({ i: first(b * (1 + 1e-9)), from: b });
  }
  out.at(-1).to = hi;
  return out;
}

figures.race = {
  solve(p, call, data) {
    const lanes = data.runs[p.N].map((runs) => timed(p, runs));
    const ends = data.runners.map((r) => call(r.key, inputs(p)));
    const here = runnersIn(p, data);
    const order = here.map(({ i }) => i).sort((a, b) => ends[a] - ends[b]);
    const best = ends[order[0]];
    const total = data.margin * min(ends[order.at(-1)], data.longest * best);
    return {
      lanes,
      ends,
      order,
      best,
      total,
      marks: order.map((i) => ends[i]).filter((t) => t < total),
      winners: winners(p, call, data),
    };
  },
  pace: (p, solved) => 7 / solved.total,
  fit({ ...p }, was, data) {
    p.N = keys(data.runs)
      .map(Number)
      .reduce((best, n) => (abs(n - p.N) < abs(best - p.N) ? n : best)); // a link may ask for any
    return p.out.every(Boolean) ? { ...p, out: p.out.map((v, i) => +(i > 0)) } : p;
  },
  height: ({ data }) => lanesOf(data) + 264,

  draw(view, t) {
    const { p, solved, data, words, width } = view;
    const small = width < 480;
    const tank = ROWS * (small ? 5 : 6) + 4;
    const lanesEnd = width - tank - 14;
    const X = (s) => (lanesEnd * s) / solved.total;
    const out = [];
    const tops = topsOf(view);
    data.runners.forEach((runner, i) => {
      const y = tops[i];
      const racing = !p.out[i];
      const lane = solved.lanes[i];
      const end = solved.ends[i];
      const here = moment(lane, t);
      const first = solved.order[0] === i;
      const steps = stepsOf(p, lane);
      const bytes = critical(p, lane);
      const told = `lane ${i}`;
      const top = y + 24;
      const rows = here.rows.length;
      out.push({
        key: `hit${i}`,
        tag: 'rect',
        x: 0,
        y,
        width,
        height: racing ? TALL - 8 : LOW - 4,
        class: 'bare',
        told,
      });
      out.push({
        key: `name${i}`,
        tag: 'text',
        x: 0,
        y: y + 13,
        words: runner.name,
        class: racing ? 'strong runner' : 'runner off',
        act: i,
        told,
        pressed: racing,
        label: worded(racing ? words.leave : words.join, runner.name),
      });
      if (!small) {
        out.push({
          key: `how${i}`,
          tag: 'text',
          x: 160,
          y: y + 13,
          words: racing
            ? worded(steps > 1 ? words.lane : words.one, ...(steps > 1 ? [steps] : []), size(view, bytes))
            : words.out,
          class: 'small soft',
        });
      }
      if (racing) {
        out.push({
          key: `end${i}`,
          tag: 'text',
          x: width,
          y: y + 13,
          'text-anchor': 'end',
          words: first ? worded(words.first, time(view, end)) : time(view, end),
          class: first ? 'strong' : 'small',
        });
      }
      if (!racing) return;
      out.push({ key: `base${i}`, tag: 'path', d: `M0 ${top + ROWS * ROW + 3}H${px(lanesEnd)}`, class: 'rule' });
      for (const [kind, d] of entries(bars(lane, X, top, rows, lanesEnd))) {
        out.push(
          { key: `${kind}${i}`, tag: 'path', d, class: `${kind} ahead`, told },
          { key: `${kind}${i}past`, tag: 'path', d, class: kind, 'clip-path': `url(#${clip(view)})`, told },
        );
      }
      if (X(end) <= lanesEnd) {
        out.push({
          key: `flag${i}`,
          tag: 'path',
          d: `M${px(X(end))} ${top - 3}V${top + ROWS * ROW + 3}`,
          class: 'flag',
        });
      }
      const left = width - tank;
      const full = ROWS * ROW;
      here.rows.forEach((v, r) => {
        const w = (tank - 4) / rows - 1;
        out.push(
          { key: `tank${i}.${r}`, tag: 'rect', x: left + r * (w + 1), y: top, width: w, height: full, class: 'tank' },
          {
            key: `fluid${i}.${r}`,
            tag: 'rect',
            x: left + r * (w + 1),
            y: top + full * (1 - v),
            width: w,
            height: full * v,
            class: 'scaleup fluid',
          },
        );
      });
      out.push({
        key: `now${i}`,
        tag: 'path',
        d: `M${px(min(X(t), lanesEnd))} ${top - 3}v${ROWS * ROW + 6}`,
        class: 'now-line',
      });
      if (here.least === 1) {
        out.push({
          key: `home${i}`,
          tag: 'rect',
          x: left - 3,
          y: top - 3,
          width: tank + 1,
          height: full + 6,
          class: 'home',
        });
      }
    });
    const foot = tops.at(-1) - 6;
    out.push({
      key: 'clip',
      tag: 'clipPath',
      id: clip(view),
      words: `<rect x="0" y="0" width="${px(max(0, X(t)))}" height="${foot}"/>`,
    });
    const gap = unit(solved.total / (small ? 3 : 5));
    const many = floor(solved.total / gap);
    out.push(
      range(many + 1).map((k) => ({
        key: `tick${k}`,
        tag: 'text',
        x: X(k * gap),
        y: foot + 16,
        'text-anchor': k ? 'middle' : 'start',
        words: k ? time(view, k * gap, true) : '0',
        class: 'small soft',
      })),
    );
    return [out, this.chart(view, small)];
  },

  /** Time over size, and under it who is first. */
  chart(view, small) {
    const { p, solved, data, call, words } = view;
    const out = [];
    const { X, left, right, top, high, strip } = chartOf(view);
    const [lo, hi] = data.sizes;
    const Y = (s) => top + high * (1 - (Math.log10(s) + 6) / 6);
    const base = top + high;
    for (const s of [1e-6, 1e-3, 1]) {
      out.push(
        { key: `y${s}`, tag: 'path', d: `M${left} ${px(Y(s))}H${px(right)}`, class: 'grid' },
        {
          key: `yt${s}`,
          tag: 'text',
          x: left - 6,
          y: Y(s) + 4,
          'text-anchor': 'end',
          words: time(view, s, true),
          class: 'small soft',
        },
      );
    }
    const here = runnersIn(p, data);
    const spots = here.map((r) => ({ ...r, y: Y(call(r.key, inputs(p, hi))) })).sort((a, b) => a.y - b.y);
    spots.forEach((s, k) => {
      s.at = max(s.y, k ? spots[k - 1].at + 15 : 0);
    });
    const over = max(0, (spots.at(-1)?.at ?? 0) - base);
    for (const s of spots) {
      const first = solved.order[0] === s.i;
      const points = range(41).map((k) => {
        const V = lo * (hi / lo) ** (k / 40);
        return `${px(X(V))} ${px(Y(call(s.key, inputs(p, V))))}`;
      });
      out.push({
        key: `curve${s.i}`,
        tag: 'path',
        d: `M${points.join('L')}`,
        class: first ? 'curve plain now' : 'curve plain thin',
        told: `lane ${s.i}`,
      });
      out.push(
        {
          key: `lead${s.i}`,
          tag: 'path',
          d: `M${px(right + 2)} ${px(s.y)}L${px(right + 14)} ${px(s.at - over)}`,
          class: 'rule',
        },
        {
          key: `label${s.i}`,
          tag: 'text',
          x: right + 18,
          y: s.at - over + 4,
          words: s.name,
          class: first ? 'strong' : 'small',
        },
      );
    }
    solved.winners.forEach(({ i, from, to }, k) => {
      const a = X(from);
      const b = X(to);
      const name = data.runners[i].name;
      const fits = name.length * 7 + 10 < b - a;
      out.push({
        key: `won${k}`,
        tag: 'rect',
        x: a,
        y: strip,
        width: max(0.1, b - a),
        height: 22,
        class: k % 2 ? 'scaleup won odd' : 'scaleup won',
        told: `won ${k}`,
      });
      if (fits) {
        out.push({
          key: `wonname${k}`,
          tag: 'text',
          x: (a + b) / 2,
          y: strip + 15,
          'text-anchor': 'middle',
          words: name,
          class: 'small name',
        });
      }
      if (k) out.push({ key: `edge${k}`, tag: 'path', d: `M${px(a)} ${top - 4}V${strip + 22}`, class: 'cross' });
    });
    const edges = solved.winners.slice(1).map((w) => ({ x: X(w.from), V: w.from }));
    const now = X(p.V);
    const named = edges.map((e) => e.x < now && e.x - left > 60); // next to its line, away from the size that is chosen
    for (const [k, e] of edges.entries()) {
      const before = named[k];
      const free = !k || before !== named[k - 1] || e.x - edges[k - 1].x > 62;
      if (free && (before || e.x > now || now - e.x > 64)) {
        out.push({
          key: `edgename${k}`,
          tag: 'text',
          x: e.x + (before ? -5 : 5),
          y: top + 14,
          'text-anchor': before ? 'end' : 'start',
          words: size(view, e.V),
          class: 'small strong',
        });
      }
    }
    out.push(
      { key: 'size', tag: 'path', d: `M${px(now)} ${top - 4}V${strip + 22}`, class: 'now-line' },
      {
        key: 'sizename',
        tag: 'text',
        x: clamp(now, left + 20, right - 20),
        y: top - 10,
        'text-anchor': 'middle',
        words: size(view, p.V),
        class: 'strong',
      },
    );
    for (const V of [1e3, 1e6, 1e9]) {
      out.push({
        key: `x${V}`,
        tag: 'text',
        x: X(V),
        y: strip + 40,
        'text-anchor': 'middle',
        words: size(view, V, true),
        class: 'small soft',
      });
    }
    out.push({
      key: 'xname',
      tag: 'text',
      x: X(3.2e4),
      y: strip + 40,
      'text-anchor': 'middle',
      words: small ? '' : words.axis,
      class: 'small soft',
    });
    return out;
  },

  act: ({ p }, i) => ({ out: p.out.map((v, k) => (k === +i ? 1 - v : v)) }),
  handles(view) {
    const { p, data } = view;
    const { X, strip } = chartOf(view);
    const one = 10 ** (floor(log10(p.V)) - 1);
    return [
      {
        id: 'V',
        label: view.words.size,
        x: X(p.V),
        y: strip + 11,
        lo: data.sizes[0],
        hi: data.sizes[1],
        step: one,
        leap: 10 * one,
        grid: 1,
        value: p.V,
        words: size(view, p.V),
      },
    ];
  },
  pull: (view, id, x) => +chartOf(view).inv(x).toPrecision(2),

  place(view, t) {
    const { solved, words } = view;
    return worded(words.now, time(view, t), time(view, solved.total));
  },
  numbers({ solved }, t) {
    return {
      ends: solved.lanes.map((lane) => lane.at(-1).end),
      formulas: solved.ends,
      order: solved.order,
      winners: solved.winners,
      known: solved.lanes.map((lane) => moment(lane, t)),
      total: solved.total,
    };
  },
  sentence(view) {
    const { p, solved, data, words } = view;
    const name = (i) => data.runners[i].name;
    const [first] = solved.order;
    const last = solved.order.at(-1);
    const [lo, hi] = data.sizes;
    const reign = solved.winners.find((w) => w.i === first && w.from <= p.V * 1.000001 && p.V <= w.to * 1.000001) ?? {
      from: lo,
      to: hi,
    };
    const from = reign.from > lo;
    const to = reign.to < hi;
    const when =
      from && to
        ? worded(words.between, size(view, reign.from), size(view, reign.to))
        : from
          ? worded(words.from, size(view, reign.from))
          : to
            ? worded(words.upto, size(view, reign.to))
            : words.always;
    const rest = first === last ? words.alone : worded(words.last, name(last), show(solved.ends[last] / solved.best));
    return [
      worded(words.race, size(view, p.V), p.N, name(first), time(view, solved.best)),
      ...(first === last ? [] : [when]),
      rest,
    ].join(' ');
  },
  table(view) {
    const { p, solved, data, words } = view;
    return [
      [words.algorithm, words.steps, words.sent, words.takes],
      ...data.runners.map((r, i) => {
        const lane = solved.lanes[i];
        return [r.name, stepsOf(p, lane), size(view, critical(p, lane)), time(view, solved.ends[i])];
      }),
    ];
  },
  hover(view, el, t) {
    const { solved, data, words } = view;
    const [what, k] = (el.dataset.told ?? '').split(' ');
    if (what === 'won') {
      const { i, from, to } = solved.winners[k];
      return `<b>${data.runners[i].name}</b>${worded(words.between, size(view, from), size(view, to))}`;
    }
    if (what !== 'lane') return '';
    const here = moment(solved.lanes[k], t);
    const all = solved.lanes[k].reduce((n, run) => n + run.many, 0);
    const at = here.steps >= all ? words.done : worded(words.step, here.steps + 1, all);
    return `<b>${data.runners[k].name}, ${at}</b>${worded(words.knows, show(here.least, SHARE))}`;
  },
  call({ p, solved, data, spec }) {
    const of = spec.units;
    const { call } = data.runners[solved.order[0]];
    return `${call}(N=${p.N}, V=${literal(p.V, of.V)}, alpha=${literal(p.alpha, of.alpha)}, W=${literal(p.W, of.W)})`;
  },
};
const clip = (view) => `${view.hatch.slice(5, -1)}-clip`;
const lanesOf = (data) => data.runners.length * TALL;
/** Where the lanes begin, and where the last one ends. */
const topsOf = ({ p }) => p.out.reduce((tops, out) => [...tops, tops.at(-1) + (out ? LOW : TALL)], [0]);
/** Where the chart of sizes stands; it takes the room of those that are not in the race. */
function chartOf(view) {
  const { width, data } = view;
  const [lo, hi] = data.sizes;
  const end = topsOf(view).at(-1);
  const left = 46;
  const right = width - 140;
  const top = end + 40;
  const high = 150 + lanesOf(data) - end;
  const by = Math.log(hi / lo);
  return {
    left,
    right,
    top,
    high,
    strip: top + high + 8,
    X: (V) => left + ((right - left) * Math.log(V / lo)) / by,
    inv: (x) => lo * Math.exp((by * (x - left)) / (right - left)),
  };
}
/** A lane as three paths: latency, bytes of growing sums, bytes that complete some. Steps thinner than a pixel run together. */
function bars(lane, X, top, rows, end) {
  const out = { lag: '', grows: '', brings: '' };
  const high = (ROWS * ROW) / rows;
  const box = (a, b, mask) =>
    a < end && b > a
      ? joined(
          range(rows).filter((r) => (mask >> r) & 1),
          (r) => `M${px(a)} ${px(top + r * high)}H${px(min(b, end))}v${px(high - 1)}H${px(a)}z`,
        )
      : '';
  for (const run of lane) {
    const kind = run.partial ? 'grows' : 'brings';
    if (X(run.one) < 1.5) {
      const part = X(run.at + ((run.end - run.at) * run.lag) / run.one);
      out.lag += box(X(run.at), part, run.mask);
      out[kind] += box(part, X(run.end), run.mask);
      continue;
    }
    for (const k of range(run.many)) {
      const at = run.at + k * run.one;
      out.lag += box(X(at), X(at + run.lag), run.mask);
      out[kind] += box(X(at + run.lag), X(at + run.one), run.mask);
    }
  }
  return out;
}
globalThis.gpuscale.wake?.();
