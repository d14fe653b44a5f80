/* The memory of one GPU as a column, the GPUs that share its bytes, and the same column over the time of a step. */
{
  const KINDS = [
    'weights',
    'gradients',
    'master',
    'momentum',
    'variance',
    'activations',
    'logits',
    'recomputed',
    'buffers',
  ];
  const STATE = { weights: 3, gradients: 2, master: 1, momentum: 1, variance: 1 }; // the ZeRO stage that shards each
  const OPTIMIZER = ['master', 'momentum', 'variance'];
  const TONE = {
    weights: ['memory', 60],
    gradients: ['memory', 49],
    master: ['memory', 40],
    momentum: ['memory', 32],
    variance: ['memory', 22],
    activations: ['compute', 40],
    logits: ['compute', 60],
    recomputed: ['compute', 18],
    buffers: ['scaleout', 50],
  };
  const KEPT = { mlp: 54, attention: 42, norms: 30 }; // activations of a layer by what they belong to
  const ROWS = { dp: 'scaleout', tp: 'scaleup', pp: 'scaleout', cp: 'scaleout' };
  const CLOSED = 30;
  const HOST = 66;
  const TOP = 30;
  const TALL = 336;
  const SPAN = 7; // heights of the drawing [px]; seconds that a step plays
  const log2 = Math.log2;
  const doubled = (n) => 2 ** round(log2(max(1, n)));

  /** What the rank stores, moment by moment: the twin of schedules.timelines.stored. */
  function stored({ stages, last, tF, tB, tU, each, most, logits, forward, backward, again, layers }) {
    const points = [];
    const slots = [];
    const end = (2 * stages - 1) * (tF + tB);
    const lead = (stages - 1) * tF;
    for (const i of range(stages)) {
      slots.push(
        last ? ['F', lead + i * (tF + tB), tF] : ['F', i * tF, tF],
        last ? ['B', lead + tF + i * (tF + tB), tB] : ['B', stages * tF + (stages - 1) * tB + i * (tF + tB), tB],
      );
    }
    slots.sort((a, b) => a[1] - b[1]);
    let now = 0;
    let head = 0;
    let before = 0;
    const at = (t, held, buffers = 0, recomputed = 0) =>
      points.push({ t, activations: min(held, most), logits: head, buffers, recomputed });
    function ramp(start, stop, change, ...busy) {
      at(start, now, ...busy);
      if (min(now, now + change) < most && most < max(now, now + change)) {
        at(start + ((stop - start) * (most - now)) / change, most, ...busy);
      }
      now += change;
      at(stop, now, ...busy);
    }
    at(0, 0);
    for (const [kind, start, lasts] of slots) {
      if (start > before + 1e-9 * end) {
        at(before, now);
        at(start, now);
      }
      if (kind === 'F') {
        ramp(start, start + lasts, each, forward);
        head = logits;
      } else {
        ramp(start, start + lasts / layers, -each / layers, backward, again);
        head = 0;
        ramp(start + lasts / layers, start + lasts, (-each * (layers - 1)) / layers, backward, again);
      }
      before = start + lasts;
    }
    at(end, 0);
    at(end + tU, 0);
    return { points, slots, end };
  }
  /** Activations by what they belong to: the library counts them with nothing but norms, and with attention as well. */
  const keptBy = ({ layer, attended, norms }, bytes) => ({
    mlp: (bytes * (layer - attended)) / layer,
    attention: (bytes * (attended - norms)) / layer,
    norms: (bytes * norms) / layer,
  });
  const all = (o, list = KINDS) => list.reduce((n, k) => n + o[k], 0);
  /** The library's values for a state. */
  function valued(p, call, data) {
    return call('values', {
      ...data.models[p.model],
      ...data.sizes,
      S: p.S,
      X: p.dp,
      Y: p.tp,
      N_stages: p.pp,
      n_cp: p.cp,
      n_zero: p.zero,
      n_recompute: p.recompute,
      L_keep: p.host_activations ? data.keep : Infinity,
    });
  }
  const peakOf = (p, c) =>
    c.weights +
    c.gradients +
    (p.host_optimizer ? 0 : c.optimizer) +
    max(c.first, c.last + c.logits) +
    c.gathered +
    c.bucket +
    c.again;
  /** What is stored at a time of the step. */
  function moment({ state, points, peak }, t) {
    if (abs(t - peak.t) <= 1e-6 * points.at(-1).t) return peak; // several things meet there
    const i = max(
      1,
      points.findIndex((q) => q.t >= t),
    );
    const a = points[i - 1];
    const b = points[i];
    const u = b.t > a.t ? clamp((t - a.t) / (b.t - a.t), 0, 1) : 1;
    return { ...state, ...fromEntries(keys(a).map((k) => [k, a[k] + (b[k] - a[k]) * u])) };
  }

  function place({ p, width, solved, data }) {
    const narrow = width < 480;
    const base = TOP + TALL;
    const col = narrow ? 134 : 160;
    const x = narrow ? 152 : 302;
    const live = keys(ROWS).filter((k) => p[k] > 1).length;
    const rows = {};
    let most = data.ruler;
    let y = TOP - 8;
    while (most < solved.top * 1.04) most *= 2;
    const open = min(178, (TALL - HOST - (4 - live) * CLOSED) / max(1, live));
    for (const k of keys(ROWS)) {
      const h = p[k] > 1 ? open : CLOSED;
      const tall = max(0, h - 44);
      const pitch = narrow ? 23 : 32;
      rows[k] = {
        y,
        h,
        base: y + h - 20,
        tall,
        pitch,
        w: narrow ? 17 : 24,
        shown: min(p[k] - 1, 7, floor((width - x - 20) / pitch)),
      };
      y += h;
    }
    const step = narrow ? 11 : 14;
    const end = width - 9;
    const chart = base + 42;
    const high = 116;
    return {
      narrow,
      base,
      col,
      x,
      most,
      rows,
      y: (b) => base - (b / most) * TALL,
      step,
      end,
      host: y + 10,
      chart,
      high,
      floor: chart + high,
      knob: (k) => end - step * (log2(data.most[k]) - log2(p[k])),
      degree: (k, at) => 2 ** clamp(log2(data.most[k]) - (end - at) / step, 0, log2(data.most[k])),
      tx: (t) => (width * t) / solved.total,
      ty: (b) => chart + high - (b / most) * (high - 12),
    };
  }
  const hue = (k) => ({ class: `kept ${TONE[k][0]}`, style: `--k:${TONE[k][1]}%` });
  const own = (i) => ({ class: 'chunk own', style: `--i:${i % 8};--odd:${i % 2}` });
  const GB = (v) => show(v, BYTE);
  const sharded = (p, k) => STATE[k] <= p.zero && p.dp * p.cp > 1;

  function column(view, g, now) {
    const { p, words, data, solved } = view;
    const out = [];
    const names = [];
    const outside = [];
    let sum = 0;
    for (const k of KINDS) {
      const y = g.y(sum + now[k]);
      const h = (now[k] / g.most) * TALL;
      const mid = y + h / 2;
      const acts = k in STATE || ['activations', 'recomputed'].includes(k);
      out.push({
        key: k,
        tag: 'rect',
        ...hue(k),
        x: 0,
        y,
        width: g.col,
        height: max(0, h),
        told: k,
        ...(h > 0.4 &&
          acts && { act: k, group: 'column', label: `${words.names[k]}, ${GB(now[k])}. ${words.acts[k]}` }),
      });
      if (k in STATE && !sharded(p, k)) {
        for (const i of range(min(8, p.dp * p.cp))) {
          out.push({
            key: `${k}-part${i}`,
            tag: 'rect',
            fill: 'none',
            x: 0,
            y: y + h * (1 - (i + 1) / min(8, p.dp * p.cp)),
            width: g.col,
            height: h / min(8, p.dp * p.cp),
          });
        }
      } // from where a shard sets out
      const split = k === 'activations' && h > 28 && solved.c.layer > solved.c.norms && keptBy(solved.c, now[k]);
      let low = 0;
      for (const part of split ? keys(KEPT) : []) {
        const high = (split[part] / g.most) * TALL;
        low += high;
        out.push({
          key: `kept-${part}`,
          tag: 'rect',
          class: 'kept compute',
          style: `--k:${KEPT[part]}%`,
          'pointer-events': 'none',
          x: 0,
          y: y + h - low,
          width: g.col,
          height: high,
        });
        if (high > 0.6 && !g.narrow)
          outside.push([`kept-${part}`, y + h - low + high / 2, words.kept[part], split[part]]);
      }
      sum += now[k];
      if (h > 14.5) {
        const chip = sharded(p, k);
        const full = g.y(data.hbm);
        const up = g.narrow ? 27 : 11;
        const mlp = split ? y + h - (split.mlp / g.most) * TALL : 0; // the name stands off the edge of this part
        const near = split && abs(mid - mlp) < 9 && y + h - mlp > 18 ? mlp + 9 : mid;
        const ty =
          near > full - up + 2 && near < full + 9 && h > 34 ? (y + h > full + 18 ? full + 11 : full - up) : near;
        if (chip) {
          names.push(
            { key: `${k}-chip`, tag: 'rect', ...own(0), x: 5, y: ty - 6.5, width: 13, height: 13, rx: 2 },
            {
              key: `${k}-number`,
              tag: 'text',
              class: 'tiny name',
              x: 11.5,
              y: ty,
              'text-anchor': 'middle',
              words: '0',
            },
          );
        }
        names.push(
          {
            key: `${k}-name`,
            tag: 'text',
            class: `name ${g.narrow ? 'tight' : ''}`,
            x: chip ? 22 : 7,
            y: ty,
            words: words.names[k],
          },
          {
            key: `${k}-size`,
            tag: 'text',
            class: `name ${g.narrow ? 'tight' : ''}`,
            x: g.col - 6,
            y: ty,
            'text-anchor': 'end',
            words: GB(now[k]),
          },
        );
      } else if (h > 0.6 && !g.narrow) outside.push([k, mid, words.names[k], now[k]]);
    }
    const parts = OPTIMIZER.map((k) => (now[k] / g.most) * TALL);
    const high = parts.reduce((x, y) => x + y);
    if (g.narrow && high > 14.5 && max(...parts) <= 14.5) {
      // too low for a name each: one for all
      const y = g.y(now.weights + now.gradients) - high / 2;
      names.push(
        { key: 'optimizer-name', tag: 'text', class: 'name tight', x: 7, y, words: words.names.optimizer },
        {
          key: 'optimizer-size',
          tag: 'text',
          class: 'name tight',
          x: g.col - 6,
          y,
          'text-anchor': 'end',
          words: GB(all(now, OPTIMIZER)),
        },
      );
    }
    const line = g.y(data.hbm);
    const top = g.y(sum);
    if (sum > data.hbm) {
      out.push({
        key: 'over',
        tag: 'rect',
        class: 'over',
        fill: view.hatch,
        x: 0,
        y: top,
        width: g.col,
        height: line - top,
      });
    }
    const taken = [top - 10, ...names.map((s) => s.y)];
    const clear = [line - 9, line + 10].find(
      (y) => !g.narrow || (y < g.base - 8 && taken.every((other) => abs(other - y) > 14)),
    );
    out.push(
      { key: 'frame', tag: 'path', class: 'frame', d: `M.5 ${TOP - 6}V${g.base}H${g.col - 0.5}V${TOP - 6}` },
      { key: 'limit', tag: 'path', class: 'limit', d: beside(line, -4, g.col + (g.narrow ? 4 : 8), names) },
      names,
      clear !== undefined && {
        key: 'limit-of',
        tag: 'text',
        class: 'strong halo',
        ...(g.narrow ? { x: g.col - 4, y: clear, 'text-anchor': 'end' } : { x: g.col + 12, y: line }),
        words: data.memory,
      },
      {
        key: 'sum',
        tag: 'text',
        class: 'strong halo',
        x: g.col / 2,
        y: max(9, top - 10),
        'text-anchor': 'middle',
        words: GB(sum),
      },
      { key: 'me', tag: 'rect', ...own(0), x: 0, y: g.base + 4, width: g.col, height: 17, rx: 2 },
      {
        key: 'me-of',
        tag: 'text',
        class: 'name',
        x: g.col / 2,
        y: g.base + 12.5,
        'text-anchor': 'middle',
        words: words.me,
      },
    );
    let low = g.base + 16; // small blocks are named next to the column, one above another
    for (const [k, mid, name, bytes] of outside) {
      let y = min(mid, low - 16);
      if (abs(y - line) < 16) y = line - 16;
      low = y;
      out.push(
        { key: `${k}-lead`, tag: 'path', class: 'lead', d: `M${g.col + 2} ${px(mid)}L${g.col + 11} ${px(y)}` },
        { key: `${k}-label`, tag: 'text', class: 'soft', x: g.col + 14, y, words: `${name} ${GB(bytes)}` },
      );
    }
    return out;
  }
  /** The GPUs that share a copy, a matrix, the layers or a sequence with this one: what repeats is green, what each holds alone has its hue. */
  function neighbors(view, g, now) {
    const { p, words, solved } = view;
    const out = [];
    for (const [k, tone] of entries(ROWS)) {
      const r = g.rows[k];
      const many = p[k];
      const far = g.x + r.shown * r.pitch;
      out.push(
        { key: `${k}-of`, tag: 'text', class: `rate ${tone}`, x: g.x, y: r.y + 9, words: worded(words.rows[k], many) },
        {
          key: `${k}-track`,
          tag: 'path',
          class: 'frame',
          d: `M${px(g.end - g.step * log2(view.data.most[k]))} ${r.y + 9}H${g.end}`,
        },
        !g.narrow && {
          key: `${k}-what`,
          tag: 'text',
          class: 'soft',
          x: g.x + 88,
          y: r.y + 9,
          words: k === 'dp' ? words.copies[p.zero] : words.what[k],
        },
      );
      if (many > 1 && many - 1 > r.shown) {
        out.push({
          key: `${k}-more`,
          tag: 'text',
          class: 'soft',
          x: far + 2,
          y: r.base - r.tall / 2,
          words: `+${many - 1 - r.shown}`,
        });
      }
      for (const i of range(r.shown)) {
        const x = g.x + i * r.pitch;
        const at = `${k}${i}`;
        const part = k !== 'pp' ? 1 : solved.last ? i + 2 : (many - 1 - i) / many;
        let sum = 0;
        for (const kind of KINDS) {
          const bytes = now[kind] * (kind === 'activations' ? part : 1) * (k === 'pp' && kind === 'logits' ? 0 : 1);
          const h = (bytes / g.most) * r.tall;
          const alone = kind in STATE && (k === 'tp' || k === 'pp' || sharded(p, kind));
          sum += bytes;
          if (h > 0.3) {
            out.push({
              key: `${at}${kind}${alone ? '-own' : ''}`,
              tag: 'rect',
              ...(alone ? { ...own(i + 1), from: `${kind}-part${i + 1}` } : hue(kind)),
              x: x + 1,
              y: r.base - (sum / g.most) * r.tall,
              width: r.w - 2,
              height: h,
            });
          }
        }
        const line = r.base - (view.data.hbm / g.most) * r.tall;
        const top = r.base - (sum / g.most) * r.tall;
        if (top < line - 0.5) {
          out.push({
            key: `${at}-over`,
            tag: 'rect',
            class: 'over',
            fill: view.hatch,
            x: x + 1,
            y: top,
            width: r.w - 2,
            height: line - top,
          });
        }
        out.push(
          {
            key: `${at}-frame`,
            tag: 'path',
            class: 'frame',
            d: `M${x + 0.5} ${px(r.base - r.tall)}V${px(r.base)}H${x + r.w - 0.5}V${px(r.base - r.tall)}`,
          },
          { key: `${at}-limit`, tag: 'path', class: 'limit thinner', d: `M${x - 2} ${px(line)}h${r.w + 4}` },
          { key: `${at}-rank`, tag: 'rect', ...own(i + 1), x, y: r.base + 2, width: r.w, height: 14, rx: 2 },
          {
            key: `${at}-number`,
            tag: 'text',
            class: 'tiny name',
            x: x + r.w / 2,
            y: r.base + 9,
            'text-anchor': 'middle',
            words: `${i + 1}`,
          },
        );
      }
    }
    return out;
  }
  /** Host memory: two places that a press fills or empties. */
  function host(view, g) {
    const { p, words, solved } = view;
    const wide = g.end - g.x + 3;
    const w = (wide - 8) / 2;
    const out = [{ key: 'host', tag: 'text', class: 'strong', x: g.x, y: g.host - 1, words: words.host }];
    ['optimizer', 'activations'].forEach((k, i) => {
      const on = p[`host_${k}`];
      const as = k === 'optimizer' ? 'momentum' : k;
      const x = g.x + i * (w + 8);
      const bytes = solved.host[k];
      out.push(
        {
          key: `host-${k}`,
          tag: 'rect',
          class: `away ${on ? hue(as).class : ''}`,
          style: hue(as).style,
          x,
          y: g.host + 9,
          width: w,
          height: g.base - g.host - 10,
          rx: 3,
          act: `host_${k}`,
          group: 'host',
          pressed: !!on,
          label: words.offload[k],
          from: as,
        },
        {
          key: `host-${k}-of`,
          tag: 'text',
          class: `${on ? 'name' : 'soft'} ${g.narrow ? 'tight' : ''}`,
          x: x + w / 2,
          y: g.host + 9 + (g.base - g.host - 10) / 2,
          'text-anchor': 'middle',
          words: on ? GB(bytes) : g.narrow ? words.short[k] : words.offload[k],
        },
      );
    });
    return out;
  }
  function course(view, g, t) {
    const { solved, words, width, data } = view;
    const { points, state, peak } = solved;
    const out = [];
    const xs = points.map((q) => px(g.tx(q.t)));
    let low = points.map(() => 0);
    const line = (list) => list.map((b, i) => `${xs[i]} ${px(g.ty(b))}`);
    for (const k of KINDS) {
      const high = points.map((q, i) => low[i] + (q[k] ?? state[k]));
      out.push({
        key: `over-time-${k}`,
        tag: 'path',
        ...hue(k),
        d: `M${line(high).join('L')}L${line(low).reverse().join('L')}Z`,
        told: k,
      });
      low = high;
    }
    const limit = +px(g.ty(data.hbm));
    if (solved.top > data.hbm) {
      out.push({
        key: 'over-time',
        tag: 'path',
        class: 'over',
        fill: view.hatch,
        d: `M0 ${limit}L${line(low.map((b) => max(b, data.hbm))).join('L')}L${width} ${limit}Z`,
      });
    }
    const px0 = g.tx(peak.t);
    const py = g.ty(solved.top);
    const high = abs(py - 6 - limit) < 9 ? limit - 9 : py - 6;
    const right = px0 > width * 0.55;
    if (right ? px0 < width - 60 : px0 < width - 150) {
      out.push({
        key: 'time-limit-of',
        tag: 'text',
        class: 'soft halo',
        x: width,
        y: limit - 8,
        'text-anchor': 'end',
        words: data.memory,
      });
    }
    out.push(
      { key: 'time-limit', tag: 'path', class: 'limit thinner', d: `M0 ${limit}H${width}` },
      { key: 'floor', tag: 'path', class: 'frame', d: `M0 ${px(g.floor)}H${width}` },
    );
    const end = g.tx(solved.end);
    const passes = { F: [], B: [] };
    const bar = (list) => joined(list, ([a, b]) => `M${px(a)} ${g.floor + 3}H${px(max(a + 0.5, b - 1))}v6H${px(a)}z`);
    for (const [kind, start, lasts] of solved.slots) passes[kind].push([g.tx(start), g.tx(start + lasts)]);
    out.push(
      { key: 'forward', tag: 'path', ...hue('activations'), d: bar(passes.F) },
      { key: 'backward', tag: 'path', ...hue('logits'), d: bar(passes.B) },
      { key: 'update', tag: 'path', ...hue('weights'), d: bar([[end, width]]) },
    );
    const mid = (list) => (list[0][0] + list.at(-1)[1]) / 2;
    const y = g.floor + 20;
    const wide = width - end > 66;
    if (passes.F.length === 1) {
      out.push(
        end * solved.c.forward > 56 * (solved.c.forward + solved.c.backward) && {
          key: 'forward-of',
          tag: 'text',
          class: 'soft',
          x: mid(passes.F),
          y,
          'text-anchor': 'middle',
          words: words.forward,
        },
        {
          key: 'backward-of',
          tag: 'text',
          class: 'soft',
          x: max(34, min(mid(passes.B), width - 110)),
          y,
          'text-anchor': 'middle',
          words: words.backward,
        },
      );
    } else {
      out.push({
        key: 'passes-of',
        tag: 'text',
        class: 'soft',
        x: 0,
        y,
        words: worded(g.narrow ? words.passesShort : words.passes, passes.F.length),
      });
    }
    out.push({
      key: 'update-of',
      tag: 'text',
      class: 'soft',
      x: wide ? (end + width) / 2 : width,
      y,
      'text-anchor': wide ? 'middle' : 'end',
      words: words.update,
    });
    out.push(
      { key: 'now', tag: 'path', class: 'moment', d: `M${px(g.tx(t))} ${g.chart - 4}V${g.floor + 9}` },
      { key: 'peak', tag: 'circle', class: 'peak', cx: px0, cy: py, r: 4 },
      {
        key: 'peak-of',
        tag: 'text',
        class: 'strong halo',
        x: px0 + (right ? -9 : 9),
        y: high,
        'text-anchor': right ? 'end' : 'start',
        words: worded(words.peak, GB(solved.top)),
      },
    );
    return out;
  }
  /** A level line that leaves a gap where names stand. */
  function beside(y, from, to, names) {
    const gaps = names
      .filter((s) => s.words && s['text-anchor'] !== 'middle' && abs(s.y - y) < 8)
      .map((s) => {
        const wide = 6.3 * s.words.length + 3;
        return s['text-anchor'] ? [s.x - wide, s.x + 3] : [s.x - 3, s.x + wide];
      })
      .sort((a, b) => a[0] - b[0]);
    return `M${from} ${px(y)}${joined(gaps, ([a, b]) => `H${px(a)}M${px(b)} ${px(y)}`)}H${px(to)}`;
  }
  /** The change without more GPUs that lowers the peak most. */
  function best({ p, call, data, words, solved }) {
    const moves = [];
    if (p.zero < 3 && p.dp * p.cp > 1) moves.push([{ zero: p.zero + 1 }, words.moves.zero[p.zero]]);
    if (p.recompute < 2) moves.push([{ recompute: 2 }, words.moves.recompute]);
    const found = (list) =>
      list
        .map(([to, name]) => {
          const next = { ...p, ...to };
          return [solved.top - peakOf(next, valued(next, call, data)), name];
        })
        .filter(([saved]) => saved > 0.01 * solved.top)
        .sort((a, b) => b[0] - a[0])[0];
    return found(moves) ?? (p.host_optimizer ? null : found([[{ host_optimizer: 1 }, words.moves.host_optimizer]]));
  }

  figures.bytes = {
    glide: 1200,
    solve(p, call, data) {
      const c = valued(p, call, data);
      const away = p.host_activations;
      const last = c.last + c.logits >= c.first;
      const stretch = away ? c.offload : 0;
      const tF = max(c.forward, stretch);
      const tB = max(c.backward, stretch);
      const tU = p.host_optimizer ? c.host_update : c.update;
      const each = c.layers * c.layer;
      const here = 1 - p.host_optimizer;
      const state = {
        weights: c.weights,
        gradients: c.gradients,
        master: here * c.master,
        momentum: here * c.moment,
        variance: here * c.moment,
      };
      const run = stored({
        stages: p.pp,
        last,
        tF,
        tB,
        tU,
        each,
        most: away ? c.last : Infinity,
        logits: last ? c.logits : 0,
        forward: c.gathered,
        backward: c.gathered + c.bucket,
        again: c.again,
        layers: c.layers,
      });
      const sums = run.points.map((q) => all({ ...state, ...q }));
      const top = max(...sums);
      const peak = { ...state, ...run.points[sums.findIndex((v) => v > top * (1 - 1e-9))] };
      const replicas = p.dp * p.cp;
      const held = (c.weights + c.gradients + c.optimizer) * replicas;
      const once = valued({ ...p, zero: 3 }, call, data);
      const least = (once.weights + once.gradients + once.optimizer) * replicas;
      return {
        c,
        state,
        ...run,
        top,
        peak,
        last,
        total: run.end + tU,
        marks: [peak.t, ...run.slots.map(([, start, lasts]) => start + lasts)].sort((a, b) => a - b),
        held,
        least,
        host: {
          optimizer: p.host_optimizer ? c.optimizer : 0,
          activations: away ? c.layer * (last ? c.layers : c.held) : 0,
        },
      };
    },
    shows: ({ solved }) => solved.peak.t / solved.total,
    pace: (p, solved) => SPAN / solved.total,
    place: ({ solved, words, spec }, t) =>
      worded(words.at, show(t, spec.units.time), show(solved.total, spec.units.time)),
    fit: (p) => ({
      ...p,
      ...fromEntries([...keys(ROWS), 'S'].map((k) => [k, doubled(p[k])])),
      zero: round(p.zero),
      recompute: round(p.recompute),
      host_optimizer: round(p.host_optimizer),
      host_activations: round(p.host_activations),
    }),
    height: (view) => place(view).floor + 30,
    draw(view, t) {
      const g = place(view);
      const now = moment(view.solved, t);
      return [column(view, g, now), neighbors(view, g, now), host(view, g), course(view, g, t)];
    },
    handles(view) {
      const g = place(view);
      const { p, words, data } = view;
      return keys(ROWS).map((k) => ({
        id: k,
        label: words.handles[k],
        x: g.knob(k),
        y: g.rows[k].y + 9,
        lo: 1,
        hi: data.most[k],
        step: p[k] / 2,
        leap: p[k],
        grid: 1,
        value: p[k],
        words: worded(words.rows[k], p[k]),
      }));
    },
    pull: (view, id, x) => doubled(place(view).degree(id, x)),
    act({ p }, k) {
      if (k.startsWith('host_')) return { [k]: 1 - p[k] };
      if (k in STATE) return { zero: p.zero >= STATE[k] ? STATE[k] - 1 : STATE[k] };
      return { recompute: (p.recompute + 1) % 3 };
    },
    hover(view, el, t) {
      const k = el.dataset.told;
      const { p, solved, words, data } = view;
      const { c } = solved;
      const now = moment(solved, t);
      if (!(k in TONE)) return '';
      const how =
        k in STATE
          ? worded(words.per, show(c.params / 1e9, ONE), show(data.perParameter[k], BYTE, true)) +
            (sharded(p, k) ? worded(words.over, p.dp * p.cp) : '')
          : k === 'activations'
            ? worded(words.layered, show(c.layers, COUNT), GB(c.layer)) +
              (c.layer > c.norms
                ? `<br>${joined(entries(keptBy(c, now[k])), ([part, bytes], i) => `${i ? ', ' : ''}${words.kept[part]} ${GB(bytes)}`)}`
                : '')
            : words.why[k];
      return `<b>${words.names[k]} ${GB(now[k])}</b>${how}`;
    },
    sentence(view) {
      const { p, solved, words, data } = view;
      const fits = solved.top <= data.hbm;
      const move = best(view);
      const replicas = p.dp * p.cp;
      return (
        (fits
          ? worded(words.fits, GB(solved.top), GB(data.hbm - solved.top))
          : worded(words.full, GB(solved.top), data.memory)) +
        (replicas < 2
          ? words.alone
          : solved.held > solved.least * 1.001
            ? worded(words.repeated, show(replicas, COUNT), GB(solved.held), GB(solved.least))
            : worded(words.once, show(replicas, COUNT), GB(solved.held))) +
        (move && !fits ? worded(words.move, move[1], GB(move[0])) : '')
      );
    },
    table(view, t) {
      const { solved, words } = view;
      const now = moment(solved, t);
      return [
        words.heads,
        ...KINDS.map((k) => [words.names[k], ...[solved.peak[k], now[k]].map((v) => (v > 0 ? GB(v) : 0))]),
        [words.total, GB(solved.top), GB(all(now))],
      ];
    },
    numbers(view, t) {
      const { solved } = view;
      const { c, state, points, top, total, held, least, host: away } = solved;
      const now = moment(solved, t);
      return {
        c,
        state,
        points,
        top,
        total,
        held,
        least,
        host: away,
        sum: all(now),
        kept: keptBy(c, now.activations),
        peak: fromEntries(KINDS.map((k) => [k, solved.peak[k]])),
        saved: best(view)?.[0] ?? 0,
      };
    },
    call({ p, words, data }) {
      const away = ['optimizer', 'activations'].filter((k) => p[`host_${k}`]);
      return worded(
        words.call,
        p.model,
        p.S,
        p.dp,
        p.tp,
        p.pp,
        p.cp,
        p.zero,
        data.recompute[p.recompute],
        data.recipe,
        away.length ? worded(words.away, away.map((k) => `"${k}"`).join(', ')) : '',
      );
    },
  };
}
