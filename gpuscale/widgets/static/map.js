/* What the maps of the two planners are drawn with. */
const rectangle = (key, cls, x, y, width, height, more) => ({
  key,
  tag: 'rect',
  class: cls,
  x,
  y,
  width: max(0, width),
  height: max(0, height),
  ...more,
});
const line = (key, cls, d, more) => ({ key, tag: 'path', class: cls, d, 'pointer-events': 'none', ...more });
