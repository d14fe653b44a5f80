/* A token's journey to its experts: the bars are the router's scores of one token, or the rows of all GPUs; under them the nodes with their experts, NVLink
   inside them, the network below, and the time of the layer. The routing is that of schedules/collectives/exchange.py. */
const BARS = 118;
const BOX = 84;
const NET = 64;
const STRIP = 30;
const CHIP = 24;
const LANES = ['out', 'math', 'back'];
const TOP = Math.log(1000); // of the scores: 0.999
const WHOLE = 2 ** 32; // pixels of the parts; a score is a fraction of WHOLE
const time = (view, s, short) => show(s, view.spec.units.T, short);

/** Random 32-bit numbers by their place in a sequence: the twin of exchange.hashed. */
function hashed(i) {
  let h = Math.imul(i, 0x9e3779b9);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
const drawn = new Map();
/** What no input changes: the scores of all tokens, the experts of each by falling score, how easily it takes the popular
 *  one, and the order in which tokens come. */
function scoresOf({ tokens, experts }) {
  const key = `${tokens} ${experts}`;
  const all = tokens * experts;
  if (!drawn.has(key)) {
    const score = new Float64Array(all);
    const sorted = new Float64Array(all);
    const order = new Uint16Array(all);
    for (let i = 0; i < all; i++) {
      score[i] = hashed(i);
      sorted[i] = (i % experts) - score[i] * experts;
    } // a loop: many times as fast as from()
    for (const t of range(tokens)) sorted.subarray(t * experts, (t + 1) * experts).sort();
    for (let i = 0; i < all; i++) order[i] = sorted[i] - experts * floor(sorted[i] / experts);
    const sure = range(tokens).map((t) => hashed(all + t));
    drawn.set(key, { score, order, sure, turns: range(tokens).sort((a, b) => score[a] - score[b]) });
  }
  return drawn.get(key);
}
/** The experts of a token, in order: the twin of exchange.router_scores and best_choice. */
function pick(p, data, t) {
  const known = scoresOf(data);
  const { score, order, sure } = known;
  const { experts, nodes, gpus, popular } = data;
  const at = t * experts;
  const each = experts / nodes;
  const taken = sure[t] < ((p.hot * p.k) / (nodes * gpus)) * WHOLE;
  const way = `${p.k} ${p.limit} ${popular}`;
  if (known.way !== way) Object.assign(known, { way, picks: [[], []] });
  const picks = known.picks[+taken];
  if (picks[t]) return picks[t];
  const out = taken ? [popular] : [];
  const sums = Array(nodes).fill(0);
  const seen = Array(nodes).fill(0);
  if (p.limit < nodes) {
    // a node's score is the sum of its best n; the others are closed
    const n = clamp(floor(p.k / p.limit), 1, each);
    if (taken) sums[floor(popular / each)] = Infinity;
    for (let i = at, left = n * nodes; left; i++) {
      const m = floor(order[i] / each);
      if (seen[m]++ < n) {
        sums[m] += score[at + order[i]];
        left--;
      }
    }
  }
  const least = [...sums].sort((a, b) => b - a)[p.limit - 1];
  for (let i = at; out.length < p.k; i++) {
    const e = order[i];
    if (!(taken && e === popular) && sums[floor(e / each)] >= least) out.push(e);
  }
  return (picks[t] = out.sort((a, b) => a - b));
}
/** The router's scores of the token, each from 0 to 1; the popular expert has the highest one of a token that takes it. */
function scoresFor({ p, data }) {
  const { experts, nodes, gpus, tokens, popular } = data;
  const { score, sure } = scoresOf(data);
  const t = (p.home * tokens) / (nodes * gpus) + p.token;
  const taken = sure[t] < ((p.hot * p.k) / (nodes * gpus)) * WHOLE;
  return range(experts).map((e) => (taken && e === popular ? 1 : score[t * experts + e] / WHOLE));
}
/** The copies of a token: the nodes that get one over the network, and the GPUs that get one over NVLink. */
function legs(p, { experts, nodes, gpus }, chosen, home) {
  const each = experts / (nodes * gpus);
  const own = floor(home / gpus);
  const net = [];
  const nvl = [];
  let node = -1;
  let gpu = -1;
  for (const e of chosen) {
    const g = floor(e / each);
    const n = floor(g / gpus);
    const every = p.copy !== 'node';
    if (n !== own && (every || n !== node)) net.push(n);
    if (g % gpus !== home % gpus && (every || g !== gpu)) nvl.push(g);
    node = n;
    gpu = g;
  }
  return { net, nvl };
}

figures.journey = {
  mute: true,
  solve(p, call, data) {
    const { experts, nodes, gpus, tokens, given } = data;
    const ranks = nodes * gpus;
    const each = experts / ranks;
    const per = tokens / ranks;
    const zeros = (n) => Array(n).fill(0);
    const net = zeros(nodes);
    const nvl = zeros(ranks);
    const rows = zeros(ranks);
    const asked = zeros(ranks);
    const token = p.home * per + p.token;
    const even = (tokens * p.k) / ranks;
    const most = p.cap < data.none ? ceil(p.cap * even) : Infinity;
    let chosen;
    let kept;
    for (const t of scoresOf(data).turns) {
      const experts = pick(p, data, t).filter((e) => asked[floor(e / each)]++ < most); // the twin of exchange.capped_choice
      const to = legs(p, data, experts, floor(t / per));
      for (const e of experts) rows[floor(e / each)]++;
      for (const n of to.net) net[n]++;
      for (const g of to.nvl) nvl[g]++;
      if (t === token) [chosen, kept] = [pick(p, data, t), experts];
    }
    const all = (list) => list.reduce((a, b) => a + b, 0);
    const copies = all(net) / tokens;
    const lost = 1 - all(rows) / all(asked);
    const fullest = rows.indexOf(max(...rows));
    const inputs = { ...given, k: p.k, M_lim: p.limit };
    const formula = call(p.copy, inputs);
    const over = max(...rows) / even;
    /* a fraction of all tokens reaches the fullest node or GPU; on average it is less, and the rest of the time is waiting */
    const network = (f, b) => call('network', { ...inputs, ...b, f_hit: ((f / tokens) * nodes) / (nodes - 1) });
    const nvlink = (f, b) => call('nvlink', { ...inputs, ...b, f_hit: ((f / tokens) * gpus) / (gpus - 1) });
    const out = { b_combine: 0 };
    const back = { b_dispatch: 0 };
    const math = (g) => call('math', { ...inputs, g_rows: g });
    const phase = (kind, lane, hue, cost, list, way) => ({
      kind,
      lane,
      hue,
      takes: cost(max(...list), way),
      mean: cost(all(list) / list.length, way),
    });
    const phases = [
      phase('net', 'out', 'scaleout', network, net, out),
      phase('nvl', 'out', 'scaleup', nvlink, nvl, out),
      { kind: 'math', lane: 'math', hue: 'compute', takes: math(over), mean: math(1 - lost) },
      phase('nvl', 'back', 'scaleup', nvlink, nvl, back),
      phase('net', 'back', 'scaleout', network, net, back),
    ];
    let total = 0;
    for (const one of phases) {
      one.at = total;
      total += one.takes;
      one.end = total;
    }
    return {
      chosen,
      kept,
      ...legs(p, data, kept, p.home),
      rows,
      asked,
      lost,
      intake: net,
      inside: nvl,
      copies,
      formula,
      over,
      fullest,
      even,
      phases,
      total,
      marks: phases.map((one) => one.end),
    };
  },
  pace: () => 500,
  fit: (p) => ({ ...p, k: round(p.k), home: round(p.home), token: round(p.token) }),
  height: (view) => placed(view).foot + 3 * STRIP + 26,

  draw(view, t) {
    const { p, solved, data, words, width, hatch } = view;
    const at = placed(view);
    const { X, Y, cell, small, pitch } = at;
    const ranks = data.nodes * data.gpus;
    const out = [];
    const path = (key, d, kind, more) => out.push({ key, tag: 'path', d, class: kind, ...more });
    const box = (key, x, y, width, height, kind, more) =>
      out.push({ key, tag: 'rect', x, y, width, height, class: kind, ...more });
    const text = (key, x, y, words, kind, anchor = 'start') =>
      out.push({ key, tag: 'text', x, y, 'text-anchor': anchor, words, class: `small ${kind}` });
    const { phases, rows, asked, fullest, over, even, chosen, kept } = solved;
    const capped = p.cap < data.none;
    const now = phases.find((one) => t < one.end) ?? phases.at(-1);
    const one = p.show === 'token';
    const order = phases.indexOf(now);
    const u = clamp((t - now.at) / now.takes, 0, 1);
    const doing = (i) => (i < order ? 1 : i > order ? 0 : u);
    const hx = X(p.home);
    const place = p.home % data.gpus;
    const inside = at.box + 50;
    const edge = at.box + BOX;
    const rail = (n) => X(n * data.gpus + place);

    // the tokens, and the thread of the chosen one
    text('home', 0, 12, worded(words.home, p.home), 'soft');
    at.chips.forEach(({ x, y, w }, i) => {
      const on = i === p.token ? ' on' : '';
      const word = words.said[i];
      box(`chip${i}`, x, y, w, CHIP, `chip${on}`, {
        rx: 6,
        act: `token ${i}`,
        group: 'tokens',
        pressed: i === p.token,
        label: worded(words.choose, word),
      });
      text(`word${i}`, x + w / 2, y + 12, word, `word${on}`, 'middle');
    });
    const chip = at.chips[p.token];
    const from = px(chip.x + chip.w / 2);
    const start = chip.y + CHIP;
    if (one) {
      const mid = at.x0(floor(p.home / data.gpus)) + at.wide / 2; // of the name of its node
      path(
        'thread',
        `M${from} ${start}C${from} ${at.bars + 4} ${px(hx)} ${start + 6} ${px(hx)} ${at.bars + 26}V${abs(hx - mid) < 26 ? at.base : at.box + 19}`,
        'thread',
      );
    }

    // the scores of the token
    const right = hx < width / 2;
    const title = (words) => text('rows', right ? width : 0, at.bars - 12, words, 'soft halo', right ? 'end' : 'start');
    if (one) {
      const nodeOf = (e) => floor((e * data.nodes) / data.experts);
      const open = new Set(chosen.map((e) => nodeOf(e)));
      const score = scoresFor(view);
      const best = new Set(chosen);
      const closed = (e) => p.limit < data.nodes && !open.has(nodeOf(e));
      const high = (e) => px(-BARS * min(1, -Math.log(1 - score[e]) / TOP));
      const bars = (key, kind, which) =>
        path(
          key,
          joined(range(data.experts).filter(which), (e) => `M${px(at.eX(e))} ${at.base}v${high(e)}`),
          `score ${kind}`,
          { 'stroke-width': at.eW },
        );
      bars('scores', '', (e) => !best.has(e) && !closed(e));
      bars('closed', 'closed', closed);
      bars('best', 'compute best', (e) => best.has(e));
      title(worded(small ? words.scored : words.scores, data.experts));
      text(
        'chosen',
        right ? width : 0,
        at.bars + 3,
        worded(p.limit < data.nodes ? words.bestof : words.best, p.k, p.limit),
        'compute rate halo',
        right ? 'end' : 'start',
      );
    }

    // the rows of all GPUs, and the fullest one, for which the others wait
    if (!one) {
      const pass = over * doing(2);
      const top = Y(over);
      const w = pitch - (small ? 1 : 1.5);
      const fx = X(fullest);
      const hot = popularGpu(data);
      const left = fx > (fullest > hot ? width - 140 : 140);
      const rise = (f) =>
        joined(rows, (n, r) => {
          const [a, b] = f(n / even, asked[r] / even);
          return a < b ? `M${px(X(r) - w / 2)} ${px(Y(a))}h${px(w)}V${px(Y(b))}h${px(-w)}z` : '';
        });
      path(
        'load',
        rise((v) => [0, v]),
        'load',
      );
      path(
        'waits',
        rise((v) => [min(v, pass), pass]),
        '',
        { fill: hatch },
      );
      path(
        'done',
        rise((v) => [0, min(v, pass)]),
        'compute solid',
      );
      path(
        'lost',
        rise((v, all) => [v, all]),
        'lost',
      );
      path('pace', `M0 ${px(top)}H${width}`, 'pace');
      path('cap', `M${capped ? 0 : width - 50} ${px(Y(p.cap))}H${width}`, 'cap');
      if (!capped && abs(top - Y(p.cap) - 14) > 9)
        text('limit', width - 14, Y(p.cap) + 14, words.limit, 'soft halo', 'end');
      text(
        'most',
        fx + (left ? -11 : 11),
        top - 9,
        worded(words.fullest, fullest, show(over)),
        'strong halo',
        left ? 'end' : 'start',
      );
      title(
        (small ? words.short : worded(words.rows, show(data.tokens, COUNT))) +
          (capped ? worded(words.cap[+small], show(p.cap)) : ''),
      );
      if (!p.hot) {
        path('lead', `M${px(X(hot))} ${px(Y(1))}V${px(Y(2.2))}`, 'lead');
        text('pull', X(hot), Y(2.4), words.pull, 'soft halo', 'middle');
      }
    }

    // nodes, GPUs and experts
    const has = new Set([p.home, ...chosen.map((e) => e / at.each)].map((g) => floor(g / data.gpus)));
    path(
      'cells',
      joined(range(data.experts), (e) => {
        const [x, y] = cell(e);
        return `M${px(x)} ${px(y)}h${px(at.side)}v4h${px(-at.side)}z`;
      }),
      'cell',
    );
    for (const n of range(data.nodes)) {
      box(`box${n}`, at.x0(n), at.box, at.wide, BOX, has.has(n) ? 'node on' : 'node', { rx: 4 });
      text(
        `name${n}`,
        at.x0(n) + at.wide / 2,
        at.box + 10,
        small ? `${n}` : worded(words.node, n),
        has.has(n) ? 'halo' : 'soft',
        'middle',
      );
    }
    chosen.forEach((e, i) => {
      const [x, y] = cell(e);
      box(`expert${i}`, x - 0.5, y - 0.5, at.side + 1, 5, kept.includes(e) ? 'compute solid' : 'lost');
    });
    box('here', hx - pitch / 2, at.box + 18, pitch, 29, 'here', { rx: 2 });

    // the copies, and a dot on each that travels
    const arcs = (kind, list, ends, sent) => {
      const seen = {};
      const hue = kind === 'net' ? 'scaleout' : 'scaleup';
      list.forEach((to, i) => {
        const arc = ends(to, (seen[to] = (seen[to] ?? -1) + 1));
        const [x, y] = onArc(arc, order > 2 ? 1 - u : u);
        path(`${kind}${i}`, half(arc), sent ? `${hue} copy` : `${hue} copy ahead`);
        if (now.kind === kind) out.push({ key: `dot${i}`, tag: 'circle', cx: x, cy: y, r: 4, class: `${hue} dot` });
      });
    };
    for (const n of new Set(solved.net)) path(`rail${n}`, `M${px(rail(n))} ${inside}V${edge}`, 'scaleout copy');
    if (solved.net.length) path('rail', `M${px(hx)} ${at.box + 48}V${edge}`, 'scaleout copy');
    arcs(
      'net',
      solved.net,
      (n, again) => ({
        a: hx,
        b: rail(n),
        y: edge,
        deep: 16 + (NET - 32) * (abs(hx - rail(n)) / width) ** 0.7 + 5 * again,
      }),
      doing(0),
    );
    arcs(
      'nvl',
      solved.nvl,
      (g, again) => {
        const a = rail(floor(g / data.gpus));
        return { a, b: X(g), y: inside, deep: 8 + abs(X(g) - a) * 0.22 + 3 * again };
      },
      doing(1),
    );
    text('netname', 0, edge + NET + 8, worded(words.net, solved.net.length), 'scaleout rate');
    text('nvlname', width, edge + NET + 8, worded(words.nvl, solved.nvl.length), 'scaleup rate', 'end');

    // the time of the layer
    const gap = unit(solved.total / (small ? 3 : 5));
    const many = ceil((solved.total / gap) * 1.0001);
    const T = (s) => ((width - 2) * s) / gap / many;
    const axis = at.foot + 3 * STRIP + 2;
    const names = [];
    LANES.forEach((lane, k) => {
      const own = phases.filter((one) => one.lane === lane);
      const a = own[0].at;
      const b = own.at(-1).end;
      const end = T(a) + 110 > width;
      const y = at.foot + STRIP * k;
      own.forEach((one, i) => {
        box(`wait${lane}${i}`, T(one.at), y + 15, T(one.takes), 9, '', { fill: hatch });
        box(`phase${lane}${i}`, T(one.at), y + 15, T(one.mean), 9, `${one.hue} solid`);
      });
      const said = worded(words[lane], time(view, b - a));
      const [x, wide] = [T(end ? b : a), 7 * said.length];
      names.push([end ? x - wide : x, end ? x : x + wide, y - 3, y + 14]);
      text(`lane${lane}`, x, y + 6, said, 'strong halo', end ? 'end' : 'start');
    });
    path('clock', upright(T(t), at.foot, axis, names), 'clock');
    path('axis', `M0 ${axis}H${width}`, 'rule');
    for (const i of range(many + 1)) {
      text(
        `tick${i}`,
        T(i * gap),
        axis + 12,
        i ? time(view, i * gap, true) : '0',
        'soft',
        i === many ? 'end' : i ? 'middle' : 'start',
      );
    }

    for (const r of range(ranks)) {
      box(`gpu${r}`, X(r) - pitch / 2, at.box + 16, pitch, 32, 'bare', {
        act: `home ${r}`,
        group: 'gpus',
        pressed: r === p.home,
        told: r,
        label: worded(words.start, r),
      });
    }
    return out;
  },

  act: (view, what) => {
    const [name, i] = what.split(' ');
    return name === 'token' ? { token: +i, show: 'token' } : { home: +i };
  },
  handles(view) {
    const { p, data, words } = view;
    if (p.show === 'token') return [];
    const at = placed(view);
    const gpu = popularGpu(data);
    return [
      {
        id: 'hot',
        label: worded(words.popular, gpu),
        x: at.X(gpu),
        y: at.Y(1 + p.hot),
        lo: 0,
        hi: data.most,
        step: 0.05,
        leap: 0.5,
        grid: 0.01,
        value: p.hot,
        words: worded(words.times, show(p.hot)),
      },
      {
        id: 'cap',
        label: words.capacity,
        x: at.X(data.nodes * data.gpus - 1),
        y: at.Y(p.cap),
        lo: data.least,
        hi: data.none,
        step: 0.05,
        leap: 0.5,
        value: p.cap,
        words: p.cap < data.none ? worded(words.times, show(p.cap)) : words.nolimit,
      },
    ];
  },
  pull: (view, id, x, y) => placed(view).load(y) - (id === 'hot'),

  meter({ p, solved, data, words }) {
    const { copies, formula } = solved;
    const free = p.limit >= data.nodes || p.copy === 'expert';
    const formed = words[`${p.hot ? 'skewed' : free ? 'even' : 'most'}${p.hot && !free ? '_most' : ''}`];
    return {
      name: worded(words.meter, show(data.tokens, COUNT)),
      words: show(copies),
      value: copies,
      full: p.k,
      mark: formula,
      label: worded(formed, show(formula)) + (solved.lost ? words.lossless : ''),
      hue: 'scaleout',
      met: !p.hot && free && !solved.lost && abs(copies / formula - 1) < 0.02,
    };
  },
  place: (view, t) => worded(view.words.now, time(view, t), time(view, view.solved.total)),
  numbers: ({ solved }) => solved,
  sentence(view) {
    const { p, solved, data, words } = view;
    const each = data.experts / data.nodes;
    const on = new Set(solved.chosen.map((e) => floor(e / each))).size;
    const sit = p.k < 2 ? words.one : on > 1 ? worded(words.sit, p.k, on) : worded(words.alone, p.k);
    const full = p.k - solved.kept.length;
    return [
      sit,
      ...(full ? [p.k < 2 ? words.gone : worded(words.full, full)] : []),
      worded(words.cross, solved.net.length, solved.nvl.length),
      solved.lost
        ? worded(words.drops, show(solved.over), show(solved.lost, SHARE))
        : worded(words.wait, solved.fullest, show(solved.over)),
      worded(words.takes, time(view, solved.total)),
    ].join(' ');
  },
  table({ solved, data, words }) {
    const { rows, asked, inside, intake } = solved;
    const of = (list, n) => list.slice(n * data.gpus, (n + 1) * data.gpus);
    const all = (list) =>
      show(
        list.reduce((a, b) => a + b, 0),
        COUNT,
      );
    return [
      words.heads,
      ...range(data.nodes).map((n) => [
        n,
        show(intake[n], COUNT),
        all(of(inside, n)),
        all(of(rows, n)),
        show(max(...of(rows, n)), COUNT),
        all(of(asked, n).map((many, i) => many - of(rows, n)[i])),
      ]),
    ];
  },
  hover(view, el) {
    const { p, solved, data, words } = view;
    const g = el.dataset.told;
    if (!g) return '';
    const each = data.experts / data.nodes / data.gpus;
    const score = scoresFor(view);
    const said =
      p.show === 'token'
        ? range(each)
            .map((i) => worded(words.score, g * each + i, show(score[g * each + i])))
            .join('<br>')
        : worded(words.holds, show(solved.rows[g], COUNT));
    return `<b>${worded(words.gpu, g, floor(g / data.gpus))}</b>${said}`;
  },
  call({ p, data }) {
    const { tokens, experts, nodes, gpus, popular } = data;
    const skew = p.hot ? `, ${popular}, ${(p.hot * p.k) / (nodes * gpus)}` : '';
    const chosen = `best_choice(router_scores(${tokens}, ${experts}${skew}), ${p.k}${p.limit < nodes ? `, ${nodes}, ${p.limit}` : ''})`;
    const kept = p.cap < data.none ? `capped_choice(${chosen}, ${experts}, ${nodes * gpus}, ${p.cap})` : chosen;
    return `crossings(${kept}, ${experts}, ${nodes}${p.copy === 'node' ? '' : ', per_expert=True'}).mean()`;
  },
};
const popularGpu = (data) => floor(data.popular / (data.experts / data.nodes / data.gpus));
/** Where everything stands at this width. */
function placed({ width, data, words }) {
  const small = width < 480;
  const gap = small ? 3 : 6;
  const wide = (width - (data.nodes - 1) * gap - 2) / data.nodes;
  const pitch = (wide - 4) / data.gpus;
  const each = data.experts / data.nodes / data.gpus;
  const x0 = (n) => 1 + n * (wide + gap);
  const X = (r) => x0(floor(r / data.gpus)) + 2 + ((r % data.gpus) + 0.5) * pitch;
  const chips = [];
  let x = small ? 0 : 116;
  let y = small ? 24 : 0;
  for (const word of words.said) {
    const w = word.length * 6.8 + 14;
    if (x + w > width) {
      x = 0;
      y += CHIP + 5;
    }
    chips.push({ x, y, w });
    x += w + (small ? 4 : 6);
  }
  const bars = y + CHIP + 26;
  const full = data.none;
  const base = bars + BARS;
  const box = base + 2;
  const Y = (load) => base - (BARS * min(load, full)) / full;
  const load = (v) => ((base - v) / BARS) * full;
  const side = pitch - 1;
  const cell = (e) => [X(floor(e / each)) - side / 2, box + 20 + (e % each) * 6.5];
  const eX = (e) => X(floor(e / each)) + (((e % each) + 0.5) / each - 0.5) * side;
  return {
    eX,
    eW: +px(max(0.8, side / each - 0.35)),
    small,
    chips,
    bars,
    base,
    box,
    wide,
    pitch,
    each,
    x0,
    X,
    Y,
    load,
    side,
    cell,
    foot: box + BOX + NET + 26,
  };
}
/** Half an ellipse below a line, and the point on it. */
const half = ({ a, b, y, deep }) =>
  `M${px(a)} ${px(y)}A${px(abs(b - a) / 2)} ${px(deep)} 0 0 ${b > a ? 0 : 1} ${px(b)} ${px(y)}`;
function onArc({ a, b, y, deep }, u) {
  const turn = Math.PI * u;
  return [(a + b) / 2 - ((b - a) / 2) * Math.cos(turn), y + deep * Math.sin(turn)];
}
globalThis.gpuscale.wake?.();
