/* The planner's search: the layouts of a cell of the map, and the best of them. The twin of gpuscale.plan, where
   layouts.py lists the same layouts, search.py takes the same and outcome.py judges them. Costs, conditions and counts
   are printed from the library's formulas (plan/scripts.py), and tests compare the two.                           */
const made = (code) => Function(`return ${code}`)();
let compiled = null;
/** The programs of the data, once. */
function programs(data) {
  return compiled?.data === data
    ? compiled
    : (compiled = {
        data,
        plans: data.programs.map(made),
        stages: data.stages.map((row) => row.map(made)),
        counted: data.counted.map((row) => row.map(made)),
        broken: fromEntries(entries(data.conditions).map(([group, { broken }]) => [group, made(broken)])),
      });
}
function divisors(n) {
  const out = [];
  for (let d = 1; d <= n; d++) if (n % d === 0) out.push(d);
  return out;
}

/** A request: all inputs of a plan's program that no plan changes, and what the search has to know. */
function asked(p, model, call, data) {
  const place = data.clusters[p.cluster];
  const S = p.seq;
  const x = { ...model.x, S, S_win: min(model.window ?? S, S) };
  const [whole, needed] = model.latent
    ? ['latent_attention_flops', 'causal_latent_attention_flops']
    : ['mean_attention_flops', 'mean_causal_attention_flops'];
  const told = call(whole, x);
  const latent = +model.latent;
  Object.assign(x, data.recipes[p.recipe].x, place.x, {
    B: p.batch,
    N_gpu: p.gpus,
    ops_attn: x.n_drop ? told : call(needed, x),
  });
  x.ops_tok = call('token_flops', { ...x, ops_attn: told });
  const hits = new Map();
  const { plans, stages, broken } = programs(data);
  return {
    p,
    x,
    model,
    place,
    data,
    broken,
    room: place.room,
    sequences: p.batch / S,
    evaluate: plans[latent](x),
    stage: stages[latent],
    /** Fractions of the GPUs and of the nodes of a group of experts that a token reaches. */
    hit(Z) {
      if (!hits.has(Z)) {
        const known = { ...x, Z, M_lim: model.nodes };
        hits.set(Z, [call('hit_top_k', known), call(model.nodes ? 'limited_nodes_hit' : 'nodes_hit', known)]);
      }
      return hits.get(Z);
    },
  };
}
/** What a constraint says of a layout that breaks it. */
const counted = (words, known) =>
  words.replace(
    /{(\w+):?(?:(\w+)\|(\w+))?}/g,
    (_, name, one, many) => show(known[name], COUNT) + (one ? ` ${known[name] === 1 ? one : many}` : ''),
  );

/** Calls visit with each layout of a cell, in the order of layouts.py; gives the reason against the one that came closest. */
function laidOut(ask, Y, N_stages, visit) {
  const {
    x: { n_q, n_kv, F, L, E, G, B, S },
    p,
    sequences,
    data: { conditions, tried },
  } = ask;
  const known = {
    n_q,
    n_kv,
    F,
    L,
    E,
    G,
    B,
    S,
    sequences,
    Y,
    N_stages,
    X: 1,
    n_cp: 1,
    ranks: 1,
    own: 1,
    Z: 1,
    n_seq: 1,
    N_MB: 1,
    n_virt: 1,
  };
  const few = range(tried.micro)
    .map((n) => n + 1)
    .filter((n) => sequences % n === 0);
  const cuts = tried.cuts.filter((v) => v === 1 || (v <= L && N_stages > 1));
  const told = {};
  let far = -1;
  let why = null;
  const keeps = (group, depth) => {
    const place = ask.broken[group](known);
    if (place >= 0 && 10 * depth + place > far) {
      far = 10 * depth + place;
      why = () => [counted(conditions[group].words[place], told), conditions[group].brief[place]];
      Object.assign(told, known);
    }
    return place < 0;
  };
  let e = E;
  let g = p.gpus;
  while (g) [e, g] = [g, e % g];
  const ranks = divisors(e);
  for (const n_cp of divisors(p.gpus / (Y * N_stages)).filter((d) => d === 1 || d * tried.short <= p.seq)) {
    const X = p.gpus / (Y * N_stages * n_cp);
    Object.assign(known, { n_cp, X, ranks: X * Y * n_cp, own: floor(sequences / X) });
    if (keeps('mesh', 0)) {
      for (known.Z of ranks) {
        if (keeps('experts', 1)) {
          for (known.n_seq of few) {
            if (!keeps('batch', 2)) continue;
            known.N_MB = floor(known.own / known.n_seq);
            for (known.n_virt of cuts) if (keeps('all', 3)) visit(known);
          }
        }
      }
    }
  }
  return why?.() ?? [];
}
/** Values of ZeRO's stage, sequence parallelism and recomputation that change something for a layout; fixed ones are kept. */
function optionsOf({ p }, { X, Y, n_cp, Z }) {
  const sp = Y > 1 ? (Z > 1 ? [1] : [0, 1]) : [0];
  const zero = p.zero !== ANY ? [+p.zero] : X * n_cp > 1 ? range(4) : [0];
  const again = p.recompute !== ANY ? [+p.recompute] : range(3);
  return zero.flatMap((n_zero) => sp.flatMap((n_sp) => again.map((n_recompute) => [n_zero, n_sp, n_recompute])));
}
const ANY = 'any';
/** Whether one list of numbers comes before another. */
function before(a, b) {
  const i = a.findIndex((v, k) => v !== b[k]);
  return i >= 0 && a[i] < b[i];
}
/** The best layout of a cell by its expected time, the most frugal one if none fits, or the reason why there is none. */
function cellOf(ask, Y, N_stages) {
  let best = null;
  let least = null;
  let tried = 0;
  let fit = 0;
  const [why, brief] = laidOut(ask, Y, N_stages, (known) => {
    const { X, n_cp, Z, n_virt, n_seq } = known;
    const [f_hit, f_node] = ask.hit(Z);
    let quick = Infinity;
    let chosen = null;
    for (const [n_zero, n_sp, n_recompute] of optionsOf(ask, known)) {
      const [memory, states, step] = ask.evaluate(
        X,
        Y,
        n_cp,
        Z,
        N_stages,
        n_virt,
        n_seq,
        n_zero,
        n_sp,
        n_recompute,
        0,
        f_hit,
        f_node,
        false,
      );
      tried++;
      if (memory <= ask.room) {
        fit++;
        if (step < quick) {
          quick = step;
          chosen = [n_zero, n_sp, n_recompute];
        }
      } else if (!least || memory < least.memory) {
        least = { memory, states, row: [X, Y, n_cp, Z, N_stages, n_virt, n_seq, n_zero, n_sp, n_recompute, 0] };
      }
    }
    if (!chosen) return;
    const order = [+quick.toFixed(9), X, Y, n_cp, Z, N_stages, n_seq, n_virt];
    if (!best || before(order, best.order)) {
      best = { order, step: quick, row: [X, Y, n_cp, Z, N_stages, n_virt, n_seq, ...chosen, 0] };
    }
  });
  return { Y, N_stages, best, least, tried, fit, why, brief };
}
/** All columns of one plan, by name, with what follows from them: the parts of its time, what binds, the band. */
function outcome(ask, row, call) {
  const { data, place, room } = ask;
  const [X, Y, n_cp, Z, N_stages] = row;
  const values = ask.evaluate(...row, ...ask.hit(Z), true);
  const c = fromEntries(data.columns.map((name, i) => [name, values[i]]));
  const step = c.step_expected;
  const spent = {
    ...fromEntries(keys(data.causes).map((name) => [name, c[`${name}_expected`]])),
    extra: c.matmuls_expected - c.need_expected,
  };
  const worst = keys(spent).reduce((a, b) => (spent[b] > spent[a] ? b : a));
  const useful = step - keys(spent).reduce((sum, name) => sum + spent[name], 0);
  const over = (V_nvl, V_net) => call('level_time', { ...place.rates, V_nvl, V_net });
  const inside = (axis) => over(c[`${axis}_nvlink`], 0) >= over(0, c[`${axis}_network_node`]);
  const apart = unlike(ask, row);
  const widened = (factor) => (apart ? max(factor, data.usual) : factor);
  const band = widened(place.band);
  const tie = widened(place.tie);
  return {
    row,
    c,
    step,
    spent,
    worst,
    useful,
    inside,
    apart,
    band,
    tie,
    low: step / band,
    high: step * band,
    fits: c.memory <= room,
    copies: X * n_cp,
    degrees: { tp: Y, cp: n_cp, ep: Z, pp: N_stages },
  };
}
/** Layers of each rank of a pipeline: the twin of plan/stages.py, as is the next. ``fullest``: of the fullest one. */
function dealt(layers, head, fullest, stages, virtual) {
  const pieces = stages * virtual;
  const room = stages > 1 && ceil((layers + head) / pieces) * virtual === fullest ? head : 0;
  const found = range(pieces).map((i) => floor((layers + room) / pieces) + (i < (layers + room) % pieces));
  found[pieces - 1] -= room;
  while (found[pieces - 1] < 1) {
    const most = max(...found.slice(0, -1));
    found[found.slice(0, -1).lastIndexOf(most)] -= 1;
    found[pieces - 1] += 1;
  }
  return range(stages).map((rank) => range(virtual).reduce((sum, v) => sum + found[rank + v * stages], 0));
}
/** Layers of each stage of a plan, and the bytes of a GPU there. */
function stagesOf({ x, hit, stage }, { row, c }) {
  const [X, Y, n_cp, Z, N_stages, n_virt, n_seq, n_zero, n_sp, n_recompute, n_even] = row;
  const [f_hit, f_node] = hit(Z);
  const given = { ...x, X, Y, n_cp, Z, N_stages, n_virt, n_seq, n_zero, n_sp, n_recompute, n_even, f_hit, f_node };
  const bytes = (L_stage, i) =>
    stage[+(n_virt > 1)]({
      ...given,
      L_stage,
      i_stage: i,
      n_end: N_stages > 1 ? +(i === 0 || i === N_stages - 1) : x.n_emb,
      n_last: +(i === N_stages - 1),
    });
  const head = n_even ? 0 : round(bytes(1, 0)[1]);
  return dealt(x.L, head, round(c.stage_layers), N_stages, n_virt).map((layers, i) => ({
    layers,
    memory: bytes(layers, i)[0],
  }));
}
const MOST_PASSES = 20000;
/** When each rank of a pipeline works: rows of [start, end, whether backward], in forward passes of one virtual stage; a
 *  backward pass takes `back` of them. The twin of one_f_one_b and interleaved in schedules/pipelines/orders.py.      */
function timetable(ranks, many, virtual, back) {
  const stages = ranks * virtual;
  const half = many * virtual;
  const rows = range(ranks).map(() => []);
  const total = (1 + back) * (half + ranks - 1);
  if (ranks * half > MOST_PASSES) return { total };
  const done = [0, 1].map(() => new Float64Array(many * stages));
  let left = ranks * half * 2;
  while (left) {
    rows.forEach((row, r) => {
      const ahead = min(half, (ranks - r - 1) * (virtual > 1 ? 2 : 1) + (virtual - 1) * ranks);
      for (; row.length < 2 * half; left--) {
        const n = row.length;
        const paired = n >= ahead && n < 2 * half - ahead;
        const backward = paired ? (n - ahead) % 2 : +(n >= ahead);
        const k = paired ? (backward ? (n - ahead - 1) / 2 : (n + ahead) / 2) : backward ? n - half : n;
        const turn = floor((k % stages) / ranks);
        const stage = (backward ? virtual - 1 - turn : turn) * ranks + r;
        const at = (floor(k / stages) * ranks + (k % ranks)) * stages + stage;
        const first = backward ? stage === stages - 1 : !stage;
        const ready = first ? (backward ? done[0][at] : 0) : done[backward][at + (backward ? 1 : -1)];
        if (!ready && (backward || !first)) return;
        const start = max(ready, row.at(-1)?.[1] ?? 0);
        row.push([start, (done[backward][at] = start + (backward ? back : 1)), backward]);
      }
    });
  }
  return { total, rows };
}
/** Whether no run of the calibration was like the plan; the twin of plan/likeness.py. */
function unlike({ p, place: { kinds }, data, model }, [X, Y, n_cp, Z, N_stages, n_virt, , n_zero, , n_recompute]) {
  if (!kinds) return false;
  const degree = { tp: Y, cp: n_cp, ep: Z, pp: N_stages, virtual: n_virt };
  return (
    p.gpus > data.reach * kinds.gpus ||
    p.seq > data.reach * kinds.seq ||
    p.recipe !== kinds.recipe ||
    (model.experts && !kinds.experts) ||
    (X * n_cp > 1 && !kinds.zero.includes(n_zero)) ||
    !kinds.recompute.includes(data.recompute[n_recompute]) ||
    keys(data.axes).some((name) => !kinds.axes.includes(name) && degree[name] > 1)
  );
}
