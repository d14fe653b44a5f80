/* Serving costs: a request, the layouts of a replica, and what each takes at every batch. The twin of gpuscale.serve, where
   layouts.py lists the same layouts, and stages.py and evaluation.py evaluate them. Each cost is a formula of the library,
   each condition is printed, and tests compare the two. A pair is a bound and an expected value.                         */
const powers = (most) => range(1 + floor(Math.log2(most))).map((i) => 2 ** i);
const counted = (words, known) => words.replace(/{(\w+)}/g, (_, name) => show(known[name], COUNT));
const both = (f) => [f(0), f(1)];
const ACCEPTED = range(5).map((i) => `a${i + 1}`); // the acceptance of each draft token
const EVALUATED = [
  'model',
  'gpu',
  'gpus',
  'input',
  'output',
  'weights',
  'cache',
  'down',
  'prefix',
  'hit',
  'chunk',
  'draft',
  'drafted',
  ...ACCEPTED,
];
let compiled = null;

/** A request: what the formulas need of its model and GPUs, at the mean context of a full batch. */
function asked(p, call, data) {
  const model = data.models[p.model];
  const place = data.gpus[p.gpu];
  const b = data.formats[p.weights];
  const { peaks } = place;
  const { draft } = p;
  const x = {
    ...model.x,
    ...place.x,
    b_w: b,
    b_exp: b,
    b_head: b,
    b: data.formats[p.cache],
    S_in: p.input,
    S_out: p.output,
    C: peaks[p.weights],
    C_attn: peaks[p.cache],
    alpha: 0,
    alpha_call: 0,
    T_queue: 0,
    T_send: 0,
    b_dispatch: data.bytes,
    b_combine: data.bytes,
    n_draft: draft,
  };
  x.V_tok = call(model.latent ? 'latent_kv_token' : 'kv_token', x);
  x.a_step = draft
    ? call('tokens_per_step_measured', fromEntries(ACCEPTED.map((k, i) => [`a_acc_${i + 1}`, i < draft ? p[k] : 0])))
    : 1;
  const cached = (S) => call(x.L_win ? 'cache_token_windowed' : 'cache_sequence', { ...x, S });
  x.S = call('mean_context', x);
  x.V_seq = cached(x.S);
  const fresh = p.input - p.prefix * p.hit; // tokens that a prefill computes, on average
  x.S_hit = p.input - fresh;
  x.S_chunk = p.chunk;
  x.f_late = data.late;
  const { broken, words, brief } = data.conditions;
  const V_hand = call('handover_bytes', { V_tok: cached(p.input) / p.input, S_in: p.input });
  if (compiled?.broken !== broken) compiled = { broken, of: Function(`return ${broken}`)() };
  return {
    p,
    x,
    model,
    place,
    data,
    call,
    words,
    brief,
    fresh,
    chunked: p.chunk > 0 && p.chunk < fresh,
    broken: compiled.of,
    V_hand,
    V_long: cached(p.input + p.output + data.block),
    V_prefix: p.prefix ? cached(p.prefix) : 0,
  };
}

/** The layouts of a cell, in the order of layouts.py, and the reason against the one that came closest. */
function laidOut(ask, Y, row) {
  const { p, x, model } = ask;
  const out = [];
  let far = -1;
  let why;
  for (const N_stages of p.down === 'pp' ? [row] : powers(min(p.gpus, ask.data.stages))) {
    for (const n_dpa of p.down === 'dpa' ? [row] : model.experts ? powers(p.gpus) : [1]) {
      for (const spread of model.experts ? [0, 1] : [0]) {
        const Z = Y * n_dpa;
        const n_ep = spread ? Z : 1;
        const n_gpu = Z * N_stages;
        if (n_gpu > p.gpus || (n_ep === 1 && n_dpa > 1) || (spread && Z === 1)) continue;
        const one = { Y, N_stages, n_dpa, n_ep, Z, n_gpu, L_stage: ceil(x.L / N_stages) };
        const known = { ...x, ...one };
        const place = ask.broken(known);
        if (place < 0) out.push(one);
        else if (place > far) {
          far = place;
          why = [counted(ask.words[place], known), ask.brief[place]];
        }
      }
    }
  }
  return [out, why];
}

/** All-reduces and all-to-alls of a stage for the tokens of a group. */
function exchange({ place, data, call }, k, tokens) {
  const spread = k.n_ep > 1;
  const one =
    k.Y > 1 ? call('two_shot_all_reduce', { alpha: 0, V: tokens * k.D * data.bytes, N: k.Y, W: place.nvlink }) : 0;
  const part = k.L_stage / k.L;
  const near = { ...k, B_gpu: tokens / k.Y };
  const over = (G, W_nic) => call('expert_parallel_exchange', { ...near, G, W_nic });
  const sent = spread ? max(over(1, place.nvlink), over(min(k.Z, k.G), place.network)) : 0;
  return (k.L + (spread ? k.L_dense : k.L)) * part * one + (k.L - k.L_dense) * part * sent;
}
/** A prompt on an attention group of which a part is cached: alone, and among others that share launches and the reading
 *  of weights. */
function prompted(ask, own, S_hit) {
  const { call, model, p, place } = ask;
  const B = p.input - S_hit;
  const k = { ...own, B, S_hit, N_gpu: own.Y, eta_mat: place.reach[p.weights] };
  k.ops = call(model.latent ? 'prefill_flop_latent' : 'prefill_flop_windowed', k);
  k.E_hit = call('experts_touched', k);
  k.V_w = call('weights_read_moe', k);
  const moved = exchange(ask, { ...k, L_stage: k.L }, B);
  return [k, { ...k, V_w: 1e-9, t_layer: 0 }].map((one) =>
    ['prefill_bound', 'prefill_estimate'].map((name) => call(name, one) + moved),
  );
}
/** A prompt of which not all find the prefix: one alone that does not, the mean among others, and how much that varies. */
function prefilled(ask, own) {
  const { p, call } = ask;
  const [alone, found] = prompted(ask, own, p.prefix);
  if (!p.prefix || p.hit === 1) return { alone, among: found, spread: 0 };
  const [missed, miss] = prompted(ask, own, 0);
  const given = (i) => ({ f_pre: p.hit, T_hit: found[i], T_miss: miss[i] });
  return {
    alone: missed,
    among: both((i) => call('mean_prefill', given(i))),
    spread: call('prefill_spread', given(1)),
  };
}
/** Prompts in a step that most steps do not exceed, at a mean of so many: the twin of serving/step_percentile.py. */
function stalls(table, mean) {
  const place = table.findIndex((most) => mean <= most);
  const last = table.length - 1;
  return place >= 0 ? place : ceil((last * mean) / table[last]);
}
/** A stage that works on some tokens of each sequence of a batch in each of its groups, and perhaps on a chunk of a prompt
 *  whose arithmetic takes as long as given: bound and estimate. */
function worked(ask, own, tokens, batch, groups, prompt) {
  const { call, model, place, p } = ask;
  const checked = call('verified_batch', { B_seq: batch, n_draft: tokens - 1 });
  const fed = checked + (prompt ? p.chunk : 0);
  const k = { ...own, B_seq: batch, B: fed * groups };
  k.E_hit = call('experts_touched', k);
  k.V_w = call('replica_weights_read', k);
  k.V_kv = call('replica_cache', k);
  k.V_read = call('bytes_read', k);
  k.B_seq = checked;
  k.P_act = call('replica_params', k);
  k.ops_kv = call(model.latent ? 'attention_flop_absorbed' : 'attention_flop_decode', k);
  k.ops_kv = call('replica_attention', k);
  const moved = exchange(ask, k, checked);
  const { reach } = place;
  const slow = {
    L: k.L_stage,
    t_layer: model.layer[p.weights],
    C: reach[p.weights] * k.C,
    C_attn: reach[p.cache] * k.C_attn,
  };
  const chunk = prompt?.map((t) => call('chunk_time', { ...k, T_pre: t / k.N_stages }));
  const [bound, expected] = prompt ? ['mixed_bound', 'mixed_estimate'] : ['decode_bound', 'decode_estimate'];
  return [
    call(bound, Object.assign(k, { N_gpu: 1, T_chunk: chunk?.[0] })) + moved,
    call(expected, { ...k, ...slow, T_chunk: chunk?.[1] }) + moved,
  ];
}
/** A step through all stages under load, perhaps with a chunk, from one of its stages as ``worked``; ``one`` is the
 *  estimate of a single sequence, for models with experts. */
function stepped(ask, own, tokens, batch, one, plain, prompt) {
  const { call, model, place, data, p } = ask;
  const [bound, many] = plain;
  const W_fit = own.n_gpu <= own.G ? place.nvlink : place.network;
  const loaded = one ? call('loaded_step', { T_one: one, T_many: many, g_added: model.added }) : many;
  const mixed = prompt && worked(ask, own, tokens, batch, own.n_dpa, prompt);
  const stage = mixed ? [mixed[0], loaded + mixed[1] - many] : [bound, loaded];
  const sent = tokens * batch + (prompt ? p.chunk : 0);
  const T_hop = own.N_stages > 1 ? call('call_time', { alpha_call: 0, V: sent * own.D * data.bytes, W_fit }) : 0;
  return both((i) => call('pipeline_decode', { ...own, T_mem: stage[i] * own.N_stages, T_hop }));
}

/** A layout at every batch that fits. */
function evaluated(ask, row) {
  const { call, x, p, data, place, V_long, V_prefix } = ask;
  const k = { ...x, ...row };
  const own = call('replica_weights', k);
  const [size, long, shared] = [x.V_seq, V_long, V_prefix].map(
    (V_seq) => call('replica_cache', { ...k, B_seq: 1, V_seq }) * row.N_stages,
  );
  const each = size - shared;
  const most = floor(max(0, place.room - own - long) / each) + 1;
  const points = [];
  const count = floor(p.gpus / row.n_gpu);
  const found = { row, own, most, count, least: own + long, points };
  if (found.least > place.room) return found;
  const { alone, among, spread } = prefilled(ask, k);
  const one = [1, 1 + p.draft].map((tokens) => (ask.model.added > 1 ? worked(ask, k, tokens, 1, 1)[1] : 0));
  const fed = ask.chunked ? call('largest_fed', k) : Infinity;
  const longest = p.hit < 1 ? p.input : p.input - p.prefix; // of a request that misses its prefix
  const W_hand = row.Y * (p.gpus <= x.G ? place.nvlink : place.network);
  Object.assign(found, {
    fed,
    alone,
    spread,
    service: among[1] / row.N_stages,
    prompts: among.map((t) => (row.n_dpa * row.N_stages) / t),
    sent: call('call_time', { alpha_call: 0, V: ask.V_hand, W_fit: W_hand }),
  });
  for (const tried of data.batches) {
    const batch = min(tried, most, max(1, floor(fed)));
    if (batch === points.at(-1)?.batch) break;
    const alive = batch * row.n_dpa * row.N_stages;
    const timed = { ...k, B_seq: batch };
    const spoke = (T_dec, t_draft, a_step) => call('speculative_token', { T_dec, t_draft, a_step, n_draft: p.draft });
    const plain = worked(ask, k, 1 + p.draft, batch, k.n_dpa);
    const checked = stepped(ask, k, 1 + p.draft, batch, one[1], plain);
    const drafts = p.draft ? stepped(ask, k, 1, batch, one[0], worked(ask, k, 1, batch, k.n_dpa)) : checked;
    const drafted = (times) => (p.draft ? both((i) => spoke(times[i], p.drafted * drafts[i], 1)) : times);
    const step = drafted(checked);
    const spoken = both((i) => spoke(step[i], 0, k.a_step));
    const rate = (T_tpot, B_mean) => call('full_rate', { ...k, B_mean, T_tpot });
    let { service } = found;
    let token;
    let gap;
    let first;
    if (ask.chunked) {
      const T_mix = drafted(stepped(ask, k, 1 + p.draft, batch, one[1], plain, among));
      const f_chunk = call('chunk_steps', { ...k, B_seq: min(batch, fed) });
      const mixed = both((i) => ({ ...k, T_dec: step[i], T_mix: T_mix[i], f_chunk }));
      token = mixed.map((m) => call('chunked_token_time', m));
      gap = mixed.map((m) => call('gap_percentile', { ...m, f_chunk: min(1, f_chunk * row.N_stages) }));
      first = mixed.map((m) => call('chunked_first_token', { ...m, S_in: longest }));
      service = (T_mix[1] * ask.fresh) / p.chunk / row.N_stages;
    } else {
      const n_stall = stalls(data.stalls, call('prompts_per_step', { ...k, B_seq: batch * row.N_stages }));
      token = both((i) => call('full_token_time', { ...timed, T_dec: spoken[i], T_pre: among[i] }));
      gap = both((i) => call('stalled_decode', { n_stall, T_dec: step[i], T_pre: among[i] / row.N_stages }));
      first = both((i) => call('first_token_time', { T_queue: 0, T_send: 0, T_pre: alone[i], T_dec: step[i] }));
    }
    const rates = token.map((t) => rate(t, min(alive, fed * row.n_dpa * row.N_stages)));
    const perGpu = rates.map((r) => (count * r * p.output) / p.gpus);
    points.push({
      batch,
      alive,
      memory: own + long + (batch - 1) * each,
      step,
      spoken,
      decoded: spoken.map((t) => rate(t, alive)),
      rates,
      token,
      gap,
      first,
      perGpu,
      service,
    });
  }
  return found;
}
