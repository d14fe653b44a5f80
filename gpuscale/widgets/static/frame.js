/* Frame: the colors that a reader chooses, and the contents, which stand still on a desk and are a drawer elsewhere. */
function framing() {
  const { dataset: look } = doc.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const colors = (mode) => {
    const own = system.matches ? 'dark' : 'light';
    look.mode = mode;
    look.theme = mode === 'auto' ? own : mode;
  };
  colors(look.mode ?? 'auto');
  system.onchange = () => colors(look.mode);
  $('.theme-switch-button').onclick = () => {
    // the first press changes what is seen
    const modes = system.matches ? ['auto', 'light', 'dark'] : ['auto', 'dark', 'light'];
    colors(modes[(modes.indexOf(look.mode) + 1) % modes.length]);
    try {
      localStorage.setItem('mode', look.mode);
    } catch {
      /* the choice lasts as long as the page */
    }
  };
  const contents = $('div.toc');
  const drawer = $('dialog.toc');
  const toggle = $('.primary-toggle');
  toggle.onclick = () => {
    drawer.append(...contents.childNodes);
    drawer.showModal();
  };
  drawer.addEventListener('close', () => {
    contents.append(...drawer.childNodes);
    toggle.focus();
  });
  drawer.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') {
      e.preventDefault();
      drawer.close();
    }
  });
  drawer.addEventListener('click', (e) => {
    const { right } = rect(drawer);
    if (e.clientX > right) drawer.close();
  });
  /** The contents stay where they were on the page before; on the first one they show the place of the page. */
  const key = 'sidebar-scroll-top';
  const current = $('.active', contents);
  try {
    const kept = sessionStorage.getItem(key);
    if (kept) contents.scrollTop = kept;
    else if (current && rect(current).top > innerHeight / 2) contents.scrollTop = rect(current).top - innerHeight / 4;
    addEventListener('pagehide', () => sessionStorage.setItem(key, contents.scrollTop));
  } catch {
    /* no storage: the contents begin at their top */
  }
}
