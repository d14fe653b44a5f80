/* Filter: the box above the formula index. What is searched, and which words are one, is the page's data, written by
   gpuscale.catalogue.search: a word finds here what it finds there. */
const finder = ({ stop, joined, endings, texts, formulas }) => {
  const idle = new Set(stop.split(' ')), lines = texts.map((text) => text.split(' ')), known = new Set(lines.flat());
  const words = (text) => {
    const plain = text.toLowerCase().normalize('NFKD').replace(/\p{Mn}|['’]/gu, '').match(/[\p{L}\p{N}_/]+/gu) ?? [];
    let line = plain.map((word) => word.replace(/^\/+|\/+$/g, '')).filter((word) => word && !idle.has(word)).map((word) => ` ${word}`).join('');
    for (const term of joined) for (const written of [term, term.replaceAll(' ', '')]) line = line.replaceAll(` ${written}`, ` ${term.replaceAll(' ', '_')}`);
    return line.split(' ').filter(Boolean);
  };
  const matching = (word) => {
    const forms = [word], cut = (n, end = '') => forms.push(word.slice(0, word.length - n) + end);
    if (word.length > 2 && /s$/.test(word) && !/(ss|us|is)$/.test(word)) cut(1);
    if (/ies$/.test(word)) cut(3, 'y'); else if (/(ch|sh|ss|x)es$/.test(word)) cut(2); else if (/y$/.test(word)) cut(1, 'ies');
    const there = forms.filter((form) => known.has(form));
    const whole = there.flatMap((form) => endings.slice(0, form.length > 2 ? endings.length : 2).map((ending) => form + ending)).filter((other) => known.has(other));
    return new Set(whole.length ? whole : [...known].filter((other) => other.startsWith(word)));
  };
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
