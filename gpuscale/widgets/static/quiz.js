/* Quiz: a card for each question, a score for each set. What is right is decided by grading.js alone. */
/** Progress stays in this browser; where storage is refused it lasts as long as the page. */
const progress = {
  held: {}, key: (id) => `gpuscale:quiz:${id}`,
  get(id) { try { return JSON.parse(localStorage.getItem(this.key(id))) ?? {}; } catch { return this.held[id] ?? {}; } },
  put(id, value) { this.held[id] = value; try { localStorage.setItem(this.key(id), JSON.stringify(value)); } catch { /* held above */ } },
};
/** A message may quote what was typed: only the plainest tags pass. */
const safe = (html) => escape(html).replace(/&#60;(\/?(?:i|b|sub|sup|code))&#62;/g, '<$1>').replace(/&#38;(#?\w+;)/g, '&$1');
const cards = globalThis.gpuscaleCards ??= new Map();      // every card on the page by its form, whichever script drew it

const inSet = (set) => [...new Map([...cards.values()].filter((c) => c.set === set).map((c) => [c.id, c])).values()].sort((a, b) => a.number - b.number);

function tally(set) {                                      // a notebook's score is not on the page yet when its cards are
  const held = inSet(set), now = held.map((c) => c.verdict()), at = `.score[data-set="${set}"]`;
  for (const el of new Set([...$$(at), ...held.flatMap((c) => $$(at, c.root.parentNode ?? c.root))])) {
    if (!$('ol', el)) score(el, set);
    $('span', el).textContent = worded(SCORE, now.filter((v) => v === 'right').length, held.length);
    $('ol', el).innerHTML = joined(held, ({ root, number }, i) => `<li><a href="#${root.id}" class="${now[i]}" aria-label="${worded(QUESTION, number, VERDICTS[now[i] || 'open'][2])}">${now[i] === 'right' ? '✓' : number}</a></li>`);
  }
}
function score(el, set) {
  el.innerHTML = '<span role="status"></span><ol></ol><div class="row">' + button(EXPORT) + button(RESET) + '</div>';
  const [save, reset] = $$('button', el);
  save.onclick = () => {
    const link = make(`<a download="${set}-answers.json"></a>`), answers = fromEntries(inSet(set).map((c) => [c.id, progress.get(c.id)]));
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ set, saved: new Date(), answers }, null, 1)], { type: 'application/json' }));
    doc.body.append(link); link.click(); link.remove(); setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  reset.onclick = () => {                                  // asks once, on the button itself
    const sure = reset.textContent === SURE;
    if (sure) for (const c of inSet(set)) c.reset();
    reset.textContent = sure ? RESET : SURE;
  };
  reset.onblur = () => { reset.textContent = RESET; };
}

function quiz(root, q) {
  const { on, end } = life(), uid = fresh(), [, set] = /(.*)\./.exec(q.id), solution = $('.solution', root), check = `<button class="btn main">${CHECK}</button>`;
  const body = make(`<div class="drawn">${q.choices ? `<fieldset><legend class="prompt"></legend>${joined(q.choices, (c, k) => `<label class="choice"><input type="radio" name="${uid}" value="${k}"><span>${c.text}</span></label>`)}</fieldset>${check}`
    : `<p class="prompt" id="${uid}-ask"></p><div class="answer"><label for="${uid}">${worded(YOUR_ANSWER, q.expects)}</label>
      <input id="${uid}" aria-describedby="${uid}-ask" autocapitalize="off" spellcheck="false">${check}${q.kind === 'formula' ? '<div class="preview"></div>' : ''}</div>`}
    <p class="feedback" role="status"></p><div class="row after" hidden>${q.variants.length > 1 ? button(ANOTHER) : ''}</div></div>`);
  const [field, show, feedback, after, again] = ['.answer input', '.preview', '.feedback', '.after', '.after .btn'].map((s) => $(s, body));
  let was = {}, turn;
  if (solution) after.prepend(solution);
  hide(root); root.prepend(body);

  function preview() {
    if (!show) return;
    try { show.innerHTML = field.value.trim() ? `${q.lhs ? `<span>${q.lhs} =</span>` : ''}${grading.preview(field.value, q)}` : `<span class="note">${AS_READ}</span>`; } catch (e) { show.textContent = e.message; }
  }
  /** An empty card, at a variant of its question. */
  function pose(variant) {
    turn = variant; root.reset();
    $('.prompt', body).innerHTML = `<b>${q.label ?? q.number + '.'}</b> ${q.variants[turn].ask ?? q.ask}`;
    feedback.className = 'feedback'; feedback.textContent = root.dataset.result = '';
    if (field) field.ariaInvalid = false;
    if (solution) solution.open = false;
    after.hidden = true; preview();
  }
  function judge(words) {
    const { verdict, message } = grading.judge(q, turn, words), [sign, word] = VERDICTS[verdict];
    feedback.classList.add(root.dataset.result = verdict);
    feedback.innerHTML = `<span class="mark" aria-hidden="true">${sign}</span><span><b>${word}</b> ${safe(message)}</span>`;
    if (field) field.ariaInvalid = verdict !== 'right';
    return verdict;
  }
  const earned = () => { after.hidden = !was.solved && !(was.tries >= q.attempts_to_reveal); if (q.label) solution.open = !after.hidden; };
  const keep = (value) => { was = value; progress.put(q.id, was); };
  function submit(e) {
    e.preventDefault();
    feedback.className = 'feedback';
    const text = (field ?? $(':checked', body))?.value ?? '', verdict = judge(text);
    keep({ text, variant: turn, tries: (was.tries ?? 0) + (verdict === 'wrong'), solved: was.solved || verdict === 'right' });
    earned(); tally(set);
  }
  on(root, 'submit', submit);
  on(root, 'input', preview);
  on(root, 'keydown', (e) => {                             // a notebook would keep Enter from sending the form
    if (e.key === 'Enter' && e.target === field) { e.preventDefault(); root.requestSubmit(); }
  });
  if (again) again.onclick = () => { keep({ ...was, text: '', tries: 0, variant: (turn + 1) % q.variants.length }); pose(was.variant); tally(set); (field ?? $('input', body)).focus(); };
  cards.set(root, { root, set, id: q.id, number: q.number, verdict: () => was.solved ? 'right' : root.dataset.result, reset() { keep({}); pose(0); tally(set); } });
  was = progress.get(q.id); pose(q.variants[was.variant] ? was.variant : 0);
  if (was.text) {
    if (field) field.value = was.text; else for (const r of $$('input', body)) r.checked = r.value === was.text;
    preview(); judge(was.text); earned();
  }
  tally(set);
  return { destroy() { end(); cards.delete(root); } };
}
