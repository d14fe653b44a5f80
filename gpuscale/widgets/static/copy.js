/* Copy: text takes its mathematics along as TeX, $V/W$, and what is set large as $$V/W$$. */
function copied(e) {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return;
  const range = selection.getRangeAt(0).cloneRange();
  const math = (node) => (node.nodeType === 1 ? node : node.parentElement).closest('math');
  const [first, last] = [range.startContainer, range.endContainer].map(math);
  if (first) range.setStartBefore(first); // half a formula has no TeX
  if (last) range.setEndAfter(last);
  const part = make('<div class="quiet"></div>');
  part.append(range.cloneContents());
  const all = $$('math:has(annotation)', part);
  if (!all.length) return;
  e.clipboardData.setData('text/html', part.innerHTML);
  for (const el of all) {
    const sign = el.hasAttribute('displaystyle') ? '$$' : '$';
    el.replaceWith(sign + $('annotation', el).textContent + sign);
  }
  doc.body.append(part); // what is not on the page has no lines
  e.clipboardData.setData('text/plain', part.innerText);
  part.remove();
  e.preventDefault();
}
