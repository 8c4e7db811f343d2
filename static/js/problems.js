/**
 * The problems of a timeline: a list of links, and steps from one to the next by key.
 *
 * @typedef {import('./types').Trouble} Trouble
 * @typedef {import('./types').Moment} Moment
 */

import { h } from './dom.js';
import { toast } from './toast.js';
import { shortened, when } from './words.js';

/** The list names as many; more are stepped through by key. */
const LISTED_MOST = 100;

/**
 * Where the next problem is, seen from where the board rests.
 *
 * @param {Trouble[]} troubles in order
 * @param {{first: number, last: number}} at the entries of the moment at which the board rests
 * @param {1 | -1} direction
 */
export function nextProblem(troubles, { first, last }, direction) {
  return direction > 0
    ? troubles.findIndex(({ sequence }) => sequence > last)
    : troubles.findLastIndex(({ sequence }) => sequence < first);
}

export class Problems {
  /** @type {Trouble[]} */
  #troubles = [];

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root a `details` with a summary and a list
   * @param {() => {first: number, last: number}} parts.at
   * @param {(sequence: number) => Promise<unknown>} parts.go
   */
  constructor({ root, at, go }) {
    this.root = root;
    this.at = at;
    this.go = go;
    this.head = /** @type {HTMLElement} */ (root.querySelector('summary'));
    this.list = /** @type {HTMLElement} */ (root.querySelector('ol'));
  }

  /** @param {Trouble[]} troubles @param {number} start_ms */
  load(troubles, start_ms) {
    this.#troubles = troubles;
    this.root.hidden = !troubles.length;
    this.head.replaceChildren(
      h('b', {}, troubles.length === 1 ? '1 problem' : `${troubles.length.toLocaleString('en')} problems`),
      ' ',
      h('kbd', {}, 'N'),
      ' ',
      h('kbd', {}, 'P'),
    );
    const more = troubles.length - LISTED_MOST;
    this.list.replaceChildren(
      ...troubles
        .slice(0, LISTED_MOST)
        .map(({ sequence, at_ms, says }) =>
          h(
            'li',
            {},
            h(
              'a',
              { href: `?at=${sequence}`, 'data-at': sequence },
              at_ms === null ? null : h('span', { class: 'num' }, when(at_ms, start_ms)),
              ` ${shortened(says)}`,
            ),
          ),
        ),
      ...(more > 0 ? [h('li', { class: 'quiet' }, `${more.toLocaleString('en')} more, by N`)] : []),
    );
  }

  /** Marks the problem at which the board stands. */
  move() {
    const { first, last } = this.at();
    for (const link of this.list.querySelectorAll('[data-at]')) {
      const at = Number(/** @type {HTMLElement} */ (link).dataset.at);
      if (at >= first && at <= last) link.setAttribute('aria-current', 'step');
      else link.removeAttribute('aria-current');
    }
  }

  /** @param {1 | -1} direction */
  async step(direction) {
    const troubles = this.#troubles;
    if (!troubles.length) return toast('No problem was found in this timeline');
    const index = nextProblem(troubles, this.at(), direction);
    if (index < 0) return toast(direction > 0 ? 'No problem after this moment' : 'No problem before this moment');
    await this.go(troubles[index].sequence);
    toast(`Problem ${index + 1} of ${troubles.length}: ${shortened(troubles[index].says)}`);
  }
}
