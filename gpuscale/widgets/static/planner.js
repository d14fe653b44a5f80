/* The planner: a map of layouts, TP across and PP down, colored by the expected time of the best plan of each cell; the
   chosen one opened into its times, the lanes of its step and the memory of its fullest stage. The search is in
   layouts.js, models from files in config.js.                                                                     */
{
  const ROW = 34;
  const GAP = 3;
  const STRIP = 22;
  const SHADES = [1.02, 1.1, 1.25, 1.5, 2];
  const MOST_SLOTS = 24;
  const DEEPEST = 64;
  const STOPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
  const SHADE = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
  const STRENGTH = ['k0', 'k1', 'k2', 'k3', 'k4'];
  const powers = (most) => range(1 + floor(Math.log2(most))).map((i) => 2 ** i);
  const KINDS_OF_MEMORY = ['weights', 'gradients', 'optimizer', 'activations', 'working'];

  /** The degrees of TP and PP on the map of a request. */
  const axes = ({ p: { gpus }, x: { G }, model }) => ({
    across: powers(min(max(16, G), gpus)),
    down: powers(min(DEEPEST, gpus, model.x.L)),
  });

  let last = null; // the search of the request that was asked last
  const known = new Map(); // searches by request
  const MANY_KNOWN = 200;
  const given = (p) =>
    JSON.stringify([
      p.model,
      p.model === PASTED && p.config,
      p.cluster,
      p.gpus,
      p.batch,
      p.seq,
      p.recipe,
      p.zero,
      p.recompute,
    ]);
  /** Searches all cells of a request, one at a time. */
  function* searching(p, call, data) {
    const model = p.model === PASTED ? readModel(p.config, data) : data.models[p.model];
    const cells = [];
    if (model.wrong) return { data, wrong: model.wrong, cells, across: [], down: [] };
    const ask = asked(p, model, call, data);
    const { across, down } = axes(ask);
    for (const pp of down) {
      for (const tp of across) {
        if (tp * pp > p.gpus) cells.push({ Y: tp, N_stages: pp, tried: 0, fit: 0 });
        else {
          cells.push(cellOf(ask, tp, pp));
          yield;
        }
      }
    }
    const ranked = cells.filter((c) => c.best).sort((a, b) => (before(a.best.order, b.best.order) ? -1 : 1));
    return {
      data,
      ask,
      model,
      cells,
      across,
      down,
      ranked,
      best: ranked[0],
      tried: cells.reduce((n, c) => n + c.tried, 0),
      fit: cells.reduce((n, c) => n + c.fit, 0),
    };
  }
  /** The same with a place to keep it. */
  function* kept(p, call, data) {
    const found = yield* searching(p, call, data);
    if (known.size >= MANY_KNOWN) known.clear();
    known.set(given(p), found);
  }
  /** All columns of a cell's plan, computed once. */
  const opened = ({ ask }, c, call) => (c.out ??= outcome(ask, (c.best ?? c.least).row, call));
  let played; // the timetable that was asked last
  function passes(...asked) {
    if (played?.asked !== `${asked}`) played = { asked: `${asked}`, ...timetable(...asked) };
    return played;
  }
  /** All cells of a request, computed once. */
  function searched(p, call, data) {
    if (last?.data !== data) known.clear();
    if (!known.has(given(p))) for (const _ of kept(p, call, data));
    return (last = known.get(given(p)));
  }

  /** All that a request shows, between frames. */
  function* asking(p, call, data) {
    yield* kept(p, call, data);
    yield;
    figures.planner.solve(p, call, data);
  }

  /* Other numbers of GPUs and other batches: what their best plans reach is searched in between, and then is there at once */
  const STOPS_OF = { gpus: range(13).map((i) => 8 << i), batch: range(11).map((i) => 2 ** (17 + i)) };
  const HIGH = 52;
  const MOST_MFU = 0.7;
  const BARS = 116;
  const brief = (n) => (n >= 2 ** 20 ? `${n / 2 ** 20}M` : n >= 2 ** 10 ? `${n / 2 ** 10}k` : `${n}`);
  const possible = (p, data) => p.batch >= p.seq && p.gpus >= data.clusters[p.cluster].x.G;
  /** The best plan at a stop: null if there is none, undefined if nothing is known of it yet. */
  function bestAt({ p, call, data }, k, n) {
    const to = { ...p, [k]: n };
    const found = known.get(given(to));
    if (!possible(to, data)) return null;
    return found && (found.best ? opened(found, found.best, call) : null);
  }
  /** Searches all stops that nothing is known of, the nearest first. */
  function* left(view) {
    const { p, call, data } = view;
    const far = ([k, n]) => abs(Math.log2(n / p[k]));
    const all = keys(STOPS_OF).flatMap((k) => STOPS_OF[k].map((n) => [k, n]));
    for (const [k, n] of all.sort((a, b) => far(a) - far(b))) {
      if (bestAt(view, k, n) === undefined) yield* kept({ ...p, [k]: n }, call, data);
    }
  }
  const nice = (v) => {
    const e = 10 ** floor(Math.log10(v));
    return e * STOPS.find((s) => s * e >= v * 0.999);
  };

  figures.planner = {
    ahead: (p, call, data) => last?.data === data && !known.has(given(p)) && asking(p, call, data),
    solve(p, call, data) {
      const found = searched(p, call, data);
      const at = found.cells.find((c) => c.Y === p.tp && c.N_stages === p.pp) ?? found.best;
      const out = (at?.best ?? at?.least) && opened(found, at, call);
      const row = out?.row;
      return {
        ...found,
        at,
        out,
        stages: out && row[4] > 1 ? stagesOf(found.ask, out) : [],
        played: out && passes(row[4], out.c.microbatches, row[5], row[9] === 2 ? 3 : 2),
        first: found.best && opened(found, found.best, call),
      };
    },
    fit(p) {
      const least = last?.data.clusters[p.cluster].x.G ?? 1;
      return { ...p, gpus: max(p.gpus, least), batch: max(p.batch, p.seq) };
    },
    typed: (view, k, text) => ({ [k]: text, model: PASTED, tp: 0, pp: 0 }),
    height(view) {
      return this.places(view).end;
    },
    /** Where the parts of the drawing are. */
    places({ width, solved: { down, out, wrong, stages } }) {
      const wide = width >= 560;
      const off = wrong ? 0 : wide ? BARS : 2 * BARS;
      const map = { x: 30, y: 62 + off, w: (wide ? width - 246 : width) - 30 };
      const mapEnd = map.y + max(5, down.length) * ROW;
      const memory = wide
        ? { x: width - 216, y: map.y, w: 216, h: mapEnd - map.y }
        : { x: 0, y: mapEnd + 76, w: width, h: 190 };
      const below = max(mapEnd, memory.y + memory.h) + 62;
      const times = { x: 0, y: below, w: width };
      const many = stages?.length;
      const split = { y: below + 3 * 32 + (wide ? 66 : 82), row: many && clamp(160 / many, 4, 18) };
      const lanes = { x: wide ? 132 : 124, y: many ? split.y + many * split.row + 46 : times.y + 3 * 32 + 66 };
      const next = lanes.y + 6 * STRIP + 74;
      lanes.w = width - lanes.x - 8;
      return { wide, map, memory, split, times, lanes, next, end: wrong ? 40 : out ? next + 3 * 42 + 4 : mapEnd + 8 };
    },
    draw(view) {
      const { solved, words, width } = view;
      const at = this.places(view);
      if (solved.wrong) return [label('wrong', 0, 20, escape(words.unread), 'wrong')];
      if (!view.svg) this.later(view, Infinity);
      return [
        this.bars(view, at),
        this.map(view, at),
        solved.out && [
          this.memory(view, at),
          this.times(view, at),
          this.stages(view, at),
          this.lanes(view, at),
          this.next(view, at),
        ],
      ];
    },
    /** Works out what the bars show, for some milliseconds; whether anything is left. */
    later(view, time = 4) {
      const { p } = view;
      if (view.solved.wrong) return false;
      if (view.scan?.p !== p) view.scan = { p, rest: left(view) };
      const end = Date.now() + time;
      let done;
      do ({ done } = view.scan.rest.next());
      while (!done && Date.now() < end);
      return !done;
    },
    /** What the best plan reaches at each stop of the two sliders, and what binds it. */
    bars(view, { wide }) {
      const { p, words, width } = view;
      const room = wide ? (width - 28) / 2 : width;
      const shapes = [];
      keys(STOPS_OF).forEach((k, panel) => {
        const x0 = wide ? panel * (room + 28) : 0;
        const y0 = wide ? 0 : panel * BARS;
        const base = y0 + 84;
        const each = room / STOPS_OF[k].length;
        const found = STOPS_OF[k].map((n) => bestAt(view, k, n));
        shapes.push(
          label(`bars-${k}`, x0, y0 + 12, words.scan[k], 'small strong'),
          line(`base-${k}`, 'lane', `M${px(x0)} ${base}H${px(x0 + room)}`),
        );
        let run = null;
        STOPS_OF[k].forEach((n, i) => {
          const one = found[i];
          const x = x0 + i * each;
          const on = p[k] === n;
          const mid = x + each / 2;
          const [hue, why] = one ? this.cause(view, one) : ['wait', words.unfit];
          const high = one ? HIGH * min(1, one.c.mfu_expected / MOST_MFU) : 7;
          if (one !== undefined) {
            shapes.push(
              rectangle(
                `bar-${k}${n}`,
                one ? `scan ${hue} ${on ? 'on' : ''}` : 'bubble',
                x + 2,
                base - high,
                each - 4,
                high,
                one ? { rx: 1.5 } : { fill: view.hatch },
              ),
            );
          }
          if (on && one) {
            shapes.push(
              label(
                `of-${k}`,
                mid,
                base - high - 4,
                show(one.c.mfu_expected, SHARE, false, 2),
                'small strong halo',
                'middle',
              ),
            );
          }
          const next = STOPS_OF[k].indexOf(p[k]);
          if (on || (i % 2 === 0 && (next < 0 || abs(next - i) > 1))) {
            shapes.push(label(`stop-${k}${n}`, mid, base + 14, brief(n), on ? 'stop strong' : 'stop', 'middle'));
          }
          shapes.push(
            rectangle(`hit-${k}${n}`, 'row', x, y0 + 18, each, 82, {
              act: `${k}:${n}`,
              told: `${k}:${n}`,
              group: k,
              pressed: on,
              label: this.stopSaid(view, k, n),
            }),
          );
          if (run?.why !== why || one === undefined) {
            (shapes.push(this.tab(run, y0, k)), (run = one === undefined ? null : { why, hue, from: x, key: i }));
          }
          if (run) run.to = x + each;
        });
        shapes.push(this.tab(run, y0, k));
      });
      return shapes;
    },
    /** The name of what binds over the bars that it binds, if there is room. */
    tab(run, y0, k) {
      return (
        run &&
        run.why.length * 6.2 < run.to - run.from && [
          label(`tab-${k}${run.key}`, (run.from + run.to) / 2, y0 + 27, run.why, `stop rate ${run.hue}`, 'middle'),
        ]
      );
    },
    stopSaid(view, k, n) {
      const { words } = view;
      const one = bestAt(view, k, n);
      const head = worded(words.stop[k], show(n, COUNT));
      return one
        ? worded(words.reaches, head, show(one.c.mfu_expected, SHARE, false, 2), this.cause(view, one)[1])
        : one === null
          ? worded(words.none, head)
          : head;
    },
    map(view, { map, wide }) {
      const {
        p,
        solved: { cells, across, down, best, ask, at },
        words,
      } = view;
      const G = ask.x.G;
      const wall = across.some((tp) => tp > G) ? 9 : 0;
      const w = (map.w - wall) / across.length;
      const X = (tp) => map.x + across.indexOf(tp) * w + (tp > G ? wall : 0);
      const Y = (pp) => map.y + down.indexOf(pp) * ROW;
      const inside = across.filter((tp) => tp <= G);
      const shapes = [label('map', 0, map.y - 48, words.map, 'head')];
      shapes.push(
        label('inside', X(1) + (inside.length * w) / 2, map.y - 24, words.inside, 'small scaleup rate', 'middle'),
      );
      if (wall) {
        shapes.push(
          label('across', map.x + map.w, map.y - 24, words.across, 'small scaleout rate', 'end'),
          line('wall', 'wall scaleout', `M${px(X(2 * G) - 6)} ${map.y - 18}V${map.y + down.length * ROW}`),
        );
      }
      shapes.push(label('PP', map.x - 8, map.y - 8, words.pp, 'small soft', 'end'));
      for (const tp of across) {
        shapes.push(label(`h${tp}`, X(tp) + w / 2, map.y - 8, `${words.tp} ${tp}`, 'small', 'middle'));
      }
      for (const pp of down) shapes.push(label(`v${pp}`, map.x - 8, Y(pp) + ROW / 2 + 3, `${pp}`, 'small', 'end'));
      const [upper, lower] = [[], []]; // words of one size after another: a canvas changes its font slowly
      for (const c of cells) {
        const key = `${c.Y}x${c.N_stages}`;
        const x = X(c.Y);
        const y = Y(c.N_stages);
        const mid = x + (w - GAP) / 2;
        const m = c.best ? SHADES.filter((f) => c.best.step <= f * best.best.step).length : 0;
        shapes.push(
          rectangle(`c${key}`, c.best ? `cell compute ${SHADE[m]}` : 'cell no', x, y, w - GAP, ROW - GAP, {
            rx: 4,
            act: key,
            told: key,
            group: 'map',
            pressed: c === at,
            label: this.said(view, c),
            ...(!c.best && { fill: view.hatch }),
          }),
        );
        const [one, two] = this.written(view, c, w);
        const close = w < 43 ? 'tiny' : '';
        upper.push(
          label(
            `a${key}`,
            mid,
            y + (two && !close ? 13 : 20),
            one,
            `celltext ${SHADE[m]} ${c.best ? close : 'no'}`,
            'middle',
          ),
        );
        if (two && !close) lower.push(label(`b${key}`, mid, y + 26, two, `celltext under ${SHADE[m]}`, 'middle'));
      }
      const ring = (key, cls, c, by) =>
        rectangle(key, cls, X(c.Y) - by, Y(c.N_stages) - by, w - GAP + 2 * by, ROW - GAP + 2 * by, { rx: 6 });
      if (best) shapes.push(ring('best', 'ring first', best, 1));
      if (at && at !== best) shapes.push(ring('chosen', 'ring chosen', at, 1.5));
      return [...shapes, ...upper, ...lower];
    },
    /** What stands on a cell: its time and replicas, or why there is no plan. */
    written({ words, spec: { units } }, c, room) {
      if (c.best) return [show(c.best.step, units.time), worded(words.copies, c.best.row[0])];
      const why = c.least ? show(c.least.memory, units.bytes) : (c.brief ?? words.gpus);
      return [why.length * 6.4 < room ? why : '', ''];
    },
    /** The same in a sentence. */
    said({ words, spec: { units }, solved: { ask } }, c) {
      const head = worded(words.cell, c.Y, c.N_stages);
      if (c.best) return `${head} ${this.named({ words }, c.best.row)}: ${show(c.best.step, units.time)}`;
      if (c.least) {
        return `${head} ${worded(words.full, show(c.least.memory, units.bytes), show(ask.room, units.bytes))}`;
      }
      return `${head} ${c.why ?? worded(words.many, show(c.Y * c.N_stages, COUNT))}`;
    },
    named({ words: { choice } }, [X, Y, n_cp, Z, N_stages, n_virt, n_seq, n_zero, n_sp, n_recompute], brief) {
      const parts = [
        [Y, worded(choice.tp, Y) + (n_sp && !brief ? choice.sp : '')],
        [n_cp, worded(choice.cp, n_cp)],
        [Z, worded(choice.ep, Z)],
        [N_stages, worded(choice.pp, N_stages) + (n_virt > 1 ? worded(choice.virtual, n_virt) : '')],
      ];
      const out = parts
        .filter(([n]) => n > 1)
        .map(([, said]) => said)
        .concat(worded(choice.dp, X));
      if (brief) return out.join(', ');
      if (n_zero || X * n_cp > 1) out.push(n_zero ? worded(choice.zero, n_zero) : choice.unsharded);
      return `${out.join(', ')}, ${worded(choice.micro, n_seq)}${n_recompute ? `, ${choice.recompute[n_recompute]}` : ''}`;
    },
    memory(view, { memory: { x, y, h } }) {
      const {
        solved: { out, ask },
        words,
        spec: { units },
      } = view;
      const { hbm } = ask.place;
      const top = max(hbm, out.c.memory);
      const k = (h - 8) / top;
      const base = y + h - 4;
      const W = 62;
      const shapes = [
        label('mem', x, y - 48, worded(words.memory, show(out.c.memory, units.bytes)), 'head'),
        label('room', x, y - 28, worded(words.room, show(ask.room, units.bytes)), 'small'),
      ];
      let at = base;
      let low = base + 10;
      shapes.push(rectangle('gpu', 'gpu', x, base - hbm * k, W, hbm * k));
      KINDS_OF_MEMORY.forEach((name, i) => {
        const v = out.c[name];
        const high = v * k;
        const mid = min(at - high / 2, low - 15);
        shapes.push(rectangle(`m-${name}`, `stack memory ${STRENGTH[i]}`, x, at - high, W, high));
        at -= high;
        if (!v) return;
        shapes.push(
          line(`l-${name}`, 'leader', `M${px(x + W + 5)} ${px(at + high / 2)}L${px(x + W + 14)} ${px(mid)}`),
          label(`n-${name}`, x + W + 18, mid + 4, `${words.kinds[name]} ${show(v, units.bytes)}`, 'small'),
        );
        low = mid;
      });
      const limit = base - ask.room * k;
      shapes.push(
        rectangle('over', 'over', x, at, W, max(0, limit - at), { fill: view.hatch }),
        line('limit', 'limit', `M${px(x - 5)} ${px(limit)}H${px(x + W + 5)}`),
      );
      return shapes;
    },
    /** The length of a forward pass of a virtual stage, and when the passes of a step are done. */
    passing({ played: { total }, out: { c } }) {
      const micro = c.step_expected - c.dp_expected - c.update_expected - c.pp_expected;
      return { unit: micro / total, end: micro };
    },
    /** The stages of the pipeline: the memory of each, and when it works. The first ones store more microbatches. */
    stages(view, { split: { y, row }, lanes: { x, w }, wide }) {
      const { p, solved, words, width, spec } = view;
      const { out, ask, stages, played } = solved;
      if (!stages.length) return [];
      const { unit, end } = this.passing(solved);
      const k = w / nice(out.step);
      const W = 54;
      const m = W / max(ask.place.hbm, ...stages.map((s) => s.memory));
      const high = row > 8 ? row - 2 : row - 0.5;
      const tall = px(high);
      const named = ceil(14 / row);
      const told = ({ layers, memory }, i) =>
        worded(words.stage, i, show(layers, COUNT), show(memory, spec.units.bytes));
      const fine = unit * k > 0.8; // thinner ones are drawn together: forward, backward, or both in turn
      const at = ['', '', ''];
      played.rows?.forEach((passes, r) => {
        const runs = [];
        for (const [a, b, backward] of passes) {
          const one = runs.at(-1);
          const alike = one?.kind === backward || (one?.kind === 2 && one.last !== backward) || one?.many === 1;
          if (fine || one?.b !== a || !alike) runs.push({ a, b, kind: backward, many: 1, last: backward });
          else {
            if (one.kind !== backward) one.kind = 2;
            Object.assign(one, { b, last: backward, many: one.many + 1 });
          }
        }
        const top = px(y + r * row);
        for (const { a, b, kind } of runs) {
          const wide = px((b - a) * unit * k);
          at[kind] += `M${px(x + a * unit * k)} ${top}h${wide}v${tall}h-${wide}z`;
        }
      });
      const limit = px(ask.room * m);
      const open = played.rows ? min(p.stage, stages.length - 1) : -1;
      return [
        label('split', 0, y - (wide ? 18 : 34), words.split, 'head'),
        label(
          'passes',
          wide ? width : 0,
          y - 18,
          played.rows ? words.passes : words.crowd,
          'small soft',
          wide ? 'end' : 'start',
        ),
        stages.map((stage, i) => [
          rectangle(`g${i}`, 'gpu', 0, y + i * row, W, high),
          rectangle(`s${i}`, 'stack memory k1', 0, y + i * row, stage.memory * m, high),
          i % named === 0 &&
            label(`b${i}`, W + 7, y + i * row + max(10, high / 2 + 4), show(stage.memory, spec.units.bytes), 'stop'),
          played.rows && rectangle(`wait${i}`, 'bubble', x, y + i * row, end * k, high, { fill: view.hatch }),
        ]),
        ['forward', 'backward', 'both'].map((kind, i) => line(kind, `slot compute ${kind}`, at[i])),
        line('splitroom', 'limit', `M${limit} ${px(y - 3)}V${px(y + stages.length * row + 1)}`),
        open >= 0 && rectangle('open', 'ring chosen', x - 1.5, y + open * row - 1.5, end * k + 3, high + 3, { rx: 2 }),
        stages.map((stage, i) =>
          rectangle(`o${i}`, 'row', 0, y + i * row, width, row, {
            ...(open >= 0 && { act: `stage:${i}` }),
            told: `stage ${i}`,
            group: 'stages',
            pressed: i === open,
            label: told(stage, i),
          }),
        ),
      ];
    },
    /** The tokens of a run, and the days that it takes. */
    lasts: ({ p, call, data, spec, solved: { out } }) => [
      spec.choices.run.of.find(([n]) => n === p.run)[1],
      show(call('run_time', { T_step: out.step, B_run: p.run, B: p.batch }) / data.day, ONE),
    ],
    /** The three times: two bounds and the expected one with its band, on the axis of the lanes. */
    times(view, { times: { x, y, w }, lanes }) {
      const {
        solved: { out },
        words,
        spec: { units },
      } = view;
      const most = nice(out.high);
      const k = lanes.w / most;
      const X = (t) => lanes.x + t * k;
      const shapes = [
        label('times', 0, y - 18, words.times, 'head'),
        label('run', x + w, y - 18, worded(words.run, ...this.lasts(view)), 'strong', 'end'),
      ];
      [
        ['peak', out.c.step_at_peak],
        ['reached', out.c.step_at_measured_rates],
        ['expected', out.step],
      ].forEach(([name, t], i) => {
        const top = y + i * 32;
        shapes.push(
          label(`t-${name}`, lanes.x, top + 9, words[name], 'small'),
          label(`v-${name}`, lanes.x - 10, top + 21, show(t, units.time), 'small strong', 'end'),
        );
        shapes.push(rectangle(`b-${name}`, `time compute ${name}`, lanes.x, top + 14, t * k, 8, { rx: 2 }));
      });
      const top = y + 2 * 32 + 18;
      shapes.push(
        line(
          'band',
          'band',
          `M${px(X(out.low))} ${top - 8}V${top + 8}M${px(X(out.low))} ${top}H${px(X(out.high))}M${px(X(out.high))} ${top - 8}V${top + 8}`,
        ),
      );
      shapes.push(
        label(
          'bandwords',
          X(out.high),
          top + 22,
          worded(words.band, show(out.low, units.time), show(out.high, units.time)),
          'small soft',
          'end',
        ),
      );
      return shapes;
    },
    /** The parts of the expected step by lane. */
    parts({ c }) {
      const t = (...names) => names.reduce((sum, name) => sum + c[`${name}_expected`], 0);
      return {
        compute: t('matmuls', 'attention', 'experts', 'kernels', 'loss', 'sums', 'host', 'update'),
        tp: t('tp'),
        cp: t('cp', 'ep'),
        pp: t('pp'),
        dp: t('dp'),
        bubble: t('bubble'),
      };
    },
    lanes(view, { lanes: { x, y, w } }) {
      const {
        p,
        solved,
        words,
        spec: { units },
      } = view;
      const { out } = solved;
      const k = w / nice(out.step);
      const parts = this.parts(out);
      const over = (axis) => (out.inside(axis) ? 'scaleup' : 'scaleout');
      const cp = out.degrees.cp > 1 ? 'cp' : 'ep';
      const hue = { compute: 'compute', tp: over('tp'), cp: over(cp), pp: 'scaleout', dp: over('dp'), bubble: 'wait' };
      const names = keys(parts);
      const { played, stages } = solved;
      const many = out.c.microbatches;
      const open = played.rows ? min(p.stage, stages.length - 1) : -1;
      const top = (i) => y + i * STRIP;
      const shapes = [
        label(
          'lanes',
          0,
          y - 14,
          worded(words.lanes[+(many > 1)], show(many, COUNT)) + (open < 0 ? '' : worded(words.open, open)),
          'head',
        ),
      ];
      names.forEach((name, i) => {
        const share = parts[name] / out.step;
        shapes.push(
          label(`i-${name}`, 0, top(i) + 14, words.parts[name], `small ${hue[name]} ${parts[name] ? 'rate' : 'soft'}`),
          label(`s-${name}`, x - 10, top(i) + 14, show(share, SHARE, false, 2), 'small', 'end'),
        );
        shapes.push(line(`g-${name}`, 'lane', `M${px(x)} ${top(i) + STRIP - 1}H${px(x + w)}`));
      });
      const { unit, end } = this.passing(solved);
      let t = 0;
      const put = (key, name, time) => {
        if (time * k >= 0.15) {
          shapes.push(
            rectangle(
              key,
              name === 'bubble' ? 'bubble' : `slot ${hue[name]}`,
              x + t * k,
              top(names.indexOf(name)) + 3,
              time * k - (name === 'compute' && time * k > 4 ? 1 : 0),
              STRIP - 6,
              name === 'bubble' ? { fill: view.hatch } : {},
            ),
          );
        }
        t += time;
      };
      const update = out.c.update_expected;
      const busy = { compute: parts.compute - update, tp: parts.tp, cp: parts.cp };
      const all = busy.compute + busy.tp + busy.cp;
      const runs = []; // passes with no gap between them, some at a time
      for (const [a, b] of played.rows?.[max(0, open)] ??
        range(MOST_SLOTS).map((i) => [i, i + 1].map((n) => (n * all) / unit / MOST_SLOTS))) {
        const one = runs.at(-1);
        if (one && a === one[1] && b - one[0] <= played.total / MOST_SLOTS) one[1] = b;
        else runs.push([a, b]);
      }
      runs.forEach(([a, b], i) => {
        put(`idle${i}`, 'bubble', a * unit - t);
        for (const name of keys(busy)) put(`${name}${i}`, name, (busy[name] / all) * (b - a) * unit);
      });
      put('idle', 'bubble', end - t);
      put('hops', 'pp', parts.pp);
      put('sum', 'dp', parts.dp);
      put('upd', 'compute', update);
      const foot = top(names.length) + 2;
      const most = nice(out.step);
      const ticks = range(6)
        .map((i) => (most * i) / 5)
        .filter((v, i) => w > 340 || i % 2 === 0);
      shapes.push(line('end', 'end', `M${px(x + out.step * k)} ${y - 4}V${foot}`));
      ticks.forEach((v, i) =>
        shapes.push(
          label(
            `tick${i}`,
            x + v * k,
            foot + 14,
            i ? show(+v.toPrecision(4), units.time, true) : '0',
            'small soft',
            v === most ? 'end' : 'middle',
          ),
        ),
      );
      return shapes;
    },
    /** The next best cells: how much longer they take than the chosen plan, and the part of the step that does it. */
    runners({ solved, call }) {
      const { ranked, at, out } = solved;
      return ranked
        .filter((c) => c !== at)
        .slice(0, 3)
        .map((c) => {
          const other = opened(solved, c, call);
          const later = other.step >= out.step;
          const parts = this.parts(other);
          const own = this.parts(out);
          const by = (name) => (parts[name] - own[name]) * (later ? 1 : -1);
          const cause = keys(parts).reduce((a, b) => (by(b) > by(a) ? b : a));
          return {
            c,
            row: c.best.row,
            ratio: other.step / out.step,
            tie: out.fits && max(other.step / out.step, out.step / other.step) < max(other.tie, out.tie),
            cause,
            there: parts[cause],
            here: own[cause],
          };
        });
    },
    next(view, { next, wide }) {
      const {
        words,
        width,
        spec: { units },
      } = view;
      const shapes = [label('next', 0, next - 16, words.next, 'head')];
      this.runners(view).forEach(({ c, row, ratio, tie, cause, there, here }, i) => {
        const y = next + i * 42;
        const key = `${c.Y}x${c.N_stages}`;
        const gap = worded(words.gap[+(ratio < 1)], show(abs(ratio - 1), SHARE, false, 2));
        const said = tie ? worded(words.tied[+wide], gap) : gap;
        shapes.push(
          line(`r${i}`, 'lane', `M0 ${y - 4}H${width}`),
          rectangle(`p${i}`, 'row', 0, y - 2, width, 38, {
            act: key,
            group: 'next',
            label: `${this.named(view, row)}: ${said}`,
          }),
        );
        shapes.push(
          label(`q${i}`, 0, y + 12, this.named(view, row, true), 'strong'),
          label(`d${i}`, width, y + (wide ? 12 : 29), said, 'strong', 'end'),
        );
        shapes.push(
          label(
            `w${i}`,
            0,
            y + 29,
            worded(
              here ? words.loses : words.adds,
              words.parts[cause],
              show(there, units.time),
              show(here, units.time),
            ),
            'small soft',
          ),
        );
      });
      return shapes;
    },
    act({ p, solved: { best, at } }, key) {
      if (key.includes(':')) return { [key.split(':')[0]]: +key.split(':')[1] };
      const [tp, pp] = key.split('x').map(Number);
      const follow = (best?.Y === tp && best?.N_stages === pp) || (p.tp === tp && p.pp === pp);
      return follow ? { tp: 0, pp: 0 } : { tp, pp };
    },
    hover(view, el) {
      const stage = view.solved.stages[el.dataset.told.split('stage ')[1]];
      if (stage) {
        return worded(
          view.words.stage,
          el.dataset.told.split(' ')[1],
          show(stage.layers, COUNT),
          show(stage.memory, view.spec.units.bytes),
        );
      }
      if (el.dataset.told.includes(':')) {
        return this.stopSaid(view, el.dataset.told.split(':')[0], +el.dataset.told.split(':')[1]);
      }
      const c = view.solved.cells.find((one) => `${one.Y}x${one.N_stages}` === el.dataset.told);
      return c && this.said(view, c);
    },
    /** What binds a plan: its hue, and its name where there is little room. */
    cause({ words, spec: { data } }, out) {
      const { worst } = out;
      if (out.spent[worst] / out.step < 0.02) return ['compute', words.alone];
      const level = ['tp', 'cp', 'ep', 'dp'].includes(worst);
      return [
        level ? words.hues[+out.inside(worst)] : (words.hue[worst] ?? words.hue.other),
        words.short[worst] ?? (worst === 'extra' ? words.extra[+(out.row[9] > 0)] : data.causes[worst]),
      ];
    },
    binds({ words, solved: { out, ask }, spec: { units, data } }) {
      const of = (v) => show(v / out.step, SHARE, false, 2);
      const { worst } = out;
      if (!out.fits) return worded(words.full, show(out.c.memory, units.bytes), show(ask.room, units.bytes));
      if (out.spent[worst] / out.step < 0.02) return worded(words.arithmetic, of(out.useful));
      const name = worst === 'extra' ? words.extra[+(out.row[9] > 0)] : data.causes[worst];
      const level = ['tp', 'cp', 'ep', 'dp'].includes(worst) ? words.over[+out.inside(worst)] : '';
      const hue = level ? words.hues[+out.inside(worst)] : (words.hue[worst] ?? words.hue.other);
      return worded(words.binds, hue, name + level, of(out.spent[worst]));
    },
    sentence(view) {
      const {
        solved,
        words,
        spec: { units },
      } = view;
      const { out, ask } = solved;
      if (solved.wrong) return escape(solved.wrong);
      if (!out) return solved.at ? this.said(view, solved.at) : words.nothing;
      if (!out.fits) return `${worded(words.opened, this.named(view, out.row))} ${this.binds(view)}`;
      return `${worded(words.opened, this.named(view, out.row))} ${worded(words.takes, show(out.step, units.time), show(out.c.mfu_expected, SHARE, false, 2))} ${this.binds(view)} ${worded(words.lasts, ...this.lasts(view))} ${out.apart ? words.unlike : ''}`;
    },
    rows({ solved, call }) {
      return solved.cells.map((c) => ({ c, out: c.best && opened(solved, c, call) }));
    },
    table(view) {
      const {
        words,
        spec: { units },
      } = view;
      const time = (v) => show(v, units.time);
      return [
        words.heads,
        ...this.rows(view).map(({ c, out }) => [
          out ? this.named(view, c.best.row) : this.said(view, c),
          ...(out
            ? [
                time(out.c.step_at_peak),
                time(out.c.step_at_measured_rates),
                time(out.step),
                show(out.c.mfu_expected, SHARE, false, 2),
                show(out.c.memory, units.bytes),
              ]
            : ['', '', '', '', '']),
        ]),
      ];
    },
    call({ p, spec: { data, calls }, solved: { at, best } }) {
      const tokens = p.batch % 2 ** 20 ? `${p.batch / 2 ** 10}k` : `${p.batch / 2 ** 20}M`;
      const fixed = [
        ['zero', p.zero],
        ['recompute', data.recompute[p.recompute]],
        ...(at && at !== best
          ? [
              ['tp', at.Y],
              ['pp', at.N_stages],
            ]
          : []),
      ];
      const named = [['recipe', p.recipe], ...fixed.filter(([, v]) => v !== ANY && v !== undefined)]
        .map(([k, v]) => `, ${k}=${real(+v) ? v : `"${v}"`}`)
        .join('');
      return `plan("${p.model === PASTED ? calls.file : p.model}", "${p.cluster}", ${p.gpus}, "${tokens}", seq=${p.seq}${named}${data.clusters[p.cluster].called})`;
    },
    /** All plans of the map as records, for a program or a table. */
    records(view) {
      const {
        p,
        solved: { cells },
        spec: { data },
      } = view;
      const sizes = (row) =>
        fromEntries(data.choice.map((name, i) => [name, name === 'recompute' ? data.recompute[row[i]] : row[i]]));
      return {
        request: { ...p, model: p.model === PASTED ? JSON.parse(p.config) : p.model },
        rows: this.rows(view)
          .filter(({ out }) => out)
          .map(({ out }) => ({ ...sizes(out.row), low: out.low, high: out.high, ...out.c })),
        refused: cells.filter((c) => !c.best).map((c) => ({ tp: c.Y, pp: c.N_stages, why: this.said(view, c) })),
      };
    },
    copied(view, what) {
      const found = view.solved.wrong ? { wrong: view.solved.wrong, rows: [] } : this.records(view);
      const heads = keys(found.rows[0] ?? {});
      return what === 'csv'
        ? [heads, ...found.rows.map(Object.values)].map((row) => row.join()).join('\n')
        : JSON.stringify(found, null, 1);
    },
    numbers(view) {
      const {
        solved,
        solved: { cells, out, tried, fit },
      } = view;
      return {
        tried,
        fit,
        cells: cells.map((c) => ({
          tp: c.Y,
          pp: c.N_stages,
          best: c.best ? { row: c.best.row, step: c.best.step } : null,
          least: c.least?.memory ?? null,
          why: c.why ?? null,
        })),
        out: out && { ...out, inside: undefined, binds: this.binds(view), parts: this.parts(out) },
        runners: out ? this.runners(view) : [],
        stages: solved.stages,
        sentence: this.sentence(view),
        wrong: solved.wrong ?? null,
      };
    },
  };
  globalThis.gpuscale.planning = { asked, cellOf, laidOut, outcome, readModel, timetable };
}
