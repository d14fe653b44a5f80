/* Start: on a page every marked element comes alive; in a notebook the widget calls upgrade. */
const KINDS = { live, quiz }; // the script of the stage brings one more
const alive = new WeakMap();

function upgrade(root, options) {
  if (!alive.has(root)) {
    alive.set(root, KINDS[root.dataset.gpuscale](root, JSON.parse($('script[type$=json]', root).textContent), options));
  }
  return alive.get(root);
}
/** #ID:query restores the state of a live figure, or the numbers of a question; #quiz:SEED those of all. */
function follow() {
  const [, id, query] = /^#([^:]+):(.*)$/.exec(location.hash) ?? [];
  const it = doc.getElementById(id);
  for (const at of id === 'quiz' ? cards.keys() : [it]) alive.get(at)?.load?.(query);
  if (cards.has(it)) it.scrollIntoView();
}
/** What a narrow page scrolls sideways has to be in reach of the keyboard. It is measured whenever it was laid out. */
function reach() {
  const watch = new ResizeObserver((all) => {
    for (const { target: el } of all) if (el.scrollWidth > el.clientWidth + 1) el.tabIndex = 0;
  });
  for (const el of $$('pre')) watch.observe(el);
}
/** Marks in the contents the section that is read, and closes the drawer of a phone behind a link to one. */
function whereabouts() {
  const spots = $$('.here > ul > li > a')
    .map((link) => [link, doc.getElementById(decodeURIComponent(link.hash.slice(1)))])
    .filter(([, section]) => section);
  let waits = false;
  const mark = () => {
    waits = false;
    const now = spots.findLast(([, section]) => rect(section).top < innerHeight / 4)?.[0];
    for (const [link] of spots) {
      if (link === now) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    }
  };
  addEventListener(
    'scroll',
    () => {
      if (!waits) {
        waits = true;
        requestAnimationFrame(mark);
      }
    },
    { passive: true },
  );
  doc.addEventListener('click', (e) => {
    // closing the drawer gives the focus back to the top of the page
    const link = e.target.closest('.here a');
    const drawer = link?.closest('dialog');
    drawer?.addEventListener(
      'close',
      () => requestAnimationFrame(() => doc.getElementById(decodeURIComponent(link.hash.slice(1)))?.scrollIntoView()),
      { once: true },
    );
    drawer?.close();
  });
  if (spots.length) mark();
}
/** Whether the script of its kind is there, and that of its figure. */
const ready = ({ dataset: { gpuscale: kind, painter } }) =>
  KINDS[kind] && (kind !== 'stage' || painter in globalThis.gpuscale.figures);
/** What can come alive already: a page is laid out once, with its cards in place, so this comes before any measuring. */
function wake() {
  for (const root of $$('[data-gpuscale]')) {
    if (ready(root)) {
      try {
        upgrade(root);
      } catch (e) {
        console.error(root.id, e);
      }
    } // the others still come alive
  }
}
function start() {
  wake();
  provenance();
  framing();
  follow();
  listen();
  whereabouts();
  reach();
  addEventListener('hashchange', follow);
  doc.addEventListener('copy', copied);
  if ($('math')) doc.fonts.load('1em mathematics'); // someone may print what was never laid out
  addEventListener('beforeprint', paper);
}
globalThis.gpuscale = { start, upgrade, model, plot, show, literal, plain, timings, grading };
if (doc?.currentScript) {
  // a module has none: there the widget decides
  (globalThis.gpuscale.wake = wake)();
  if (doc.readyState === 'complete') start();
  else addEventListener('DOMContentLoaded', start); // once every script that waits has run
}
