/* Grading: the twin of quiz/grammar.py, quantity.py and grading.py. No DOM; nothing typed is run as code. */
const grading = (() => {
  const MAX_TEXT = 200, MAX_DEPTH = 30, REACH = 16, FINE = 1e6;
  const BITS = ' <code>b</code> is read as a bit; a byte is <code>B</code>.';
  class Unclear extends Error {}
  const unclear = (message) => { throw new Unclear(message); };
  const safe = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

  /* Units: size in base units, and the base unit, as in units.py */
  const low = (text) => text.toLowerCase();
  const both = (text) => text.split(' ').flatMap((w) => [w, `${w}s`]);
  const COUNTS = ['1', 'half', 'halves', 'USD', ...both('GPU SM core unit lane warp thread block register word link port token element parameter layer head ALU row cycle')];
  const MORE_COUNTS = ['way', 'switch', 'switches', 'microbatch', 'microbatches', ...both('time step hop node rank expert stage chip level group instruction operation')];
  const MANY = new Map(entries({ k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }));
  const BASE = { 1: 'a number', B: 'a number of bytes', 'B/s': 'a bandwidth', s: 'a time', FLOP: 'a number of FLOPs', 'FLOP/s': 'a rate of arithmetic', 'FLOP/B': 'an arithmetic intensity', Hz: 'a frequency', W: 'a power', 'USD/h': 'a price per hour' };
  const SCALE = new Map(), put = (base, sizes) => { for (const name in sizes) SCALE.set(name, [sizes[name], base]); };
  for (const name of COUNTS) put('1', { [name]: 1 });
  put('1', { x: 1, '×': 1, '%': .01 }); put('USD/h', { 'us$/h': 1, 'USD/h': 1 });
  put('s', { min: 60, h: 3600, hour: 3600, hours: 3600, day: 86400, days: 86400, sec: 1, seconds: 1 });
  const SI = { '': 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  for (const [p, v] of entries({ ...SI, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 })) {
    for (const name of ['B', 'byte', 'bytes', 'bit', 'bits', 'b']) {
      const size = v * (/by|B/.test(name) ? 1 : 1 / 8);
      put('B', { [p + name]: size }); put('B/s', { [`${p}${name}/s`]: size });
    }
    put('B/s', { [`${p}bps`]: v / 8, [`${p}Bps`]: v });
  }
  for (const [p, v] of entries(SI)) {
    put('Hz', { [`${p}Hz`]: v }); put('W', { [`${p}W`]: v }); put('FLOP/s', { [`${p}FLOPS`]: v });
    for (const name of ['FLOP', 'FLOPs', 'flop', 'flops'].map((w) => p + w)) {
      put('FLOP', { [name]: v, [`${name}/cycle`]: v }); put('FLOP/s', { [`${name}/s`]: v }); put('FLOP/B', { [`${name}/B`]: v, [`${name}/byte`]: v });
    }
  }
  put('s', { s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, μs: 1e-6, ns: 1e-9 }); put('B', { 'B/cycle': 1, 'bytes/cycle': 1 });
  const baseUnit = (unit) => unit === '%' ? '1' : unit in BASE ? unit : SCALE.get(unit)[1];

  /* Texts */
  const SUPER = '⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺', GREEK = { α: 'alpha', β: 'beta', γ: 'gamma', η: 'eta', μ: 'mu', τ: 'tau', φ: 'phi' };
  const normalise = (text) => String(text).replace(/[\ud800-\udfff]/gu, '\ufffd').replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .replace(/[\u0000-\u001f\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ').replace(/[\u2010-\u2015\u2212\ufe63\uff0d]/g, '-')
    .replace(/[·⋅∙∗]/g, '*').replace(/[∕⁄÷]/g, '/')
    .replace(RegExp(`[${SUPER}]+`, 'g'), (s) => `^${joined([...s], (c) => '0123456789-+'[SUPER.indexOf(c)])}`).replace(/^ +| +$/g, '');
  const brief = (text) => [...text].length <= 40 ? text : `${[...text].slice(0, 40).join('')}…`;
  function cleanText(text) {
    const clean = normalise(text);
    if (!clean) unclear('nothing is typed yet');
    if ([...clean].length > MAX_TEXT) unclear(`that is longer than an answer needs (${MAX_TEXT} characters)`);
    return clean;
  }

  /* One recursive descent for both: numbers may hold + - * / ^ and parentheses, formulas also names. */
  const NUMBER = '(?:(?:[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])|[0-9][0-9,_]*)(?:\\.[0-9,_]*)?|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?';
  const PLAIN = '(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:e[-+]?[0-9]+)?';        // E is a symbol of the book
  const TOKEN = new RegExp(`(${NUMBER})|\\*\\*|[^ ]`, 'gu'), FORMULA_TOKEN = new RegExp(`(${PLAIN})|[A-Za-z][A-Za-z0-9_]*|\\*\\*|[^ ]`, 'gu');
  const HEAD = new RegExp(`^(?:${NUMBER}|[-+*/^×() ])*`);
  const FUNCTIONS = new Map([['log_2', 'log2'], ['ceiling', 'ceil'], ...['min', 'max', 'log2', 'ceil', 'floor', 'sqrt'].map((f) => [f, f])]);
  const functionOf = (name) => FUNCTIONS.get(low(name));
  function literal(token) {
    if (token.includes(',') && !/^[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?$/.test(token)) unclear(`“${token}” can be read in two ways: write 1.5 for one and a half, 1,500 for fifteen hundred`);
    if (token.endsWith('_') || token.includes('__')) unclear(`“${token}” is no number`);
    return finite(+token.replace(/[,_ ]/g, ''));
  }
  const finite = (v) => real(v) ? v : unclear('that does not come out as a finite number');

  function parse(text, symbols, grammar) {
    const tokens = [...text.matchAll(grammar)].map((m) => [m[0], m[1] !== undefined]);
    let at = 0, depth = 0;
    const peek = () => tokens[at]?.[0] ?? '';
    const take = (...wanted) => at < tokens.length && wanted.includes(peek()) ? tokens[at++][0] : '';
    function fail() {
      if (at < tokens.length) unclear(`“${peek()}” is out of place`);
      unclear(tokens.length ? `after “${tokens.at(-1)[0]}” something is missing` : 'nothing is typed yet');
    }
    const unclosed = () => at === tokens.length ? unclear('a parenthesis is not closed') : fail();
    function deeper(part) {
      if (++depth > MAX_DEPTH) unclear('the parentheses and powers are nested too deeply');
      const node = part();
      depth--;
      return node;
    }
    function sum() {
      let node = product();
      for (let op; (op = take('+', '-'));) node = [op, node, product()];
      return node;
    }
    function product() {
      let node = signed();
      for (;;) {
        const op = take('*', '/', '×');
        if (op) node = [op === '/' ? '/' : '*', node, signed()];
        else if (startsAtom()) node = ['*', node, raised()];
        else return node;
      }
    }
    function startsAtom() {
      if (tokens[at]?.[1] && tokens[at - 1][1]) unclear(`“${tokens[at - 1][0]}” and “${peek()}” are two numbers in a row`);
      return /^[A-Za-z0-9.(]/.test(peek());
    }
    function signed() {
      const sign = take('-', '+');
      if (!sign) return raised();
      const node = deeper(signed);
      return sign === '-' ? ['neg', node] : node;
    }
    function raised() {
      const base = atom();
      return take('^', '**') ? ['^', base, deeper(signed)] : base;
    }
    function atom() {
      if (at === tokens.length) fail();
      const [token, number] = tokens[at];
      if (number) { at++; return ['num', literal(token), token]; }
      if (take('(')) {
        const node = deeper(sum);
        return take(')') ? ['paren', node] : unclosed();
      }
      return /^[A-Za-z]/.test(token) ? name(token) : fail();
    }
    function name(token) {
      at++;
      if (functionOf(token) && peek() === '(') return call(functionOf(token));
      const same = symbols.filter((s) => s.length > 1 && low(s) === low(token));
      if (symbols.includes(token)) return ['sym', token];
      if (same.length === 1) return ['sym', same[0]];
      if (functionOf(token)) unclear(`“${token}” needs its argument in parentheses`);
      if ([...token].every((c) => symbols.includes(c))) return ['paren', [...token].map((c) => ['sym', c]).reduce((a, b) => ['*', a, b])];
      return unclear(`“${brief(token)}” is not one of ${symbols.join(', ')}`);
    }
    function call(f) {
      take('(');
      const args = [deeper(sum)], many = f === 'min' || f === 'max';
      while (take(',')) args.push(deeper(sum));
      if (!take(')')) unclosed();
      if (many && args.length === 1) unclear(`${f} compares two or more, with commas between them`);
      if (!many && args.length > 1) unclear(`${f} takes one argument`);
      return ['call', f, args];
    }
    const tree = sum();
    return at === tokens.length ? tree : fail();
  }
  const OPERATIONS = { paren: (a) => a, neg: (a) => -a, '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '^': Math.pow, min, max, log2: Math.log2, ceil, floor, sqrt: Math.sqrt };
  const partsOf = (node) => node[0] === 'call' ? node[2] : node.slice(1);
  function value(node, env) {
    if (node[0] === 'num') return node[1];
    if (node[0] === 'sym') return env[node[1]];
    return finite(OPERATIONS[node[0] === 'call' ? node[1] : node[0]](...partsOf(node).map((part) => value(part, env))));
  }

  /* Numbers with a unit */
  const BARE_UNITS = ['1', 'FLOP', 'FLOP/B', 'USD/h'];
  function number(text, unit, expects, noun = '') {
    let clean = cleanText(text).replace(/^(?:[A-Za-z_]+ ?(?==))?[=≈~] */, '');
    if (clean.startsWith('$')) clean = clean.replace(/^\$ *([^ /A-Za-z]*)/, '$1 USD');
    clean = clean.replace(/(?<=[0-9]) ?x ?(?=[0-9])/g, '*');
    const head = HEAD.exec(clean)[0].replace(/[ */×]+$/, '');
    if (!head) unclear(`“${brief(clean)}” does not begin with a number; expected ${expects}`);
    const amount = value(parse(head, [], TOKEN), {}), asked = unitText(clean.slice(head.length)), want = baseUnit(unit);
    if (!asked) {
      if (unit === '%' && abs(amount) > 1) unclear(`${brief(clean)} can be a percentage or a share: write 45% or 0.45`);
      if (amount && !BARE_UNITS.includes(want)) unclear(`${brief(clean)} has no unit; expected ${expects}`);
      return [amount, ''];
    }
    const [size, found] = unitOf(asked, want, expects, noun);
    if (found !== want) unclear(`${brief(clean)} is ${BASE[found]}; ${BASE[want]} is asked${asked === 'B' && want === '1' ? ' (for billions write 70e9)' : ''}`);
    return [finite(amount * size), /^[kKMGTP]?i?b(?:\/s|ps)?$/.test(asked) ? 'bits' : ''];
  }
  function unitText(text) {
    const unit = text.replace(/^[ *]+/, '').replace(/ *(?:\/| per ) */g, '/').replace(/\/(?:hr|hours?)(?![A-Za-z])/g, '/h').replace(/\/(?:sec|seconds?)(?![A-Za-z])/g, '/s').replace(/\$/g, 'USD').replace(/[ .]+$/, '');
    return unit === '/s' ? 'Hz' : unit === 'percent' ? '%' : unit;
  }
  function unitOf(text, want, expects, noun) {
    const exact = SCALE.get(text), n = low(noun);
    if (exact?.[1] === want) return exact;
    if (MORE_COUNTS.includes(text) || (n && [n, n.replace(/s$/, ''), n.replace(/es$/, '')].includes(low(text)))) return [1, '1'];
    const near = new Map();
    for (const [k, v] of SCALE) if (low(k) === low(text) && v[1] === want && !near.has(v[0])) near.set(v[0], k);
    if (near.size === 1) return [[...near.keys()][0], want];
    if (exact) return exact;
    if (near.size) unclear(`“${text}” can be read in two ways: write ${[...near.values()].sort().join(' or ')}`);
    const [, first, rest] = /^([^ ]*) ?(.*)$/u.exec(text), many = MANY.get(first);
    if (many && (rest || want === '1')) {
      const [size, found] = rest ? unitOf(rest, want, expects, noun) : [1, '1'];
      return [many * size, found];
    }
    const cut = text.lastIndexOf('/'), right = text.slice(cut + 1);
    if (cut > 0 && (COUNTS.includes(right) || MORE_COUNTS.includes(right))) return unitOf(text.slice(0, cut), want, expects, noun);
    return unclear(`“${brief(text)}” is no unit known here; expected ${expects}`);
  }

  /* Formulas */
  function formula(text, symbols) {
    let clean = cleanText(text).replace(/^[A-Za-z][A-Za-z0-9_{}\\]* *= */, '').replace(/_\{([A-Za-z0-9]+)\}/g, '_$1').replace(/\\([A-Za-z])/g, '$1');
    for (const [letter, name] of entries(GREEK)) clean = clean.replaceAll(letter, ` ${name} `);
    return parse(clean, symbols, FORMULA_TOKEN);
  }
  const dimensionOf = (unit) => [/^B/.test(unit) - /.B/.test(unit), (unit === 's') - /.s|Hz|h/.test(unit)];
  const KINDS = { '0,0': 'a plain number', '1,0': 'a number of bytes', '0,1': 'a time', '1,-1': 'a bandwidth', '0,-1': 'a rate' };
  const word = (d) => KINDS[d.map((e) => e || 0)] ?? 'a quantity of another kind';
  /** Exponents of byte and second; null fits anything. */
  function dimension(node, units) {
    const [kind, f] = node;
    if (kind === 'num') return f ? [0, 0] : null;
    if (kind === 'sym') return dimensionOf(units[f].unit);
    const parts = partsOf(node).map((part) => dimension(part, units)), [a, b] = parts.map((d) => d ?? [0, 0]);
    if (kind === 'paren' || kind === 'neg') return parts[0];
    if (kind === '*') return [a[0] + b[0], a[1] + b[1]];
    if (kind === '/') return [a[0] - b[0], a[1] - b[1]];
    if (kind === '^') {
      if (!a[0] && !a[1]) return [0, 0];
      if (hasName(node[2])) unclear(`a power of ${word(a)} needs a plain number as exponent`);
      const e = value(node[2], {});
      return [e * a[0], e * a[1]];
    }
    if (f === 'sqrt') return [a[0] / 2, a[1] / 2];
    if (f === 'log2' || f === 'ceil' || f === 'floor') return [0, 0];
    const known = parts.filter((d) => d);
    for (const d of known.slice(1)) if (d[0] !== known[0][0] || d[1] !== known[0][1]) unclear(`${word(known[0])} and ${word(d)} cannot be ${kind === 'call' ? 'compared' : 'added'}`);
    return known[0] ?? null;
  }
  const hasName = (node) => node[0] === 'sym' || (node[0] !== 'num' && partsOf(node).some(hasName));

  /* SHA-256 of ASCII text, as bytes: crypto.subtle is missing on plain http */
  const PRIMES = [];
  for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p)) PRIMES.push(n);
  const fraction = (x) => floor((x - floor(x)) * 2 ** 32) | 0;
  const ROUND = PRIMES.map((p) => fraction(Math.cbrt(p))), START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  const mix = (x, a, b, c) => turn(x, a) ^ turn(x, b) ^ turn(x, c);
  function sha256(text) {
    const data = [], end = (text.length + 8 >> 6) * 16 + 16;
    [...`${text}\x80`].forEach((c, i) => { data[i >> 2] |= c.charCodeAt() << 24 - i % 4 * 8; });
    data[end - 1] = text.length * 8;
    let state = START;
    for (let at = 0; at < end; at += 16) {
      const w = [];
      let now = state;
      for (const i of range(64)) {
        const [a, b, c, d, e, f, g, h] = now, x = w[i - 15], y = w[i - 2];
        w[i] = i < 16 ? data[at + i] | 0 : w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10) | 0;
        const one = h + mix(e, 6, 11, 25) + (e & f ^ ~e & g) + ROUND[i] + w[i], two = mix(a, 2, 13, 22) + (a & b ^ a & c ^ b & c);
        now = [one + two | 0, a, b, c, d + one | 0, e, f, g];
      }
      state = state.map((v, i) => v + now[i] | 0);
    }
    return state.flatMap((x) => [24, 16, 8, 0].map((shift) => x >>> shift & 255));
  }
  const hex = (bytes) => joined(bytes, (x) => x.toString(16).padStart(2, '0'));
  const digest = (salt, text) => hex(sha256(`${salt}|${text}`)).slice(0, 16);
  function unseal(sealed, salt, text) {
    let stream = [], out = '';
    for (let i = 0; i < sealed.length; i += 2) {
      if (i % 64 === 0) stream = sha256(`${salt}|${text}|${i / 64}`);
      out += `%${hex([parseInt(sealed.slice(i, i + 2), 16) ^ stream[(i / 2) % 32]])}`;
    }
    return decodeURIComponent(out);
  }

  /* Buckets and verdicts */
  const bucket = (v, tolerance) => floor(Math.log(abs(v)) * REACH / tolerance + .5);
  const whole = (v) => abs(v - floor(v + .5)) <= 1e-9 * abs(v) && abs(v) < 2 ** 53;
  const bucketToken = (v, tolerance, exact) => v === 0 || (exact && whole(v)) ? `=${floor(v + .5)}` : `${v < 0 ? '-' : '+'}${bucket(v, tolerance)}`;
  function nearTokens(v, tolerance, exact) {
    const first = bucketToken(v, tolerance, exact), steps = v ? range(REACH + 1).flatMap((i) => [i, -i]) : [];
    return [...new Set([first, ...steps.map((d) => `${v < 0 ? '-' : '+'}${bucket(v, tolerance) + d}`)])];
  }
  function outcome(grade, tokens) {
    const read = tokens.map((t) => [grade.outcomes[digest(grade.salt, t)], t]).filter(([sealed]) => sealed).map(([sealed, t]) => unseal(sealed, grade.salt, t));
    const best = read.find((m) => m[0] === 'r') ?? read[0];
    return best && { verdict: best[0] === 'r' ? 'right' : 'wrong', message: best.slice(1) };
  }
  function judgeFormula(spec, grade, text) {
    const tree = formula(text, spec.symbols);
    const values = grade.points.map((point) => value(tree, point));
    const found = outcome(grade, [`f${values.map((v) => bucketToken(v, REACH / FINE)).join(',')}`]);
    if (found) return found;
    const kind = dimension(tree, spec.letters), wanted = dimensionOf(spec.unit);
    if (kind && (kind[0] !== wanted[0] || kind[1] !== wanted[1])) unclear(`that is ${word(kind)}; ${word(wanted)} is asked`);
    return { verdict: 'wrong', message: grade.wrong };
  }
  /** The verdict on a typed answer, and the reason as HTML; for a choice the text is the index of the option. */
  function judge(spec, variant, text) {
    const { grade } = spec.variants[variant];
    try {
      if (spec.kind === 'choice') return outcome(grade, [`#${normalise(text)}`]) ?? unclear('no option is chosen yet');
      if (spec.kind === 'formula') return judgeFormula(spec, grade, text);
      const [v, note] = number(text, spec.unit, spec.expects, spec.noun);
      const found = outcome(grade, nearTokens(v, grade.tolerance, grade.exact)) ?? { verdict: 'wrong', message: grade.wrong };
      return found.verdict === 'wrong' && note ? { ...found, message: found.message + BITS } : found;
    } catch (reason) {
      if (!(reason instanceof Unclear)) throw reason;
      return { verdict: 'unclear', message: `${safe(reason.message)}.` };
    }
  }

  /* A typed formula as MathML, so that the reader sees how it is read */
  const row = (s) => `<mrow>${s}</mrow>`, mo = (s) => `<mo>${s}</mo>`, within = (s, l = '(', r = ')') => row(mo(l) + s + mo(r)), open = (node) => node[0] === 'paren' ? node[1] : node;
  const leads = (node) => '+-*^'.includes(node[0]) ? leads(node[1]) : node[0];
  function mathml(node, symbols) {
    const [kind, a, b] = node, ml = (part) => mathml(part, symbols), bare = (part) => row(ml(open(part)));
    if (kind === 'num') return `<mn>${a}</mn>`;
    if (kind === 'sym') {
      const [, base, sub] = /^<i>(.*)<\/i>(?:<sub>(.*)<\/sub>)?$/.exec(symbols[a].html) ?? [0, a];
      return sub ? `<msub><mi>${base}</mi><mtext>${sub}</mtext></msub>` : `<mi>${base}</mi>`;
    }
    if (kind === 'paren') return within(ml(a));
    if (kind === 'neg') return row(mo('−') + ml(a));
    if (kind === '/') return `<mfrac>${bare(a)}${bare(b)}</mfrac>`;
    if (kind === '^') return `<msup>${/\/|neg|call/.test(a[0]) ? within(ml(a)) : row(ml(a))}${bare(b)}</msup>`;
    if (kind === '*') return row(ml(a) + (/num|neg/.test(leads(b)) ? mo('·') : '<mspace width="0.17em"></mspace>') + ml(b));
    if (kind !== 'call') return row(ml(a) + mo(kind === '-' ? '−' : '+') + ml(b));
    if (a === 'sqrt') return `<msqrt>${ml(b[0])}</msqrt>`;
    if (a === 'ceil') return within(ml(b[0]), '⌈', '⌉');
    if (a === 'floor') return within(ml(b[0]), '⌊', '⌋');
    return row((a === 'log2' ? '<msub><mi>log</mi><mn>2</mn></msub>' : `<mi>${a}</mi>`) + mo('(') + b.map(ml).join(mo(',')) + mo(')'));
  }
  /** MathML of what is typed; throws an Error that says what cannot be read. */
  const preview = (text, spec) => `<math display="block">${mathml(formula(text, spec.symbols), spec.letters)}</math>`;
  return { judge, preview, number, formula, value, sha256: (text) => hex(sha256(text)), SCALE, BASE, dimensionOf };
})();
