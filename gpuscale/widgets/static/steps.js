/* A schedule step by step: ranks are rows and chunks are columns. A chunk flies from rank to rank in its column, and its
   cell fills as the sum grows. Python says who holds what after each step, and who sends what to whom. */
const pathed = (g, [a, b, both]) => {
  const k = (b > a ? 4 : -4) * !both;
  const x = g.edge + 5;
  const bow = x + 1.33 * g.reach(abs(b - a));
  const [y0, y1] = [g.mid(a) + k, g.mid(b) - k];
  return {
    x,
    y0,
    y1,
    d: `M${px(x + (both ? 6 : 0))} ${px(y0)}C${px(bow)} ${px(y0)} ${px(bow)} ${px(y1)} ${px(x + 6)} ${px(y1)}`,
  };
};
const tip = (x, y) => `M${px(x)} ${px(y)}l7-4v8z`;

/** Where rows, columns and arrows stand. */
function grid(of, width) {
  const { ranks, names, group, moves } = of;
  const side = width > 480;
  const many = ranks > 9;
  const left = side ? 66 : 22;
  const zone = side ? 110 : 62;
  const high = many ? 20 : 26;
  const gap = many ? 5 : 8;
  const u = min((width - left - zone) / names.length, 84);
  const w = u - (u > 22 ? 4 : 2);
  const edge = left + names.length * u - (u - w);
  const top = 28 + (group ? 22 : 0);
  const node = (r) => (group ? floor(r / group) : 0);
  const y = (r) => top + r * (high + gap) + node(r) * 26;
  const longest = max(...moves.flat().map(([a, b]) => abs(a - b)));
  return {
    side,
    left,
    high,
    u,
    w,
    edge,
    node,
    y,
    x: (c) => left + c * u,
    mid: (r) => y(r) + high / 2,
    reach: (d) => 14 + ((min(width - edge, 200) - 26) * d) / longest,
    height: y(ranks - 1) + high + 8,
  };
}
/** The step under way or just done, how far its chunks have flown, and whether it is done. */
function standing({ moves }, t) {
  const step = max(0, ceil(t - 1e-6) - 1);
  const u = t - step;
  const done = u > 1 - 1e-6 || !t;
  return {
    step,
    done,
    fly: eased(clamp((u - 0.08) / 0.84, 0, 1)),
    frame: t ? step + done : 0,
    sends: t ? moves[step] : [],
  };
}
/** The pairs of ranks that talk, each once: [from, to, whether both send]. */
function talks(sends) {
  const pairs = new Map(sends.map(([a, b]) => [`${a} ${b}`, [a, b, false]]));
  for (const [key, [a, b]] of [...pairs]) if (a < b && pairs.delete(`${b} ${a}`)) pairs.set(key, [a, b, true]);
  return [...pairs.values()];
}
const count = (text, c) => parseInt(text[c], 36);

figures.steps = {
  mute: true,
  units: true,
  solve({ kind }, call, data) {
    const of = data.tabs[kind];
    const total = of.moves.length;
    return { of, total, marks: range(total).map((i) => i + 1) };
  },
  pace: () => 1.4,
  height: ({ solved, width }) => grid(solved.of, width).height,

  draw(view, t) {
    const {
      p,
      solved: { of },
      words,
      width,
    } = view;
    const g = grid(of, width);
    const at = standing(of, t);
    const held = of.held[at.frame];
    const gone = t
      ? (r, c) =>
          of.pale[at.step + (at.done || at.sends.some(([a, , k]) => a === r && k === c))][r][c] === '1' ||
          (!at.done && of.pale[at.step][r][c] === '1')
      : () => false;
    const out = [];
    const flights = [];
    const many = range(of.names.length);
    const faint = (c) => (p.follow < 0 || p.follow === c || of.names.length <= p.follow ? {} : { opacity: 0.22 });
    const label = (key, x, y, text, cls, more) => ({ key, tag: 'text', x, y, words: text, class: cls, ...more });
    const centered = { 'text-anchor': 'middle' };
    /** A chunk, filled as far as its sum has come, with its name or how far that is. */
    function chunk(key, c, x, y, n, gone, more) {
      const part = `${n}/${of.of}`;
      const text = n < of.of && g.w > 7 * part.length + 2 ? part : of.names[c];
      const { told, ...look } = { ...faint(c), ...more };
      return [
        {
          key,
          tag: 'rect',
          x,
          y,
          width: (g.w * n) / of.of,
          height: g.high,
          rx: g.w > 22 ? 4 : 2,
          class: gone ? 'chunk gone' : 'chunk',
          style: `--i:${of.tints[c]};--odd:${of.tints[c] % 2}`,
          told,
          ...look,
        },
        g.w > 6.5 * text.length + 1 &&
          label(
            `${key}name`,
            x + g.w / 2,
            y + g.high / 2 + 0.5,
            text,
            gone ? 'small' : n < of.of ? 'name' : 'name strong',
            { ...centered, told, ...look },
          ),
      ];
    }
    if (g.side) out.push(label('head', 0, 10, of.block ? words.block : words.chunk, 'small'));
    for (const c of many) {
      out.push(label(`head${c}`, g.x(c) + g.w / 2, 10, of.names[c], p.follow === c ? 'strong' : 'small', centered), {
        key: `press${c}`,
        tag: 'rect',
        x: g.x(c),
        y: 0,
        width: g.w,
        height: 24,
        class: 'bare',
        act: c,
        group: 'chunks',
        pressed: p.follow === c,
        label: worded(words.follow, of.called[c]),
      });
    }
    for (const r of range(of.ranks)) {
      out.push(label(`rank${r}`, 0, g.mid(r), g.side ? worded(words.rank, r) : `${r}`, ''));
      if (of.group && r % of.group === 0) {
        out.push(label(`node${r}`, g.left, g.y(r) - 11, worded(words.node, g.node(r)), 'small'));
      }
      out.push({
        key: `slots${r}`,
        tag: 'path',
        d: joined(many, (c) => `M${px(g.x(c))} ${px(g.y(r))}h${px(g.w)}v${g.high}h${px(-g.w)}z`),
        class: 'slot',
      });
      for (const c of many) {
        const n = count(held[r], c);
        if (n) out.push(chunk(`cell${r}.${c}`, c, g.x(c), g.y(r), n, gone(r, c), { told: `${r} ${c}` }));
      }
    }
    for (const [a, b, both] of talks(at.sends)) {
      const { x, y0, y1, d } = pathed(g, [a, b, both]);
      const hue = g.node(a) === g.node(b) ? 'scaleup' : 'scaleout';
      out.push(
        { key: `arrow${a}.${b}`, tag: 'path', d, class: `arrow ${hue}` },
        { key: `tip${a}.${b}`, tag: 'path', d: tip(x, y1) + (both ? tip(x, y0) : ''), class: `head-of ${hue}` },
      );
      if (!both) out.push({ key: `from${a}.${b}`, tag: 'circle', cx: x, cy: y0, r: 2.5, class: `head-of ${hue}` });
    }
    for (const [a, b, c] of at.sends) {
      const y = at.done ? g.y(b) : lerp(g.y(a), g.y(b), at.fly);
      const key = `flight${a}.${b}.${c}`;
      const rim = {
        key: `${key}rim`,
        tag: 'rect',
        x: g.x(c),
        y,
        width: g.w,
        height: g.high,
        rx: g.w > 22 ? 4 : 2,
        class: 'came',
        ...faint(c),
      };
      flights.push(at.done ? rim : [chunk(key, c, g.x(c), y, count(held[a], c), false), rim]);
    }
    return [out, flights];
  },
  act: ({ p }, c) => ({ follow: +c === p.follow ? -1 : +c }),
  place: ({ solved: { of, total }, words }, t) => worded(words.step, t ? standing(of, t).step + 1 : 0, total),

  meter({ solved: { of, total } }, t) {
    const { step, done, fly } = standing(of, t);
    const { values, text, ...bar } = of.meter;
    const value = t ? lerp(values[step], values[step + 1], done ? 1 : fly) : 0;
    return { ...bar, value, words: text[t ? step + done : 0], met: t > total - 1e-6 };
  },
  numbers({ p, solved: { of } }, t) {
    const { frame, step } = standing(of, t);
    return {
      frame,
      held: of.held[frame],
      counted: of.meter.values[frame],
      said: t ? step + 1 : 0,
      followed: followed(of, p.follow, frame),
    };
  },
  sentence({ p, solved: { of }, words }, t) {
    const { step, frame } = standing(of, t);
    const where = followed(of, p.follow, frame);
    const said = of.said[t ? step + 1 : 0];
    return where
      ? `${said} ${worded(of.block ? words.isAt : words.hold, of.called[p.follow], of.block ? where[0] : where.length, of.ranks)}`
      : said;
  },
  table: ({ solved: { of }, words }) => [[words.steps, of.meter.name], ...of.rows],
  hover({ solved: { of }, words }, el, t) {
    const [r, c] = el.dataset.told.split(' ');
    const n = count(of.held[standing(of, t).frame][r], +c);
    return `<b>${worded(words.cell, r, of.called[c])}</b>${of.block ? '' : n < of.of ? worded(words.partial, n, of.of) : words.complete}`;
  },
  call: ({ solved: { of }, data, spec }) => `${of.call} * ${literal(data.V, spec.units.V)}`,
};
/** The ranks that hold all of a chunk and have not sent it on, or nothing where none is followed. */
function followed(of, c, frame) {
  return c >= 0 && c < of.names.length
    ? range(of.ranks).filter((r) => count(of.held[frame][r], c) === of.of && of.pale[frame][r][c] === '0')
    : null;
}
globalThis.gpuscale.wake?.();
