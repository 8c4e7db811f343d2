/**
 * The problems of a timeline: a list of links, and steps from one to the next by key.
 *
 * @import {Moment, Trouble} from '../types'
 */

import { h } from '../shared/dom.js';
import { countUpTo } from '../shared/slots.js';
import { toast } from '../shared/toast.js';
import { grouped } from '../shared/numbers.js';
import { shortened, when } from '../frame/words.js';

/** The list names as many; more are stepped through by key. */
const LISTED_MOST = 100;

/**
 * Whether a problem begins in a moment: there the board stops, also where the moment is a commit that it passes over otherwise.
 *
 * @param {Trouble[]} troubles in order
 * @returns {(moment: Moment) => boolean}
 */
export const beginsIn =
  (troubles) =>
  ({ first, sequence }) =>
    countUpTo(troubles, sequence) > countUpTo(troubles, first - 1);

/** Steps through the problems: each is visited once, in order, also where several begin in one moment. */
export class ProblemSteps {
  /** The problem that was stepped to, and where the board rested then. @type {{index: number, last: number} | null} */
  #reached = null;

  /** @param {Trouble[]} troubles in order */
  constructor(troubles) {
    this.troubles = troubles;
  }

  /**
   * @param {{first: number, last: number}} at the entries of the moment at which the board rests
   * @param {1 | -1} direction
   * @returns {number} the index of the next problem; -1 where there is none
   */
  next({ first, last }, direction) {
    const { troubles } = this;
    if (this.#reached?.last === last) {
      const index = this.#reached.index + direction;
      return index < troubles.length ? index : -1;
    }
    return direction > 0
      ? troubles.findIndex(({ sequence }) => sequence > last)
      : troubles.findLastIndex(({ sequence }) => sequence < first);
  }

  /** The board rests at a problem. @param {number} index @param {{last: number}} at */
  reach(index, { last }) {
    this.#reached = { index, last };
  }
}

export class Problems {
  #steps = new ProblemSteps([]);

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
    this.#steps = new ProblemSteps(troubles);
    this.root.hidden = !troubles.length;
    this.head.replaceChildren(
      h('b', troubles.length === 1 ? '1 problem' : `${grouped(troubles.length)} problems`),
      ' ',
      h('kbd', 'N'),
      ' ',
      h('kbd', 'P'),
    );
    const more = troubles.length - LISTED_MOST;
    this.list.replaceChildren(
      ...troubles
        .slice(0, LISTED_MOST)
        .map(({ sequence, at_ms, says: text }) =>
          h(
            'li',
            h(
              'a',
              { href: `?at=${sequence}`, 'data-at': sequence },
              at_ms === null ? null : h('span.num', when(at_ms, start_ms)),
              ` ${shortened(text)}`,
            ),
          ),
        ),
      ...(more > 0 ? [h('li.quiet', `${grouped(more)} more, by N`)] : []),
    );
  }

  /** Marks the problem at which the board is. */
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
    const { troubles } = this.#steps;
    if (!troubles.length) return toast('No problem was found in this timeline');
    const index = this.#steps.next(this.at(), direction);
    if (index < 0) return toast(direction > 0 ? 'No problem after this moment' : 'No problem before this moment');
    await this.go(troubles[index].sequence);
    this.#steps.reach(index, this.at());
    toast(`Problem ${index + 1} of ${troubles.length}: ${shortened(troubles[index].says)}`);
  }
}
