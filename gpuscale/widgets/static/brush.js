/* Brush: shapes painted on a canvas. A browser styles, lays out and paints again each element that moves, which takes
   longer than a frame where hundreds do; on a canvas they take a tenth of that. Their styles are those of elements. */
const SIZES = 'fillOpacity,strokeOpacity,strokeWidth,opacity,rx'.split(',');
const LINES = 'fill,stroke,strokeDasharray,strokeLinecap,strokeLinejoin,paintOrder,visibility'.split(',');
const LETTERS = 'fontStyle,fontWeight,fontSize,fontFamily,textAnchor,dominantBaseline,textDecorationLine'.split(',');
const LOOKS = [...SIZES, ...LINES, ...LETTERS];
const PLACES_OF =
  /^(?:x|y|width|height|d|c[xy]|r[xy]?|opacity|transform|pathLength|role|id|clip-path|text-decoration|stroke-(?:width|dash.*)|data-.*|aria-label|tabindex)$/;
const PARTS_OF = /<(i|sub)>(.*?)<\/\1>|[^<]+/g; // of words
const plainly = (html) =>
  !html.includes('&')
    ? html
    : html.replace(
        /&(amp|lt|gt|quot|nbsp);/g,
        (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' })[name],
      );

/** Paints lists of { tag, words, shown } over the element `svg`; what it paints with is asked from elements in `scene`. */
function brush(svg, scene) {
  const canvas = doc.createElement('canvas');
  const c = canvas.getContext('2d');
  const looks = new Map();
  const paths = new Map();
  const heights = new Map();
  const splits = new Map();
  let stripes;
  let scale;
  let large; // pixels of a unit of the drawing
  let theme; // what its styles depend on
  let had = {}; // what the canvas is set to
  const number = (v) => parseFloat(v) || 0;
  const styled = {};
  const styles = (name) => (styled[name] ??= !PLACES_OF.test(name));
  function key({ tag, shown }) {
    let k = tag;
    for (const n in shown) {
      if (styles(n)) {
        k += `|${n}=${n === 'style' && shown[n].includes('.') ? shown[n].replace(/\d+\.\d+/g, (v) => (+v).toFixed(2)) : shown[n]}`;
      }
    }
    return k;
  }
  /** Asks for all styles that are not known yet at once: to ask for one lays all others out again. */
  function ask(shapes) {
    const asked = new Map();
    for (const it of shapes) {
      if (!looks.has((it.look ??= key(it))) && !asked.has(it.look)) {
        const el = doc.createElementNS(scene.namespaceURI, it.tag);
        for (const [k, v] of entries(it.shown)) if (styles(k)) el.setAttribute(k, v);
        asked.set(it.look, el);
      }
    }
    if (!asked.size) return;
    const all = doc.createElementNS(scene.namespaceURI, 'g');
    all.append(...asked.values());
    scene.append(all);
    for (const [k, el] of asked) {
      const seen = getComputedStyle(el);
      const look = fromEntries(LOOKS.map((name) => [name, seen[name]]));
      for (const name of SIZES) look[name] = number(look[name]);
      look.dash = look.strokeDasharray === 'none' ? [] : look.strokeDasharray.split(',').map(number);
      look.size = number(look.fontSize);
      look.font = `${look.fontStyle} ${look.fontWeight} ${look.fontSize} ${look.fontFamily}`; // tabular digits have no shorthand
      const inks = look.paintOrder.startsWith('stroke') ? ['stroke', 'fill'] : ['fill', 'stroke'];
      look.inks = inks.filter(
        (which) => !/^none$|^rgba.*, 0\)$|\/ 0\)$/.test(look[which]) && (which === 'fill' || look.strokeWidth),
      );
      looks.set(k, look);
    }
    all.remove();
  }
  function hatching() {
    const tile = doc.createElement('canvas');
    const t = tile.getContext('2d');
    const line = getComputedStyle($('.stripe', svg));
    const n = round(6 * scale);
    tile.width = tile.height = n;
    t.strokeStyle = line.stroke;
    t.globalAlpha = number(line.strokeOpacity);
    t.lineWidth = number(line.strokeWidth) * scale;
    t.stroke(new Path2D(`M0 0V${n}`));
    const made = c.createPattern(tile, 'repeat');
    made.setTransform(new DOMMatrix().rotate(45).scale(6 / n));
    return made;
  }
  const paint = (color) => (color.startsWith('url(') ? (stripes ??= hatching()) : color);
  const path = (d) => {
    if (paths.size > 4000) paths.clear();
    if (!paths.has(d)) paths.set(d, new Path2D(d));
    return paths.get(d);
  };
  /** Pixels of a unit in which a shape states its dashes. */
  const longs = new Map();
  function unitOf({ d, pathLength }) {
    if (!pathLength) return 1;
    if (!longs.has(d)) {
      const el = doc.createElementNS(scene.namespaceURI, 'path');
      el.setAttribute('d', d);
      longs.set(d, el.getTotalLength());
    }
    return longs.get(d) / pathLength;
  }
  /** The outline becomes the path of the canvas, or is a path of its own. */
  function outline(tag, a, look) {
    if (tag === 'path') return path(a.d ?? '');
    c.beginPath();
    if (tag === 'circle') {
      c.arc(+(a.cx ?? 0), +(a.cy ?? 0), max(0, +a.r), 0, 7);
      return;
    }
    const w = max(0, +a.width);
    const h = max(0, +a.height);
    const r = min(number(a.rx ?? look.rx), w / 2, h / 2);
    if (r) c.roundRect(+(a.x ?? 0), +(a.y ?? 0), w, h, r);
    else c.rect(+(a.x ?? 0), +(a.y ?? 0), w, h);
  }
  /** The middle of the letters above their line: where the style sheet centers words. */
  function above(font) {
    if (!heights.has(font)) {
      const m = c.measureText('x');
      heights.set(font, (m.fontBoundingBoxAscent - m.fontBoundingBoxDescent) / 2);
    }
    return heights.get(font);
  }
  /** A property of the canvas that has its value already is not set again. */
  const set = (k, v) => {
    if (had[k] !== v) c[k] = had[k] = v;
  };
  const letters = (font) => set('font', font);
  /** Words in letters of several kinds, and how wide they are. */
  function split(words, { font, fontSize, size }) {
    const k = `${font}|${words}`;
    if (splits.size > 4000) splits.clear();
    if (!splits.has(k)) {
      const fonts = {
        undefined: font,
        i: font.replace('normal', 'italic'),
        sub: font.replace(fontSize, `${0.8 * size}px`),
      };
      const parts = [...words.matchAll(PARTS_OF)].map(([all, kind, inner]) => {
        letters(fonts[kind]);
        const said = plainly(inner ?? all);
        return { font: fonts[kind], said, own: c.measureText(said).width, down: kind === 'sub' ? 0.2 * size : 0 };
      });
      splits.set(k, { parts, wide: parts.reduce((sum, part) => sum + part.own, 0) });
    }
    return splits.get(k);
  }
  function write(words, a, look) {
    const anchor = a['text-anchor'] ?? look.textAnchor;
    const line = { underline: 0.13, 'line-through': -0.3 }[a['text-decoration'] ?? look.textDecorationLine];
    const size = look.size;
    letters(look.font);
    const y = +(a.y ?? 0) + (look.dominantBaseline === 'central' ? above(look.font) : 0);
    const whole = !line && !words.includes('<');
    set('textAlign', whole && anchor !== 'start' ? (anchor === 'end' ? 'end' : 'center') : 'start');
    const put = (said, x, y) => {
      for (const which of look.inks) inked(which, look, a, () => c[`${which}Text`](said, x, y));
    };
    if (whole) return put(plainly(words), +(a.x ?? 0), y);
    const { parts, wide } = split(words, look);
    const from = +(a.x ?? 0) - (anchor === 'middle' ? wide / 2 : anchor === 'end' ? wide : 0);
    let x = from;
    for (const { font, said, own, down } of parts) {
      letters(font);
      put(said, x, y + down);
      x += own;
    }
    if (line) inked('fill', look, a, () => c.fillRect(from, y + line * size, wide, size / 14));
  }
  function inked(which, look, a, act) {
    const color = look[which];
    const faint = look[`${which}Opacity`];
    if (color === 'none') return;
    set('globalAlpha', (a.opacity ?? look.opacity) * faint);
    set(which === 'fill' ? 'fillStyle' : 'strokeStyle', paint(color));
    if (which === 'stroke') {
      set('lineWidth', number(a['stroke-width'] ?? look.strokeWidth));
      set('lineCap', look.strokeLinecap);
      set('lineJoin', look.strokeLinejoin);
      const dash =
        'stroke-dasharray' in a
          ? String(a['stroke-dasharray'])
              .split(/[ ,]+/)
              .map((v) => v * unitOf(a))
          : look.dash;
      if (dash.length || had.dashed !== false) c.setLineDash(dash);
      had.dashed = dash.length > 0;
      set('lineDashOffset', number(a['stroke-dashoffset']));
    }
    act();
  }
  function one({ tag, words, shown: a, look: named }, clips) {
    const look = looks.get(named);
    const opacity = a.opacity ?? look.opacity;
    const { transform } = a;
    if (look.visibility === 'hidden' || opacity <= 0) return;
    const apart = transform || a['clip-path'];
    const before = had;
    if (apart) {
      c.save();
      had = { ...had };
    }
    if (a['clip-path']) c.clip(clips[a['clip-path'].slice(5, -1)]);
    if (transform) {
      for (const [, name, list] of transform.matchAll(/(\w+)\(([^)]*)\)/g)) {
        const [p, q, r] = list.split(/[ ,]+/).map(Number);
        if (name === 'translate') c.translate(p, q ?? 0);
        if (name === 'scale') c.scale(p, q ?? p);
        if (name === 'rotate') {
          c.translate(q ?? 0, r ?? 0);
          c.rotate((p * Math.PI) / 180);
          c.translate(-(q ?? 0), -(r ?? 0));
        }
      }
    }
    if (tag === 'text') {
      if (words) write(words, a, look);
    } else {
      const shape = outline(tag, a, look);
      for (const which of look.inks) inked(which, look, a, () => (shape ? c[which](shape) : c[which]()));
    }
    if (apart) {
      c.restore();
      had = before;
    }
  }
  const size = () => ['width', 'height'].map((k) => +svg.getAttribute(k)); // to ask for its box would lay out the page
  return {
    on: false,
    /** Learns the styles of what is to be painted. */
    ready(list) {
      if (!this.on && list.length) {
        const [w] = size();
        const { color, fontSize } = getComputedStyle(svg);
        const now = [color, fontSize, devicePixelRatio, w];
        if (String(now) !== theme) {
          theme = String(now);
          scale = devicePixelRatio;
          large = w / svg.getAttribute('viewBox').split(' ')[2];
          looks.clear();
          heights.clear();
          splits.clear();
          stripes = null;
        }
      }
      ask(list);
    },
    paint(list) {
      const [w, h] = size();
      const shapes = list.filter(({ tag }) => tag !== 'clipPath');
      this.ready(shapes);
      if (!this.on) {
        this.on = true;
        svg.before(canvas);
        scene.style.opacity = 0;
      }
      if (canvas.width !== round(w * scale) || canvas.height !== round(h * scale)) {
        canvas.width = round(w * scale);
        canvas.height = round(h * scale);
        canvas.style.width = `${w}px`;
        canvas.style.height = `${h}px`;
      }
      const clips = fromEntries(
        list.filter(({ tag }) => tag === 'clipPath').map(({ shown, words }) => [shown.id, boxed(words)]),
      );
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, canvas.width, canvas.height);
      c.setTransform(scale * large, 0, 0, scale * large, 0, 0);
      c.miterLimit = 4;
      had = {};
      for (const it of shapes) one(it, clips);
    },
    rest() {
      if (this.on) {
        this.on = false;
        canvas.remove();
        scene.style.opacity = '';
      }
    },
  };
}
/** The rectangle of a clip. */
function boxed(words) {
  const [x, y, w, h] = ['x', 'y', 'width', 'height'].map((k) => +new RegExp(` ${k}="([^"]*)"`).exec(words)[1]);
  const made = new Path2D();
  made.rect(x, y, w, h);
  return made;
}
