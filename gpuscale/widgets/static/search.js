/* Search: a dialog over every page, and the page of its own. What can be found, and what words weigh, is counted when
   the book is built (gpuscale.book.search_index); the ranking is here. */
const { $, make, escape, worded } = globalThis.gpuscale.parts;
const page = globalThis.document;
// What a kind of entry is worth compared with others of the same words, and what some pages are.
const WORTH = {
  page: 1.5,
  section: 1.15,
  term: 1.05,
  hardware: 1,
  formula: 0.85,
  figure: 0.8,
  symbol: 0.7,
  question: 0.55,
  ledger: 0.5,
};
const LESS = [
  [/^exercises\//, 0.6],
  [/(what_others_count|published_numbers|bibliography|further_reading)$/, 0.5],
  [/(lab_\w+|cheat_sheet)$/, 0.85],
];
const INFLECTED = 1;
const BEGUN = 0.6;
const MISTYPED = 0.45; // how well a word of the index fits a typed one
const EXACT = 2;
const PHRASE = 1.25; // the query is the whole name; it stands in the name or text as typed
const OF_PART = 2.5; // the query names a part of the hardware tables and something of its row
const NAMED = new Set(['page', 'section', 'term', 'formula', 'figure', 'question']); // a name of these says what it is about
const CHECKED = 80;
const SHOWN = 24;
const LONG = 220; // entries whose text is read; results; letters of an excerpt

/** Whether one of two words becomes the other by so many letters at most: put in, left out, changed, or swapped. */
function near(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return false;
  let before = [];
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        next[j] = Math.min(next[j], before[j - 2] + 1);
      }
    }
    if (Math.min(...next) > most) return false;
    [before, row] = [row, next];
  }
  return row[b.length] <= most;
}

/** The search over an index: from a query to its results, the best first, and the words that nothing has. */
const engine = (data) => {
  const known = data.words.split(' ');
  const posts = data.posts.split(' ');
  const place = new Map(known.map((word, i) => [word, i]));
  const { words, matching } = wording(data, new Set(known));
  const { entries, pages, answers } = data;
  const asking = new Set(data.asking.split(' '));
  const priors = pages.map(([path]) => LESS.reduce((all, [which, part]) => (which.test(path) ? all * part : all), 1));
  /** Two words that the book writes as one: "nv switch". */
  const together = (list) =>
    list.reduce(
      (all, word) =>
        place.has(`${all.at(-1)}${word}`) && !place.has(`${all.at(-1)}_${word}`)
          ? [...all.slice(0, -1), `${all.at(-1)}${word}`]
          : [...all, word],
      [],
    );
  /** The entries of a word with their weights. */
  const weights = (word) => {
    let at = -1;
    return [...posts[place.get(word)].matchAll(/([0-9a-z]+)([A-Z])/g)].map(([, gap, letter]) => [
      (at += parseInt(gap, 36)),
      letter.charCodeAt(0) - 64,
    ]);
  };
  /** Known words that a typed one may stand for, each with how well it fits; the last one may be half typed. */
  const fitting = (word, last) => {
    const found = new Map();
    const hits = matching(word);
    const whole = [...hits].some(
      (hit) => hit === word || !hit.startsWith(word) || data.endings.includes(hit.slice(word.length)),
    );
    for (const hit of hits) found.set(hit, whole ? INFLECTED : BEGUN);
    if (last && whole && word.length > 3) {
      for (const other of known) if (other.startsWith(word) && !found.has(other)) found.set(other, BEGUN / 2);
    }
    if (!found.size && word.length > 3) {
      for (const other of known) if (near(word, other, word.length > 7 ? 2 : 1)) found.set(other, MISTYPED);
    }
    return found;
  };
  return (query) => {
    const typed = words(query);
    const meant = typed.filter((word) => !asking.has(word));
    const asked = together(meant.length ? meant : typed);
    const fits = asked.map((word, i) => fitting(word, i === asked.length - 1));
    const scores = new Map();
    const counts = new Map();
    for (const fit of fits) {
      const best = new Map();
      for (const [word, quality] of fit) {
        for (const [entry, weight] of weights(word)) best.set(entry, Math.max(best.get(entry) ?? 0, weight * quality));
      }
      const rare = Math.log(1 + entries.length / (best.size + 1));
      for (const [entry, weight] of best) {
        scores.set(entry, (scores.get(entry) ?? 0) + rare * weight);
        counts.set(entry, (counts.get(entry) ?? 0) + 1);
      }
    }
    const rank = (entry) =>
      scores.get(entry) *
      (counts.get(entry) / asked.length) ** 2 *
      WORTH[entries[entry][0]] *
      priors[entries[entry][1]];
    let found = [...scores.keys()]
      .map((entry) => [rank(entry), entry])
      .sort((a, b) => b[0] - a[0])
      .slice(0, CHECKED);
    const line = asked.join(' ');
    found = found
      .map(([score, entry]) => {
        const [kind, , , name, , text] = entries[entry];
        const of = words(name);
        const own = of.join(' ');
        const exact =
          NAMED.has(kind) && of.length === asked.length && of.every((word, i) => fits[i].get(word) >= MISTYPED);
        const part =
          kind === 'hardware' && asked.length > 1 && counts.get(entry) === asked.length && asked.includes(of[0]);
        return [
          score *
            (exact ? EXACT : 1) *
            (part ? OF_PART : 1) *
            (asked.length > 1 && (own.includes(line) || words(text).join(' ').includes(line)) ? PHRASE : 1),
          entry,
        ];
      })
      .sort((a, b) => b[0] - a[0]);
    const first = answers[line];
    const ranked = [...new Set([...(first === undefined ? [] : [first]), ...found.map(([, entry]) => entry)])].slice(
      0,
      SHOWN,
    );
    const marks = marked(fits);
    return {
      results: ranked.map((entry) => {
        const [kind, at, anchor, name, above, text] = entries[entry];
        const [path, title] = pages[at];
        return {
          kind,
          path: `${path}.html${anchor ? `#${anchor}` : ''}`,
          name,
          title,
          above: above === name ? '' : above,
          text: excerpt(text, marks),
          marks,
        };
      }),
      strange: asked.filter((_, i) => !fits[i].size),
    };
  };
};
/** What is marked in a result: the words that were found, however they are joined. */
function marked(fits) {
  const all = fits
    .flatMap((fit) => [...fit.keys()])
    .sort((a, b) => b.length - a.length)
    .slice(0, 200);
  const parts = all.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll('_', '[-_ ]?'));
  return parts.length ? new RegExp(`(?<![\\p{L}\\p{N}])(${parts.join('|')})(?![\\p{L}\\p{N}])`, 'giu') : null;
}
/** The sentence of a text that has most of the words. */
function excerpt(text, marks) {
  const told = text.split(/(?<=[.!?]) (?=[A-Z])/);
  const hits = (sentence) =>
    new Set((marks && sentence.match(marks) ? sentence.match(marks) : []).map((hit) => hit.toLowerCase())).size;
  const best = told.reduce((a, b) => (hits(b) > hits(a) ? b : a), told[0] ?? '');
  const at = Math.max(0, (marks ? best.search(marks) : 0) - LONG / 2);
  const from = at ? best.indexOf(' ', at) + 1 : 0;
  const part = best.slice(from, from + LONG);
  return (from ? '… ' : '') + (from + LONG < best.length ? `${part.slice(0, part.lastIndexOf(' '))} …` : part);
}
const shown = (text, marks) =>
  marks
    ? text
        .split(marks)
        .map((part, i) => (i % 2 ? `<mark>${escape(part)}</mark>` : escape(part)))
        .join('')
    : escape(text);

/** A box and its results inside an element. `base`: the address of the site's root; `shut`: how the element closes, if it does. */
function mount(root, base, find, shut) {
  root.innerHTML = `<div class="seek-box" role="search"><input type="search" aria-label="${SEEK}" placeholder="${SEEK_LIKE}" autocomplete="off" spellcheck="false" enterkeyhint="go">${shut ? `<button type="button" class="icon" aria-label="${CLOSE}">✕</button>` : ''}</div><p class="seek-said" role="status"></p><ol class="seek-list"></ol>`;
  const input = $('input', root);
  const list = $('ol', root);
  const said = $('p', root);
  const links = () => [...list.querySelectorAll('a')];
  const apply = () => {
    const { results, strange } = find(input.value);
    const why = strange.length ? worded(NO_WORD, strange.join(`”${OR}“`)).replace(/^: /, '') : '';
    said.textContent = input.value.trim()
      ? [results.length ? worded(results.length === SHOWN ? SEEK_BEST : SEEK_FOUND, results.length) : SEEK_NONE, why]
          .filter(Boolean)
          .join('; ')
      : SEEK_HELP;
    list.innerHTML = results
      .map(
        ({ kind, path, name, title, above, text, marks }) =>
          `<li><a href="${base}${path}"><b>${shown(name, marks)}</b> <span class="seek-where">${[kind === 'page' ? '' : title, above].filter(Boolean).map(escape).join(' › ')}${kind === 'page' || kind === 'section' ? '' : ` · ${kind}`}</span>${text ? `<span class="seek-text">${shown(text, marks)}</span>` : ''}</a></li>`,
      )
      .join('');
    root.scrollTop = 0;
  };
  const step = (by) => {
    const all = [input, ...links()];
    const to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(page.activeElement) + by))];
    to?.focus();
    to?.scrollIntoView({ block: 'nearest' });
  };
  input.addEventListener('input', apply);
  root.addEventListener('keydown', (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) {
      e.preventDefault();
      step(by);
    } else if (e.key === 'Escape' && shut) {
      e.preventDefault();
      shut();
    } // at once, though the field would first empty itself
    else if (e.key === 'Enter' && e.target === input) {
      e.preventDefault();
      links()[0]?.click();
    }
  });
  apply();
  return { input, apply };
}

if (page) {
  const home = page.currentScript.src.replace(/_static\/[^/]*$/, '');
  const load = (name) =>
    new Promise((done, fail) =>
      page.head.append(
        Object.assign(page.createElement('script'), { src: `${home}_static/${name}`, onload: done, onerror: fail }),
      ),
    );
  let found;
  let box;
  const ready = async () => {
    if (!globalThis.gpuscale.found) await load(SEEK_DATA);
    found ??= engine(globalThis.gpuscale.found);
    return found;
  };
  /** Opens the dialog; the links of its results close it, since they may lead to another place of the same page. */
  const open = async () => {
    const find = await ready();
    let dialog = $('#seek');
    if (!dialog) {
      dialog = make(`<dialog id="seek" aria-label="${SEEK}"></dialog>`);
      page.body.append(dialog);
      // A closed dialog's field keeps the focus until the page is next drawn, and would take a "/" typed before that.
      const shut = () => {
        page.activeElement?.blur();
        dialog.close();
      };
      box = mount(dialog, home, find, shut);
      dialog.addEventListener('click', (e) => {
        if (e.target === dialog || e.target.closest('a, button')) shut();
      });
    }
    if (!dialog.open) dialog.showModal();
    box.input.focus();
    box.input.select();
  };
  globalThis.gpuscale.search = { open, find: async (query) => (await ready())(query) };
  const here = $('#seek-here');
  if (here) {
    ready().then((find) => {
      const { input, apply } = mount(here, home, find);
      input.value = new URLSearchParams(location.search).get('q') ?? '';
      apply();
      input.focus();
    });
  }
}
globalThis.gpuscale.engine = engine;
