/* A model from a config.json of Hugging Face: the twin of gpuscale.specs.hugging_face, by that file's own table. */
const PASTED = 'pasted';
function readModel(text, data) {
  return { wrong: text };
}
