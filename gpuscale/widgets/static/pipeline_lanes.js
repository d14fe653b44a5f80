/* What is drawn of a pipeline: one pass with its handles, the lane of each rank with its idle times and its memory, the path
   that the step consists of, the axis of time.                                                                            */
const number = (v) => show(+v.toFixed(2), '1', true, 4);
const hue = (m) => 20 + 45 * m + (m > 7 ? 22.5 : 0);
const span = (words) => 6.3 * words.replace(/<[^>]*>/g, '').length; // pixels that words take, about
function shape({ width, p, solved }) {
  const small = width < 480;
  const left = small ? 28 : 58;
  const right = small ? 18 : 26;
  const n = p.N_stages;
  const pitch = clamp(340 / n, 56, 84);
  const lane = pitch < 70 ? 22 : 26;
  const top = 70;
  return {
    small,
    left,
    right,
    pitch,
    lane,
    top,
    foot: top + n * pitch,
    strip: pitch - lane - 24,
    unit: min(100, (width - left - right) / 5),
    full: max(p.N_MB, n + 1),
    room: width - left - right,
    lanes: (r) => top + r * pitch,
  };
}
/** The time that the width shows, unless a hand holds a handle: so long that every tab fits, and on a phone only this one, so
 *  that blocks have room for their numbers. */
const across = (view) =>
  (view.held && view.across) || (view.across = shape(view).small ? view.solved.total : view.solved.across);
const place = (view, g) => {
  const per = g.room / across(view);
  return (t) => g.left + min(t * per, g.room + 4);
};
const faint = (view, opacity) => (view.svg || opacity < 1) && { opacity }; // a still is small
const way = (slots, g, X) =>
  joined(
    slots,
    (s, i) =>
      `${i ? 'L' : 'M'}${px(X(s.a))} ${px(g.lanes(s.rank) + g.lane + 1.5)}L${px(X(s.b))} ${px(g.lanes(s.rank) + g.lane + 1.5)}`,
  );
/** How much of the critical path lies on a rank, and on which rank most of it does. */
const onPath = ({ path, total }, r) => path.reduce((sum, s) => sum + (s.rank === r ? s.b - s.a : 0), 0) / total;
const mostly = (solved) =>
  solved.rows.reduce((best, _, r) => (onPath(solved, r) > onPath(solved, best) + 1e-9 ? r : best), 0);
const named = (p, s) => (p.kind === 'dualpipe' ? s.s !== s.rank : s.s >= p.N_stages); // the other stage of its rank

function drawn(view, t) {
  const { p, solved, words, hatch } = view;
  const g = shape(view);
  const X = place(view, g);
  const v = virtual(p.kind);
  const now = t < solved.total ? t : Infinity;
  const dim = (m) => (p.follow >= 0 && p.follow !== m ? 0.2 : 1);
  const block = (s) => {
    const x0 = X(s.a);
    const x1 = X(s.b);
    const wide = x1 - x0;
    const half = v === 2 ? s.s : 2 * s.s;
    const y = g.lanes(s.rank);
    const later = s.a >= now - 1e-9 ? 0.25 : 1;
    const opacity = min(dim(s.m), later);
    if (wide < 0.5) return null;
    const key = `${s.kind}${s.m}.${half}`;
    const from = `${s.kind === 'F' ? 'F' : 'B'}${s.m}.${half - (half % 2)}`;
    const digits = String(s.m).length;
    const size = wide < 5.9 * digits + 1.4 ? ' finest' : wide < 6.7 * digits + 2.4 || g.small ? ' fine' : '';
    const box = {
      key,
      from,
      tag: 'rect',
      class: `pass ${s.kind}${wide < 5 ? ' thin' : ''}`,
      style: `--h:${hue(s.m)}`,
      x: x0 + 0.5,
      y,
      width: max(0.4, wide - 1),
      height: g.lane,
      ...faint(view, opacity),
      told: s.id,
      act: s.m,
      group: 'slots',
      pressed: p.follow === s.m,
      label: worded(
        words.block,
        words.kinds[SPLIT.includes(p.kind) ? s.kind : s.kind === 'B' ? 'whole' : 'F'],
        s.m,
        s.rank,
      ),
    };
    const say = wide >= 5 * digits + 0.1 && {
      key: `n${key}`,
      from: `n${from}`,
      tag: 'text',
      class: `count ${s.kind}${size}`,
      x: (x0 + x1) / 2,
      y: y + g.lane / 2 + 0.5,
      ...faint(view, opacity),
      words: `${s.m}`,
      ...(named(p, s) && { 'text-decoration': 'underline' }),
    };
    return [box, say];
  };
  const longest = solved.gaps
    .flatMap((list, r) => list.map(([a, b]) => [b - a, a, b, r]))
    .reduce((x, z) => (z[0] > x[0] + 1e-9 ? z : x), [0, 0, 0, 0]);
  const wait = (r) =>
    solved.gaps[r].map(
      ([a, b], i) =>
        a < now && {
          key: `i${r}.${i}`,
          tag: 'rect',
          class: 'idle',
          fill: hatch,
          x: X(a),
          y: g.lanes(r),
          width: max(0, X(min(b, now)) - X(a)),
          height: g.lane,
          told: `idle.${r}.${i}`,
        },
    );
  const label = worded(words.idle, number(longest[0]));
  const [, begins, ends, idler] = longest;
  const room = [X(begins) + (ends > solved.total - 1e-9 ? 20 : 0), X(ends)]; // clear of the handle at the end of a lane
  const middle = (room[0] + room[1]) / 2;
  const fits = room[1] - room[0] > span(label) + 6 && ends <= now;
  const ranks = range(p.N_stages).map((r) => ofRank(view, g, X, r, now));
  return [
    t < solved.total && {
      key: 'now',
      tag: 'path',
      class: 'now',
      d: `M${px(X(t))} ${px(g.top - 6)}V${px(g.foot + 2)}`,
    },
    onePass(view, g),
    ranks.map((of) => of.slice(0, -1)),
    range(p.N_stages).map(wait),
    fits && [
      {
        key: 'gap',
        tag: 'rect',
        class: 'plate',
        x: middle - span(label) / 2 - 2,
        y: g.lanes(idler) + 4,
        width: span(label) + 4,
        height: g.lane - 8,
        rx: 3,
      },
      {
        key: 'gapped',
        tag: 'text',
        class: 'small',
        x: middle,
        y: g.lanes(idler) + g.lane / 2 + 0.5,
        'text-anchor': 'middle',
        words: label,
      },
    ],
    solved.slots.map(block),
    p.follow < 0 && slowed(p) && slowest(view, g, X, now),
    followed(view, g, X, now),
    ranks.map((of) => of.at(-1)), // what it stores, in words that no path crosses
    hint(view, g, X, t),
    axis(view, g, X, t),
  ];
}
/** One microbatch on one rank: the blocks that all schedules are made of, with handles for their times. */
function onePass({ p, words }, g) {
  const split = SPLIT.includes(p.kind);
  const parts = split
    ? [
        ['F', 1],
        ['B', p.t_B - p.t_W],
        ['W', p.t_W],
      ]
    : [
        ['F', 1],
        ['whole', p.t_B],
      ];
  let x = g.left;
  const box = ([kind, time]) => {
    const at = x;
    const wide = time * g.unit;
    const cls = kind === 'whole' ? 'B' : kind;
    const said = words.pass[kind].map((w) => worded(w, number(time))).find((w) => span(w) < wide - 18) ?? '';
    x += wide;
    return [
      {
        key: `pass${cls}`,
        from: 'passB',
        tag: 'rect',
        class: `pass ${cls} gray`,
        x: at + 0.5,
        y: 20,
        width: max(0.4, wide - 1),
        height: 24,
      },
      { key: `passed${cls}`, tag: 'text', class: `count ${cls} gray`, x: at + wide / 2, y: 32.5, words: said },
    ];
  };
  return [{ key: 'one', tag: 'text', class: 'small', x: g.left, y: 8, words: words.one }, parts.map(box)];
}
/** The name of a rank, and the step curve of what it stores. */
function ofRank(view, g, X, r, now) {
  const { p, solved, words } = view;
  const y = g.lanes(r);
  const base = y + g.lane + 4;
  const kept = solved.kept[r];
  const deep = (n) => px(base + (n * g.strip) / g.full);
  const most = solved.peaks[r];
  const peak = kept.find(([, n]) => n === most);
  const level = now < Infinity ? held(kept, now) : most;
  const points = range(view.svg ? 4 * p.N_MB : kept.length).map((i) => kept[min(i, kept.length - 1)]);
  const end = min(now, kept.at(-1)[0]);
  const curve = `M${px(X(min(kept[0][0], now)))} ${px(base)}${joined(points, ([t, n]) => `H${px(X(min(t, end)))}V${t <= end ? deep(n) : deep(held(kept, end))}`)}H${px(X(end))}V${px(base)}Z`;
  const said = worded(r || g.small ? words.few : level === 1 ? words.store : words.stores, number(level));
  return [
    {
      key: `who${r}`,
      tag: 'text',
      class: 'strong who',
      x: 0,
      y: y + g.lane / 2 + (p.pace[r] > 1 ? -7 : 0),
      words: g.small ? `${r}` : worded(words.rank, r),
    },
    g.small && !r && { key: 'ranks', tag: 'text', class: 'small soft', x: 0, y: y - 9, words: worded(words.rank, '') },
    p.pace[r] > 1 && {
      key: `slow${r}`,
      tag: 'text',
      class: 'small',
      x: 0,
      y: y + g.lane / 2 + 9,
      words: worded(words.times, number(p.pace[r])),
    },
    { key: `kept${r}`, tag: 'path', class: 'memory kept', d: curve, told: `kept.${r}` },
    {
      key: `most${r}`,
      tag: 'text',
      class: 'memory stores',
      x: X(peak[0]),
      y: base + (most * g.strip) / g.full + 9,
      words: said,
    },
  ];
}
/** Where there is room, what a hand can do. */
function hint(view, g, X, t) {
  const { p, solved, words, width } = view;
  const at = range(p.N_stages).map((r) => X(ends(solved.slots, p, r)));
  const least = at.reduce((best, x, r) => (x < at[best] ? r : best), 0);
  const need = span(words.hint) + 24;
  const last = at.lastIndexOf(max(...at));
  const r = X(solved.total) - at[least] > need ? least : last;
  const x = at[r];
  const fits = r === least || width - x > need;
  return (
    view.svg &&
    fits &&
    t >= solved.total &&
    !slowed(p) &&
    p.follow < 0 && {
      key: 'hint',
      tag: 'text',
      class: 'hint',
      x: x + 21,
      y: g.lanes(r) + g.lane / 2 + 0.5,
      words: words.hint,
    }
  );
}
/** The critical path along the lower edges of the lanes, named where it stays longest. */
function slowest(view, g, X, now) {
  const { solved, words } = view;
  const path = solved.path.filter((s) => s.b <= now);
  const most = mostly(solved);
  const own = path.filter((s) => s.rank === most);
  const end = own.at(-1);
  return (
    end && [
      { key: 'critical', tag: 'path', class: 'route', d: way(path, g, X) },
      {
        key: 'criticals',
        tag: 'text',
        class: 'strong named',
        'text-anchor': 'end',
        x: max(X(end.b), span(words.critical) * 1.2),
        y: g.lanes(end.rank) - 8.5,
        words: words.critical,
      },
    ]
  );
}
/** The way of the microbatch that is followed: forward through the stages, and back. */
function followed({ p, solved }, g, X, now) {
  const own = solved.slots.filter((s) => s.m === p.follow && s.kind !== 'W' && s.b <= now).sort((s, o) => s.a - o.a);
  return own.length > 1 && { key: 'route', tag: 'path', class: 'route', d: way(own, g, X) };
}
function axis(view, g, X, t) {
  const { p, solved, words } = view;
  const y = g.foot + 2;
  const step = [1, 2, 3, 5, 10, 20, 50, 100].find((n) => X(n) - X(0) > (g.small ? 38 : 44));
  const shown = solved.total <= across(view) + 1e-9;
  const last = min(solved.total, across(view));
  const ticks = range(floor(last / step) + 1)
    .map((i) => i * step)
    .filter((v) => X(last) - X(v) > 34);
  const slow = solved.total > solved.alike + 1e-9;
  const equal = worded(words.equal, number(solved.alike));
  const x = X(solved.alike);
  return [
    ticks.map((v) => [
      { key: `tick${v}`, tag: 'path', class: 'tick', d: `M${px(X(v))} ${px(y)}v4` },
      { key: `at${v}`, tag: 'text', class: 'small', 'text-anchor': 'middle', x: X(v), y: y + 12, words: `${v}` },
    ]),
    { key: 'end', tag: 'path', class: 'end', d: `M${px(X(last))} ${px(g.top - 4)}V${px(y + 4)}` },
    {
      key: 'total',
      tag: 'text',
      class: 'strong',
      'text-anchor': 'middle',
      x: X(last),
      y: y + 12,
      words: shown ? number(solved.total) : `${number(solved.total)} →`,
    },
    slow && [
      { key: 'alike', tag: 'path', class: 'alike', d: `M${px(x)} ${px(g.top - 4)}V${px(y + 20)}` },
      {
        key: 'alikes',
        tag: 'text',
        class: 'small',
        'text-anchor': 'middle',
        x: clamp(x, g.left + span(equal) / 2, view.width - span(equal) / 2),
        y: y + 28,
        words: equal,
      },
    ],
  ];
}
