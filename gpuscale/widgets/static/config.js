/* A model from a config.json of Hugging Face: the twin of gpuscale.specs.hugging_face, by that file's own table. What it
   leaves out of the counts and the counts themselves are printed from the library (plan/scripts.py).               */
const PASTED = 'pasted';
class Unread extends Error {}
/** The model of a text, or { wrong }: what is wrong with it. */
function readModel(text, data) {
  try {
    const found = JSON.parse(text);
    const name = twice(text);
    if (name !== undefined) throw new SyntaxError(worded(data.files.said.twice, name));
    return modelOf(found, data);
  } catch (error) {
    if (!(error instanceof Unread || error instanceof SyntaxError)) throw error;
    return { wrong: error instanceof Unread ? error.message : worded(data.files.said.json, error.message) };
  }
}
/** The first field that an object of a text has twice. JSON.parse keeps the last and says nothing. */
function twice(text) {
  const open = []; // the fields of each object or list around this place
  for (const [, string, colon, sign] of text.matchAll(/("(?:\\.|[^"\\])*")(\s*:)?|([{}[\]])/g)) {
    if (sign === '{' || sign === '[') open.push(new Set());
    else if (sign) open.pop();
    else if (colon) {
      const name = JSON.parse(string);
      const there = open.at(-1);
      if (there.has(name)) return name;
      there.add(name);
    }
  }
}
/** How alike two words are, 0 to 1: twice what they have in common, by the longest common parts one after another, over
 *  their lengths. The twin of difflib's ratio, which Python asks. */
function alike(a, b) {
  const common = (al, ah, bl, bh) => {
    let best = [0, 0, 0];
    for (let i = al; i < ah; i++) {
      for (let j = bl; j < bh; j++) {
        let n = 0;
        while (i + n < ah && j + n < bh && a[i + n] === b[j + n]) n++;
        if (n > best[0]) best = [n, i, j];
      }
    }
    const [n, i, j] = best;
    return n ? n + common(al, i, bl, j) + common(i + n, ah, j + n, bh) : 0;
  };
  return (2 * common(0, a.length, 0, b.length)) / (a.length + b.length);
}
/** The name that is most like a word, if one is like it enough. */
function closest(word, names) {
  let best = null;
  for (const name of new Set(names)) {
    if (2 * min(word.length, name.length) < 0.85 * (word.length + name.length)) continue;
    const score = alike(name, word);
    if (score >= 0.85 && !(best && (score < best[0] || (score === best[0] && name <= best[1])))) best = [score, name];
  }
  return best?.[1];
}
const isTable = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
function modelOf(found, data) {
  const { kinds, inside, ignored, aside, window: listed, most, said } = data.files;
  const fail = (...parts) => {
    throw new Unread(worded(...parts));
  };
  const knows = (file, names) => {
    const strange = keys(file)
      .filter((name) => !names.includes(name))
      .sort();
    const near = (name) => {
      const one = closest(name, names);
      return one ? worded(said.meant, name, one) : name;
    };
    if (strange.length) fail(said.strange, strange.map(near).join(', '));
  };
  if (!isTable(found)) fail(said.table);
  const bad = (from, field, words) => fail(said.field, field, JSON.stringify(from[field]) ?? NEVER, words);
  let type = found.model_type ?? undefined;
  if (type !== undefined && typeof type !== 'string') bad(found, 'model_type', said.word);
  if (Object.hasOwn(inside, type)) {
    const outer = found;
    const [name, part] = inside[type];
    knows(outer, [...ignored.split(' '), ...aside, ...listed]);
    if (!isTable(outer[part])) bad(outer, part, said.text);
    type = name;
    found = { ...fromEntries(listed.filter((k) => k in outer).map((k) => [k, outer[k]])), ...outer[part] };
  }
  if (!Object.hasOwn(kinds, type)) fail(said.type, type ?? NEVER, [...keys(kinds), ...keys(inside)].join(', '));
  const kind = kinds[type];
  const { fields, must } = kind;
  const file = fromEntries(entries(found).filter(([, v]) => v !== null));
  const wrong = (field, words, ...parts) =>
    fail(said.field, field, JSON.stringify(file[field]) ?? NEVER, worded(words, ...parts));
  const whole = (field, least = 1) => {
    if (!Number.isInteger(file[field]) || file[field] < least) wrong(field, said.whole, least);
    return file[field] <= most ? file[field] : wrong(field, said.fewer, show(most, COUNT));
  };
  const flag = (field) => {
    const v = file[field] ?? kind.default[field] ?? false;
    return typeof v === 'boolean' ? v : wrong(field, said.flag);
  };
  knows(file, [...ignored.split(' '), ...listed, ...kind.known, ...Object.values(fields), ...keys(must)]);
  for (const [field, good] of entries(must)) {
    if (field in file && !good.includes(file[field])) wrong(field, said.must, good[0]);
  }

  const x = {}; // the sizes, by the library's names
  for (const [ours, theirs] of entries(fields)) {
    const usual = kind.default[theirs];
    if (ours === 'q_rank' && found[theirs] === null) {
      x[ours] = 0;
    } // queries without compression
    else if (theirs in file) x[ours] = whole(theirs, ours === 'dense_layers' || ours === 'shared_experts' ? 0 : 1);
    else if (typeof usual === 'string') x[ours] = whole(usual);
    else if (Number.isInteger(usual)) x[ours] = usual;
    else if (!(theirs in kind.default) && ours !== 'max_tokens') wrong(theirs, said.whole, 1);
  }
  Object.assign(x, kind.fixed);
  x.kv_heads ??= x.heads;
  x.vocab_matrices = flag('tie_word_embeddings') ? 1 : 2;
  if (x.experts) expertsOf(x, { type, kind, file, whole, wrong, said });
  const latent = 'kv_rank' in fields;
  if (latent && x.kv_heads !== x.heads) wrong('num_key_value_heads', said.is, x.heads);
  const sliding = windowOf(x, { kind, file, whole, flag, wrong, said });
  const more = [...kind.more];
  if (kind.known.includes('attention_bias')) {
    const attention = flag('attention_bias');
    if (flag('mlp_bias')) {
      if (!attention) wrong('mlp_bias', said.bias);
      x.biases = 1;
    } else if (attention) more.push(...data.files.wide.slice(0, type === 'glm4_moe' ? 1 : 2));
  }
  if (x.heads % x.kv_heads) wrong(fields.kv_heads, said.divisor, x.heads);
  if (!('head_dim' in x) && !latent && x.d_model % x.heads) wrong('hidden_size', said.multiple, x.heads);
  if (file.use_qk_norm) more.push(data.files.norms);
  const total = more.reduce((sum, name) => sum + made(data.files.more[name])(x), 0);
  if (total > data.files.largest * x.d_model * (x.vocab + x.layers * x.mlp_matrices * x.d_ff)) {
    fail(said.left, more.join(', '));
  }
  return counting(x, { latent, ...sliding, nodes: x.route_nodes ?? null, title: kind.title }, data);
}
function expertsOf(x, { type, kind, file, whole, wrong, said }) {
  if (x.active_experts > x.experts) wrong(kind.fields.active_experts, said.most, x.experts);
  if ('experts_per_token' in file && whole('experts_per_token') !== x.active_experts) {
    wrong('experts_per_token', said.is, x.active_experts);
  }
  if (kind.known.includes('mlp_only_layers')) {
    const first = file.mlp_only_layers ?? [];
    if (!Array.isArray(first) || first.some((v, i) => v !== i)) wrong('mlp_only_layers', said.first);
    x.dense_layers = first.length;
  }
  if (kind.known.includes('shared_expert_intermediate_size')) {
    const width = whole('shared_expert_intermediate_size', 0);
    if (width % x.d_ff) wrong('shared_expert_intermediate_size', said.multiple, x.d_ff);
    x.shared_experts = width / x.d_ff;
  }
  if ('dense_layers' in x && x.dense_layers >= x.layers) {
    wrong(kind.fields.dense_layers ?? 'mlp_only_layers', said.below, x.layers);
  }
  if (type === 'deepseek_v3' && (file.topk_group ?? 1) < (file.n_group ?? 1)) x.route_nodes = whole('topk_group');
}
/** The tokens of a sliding window, and the layers that have one. */
function windowOf({ layers }, { kind, file, whole, flag, wrong, said }) {
  const { sliding_window: size, layer_types: listed } = file;
  let many = 0;
  if ((file.sliding_window_size ?? size) !== size) wrong('sliding_window_size', said.is, size);
  if (size !== undefined && !kind.window) wrong('sliding_window', said.none);
  if (listed !== undefined) {
    if (
      !Array.isArray(listed) ||
      listed.length !== layers ||
      listed.some((v) => v !== 'full_attention' && v !== 'sliding_attention')
    ) {
      wrong('layer_types', said.listed, layers);
    }
    many = listed.filter((v) => v === 'sliding_attention').length;
  } else if (size !== undefined) {
    const pattern = 'sliding_window_pattern' in file ? 'sliding_window_pattern' : '_sliding_window_pattern';
    many =
      {
        last: () => (flag('use_sliding_window') ? max(0, layers - whole('max_window_layers', 0)) : 0),
        all: () => layers,
        [said.other]: () => ceil(layers / 2),
      }[kind.window]?.() ??
      layers - floor(layers / (pattern in file ? whole(pattern) : kind.default.sliding_window_pattern));
  }
  return many ? { window: whole('sliding_window'), layers: many } : { window: null, layers: 0 };
}
/** The model as the planner takes it, with its parameters counted. */
function counting(x, { latent, window, layers, nodes, title }, data) {
  const { names, defaults, experts, latents } = data.files.symbols;
  const moe = 'experts' in x;
  const out = { E: 1, k: 1, n_shared: 0, F_dense: x.d_ff };
  for (const [symbol, field] of entries({ ...names, ...(moe && experts), ...(latent && latents) })) {
    out[symbol] = x[field] ?? defaults[symbol];
  }
  Object.assign(out, { n_kv: x.kv_heads, d_head: x.head_dim ?? floor(x.d_model / x.heads) });
  if (out.L_dense) out.F_dense = x.d_ff_dense;
  Object.assign(out, programs(data).counted[+moe][+latent](out), {
    L_win: layers,
    n_drop: 0,
    L_dense: moe ? out.L_dense : out.L,
  });
  return { title, window, latent, nodes, experts: moe, x: out };
}
