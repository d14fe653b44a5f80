/* Deployments: every layout of a replica at every batch, and the best batch within the limits. The twin of gpuscale.serve,
   where layouts.py lists the same layouts, evaluation.py evaluates them and search.py chooses. Each cost is a formula of
   the library, each condition is printed, and tests compare the two. A pair is a bound and an expected value.          */
const powers = (most) => range(1 + floor(Math.log2(most))).map((i) => 2 ** i);
const counted = (words, known) => words.replace(/{(\w+)}/g, (_, name) => show(known[name], COUNT));
const both = (f) => [f(0), f(1)];
let compiled = null;

/** A request: what the formulas need of its model and GPUs, at the mean context of a full batch. */
function asked(p, call, data) {
  const model = data.models[p.model], place = data.gpus[p.gpu], b = data.formats[p.weights], { peaks } = place;
  const x = { ...model.x, ...place.x, b_w: b, b_exp: b, b_head: b, b: data.formats[p.cache], S_in: p.input, S_out: p.output, S_hit: 0, C: peaks[p.weights], C_attn: peaks[p.cache], alpha: 0, alpha_call: 0, T_queue: 0, T_send: 0, b_dispatch: data.bytes, b_combine: data.bytes };
  x.V_tok = call(model.latent ? 'latent_kv_token' : 'kv_token', x);
  const cached = (S) => call(x.L_win ? 'cache_token_windowed' : 'cache_sequence', { ...x, S });
  x.S = call('mean_context', x); x.V_seq = cached(x.S);
  const { broken, words, brief } = data.conditions;
  if (compiled?.broken !== broken) compiled = { broken, of: Function(`return ${broken}`)() };
  return { p, x, model, place, data, call, words, brief, broken: compiled.of, V_long: cached(p.input + p.output + data.block) };
}

/** The layouts of a cell, in the order of layouts.py, and the reason against the one that came closest. */
function laidOut(ask, Y, row) {
  const { p, x, model } = ask, out = [];
  let far = -1, why;
  for (const N_stages of p.down === 'pp' ? [row] : powers(min(p.gpus, ask.data.stages))) for (const n_dpa of p.down === 'dpa' ? [row] : model.experts ? powers(p.gpus) : [1]) for (const spread of model.experts ? [0, 1] : [0]) {
    const Z = Y * n_dpa, n_ep = spread ? Z : 1, n_gpu = Z * N_stages;
    if (n_gpu > p.gpus || n_ep === 1 && n_dpa > 1 || spread && Z === 1) continue;
    const one = { Y, N_stages, n_dpa, n_ep, Z, n_gpu, L_stage: ceil(x.L / N_stages) }, known = { ...x, ...one }, place = ask.broken(known);
    if (place < 0) out.push(one);
    else if (place > far) { far = place; why = [counted(ask.words[place], known), ask.brief[place]]; }
  }
  return [out, why];
}

/** All-reduces and all-to-alls of a stage for the tokens of a group. */
function exchange({ place, data, call }, k, tokens) {
  const spread = k.n_ep > 1, one = k.Y > 1 ? call('two_shot_all_reduce', { alpha: 0, V: tokens * k.D * data.bytes, N: k.Y, W: place.nvlink }) : 0;
  const part = k.L_stage / k.L, near = { ...k, B_gpu: tokens / k.Y }, over = (G, W_nic) => call('expert_parallel_exchange', { ...near, G, W_nic });
  const sent = spread ? max(over(1, place.nvlink), over(min(k.Z, k.G), place.network)) : 0;
  return (k.L + (spread ? k.L_dense : k.L)) * part * one + (k.L - k.L_dense) * part * sent;
}
/** A prompt on an attention group: alone, and among others that share launches and the reading of weights. */
function prefilled(ask, own) {
  const { call, model, p, place } = ask, k = { ...own, B: p.input, N_gpu: own.Y, eta_mat: place.reach[p.weights] };
  k.ops = call(model.latent ? 'prefill_flop_latent' : 'prefill_flop_windowed', k);
  k.E_hit = call('experts_touched', k); k.V_w = call('weights_read_moe', k);
  const moved = exchange(ask, { ...k, L_stage: k.L }, p.input);
  return [k, { ...k, V_w: 1e-9, t_layer: 0 }].map((one) => ['prefill_bound', 'prefill_estimate'].map((name) => call(name, one) + moved));
}
/** A stage that works on a batch of each of its groups: bound and estimate. */
function worked(ask, own, batch, groups) {
  const { call, model, place, p } = ask, k = { ...own, B_seq: batch, B: batch * groups };
  k.E_hit = call('experts_touched', k); k.V_w = call('replica_weights_read', k); k.V_kv = call('replica_cache', k); k.V_read = call('bytes_read', k);
  k.P_act = call('replica_params', k); k.ops_kv = call(model.latent ? 'attention_flop_absorbed' : 'attention_flop_decode', k); k.ops_kv = call('replica_attention', k);
  const moved = exchange(ask, k, batch), bound = call('decode_bound', Object.assign(k, { N_gpu: 1 })), { reach } = place;
  const expected = call('decode_estimate', { ...k, L: k.L_stage, t_layer: model.layer[p.weights], C: reach[p.weights] * k.C, C_attn: reach[p.cache] * k.C_attn });
  return [bound + moved, expected + moved];
}
/** A stage under load, and its hop to the next; ``one`` is the estimate of a single sequence, for models with experts. */
function staged(ask, own, batch, one) {
  const { call, model, place, data } = ask, [bound, many] = worked(ask, own, batch, own.n_dpa), rate = own.n_gpu <= own.G ? place.nvlink : place.network;
  const expected = one ? call('loaded_step', { T_one: one, T_many: many, g_added: model.added }) : many;
  return [[bound, expected], own.N_stages > 1 ? call('call_time', { alpha_call: 0, V: batch * own.D * data.bytes, W_fit: rate }) : 0];
}

/** A layout at every batch that fits. */
function evaluated(ask, row) {
  const { call, x, p, data, place, V_long } = ask, k = { ...x, ...row }, own = call('replica_weights', k);
  const [each, long] = [x.V_seq, V_long].map((V_seq) => call('replica_cache', { ...k, B_seq: 1, V_seq }) * row.N_stages);
  const most = floor(max(0, place.room - own - long) / each) + 1, points = [], count = floor(p.gpus / row.n_gpu), found = { row, own, most, count, least: own + long, points };
  if (found.least > place.room) return found;
  const [alone, among] = prefilled(ask, k), one = ask.model.added > 1 ? worked(ask, k, 1, 1)[1] : 0;
  for (const tried of data.batches) {
    const batch = min(tried, most);
    if (batch === points.at(-1)?.batch) break;
    const [stage, T_hop] = staged(ask, k, batch, one), alive = batch * row.n_dpa * row.N_stages, timed = { ...k, B_seq: batch };
    const step = both((i) => call('pipeline_decode', { ...k, T_mem: stage[i] * row.N_stages, T_hop })), token = both((i) => call('full_token_time', { ...timed, T_dec: step[i], T_pre: among[i] }));
    const first = both((i) => call('first_token_time', { T_queue: 0, T_send: 0, T_pre: alone[i], T_dec: step[i] }));
    const perGpu = both((i) => count * call('full_rate', { ...k, B_mean: alive, T_tpot: token[i] }) * p.output / p.gpus);
    points.push({ batch, alive, memory: own + long + (batch - 1) * each, token, first, perGpu });
  }
  return found;
}

/** A limit, which is none at the end of its scale. */
const limited = (p, data, name) => p[name] >= data[name][1] ? Infinity : p[name];
/** The best batch of a layout within the limits, and what keeps it from being larger. */
function chosen(ask, one, ttft, tpot) {
  let at = -1;
  one.points.forEach((c, j) => { if (c.token[1] <= tpot && c.first[1] <= ttft && !(at >= 0 && c.perGpu[1] <= one.points[at].perGpu[1])) at = j; });
  if (at < 0) return null;
  const point = one.points[at], next = one.points[at + 1];
  const binds = point.batch >= one.most ? 'memory' : !next ? 'compute' : next.token[1] > tpot ? 'tpot' : next.first[1] > ttft ? 'ttft' : 'compute';
  return { ...one, point, binds };
}
const least = (rows, of) => min(Infinity, ...rows.flatMap((one) => one.points.map(of)));
/** A cell of the map: its best layout within the limits, or why there is none. */
function judged(ask, cell, ttft, tpot) {
  let best = null;
  for (const one of cell.rows) { const found = chosen(ask, one, ttft, tpot); if (found && !(best && found.point.perGpu[1] <= best.point.perGpu[1])) best = found; }
  if (best) return { ...cell, best };
  const all = cell.rows, token = least(all, (c) => c.token[1]), first = least(all, (c) => c.first[1]);
  const out = cell.out ?? (token === Infinity ? 'memory' : token > tpot ? 'tpot' : first > ttft ? 'ttft' : 'both');
  return { ...cell, out, token, first, need: min(...all.map((one) => one.least)) };
}
let kept = null;                                           // the layouts of the request that was asked last
/** All cells of a request within its limits. */
function searched(p, call, data) {
  const given = JSON.stringify([p.model, p.gpu, p.gpus, p.input, p.output, p.weights, p.cache, p.down]);
  if (kept?.given !== given || kept.data !== data) {
    const ask = asked(p, call, data), across = powers(min(p.gpus, 2 * ask.x.G)), down = powers(min(p.gpus, p.down === 'pp' ? data.stages : p.gpus));
    const cells = down.flatMap((row) => across.map((tp) => {
      if (tp * row > p.gpus) return { tp, row, rows: [], out: 'many' };
      const [rows, why] = laidOut(ask, tp, row);
      return { tp, row, rows: rows.map((one) => evaluated(ask, one)), ...(!rows.length && { out: 'layout', why }) };
    }));
    kept = { given, data, ask, across, down, cells };
  }
  const [ttft, tpot] = ['ttft', 'tpot'].map((name) => limited(p, data, name)), cells = kept.cells.map((cell) => judged(kept.ask, cell, ttft, tpot));
  const ranked = cells.filter((c) => c.best).sort((a, b) => b.best.point.perGpu[1] - a.best.point.perGpu[1]);
  const all = cells.flatMap((c) => c.rows), at = cells.find((c) => c.tp === p.tp && c.row === p.row) ?? ranked[0];
  return { ...kept, cells, ranked, at, ttft, tpot, first: ranked[0], leastToken: least(all, (c) => c.token[1]), leastFirst: least(all, (c) => c.first[1]), leastMemory: min(...all.map((one) => one.least)) };
}
