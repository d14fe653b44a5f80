/* One layer, tokens times weights, split over GPUs in six ways. The object and the silhouettes of the GPUs are the same
   paths in frames of their own, so that a piece glides to its GPU. The lanes are the twin of schedules.timelines.layer. */
const TILES = 8, TALL = 80, WIDE = 240, ATTN = 40, UP = 126;   // tiles along an edge; the frames of tokens and weights, before they are scaled
const AT = 3;                                                  // the layer that is drawn at work, from the top

/** The model that is split: experts take one that has them. */
const modelOf = (p, data, cut = p.cut) => data.models[p.model].E > 1 || cut !== 'ep' ? data.models[p.model] : data.models.find((m) => m.E > 1);
const inputs = (p, data, cut) => ({ ...modelOf(p, data, cut), ...data.bytes, C: p.C, W: data.splits[cut].W, S: p.S, B: p.seqs * p.S, [data.micro]: p.seqs, ...fromEntries(data.degrees.map((k) => [k, p.n])) });
/** Spans on the lanes, 0 arithmetic and 1 the link, of the forward and the backward pass of a layer. */
function clocked(work, moves) {
  const spans = [];
  let begin = 0;
  for (const backward of [false, true]) {
    const here = moves.filter((m) => m.backward === backward), link = [];
    let now = begin;
    const carried = (m, start, time) => { if (time > 0) link.push({ ...m, lane: 1, start, end: start + time }); return start + time; };
    for (const { block, time } of backward ? [...work].reverse() : work) {
      const mine = (when) => here.filter((m) => m.when === when && m.block === block);
      for (const m of mine('before')) now = carried(m, now, m.time);
      let beside = now;
      const end = now + time * (backward ? 2 : 1);
      spans.push({ lane: 0, what: block, backward, start: now, end });
      for (const m of mine('beside')) beside = carried(m, beside, m.time);
      now = max(end, beside);
      for (const m of mine('after')) now = carried(m, now, m.time);
    }
    const taken = [...link];
    let free = begin;
    for (const m of here.filter((one) => one.when === 'behind')) {
      let left = m.time;
      while (taken.length && left > 0) {
        const part = min(left, max(0, taken[0].start - free));
        free = carried(m, free, part); left -= part;
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
  const given = inputs(p, data, cut), split = data.splits[cut], alone = cut === 'pp' ? 1 : p.n, shared = { ...given, Y: alone, n_cp: alone };
  const work = data.work.map((block) => ({ block, time: call(block, shared) }));
  const moves = split.moves.map(([what, backward, when, block, amount]) => { const sent = call(amount, given); return { what, backward, when, block, amount, sent, time: sent / given.W }; });
  const spans = clocked(work, moves), busy = max(...spans.map((s) => s.end)), total = cut === 'pp' ? busy * (1 + call('bubble', given)) : busy;
  const layer = moves.reduce((all, m) => all + m.sent, 0), math = spans.reduce((all, s) => all + (s.lane ? 0 : s.end - s.start), 0), exact = cut === 'pp' ? data.few[p.n] : call(`from_${cut}`, given);
  return {
    spans, total, busy, layer, step: layer * given.L / (cut === 'pp' ? p.n : 1), stored: call(`stored_${cut}`, given), idle: max(0, 1 - math / total),
    from: cut === 'tp' ? floor(exact * (1 + 1e-9)) : ceil(exact * (1 - 1e-9)), here: call(`here_${cut}`, given), forward: max(...spans.filter((s) => !s.backward).map((s) => s.end)),
  };
}
/** What is on the link at a time, and how much of it has arrived; what is too short to be seen is drawn for longer. */
function sent({ spans, total }, t) {
  const lasts = (s) => max(s.end - s.start, SEEN * total), move = spans.findLast((s) => s.lane && s.start <= t && t < s.start + lasts(s));
  return { move, done: move ? (t - move.start) / lasts(move) : 0 };
}
const SEEN = .07, EVEN = .0005, never = (s) => s.idle < EVEN, bytes = (view, v) => show(v, view.spec.units.V), time = (view, v) => show(v, view.spec.units.T), count = (v) => show(v, COUNT);
const idle = (v) => show(v, SHARE);
const box = (x, y, w, h) => `M${px(x)} ${px(y)}h${px(w)}v${px(h)}h${px(-w)}z`;

/* Pieces, as paths in the frames; each is worked out once */
const paths = new Map();
const once = (key, make) => paths.get(key) ?? paths.set(key, make()).get(key);
/** Tokens: piece i of n by rows or columns; all of them without a way. */
const tokens = (way, i, n) => once(`t${way}${i}/${n}`, () => joined(range(TILES * TILES), (q) => {
  const r = floor(q / TILES), c = q % TILES, at = floor((way === 'rows' ? r : c) * n / TILES), one = TALL / TILES;
  return way && at !== i ? '' : box(c * one, r * one, one - 1, one - 1);
}));
/** The matrices of a layer, [x, width, whether it is split by rows, the expert]. */
const matrices = (many) => many > 1 ? [[0, ATTN, 0, -1], ...range(many).map((e) => { const w = (WIDE - ATTN - 4) / many; return [ATTN + 4 + e * w, w - 1, 0, e]; })] : [[0, ATTN, 0, -1], [ATTN + 4, UP, 0, 0], [ATTN + UP + 8, WIDE - ATTN - UP - 8, 1, 0]];
/** Weights: piece i of n by layers (rows), by columns, or by experts; 'attn' is what experts repeat. */
const weights = (way, i, n, many) => once(`w${way}${i}/${n},${many}`, () => joined(range(TILES), (r) => {
  const one = TALL / TILES, high = one - 1.5;
  if (way === 'rows' && floor(r * n / TILES) !== i || way === 'layer' && r !== i) return '';
  return joined(matrices(many), ([x, w, byRows, e]) => {
    if (way === 'attn' ? e >= 0 : way === 'experts' && (e < 0 || floor(e * n / many) !== i)) return '';
    if (way !== 'columns') return box(x, r * one, w, high);
    return byRows ? box(x, r * one + i * high / n, w, high / n) : box(x + i * w / n, r * one, max(.6, w / n - .6), high);
  });
}));

/** Where everything stands. */
function placed({ width, p }) {
  const small = width < 480, side = small ? 44 : 48, a = { x: side, y: 28, w: small ? 66 : 112, h: small ? 96 : 112 }, wx = side + a.w + (small ? 22 : 36);
  const w = { x: wx, y: a.y, w: width - wx - side, h: a.h }, gap = small ? 4 : 10, bw = min(150, (width - (p.n - 1) * gap) / p.n), x0 = (width - p.n * bw - (p.n - 1) * gap) / 2;
  const head = a.y + a.h + 44, top = head + (small ? 28 : 10), high = small ? 108 : 124, bus = top + high + 15;
  const boxes = range(p.n).map((i) => { const x = x0 + i * (bw + gap), in_ = bw < 50 ? 3 : 6; return { x, y: top, w: bw, h: high, mid: x + bw / 2, a: { x: x + in_, y: top + 22, w: bw - 2 * in_, h: high * .28 }, wt: { x: x + in_, y: top + 28 + high * .28, w: bw - 2 * in_, h: high * .72 - 34 } }; });
  const told = bus + 24, scale = told + (small ? 42 : 26), lanes = scale + 66;
  return { small, a, w, boxes, head, bus, told, scale, lanes, end: lanes + 92 };
}
const frame = (f, wide, dx = 0, dy = 0) => `translate(${px(f.x + dx)} ${px(f.y + dy)}) scale(${+(f.w / wide).toFixed(4)} ${+(f.h / TALL).toFixed(4)})`;
/** The scale on which a split pays or not: logarithmic, with all that a hand can reach. */
function scaled(view) {
  const { p, solved, data, call, width } = view, { pull } = data.splits[p.cut], at = (v) => call(`here_${p.cut}`, inputs(pull ? { ...p, [pull]: v } : p, data, p.cut));
  const [a, b] = pull ? data.bounds[pull] : [0, 0], lo = min(at(a), solved.from) / 1.5, hi = max(at(b), solved.from) * 1.5;
  return { pull, a, b, at, X: (v) => 8 + (width - 16) * Math.log(v / lo) / Math.log(hi / lo) };
}

figures.overview = {
  glide: 850,
  solve(p, call, data) {
    const solved = priced(p, call, data, p.cut);
    return { ...solved, marks: [...new Set(solved.spans.map((s) => s.end))].filter((t) => t < solved.total).sort((a, b) => a - b) };
  },
  pace: (p, solved) => 9 / solved.total,
  fit(p) {
    const two = (v) => 2 ** round(Math.log2(v));
    return { ...p, n: two(p.n), seqs: two(p.seqs), S: two(p.S) };
  },
  uses: (p, name) => name !== 'model' || p.cut !== 'ep',
  height: (view) => placed(view).end,

  draw(view, t) {
    const { p, solved, data, words, width } = view, at = placed(view), { small, a, w, boxes } = at, split = data.splits[p.cut], many = modelOf(p, data).E, hue = split.link === data.near ? 'scaleup' : 'scaleout', out = [];
    const text = (key, x, y, said, cls = 'small soft', anchor = 'start', more) => out.push({ key, tag: 'text', x, y: y - 4, words: said, class: cls, 'text-anchor': anchor, ...more });
    const path = (key, d, cls, more) => out.push({ key, tag: 'path', d, class: cls, ...more });
    const colour = (i) => ({ style: `--i:${i * TILES / p.n}` });
    // the object, and its pieces
    const apart = (way, i) => { const d = way ? (i - (p.n - 1) / 2) * min(3, 12 / p.n) : 0; return way === 'rows' ? [0, d] : [d, 0]; };
    if (split.tokens) for (const i of range(p.n)) path(`o.t.${i}`, tokens(split.tokens, i, p.n), 'tile', { transform: frame(a, TALL, ...apart(split.tokens, i)), from: 'o.t.0', ...colour(i) });
    else path('o.t.0', tokens('', 0, 1), 'copy', { transform: frame(a, TALL) });
    if (split.weights === 'experts') path('o.attn', weights('attn', 0, 1, many), 'copy', { transform: frame(w, WIDE), from: 'o.w.0' });
    if (split.weights) for (const i of range(p.n)) path(`o.w.${i}`, weights(split.weights, i, p.n, many), 'tile', { transform: frame(w, WIDE, ...(split.weights === 'columns' ? [0, 0] : apart(split.weights, i))), from: 'o.w.0', ...colour(i) });
    else path('o.w.0', weights('', 0, 1, many), 'copy', { transform: frame(w, WIDE) });
    text('times', (a.x + a.w + w.x) / 2, a.y + a.h / 2 + 4, '×', 'mid soft', 'middle');
    text('o.tokens', a.x + a.w / 2, a.y + a.h + 18, words.tokens, 'small soft', 'middle');
    const share = w.w / WIDE, names = small ? [[words.weights, WIDE / 2]] : [[words.attn, ATTN / 2], ...(many > 1 ? [[worded(words.experts, many), ATTN + 4 + (WIDE - ATTN) / 2]] : [[words.up, ATTN + 4 + UP / 2], [words.down, (ATTN + UP + 8 + WIDE) / 2]])];
    names.forEach(([name, x], i) => text(`o.name${i}`, w.x + x * share, a.y + a.h + 18, name, 'small soft', 'middle'));
    // knives at the edges
    const place = { dp: [0, a.y + a.h / 2 + 4, 'start'], cp: [a.x + a.w / 2, 12, 'middle'], tp: [w.x + w.w * (many > 1 ? .12 : .3), 12, 'middle'], zero: [w.x + w.w * .88, 12, 'middle'], pp: [width, a.y + a.h / 2 + 4, 'end'], ...(many > 1 && { ep: [w.x + w.w * .5, 12, 'middle'] }) };
    for (const [cut, [x, y, anchor]] of entries(place)) text(`knife.${cut}`, x, y, words.knives[cut], cut === p.cut ? 'small knife chosen' : 'small knife', anchor, { act: cut, group: 'knives', pressed: cut === p.cut, label: worded(words.knife, data.splits[cut].name, words.knives[cut]) });
    // GPUs: what each holds
    text('stored', 0, at.head, worded(words.stored, bytes(view, solved.stored), show(data.memory, view.spec.units.V, true)), 'memory rate small');
    text('repeated', small ? 0 : width, at.head + (small ? 17 : 0), words.repeated[p.cut], 'small soft', small ? 'start' : 'end');
    const now = solved.spans.find((s) => !s.lane && s.start <= t && t < s.end), { move, done } = sent(solved, t), mine = `${p.cut}${p.n}`;
    boxes.forEach((b, i) => {
      const own = p.cut === 'pp' ? floor((i + .5) * TILES / p.n) : AT, row = own * TALL / TILES;
      out.push({ key: `gpu${i}`, tag: 'rect', x: b.x, y: b.y, width: b.w, height: b.h, rx: 5, class: 'gpu', told: `gpu ${i}`, from: `gpu${i - 1}` });
      text(`gpuname${i}`, b.w < 60 ? b.mid : b.x + 8, b.y + 15, b.w < 60 ? `${i}` : worded(words.gpu, i), 'small strong', b.w < 60 ? 'middle' : 'start');
      path(`well.t${i}`, tokens('', 0, 1), 'well', { transform: frame(b.a, TALL) }); path(`well.w${i}`, weights('', 0, 1, many), 'well', { transform: frame(b.wt, WIDE) });
      const t_ = p.cut === 'pp' ? tokens('rows', p.n - 1 - i, p.n) : tokens(split.tokens, i, p.n), w_ = weights(split.weights, i, p.n, many);
      path(`${mine}.t${i}`, t_, split.tokens ? 'tile' : 'copy', { transform: frame(b.a, TALL), from: 'o.t.0', ...colour(i) });
      if (p.cut === 'zero') path(`${mine}.full${i}`, weights('layer', AT, 1, many), 'copy', { transform: frame(b.wt, WIDE), opacity: move?.what === split.moves[0][0] ? done : now ? 1 : 0 });
      if (split.weights === 'experts') path(`${mine}.attn${i}`, weights('attn', 0, 1, many), 'copy', { transform: frame(b.wt, WIDE), from: 'o.w.0' });
      path(`${mine}.w${i}`, w_, split.weights ? 'tile' : 'copy', { transform: frame(b.wt, WIDE), from: 'o.w.0', ...colour(i) });
      const last = now && now.what === data.work.at(-1), k = b.wt.w / WIDE, x = last ? ATTN + 3 : -1;
      if (now) out.push({ key: `now${i}`, tag: 'rect', x: b.wt.x + x * k, y: b.wt.y + row * b.wt.h / TALL - 2, width: k * (last ? WIDE - x : ATTN + 2), height: b.wt.h / TILES + 3, rx: 2, class: 'compute works' });
    });
    // wires, and what flies on them
    const ends = [boxes[0].mid, boxes.at(-1).mid], top = boxes[0].y + boxes[0].h;
    path('bus', `M${px(ends[0])} ${at.bus}H${px(ends[1])}`, `${hue} wire`);
    boxes.forEach((b, i) => path(`drop${i}`, `M${px(b.mid)} ${px(top)}V${at.bus}`, `${hue} wire`));
    if (move) out.push(this.flying(view, at, move, done, hue));
    text('moves', 0, at.told, words.moves[p.cut], `${hue} rate small`);
    text('wire', small ? 0 : width, at.told + (small ? 16 : 0), worded(words.wire, split.link, show(split.W, view.spec.units.W)), 'small soft', small ? 'start' : 'end');
    return [out, this.paying(view, at), this.lanes(view, at, t, hue)];
  },

  /** Pieces on their way along the bus: in rings hop by hop, to all round by round, or to the next stage. */
  flying({ p, data }, { boxes, bus }, move, done, hue) {
    const { n } = p, how = data.patterns[move.amount], rounds = { twice: 2 * n - 2, ring: n - 1, all: n - 1, next: 1 }[how], top = boxes[0].y + boxes[0].h;
    const round_ = min(rounds - 1, floor(done * rounds)), f = done * rounds - round_, u = f * f * (3 - 2 * f);
    return range(n).map((i) => {
      const to = how === 'next' ? i + (move.backward ? -1 : 1) : (i + (how === 'all' ? round_ + 1 : 1)) % n;
      if (to < 0 || to >= n) return null;
      const from = boxes[i].mid, goal = boxes[to].mid, down = bus - top, along = abs(goal - from), way = u * (2 * down + along), back = how === 'ring' || how === 'twice' ? (i - round_ + 2 * n) % n : i;
      const x = from + sign(goal - from) * clamp(way - down, 0, along), y = way < down ? top + way : way > down + along ? bus - (way - down - along) : bus;
      return { key: `fly${i}`, tag: 'rect', x: x - 6, y: y - 6, width: 12, height: 12, rx: 2, class: `${hue} packet tile`, style: `--i:${back * TILES / n}` };
    });
  },

  /** From when the split pays, and where it is now. */
  paying(view, { scale, small }) {
    const { p, solved, words, width } = view, { X } = scaled(view), y = scale + 34, mark = X(solved.from), up = p.cut === 'tp', said = worded(words.marks[p.cut], count(solved.from)), x = X(solved.here);
    const room = said.length * (small ? 5.6 : 6.2);
    return [
      { key: 'axis', tag: 'text', x: 0, y: scale - 4, words: words.axis[p.cut], class: 'small soft' },
      { key: 'line', tag: 'path', d: `M0 ${y}H${px(width)}`, class: 'rule' },
      { key: 'good', tag: 'rect', x: up ? 0 : mark, y: y - 5, width: max(.1, up ? mark : width - mark), height: 10, rx: 2, class: 'compute good' },
      { key: 'mark', tag: 'path', d: `M${px(mark)} ${y - 9}V${y + 9}`, class: 'now-line' },
      { key: 'marked', tag: 'text', x: clamp(mark, room / 2, width - room / 2), y: y - 17, 'text-anchor': 'middle', words: said, class: 'small' },
      { key: 'here', tag: 'path', d: `M${px(x)} ${y - 7}V${y + 7}`, class: 'now-line' },
      { key: 'hereat', tag: 'text', x: clamp(x, 24, width - 24), y: y + 18, 'text-anchor': 'middle', words: count(solved.here), class: 'strong small' },
    ];
  },

  /** One layer on one GPU, forward and backward, to scale. */
  lanes(view, { lanes: y0 }, t, hue) {
    const { p, solved, data, words, width } = view, X = (s) => width * s / solved.total, out = [], high = 19, ys = [y0 + 18, y0 + 58];
    const text = (key, x, y, said, cls, anchor = 'start') => out.push({ key, tag: 'text', x, y: y - 4, words: said, class: cls, 'text-anchor': anchor });
    text('lane0', 0, ys[0] - 5, words.arithmetic, 'compute rate small'); text('idle', width, ys[0] - 5, never(solved) ? words.never : worded(words.idle, idle(solved.idle)), 'wait rate small', 'end');
    text('lane1', 0, ys[1] - 5, data.splits[p.cut].link, `${hue} rate small`); text('sent', width, ys[1] - 5, worded(words.sent, bytes(view, solved.layer)), 'small soft', 'end');
    ys.forEach((y, i) => out.push({ key: `lanewell${i}`, tag: 'rect', x: 0, y, width, height: high, class: 'well' }));
    out.push({ key: 'idles', tag: 'rect', x: 0, y: ys[0], width, height: high, fill: view.hatch });
    solved.spans.forEach((s, i) => {
      const x = X(s.start), w = max(.5, X(s.end) - x - .7), kind = s.lane ? hue : 'compute', name = words.named[s.what];
      out.push({ key: `span${i}`, tag: 'rect', x, y: ys[s.lane], width: w, height: high, class: `${kind} span${s.backward ? '' : ' ahead'}`, told: `span ${i}` });
      if (name.length * 6.3 + 6 < w) text(`spanname${i}`, x + w / 2, ys[s.lane] + 14, name, `small ${s.backward && hue !== 'scaleup' || s.backward && !s.lane ? 'onbar' : 'inbar'}`, 'middle');
    });
    const rest = solved.total - solved.busy;
    if (X(rest) > 50) out.push({ key: 'bubbleback', tag: 'rect', x: X(solved.busy + rest / 2) - 24, y: ys[0] + 2, width: 48, height: high - 4, rx: 3, class: 'back' }, { key: 'bubble', tag: 'text', x: X(solved.busy + rest / 2), y: ys[0] + 10, 'text-anchor': 'middle', words: words.bubble, class: 'small soft' });
    out.push({ key: 'turn', tag: 'path', d: `M${px(X(solved.forward))} ${ys[0] - 2}V${ys[1] + high + 2}`, class: 'cross' }, { key: 'clock', tag: 'path', d: `M${px(X(t))} ${ys[0] - 3}V${ys[1] + high + 3}`, class: 'now-line' });
    text('forward', 0, ys[1] + high + 15, worded(words.forward, time(view, solved.forward)), 'small soft'); text('backward', width, ys[1] + high + 15, worded(words.backward, time(view, solved.busy - solved.forward)), 'small soft', 'end');
    return out;
  },

  act: (view, cut) => ({ cut }),
  handles(view) {
    const { p, solved, words } = view, { pull, a, b, X } = scaled(view), v = p[pull];
    return pull ? [{ id: pull, label: words.axis[p.cut], x: X(solved.here), y: placed(view).scale + 34, lo: a, hi: b, step: v / 2, leap: v / 2, grid: 1, value: v, words: count(solved.here) }] : [];
  },
  pull(view, id, x) {
    const { a, b, at, X } = scaled(view), all = range(1 + Math.log2(b / a)).map((e) => a * 2 ** e);
    return all.reduce((best, v) => abs(X(at(v)) - x) < abs(X(at(best)) - x) ? v : best);
  },

  place({ solved, words, spec }, t) { return worded(words.at, show(t, spec.units.T), show(solved.total, spec.units.T)); },
  numbers(view) {
    const { p, solved, data, call } = view, { spans, total, busy, layer, step, stored, from, here, forward } = solved;
    return { spans: spans.map((s) => [s.lane, s.what, s.backward, s.start, s.end]), total, busy, layer, step, stored, from, here, forward, idle: solved.idle, rows: rowsOf(p, call, data).map(([cut, s]) => [cut, s.layer, s.step, s.from, s.here, s.idle]) };
  },
  sentence(view) {
    const { p, solved, data, words } = view, { link } = data.splits[p.cut];
    return [words.says[p.cut], worded(words.sends, modelOf(p, data).name, bytes(view, solved.layer), bytes(view, solved.step), link === data.near ? link : words.over), worded(words.pays[p.cut], count(solved.from), count(solved.here)), never(solved) ? words.works : worded(words.waits, idle(solved.idle))].join(' ');
  },
  table(view) {
    const { p, data, call, words } = view;
    return [words.heads, ...rowsOf(p, call, data).map(([cut, s]) => [data.splits[cut].name, words.copies[cut], words.moves[cut], data.splits[cut].link, bytes(view, s.layer), bytes(view, s.step), `${worded(words.marks[cut], count(s.from))} ${words.axis[cut]}`, count(s.here), never(s) ? '0' : idle(s.idle)])];
  },
  hover(view, el) {
    const { solved, words, data } = view, [what, i] = (el.dataset.told ?? '').split(' ');
    if (what === 'gpu') return `<b>${worded(words.gpu, i)}</b>${worded(words.stored, bytes(view, solved.stored), show(data.memory, view.spec.units.V, true))}`;
    const s = solved.spans[i];
    return what === 'span' ? `<b>${worded(words.pass, words.named[s.what], words.passes[+s.backward])}</b>${time(view, s.end - s.start)}` : '';
  },
  call({ p, data, spec }) {
    const [text, names] = data.calls[p.cut], given = inputs(p, data, p.cut);
    return worded(text, ...names.map((k) => literal(given[k], spec.units[k])));
  },
};
/** Every split that the model has, with what follows from it. */
const rowsOf = (p, call, data) => {
  const model = data.models.indexOf(modelOf(p, data));
  return keys(data.splits).filter((cut) => cut !== 'ep' || data.models[model].E > 1).map((cut) => [cut, priced({ ...p, model }, call, data, cut)]);
};
globalThis.gpuscale.wake?.();
