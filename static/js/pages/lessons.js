/** The courses: what this browser's reader has done of each lesson, and where to go on. */

import { h, part } from '../shared/dom.js';
import { all } from '../lesson/progress.js';

function show() {
  const done = all();
  /** @type {HTMLAnchorElement | null} */
  let next = null;
  for (const course of document.querySelectorAll('.course')) {
    const lines = [...course.querySelectorAll('[data-lesson]')];
    let count = 0;
    for (const line of lines) {
      const { lesson = '', beats = '1', pattern = 'done' } = /** @type {HTMLElement} */ (line).dataset;
      const kept = done[lesson];
      const state = kept?.done ? pattern : kept ? `step ${(kept.beat ?? 0) + 1} of ${beats}` : '';
      count += Number(kept?.done === true);
      line.classList.toggle('done', kept?.done === true);
      const said = line.querySelector('.how');
      if (said) said.textContent = state;
      if (!kept?.done) next ??= line.querySelector('a');
    }
    course.querySelector('.count')?.replaceChildren(`${count} of ${lines.length}`);
    course
      .querySelector('.bars')
      ?.replaceChildren(...lines.map((line) => h('i', { class: line.classList.contains('done') ? 'd' : null })));
  }
  const go = /** @type {HTMLAnchorElement} */ (part('go-on'));
  go.hidden = next === null;
  if (next) {
    go.href = next.href;
    go.textContent = Object.keys(done).length ? `Go on: ${next.textContent}` : `Start here: ${next.textContent}`;
  }
}

show();
// A lesson that was done in another tab, or from which one comes back.
addEventListener('storage', show);
addEventListener('pageshow', show);
document.documentElement.dataset.alive = 'true';
