/**
 * Answers of the source for the window in sight: what is here at once, what is better as soon as it has come.
 *
 * @import {GroupWindow, MembersWindow, PartitionsWindow, Source} from '../types'
 * @import {Window} from './types'
 * @typedef {'members' | 'partitions' | 'group'} Of
 */

import { messageOf } from '../shared/errors.js';

/** A wheel turns several times in this time; one question is enough. */
const ASK_MS = 70;
const FAILED = 'This part of the map could not be loaded.';

export class Windows {
  /** @type {{members: MembersWindow | null, partitions: PartitionsWindow | null, group: GroupWindow | null, whole: GroupWindow | null}} */
  answers = { members: null, partitions: null, group: null, whole: null };
  #ticket = 0;
  #timer = /** @type {any} */ (null);

  /**
   * @param {Source} source
   * @param {object} on
   * @param {(of: Of | 'whole') => void} on.arrived
   * @param {(says: string) => void} on.failed with one line
   */
  constructor(source, { arrived, failed }) {
    this.source = source;
    this.arrived = arrived;
    this.failed = failed;
  }

  /** All that is known, as sequences. @returns {Window} */
  get extent() {
    return { from: this.source.origin, to: Math.max(this.source.origin, this.source.last) };
  }

  /**
   * Ask for a window. What covers it already is taken at once.
   *
   * @param {readonly Of[]} what
   * @param {Window} window
   * @param {number} columns
   */
  want(what, window, columns) {
    this.#ticket += 1;
    const ask = { ...window, columns };
    for (const of of what) this.#now(of, ask);
    clearTimeout(this.#timer);
    const ticket = this.#ticket;
    const missing = what.filter((of) => !this.#fits(of, ask));
    if (!missing.length) return;
    this.#timer = setTimeout(() => {
      for (const of of missing) this.#ask(of, ask, ticket);
    }, ASK_MS);
  }

  /** The whole timeline, for what lies around the window. @param {number} columns */
  async wantWhole(columns) {
    try {
      const whole = await this.source.group({ ...this.extent, columns });
      this.answers = { ...this.answers, whole };
      this.arrived('whole');
    } catch (error) {
      this.failed(messageOf(error, FAILED));
    }
  }

  /** @param {Of} of @param {import('../types').WindowAsk} ask */
  #now(of, ask) {
    const here = this.source.now(/** @type {any} */ (of), ask);
    if (here) this.answers = { ...this.answers, [of]: here };
  }

  /** Whether what is here is as good as what would come. @param {Of} of @param {import('../types').WindowAsk} ask */
  #fits(of, ask) {
    const here = this.answers[of];
    if (!here || here.from > ask.from || here.to < ask.to) return false;
    return (
      here.exact || (here.from === ask.from && here.to === ask.to && here.columns.first.length >= ask.columns * 0.9)
    );
  }

  /** @param {Of} of @param {import('../types').WindowAsk} ask @param {number} ticket */
  async #ask(of, ask, ticket) {
    try {
      const answer = await this.source[of](ask);
      if (ticket !== this.#ticket) return;
      this.answers = { ...this.answers, [of]: answer };
      this.arrived(of);
    } catch (error) {
      if (ticket === this.#ticket) this.failed(messageOf(error, FAILED));
    }
  }
}
