/* Grading: the twin of units/arithmetic.py, reading.py, formulas.py and of quiz/grading.py, whose tables, patterns, limits
   and messages it is served with. No DOM; nothing typed is run as code. */
const grading = (() => {
  class Unclear extends Error {}
  const unclear = (message, ...parts) => {
    throw new Unclear(worded(message, ...parts));
  };

  const low = (text) => text.toLowerCase();

  /* Texts. Patterns hold {} for that of a number. */
  const pattern = (form, number = NUMBER) =>
    RegExp(
      form.replaceAll('{}', () => number),
      'gu',
    );
  const rewrite = (text, rules) => rules.reduce((now, [form, put]) => now.replace(pattern(form), put), text);
  const normalise = (text) =>
    rewrite(
      String(text).replace(pattern(SUPERSCRIPTS), (raised) => `^${raised.normalize('NFKC')}`),
      TEXT_RULES,
    );
  const brief = (text) => text.replace(/^(.{40}).+/su, '$1…');
  function cleanText(text) {
    const clean = normalise(text);
    if (!clean) unclear(NOTHING);
    if ([...clean].length > MAX_TEXT) unclear(TOO_LONG, MAX_TEXT);
    return clean;
  }

  /* One recursive descent for both: numbers may hold + - * / ^ and parentheses, formulas also names. */
  const own = (table, key) => Object.hasOwn(table, key) && table[key];
  function literal(token) {
    if (token.includes(',') && !pattern(GROUPED).test(token)) unclear(TWO_WAYS, token, COMMAS);
    if (token.endsWith('_') || token.includes('__')) unclear(NO_NUMBER, token);
    return finite(+token.replace(/[,_ ]/g, ''));
  }
  const finite = (v) => (real(v) ? v : unclear(NOT_FINITE));

  function parse(text, symbols = [], grammar = pattern(TOKENS)) {
    const tokens = [...text.matchAll(grammar)].map((m) => [m[0], m[1] !== undefined]);
    let at = 0;
    let depth = 0;
    const peek = () => tokens[at]?.[0] ?? '';
    const take = (...wanted) => (at < tokens.length && wanted.includes(peek()) ? tokens[at++][0] : '');
    function fail(message = MISSING) {
      if (at < tokens.length) unclear(OUT_OF_PLACE, peek());
      unclear(tokens.length ? message : NOTHING, tokens.at(-1)?.[0]);
    }
    function deeper(part) {
      if (++depth > MAX_DEPTH) unclear(TOO_DEEP);
      const node = part();
      depth--;
      return node;
    }
    function chain(level = 0) {
      const signs = CHAINS[level];
      if (!signs) return signed();
      for (let node = chain(level + 1); ;) {
        const sign = take(...keys(signs));
        if (sign) node = [signs[sign], node, chain(level + 1)];
        else if (level && startsAtom()) node = ['*', node, raised()];
        else return node;
      }
    }
    function startsAtom() {
      if (tokens[at]?.[1] && tokens[at - 1][1]) unclear(TWO_NUMBERS, tokens[at - 1][0], peek());
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
      if (number) {
        at++;
        return ['num', literal(token), token];
      }
      if (take('(')) {
        const node = deeper(chain);
        return take(')') ? ['paren', node] : fail(UNCLOSED);
      }
      return /^[A-Za-z]/.test(token) ? name(token) : fail();
    }
    function name(token) {
      at++;
      const f = own(OTHER_NAMES, low(token)) || low(token);
      const known = own(FUNCTIONS, f);
      if (known && take('(')) return call(f);
      const same = symbols.filter((s) => s.length > 1 && low(s) === low(token));
      if (symbols.includes(token)) return ['sym', token];
      if (same.length === 1) return ['sym', same[0]];
      if (known) unclear(NO_ARGUMENT, token);
      if ([...token].every((c) => symbols.includes(c))) {
        return ['paren', [...token].map((c) => ['sym', c]).reduce((a, b) => ['*', a, b])];
      }
      return unclear(NO_NAME, brief(token), symbols.join(', '));
    }
    function call(f) {
      const args = [deeper(chain)];
      while (take(',')) args.push(deeper(chain));
      if (!take(')')) fail(UNCLOSED);
      if (FUNCTIONS[f] !== min(args.length, 2)) unclear(args.length > 1 ? ONE_ARGUMENT : MORE_ARGUMENTS, f);
      return ['call', f, args];
    }
    const tree = chain();
    return at === tokens.length ? tree : fail();
  }
  const OPERATIONS = {
    paren: (a) => a,
    neg: (a) => -a,
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '^': Math.pow,
    min,
    max,
    log2: Math.log2,
    ceil,
    floor,
    sqrt: Math.sqrt,
  };
  const partsOf = (node) => (node[0] === 'call' ? node[2] : node.slice(1));
  function value(node, env) {
    if (node[0] === 'num') return node[1];
    if (node[0] === 'sym') return env[node[1]];
    return finite(OPERATIONS[node[0] === 'call' ? node[1] : node[0]](...partsOf(node).map((part) => value(part, env))));
  }

  /* Numbers with a unit */
  function number(text, unit, expects, noun = '') {
    const want = SCALE.get(unit)[1];
    let clean;
    let size;
    let asked;
    let found;
    try {
      clean = rewrite(cleanText(text), NUMBER_RULES);
      [size, asked, found] = amountOf(clean, unit, want, noun);
    } catch (e) {
      if (e instanceof Unclear) unclear(EXPECTED, e.message, expects);
      throw e;
    }
    if (found !== want) {
      unclear(OTHER_KIND + (asked === BYTE && want === ONE ? BILLIONS : ''), brief(clean), WORDS[found], WORDS[want]);
    }
    return [size, pattern(BITS).test(asked)];
  }
  const headOf = (text, whole = text) =>
    pattern(HEAD)
      .exec(text)[0]
      .replace(/[ */×]+$/, '') || unclear(NO_START, brief(whole));
  function amountOf(clean, unit, want, noun) {
    const [first, ...more] = clean.split(pattern(JOINT));
    if (more.length) return [joint(first, more, clean, want), '', want];
    const head = headOf(clean);
    const lost = pattern(LOST_POWER).exec(head);
    if (lost) unclear(TWO_WAYS, lost[1], POWERS);
    const amount = value(parse(head), {});
    const asked = rewrite(clean.slice(head.length), UNIT_RULES);
    if (pattern(RANGE_UNIT).test(asked) || (amount < 0 && pattern(RANGE_HEAD).test(head))) unclear(RANGE, brief(clean));
    if (asked) {
      const [size, found] = unitOf(asked, want, noun);
      return [finite(amount * size), asked, found];
    }
    if (unit === SHARE && abs(amount) > 1) unclear(PERCENT, brief(clean));
    if (amount && !NO_DIMENSION.includes(want)) unclear(NO_UNIT, brief(clean));
    return [amount, asked, want];
  }
  /** A product or quotient of amounts; as in formulas, FLOPs are plain numbers. */
  function joint(first, more, clean, want) {
    let size = 1;
    let powers = [0, 0];
    for (let parts = ['*', first, ...more]; parts.length;) {
      const [sign, part] = parts.splice(0, 2);
      const head = headOf(part, clean);
      const asked = rewrite(part.slice(head.length), UNIT_RULES);
      const [each, base] = asked ? (SCALE.get(asked) ?? unclear(NO_SUCH_UNIT, brief(asked))) : [1, ONE];
      const amount = value(parse(head), {}) * each;
      const down = sign === '/';
      size = finite(down ? size / amount : size * amount);
      powers = powers.map((p, i) => (down ? p - EXPONENTS[base][i] : p + EXPONENTS[base][i]));
    }
    return `${powers}` === `${EXPONENTS[want]}` ? size : unclear(OTHER_KIND, brief(clean), word(powers), WORDS[want]);
  }
  const stem = (word) => low(word).replace(/e?s?$/, '');
  function unitOf(text, want, noun) {
    const exact = SCALE.get(text);
    if (exact?.[1] === want) return exact;
    if (noun && stem(noun) === stem(text)) return [1, ONE];
    const near = new Map();
    for (const [k, v] of SCALE) if (low(k) === low(text) && v[1] === want && !near.has(v[0])) near.set(v[0], k);
    if (near.size === 1) return [[...near.keys()][0], want];
    if (exact) return exact;
    if (near.size) unclear(TWO_WAYS, text, [...near.values()].sort().join(OR));
    const [, first, rest] = /^([^ ]*) ?(.*)$/u.exec(text);
    const many = own(MANY, first);
    if (many && (rest || want === ONE)) {
      const [size, found] = rest ? unitOf(rest, want, noun) : [1, ONE];
      return [many * size, found];
    }
    const cut = text.lastIndexOf('/');
    const [each, base] = SCALE.get(text.slice(cut + 1)) ?? [];
    if (cut > 0 && each === 1 && base === ONE) return unitOf(text.slice(0, cut), want, noun);
    return unclear(NO_SUCH_UNIT, brief(text));
  }

  /* Formulas */
  const formula = (text, symbols) => parse(rewrite(cleanText(text), FORMULA_RULES), symbols, pattern(NAMES, PLAIN));
  const word = (powers) => WORDS[keys(EXPONENTS).find((unit) => `${EXPONENTS[unit]}` === `${powers}`)] ?? OTHER_MEASURE;
  /** Exponents of byte and second; null fits anything. */
  function dimension(node, letters) {
    const [kind, f] = node;
    if (kind === 'num') return f ? [0, 0] : null;
    if (kind === 'sym') return EXPONENTS[letters[f].unit];
    const parts = partsOf(node).map((part) => dimension(part, letters));
    const [a, b] = parts.map((d) => d ?? [0, 0]);
    if (kind === 'paren' || kind === 'neg') return parts[0];
    if (kind === '*') return [a[0] + b[0], a[1] + b[1]];
    if (kind === '/') return [a[0] - b[0], a[1] - b[1]];
    if (kind === '^') {
      if (!a[0] && !a[1]) return [0, 0];
      if (hasName(node[2])) unclear(NO_POWER, word(a));
      const e = value(node[2], {});
      return [e * a[0], e * a[1]];
    }
    if (f === 'sqrt') return [a[0] / 2, a[1] / 2];
    if (f === 'log2' || f === 'ceil' || f === 'floor') return [0, 0];
    const known = parts.filter((d) => d);
    for (const d of known.slice(1)) {
      if (d[0] !== known[0][0] || d[1] !== known[0][1]) {
        unclear(kind === 'call' ? NOT_COMPARED : NOT_ADDED, word(known[0]), word(d));
      }
    }
    return known[0] ?? null;
  }
  const hasName = (node) => node[0] === 'sym' || (node[0] !== 'num' && partsOf(node).some(hasName));

  /* SHA-256 of ASCII text, as bytes: crypto.subtle is missing on plain http */
  const PRIMES = [];
  for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p)) PRIMES.push(n);
  const fraction = (x) => floor((x - floor(x)) * 2 ** 32) | 0;
  const ROUND = PRIMES.map((p) => fraction(Math.cbrt(p)));
  const START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  const mix = (x, a, b, c) => turn(x, a) ^ turn(x, b) ^ turn(x, c);
  function sha256(text) {
    const data = [];
    const end = ((text.length + 8) >> 6) * 16 + 16;
    [...`${text}\x80`].forEach((c, i) => {
      data[i >> 2] |= c.charCodeAt() << (24 - (i % 4) * 8);
    });
    data[end - 1] = text.length * 8;
    let state = START;
    for (let at = 0; at < end; at += 16) {
      const w = [];
      let now = state;
      for (const i of range(64)) {
        const [a, b, c, d, e, f, g, h] = now;
        const x = w[i - 15];
        const y = w[i - 2];
        w[i] =
          i < 16
            ? data[at + i] | 0
            : (w[i - 16] +
                (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) +
                w[i - 7] +
                (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) |
              0;
        const one = h + mix(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + ROUND[i] + w[i];
        const two = mix(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
        now = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
      }
      state = state.map((v, i) => (v + now[i]) | 0);
    }
    return state.flatMap((x) => [24, 16, 8, 0].map((shift) => (x >>> shift) & 255));
  }
  const hex = (bytes) => joined(bytes, (x) => x.toString(16).padStart(2, '0'));
  const digest = (salt, text) => hex(sha256(`${salt}|${text}`)).slice(0, 16);
  function unseal(sealed, salt, text) {
    let stream = [];
    let out = '';
    for (let i = 0; i < sealed.length; i += 2) {
      if (i % 64 === 0) stream = sha256(`${salt}|${text}|${i / 64}`);
      out += `%${hex([parseInt(sealed.slice(i, i + 2), 16) ^ stream[(i / 2) % 32]])}`;
    }
    return decodeURIComponent(out);
  }

  /* Buckets and verdicts */
  const bucket = (v, tolerance) => floor((Math.log(abs(v)) * REACH) / tolerance + 0.5);
  const whole = (v) => abs(v - floor(v + 0.5)) <= 1e-9 * abs(v) && abs(v) < 2 ** 53;
  const bucketToken = (v, tolerance, exact) =>
    v === 0 || (exact && whole(v)) ? `=${floor(v + 0.5)}` : `${v < 0 ? '-' : '+'}${bucket(v, tolerance)}`;
  function nearTokens(v, tolerance, exact) {
    const first = bucketToken(v, tolerance, exact);
    const steps = v ? range(REACH + 1).flatMap((i) => [i, -i]) : [];
    return [...new Set([first, ...steps.map((d) => `${v < 0 ? '-' : '+'}${bucket(v, tolerance) + d}`)])];
  }
  function outcome(grade, tokens) {
    const read = grade.open
      ? tokens.map((t) => grade.open[t]).filter((m) => m)
      : tokens
          .map((t) => [grade.outcomes[digest(grade.salt, t)], t])
          .filter(([sealed]) => sealed)
          .map(([sealed, t]) => unseal(sealed, grade.salt, t));
    const best = read.find((m) => m[0] === 'r') ?? read[0];
    return best && { verdict: best[0] === 'r' ? 'right' : 'wrong', message: best.slice(1) };
  }
  function judgeFormula(spec, grade, text) {
    const tree = formula(text, spec.symbols);
    const values = grade.points.map((point) => value(tree, point));
    const found = outcome(grade, [`f${values.map((v) => bucketToken(v, REACH / FINE)).join(',')}`]);
    if (found) return found;
    const kind = dimension(tree, spec.letters);
    const wanted = EXPONENTS[spec.unit];
    if (kind && (kind[0] !== wanted[0] || kind[1] !== wanted[1])) {
      unclear(OTHER_KIND, THAT, word(kind), WORDS[spec.unit]);
    }
    return { verdict: 'wrong', message: grade.wrong };
  }
  /** The verdict on a typed answer, and the reason as HTML; for a choice the text is the index of the option. */
  function judge(spec, variant, text) {
    const { grade } = spec.variants[variant];
    try {
      if (spec.kind === 'choice') return outcome(grade, [`#${normalise(text)}`]) ?? unclear(NO_OPTION);
      if (spec.kind === 'formula') return judgeFormula(spec, grade, text);
      const [v, note] = number(text, spec.unit, spec.expects, spec.noun);
      const found = outcome(grade, nearTokens(v, grade.tolerance, grade.exact)) ?? {
        verdict: 'wrong',
        message: grade.wrong,
      };
      return found.verdict === 'wrong' && note ? { ...found, message: found.message + SMALL_B } : found;
    } catch (reason) {
      if (!(reason instanceof Unclear)) throw reason;
      return { verdict: 'unclear', message: `${escape(reason.message)}.` };
    }
  }

  return { judge, number, formula, value, bucket, token: bucketToken, sha256: (text) => hex(sha256(text)) };
})();
