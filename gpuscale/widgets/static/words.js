/* Words as Python compares them (gpuscale.catalogue.search): for the filter of the formula index and for the search. */
/** From the rules and the set of known words: a text in words, and the known words that a typed word stands for. */
const wording = ({ stop, joined, endings }, known) => {
  const idle = new Set(stop.split(' '));
  const words = (text) => {
    const plain =
      text
        .toLowerCase()
        .normalize('NFKD')
        .replace(/\p{Mn}|['’]/gu, '')
        .match(/[\p{L}\p{N}_/]+/gu) ?? [];
    let line = plain
      .map((word) => word.replace(/^\/+|\/+$/g, ''))
      .filter((word) => word && !idle.has(word))
      .map((word) => ` ${word}`)
      .join('');
    for (const term of joined) {
      for (const written of [term, term.replaceAll(' ', '')]) {
        line = line.replaceAll(` ${written}`, ` ${term.replaceAll(' ', '_')}`);
      }
    }
    return line.split(' ').filter(Boolean);
  };
  const matching = (word) => {
    const forms = [word];
    const cut = (n, end = '') => forms.push(word.slice(0, word.length - n) + end);
    if (word.length > 2 && /s$/.test(word) && !/(ss|us|is)$/.test(word)) cut(1);
    if (/ies$/.test(word)) cut(3, 'y');
    else if (/(ch|sh|ss|x)es$/.test(word)) cut(2);
    else if (/y$/.test(word)) cut(1, 'ies');
    const there = forms.filter((form) => known.has(form));
    const whole = there
      .flatMap((form) => endings.slice(0, form.length > 2 ? endings.length : 2).map((ending) => form + ending))
      .filter((other) => known.has(other));
    return new Set(whole.length ? whole : [...known].filter((other) => other.startsWith(word)));
  };
  return { words, matching };
};
