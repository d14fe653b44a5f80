/* One request, the lanes of the slots with the queue below them, and memory with what fills it. */
/** One request, on average. */
function average({ p, words }, L) {
  return [
    label('one', 0, 14, L.small ? words.request : words.average, 'strong'),
    path('prompt', box(L.inX(p.S_in), 26, L.mid - L.inX(p.S_in), 15), 'compute solid'),
    path('answer', box(L.mid + 1, 26, L.outX(p.S_out) - L.mid - 1, 15), 'memory pale'),
    path(
      'tokens',
      joined(range(max(1, floor((L.outX(p.S_out) - L.mid) / 4))), (i) => `M${px(L.mid + 3.5 + 4 * i)} 26v15`),
      'memory tick',
    ),
    label('promptname', L.mid - 6, 58, worded(words.prompt, count(p.S_in)), 'compute small name', 'end'),
    label('answername', L.mid + 6, 58, worded(words.answer, count(p.S_out)), 'memory small name'),
  ];
}
/** A lane for each slot; below them the queue. */
function lanes(view, { t, small, right, top, high, slotsH, X, from, first, last, requests }) {
  const { p, solved: f, data, words, hatch } = view;
  const { steps } = f.run;
  const out = [];
  const pitch = slotsH / p.slots;
  const bar = max(0.6, pitch - (pitch > 3 ? 1 : 0.2));
  const lane = (k) => top + k * pitch;
  const qTop = top + slotsH + 28;
  const qRows = floor((top + high - qTop) / 7);
  out.push({ key: 'lanes', tag: 'rect', x: 0, y: top, width: right, height: slotsH, class: 'well' });
  const gone = { pre: '', dec: '', kept: '' };
  const waiting = requests.filter((r) => partAt(r, t)?.kind === 'wait').length;
  const bars = [];
  const glides = p.slots <= 64;
  for (const r of requests) {
    r.parts.forEach((s, k) => {
      if (s.to < from || s.from > t) return;
      const a = max(0, X(s.from));
      const b = min(right, X(min(s.to, t)));
      const w = max(0.3, b - a);
      if (s.kind === 'wait') {
        if (s.row < qRows) {
          bars.push(
            {
              key: `wait${r.i}.${k}`,
              tag: 'rect',
              x: a,
              y: qTop + 7 * s.row,
              width: w,
              height: 5,
              fill: hatch,
              told: `req ${r.i}`,
            },
            X(s.from) > 0 && {
              key: `came${r.i}.${k}`,
              tag: 'rect',
              x: X(s.from),
              y: qTop + 7 * s.row - 1,
              width: s.again ? 3 : 1.5,
              height: 7,
              class: s.again ? 'evicted' : 'wait solid',
            },
          );
        }
        return;
      }
      if (!glides) {
        gone[s.kind] += box(a, lane(s.row), w, bar);
        return;
      }
      bars.push({
        key: `${s.kind}${r.i}.${k}`,
        tag: 'rect',
        x: a,
        y: lane(s.row),
        width: s.kind === 'pre' ? max(w, 1.5) : w,
        height: bar,
        ...(s.kind === 'kept' ? { fill: hatch } : { class: s.kind === 'pre' ? 'compute solid' : 'memory half' }),
        told: `req ${r.i}`,
      });
      if (r.parts[k + 1]?.again && s.to <= t) {
        bars.push({
          key: `out${r.i}.${k}`,
          tag: 'rect',
          x: b - 1.5,
          y: lane(s.row),
          width: 3,
          height: max(2, bar),
          class: 'evicted',
        });
      }
    });
  }
  if (!glides) {
    out.push(
      path('dec', gone.dec, 'memory half'),
      path('pre', gone.pre, 'compute solid'),
      path('kept', gone.kept, '', { fill: hatch }),
    );
  }
  out.push(bars);
  const wide = (right / data.window) * f.one;
  if (wide > 1.6) {
    out.push(
      path(
        'beats',
        joined(range(last - first), (i) => {
          const x = X(steps[first + i].to);
          return x > 0 && x <= right ? `M${px(x)} ${px(top)}V${px(top + slotsH)}` : '';
        }),
        'beats',
      ),
    );
  }
  out.push(
    path('rule', `M0 ${px(top + slotsH + 4)}H${px(right)}`, 'pull'),
    label('slots', 20, top + slotsH + 19, worded(words.slots, p.slots), 'strong'),
    label(
      'queue',
      small ? 90 : 96,
      top + slotsH + 19,
      waiting ? worded(waiting > 1 ? words.waiting : words.waits, count(waiting)) : words.empty,
      'small soft',
    ),
  );
  return out;
}
/** Tokens of a request whose keys and values are held, or have a place kept for them. */
function tokensOf(r, s, step, p) {
  if (p.kind === 'static') return r.prompt + r.answer;
  return s.kind === 'pre' ? s.base : s.base + step - s.step;
}
/** Memory, true to scale. */
function memory({ p, solved: f, data, words, width, hatch, call }, L) {
  const { t, small, top, high, last, requests } = L;
  const machine = data.machines[p.machine];
  const out = [];
  const per = call('block', { ...machine.given, S_page: data.page });
  const all = machine.memory;
  const Y = (V) => top + high * (1 - V / all);
  const held = { even: '', odd: '' };
  const live = requests
    .map((r) => [r, partAt(r, t)])
    .filter(([, s]) => s && s.kind !== 'wait')
    .sort((a, b) => a[1].row - b[1].row);
  let y = Y(machine.resident);
  let used = 0;
  const budget = Y(p.f * all);
  out.push(
    path('hbm', box(L.mem, top, L.memW, high), 'well'),
    path('unused', box(L.mem, top, L.memW, budget - top), '', { fill: hatch }),
    path('weights', box(L.mem, y, L.memW, top + high - y), 'memory solid'),
  );
  live.forEach(([r, s], k) => {
    const n = ceil(tokensOf(r, s, last - 1, p) / data.page);
    const h = (n * per * high) / all;
    used += n;
    y -= h;
    held[k % 2 ? 'odd' : 'even'] += box(L.mem, y, L.memW, max(0.2, h - (h > 3 ? 1 : 0)));
  });
  out.push(
    path('even', held.even, 'memory half'),
    path('odd', held.odd, 'memory half odd'),
    path('frame', box(L.mem + 0.5, top, L.memW - 1, high), 'outline'),
    path('budget', `M${L.mem - 4} ${px(budget)}h${L.memW + 4}`, 'pull'),
  );
  const fullness = f.pool ? used / f.pool : 0;
  const low = budget + (small ? 22 : 36);
  const ky = clamp(y - (small ? 6 : 2), low, max(low, Y(machine.resident) - (small ? 6 : 18)));
  out.push(
    label(
      'memory',
      small ? width : L.mem,
      top - 8,
      small ? machine.short : machine.words,
      'small strong',
      small ? 'end' : 'start',
    ),
    label(
      'weightsname',
      L.mem + L.memW / 2,
      (Y(machine.resident) + top + high) / 2 + 4,
      small ? '' : words.weights,
      'on small',
      'middle',
    ),
  );
  if (small) out.push(label('kv', L.mem + L.memW / 2, ky, percent(fullness), 'memory small name halo', 'middle'));
  else {
    out.push(
      label('kv', L.mem + L.memW + 6, ky, words.kv, 'memory small name'),
      label('kvfull', L.mem + L.memW + 6, ky + 15, worded(words.full, percent(fullness)), 'memory small name'),
      label('free', L.mem + L.memW + 12, budget + 1, words.usable, 'small tip'),
      label('freepart', L.mem + L.memW + 12, budget + 15, show(p.f, SHARE, true), 'small tip'),
    );
  }
  return out;
}
