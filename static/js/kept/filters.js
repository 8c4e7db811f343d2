/** The filters of the list of timelines, in the form, in a question to the server, and in the page's address. */

import { h } from '../shared/dom.js';

const NAMES = ['q', 'source', 'group', 'author', 'trouble', 'sort'];

/** What is asked where nothing is chosen. */
const USUAL = ['', 'any', 'newest'];

/** The ends of a period: the name of the field, and the key of the query. */
const ENDS = /** @type {const} */ ([
  ['from', 'from_ms'],
  ['until', 'until_ms'],
]);

/** @param {HTMLFormElement} form @param {string} name */
export const fieldOf = (form, name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

/** What the filters ask for. @param {HTMLFormElement} form @param {number} [after] rows that are shown already */
export function queryOf(form, after = 0) {
  const asked = new URLSearchParams();
  for (const name of NAMES) {
    // Only where people sign in there are authors.
    const value = fieldOf(form, name)?.value ?? '';
    if (!USUAL.includes(value)) asked.set(name, value);
  }
  const days = fieldOf(form, 'days').value;
  if (days && days !== 'period') asked.set('days', days);
  for (const [name, key] of days === 'period' ? ENDS : []) {
    const ms = new Date(fieldOf(form, name).value).getTime();
    if (ms > 0) asked.set(key, `${ms}`);
  }
  if (after) asked.set('after', `${after}`);
  return asked;
}

/** Fills the form as the address has it. @param {HTMLFormElement} form @param {string} search */
export function readAddress(form, search) {
  const asked = new URLSearchParams(search);
  for (const name of [...NAMES, 'days']) {
    const value = asked.get(name);
    if (value === null) continue;
    const field = fieldOf(form, name);
    if (!field) continue;
    field.value = value;
    // A group that is not among those that are offered.
    if (name === 'group' && field.value !== value) {
      field.append(h('option', value));
      field.value = value;
    }
  }
  for (const [name, key] of ENDS) {
    const ms = Number(asked.get(key));
    if (!ms) continue;
    fieldOf(form, 'days').value = 'period';
    fieldOf(form, name).value = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  }
}
