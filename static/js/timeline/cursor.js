/**
 * Where a timeline is: a chunk, how many of its changes are applied, and the frame that this makes. A move applies changes
 * forwards or backwards, or restarts at the chunk's own frame where that is the shorter way.
 *
 * @import {Chunk, Frame, Moment} from '../types'
 * @import {Slot} from '../shared/slots.js'
 * @typedef {{start(frame: Frame): void, follow(frame: Frame, changes: import('../types').Change[], from: number, to: number): void}} Follower
 */

import { apply, unapply } from '../frame/changes.js';
import { countUpTo } from '../shared/slots.js';

export class Cursor {
  /** @type {{slot: Slot, applied: number, frame: Frame} | null} */
  #at = null;

  get slot() {
    return this.#at?.slot;
  }

  /**
   * To the end of a moment of a chunk that is here, or before its first.
   *
   * @param {Slot} slot @param {Moment | null} moment @param {Follower | null} follower is notified of the move
   */
  move(slot, moment, follower) {
    const data = /** @type {Chunk} */ (slot.data);
    const target = moment ? countUpTo(data.changes, moment.sequence) : 0;
    const at = this.#at;
    let frame;
    if (at && at.slot === slot && Math.abs(target - at.applied) <= target) {
      frame =
        target >= at.applied
          ? apply(at.frame, data.changes, at.applied, target)
          : unapply(at.frame, data.changes, target, at.applied);
      follower?.follow(frame, data.changes, Math.min(target, at.applied), Math.max(target, at.applied));
    } else {
      frame = apply(data.frame, data.changes, 0, target);
      follower?.start(frame);
    }
    this.#at = { slot, applied: target, frame };
    return frame;
  }
}
