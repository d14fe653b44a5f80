/* Shapes: a drawing as a list of shapes with keys. A shape that stays glides to its new place, one that comes fades in (or
   grows out of the shape `from`), one that goes fades out. Without a document the list becomes the text of a picture.

   A shape is { key, tag, ...attributes of SVG } and, where it needs them:
     words            its text; may hold <i> and <sub>
     told             what the figure's hover() is asked about
     act, label       a press (or Enter) on it asks the figure's act(); label names it for a screen reader
     group            shapes of one group are one stop of the Tab key, with arrows from one to the next
     pressed          whether it is chosen
     from             the key of the shape that it grows out of, when it is new, or its attributes then                                       */
const lerp = (a, b, u) => a + (b - a) * u;
const eased = (u) => (u < 0.5 ? 4 * u ** 3 : 1 - (2 - 2 * u) ** 3 / 2);
/** The nearest 1, 2 or 5 times a power of ten that is no less: what lies between the marks of a scale. */
function unit(v) {
  const e = 10 ** floor(log10(v));
  return [1, 2, 5, 10].find((m) => m * e >= v * 0.999) * e;
}
/** A rectangle as the text of a path. */
const box = (x, y, w, h) => `M${px(x)} ${px(y)}h${px(w)}v${px(h)}h${px(-w)}z`;
/** An upright line that leaves a gap where words stand: [left, right, top, bottom] of each, from the top. */
const upright = (x, top, bottom, words) =>
  `M${px(x)} ${top}${joined(words, ([l, r, a, b]) => (x > l - 3 && x < r + 3 ? `V${px(max(top, a))}M${px(x)} ${px(b)}` : ''))}V${bottom}`;
/** A text that leaves what is pressed to the shapes below it. */
const label = (key, x, y, words, cls = 'small soft', anchor = 'start', more) => ({
  key,
  tag: 'text',
  x,
  y,
  words,
  class: cls,
  'text-anchor': anchor,
  'pointer-events': 'none',
  ...more,
});
const SOME = 24;
const CROWD = 140; // elements that change within a frame while nothing moves; more of them move on a canvas
const DIGITS = /(-?\d+(?:\.\d+)?(?:e-?\d+)?)/;
const NEVER_MIXED = /^(class|role|fill|stroke|clip-path|mask|text-anchor|tabindex|data-|aria-)/;
/** A value on its way from a to b, by the part of the way: numbers, and texts that differ in their numbers alone, such as
 *  paths and transforms. */
function mixed(a, b) {
  if (real(a) && real(b)) return (u) => lerp(a, b, u);
  const [old, now] = [a, b].map((v) => typeof v === 'string' && v.split(DIGITS));
  if (!now || old.length !== now.length || now.some((v, i) => i % 2 === 0 && v !== old[i])) return () => b;
  return (u) => joined(now, (v, i) => (i % 2 ? round(100 * lerp(+old[i], +v, u)) / 100 : v));
}
/** The shapes of a list in which lists and gaps may stand. */
const flat = (list) => list.flat(Infinity).filter(Boolean);
/** Its attributes, and those that make it something to press or to ask about. */
function attributes({ key, tag, words, told, act, label, group, pressed, from, ...own }, stop) {
  if (told !== undefined) own['data-told'] = told;
  if (label !== undefined) own['aria-label'] = label;
  if (act === undefined) return own;
  own.role ??= 'button';
  if (pressed !== undefined) own['aria-pressed'] = pressed;
  return {
    ...own,
    class: `${own.class ?? ''} press`,
    'data-act': act,
    tabindex: stop ? 0 : -1,
    ...(group !== undefined && { 'data-group': group }),
  };
}
/** Where the Tab key stops: at each shape to press, and in a group at the chosen or the first one. */
function stops(shapes) {
  const at = new Map();
  for (const s of shapes) {
    if (s.act !== undefined) {
      const group = s.group ?? s.key;
      if (!at.has(group) || s.pressed) at.set(group, s.key);
    }
  }
  return new Set(at.values());
}
const alike = (a, b) => a === b || (keys(a).length === keys(b).length && keys(b).every((k) => a[k] === b[k]));
const told = (v) => (real(v) ? +v.toFixed(2) : v);

/** Draws lists of shapes into an element, each time by what has changed. Where much has, a brush paints them until they rest,
 *  and the elements follow over some frames. With `mute` no one hears its labels. */
function sketch(scene, brush, mute) {
  const kept = new Map(); // by key: { el, shown, words, of, stops }
  let seen; // what the brush has painted of each
  let still; // the list that it has painted at the end of its way
  let was = null;
  let changes; // where a glide began, and what it changes in each shape
  function put(key, { tag, words, shown }) {
    let it = kept.get(key);
    if (it?.el.tagName !== tag) {
      it?.el.remove();
      kept.set(key, (it = { el: doc.createElementNS(scene.namespaceURI, tag), shown: {} }));
      if (mute && tag === 'text' && !shown.role) it.el.ariaHidden = true;
    }
    for (const k of keys(it.shown)) if (!(k in shown)) it.el.removeAttribute(k);
    for (const [k, v] of entries(shown)) if (it.shown[k] !== v) it.el.setAttribute(k, told(v));
    it.shown = shown;
    if (it.words !== words) it.el[/[<&]/.test((it.words = words)) ? 'innerHTML' : 'textContent'] = spans(words);
    return it;
  }
  /** A shape on its way, or at its end. */
  function looks(s, stops, u) {
    const to = attributes(s, stops);
    const old = was && (was.get(s.key) ?? (typeof s.from === 'object' ? s.from : was.get(s.from)));
    return {
      tag: s.tag,
      words: s.words ?? '',
      shown: !was ? to : old ? onWay(s, old, to, u) : { ...to, opacity: (to.opacity ?? 1) * u },
    };
  }
  /** What changes from one state to the other is found once for each shape of a glide. */
  function onWay(s, old, to, u) {
    if (!changes.has(s)) {
      changes.set(
        s,
        entries(to)
          .map(([k, v]) => [k, old[k] ?? (k === 'opacity' ? 1 : v), v])
          .filter(([k, a, b]) => a !== b && !NEVER_MIXED.test(k))
          .map(([k, a, b]) => [k, mixed(a, b)]),
      );
    }
    const shown = { ...to };
    for (const [k, at] of changes.get(s)) shown[k] = at(u);
    return shown;
  }
  return {
    /** Lets the brush learn the styles of shapes that will move. */
    ready: (shapes) => brush?.ready(flat(shapes).map((s) => looks(s, false, 1))),
    /** From here on things glide: paint(shapes, u) brings them the part u of their way, and 1 is its end. */
    depart() {
      was = brush?.on ? seen : new Map([...kept].map(([key, { shown }]) => [key, shown]));
      changes = new WeakMap();
    },
    /** Draws them. Of very many elements that change only so many as there is room for do, and it says whether any are left. */
    paint(shapes, u = 1, room = Infinity) {
      if (u >= 1) was = null;
      const list = flat(shapes);
      const stop = stops(list);
      const here = new Set(list.map((s) => s.key));
      const gone = [...kept].filter(([key]) => !here.has(key));
      const rests = (s) => {
        const it = kept.get(s.key);
        return it?.of && it.stops === stop.has(s.key) && alike(it.of, s);
      };
      const late = new Set(was ? list : list.filter((s) => !rests(s)));
      const many = late.size + gone.length;
      const fading = ([key, it]) => ({
        tag: it.el.tagName,
        words: it.words,
        shown: { ...it.shown, opacity: (was.get(key)?.opacity ?? 1) * (1 - u) },
      });
      if (!brush || !kept.size || (brush.on ? room && many <= SOME : many <= CROWD)) room = Infinity;
      if (room < Infinity && (was || !brush.on)) room = 0; // the first time it has its styles to ask for
      const crowd = (!room || many > room) && !(brush.on && still === shapes);
      const painted = crowd && list.map((s) => looks(s, false, u));
      const going = painted && was ? gone.map(fading) : [];
      if (painted) {
        seen = new Map(list.map((s, i) => [s.key, painted[i].shown]));
        still = u >= 1 && shapes;
      }
      if (!room) {
        if (painted) brush.paint([...going, ...painted]);
        return true;
      }
      for (const [key, it] of gone) {
        if (was) put(key, fading([key, it]));
        else if (room-- > 0) {
          it.el.remove();
          kept.delete(key);
        }
      }
      let next = scene.firstChild;
      for (const s of list) {
        if (late.has(s) && room-- > 0) {
          Object.assign(put(s.key, looks(s, stop.has(s.key), u)), { of: was ? null : s, stops: stop.has(s.key) });
        }
        const el = kept.get(s.key)?.el;
        if (!el) continue;
        while (next && !here.has(next.key)) next = next.nextSibling;
        el.key = s.key;
        if (el === next) next = next.nextSibling;
        else scene.insertBefore(el, next);
      }
      if (painted) brush.paint([...going, ...painted]); // after the elements: to set its fonts works out their styles
      if (room >= 0) brush?.rest();
      return room < 0;
    },
  };
}
/** The same list as text, for pages without a script and for paper; without what only a hand asks for. */
const pictured = (shapes) =>
  joined(
    flat(shapes),
    ({ act, told: asked, label, ...s }) =>
      `<${s.tag}${joined(entries(attributes(s)), ([k, v]) => ` ${k}="${escape(told(v))}"`)}${s.words ? `>${spans(s.words)}</${s.tag}>` : '/>'}`,
  );
