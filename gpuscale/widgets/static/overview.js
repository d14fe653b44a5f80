/* One layer, tokens times weights, split over GPUs in six ways. The object and the silhouettes of the GPUs are the same
   paths in frames of their own, so that a piece glides to its GPU. The lanes are the twin of schedules.timelines.layer. */
const TILES = 8;
const TALL = 80;
const WIDE = 240;
const ATTN = 40;
const UP = 126; // tiles along an edge; the frames of tokens and weights, before they are scaled
const AT = 3; // the layer that is drawn at work, from the top

/** The model that is split: experts take one that has them. */
const modelOf = (p, data, cut = p.cut) =>
  data.models[p.model].E > 1 || cut !== 'ep' ? data.models[p.model] : data.models.find((m) => m.E > 1);
const inputs = (p, data, cut) => ({
  ...modelOf(p, data, cut),
  ...data.bytes,
  C: p.C,
  W: data.splits[cut].W,
  S: p.S,
  B: p.seqs * p.S,
  [data.micro]: p.seqs,
  ...fromEntries(data.degrees.map((k) => [k, p.n])),
});
/** Spans on the lanes, 0 arithmetic and 1 the link, of the forward and the backward pass of a layer. */
function clocked(work, moves) {
  const spans = [];
  let begin = 0;
  for (const backward of [false, true]) {
    const here = moves.filter((m) => m.backward === backward);
    const link = [];
    let now = begin;
    const carried = (m, start, time) => {
      if (time > 0) link.push({ ...m, lane: 1, start, end: start + time });
      return start + time;
    };
    for (const { block, time } of backward ? [...work].reverse() : work) {
      const mine = (when) => here.filter((m) => m.when === when && m.block === block);
      for (const m of mine('before')) now = carried(m, now, m.time);
      let during = now;
      const end = now + time * (backward ? 2 : 1);
      spans.push({ lane: 0, what: block, backward, start: now, end });
      for (const m of mine('during')) during = carried(m, during, m.time);
      now = max(end, during);
      for (const m of mine('after')) now = carried(m, now, m.time);
    }
    const taken = [...link];
    let free = begin;
    for (const m of here.filter((one) => one.when === 'behind')) {
      let left = m.time;
      while (taken.length && left > 0) {
        const part = min(left, max(0, taken[0].start - free));
        free = carried(m, free, part);
        left -= part;
        if (left > 0) free = taken.shift().end;
      }
      free = carried(m, free, left);
    }
    spans.push(...link);
    begin = max(now, free);
  }
  return spans;
}
/** What follows from a split: spans, bytes, what is stored, from when it pays and where it is now. */
function priced(p, call, data, cut) {
  const given = inputs(p, data, cut);
  const split = data.splits[cut];
  const alone = cut === 'pp' ? 1 : p.n;
  const shared = { ...given, Y: alone, n_cp: alone };
  const work = data.work.map((block) => ({ block, time: call(block, shared) }));
  const moves = split.moves.map(([what, backward, when, block, amount]) => {
    const sent = call(amount, given);
    return { what, backward, when, block, amount, sent, time: sent / given.W };
  });
  const spans = clocked(work, moves);
  const busy = max(...spans.map((s) => s.end));
  const total = cut === 'pp' ? busy * (1 + call('bubble', given)) : busy;
  const layer = moves.reduce((all, m) => all + m.sent, 0);
  const math = spans.reduce((all, s) => all + (s.lane ? 0 : s.end - s.start), 0);
  const exact = cut === 'pp' ? data.few[p.n] : call(`from_${cut}`, given);
  return {
    spans,
    total,
    busy,
    layer,
    step: (layer * given.L) / (cut === 'pp' ? p.n : 1),
    stored: call(`stored_${cut}`, given),
    idle: max(0, 1 - math / total),
    from: cut === 'tp' ? floor(exact * (1 + 1e-9)) : ceil(exact * (1 - 1e-9)),
    here: call(`here_${cut}`, given),
    forward: max(...spans.filter((s) => !s.backward).map((s) => s.end)),
  };
}
/** What is on the link at a time, and how much of it has arrived; what is too short to be seen is drawn for longer. */
function sent({ spans, total }, t) {
  const lasts = (s) => max(s.end - s.start, SEEN * total);
  const move = spans.findLast((s) => s.lane && s.start <= t && t < s.start + lasts(s));
  return { move, done: move ? (t - move.start) / lasts(move) : 0 };
}
const SEEN = 0.07;
const EVEN = 0.0005;
const never = (s) => s.idle < EVEN;
const bytes = (view, v) => show(v, view.spec.units.V);
const time = (view, v) => show(v, view.spec.units.T);
const count = (v) => show(v, COUNT);

/* Shapes. A piece is a path in a frame, worked out once. */
const note = (key, x, y, words, cls = 'small soft', anchor = 'start', more) => ({
  key,
  tag: 'text',
  x,
  y,
  words,
  class: cls,
  'text-anchor': anchor,
  ...more,
});
const line = (key, d, cls, more) => ({ key, tag: 'path', d, class: cls, ...more });
const bar = (key, x, y, width, height, cls, more) => ({ key, tag: 'rect', x, y, width, height, class: cls, ...more });
const ENDS = ['end', 'middle'];
const paths = new Map();
const once = (key, make) => paths.get(key) ?? paths.set(key, make()).get(key);
/** Tokens: piece i of n by rows or columns; all of them without a way. */
const tokens = (way, i = 0, n = 1) =>
  once(`t${way}${i}/${n}`, () =>
    joined(range(TILES * TILES), (q) => {
      const r = floor(q / TILES);
      const c = q % TILES;
      const one = TALL / TILES;
      return way && floor(((way === 'rows' ? r : c) * n) / TILES) !== i ? '' : box(c * one, r * one, one - 1, one - 1);
    }),
  );
/** The matrices of a layer: [x, width, the expert, whether its rows are split]. */
const matrices = (many) => [
  [0, ATTN, -1],
  ...(many > 1
    ? range(many).map((e) => [ATTN + 4 + (e * (WIDE - ATTN - 4)) / many, (WIDE - ATTN - 4) / many - 1, e])
    : [
        [ATTN + 4, UP, 0],
        [ATTN + UP + 8, WIDE - ATTN - UP - 8, 0, 1],
      ]),
];
/** Weights: piece i of n by layers, columns or experts; 'attn' is what experts repeat, 'layer' a single one. */
const weights = (way, many, i = 0, n = 1) =>
  once(`w${way}${i}/${n},${many}`, () =>
    joined(range(TILES), (r) => {
      const y = (r * TALL) / TILES;
      const high = TALL / TILES - 1.5;
      return (way === 'rows' ? floor((r * n) / TILES) : way === 'layer' ? r : i) !== i
        ? ''
        : joined(matrices(many), ([x, w, e, down]) => {
            if (way === 'attn' ? e >= 0 : way === 'experts' && (e < 0 || floor((e * n) / many) !== i)) return '';
            return way !== 'columns'
              ? box(x, y, w, high)
              : down
                ? box(x, y + (i * high) / n, w, high / n)
                : box(x + (i * w) / n, y, max(0.6, w / n - 0.6), high);
          });
    }),
  );
const frame = (f, wide, dx = 0, dy = 0) => ({
  transform: `translate(${px(f.x + dx)} ${px(f.y + dy)}) scale(${+(f.w / wide).toFixed(4)} ${+(f.h / TALL).toFixed(4)})`,
});

/** Where everything stands. */
function placed({ width, p }) {
  const small = width < 480;
  const side = small ? 44 : 48;
  const a = { x: side, y: 28, w: small ? 66 : 112, h: small ? 96 : 112 };
  const wx = side + a.w + (small ? 22 : 36);
  const gap = small ? 4 : 10;
  const w = { ...a, x: wx, w: width - wx - side };
  const bw = min(150, (width + gap) / p.n - gap);
  const x0 = (width - p.n * (bw + gap) + gap) / 2;
  const pad = bw < 50 ? 3 : 6;
  const head = a.y + a.h + 40;
  const top = head + (small ? 32 : 14);
  const high = small ? 108 : 124;
  const bus = top + high + 15;
  const scale = bus + (small ? 62 : 46);
  const lanes = scale + 70;
  const boxes = range(p.n).map((i) => {
    const x = x0 + i * (bw + gap);
    const in_ = { x: x + pad, w: bw - 2 * pad };
    return {
      x,
      mid: x + bw / 2,
      a: { ...in_, y: top + 22, h: high * 0.28 },
      wt: { ...in_, y: top + 28 + high * 0.28, h: high * 0.72 - 34 },
    };
  });
  return { small, a, w, boxes, bw, head, top, high, bus, scale, lanes, end: lanes + 92 };
}
/** The scale on which a split pays or not: logarithmic, with all that a hand can reach. */
function scaled({ p, solved, data, call, width }) {
  const { pull } = data.splits[p.cut];
  const at = (v) => call(`here_${p.cut}`, inputs({ ...p, [pull]: v }, data, p.cut));
  const [a, b] = data.bounds[pull] ?? [0, 0];
  const lo = min(at(a), solved.from) / 1.5;
  const hi = max(at(b), solved.from) * 1.5;
  return { pull, a, b, at, X: (v) => 8 + ((width - 16) * Math.log(v / lo)) / Math.log(hi / lo) };
}
/** Every split that the model has, with what follows from it. */
const rowsOf = ({ p, call, data }) => {
  const model = data.models.indexOf(modelOf(p, data));
  return keys(data.splits)
    .filter((cut) => cut !== 'ep' || data.models[model].E > 1)
    .map((cut) => [cut, priced({ ...p, model }, call, data, cut)]);
};

figures.overview = {
  glide: 850,
  solve(p, call, data) {
    const solved = priced(p, call, data, p.cut);
    return {
      ...solved,
      marks: solved.spans
        .map((s) => s.end)
        .filter((t) => t < solved.total)
        .sort((a, b) => a - b),
    };
  },
  pace: (p, solved) => 9 / solved.total,
  fit(p, was, data) {
    const two = (v) => 2 ** round(Math.log2(v));
    const has = (model) => data.models[model].E > 1;
    const dense = p.cut === 'ep' && !has(p.model);
    const left = dense && was?.cut === 'ep' && was.model !== p.model; // a model without experts was pressed
    return {
      ...p,
      cut: left ? keys(data.splits)[0] : p.cut,
      model: dense && !left ? range(data.models.length).find(has) : p.model,
      n: two(p.n),
      seqs: two(p.seqs),
      S: two(p.S),
    };
  },
  height: (view) => placed(view).end,

  draw(view, t) {
    const { p, solved, data, words, width } = view;
    const { n, cut } = p;
    const at = placed(view);
    const { small, a, w, boxes, top, bus, bw } = at;
    const split = data.splits[cut];
    const many = modelOf(p, data).E;
    const hue = split.link === data.near ? 'scaleup' : 'scaleout';
    const colour = (i) => ({ style: `--i:${(i * TILES) / n}` });
    const right = small ? [0, 16, 'start'] : [width, 0, 'end'];
    /** One side of the object: its pieces apart, or all of it. */
    const side = (key, way, f, wide, piece) =>
      way
        ? range(n).map((i) => {
            const d = (i - (n - 1) / 2) * min(3, 12 / n);
            return line(key + i, piece(way, i), 'tile', {
              ...frame(f, wide, ...(way === 'rows' ? [0, d] : way === 'columns' && wide === WIDE ? [] : [d])),
              from: `${key}0`,
              ...colour(i),
            });
          })
        : line(`${key}0`, piece(''), 'copy', frame(f, wide));
    const tok = (way, i) => tokens(way, i, n);
    const mat = (way, i) => weights(way, many, i, n);
    const mid = (x) => w.x + (x * w.w) / WIDE;
    const foot = a.y + a.h + 14;
    const names = small
      ? [[words.weights, WIDE / 2]]
      : [
          [words.attn, ATTN / 2],
          ...(many > 1
            ? [[worded(words.experts, many), (ATTN + WIDE) / 2]]
            : [
                [words.up, ATTN + UP / 2],
                [words.down, (ATTN + UP + WIDE) / 2],
              ]),
        ];
    const knives = {
      dp: [0, a.y + a.h / 2],
      cp: [a.x + a.w / 2, 8, 1],
      tp: [mid(many > 1 ? 29 : 72), 8, 1],
      zero: [mid(211), 8, 1],
      pp: [width, a.y + a.h / 2, 0],
      ...(many > 1 && width > 290 && { ep: [mid(120), 8, 1] }),
    };
    const work = solved.spans.find((s) => !s.lane && s.start <= t && t < s.end);
    const last = work?.what === data.work.at(-1);
    const { move, done } = sent(solved, t);
    const mine = `${cut}${n}`;
    return [
      side('o.t', split.tokens, a, TALL, tok),
      split.weights === 'experts' && line('o.attn', mat('attn'), 'copy', { ...frame(w, WIDE), from: 'o.w0' }),
      side('o.w', split.weights, w, WIDE, mat),
      note('times', (a.x + a.w + w.x) / 2, a.y + a.h / 2, '×', 'mid', 'middle'),
      note('o.tokens', a.x + a.w / 2, foot, words.tokens, 'small soft', 'middle'),
      names.map(([name, x], i) => note(`o.name${i}`, mid(x), foot, name, 'small soft', 'middle')),
      entries(knives).map(([k, [x, y, end]]) =>
        note(`knife.${k}`, x, y, words.knives[k], `small knife${k === cut ? ' chosen' : ''}`, ENDS[end] ?? 'start', {
          act: k,
          group: 'knives',
          pressed: k === cut,
          label: worded(words.knife, data.splits[k].name, words.knives[k]),
        }),
      ),
      note(
        'stored',
        0,
        at.head,
        worded(words.stored, bytes(view, solved.stored), show(data.memory, view.spec.units.V, true)),
        'memory rate small',
      ),
      note('repeated', right[0], at.head + right[1], words.repeated[cut], 'small soft', right[2]),
      boxes.map((b, i) => {
        const own = cut === 'pp' ? floor(((i + 0.5) * TILES) / n) : AT;
        const x = last ? ATTN + 3 : -1;
        const k = b.wt.w / WIDE;
        const f = frame(b.wt, WIDE);
        const from = { ...f, from: 'o.w0' };
        return [
          bar(`gpu${i}`, b.x, top, bw, at.high, 'gpu', { rx: 5, from: `gpu${i - 1}` }),
          bw < 60
            ? note(`gpuname${i}`, b.mid, top + 11, `${i}`, 'small strong', 'middle')
            : note(`gpuname${i}`, b.x + 8, top + 11, worded(words.gpu, i), 'small strong'),
          line(`well.t${i}`, tokens(''), 'well', frame(b.a, TALL)),
          line(`well.w${i}`, mat(''), 'well', f),
          line(
            `${mine}.t${i}`,
            cut === 'pp' ? tok('rows', n - 1 - i) : tok(split.tokens, i),
            split.tokens ? 'tile' : 'copy',
            { ...frame(b.a, TALL), from: 'o.t0', ...colour(i) },
          ),
          cut === 'zero' &&
            line(`${mine}.full${i}`, weights('layer', many, AT), 'copy', {
              ...f,
              opacity: move?.what === split.moves[0][0] ? done : 1,
            }),
          split.weights === 'experts' && line(`${mine}.attn${i}`, mat('attn'), 'copy', from),
          line(`${mine}.w${i}`, mat(split.weights, i), split.weights ? 'tile' : 'copy', { ...from, ...colour(i) }),
          work &&
            bar(
              `now${i}`,
              b.wt.x + x * k,
              b.wt.y + (own * b.wt.h) / TILES - 2,
              k * (last ? WIDE - x : ATTN + 2),
              b.wt.h / TILES + 3,
              'compute works',
              { rx: 2 },
            ),
        ];
      }),
      line(
        'bus',
        `M${px(boxes[0].mid)} ${bus}H${px(boxes.at(-1).mid)}${joined(boxes, (b) => `M${px(b.mid)} ${px(top + at.high)}V${bus}`)}`,
        `${hue} wire`,
      ),
      move && this.flying(view, at, move, done, hue),
      note('moves', 0, bus + 20, words.moves[cut], `${hue} rate small`),
      note(
        'wire',
        right[0],
        bus + 20 + right[1],
        worded(words.wire, split.link, show(split.W, view.spec.units.W)),
        'small soft',
        right[2],
      ),
      this.paying(view, at.scale),
      this.lanes(view, at.lanes, t, hue),
    ];
  },

  /** Pieces on their way along the bus: in rings hop by hop, to all round by round, or to the next stage. */
  flying({ p: { n }, data }, { boxes, bus, top, high }, move, done, hue) {
    const how = data.patterns[move.amount];
    const rounds = { twice: 2 * n - 2, next: 1 }[how] ?? n - 1;
    const hop = min(rounds - 1, floor(done * rounds));
    const f = done * rounds - hop;
    const down = bus - top - high;
    return boxes.map(({ mid }, i) => {
      const to = how === 'next' ? i + (move.backward ? -1 : 1) : (i + (how === 'all' ? hop + 1 : 1)) % n;
      if (!boxes[to]) return null;
      const along = boxes[to].mid - mid;
      const way = f * f * (3 - 2 * f) * (2 * down + abs(along));
      const piece = how === 'ring' || how === 'twice' ? (i - hop + 2 * n) % n : i;
      const x = mid + sign(along) * clamp(way - down, 0, abs(along));
      const y = bus - max(0, down - way, way - down - abs(along));
      return bar(`fly${i}`, x - 6, y - 6, 12, 12, `${hue} packet tile`, { rx: 2, style: `--i:${(piece * TILES) / n}` });
    });
  },

  /** From when the split pays, and where it is now. */
  paying(view, top) {
    const { p, solved, words, width } = view;
    const { X } = scaled(view);
    const y = top + 34;
    const mark = X(solved.from);
    const upto = p.cut === 'tp';
    const said = worded(words.marks[p.cut], count(solved.from));
    const x = X(solved.here);
    const room = said.length * 3.1;
    return [
      note('axis', 0, top - 4, words.axis[p.cut]),
      line('line', `M0 ${y}H${px(width)}`, 'rule'),
      bar('good', upto ? 0 : mark, y - 5, max(0.1, upto ? mark : width - mark), 10, 'compute good', { rx: 2 }),
      line('mark', `M${px(mark)} ${y - 9}V${y + 9}`, 'now-line'),
      note('marked', clamp(mark, room, width - room), y - 17, said, 'small', 'middle'),
      line('here', `M${px(x)} ${y - 7}V${y + 7}`, 'now-line'),
      note('hereat', clamp(x, 24, width - 24), y + 18, count(solved.here), 'strong small', 'middle'),
    ];
  },

  /** One layer on one GPU, forward and backward, to scale. */
  lanes(view, top, t, hue) {
    const { p, solved, data, words, width } = view;
    const { forward, busy, total } = solved;
    const X = (s) => (width * s) / total;
    const high = 19;
    const ys = [top + 18, top + 58];
    const foot = ys[1] + high;
    const rest = X((busy + total) / 2);
    const link = data.splits[p.cut].link;
    const all = worded(words.sent, bytes(view, solved.layer));
    const wide = (said) => 6.4 * said.length;
    const between = [ys[0] + high, ys[1] - 1];
    const names = [
      [0, wide(link) + 6, ...between],
      [width - wide(all), width, ...between],
    ];
    return [
      note('lane0', 0, ys[0] - 9, words.arithmetic, 'compute rate small'),
      note(
        'idle',
        width,
        ys[0] - 9,
        never(solved) ? words.never : worded(words.idle, show(solved.idle, SHARE)),
        'wait rate small',
        'end',
      ),
      note('lane1', 0, ys[1] - 9, link, `${hue} rate small`),
      note('sent', width, ys[1] - 9, all, 'small soft', 'end'),
      ys.map((y, i) => bar(`lanewell${i}`, 0, y, width, high, 'well')),
      bar('idles', 0, ys[0], width, high, '', { fill: view.hatch }),
      solved.spans.map((s, i) => {
        const x = X(s.start);
        const w = max(0.5, X(s.end) - x - 0.7);
        const name = words.named[s.what];
        const fits = name.length * 6.3 + 6 < w;
        const half = wide(name) / 2;
        if (fits) names.push([x + w / 2 - half, x + w / 2 + half, ys[s.lane], ys[s.lane] + high]);
        const k = solved.spans.slice(0, i).filter((o) => o.lane === s.lane).length;
        return [
          bar(
            `span${s.lane}.${k}`,
            x,
            ys[s.lane],
            w,
            high,
            `${s.lane ? hue : 'compute'} span${s.backward ? '' : ' ahead'}`,
            { told: i },
          ),
          fits &&
            note(
              `spanname${s.lane}.${k}`,
              x + w / 2,
              ys[s.lane] + 10,
              name,
              `small ${s.backward ? (s.lane ? 'onlane' : 'onbar') : 'inbar'}`,
              'middle',
            ),
        ];
      }),
      X(total - busy) > 50 && [
        bar('bubbleback', rest - 24, ys[0] + 2, 48, high - 4, 'back', { rx: 3 }),
        note('bubble', rest, ys[0] + 10, words.bubble, 'small soft', 'middle'),
      ],
      line('turn', `M${px(X(forward))} ${ys[0] - 2}V${foot + 2}`, 'cross'),
      line(
        'clock',
        upright(
          X(t),
          ys[0] - 3,
          foot + 3,
          names.sort((a, b) => a[2] - b[2]),
        ),
        'now-line',
      ),
      note('forward', 0, foot + 11, worded(words.forward, time(view, forward))),
      note('backward', width, foot + 11, worded(words.backward, time(view, busy - forward)), 'small soft', 'end'),
    ];
  },

  act: (view, cut) => ({ cut }),
  handles(view) {
    const { p, solved, words } = view;
    const { pull, a, b, X } = scaled(view);
    const v = p[pull];
    return pull
      ? [
          {
            id: pull,
            label: words.axis[p.cut],
            x: X(solved.here),
            y: placed(view).scale + 34,
            lo: a,
            hi: b,
            step: v / 2,
            leap: v / 2,
            grid: 1,
            value: v,
            words: count(solved.here),
          },
        ]
      : [];
  },
  pull(view, id, x) {
    const { a, b, at, X } = scaled(view);
    const off = (v) => abs(X(at(v)) - x);
    return range(1 + Math.log2(b / a))
      .map((e) => a * 2 ** e)
      .sort((u, v) => off(u) - off(v))[0];
  },

  place: (view, t) => worded(view.words.at, time(view, t), time(view, view.solved.total)),
  numbers: (view) => ({
    ...view.solved,
    spans: view.solved.spans.map((s) => [s.lane, s.what, s.backward, s.start, s.end]),
    rows: rowsOf(view).map(([cut, s]) => [cut, s.layer, s.step, s.from, s.here, s.idle]),
  }),
  sentence(view) {
    const { p, solved, data, words } = view;
    const { link } = data.splits[p.cut];
    return [
      words.says[p.cut],
      worded(
        words.sends,
        modelOf(p, data).name,
        bytes(view, solved.layer),
        bytes(view, solved.step),
        link === data.near ? link : words.over,
      ),
      worded(words.pays[p.cut], count(solved.from), count(solved.here)),
      never(solved) ? words.works : worded(words.waits, show(solved.idle, SHARE)),
    ].join(' ');
  },
  table(view) {
    const { data, words } = view;
    return [
      words.heads,
      ...rowsOf(view).map(([cut, s]) => [
        data.splits[cut].name,
        words.copies[cut],
        data.splits[cut].link,
        bytes(view, s.layer),
        bytes(view, s.step),
        count(s.from),
        count(s.here),
        show(s.idle, SHARE),
      ]),
    ];
  },
  /** A table with a row for each split that has been tried. All rows have their words, so that nothing moves. */
  below(view, el) {
    const { spec, p, words } = view;
    const { of } = spec.choices.cut;
    const tried = (el.tried ??= new Set()).add(p.cut);
    if (!el.firstChild) {
      const cells = '<td></td>'.repeat(words.columns.length - 1);
      el.innerHTML = `<table><thead><tr>${joined(words.columns, (c) => `<th>${c}</th>`)}</tr></thead><tbody>${joined(of, ([cut, name]) => `<tr><th><button type="button" data-choice="cut" data-v="${cut}">${name}</button></th>${cells}</tr>`)}</tbody></table>`;
    }
    of.forEach(([cut], i) => {
      const row = $$('tbody tr', el)[i];
      const [has, ...cells] = this.row(view, cut);
      row.className = has && tried.has(cut) ? '' : 'blank';
      row.firstChild.firstChild.ariaPressed = cut === p.cut;
      cells.forEach((said, k) => write(row.cells[k + 1], said));
    });
  },
  row(view, cut) {
    const { p, call, data, words } = view;
    const s = priced(p, call, data, cut);
    const { link } = data.splits[cut];
    const pays = cut === 'tp' ? s.here <= s.from : s.here >= s.from;
    const two = (top, below) => `${top}<small>${below}</small>`;
    return [
      cut !== 'ep' || modelOf(p, data).E > 1,
      two(words.moved[cut], worded(words.by[cut], link)),
      two(bytes(view, s.layer), worded(words.perstep, bytes(view, s.step))),
      two(worded(words.from[cut], count(s.from)), worded(words.here[+pays], count(s.here))),
    ];
  },
  hover(view, el) {
    const s = view.solved.spans[el.dataset.told];
    return s
      ? `<b>${worded(view.words.pass, view.words.named[s.what], view.words.passes[+s.backward])}</b>${time(view, s.end - s.start)}`
      : '';
  },
  call({ p, data, spec }) {
    const [call, names] = data.calls[p.cut];
    const given = inputs(p, data, p.cut);
    return worded(call, ...names.map((k) => literal(given[k], spec.units[k])));
  },
};
globalThis.gpuscale.wake?.();
