/* Live figure: a plot, a state in words, presets, sliders, and the call that gives the number.
   It knows no formula: all comes from a declarative spec whose functions the library prints. */
const timings = [];
const buttons = (name, data, names) =>
  names.length
    ? `<div class="row" role="group" aria-label="${name}">${joined(names, (n, i) => button(n, `data-${data}="${i}"`))}</div>`
    : '';

/** Which bound holds where: sampled, and each border found by halving. */
function regionsOf(bounds, holds, X) {
  const out = [];
  let last = holds(X.inv(0));
  let from = 0;
  for (let t = 5; t <= 1005; t += 5) {
    const now = t > 1000 ? NaN : holds(X.inv(t));
    if (now === last) continue;
    let a = t - 5;
    let b = min(t, 1000);
    while (b - a > 1e-3) {
      const m = (a + b) / 2;
      if (holds(X.inv(m)) === last) a = m;
      else b = m;
    }
    if (bounds[last]) out.push({ ...bounds[last], lo: X.inv(from), hi: X.inv(b) });
    from = b;
    last = now;
  }
  return out;
}

/** A figure in numbers and words: its state, its view, and what they show. Nothing in here needs a page. */
function model({ params, fixed, views, curves: all, values, ...spec }) {
  const state = { ...fixed, ...fromEntries(entries(params).map(([k, q]) => [k, q.start])) };
  const names = [...new Set([...Object.keys(state), ...views.flatMap((v) => Object.keys(v.set ?? {}))])];
  const fns = fromEntries(entries(spec.fns).map(([k, body]) => [k, Function('x', 'p', `const {${names}}=p;${body}`)]));
  const m = { state, view: views[0] ?? {}, unit: (k) => values[k]?.unit ?? params[k]?.unit ?? spec.units[k] };
  let s;
  let env;
  let at;
  let now;

  const tone = (hue) => s.hues?.[hue] ?? hue; // a view in which the links are others
  const call = (m.call = (f, x) => {
    if (s.x.param) env[s.x.param] = x ?? m.p[s.x.param];
    return fns[f](x, env);
  });
  const num = (v, x) => (typeof v === 'string' ? call(v, x) : (v ?? undefined));
  const settings = (m.settings = () =>
    entries(m.view.set ?? {}).map(([k, v]) => [k, typeof v === 'string' ? state[v.slice(1)] : v]));
  /** What the view changes, the values that hold in it, and where which bound holds. */
  function resolve() {
    s = m.s = { ...spec, ...m.view };
    m.p = { ...state };
    for (const [k, v] of settings()) if (!params[k]) m.p[k] = v;
    env = { ...m.p };
    const bounds = s.bounds.map((b) => ({ ...b, hue: tone(b.hue) }));
    const sign = s.binds === 'min' ? -1 : 1;
    const holds = (x) =>
      bounds.reduce(
        (best, b, i) => {
          const v = sign * call(b.expr, x);
          return v > best[1] ? [i, v] : best;
        },
        [-1, -Infinity],
      )[0];
    at = s.x.param ? m.p[s.x.param] : num(s.x.at);
    m.bound = bounds[holds(at)];
    return regionsOf(bounds, holds, scale(s.x));
  }
  /** {key} is a value with its unit, {bound} what holds, {?key:if finite|if not} a choice, **so** is bold. */
  const fill = (m.fill = (words = '') => {
    const value = (k) => (k === 'x' ? at : k === 'y' ? now : values[k] ? call(values[k].expr, at) : m.p[k]);
    const part = '((?:[^{}|]|{\\w+})*)';
    return words
      .replace(RegExp(`{\\?(\\w+):${part}\\|${part}}`, 'g'), (_, k, yes, no) => (real(value(k)) ? yes : no))
      .replace(/{(\w+)}/g, (_, k) =>
        k === 'bound' ? `<b class="${m.bound?.hue}">${m.bound?.name}</b>` : say(value(k), s[k]?.unit ?? m.unit(k)),
      )
      .replace(/\*\*(.+?)\*\*/g, '<b>$1</b>');
  });
  /** The sentence under the plot. */
  m.sentence = () => fill(m.bound?.say ?? s.say);
  /** All that a plot of this width shows. */
  m.compose = (width) => {
    const regions = resolve();
    const lit = (c) => c.now === true || (!!c.now && [c.now].flat().includes(m.view.name));
    const curves = all
      .map((c, i) => {
        const lo = max(num(c.lo) ?? s.x.lo, s.x.lo);
        const hi = min(num(c.hi) ?? s.x.hi, s.x.hi);
        const auto = c.hue === 'auto' && regions.length;
        const hue = c.hue === 'auto' ? 'plain' : tone(c.hue);
        return {
          id: `c${i}`,
          f: (x) => call(c.formula, x),
          lo,
          hi,
          must: lit(c),
          name: c.name,
          hue: auto ? undefined : hue,
          text: c.label && fill(c.label),
          short: c.short,
          near: num(c.at),
          pieces: auto
            ? regions.map((r) => ({ hue: r.hue, lo: max(lo, r.lo), hi: min(hi, r.hi) })).filter((r) => r.hi > r.lo)
            : [{ lo, hi, hue }],
          cls: `curve ${lit(c) ? 'now' : ''} ${{ approx: 'dashed', other: 'thin' }[c.style] ?? ''}`,
        };
      })
      .sort((a, b) => a.must - b.must);
    const lead = curves.findLast((c) => c.must) ?? curves[0];
    for (const c of curves) c.light = lead.must && !c.must ? 'light' : '';
    now = num(s.y.at, at);
    const crossings = s.crossings.map((c, i) => {
      const x = num(c.x);
      const exact = s.x.unit === ONE && x >= 100 && x < 1e5 ? even(x) : x; // a threshold is a whole number
      return {
        id: `x${i}`,
        x,
        y: lead.f(x),
        text: `${c.text} = ${say(exact, s.x.unit)}`,
        low: c.low,
        hue: 'plain',
        light: '',
        line: true,
        r: 4,
      };
    });
    const marks = s.points.map((d, i) => ({
      ...d,
      r: width < 480 ? 3.5 : 4.5,
      hue: tone(d.hue),
      open: !d.solid,
      id: `m${i}`,
      x: num(d.x),
      y: num(d.y),
      text: d.label && fill(d.label),
      light: 'light',
    }));
    const [moved, ...more] = Object.keys(s.drag);
    const words = moved && !more.length && !s.x.param ? `${params[moved].sym} = {${moved}}` : '';
    const here = {
      id: 'now',
      x: at,
      y: now,
      hue: m.bound?.hue ?? lead.hue ?? 'plain',
      tone: 'plain',
      r: 7.5,
      text: fill(words),
      light: '',
      must: true,
    };
    return { x: s.x, y: s.y, ends: s.ends, regions, curves, dots: [...crossings, ...marks, here] };
  };
  return m;
}

function live(root, spec, { notebook, onChange } = {}) {
  const { signal, on, end } = life();
  const uid = fresh();
  const kept = new Map();
  const heading = $('h3', root);
  const { params, views, presets, python } = spec;
  const keys = Object.keys(params);
  const m = model(spec);
  const { state, fill } = m;
  let scene;
  let box;
  let speak;
  let width = 0;

  const code = () =>
    `${python.call}(${python.args.map(([k, u, word]) => `${word ?? k}=${literal(m.p[k], u)}`).join(', ')})`;
  const link = notebook ? '' : button(COPY_LINK, 'data-copy="link"');
  const body = make(`<div class="drawn"><div class="head">${buttons(
    SHOWN_AS,
    'view',
    views.map((v) => v.name),
  )}</div>
    <div class="plot"><svg role="img"></svg><div class="readout" hidden></div></div>
    <p class="state"></p><p class="quiet" role="status"></p>${buttons(
      PRESETS,
      'preset',
      presets.map(([n]) => n),
    )}
    ${sliders(params, uid)}
    <div class="call"><code></code>${button(COPY, 'data-copy="py"')}${link}</div></div>`);
  const [area, svg, readout, words, spoken, shown] = ['.plot', 'svg', '.readout', '.state', '.quiet', '.call code'].map(
    (q) => $(q, body),
  );
  $('.head', body).prepend(heading);
  root.prepend(body);
  hide(root);
  /** The words keep the height of the longest, so that nothing below them jumps. */
  const hold = new ResizeObserver((all) => {
    if (area.clientWidth === width) {
      for (const { target: t } of all) {
        t.style.minHeight = `${max(parseFloat(t.style.minHeight) || 0, t.offsetHeight)}px`;
      }
    }
  });

  function draw(source) {
    if (!area.clientWidth) return;
    const began = performance.now();
    const anew = width !== area.clientWidth;
    if (anew) {
      width = area.clientWidth;
      kept.clear();
      hold.disconnect();
      for (const el of [words, shown]) {
        el.style.minHeight = '';
        hold.observe(el);
      }
    }
    scene = m.compose(width);
    if (anew) {
      tallest(
        words,
        [spec, ...[spec, ...views].flatMap((v) => v.bounds ?? [])].map(({ say: t }) => fill(t)),
      );
    }
    box = plot(svg, scene, width, uid, kept);
    words.innerHTML = m.sentence();
    write(shown, breaking(code()));
    svg.ariaLabel = `${heading.textContent}. ${words.textContent}`;
    for (const b of $$('[data-view]', body)) b.ariaPressed = views[b.dataset.view] === m.view;
    for (const b of $$('[data-preset]', body)) {
      b.ariaPressed = entries(presets[b.dataset.preset][1]).every(([k, v]) => state[k] === v);
    }
    shownAt(source);
    clearTimeout(speak); // spoken once, when the hand rests
    speak = setTimeout(() => {
      spoken.textContent = words.textContent;
    }, 700);
    if (timings.push(performance.now() - began) > 500) timings.shift();
  }
  function change(to, source) {
    for (const [k, v] of entries(to)) {
      if (k in state && real(+v)) state[k] = params[k] ? clamp(+v, params[k].lo, params[k].hi) : +v;
    }
    draw(source);
    onChange?.(fromEntries(keys.map((k) => [k, state[k]])));
  }
  const shownAt = slide(body, params, { value: (k) => state[k], unit: m.unit, set: change }, on);
  on(body, 'click', ({ target: t }) => {
    const { view: v, preset, copy: what } = t.dataset;
    if (v || preset) kept.clear();
    if (v) {
      m.view = views[v];
      change(fromEntries(m.settings().filter(([k]) => params[k])));
    }
    if (preset) change(presets[preset][1]);
    if (!what) return;
    if (what === 'link') {
      history.replaceState(
        null,
        '',
        `#${root.id}:${new URLSearchParams([...(views.length ? [['view', m.view.name]] : []), ...entries(state)])}`,
      );
    }
    copying(what === 'py' ? program(python.import, shown.textContent) : location.href, t);
  });
  const place = (e) => clamp(e.clientX - rect(area).left, box.x0, box.x1);
  function move(e) {
    // a tap or a sideways drag; a thumb that scrolls moves nothing
    const x = box.X.inv(place(e));
    const drag = entries(m.s.drag);
    const free = m.s.x.param in params ? [[m.s.x.param]] : [];
    readout.hidden = true;
    change(
      fromEntries(
        (drag.length ? drag : free).map(([k, f]) => {
          const q = params[k];
          const v = f ? m.call(f, x) : x;
          return [k, snapped(q, (v > 0 && v < Infinity) || !q.log ? v : q.hi)];
        }),
      ),
    );
  }
  function hover(e) {
    // reads every named curve
    const u = place(e);
    const x = box.X.inv(u);
    const rows = scene.curves.filter((c) => c.name && x >= c.lo && x <= c.hi && real(c.f(x))).reverse();
    const hue = (c) => c.hue ?? scene.regions.find((r) => x <= r.hi)?.hue;
    $('.hover', svg).innerHTML =
      `<path class="spine" d="M${u} ${box.y0}V${box.y1}"/>${joined(rows, (c) => `<circle class="dot ${hue(c)}" r="4" cx="${u}" cy="${clamp(box.Y(c.f(x)), box.y0, box.y1)}"/>`)}`;
    readout.innerHTML = `<b>${escape(m.s.x.title)}: ${say(m.s.x.unit === ONE && x > 10 ? round(x) : x, m.s.x.unit)}</b>${rows.map((c) => `${c.name}: ${say(c.f(x), m.s.y.unit)}`).join('<br>')}`;
    readout.hidden = false;
    const top = clamp(e.clientY - rect(area).top + 12, 0, max(0, box.y1 - readout.offsetHeight));
    readout.style.cssText = `top:${top}px;${u > width / 2 ? `right:${width - u + 12}` : `left:${u + 12}`}px`;
  }
  let down;
  on(area, 'pointerdown', (e) => {
    down = e.clientX;
  });
  on(area, 'pointermove', (e) => {
    if (!e.buttons) hover(e);
    else if (abs(e.clientX - down) > 4) {
      area.setPointerCapture(e.pointerId);
      move(e);
    }
  });
  on(area, 'click', move);
  on(area, 'pointerleave', () => {
    readout.hidden = true;
    $('.hover', svg).innerHTML = '';
  });
  fit(area, () => draw(), signal);
  return {
    set(to) {
      if (keys.some((k) => k in to && to[k] !== state[k])) {
        const tell = onChange;
        onChange = null;
        change(to);
        onChange = tell;
      }
    },
    load(query) {
      const to = new URLSearchParams(query);
      m.view = views.find((v) => v.name === to.get('view')) ?? m.view;
      change(fromEntries(to));
      root.scrollIntoView();
    },
    destroy() {
      end();
      hold.disconnect();
      clearTimeout(speak);
    },
  };
}
