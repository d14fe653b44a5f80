/* Controls that figures share: sliders for inputs, and what "Copy" puts on the clipboard. */
const SNAP = {
  two: (v) => +v.toPrecision(2),
  whole: (v) => round(v > 10 ? v : +v.toPrecision(1)),
  power: (v) => 2 ** round(Math.log2(v)),
  /** The sizes models have: quarters of an octave, such as 4,096, 5,120, 14,336. */
  octave: (v) => {
    const q = 2 ** floor(Math.log2(v)) / 4;
    return ceil(round(v / q) * q);
  },
};
function snapped(q, v) {
  const n = +q.snap?.split(':')[1];
  const f = SNAP[q.snap] ?? ((u) => (n ? round(u / n) * n : u));
  return clamp(f(clamp(v, q.lo, q.hi)), q.lo, q.hi);
}
const scale = (q) => axis(q, 0, 1000);

/** A slider for each input, as HTML. */
function sliders(params, uid) {
  const one = (k) => `<label for="${uid}-${k}">${params[k].label} ${params[k].sym ?? ''}</label>
    <input type="range" id="${uid}-${k}" data-k="${k}" min="0" max="1000"><output aria-live="off"></output>`;
  return `<div class="sliders">${joined(keys(params), one)}</div>`;
}
/** Brings them to life. `value(k)` reads an input, `unit(k)` is what it is shown in, `set` takes what a hand gave, and
 *  the slider that the hand is on. Returns a function that shows all values, but does not move the slider `held`. */
function slide(body, params, { value, unit, set }, on) {
  on(body, 'input', ({ target: t }) => {
    const q = params[t.dataset.k];
    if (q) set({ [t.dataset.k]: snapped(q, scale(q).inv(+t.value)) }, t);
  });
  on(body, 'keydown', (e) => {
    // one press, one value, however coarse the snapping
    const k = e.target.dataset.k;
    const q = params[k];
    const way = { ArrowRight: 4, ArrowUp: 4, PageUp: 100, ArrowLeft: -4, ArrowDown: -4, PageDown: -100 }[e.key];
    if (!q || !way) return;
    e.preventDefault();
    let n = scale(q)(value(k));
    let v;
    do v = snapped(q, scale(q).inv((n += way)));
    while ((v - value(k)) * way <= 0 && n > 0 && n < 1000);
    set({ [k]: v });
  });
  return (held) => {
    for (const input of $$('.sliders input', body)) {
      const k = input.dataset.k;
      if (input !== held) input.value = scale(params[k])(value(k));
      write(input.nextElementSibling, (input.ariaValueText = say(value(k), unit(k))));
    }
  };
}

/** Plain http has no clipboard interface, so the older method is the fallback. */
async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const area = make('<textarea style="position:fixed"></textarea>');
    area.value = words;
    doc.body.append(area);
    area.select();
    doc.execCommand('copy');
    area.remove();
  }
}
/** Copies, and says so on the button for a moment. */
function copying(words, pressed) {
  copy(words);
  const was = (pressed.dataset.was ??= pressed.textContent);
  pressed.style.minWidth = `${pressed.offsetWidth}px`;
  pressed.textContent = COPIED;
  setTimeout(() => {
    pressed.textContent = was;
  }, 1200);
}
/** A call as a program: what it imports, the units that it uses, and the call. */
function program(imports, words) {
  const used = [...new Set(words.match(/(?<=\*)[a-zA-Z]+/g))].sort().join(', ');
  return `${imports ?? ''}\n${used && `${worded(IMPORT, used)}\n`}\n${words}\n`;
}
