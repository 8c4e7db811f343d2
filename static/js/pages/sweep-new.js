/** The form that begins a sweep: how many cases it asks for, while it is filled in. */

import { part } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';

const form = /** @type {HTMLFormElement} */ (part('axes'));
const seeds = /** @type {HTMLInputElement} */ (part('seeds'));
const more = /** @type {HTMLInputElement} */ (part('more'));

function count() {
  const chosen = (/** @type {string} */ name) => form.querySelectorAll(`input[name="${name}"]:checked`).length;
  const own = more.value.split(/[\s,]+/).filter(Boolean).length;
  const cases = chosen('assignors') * (chosen('shapes') + own) * chosen('events') * (Number(seeds.value) || 0);
  part('cases').textContent = cases ? counted(cases, 'case') : 'Nothing to ask yet: choose at least one of each.';
}

form.addEventListener('input', count);
count();
document.documentElement.dataset.alive = 'true';
