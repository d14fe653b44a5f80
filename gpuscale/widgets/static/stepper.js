/* Stepper: frames of a schedule, a meter the schedule feeds, controls as on a player. */
/** One painter for each kind of schedule, in a file of its own: (svg, width, t, spec, id, forward) draws frame t. */
const painters = {
  /** Rows are issued instructions, time runs downwards; columns are the lanes of a warp. */
  lanes(svg, w, t, { rows, columns, cells }, id, forward) {
    const side = w > 480, family = getComputedStyle(svg).fontFamily;
    const left = side ? clamp(max(...rows.map((r) => wide(`${r.label}  ${r.note ?? ''}`, 1, family))) + 22, 60, w * .45) : 0;
    const u = (w - left) / columns, gap = u > 12 ? 2 : 1, high = side ? 20 : 16, pitch = side ? 28 : 41;
    const x = (c) => left + c * u + gap / 2, y = (r) => 26 + r * pitch + (side ? 0 : 20), mid = (c) => x(c) + (u - gap) / 2;
    let out = `<pattern id="${id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" class="wait"><rect class="region" width="5" height="5"/><path class="curve" d="M0 0V5"/></pattern>`;
    if (side) out += text('small', 0, 8, ISSUED);
    for (const c of range(columns)) if (!(c % 8) || c === columns - 1) out += text('small', c ? mid(c) : x(0), 8, c ? `${c}` : worded(LANE, c), c ? c % 8 && !side ? 'end' : 'middle' : 'start');
    const issued = rows.map((_, r) => cells.find((c) => c[0] === r)?.[2]);
    rows.forEach((r, i) => {
      out += text(issued[i] === t ? 'strong' : '', 0, side ? y(i) + high / 2 : y(i) - 12, `${escape(r.label)}<tspan class="small" dx="8">${escape(r.note ?? '')}</tspan>`);
    });
    for (const [r, c, step, what, word] of cells) {
      const seen = step <= t;
      out += `<rect class="${seen ? what : 'slot'} ${forward && step === t ? 'fresh' : ''}" x="${px(x(c))}" y="${y(r)}" width="${px(u - gap)}" height="${high}" rx="2" ${seen && what === 'masked' ? `fill="url(#${id})"` : ''}/>`;
      if (seen && word && u > 15) out += text(what, mid(c), y(r) + high / 2 + 1, escape(word), 'middle');
    }
    const r = issued.indexOf(t);
    if (r >= 0) out += `<rect class="issue" x="${left - 2}" y="${y(r) - 3}" width="${w - left + 4}" height="${high + 6}" rx="5"/>`;
    ink(svg, w, y(rows.length - 1) + high + 6, `<g class="compute">${out}</g>`);
  },
};

function stepper(root, spec) {
  const { steps, unit, rate = 900, meter, said } = spec, { signal, on, end } = life(), id = fresh(), title = $('h3', root);
  let t = spec.at ?? 0, timer = 0;
  const mark = 100 * meter?.formula / meter?.full, side = mark > 50 ? `text-align:right;padding-right:${100 - mark}%` : `padding-left:${mark}%`;
  const body = make(`<div class="drawn"><div class="stage"><svg role="img"></svg></div>${said ? '<p class="told"></p>' : ''}
    ${meter ? `<div class="meter"><div class="row"><span>${meter.name}</span><b></b></div><div class="track" ${mark >= 0 || steps > 1 ? '' : 'hidden'}><i class="${meter.hue}"></i>${mark >= 0 ? `<s style="left:${mark}%"></s>` : ''}</div>
      <div class="note" style="${side}">${meter.label ?? ''}</div></div>` : ''}
    <p class="quiet" role="status"></p></div>`);
  const hand = player(steps, unit), svg = $('svg', body), told = $('.told', body);
  $('.quiet', body).before(hand.el);
  title.after(body); hide(root);
  function to(n, forward) {
    t = clamp(n, 0, steps);
    if (!body.clientWidth) return;
    const words = worded(STEPS_OF, unit, t, steps), counted = meter ? `: ${meter.name} ${meter.text[t]}` : '';
    painters[spec.kind](svg, body.clientWidth, t, spec, id, forward);
    svg.ariaLabel = `${title.textContent}, ${words}${counted}`;
    if (meter) {
      $('b', body).innerHTML = meter.text[t] + (meter.equal && t === steps ? ` <span class="mark" role="img" aria-label="${EQUALS}">✓</span>` : '');
      $('i', $('.track', body)).style.width = `${100 * meter.values[t] / meter.full}%`;
    }
    hand.stands(t, words);
    if (said) told.innerHTML = said[t];
    if (!timer) $('.quiet', body).textContent = words + counted + (said ? `. ${said[t]}` : '');
  }
  function run(on) {
    clearInterval(timer);
    timer = on && setInterval(() => { to(t + 1, true); if (t === steps) run(); }, rate);
    if (on && t === steps) to(0);
    hand.runs(on);
  }
  const act = { start: () => to(0), back: () => to(t - 1), next: () => to(t + 1, true) };
  hand.listen(on, body, (k) => { if (k === 'play') run(!timer); else { run(); act[k](); } }, (place) => { run(); to(place); });
  let seen = t;                                            // paper shows the step on which the card opens, which tells most
  on(globalThis, 'beforeprint', () => { seen = t; run(); to(spec.at ?? steps); });
  on(globalThis, 'afterprint', () => to(seen));
  fit(body, () => {
    if (said) tallest(told, said);
    to(t);
  }, signal);
  return { destroy() { end(); clearInterval(timer); } };
}
Object.assign(KINDS, { stepper });
globalThis.gpuscale.painters = painters;
globalThis.gpuscale.wake?.();
