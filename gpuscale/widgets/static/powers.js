/* One zoom from a pod to a Tensor Core. The world comes as frames inside frames, with layers of boxes and pipes; a camera
   looks at it, and all pipes in view have one scale. Below, six memories deliver the same bytes on one clock. */
const PACKETS = 16;
const STRIP = 30; // of each transfer; pixels of the scale under the window
const FIT = [1.07, 1.08, 1.1, 1.05, 1.05, 1.08]; // how much room there is around each level
const SCALES = [0.0036, 0.0062, 0.036, 0.0098, 0.055, 0.055]; // pixels of a GB/s at each level, in a window of 560 pixels

/* 1. The stage: a ladder, a window on the world, rows of memories */
const small = ({ width }) => width < 520;
const windowOf = (view) =>
  small(view) ? { x: 0, y: 62, w: view.width, h: min(360, view.width) } : { x: 116, y: 0, w: view.width - 116, h: 460 };
const rung = (view, z) => (small(view) ? [(view.width * (z + 0.5)) / 6, 10] : [10, (windowOf(view).h * (z + 0.5)) / 6]);
const rowsAt = (view) => {
  const f = windowOf(view);
  return f.y + f.h + 42;
};
const ROW = (view) => (small(view) ? 46 : 28);
const smooth = (v, a, b) => {
  if (a === b) return 1;
  const u = clamp((v - a) / (b - a), 0, 1);
  return u * u * (3 - 2 * u);
};
/** Where the camera stands, and how many pixels a B/s is wide. */
function camera(view) {
  const f = windowOf(view);
  const { zoom } = view.p;
  const k = min(4, floor(zoom));
  const u = zoom - k;
  const h = f.h - STRIP;
  const [a, b] = [k, k + 1].map((i) => {
    const [x, y, unit, w, tall] = view.data.path[i];
    return { at: [x + (w * unit) / 2, y + (tall * unit) / 2], s: min(f.w / w, h / tall) / unit / FIT[i] };
  });
  const s = a.s * (b.s / a.s) ** u;
  const v = (1 / s - 1 / a.s) / (1 / b.s - 1 / a.s);
  const [x, y] = [0, 1].map((i) => a.at[i] + (b.at[i] - a.at[i]) * v); // no swing: the center moves as 1/s
  return {
    f,
    h,
    s,
    g: (SCALES[k] * (SCALES[k + 1] / SCALES[k]) ** u * min(f.w, f.h)) / 560e9,
    unit: min(f.w, 560) / 560,
    to: ([X, Y]) => [(X - x) * s + f.x + f.w / 2, (Y - y) * s + f.y + h / 2],
  };
}
/** The path of a layer in units of its frame: a box and its copies, all pipes from some points to others, or lines. Copies
    without an outline are rows of dashes where their first step leads to the right. */
function pathOf({ box, by, fan, d, look }) {
  if (d) return d;
  if (fan) {
    return joined(fan[0], ([x, y]) =>
      joined(fan[1], ([X, Y]) => `M${x} ${y}C${x} ${(y + Y) / 2} ${X} ${(y + Y) / 2} ${X} ${Y}`),
    );
  }
  const [x, y, w, h] = box;
  const step = by.at(-1);
  const of = (v) => +v.toFixed(3);
  if (dashes({ box, by, look }) && by.length === 1) {
    return `M${of(x)} ${of(y + h / 2)}h${of((step[0] - 1) * step[1] + w)}`;
  }
  return step
    ? joined(range(step[0]), (i) =>
        pathOf({ box: [x + i * step[1], y + i * step[2], w, h], by: by.slice(0, -1), look }),
      )
    : `M${of(x)} ${of(y)}h${w}v${h}h${-w}z`;
}
const dashes = ({ box, by: [row] = [], look = '' }) =>
  row &&
  row[2] === 0 &&
  look.startsWith('solid') && {
    'stroke-width': box[3],
    'stroke-dasharray': `${box[2]} ${+(row[1] - box[2]).toFixed(4)}`,
  };
/** How much is seen of what fades in and out over the width of its frame. */
const seenAt = ([a, b, c, d], w, rest = 0) => smooth(w, a, b) * (c ? 1 - (1 - rest) * smooth(w, c, d) : 1);

/** The world at this zoom: layers are stamped into their frames, then come the labels. */
function world(view, eye) {
  const { f, h, s, g, to, unit } = eye;
  const { data } = view;
  const out = [];
  const px3 = (v) => +v.toPrecision(7);
  const near = ([x, y, k, w, tall]) => {
    const [X, Y] = to([x, y]);
    const m = 60;
    return X < f.x + f.w + m && Y < f.y + h + m && X + w * k * s > f.x - m && Y + tall * k * s > f.y - m;
  };
  const stamp = ([x, y, k, , tall, flip]) => {
    const [X, Y] = to([x, flip ? y + tall * k : y]);
    const z = px3(k * s);
    return `translate(${px(X)} ${px(Y)}) scale(${z} ${flip ? -z : z})`;
  };
  data.layers.forEach((layer, i) => {
    layer.row ??= dashes(layer) || 0;
    layer.d = pathOf(layer);
    data.frames[layer.in].forEach((at, n) => {
      const opacity = layer.opacity * seenAt(layer.fade, (at[3] * at[2] * s) / unit, layer.rest);
      if (opacity > 0.02 && near(at)) {
        out.push({
          key: `${i}.${n}`,
          tag: 'path',
          d: layer.d,
          transform: stamp(at),
          opacity,
          ...(layer.W
            ? { class: layer.look, 'stroke-width': layer.W * g }
            : layer.row
              ? { class: layer.look.replace('solid', 'dashes'), ...layer.row }
              : { class: layer.look }),
        });
      }
    });
  });
  data.labels.forEach(({ in: frame, at, fade, look, words, anchor, by }, i) => {
    const [[x, y, k, w]] = data.frames[frame];
    const [X, Y] = to([x + at[0] * k, y + at[1] * k]);
    const opacity = seenAt(fade, (w * k * s) / unit);
    const said = Array.isArray(words) ? words[+(unit < 0.8)] : words;
    if (opacity > 0.02 && said && X > f.x && X < f.x + f.w && Y > f.y && Y < f.y + h) {
      out.push({
        key: `label${i}`,
        tag: 'text',
        x: X + by[0],
        y: Y + by[1],
        words: said,
        class: look,
        'text-anchor': anchor,
        opacity,
      });
    }
  });
  return { ...eye, out, stamp };
}
/** The point of a route at the part u of its length. */
function along(route, u) {
  const far = (route.far ??= route.reduce(
    (sum, p, i) => [...sum, i ? sum[i - 1] + hypot(p[0] - route[i - 1][0], p[1] - route[i - 1][1]) : 0],
    [],
  ));
  const goal = u * far.at(-1);
  const i = max(
    1,
    far.findIndex((d) => d >= goal),
  );
  const v = (goal - far[i - 1]) / (far[i] - far[i - 1] || 1);
  return [0, 1].map((k) => route[i - 1][k] + (route[i][k] - route[i - 1][k]) * v);
}

/* 2. The race */
const amount = (view, v) => show(v, view.spec.units.V, true);
const seconds = (view, v) => show(v, view.spec.units.alpha);
const rate = (view, v) => show(v, view.spec.units.W);
const chosen = (p, i) => p.only === 0 || p.only === i + 1;
/** Where each packet of a memory is at a time: on its way (0 at the memory, 1 at the SM), or home. A request takes half of the latency. */
function flight(m, t) {
  const half = m.latency / 2;
  const on = m.arrivals.map((end) => (t - end + half) / half);
  return {
    home: on.filter((u) => u >= 1).length,
    on: on.filter((u) => u >= 0 && u < 1),
    asks: t > 0 && t < half ? 1 - t / half : null,
  };
}

figures.powers = {
  steady: true,
  smooth: ['zoom'],
  zooms: 'zoom',
  glide: 1100,
  solve(p, call, { memories }) {
    const all = memories.map((m) => {
      const takes = (V) => call('time', { V, W: m.W, alpha: m.latency });
      const arrivals = range(PACKETS).map((i) => takes((p.V * (i + 1)) / PACKETS));
      return {
        ...m,
        arrivals,
        end: takes(p.V),
        flow: call('time', { V: p.V, W: m.W, alpha: 0 }),
        full: call('flight', { W: m.W, alpha: m.latency }),
      };
    });
    const run = all.filter((_, i) => chosen(p, i));
    const total = max(...run.map((m) => m.end));
    return {
      all,
      run,
      total,
      longest: max(...all.map((m) => m.end)),
      marks: run
        .flatMap((m) => [m.latency, m.end])
        .filter((t) => t < total)
        .sort((a, b) => a - b),
    };
  },
  pace: (p, { total }) => max(0.25e6, 2.5 / total),
  height: (view) => rowsAt(view) + 6 * ROW(view) - (small(view) ? 6 : 8),

  draw(view, t) {
    const { p, solved, data, words } = view;
    const key = `${p.zoom} ${view.width}`;
    if (view.at !== key) {
      view.at = key;
      view.now = world(view, camera(view));
    } // while only the clock runs, the world stands
    const { f, h, s, g, to, stamp, out } = view.now;
    const level = clamp(floor(p.zoom + 0.4), 0, 5);
    const list = [{ key: 'window', tag: 'rect', x: f.x, y: f.y, width: f.w, height: h, class: 'window' }, out];
    data.memories.forEach((m, i) => {
      const [at, frame, box, by] = m.press;
      if (at === level) {
        list.push({
          key: `hit ${m.key}`,
          tag: 'path',
          d: (m.d ??= pathOf({ box, by })),
          transform: stamp(data.frames[frame][0]),
          class: 'bare',
          act: i + 1,
          told: i,
          group: 'memories',
          label: worded(words.bring, amount(view, p.V), m.name),
        });
      }
    });
    for (const m of solved.run) {
      if (t > 0 && t < m.end) {
        const { home, on, asks } = flight(m, t);
        const way = data.routes[m.key];
        list.push({
          key: `route ${m.key}`,
          tag: 'path',
          d: `M${way.map((at) => to(at).map(px).join(' ')).join('L')}`,
          class: 'route',
        });
        if (asks !== null) {
          const [cx, cy] = to(along(way, asks));
          list.push({ key: `ask ${m.key}`, tag: 'circle', cx, cy, r: 4.5, class: 'ask' });
        }
        on.forEach((u, i) => {
          const [x, y] = to(along(way, u));
          list.push({
            key: `packet ${m.key}${home + i}`,
            tag: 'rect',
            x: x - 4.5,
            y: y - 4.5,
            width: 9,
            height: 9,
            class: `packet ${m.hue}`,
          });
        });
      }
    }
    if (level < 5) {
      const [x, y, k, w, tall] = data.path[level + 1];
      const [X, Y] = to([x, y]);
      if (w * k * s > 5) {
        list.push({
          key: `into${level}`,
          tag: 'rect',
          x: X - 3,
          y: Y - 3,
          width: w * k * s + 6,
          height: tall * k * s + 6,
          rx: 5,
          class: 'into',
          act: `z${level + 1}`,
          label: worded(words.into, data.levels[level + 1].name),
        });
      }
    }
    const scale = nice(8 / g);
    const y = f.y + h + STRIP / 2;
    const [x, X] = [f.x, f.x + f.w].map(px);
    list.push(
      {
        key: 'mat',
        tag: 'path',
        d: `M-9-9H${view.width + 9}V${view.height + 9}H-9zM${x} ${f.y}V${f.y + h}H${X}V${f.y}z`,
        class: 'mat',
      },
      { key: 'rim', tag: 'rect', x: f.x, y: f.y, width: f.w, height: h, class: 'rim' },
    );
    list.push(
      { key: 'gauge', tag: 'path', d: `M${f.x + 4} ${y}h30`, class: 'gauge', 'stroke-width': scale * g },
      {
        key: 'gaugename',
        tag: 'text',
        x: f.x + 42,
        y,
        words: worded(small(view) ? words.scaleShort : words.scale, rate(view, scale)),
        class: 'small',
      },
    );
    return [list, closer(view, f.x + f.w, y), ladder(view), rows(view, t)];
  },
  act: ({ p, data }, what) =>
    `${what}`[0] === 'z'
      ? { zoom: +what.slice(1) }
      : +what === 0 || +what === p.only
        ? { only: 0, zoom: 2 }
        : { only: +what, zoom: data.memories[what - 1].press[0] },
  runs: (what) => `${what}`[0] !== 'z',
  handles(view) {
    const { p, data } = view;
    const [x, y] = rung(view, p.zoom);
    return [
      {
        id: 'zoom',
        label: view.words.zoom,
        x,
        y,
        lo: 0,
        hi: 5,
        step: 0.25,
        leap: 1,
        grid: 0.01,
        value: p.zoom,
        words: data.levels[round(p.zoom)].name,
      },
    ];
  },
  pull: (view, id, x, y) => (small(view) ? (x / view.width) * 6 - 0.5 : (y / windowOf(view).h) * 6 - 0.5),

  place: (view, t) =>
    worded(
      view.words.now,
      seconds(view, t),
      seconds(view, view.solved.total),
      view.solved.run.filter((m) => t >= m.end * (1 - 1e-9)).length,
      view.solved.run.length,
    ),
  numbers(view, t) {
    const { solved } = view;
    const { g } = camera(view);
    return {
      memories: solved.all.map(({ end, flow, full, arrivals }) => ({ end, flow, full, arrivals })),
      flights: solved.all.map((m) => {
        const { home, on } = flight(m, t);
        return { home, on };
      }),
      total: solved.total,
      g,
    };
  },
  sentence(view) {
    const { p, solved, data, words } = view;
    const own = solved.all.find((m) => m.key === 'hbm');
    const m = solved.run.at(-1);
    const V = amount(view, p.V);
    const times = m.end / own.end;
    const how = worded(words.takes, V, m.name, seconds(view, m.end));
    const split = p.only ? worded(words.split, seconds(view, m.latency), seconds(view, m.flow)) : '';
    return [
      data.levels[round(p.zoom)].says,
      how,
      split,
      m === own ? '' : times > 1 ? worded(words.longer, show(times)) : worded(words.shorter, show(times, SHARE)),
    ]
      .filter(Boolean)
      .join(' ');
  },
  table(view) {
    const { solved, words } = view;
    return [
      [words.memory, words.holds, words.delivers, words.latency, words.flow, words.time, words.inFlight],
      ...solved.all.map((m) => [
        m.name,
        amount(view, m.holds),
        rate(view, m.W),
        seconds(view, m.latency),
        seconds(view, m.flow),
        seconds(view, m.end),
        amount(view, m.full),
      ]),
    ];
  },
  hover(view, el) {
    const m = view.solved.all[el.dataset.told];
    return m
      ? `<b>${m.name}</b>${worded(view.words.hover, seconds(view, m.latency), seconds(view, m.flow))}<br>${worded(view.words.little, amount(view, m.full))}`
      : '';
  },
  call({ p, solved, data, spec: { units } }) {
    const m = solved.run.at(-1);
    return `${data.call}(V=${literal(p.V, units.V)}, W=${literal(m.W, units.W)}, alpha=${literal(m.latency, units.alpha)})`;
  },
};
/** The largest 1, 2 or 5 times a power of ten that is no more. */
function nice(v) {
  const e = 10 ** floor(log10(v));
  return [5, 2, 1].find((m) => m * e <= v * 1.001) * e;
}
/** Two buttons at the end of the scale: a level out, and a level in. */
function closer({ p, data, words }, right, y) {
  const level = round(p.zoom);
  return [
    [level - 1, right - 40, 'M-5 0h10', words.out],
    [level + 1, right - 13, 'M-5 0h10M0-5v10', words.into],
  ]
    .filter(([to]) => data.levels[to])
    .map(([to, x, d, said]) => [
      { key: `sign ${d}`, tag: 'path', class: 'sign', d, transform: `translate(${px(x)} ${px(y)})` },
      {
        key: `by ${d}`,
        tag: 'rect',
        class: 'by',
        x: x - 12,
        y: y - 12,
        width: 24,
        height: 24,
        rx: 5,
        act: `z${to}`,
        label: worded(said, data.levels[to].name),
      },
    ]);
}
function ladder(view) {
  const { data } = view;
  const low = small(view);
  const [a, b] = [rung(view, 0), rung(view, 5)];
  return [
    { key: 'rail', tag: 'path', d: `M${px(a[0])} ${px(a[1])}L${px(b[0])} ${px(b[1])}`, class: 'rail' },
    data.levels.map(({ name, short, count }, k) => {
      const [x, y] = rung(view, k);
      const at = low ? { x, 'text-anchor': 'middle' } : { x: x + 18 };
      return [
        {
          key: `level${k}`,
          tag: 'text',
          ...at,
          y: low ? 38 : y + 1,
          words: low ? short : name,
          class: k === round(view.p.zoom) ? 'rung strong' : 'rung',
          act: `z${k}`,
          group: 'levels',
          pressed: k === round(view.p.zoom),
          label: worded(view.words.into, name),
        },
        {
          key: `count${k}`,
          tag: 'text',
          ...at,
          y: low ? 53 : y + 17,
          words: low ? show(count, COUNT) : worded(view.words.count, show(count, COUNT)),
          class: low ? 'tiny' : 'small',
        },
      ];
    }),
  ];
}
/** Each memory: what it holds and delivers, and its time as latency and bytes. */
function rows(view, t) {
  const { p, solved, words } = view;
  const low = small(view);
  const top = rowsAt(view);
  const high = ROW(view);
  const left = low ? 0 : 330;
  const right = low ? view.width : view.width - 74;
  const X = (s) => left + ((right - left) * s) / solved.longest;
  const head = (key, words, x, anchor) => ({
    key,
    tag: 'text',
    x,
    y: top - 15,
    words,
    class: 'small',
    'text-anchor': anchor,
  });
  return [
    low ? [] : [head('headholds', words.holds, 240, 'end'), head('headdelivers', words.delivers, 316, 'end')],
    { ...head('headtime', worded(words.brings, amount(view, p.V)), low ? 0 : left, 'start'), class: 'strong' },
    solved.all.map((m, i) => {
      const y = top + i * high;
      const here = chosen(p, i);
      const done = here ? min(t, m.end) : m.end;
      const bar = low ? y + 34 : y + 4;
      const dim = here ? 1 : 0.5;
      const piece = (key, a, b, cls) =>
        b > a && {
          key: `${key} ${m.key}`,
          tag: 'rect',
          x: X(a),
          y: bar,
          width: max(0.8, X(b) - X(a)),
          height: low ? 6 : 12,
          class: `${cls} ${m.hue}`,
          opacity: dim,
        };
      const text = (key, words, x, anchor, cls) => ({
        key: `${key} ${m.key}`,
        tag: 'text',
        x,
        y: y + 10,
        words,
        class: cls,
        'text-anchor': anchor,
        opacity: dim,
      });
      return [
        { key: `line ${m.key}`, tag: 'path', d: `M0 ${y - 4}H${view.width}`, class: 'rule' },
        text('name', low ? m.short : m.name, 0, 'start', `strong runner ${m.hue}`),
        low
          ? {
              ...text('low', worded(words.both, amount(view, m.holds), rate(view, m.W)), 0, 'start', 'small'),
              y: y + 25,
            }
          : [
              text('holds', amount(view, m.holds), 240, 'end', 'small'),
              text('delivers', rate(view, m.W), 316, 'end', 'small'),
            ],
        piece('ghost', 0, m.end, 'ghost'),
        piece('wait', 0, min(done, m.latency), 'lag'),
        piece('flow', m.latency, done, 'solid'),
        text('end', seconds(view, m.end), view.width, 'end', 'strong'),
        {
          key: `row ${m.key}`,
          tag: 'rect',
          x: 0,
          y: y - 3,
          width: view.width,
          height: high - 2,
          class: 'bare',
          act: i + 1,
          group: 'rows',
          pressed: p.only === i + 1,
          label: worded(words.bring, amount(view, p.V), m.name),
        },
      ];
    }),
  ];
}
globalThis.gpuscale.wake?.();
