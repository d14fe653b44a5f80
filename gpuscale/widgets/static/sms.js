/* The tiles of a matrix on the SMs of a GPU, wave by wave. Below, the fraction of the SMs' time that they fill, over the
   columns of the matrix. */
const percent = (v) => show(v, SHARE), count = (v) => show(v, COUNT), seconds = (view, v) => show(v, view.spec.units.T);
const box = (x, y, w, h) => `M${px(x)} ${px(y)}h${px(w)}v${px(h)}h${px(-w)}z`;
const label = (key, x, y, words, cls = 'small soft', anchor = 'start') => ({ key, tag: 'text', x, y, words, class: cls, 'text-anchor': anchor });
const path = (key, d, cls, more) => ({ key, tag: 'path', d, class: cls, ...more });
const rows = (p, data, M = p.M) => ceil(M / data.tiles[p.tile][0]), columns = (p, data, N = p.N) => ceil(N / data.tiles[p.tile][1]);

const die = {
  solve(p, call, data) {
    const [high, wide] = data.tiles[p.tile], tiles = rows(p, data) * columns(p, data), busy = [], { sms } = data;
    for (let left = tiles; left > 0; left -= sms) busy.push(min(left, sms));
    const waves = busy.length, one = call('tile', { ...data.peak, B: high, F: wide }), fill = call('fill', { n_tiles: tiles, n_sm: sms });
    return {
      tiles, busy, waves, one, fill, total: waves * one, marks: range(waves - 1).map((w) => (w + 1) * one), last: busy.at(-1), used: busy.reduce((a, b) => a + b) / (waves * sms),
      inside: p.M * p.N / (tiles * high * wide), pace: min(data.pace, 14 / (waves * one)),
      teeth: range(columns(p, data, data.most)).map((c) => { const n_tiles = (c + 1) * rows(p, data); return { n_tiles, waves: ceil(n_tiles / sms), fill: call('fill', { n_tiles, n_sm: sms }) }; }),
    };
  },
  height(view) { const L = layout(view); return max(L.bottom + 20, L.strip + L.high + 24); },

  draw(view, t) {
    const { p, solved, data, words, hatch, width } = view, L = layout(view), { w, f } = moment(solved, t), { sms } = data, busy = solved.busy[w], out = [], cell = L.s - 4;
    // the chip: HBM on both sides, the SMs in two halves around the L2 cache, NVLink below
    out.push(path('hbm', joined([0, L.dw - L.hb], (x) => box(x, L.y, L.hb, L.bottom - L.y)), 'memory part'), path('chip', box(L.x, L.y, L.cw, L.bottom - L.y), 'chip'));
    out.push(path('l2', box(L.left, L.mid, L.right - L.left, L.l2), 'memory part'), path('links', joined(range(data.links), (i) => box(L.left + (i + .1) * L.link, L.bottom - 12, .8 * L.link, 7)), 'scaleup links'));
    out.push(label('hbmname', 0, L.y - 9, words.hbm, 'memory small name'), label('gpu', L.dw / 2, L.y - 9, worded(words.gpu, data.name, sms), 'small soft', 'middle'));
    out.push(label('l2name', L.dw / 2, L.mid + L.l2 / 2 + 4, data.l2, 'memory small name', 'middle'), label('linkname', L.dw / 2, L.bottom + 15, words.links, 'scaleup small name', 'middle'));
    const at = range(sms).map(L.sm), some = (from, to, y, high) => joined(at.slice(from, to), ([x, top]) => box(x + 2, top + y, cell, high));
    for (const i of range(sms)) out.push({ key: `sm${i}`, tag: 'rect', x: at[i][0], y: at[i][1], width: L.s, height: L.s, rx: 1.5, class: i < busy ? 'compute sm busy' : 'sm', told: `sm ${i}` });
    out.push(path('fill', some(0, busy, 2 + cell * (1 - f), cell * f), 'compute solid'), path('idle', some(busy, sms, 2, cell), '', { fill: hatch }));
    out.push(path('cross', joined(at, ([x, y]) => `M${px(x + L.s / 2)} ${px(y + 2)}v${px(cell)}M${px(x + 2)} ${px(y + L.s / 2)}h${px(cell)}`), 'cross-cut'));
    // the matrix: tiles that are done, that run, and that come later
    const { mx, my, k } = L, [high, wide] = data.tiles[p.tile], cols = columns(p, data), down = rows(p, data), W = cols * wide * k, H = down * high * k, gap = min(1, high * k / 6);
    const tile = (i) => [mx + i % cols * wide * k, my + floor(i / cols) * high * k], some_ = (from, to) => joined(range(to - from), (i) => { const [x, y] = tile(from + i); return box(x, y, wide * k - gap, high * k - gap); });
    out.push(path('ruled', joined(range(data.most / high + 1), (i) => `M${px(mx)} ${px(my + i * high * k)}h${L.side}`) + joined(range(data.most / wide + 1), (i) => `M${px(mx + i * wide * k)} ${px(my)}v${L.side}`), 'ruled'));
    out.push(path('past', some_(0, w * sms), 'compute tiles past'), path('run', some_(w * sms, w * sms + busy), 'compute tiles'), path('later', some_(w * sms + busy, solved.tiles), 'compute tiles later'));
    if (solved.inside < 1) out.push(path('beyond', box(mx, my, W, H) + box(mx, my, p.N * k, p.M * k), 'beyond', { 'fill-rule': 'evenodd' }), path('beyond-hatch', box(mx, my, W, H) + box(mx, my, p.N * k, p.M * k), '', { fill: hatch, 'fill-rule': 'evenodd' }));
    out.push({ key: 'C', tag: 'rect', x: mx, y: my, width: p.N * k, height: p.M * k, class: 'edge' });
    out.push(label('name', mx, my - 28, worded(words.matrix, count(p.M), count(p.N)), 'strong'), label('tiles', mx, my - 10, worded(words.product, down, cols, count(solved.tiles)), 'small soft'));
    // tiles on their way to the SMs
    const fly = f / .14;
    if (f > 0 && fly < 1) for (const i of range(busy)) {
      const u = fly * fly * (3 - 2 * fly), [x, y] = tile(w * sms + i), mix = (a, b) => a + (b - a) * u;
      out.push({ key: `fly${i}`, tag: 'rect', x: mix(x, at[i][0] + 2), y: mix(y, at[i][1] + 2), width: mix(wide * k - gap, cell), height: mix(high * k - gap, cell), class: 'compute fly' });
    }
    return [out, this.saw(view, L)];
  },
  /** The fraction of the SMs' time that is used, over N. */
  saw({ p, solved, data, words }, { mx, k, strip, high, side, my }) {
    const out = [], Y = (v) => strip + high * (1 - v), wide = data.tiles[p.tile][1], X = (N) => mx + min(N, data.most) * k, now = mx + p.N * k;
    for (const v of [.5, 1]) out.push(path(`y${v}`, `M${px(mx)} ${px(Y(v))}h${side}`, 'grid'), label(`yt${v}`, mx - 6, Y(v) + 4, show(v, SHARE, true), 'small soft', 'end'));
    out.push(path('base', `M${px(mx)} ${px(Y(0))}h${side}`, 'spine'), path('hang', `M${px(now)} ${px(my + p.M * k)}V${px(Y(solved.fill))}`, 'cross'));
    out.push(path('saw', joined(solved.teeth, ({ fill }, c) => `${c ? 'V' : `M${px(mx)} `}${px(Y(fill))}H${px(X((c + 1) * wide))}`), 'compute curve'));
    let from = mx - 4;
    solved.teeth.forEach(({ waves }, c) => {
      const end = X((c + 1) * wide), room = end - from;
      if (solved.teeth[c + 1]?.waves > waves && room > 16) { out.push(label(`wave${c}`, end, strip - 8, room > 56 ? worded(waves > 1 ? words.waves : words.wave, waves) : count(waves), 'small soft', 'end')); from = end; }
    });
    const net = solved.fill * solved.inside;
    if (solved.inside < .97) out.push({ key: 'net', tag: 'circle', cx: now, cy: Y(net), r: 3.5, class: 'compute open dot' });
    out.push({ key: 'dot', tag: 'circle', cx: now, cy: Y(solved.fill), r: 5, class: 'compute dot' });
    out.push(label('sawname', mx, Y(0) + 18, words.saw), label('sawnow', mx + side, Y(0) + 18, percent(solved.fill), 'compute rate', 'end'));
    return out;
  },

  handles(view) {
    const { p, data, words } = view, { mx, my, k } = layout(view), [high, wide] = data.tiles[p.tile], one = (id, at, leap, label) => ({ id, label, ...at, lo: id === 'N' ? 256 : 128, hi: data.most, step: 32, grid: 32, leap, value: p[id], words: count(p[id]) });
    return [one('N', { x: mx + p.N * k + 8, y: my + p.M * k }, wide, words.columns), one('M', { x: mx, y: my + p.M * k + 9 }, high, words.rows)];
  },
  pull(view, id, x, y) { const { mx, my, k } = layout(view); return id === 'N' ? (x - 8 - mx) / k : (y - 9 - my) / k; },
  place: ({ solved, words }, t) => worded(words.place, moment(solved, t).w + 1, solved.waves),
  meter({ solved, data, words, spec }) {
    const full = solved.waves * data.sms, mark = solved.fill * full;
    return { name: worded(words.slots, data.sms, solved.waves), words: worded(words.or, count(solved.tiles), percent(solved.used)), value: solved.tiles, full, mark, hue: 'compute', met: abs(solved.tiles - mark) < 1e-6, label: worded(FORMULA_SAYS, spec.symbols.fill, percent(solved.fill)) };
  },
  numbers({ p, solved, data }, t) {
    const { w, f } = moment(solved, t), { pace, ...rest } = solved;
    return { ...rest, rows: rows(p, data), columns: columns(p, data), wave: w, part: f, done: w * data.sms + (f < 1 ? 0 : solved.busy[w]) };
  },
  sentence(view) {
    const { solved, data, words } = view, { waves, last, one, total } = solved, idle = data.sms - last;
    const many = [worded(words.tile, count(solved.tiles)), worded(waves > 1 ? words.take : words.takes, waves)].join(' ');
    const rest = idle ? worded(idle > 1 ? words.idle : words.alone, idle) : words.full;
    const cost = waves > 1 && idle ? worded(last > 1 ? words.without : words.less, ...(last > 1 ? [last] : []), seconds(view, total - one), seconds(view, total)) : worded(words.time, seconds(view, total));
    return [many, rest, cost, solved.inside < 1 ? worded(words.outside, percent(1 - solved.inside)) : ''].join(' ').trim();
  },
  table(view) {
    const { solved, data, words } = view;
    return [words.heads, ...solved.busy.map((busy, w) => [w + 1, busy, data.sms - busy, seconds(view, w * solved.one), seconds(view, (w + 1) * solved.one)])];
  },
  hover({ solved, data, words }, el, t) {
    const [what, i] = (el.dataset.told ?? '').split(' '), { w } = moment(solved, t), tile = w * data.sms + +i + 1;
    return what === 'sm' ? `<b>${worded(words.sm, +i + 1)}</b>${+i < solved.busy[w] ? worded(words.works, count(tile), count(solved.tiles)) : worded(words.rests, w + 1)}` : '';
  },
  call: ({ solved, data }) => `wave_fill(n_tiles=${solved.tiles}, n_sm=${data.sms})`,
};
/** The wave of a moment, and the part of it that is over. */
function moment({ waves, one }, t) { const w = min(waves - 1, floor(t / one + 1e-9)); return { w, f: clamp(t / one - w, 0, 1) }; }
/** Where things stand: the chip, and the matrix beside or below it. */
function layout({ width, data }) {
  const wide = width >= 540, dw = wide ? width - 262 : width, hb = wide ? 24 : 18, x = hb + 5, cw = dw - 2 * x, pad = 8, y = 26, half = ceil(data.sms / 2), p = (cw - 2 * pad) / data.across, down = ceil(half / data.across) * p, l2 = wide ? 46 : 34;
  const top = y + pad, mid = top + down + 6, low = mid + l2 + 6, bottom = low + down + 20, side = wide ? 200 : min(250, width - 62), mx = wide ? width - side - 16 : 44, my = wide ? 54 : bottom + 74;
  const sm = (i) => { const n = i < half ? i : i - half; return [x + pad + n % data.across * p + 1, (i < half ? top : low) + floor(n / data.across) * p + 1]; };
  return { dw, hb, x, cw, y, mid, l2, bottom, left: x + pad, right: x + cw - pad, link: (cw - 2 * pad) / data.links, s: p - 2, sm, side, k: side / data.most, mx, my, strip: my + side + (wide ? 58 : 40), high: wide ? 96 : 72 };
}

figures.sms = { ...die, pace: (p, solved) => solved.pace };
globalThis.gpuscale.wake?.();
