/* Numbers, and what every part below uses. */
const { abs, ceil, floor, hypot, log10, max, min, round, sign } = Math;
const { entries, fromEntries, keys } = Object;
const real = Number.isFinite;
const doc = globalThis.document;
const $ = (q, at = doc) => at.querySelector(q);
const $$ = (q, at = doc) => [...at.querySelectorAll(q)];
const make = (html) => {
  const t = doc.createElement('template');
  t.innerHTML = html.trim();
  return t.content.firstElementChild;
};
const range = (n) => [...Array(n).keys()];
/** What lives until it is told to stop: its listeners, and the signal that ends them. */
function life() {
  const off = new AbortController();
  const { signal } = off;
  return { signal, end: () => off.abort(), on: (el, type, f) => el.addEventListener(type, f, { signal }) };
}
const rect = (el) => el.getBoundingClientRect();
const button = (words, more = '') => `<button type="button" class="btn" ${more}>${words}</button>`;
const joined = (list, f) => list.map(f).join('');
const clamp = (x, lo, hi) => min(hi, max(lo, x));
/** Words that stand there already are not laid out again. */
const write = (el, words, as = 'innerHTML') => {
  if (el.written !== words) el[as] = el.written = words;
};
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`);
/** A call that breaks between its arguments, else within them, but not inside a word. */
const breaking = (call) => escape(call).replace(/[(_=]/g, '$&<wbr>');
/** Ids are made when shown: a notebook may hold one figure twice, and its stored output must not change. */
const fresh = () => `g${Math.random().toString(36).slice(2, 9)}`;
const hide = (root) => {
  for (const el of $$('.fallback', root)) el.hidden = true;
};

/** A text with its gaps filled, each {} in turn. */
const worded = (text, ...parts) => text.replace(/{}/g, () => parts.shift());
/** Size and base unit of every unit, from the rows of units/tables.py. */
const SCALE = new Map();
for (const [kinds, names, size, base, ...ends] of UNITS) {
  const prefixes = [['', 1], ...kinds.split(' ').flatMap((kind) => entries(PREFIXES[kind] ?? {}))];
  for (const name of names.split(' ')) {
    for (const end of ['', ...ends]) {
      for (const [p, many] of prefixes) SCALE.set(p + name + end, [many * size, WORDS[base + end] ? base + end : base]);
    }
  }
}
const plain = (v) =>
  String(v)
    .replace('-', '−')
    .replace(/\d+/, (d) => d.replace(/\B(?=(\d{3})+$)/g, ','));
/** n significant digits; an exact tie goes to the even digit, as in Python. */
function rounded(v, n) {
  const [m, e] = v.toExponential(60).split('e');
  const d = m.replace(/[-.]/g, '');
  return /^50*$/.test(d.slice(n)) && d[n - 1] % 2 === 0
    ? sign(v) * `${d.slice(0, n)}e${e - n + 1}`
    : +v.toExponential(n - 1);
}
/** The nearest whole number, as Python rounds. */
const even = (v) => {
  const n = round(v);
  return n - v === 0.5 && n % 2 ? n - 1 : n;
};
function digits(v, n, short) {
  const x = rounded(v, n);
  const text = x.toFixed(x ? clamp(n - 1 - floor(log10(abs(x)) + 1e-12), 0, 60) : n - 1);
  return plain(short && text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}
const prefix = (e) => STEPS[e + 3].trim();
const power = (x) => clamp(floor(log10(abs(x)) / 3 + 1e-9), -3, 5);
/** Three significant digits and an SI unit: show(0.00393, 's') is '3.93 ms'. The twin of units.show. */
function show(v, unit = '', short = false, n = 3) {
  if (!real(v)) return v > 0 ? '∞' : v < 0 ? '−∞' : NEVER;
  if (unit === COUNT) return plain(even(v).toFixed());
  if (unit === SHARE) return digits(100 * v, n, short) + SHARE;
  const [size, base] = SCALE.get(unit) ?? [1, unit];
  if (base !== unit) return digits(v / size, n, short) + (base === ONE ? '' : `\u00a0${SPELLED[unit] ?? unit}`);
  const x = rounded(v, n);
  const e = BARE.includes(unit) || !x ? 0 : power(x);
  const label = prefix(e) + (unit === ONE ? '' : unit);
  return digits(x / 1000 ** e, n, short) + (label && '\u00a0') + label;
}
/** The same number as Python: literal(4.5e11, 'B/s') is '450*GB'. */
function literal(v, unit = '') {
  const [name, lo, hi, binary] = WRITTEN[unit] ?? ['', 0, 0];
  const e = v ? clamp(power(v), lo, hi) : 0;
  const k = !(v % 2 ** 20) + !(v % 2 ** 30);
  if (binary && v && v % 1024 === 0 && v % 1000) return `${v / 1024 ** (k + 1)}*${binary[k]}${name}`;
  return e ? `${+(v / 1000 ** e).toPrecision(6)}*${TYPED_STEPS[e + 3]}${name}` : String(+v.toPrecision(12));
}
/** A count is exact, all else has three digits. */
const say = (v, unit = ONE) => show(v, (!unit || unit === ONE) && Number.isInteger(v) ? COUNT : unit);
