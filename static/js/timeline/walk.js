/**
 * A walk over the moments of chunks that are loaded, each with its frame.
 *
 * @import {Frame, Moment} from '../types'
 */

import { apply } from '../frame/changes.js';
import { countUpTo } from '../shared/slots.js';

/**
 * @param {import('../shared/slots.js').Slot[]} slots as they are by now: more are loaded while the walk waits
 * @param {object} how
 * @param {number} how.begin the slot to begin in
 * @param {boolean} how.only whether to walk over it alone
 * @param {(moment: Moment, frame: Frame) => void} how.visit
 * @param {(frame: Frame) => void} how.start
 * @returns {(over?: () => boolean) => boolean} goes on until `over()`; whether all that is here was visited
 */
export function walkOver(slots, { begin, only, visit, start }) {
  let index = begin;
  let applied = 0;
  let visited = 0;
  /** @type {Frame | null} */
  let frame = null;
  return (over = () => false) => {
    for (;;) {
      const data = slots[index]?.data;
      if (!data) return true;
      if (frame === null) {
        frame = data.frame;
        if (index === begin) start(frame);
      }
      for (; visited < data.moments.length; visited += 1) {
        if (over()) return false;
        const moment = data.moments[visited];
        const upTo = countUpTo(data.changes, moment.sequence);
        frame = apply(frame, data.changes, applied, upTo);
        applied = upTo;
        visit(moment, frame);
      }
      // The last chunk may still grow.
      if (only || !slots[index + 1]?.data) return true;
      index += 1;
      applied = 0;
      visited = 0;
      frame = null;
    }
  };
}
