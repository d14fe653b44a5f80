/* Transfers: ranks are rows, chunks are cells, arrows are what moves in this step. Python says who holds what: the
   cells at the start, then for each step [source, target, chunk, shares held afterwards], below zero where it adds. */

/** Cells after t steps: shares held, what was given away, and what came in this step. */
function played({ rows, moves, ranks, block }, t) {
  const held = rows.map((row) => [...row].map((c) => parseInt(c, 36))), gone = rows.map(() => []), came = rows.map(() => []);
  moves.slice(0, t).forEach((step, i) => {
    for (const [from, , c, n] of step) if (n < 0 || from >= ranks || block) gone[from][c] = true;   // sums and blocks go on; a switch keeps nothing
    for (const [, to, c, n] of step) { held[to][c] = abs(n); gone[to][c] = false; came[to][c] = i === t - 1; }
  });
  return { held, gone, came, now: moves[t - 1] ?? [] };
}
const cell = (x, y, w, h, cls, more = '') => `<rect class="${cls}" x="${px(x)}" y="${px(y)}" width="${px(w)}" height="${px(h)}" rx="${h > 16 ? 4 : 2}" ${more}/>`;
/** One hue for each chunk, the same everywhere; neighbors differ in lightness as well. */
const tinted = (i, style = '') => `style="--i:${i};--odd:${i % 2};${style}"`;
/** A cell is filled as far as its sum has come; its name stays readable without any color. */
function chunk(x, y, w, h, n, of, hue, name, gone, came) {
  let out = cell(x, y, w, h, 'slot');
  if (n) out += cell(x, y, w * n / of, h, `chunk ${gone ? 'gone' : ''}`, tinted(hue));
  if (came) out += cell(x, y, w, h, 'came');
  const part = `${n}/${of}`, word = n < of && w > 7 * part.length + 2 ? part : name;
  return out + (n && w > 6.5 * word.length + 3 && h > 11 ? text(gone ? 'small' : n < of ? 'name' : 'name strong', x + w / 2, y + h / 2 + .5, word, 'middle') : '');
}
const head = (x, y, way, hue) => `<path class="head-of ${hue}" d="M${px(x)} ${px(y)}${{ left: 'l7 -4v8z', right: 'l-7 -4v8z', down: 'l-4 -6h8z', up: 'l-4 6h8z' }[way]}"/>`;
const line = (d, hue) => `<path class="arrow ${hue}" d="${d.replace(/\d+\.\d+/g, (v) => +(+v).toFixed(1))}"/>`;

/** The pairs of nodes that talk in this step, each once; \`both\` where either sends to the other. */
function talks(now) {
  const pairs = new Map(now.map(([a, b]) => [`${a} ${b}`, { a, b }]));
  for (const [key, p] of pairs) if (p.a < p.b && pairs.delete(`${p.b} ${p.a}`)) pairs.set(key, { ...p, both: true });
  return [...pairs.values()];
}

painters.chunks = (svg, w, t, spec, forward) => {
  const { ranks, chunks, of, groups, hue, names, steps, moves, end } = spec, { held, gone, came, now } = played(spec, t);
  const side = w > 480,  pair = spec.view === 'pair', per = pair && spec.block ? ranks : chunks, tint = (c) => spec.tints?.[c] ?? c;
  const many = ranks > 9, left = side ? 62 : 22, high = many ? 20 : 26, ring = spec.view === 'ring', gap = ring ? 16 : many ? 5 : 8;
  const node = (r) => groups ? floor(r / groups) : 0, name = (c) => escape(names?.[c] ?? c), top = (of > 1 || pair || spec.switches.length ? 24 : 4) + (groups ? 22 : 0);
  const y = (r) => top + r * (high + gap) + node(r) * 26, mid = (r) => y(r) + high / 2, foot = y(ranks - 1) + high;
  const depth = max(0, ...spec.switches.map((s) => s[3])), far = (a, b) => node(a) === node(b) ? hue : 'scaleout';
  const between = side ? 92 : 50, boxed = side ? 62 : 34, wires = side ? 56 : 36;
  const zone = pair ? between : depth ? depth * (boxed + wires) : ring ? 30 : side ? 96 : 62;
  const u = min((w - left - zone) / (pair ? 2 * per : per), chunks > 2 && pair ? 64 : ring || chunks < 3 ? 130 : 84), cw = u - (u > 22 ? 4 : 2), edge = left + per * u - (u - cw), x = (c) => left + c * u;
  let out = '', flights = '';
  const small = (at, words, anchor = 'start') => { out += text('small', at, 8, words, anchor); };
  const put = (at, r, j, c, cells = held, lost = gone[r][c] || (t === steps && end[r][c] < 1), got = came[r][c]) => {
    out += chunk(at, y(r), cw, high, cells[r][c], of, tint(c), name(c), lost, got);
  };
  const fly = (c, x0, y0, x1, y1, h = high) => { if (forward) flights += cell(x1, y1, cw, h, 'chunk flight', tinted(tint(c), `--x:${px(x0 - x1)}px;--y:${px(y0 - y1)}px`)); };
  for (const r of range(ranks)) out += text('', 0, mid(r), side ? worded(spec.row ?? RANK, r) : `${r}`);
  if (groups) for (const n of range(ceil(ranks / groups))) out += text('small', left, y(n * groups) - 11, `${spec.group} ${n}`);

  if (pair) {
    const second = edge + between, x2 = (j) => second + j * u, first = played(spec, 0).held, sent = first.map(() => []), going = first.map(() => []);
    moves.slice(0, t).forEach((step, i) => { for (const [a, , c] of step) { sent[a][c] = spec.block; going[a][c] = i === t - 1; } });
    small(left, spec.heads[0]); small(second, spec.heads[1]);
    for (const r of range(ranks)) for (const j of range(per)) {
      const [from, to] = spec.block ? [r * ranks + j, j * ranks + r] : [j, j];
      put(x(j), r, j, from, first, !!sent[r][from], !!going[r][from]);
      put(x2(j), r, j, to, held, spec.block ? false : undefined);
    }
    for (const [a, b, c] of now) fly(c, x(spec.block ? c % ranks : c), y(a), x2(tint(c)), y(b));
    for (const { a, b, both } of talks(now)) for (const [s, e] of both ? [[a, b], [b, a]] : [[a, b]]) {
      const h = far(s, e), x0 = edge + 3, x1 = second - 4, m = (x0 + x1) / 2;
      out += line(`M${x0} ${mid(s)}C${m} ${mid(s)} ${m} ${mid(e)} ${x1 - 6} ${mid(e)}`, h) + head(x1, mid(e), 'right', h);
    }
  } else {
    if (of > 1) { if (side) small(0, CHUNK); for (const c of range(chunks)) small(x(c) + cw / 2, name(c), 'middle'); }
    for (const r of range(ranks)) for (const c of range(chunks)) put(x(c), r, c, c);
    const place = spec.switches.map(([label, lo, hi, level], i) => {
      const at = edge + (level - 1) * (boxed + wires) + wires, a = y(lo) - 6, b = y(hi) + high + 6, tall = b - a - 8;
      const across = clamp(ceil(16 * chunks / tall), 1, floor((boxed - 8) / 14)), rank = ceil(chunks / across), slot = tall / rank, h = min(slot - 2, high), room = (boxed - 10) / across;
      const spot = (c) => [at + 5 + floor(c / rank) * room, chunks === hi - lo + 1 && across < 2 ? mid(lo + c) - h / 2 : a + 4 + c % rank * slot + (slot - h) / 2];
      out += `<rect class="box ${level > 1 ? 'scaleout' : hue}" x="${px(at)}" y="${px(a)}" width="${boxed}" height="${px(b - a)}" rx="7"/>` + text('small', at + boxed / 2, a - 9, escape(6 * label.length < boxed + wires ? label : /\d*$/.exec(label)[0]), 'middle');
      for (const c of range(chunks)) out += chunk(...spot(c), room - (across > 1 ? 2 : 0), h, held[ranks + i][c], of, c, name(c), gone[ranks + i][c], came[ranks + i][c]);
      return { at, spot, level, mid: (a + b) / 2 };
    });
    const arcs = talks(now), longest = max(1, ...moves.flat().map(([a, b]) => abs(a - b))), reach = (d) => 16 + (min(w - edge, 200) - 26) * d / longest;
    let turn = 0;
    for (const { a, b, both } of arcs) {
      const [lo, hi] = [min(a, b), max(a, b)];
      if (hi >= ranks) {                                   // to or from a switch: straight across, or from box to box
        const p = place[hi - ranks], q = place[lo - ranks], up = b === hi, from = q ? q.at + boxed : edge;
        const at = q ? q.mid : mid(lo) + (p.level > 1 && (high + gap) / 2), h = p.level > 1 ? 'scaleout' : hue, x0 = from + 4, x1 = p.at - 4;
        out += line(`M${x0 + (both || !up ? 6 : 0)} ${at}H${x1 - (both || up ? 6 : 0)}`, h);
        if (up || both) out += head(x1, at, 'right', h);
        if (!up || both) out += head(x0, at, 'left', h);
      } else if (ring && hi - lo === 1 && ranks > 2) {     // from a cell to the one below it or above it
        for (const [s, e, c] of now) if ((s === a && e === b) || (both && s === b && e === a)) {
          const m = x(c) + cw / 2, down = e > s, y0 = down ? y(s) + high + 2 : y(s) - 2, y1 = down ? y(e) - 1.5 : y(e) + high + 1.5;
          out += line(`M${m} ${y0}V${y1 + (down ? -5 : 5)}`, far(s, e)) + head(m, y1, down ? 'down' : 'up', far(s, e));
        }
      } else if (ring) {
        const at = edge + 22 - 8 * turn++, h = far(a, b), k = b > a ? 1 : -1, x0 = edge + 4;
        out += line(`M${x0 + (both ? 6 : 0)} ${mid(a)}H${at - 6}q6 0 6 ${6 * k}V${mid(b) - 6 * k}q0 ${6 * k} -6 ${6 * k}H${x0 + 6}`, h) + head(x0, mid(b), 'left', h);
        if (both) out += head(x0, mid(a), 'left', h);
      } else {
        const k = (b > a ? 4 : -4) * !both, x0 = edge + 5, far0 = x0 + 1.33 * reach(hi - lo), h = far(a, b), y0 = mid(a) + k, y1 = mid(b) - k;
        out += line(`M${x0 + (both ? 6 : 0)} ${y0}C${far0} ${y0} ${far0} ${y1} ${x0 + 6} ${y1}`, h) + head(x0, y1, 'left', h) + (both ? head(x0, y0, 'left', h) : `<circle class="head-of ${h}" r="2.5" cx="${x0}" cy="${y0}"/>`);
      }
    }
    const where = (v, c) => v < ranks ? [x(c), y(v)] : place[v - ranks].spot(c);
    for (const [a, b, c] of now) fly(c, ...where(a, c), ...where(b, c));
  }
  ink(svg, w, foot + 10, out + flights);
};
