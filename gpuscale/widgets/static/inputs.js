/* Inputs from outside, such as those of a link. */
const FAR = 1000; // how many times as much as at the start an input without bounds can be, or as little, such as W

/** Each input of a spec as what it is here: numbers within their bounds, counts that are whole, words that are a choice. */
function read(to, { start, params, choices, texts = {}, counts, within, loose }) {
  const out = {};
  const grain = (k, snap = params[k]?.snap ?? '') =>
    counts.includes(k) || snap === 'whole' || snap === 'power' ? 1 : floor(snap.split(':')[1] ?? 0);
  const legal = (k, v, lo, hi) => {
    const n = grain(k);
    return clamp(n ? round(v / n) * n : v, lo, hi);
  };
  for (const [k, given] of entries(to)) {
    const was = start[k];
    const q = params[k];
    const [lo, hi] = within[k] ?? [q?.lo ?? was / FAR, q?.hi ?? was * FAR];
    const list = (Array.isArray(given) ? given : String(given).split('_')).filter((v) => v !== '').map(Number);
    if (k in texts) out[k] = String(given);
    else if (Array.isArray(was)) {
      if (list.every(real) && (list.length === was.length || loose.includes(k))) {
        out[k] = list.map((v) => legal(k, v, lo, hi));
      }
    } else if (choices[k]) {
      if (choices[k].of.some(([v]) => String(v) === String(given))) out[k] = real(was) ? +given : given;
    } else if (real(was) && given !== '' && real(+given)) out[k] = legal(k, +given, lo, hi);
  }
  return out;
}
/** Whether an input is what a link says. */
const close = (a, b) => abs(a - b) <= 1e-9 * abs(b);
const same = (said, v) => {
  if (!Array.isArray(v)) return said === String(v) || close(+said, v);
  const all = said.split('_').filter(String);
  return all.length === v.length && all.every((one, i) => close(+one, v[i]));
};
