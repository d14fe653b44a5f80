/* Ring: GPUs are spokes, chunk c has the same circle on every spoke, a link is the band between two spokes and as wide as
   its bandwidth. Every rank sends as soon as its last send is over and the next chunk has come: the twin of
   schedules/timelines/sending.py for rings. */
const LETTERS = 'ABCDEFGHIJKL';
const LOOK = 1.1;          // seconds that a hop at full speed takes on the page
const mod = (a, n) => ((a % n) + n) % n;
const ADDS = ['reduce_scatter', 'all_reduce'];
const hopsOf = ({ kind, N }) => (kind === 'all_reduce' ? 2 : 1) * (N - 1);
const rates = (p) => range(p.N).map((r) => p.W * p.share[r]);
const slowest = (p) => range(p.N).reduce((a, r) => p.share[r] < p.share[a] ? r : a, 0);

/** A value in the unit of an input: V, alpha or W. */
const amount = ({ spec }, k, v) => show(v, spec.units[k], !v);

/** What rank r sends in hop h: the chunk, and how many ranks' data it holds. */
function sends({ kind, N }, r, h) {
  if (ADDS.includes(kind) && h < N - 1) return { chunk: mod(r - h - 1, N), parts: h + 1 };
  return { chunk: mod(r - (kind === 'all_reduce' ? h - (N - 1) : h), N), parts: N };
}
/** When every hop of every rank begins and ends, and how long its bytes take. */
function timing(p) {
  const begin = [], end = [], span = rates(p).map((rate) => p.V / p.N / rate), ranks = range(p.N);
  for (const h of range(hopsOf(p))) {
    const before = end[h - 1];
    begin.push(ranks.map((r) => before ? max(before[r], before[mod(r - 1, p.N)]) : 0));
    end.push(ranks.map((r) => begin[h][r] + p.alpha + span[r]));
  }
  return { begin, end, span, marks: end.map((row) => max(...row)), total: max(...end.at(-1)) };
}
/** What every link does at the time t, how many bytes it has carried, and who waits. */
function moment(p, solved, t) {
  const hops = hopsOf(p), hair = solved.total * 1e-9;
  const links = range(p.N).map((r) => {
    let done = 0;
    while (done < hops && solved.end[done][r] <= t + hair) done++;
    const busy = done < hops && solved.begin[done][r] <= t + hair && t + hair < solved.total;
    const past = busy ? t - solved.begin[done][r] : 0, along = busy ? clamp((past - p.alpha) / solved.span[r], 0, 1) : 0;
    return {
      done, busy, along, moving: busy && past >= p.alpha, starting: p.alpha ? clamp(past / p.alpha, 0, 1) : 1, left: hops - done,
      bytes: (done + along) * p.V / p.N, ...done < hops ? sends(p, r, done) : {},
    };
  });
  return { links, waits: links.map((l) => t > 0 && t < solved.total - hair && !l.busy) };
}
/** How many ranks' data rank r holds of chunk c: what it has sent on counts until something else comes. */
function holding(p, { links }, r, c) {
  const n = p.N, came = links[mod(r - 1, n)].done;         // hops that have arrived
  let held = p.kind === 'all_gather' ? (r === c ? n : 0) : 1;
  for (const h of range(came)) {
    const s = sends(p, mod(r - 1, n), h);
    if (s.chunk === c) held = ADDS.includes(p.kind) && h < n - 1 ? s.parts + 1 : s.parts;
  }
  return held;
}
/** The same, less the sums that are on their way to the next rank: what is drawn. */
function drawn(p, now, r, c) {
  const link = now.links[r], gone = link.done + link.moving;
  const left = ADDS.includes(p.kind) && range(min(gone, p.N - 1)).some((h) => sends(p, r, h).chunk === c);
  const finished = p.kind === 'all_reduce' && holding(p, now, r, c) === p.N;
  return left && !finished ? 0 : holding(p, now, r, c);
}
/** The fraction of its time in which a link stands still, averaged over the links. */
const waiting = (p, solved) => 1 - solved.span.reduce((sum, s) => sum + hopsOf(p) * (p.alpha + s), 0) / p.N / solved.total;
const inputs = (p) => ({ ...p, W: min(...rates(p)) });

/** Where things stand, for a width and a number of ranks; angles are in turns, and a band has its middle at 1/2. */
function shape(width, n) {
  const small = width < 480, outer = min(238, width / 2 - (small ? 52 : 62)), slot = min(small ? 17 : 25, (outer - (small ? 58 : 96)) / n);
  const inner = outer - n * slot, card = min(small ? 34 : 48, .54 * 2 * Math.PI * inner / n), turn = 2 * Math.PI / n, mid = inner + .3 * (outer - inner);
  const edge = Math.asin(card / 2 / inner) / turn + .01;
  const smooth = (x) => { const u = clamp(x, 0, 1); return u * u * (3 - 2 * u); };
  const squeeze = (u, k) => 1 - (1 - k) * smooth((min(u, 1 - u) - edge) / ((.5 - edge) * .85));
  const orbit = (c) => inner + (n - c - .5) * slot;
  const at = (r, u, radius) => { const a = turn * (r + u) - Math.PI / 2; return [radius * Math.cos(a), radius * Math.sin(a)]; };
  /** Points on the circle of this radius from spoke r on, pinched as its link is. */
  function line(r, k, radius, from = 0, to = 1) {
    const many = from === to ? 1 : max(10, ceil(48 * (to - from)));
    return range(many + 1).map((i) => { const u = from + (to - from) * i / many; return at(r, u, mid + (radius - mid) * squeeze(u, k)); });
  }
  const gap = Math.asin(card / 2 / outer) / turn;
  return { n, small, outer, inner, slot, card, turn, mid, squeeze, orbit, at, line, gap, rim: outer + 13, height: 2 * (outer + (small ? 38 : 46)) };
}
const route = (points) => `M${joined(points, ([x, y], i) => `${i ? 'L' : ''}${px(x)} ${px(y)}`)}`;
const rimArc = (g, r, share) => route(range(25).map((i) => g.at(r, g.gap + .02 + (1 - 2 * g.gap - .04) * share * i / 24, g.rim)));
const goal = (g, r) => { const u = g.gap + .02 + (1 - 2 * g.gap - .04) * (g.n - 1) / g.n; return route([g.at(r, u, g.rim - 5), g.at(r, u, g.rim + 5)]); };
const tint = (c) => `style="--i:${c};--odd:${c % 2}"`;
/** Writes an attribute only where it changes. */
function write(el, name, value) {
  el.seen ??= {};
  if (el.seen[name] !== value) el.setAttribute(name, el.seen[name] = value);
}
function label(el, words) { if (el.seen !== words) el.textContent = el.seen = words; }

figures.ring = {
  smooth: ['share'],
  solve: timing,
  pace: (p) => LOOK / (p.alpha + p.V / p.N / p.W),
  key: (p) => `${p.kind} ${p.N}`,

  build(view) {
    const { p } = view, g = view.g = shape(view.width, p.N), n = p.N, ranks = range(n), box = `x="${-g.card / 2}" y="${px(-g.outer - 2)}" width="${px(g.card)}" height="${px(n * g.slot + 4)}" rx="4"`;
    const wide = g.card - 4, high = g.slot - 2, inset = `x="${px(-wide / 2)}" y="${px(1 - g.slot / 2)}" height="${px(high)}"`;
    const cuts = p.kind === 'all_gather' ? '' : `<path class="cut" d="${joined(range(n - 1), (i) => `M${px(-wide / 2 + wide * (i + 1) / n)} ${px(1 - g.slot / 2)}v${px(high)}`)}"/>`;
    const name = (c, angle) => g.slot > 9.5 ? text(g.slot > 15 ? 'name' : 'name tiny', 0, 0, LETTERS[c], 'middle', `transform="rotate(${px(-angle)})"`) : '';
    const link = (r) => `<g class="scaleup" data-told="link ${r}"><path class="band"/><path class="orbits"/><path class="flow"/><path class="rail" d="${rimArc(g, r, 1)}"/><path class="sent" pathLength="100" d="${rimArc(g, r, 1)}"/><path class="goal" d="${goal(g, r)}"/><text class="small amount" text-anchor="middle"/><text class="small rate" text-anchor="middle"/></g>`;
    const spoke = (r) => {
      const angle = 360 * r / n, cell = (c) => `<g transform="translate(0 ${px(-g.orbit(c))})" data-cell="${c}"><rect class="slot" ${inset} width="${px(wide)}"/><rect class="chunk gone" ${inset} width="${px(wide)}" ${tint(c)}/><rect class="chunk full" ${inset} ${tint(c)}/>${cuts}</g>`;
      return `<g data-told="rank ${r}"><g transform="rotate(${px(angle)})"><rect class="gpu" ${box}/>${joined(ranks, cell)}<rect class="idle" ${box} opacity="0" style="fill:url(#${view.id})"/>
        ${joined(ranks, (c) => `<g transform="translate(0 ${px(-g.orbit(c))})" data-name="${c}">${name(c, angle)}</g>`)}</g>
        <text class="strong" text-anchor="middle" transform="rotate(${px(angle)}) translate(0 ${px(-g.outer - (g.small ? 15 : 17))}) rotate(${px(-angle)})">${g.small || r ? r : worded(RANK, 0)}</text></g>`;
    };
    const middle = (key, cls, y, y2) => `<text class="${cls}" data-c="${key}" y="${g.small ? y2 : y}" text-anchor="middle"/>`;
    for (const [k, v] of entries({ width: view.width, height: g.height, viewBox: `0 0 ${view.width} ${g.height}` })) view.svg.setAttribute(k, v);
    view.id ??= fresh();
    view.scene.innerHTML = `<defs><pattern id="${view.id}" class="wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V6"/></pattern></defs>
      <g transform="translate(${view.width / 2} ${g.height / 2})">${joined(ranks, link)}${joined(ranks, spoke)}${joined(ranks, (r) => `<g data-run="${r}"></g>`)}
      ${middle('hop', 'soft', -58, -40)}${middle('clock', 'big', -33, -20)}${middle('of', 'soft', -10, -2)}${middle('rate', 'mid', 28, 22)}${middle('what', 'soft', 49, 38)}</g>`;
    const find = (q, at = view.scene) => $(q, at);
    view.parts = {
      links: ranks.map((r) => { const el = find(`[data-told="link ${r}"]`); return fromEntries(['band', 'orbits', 'flow', 'sent', 'amount', 'rate'].map((k) => [k, $(`.${k}`, el)])); }),
      ranks: ranks.map((r) => { const el = find(`[data-told="rank ${r}"]`); return { idle: $('.idle', el), cells: ranks.map((c) => { const cell = $(`[data-cell="${c}"]`, el); return { full: $('.full', cell), ghost: $('.gone', cell), cut: $('.cut', cell), name: $(`[data-name="${c}"]`, el) }; }) }; }),
      runs: ranks.map((r) => find(`[data-run="${r}"]`)),
      words: fromEntries($$('[data-c]', view.scene).map((el) => [el.dataset.c, el])),
    };
  },

  bend(view) {
    const { p, g } = view;
    for (const r of range(p.N)) {
      const k = p.share[r], L = view.parts.links[r], rim = g.line(r, k, g.outer + 2), back = g.line(r, k, g.inner - 2).reverse();
      L.band.setAttribute('d', `${route([...rim, ...back])}Z`);
      L.orbits.setAttribute('d', joined(range(p.N), (c) => route(g.line(r, k, g.orbit(c)))));
      const [x, y] = g.at(r, .5, g.rim + (g.small ? 15 : 18)), slow = k < 1, out = abs(x) > .3 * g.outer ? sign(x) * (g.small ? 9 : 14) : 0;
      L.amount.setAttribute('x', x + out); L.amount.setAttribute('y', y - 7 * slow);
      L.rate.setAttribute('x', x + out); L.rate.setAttribute('y', y + 7);
      L.rate.textContent = slow ? amount(view, 'W', p.W * k) : '';
    }
  },

  frame(view, t) {
    const { p, g, solved, parts } = view, now = moment(p, solved, t), whole = (p.kind === 'all_reduce' ? 2 : 1) * p.V, wide = g.card - 4;
    now.links.forEach((link, r) => {
      const L = parts.links[r], run = parts.runs[r], k = p.share[r];
      write(L.sent, 'stroke-dasharray', `${px(100 * link.bytes / whole)} 200`);
      const roomy = !g.small || p.N < 9;                   // else a number lies on its neighbor
      label(L.amount, roomy ? amount(view, 'V', link.bytes) + (link.left ? '' : ' ✓') : '');
      write(L.band, 'class', now.waits[r] ? 'band waits' : 'band');
      write(L.flow, 'class', link.moving ? 'flow' : 'flow start');
      write(L.flow, 'd', link.busy ? route(g.line(r, k, g.orbit(link.chunk), 0, link.moving ? 1 : max(.01, link.starting))) : '');
      const shown = link.busy ? link.chunk : '';
      if (run.seen !== shown) { run.seen = shown; run.innerHTML = link.busy ? `<path class="chunk rim" ${tint(link.chunk)}/><path class="chunk" ${tint(link.chunk)}/><path class="cut"/><path class="came"/>${g.slot > 9.5 ? text(g.slot > 15 ? 'name' : 'name tiny', 0, 0, LETTERS[link.chunk], 'middle') : ''}` : ''; }
      if (link.busy) carry(g, p, link, r, k, run);
    });
    for (const r of range(p.N)) {
      write(parts.ranks[r].idle, 'opacity', now.waits[r] ? 1 : 0);
      for (const c of range(p.N)) {
        const held = drawn(p, now, r, c), cell = parts.ranks[r].cells[c], from = held === 1 && p.kind !== 'all_gather' ? mod(r - c - 1, p.N) : 0;
        write(cell.full, 'x', px(-wide / 2 + wide * from / p.N)); write(cell.full, 'width', px(wide * held / p.N));
        for (const el of [cell.ghost, cell.name, cell.cut]) if (el) write(el, 'display', held && (el !== cell.cut || held < p.N) ? 'inline' : 'none');
      }
    }
    const W = parts.words;
    label(W.hop, this.place(view, t)); label(W.clock, amount(view, 'alpha', t)); label(W.of, worded(OF_ALL, amount(view, 'alpha', solved.total)));
    label(W.rate, amount(view, 'W', this.numbers(view, t).perLink)); label(W.what, PER_LINK);
  },

  handles(view) {
    const { p, g } = view;
    return range(p.N).map((r) => {
      const [x, y] = g.at(r, .5, g.mid + (g.outer + 2 - g.mid) * p.share[r]);
      return { id: `share.${r}`, label: worded(BANDWIDTH_OF, r, mod(r + 1, p.N)), x: x + view.width / 2, y: y + g.height / 2, lo: .1, hi: 1, step: .05, leap: .25, value: p.share[r], words: amount(view, 'W', p.W * p.share[r]) };
    });
  },
  pull(view, id, x, y) {
    const { g } = view, a = g.turn * (+id.split('.')[1] + .5) - Math.PI / 2;
    return ((x - view.width / 2) * Math.cos(a) + (y - g.height / 2) * Math.sin(a) - g.mid) / (g.outer + 2 - g.mid);
  },

  meter(view, t) {
    const { p, solved, call } = view, bytes = min(...moment(p, solved, t).links.map((l) => l.bytes)), mark = call(`bytes_${p.kind}`, inputs(p));
    return { name: LEAST_SENT, words: amount(view, 'V', bytes), value: bytes, full: (p.kind === 'all_reduce' ? 2 : 1) * p.V, mark, met: abs(bytes / mark - 1) < 1e-6, label: worded(FORMULA_SAYS, view.spec.marks[p.kind], amount(view, 'V', mark)), hue: 'scaleup' };
  },
  place({ p, solved }, t) {
    const hops = hopsOf(p), done = moment(p, solved, t).links.reduce((least, l) => min(least, l.done), hops);
    return done === hops ? worded(ALL_HOPS, hops) : worded(HOP_OF, done + 1, hops);
  },
  /** All numbers that are shown. */
  numbers(view, t) {
    const { p, solved, call } = view, now = moment(p, solved, t);
    return {
      total: solved.total, formula: call(`time_${p.kind}`, inputs(p)), perLink: call(`bytes_${p.kind}`, inputs(p)) / solved.total, waiting: waiting(p, solved),
      bytes: now.links.map((l) => l.bytes), held: range(p.N).map((r) => range(p.N).map((c) => holding(p, now, r, c))),
    };
  },
  sentence(view) {
    const { p, solved } = view, all = this.numbers(view, 0), r = slowest(p), slow = p.share[r] < 1, name = view.spec.choices.kind.of.find(([k]) => k === p.kind)[1];
    const first = worded(RING_TIME, name, amount(view, 'V', p.V), p.N, amount(view, 'alpha', all.total), amount(view, 'W', all.perLink));
    const second = slow ? worded(RING_SLOW, r, mod(r + 1, p.N), amount(view, 'W', p.W * p.share[r]), show(all.waiting, SHARE)) : worded(RING_EVEN, show(hopsOf(p) * p.alpha / solved.total, SHARE));
    return `${first} ${second}`;
  },
  table(view) {
    const { p, solved } = view, sent = hopsOf(p) * p.V / p.N;
    return [[LINK, BANDWIDTH, BYTES_SENT, BUSY], ...range(p.N).map((r) => [`${r} → ${mod(r + 1, p.N)}`, amount(view, 'W', p.W * p.share[r]), amount(view, 'V', sent), show(hopsOf(p) * (p.alpha + solved.span[r]) / solved.total, SHARE)])];
  },
  hover(view, el, t) {
    const { p, solved } = view, now = moment(p, solved, t), [what, i] = (el.dataset.told ?? `link ${el.dataset.grip.split('.')[1]}`).split(' ');
    if (what === 'link') {
      const link = now.links[i], does = link.busy ? worded(link.moving ? SENDS : STARTS, LETTERS[link.chunk]) : link.left ? IDLE : ALL_SENT;
      return `<b>${i} → ${mod(+i + 1, p.N)}, ${amount(view, 'W', p.W * p.share[i])}</b>${worded(SENT_OF, amount(view, 'V', link.bytes), amount(view, 'V', hopsOf(p) * p.V / p.N))}<br>${does}`;
    }
    const full = range(p.N).filter((c) => drawn(p, now, +i, c) === p.N);
    return `<b>${worded(RANK, i)}</b>${full.length ? worded(HOLDS, full.map((c) => LETTERS[c]).join(' ')) : HOLDS_PARTS}${now.waits[i] ? `<br>${WAITS}` : ''}`;
  },
  call(view) {
    const { p } = view, even = range(p.N).every((r) => p.share[r] === p.share[0]), rate = (r) => literal(+(p.W * p.share[r]).toPrecision(6), view.spec.units.W);
    return `clocked(ring.${p.kind}(${p.N}), V=${literal(p.V, view.spec.units.V)}, alpha=${literal(p.alpha, view.spec.units.alpha)}, W=${even ? rate(0) : `[${range(p.N).map(rate).join(', ')}]`}).total`;
  },
};

/** The chunk on a link lies along its circle: where the link is narrow it is thin and long. */
function carry(g, p, link, r, k, run) {
  const squeezed = g.squeeze(link.along, k), radius = g.mid + (g.orbit(link.chunk) - g.mid) * squeezed, half = (g.card - 4) / 2 / radius / g.turn;
  const reach = min(half / squeezed, half + .8 * min(link.along, 1 - link.along)), o = g.orbit(link.chunk), high = g.slot / 2 - 1;
  const piece = (i, j) => {
    const a = link.along - reach + 2 * reach * i / p.N, b = link.along - reach + 2 * reach * j / p.N;
    return `${route([...g.line(r, k, o + high, a, b), ...g.line(r, k, o - high, a, b).reverse()])}Z`;
  };
  const [rim, fill, cut, edge, name] = run.children;
  rim.setAttribute('d', piece(0, p.N)); edge.setAttribute('d', piece(0, p.N)); fill.setAttribute('d', piece(0, link.parts));
  cut.setAttribute('d', ADDS.includes(p.kind) ? joined(range(link.parts - 1), (i) => piece(i + 1, i + 1)) : '');
  if (!name) return;
  const [x, y] = g.at(r, link.along, radius);
  name.setAttribute('transform', `translate(${px(x)} ${px(y)})`);
  name.style.opacity = +(squeezed * g.slot > 9.5);
}
globalThis.gpuscale.wake?.();
