/* Orders: for each rank of a pipeline its blocks of tasks [kind, microbatch, stage], the tasks of a block running in a row.
   Twins of schedules/pipelines.                                                                                          */
const HALVES = ['interleaved', 'zb_v'];
const SPLIT = ['zb_h1', 'zb_v', 'dualpipe'];
const MOST_MB = 16;
const alone = (tasks) => tasks.map((task) => [task]);
const all = (kind, m, s) => range(m).map((i) => [kind, i, s]);
const repeat = (times, f) => range(max(0, times)).forEach(f);
/** So many forward tasks ahead, then pairs of a forward and a backward one, then the backward ones that are left. */
function alternate(forward, backward, ahead) {
  const n = min(ahead, forward.length);
  return alone([
    ...forward.slice(0, n),
    ...forward.slice(n).flatMap((f, i) => [f, backward[i]]),
    ...backward.slice(forward.length - n),
  ]);
}
/** Writes the blocks of a rank: phase 0 is what enters on its own side, phase 1 what comes from the other one. */
function writer(ways) {
  const blocks = [];
  const late = [];
  const n = { F: [0, 0], B: [0, 0] };
  const next = (kind, phase) => [kind, ways[phase][0] + n[kind][phase]++, ways[phase][1]];
  const back = (phase) => {
    const [, i, s] = next('B', phase);
    return [
      ['B', i, s],
      ['W', i, s],
    ];
  };
  return {
    blocks,
    late,
    n,
    forward: (phase) => blocks.push([next('F', phase)]),
    backward: (phase) => blocks.push(back(phase)),
    parts: (phase) => blocks.push(...alone(back(phase))),
    split(phase) {
      const [one, other] = back(phase);
      blocks.push([one]);
      late.push(other);
    },
    both: (ahead, behind) => blocks.push([next('F', ahead), ...back(behind)]),
    weights: (phase) =>
      blocks.push(
        late.splice(
          late.findIndex((w) => phase === undefined || w[2] === ways[phase][1]),
          1,
        ),
      ),
  };
}
const ORDERS = {
  gpipe: (p, m, r) => alone([...all('F', m, r), ...all('B', m, r).reverse()]),
  one_f_one_b: (p, m, r) => alternate(all('F', m, r), all('B', m, r), p - r - 1),
  interleaved(p, m, r) {
    const turns = range(2 * m).map((k) => [floor(k / (2 * p)) * p + (k % p), floor((k % (2 * p)) / p)]);
    return alternate(
      turns.map(([i, c]) => ['F', i, c * p + r]),
      turns.map(([i, c]) => ['B', i, (1 - c) * p + r]),
      2 * (p - r - 1) + p,
    );
  },
  zb_h1(p, m, r) {
    const out = [];
    const late = [];
    for (const block of ORDERS.one_f_one_b(p, m, r)) {
      const [[kind, i, s]] = block;
      out.push(block);
      if (kind === 'B') late.push([['W', i, s]]);
      if (kind === 'B' && late.length > r) out.push(late.shift());
    }
    return [...out, ...late];
  },
  zb_v(p, m, r) {
    const w = writer([
      [0, r],
      [0, 2 * p - 1 - r],
    ]);
    repeat(2 * (p - r) - 1, () => w.forward(0));
    repeat(r, () => {
      w.forward(1);
      w.forward(0);
    });
    repeat(p - r, () => {
      w.forward(1);
      w.parts(1);
    });
    while (w.n.F[1] < m) {
      if (w.n.F[0] < m) w.forward(0);
      w.parts(0);
      w.forward(1);
      w.parts(1);
    }
    repeat(r, () => {
      w.split(0);
      w.split(1);
    });
    repeat(p - r, () => {
      w.split(0);
      w.weights(0);
    });
    while (w.late.length) w.weights(w.late.some((one) => one[2] !== r) ? 1 : 0);
    return w.blocks;
  },
  dualpipe(p, m, r) {
    const place = min(r, p - 1 - r);
    const half = p / 2;
    const middle = half - place - 1;
    const ways = [
      [0, r],
      [m / 2, p - 1 - r],
    ];
    const w = writer(r < half ? ways : ways.reverse());
    repeat(2 * middle, () => w.forward(0));
    repeat(place + 1, () => {
      w.forward(0);
      w.forward(1);
    });
    repeat(middle, () => {
      w.split(1);
      w.weights();
      w.forward(1);
    });
    repeat(m / 2 - p + place + 1, (turn) => {
      if (turn || middle) w.both(0, 1);
      else {
        w.forward(0);
        w.backward(1);
      }
      w.both(1, 0);
    });
    repeat(middle, () => {
      w.backward(1);
      w.both(1, 0);
    });
    repeat(2 * (place + 1), (turn) => (turn <= place ? w.backward : w.split)(1 - (turn % 2)));
    repeat(middle, () => {
      w.weights();
      w.split(0);
    });
    repeat(place + 1, () => w.weights());
    return w.blocks;
  },
};
/** Which numbers of microbatches a schedule can run. */
const RUNS = {
  interleaved: (p, m) => m % p === 0,
  zb_v: (p, m) => m >= 2 * p - 1,
  dualpipe: (p, m) => m % 2 === 0 && m >= 2 * p,
};
const can = (kind, p, m) => RUNS[kind]?.(p, m) ?? true;
const possible = ({ kind, N_stages: p }) =>
  range(MOST_MB)
    .map((i) => i + 1)
    .filter((m) => can(kind, p, m));
