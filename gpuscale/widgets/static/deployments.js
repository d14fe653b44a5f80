/* Deployments: every layout of a replica at every batch, and the best batch within the limits. The twin of gpuscale.serve,
   where layouts.py lists the same layouts, evaluation.py evaluates them and search.py chooses. Each cost is a formula of
   the library, each condition is printed, and tests compare the two. A pair is a bound and an expected value.          */
const powers = (most) => range(1 + floor(Math.log2(most))).map((i) => 2 ** i);
const counted = (words, known) => words.replace(/{(\w+)}/g, (_, name) => show(known[name], COUNT));
const both = (f) => [f(0), f(1)];
const ACCEPTED = range(5).map((i) => `a${i + 1}`);         // the acceptance of each draft token
const EVALUATED = ['model', 'gpu', 'gpus', 'input', 'output', 'weights', 'cache', 'down', 'prefix', 'hit', 'draft', 'drafted', ...ACCEPTED];
let compiled = null;

/** A request: what the formulas need of its model and GPUs, at the mean context of a full batch. */
function asked(p, call, data) {
  const model = data.models[p.model], place = data.gpus[p.gpu], b = data.formats[p.weights], { peaks } = place, { draft } = p;
  const x = { ...model.x, ...place.x, b_w: b, b_exp: b, b_head: b, b: data.formats[p.cache], S_in: p.input, S_out: p.output, C: peaks[p.weights], C_attn: peaks[p.cache], alpha: 0, alpha_call: 0, T_queue: 0, T_send: 0, b_dispatch: data.bytes, b_combine: data.bytes, n_draft: draft };
  x.V_tok = call(model.latent ? 'latent_kv_token' : 'kv_token', x);
  x.a_step = draft ? call('tokens_per_step_measured', fromEntries(ACCEPTED.map((k, i) => [`a_acc_${i + 1}`, i < draft ? p[k] : 0]))) : 1;
  const cached = (S) => call(x.L_win ? 'cache_token_windowed' : 'cache_sequence', { ...x, S });
  x.S = call('mean_context', x); x.V_seq = cached(x.S);
  const { broken, words, brief } = data.conditions, V_hand = call('handover_bytes', { V_tok: cached(p.input) / p.input, S_in: p.input });
  if (compiled?.broken !== broken) compiled = { broken, of: Function(`return ${broken}`)() };
  return { p, x, model, place, data, call, words, brief, broken: compiled.of, V_hand, V_long: cached(p.input + p.output + data.block), V_prefix: p.prefix ? cached(p.prefix) : 0 };
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
/** A prompt on an attention group of which a part is cached: alone, and among others that share launches and the reading
 *  of weights. */
function prompted(ask, own, S_hit) {
  const { call, model, p, place } = ask, B = p.input - S_hit, k = { ...own, B, S_hit, N_gpu: own.Y, eta_mat: place.reach[p.weights] };
  k.ops = call(model.latent ? 'prefill_flop_latent' : 'prefill_flop_windowed', k);
  k.E_hit = call('experts_touched', k); k.V_w = call('weights_read_moe', k);
  const moved = exchange(ask, { ...k, L_stage: k.L }, B);
  return [k, { ...k, V_w: 1e-9, t_layer: 0 }].map((one) => ['prefill_bound', 'prefill_estimate'].map((name) => call(name, one) + moved));
}
/** A prompt of which not all find the prefix: one alone that does not, the mean among others, and how much that varies. */
function prefilled(ask, own) {
  const { p, call } = ask, [alone, found] = prompted(ask, own, p.prefix);
  if (!p.prefix || p.hit === 1) return { alone, among: found, spread: 0 };
  const [missed, miss] = prompted(ask, own, 0), given = (i) => ({ f_pre: p.hit, T_hit: found[i], T_miss: miss[i] });
  return { alone: missed, among: both((i) => call('mean_prefill', given(i))), spread: call('prefill_spread', given(1)) };
}
/** A stage that works on some tokens of each sequence of a batch in each of its groups: bound and estimate. */
function worked(ask, own, tokens, batch, groups) {
  const { call, model, place, p } = ask, checked = call('verified_batch', { B_seq: batch, n_draft: tokens - 1 }), k = { ...own, B_seq: batch, B: checked * groups };
  k.E_hit = call('experts_touched', k); k.V_w = call('replica_weights_read', k); k.V_kv = call('replica_cache', k); k.V_read = call('bytes_read', k); k.B_seq = checked;
  k.P_act = call('replica_params', k); k.ops_kv = call(model.latent ? 'attention_flop_absorbed' : 'attention_flop_decode', k); k.ops_kv = call('replica_attention', k);
  const moved = exchange(ask, k, checked), bound = call('decode_bound', Object.assign(k, { N_gpu: 1 })), { reach } = place;
  const expected = call('decode_estimate', { ...k, L: k.L_stage, t_layer: model.layer[p.weights], C: reach[p.weights] * k.C, C_attn: reach[p.cache] * k.C_attn });
  return [bound + moved, expected + moved];
}
/** A step through all stages under load; ``one`` is the estimate of a single sequence, for models with experts. */
function stepped(ask, own, tokens, batch, one) {
  const { call, model, place, data } = ask, [bound, many] = worked(ask, own, tokens, batch, own.n_dpa), W_fit = own.n_gpu <= own.G ? place.nvlink : place.network;
  const stage = [bound, one ? call('loaded_step', { T_one: one, T_many: many, g_added: model.added }) : many];
  const T_hop = own.N_stages > 1 ? call('call_time', { alpha_call: 0, V: tokens * batch * own.D * data.bytes, W_fit }) : 0;
  return both((i) => call('pipeline_decode', { ...own, T_mem: stage[i] * own.N_stages, T_hop }));
}

/** A layout at every batch that fits. */
function evaluated(ask, row) {
  const { call, x, p, data, place, V_long, V_prefix } = ask, k = { ...x, ...row }, own = call('replica_weights', k);
  const [size, long, shared] = [x.V_seq, V_long, V_prefix].map((V_seq) => call('replica_cache', { ...k, B_seq: 1, V_seq }) * row.N_stages), each = size - shared;
  const most = floor(max(0, place.room - own - long) / each) + 1, points = [], count = floor(p.gpus / row.n_gpu), found = { row, own, most, count, least: own + long, points };
  if (found.least > place.room) return found;
  const { alone, among, spread } = prefilled(ask, k), one = [1, 1 + p.draft].map((tokens) => ask.model.added > 1 ? worked(ask, k, tokens, 1, 1)[1] : 0);
  const W_hand = row.Y * (p.gpus <= x.G ? place.nvlink : place.network);
  Object.assign(found, { alone, service: among[1] / row.N_stages, spread, prompts: among.map((t) => row.n_dpa * row.N_stages / t), sent: call('call_time', { alpha_call: 0, V: ask.V_hand, W_fit: W_hand }) });
  for (const tried of data.batches) {
    const batch = min(tried, most);
    if (batch === points.at(-1)?.batch) break;
    const alive = batch * row.n_dpa * row.N_stages, timed = { ...k, B_seq: batch }, spoke = (T_dec, t_draft, a_step) => call('speculative_token', { T_dec, t_draft, a_step, n_draft: p.draft });
    const checked = stepped(ask, k, 1 + p.draft, batch, one[1]), drafts = p.draft ? stepped(ask, k, 1, batch, one[0]) : checked;
    const step = p.draft ? both((i) => spoke(checked[i], p.drafted * drafts[i], 1)) : checked, spoken = both((i) => spoke(step[i], 0, k.a_step));
    const token = both((i) => call('full_token_time', { ...timed, T_dec: spoken[i], T_pre: among[i] })), rate = (T_tpot) => call('full_rate', { ...k, B_mean: alive, T_tpot });
    const first = both((i) => call('first_token_time', { T_queue: 0, T_send: 0, T_pre: alone[i], T_dec: step[i] }));
    const perGpu = both((i) => count * rate(token[i]) * p.output / p.gpus);
    points.push({ batch, alive, memory: own + long + (batch - 1) * each, step, spoken, decoded: both((i) => rate(spoken[i])), token, first, perGpu });
  }
  return found;
}

/** A limit, which is none at the end of its scale. */
const limited = (p, data, name) => p[name] >= data[name][1] ? Infinity : p[name];
/** The best batch of a layout that also prefills, and what keeps it from being larger. */
function colocated(one, { ttft, tpot }) {
  let at = -1;
  one.points.forEach((c, j) => { if (c.token[1] <= tpot && c.first[1] <= ttft && !(at >= 0 && c.perGpu[1] <= one.points[at].perGpu[1])) at = j; });
  if (at < 0) return null;
  const point = one.points[at], next = one.points[at + 1];
  const binds = point.batch >= one.most ? 'memory' : !next ? 'compute' : next.token[1] > tpot ? 'tpot' : next.first[1] > ttft ? 'ttft' : 'compute';
  return { ...one, point, binds };
}
/** The best split of the GPUs between replicas of other layouts that prefill and those of a layout, at one of its batches. */
function parted(ask, one, c, { ttft, load }) {
  const { call, p, senders } = ask, n = one.row.n_gpu;
  let best = null;
  for (const s of senders) {
    const began = s.alone[1] + s.sent + c.step[1], room = floor((p.gpus - s.row.n_gpu) / n);
    if (began > ttft || room < 1) continue;
    const served = { T_svc: s.service, c_scv: s.spread };
    const allowed = ttft < Infinity ? call('largest_load', { ...served, T_queue: ttft - began }) : 1, most = min(load, allowed);
    let rate = 0, decoders = 0, others = 0;
    for (let d = 1; d <= room; d++) {
      const o = floor((p.gpus - d * n) / s.row.n_gpu), r = min(o * s.prompts[1] * most, d * c.decoded[1]);
      if (r > rate) [rate, decoders, others] = [r, d, o];
    }
    if (!rate || best && rate < best.rate) continue;                   // of equal rates the earlier first token
    const queue = { ...served, f_load: rate / (others * s.prompts[1]), f_late: ask.data.late };
    queue.T_queue = call('queue_time', queue);
    const first = began + queue.T_queue;
    if (!best || rate > best.rate || first < best.first) best = { rate, first, s, others, decoders, most, queue };
  }
  if (!best) return null;
  const { rate, s, others, decoders, most, queue } = best;
  const first = both((i) => call('first_token_time', { T_queue: i * queue.T_queue, T_send: s.sent, T_pre: s.alone[i], T_dec: c.step[i] }));
  const tail = first[1] - queue.T_queue + call('queue_percentile', queue);
  const perGpu = [min(others * s.prompts[0], decoders * c.decoded[0]), rate].map((r) => r * p.output / p.gpus);
  const slower = most < load ? 'ttft' : 'prefill', binds = others * s.prompts[1] * most >= decoders * c.decoded[1] ? 'decode' : slower;
  const from = { row: s.row, count: others, own: s.own, sent: s.sent, load: queue.f_load, wait: queue.T_queue, tail };
  return { ...c, token: c.spoken, first, perGpu, binds, from, decoders };
}
/** The best split for a layout, at the batch at which it decodes most. */
function disaggregated(ask, one, within) {
  let at = null;
  for (const c of one.points) if (c.spoken[1] <= within.tpot && !(at && c.decoded[1] <= at.decoded[1])) at = c;
  const point = at && parted(ask, one, at, within);
  return point && { ...one, point, binds: point.binds, count: point.decoders, from: point.from };
}
/** The points of a deployment's curve: every batch, and with prefill GPUs the best split at each. */
const curved = (ask, one, within) => one.from ? one.points.map((c) => parted(ask, one, c, within)).filter(Boolean) : one.points;
/** The kinds of deployments that are compared. */
const MODES = { colocated: [1, 0], disaggregated: [0, 1], both: [1, 1] };
/** What a layout is, at the least: time per token, and time to first token. */
function leasts(ask, one) {
  const [together, apart] = MODES[ask.mode], of = (f) => min(Infinity, ...one.points.map(f));
  const beside = apart ? ask.free.filter((s) => s.row.n_gpu + one.row.n_gpu <= ask.p.gpus) : [], ahead = min(...beside.map((s) => s.alone[1] + s.sent));
  const token = min(together ? of((c) => c.token[1]) : Infinity, beside.length ? of((c) => c.spoken[1]) : Infinity);
  return { token, first: min(together ? of((c) => c.first[1]) : Infinity, ahead + of((c) => c.step[1])) };
}
/** A cell of the map: its best layout within the limits, or why there is none. */
function judged(ask, cell, within) {
  const [together, apart] = MODES[ask.mode];
  let best = null;
  for (const one of cell.rows) {
    for (const found of [together && colocated(one, within), apart && disaggregated(ask, one, within)]) {
      if (found && !(best && found.point.perGpu[1] <= best.point.perGpu[1])) best = found;
    }
  }
  if (best) return { ...cell, best };
  const all = cell.rows.map((one) => leasts(ask, one)), token = min(...all.map((c) => c.token)), first = min(...all.map((c) => c.first)), fits = cell.rows.some((one) => one.points.length);
  const out = cell.out ?? (!fits ? 'memory' : token === Infinity ? 'all' : token > within.tpot ? 'tpot' : first > within.ttft ? 'ttft' : 'both');
  return { ...cell, out, token, first, need: min(...cell.rows.map((one) => one.least)) };
}
/** Whether a layout prefills at least as well as another, with no more GPUs. */
const better = (a, b) => [(s) => s.row.n_gpu, (s) => -s.prompts[1] / s.row.n_gpu, (s) => -s.prompts[1], (s) => s.alone[1] + s.sent, (s) => s.service, (s) => s.spread].every((f) => f(a) <= f(b));
const order = (a, b) => a.row.Y - b.row.Y || a.row.N_stages - b.row.N_stages || a.row.n_dpa - b.row.n_dpa || a.row.n_ep - b.row.n_ep;
let kept = null;                                           // the layouts of the request that was asked last
/** All cells of a request within its limits. */
function searched(p, call, data) {
  const given = JSON.stringify(EVALUATED.map((k) => p[k]));
  if (kept?.given !== given || kept.data !== data) {
    const ask = asked(p, call, data), across = powers(min(p.gpus, 2 * ask.x.G)), down = powers(min(p.gpus, p.down === 'pp' ? data.stages : p.gpus));
    const cells = down.flatMap((row) => across.map((tp) => {
      if (tp * row > p.gpus) return { tp, row, rows: [], out: 'many' };
      const [rows, why] = laidOut(ask, tp, row);
      return { tp, row, rows: rows.map((one) => evaluated(ask, one)), ...(!rows.length && { out: 'layout', why }) };
    }));
    const able = cells.flatMap((c) => c.rows).filter((one) => one.points.length && one.row.n_gpu < p.gpus).sort(order);
    kept = { given, data, ask, across, down, cells, able: able.filter((s, i) => !able.some((o, j) => o !== s && better(o, s) && (j < i || !better(s, o)))) };
  }
  const [ttft, tpot] = ['ttft', 'tpot'].map((name) => limited(p, data, name)), within = { ttft, tpot, load: p.load }, free = kept.able;
  const ask = { ...kept.ask, p, mode: p.mode, free, senders: free.filter((s) => s.alone[1] <= ttft) }, cells = kept.cells.map((cell) => judged(ask, cell, within));
  const ranked = cells.filter((c) => c.best).sort((a, b) => b.best.point.perGpu[1] - a.best.point.perGpu[1]);
  const all = cells.flatMap((c) => c.rows), at = cells.find((c) => c.tp === p.tp && c.row === p.row) ?? ranked[0];
  const least = (of) => min(...(ranked.length ? [] : all.map((one) => of(leasts(ask, one)))));
  return { ...kept, ask, cells, ranked, at, ttft, tpot, within, first: ranked[0], leastToken: least((c) => c.token), leastFirst: least((c) => c.first), leastMemory: min(...all.map((one) => one.least)), fits: all.some((one) => one.points.length) };
}
