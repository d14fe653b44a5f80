/* Start: on a page every marked element comes alive; in a notebook the widget calls render. */
const KINDS = { live, stepper, quiz };
const alive = new WeakMap();

function upgrade(root, options) {
  if (!alive.has(root)) {
    alive.set(root, KINDS[root.dataset.gpuscale](root, JSON.parse($('script[type$=json]', root).textContent), options));
    for (const el of $$('input, button', root)) el.dataset.lmSuppressShortcuts = true;   // a notebook would take the arrow keys
  }
  return alive.get(root);
}
/** #ID:query restores the state of a live figure. */
function follow() {
  const [, id, query] = /^#([^:]+):(.*)$/.exec(location.hash) ?? [];
  alive.get(document.getElementById(id))?.load?.(query);
}
/** What a narrow page scrolls sideways has to be in reach of the keyboard. */
const reach = () => { for (const el of $$('.expr, .approx')) if (el.scrollWidth > el.clientWidth + 2) el.tabIndex = 0; };
function start() {
  for (const root of $$('[data-gpuscale]')) {
    try { upgrade(root); } catch (e) { console.error(root.id, e); }   // the others still come alive
  }
  provenance(); follow();
  addEventListener('hashchange', follow);
  addEventListener('load', () => globalThis.MathJax?.startup?.promise.then(reach));
  addEventListener('beforeprint', () => { for (const d of $$('details')) d.open = true; });
}
/** The face of a notebook widget: the same figure, its sliders in step with Python. */
function render({ model, el }) {
  el.innerHTML = model.get('html');
  for (const at of $$('[id]', el)) {                       // a page may show one figure twice
    const id = at.id;
    at.id = fresh();
    for (const name of ['for', 'aria-labelledby']) $(`[${name}="${id}"]`, el)?.setAttribute(name, at.id);
    for (const a of $$(`a[href="#${id}"]`, el)) a.href = `#${at.id}`;
  }
  let frame = 0, latest;
  const onChange = (values) => {                           // at most once a frame, however fast the hand
    latest = values;
    frame ||= requestAnimationFrame(() => { frame = 0; model.set('values', latest); model.save_changes(); });
  };
  const made = $$('[data-gpuscale]', el).map((root) => upgrade(root, { notebook: true, onChange }));
  const sync = () => { if (!frame) for (const m of made) m.set?.(model.get('values')); };
  model.on('change:values', sync); sync(); provenance();
  return () => { model.off('change:values', sync); cancelAnimationFrame(frame); for (const m of made) m.destroy(); };
}

globalThis.gpuscale = { start, upgrade, render, painters, show, literal, plain, timings, grading };
if (globalThis.document?.currentScript) {                  // a module has none: there the widget decides
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start); else start();
}
