/** A short word at the foot of the page, read out too. */

import { part } from './dom.js';

const SHOWN_MS = 2600;
let timer = /** @type {any} */ (null);

/** @param {string} says */
export function toast(says) {
  const node = part('toast');
  node.textContent = says;
  node.classList.add('on');
  clearTimeout(timer);
  timer = setTimeout(() => node.classList.remove('on'), SHOWN_MS);
}
