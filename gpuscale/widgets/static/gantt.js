/* Gantt: the timetable of a pipeline. Rows are ranks, time runs to the right and is folded where it is long; cells are
   slots [rank, from, to, kind, microbatch, part], all in steps of the player. Gray is waiting. At the right of each
   row stand the activations that the rank holds, in microbatches of its share of the model, and a mark at the most. */
painters.gantt = (svg, w, t, { runs, least, per, steps }, id, forward) => {
  const side = w > 480, left = side ? 58 : 22, right = side ? 92 : 52, room = w - left - right, high = 20, pitch = 24;
  const bands = clamp(ceil(steps * 11 / least / room), 1, 4), span = ceil(steps / bands), u = room / span;
  const scale = (right - (side ? 58 : 34)) / max(...runs.flatMap((r) => r.peaks)), near = max(0, ceil(t / span) - 1), family = getComputedStyle(svg).fontFamily;
  const ticks = [1, 2, 5, 10, 20, 50, 100].find((n) => n * per * u > 30) ?? 200, several = runs.length > 1;
  let out = `<pattern class="compute" id="${id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="curve" d="M0 0V5"/></pattern>`, y = 0;
  for (const { title, text: counted, ranks, end, slots, waits, held, peaks, part: whole } of runs) {
    if (several) {
      const apart = max(...counted.map((c) => wide(title + c, 1, family))) + 60 > w;  // as the widest: nothing jumps
      out += text('strong', 0, y + 8, escape(title)) + text('small', apart ? 0 : w, y + (apart ? 26 : 8), counted[t], apart ? 'start' : 'end');
      y += apart ? 36 : 20;
    }
    const tall = ranks * pitch + 30, shown = ceil(end / span), row = (k, r) => y + 18 + k * tall + r * pitch;
    const put = (r, a, b, cls, more = '', word = '', tone = '') => {
      for (const k of range(shown)) {
        const lo = max(a, k * span), hi = min(b, k * span + span), x = left + (lo - k * span) * u;
        if (hi <= lo) continue;
        out += `<rect class="${cls}" x="${px(x + .75)}" y="${row(k, r)}" width="${px((hi - lo) * u - 1.5)}" height="${high}" ${more}/>`;
        if (hi - lo === b - a && wide(word, 1, family) < (b - a) * u - 1) out += text(tone, x + (b - a) * u / 2, row(k, r) + high / 2 + .5, word, 'middle');
      }
    };
    out += text('small', w - right + 10, y + 8, HELD) + (side ? text('small', w, y + 8, MOST, 'end') : '');
    for (const r of range(ranks)) {
      for (const k of range(shown)) out += text('', 0, row(k, r) + high / 2, side ? worded(RANK, r) : `${r}`);
      const x = w - right + 10, now = parseInt(held[r][t] ?? 0, 36) * whole, mark = x + peaks[r] * scale;
      out += `<g class="memory"><rect class="active" fill-opacity=".45" x="${x}" y="${row(0, r)}" width="${px(now * scale)}" height="${high}"/></g><path class="issue" d="M${px(mark)} ${row(0, r) - 1}v${high + 2}"/>`;
      out += text('strong', side ? mark + 4 : w, row(0, r) + high / 2 + .5, `${+now.toFixed(1)}`, side ? 'start' : 'end') + (side ? text('small', w, row(0, r) + high / 2, `${+peaks[r].toFixed(1)}`, 'end') : '');
    }
    out += '<g class="wait">';
    for (const [r, a, b] of waits) put(r, a, min(b, t), 'active', 'fill-opacity=".4"');
    out += '</g><g class="compute">';
    for (const [r, a, b, kind, m, part] of slots) {
      const done = b <= t, on = a < t && t <= b, fill = kind === 'W' ? `style="fill:url(#${id})"` : `fill-opacity="${(kind === 'B' ? part ? .5 : 1 : part ? .26 : .12) * (done ? 1 : .5)}"`;
      if (a < t) put(r, a, min(b, t), `active ${forward && on ? 'fresh' : ''}`, fill);
      put(r, a, b, on ? 'came' : a < t ? 'curve thin' : 'slot', '', `${m}`, a >= t ? 'small' : done && kind === 'B' && !part ? 'active' : 'name');
      if (part && (b - a) * u > 9) for (const k of range(shown)) if (a >= k * span && b <= k * span + span) out += `<path class="issue" d="M${px(left + ((a + b) / 2 - k * span) * u - 5)} ${row(k, r) + high - 3}h10"/>`;
    }
    out += '</g>';
    for (const k of range(shown)) {
      const foot = row(k, ranks), from = ceil(k * span / per / ticks) * ticks;
      out += `<path class="spine" d="M${left} ${foot}H${px(left + (min(end, k * span + span) - k * span) * u)}"/>`;
      for (let v = from; v * per <= min(end, k * span + span); v += ticks) out += text('small', left + (v * per - k * span) * u, foot + 10, `${v}`, 'middle');
    }
    if (t <= end) out += `<path class="issue" d="M${px(left + (t - near * span) * u)} ${row(near, 0) - 4}v${ranks * pitch + 4}"/>`;
    y += shown * tall + (several ? 14 : 0) + 4;
  }
  ink(svg, w, y, out);
};
