/* The filter above tables of rows: some fields and a text. All its data are in the rows. */
const page = globalThis.document, box = page?.querySelector('.rows-filter');
if (box) {
  const fields = [...box.querySelectorAll('select')], input = box.querySelector('input'), said = box.querySelector('output');
  const rows = [...page.querySelectorAll('.ledger-rows tr[id]')].map((el) => {
    const part = el.closest('.ledger-rows'), heading = el.closest('section').querySelector('h2, h3').firstChild.textContent;
    const value = ({ name }) => el.querySelector(`[data-${name}]`)?.dataset[name] ?? heading;
    return { el, part, text: el.textContent.toLowerCase(), values: Object.fromEntries(fields.map((field) => [field.name, value(field)])) };
  });
  for (const field of fields) {
    const counts = new Map();
    for (const { values } of rows) counts.set(values[field.name], (counts.get(values[field.name]) ?? 0) + 1);
    const known = [...counts];
    if (rows[0].el.querySelector(`[data-${field.name}]`)) known.sort((a, b) => b[1] - a[1]);
    for (const [value, count] of known) field.append(new Option(`${value} (${count})`, value));
  }
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = new Set();
    let count = 0;
    for (const { el, part, text, values } of rows) {
      const hit = fields.every((field) => !field.value.trim() || field.value === values[field.name]) && words.every((word) => text.includes(word));
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
    for (const field of fields) field.selectedIndex = 0;
    apply();
    return target;
  };
  box.addEventListener('input', apply);
  page.addEventListener('click', (e) => reveal(e.target.closest?.('a[href^="#"]')?.hash ?? ''));
  addEventListener('hashchange', () => { const target = reveal(location.hash); if (target) target.scrollIntoView(); });
  box.hidden = false;
  apply();                                                 // a browser may have kept what was chosen
}
