/* Plot: axes, regions, curves, marks, and labels that find their own place. */

/** Figures are redrawn at the width they have, never scaled: type keeps its size on a phone. Those below the window are
 *  first drawn in a task of their own each, so that a long page answers meanwhile, and those in a section that is not laid
 *  out yet when it is. */
function fit(el, draw, signal, prepare) {
  let width = 0;
  const redraw = () => {
    if (el.clientWidth && el.clientWidth !== width) draw((width = el.clientWidth));
  };
  const watch = new ResizeObserver(() => {
    if (width || rect(el).top < innerHeight) redraw();
    else {
      setTimeout(() => {
        prepare?.();
        setTimeout(redraw);
      });
    }
  });
  watch.observe(el);
  signal.onabort = () => watch.disconnect();
}
/** An element keeps the height of the tallest of its texts, so that nothing below it jumps. All lie in one place, measured once. */
function tallest(el, texts) {
  el.style = 'display:grid';
  el.innerHTML = joined(texts, (t) => `<div style="grid-area:1/1">${t}</div>`);
  const high = `${el.offsetHeight}px`;
  el.style = '';
  el.style.minHeight = high;
}
function ink(svg, w, h, out) {
  for (const [k, v] of entries({ width: w, height: h, viewBox: `0 0 ${w} ${h}` })) svg.setAttribute(k, v);
  svg.innerHTML = out;
}
const px = (v) => v.toFixed(1);
/** Labels may hold <i> and <sub>; SVG knows neither. */
const spans = (html) =>
  html
    .replace(/<i>(.*?)<\/i>/g, '<tspan font-style="italic">$1</tspan>')
    .replace(/<sub>(.*?)<\/sub>/g, '<tspan font-size=".8em" dy=".25em">$1</tspan><tspan dy="-.2em">\u200b</tspan>');
/** Text at a point. */
const text = (cls, x, y, html, anchor = 'start', more = '') =>
  `<text class="${cls}" x="${px(x)}" y="${px(y)}" text-anchor="${anchor}" ${more}>${spans(html)}</text>`;

function axis({ lo, hi, log }, from, to) {
  const t = log ? log10 : (v) => v;
  const k = (to - from) / (t(hi) - t(lo));
  const at = (v) => from + (t(log ? max(v, 1e-99) : v) - t(lo)) * k;
  at.inv = (p) => {
    const u = t(lo) + (p - from) / k;
    return log ? 10 ** u : u;
  };
  return at;
}
/** The first row of ticks [value, words] that has room, where need(words) is what one takes. The twin of Axis.spaced. */
const ticks = (a, at, need) =>
  a.ticks.find((row) =>
    row.every(([v, t], i) => !i || abs(at(v) - at(row[i - 1][0])) >= (need(t) + need(row[i - 1][1])) / 2),
  ) ?? a.ticks.at(-1);

/** Points of a curve: closer where it bends, and a gap where it has no value. */
function trace(f, X, Y, a, b) {
  const at = (p) => [p, clamp(Y(f(X.inv(p))), -999, 1999)];
  const n = max(1, ceil((b - a) / 5));
  const out = [at(a)];
  const add = (p, q, depth) => {
    const m = at((p[0] + q[0]) / 2);
    if (depth && !(abs(m[1] - (p[1] + q[1]) / 2) < 0.3)) {
      add(p, m, depth - 1);
      add(m, q, depth - 1);
    } else out.push(q);
  };
  for (const i of range(n)) add(out.at(-1), at(a + ((b - a) * (i + 1)) / n), 4);
  return out;
}
const path = (points) =>
  joined(points, ([x, y], i) => (y === y ? `${points[i - 1]?.[1] + 1 ? 'L' : 'M'}${px(x)} ${px(y)}` : ''));

const widths = new Map();
/** The width of a label, measured as it will be drawn. */
function wide(html, bold, family) {
  const key = `${bold ? 700 : 400} 12.5px ${family}`;
  if (!widths.has(key + html)) {
    const pen = (widths.pen ??= doc.createElement('canvas').getContext('2d'));
    pen.font = key;
    widths.set(key + html, pen.measureText(html.replace(/<.*?>/g, '')).width);
  }
  return widths.get(key + html);
}

/** Puts labels where they meet nothing. The first free place of those offered wins; a label keeps its last place
 *  while that is free, so that nothing jumps when a slider moves. */
function placer(box, kept) {
  const solid = [];
  const lines = new Map();
  const frame = (c, width) => {
    const cos = Math.cos(c.turn ?? 0);
    const sin = Math.sin(c.turn ?? 0);
    const off = ({ start: 1, end: -1 }[c.anchor] * width) / 2 || 0;
    return {
      cos,
      sin,
      x: c.x + cos * off + sin * 4,
      y: c.y + sin * off - cos * 4,
      hw: width / 2 + 4,
      hh: 8.5,
      up: c.up,
    };
  };
  function hits(points, { cos, sin, x, y, hw, hh }) {
    let n = 0;
    for (const p of points) {
      const u = p[0] - x;
      const v = p[1] - y;
      if (abs(u * cos + v * sin) < hw && abs(v * cos - u * sin) < hh) n++;
    }
    return n;
  }
  function cost(r, own, most) {
    // a name has to be nearest to its own curve
    const w = abs(r.cos) * r.hw + abs(r.sin) * r.hh - 3;
    const h = abs(r.sin) * r.hw + abs(r.cos) * r.hh - 2;
    if (r.x - w < box.x0 || r.x + w > box.x1 + 6 || r.y - h < box.y0 || r.y + h > box.y1 || hits(solid, r)) {
      return Infinity;
    }
    const about = { ...r, hh: 14.5 }; // as far as its own curve, and as far on the other side
    let n = 0;
    for (const [id, points] of lines) {
      if (n < most) n += hits(points, r) + (id !== own && r.up ? hits(points, about) / 4 : 0);
    }
    return n;
  }
  return {
    dot: ({ X, Y, r }) => {
      for (const a of range(8)) {
        solid.push([X + (r + 1) * Math.sin((a * Math.PI) / 4), Y + (r + 1) * Math.cos((a * Math.PI) / 4)]);
      }
    },
    line: (id, points) =>
      lines.set(
        id,
        points.flatMap(([x, y], i) => {
          // a point every 7 px: steep lines have few of their own
          const [a, b] = points[i - 1] ?? [x, y];
          const n = ceil(hypot(x - a, y - b) / 7) || 1;
          return n < 300 ? range(n).map((k) => [x + ((a - x) * k) / n, y + ((b - y) * k) / n]) : [];
        }),
      ),
    put(id, own, width, places, must) {
      let best = must ? 0 : -1;
      let least = must ? Infinity : 5; // a thin line may be crossed for a little way, a label never
      for (const i of [kept.get(id), ...places.keys()]) {
        const n = places[i] ? cost(frame(places[i], width), own, least) : Infinity;
        if (n < least) {
          best = i;
          least = n;
        }
        if (!n) break;
      }
      if (!places[best]) return null;
      kept.set(id, best);
      const r = frame(places[best], width);
      for (let u = -r.hw; u <= r.hw; u += 6) {
        for (const v of [-7, 0, 7]) solid.push([r.x + u * r.cos - v * r.sin, r.y + u * r.sin + v * r.cos]);
      }
      return places[best];
    },
  };
}
/** Places along a curve: above and below it, turned with it where it is straight, next to it where it is steep. */
function along(c, width, { X, Y, y0, y1 }) {
  const seen = c.points.filter(([, y]) => y > y0 && y < y1);
  const out = [];
  const side = [];
  if (!seen.length) return out;
  const a = seen[0][0];
  const b = seen.at(-1)[0];
  const at = (p) => Y(c.f(X.inv(clamp(p, a, b))));
  const half = min(width / 2 + 6, (b - a) / 2);
  const goal = c.near === undefined ? b : X(c.near);
  const mids = range(13).map((i) => a + half + ((b - a - 2 * half) * i) / 12);
  for (const x of mids.sort((p, q) => abs(p - goal) - abs(q - goal))) {
    let turn = 0;
    for (const _ of range(2)) {
      const h = half * Math.cos(turn);
      turn = Math.atan2(at(x + h) - at(x - h), 2 * h);
    }
    if (abs(turn) < 0.045) turn = 0;
    const cos = Math.cos(turn);
    const sin = Math.sin(turn);
    const y = at(x);
    const off = range(9).map((i) => {
      const d = (i / 4 - 1) * half * cos;
      return (at(x + d) - y) * cos - d * sin;
    });
    for (const [d, up] of [
      [min(...off) - 6, 1],
      [max(...off) + 15, -1],
    ]) {
      if (abs(turn) < 1.15 && abs(d - 4.5) < 20.5) {
        out.push({ x: x - d * sin, y: y + d * cos, turn, anchor: 'middle', up });
      }
    }
    for (const [dx, dy] of [
      [-9, -4],
      [9, 12],
      [9, -4],
      [-9, 12],
    ]) {
      side.push({ x: x + dx, y: y + dy, anchor: dx < 0 ? 'end' : 'start' });
    }
  }
  return [...out, ...side];
}
/** Places round a dot. */
const around = ({ X, Y, r }) =>
  [1, 1.6, 2.4].flatMap((k) =>
    [
      [-1, -0.8],
      [1, -0.8],
      [0, -1.1],
      [0, 1.1],
      [1, 0.8],
      [-1, 0.8],
      [1.2, 0],
      [-1.2, 0],
    ].map(([u, v]) => ({
      x: X + u * k * (r + 4),
      y: Y + v * k * (r + 7) + 4 + 4 * sign(v),
      anchor: ['end', 'middle', 'start'][sign(u) + 1],
    })),
  );
/** Names in a column right of the plot, in the order of the curves' ends, pushed apart where they are close. */
function column(named, { x1, y0, y1 }) {
  const rows = named
    .map((c) => ({ c, p: c.points.findLast(([, y]) => y > y0 && y < y1) }))
    .filter((r) => r.p)
    .sort((a, b) => a.p[1] - b.p[1]);
  rows.forEach((r, i) => {
    r.y = max(r.p[1], (rows[i - 1]?.y ?? y0 - 10) + 15);
  });
  for (let i = rows.length; i--;) rows[i].y = min(rows[i].y, (rows[i + 1]?.y ?? y1 + 12) - 15);
  return joined(
    rows,
    ({ c, p, y }) =>
      `<g class="${c.hue ?? 'plain'}"><path class="curve thin" d="M${px(p[0])} ${px(p[1])}L${x1 + 9} ${px(y)}"/>${text(`label ${c.light}`, x1 + 12, y + 4, c.text)}</g>`,
  );
}

/** Draws a scene { x, y, ends, regions, curves, dots } and returns its box. */
function plot(svg, s, w, id, kept) {
  const h = round(clamp(w * 0.56, 250, 360));
  const y0 = 40;
  const y1 = h - 42;
  const family = getComputedStyle(svg).fontFamily;
  const measure = (words, bold) => wide(words, bold, family);
  const most = (list) => max(...list);
  const Y = axis(s.y, y1, y0);
  const rows = ticks(s.y, Y, () => (s.y.log ? 30 : 36));
  const named = s.curves.filter((c) => c.text);
  const brief = (l) => (w < 480 ? (l.short ?? l.text) : l.text);
  const { ends } = s;
  const beside = ends ? most(named.map((c) => measure(brief(c), !c.light))) + 16 : 0; // many curves: names in a column beyond the plot
  const x0 = most(rows.map(([, t]) => measure(t))) + 8;
  const columns = ticks(s.x, axis(s.x, x0, w - max(20, beside)), (t) => measure(t) + 16);
  const x1 = w - max(6, beside, measure(columns.at(-1)[1]) / 2);
  const X = axis(s.x, x0, x1);
  const box = { X, Y, x0, x1, y0, y1 };
  const labels = placer(box, kept);
  let out = `<clipPath id="${id}"><rect x="${x0}" y="${y0 - 2}" width="${x1 - x0 + 2}" height="${y1 - y0 + 2}"/></clipPath>`;
  let top = '';

  for (const [i, r] of s.regions.entries()) {
    // the pale fill of a bound, its name in a tab on top
    const a = clamp(X(r.lo), x0, x1);
    const b = clamp(X(r.hi), x0, x1);
    const rect = (height) => `<rect class="region" x="${a}" y="${y0 - 22}" width="${b - a}" height="${height}"/>`;
    const name = [r.name, r.name.replace(/^(the|too few) /, '').split(/[- ]/)[0]].find(
      (n) => measure(n, 1) + 8 < b - a,
    );
    if (s.regions[i - 1]?.hue === r.hue) out += `<path stroke="var(--edge)" d="M${px(a)} ${y0 - 22}V${y1}"/>`; // two of one hue: a border
    out += `<g class="${r.hue}">${rect(y1 - y0 + 22)}${rect(22)}${text('label flat', (a + b) / 2, y0 - 7, name ?? '', 'middle')}</g>`;
  }
  for (const [v, t] of columns) {
    out += `<path class="grid" d="M${X(v)} ${y0}V${y1}"/>${text('tick', X(v), y1 + 17, t, 'middle')}`;
  }
  for (const [v, t] of rows) {
    out += `<path class="grid" d="M${x0} ${Y(v)}H${x1}"/>${text('tick', x0 - 8, Y(v) + 4, t, 'end')}`;
  }
  out += `${text('title', 0, 12, s.y.title)}${text('title', w, h - 4, s.x.title, 'end')}<path class="spine" d="M${x0} ${y0}V${y1}H${x1}"/><g clip-path="url(#${id})">`;

  for (const c of s.curves) {
    c.points = [];
    for (const { lo, hi, hue } of c.pieces) {
      const a = clamp(X(lo), x0, x1);
      const b = clamp(X(hi), x0, x1);
      const last = c.points.at(-1);
      if (!(b > a)) continue;
      const piece = trace(c.f, X, Y, a, b);
      out += `<path class="${c.cls} ${hue}" d="${path(last && a - last[0] < 1 ? [last, ...piece] : piece)}"/>`;
      c.points.push(...piece);
    }
    labels.line(c.id, c.points);
  }
  for (const d of s.dots) Object.assign(d, { X: X(d.x), Y: Y(d.y) });
  for (const d of s.dots.filter((c) => c.line && c.X > x0 && c.X < x1)) {
    out += `<path class="cross" d="M${d.X} ${y0}V${y1}"/>`;
    labels.line(d.id, [
      [d.X, y0],
      [d.X, y1],
    ]);
  }
  out += '</g>';
  const dots = s.dots.filter((d) => d.X >= x0 - 1 && d.X <= x1 + 1 && d.Y >= y0 - 1 && d.Y <= y1 + 1);
  for (const d of s.dots.filter((m) => m.must && !dots.includes(m) && m.X === m.X && m.Y === m.Y)) {
    // the state is off the plot: a hollow drop points to where
    const x = clamp(d.X, x0 + 12, x1 - 12);
    const y = clamp(d.Y, y0 + 12, y1 - 12);
    const turn = (Math.atan2(d.Y - y, d.X - x) * 180) / Math.PI;
    labels.dot({ X: x, Y: y, r: 9 });
    top += `<path class="dot ${d.hue} open" transform="translate(${px(x)} ${px(y)}) rotate(${px(turn)})" d="M11 0L4 5A6.4 6.4 0 1 1 4-5z"/>`;
  }
  for (const d of dots) {
    labels.dot(d);
    top += `<circle class="dot ${d.hue} ${d.open ? 'open' : ''}" cx="${d.X}" cy="${d.Y}" r="${d.r}"/>`;
  }
  function label(l, places) {
    // the full text, or the short one where there is no room
    for (const t of new Set([brief(l), l.short ?? l.text])) {
      const width = measure(t ?? '', !l.light);
      const c = t && labels.put(l.id + t, l.id, width, places(width), l.must && t === (l.short ?? l.text));
      if (!c) continue;
      const turn = c.turn && `transform="rotate(${px((c.turn * 180) / Math.PI)} ${px(c.x)} ${px(c.y)})"`;
      top += text(
        `label ${l.tone ?? l.hue ?? s.regions.find((r) => c.x <= X(r.hi))?.hue} ${l.light}`,
        c.x,
        c.y,
        t,
        c.anchor,
        turn || '',
      );
      return;
    }
  }
  const lead = named.find((c) => !c.light);
  const same = (c) =>
    c.light &&
    lead &&
    range(9).every((i) => {
      const x = X.inv(x0 + ((x1 - x0) * i) / 8);
      return abs(Y(c.f(x)) - Y(lead.f(x))) < 3;
    });
  const heights = range(floor((y1 - y0 - 12) / 17)).map((i) => y0 + 16 + 17 * i);
  for (const d of dots.filter((m) => m.must)) label(d, () => around(d));
  for (const d of s.dots.filter((m) => m.line && m.X > x0 && m.X < x1)) {
    label(d, () =>
      (d.low ? heights.map((y) => y0 + y1 + 6 - y) : heights).flatMap((y) => [
        { x: d.X + 7, y, anchor: 'start' },
        { x: d.X - 7, y, anchor: 'end' },
      ]),
    );
  }
  // Names of curves and points cross no dotted line: it counts for more than a curve does
  for (const d of s.dots) {
    if (d.line) labels.line(d.id, range(ceil(y1 / 3)).map((i) => [d.X, 3 * i]));
  }
  if (ends) {
    top += column(
      named.map((c) => ({ ...c, text: brief(c) })),
      box,
    );
  } else {
    for (const c of named.sort((a, b) => a.light.length - b.light.length)) {
      if (!same(c)) label(c, (width) => along(c, width, box));
    }
  }
  for (const d of dots.filter((m) => !m.must && !m.line)) label(d, () => around(d));
  ink(svg, w, h, `${out}${top}<g class="hover"></g>`);
  return box;
}
