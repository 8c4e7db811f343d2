/** Which timelines are compared: those chosen, each with a button that takes it out, and a search that finds others. */

import { ask } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';

/** Between the last key press and the question. */
const TYPED_MS = 200;
const LEAST = 2;
const MOST = 4;
const FOUND_MOST = 8;

/** @typedef {{id: string, title: string, group: string, source: string, summary?: any}} Found */

/** On pages with the form alone: a file has none. */
export function choose() {
  const data = document.getElementById('chosen-data');
  if (!data) return;
  /** @type {Pick<Found, 'id' | 'title'>[]} */
  const chosen = JSON.parse(data.textContent ?? '[]');
  const field = /** @type {HTMLInputElement} */ (part('find'));
  const list = part('found');
  const draw = () => {
    /** @type {HTMLInputElement} */ (part('runs')).value = chosen.map(({ id }) => id).join(',');
    part('chosen').replaceChildren(
      ...chosen.map((one, number) =>
        h(
          'li',
          h('b.n', number + 1),
          h('span', one.title),
          h('button.btn.sm.bare', { 'aria-label': `Take out ${one.title}`, onclick: () => out(one) }, '×'),
        ),
      ),
    );
    const enough = chosen.length >= LEAST && chosen.length <= MOST;
    /** @type {HTMLButtonElement} */ (part('compare')).disabled = !enough;
    field.disabled = chosen.length >= MOST;
    field.placeholder = field.disabled ? `${MOST} are the most` : 'Add a timeline: name, group …';
  };
  const out = (/** @type {Pick<Found, 'id' | 'title'>} */ one) => {
    chosen.splice(chosen.indexOf(one), 1);
    draw();
    field.focus();
  };
  const add = (/** @type {Found} */ one) => {
    chosen.push(one);
    field.value = '';
    list.replaceChildren();
    draw();
    (field.disabled ? part('compare') : field).focus();
  };
  const show = (/** @type {Found[]} */ found) => {
    const others = found.filter(({ id }) => !chosen.some((one) => one.id === id));
    list.replaceChildren(
      ...others.map((one) =>
        h(
          'li',
          h(
            'button',
            { onclick: () => add(one) },
            h('b', one.title),
            ' ',
            h('span.quiet', one.summary?.verdict?.headline?.text ?? one.group),
          ),
        ),
      ),
    );
    if (!others.length) list.replaceChildren(h('li.quiet', 'Nothing else matches.'));
  };
  let timer = 0;
  let asked = 0;
  field.addEventListener('input', () => {
    clearTimeout(timer);
    asked += 1;
    const number = asked;
    const q = field.value.trim();
    if (!q) return list.replaceChildren();
    timer = window.setTimeout(async () => {
      try {
        const found = await ask(`/api/timelines?${new URLSearchParams({ q, most: String(FOUND_MOST) })}`);
        if (number === asked) show(found);
      } catch (error) {
        list.replaceChildren(h('li.problem', messageOf(error, 'The search failed.')));
      }
    }, TYPED_MS);
  });
  // Enter takes the first that is found; arrows move through the list.
  part('choose').addEventListener('keydown', (event) => {
    const buttons = [...list.querySelectorAll('button')];
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    if (event.key === 'Enter' && event.target === field) buttons[0]?.click();
    else if (event.key === 'ArrowDown' && buttons.length) buttons[Math.min(at + 1, buttons.length - 1)].focus();
    else if (event.key === 'ArrowUp' && at >= 0) (buttons[at - 1] ?? field).focus();
    else if (event.key === 'Escape' && list.firstChild) list.replaceChildren();
    else return;
    event.preventDefault();
  });
  draw();
}
