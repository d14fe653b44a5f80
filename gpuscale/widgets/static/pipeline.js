/* Pipeline: a lane for each rank, a block for each slot, and below each lane the activations that the rank stores. */
const MOST_PACE = 3;
const LEAST = 0.5;
const NUDGE = 0.25; // slowdown, least part of a backward pass, step of times

figures.pipeline = {
  mute: true,
  glide: 1100,
  settles: true,
  units: true,
  solve(p, call, kinds) {
    const run = timetable(p, p.pace);
    const rows = range(p.N_stages).map((r) => run.slots.filter((s) => s.rank === r));
    const marks = [...new Set(run.slots.flatMap((s) => [s.a, s.b].map((t) => +t.toFixed(9))))].sort((x, y) => x - y);
    const kept = rows.map((row) => stored(row, 1 / virtual(p.kind)));
    const peaks = kept.map((row) => max(...row.map(([, n]) => n)));
    const alike = slowed(p)
      ? timetable(
          p,
          p.pace.map(() => 1),
          true,
        ).total
      : run.total;
    const others = kinds
      .filter((kind) => kind !== p.kind && can(kind, p.N_stages, p.N_MB))
      .map((kind) => timetable({ ...p, kind }, p.pace, true).total);
    return {
      ...run,
      marks: marks.filter((t) => t > 0),
      rows,
      kept,
      peaks,
      alike,
      path: critical(run, rows),
      across: max(run.total, ...others),
      gaps: rows.map((row) => gaps(row, run.total)),
    };
  },
  pace: (p) => 9 / (p.N_MB + p.N_stages) / (1 + p.t_B),
  height: (view) => {
    const g = shape(view);
    return g.foot + 40;
  },
  fit(p, was = p) {
    const t_B = clamp(p.t_B, 1, 4);
    const list = possible(p);
    const way = p.N_MB - was.N_MB;
    const near = (m) => abs(m - p.N_MB) + (way && (m - p.N_MB) * way < 0 ? MOST_MB : 0);
    return {
      ...p,
      t_B,
      t_W: clamp(p.t_W, LEAST, t_B - LEAST),
      N_MB: list.reduce((best, m) => (near(m) <= near(best) ? m : best)),
      follow: p.follow < p.N_MB ? p.follow : -1,
    };
  },

  draw: drawn,
  handles(view) {
    const { p, solved, words } = view;
    const g = shape(view);
    const X = place(view, g);
    const split = SPLIT.includes(p.kind);
    const leap = 1;
    const grip = (id, label, x, y, lo, hi, step, value, said, grid = step) => ({
      id,
      label,
      x,
      y,
      lo,
      hi,
      step,
      grid,
      leap,
      value,
      words: said,
    });
    return [
      grip('t_B', words.t_B, g.left + (1 + p.t_B) * g.unit, 32, 1, 4, NUDGE, p.t_B, number(p.t_B)),
      split &&
        grip(
          't_W',
          words.t_W,
          g.left + (1 + p.t_B - p.t_W) * g.unit,
          32,
          LEAST,
          p.t_B - LEAST,
          NUDGE,
          p.t_W,
          number(p.t_W),
        ),
      ...range(p.N_stages).map((r) =>
        grip(
          `pace.${r}`,
          worded(words.pace, r),
          min(X(ends(solved.slots, p, r)) + 10, view.width - 8),
          g.lanes(r) + g.lane / 2,
          1,
          MOST_PACE,
          0.05,
          p.pace[r],
          worded(words.times, number(p.pace[r])),
          0.01,
        ),
      ),
    ].filter(Boolean);
  },
  /** A rank's pace is the one at which its last block ends under the hand. */
  pull(view, id, x) {
    const { p } = view;
    const g = shape(view);
    const unit = (x - g.left) / g.unit;
    if (id === 't_B') return unit - 1;
    if (id === 't_W') return 1 + p.t_B - unit;
    const r = +id.split('.')[1];
    const want = ((x - 10 - g.left) * across(view)) / g.room;
    const end = (pace) =>
      ends(
        timetable(
          p,
          p.pace.map((k, i) => (i === r ? pace : k)),
        ).slots,
        p,
        r,
      );
    let lo = 1;
    let hi = MOST_PACE;
    repeat(12, () => {
      const mid = (lo + hi) / 2;
      if (end(mid) < want) lo = mid;
      else hi = mid;
    });
    return (lo + hi) / 2;
  },
  act: ({ p }, m) => ({ follow: p.follow === +m ? -1 : +m }),

  /** The published bubble, where it holds: for equal stages, and within the conditions of its formula. */
  formula({ p, call }) {
    const f = even(p) ? call(p.kind, { ...p, t_F: 1, n_virt: 2 }) : NaN;
    return f >= 0 ? f : NaN;
  },
  meter(view, t) {
    const { p, solved, words } = view;
    const whole = p.N_stages * solved.total;
    const now = idle(solved, t);
    const mark = this.formula(view);
    return {
      name: words.meter,
      words: worded(words.bubble, number(now), number(whole), show(now / whole, SHARE)),
      value: now / whole,
      full: 1,
      mark,
      met: t >= solved.total && abs(now / whole - mark) < 1e-9,
      label: real(mark)
        ? worded(FORMULA_SAYS, words.formula, show(mark, SHARE))
        : even(p)
          ? words.without
          : words.uneven,
      hue: 'wait',
    };
  },
  place: ({ solved, words }, t) => worded(words.time, number(t), number(solved.total)),
  numbers(view, t) {
    const { p, solved } = view;
    const mark = this.formula(view);
    return {
      total: solved.total,
      alike: solved.alike,
      peaks: solved.peaks,
      held: solved.kept.map((row) => held(row, t)),
      idle: idle(solved, t),
      bubble: idle(solved, solved.total) / p.N_stages / solved.total,
      formula: real(mark) ? mark : null,
      slots: solved.rows.map((row) => row.map((s) => [s.kind, s.m, s.s, s.a, s.b])),
      busy: solved.rows.map((row) => row.reduce((sum, s) => sum + s.b - s.a, 0)),
      waits: solved.gaps.map((list) => list.reduce((sum, [a, b]) => sum + b - a, 0)),
      path: solved.path.map((s) => [s.kind, s.m, s.s]),
      onPath: solved.rows.map((_, r) => onPath(solved, r)),
      longest: max(...solved.gaps.flat().map(([a, b]) => b - a)),
    };
  },
  sentence(view) {
    const { p, solved, words } = view;
    const all = this.numbers(view, solved.total);
    const k = paces(p);
    const worst = max(...k);
    const slow = range(p.N_stages).filter((r) => k[r] > 1);
    const name = words.names[p.kind];
    const [most, least] = [max(...all.peaks), min(...all.peaks)];
    const first = all.peaks[0];
    const last = all.peaks.at(-1);
    const many = (n) => worded(n === 1 ? words.single : words.several, number(n));
    const pace = !slow.length
      ? worded(words.equally, name, number(all.total), show(all.bubble, SHARE))
      : slow.length === 1
        ? worded(
            words.one_slow,
            slow[0],
            number(worst),
            show(all.total / all.alike - 1, SHARE),
            show(all.onPath[slow[0]], SHARE),
            show(all.bubble, SHARE),
          )
        : worded(words.some_slow, show(all.total / all.alike - 1, SHARE), show(all.bubble, SHARE));
    const memory = slow.length
      ? ''
      : most === least
        ? worded(words.alike, many(most))
        : first === most && last === least
          ? worded(words.falling, many(first), many(last))
          : worded(words.most, all.peaks.indexOf(most), many(most));
    return `${pace}${memory && ` ${memory}`}${slow.length ? '' : (words.notes[p.kind] ?? '')}`;
  },
  table(view) {
    const { p, solved, words } = view;
    const all = this.numbers(view, solved.total);
    const order = (r) =>
      [
        ...solved.rows[r].map((s) => [s.a, `${s.kind}${s.m}${named(p, s) ? '′' : ''}`]),
        ...solved.gaps[r].map(([a]) => [a, '–']),
      ]
        .sort((x, y) => x[0] - y[0])
        .map(([, w]) => w)
        .join(' ');
    return [
      words.heads,
      ...range(p.N_stages).map((r) => [
        `<b>${r}</b> <small>${order(r)}</small>`,
        number(all.busy[r]),
        number(all.waits[r]),
        number(all.peaks[r]),
      ]),
    ];
  },
  hover({ p, solved, words, held }, el) {
    const [what, r, i] = (el.dataset.told ?? el.dataset.grip).split('.');
    if (what === 'pace') return held ? null : worded(words.paced, r, number(p.pace[r]));
    if (what === 'kept') return worded(words.keeps, r, number(solved.peaks[r]));
    if (what === 'idle') {
      const [a, b] = solved.gaps[r][i] ?? [0, 0];
      return worded(words.waited, r, number(b - a), number(a), number(b));
    }
    const s = solved.slots.find((one) => one.id === +what);
    if (!s) return null;
    const kind = words.kinds[SPLIT.includes(p.kind) ? s.kind : s.kind === 'B' ? 'whole' : 'F'];
    return (
      worded(words.told, kind, s.m, s.rank, number(s.a), number(s.b)) + (s.late ? worded(words.late, s.late.rank) : '')
    );
  },
  call({ p, words }) {
    const v = virtual(p.kind);
    const run = worded(words.calls[p.kind], p.N_stages, p.N_MB, ...[p.t_B, p.t_W].map((t) => literal(t / v)));
    return `float(${run}${
      slowed(p)
        ? `.slowed([${paces(p)
            .map((k) => literal(k))
            .join(', ')}])`
        : ''
    }.bubble_fraction)`;
  },
};
globalThis.gpuscale.wake?.();
