/* The stage: what every figure has that a hand can take hold of. A figure works out what follows from its inputs, draws
   it, and says it; the stage has the inputs, the handles, the clock, the meter, the link, the call and the data.

   A figure is an object in `figures`:
     solve(p, call)       what follows from the inputs p: at least { total, marks }, the time of all and of each step [s];
                          call(name, p) is a formula of the library
     pace(p)              how long one second of computed time takes on the page [s]
     key(p)               what the drawing has to be built again for, when it changes
     build(view)          draws what stays, into view.scene
     bend(view)           moves what a handle moves
     frame(view, t)       draws the moment t
     handles(view)        [{ id, label, x, y, lo, hi, step, leap, value, words }]; the id 'share.1' is p.share[1]
     pull(view, id, x, y) the value that the handle has at a point
     meter(view, t)       { name, words, value, full, mark, label, hue, met }
     place(view, t)       where it stands, in words
     sentence(view)       the state as HTML
     table(view)          rows of the data, the first being the heads
     hover(view, el, t)   what a pointed-at element of the drawing says, as HTML
     call(view)           the call that gives this state in Python                                                     */
const figures = {};
const PLACES = 1000;      // of the scrubber
const SPEEDS = [1, 2, 4];
const GLIDE = 350;        // milliseconds that a value takes to its new place when no hand holds it
const lerp = (a, b, u) => a + (b - a) * u;
const eased = (u) => u < .5 ? 4 * u ** 3 : 1 - (2 - 2 * u) ** 3 / 2;

/** A clock: tick(seconds since the last frame) while it runs. It stops when nobody looks. */
function clock(tick) {
  let frame = 0, last = 0;
  function beat(now) {
    frame = requestAnimationFrame(beat);
    tick(min(.1, (now - last) / 1000));
    last = now;
  }
  return {
    get runs() { return frame > 0; },
    start() { last = performance.now(); frame ||= requestAnimationFrame(beat); },
    stop() { cancelAnimationFrame(frame); frame = 0; },
  };
}

/** The value of 'share.1' in p, and the same p with another one there. */
const inside = (p, id) => id.split('.').reduce((at, k) => at[k], p);
function replaced(p, id, value) {
  const [name, i] = id.split('.');
  return { ...p, [name]: i === undefined ? value : p[name].map((v, k) => k === +i ? value : v) };
}

function stage(root, spec, { notebook, onChange } = {}) {
  const figure = figures[spec.figure], { signal, on, end } = life(), uid = fresh(), heading = $('h3', root);
  const { params, choices, presets, start, python } = spec, calm = matchMedia('(prefers-reduced-motion: reduce)');
  const formulas = fromEntries(entries(spec.fns).map(([k, body]) => [k, Function('p', `const {${spec.names}}=p;${body}`)]));
  const call = (name, p) => formulas[name](p);

  const group = (k) => `<div class="row" role="group" aria-label="${choices[k].label}">${joined(choices[k].of, ([v, name]) => button(name, `data-choice="${k}" data-v="${v}"`))}</div>`;
  const body = make(`<div class="drawn"><div class="head">${joined(keys(choices), group)}</div>
    <div class="scene"><svg role="group"><g></g><g class="grips"></g></svg><div class="readout" hidden></div></div>
    <div class="meter"><div class="row"><span></span><b></b></div><div class="track"><i></i><s></s></div><div class="note"></div></div>
    <p class="state"></p><p class="quiet" role="status"></p>
    ${sliders(params, uid)}
    <div class="row">${joined(presets, ([name], i) => button(name, `data-preset="${i}"`))}${button(RESET, 'data-do="reset"')}<span class="note slowed"></span></div>
    <div class="call"><code></code>${button(COPY, 'data-copy="py"')}${notebook ? '' : button(COPY_LINK, 'data-copy="link"')}</div>
    <details class="numbers"><summary>${DATA}</summary><div class="scroll" tabindex="0" role="region" aria-label="${DATA}"></div></details></div>`);
  const [area, svg, readout, words, spoken, code, numbers] = ['.scene', 'svg', '.readout', '.state', '.quiet', '.call code', '.numbers'].map((q) => $(q, body));
  const [scene, grips] = $$('.scene > svg > g', body);
  const hand = player(PLACES, TIME, button(worded(SPEED, SPEEDS[0]), 'data-do="speed"'));
  area.after(hand.el); $('.head', body).prepend(heading); root.prepend(body); hide(root);

  /** What the figure sees. */
  const view = { spec, svg, scene, width: 0, height: 0, p: structuredClone(start), solved: null, call };
  let share = spec.at, speed = 0, built, pointed = null, held = null, speak = 0, hops = 0, gliding = 0;
  const now = () => share * view.solved.total;

  /** Draws the moment, and what is said of it. */
  function frame() {
    if (!view.width) return;
    const t = now(), m = figure.meter(view, t), bar = $('.meter', body);
    figure.frame(view, t);
    hand.stands(round(share * PLACES), figure.place(view, t));
    bar.className = `meter ${m.hue}`;
    $('span', bar).innerHTML = m.name;
    $('b', bar).innerHTML = m.words + (m.met ? ` <span class="mark" role="img" aria-label="${EQUALS}">✓</span>` : '');
    $('i', bar).style.width = `${100 * m.value / m.full}%`;
    $('s', bar).style.left = `${100 * m.mark / m.full}%`;
    $('.note', bar).innerHTML = m.label;
    if (pointed) tell();
  }
  /** Says the state, once the hand rests, and shows it wherever it stands. */
  function tellState(source) {
    words.innerHTML = figure.sentence(view);
    code.textContent = figure.call(view);
    svg.ariaLabel = `${heading.textContent}. ${words.textContent}`;
    $('.slowed', body).textContent = worded(SLOWED, show(+(1 / pace()).toPrecision(2), COUNT));
    shownAt(source);
    for (const b of $$('[data-choice]', body)) b.ariaPressed = view.p[b.dataset.choice] === b.dataset.v;
    for (const b of $$('[data-preset]', body)) b.ariaPressed = entries(presets[b.dataset.preset][1]).every(([k, v]) => String(view.p[k]) === String(v));
    if (numbers.open) list();
    clearTimeout(speak);
    speak = setTimeout(() => { spoken.textContent = words.textContent; }, 700);
  }
  function list() {
    const [heads, ...rows] = figure.table(view), row = (cells, tag) => `<tr>${joined(cells, (c, i) => `<${tag} ${i ? 'class="num"' : ''}>${c}</${tag}>`)}</tr>`;
    $('.scroll', numbers).innerHTML = `<table><thead>${row(heads, 'th')}</thead><tbody>${joined(rows, (r) => row(r, 'td'))}</tbody></table>`;
  }
  /** Computed seconds in a second of the page. */
  const pace = () => SPEEDS[speed] / figure.pace(view.p);

  /** Takes new inputs: builds the drawing again if it has to be, else bends it. */
  function change(to, source) {
    cancelAnimationFrame(gliding);
    view.p = figure.fit?.({ ...view.p, ...to }) ?? { ...view.p, ...to };
    view.solved = figure.solve(view.p, call);
    draw(source);
    onChange?.(structuredClone(view.p));
  }
  function draw(source) {
    if (!view.width) return;
    const key = `${view.width} ${figure.key(view.p)}`;
    if (key !== built) { built = key; figure.build(view); place(true); }
    figure.bend(view);
    place();
    frame();
    tellState(source);
  }
  /** Values without a hand on them glide to their new place. */
  function glide(to) {
    const from = view.p, began = performance.now(), near = (a, b, u) => real(b) ? lerp(a, b, u) : b;
    const lists = entries(to).filter(([k, v]) => Array.isArray(v) && v.length === from[k].length);
    if (calm.matches || !lists.length) return change(to);
    const beat = (time) => {
      const u = min(1, max(0, time - began) / GLIDE);
      change({ ...to, ...fromEntries(lists.map(([k, v]) => [k, v.map((end, i) => u < 1 ? near(from[k][i], end, eased(u)) : end)])) });
      if (u < 1) gliding = requestAnimationFrame(beat);
    };
    gliding = requestAnimationFrame(beat);
  }

  /* Handles: the same value by mouse, finger and key */
  const grip = (h) => `<g class="grip" data-grip="${h.id}" role="slider" tabindex="0" aria-label="${escape(h.label)}" aria-valuemin="${h.lo}" aria-valuemax="${h.hi}"><circle class="reach" r="18"/><circle class="knob" r="6.5"/></g>`;
  function place(anew) {
    const all = figure.handles(view);
    if (anew) grips.innerHTML = joined(all, grip);
    all.forEach((h, i) => {
      const el = grips.children[i];
      el.setAttribute('transform', `translate(${px(h.x)} ${px(h.y)})`);
      el.ariaValueNow = h.value; el.ariaValueText = h.words;
    });
  }
  const handle = (id) => figure.handles(view).find((h) => h.id === id);
  function put(id, value) {
    const h = handle(id);
    change(replaced(view.p, id, clamp(+(round(value / h.step) * h.step).toFixed(9), h.lo, h.hi)));
  }
  const point = (e) => { const box = rect(svg); return [e.clientX - box.left, e.clientY - box.top]; };
  on(grips, 'pointerdown', (e) => {
    held = e.target.closest('.grip');
    held.setPointerCapture(e.pointerId); held.focus(); e.preventDefault();
    area.classList.add('touched');
  });
  on(area, 'pointermove', (e) => {
    if (held) put(held.dataset.grip, figure.pull(view, held.dataset.grip, ...point(e)));
    pointed = e.target.closest('[data-told], .grip') && { el: held ?? e.target.closest('[data-told], .grip'), at: point(e) };
    if (pointed) tell(); else readout.hidden = true;
  });
  for (const type of ['pointerup', 'pointercancel']) on(area, type, () => { held = null; });
  on(area, 'pointerleave', () => { pointed = null; readout.hidden = true; });
  on(grips, 'dblclick', (e) => { const id = e.target.closest('.grip').dataset.grip; glide(replaced(view.p, id, inside(start, id))); });
  on(grips, 'keydown', (e) => {
    const id = e.target.dataset.grip, h = handle(id), by = { ArrowUp: h.step, ArrowRight: h.step, ArrowDown: -h.step, ArrowLeft: -h.step, PageUp: h.leap, PageDown: -h.leap }[e.key];
    if (!by && e.key !== 'Home' && e.key !== 'End') return;
    e.preventDefault();
    put(id, by ? h.value + by : e.key === 'Home' ? h.lo : h.hi);
  });
  function tell() {
    const said = figure.hover(view, pointed.el, now()), [x, y] = pointed.at;
    readout.hidden = !said; readout.innerHTML = said ?? '';
    readout.style.cssText = `left:${clamp(x + 14, 0, max(0, view.width - readout.offsetWidth))}px;top:${max(0, y - readout.offsetHeight - 12)}px`;
  }

  /* The clock: its time is computed time, slowed; without motion it goes from step to step */
  const ticking = clock((dt) => { share = min(1, share + dt * pace() / view.solved.total); frame(); if (share >= 1) stop(); });
  function stop() { ticking.stop(); clearInterval(hops); hops = 0; hand.runs(false); tellState(); }
  function step(way) {
    const marks = [0, ...view.solved.marks, view.solved.total], t = now(), hair = view.solved.total * 1e-6;
    share = (way > 0 ? marks.find((m) => m > t + hair) ?? view.solved.total : marks.findLast((m) => m < t - hair) ?? 0) / view.solved.total;
    frame();
  }
  function play() {
    if (share >= 1) share = 0;
    hand.runs(true);
    if (calm.matches) hops = setInterval(() => { step(1); if (share >= 1) stop(); }, 900); else ticking.start();
  }
  const act = { start: () => { share = 0; frame(); }, back: () => step(-1), next: () => step(1) };
  hand.listen(on, hand.el, (k) => {
    const ran = ticking.runs || hops;
    if (ran) stop();
    if (k !== 'play') act[k](); else if (!ran) play();
  }, (to) => { stop(); share = to / PLACES; frame(); });
  on(doc, 'visibilitychange', () => { if (doc.hidden) stop(); });

  const shownAt = slide(body, params, { value: (k) => view.p[k], unit: (k) => params[k].unit, set: change }, on);
  on(body, 'click', ({ target: t }) => {
    const { choice, v, preset, copy: what, do: deed } = t.dataset;
    if (choice) change({ [choice]: v });
    if (preset) glide(presets[preset][1]);
    if (deed === 'reset') { share = spec.at; glide(structuredClone(start)); }
    if (deed === 'speed') { speed = (speed + 1) % SPEEDS.length; t.textContent = worded(SPEED, SPEEDS[speed]); tellState(); }
    if (what === 'link') history.replaceState(null, '', `#${root.id}:${new URLSearchParams({ ...fromEntries(entries(view.p).map(([k, value]) => [k, [value].flat().join('_')])), at: +share.toFixed(3) })}`);
    if (what) copying(what === 'py' ? program(python, code.textContent) : location.href, t);
  });
  on(numbers, 'toggle', () => { if (numbers.open) list(); });

  /** Inputs from outside, each as what it is here: numbers within the bounds of their slider, words that are a choice. */
  function read(to) {
    const out = {};
    for (const [k, given] of entries(to)) {
      const was = start[k], q = params[k], list = Array.isArray(given) ? given : String(given).split('_');
      if (Array.isArray(was) && list.length === was.length && list.every((v) => real(+v))) out[k] = list.map((v) => clamp(+v, ...spec.within[k]));
      else if (choices[k]?.of.some(([v]) => v === given)) out[k] = given;
      else if (q && real(+given)) out[k] = clamp(+given, q.lo, q.hi);
      else if (real(was) && real(+given) && +given > 0) out[k] = +given;   // an input without a slider, such as W
    }
    return out;
  }
  view.solved = figure.solve(view.p, call);
  fit(area, (width) => { view.width = width; draw(); }, signal);
  return {
    set(to) {
      const fitting = read(to), tell = onChange;
      if (!keys(fitting).some((k) => String(fitting[k]) !== String(view.p[k]))) return;
      onChange = null; change(fitting); onChange = tell;
    },
    load(query) {
      const to = fromEntries(new URLSearchParams(query)), at = +to.at;
      if (real(at)) share = clamp(at, 0, 1);
      change(read(to)); root.scrollIntoView();
    },
    /** For tests and for the console: the inputs, and all numbers that are shown. */
    get state() { return { p: view.p, share, ...figure.numbers(view, now()) }; },
    destroy() { end(); stop(); clearTimeout(speak); },
  };
}
Object.assign(KINDS, { stage });
globalThis.gpuscale.figures = figures;
