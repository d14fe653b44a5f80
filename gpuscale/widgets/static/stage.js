/* The stage: it has the inputs of a figure, the handles, the clock, the meter, the link, the call and the data. A hand moves
   inputs; what follows from them is worked out, said and drawn, at most once a frame.                                     */
const PLACES = 1000; // of the scrubber
const SPEEDS = [1, 2, 4];
const REST = 150; // milliseconds until the elements of a drawing follow what is painted
const LEAST = 320; // a drawing has room for this width, however large its text
const SLICE = 6; // milliseconds of work ahead in one go
const BRIEF = 2; // milliseconds of a task that also paints what it has worked out
const ROOM = 200; // pixels by which that room grows
const EDGE = 8; // pixels below a drawing that a handle at its edge takes
const GLIDE = 600; // milliseconds that things take to their new place when no hand holds them

function stage(root, spec, { notebook, onChange } = {}) {
  const figure = figures[spec.figure];
  const { signal, on, end } = life();
  const uid = fresh();
  const heading = $('h3', root);
  const { params, choices, presets, start, python, boxes = [], texts = {}, copies = {} } = spec;
  const calm = matchMedia('(prefers-reduced-motion: reduce)');

  const high = joined(
    $$('.frames svg', root),
    (el, i) => `--${i ? 'narrow' : 'wide'}:${el.getAttribute('height') / 16}rem;`,
  ); // of the drawing, until there is one
  const group = (k) =>
    `<div class="row" role="group" aria-label="${choices[k].label}">${joined(choices[k].of, ([v, name]) => button(name, `data-choice="${k}" data-v="${v}"`))}</div>`;
  const box = (k) =>
    `<label>${choices[k].label}<select data-box="${k}">${joined(choices[k].of, ([v, name]) => `<option value="${v}">${name}</option>`)}</select></label>`;
  const field = (k) =>
    `<details class="typed"><summary>${texts[k]}</summary><textarea data-text="${k}" rows="8" spellcheck="false" aria-label="${texts[k]}"></textarea></details>`;
  const body = make(`<div class="drawn"><div class="head">${joined(
    keys(choices).filter((k) => !boxes.includes(k)),
    group,
  )}</div>
    ${boxes.length ? `<div class="row boxes">${joined(boxes, box)}</div>${sliders(params, uid)}` : ''}${joined(keys(texts), field)}
    <div class="scene" style="${high}"><svg role="group"><g class="shapes"></g><g class="grips"></g></svg><div class="tells" hidden><i></i><div class="readout"></div></div></div>
    <div class="meter" ${figure.meter ? '' : 'hidden'}><div class="row"><span></span><b></b></div><div class="track"><i></i><s></s></div><div class="note"></div></div>
    <p class="state"></p><p class="quiet" role="status"></p><div class="below"></div>
    ${boxes.length ? '' : sliders(params, uid)}
    <div class="row">${joined(presets, ([name], i) => button(name, `data-preset="${i}"`))}${button(RESET, 'data-do="reset"')}<span class="note slowed"></span></div>
    <div class="call"><code></code>${button(COPY, 'data-copy="py"')}${notebook ? '' : button(COPY_LINK, 'data-copy="link"')}${joined(entries(copies), ([k, name]) => button(name, `data-copy="${k}"`))}</div>
    <details class="numbers"><summary>${DATA}</summary><div class="scroll" tabindex="0" role="region" aria-label="${DATA}"></div></details></div>`);
  const [area, svg, tells, readout, words, spoken, code, numbers] = [
    '.scene',
    'svg',
    '.tells',
    '.readout',
    '.state',
    '.quiet',
    '.call code',
    '.numbers',
  ].map((q) => $(q, body));
  const [scene, grips] = $$('.scene > svg > g', body);
  const hand = player(PLACES, TIME, button(worded(SPEED, SPEEDS[0]), 'data-do="speed"'));
  if (figure.pace) area.after(hand.el);
  $('.head', body).prepend(heading);
  root.prepend(body);
  hide(root);

  const view = Object.assign(seen(spec), { svg });
  const shapes = sketch(scene, brush(svg, scene), figure.mute);
  let share = spec.at;
  let speed = 0;
  let pointed = null;
  let held = null;
  let speak = 0;
  let hops = 0;
  let gliding = 0;
  let coming = 0;
  let resting = 0;
  let later = 0;
  let working = 0;
  let next = 0; // inputs that come while others are worked out
  let due = Infinity; // when a task has taken so long that what it shows is painted in another one
  let took = 0; // milliseconds of the last painting
  let way = 1;
  let sheet = []; // how wide the drawing is on the page, and how high it can be
  let large = 1; // how many times as large as usual the reader has text, and so the drawing
  let corner; // where the drawing lies: to ask at each move would lay out the page
  let list = [];
  let unlike = ''; // unlike: what a link states and the figure cannot show
  const now = () => share * (view.solved.total ?? 0);

  /** Draws the moment, and what is said of it. */
  function frame() {
    if (!view.width) return;
    const t = now();
    list = figure.draw(view, t);
    if (figure.pace) hand.stands(round(share * PLACES), figure.place(view, t));
    if (figure.meter) measure(figure.meter(view, t), $('.meter', body));
    if (pointed) tell();
    if (instant() + took > due) working = setTimeout(painted);
    else paint(); // last: to ask for styles works out all that have changed
  }
  /** Paints in a task of its own what a hand has moved, and takes the inputs that have come meanwhile. */
  function painted() {
    paint();
    working = next && setTimeout(onward);
  }
  function onward() {
    const then = next;
    working = next = 0;
    ahead(...then);
  }
  /** Elements that are late follow frame by frame, once nothing has moved for a while. */
  function paint(follow = ticking.runs) {
    clearTimeout(resting);
    cancelAnimationFrame(coming);
    if (!way) return; // at the start of a glide nothing has moved
    const began = instant();
    const more = shapes.paint(list, way, calm.matches ? Infinity : follow ? SOME : 0);
    took = instant() - began;
    if (!more) return;
    const on = () => paint(true);
    if (follow) coming = requestAnimationFrame(on);
    else if (way >= 1 && !view.held) resting = setTimeout(on, REST);
  }
  function measure(m, bar) {
    bring(bar, { className: `meter ${m.hue}` });
    write($('span', bar), m.name);
    write($('b', bar), m.words + (m.met ? ` <span class="mark" role="img" aria-label="${EQUALS}">✓</span>` : ''));
    $('i', bar).style.setProperty('--part', `${(100 * m.value) / m.full}%`);
    bring($('s', bar).style, { left: real(m.mark) ? `${(100 * m.mark) / m.full}%` : '' });
    bring($('s', bar), { hidden: !real(m.mark) });
    write($('.note', bar), m.label);
  }
  /** Says the state, once the hand rests, and shows it wherever it stands. */
  function tellState(source) {
    write(words, figure.sentence(view, now()) + unlike);
    write(code, breaking(figure.call(view)));
    bring(svg, { ariaLabel: `${heading.textContent}. ${words.textContent}` });
    if (figure.pace && !figure.units) write($('.slowed', body), slower(1 / pace()));
    shownAt(source);
    for (const b of $$('[data-choice]', body))
      bring(b, { ariaPressed: String(view.p[b.dataset.choice]) === b.dataset.v });
    for (const el of $$('[data-box]', body)) bring(el, { value: view.p[el.dataset.box] });
    for (const el of $$('[data-text]', body)) if (el !== source) bring(el, { value: view.p[el.dataset.text] });
    offer();
    for (const b of $$('[data-preset]', body)) {
      bring(b, {
        ariaPressed: entries(presets[b.dataset.preset][1]).every(([k, v]) => String(view.p[k]) === String(v)),
      });
    }
    if (numbers.open) listed();
    figure.below?.(view, $('.below', body));
    clearTimeout(speak);
    speak = setTimeout(() => {
      spoken.textContent = words.textContent;
    }, 700);
  }
  const used = (name) => figure.uses?.(view.p, name) ?? true;
  /** Shows the controls that have a meaning now. */
  function offer() {
    const when = (yes, ...all) => {
      if (all[0].hidden === !yes) return;
      for (const el of all) el.hidden = !yes;
      corner = null;
    };
    for (const { dataset: own, parentElement: at } of $$('[data-choice],[data-box]', body))
      when(used(own.choice ?? own.box), at);
    for (const input of $$('.sliders input', body)) {
      when(used(input.dataset.k), input.previousElementSibling, input, input.nextElementSibling);
    }
  }
  const slower = (times) =>
    worded(times < 1 ? FASTER : SLOWED, show(+(times < 1 ? 1 / times : times).toPrecision(2), COUNT));
  function listed() {
    const [heads, ...rows] = figure.table(view, now());
    const row = (cells, tag) =>
      `<tr>${joined(cells, (c, i) => `<${tag} ${i ? 'class="num"' : ''}>${c}</${tag}>`)}</tr>`;
    $('.scroll', numbers).innerHTML =
      `<table><thead>${row(heads, 'th')}</thead><tbody>${joined(rows, (r) => row(r, 'td'))}</tbody></table>`;
  }
  /** Computed seconds in a second of the page. */
  const pace = () => SPEEDS[speed] / figure.pace(view.p, view.solved);

  const fitting = (to) => figure.fit?.({ ...view.p, ...to }, view.p, view.data) ?? { ...view.p, ...to };
  /** Takes new inputs once what follows from them is worked out, between frames if that takes long; of those that come
   *  meanwhile the latest are next. */
  function ahead(to, take) {
    if (working) {
      next = [to, take];
      return;
    }
    const work = !calm.matches && figure.ahead?.(fitting(to), view.call, view.data);
    function on() {
      const began = instant();
      let done;
      do ({ done } = work.next());
      while (!done && instant() < began + SLICE);
      if (!done) working = setTimeout(on);
      else if (instant() > began + SLICE / 2) working = setTimeout(land);
      else land(began);
    }
    /** To draw is a task of its own after a long one. */
    function land(began = instant()) {
      const then = next;
      working = next = 0;
      due = began + BRIEF;
      take(to);
      due = Infinity;
      if (then) ahead(...then);
    }
    if (work) on();
    else land();
  }
  /** Takes new inputs at once: a glide and whatever else is worked out end. */
  function change(to, source) {
    cancelAnimationFrame(gliding);
    clearTimeout(working);
    working = next = 0;
    become(to, source);
  }
  function become(to, source, u = 1) {
    way = u;
    unlike = '';
    view.p = fitting(to);
    view.solved = figure.solve(view.p, view.call, view.data);
    share = figure.shows?.(view) ?? share;
    draw(source);
    onChange?.(structuredClone(view.p));
  }
  function draw(source) {
    if (!view.width) return;
    const high = (view.height = figure.height(view));
    // Another size of it lays out all text again, so it keeps room for the highest drawing, and its end is cut off.
    const width = view.width * large;
    if (width !== sheet[0] || high > sheet[1]) {
      const room = width === sheet[0] ? ceil(high / ROOM) * ROOM : high;
      sheet = [width, room];
      const shown = { width, height: room * large, viewBox: `0 0 ${view.width} ${room}` };
      for (const [k, v] of entries(shown)) svg.setAttribute(k, v);
    }
    area.style.height = `${high * large}px`;
    svg.style.clipPath = high < sheet[1] ? `inset(-9em -9em ${(sheet[1] - high) * large - EDGE}px)` : '';
    if (!$('defs', svg)) svg.prepend(make(`<svg>${hatching(view)}</svg>`).firstChild);
    place();
    tellState(source);
    if (!ticking.runs) frame(); // or the clock does
    if (figure.later) ponder();
  }
  /** What takes long is worked out in between, once nothing moves, and then shown. */
  function ponder(worked = false) {
    clearTimeout(later);
    later = setTimeout(
      () => {
        const more = way < 1 || figure.later(view);
        later = 0;
        if (more) ponder(worked || way === 1);
        else if (worked && !working) glide({}); // or newer inputs are on their way
      },
      worked ? 0 : REST,
    );
  }
  /** What no hand holds glides to its new place: the shapes, and the inputs that the figure calls smooth. */
  function glide(to) {
    if (calm.matches) change(to);
    else ahead(to, glided);
  }
  function glided(to) {
    const from = view.p;
    const smooth = (figure.smooth ?? []).filter((k) => k in to);
    const began = instant();
    const near = (a, b, u) =>
      Array.isArray(b) && b.length === a.length
        ? b.map((v, i) => near(a[i], v, u))
        : real(a) && real(b)
          ? lerp(a, b, u)
          : b;
    if (!figure.steady) shapes.depart();
    const beat = (time) => {
      const u = clamp((time - began) / (figure.glide ?? GLIDE), 0, 1);
      const e = eased(u);
      const on = smooth.map((k) => [k, near(from[k], to[k], e)]);
      if (view.p === from || on.length) become(u < 1 ? { ...to, ...fromEntries(on) } : to, null, e);
      else {
        way = e;
        if (!ticking.runs) paint(false);
      }
      if (u < 1 && time !== began) gliding = requestAnimationFrame(beat);
    };
    beat(began);
    cancelAnimationFrame(gliding);
    gliding = requestAnimationFrame(() => {
      gliding = requestAnimationFrame(beat);
      setTimeout(() => shapes.ready(list)); // what the first frame asks for
    }); // the frame of the press has enough to do
  }

  /* Handles: the same value by mouse, finger and key */
  const grip = (h) =>
    `<g class="grip" data-grip="${h.id}" role="slider" tabindex="0" aria-label="${escape(h.label)}" aria-valuemin="${h.lo}" aria-valuemax="${h.hi}"><circle class="reach" r="18"/><circle class="knob" r="6.5"/></g>`;
  function place() {
    const all = figure.handles?.(view, now()) ?? [];
    const names = all.map((h) => h.id).join();
    if (grips.names !== names) {
      grips.innerHTML = joined(all, grip);
      grips.names = names;
    }
    all.forEach((h, i) => {
      const el = grips.children[i];
      const at = `translate(${px(h.x)} ${px(h.y)})`;
      if (el.at !== at) el.setAttribute('transform', (el.at = at));
      bring(el, { ariaValueNow: h.value, ariaValueText: h.words });
    });
  }
  const handle = (id) => figure.handles(view, now()).find((h) => h.id === id);
  function put(id, value, by = (to, take) => take(to)) {
    const h = handle(id);
    const grid = h.grid ?? h.step;
    by(replaced(view.p, id, clamp(+(round(value / grid) * grid).toFixed(9), h.lo, h.hi)), (to) => change(to));
  }
  const point = (e) => {
    corner ??= rect(svg);
    return [(e.clientX - corner.left) / large, (e.clientY - corner.top) / large];
  };
  const astray = () => {
    corner = null;
  };
  on(area, 'pointerenter', astray);
  body.addEventListener('pointerenter', () => shapes.ready(list), { signal, once: true });
  doc.addEventListener('scroll', astray, { signal, capture: true });
  on(grips, 'pointerdown', (e) => {
    held = e.target.closest('.grip');
    held.setPointerCapture(e.pointerId);
    held.focus();
    e.preventDefault();
    view.held = held.dataset.grip;
    area.classList.add('touched');
  });
  on(area, 'pointermove', (e) => {
    const el = held ?? e.target.closest('[data-told], .grip');
    const at = point(e);
    pointed = el && { el, at };
    if (held) put(held.dataset.grip, figure.pull(view, held.dataset.grip, ...at), ahead);
    else if (pointed) tell();
    else tells.hidden = true;
  });
  for (const type of ['pointerup', 'pointercancel']) {
    on(area, type, () => {
      const was = held;
      held = view.held = null;
      if (was) figure.settles ? glide({}) : paint();
    });
  }
  function silent() {
    pointed = null;
    tells.hidden = true;
  }
  on(area, 'pointerleave', silent);
  on(grips, 'dblclick', (e) => {
    const id = e.target.closest('.grip').dataset.grip;
    glide(replaced(view.p, id, inside(start, id)));
  });
  on(grips, 'keydown', (e) => {
    const id = e.target.dataset.grip;
    const h = handle(id);
    const by = {
      ArrowUp: h.step,
      ArrowRight: h.step,
      ArrowDown: -h.step,
      ArrowLeft: -h.step,
      PageUp: h.leap,
      PageDown: -h.leap,
    }[e.key];
    if (!by && e.key !== 'Home' && e.key !== 'End') return;
    e.preventDefault();
    put(id, by ? h.value + by : e.key === 'Home' ? h.lo : h.hi);
  });
  /* A pinch, by fingers or on a trackpad, moves a handle as well, and so does the wheel of who has pressed the drawing */
  const hard = { signal, passive: false };
  let awake = false;
  let apart = 0;
  let spare = 0; // spare: what is less than the grid of the handle
  function zoomed(e, by) {
    const { value, lo, hi, grid } = handle(figure.zooms);
    const to = clamp(value + by + spare, lo, hi);
    spare = to - round(to / grid) * grid;
    if (to === value && !spare) return; // at its end the page scrolls on
    e.preventDefault();
    put(figure.zooms, to);
  }
  if (figure.zooms) {
    const spread = ({ touches: [a, b] }) => hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    on(svg, 'click', () => {
      awake = true;
    });
    on(area, 'pointerleave', () => {
      awake = false;
    });
    svg.addEventListener(
      'wheel',
      (e) => {
        if (awake || e.ctrlKey) zoomed(e, clamp(-e.deltaY * (e.ctrlKey ? 0.02 : 0.003), -0.3, 0.3));
      },
      hard,
    );
    on(svg, 'touchstart', (e) => {
      apart = e.touches.length === 2 ? spread(e) : 0;
    });
    svg.addEventListener(
      'touchmove',
      (e) => {
        if (!apart || e.touches.length !== 2) return;
        const was = apart;
        apart = spread(e);
        e.preventDefault();
        zoomed(e, Math.log2(apart / was));
      },
      hard,
    );
  }
  function tell() {
    const said = figure.hover?.(view, pointed.el, now());
    const [x, y] = pointed.at;
    tells.hidden = !said;
    write(readout, said ?? '');
    tells.style.height = `${px(max(0, y * large - 12))}px`;
    tells.firstChild.style.width = `${px(max(0, x * large + 14))}px`; // its style sheet keeps it inside: no size is asked for
  }

  /* Shapes to press, by pointer and by key; arrows go to the nearest one of their group */
  function pressed(to, what) {
    const runs = figure.runs?.(what);
    if (runs) {
      stop();
      share = +calm.matches;
    }
    glide(to);
    if (runs && !calm.matches) play();
  }
  pressing(on, hard, svg, scene, figure, view, point, pressed);
  on(scene, 'focusin', (e) => {
    // what the pointer hears, the keyboard hears as well
    const el = e.target.closest('[data-told]');
    if (!el?.matches(':focus-visible')) return;
    const box = rect(el);
    const on = rect(svg);
    pointed = { el, at: [(box.left + box.width / 2 - on.left) / large, (box.top - on.top) / large] };
    tell();
  });
  on(scene, 'focusout', silent);

  /* The clock: its time is computed time, slowed; without motion it goes from step to step */
  const ticking = clock((dt) => {
    share = min(1, share + (dt * pace()) / view.solved.total);
    frame();
    if (share >= 1) stop();
  });
  function stop() {
    ticking.stop();
    clearInterval(hops);
    hops = 0;
    hand.runs(false);
    tellState();
  }
  function step(way) {
    const marks = [0, ...view.solved.marks, view.solved.total];
    const t = now();
    const hair = view.solved.total * 1e-6;
    share =
      (way > 0 ? (marks.find((m) => m > t + hair) ?? view.solved.total) : (marks.findLast((m) => m < t - hair) ?? 0)) /
      view.solved.total;
    frame();
  }
  function play() {
    if (share >= 1) share = 0;
    hand.runs(true);
    if (calm.matches) {
      hops = setInterval(() => {
        step(1);
        if (share >= 1) stop();
      }, 900);
    } else ticking.start();
  }
  const act = {
    start: () => {
      share = 0;
      frame();
    },
    back: () => step(-1),
    next: () => step(1),
  };
  hand.listen(
    on,
    hand.el,
    (k) => {
      const ran = ticking.runs || hops;
      if (k !== 'play') act[k]();
      if (ran || k !== 'play') stop();
      else play();
    },
    (to) => {
      share = to / PLACES;
      stop();
      frame();
    },
  );
  on(doc, 'visibilitychange', () => {
    if (doc.hidden && (ticking.runs || hops)) stop();
  });

  const set = (to, source) => (source ? ahead(to, () => change(to, source)) : change(to)); // a key counts from what is shown
  const shownAt = slide(body, params, { value: (k) => view.p[k], unit: (k) => params[k].unit, set }, on);
  const choose = (k, v) => glide({ [k]: real(start[k]) ? +v : v });
  on(
    body,
    'change',
    ({
      target: {
        dataset: { box: k },
        value: v,
      },
    }) => {
      if (k) choose(k, v);
    },
  );
  on(body, 'input', ({ target: t }) => {
    if (t.dataset.text) change(figure.typed(view, t.dataset.text, t.value), t);
  });
  on(body, 'click', ({ target: t }) => {
    const { choice, v, preset, copy: what, do: deed } = t.dataset;
    if (choice) choose(choice, v);
    if (preset) {
      const [name, to, at] = presets[preset];
      share = at ?? share;
      pressed(to, name);
    }
    if (deed === 'reset') {
      share = spec.at;
      glide(structuredClone(start));
    }
    if (deed === 'speed') {
      speed = (speed + 1) % SPEEDS.length;
      t.textContent = worded(SPEED, SPEEDS[speed]);
      tellState();
    }
    if (what === 'link') {
      history.replaceState(
        null,
        '',
        `#${root.id}:${new URLSearchParams({
          ...fromEntries(
            entries(view.p)
              .filter(([k, v]) => !(k in texts) || v !== start[k])
              .map(([k, value]) => [k, [value].flat().join('_')]),
          ),
          at: +share.toFixed(3),
        })}`,
      );
    }
    if (what) {
      copying(
        what === 'py' ? program(python, code.textContent) : what in copies ? figure.copied(view, what) : location.href,
        t,
      );
    }
  });
  on(numbers, 'toggle', () => {
    if (numbers.open) listed();
  });

  /* What is below the sentence and the meter does not move each time that they are a line shorter. */
  const grown = new ResizeObserver((all) => {
    for (const { target: el, borderBoxSize } of all) {
      const [{ inlineSize: wide, blockSize: high }] = borderBoxSize;
      el.style.minHeight = el.had === wide ? `${high}px` : '';
      el.had = wide;
    }
  });
  for (const el of [words, $('.meter', body)]) grown.observe(el);
  offer(); // before there is a drawing: what is below it must not move
  fit(
    area,
    (width) => {
      large = clamp(parseFloat(getComputedStyle(doc.documentElement).fontSize) / 16, 1, max(1, width / LEAST));
      view.width = width / large;
      draw();
    },
    signal,
    () => view.solved,
  );
  return {
    set(to) {
      const fitting = read(to, spec);
      const tell = onChange;
      if (!keys(fitting).some((k) => String(fitting[k]) !== String(view.p[k]))) return;
      onChange = null;
      change(fitting);
      onChange = tell;
    },
    load(query) {
      const to = fromEntries(new URLSearchParams(query));
      const at = +to.at;
      change(read(to, spec));
      unlike = joined(
        entries(to).filter(([k, v]) => k in start && !(k in texts) && !same(v, view.p[k])),
        ([k, v]) =>
          ` ${worded(ROUNDED, (choices[k] ?? params[k])?.label ?? k, escape(v.replaceAll('_', ', ')), choices[k]?.of.find(([own]) => own === view.p[k])?.[1] ?? [view.p[k]].flat().join(', '))}`,
      );
      if (unlike) tellState();
      if (real(at)) {
        share = clamp(at, 0, 1);
        draw();
      }
      clearTimeout(resting);
      shapes.paint(list); // all elements at once: nothing moves
      root.scrollIntoView();
    },
    /** For tests and for the console: the inputs, and all numbers that are shown. */
    get state() {
      return { ...figure.numbers(view, now()), p: view.p, share, gliding: way < 1 || later > 0 || working > 0 };
    },
    destroy() {
      end();
      grown.disconnect();
      stop();
      clearTimeout(speak);
      clearTimeout(resting);
      clearTimeout(later);
      clearTimeout(working);
      cancelAnimationFrame(coming);
      cancelAnimationFrame(gliding);
    },
  };
}
Object.assign(KINDS, { stage });
Object.assign(globalThis.gpuscale, { figures, seen, still });
