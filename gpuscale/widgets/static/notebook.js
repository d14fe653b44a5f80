/* Notebook: what only a widget needs; pages are served without it. */
/** The face of a notebook widget: the same figure, its sliders in step with Python. */
function render({ model, el }) {
  el.innerHTML = model.get('html');
  for (const at of $$('[id]', el)) {
    // a page may show one figure twice
    const id = at.id;
    at.id = fresh();
    for (const name of ['for', 'aria-labelledby']) $(`[${name}="${id}"]`, el)?.setAttribute(name, at.id);
    for (const a of $$(`a[href="#${id}"]`, el)) a.href = `#${at.id}`;
  }
  let frame = 0;
  let latest;
  const onChange = (values) => {
    // at most once a frame, however fast the hand
    latest = values;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      model.set('values', latest);
      model.save_changes();
    });
  };
  const made = $$('[data-gpuscale]', el).map((root) => upgrade(root, { notebook: true, onChange }));
  for (const at of [el, ...$$('*', el)]) at.dataset.lmSuppressShortcuts = true; // or arrow keys and letters go to the notebook
  const sync = () => {
    if (!frame) for (const m of made) m.set?.(model.get('values'));
  };
  model.on('change:values', sync);
  sync();
  provenance();
  return () => {
    model.off('change:values', sync);
    cancelAnimationFrame(frame);
    for (const m of made) m.destroy();
  };
}
globalThis.gpuscale.render = render;
