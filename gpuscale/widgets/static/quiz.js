/* Quiz: a card for each question, a score for each set. What is right is decided by grading.js alone. */
/** Progress stays in this browser; where storage is refused it lasts as long as the page. */
const progress = {
  held: {},
  key: (id) => `gpuscale:quiz:${id}`,
  get(id) {
    try {
      return JSON.parse(localStorage.getItem(this.key(id))) ?? {};
    } catch {
      return this.held[id] ?? {};
    }
  },
  put(id, value) {
    this.held[id] = value;
    try {
      localStorage.setItem(this.key(id), JSON.stringify(value));
    } catch {
      /* held above */
    }
  },
};
/** A message may quote what was typed: only the plainest tags pass. */
const safe = (html) =>
  escape(html)
    .replace(/&#60;(\/?(?:i|b|sub|sup|code))&#62;/g, '<$1>')
    .replace(/&#38;(#?\w+;)/g, '&$1');
const cards = (globalThis.gpuscaleCards ??= new Map()); // every card on the page by its form, whichever script drew it

const inSet = (set) =>
  [...new Map([...cards.values()].filter((c) => c.set === set).map((c) => [c.id, c])).values()].sort(
    (a, b) => a.number - b.number,
  );

function tally(set) {
  // a notebook's score is not on the page yet when its cards are
  const held = inSet(set);
  const now = held.map((c) => c.verdict());
  const at = `.score[data-set="${set}"]`;
  for (const el of new Set([...$$(at), ...held.flatMap((c) => $$(at, c.root.parentNode ?? c.root))])) {
    if (!$('ol', el)) score(el, set);
    $('span', el).textContent = worded(SCORE, now.filter((v) => v === 'right').length, held.length);
    $('ol', el).innerHTML = joined(
      held,
      ({ root, number }, i) =>
        `<li><a href="#${root.id}" class="${now[i]}" aria-label="${worded(QUESTION, number, VERDICTS[now[i] || 'open'][2])}">${now[i] === 'right' ? '✓' : number}</a></li>`,
    );
  }
}
function score(el, set) {
  // what its buttons do is in practice.js
  el.innerHTML = `<span role="status"></span><ol></ol><div class="row">${joined([EXPORT, LOAD, REVIEW, RESET], (name) => button(name))}</div><div class="said" role="status"></div>`;
  for (const b of $$('button', el)) {
    b.onclick = () => practise((p) => p[(b.dataset.name ??= b.textContent)](el, set, b));
  }
}
/** Calls f with what only some readers need: other numbers, the answer, what to review. */
function practise(f) {
  const { gpuscale } = globalThis;
  if (gpuscale.practice) f(gpuscale.practice);
  else fetched(PRACTICE_FILE).then(() => f(gpuscale.practice));
}

function quiz(root, q, { notebook } = {}) {
  const { on, end } = life();
  const uid = fresh();
  const [, set] = /(.*)\./.exec(q.id);
  const solution = $('.solution', root);
  const check = `<button class="btn main">${CHECK}</button>`;
  const body = make(`<div class="drawn">${
    q.choices
      ? `<fieldset><legend class="prompt"></legend>${joined(q.choices, (c, k) => `<label class="choice"><input type="radio" name="${uid}" value="${k}"><span>${c.text}</span></label>`)}</fieldset>${check}`
      : `<p class="prompt" id="${uid}-ask"></p><div class="answer"><label for="${uid}">${worded(YOUR_ANSWER, q.expects)}</label>
      <input id="${uid}" aria-describedby="${uid}-ask" autocapitalize="off" spellcheck="false">${check}${q.kind === 'formula' ? '<div class="preview"></div>' : ''}</div>`
  }
    <p class="feedback" role="status"></p><div class="row after" hidden></div>${q.drawn?.count || q.variants.length > 1 ? `<div class="row again">${button(ANOTHER)}<span class="note"></span></div>` : ''}</div>`);
  const [field, show, feedback, after, again] = ['.answer input', '.preview', '.feedback', '.after', '.again .btn'].map(
    (s) => $(s, body),
  );
  let was = {};
  let turn;
  let now;
  if (solution) after.prepend(solution);
  hide(root);
  root.prepend(body);

  function preview() {
    if (show) {
      practise((p) => {
        try {
          show.innerHTML = field.value.trim()
            ? `${q.lhs ? `<span>${q.lhs} =</span>` : ''}${p.preview(field.value, q)}`
            : `<span class="note">${AS_READ}</span>`;
        } catch (e) {
          show.textContent = e.message;
        }
      });
    }
  }
  /** An empty card, at a variant of its question or at the numbers of a seed. */
  function pose(variant, drawn) {
    turn = variant;
    root.reset();
    now = drawn ?? q.variants[turn];
    $('.prompt', body).innerHTML = `<b>${q.label ?? q.number + '.'}</b> ${now.ask ?? q.ask}`;
    if (again) {
      again.nextSibling.innerHTML = drawn
        ? worded(THESE, notebook ? turn : `<a href="#${root.id}:${turn}">${turn}</a>`)
        : '';
    }
    feedback.className = 'feedback';
    feedback.textContent = root.dataset.result = '';
    if (field) field.ariaInvalid = false;
    if (solution) solution.open = false;
    after.hidden = true;
    $('.told', body)?.remove();
    preview();
  }
  function judge(words) {
    const { verdict, message } = grading.judge({ ...q, variants: [now] }, 0, words);
    const [sign, word] = VERDICTS[verdict];
    feedback.classList.add((root.dataset.result = verdict));
    feedback.innerHTML = `<span class="mark" aria-hidden="true">${sign}</span><span><b>${word}</b> ${safe(message)}</span>`;
    if (field) field.ariaInvalid = verdict !== 'right';
    return verdict;
  }
  function earned() {
    const told = was.tries >= q.attempts_to_reveal;
    after.hidden = !was.solved && !told;
    if (q.label) solution.open = !after.hidden;
    $('.told', body)?.remove();
    if (told && !was.solved && q.kind !== 'formula') {
      practise((p) => after.before(make(`<p class="told">${p.answer(q, turn)}</p>`)));
    }
  }
  const keep = (value) => {
    was = value;
    progress.put(q.id, was);
  };
  function submit(e) {
    e.preventDefault();
    feedback.className = 'feedback';
    const text = (field ?? $(':checked', body))?.value ?? '';
    const verdict = judge(text);
    keep({
      ...was,
      text,
      variant: turn,
      tries: (was.tries ?? 0) + (verdict === 'wrong'),
      solved: was.solved || verdict === 'right',
    });
    earned();
    tally(set);
  }
  on(root, 'submit', submit);
  on(root, 'input', preview);
  on(root, 'keydown', (e) => {
    // a notebook would keep Enter from sending the form
    if (e.key === 'Enter' && e.target === field) {
      e.preventDefault();
      root.requestSubmit();
    }
  });
  /** Shows a variant, by its place or its seed, and then does what is wanted. */
  function turnTo(variant, then = () => {}) {
    if (real(variant) || !q.drawn?.count) {
      pose(q.variants[variant] ? variant : 0);
      then();
    } else {
      practise((p) => {
        pose(variant, p.drawn(q, variant));
        then();
      });
    }
  }
  function load(variant) {
    keep({ ...was, text: '', tries: 0, missed: was.missed || was.tries, variant });
    turnTo(variant);
    tally(set);
  }
  if (again) {
    again.onclick = () => {
      load(q.drawn?.count ? fresh().slice(0, 5) : (turn + 1) % q.variants.length);
      (field ?? $('input', body)).focus();
    };
  }
  function revive() {
    was = progress.get(q.id);
    turnTo(was.variant ?? 0, () => {
      if (was.text) {
        if (field) field.value = was.text;
        else for (const r of $$('input', body)) r.checked = r.value === was.text;
        preview();
        judge(was.text);
        earned();
      }
      tally(set);
    });
  }
  cards.set(root, {
    root,
    set,
    q,
    id: q.id,
    number: q.number,
    revive,
    tries: () => was.tries || was.missed,
    verdict: () => (was.solved ? 'right' : root.dataset.result),
    reset() {
      keep({});
      pose(0);
      tally(set);
    },
  });
  revive();
  return {
    load: (seed) => {
      if (q.variants[seed - 1]) load(seed - 1);
      else if (/^[a-z]\w{0,11}$/i.test(seed) && q.drawn?.count) load(seed);
    },
    destroy() {
      end();
      cards.delete(root);
    },
  };
}
