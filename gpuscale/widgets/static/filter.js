/* Filter: the box above the formula index. What is searched, and which words are one, is the page's data, written by
   gpuscale.catalogue.search: a word finds here what it finds there. */
const finder = ({ stop, joined, endings, texts, formulas }) => {
  const lines = texts.map((text) => text.split(' ')), { words, matching } = wording({ stop, joined, endings }, new Set(lines.flat()));
  /** The formulas that have all words of a text, null for a text without any; and the words that nothing has. */
  return (text) => {
    const asked = words(text).map((word) => [word, matching(word)]);
    const hits = asked.map(([, these]) => lines.map((line) => line.some((word) => these.has(word))));
    const found = asked.length ? Object.keys(formulas).filter((key) => hits.every((hit) => formulas[key].some((i) => hit[i]))) : null;
    return { found, strange: asked.filter(([, these]) => !these.size).map(([word]) => word) };
  };
};
const page = globalThis.document, box = page?.querySelector('.filter');
globalThis.gpuscale.finder = finder;
if (box) {
  const { worded } = globalThis.gpuscale.parts, input = box.querySelector('input'), said = box.querySelector('output'), data = JSON.parse(box.querySelector('script').textContent);
  const find = finder(data), total = Object.keys(data.formulas).length;
  const entries = Object.keys(data.formulas).map((key) => [key, page.getElementById(`index-${key}`)]);
  const sections = [...page.querySelectorAll('section')].filter((el) => el.querySelector(':scope .entry') && !el.querySelector('.filter') && !el.matches('.entry'));
  const hide = (el, out) => el.classList.toggle('out', out);
  const apply = () => {
    const { found, strange } = find(input.value), kept = found && new Set(found);
    for (const [key, entry] of entries) hide(entry, !!kept && !kept.has(key));
    for (const section of sections) hide(section, !section.querySelector('.entry:not(.out)'));
    const why = strange.length ? worded(NO_WORD, strange.join(`”${OR}“`)) : kept?.size === 0 ? NOT_ALL : '';
    said.textContent = found ? worded(FOUND, found.length, total) + why : worded(FORMULAS, total);
  };
  const clear = () => { input.value = ''; apply(); };
  /** An entry that a link leads to is visible. Says whether it was hidden. */
  const reveal = (hash) => {
    const target = hash.length > 1 && page.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target || !target.closest('.out')) return false;
    clear();
    return target;
  };
  input.addEventListener('input', apply);
  input.addEventListener('keydown', (e) => { if (e.key === 'Escape' && input.value) { e.preventDefault(); clear(); } });
  page.addEventListener('click', (e) => reveal(e.target.closest?.('a[href^="#"]')?.hash ?? ''));
  addEventListener('hashchange', () => { const target = reveal(location.hash); if (target) target.scrollIntoView(); });
  box.hidden = false; apply();                             // a browser may have kept what was typed
}
