/** A short word at the foot of the page, read out too. */

import { h, part } from './dom.js';
import { messageOf } from './errors.js';

const SHOWN_MS = 2600;
let timer = /** @type {any} */ (null);

/** @param {string} text @param {{label: string, act: () => void, shown_ms: number}} [offer] a button in it, and how long it stays */
export function toast(text, offer) {
  const node = part('toast');
  node.replaceChildren(text);
  if (offer) node.append(' ', h('button.btn.sm', { onclick: offer.act }, offer.label));
  node.classList.add('on');
  clearTimeout(timer);
  timer = setTimeout(() => node.classList.remove('on'), offer?.shown_ms ?? SHOWN_MS);
}

/** Acts; a toast says why where that fails. @param {string} otherwise where the error has no message @param {() => Promise<unknown>} act */
export async function orToast(otherwise, act) {
  try {
    await act();
  } catch (error) {
    toast(messageOf(error, otherwise));
  }
}
