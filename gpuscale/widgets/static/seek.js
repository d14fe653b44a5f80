/* Seek: "/" and Ctrl-K open the search, which is loaded when it is first wanted. */
const site = doc?.currentScript?.src.replace(/[^/]*$/, '');
/** A script of the site, when it has run. */
const fetched = (name) =>
  new Promise((done) =>
    doc.head.append(Object.assign(doc.createElement('script'), { src: site + name, onload: done, onerror: done })),
  );
async function seek() {
  if (!globalThis.gpuscale.search) {
    doc.head.append(make(`<link rel="stylesheet" href="${site}search.css">`));
    await fetched('search.js');
  }
  globalThis.gpuscale.search.open();
}
/** Keys that open the search, unless they are typed into a field. */
function listen() {
  addEventListener(
    'keydown',
    (e) => {
      const typing = e.target.closest?.('input, textarea, select, [contenteditable]');
      const { key, altKey, ctrlKey, metaKey, shiftKey } = e;
      const slash = key === '/' && !typing && !(altKey || ctrlKey || metaKey);
      const k = /^k$/i.test(key) && (ctrlKey || metaKey) && !altKey && !shiftKey;
      if (slash || k) {
        e.preventDefault();
        e.stopPropagation();
        seek();
      }
    },
    true,
  );
  doc.addEventListener('click', (e) => {
    if (e.target.closest('[data-seek]') && !(e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      seek();
    }
  });
}
