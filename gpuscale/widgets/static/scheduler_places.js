/* Where a state and a moment of it are drawn: one request, the lanes of the slots, memory, strips over time, the rate.    */
const seconds = (view, v, short) => show(v, view.spec.units.T, short);
const count = (v) => show(v, COUNT);
const percent = (v) => show(v, SHARE);
const two = (v) => round(+v.toPrecision(2));
const chunkTime = ({ p, call, data }, c) => {
  const { given } = data.machines[p.machine];
  return call('step', { ...given, B_seq: 0, S_chunk: c, S: 0, n_ask: (c * (c + 1)) / 2 });
};
/** Where things stand. */
function layout({ width, p, data, solved: { peak } }) {
  const small = width < 480;
  const right = small ? width - 74 : width - 152;
  const top = 92;
  const high = 262;
  const slotsH = 64 + 140 * Math.sqrt(Math.log2(p.slots / 4) / 6);
  const strip = top + high + 40;
  const stripH = 76;
  const ttft = strip + stripH + 46;
  const ttftH = 56;
  const over = ttft + ttftH + 44;
  const overH = 40;
  const rail = over + overH + 76;
  const mid = small ? right * 0.56 : right * 0.6;
  const oct = small ? 13.5 : 24;
  const left = 6;
  const end = width - 10;
  const by = (end - left) / Math.log(200);
  const R = (r) => left + by * Math.log(clamp(r, 0.5, 100) / 0.5);
  R.inv = (x) => 0.5 * Math.exp((clamp(x, left, end) - left) / by);
  const sy = (T) => strip + stripH * (1 - min(T, peak) / peak);
  const ty = (T) =>
    ttft + ttftH * (1 - clamp(Math.log(T / data.first[0]) / Math.log(data.first[1] / data.first[0]), 0, 1));
  return {
    small,
    right,
    top,
    high,
    slotsH,
    strip,
    stripH,
    ttft,
    ttftH,
    over,
    overH,
    rail,
    mid,
    oct,
    left,
    end,
    R,
    sy,
    ty,
    mem: small ? width - 52 : width - 118,
    memW: small ? 42 : 54,
    inX: (v) => mid - oct * Math.log2(v / 16),
    outX: (v) => mid + oct * Math.log2(v / 8),
    chunkY: (q, f) => (q.chunk >= data.whole ? strip - 10 : clamp(sy(f.chunkT), strip - 4, strip + stripH)),
  };
}
/** What is seen at the moment t, which is at the right of lanes and strips. */
function momentOf(view, t) {
  const L = layout(view);
  const from = t - view.data.window;
  const { steps, requests } = view.solved.run;
  return {
    ...L,
    t,
    from,
    X: (u) => ((u - from) * L.right) / view.data.window,
    first: stepAt(steps, max(0, from)),
    last: min(steps.length, stepAt(steps, t) + 1),
    requests: requests.filter((r) => r.t <= t && (r.parts.at(-1)?.to ?? 0) >= from),
  };
}
