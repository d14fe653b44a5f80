/* Below the lanes: the time of each step, the time to first token, the queue of the whole run, the rate. */
/** The time of each step, by what takes it. */
function stepTimes(view, L) {
  const { p, solved: f, data, words, width, call } = view;
  const { t, small, X, first, last, right, strip, stripH, sy } = L;
  const out = [];
  const { steps } = f.run;
  const { given } = data.machines[p.machine];
  const kinds = { weights: '', caches: '', math: '', comm: '', cut: '' };
  const base = strip + stripH;
  const tall = (T) => (stripH * T) / f.peak;
  const now = steps[min(steps.length - 1, stepAt(steps, t))];
  for (const s of steps.slice(first, last)) {
    const x = max(0, X(s.from));
    const w = max(0.5, min(right, X(s.to)) - x - (X(s.to) - X(s.from) > 3 ? 0.8 : 0));
    const caches = call('read', { ...given, V_read: call('kv', { ...given, S: s.read }) });
    const comm = call('comm', { ...given, B_seq: s.batch, S_chunk: s.tokens });
    let y = base;
    if (s.T > f.peak * 1.08) {
      kinds.cut += `M${px(x)} ${px(strip + 3)}h${px(w + 1)}M${px(x)} ${px(strip + 7)}h${px(w + 1)}`;
    }
    for (const [key, T] of [
      ['weights', f.weights],
      ['caches', caches],
      ['math', s.T - f.weights - caches - comm],
      ['comm', comm],
    ]) {
      const h = min(tall(max(0, T)), y - strip + 6);
      if (h > 0.05) {
        kinds[key] += box(x, y - h, w, h);
        y -= h;
      }
    }
  }
  for (const part of data.ticks) {
    const y = sy(part * f.peak);
    const k = round(part * 16);
    out.push(
      path(`s${k}`, `M0 ${px(y)}H${right}`, 'grid'),
      label(`st${k}`, right + 5, y + 4, seconds(view, part * f.peak, true)),
    );
  }
  out.push(
    path('sweights', kinds.weights, 'memory solid'),
    path('scaches', kinds.caches, 'memory half'),
    path('smath', kinds.math, 'compute solid'),
    path('scomm', kinds.comm, 'scaleup solid'),
    path('scut', kinds.cut, 'cut'),
    label('steps', 0, strip - 18, words.steps, 'strong'),
    !small &&
      label(
        'stepnow',
        152,
        strip - 18,
        now && now.from <= t ? worded(words.now, seconds(view, now.T), count(now.batch)) : words.idle,
      ),
  );
  if (p.kind === 'continuous') {
    const y = L.chunkY(p, f);
    const x = right + (small ? 50 : 60);
    out.push(
      path('chunk', `M0 ${px(y)}H${px(right)}M${px(x - 14)} ${px(y)}H${px(x)}`, 'pull dashed'),
      label(
        'chunkname',
        small ? width : x + 12,
        small ? strip - 24 : y - 2,
        words.chunk,
        'small tip',
        small ? 'end' : 'start',
      ),
      !small && label('chunksize', x + 12, y + 13, p.chunk >= data.whole ? words.off : count(p.chunk), 'small tip'),
    );
  }
  return out;
}
/** The time to first token, at the time of the first token. */
function firstTokens(view, { t, small, X, right, top, ttft, ttftH, ty, requests }) {
  const { solved: f, data, words, width } = view;
  const out = [];
  const a = tally(f.run, t);
  const late = real(a.ttft95) && width > 300 && seconds(view, a.ttft95);
  data.decades.forEach((v, k) =>
    out.push(
      path(`f${v}`, `M0 ${px(ty(v))}H${right}`, 'grid'),
      k % 2 && label(`ft${v}`, right + 5, ty(v) + 4, seconds(view, v, true)),
    ),
  );
  let dots = '';
  for (const r of requests) {
    if (r.first && r.first <= t && X(r.first) > 0) {
      dots += `M${px(X(r.first) - 2)} ${px(ty(r.first - r.t))}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`;
    }
  }
  out.push(
    path('dots', dots, 'dots'),
    label('ttft', 0, ttft - 12, words.ttft, 'strong'),
    label(
      'ttftnow',
      right - 4,
      ttft - 12,
      late ? (small ? worded(words.p95, late) : worded(words.percentiles, seconds(view, a.ttft), late)) : '',
      'small soft',
      'end',
    ),
    path('now', `M${px(right)} ${top - 4}V${ttft + ttftH}`, 'now-line'),
    label('nowname', right - 5, ttft + ttftH + 15, worded(words.at, seconds(view, t)), 'small strong', 'end'),
  );
  return out;
}
/** The queue of the whole run. */
function queued(view, { t, right, over, overH }) {
  const { solved: f, data, words } = view;
  const far = max(20, f.run.longest);
  const at = (u) => (u / data.span) * right;
  const line = `M0 ${over + overH}${joined(f.run.queue, (n, k) => `L${px((k / QUEUE) * right)} ${px(over + overH * (1 - n / far))}`)}`;
  return [
    path('queuearea', `${line}L${px(right)} ${over + overH}z`, 'wait area'),
    path('queuebase', `M0 ${over + overH}H${right}`, 'spine'),
    label('queued', 0, over - 10, words.queued, 'strong'),
    label('queuemost', right + 5, over + 6, count(far)),
    label('queuenone', right + 5, over + overH + 4, count(0)),
    label('queueend', right, over + overH + 14, seconds(view, data.span, true), 'small soft', 'end'),
    path('queuenow', `M${px(at(t))} ${over - 4}v${overH + 8}`, 'now-line'),
  ];
}
/** The rate, and the largest ones. */
function rates({ p, solved: f, words, width, hatch }, { rail, R, left, end }) {
  const other = KINDS_OF.find((k) => k !== p.kind);
  const x = R(f.limits[p.kind]);
  const z = R(f.limits[other]);
  const lx = clamp(x, 60, width - 60);
  const y = rail + 24;
  const limit = (kind) => worded(words.kindlimit, words.kinds[kind], show(f.limits[kind]));
  const anchor = (at, margin) => (at > width - margin ? 'end' : at < 70 ? 'start' : 'middle');
  return [
    label('rates', 0, rail - 24, words.rates, 'strong'),
    path('grows', box(x, rail - 6, max(0, end - x), 12), '', { fill: hatch }),
    path('rail', `M${left} ${rail}H${end}`, 'rail'),
    path('limit', `M${px(x)} ${rail - 9}v18`, 'now-line'),
    path('otherlimit', `M${px(z)} ${rail - 7}v14`, 'spine'),
    [1, 10, 100].map((v) => [
      path(`r${v}`, `M${px(R(v))} ${rail}v6`, 'spine'),
      abs(R(v) - lx) > 92 &&
        abs(R(v) - z) > 92 &&
        label(`rt${v}`, R(v), y, count(v), 'small soft', v === 100 ? 'end' : 'middle'),
    ]),
    label('limitname', x > width - 110 ? min(x + 4, width) : x, y, limit(p.kind), 'small strong', anchor(x, 110)),
    abs(x - z) > 150 && label('othername', z, y, limit(other), 'small soft', anchor(z, 90)),
    label('ratename', width, rail - 24, worded(words.rate, show(p.rate)), 'small tip', 'end'),
  ];
}
