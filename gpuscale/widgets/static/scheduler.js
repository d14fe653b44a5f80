/* Continuous batching that one can watch: requests arrive, wait, are prefilled and decode, in the slots of a batch and the
   blocks of the KV cache. What a step costs, and the rate from which the queue grows, are formulas.                       */
figures.scheduler = {
  /** The run that is shown and the one that finds the limit of static batching, some steps at a time. */
  *ahead(p, call, data) {
    const { run, flood } = engine(p, call, data);
    for (const { key, steps } of [run(p.kind), flood()]) {
      if (!kept.has(key)) {
        const made = yield* steps();
        once(key, () => made);
      }
    }
  },
  solve: solved,
  pace: () => 4,
  height: (view) => layout(view).rail + 48,

  draw(view, t) {
    const L = momentOf(view, t);
    return [average, lanes, memory, stepTimes, firstTokens, queued, rates].map((part) => part(view, L));
  },

  handles(view) {
    const { p, solved: f, words, data } = view;
    const L = layout(view);
    const Y = (V) => L.top + L.high * (1 - V);
    const one = (id, x, y, lo, hi, step, leap, said, grid = 1) => ({
      id,
      label: words.handles[id],
      x,
      y,
      lo,
      hi,
      step,
      leap,
      grid,
      value: p[id],
      words: said,
    });
    return [
      one(
        'S_in',
        L.inX(p.S_in),
        33.5,
        16,
        16384,
        max(1, two(p.S_in / 4)),
        max(2, p.S_in),
        worded(words.tokens, count(p.S_in)),
      ),
      one(
        'S_out',
        L.outX(p.S_out),
        33.5,
        8,
        2048,
        max(1, two(p.S_out / 4)),
        max(2, p.S_out),
        worded(words.tokens, count(p.S_out)),
      ),
      one('slots', 8, L.top + L.slotsH + 4, 4, 256, max(1, two(p.slots / 8)), p.slots, worded(words.slots, p.slots)),
      one('f', L.mem + L.memW, Y(p.f), 0.25, 0.95, 0.01, 0.1, percent(p.f), 0.01),
      p.kind === 'continuous'
        ? one(
            'chunk',
            L.right + (L.small ? 50 : 60),
            L.chunkY(p, f),
            64,
            data.whole,
            64 * max(1, round(p.chunk / 256)),
            p.chunk,
            p.chunk >= data.whole ? words.whole : worded(words.tokens, count(p.chunk)),
            64,
          )
        : null,
      one(
        'rate',
        L.R(p.rate),
        L.rail,
        0.5,
        100,
        max(0.1, +(p.rate / 20).toPrecision(1)),
        max(1, p.rate),
        worded(words.rate, show(p.rate)),
        0.1,
      ),
    ].filter(Boolean);
  },
  pull(view, id, x, y) {
    const L = layout(view);
    const { data } = view;
    if (id === 'S_in') return two(16 * 2 ** ((L.mid - x) / L.oct));
    if (id === 'S_out') return two(8 * 2 ** ((x - L.mid) / L.oct));
    if (id === 'slots') return two(4 * 2 ** (6 * clamp((y - 4 - L.top - 64) / 160, 0, 1) ** 2));
    if (id === 'f') return 1 - (y - L.top) / L.high;
    if (id === 'rate') return +L.R.inv(x).toPrecision(2);
    return y < L.strip - 4
      ? data.whole
      : [64, 128, 256, 512, 1024, 2048, 4096].reduce((a, c) =>
          abs(L.sy(chunkTime(view, c)) - y) < abs(L.sy(chunkTime(view, a)) - y) - 0.5 ? c : a,
        );
  },
  place: ({ spec }, t) => show(t, spec.units.T),
  meter(view, t) {
    const { p, solved: f, words } = view;
    const { batch, from } = tally(f.run, t);
    const met = abs(batch / f.batch - 1) < 0.015;
    return {
      name: from ? worded(words.meanafter, seconds(view, from, true), p.slots) : worded(words.mean, p.slots),
      words: show(batch),
      value: batch,
      full: max(p.slots, batch),
      mark: f.batch,
      hue: 'memory',
      met,
      label: real(f.batch)
        ? worded(words.little, show(f.batch), seconds(view, f.steady))
        : p.kind === 'static'
          ? words.nolaw
          : words.nosteady,
    };
  },
  uses: (p, name) => name !== 'chunk' || p.kind === 'continuous',
  numbers({ p, solved: f }, t) {
    const { run, runs, marks, ...rest } = f;
    return {
      ...rest,
      tallies: fromEntries(KINDS_OF.map((k) => [k, tally(runs()[k], t)])),
      steps: run.steps.length,
      end: run.end,
      evicted: run.evicted,
    };
  },
  sentence(view, t) {
    const { p, solved: f, words } = view;
    const limit = f.limits[p.kind];
    const { evicted } = tally(f.run, t);
    const out = [];
    out.push(worded(words.cheap, f.room, show(f.full / f.one)));
    out.push(
      p.kind === 'continuous'
        ? worded(words.upto, show(limit), words.why[f.why])
        : worded(words.staticupto, show(limit)),
    );
    out.push(p.rate <= limit ? words.keeps : worded(words.grows, show(p.rate)));
    const stall = max(0, ...f.run.steps.filter((s) => s.to <= t).map((s) => s.T));
    if (p.kind === 'continuous' && p.chunk >= view.data.whole && stall > f.peak) {
      out.push(worded(words.stalls, seconds(view, stall)));
    }
    if (evicted) out.push(worded(evicted > 1 ? words.lost : words.lostone, count(evicted)));
    return out.join(' ');
  },
  table(view, t) {
    const { solved: f, words } = view;
    const T = (v) => seconds(view, v);
    const rows = KINDS_OF.map((k) => tally(f.runs()[k], t));
    const cells = [
      (a) => T(a.ttft),
      (a) => T(a.ttft95),
      (a) => T(a.tpot),
      (a) => T(a.tpot95),
      (a) => count(a.rate),
      (a) => show(a.batch),
      (a, i) => show(f.limits[KINDS_OF[i]]),
    ];
    return [
      [worded(words.until, seconds(view, t)), ...KINDS_OF.map((k) => words.kinds[k])],
      ...cells.map((of, i) => [words.rows[i], ...rows.map(of)]),
    ];
  },
  hover(view, el, t) {
    const { solved: f, words } = view;
    const [what, i] = (el.dataset.told ?? '').split(' ');
    if (what === 'req') {
      const r = f.run.requests[+i];
      const s = partAt(r, t) ?? r.parts.at(-1);
      return `<b>${worded(words.number, count(r.i + 1))}</b>${worded(words.inout, count(r.prompt), count(r.answer))}<br>${r.first && r.first <= t ? worded(words.firstafter, seconds(view, r.first - r.t)) : worded(words.waited, seconds(view, t - r.t))}${s?.kind === 'kept' ? `<br>${words.keptslot}` : ''}`;
    }
    return '';
  },
  call({ p, solved: f, spec, data: { machines, draw, backlog } }) {
    const of = (v) => literal(v, spec.units.T);
    const g = f.largest;
    const { call, given } = machines[p.machine];
    if (p.kind === 'static') {
      return worded(
        spec.words.staticcall,
        ...call,
        of(given.alpha),
        draw.most,
        draw.seed,
        draw.group,
        p.S_in,
        p.S_out,
        p.slots,
        f.pool,
        backlog,
      );
    }
    return f.byChunk < Infinity
      ? worded(spec.words.chunkcall, f.pieces.S_chunk, f.pieces.S_in, of(f.pieces.T_mix))
      : `largest_rate(B_seq=${g.B_seq}, S_out=${g.S_out}, T_w=${of(g.T_w)}, t_seq=${of(g.t_seq)}, T_pre=${of(g.T_pre)})`;
  },
};
globalThis.gpuscale.wake?.();
