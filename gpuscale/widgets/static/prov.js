/* Where a number comes from: one tip for pointer and keyboard; Escape closes it, Enter goes to the source in it. */
function provenance() {
  if (doc.gpuscaleTip) return; // a notebook may load this script more than once
  const tip = (doc.gpuscaleTip = make(`<div class="tip" role="tooltip" id="${fresh()}" hidden></div>`));
  ($('main') ?? doc.body).append(tip);
  let shown;
  let timer;
  function hush() {
    tip.hidden = true;
    shown?.removeAttribute('aria-describedby');
    shown = null;
  }
  /** Sources link to the bibliography, which a notebook does not have. */
  function sources({ source, keys }) {
    const root = doc.documentElement.dataset.content_root;
    const known = keys?.split(' ');
    const link = (name, key) =>
      root !== undefined && key
        ? `<a href="${root}chapters/bibliography.html#ref-${key}">${escape(name)}</a>`
        : escape(name);
    return source
      .split('; ')
      .map((name, i) => link(name, known?.[i]))
      .join('; ');
  }
  function explain(el) {
    clearTimeout(timer);
    hush();
    shown = el;
    const at = rect(el);
    tip.innerHTML = `<dl>${joined(entries(PROVENANCE), ([name, k]) => (el.dataset[k] ? `<dt>${name}</dt><dd>${k === 'source' ? sources(el.dataset) : escape(el.dataset[k])}</dd>` : ''))}</dl>`;
    tip.hidden = false;
    el.setAttribute('aria-describedby', tip.id);
    const above = at.top - tip.offsetHeight - 6;
    tip.style.cssText = `left:${clamp(at.left + (at.width - tip.offsetWidth) / 2, 8, doc.documentElement.clientWidth - tip.offsetWidth - 8)}px;top:${above < 4 ? at.bottom + 6 : above}px`;
  }
  const number = (e) => e.target.closest?.('.prov');
  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(hush, 150);
  }; // time to move onto the tip
  const on = (types, f) => {
    for (const type of types) doc.addEventListener(type, f, true);
  };
  on(['mouseover', 'focusin', 'click'], (e) => {
    if (number(e)) {
      explain(number(e));
      if (e.type === 'click' && !e.detail) $('a', tip)?.focus();
    } else if (tip.contains(e.target)) clearTimeout(timer);
    else if (e.type === 'click') hush();
  });
  on(['mouseout', 'focusout'], (e) => {
    if (number(e) || tip.contains(e.target)) leave();
  });
  on(['keydown'], (e) => {
    if (e.key !== 'Escape') return;
    if (tip.contains(doc.activeElement)) shown?.focus();
    hush();
  });
  on(['scroll'], () => {
    if (shown) explain(shown);
  });
}
