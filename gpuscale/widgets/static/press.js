/* Shapes to press, by pointer and by key; arrows go to the nearest one of their group. A knife presses what it crosses. */
const REACHES = [4, 8, 12]; // pixels between a finger and what it presses, so that each shape has 24 of them
const HELD = 300; // milliseconds that a finger rests before it cuts
const FEW = 8; // pixels of a move that is no press

/** Listens on a drawing: point(e) is where an event is on it, and pressed(to, what) takes the inputs that a press changes. */
function pressing(on, hard, svg, scene, figure, view, point, pressed) {
  function press(el) {
    const to = figure.act(view, el.dataset.act);
    if (to) pressed(to, el.dataset.act);
  }
  /* A knife: a line across shapes presses what it crosses. A finger rests before it cuts, for at once it scrolls. */
  let from = null;
  let rests = 0;
  const blade = make('<svg><path class="blade"/></svg>').firstChild;
  function sheathe() {
    clearTimeout(rests);
    from = null;
    blade.remove();
  }
  if (figure.cuts) {
    on(svg, 'pointerdown', (e) => {
      const take = (at = point(e)) => {
        from = at;
      };
      if (e.button || !e.isPrimary || e.target.closest('.grip')) return;
      if (e.pointerType === 'touch') rests = setTimeout(take, HELD, point(e));
      else take();
    });
    on(svg, 'pointermove', (e) => {
      const at = point(e);
      if (!from || (!blade.isConnected && hypot(at[0] - from[0], at[1] - from[1]) < FEW)) return;
      if (!blade.isConnected) {
        svg.append(blade);
        svg.setPointerCapture(e.pointerId);
      }
      blade.setAttribute('d', `M${from.map(px).join(' ')}L${at.map(px).join(' ')}`);
    });
    on(svg, 'pointerup', (e) => {
      const crossed = blade.isConnected ? figure.crossed(view, from, point(e)) : [];
      sheathe();
      if (crossed.length) pressed(figure.act(view, crossed), '');
    });
    on(svg, 'pointercancel', sheathe);
    svg.addEventListener(
      'touchmove',
      (e) => {
        if (from) e.preventDefault();
        else clearTimeout(rests);
      },
      hard,
    );
  }
  /** What a finger meant: the shape to press that is nearest, no further than half the width of a finger. */
  const nearest = (e) => {
    for (const r of REACHES) {
      for (const turn of range(8)) {
        const el = doc
          .elementFromPoint(
            e.clientX + r * Math.cos((turn * Math.PI) / 4),
            e.clientY + r * Math.sin((turn * Math.PI) / 4),
          )
          ?.closest('[data-act]');
        if (el && scene.contains(el)) return el;
      }
    }
  };
  on(svg, 'click', (e) => {
    const el =
      e.target.closest('[data-act]') ?? (e.pointerType === 'touch' && !e.target.closest('.grip') && nearest(e));
    if (el) press(el);
  });
  on(scene, 'keydown', (e) => {
    const el = e.target.closest('[data-act]');
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key] ?? [];
    if (!el) return;
    if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      press(el);
    }
    if (dx === undefined || !el.dataset.group) return;
    e.preventDefault();
    const mid = (one) => {
      const b = rect(one);
      return [b.left + b.width / 2, b.top + b.height / 2];
    };
    const [x, y] = mid(el);
    const far = (one) => {
      const [u, v] = mid(one);
      const on = (u - x) * dx + (v - y) * dy;
      return on > 1 ? on + 4 * abs((u - x) * dy + (v - y) * dx) : Infinity;
    };
    const near = $$(`[data-group="${el.dataset.group}"]`, scene)
      .map((one) => [far(one), one])
      .sort((a, b) => a[0] - b[0])[0];
    if (near[0] === Infinity) return;
    near[1].focus();
    if (e.shiftKey && figure.cuts === el.dataset.group) pressed(figure.act(view, [near[1].dataset.act]), '');
  });
}
