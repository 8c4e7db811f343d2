/** A short word at the foot of the page, read out too. */

import { h, part } from './dom.js';

const SHOWN_MS = 2600;
let timer = /** @type {any} */ (null);

/** @param {string} text @param {{label: string, act: () => void, shown_ms: number}} [offer] a button in it, and how long it stays */
export function toast(text, offer) {
  const node = part('toast');
  node.replaceChildren(text);
  if (offer) node.append(' ', h('button.btn.sm', { type: 'button', onclick: offer.act }, offer.label));
  node.classList.add('on');
  clearTimeout(timer);
  timer = setTimeout(() => node.classList.remove('on'), offer?.shown_ms ?? SHOWN_MS);
}
