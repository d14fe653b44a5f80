/* What the browser tests ask of a page, as data. One object of functions, in every page that a test opens; see probe() in
   bookpages.py. */
window.probes = {
  /* --- pages --- */

  /** What makes a page scroll sideways: elements that stick out of it and are in no box that scrolls. */
  overflow(slack = 0) {
    const wide = document.documentElement.clientWidth;
    const whole = document.scrollingElement.scrollWidth;
    if (whole <= wide + slack) return [];
    const loose = [...document.body.querySelectorAll('*')].filter((el) => {
      if (el.getBoundingClientRect().right <= wide + 1) return false;
      let box = el.parentElement;
      while (box && box !== document.body && getComputedStyle(box).overflowX === 'visible') box = box.parentElement;
      return !box || box === document.body;
    });
    const name = (el) => `${el.tagName}.${el.getAttribute('class')} in #${el.closest('[id]')?.id}`;
    return [`scrolls to ${whole} px`, ...loose.slice(0, 4).map(name)];
  },

  /** Pictures without words: each has a text, or is hidden from who cannot see it, or stands in a named control. */
  wordless: () =>
    [...document.querySelectorAll('img, svg')]
      .filter((el) => {
        if (el.closest('[aria-hidden=true], [hidden], noscript')) return false;
        if (el.matches('img')) return !el.getAttribute('alt')?.trim();
        const words = el.getAttribute('aria-label') || el.querySelector(':scope > title')?.textContent;
        const control = el.closest('button, a');
        return (
          !(words?.trim() && (control || ['img', 'group'].includes(el.getAttribute('role')))) && !control?.ariaLabel
        );
      })
      .map((el) => el.outerHTML.slice(0, 120)),

  twice() {
    const ids = [...document.querySelectorAll('[id]')].map((el) => el.id);
    return [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))];
  },

  titles: () => [...document.querySelectorAll('h1')].filter((h) => h.checkVisibility()).map((h) => h.innerText),

  /** Opens what is folded, until window.foldBack() is called. */
  unfold() {
    const folded = [...document.querySelectorAll('details:not([open])')];
    for (const el of folded) el.open = true;
    window.foldBack = () => {
      for (const el of folded) el.open = false;
    };
  },

  /** Mathematics that sticks out of its column, or that something cuts off: every sign of every formula. With ``scrolling``,
   *  what is in a box that scrolls is not cut off. */
  cut(scrolling = false) {
    const out = [];
    const scrolls = (box) =>
      box.closest('article') && (getComputedStyle(box).overflowX === 'auto' || scrolls(box.parentElement));
    const apart = ['inline', 'contents'];
    for (const el of document.querySelectorAll('math')) {
      if (!el.checkVisibility()) continue;
      let column = el.closest('.equation, div.math') ?? el.parentElement;
      while (apart.includes(getComputedStyle(column).display)) column = column.parentElement;
      if (scrolling && scrolls(column)) continue;
      const room = column.getBoundingClientRect();
      const frame = column.closest('.equation, div.math, .expr, .approx');
      let worst = frame && getComputedStyle(frame).overflowX !== 'visible' ? frame.scrollWidth - frame.clientWidth : 0;
      for (const sign of el.querySelectorAll('mi, mn, mo, mtext, mfrac, msqrt')) {
        const at = sign.getBoundingClientRect();
        if (at.height) worst = Math.max(worst, at.right - room.right, room.left - at.left);
      }
      if (worst > 1) out.push(`${worst.toFixed(0)} px of ${el.querySelector('annotation')?.textContent.slice(0, 80)}`);
    }
    return out;
  },

  /** Steps of a derivation that stick out of their column, and a sign that a line's end parts from its formula. */
  parted() {
    const out = [];
    for (const list of document.querySelectorAll('.derivation')) {
      const over = list.scrollWidth - list.clientWidth;
      if (over > 1) out.push(`${over} px of ${list.textContent.slice(0, 60)}`);
    }
    for (const tie of document.querySelectorAll('.tie:has(math)')) {
      for (const sign of [...tie.childNodes].filter((node) => node.nodeType === 3 && node.data)) {
        const next = sign.nextSibling ? [sign.nextSibling, 0] : [sign.previousSibling, -1];
        const math = next[0].querySelector('math');
        const ends = math.matches('.long') ? [...math.querySelectorAll(':scope > semantics > .line > *')] : [math];
        const at = ends.at(next[1]).getBoundingClientRect();
        const range = document.createRange();
        range.selectNode(sign);
        const { top, bottom, height } = range.getBoundingClientRect();
        if (height && (top > at.bottom || bottom < at.top)) out.push(`“${sign.data}” of ${tie.textContent.slice(0, 60)}`);
      }
    }
    return out;
  },

  /** What sticks out of a card, or of a picture's box, and is in no box that scrolls. */
  sticking() {
    const out = [];
    for (const card of document.querySelectorAll('.card, .formula, .still')) {
      if (!card.checkVisibility() || getComputedStyle(card).overflowX === 'auto') continue;
      const edge = card.getBoundingClientRect().right + 2.5;
      const loose = [...card.querySelectorAll('*')].find((el) => {
        const box = el.getBoundingClientRect();
        if (box.right <= edge || !box.width || !box.height || el.closest('.scene svg, .quiet, annotation'))
          return false;
        for (let at = el.parentElement; at !== card; at = at.parentElement) {
          if (getComputedStyle(at).overflowX !== 'visible') return false;
        }
        return true;
      });
      if (loose) out.push(`${card.id || card.className}: ${loose.tagName} ${loose.textContent.trim().slice(0, 40)}`);
    }
    return out;
  },

  /** Mathematics that is not set: TeX as text, a formula without a sign, or one without its TeX. */
  raw() {
    const words = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
    const out = [];
    while (words.nextNode()) {
      const el = words.currentNode.parentElement;
      if (el.closest('annotation, script, template, code, pre')) continue;
      if (/\\[([a-zA-Z]/.test(words.currentNode.data)) out.push(words.currentNode.data.slice(0, 60));
    }
    for (const el of document.querySelectorAll('math:has(annotation)')) {
      const box = el.querySelector('mi, mn, mo').getBoundingClientRect();
      if (el.checkVisibility() && !box.width) out.push(`no width: ${el.textContent.slice(0, 60)}`);
    }
    for (const el of document.querySelectorAll('merror, .math:not(:has(math))')) out.push(el.outerHTML.slice(0, 60));
    return out;
  },

  /** What a page lacks where no script runs. */
  still() {
    const seen = (el) => !!el && el.checkVisibility() && el.getBoundingClientRect().height > 0;
    const out = [];
    for (const el of document.querySelectorAll('[data-gpuscale=live]')) {
      const pictures = [...el.querySelectorAll('.fallback svg')].filter(seen);
      if (pictures.length !== 1) out.push(`${el.id}: ${pictures.length} pictures`);
      if (!pictures[0]?.querySelector('path')) out.push(`${el.id}: no curve`);
      if (!seen(el.querySelector('.fallback table td'))) out.push(`${el.id}: no table`);
    }
    for (const el of document.querySelectorAll('[data-gpuscale=stage]')) {
      if (!seen(el.querySelector('table td'))) out.push(`${el.id}: no table`);
    }
    for (const el of document.querySelectorAll('[data-gpuscale=quiz]')) {
      if (!seen(el.querySelector('.fallback .prompt'))) out.push(`${el.id}: no question`);
      for (const d of el.querySelectorAll('.solution')) {
        if (!d.open || !seen(d.lastElementChild)) out.push(`${el.id}: solution folded`);
      }
    }
    return out;
  },

  /** What is cut, missing or idle on paper. */
  paper() {
    const seen = (el) => el.checkVisibility() && el.getBoundingClientRect().width > 0;
    const out = [];
    for (const el of document.querySelectorAll('.card, .still')) {
      const name = el.id || el.className;
      if (!seen(el)) out.push(`${name}: not on paper`);
      for (const svg of [...el.querySelectorAll('svg')].filter(seen)) {
        const at = svg.getBoundingClientRect();
        for (let box = svg.parentElement; box && box !== document.body; box = box.parentElement) {
          const b = box.getBoundingClientRect();
          const cuts = getComputedStyle(box).overflowX !== 'visible';
          if (cuts && (at.right > b.right + 1 || at.left < b.left - 1)) out.push(`${name}: cut`);
        }
        if (at.right > document.documentElement.clientWidth + 1) out.push(`${name}: wider than the paper`);
      }
    }
    for (const el of document.querySelectorAll('[data-gpuscale=live]')) {
      const n = [...el.querySelectorAll('svg')].filter(seen).length;
      if (n !== 1) out.push(`${el.id}: ${n} pictures`);
    }
    for (const el of document.querySelectorAll('.fallback details, .numbers')) {
      if (seen(el)) out.push(`the numbers of a figure: ${el.innerText.slice(0, 40)}`);
    }
    for (const el of document.querySelectorAll('.player, .answer, .btn, .toc, .bar, .hide, input:not([type=radio])')) {
      if (seen(el)) out.push(`a control is printed: ${el.className || el.outerHTML}`);
    }
    for (const el of document.querySelectorAll('pre, .scroll')) {
      if (el.scrollWidth > el.clientWidth + 1)
        out.push(`${el.scrollWidth - el.clientWidth} px cut: ${el.innerText.slice(0, 40)}`);
    }
    return out;
  },

  /** Solutions that paper has elsewhere than at its end, or folded, or without the name of their question. */
  unsolved(count) {
    const seen = (el) => el.checkVisibility() && el.getBoundingClientRect().height > 0;
    const out = [];
    const all = [...document.querySelectorAll('.solution')].filter(seen);
    const last = document.querySelector('article').lastElementChild;
    if (all.length !== count) out.push(`${all.length} solutions of ${count}`);
    for (const el of all) {
      const name = el.previousElementSibling?.innerText ?? '';
      if (el.closest('section') !== last) out.push(`not at the end: ${el.innerText.slice(0, 40)}`);
      if (!el.open || !seen(el.lastElementChild)) out.push(`folded: ${el.innerText.slice(0, 40)}`);
      if (!/^(Prediction \d+|\d+)\.$/.test(name)) out.push(`of which question: ${name}`);
      else if (![...document.querySelectorAll('.prompt b')].some((b) => seen(b) && b.innerText === name))
        out.push(`no question ${name}`);
    }
    return out;
  },

  /* --- live figures --- */

  figure(root) {
    const all = (q, f) => [...root.querySelectorAll(q)].map(f);
    const sliders = (f) => Object.fromEntries(all('.sliders input', (i) => [i.dataset.k, f(i)]));
    return {
      paths: all('.plot svg path.curve', (p) => p.getAttribute('d')),
      thick: all('.plot svg path.curve.now', (p) => p.getAttribute('d')),
      dots: all('.plot svg > circle', (c) => [c.getAttribute('cx'), c.getAttribute('cy')].join()),
      dot: all('.plot svg > circle[r="7.5"]', (c) => [+c.getAttribute('cx'), +c.getAttribute('cy')])[0] ?? null,
      labels: all('.plot svg text', (t) => t.textContent),
      ends: root
        .querySelector('.plot svg path.spine')
        .getAttribute('d')
        .match(/[\d.]+/g)
        .map(Number),
      sentence: root.querySelector('.state').innerText,
      code: root.querySelector('.call code').textContent,
      values: sliders((i) => i.nextElementSibling.textContent),
      spoken: sliders((i) => i.getAttribute('aria-valuetext')),
      positions: sliders((i) => +i.value),
      views: all('[data-view]', (b) => b.ariaPressed === 'true'),
      presets: all('[data-preset]', (b) => b.ariaPressed === 'true'),
    };
  },

  /** The whole state of a figure: it is in the link that the figure offers. */
  link(root) {
    const was = location.href;
    root.querySelector('[data-copy=link]').click();
    const link = location.hash;
    history.replaceState(null, '', was);
    return link;
  },

  /** Presses a view and a preset, and sets sliders to thousandths of their way. */
  put(root, { view, preset, at = {} }) {
    if (view !== undefined) root.querySelectorAll('[data-view]')[view]?.click();
    if (preset !== undefined) root.querySelectorAll('[data-preset]')[preset]?.click();
    for (const input of root.querySelectorAll('.sliders input')) {
      if (!(input.dataset.k in at)) continue;
      input.value = at[input.dataset.k];
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }
  },

  /** Waits for something, for so many frames at most. */
  async until(holds, frames = 900) {
    while (!(await holds()) && frames--) await new Promise(requestAnimationFrame);
  },

  follow: (hash) =>
    new Promise((done) => {
      history.replaceState(null, '', location.pathname);
      addEventListener('hashchange', done, { once: true });
      location.hash = hash;
    }),

  /** Once the figure is drawn for the width that it has now, back to the state of a link. */
  async reset(root, hash) {
    const plot = root.querySelector('.plot');
    await this.until(() => +plot.querySelector('svg').getAttribute('width') === plot.clientWidth);
    await this.follow(hash);
  },

  /** What the figure shows after each of some changes, and its link; a change may begin at the state of a link. */
  async seen(root, changes) {
    const out = [];
    for (const { from, ...to } of changes) {
      if (from) await this.follow(from);
      this.put(root, to);
      out.push([this.figure(root), this.link(root)]);
    }
    return out;
  },

  /** What is on the clipboard once a press of the button has brought the call there. */
  async copied(root) {
    const code = root.querySelector('.call code').textContent;
    root.querySelector('[data-copy=py]').click();
    let text;
    await this.until(async () => (text = await navigator.clipboard.readText()).trim().endsWith(code));
    return text;
  },

  /** The middle of the window has the plot: where its corners are there. */
  plotted(root) {
    const svg = root.querySelector('.plot svg');
    svg.scrollIntoView({ block: 'center', behavior: 'instant' });
    const [x0, y0, y1, x1] = this.figure(root).ends;
    const { x, y } = svg.getBoundingClientRect();
    return [x + x0, y + y0, x + x1, y + y1];
  },

  /** Corners of a figure's states: its sliders at their ends, two at a time, in each view, and each preset.
   *  Texts have to be sane and inside the drawing; labels may touch, but not overlap. */
  corners(root) {
    const inputs = [...root.querySelectorAll('.sliders input')];
    const views = [...root.querySelectorAll('[data-view]')];
    const svg = root.querySelector('.plot svg');
    const out = new Set();
    const slack = 2.5;
    const frame = (t) => {
      // a text's corners on the screen, turned as it is
      const b = t.getBBox();
      const m = t.getScreenCTM();
      const top = b.y + slack;
      const low = b.y + b.height - slack;
      return [
        [b.x, top],
        [b.x + b.width, top],
        [b.x + b.width, low],
        [b.x, low],
      ].map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
    };
    const apart = (p, q) =>
      [
        [p, 0],
        [p, 1],
        [q, 0],
        [q, 1],
      ].some(([r, i]) => {
        const n = [r[i + 1][0] - r[i][0], r[i + 1][1] - r[i][1]];
        const along = (s) => s.map((c) => c[0] * n[0] + c[1] * n[1]);
        const a = along(p);
        const b = along(q);
        const give = 1.5 * Math.hypot(...n);
        return Math.max(...a) < Math.min(...b) + give || Math.max(...b) < Math.min(...a) + give;
      });
    const around = (p) => [0, 1].map((r) => [Math.min(...p.map((c) => c[r])), Math.max(...p.map((c) => c[r]))]);
    const meet = (a, b) => [0, 1].every((r) => a[r][0] < b[r][1] && b[r][0] < a[r][1]); // few do: asked first
    function look(where) {
      const say = (what) => out.size < 12 && out.add(`${where}: ${what}`);
      const spoken = inputs.map((i) => i.getAttribute('aria-valuetext')).join(' ');
      const words = `${root.querySelector('.drawn').innerText} ${svg.textContent} ${svg.getAttribute('aria-label')} ${spoken}`;
      const odd =
        /NaN|undefined|Infinity|null|\[object|[{}]/.exec(words) ?? /NaN|undefined|Infinity/.exec(svg.innerHTML);
      if (odd) say(`“${odd.input.slice(Math.max(0, odd.index - 30), odd.index + 30)}”`);
      const box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
      const beyond = ([x, y]) => x < box.left - 1.5 || x > box.right + 1.5 || y < box.top - 1.5 || y > box.bottom + 1.5;
      const places = texts.map(frame);
      const bounds = places.map(around);
      const name = (i) => `“${texts[i].textContent}”`;
      places.forEach((p, i) => {
        if (p.some(beyond)) say(`${name(i)} sticks out of the drawing`);
        for (let j = 0; j < i; j++) {
          if (meet(bounds[i], bounds[j]) && !apart(p, places[j])) say(`${name(i)} lies on ${name(j)}`);
        }
      });
      const edge = root.getBoundingClientRect().right + 1;
      for (const el of root.querySelectorAll('.state, .call code, .sliders output, .btn')) {
        if (el.getBoundingClientRect().right > edge) say(`${el.className || el.tagName} sticks out of the card`);
      }
    }
    // Each two sliders at their ends with the others where they open, and all of them at one end.
    const opened = inputs.map((i) => i.value);
    const ends = [0, 1000];
    const states = [opened];
    for (const end of ends) states.push(inputs.map(() => end));
    for (const i of inputs.keys()) {
      for (const j of inputs.keys()) {
        if (i >= j && inputs.length > 1) continue;
        for (const a of ends) for (const b of ends) states.push(opened.with(j, b).with(i, a));
      }
    }
    for (const view of views.length ? views : [null]) {
      view?.click();
      for (const state of states) {
        inputs.forEach((input, i) => {
          if (input.value === String(state[i])) return;
          input.value = state[i];
          input.dispatchEvent(new Event('input', { bubbles: true }));
        });
        look(
          [view?.innerText, ...inputs.map((i) => `${i.dataset.k} = ${i.getAttribute('aria-valuetext')}`)].join(', '),
        );
      }
    }
    for (const button of root.querySelectorAll('[data-preset]')) {
      button.click();
      look(button.innerText);
    }
    return [...out];
  },

  /* --- quizzes --- */

  /** Turns a card to a variant, as a link to it does. */
  turn(form, variant) {
    if ((form.turn ?? 0) !== variant) gpuscale.upgrade(form).load(`${variant + 1}`);
    form.turn = variant;
  },

  /** Types answers into a card, each at one of its variants, and tells what the card says to each. */
  answers(form, { given, variants }) {
    const seen = (el) => !!el?.checkVisibility();
    const open = () => form.querySelector('.solution');
    const fresh = { solution: seen(open()) };
    return [
      fresh,
      ...given.map(([text, variant]) => {
        this.turn(form, variant, variants);
        const field = form.querySelector('.answer input');
        if (field) {
          field.value = text;
          field.dispatchEvent(new Event('input', { bubbles: true }));
        }
        for (const option of form.querySelectorAll('input[type=radio]')) option.checked = option.value === text;
        form.requestSubmit();
        const said = form.querySelector('.feedback');
        return {
          verdict: form.dataset.result,
          html: said.innerHTML,
          message: said.querySelector('span:last-child').textContent,
          invalid: field?.ariaInvalid,
          solution: seen(open()),
          unfolded: !!open()?.open,
          preview: !!form.querySelector('.preview math'),
        };
      }),
    ];
  },

  /** What a card asks at each variant in turn, from one that has been answered, and whether old feedback stays. */
  asked(form, { from, variants }) {
    const out = [];
    for (let i = 0; i <= variants; i++) {
      this.turn(form, (from + i) % variants, variants);
      const stays =
        i > 0 && (form.querySelector('.feedback').textContent || form.querySelector('.after').checkVisibility());
      out.push({ prompt: form.querySelector('.drawn .prompt').innerText, stays: !!stays });
    }
    return out;
  },

  score: (el) => ({
    text: el.querySelector('span').textContent,
    pips: [...el.querySelectorAll('ol a')].map((a) => [a.className, a.textContent, a.hash]),
  }),
};
