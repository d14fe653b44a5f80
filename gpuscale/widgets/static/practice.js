/* Practice: other numbers for a question, the answer once it is earned, a typed formula as it is read, what to review,
   progress as a file. Loaded when someone needs one of them. */
globalThis.gpuscale.practice = (() => {
  /** A whole number from 0 to below a count that depends on two texts alone: FNV-1a in 32 bits, with MurmurHash3's last mix.
      The twin of quiz/draws.py. */
  function pick(seed, salt, count) {
    let h = 2166136261;
    for (const c of `${seed} ${salt}`) h = Math.imul(h ^ c.charCodeAt(), 16777619);
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return ((h ^ (h >>> 16)) >>> 0) % count;
  }
  /** The values of a set, and their places among those allowed: variants as they are written come first. */
  function given({ drawn: d }, set) {
    const n = d.names.length;
    const at = fromEntries(
      [...d.sets.slice(set * n, set * n + n)].map((digit, i) => [d.names[i], parseInt(digit, 36)]),
    );
    return [{ ...d.given, ...fromEntries(d.names.map((name, i) => [name, d.values[i][at[name]]])) }, at];
  }
  /** The answer, then what each likely mistake amounts to. */
  const worked = (q, values) => Function('p', `const {${keys(values)}}=p;${q.drawn.work}`)(values);
  function shown(q, exact) {
    const v = +exact.toPrecision(12);
    const base = SCALE.get(q.unit)[1];
    const whole = q.unit === ONE || (q.variants[0].grade.exact && base === q.unit);
    return whole && v === floor(v) ? show(v, COUNT) + (q.unit === ONE ? '' : `\u00a0${q.unit}`) : show(v, q.unit, true);
  }
  function close(a, b, { tolerance, exact }) {
    if (!a || !b || (exact && a % 1 === 0 && b % 1 === 0)) return a === b;
    return a < 0 === b < 0 && abs(grading.bucket(a, tolerance) - grading.bucket(b, tolerance)) <= APART;
  }
  /** A question with the numbers of a seed, and how it is graded. */
  function drawn(q, seed) {
    const d = q.drawn;
    const [values, at] = given(q, q.variants.length + pick(seed, q.id, d.count));
    const found = worked(q, values);
    const { tolerance, exact } = q.variants[0].grade;
    const words = (text) => text.replace(/⟦(\w+):(.*?)⟧/g, (_, name, form) => d.shown[`${name}:${form}`][at[name]]);
    const [remark, ...mistakes] = d.said.map(words);
    const right = found[0];
    const open = {};
    const add = (v, message) => {
      open[grading.token(v, tolerance, exact)] = message;
    };
    add(right, `r${worded(IT_IS, shown(q, right))}${remark && ` ${remark}`}`);
    mistakes.forEach((message, i) => add(found[i + 1], `w${message}`));
    if (!exact && right) {
      for (const [factor, message] of SLIPS) {
        const v = factor * right;
        const skip = factor !== 2 && factor !== 0.5 && BARE.includes(SCALE.get(q.unit)[1]);
        if (!skip && !found.some((other) => close(v, other, { tolerance, exact }))) {
          add(v, `w${message}`);
          found.push(v);
        }
      }
    }
    return {
      ask: words(d.ask),
      values,
      grade: {
        open,
        tolerance,
        exact,
        wrong: words(d.wrong) || (exact ? OTHER_WHOLE : worded(NOT_WITHIN, +(100 * tolerance).toPrecision(6))),
      },
    };
  }
  /** The answer in words, for one who has missed it often enough. */
  function answer(q, turn) {
    if (q.choices) {
      const i = q.choices.findIndex((_, k) => grading.judge(q, turn, `${k}`).verdict === 'right');
      return worded(ANSWER, `“${q.choices[i].text.replace(/\.$/, '')}”`);
    }
    const [values] = given(q, real(turn) ? turn : q.variants.length + pick(turn, q.id, q.drawn.count));
    return worded(ANSWER, `<b>${shown(q, worked(q, values)[0])}</b>`);
  }

  /* A typed formula as MathML, so that the reader sees how it is read */
  const row = (s) => `<mrow>${s}</mrow>`;
  const mo = (s) => `<mo>${s}</mo>`;
  const within = (s, l = '(', r = ')') => row(mo(l) + s + mo(r));
  const open = (node) => (node[0] === 'paren' ? node[1] : node);
  const leads = (node) => ('+-*^'.includes(node[0]) ? leads(node[1]) : node[0]);
  function mathml(node, symbols) {
    const [kind, a, b] = node;
    const ml = (part) => mathml(part, symbols);
    const bare = (part) => row(ml(open(part)));
    if (kind === 'num') return `<mn>${a}</mn>`;
    if (kind === 'sym') {
      const [, base, sub] = /^<i>(.*)<\/i>(?:<sub>(.*)<\/sub>)?$/.exec(symbols[a].html) ?? [0, a];
      return sub ? `<msub><mi>${base}</mi><mtext>${sub}</mtext></msub>` : `<mi>${base}</mi>`;
    }
    if (kind === 'paren') return within(ml(a));
    if (kind === 'neg') return row(mo('−') + ml(a));
    if (kind === '/') return `<mfrac>${bare(a)}${bare(b)}</mfrac>`;
    if (kind === '^') return `<msup>${/\/|neg|call/.test(a[0]) ? within(ml(a)) : row(ml(a))}${bare(b)}</msup>`;
    if (kind === '*') {
      return row(ml(a) + (/num|neg/.test(leads(b)) ? mo('·') : '<mspace width="0.17em"></mspace>') + ml(b));
    }
    if (kind !== 'call') return row(ml(a) + mo(kind === '-' ? '−' : '+') + ml(b));
    if (a === 'sqrt') return `<msqrt>${ml(b[0])}</msqrt>`;
    if (a === 'ceil') return within(ml(b[0]), '⌈', '⌉');
    if (a === 'floor') return within(ml(b[0]), '⌊', '⌋');
    return row(
      (a === 'log2' ? '<msub><mi>log</mi><mn>2</mn></msub>' : `<mi>${a}</mi>`) +
        mo('(') +
        b.map(ml).join(mo(',')) +
        mo(')'),
    );
  }
  /** MathML of what is typed; throws an Error that says what cannot be read. */
  const preview = (text, spec) =>
    `<math display="block">${mathml(grading.formula(text, spec.symbols), spec.letters)}</math>`;
  /* Progress as a file */
  const KEY = 'gpuscale:quiz:';
  const ours = (id) => /^\w+\.\d+$/.test(id);
  function stored() {
    try {
      return fromEntries(
        entries(localStorage)
          .filter(([k]) => k.startsWith(KEY))
          .map(([k, v]) => [k.slice(KEY.length), JSON.parse(v)]),
      );
    } catch {
      return {};
    }
  }
  /** The better of two records of a question: solved, else tried more often. */
  const better = (a, b) =>
    !a.solved !== !b.solved
      ? a.solved
        ? a
        : b
      : (b.tries ?? 0) > (a.tries ?? 0) || !(a.text || a.solved || a.tries || a.missed)
        ? b
        : a;
  const tidy = ({ text, variant, tries, missed, solved }) => ({
    text: `${text ?? ''}`,
    variant: /^[a-z]\w{0,11}$/i.test(variant) ? variant : +variant || 0,
    tries: +tries || 0,
    missed: !!missed,
    solved: !!solved,
  });

  function take(el, name, text) {
    let answers = {};
    try {
      const { answers: own, others } = JSON.parse(text);
      answers = { ...others, ...own };
    } catch {
      /* said below */
    }
    const kept = entries(answers).filter(
      ([id, value]) =>
        ours(id) && value && typeof value === 'object' && (value.text || value.solved || value.tries || value.missed),
    );
    let news = 0;
    for (const [id, value] of kept) {
      const was = progress.get(id);
      const now = better(was, tidy(value));
      if (now !== was) {
        news++;
        progress.put(id, now);
      }
    }
    for (const card of cards.values()) card.revive();
    dispatchEvent(new Event('answers')); // the score of the whole book reads them again
    $('.said', el).textContent = kept.length ? worded(LOADED, kept.length, news) : worded(NOT_OURS, name);
  }

  /* What the buttons of a score do */
  return {
    drawn,
    answer,
    preview,
    pick,
    [EXPORT](el, set) {
      const link = make(`<a download="${set}-answers.json"></a>`);
      const answers = fromEntries(inSet(set).map((c) => [c.id, progress.get(c.id)]));
      const others = fromEntries(entries(stored()).filter(([id]) => !answers[id]));
      link.href = URL.createObjectURL(
        new Blob([JSON.stringify({ set, saved: new Date(), answers, others }, null, 1)], { type: 'application/json' }),
      );
      doc.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
    [LOAD](el) {
      const field = make('<input type="file" accept=".json,application/json" hidden>');
      field.onchange = async () => {
        const [file] = field.files;
        field.remove();
        if (file) take(el, file.name, await file.text());
      };
      el.append(field);
      field.click();
    },
    async [REVIEW](el, set) {
      const missed = inSet(set).filter((c) => c.verdict() === 'wrong' || c.tries() > 0);
      const said = $('.said', el);
      const byIdea = new Map();
      if (!globalThis.gpuscale.taught && site) await fetched(TAUGHT_FILE);
      for (const c of missed) {
        const [idea = '', chapter, href] = globalThis.gpuscale.taught?.[c.id] ?? [];
        if (!byIdea.has(idea)) byIdea.set(idea, { chapter, href, them: [] });
        byIdea.get(idea).them.push(`<a href="#${c.root.id}">${c.number}</a>`);
      }
      const rows = [...byIdea].sort((a, b) => b[1].them.length - a[1].them.length);
      said.innerHTML = rows.length
        ? `<ul>${joined(rows, ([idea, { chapter, href, them }]) => `<li><b>${escape(idea)}</b> ${worded(TAUGHT_IN, them.join(', '), href ? `<a href="${site}../${href}">${escape(chapter)}</a>` : '')}</li>`)}</ul>`
        : NONE_MISSED;
    },
    [RESET](el, set, button) {
      // asks once, on the button itself
      const sure = button.textContent === SURE;
      if (sure) for (const c of inSet(set)) c.reset();
      button.textContent = sure ? RESET : SURE;
      button.onblur = () => {
        button.textContent = RESET;
      };
    },
  };
})();
