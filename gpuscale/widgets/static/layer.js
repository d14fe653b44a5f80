/* One layer of a transformer as its matrices: areas are parameters, FLOPs, activations or KV cache. */
{
  const GAP = 3;
  const SLOT = 13;
  const THIN = 1.2; // between blocks; a block without area; the least width of one with it
  const BELOW = 30;
  const OCTAVES = 6; // below a row of blocks; from one expert to the most
  const DARK = {
    norm_1: 20,
    Q: 52,
    K: 60,
    V: 60,
    scores: 100,
    out: 52,
    norm_2: 20,
    router: 44,
    gate: 30,
    up: 30,
    down: 30,
  };
  const HUE = { parameters: 'memory', flops: 'compute', activations: 'memory', kv_cache: 'memory' };
  const log2 = Math.log2;
  const quarter = (S) => 2 ** floor(log2(S)) / 4;
  const doubled = (n) => 2 ** round(log2(n));
  const sum = (o) => Object.values(o).reduce((a, b) => a + b, 0);
  const EXPERTS = ['gate', 'up', 'down'];
  const CACHED = ['K', 'V'];

  /** Where everything stands. Areas are in proportion: a row's height follows from its sum over its free width. */
  function place({ p, width, data, solved }) {
    const narrow = width < 480;
    const x0 = narrow ? 26 : 34;
    const x1 = width - 2;
    const top = 66;
    const high = narrow ? 350 : 380;
    const wide = x1 - x0;
    const at = {};
    const rows = Object.values(data.rows).map((list) => {
      const names = list.filter((k) => p.E > 1 || k !== 'router');
      const all = names.reduce((n, k) => n + solved.drawn[k], 0);
      const live = names.filter((k) => (solved.drawn[k] / all) * wide > THIN);
      const free = wide - (names.length - 1) * GAP - (names.length - live.length) * SLOT;
      return { names, live, free, all: live.reduce((n, k) => n + solved.drawn[k], 0) };
    });
    const area = rows.reduce((n, r) => n + r.all / r.free, 0);
    const room = high - BELOW;
    const empty = 24;
    const spare = rows.some((r) => !r.live.length) ? empty : 0;
    let y = top;
    for (const r of rows) {
      let x = x0;
      r.y = y;
      r.h = r.live.length ? ((room - spare) * r.all) / r.free / area : empty;
      for (const k of r.names) {
        const on = r.live.includes(k);
        const w = on ? (r.free * solved.drawn[k]) / r.all : SLOT;
        at[k] = { x, y, w, h: r.h, on };
        x += w + GAP;
      }
      y += r.h + BELOW;
    }
    const bottom = top + high;
    const axis = bottom + 92;
    const first = at[rows[0].live[0] ?? rows[1].live[0]];
    const heads = min(wide - (narrow ? 100 : 290), p.n_q * (narrow ? 7 : 10.5));
    const step = heads / p.n_q;
    const [lo, hi] = data.tokens;
    const span = narrow ? min(110, wide - 190) : 200;
    return {
      narrow,
      x0,
      x1,
      top,
      rows,
      at,
      bottom,
      axis,
      strip: bottom + 44,
      model: axis + 44,
      heads,
      step,
      worth: solved.drawn[rows[0].live[0] ?? rows[1].live[0]] / (first.w * first.h),
      tx: (S) => x0 + ((wide - 10) * log2(S / lo)) / log2(hi / lo),
      tokens: (x) => lo * (hi / lo) ** clamp((x - x0) / (wide - 10), 0, 1),
      ex: (E) => x0 + 16 + (span * log2(E)) / OCTAVES,
      experts: (x) => 2 ** (OCTAVES * clamp((x - x0 - 16) / span, 0, 1)),
    };
  }
  const percent = (u) => show(u, SHARE, false, 2);
  const count = (v) => show(v, COUNT);
  function amount({ words, spec, p }, v, kind = p.kind) {
    if (spec.units[kind]) return show(v, spec.units[kind]);
    return v >= 1e9
      ? worded(words.billion, show(v / 1e9, ONE))
      : v >= 1e6
        ? worded(words.million, show(v / 1e6, ONE))
        : count(v);
  }
  const named = ({ words, p }, k) => (k === 'router' && p.kind === 'activations' ? words.copies : words.names[k]);
  /** The matrix of a block, or how many elements of a token it stores. */
  function shape({ p, solved, words, data }, k, kind = p.kind) {
    const { D, F, S } = p;
    const q = p.n_q * p.d_head;
    const kv = p.n_kv * p.d_head;
    const by = (a, b) => [count(a), worded(words.times, count(b))];
    if (kind === 'activations' || kind === 'kv_cache') return [count(solved.all[kind][k] / data.bytes), words.elements];
    const sides = {
      Q: [D, q],
      K: [D, kv],
      V: [D, kv],
      scores: [S, S],
      out: [q, D],
      gate: [D, F],
      up: [D, F],
      down: [F, D],
      router: [D, p.E],
    }[k];
    const many =
      EXPERTS.includes(k) && p.E > 1 ? worded(words.many, count(kind === 'parameters' ? p.E : solved.k)) : '';
    return sides ? [many + by(...sides)[0], by(...sides)[1]] : [count(D)];
  }

  function blocks(view, g) {
    const { p, solved, words } = view;
    const kind = p.kind;
    const hue = HUE[kind];
    const out = [];
    for (const r of g.rows) {
      for (const k of r.names) {
        const b = g.at[k];
        const name = named(view, k);
        const cached = kind === 'kv_cache' && CACHED.includes(k);
        const share = solved.drawn[k] / solved.full;
        const solid = EXPERTS.includes(k) && kind === 'parameters' ? solved.k / p.E : cached ? p.n_kv / p.n_q : 1;
        const box = { x: b.x, y: b.y, width: b.w };
        if (!b.on) {
          out.push({
            key: `${k}-slot`,
            tag: 'rect',
            class: 'hole',
            ...box,
            x: b.x + 0.5,
            height: b.h,
            width: b.w - 1,
            rx: 2,
          });
        }
        out.push({
          key: k,
          tag: 'rect',
          class: `block ${hue}`,
          style: `--k:${DARK[k]}%`,
          ...box,
          width: b.on ? b.w : 0,
          height: b.h * solid,
          told: k,
          ...(b.on && {
            label: `${name}, ${shape(view, k).join(' ')}, ${amount(view, solved.now[k])}`,
            ...(k === 'scores' ? { act: k, pressed: !!p.causal } : { tabindex: 0, role: 'img' }),
          }),
        });
        if (solid < 1 && b.on) {
          out.push({
            key: `${k}-idle`,
            tag: 'rect',
            class: `spare ${hue}`,
            x: b.x + 0.5,
            y: b.y + b.h * solid + 0.5,
            width: max(0, b.w - 1),
            height: max(0, b.h * (1 - solid) - 1),
            told: k,
          });
        }
        if (!b.on) continue;
        // name, share and shape, as many lines as fit
        const lines = [];
        const fits = (t, n = 7.1) => t.length * n + 6 < b.w;
        const said = cached ? amount(view, solved.now[k]) : percent(share);
        const form = shape(view, k);
        if (fits(name, 7.6) && b.h > 17) lines.push([name, 'strong']);
        if (lines.length && fits(said) && b.h > 34) lines.push([said, 'name']);
        if (lines.length > 1) {
          if (fits(form.join(' ')) && b.h > 52) lines.push([form.join(' '), 'name']);
          else if (form.every((t) => fits(t)) && b.h > 68) lines.push(...form.map((t) => [t, 'name']));
        }
        const room = solid < 1 && b.h * solid > lines.length * 16 + 6 ? b.h * solid : b.h;
        const mid = b.x + b.w / 2;
        const first = b.y + room / 2 - (lines.length - 1) * 8;
        // heads and experts are cut apart, around the words
        const many = CACHED.includes(k)
          ? kind === 'kv_cache'
            ? p.n_q
            : p.n_kv
          : EXPERTS.includes(k)
            ? kind === 'parameters'
              ? p.E
              : solved.k
            : 1;
        const half = max(0, ...lines.map(([t]) => t.length)) * 3.6 + 5;
        const shown = cached ? p.n_kv : many;
        const over = first - 9;
        const under = first + (lines.length - 1) * 16 + 9;
        if (b.h / many > 3 && b.w > 6) {
          out.push({
            key: `${k}-cut${shown}/${many}`,
            tag: 'path',
            class: 'parted',
            d: joined(range(shown - 1), (i) => {
              const y = px(b.y + (b.h * (i + 1)) / many);
              const clear = y < over || y > under;
              const l = clear ? mid : max(b.x, mid - half);
              const h = clear ? mid : min(b.x + b.w, mid + half);
              return `M${px(b.x)} ${y}H${px(l)}M${px(h)} ${y}H${px(b.x + b.w)}`;
            }),
          });
        }
        lines.forEach(([t, c], i) =>
          out.push({
            key: `${k}-line${i}`,
            tag: 'text',
            class: `${c} ${k === 'scores' ? 'onbar' : ''}`,
            x: mid,
            y: first + i * 16,
            'text-anchor': 'middle',
            words: t,
          }),
        );
      }
    }
    return out;
  }
  /** The residual stream, and what each row takes from it and adds to it. */
  function stream(view, g) {
    const { p, solved, words } = view;
    const x = 10;
    const kind = p.kind;
    const out = [
      { key: 'stream', tag: 'path', class: 'stream', d: `M${x} ${g.top - 20}V${g.bottom + 22}` },
      { key: 'end', tag: 'path', class: 'tip', d: `M${x - 7} ${g.bottom + 20}h14l-7 10z` },
    ];
    g.rows.forEach((r, i) => {
      const into = px(r.y + min(r.h / 2, 20));
      const low = px(r.y + r.h);
      const back = px(r.y + r.h + 12);
      const text = i ? (p.E > 1 ? words.experts : words.mlp) : words.attention;
      const part = r.names.reduce((n, k) => n + solved.now[k], 0) / solved.sum;
      out.push(
        { key: `in${i}`, tag: 'path', class: 'wire', d: `M${x + 3} ${into}H${g.x0 - 8}` },
        { key: `into${i}`, tag: 'path', class: 'arrow', d: `M${g.x0 - 9} ${into - 4}l7 4l-7 4z` },
        { key: `out${i}`, tag: 'path', class: 'wire', d: `M${g.x1 - 20} ${low + 1}V${back}H${x + 10}` },
        { key: `add${i}`, tag: 'circle', class: 'sum', cx: x, cy: back, r: 7.5 },
        { key: `plus${i}`, tag: 'path', class: 'wire', d: `M${x - 4} ${back}h8M${x} ${back - 4}v8` },
        {
          key: `row${i}`,
          tag: 'text',
          class: 'name cover',
          x: g.x0 + 14,
          y: back,
          words: kind === 'kv_cache' ? text : `${text} ${percent(part)}`,
        },
      );
    });
    const lane = g.rows[0].y + g.rows[0].h + 12;
    const s = g.at.scores;
    if (kind === 'flops') {
      out.push({
        key: 'mask',
        tag: 'text',
        class: 'soft cover',
        x: g.x1 - 34,
        y: lane,
        'text-anchor': 'end',
        words: (g.narrow ? words.masksShort : words.masks)[p.causal],
      });
    } else if (!s.on && kind !== 'kv_cache') {
      out.push({
        key: 'why',
        tag: 'text',
        class: 'soft cover',
        ...(g.narrow
          ? { x: g.x1 - 34, 'text-anchor': 'end' }
          : { x: clamp(s.x, g.x0 + 180, g.x1 - 90), 'text-anchor': 'middle' }),
        y: lane,
        words: (g.narrow ? words.scorelessShort : words.scoreless)[kind],
      });
    }
    if (kind === 'kv_cache') {
      out.push(
        {
          key: 'saved',
          tag: 'text',
          class: 'soft cover',
          x: g.x1 - 34,
          y: lane,
          'text-anchor': 'end',
          words:
            p.n_kv === p.n_q ? words.unshared : g.narrow ? words.saved : worded(words.shared, count(p.n_q / p.n_kv)),
        },
        {
          key: 'none',
          tag: 'text',
          class: 'soft cover',
          x: g.x0 + 74,
          y: g.rows[1].y + g.rows[1].h / 2,
          words: words.nothing,
        },
      );
    }
    return out;
  }
  /** Query heads, and the heads of keys and values that they share. */
  function heads({ p, words }, g) {
    const { x0, step } = g;
    const group = p.n_q / p.n_kv;
    const w = min(7, step * 0.72);
    const kw = min(20, group * step * 0.7);
    const mids = range(p.n_q).map((i) => px(x0 + (i + 0.5) * step));
    const homes = range(p.n_q).map((i) => px(x0 + (floor(i / group) + 0.5) * group * step));
    const right = x0 + g.heads + 10;
    return [
      { key: 'ties', tag: 'path', class: 'tie', d: joined(mids, (x, i) => `M${x} 12L${homes[i]} 24`) },
      {
        key: 'queries',
        tag: 'path',
        class: 'asks',
        d: joined(mids, (x) => `M${px(x - w / 2)} 4h${px(w)}v8h${px(-w)}z`),
      },
      {
        key: 'keys',
        tag: 'path',
        class: 'answers',
        d: joined(homes, (x) => `M${px(x - kw / 2)} 24h${px(kw)}v9h${px(-kw)}z`),
      },
      { key: 'queries-of', tag: 'text', class: 'soft', x: right, y: 8, words: worded(words.queries, count(p.n_q)) },
      {
        key: 'keys-of',
        tag: 'text',
        class: 'strong',
        x: right,
        y: 29,
        words: worded(g.narrow ? words.keysShort : words.keys, count(p.n_kv)),
      },
    ];
  }
  function axes(view, g) {
    const { p, solved, words, data, width } = view;
    const kind = p.kind;
    const out = [];
    const y = g.axis;
    const at = g.tx(p.S);
    const hue = HUE[kind];
    if (kind !== 'kv_cache') {
      const end = g.ex(p.E) - 10;
      const w = (end - g.x0) / p.E;
      for (const [key, from, to, cls] of [
        ['active', 0, solved.k, 'block'],
        ['idle', solved.k, p.E, 'spare'],
      ]) {
        out.push({
          key,
          tag: 'path',
          class: `${cls} ${hue}`,
          style: '--k:52%',
          d:
            joined(
              range(to - from),
              (i) => `M${px(g.x0 + (from + i) * w)} ${g.strip - 6}h${px(max(1, w - 1.5))}v12h${px(-max(1, w - 1.5))}z`,
            ) || 'M0 0',
        });
      }
      out.push({
        key: 'experts',
        tag: 'text',
        class: 'strong',
        x: g.ex(p.E) + 13,
        y: g.strip,
        words: p.E > 1 ? worded(g.narrow ? words.activeShort : words.active, count(p.E), count(solved.k)) : words.dense,
      });
    }
    out.push({ key: 'axis', tag: 'path', class: 'wire', d: `M${g.x0} ${y}H${g.x1 - 10}` });
    for (const [S, label] of data.ticks) {
      out.push({ key: `tick${S}`, tag: 'path', class: 'wire', d: `M${px(g.tx(S))} ${y}v5` });
      if (abs(g.tx(S) - clamp(at, g.x0 + 40, g.x1 - 46)) > 72) {
        out.push({
          key: `tick${S}-label`,
          tag: 'text',
          class: 'soft',
          x: clamp(g.tx(S), 0, g.x1 - 18),
          y: y + 17,
          'text-anchor': 'middle',
          words: label,
        });
      }
    }
    out.push({
      key: 'tokens',
      tag: 'text',
      class: 'strong',
      x: clamp(at, g.x0 + 40, g.x1 - 52),
      y: y + 17,
      'text-anchor': 'middle',
      words: worded(words.tokens, count(p.S)),
    });
    const [mark, text] =
      kind === 'flops'
        ? [solved.cross, worded(words.cross, show(solved.cross / p.D, ONE, false, 2))]
        : kind === 'parameters'
          ? [0, '']
          : [solved.fills, worded(words.fills, data.memory)];
    const [lo, hi] = data.tokens;
    if (mark > lo && mark < hi) {
      const x = g.tx(mark);
      const left = x > width / 2;
      out.push(
        { key: `mark-${kind}`, tag: 'path', class: 'cross', d: `M${px(x)} ${y - 30}V${y}` },
        {
          key: `mark-${kind}-text`,
          tag: 'text',
          class: 'soft',
          x: x + (left ? -5 : 5),
          y: y - 24,
          'text-anchor': left ? 'end' : 'start',
          words: text,
        },
      );
    } else if (kind === 'parameters') {
      out.push({
        key: 'mark-none',
        tag: 'text',
        class: 'soft',
        x: g.x1 - 10,
        y: y - 20,
        'text-anchor': 'end',
        words: words.free,
      });
    }
    return out;
  }
  /** This layer among the others, the embedding and the output head in proportion; a square of a round amount. */
  function model(view, g) {
    const { p, solved, words } = view;
    const y = g.model;
    const wide = g.x1 - g.x0;
    const hue = HUE[p.kind];
    const e = (wide * solved.embedding) / solved.model;
    const h = (wide * solved.head) / solved.model;
    const l = wide - e - h;
    const mid = y + 30;
    const share = percent((p.L * solved.sum) / solved.model);
    const said = p.L > 1 ? worded(words.layers, count(p.L), share) : worded(words.onlyLayer, share);
    const half = said.length * 3.1;
    const part = (key, x, w, k) => ({
      key,
      tag: 'rect',
      class: `block ${hue}`,
      style: `--k:${k}%`,
      x,
      y,
      width: max(0, w),
      height: 16,
    });
    const out = [
      part('embedding', g.x0, e - 1, 20),
      part('layers', g.x0 + e, l, 40),
      part('head', g.x0 + e + l + 1, h - 1, 20),
      {
        key: `layers-cut${p.L}`,
        tag: 'path',
        class: 'parted',
        d: joined(range(p.L - 1), (i) => `M${px(g.x0 + e + (l * (i + 1)) / p.L)} ${y}v16`),
      },
      part('this', g.x0 + e, l / p.L, 100),
      {
        key: 'layers-of',
        tag: 'text',
        class: 'name',
        x: clamp(g.x0 + e + l / 2, g.x0 + (e > 18 ? 68 : 0) + half, g.x1 - (h > 14 ? 36 : 0) - half),
        y: mid,
        'text-anchor': 'middle',
        words: said,
      },
    ];
    if (e > 18) out.push({ key: 'embedding-of', tag: 'text', class: 'soft', x: g.x0, y: mid, words: words.embedding });
    if (h > 14) {
      out.push({
        key: 'head-of',
        tag: 'text',
        class: 'soft',
        x: g.x1,
        y: mid,
        'text-anchor': 'end',
        words: words.head,
      });
    }
    if (g.narrow) return out;
    const round10 = 10 ** floor(Math.log10(g.worth * 900));
    const unit = round10 / g.worth < 144 ? 5 * round10 : round10;
    const side = Math.sqrt(unit / g.worth);
    out.push(
      {
        key: 'scale',
        tag: 'rect',
        class: `block ${hue}`,
        style: '--k:52%',
        x: g.x1 - side,
        y: 44 - side,
        width: side,
        height: side,
      },
      {
        key: 'scale-of',
        tag: 'text',
        class: 'soft',
        x: g.x1 - side - 7,
        y: 34,
        'text-anchor': 'end',
        words: view.spec.units[p.kind]
          ? show(unit, view.spec.units[p.kind], true)
          : unit < 1e6
            ? count(unit)
            : worded(words.million, show(unit / 1e6, ONE, true)),
      },
    );
    return out;
  }

  figures.layer = {
    solve(p, call, data) {
      const k = p.E > 1 ? min(data.k, p.E) : 1;
      const q = { ...p, k };
      const names = Object.values(data.rows)
        .flat()
        .filter((n) => p.E > 1 || n !== 'router');
      const of = (kind, name, inputs = q) =>
        data.blocks[kind].includes(name)
          ? call(`${kind}_${name}${name === 'scores' && p.causal ? '_causal' : ''}`, inputs)
          : 0;
      const all = fromEntries(data.kinds.map((kind) => [kind, fromEntries(names.map((n) => [n, of(kind, n)]))]));
      const now = all[p.kind];
      // the cache is drawn within what it would be if no two query heads shared a key
      const drawn =
        p.kind === 'kv_cache' ? fromEntries(names.map((n) => [n, of(p.kind, n, { ...q, n_kv: p.n_q })])) : now;
      const layer = sum(now);
      const embedding = of(p.kind, 'embedding');
      const head = of(p.kind, 'head');
      const whole = p.L * layer + embedding + head;
      const cross = call(`cross_${p.causal ? 'causal' : 'full'}`, {
        ...q,
        P_layer: call(p.E > 1 ? 'routed' : 'dense', q),
      });
      return {
        k,
        all,
        now,
        drawn,
        full: sum(drawn),
        sum: layer,
        embedding,
        head,
        model: whole,
        cross,
        fills: call('fills', { S_level: data.hbm, V_tok: whole }),
      };
    },
    fit: (p) => ({
      ...fromEntries(entries(p).map(([k, v]) => [k, real(v) ? round(v) : v])),
      E: doubled(p.E),
      n_kv: min(doubled(p.n_kv), round(p.n_q)),
    }),
    act: ({ p }) => ({ causal: 1 - p.causal }),
    height: (view) => place(view).model + 42,
    draw(view) {
      const g = place(view);
      return [stream(view, g), blocks(view, g), heads(view, g), axes(view, g), model(view, g)];
    },
    handles(view) {
      const g = place(view);
      const { p, words, data } = view;
      const [lo, hi] = data.tokens;
      return [
        {
          id: 'n_kv',
          label: words.handles.n_kv,
          x: g.x0 + g.heads - (g.step * p.n_q) / p.n_kv,
          y: 44,
          lo: 1,
          hi: p.n_q,
          step: p.n_kv / 2,
          leap: p.n_kv,
          grid: 1,
          value: p.n_kv,
          words: worded(words.keys, count(p.n_kv)),
        },
        p.kind !== 'kv_cache' && {
          id: 'E',
          label: words.handles.E,
          x: g.ex(p.E),
          y: g.strip,
          lo: 1,
          hi: 2 ** OCTAVES,
          step: p.E / 2,
          leap: p.E,
          grid: 1,
          value: p.E,
          words: count(p.E),
        },
        {
          id: 'S',
          label: words.handles.S,
          x: g.tx(p.S),
          y: g.axis,
          lo,
          hi,
          step: quarter(p.S),
          leap: p.S,
          grid: lo / 4,
          value: p.S,
          words: worded(words.tokens, count(p.S)),
        },
      ].filter(Boolean);
    },
    pull(view, id, x) {
      const g = place(view);
      const { p } = view;
      if (id === 'S') {
        const S = g.tokens(x);
        const q = quarter(S);
        return round(S / q) * q;
      }
      if (id === 'E') return doubled(g.experts(x));
      return doubled(p.n_q / clamp((g.x0 + g.heads - x) / g.step, 1, p.n_q));
    },
    hover(view, el) {
      const k = el.dataset.told;
      const { solved, words } = view;
      if (!(k in solved.now)) return '';
      return `<b>${named(view, k)} ${amount(view, solved.now[k])}</b>${worded(words.told, shape(view, k).join(' '), percent(solved.now[k] / solved.sum))}`;
    },
    sentence(view) {
      const { p, solved, words, data } = view;
      const all = (v) => amount(view, v);
      const text = words.sentence[p.kind];
      const now = solved.now;
      const mlp = now.gate + now.up + now.down;
      const first = worded(text.first, all(solved.sum), all(solved.model));
      const S = count(p.S);
      const then = {
        parameters: () =>
          p.E > 1
            ? worded(
                text.experts,
                count(solved.k),
                count(p.E),
                percent((solved.sum - mlp * (1 - solved.k / p.E)) / solved.sum),
              )
            : worded(text.dense, percent(mlp / solved.sum)),
        flops: () =>
          p.S > solved.cross
            ? worded(
                text.over,
                percent(now.scores / solved.sum),
                show(now.scores / (solved.sum - now.scores), ONE, false, 2),
              )
            : worded(
                text.under,
                percent(now.scores / solved.sum),
                count(solved.cross),
                show(solved.cross / p.D, ONE, false, 2),
              ),
        activations: () =>
          worded(
            text.then,
            percent((now.norm_1 + now.norm_2) / solved.sum),
            S,
            show(p.L * solved.sum * p.S, view.spec.units.activations),
          ),
        kv_cache: () =>
          worded(text.then, S, show(solved.model * p.S, view.spec.units.kv_cache)) +
          (p.n_kv < p.n_q ? worded(text.unshared, show(p.L * solved.full * p.S, view.spec.units.kv_cache)) : ''),
      }[p.kind]();
      return first + then;
    },
    table(view) {
      const { solved, words, data } = view;
      const sizes = (k) =>
        data.kinds.map((kind) => (solved.all[kind][k] ? amount(view, solved.all[kind][k], kind) : 0));
      return [
        words.heads,
        ...keys(solved.now).map((k) => [
          words.names[k],
          k === 'scores' ? '' : shape(view, k, 'parameters').join(' '),
          ...sizes(k),
        ]),
        [words.layer, '', ...data.kinds.map((kind) => amount(view, sum(solved.all[kind]), kind))],
      ];
    },
    numbers: ({ p, solved }) => ({
      ...solved,
      stored: p.L * solved.sum * p.S,
      cached: solved.model * p.S,
      unshared: p.L * solved.full * p.S,
    }),
    call({ p, solved, words }) {
      const dims = ['D', 'F', 'n_q', 'n_kv', 'd_head'].map((k) => `${k}=${p[k]}`);
      const more = [
        p.E > 1 && `E=${p.E}, k=${solved.k}`,
        p.kind === 'flops' && `S=${p.S}`,
        p.kind === 'flops' && p.causal && words.causal,
      ].filter(Boolean);
      return worded(words.call, p.kind, [...dims, ...more].join(', '));
    },
  };
}
