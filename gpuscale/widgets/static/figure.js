/* What a figure is that a hand can take hold of. It works out what follows from its inputs, draws it, and says it; the stage
   has the inputs, the handles, the clock, the meter, the link, the call and the data.

   A figure is an object in `figures`. `view` is what it sees: { p, solved, call, data, words, width, spec, hatch }.
     solve(p, call, data) what follows from the inputs p: at least { total, marks } where it has a clock, the time of all
                          and of each step [s]; call(name, p) is a formula of the library, data what came with the figure
     height(view)         how high the drawing is at view.width
     draw(view, t)        the shapes of the moment t, in the order in which they are painted (see shapes.js)
     sentence(view, t)    the state as HTML
     table(view, t)       rows of the data, the first being the heads
     numbers(view, t)     all numbers that are shown, for tests
     call(view)           the call that gives this state in Python
   and where it has them:
     ahead(p, call, data) works out what solve() needs for inputs that a hand gives, and yields between two parts of the work;
                          nothing if that is known. The page keeps moving meanwhile
     later(view)          works for some milliseconds on what is shown once it is there; true while there is more
     pace(p, solved)      how long one second of computed time takes on the page [s]; without it there is no clock
     place(view, t)       where the clock stands, in words
     handles(view, t)     [{ id, label, x, y, lo, hi, step, leap, grid, value, words }]; the id 'share.1' is p.share[1], a
                          value is a multiple of grid, or of step where there is none
     pull(view, id, x, y) the value that the handle has at a point
     meter(view, t)       { name, words, value, full, mark, label, hue, met }
     act(view, what)      the inputs that a press on a shape changes, or nothing
     zooms                the id of the handle that a pinch moves, and the wheel once the drawing was pressed
     below(view, el)      fills the element below the sentence, each time that the state is said
     cuts                 the group of shapes that a drag across them presses together, as does Shift with an arrow from one
                          to the next; crossed(view, a, b) lists what the line from a to b crosses, and act() gets the list
     hover(view, el, t)   what a pointed-at element of the drawing says, as HTML
     fit(p, was, data)    the inputs made possible; was are those before
     mute                 its labels are letters and digits that make no sense when they are read aloud one after another: the
                          sentence and the data say the same
     settles              its scale stands still while view.held, the id of a handle, and glides to fit when let go
     units                its time is counted in units of its own, so none is slowed
     typed(view, k, text) the inputs that a typed text changes
     copied(view, what)   what a button of `copies` puts on the clipboard
     uses(p, name)        whether an input or a choice has a meaning now; the others are not shown
     smooth               inputs that glide themselves, as well as the shapes
     shows(view)          the moment, from 0 to 1, at which new inputs are shown
     steady               true where those inputs move everything, and shapes do not glide by themselves
     runs(what)           whether a press on a shape, or the preset of that name, also starts the clock
     still(p)             the moment, from 0 to 1, of pages without a script; the opening moment if it has none          */
const figures = {};

/** The value of 'share.1' in p, and the same p with another one there. */
const inside = (p, id) => id.split('.').reduce((at, k) => at[k], p);
function replaced(p, id, value) {
  const [name, i] = id.split('.');
  return { ...p, [name]: i === undefined ? value : p[name].map((v, k) => (k === +i ? value : v)) };
}

/** What a figure sees of a spec, before it has a width. What follows from the inputs is worked out when it is first needed:
 *  a figure far down the page does not keep the reader from reading. */
function seen(spec, p = JSON.parse(JSON.stringify(spec.start))) {
  const figure = figures[spec.figure];
  const formulas = fromEntries(entries(spec.fns).map(([k, body]) => [k, Function('p', body)]));
  const call = (name, given) => formulas[name](given);
  const { data, words } = spec;
  let solved;
  return {
    spec,
    data,
    words,
    call,
    p,
    get solved() {
      return (solved ??= figure.solve(this.p, call, data));
    },
    set solved(now) {
      solved = now;
    },
    width: 0,
    height: 0,
    hatch: `url(#${spec.id}-hatch)`,
  };
}
const hatching = (view) =>
  `<defs><pattern id="${view.hatch.slice(5, -1)}" class="wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V6"/></pattern></defs>`;

/** The first state of a figure at a width, as text: for pages without a script and for paper. */
function still(spec, width) {
  const figure = figures[spec.figure];
  const view = Object.assign(seen(spec), { width, hatch: `url(#${spec.id}-hatch-${width})` });
  const t = (figure.still?.(view.p) ?? spec.at) * (view.solved.total ?? 0);
  view.height = figure.height(view);
  const body = hatching(view) + pictured(figure.draw(view, t));
  return { width, height: view.height, body, sentence: figure.sentence(view, t), table: figure.table(view, t) };
}
