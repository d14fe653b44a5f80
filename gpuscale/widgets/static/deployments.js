/* Deployments: every layout of a replica at every batch, and the best batch within the limits. The twin of gpuscale.serve,
   where layouts.py lists the same layouts, evaluation.py evaluates them and search.py chooses. Each cost is a formula of
   the library, each condition is printed, and tests compare the two. A pair is a bound and an expected value.          */
const powers = (most) => range(1 + floor(Math.log2(most))).map((i) => 2 ** i);
const counted = (words, known) => words.replace(/{(\w+)}/g, (_, name) => show(known[name], COUNT));
const both = (f) => [f(0), f(1)];
const ACCEPTED = range(5).map((i) => `a${i + 1}`);         // the acceptance of each draft token
const EVALUATED = ['model', 'gpu', 'gpus', 'input', 'output', 'weights', 'cache', 'down', 'prefix', 'hit', 'chunk', 'draft', 'drafted', ...ACCEPTED];
let compiled = null;

/** A request: what the formulas need of its model and GPUs, at the mean context of a full batch. */
function asked(p, call, data) {
  const model = data.models[p.model], place = data.gpus[p.gpu], b = data.formats[p.weights], { peaks } = place, { draft } = p;
  const x = { ...model.x, ...place.x, b_w: b, b_exp: b, b_head: b, b: data.formats[p.cache], S_in: p.input, S_out: p.output, C: peaks[p.weights], C_attn: peaks[p.cache], alpha: 0, alpha_call: 0, T_queue: 0, T_send: 0, b_dispatch: data.bytes, b_combine: data.bytes, n_draft: draft };
  x.V_tok = call(model.latent ? 'latent_kv_token' : 'kv_token', x);
  x.a_step = draft ? call('tokens_per_step_measured', fromEntries(ACCEPTED.map((k, i) => [`a_acc_${i + 1}`, i < draft ? p[k] : 0]))) : 1;
  const cached = (S) => call(x.L_win ? 'cache_token_windowed' : 'cache_sequence', { ...x, S });
  x.S = call('mean_context', x); x.V_seq = cached(x.S);
  const fresh = p.input - p.prefix * p.hit;                  // tokens that a prefill computes, on average
  x.S_hit = p.input - fresh; x.S_chunk = p.chunk; x.f_late = data.late;
  const { broken, words, brief } = data.conditions, V_hand = call('handover_bytes', { V_tok: cached(p.input) / p.input, S_in: p.input });
  if (compiled?.broken !== broken) compiled = { broken, of: Function(`return ${broken}`)() };
  return { p, x, model, place, data, call, words, brief, fresh, chunked: p.chunk > 0 && p.chunk < fresh, broken: compiled.of, V_hand, V_long: cached(p.input + p.output + data.block), V_prefix: p.prefix ? cached(p.prefix) : 0 };
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
/** Prompts in a step that most steps do not exceed, at a mean of so many: the twin of serving/step_percentile.py. */
function stalls(table, mean) {
  const place = table.findIndex((most) => mean <= most), last = table.length - 1;
  return place >= 0 ? place : ceil(last * mean / table[last]);
}
/** A stage that works on some tokens of each sequence of a batch in each of its groups, and perhaps on a chunk of a prompt
 *  whose arithmetic takes as long as given: bound and estimate. */
function worked(ask, own, tokens, batch, groups, prompt) {
  const { call, model, place, p } = ask, checked = call('verified_batch', { B_seq: batch, n_draft: tokens - 1 }), fed = checked + (prompt ? p.chunk : 0), k = { ...own, B_seq: batch, B: fed * groups };
  k.E_hit = call('experts_touched', k); k.V_w = call('replica_weights_read', k); k.V_kv = call('replica_cache', k); k.V_read = call('bytes_read', k); k.B_seq = checked;
  k.P_act = call('replica_params', k); k.ops_kv = call(model.latent ? 'attention_flop_absorbed' : 'attention_flop_decode', k); k.ops_kv = call('replica_attention', k);
  const moved = exchange(ask, k, fed), { reach } = place, slow = { L: k.L_stage, t_layer: model.layer[p.weights], C: reach[p.weights] * k.C, C_attn: reach[p.cache] * k.C_attn };
  const chunk = prompt?.map((t) => call('chunk_time', { ...k, T_pre: t / k.N_stages })), [bound, expected] = prompt ? ['mixed_bound', 'mixed_estimate'] : ['decode_bound', 'decode_estimate'];
  return [call(bound, Object.assign(k, { N_gpu: 1, T_chunk: chunk?.[0] })) + moved, call(expected, { ...k, ...slow, T_chunk: chunk?.[1] }) + moved];
}
/** A step through all stages under load, perhaps with a chunk, from one of its stages as ``worked``; ``one`` is the
 *  estimate of a single sequence, for models with experts. */
function stepped(ask, own, tokens, batch, one, plain, prompt) {
  const { call, model, place, data, p } = ask, [bound, many] = plain, W_fit = own.n_gpu <= own.G ? place.nvlink : place.network;
  const loaded = one ? call('loaded_step', { T_one: one, T_many: many, g_added: model.added }) : many, mixed = prompt && worked(ask, own, tokens, batch, own.n_dpa, prompt);
  const stage = mixed ? [mixed[0], loaded + mixed[1] - many] : [bound, loaded], sent = tokens * batch + (prompt ? p.chunk : 0);
  const T_hop = own.N_stages > 1 ? call('call_time', { alpha_call: 0, V: sent * own.D * data.bytes, W_fit }) : 0;
  return both((i) => call('pipeline_decode', { ...own, T_mem: stage[i] * own.N_stages, T_hop }));
}

/** A layout at every batch that fits. */
function evaluated(ask, row) {
  const { call, x, p, data, place, V_long, V_prefix } = ask, k = { ...x, ...row }, own = call('replica_weights', k);
  const [size, long, shared] = [x.V_seq, V_long, V_prefix].map((V_seq) => call('replica_cache', { ...k, B_seq: 1, V_seq }) * row.N_stages), each = size - shared;
  const most = floor(max(0, place.room - own - long) / each) + 1, points = [], count = floor(p.gpus / row.n_gpu), found = { row, own, most, count, least: own + long, points };
  if (found.least > place.room) return found;
  const { alone, among, spread } = prefilled(ask, k), one = [1, 1 + p.draft].map((tokens) => ask.model.added > 1 ? worked(ask, k, tokens, 1, 1)[1] : 0);
  const fed = ask.chunked ? call('largest_fed', k) : Infinity, longest = p.hit < 1 ? p.input : p.input - p.prefix;   // of a request that misses its prefix
  const W_hand = row.Y * (p.gpus <= x.G ? place.nvlink : place.network);
  Object.assign(found, { fed, alone, spread, service: among[1] / row.N_stages, prompts: among.map((t) => row.n_dpa * row.N_stages / t), sent: call('call_time', { alpha_call: 0, V: ask.V_hand, W_fit: W_hand }) });
  for (const tried of data.batches) {
    const batch = min(tried, most, max(1, floor(fed)));
    if (batch === points.at(-1)?.batch) break;
    const alive = batch * row.n_dpa * row.N_stages, timed = { ...k, B_seq: batch }, spoke = (T_dec, t_draft, a_step) => call('speculative_token', { T_dec, t_draft, a_step, n_draft: p.draft });
    const plain = worked(ask, k, 1 + p.draft, batch, k.n_dpa), checked = stepped(ask, k, 1 + p.draft, batch, one[1], plain), drafts = p.draft ? stepped(ask, k, 1, batch, one[0], worked(ask, k, 1, batch, k.n_dpa)) : checked, drafted = (times) => p.draft ? both((i) => spoke(times[i], p.drafted * drafts[i], 1)) : times;
    const step = drafted(checked), spoken = both((i) => spoke(step[i], 0, k.a_step)), rate = (T_tpot, B_mean) => call('full_rate', { ...k, B_mean, T_tpot });
    let { service } = found, token, gap, first;
    if (ask.chunked) {
      const T_mix = drafted(stepped(ask, k, 1 + p.draft, batch, one[1], plain, among)), f_chunk = call('chunk_steps', { ...k, B_seq: min(batch, fed) }), mixed = both((i) => ({ ...k, T_dec: step[i], T_mix: T_mix[i], f_chunk }));
      token = mixed.map((m) => call('chunked_token_time', m));
      gap = mixed.map((m) => call('gap_percentile', { ...m, f_chunk: min(1, f_chunk * row.N_stages) }));
      first = mixed.map((m) => call('chunked_first_token', { ...m, S_in: longest }));
      service = T_mix[1] * ask.fresh / p.chunk / row.N_stages;
    } else {
      const n_stall = stalls(data.stalls, call('prompts_per_step', { ...k, B_seq: batch * row.N_stages }));
      token = both((i) => call('full_token_time', { ...timed, T_dec: spoken[i], T_pre: among[i] }));
      gap = both((i) => call('stalled_decode', { n_stall, T_dec: step[i], T_pre: among[i] / row.N_stages }));
      first = both((i) => call('first_token_time', { T_queue: 0, T_send: 0, T_pre: alone[i], T_dec: step[i] }));
    }
    const rates = token.map((t) => rate(t, min(alive, fed * row.n_dpa * row.N_stages))), perGpu = rates.map((r) => count * r * p.output / p.gpus);
    points.push({ batch, alive, memory: own + long + (batch - 1) * each, step, spoken, decoded: spoken.map((t) => rate(t, alive)), rates, token, gap, first, perGpu, service });
  }
  return found;
}

/** A function that runs once, when it is first called. */
const later = (make) => { let made; return () => made ??= make(); };
/** A layout for replicas that do both; ``apart``, where GPUs that only decode have no chunks. */
function bothKinds(ask, row) {
  const one = evaluated(ask, row);
  return Object.defineProperty(one, 'apart', { get: later(() => ask.chunked ? evaluated({ ...ask, chunked: false }, row) : one) });
}

/** A limit, which is none at the end of its scale. */
const limited = (p, data, name) => p[name] >= data[name][1] ? Infinity : p[name];
/** A batch of replicas that prefill and decode, at a load: its TTFT with the queue, and what it serves. */
function busy(ask, one, c, load) {
  const { call, p } = ask, slots = { f_load: load, B_seq: c.alive, c_scv: 0, T_req: (p.output - 1) * c.token[1] };
  const f_slot = call('slot_taken', slots), T_slot = call('slot_queue', { ...slots, f_slot }), line = { f_load: load * c.rates[1] / one.row.n_dpa * c.service, T_svc: c.service, c_scv: one.spread, f_late: ask.data.late };
  const T_line = call('queue_time', line), wait = call('replica_queue', { T_slot, T_line, T_dec: c.step[1] }), first = [c.first[0], c.first[1] + wait];
  const late = call('queue_percentile', { ...line, T_queue: T_line }) + call('queue_percentile', { T_queue: T_slot, f_load: f_slot, f_late: ask.data.late });
  return { ...c, load, wait, first, tail: first[1] + late - T_line - T_slot, perGpu: [c.perGpu[0], c.perGpu[1] * load] };
}
/** A batch at the highest load whose TTFT keeps its limit, the lowest one if none does. */
function loaded(ask, one, c, { ttft, load }) {
  let found;
  for (const part of ask.data.loads) if ((found = busy(ask, one, c, part * load)).first[1] <= ttft) break;
  return found;
}
/** The best batch and load of a layout that also prefills, and what keeps it from more. */
function colocated(ask, one, within) {
  const { ttft, tpot, load } = within;
  let at = -1, point;
  one.points.forEach((c, j) => {
    if (c.token[1] > tpot || c.first[1] > ttft || at >= 0 && c.perGpu[1] * load <= point.perGpu[1]) return;
    const found = loaded(ask, one, c, within);
    if (found.first[1] <= ttft && !(at >= 0 && found.perGpu[1] <= point.perGpu[1])) { at = j; point = found; }
  });
  if (at < 0) return null;
  const next = one.points[at + 1], late = () => busy(ask, one, next, load).first[1] > ttft;
  const binds = point.load < load * ask.data.loads[0] ? 'ttft' : point.batch >= one.most ? 'memory' : point.batch + 1 > one.fed ? 'chunk' : !next ? 'compute' : next.token[1] > tpot ? 'tpot' : late() ? 'ttft' : 'compute';
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
      const o = floor((p.gpus - d * n) / s.row.n_gpu), r = min(o * s.prompts[1] * most, d * c.decoded[1] * load);
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
  const slower = most < load ? 'ttft' : 'prefill', binds = others * s.prompts[1] * most >= decoders * c.decoded[1] * load ? 'decode' : slower;
  const from = { row: s.row, count: others, own: s.own, sent: s.sent, load: queue.f_load, wait: queue.T_queue, prompts: s.prompts };
  return { ...c, token: c.spoken, gap: c.step, first, perGpu, binds, from, decoders, tail, load: from.load };
}
/** The best split for a layout, at the batch at which it decodes most. */
function disaggregated(ask, one, within) {
  let at = null;
  for (const c of one.points) if (c.spoken[1] <= within.tpot && !(at && c.decoded[1] <= at.decoded[1])) at = c;
  const point = at && parted(ask, one, at, within);
  return point && { ...one, point, binds: point.binds, count: point.decoders, from: point.from };
}
/** The points of a deployment's curve: every batch, and with prefill GPUs the best split at each. */
const curved = (ask, one, within) => one.from ? one.points.map((c) => parted(ask, one, c, within)).filter(Boolean) : one.points.map((c) => loaded(ask, one, c, within));
/** Replicas that the request rate of the peak hour takes, at the loads of a deployment: those that decode, those that only
 *  prefill, their GPUs, and dollars per hour. */
function fleet({ call, p, place }, { row, point, from }) {
  if (!p.rate) return null;
  const many = (load, own) => call('replicas_for_rate', { lambda_req: p.rate, r_rep: load * own }), replicas = from ? many(p.load, point.decoded[1]) : many(point.load, point.rates[1]), ahead = from ? many(from.load, from.prompts[1]) : 0;
  const parts = [[replicas, row.n_gpu], ...from ? [[ahead, from.row.n_gpu]] : []], hour = place.price ? parts.reduce((sum, [n_rep, N_gpu]) => sum + call('hourly_price', { n_rep, N_gpu, p_gpu: place.price }), 0) : null;
  return { replicas, prefill: ahead, gpus: parts.reduce((sum, [n, gpus]) => sum + n * gpus, 0), hour };
}
/** Dollars per million output tokens, of the fleet if there is a rate. */
function priced(ask, best) {
  const { call, p, place } = ask, some = fleet(ask, best);
  return place.price ? call('dollars_per_million', { p_gpu: place.price, f_busy: 1, r_tok: some ? p.rate * p.output / some.gpus : best.point.perGpu[1] }) : null;
}
/** The kinds of deployments that are compared. */
const MODES = { colocated: [1, 0], disaggregated: [0, 1], both: [1, 1] };
/** What a layout is, at the least: time per token, and time to first token. */
function leasts(ask, one) {
  const [together, apart] = MODES[ask.mode], of = (f, points = one.points) => min(Infinity, ...points.map(f)), light = ask.data.loads.at(-1) * ask.p.load;
  const beside = apart ? ask.free.filter((s) => s.row.n_gpu + one.row.n_gpu <= ask.p.gpus) : [], ahead = min(...beside.map((s) => s.alone[1] + s.sent));
  const token = min(together ? of((c) => c.token[1]) : Infinity, beside.length ? of((c) => c.spoken[1], one.apart.points) : Infinity);
  return { token, first: min(together ? of((c) => busy(ask, one, c, light).first[1]) : Infinity, ahead + of((c) => c.step[1], one.apart.points)) };
}
/** A cell of the map: its best layout within the limits, or why there is none. */
function judged(ask, cell, within) {
  const [together, apart] = MODES[ask.mode];
  let best = null;
  for (const one of cell.rows) {
    for (const found of [together && colocated(ask, one, within), apart && disaggregated(ask, one.apart, within)]) {
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
      return { tp, row, rows: rows.map((row) => bothKinds(ask, row)), ...(!rows.length && { out: 'layout', why }) };
    }));
    const senders = later(() => {
      const able = cells.flatMap((c) => c.rows.map((one) => one.apart)).filter((one) => one.points.length && one.row.n_gpu < p.gpus).sort(order);
      return able.filter((s, i) => !able.some((o, j) => o !== s && better(o, s) && (j < i || !better(s, o))));
    });
    kept = { given, data, ask, across, down, cells, able: senders };
  }
  const [ttft, tpot] = ['ttft', 'tpot'].map((name) => limited(p, data, name)), within = { ttft, tpot, load: p.load }, free = p.mode === 'colocated' ? [] : kept.able();
  const ask = { ...kept.ask, p, mode: p.mode, free, senders: free.filter((s) => s.alone[1] <= ttft) }, cells = kept.cells.map((cell) => judged(ask, cell, within));
  const ranked = cells.filter((c) => c.best).sort((a, b) => b.best.point.perGpu[1] - a.best.point.perGpu[1]);
  const all = cells.flatMap((c) => c.rows), at = cells.find((c) => c.tp === p.tp && c.row === p.row) ?? ranked[0];
  const least = (of) => min(...(ranked.length ? [] : all.map((one) => of(leasts(ask, one)))));
  return { ...kept, ask, cells, ranked, at, ttft, tpot, within, first: ranked[0], leastToken: least((c) => c.token), leastFirst: least((c) => c.first), leastMemory: min(...all.map((one) => one.least)), fits: all.some((one) => one.points.length) };
}
