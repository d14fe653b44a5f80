/* Numbers, and what every part below uses. */
const { abs, ceil, floor, hypot, log10, max, min, round, sign } = Math, { entries, fromEntries } = Object, real = Number.isFinite;
const doc = globalThis.document;
const $ = (q, at = doc) => at.querySelector(q);
const $$ = (q, at = doc) => [...at.querySelectorAll(q)];
const make = (html) => { const t = doc.createElement('template'); t.innerHTML = html.trim(); return t.content.firstElementChild; };
const range = (n) => [...Array(n).keys()];
/** What lives until it is told to stop: its listeners, and the signal that ends them. */
function life() {
  const off = new AbortController(), { signal } = off;
  return { signal, end: () => off.abort(), on: (el, type, f) => el.addEventListener(type, f, { signal }) };
}
const rect = (el) => el.getBoundingClientRect();
const button = (words, more = '') => `<button type="button" class="btn" ${more}>${words}</button>`;
const joined = (list, f) => list.map(f).join('');
const clamp = (x, lo, hi) => min(hi, max(lo, x));
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`);
/** Ids are made when shown: a notebook may hold one figure twice, and its stored output must not change. */
const fresh = () => `g${Math.random().toString(36).slice(2, 9)}`;
const hide = (root) => { for (const el of $$('.fallback', root)) el.hidden = true; };

const PREFIX = 'nµm kMGTP', BARE = ['', '1', 'FLOP/B', 'USD/h'];                // units that take no prefix
const plain = (v) => String(v).replace('-', '−').replace(/\d+/, (d) => d.replace(/\B(?=(\d{3})+$)/g, ','));
/** n significant digits; an exact tie goes to the even digit, as in Python. */
function rounded(v, n) {
  const [m, e] = v.toExponential(60).split('e'), d = m.replace(/[-.]/g, '');
  return /^50*$/.test(d.slice(n)) && d[n - 1] % 2 === 0 ? sign(v) * `${d.slice(0, n)}e${e - n + 1}` : +v.toExponential(n - 1);
}
/** The nearest whole number, as Python rounds. */
const even = (v) => { const n = round(v); return n - v === .5 && n % 2 ? n - 1 : n; };
function digits(v, n, short) {
  const x = rounded(v, n), text = x.toFixed(x ? clamp(n - 1 - floor(log10(abs(x)) + 1e-12), 0, 60) : n - 1);
  return plain(short && text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}
const power = (x) => clamp(floor(log10(abs(x)) / 3 + 1e-9), -3, 5);
const prefix = (e) => PREFIX[e + 3].trim();
/** Three significant digits and an SI unit: show(0.00393, 's') is '3.93 ms'. The twin of units.show. */
function show(v, unit = '', short = false, n = 3) {
  if (!real(v)) return v > 0 ? '∞' : v < 0 ? '−∞' : 'never';
  if (unit === 'count') return plain(even(v).toFixed());
  if (unit === '%') return `${digits(100 * v, n, short)}%`;
  const two = /^([KMGT])iB/.exec(unit);
  if (two || unit.includes('/cycle')) return `${digits(two ? v / 1024 ** ' KMGT'.indexOf(two[1]) : v, n, short)}\u00a0${unit}`;
  const x = rounded(v, n), e = BARE.includes(unit) || !x ? 0 : power(x), label = prefix(e) + (unit === '1' ? '' : unit);
  return digits(x / 1000 ** e, n, short) + (label && '\u00a0') + label;
}
/** The same number as Python: literal(4.5e11, 'B/s') is '450*GB'. */
function literal(v, unit = '') {
  const name = unit.replace('/s', ''), e = v ? power(v) : 0;
  if (name === 'B' && v && v % 1024 === 0 && v % 1000) { const k = 1 + !(v % 2 ** 20) + !(v % 2 ** 30); return `${v / 1024 ** k}*${' KMG'[k]}iB`; }
  const has = name === 's' ? e < 0 : /^(B|FLOP|Hz)$/.test(name) && e > 0;
  return has ? `${+(v / 1000 ** e).toPrecision(6)}*${prefix(e).replace('µ', 'u')}${name}` : String(+v.toPrecision(12));
}
/** A count is exact, all else has three digits. */
const say = (v, unit = '1') => show(v, /^1?$/.test(unit) && Number.isInteger(v) ? 'count' : unit);
