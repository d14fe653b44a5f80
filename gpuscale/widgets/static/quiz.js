/* Quiz: brings a static card to life; a score for each set. What is right is decided by grading.js alone. */
/** Progress stays in this browser; where storage is refused it lasts as long as the page. */
const progress = {
  held: {}, key: (id) => `gpuscale:quiz:${id}`,
  get(id) { try { return JSON.parse(localStorage.getItem(this.key(id))) ?? {}; } catch { return this.held[id] ?? {}; } },
  put(id, value) { this.held[id] = value; try { localStorage.setItem(this.key(id), JSON.stringify(value)); } catch { /* held above */ } },
};
const VERDICT = { right: ['✓', 'Right.', 'right'], wrong: ['✗', 'Not yet.', 'not yet right'], unclear: ['≠', 'Not graded:', 'open'], '': ['', '', 'open'] };
/** Mathematics that arrives late is set by the page's MathJax, if it has one. */
const typeset = (el) => globalThis.MathJax?.typesetPromise?.([el]);
const cards = globalThis.gpuscaleCards ??= new Map();                                   // each question on this page, with what it holds

function tally(set) {
  const all = $$(`form.quiz[data-set="${set}"]`).filter((f) => cards.has(f)), now = all.map((f) => cards.get(f).verdict());
  for (const el of $$('.score').filter((e) => (e.closest('[data-set]') ?? e).dataset.set === set)) {
    $('span', el).textContent = `${now.filter((v) => v === 'right').length} of ${all.length} right`;
    $('ol', el).innerHTML = all.map((f, i) => `<li><a href="#${f.id}" class="${now[i]}" aria-label="Question ${cards.get(f).number}, ${VERDICT[now[i]][2]}">${now[i] === 'right' ? '✓' : cards.get(f).number}</a></li>`).join('');
  }
}
function score(root) {
  const el = root.matches('.score') ? root : $('.score', root), { set } = root.dataset, held = () => $$(`form.quiz[data-set="${set}"]`).map((f) => cards.get(f)).filter(Boolean);
  el.innerHTML = '<span role="status"></span><ol></ol><div class="row"><button type="button" class="btn">Export</button><button type="button" class="btn">Reset</button></div>';
  const [save, reset] = $$('button', el);
  save.onclick = () => {
    const link = make(`<a download="${set}-answers.json"></a>`), answers = Object.fromEntries(held().map((c) => [c.id, progress.get(c.id)]));
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ set, saved: new Date(), answers }, null, 1)], { type: 'application/json' }));
    document.body.append(link); link.click(); link.remove(); setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  reset.onclick = () => {                                  // asks once, on the button itself
    const sure = reset.textContent !== 'Reset';
    if (sure) for (const c of held()) c.reset();
    reset.textContent = sure ? 'Reset' : 'Forget all answers?';
  };
  reset.onblur = () => { reset.textContent = 'Reset'; };
  tally(set);
  return { destroy() {} };
}

function quiz(root, q) {
  const off = new AbortController(), { set } = root.dataset, solution = $('.solution', root), feedback = $('.feedback', root), show = $('.preview', root);
  const field = $('.answer input', root), after = $('.after', root), typed = () => field ? field.value : $(':checked', root)?.value;
  const again = q.variants.length > 1 && make('<button type="button" class="btn">Another variant</button>');
  let was = {}, turn = 0;
  if (again) after.append(again);
  $('.main', root).disabled = false;

  function preview() {
    if (!show) return;
    const { html } = field.value.trim() ? grading.preview(field.value, q.symbols) : { html: `<span class="note">in ${Object.values(q.symbols).map((s) => s.html).join(', ')}</span>` };
    show.innerHTML = html;
  }
  /** An empty card, at a variant of its question. */
  function pose(variant) {
    if (variant !== turn) { $('.ask', root).innerHTML = q.variants[variant].ask; typeset($('.ask', root)); }
    turn = variant; root.reset(); preview();
    feedback.className = 'feedback'; feedback.textContent = ''; root.dataset.result = '';
    if (field) field.ariaInvalid = false;
    if (solution) solution.open = false;
    after.hidden = true;
  }
  function judge(words) {
    const { verdict, message } = grading.judge(q, turn, words), [sign, word] = VERDICT[verdict];
    feedback.className = `feedback ${verdict}`;
    feedback.innerHTML = `<span class="mark" aria-hidden="true">${sign}</span><span><b>${word}</b> ${message}</span>`;
    root.dataset.result = verdict;
    if (field) field.ariaInvalid = verdict !== 'right';
    return verdict;
  }
  const earned = () => { after.hidden = !was.solved && !(was.tries >= (q.attempts_to_reveal ?? 2)); };
  function check(e) {
    e.preventDefault();
    const words = typed() ?? '', verdict = judge(words);
    was = { text: words, variant: turn, tries: (was.tries ?? 0) + (verdict === 'wrong'), solved: was.solved || verdict === 'right' };
    progress.put(q.id, was); earned(); tally(set);
  }
  function restore() {
    was = progress.get(q.id); pose(q.variants[was.variant] ? was.variant : 0);
    if (!was.text) return;
    if (field) field.value = was.text; else for (const r of $$('input', root)) r.checked = r.value === was.text;
    preview(); judge(was.text); earned();
  }
  root.addEventListener('submit', check, { signal: off.signal });
  root.addEventListener('input', preview, { signal: off.signal });
  if (again) again.onclick = () => { was = { ...was, text: '', variant: (turn + 1) % q.variants.length, tries: 0 }; progress.put(q.id, was); pose(was.variant); tally(set); (field ?? $('input', root)).focus(); };
  cards.set(root, { id: q.id, number: q.number, verdict: () => was.solved ? 'right' : root.dataset.result ?? '', reset() { was = {}; progress.put(q.id, was); pose(0); tally(set); } });
  restore(); tally(set);
  return { destroy() { off.abort(); cards.delete(root); } };
}
