/* Filter: the box above rows or entries of a page, with a choice for some fields and a text. */
/** From the words of the formula index: which of its entries have all words of a text. What is searched, and which words
    are one, is written by gpuscale.catalogue.search: a word finds here what it finds there. */
const finder = ({ stop, joined, endings, texts, formulas }) => {
  const lines = texts.map((text) => text.split(' '));
  const { words, matching } = wording({ stop, joined, endings }, new Set(lines.flat()));
  /** The formulas that have all words of a text, null for a text without any; and the words that nothing has. */
  return (text) => {
    const asked = words(text).map((word) => [word, matching(word)]);
    const hits = asked.map(([, these]) => lines.map((line) => line.some((word) => these.has(word))));
    const found = asked.length
      ? Object.keys(formulas).filter((key) => hits.every((hit) => formulas[key].some((i) => hit[i])))
      : null;
    return { found, strange: asked.filter(([, these]) => !these.size).map(([word]) => word) };
  };
};
const page = globalThis.document;
const box = page?.querySelector('.rows-filter');
globalThis.gpuscale.finder = finder;
if (box) {
  const { $, $$, worded } = globalThis.gpuscale.parts;
  const data = $('script', box);
  const find = data && finder(JSON.parse(data.textContent));
  const fields = $$('select', box);
  const input = $('input', box);
  const said = $('output', box);
  const rows = $$('.filtered tr[id], .formula-index .entry').map((el) => {
    const heading = $('h2, h3', el.parentElement.closest('section')).firstChild.textContent;
    const values = fields.map(({ name }) => el.dataset[name] ?? $(`[data-${name}]`, el)?.dataset[name] ?? heading);
    return { el, values, text: find ? '' : el.textContent.toLowerCase() };
  });
  const sections = $$('section:not(.entry)').filter(
    (el) => !el.contains(box) && rows.some((row) => el.contains(row.el)),
  );
  fields.forEach((field, i) => {
    const counts = new Map();
    for (const { values } of rows) counts.set(values[i], (counts.get(values[i]) ?? 0) + 1);
    for (const [value, count] of counts) field.append(new Option(`${value} (${count})`, value));
  });
  /** Whether a row has what is typed, and why none may have it. */
  const typed = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    if (!find) return [({ text }) => words.every((word) => text.includes(word)), ''];
    const { found, strange } = find(input.value);
    const kept = new Set(found?.map((key) => `index-${key}`));
    return [
      ({ el }) => !found || kept.has(el.id),
      strange.length ? worded(NO_WORD, strange.join(`”${OR}“`)) : found?.length === 0 ? NOT_ALL : '',
    ];
  };
  const apply = () => {
    const [fits, why] = typed();
    const shown = new Set();
    for (const row of rows) {
      if (fits(row) && fields.every(({ value }, i) => !value.trim() || value === row.values[i])) shown.add(row.el);
    }
    for (const { el } of rows) el.classList.toggle('out', !shown.has(el));
    for (const el of sections) el.classList.toggle('out', ![...shown].some((row) => el.contains(row)));
    said.textContent = (shown.size === rows.length ? '' : `${shown.size} of `) + rows.length + said.dataset.of + why;
  };
  const clear = () => {
    input.value = '';
    apply();
  };
  /** A row that a link leads to is visible. Says which one was hidden. */
  const reveal = (hash) => {
    const target = hash.length > 1 && page.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target || !target.closest('.out')) return false;
    for (const field of fields) field.selectedIndex = 0;
    clear();
    return target;
  };
  box.addEventListener('input', apply);
  input.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && input.value) {
      e.preventDefault();
      clear();
    }
  });
  page.addEventListener('click', (e) => reveal(e.target.closest?.('a[href^="#"]')?.hash ?? ''));
  addEventListener('hashchange', () => {
    const target = reveal(location.hash);
    if (target) target.scrollIntoView();
  });
  box.hidden = false;
  apply(); // a browser may have kept what was typed
}
