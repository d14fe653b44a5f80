/* The planner of serving: a map of layouts, colored by what binds; the frontier of the chosen one and of the next best
   over their batches; the memory of a GPU; the two latencies with their limits. The search is in deployments.js.      */
{
  const ROW = 36;
  const GAP = 3;
  const SHADES = [0.15, 0.3, 0.5, 0.7, 0.9];
  const LABELED = [1, 8, 64, 512, 4096];
  const OTHERS = 3;
  const ALL = 9999;
  const HUE = {
    memory: 'memory',
    compute: 'compute',
    tpot: 'wait',
    ttft: 'plain',
    prefill: 'compute',
    decode: 'memory',
    chunk: 'compute',
  };
  const tokens = (v) => show(v, v >= 100 ? COUNT : ONE);
  const two = (v) => +v.toPrecision(2);
  const log = (lo, hi, from, to) => {
    const by = (to - from) / Math.log(hi / lo);
    const at = (v) => from + by * Math.log(clamp(v, lo, hi) / lo);
    at.inv = (x) => lo * Math.exp((clamp(x, min(from, to), max(from, to)) - from) / by);
    return at;
  };
  const ticks = (lo, hi) =>
    range(ceil(log10(hi)) - floor(log10(lo)) + 1)
      .flatMap((i) => [1, 2, 5].map((m) => m * 10 ** (floor(log10(lo)) + i)))
      .filter((v) => v >= lo * 0.999 && v <= hi * 1.001);
  const id = (c) => `${c.tp}x${c.row}`;

  figures.serve = {
    ahead: (p, call, data) => kept?.data === data && unknown(p, data) && laying(p, call, data),
    solve(p, call, data) {
      const found = searched(p, call, data);
      const { at, ask, ranked, within } = found;
      for (const c of [at, ...ranked.slice(0, OTHERS + 1)]) if (c?.best) c.best.curve = curved(ask, c.best, within);
      const one = this.opened({ solved: found });
      const free = { ...within, ttft: Infinity }; // outside of the limits it has a curve as well
      if (one && !one.point) {
        one.curve =
          p.mode === 'disaggregated'
            ? one.apart.points.map((c) => parted({ ...ask, senders: ask.free }, one.apart, c, free)).filter(Boolean)
            : curved(ask, one, within);
      }
      return { ...found, fleet: at?.best ? fleet(ask, at.best) : null, price: at?.best ? priced(ask, at.best) : null };
    },
    fit(p, was, data) {
      const model = data.models[p.model];
      const [least] = data.prefix;
      const input = min(p.input, (model.most ?? Infinity) - p.output);
      const away = was && ['down', 'model'].some((k) => was[k] !== p[k]) && was.tp === p.tp && was.row === p.row;
      const prefix = p.prefix > least ? p.prefix : p.prefix && !was?.prefix ? 2 * least : 0; // its slider ends at none, as others do
      const ending = (name, least) => (p[name] > least ? p[name] : p[name] && !was?.[name] ? 2 * least : 0);
      const chunk = ending('chunk', data.chunk[0]);
      const rate = ending('rate', data.rate[0]);
      return {
        ...p,
        chunk,
        rate,
        down: model.experts ? p.down : 'pp',
        gpus: min(p.gpus, data.gpus[p.gpu].most),
        input,
        prefix: min(prefix, input - 1),
        ...(away && { tp: 0, row: 0 }),
      };
    },
    uses(p, name) {
      const place = ACCEPTED.indexOf(name);
      if (place >= 0) return place < p.draft;
      return (
        {
          down: kept?.data.models[p.model].experts,
          hit: p.prefix > 0,
          drafted: p.draft > 0,
          chunk: p.mode !== 'disaggregated',
        }[name] ?? true
      );
    },
    height(view) {
      return this.places(view).end;
    },
    places(view) {
      const {
        width,
        p,
        solved: { down, fits },
      } = view;
      const wide = width >= 560;
      const map = { x: 34, y: 44, w: (wide ? width - 190 : width) - 34 };
      const end = map.y + max(4, down.length) * ROW;
      const memory = wide ? { x: width - 164, y: 44, w: 164, h: end - 44 } : { x: 0, y: end + 58, w: width, h: 150 };
      const split = { y: max(end, memory.y + memory.h) + 42, h: p.mode === 'colocated' || !fits ? -42 : 80 };
      const below = split.y + split.h;
      const chart = { x: 46, y: below + 58, w: width - 56, h: fits ? (wide ? 230 : 210) : -90 };
      const rails = chart.y + chart.h + 88;
      return { wide, map, memory, split, chart, rails, end: rails + 78 + 26 };
    },
    draw(view) {
      const at = this.places(view);
      return [
        this.map(view, at),
        this.memory(view, at),
        this.split(view, at),
        this.frontier(view, at),
        this.rails(view, at),
      ];
    },
    map(view, { map }) {
      const {
        p,
        solved: { cells, across, down, first, at, ranked },
        words,
      } = view;
      const w = map.w / across.length;
      const X = (c) => map.x + across.indexOf(c.tp) * w;
      const Y = (c) => map.y + down.indexOf(c.row) * ROW;
      const shapes = [
        label('map', 0, 14, words.map, 'head'),
        label('rows', map.x - 8, map.y - 8, words.down[p.down], 'small soft', 'end'),
      ];
      const most = first?.best.point.perGpu[1];
      for (const tp of across) {
        shapes.push(
          label(`h${tp}`, map.x + (across.indexOf(tp) + 0.5) * w, map.y - 8, `${words.tp} ${tp}`, 'small', 'middle'),
        );
      }
      for (const row of down) {
        shapes.push(
          label(`v${row}`, map.x - 8, map.y + down.indexOf(row) * ROW + ROW / 2 + 3, `${row}`, 'small', 'end'),
        );
      }
      const [upper, lower] = [[], []]; // words of one size after another: a canvas changes its font slowly
      for (const c of cells) {
        const key = id(c);
        const mid = X(c) + (w - GAP) / 2;
        const b = c.best;
        const shade = b && `m${SHADES.filter((s) => b.point.perGpu[1] >= s * most).length}`;
        shapes.push(
          rectangle(`c${key}`, b ? `cell ${HUE[b.binds]} ${shade}` : 'cell no', X(c), Y(c), w - GAP, ROW - GAP, {
            rx: 4,
            act: key,
            told: key,
            group: 'map',
            pressed: c === at,
            label: this.said(view, c),
            ...(!b && { fill: view.hatch }),
          }),
        );
        const [one, under] = b
          ? [tokens(b.point.perGpu[1]), words.short[b.binds]]
          : ['', c.why?.[1] ?? words.brief[c.out]];
        const fits = under.length * 5.6 < w - GAP;
        if (one) {
          upper.push(label(`a${key}`, mid, Y(c) + (fits ? 14 : 21), one, `celltext ${w < 44 ? 'tiny' : ''}`, 'middle'));
        }
        if (fits) {
          lower.push(
            label(`b${key}`, mid, Y(c) + (b ? 27 : 21), under, b ? 'celltext under' : 'celltext no', 'middle'),
          );
        }
      }
      const ring = (key, cls, c, by) =>
        rectangle(key, `ring ${cls}`, X(c) - by, Y(c) - by, w - GAP + 2 * by, ROW - GAP + 2 * by, { rx: 6 });
      if (ranked.length) shapes.push(ring('best', 'first', first, 1));
      if (at && at !== first) shapes.push(ring('chosen', 'chosen', at, 1.5));
      return [...shapes, ...upper, ...lower];
    },
    /** The layout of a row in words, with its replicas, and those that prefill for them. */
    named(view, { row, count, from }) {
      const { words } = view;
      const said =
        keys(words.layout)
          .filter((k) => row[k] > 1)
          .map((k) => worded(words.layout[k], row[k]))
          .join(', ') || words.one;
      const all = count > 1 ? worded(words.times, count, said) : said;
      return from ? worded(words.ahead, this.named(view, from), all) : all;
    },
    said(view, c) {
      const {
        p,
        words,
        spec: { units },
        solved: { ask },
      } = view;
      const head = worded(words.cell, c.tp, words.down[p.down], c.row);
      if (c.best) return `${head} ${worded(words.plan, this.named(view, c.best), tokens(c.best.point.perGpu[1]))}`;
      if (c.out === 'many') return `${head} ${worded(words.many, show(c.tp * c.row, COUNT))}`;
      const gaps = {
        memory: [show(c.need, units.bytes), show(ask.place.room, units.bytes)],
        tpot: [show(c.token, units.time)],
        ttft: [show(c.first, units.time)],
        layout: [c.why?.[0]],
      };
      return `${head} ${worded(words.out[c.out], ...(gaps[c.out] ?? []))}`;
    },
    /** The layout that is opened: the chosen one, else one of its cell or of all, with the shortest TPOT or the least memory. */
    opened({ solved: { at, cells } }) {
      if (at?.best) return at.best;
      const rows = (at?.rows.length ? [at] : cells).flatMap((c) => c.rows);
      const token = (one) => one.points[0]?.token[1] ?? Infinity;
      return rows.reduce(
        (a, b) => (a && (token(a) < token(b) || (token(a) === token(b) && a.least <= b.least)) ? a : b),
        null,
      );
    },
    /** The GPUs of a split: those that prefill, filled by their load, those that decode, and idle ones. */
    split(view, { split: { y, h } }) {
      const {
        p,
        width,
        words,
        hatch,
        spec: { units },
        solved: { at, ask },
      } = view;
      const best = at?.best;
      const out = [];
      const H = 16;
      if (h < 0) return out;
      out.push(label('gpus', 0, y, words.gpus, 'head'));
      if (!best?.from) {
        return [...out, label('nosplit', 0, y + 24, best ? words.together : words.nosplit, 'small soft')];
      }
      const { from, row, count } = best;
      const w = width / p.gpus;
      const parts = [
        [from.row.n_gpu, from.count, 'compute'],
        [row.n_gpu, count, 'memory'],
      ];
      let x = 0;
      for (const [each, many, hue] of parts) {
        for (const i of range(many)) {
          const key = `g${hue}${i}`;
          const room = each * w - (each * w > 6 ? 2 : 1);
          out.push(rectangle(key, `stack ${hue} ${hue === 'compute' ? 'k2' : 'k1'}`, x, y + 32, room, H));
          if (hue === 'compute') out.push(rectangle(`${key}b`, `stack ${hue} k0`, x, y + 32, room * from.load, H));
          x += each * w;
        }
      }
      if (x < width - 0.5) out.push(rectangle('gidle', '', x, y + 32, width - x, H, { fill: hatch }));
      const gpus = parts.map(([each, many]) => show(each * many, COUNT));
      const sent = worded(words.sent, show(ask.V_hand, units.bytes), show(from.sent, units.time));
      return [
        ...out,
        label('gpre', 0, y + 24, worded(words.prefilling, gpus[0], show(from.load, units.part)), 'small'),
        label('gdec', width, y + 24, worded(words.decoding, gpus[1]), 'small', 'end'),
        label('gsent', 0, y + 66, sent, 'small'),
      ];
    },
    memory(view, { memory: { x, y, h } }) {
      const {
        solved: {
          ask: { place },
        },
        words,
        spec: { units },
      } = view;
      const one = this.opened(view);
      const W = 50;
      if (!one) return [];
      const used = one.point?.memory ?? one.least;
      const cache = used - one.own;
      const top = max(place.hbm, used);
      const k = h / top;
      const base = y + h;
      const bytes = (v) => show(v, units.bytes);
      const stack = [
        ['weights', one.own, 'memory k0'],
        ['caches', cache, 'memory k1'],
        ['free', max(0, place.room - used), 'free'],
        ['kept', max(0, place.hbm - max(used, place.room)), 'free'],
      ];
      const shapes = [label('mem', x, y - 30, words.memory, 'head')];
      let at = base;
      let low = base + 15;
      for (const [name, v, cls] of stack) {
        const mid = min(at - (v * k) / 2 + 4, low - 16);
        shapes.push(
          rectangle(`m-${name}`, `stack ${cls}`, x, at - v * k, W, v * k, name === 'kept' ? { fill: view.hatch } : {}),
        );
        if (v > 0) {
          shapes.push(label(`n-${name}`, x + W + 10, mid, worded(words[name], bytes(v)), 'small'));
          low = mid;
        }
        at -= v * k;
      }
      shapes.push(line('room', 'limit', `M${px(x - 4)} ${px(base - place.room * k)}h${W + 8}`));
      return shapes;
    },
    /** Tokens/s of a user and of a GPU, over batches; the layouts that are drawn. */
    curves(view) {
      const { ranked, at } = view.solved;
      const one = this.opened(view);
      return {
        own: one?.curve?.length && one,
        others: ranked
          .filter((c) => c !== at)
          .slice(0, OTHERS)
          .map((c) => ({ c, one: c.best })),
      };
    },
    scales(view, { chart: { x, y, w, h } }) {
      const { own, others } = this.curves(view);
      const all = [own, ...others.map((o) => o.one)].filter(Boolean).flatMap((one) => one.curve);
      if (!all.length) return null;
      const fastest = 1.3 * max(...all.map((c) => 1 / c.token[0]));
      const most = 1.3 * max(...all.map((c) => c.perGpu[0]));
      const slowest = min(fastest / 20, ...all.map((c) => 1 / c.token[1]));
      const fewest = min(most / 20, ...all.map((c) => c.perGpu[1]));
      return {
        X: log(max(slowest, fastest / 1000), fastest, x, x + w),
        Y: log(max(fewest, most / 1000) / 1.2, most, y + h, y),
        xs: ticks(max(slowest, fastest / 1000), fastest),
        ys: ticks(max(fewest, most / 1000) / 1.2, most),
      };
    },
    frontier(view, at) {
      const { solved: f, words, hatch, width } = view;
      const {
        chart: { x, y, w, h },
      } = at;
      const S = this.scales(view, at);
      const base = y + h;
      const out = [];
      if (!S) return out;
      out.push(label('frontier', 0, y - 32, words.frontier, 'head'));
      const { X, Y } = S;
      const { own, others } = this.curves(view);
      const points = (one, i) => one.curve.map((c) => [X(1 / c.token[i]), Y(c.perGpu[i])]);
      const path = (one, i) =>
        `M${points(one, i)
          .map((p) => p.map(px).join(' '))
          .join('L')}`;
      const bounded = own && !own.from; // each point of a split has a split of its own
      const drawn = [...others.map((o) => points(o.one, 1)), own && points(own, 1), bounded && points(own, 0)]
        .filter(Boolean)
        .flatMap((list) =>
          list.slice(1).flatMap(([u, v], i) => {
            const [a, b] = list[i];
            const steps = ceil(hypot(u - a, v - b) / 4) || 1;
            return range(steps + 1).map((k) => [a + ((u - a) * k) / steps, b + ((v - b) * k) / steps]);
          }),
        );
      out.push(
        label('yname', 0, y - 8, words.gpu, 'small soft'),
        label('xname', x + w, base + 34, words.user, 'small soft', 'end'),
      );
      const apart = (list, at, room) =>
        list.filter((v, i) => {
          const ones = String(v)[0] === '1' || /^0\.0*1/.test(String(v));
          return (
            ones ||
            (abs(at(list[min(i + 1, list.length - 1)]) - at(v)) > room && abs(at(v) - at(list[max(0, i - 1)])) > room)
          );
        });
      for (const v of apart(S.ys, Y, 16)) {
        out.push(
          line(`y${v}`, 'grid', `M${x} ${px(Y(v))}H${x + w}`),
          label(`yt${v}`, x - 6, Y(v) + 4, tokens(v), 'small soft', 'end'),
        );
      }
      for (const v of apart(S.xs, X, 30)) {
        out.push(
          line(`x${v}`, 'grid', `M${px(X(v))} ${base}v5`),
          label(`xt${v}`, X(v), base + 18, tokens(v), 'small soft', X(v) > width - 16 ? 'end' : 'middle'),
        );
      }
      out.push(line('base', 'axis', `M${x} ${base}H${x + w}`));
      const taken = [];
      const put = (key, cls, words, spots) => {
        // the first of the spots that is free and on no curve, if any
        const long = words.length * 6.6;
        for (const [u, v, anchor = 'start'] of spots) {
          const left = anchor === 'end' ? u - long : u;
          const box = [left, v - 12, left + long, v + 3];
          if (
            left < x ||
            left + long > width ||
            v > base - 3 ||
            v < y + 8 ||
            taken.some((o) => box[0] < o[2] && o[0] < box[2] && box[1] < o[3] && o[1] < box[3]) ||
            drawn.some(([a, b]) => box[0] < a && a < box[2] && box[1] < b && b < box[3])
          ) {
            continue;
          }
          taken.push(box);
          out.push(label(key, u, v, words, cls, anchor));
          return;
        }
      };
      const around = (u, v) => [
        [u - 9, v + 15, 'end'],
        [u + 9, v - 6],
        [u + 9, v + 15],
        [u - 9, v - 6, 'end'],
        [u + 9, v + 4],
      ];
      if (f.tpot < Infinity) {
        const edge = X(1 / f.tpot);
        const said = worded(words.slower, show(f.tpot, view.spec.units.time));
        const long = said.length * 6.2;
        const right = edge - long < 112;
        out.push(
          rectangle('slow', 'slow', x, y, edge - x, h, { fill: hatch, 'pointer-events': 'none' }),
          line('tpot', 'limit', `M${px(edge)} ${y}V${base}`),
          label('slowname', right ? max(edge, 112) : edge, y - 8, said, 'small', right ? 'start' : 'end'),
        );
        taken.push([edge - 2, y, edge + 2, base]);
      }
      for (const { c, one } of others.toReversed()) {
        out.push({ ...line(`f${id(c)}`, 'curve other', path(one, 1)), 'pointer-events': 'stroke', told: id(c) });
      }
      if (bounded) out.push(line('bound', 'curve bound', path(own, 0)));
      if (own) out.push(line('own', 'curve own', path(own, 1)));
      for (const { c, one } of others) {
        const cx = X(1 / one.point.token[1]);
        const cy = Y(one.point.perGpu[1]);
        taken.push([cx - 4, cy - 4, cx + 4, cy + 4]);
        out.push({
          key: `o${id(c)}`,
          tag: 'circle',
          class: 'mark other',
          cx,
          cy,
          r: 4,
          told: id(c),
          act: id(c),
          group: 'others',
          label: this.said(view, c),
        });
      }
      if (own) {
        const some = LABELED.map((b) => own.curve.find((c) => c.alive >= b)).filter(
          (c, i, all) => c && all.indexOf(c) === i && c.batch !== own.point?.batch,
        );
        for (const c of [own.point, ...some].filter(Boolean)) {
          const cx = X(1 / c.token[1]);
          const cy = Y(c.perGpu[1]);
          const spot = c === own.point;
          out.push({
            key: spot ? 'spot' : `p${c.alive}`,
            tag: 'circle',
            class: spot ? 'spot' : c.first[1] > f.ttft ? 'mark over' : 'mark',
            cx,
            cy,
            r: spot ? 6 : 3,
            'pointer-events': 'none',
          });
          taken.push([cx - 4, cy - 4, cx + 4, cy + 4]);
          put(
            spot ? 'spotname' : `pn${c.alive}`,
            spot ? 'strong halo' : 'small halo',
            worded(words.batch, show(c.alive, COUNT)),
            around(cx, cy),
          );
        }
        const first = own.curve[0];
        const bx = X(1 / first.token[0]);
        const by = Y(first.perGpu[0]);
        if (bounded) put('boundname', 'small soft halo', words.bound, [[bx - 4, by + 15, 'end'], ...around(bx, by)]);
      }
      for (const { c, one } of others) {
        const spots = points(one, 1).flatMap(([u, v]) => around(u, v));
        put(`on${id(c)}`, 'small soft halo', this.named(view, one), spots);
      }
      return out;
    },
    /** The two latencies on scales of their own: bound, expected value with its band, and the limit, which is a handle. */
    railsOf({ width, data }, { rails }) {
      return ['ttft', 'tpot'].map((name, i) => ({ name, i, y: rails + i * 78, X: log(...data[name], 16, width - 16) }));
    },
    latency({ solved: { at } }, i) {
      const point = at?.best?.point;
      return point && [point.first, point.token][i];
    },
    rails(view, at) {
      const {
        p,
        data,
        solved: f,
        words,
        spec: { units },
        width,
      } = view;
      const band = f.ask.model.chips.includes(p.gpu) && f.ask.model.band;
      const time = (v) => show(v, units.time);
      return this.railsOf(view, at).map(({ name, i, y, X }) => {
        const pair = this.latency(view, i);
        const limit = f[name] < Infinity ? worded(words.limit, time(p[name])) : words.free_limit;
        const out = [
          label(`${name}name`, 0, y - 28, words.rails[i], 'strong'),
          line(`${name}rail`, 'rail', `M16 ${y}H${width - 16}`),
        ];
        out.push(label(`${name}limit`, clamp(X(p[name]), 44, width - 44), y - 11, limit, 'small', 'middle'));
        if (f[name] < Infinity) {
          out.push(
            rectangle(`${name}over`, '', X(p[name]), y - 5, width - 16 - X(p[name]), 10, {
              fill: view.hatch,
              'pointer-events': 'none',
            }),
          );
        }
        for (const v of ticks(...data[name]).filter((v) => Number.isInteger(+log10(v).toFixed(9)))) {
          out.push(
            line(`${name}t${v}`, 'axis', `M${px(X(v))} ${y + 2}v5`),
            label(`${name}l${v}`, X(v), y + 22, show(v, units.time, true), 'small soft', 'middle'),
          );
        }
        if (!pair) return out;
        const [lo, hi] = [max(pair[0], pair[1] / band), pair[1] * band];
        const said = `${words.expected} ${time(pair[1])}, ${band ? worded(words.range, time(lo), time(hi)) : worded(words.bounded, time(pair[0]))}`;
        if (band) out.push(rectangle(`${name}band`, 'band', X(lo), y - 4, X(hi) - X(lo), 8, { rx: 4 }));
        out.push(line(`${name}bound`, 'limit', `M${px(X(pair[0]))} ${y - 7}v14`), {
          key: `${name}dot`,
          tag: 'circle',
          class: 'spot',
          cx: X(pair[1]),
          cy: y,
          r: 4.5,
          'pointer-events': 'none',
        });
        out.push(label(`${name}said`, 50, y - 28, said, 'small soft'));
        return out;
      });
    },
    handles(view) {
      const {
        p,
        data,
        solved: f,
        words,
        spec: { units },
      } = view;
      return this.railsOf(view, this.places(view)).map(({ name, i, y, X }) => {
        const [lo, hi] = data[name];
        const step = max(lo / 10, 10 ** floor(log10(p[name])) / 10);
        return {
          id: name,
          label: words.handles[i],
          x: X(p[name]),
          y,
          lo,
          hi,
          grid: lo / 10,
          step,
          leap: 10 * step,
          value: p[name],
          words: f[name] < Infinity ? show(p[name], units.time) : words.free_limit,
        };
      });
    },
    pull(view, name, x) {
      return two(
        this.railsOf(view, this.places(view))
          .find((r) => r.name === name)
          .X.inv(x),
      );
    },
    act({ p, solved: { first } }, key) {
      const [tp, row] = key.split('x').map(Number);
      const follow = (first?.tp === tp && first.row === row) || (p.tp === tp && p.row === row);
      return follow ? { tp: 0, row: 0 } : { tp, row };
    },
    hover(view, el) {
      const c = view.solved.cells.find((one) => id(one) === el.dataset.told);
      return c && this.said(view, c);
    },
    sentence(view) {
      const {
        p,
        solved: { at, first, price, fleet: crowd, leastToken, leastFirst, leastMemory, ask, fits },
        words,
        spec: { units },
      } = view;
      const time = (v) => show(v, units.time);
      if (!fits) return worded(words.nothing, show(leastMemory, units.bytes), show(ask.place.room, units.bytes));
      if (!first && !at) {
        return leastToken < Infinity
          ? `${words.none} ${worded(words.least, time(leastToken), time(leastFirst))}`
          : words.out.all;
      }
      if (!at.best) return this.said(view, at);
      const { point, binds, from } = at.best;
      const out = [
        worded(words.opened, this.named(view, at.best), tokens(point.perGpu[1]), show(point.alive, COUNT)),
        worded(words.token, time(point.token[1]), time(point.token[0])),
        worded(words.gap, time(point.gap[1])),
        worded(words.queued, time(point.first[1]), time(point.first[0])),
        worded(words.tail, time(point.tail)),
      ];
      if (crowd) {
        out.push(
          worded(
            crowd.hour === null ? words.crowd : words.bill,
            show(p.rate),
            this.named(view, { ...at.best, count: crowd.replicas, from: from && { ...from, count: crowd.prefill } }),
            show(crowd.gpus, COUNT),
            show(crowd.hour ?? 0),
          ),
        );
      }
      if (price) out.push(worded(words.price, show(price), show(ask.place.price)));
      out.push(
        worded(words.bind, words.binds[binds]),
        ask.model.chips.includes(p.gpu)
          ? worded(words.held, ask.model.rows, show(ask.model.band))
          : worded(words.unmeasured, ask.place.title),
      );
      return out.join(' ');
    },
    table(view) {
      const {
        words,
        solved: { ranked, ask },
        spec: { units },
      } = view;
      const time = (v) => show(v, units.time);
      return [
        words.heads,
        ...ranked.map(({ best }) => {
          const { point, binds } = best;
          const price = priced(ask, best);
          const dollars = price ? show(price) : '';
          return [
            this.named(view, best),
            show(point.alive, COUNT),
            tokens(point.perGpu[1]),
            tokens(point.perGpu[0]),
            time(point.token[1]),
            time(point.token[0]),
            time(point.gap[1]),
            time(point.first[1]),
            time(point.tail),
            show(point.load, units.part),
            show(point.memory, units.bytes),
            dollars,
            words.short[binds],
          ];
        }),
      ];
    },
    /** The call of the library for a state; where a cell is opened that is not the best one, its row of the plan. */
    call({ p, spec: { data }, solved: { at, first, ttft, tpot } }) {
      const one = at?.best;
      const aside = at && (at !== first || p.rate);
      const apart = aside && !!one?.from;
      const { row } = one ?? {};
      const sizes = row && [
        ['tp', row.Y],
        ['pp', row.N_stages],
        ['dpa', row.n_dpa],
        ['ep', row.n_ep],
      ];
      const named = [];
      if (p.mode !== 'both') named.push(['mode', p.mode]);
      else if (aside && one) named.push(['mode', apart ? 'disaggregated' : 'colocated']);
      named.push(['ttft', ttft], ['tpot', tpot]);
      if (p.prefix) named.push(['cached_prefix', p.prefix], ['hit', p.hit]);
      if (p.draft) {
        named.push(
          ['speculate', p.draft],
          [
            'acceptance',
            ACCEPTED.slice(0, p.draft)
              .map((k) => p[k])
              .join(),
          ],
          ['draft', p.drafted],
        );
      }
      if (p.chunk && p.mode !== 'disaggregated') named.push(['chunk', p.chunk]);
      named.push(['load', p.load]);
      if (p.rate) named.push(['rate', p.rate]);
      if (apart) {
        named.push(['top', ALL]);
      } // a split is picked from all rows by how it decodes
      else if (aside) {
        named.push(
          ...(sizes ?? [
            ['tp', at.tp],
            [p.down, at.row],
          ]),
        );
      }
      const said = named
        .filter(([, v]) => v !== null && v !== Infinity)
        .map(([k, v]) => `, ${k}=${real(v) ? +v.toPrecision(6) : `"${v}"`}`)
        .join('');
      const call = `serve("${p.model}", "${p.gpu}", ${p.gpus}, ${p.input}, ${p.output}, weights="${p.weights}", cache="${p.cache}"${said}${data.gpus[p.gpu].called})`;
      return apart ? `${call}.of(${sizes.map(([, size]) => size).join(', ')})` : call;
    },
    /** All cells as records, for a program or a table: names and units as in Python. */
    records({ p, solved: { ranked, cells, ask } }) {
      const pair = (name, [bound, expected]) => ({ [`${name}_bound`]: bound, [`${name}_expected`]: expected });
      const sizes = (c) => ({ tp: c.row.Y, pp: c.row.N_stages, dpa: c.row.n_dpa, ep: c.row.n_ep, count: c.count });
      const ahead = (from) =>
        fromEntries(['tp', 'pp', 'dpa', 'ep', 'count'].map((k) => [`prefill_${k}`, from ? sizes(from)[k] : '']));
      return {
        request: p,
        rows: ranked.map(({ best, best: { point, from } }) => ({
          mode: from ? 'disaggregated' : 'colocated',
          ...sizes(best),
          ...ahead(from),
          batch: point.alive,
          memory: point.memory,
          ...pair('per_gpu', point.perGpu),
          ...pair('token', point.token),
          ...pair('gap', point.gap),
          ...pair('first', point.first),
          first_p95: point.tail,
          load: point.load,
          ...(p.rate && fleet(ask, best)),
          handover: from ? ask.V_hand : '',
          binds: best.binds,
        })),
        refused: cells.filter((c) => !c.best).map(({ tp, row, out }) => ({ tp, [p.down]: row, out })),
      };
    },
    copied(view, what) {
      const found = this.records(view);
      const heads = keys(found.rows[0] ?? {});
      return what === 'csv'
        ? [heads, ...found.rows.map(Object.values)].map((row) => row.join()).join('\n')
        : JSON.stringify(found, null, 1);
    },
    numbers(view) {
      const {
        solved: { cells, at, price, leastToken, leastFirst, ask, fleet: crowd },
      } = view;
      const told = (c) =>
        c && {
          tp: c.tp,
          row: c.row,
          out: c.out ?? null,
          why: c.why?.[0] ?? null,
          token: c.token,
          first: c.first,
          need: c.need,
          best: c.best
            ? {
                row: c.best.row,
                count: c.best.count,
                own: c.best.own,
                most: c.best.most,
                point: c.best.point,
                binds: c.best.binds,
                from: c.best.from ?? null,
              }
            : null,
        };
      return {
        cells: cells.map(told),
        at: told(at) ?? null,
        price,
        fleet: crowd,
        leastToken,
        leastFirst,
        band: ask.model.band,
        room: ask.place.room,
        hbm: ask.place.hbm,
        sentence: this.sentence(view),
        table: this.table(view),
        points: at?.best?.points ?? [],
        curve: at?.best?.curve ?? [],
        records: this.records(view).rows,
        handed: ask.V_hand,
      };
    },
  };
}
