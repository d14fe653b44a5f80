/* The tiles of a matrix on the SMs of a GPU, wave by wave, and the fraction of the SMs' time that they fill, over the
   columns of the matrix. Any SM opens: its warps take turns, and registers and shared memory say how many there are. */
const percent = (v) => show(v, SHARE);
const count = (v) => show(v, COUNT);
const seconds = (view, v) => show(v, view.spec.units.T);
const path = (key, d, cls, more) => ({ key, tag: 'path', d, class: cls, 'pointer-events': 'none', ...more }); // what is pressed is below it
const rows = (p, data, M = p.M) => ceil(M / data.tiles[p.tile][0]);
const columns = (p, data, N = p.N) => ceil(N / data.tiles[p.tile][1]);

const die = {
  solve(p, call, data) {
    const [high, wide] = data.tiles[p.tile];
    const tiles = rows(p, data) * columns(p, data);
    const busy = [];
    const { sms } = data;
    for (let left = tiles; left > 0; left -= sms) busy.push(min(left, sms));
    const waves = busy.length;
    const one = call('tile', { ...data.peak, B: high, F: wide });
    const fill = call('fill', { n_tiles: tiles, n_sm: sms });
    return {
      tiles,
      busy,
      waves,
      one,
      fill,
      total: waves * one,
      marks: range(waves - 1).map((w) => (w + 1) * one),
      last: busy.at(-1),
      used: busy.reduce((a, b) => a + b) / (waves * sms),
      inside: (p.M * p.N) / (tiles * high * wide),
      pace: min(data.pace, 14 / (waves * one)),
      teeth: range(columns(p, data, data.most)).map((c) => {
        const n_tiles = (c + 1) * rows(p, data);
        return { n_tiles, waves: ceil(n_tiles / sms), fill: call('fill', { n_tiles, n_sm: sms }) };
      }),
    };
  },
  height(view) {
    const L = layout(view);
    return max(L.bottom + 20, L.strip + L.high + 24);
  },

  draw(view, t) {
    const { p, solved, data, words, hatch, width } = view;
    const L = layout(view);
    const { w, f } = moment(solved, t);
    const { sms } = data;
    const busy = solved.busy[w];
    const out = [];
    const cell = L.s - 4;
    // the chip: HBM on both sides, the SMs in two halves around the L2 cache, NVLink below
    out.push(
      path(
        'hbm',
        joined([0, L.dw - L.hb], (x) => box(x, L.y, L.hb, L.bottom - L.y)),
        'memory part',
      ),
      path('chip', box(L.x, L.y, L.cw, L.bottom - L.y), 'chip'),
    );
    out.push(
      path('l2', box(L.left, L.mid, L.right - L.left, L.l2), 'memory part'),
      path(
        'links',
        joined(range(data.links), (i) => box(L.left + (i + 0.1) * L.link, L.bottom - 12, 0.8 * L.link, 7)),
        'scaleup links',
      ),
    );
    out.push(
      label('hbmname', 0, L.y - 9, words.hbm, 'memory small name'),
      label('gpu', L.dw / 2, L.y - 9, worded(words.gpu, data.name, sms), 'small soft', 'middle'),
    );
    out.push(
      label('l2name', L.dw / 2, L.mid + L.l2 / 2 + 4, data.l2, 'memory small name', 'middle'),
      label('linkname', L.dw / 2, L.bottom + 15, words.links, 'scaleup small name', 'middle'),
    );
    const at = range(sms).map(L.sm);
    const some = (from, to, y, high) => joined(at.slice(from, to), ([x, top]) => box(x + 2, top + y, cell, high));
    for (const i of range(sms)) {
      out.push({
        key: `sm${i}`,
        tag: 'rect',
        x: at[i][0],
        y: at[i][1],
        width: L.s,
        height: L.s,
        rx: 1.5,
        class: i < busy ? 'compute sm busy' : 'sm',
        told: `sm ${i}`,
        act: i,
        group: 'sm',
        label: worded(words.open, i + 1),
      });
    }
    out.push(
      path('fill', some(0, busy, 2 + cell * (1 - f), cell * f), 'compute solid'),
      path('idle', some(busy, sms, 2, cell), '', { fill: hatch }),
    );
    out.push(
      path(
        'cross',
        joined(
          at,
          ([x, y]) => `M${px(x + L.s / 2)} ${px(y + 2)}v${px(cell)}M${px(x + 2)} ${px(y + L.s / 2)}h${px(cell)}`,
        ),
        'cross-cut',
      ),
    );
    // the matrix: tiles that are done, that run, and that come later
    const { mx, my, k } = L;
    const [high, wide] = data.tiles[p.tile];
    const cols = columns(p, data);
    const down = rows(p, data);
    const W = cols * wide * k;
    const H = down * high * k;
    const gap = min(1, (high * k) / 6);
    const tile = (i) => [mx + (i % cols) * wide * k, my + floor(i / cols) * high * k];
    const shape = `h${px(wide * k - gap)}v${px(high * k - gap)}h${px(gap - wide * k)}z`;
    const tiles = (from, to) =>
      joined(range(to - from), (i) => {
        const [x, y] = tile(from + i);
        return `M${px(x)} ${px(y)}${shape}`;
      });
    out.push(
      path(
        'ruled',
        joined(range(data.most / high + 1), (i) => `M${px(mx)} ${px(my + i * high * k)}h${L.side}`) +
          joined(range(data.most / wide + 1), (i) => `M${px(mx + i * wide * k)} ${px(my)}v${L.side}`),
        'ruled',
      ),
    );
    out.push(
      path('past', tiles(0, w * sms), 'compute tiles past'),
      path('run', tiles(w * sms, w * sms + busy), 'compute tiles'),
      path('later', tiles(w * sms + busy, solved.tiles), 'compute tiles later'),
    );
    if (solved.inside < 1) {
      out.push(
        path('beyond', box(mx, my, W, H) + box(mx, my, p.N * k, p.M * k), 'beyond', { 'fill-rule': 'evenodd' }),
        path('beyond-hatch', box(mx, my, W, H) + box(mx, my, p.N * k, p.M * k), '', {
          fill: hatch,
          'fill-rule': 'evenodd',
        }),
      );
    }
    out.push({ key: 'C', tag: 'rect', x: mx, y: my, width: p.N * k, height: p.M * k, class: 'edge' });
    out.push(
      label('name', mx, my - 28, worded(words.matrix, count(p.M), count(p.N)), 'strong'),
      label('tiles', mx, my - 10, worded(words.product, down, cols, count(solved.tiles)), 'small soft'),
    );
    // tiles on their way to the SMs
    const fly = f / 0.14;
    if (f > 0 && fly < 1) {
      for (const i of range(busy)) {
        const u = fly * fly * (3 - 2 * fly);
        const [x, y] = tile(w * sms + i);
        const mix = (a, b) => a + (b - a) * u;
        out.push({
          key: `fly${i}`,
          tag: 'rect',
          x: mix(x, at[i][0] + 2),
          y: mix(y, at[i][1] + 2),
          width: mix(wide * k - gap, cell),
          height: mix(high * k - gap, cell),
          class: 'compute fly',
        });
      }
    }
    return [out, die.saw(view, L)];
  },
  /** The fraction of the SMs' time that is used, over N. */
  saw({ p, solved, data, words }, { mx, k, strip, high, side, my }) {
    const out = [];
    const Y = (v) => strip + high * (1 - v);
    const wide = data.tiles[p.tile][1];
    const X = (N) => mx + min(N, data.most) * k;
    const now = mx + p.N * k;
    for (const v of [0.5, 1]) {
      out.push(
        path(`y${v}`, `M${px(mx)} ${px(Y(v))}h${side}`, 'grid'),
        label(`yt${v}`, mx - 6, Y(v) + 4, show(v, SHARE, true), 'small soft', 'end'),
      );
    }
    out.push(
      path('base', `M${px(mx)} ${px(Y(0))}h${side}`, 'spine'),
      path('hang', `M${px(now)} ${px(my + p.M * k)}V${px(Y(solved.fill))}`, 'cross'),
    );
    out.push(
      path(
        'saw',
        joined(solved.teeth, ({ fill }, c) => `${c ? 'V' : `M${px(mx)} `}${px(Y(fill))}H${px(X((c + 1) * wide))}`),
        'compute curve',
      ),
    );
    let from = mx - 4;
    solved.teeth.forEach(({ waves }, c) => {
      const end = X((c + 1) * wide);
      const room = end - from;
      if (solved.teeth[c + 1]?.waves > waves && room > 16) {
        out.push(
          label(
            `wave${c}`,
            end,
            strip - 8,
            room > 56 ? worded(waves > 1 ? words.waves : words.wave, waves) : count(waves),
            'small soft',
            'end',
          ),
        );
        from = end;
      }
    });
    const net = solved.fill * solved.inside;
    if (solved.inside < 0.97) {
      out.push({ key: 'net', tag: 'circle', cx: now, cy: Y(net), r: 3.5, class: 'compute open dot' });
    }
    out.push({ key: 'dot', tag: 'circle', cx: now, cy: Y(solved.fill), r: 5, class: 'compute dot' });
    out.push(
      label('sawname', mx, Y(0) + 18, words.saw),
      label('sawnow', mx + side, Y(0) + 18, percent(solved.fill), 'compute rate', 'end'),
    );
    return out;
  },

  handles(view) {
    const { p, data, words } = view;
    const { mx, my, k } = layout(view);
    const [high, wide] = data.tiles[p.tile];
    const one = (id, at, leap, label) => ({
      id,
      label,
      ...at,
      lo: data.least[id],
      hi: data.most,
      step: 32,
      grid: 32,
      leap,
      value: p[id],
      words: count(p[id]),
    });
    return [
      one('N', { x: mx + p.N * k + 8, y: my + p.M * k }, wide, words.columns),
      one('M', { x: mx, y: my + p.M * k + 9 }, high, words.rows),
    ];
  },
  pull(view, id, x, y) {
    const { mx, my, k } = layout(view);
    return id === 'N' ? (x - 8 - mx) / k : (y - 9 - my) / k;
  },
  place: ({ solved, words }, t) => worded(words.place, moment(solved, t).w + 1, solved.waves),
  meter({ solved, data, words, spec }) {
    const full = solved.waves * data.sms;
    const mark = solved.fill * full;
    return {
      name: worded(words.slots, data.sms, solved.waves),
      words: worded(words.or, count(solved.tiles), percent(solved.used)),
      value: solved.tiles,
      full,
      mark,
      hue: 'compute',
      met: abs(solved.tiles - mark) < 1e-6,
      label: worded(FORMULA_SAYS, spec.symbols.fill, percent(solved.fill)),
    };
  },
  numbers({ p, solved, data }, t) {
    const { w, f } = moment(solved, t);
    const { pace, ...rest } = solved;
    return {
      ...rest,
      rows: rows(p, data),
      columns: columns(p, data),
      wave: w,
      part: f,
      done: w * data.sms + (f < 1 ? 0 : solved.busy[w]),
    };
  },
  sentence(view) {
    const { solved, data, words } = view;
    const { waves, last, one, total } = solved;
    const idle = data.sms - last;
    const many = [worded(words.tile, count(solved.tiles)), worded(waves > 1 ? words.take : words.takes, waves)].join(
      ' ',
    );
    const rest = idle ? worded(idle > 1 ? words.idle : words.alone, idle) : words.full;
    const cost =
      waves > 1 && idle
        ? worded(
            last > 1 ? words.without : words.less,
            ...(last > 1 ? [last] : []),
            seconds(view, total - one),
            seconds(view, total),
          )
        : worded(words.time, seconds(view, total));
    return [many, rest, cost, solved.inside < 1 ? worded(words.outside, percent(1 - solved.inside)) : '']
      .join(' ')
      .trim();
  },
  table(view) {
    const { solved, data, words } = view;
    return [
      words.heads,
      ...solved.busy.map((busy, w) => [
        w + 1,
        busy,
        data.sms - busy,
        seconds(view, w * solved.one),
        seconds(view, (w + 1) * solved.one),
      ]),
    ];
  },
  hover({ solved, data, words }, el, t) {
    const [what, i] = (el.dataset.told ?? '').split(' ');
    const { w } = moment(solved, t);
    const tile = w * data.sms + +i + 1;
    return what === 'sm'
      ? `<b>${worded(words.sm, +i + 1)}</b>${+i < solved.busy[w] ? worded(words.works, count(tile), count(solved.tiles)) : worded(words.rests, w + 1)}`
      : '';
  },
  call: ({ solved, data }) => `wave_fill(n_tiles=${solved.tiles}, n_sm=${data.sms})`,
};
/** The wave of a moment, and the part of it that is over. */
function moment({ waves, one }, t) {
  const w = min(waves - 1, floor(t / one + 1e-9));
  return { w, f: clamp(t / one - w, 0, 1) };
}
/** Where things stand: the chip, and the matrix next to it or below. */
function layout({ width, data }) {
  const wide = width >= 540;
  const dw = wide ? width - 262 : width;
  const hb = wide ? 24 : 18;
  const x = hb + 5;
  const cw = dw - 2 * x;
  const pad = 8;
  const y = 26;
  const half = ceil(data.sms / 2);
  const p = (cw - 2 * pad) / data.across;
  const down = ceil(half / data.across) * p;
  const l2 = wide ? 46 : 34;
  const top = y + pad;
  const mid = top + down + 6;
  const low = mid + l2 + 6;
  const bottom = low + down + 20;
  const side = wide ? 200 : min(250, width - 62);
  const mx = wide ? width - side - 16 : 44;
  const my = wide ? 54 : bottom + 74;
  const sm = (i) => {
    const n = i < half ? i : i - half;
    return [x + pad + (n % data.across) * p + 1, (i < half ? top : low) + floor(n / data.across) * p + 1];
  };
  return {
    dw,
    hb,
    x,
    cw,
    y,
    mid,
    l2,
    bottom,
    left: x + pad,
    right: x + cw - pad,
    link: (cw - 2 * pad) / data.links,
    s: p - 2,
    sm,
    side,
    k: side / data.most,
    mx,
    my,
    strip: my + side + (wide ? 58 : 40),
    high: wide ? 96 : 72,
  };
}

/* One SM. All its schedulers do the same: what is drawn is two periods of each, once they run evenly. */
const inside = {
  solve(p, call, data) {
    const given = { ...data.limits, R: p.R, S_block: p.S, w_block: p.w_block, n_run: p.n_run, n_wait: p.n_wait };
    const limits = fromEntries(keys(data.binds).map((k) => [k, call(k, given)]));
    const warps = call('warps', given);
    const n = warps / given.n_sub;
    const wait = p.n_run + p.n_wait;
    const period = max(wait, n * p.n_run);
    const all = turns(n, p.n_run, p.n_wait, 4 * period);
    const bursts = all
      .filter((b) => b.to + p.n_wait > period && b.ready < 3 * period)
      .map(({ w, ...b }) => ({ w, ...fromEntries(entries(b).map(([k, v]) => [k, v - period])) }));
    const cycle = 1 / data.clock;
    return {
      warps,
      limits,
      n,
      period,
      bursts,
      by: keys(limits).find((k) => limits[k] === warps),
      occ: call('occ', given),
      need: ceil(wait / p.n_run),
      mark: call('issue', { ...given, w_res: warps }),
      share: bursts.reduce((sum, b) => sum + max(0, min(b.to, period) - max(b.from, 0)), 0) / period,
      each: (p.R * given.w_lanes) / (given.R_sm / given.n_sub),
      block: (p.S + given.S_res) / given.S_smem,
      total: 2 * period * cycle,
      marks: [...new Set(bursts.map((b) => b.from))].filter((c) => c > 0 && c < 2 * period).map((c) => c * cycle),
      pace: 7 / (2 * period * cycle),
    };
  },
  height: die.height,

  draw(view, t) {
    const { p, solved, data, words, hatch, width } = view;
    const L = room(view);
    const small = width < 540;
    const { n, bursts, period } = solved;
    const { n_sub, w_block, S_smem } = { ...data.limits, ...p };
    const out = [];
    const now = t * data.clock;
    // a warp's own instructions, its wait, and what the other warps of its scheduler put into it
    const X = (c) => c * L.k;
    const end = p.n_run + p.n_wait;
    const filled = min(end, n * p.n_run);
    const line = (a, b) => box(X(a), L.line, X(b - a), 18);
    out.push(
      label('one', 0, 13, worded(small ? words.short : words.period, p.n_run, p.n_wait), 'strong'),
      path('empty', line(filled, end), '', { fill: hatch }),
      path('own', n ? line(0, p.n_run) : '', 'compute solid'),
    );
    out.push(
      path(
        'others',
        joined(range(max(0, ceil(filled / p.n_run) - 1)), (i) =>
          line((i + 1) * p.n_run + 0.5 / L.k, min(filled, (i + 2) * p.n_run)),
        ),
        'compute tiles past',
      ),
      { key: 'wait', tag: 'rect', x: 0, y: L.line, width: X(end), height: 18, class: 'edge' },
    );
    for (const [name, c] of entries(data.loads)) {
      const x = X(p.n_run + c);
      out.push(
        path(`at${name}`, `M${px(x)} ${L.line + 19}v6`, 'spine'),
        label(
          `load${name}`,
          min(x, width),
          L.line + 38,
          `${name} ${c}`,
          c === p.n_wait ? 'strong small' : 'small soft',
          x > width - 30 ? 'end' : 'middle',
        ),
      );
    }
    const warp = out.length; // from here on it is what opens in the place of the SM
    // the SM: a scheduler has its slots, its registers with a row per warp, and the rows' time
    out.push({
      key: `sm${p.sm}`,
      tag: 'rect',
      x: 0.5,
      y: L.frame,
      width: width - 1,
      height: L.h - L.frame - 1,
      rx: 6,
      class: 'sm open',
      act: p.sm,
      group: 'sm',
      'pointer-events': 'none',
      label: words.close,
    });
    const high = solved.each * L.file;
    const T = (c) => L.regs + 6 + clamp(c / (2 * period), 0, 1) * L.time;
    const at = now % (2 * period);
    const hot = bursts.find((b) => b.from <= now && now < b.to)?.w;
    const kinds = { runs: '', ready: '', rests: '', slots: '' };
    const gap = high > 4 ? 1 : 0.3;
    for (const b of bursts) {
      const y = 20 + b.w * high;
      const span = (a, z, y, h) => (T(z) > T(a) ? box(T(a), y, T(z) - T(a), h) : '');
      kinds.runs += span(b.from, b.to, y, high - gap);
      kinds.slots += span(b.from, b.to, 0, 12);
      kinds.ready += span(b.ready, b.from, y + gap, high - 3 * gap);
      kinds.rests += span(b.to, b.to + p.n_wait, y + high / 2 - 1.5, 2);
    }
    const blocks = (odd) =>
      joined(range(n), (r) =>
        floor((r * n_sub) / w_block) % 2 === odd ? box(0, 20 + r * high, L.regs, high - gap) : '',
      );
    const free = L.file - n * high;
    for (const q of range(n_sub)) {
      const [x, y] = L.quad(q);
      const move = { transform: `translate(${px(x)} ${px(y)})` };
      const put = (key, d, cls, more) => out.push(path(`${key}${q}`, d, cls, { ...move, ...more }));
      out.push(label(`scheduler${q}`, x, y - 9, worded(words.scheduler, q + 1)), {
        key: `file${q}`,
        tag: 'rect',
        x,
        y: y + 20,
        width: L.regs,
        height: L.file,
        class: 'memory file',
      });
      put('slotsidle', box(L.regs + 6, 0, L.time, 12), '', { fill: hatch });
      put('slotsback', kinds.slots, 'back');
      put('slots', kinds.slots, 'compute solid');
      put('even', blocks(0), 'memory solid rows');
      put('odd', blocks(1), 'memory solid rows odd');
      put('free', free > 1 ? box(0, 20 + n * high, L.regs, free) : '', '', { fill: hatch });
      put('rests', kinds.rests, 'wait solid');
      put('ready', kinds.ready, 'compute ready');
      put('runs', kinds.runs, 'compute solid');
      if (hot !== undefined) put('hot', box(0, 20 + hot * high, L.regs, high - gap), 'compute solid');
      put('now', `M${px(T(at))} -3V${px(20 + L.file)}`, 'now-line');
    }
    // shared memory, block by block
    const wide = solved.block * (width - 24);
    const many = solved.warps / w_block;
    const y = L.h - 32;
    out.push(
      label(
        'shared',
        12,
        y - 10,
        worded(small ? words.block : words.shared, show(p.S, data.kib, true)),
        'memory small name',
      ),
      label('registers', width - 12, y - 10, worded(words.registers, p.R), 'memory small name', 'end'),
    );
    out.push(
      path(
        'block',
        joined(range(many), (i) => box(12 + i * wide, y, max(0.5, wide - 1), 18)),
        'memory solid rows',
      ),
      path('unused', box(12 + many * wide, y, max(0, width - 24 - many * wide), 18), '', { fill: hatch }),
      { key: 'smem', tag: 'rect', x: 12, y, width: width - 24, height: 18, class: 'memory file' },
    );
    const grow = growing(view, L);
    return out.map((s, i) => (i > warp ? grow(s) : s));
  },

  handles(view) {
    const { p, solved, data, words, width } = view;
    const L = room(view);
    const [x, y] = L.quad(0);
    const one = (id, x, y, lo, hi, step, leap, said) => ({
      id,
      label: words[id],
      x,
      y,
      lo,
      hi,
      step,
      leap,
      value: p[id],
      words: said ?? count(p[id]),
    });
    return [
      one('n_run', p.n_run * L.k, L.line - 1, 1, 64, 1, 8),
      one('n_wait', (p.n_run + p.n_wait) * L.k, L.line + 19, 1, 700, 1, 50),
      one('R', x + L.regs, y + 20 + solved.each * L.file, 16, 248, 8, 32),
      one(
        'S',
        12 + solved.block * (width - 24),
        view.height - 14,
        0,
        data.most_smem,
        1024,
        8192,
        show(p.S, data.kib, true),
      ),
    ];
  },
  pull(view, id, x, y) {
    const L = room(view);
    const { limits } = view.data;
    if (id === 'n_run') return x / L.k;
    if (id === 'n_wait') return x / L.k - view.p.n_run;
    return id === 'R'
      ? (((y - L.quad(0)[1] - 20) / L.file) * limits.R_sm) / limits.n_sub / limits.w_lanes
      : ((x - 12) / (view.width - 24)) * limits.S_smem - limits.S_res;
  },
  place: ({ solved, words, data }, t) =>
    worded(words.cycle, count(floor(t * data.clock + 1e-6)), count(2 * solved.period)),
  meter: ({ solved, words, spec }) => ({
    name: words.issue,
    words: percent(solved.share),
    value: solved.share,
    full: 1,
    mark: solved.mark,
    hue: 'compute',
    met: abs(solved.share - solved.mark) < 1e-9,
    label: worded(FORMULA_SAYS, spec.symbols.issue, percent(solved.mark)),
  }),
  numbers({ solved }, t) {
    const { pace, ...rest } = solved;
    return rest;
  },
  sentence({ p, solved, data, words }) {
    if (!solved.warps) return worded(words.none, data.binds[solved.by]);
    const { need, n } = solved;
    return [
      worded(words.resident, solved.warps, percent(solved.occ)),
      worded(words.limit, data.binds[solved.by]),
      worded(words.need, need, n),
      n < need ? worded(words.starves, percent(1 - solved.share)) : words.hidden,
    ].join(' ');
  },
  table: ({ solved, data, words }) => [words.limits, ...entries(solved.limits).map(([k, v]) => [data.binds[k], v])],
  hover: () => '',
  call({ p, solved, data }) {
    const given = (more) => joined(entries({ ...more }), ([k, v], i) => `${i ? ', ' : ''}${k}=${v}`);
    const { n_sub, ...rest } = data.limits;
    return solved.warps
      ? `issue_share(${given({ w_res: solved.warps, n_sub, n_run: p.n_run, n_wait: p.n_wait })})`
      : `resident_warps(${given({ R: p.R, S_block: p.S, w_block: p.w_block, n_sub, ...rest })})`;
  },
};
/** One scheduler, burst by burst, up to a cycle; its twin is schedules.timelines.hiding.turns. */
function turns(n, run, wait, until) {
  const ready = Array(n).fill(0);
  const out = [];
  for (let now = 0; n && now < until;) {
    const first = min(...ready);
    const w = ready.indexOf(first);
    now = max(now, first);
    out.push({ w, ready: first, from: now, to: (now += run) });
    ready[w] = now + wait;
  }
  return out;
}
/** What is in an SM grows out of its place on the chip, and keeps its proportions to it on the way. */
function growing(view, L) {
  const { s, sm } = layout(view);
  const [x, y] = sm(view.p.sm);
  const kx = s / (view.width - 1);
  const ky = s / (L.h - L.frame - 1);
  const six = (v) => +v.toFixed(6);
  return (shape) => {
    const [, a, b] = /\(([-\d.]+) ([-\d.]+)/.exec(shape.transform) ?? [0, 0, 0];
    return {
      ...shape,
      transform: `translate(${a} ${b}) scale(1 1)`,
      from: {
        transform: `translate(${px(x + (a - 0.5) * kx)} ${px(y + (b - L.frame) * ky)}) scale(${six(kx)} ${six(ky)})`,
        opacity: 0,
      },
    };
  };
}
/** Where the parts of the SM stand. */
function room(view) {
  const { width, data } = view;
  const h = die.height(view);
  const line = 32;
  const frame = 82;
  const regs = width < 540 ? 22 : 34;
  const w = (width - 36) / 2;
  const high = (h - 64 - frame) / 2;
  return {
    h,
    line,
    frame,
    regs,
    k: (width - 8) / (64 + 700),
    time: w - regs - 6,
    file: high - 50,
    quad: (q) => [12 + (q % 2) * (w + 12), frame + 28 + (q >> 1) * high],
  };
}

const both =
  (name) =>
  (view, ...rest) =>
    (view.p.level === 'die' ? die : inside)[name](view, ...rest);
figures.sms = {
  ...fromEntries(keys(inside).map((name) => [name, both(name)])),
  solve: (p, call, data) => (p.level === 'die' ? die : inside).solve(p, call, data),
  pace: (p, solved) => solved.pace,
  /** Registers and shared memory are set in the units in which they are allocated. */
  fit: (p) => ({ ...p, R: 8 * round(p.R / 8), S: 1024 * round(p.S / 1024), w_block: 4 * round(p.w_block / 4) }),
  act: ({ p }, i) => (p.level === 'sm' ? { level: 'die' } : { level: 'sm', sm: +i }),
  uses: (p, name) => !({ tile: 'sm', w_block: 'die' }[name] === p.level),
};
globalThis.gpuscale.wake?.();
