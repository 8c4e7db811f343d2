/**
 * The verdict: a sentence made of findings. Every clause that has a proof is a link to its moment.
 *
 * @typedef {import('./types').Summary} Summary
 */

import { h } from './dom.js';

/**
 * @param {HTMLElement} root the paragraph
 * @param {Summary} summary
 */
export function showVerdict(root, summary) {
  const clauses = summary.verdict?.clauses;
  if (!clauses?.length) return;
  root.replaceChildren(...clauses.map(({ text, sequence }) =>
    sequence === null ? text : h('a', { class: 'clause', href: `?at=${sequence}`, 'data-at': sequence }, text)));
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
    onSeek(Number(link.dataset.at));
  });
}
