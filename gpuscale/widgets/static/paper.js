/* Paper: nothing on it can be unfolded, and solutions stand at its end, where no one reads them before the question. */
function paper() {
  const told = $$('.quiz .solution');
  const end = make(`<section id="solutions"><h2>${SOLUTIONS}</h2></section>`);
  const undo = [() => end.remove()];
  for (const d of $$('details:not([open])')) {
    d.open = true;
    undo.push(() => {
      d.open = false;
    });
  }
  let n = 0;
  let section;
  for (const d of told) {
    const card = d.closest('.quiz');
    const name = $('.prompt b', card);
    const was = name.textContent;
    const place = doc.createComment('');
    const head = $$('h2').findLast((h) => h.compareDocumentPosition(card) & 4);
    if (head && head !== section) end.append(make(`<h3>${escape((section = head).firstChild.textContent)}</h3>`));
    if (card.matches('.predict')) name.textContent = worded(PREDICTION, ++n);
    end.append(make(`<div><b>${name.textContent}</b></div>`));
    d.replaceWith(place);
    end.lastChild.append(d);
    undo.push(() => {
      name.textContent = was;
      place.replaceWith(d);
    });
  }
  if (told[0]) $('article').append(end);
  addEventListener(
    'afterprint',
    () => {
      for (const f of undo) f();
    },
    { once: true },
  );
}
