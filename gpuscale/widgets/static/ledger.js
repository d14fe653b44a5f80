/* The filter of the ledger: verdict, source, chapter and text. All its data are in the rows. */
const page = globalThis.document, box = page?.querySelector('.rows-filter');
if (box) {
  const [verdict, source, chapter] = box.querySelectorAll('select'), input = box.querySelector('input'), said = box.querySelector('output');
  const rows = [...page.querySelectorAll('.ledger-rows tbody tr')].map((el) => {
    const part = el.closest('.ledger-rows'), mark = el.querySelector('.verdict');
    const heading = el.closest('section').querySelector('h2, h3').firstChild.textContent;
    return { el, part, text: el.textContent.toLowerCase(), values: { verdict: mark.dataset.verdict, source: el.querySelector('small').dataset.source, chapter: heading } };
  });
  for (const field of [verdict, source, chapter]) {
    const counts = new Map();
    for (const { values } of rows) counts.set(values[field.name], (counts.get(values[field.name]) ?? 0) + 1);
    const known = field === chapter ? [...counts] : [...counts].sort((a, b) => b[1] - a[1]);
    for (const [value, count] of known) field.append(new Option(`${value} (${count})`, value));
  }
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = new Set();
    let count = 0;
    for (const { el, part, text, values } of rows) {
      const hit = [verdict, source, chapter].every((field) => !field.value.trim() || field.value === values[field.name]) && words.every((word) => text.includes(word));
      el.classList.toggle('out', !hit);
      if (hit) { count += 1; shown.add(part); }
    }
    for (const part of new Set(rows.map((row) => row.part))) part.closest('section').classList.toggle('out', !shown.has(part));
    said.textContent = said.dataset.said.replace('{shown}', count).replace('{all}', rows.length);
  };
  /** A row that a link leads to is visible. */
  const reveal = (hash) => {
    const target = hash.length > 1 && page.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target?.closest('.out')) return false;
    input.value = '';
    for (const field of [verdict, source, chapter]) field.selectedIndex = 0;
    apply();
    return target;
  };
  box.addEventListener('input', apply);
  page.addEventListener('click', (e) => reveal(e.target.closest?.('a[href^="#"]')?.hash ?? ''));
  addEventListener('hashchange', () => { const target = reveal(location.hash); if (target) target.scrollIntoView(); });
  box.hidden = false;
  apply();                                                 // a browser may have kept what was chosen
}
