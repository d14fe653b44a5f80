/* Scores: what a reader has answered in the whole book, by idea. taught.js says where each question is asked and where its
   idea is taught; the answers are those that quiz.js stores. */
const place = $('.scores');
/** A question by what is stored of it: right at once, right after a miss, wrong so far, or open. */
function verdict({ text, tries, missed, solved }) {
  if (solved) return tries || missed ? 'again' : 'right';
  return tries || missed || text ? 'wrong' : 'open';
}
const said = { right: VERDICTS.right[2], again: AFTER_MISS, wrong: VERDICTS.wrong[2], open: VERDICTS.open[2] };
const count = (them, ...of) => them.filter((one) => of.includes(one.state)).length;
const solvedOf = (them) => worded(SCORE, count(them, 'right', 'again'), them.length);

/** All ideas in the order in which the book teaches them, each with its questions. */
function ideas(taught) {
  const found = new Map();
  for (const [id, [idea, chapter, href, page, listed]] of entries(taught)) {
    const [, set, number] = /(.*)\.(\d+)/.exec(id);
    const key = `${chapter} ${idea}`;
    if (!found.has(key)) found.set(key, { idea, chapter, href, them: [] });
    found.get(key).them.push({
      set,
      number: listed ?? number,
      href: `${page}.html#q-${set}-${number}`,
      state: verdict(progress.get(id)),
    });
  }
  return [...found.values()];
}
function rows(list, titles) {
  const mark = ({ set, number, href, state }) => {
    const name = `${titles[set]}: ${worded(QUESTION, number, said[state])}`;
    return `<li><a class="${state}" href="${site}../${href}" title="${escape(name)}" aria-label="${escape(name)}">${state === 'right' ? '✓' : number}</a></li>`;
  };
  const row = ({ idea, href, them }) =>
    `<tr><td><a href="${site}../${href}">${escape(idea)}</a></td><td><ol>${joined(them, mark)}</ol></td><td>${solvedOf(them)}</td></tr>`;
  return `<table><thead><tr>${joined(SCORE_HEADS, (head) => `<th scope="col">${head}</th>`)}</tr></thead><tbody>${joined(list, row)}</tbody></table>`;
}
/** The chapters in the order of the contents. */
function chaptersOf(all) {
  const order = $$('.toc a').map((link) => link.pathname);
  const at = ({ href }) => order.indexOf(new URL(`${site}../${href}`).pathname);
  const by = new Map();
  for (const one of [...all].sort((a, b) => at(a) - at(b))) by.set(one.chapter, [...(by.get(one.chapter) ?? []), one]);
  return by;
}
function show(body, titles) {
  const all = ideas(globalThis.gpuscale.taught);
  const every = all.flatMap((one) => one.them);
  const missed = all
    .filter((one) => count(one.them, 'wrong', 'again'))
    .sort((a, b) => count(b.them, 'wrong') - count(a.them, 'wrong') || count(b.them, 'again') - count(a.them, 'again'));
  const part = ([chapter, list]) => {
    const them = list.flatMap((one) => one.them);
    const begun = count(them, 'open') < them.length;
    return `<details class="${begun ? 'begun' : ''}" ${begun ? 'open' : ''}><summary><span>${escape(chapter)}</span><span>${solvedOf(them)}</span></summary>${rows(list, titles)}</details>`;
  };
  $('.total', body).innerHTML = `<b>${solvedOf(every)}</b>`;
  $('.again-part', body).innerHTML = missed.length ? rows(missed, titles) : `<p>${NONE_MISSED}</p>`;
  $('.all-part', body).innerHTML = joined([...chaptersOf(all)], part);
}
async function scores() {
  const titles = fromEntries($$('[data-set]', place).map((link) => [link.dataset.set, link.textContent]));
  const body =
    make(`<div class="drawn"><p class="total" role="status"></p><div class="row">${joined([EXPORT, LOAD, RESET], (name) => button(name))}</div><div class="said" role="status"></div>
    <h2 id="repeat">${REPEAT}</h2><div class="again-part"></div><h2 id="ideas">${ALL_IDEAS}</h2><p class="key">${SCORE_KEY}</p><div class="all-part"></div></div>`);
  await fetched(TAUGHT_FILE);
  const { taught } = globalThis.gpuscale;
  if (!taught) return; // the list of all sets stays
  const again = () => show(body, titles);
  for (const b of $$('button', body)) {
    const name = b.textContent;
    b.onclick = () => {
      if (name !== RESET) return practise((p) => p[name](body, 'all'));
      const sure = b.textContent === SURE; // asks once, on the button itself
      if (sure) {
        for (const id of keys(taught)) progress.put(id, {});
        again();
      }
      b.textContent = sure ? RESET : SURE;
      b.onblur = () => {
        b.textContent = RESET;
      };
    };
  }
  again();
  hide(place);
  place.append(body);
  for (const type of ['storage', 'pageshow', 'answers']) addEventListener(type, again);
}
if (place) scores();
