/**
 * Words that explain themselves where they stand: whatever has `data-term` shows the glossary's meaning on hover, focus
 * or touch, under the word or under its `data-head`. The glossary comes with the page; it is the documentation's own.
 */

import { h } from './dom.js';

/** How far the tip is from the word and from the window's edge. */
const GAP = 6;
const EDGE = 8;

/** A word in a sentence that is made here. @param {string} word @param {string} [shown] */
export const term = (word, shown = word) => h('button.term', { 'data-term': word }, shown);

/** @param {Document} page */
export function explain(page = document) {
  const data = page.getElementById('glossary-data');
  if (!data) return;
  /** @type {{[word: string]: string}} */
  const meanings = JSON.parse(data.textContent ?? '{}');
  const tip = h('div.tip', { id: 'tip', role: 'tooltip', hidden: true });
  page.body.append(tip);
  /** @type {HTMLElement | null} */
  let shown = null;

  const hide = () => {
    shown?.removeAttribute('aria-describedby');
    shown = null;
    tip.hidden = true;
  };
  const show = (/** @type {EventTarget | null} */ target) => {
    const node = /** @type {HTMLElement | null} */ (target instanceof Element ? target.closest('[data-term]') : null);
    const meaning = node && meanings[node.dataset.term ?? ''];
    if (!node || !meaning) return hide();
    if (node === shown) return;
    hide();
    shown = node;
    node.setAttribute('aria-describedby', 'tip');
    tip.replaceChildren(h('b', node.dataset.head ?? node.dataset.term ?? ''), ' ', meaning);
    tip.hidden = false;
    const at = node.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const left = Math.max(EDGE, Math.min(at.left, innerWidth - size.width - EDGE));
    const below = at.bottom + GAP + size.height <= innerHeight - EDGE;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? at.bottom + GAP : Math.max(EDGE, at.top - GAP - size.height)}px`;
  };
  // A tip that the pointer rests on stays: it can be longer than a glance.
  page.addEventListener('pointerover', (event) => {
    if (!tip.contains(/** @type {Node} */ (event.target))) show(event.target);
  });
  page.addEventListener('focusin', (event) => show(event.target));
  page.addEventListener('focusout', hide);
  page.addEventListener('click', (event) => show(event.target));
  page.addEventListener('scroll', hide, { capture: true, passive: true });
  page.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Escape') hide();
    },
    true,
  );
}
