/* One step of decoding as bytes that are read. The page is the HBM of each GPU: its width is bytes and, at the bandwidth of
   the HBM, time. Below, the time of the step over the batch: its read, its arithmetic, the estimate, what was measured. */
const seconds = (view, v, short) => show(v, view.spec.units.T, short);
const bytes = (view, v) => show(v, view.spec.units.V);
const count = (v) => show(v, COUNT);
const SLOW = 250;
const POINTS = 120;
const CROWD = 1e9; // of a curve; sequences

/** What a step costs each GPU, by formulas of the library. */
function costs(p, call, data, B = p.B, S = p.S) {
  const model = data.models[p.model];
  const gpu = data.gpus[p.gpu];
  const x = {
    ...model.given,
    ...model.formats[p.weights],
    ...gpu.given,
    ...gpu.peaks[model.kind][p.weights],
    N_gpu: p.N,
    B_seq: B,
    S,
  };
  const of = (name, more) => call(model.calls[name] ?? name, { ...x, ...more });
  const w = of('weights');
  const kv = of('caches');
  const matmul = of('matmul');
  const attention = of('attention');
  const comm = p.N > 1 ? of('comm') : 0;
  const read = of('read', { V: w + kv });
  const math = matmul + attention;
  return { of, w, kv, matmul, attention, comm, read, math, T: max(read, math) + comm, estimate: of('estimate') };
}
/** The last whole number up to `most` for which something holds that holds for smaller ones; 0 if it never does. */
function last(most, holds) {
  let lo = 0;
  let hi = most + 1;
  while (hi - lo > 1) {
    const m = floor((lo + hi) / 2);
    if (holds(m)) lo = m;
    else hi = m;
  }
  return lo;
}
/** The row of measurements that a state is. */
const rowOf = (p, data) => data.rows.findIndex((r) => entries(r.set).every(([k, v]) => p[k] === v));

figures.decode = {
  solve(p, call, data) {
    const c = costs(p, call, data);
    const { of } = c;
    const { S_hbm } = data.gpus[p.gpu].given;
    const model = data.models[p.model];
    const at = (B, S = p.S) => costs(p, call, data, B, S);
    const { batch, context } = data.most;
    const resident = of('resident');
    const usable = of('usable');
    const room = usable - resident;
    const span = (V) => of('read', { V });
    const fits = room > 0;
    const grows = (S) => {
      const s = at(CROWD, S);
      return s.math > s.read;
    }; // so many sequences that the weights do not count
    const full = fits ? last(batch, (B) => at(B).kv <= room) : 0;
    const never = last(context, grows);
    const ridge = last(batch, (B) => {
      const s = at(B);
      return s.math < s.read;
    });
    const curve = range(POINTS + 1).map((k) => {
      const B = batch ** (k / POINTS);
      const s = at(B);
      return { B, read: s.read, math: s.math, T: s.T, estimate: s.estimate };
    });
    const { of: _, ...rest } = c;
    const fixed = model.calls.fixed ? of('fixed') : c.w;
    const window = model.calls.window ? of('window') : 0;
    return {
      ...rest,
      fixed,
      window,
      hit: model.calls.hit ? of('hit') : 0,
      resident,
      usable,
      room,
      fits,
      full,
      never,
      ridge,
      curve,
      one: at(1).T,
      row: rowOf(p, data),
      tw: span(c.w),
      tfixed: span(fixed),
      tk: span(c.kv),
      twindow: span(window),
      page: span(S_hbm),
      tuse: span(usable),
      tunread: span(max(0, resident - c.w)),
      total: c.T,
      marks: [span(c.w), c.read],
    };
  },
  pace: (p, solved) => min(SLOW, 14 / solved.total),
  height(view) {
    const L = layout(view);
    return L.base + 42;
  },
  /** The edge of the caches is the context and the batch, too. */
  fit(p, was) {
    const either = (k, own) => (p[k] === was?.[k] && p[own] !== was?.[own] ? p[own] : p[k]);
    const S = either('S', 'edge');
    const B = either('B', 'more');
    return { ...p, S, edge: S, B, more: B };
  },

  draw(view, t) {
    const { p, solved: f, data, words, width, hatch } = view;
    const L = layout(view);
    const { small, page, H } = L;
    const out = [];
    const model = data.models[p.model];
    const X = scaleOf(view);
    const bottom = page + H;
    const xw = X(f.tw);
    const xe = X(f.tw + f.tk);
    const xT = X(f.T);
    const band = H / p.N;
    const gap = p.N > 1 ? 3 : 0;
    const head = X(min(t, f.read));
    const past = `url(#${clip(view)})`;
    const bands = range(p.N).map((n) => page + n * band);
    const high = band - gap;
    out.push({
      key: 'clip',
      tag: 'clipPath',
      id: clip(view),
      words: `<rect x="0" y="0" width="${px(head)}" height="${bottom}"/>`,
    });
    out.push(
      label('clock', 0, 20, f.fits ? seconds(view, f.T) : words.unfit, 'mid'),
      label(
        'what',
        small ? 0 : 116,
        small ? 38 : 20,
        f.fits
          ? p.B === 1
            ? words.single
            : worded(words.step, count(p.B))
          : worded(words.holds, bytes(view, f.resident)),
        'soft small',
      ),
      label('now', width, 20, f.fits ? worded(words.at, seconds(view, min(t, f.T))) : '', 'small soft', 'end'),
    );
    // arithmetic, on the same clock
    const y = page - 26;
    const xm = X(f.matmul);
    const xa = X(f.math);
    out.push(
      label(
        'arithmetic',
        0,
        y - 8,
        worded(small ? words.math : words.arithmetic, seconds(view, f.math), show(f.math / f.T, SHARE)),
        'compute small name',
      ),
    );
    if (xT > xa + 2) out.push(path('idle', box(xa, y, xT - X(f.comm) * (f.comm > 0) - xa, 11), '', { fill: hatch }));
    out.push(
      path('matmul', box(0, y, max(1, xm), 11), 'compute solid', { told: 'math' }),
      path('scores', box(xm, y, max(0, xa - xm), 11), 'compute half', { told: 'math' }),
    );
    if (f.comm) {
      out.push(
        path('comm', box(X(f.T - f.comm), y, max(1.5, xT - X(f.T - f.comm)), 11), 'scaleup solid', { told: 'comm' }),
        label(
          'commname',
          width,
          y - 8,
          worded(
            small ? words.comm : words.reduces,
            ...(small ? [] : [count(2 * model.layers)]),
            seconds(view, f.comm),
          ),
          'scaleup small name',
          'end',
        ),
      );
    }
    // the page of each GPU: weights, caches, free, weights that this step does not read, what is kept free
    const each = (x, w) => (w > 0 ? joined(bands, (top) => box(x, top, w, high)) : '');
    const two = (key, d, cls, told) => [
      path(key, d, `${cls} ahead`, { told }),
      path(`${key}past`, d, cls, { 'clip-path': past, told }),
    ];
    const xu = X(f.tuse);
    const xr = max(xe, X(f.tuse - f.tunread));
    out.push(
      path('well', each(0, width), 'well', { told: 'free' }),
      path('kept', each(xu, width - xu), '', { fill: hatch, told: 'kept' }),
    );
    if (xu > xr + 0.5) out.push(path('unread', each(xr, xu - xr), 'memory unread', { told: 'unread' }));
    out.push(two('fixed', each(0, X(f.tfixed)), 'memory solid', 'weights'));
    if (f.fixed < f.w) out.push(two('experts', each(X(f.tfixed), xw - X(f.tfixed)), 'memory experts', 'experts'));
    const row = high / p.B;
    const lines = [
      ['even', 0],
      ['odd', 1],
    ];
    const strips = (from, to, odd) =>
      row > 0.8
        ? joined(bands, (top) =>
            joined(
              range(p.B).filter((i) => i % 2 === odd),
              (i) => box(from, top + i * row, to - from, max(0.4, row - (row > 4 ? 1 : 0))),
            ),
          )
        : odd
          ? ''
          : each(from, to - from);
    const xf = X(f.tw + f.tk - f.twindow);
    if (f.fits && xe > xw + 0.2) {
      for (const [key, odd] of lines) out.push(two(key, strips(xw, xf, odd), `memory strip ${key}`, 'caches'));
      if (f.window) {
        for (const [key, odd] of lines) {
          out.push(two(`window${key}`, strips(xf, xe, odd), `memory window ${key}`, 'windows'));
        }
      }
    }
    out.push(
      path('outline', each(0.5, width - 1), 'outline'),
      path('end', `M${px(xT)} ${y - 3}V${bottom + 5}`, 'now-line'),
    );
    // names of what is on the page
    const tall = p.N === 8 ? band : 17;
    const line = (i) => page + (p.N === 8 ? band * (i + 0.5) + 3 : 19 + i * tall);
    const inside = xw > 76;
    const caches = worded(
      p.B === 1 ? words.cache : words.caches,
      ...(p.B === 1 ? [] : [count(p.B)]),
      bytes(view, f.kv),
    );
    const own = worded(p.N > 1 && model.latent ? words.everywhere : words.each, bytes(view, f.kv / p.B));
    const long = 16 + max(7.2 * caches.length, 6.4 * own.length);
    const edge = [max(xe, xT), xe].find((x) => x + long + (small || p.N < 2 || p.N > 4 ? 0 : 44) < width);
    const beyond = edge === undefined;
    const onPage = []; // words that the head of the clock passes
    if (inside && !(beyond && xe - long < 80)) {
      onPage.push([8, 14 + 7 * words.weights.length, line(0) - 12, line(1) + 4]);
      out.push(
        label('wname', 8, line(0), words.weights, 'on strong'),
        label('wbytes', 8, line(1), bytes(view, f.w), 'on small'),
      );
    }
    if (row >= 12 && xe - xw > (beyond ? long + 20 : 26)) {
      for (const top of bands) {
        for (const i of range(p.B)) {
          out.push(label(`seq${top}.${i}`, xw + 5, top + (i + 0.5) * row + 4, count(i + 1), 'small seq'));
        }
      }
    }
    const side = beyond ? [max(xe - 12, min(width - 5, long)), 'end'] : [edge + 12, 'start'];
    if (!inside && !beyond) {
      out.push(label('wname', side[0], line(3), `${words.weights} ${bytes(view, f.w)}`, 'memory small name'));
    }
    if (f.fits) {
      const halo = beyond && side[0] - long > xw ? 'seq' : 'halo'; // none on the caches themselves
      out.push(
        label(
          'kname',
          side[0],
          line(0),
          caches,
          `memory ${p.N === 8 || small ? 'small' : 'strong'} name ${halo}`,
          side[1],
        ),
        label('keach', side[0], line(1), own, `small soft ${halo}`, side[1]),
      );
    }
    if (f.fits && f.hit && !beyond) {
      out.push(
        label(
          'hit',
          side[0],
          line(2),
          worded(words.hit, show(f.hit), data.models[p.model].experts),
          'memory small name halo',
          side[1],
        ),
      );
    }
    if (xe + 104 < width && f.fits) {
      out.push(
        label('longer', xe + 13, L.edge + 4, words.longer, 'small pull halo'),
        label('further', xe + 13, L.more + 4, words.further, 'small pull halo'),
      );
    }
    if (xu - xr > 90 && xr - side[0] > 60 && !small) {
      out.push(
        label(
          'unreadname',
          xr + 6,
          bottom - 10,
          worded(words.unread, bytes(view, f.resident - f.w)),
          'memory small name',
        ),
      );
    }
    if (!small && p.N < 4 && f.fits)
      out.push(label('keptname', width - 5, bottom - 10, words.kept, 'small soft', 'end'));
    if (p.N > 1 && !small && p.N < 8 && !beyond) {
      bands.forEach((top, n) =>
        out.push(label(`gpu${n}`, width - 5, top + 16, worded(words.gpu, n), 'small soft', 'end')),
      );
    }
    out.push(
      label(
        'memory',
        width,
        page - 8,
        f.comm || xT > width - 190
          ? ''
          : worded(p.N > 1 ? words.many : words.hbm, ...(p.N > 1 ? [p.N] : []), data.gpus[p.gpu].memory),
        'small strong',
        'end',
      ),
    );
    // its axis is time
    const step = nice(f.page / (small ? 3 : 5));
    out.push(
      range(floor(f.page / step) + 1).map((k) => [
        path(`tick${k}`, `M${px(X(k * step))} ${bottom}v5`, 'spine'),
        label(
          `time${k}`,
          X(k * step),
          bottom + 19,
          k ? seconds(view, k * step, true) : '0',
          'small soft',
          k ? (X(k * step) > width - 24 ? 'end' : 'middle') : 'start',
        ),
      ]),
    );
    const marks = [
      ['estimate', f.fits && f.read >= f.math ? f.estimate : 0, words.estimate],
      ['measured', f.row >= 0 ? data.rows[f.row].T : 0, words.measured],
    ].filter(([, v]) => v);
    marks.forEach(([key, v]) => out.push(path(key, `M${px(X(v))} ${bottom - 12}V${bottom + 28}`, `mark ${key}`)));
    if (marks.length) {
      const x = X(marks[0][1]);
      const right = x < width / 2;
      out.push(
        label(
          'marks',
          right ? x + 6 : x - 6,
          bottom + 37,
          marks.map(([, v, said]) => worded(said, seconds(view, v))).join(', '),
          'small',
          right ? 'start' : 'end',
        ),
      );
    }
    if (f.fits) {
      out.push({
        key: 'head',
        tag: 'path',
        d: `M${px(head - 6)} ${page - 11}h12l-6 8z${upright(head, page - 4, bottom - gap, onPage)}`,
        class: t < f.read ? 'head' : 'head over',
      });
    }
    return [out, rail(view, L), chart(view, L)];
  },

  handles(view) {
    const { p, solved: f, words, data, width } = view;
    const L = layout(view);
    const X = scaleOf(view);
    const { batch, context } = data.most;
    const { least } = data;
    const S = {
      label: words.context,
      lo: least,
      hi: context,
      step: max(1, two(p.S / 4)),
      leap: max(4, p.S),
      grid: 1,
      value: p.S,
      words: worded(words.tokens, count(p.S)),
    };
    const B = {
      label: words.batch,
      lo: 1,
      hi: batch,
      step: max(1, two(p.B / 4)),
      leap: max(4, p.B),
      grid: 1,
      value: p.B,
      words: worded(words.sequences, count(p.B)),
    };
    const x = clamp(X(f.tw + f.tk), 0, width);
    return [
      { id: 'edge', ...S, label: words.edge, x, y: L.edge },
      { id: 'more', ...B, label: words.more, x, y: L.more },
      { id: 'S', ...S, x: L.S(p.S), y: L.rail },
      { id: 'B', ...B, x: L.B(p.B), y: L.base },
    ];
  },
  pull(view, id, x) {
    const { p, solved, data, width } = view;
    const L = layout(view);
    if (id === 'B') return two(L.B.inv(x));
    if (id === 'S') return whole(L.S.inv(x));
    const within = (B, S) => (costs(p, view.call, data, B, S).read / solved.page) * width <= x; // the edge follows the hand
    return id === 'more'
      ? two(last(data.most.batch, (B) => within(B, p.S)))
      : whole(last(data.most.context, (S) => within(p.B, S)));
  },
  place: ({ solved, spec }, t) => show(min(t, solved.T), spec.units.T),
  act: (view, i) => view.data.rows[i].set,
  numbers({ solved }) {
    const { marks, ...rest } = solved;
    return rest;
  },

  sentence(view) {
    const { p, solved: f, words, data } = view;
    const model = data.models[p.model];
    const out = [];
    if (!f.fits) return worded(words.toolarge, bytes(view, f.resident), bytes(view, f.usable));
    out.push(worded(p.N > 1 ? words.readsgpu : words.reads, bytes(view, f.w), bytes(view, f.kv)));
    out.push(
      f.math < f.read ? worded(words.fills, show(f.math / f.T, SHARE)) : worded(words.bound, show(f.math / f.read)),
    );
    if (p.B > f.full) out.push(worded(f.full ? words.full : words.none, count(f.full)));
    else if (p.B > 1) out.push(worded(words.cost, count(p.B), show(f.T / f.one)));
    if (f.hit) out.push(worded(words.touched, show(f.hit), model.experts));
    out.push(
      f.never < data.least ? words.neverever : f.never >= data.most.context ? '' : worded(words.never, count(f.never)),
    );
    if (f.comm > 0.1 * f.T) out.push(worded(words.exposed, show(f.comm / f.T, SHARE)));
    if (f.row >= 0) {
      out.push(
        worded(words.ran, data.rows[f.row].name, seconds(view, data.rows[f.row].T), show(data.rows[f.row].T / f.T)),
      );
    }
    return out.filter(Boolean).join(' ');
  },
  table(view) {
    const { p, solved: f, words } = view;
    const T = (v) => seconds(view, v);
    const V = (v) => bytes(view, v);
    const values = [
      V(f.w),
      V(f.kv),
      T(f.read),
      T(f.matmul),
      T(f.attention),
      T(f.comm),
      T(f.T),
      T(f.estimate),
      count(f.full),
      f.ridge >= view.data.most.batch ? NEVER : count(f.ridge + 1),
      count(f.never),
      show(1 / f.T),
      show(p.B / p.N / f.T),
    ];
    return [words.heads, ...words.rows.map((name, i) => [name, values[i]])];
  },
  hover(view, el) {
    const { p, solved: f, words, data } = view;
    const [what, i] = (el.dataset.told ?? '').split(' ');
    const say = (name, ...lines) => `<b>${name}</b>${lines.filter(Boolean).join('<br>')}`;
    const of = (V, T) => worded(words.takes, bytes(view, V), seconds(view, T));
    if (what === 'weights') return say(words.weights, of(f.fixed, f.tfixed), words.once);
    if (what === 'experts') {
      return say(
        words.experts,
        of(f.w - f.fixed, f.tw - f.tfixed),
        worded(words.hit, show(f.hit), data.models[p.model].experts),
      );
    }
    if (what === 'caches') return say(words.kv, of((f.kv - f.window) / p.B, (f.tk - f.twindow) / p.B), words.own);
    if (what === 'windows') return say(words.windows, of(f.window / p.B, f.twindow / p.B));
    if (what === 'unread') return say(words.held, bytes(view, f.resident - f.w));
    if (what === 'kept') return say(words.kept, words.why);
    if (what === 'free' && f.fits) return say(words.free, bytes(view, max(0, f.room - f.kv)));
    if (what === 'math') {
      return say(
        seconds(view, f.math),
        worded(words.matmuls, seconds(view, f.matmul)),
        worded(words.scores, seconds(view, f.attention)),
      );
    }
    if (what === 'comm') return say(seconds(view, f.comm), words.latency);
    if (what === 'row') {
      const r = data.rows[i];
      return say(
        r.name,
        worded(words.measured, seconds(view, r.T)),
        worded(words.state, count(r.set.B), count(r.set.S)),
      );
    }
    return '';
  },
  call: ({ p, spec, data }) =>
    worded(
      spec.words.call,
      p.model,
      p.gpu,
      p.N,
      p.B,
      p.S,
      p.weights,
      literal(data.models[p.model].given.alpha, spec.units.T),
    ),
};
const clip = (view) => `${view.hatch.slice(5, -1)}-clip`;
const scaleOf =
  ({ width, solved }) =>
  (s) =>
    min(width, (width * s) / solved.page);
const two = (v) => round(+v.toPrecision(2));
/** A context as one would say it: a power of two where it is near, else two digits. */
const whole = (v) => {
  const power = 2 ** round(Math.log2(v));
  return abs(v / power - 1) < 0.03 ? power : two(v);
};
/** The nearest 1, 2 or 5 times a power of ten that is no less. */
function nice(v) {
  const e = 10 ** floor(log10(v));
  return [1, 2, 5, 10].find((m) => m * e >= v * 0.999) * e;
}
/** Where things stand: the page, the scale of contexts, the chart over batches. */
function layout({ width, data }) {
  const small = width < 480;
  const page = small ? 104 : 84;
  const H = small ? 168 : 192;
  const rail = page + H + (small ? 84 : 80);
  const top = rail + (small ? 66 : 62);
  const high = small ? 150 : 170;
  const left = small ? 54 : 62;
  const right = width - 10;
  const log = (from, to, x0, x1) => {
    const by = (x1 - x0) / Math.log(to / from);
    const at = (v) => x0 + by * Math.log(clamp(v, from, to) / from);
    at.inv = (x) => clamp(from * Math.exp((x - x0) / by), from, to);
    return at;
  };
  return {
    small,
    page,
    H,
    edge: page + H * 0.52,
    more: page + H * 0.76,
    rail,
    top,
    high,
    left,
    right,
    base: top + high,
    S: log(data.least, data.most.context, left, right),
    B: log(1, data.most.batch, left, right),
    Y: (s) =>
      top + high * (1 - Math.log(clamp(s, ...data.times) / data.times[0]) / Math.log(data.times[1] / data.times[0])),
  };
}
/** The scale of contexts: where no batch is compute-bound any more, and where memory is full. */
function rail({ p, solved: f, data, words, hatch, call }, { small, rail: y, left, right, S }) {
  const { context } = data.most;
  const fit = f.fits ? last(context, (n) => costs(p, call, data, p.B, n).kv <= f.room) : 0;
  const out = [];
  const x = S(f.never);
  const full = S(max(fit, data.least));
  out.push(
    label('context', 0, y - 18, words.context, 'strong'),
    label('tokens', 62, y - 18, worded(words.tokens, count(p.S)), 'small soft'),
    path('rail', `M${left} ${y}H${right}`, 'rail'),
  );
  if (fit < context) {
    out.push(
      path('toolong', box(full, y - 5, right - full, 10), '', { fill: hatch, 'pointer-events': 'none' }),
      label('toolongname', right, y - 18, words.outof, 'small soft', 'end'),
    );
  }
  if (f.never >= data.least && f.never < context) {
    out.push(
      path('never', `M${px(x)} ${y - 7}v14`, 'now-line'),
      label(
        'nevername',
        small ? 0 : clamp(x, left + 120, right - 128),
        y + 24,
        worded(words.neverlong, count(f.never)),
        'small soft',
        small ? 'start' : 'middle',
      ),
    );
  }
  return out;
}
/** Time over batch: the read, the arithmetic, and the longer of the two; the estimate, and what was measured. */
function chart(view, { small, top, high, left, right, base, B: X, Y }) {
  const { p, solved: f, data, words, hatch } = view;
  const out = [];
  const curve = (of, when = () => true) => {
    const some = f.curve.filter((c) => when(c) && of(c) >= data.times[0] && of(c) <= data.times[1]);
    return some.length ? `M${some.map((c) => `${px(X(c.B))} ${px(Y(of(c)))}`).join('L')}` : '';
  };
  const { batch } = data.most;
  const full = X(max(1, f.full));
  for (let s = data.times[0]; s <= data.times[1] * 1.01; s *= 10) {
    out.push(
      path(`y${s}`, `M${left} ${px(Y(s))}H${right}`, 'grid'),
      label(`yt${s}`, left - 11, Y(s) + 4, seconds(view, s, true), 'small soft', 'end'),
    );
  }
  for (const b of [1, 8, 64, 512, 4096].filter((b) => b <= batch)) {
    out.push(
      path(`x${b}`, `M${px(X(b))} ${base}v5`, 'spine'),
      abs(X(b) - (b === batch ? 18 : 0) - clamp(X(p.B), left + 40, right - 46)) > 70 && (!small || b !== 512)
        ? label(`xt${b}`, X(b), base + 33, count(b), 'small soft', b === batch ? 'end' : 'middle')
        : null,
    );
  }
  out.push(label('chart', 0, top - 14, words.chart, 'strong'));
  if (f.full < batch) {
    out.push(
      path('full', box(full, top, right - full, high), '', { fill: hatch, opacity: 0.55, 'pointer-events': 'none' }),
      label(
        'fullname',
        full > left + 110 ? full - 6 : full + 6,
        top + 13,
        f.full ? worded(words.fullat, count(f.full)) : words.nonefit,
        'small soft halo',
        full > left + 110 ? 'end' : 'start',
      ),
    );
  }
  out.push(path('base', `M${left} ${base}H${right}`, 'spine'));
  out.push(
    path(
      'readcurve',
      curve((c) => c.read),
      'memory curve thin',
    ),
    path(
      'mathcurve',
      curve((c) => c.math),
      'compute curve thin',
    ),
  );
  out.push(
    path(
      'bound',
      curve(
        (c) => c.T,
        (c) => c.read >= c.math,
      ),
      'memory curve now',
    ),
    path(
      'boundmath',
      curve(
        (c) => c.T,
        (c) => c.read < c.math,
      ),
      'compute curve now',
    ),
  );
  const likely = curve(
    (c) => c.estimate,
    (c) => c.read >= c.math && c.B <= max(1, f.full),
  );
  const spot = f.curve[small ? 10 : 14];
  if (likely && f.fits) {
    out.push(
      path('likely', likely, 'plain curve thin dashed'),
      small ? null : label('likelyname', X(spot.B), Y(spot.estimate) - 8, words.likely, 'small halo'),
    );
  }
  if (f.ridge < batch && f.ridge > 0) {
    const x = X(f.ridge + 1);
    const y = Y(costs(p, view.call, data, f.ridge + 1).T);
    const end = x > left + 140;
    out.push(
      path('ridgeline', `M${px(x)} ${base}V${px(y)}`, 'cross'),
      { key: 'ridge', tag: 'circle', cx: x, cy: y, r: 4.5, class: 'plain open dot' },
      label(
        'ridgename',
        end ? x - 6 : min(x + 6, right - 140),
        base - 8,
        worded(words.ridge, count(f.ridge + 1)),
        'small halo',
        end ? 'end' : 'start',
      ),
    );
  }
  data.rows.forEach((r, i) => {
    if (r.set.model === p.model && r.set.gpu === p.gpu) {
      out.push({
        key: `row${i}`,
        tag: 'circle',
        cx: X(r.set.B),
        cy: Y(r.T),
        r: i === f.row ? 6 : 5,
        class: i === f.row ? 'row on' : r.set.N === p.N && r.set.weights === p.weights ? 'row' : 'row far',
        told: `row ${i}`,
        act: i,
        group: 'rows',
        pressed: i === f.row,
        label: worded(words.pick, r.name),
      });
    }
  });
  const shown = data.rows
    .filter((r) => r.set.model === p.model && r.set.gpu === p.gpu)
    .sort((a, b) => a.set.B - b.set.B || a.T - b.T)
    .at(-1);
  if (shown) out.push(label('rowname', X(shown.set.B) + 9, Y(shown.T) - 7, words.run, 'small halo'));
  out.push(path('drop', `M${px(X(p.B))} ${base}V${px(Y(f.T))}`, 'cross'), {
    key: 'dot',
    tag: 'circle',
    cx: X(p.B),
    cy: Y(f.T),
    r: 4.5,
    class: 'plain dot',
    'pointer-events': 'none',
  });
  out.push(
    label(
      'batchname',
      clamp(X(p.B), left + 40, right - 46),
      base + 33,
      worded(p.B > 1 ? words.sequences : words.sequence, count(p.B)),
      'small strong',
      'middle',
    ),
  );
  const middle = f.curve[round(POINTS * (small ? 0.3 : 0.42))];
  out.push(
    label(
      'readname',
      X(f.curve[small ? 4 : 12].B),
      Y(f.curve[12].read) > base - 44 ? min(Y(f.curve[12].read) - 8, base - 26) : Y(f.curve[12].read) + 17,
      words.reading,
      'memory small name halo',
    ),
  );
  if (middle.math > data.times[0] * 2.5 && !(f.ridge > 0 && f.ridge < batch && X(f.ridge) < X(middle.B) + 250)) {
    out.push(label('mathname', X(middle.B) + 8, Y(middle.math) + 15, words.computing, 'compute small name halo'));
  }
  return out;
}
globalThis.gpuscale.wake?.();
