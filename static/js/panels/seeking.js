/**
 * Moves the board: to an entry, by a step, by an epoch. What may have to be fetched first is waited for, and said if it takes
 * long; of several wishes the last one counts.
 *
 * @import {Rest, Timeline} from '../timeline/timeline.js'
 */

import { messageOf } from '../shared/errors.js';

/** Scrubbing over chunks that are not here fetches the one at which the pointer rests for so long. */
const REST_MS = 60;
/** What takes longer than this is said to be loading. */
const SLOW_MS = 400;

export class Seeking {
  /** What is selected: playing in a loop stays within it. @type {{from: number, to: number} | null} */
  range = null;
  #wanted = 0;
  /** @type {number | null} */
  #scrubbed = null;

  /**
   * @param {object} parts
   * @param {Timeline} parts.timeline
   * @param {import('../live/banners.js').Banners} parts.banners
   * @param {() => {sequence: number}[]} parts.epochs
   * @param {(rest: Rest | null, how: {animate: boolean, before: number}) => void} parts.show
   * @param {() => void} parts.onMove before anything moves
   */
  constructor(parts) {
    this.parts = parts;
  }

  /** Anywhere: the frame changes at once. @param {number} sequence */
  async go(sequence) {
    const { timeline } = this.parts;
    this.parts.onMove();
    this.#wanted += 1;
    const mine = this.#wanted;
    const before = timeline.position;
    let rest = timeline.seekLoaded(sequence);
    if (!rest) {
      if (this.#scrubbed !== null)
        await new Promise((resolve) => {
          setTimeout(resolve, REST_MS);
        });
      if (mine !== this.#wanted) return null;
      rest = await this.#waiting(timeline.seek(sequence));
    }
    this.parts.show(rest, { animate: Math.abs(timeline.position - before) === 1, before });
    return rest;
  }

  /** A pointer that moves asks more often than a screen draws: the last place before each drawing counts. @param {number} sequence */
  scrub(sequence) {
    const asked = this.#scrubbed !== null;
    this.#scrubbed = sequence;
    if (asked) return;
    requestAnimationFrame(async () => {
      const going = this.go(/** @type {number} */ (this.#scrubbed));
      this.#scrubbed = null;
      await going;
    });
  }

  /** Whether playing has come to the end of what is selected, or else of all. */
  get atEnd() {
    const { timeline } = this.parts;
    return this.range ? (timeline.rest?.sequence ?? 0) >= this.range.to : timeline.atEnd;
  }

  /** To where that begins. */
  begin() {
    return this.go(this.range?.from ?? this.parts.timeline.origin);
  }

  /** @param {1 | -1} direction */
  async step(direction) {
    this.parts.onMove();
    const before = this.parts.timeline.position;
    const rest = await this.#waiting(this.parts.timeline.step(direction));
    this.parts.show(rest, { animate: true, before });
    return rest;
  }

  /** @param {1 | -1} direction */
  async stepEpoch(direction) {
    this.parts.onMove();
    const before = this.parts.timeline.position;
    const rest = await this.#waiting(this.parts.timeline.stepEpoch(direction, this.parts.epochs()));
    this.parts.show(rest, { animate: Math.abs(this.parts.timeline.position - before) === 1, before });
  }

  /**
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T | null>}
   */
  async #waiting(promise) {
    const { banners } = this.parts;
    const slow = setTimeout(() => banners.show('loading', '', '', 'Loading this part of the timeline…'), SLOW_MS);
    try {
      const result = await promise;
      banners.hide('loading');
      return result;
    } catch (error) {
      const why = messageOf(error, '');
      banners.show('loading', 'bad', 'This part could not be loaded.', why);
      return null;
    } finally {
      clearTimeout(slow);
    }
  }
}
