/* Stepper: frames of a schedule, a meter the schedule feeds, controls as on a player. */
/** One painter for each kind of schedule, in a file of its own: (svg, width, t, spec, forward) draws frame t. */
const painters = {};

function stepper(root, spec) {
  const { steps, unit, rate = 900, meter, said } = spec, { signal, on, end } = life(), title = $('h3', root);
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
    painters[spec.kind](svg, body.clientWidth, t, spec, forward);
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
