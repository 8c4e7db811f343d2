/**
 * The verdict: sentences made of findings. Every clause that has a proof is a link to its moment; one that counts
 * several things leads from each to the next. Times are marked as such.
 *
 * @typedef {Partial<import('../types').Summary>} Summary
 * @typedef {import('../types').Clause} Clause
 */

import { h, unbroken } from '../shared/dom.js';

/** A time from here on (March 1973) is a clock's; one below is a simulation's. */
const CLOCK_FROM_MS = 1e11;

/**
 * @param {HTMLElement} root the paragraph
 * @param {Summary} summary
 */
export function showVerdict(root, summary) {
  const clauses = summary.verdict?.clauses;
  if (!clauses?.length) return;
  root.replaceChildren(...clauses.flatMap(shown));
}

/** @param {Clause} clause */
function shown({ text, sequence, sequences = [], at_ms }) {
  if (at_ms !== undefined && at_ms >= CLOCK_FROM_MS)
    return h('time', { datetime: new Date(at_ms).toISOString() }, text);
  if (sequence === null) return unbroken(text);
  const steps =
    sequences.length > 1
      ? { 'data-steps': sequences.join(' '), title: `Leads through ${sequences.length} moments, one a click` }
      : {};
  return h('a.clause', { href: `?at=${sequence}`, 'data-at': sequence, ...steps }, ...unbroken(text));
}

/**
 * Where a clause that counts several things leads next: to the one that its words are of, then on with each click, and
 * round again.
 *
 * @param {string} steps sequences, as `data-steps` has them
 * @param {number} own the sequence of the clause itself
 * @param {string | undefined} last the ordinal of the last one, from 0
 * @returns {{nth: number, of: number, sequence: number}}
 */
export function nextStep(steps, own, last) {
  const sequences = steps.split(' ').map(Number);
  const nth = last === undefined ? Math.max(sequences.indexOf(own), 0) : (Number(last) + 1) % sequences.length;
  return { nth, of: sequences.length, sequence: /** @type {number} */ (sequences[nth]) };
}

/**
 * Links to moments move the board instead of loading the page again.
 *
 * @param {HTMLElement} root
 * @param {(sequence: number) => void} onSeek
 */
export function followLinks(root, onSeek) {
  root.addEventListener('click', (event) => {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('[data-at]'));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onSeek(link.dataset.steps === undefined ? Number(link.dataset.at) : stepped(link, link.dataset.steps));
  });
}

/** @param {HTMLElement} link @param {string} steps */
function stepped(link, steps) {
  const { nth, of, sequence } = nextStep(steps, Number(link.dataset.at), link.dataset.nth);
  link.dataset.nth = String(nth);
  const count = link.querySelector('.num') ?? link.appendChild(h('span', { class: 'num' }));
  count.textContent = ` (${nth + 1} of ${of})`;
  return sequence;
}
