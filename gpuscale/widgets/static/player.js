/* Player: the clock, the buttons and the scrubber of what takes time. */
const ICON = {
  start: 'M2 2h2v12H2zM14 2v12L5 8z',
  back: 'M12 2v12L3 8z',
  play: 'M4 2l10 6-10 6z',
  pause: 'M4 2h3v12H4zM9 2h3v12H9z',
  next: 'M4 2l9 6-9 6z',
};

/** Properties that have their value already are not set again: to set one styles and lays out the element again. */
const bring = (el, to) => {
  for (const [k, v] of entries(to)) if (String(el[k]) !== String(v)) el[k] = v;
};

/** Its scrubber has places 0, 1, ... `last`; `label` says what it moves through. `more` is HTML at its end. */
function player(last, label, more = '') {
  const tool = (k, name, cls = '') =>
    `<button type="button" class="icon ${cls}" data-do="${k}" aria-label="${name}"><svg viewBox="0 0 16 16"><path d="${ICON[k]}"/></svg></button>`;
  const el =
    make(`<div class="player">${tool('start', TO_START)}${tool('back', ONE_BACK)}${tool('play', PLAY, 'main')}${tool('next', ONE_ON)}
    <input type="range" min="0" max="${last}" aria-label="${label}"><output aria-live="off"></output>${more}</div>`);
  const scrub = $('input', el);
  const main = $('.main', el);
  return {
    el,
    /** Shows where it stands: the place, and the words for it. */
    stands(place, words) {
      bring(scrub, { value: place, ariaValueText: words });
      write($('output', el), words);
    },
    /** Shows whether it runs. */
    runs(on) {
      main.ariaLabel = on ? PAUSE : PLAY;
      $('path', main).setAttribute('d', ICON[on ? 'pause' : 'play']);
    },
    /** Tells `press` which button or key was hit ('start', 'back', 'play', 'next'), and `put` where the scrubber was put.
     *  Keys count anywhere in `zone`: arrows, Home, and the space bar on the scrubber. */
    listen(on, zone, press, put) {
      on(el, 'click', (e) => {
        const k = e.target.closest('[data-do]')?.dataset.do;
        if (k in ICON) press(k);
      });
      on(scrub, 'input', () => put(+scrub.value));
      on(zone, 'keydown', (e) => {
        const k = { ArrowLeft: 'back', ArrowRight: 'next', Home: 'start', ' ': e.target === scrub && 'play' }[e.key];
        if (k) {
          e.preventDefault();
          press(k);
        }
      });
    },
  };
}

/** Milliseconds, for what takes time. */
const instant = () => performance.now();

/** A clock: tick(seconds since the last frame) while it runs. It stops when nobody looks. */
function clock(tick) {
  let frame = 0;
  let last = 0;
  function beat(now) {
    frame = requestAnimationFrame(beat);
    tick(min(0.1, (now - last) / 1000));
    last = now;
  }
  return {
    get runs() {
      return frame > 0;
    },
    start() {
      last = instant();
      frame ||= requestAnimationFrame(beat);
    },
    stop() {
      cancelAnimationFrame(frame);
      frame = 0;
    },
  };
}
