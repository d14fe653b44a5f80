/* What a step of decoding and a batch are drawn with. */
const path = (key, d, cls, more) => ({ key, tag: 'path', d, class: cls, ...more });
