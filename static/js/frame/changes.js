/**
 * Apply the changes of entries to a frame, forwards and backwards.
 *
 * Frames are never altered in place: whatever changes is copied once for each call, everything else is shared, so that
 * two frames can be compared by identity and a frame that somebody holds stays what it was.
 *
 * @import {Change, Frame} from '../types'
 */

/** One journey from a frame to another: objects that it has copied are its own, and are then altered in place. */
class Journey {
  /** @param {Frame} frame */
  constructor(frame) {
    /** @type {any} */
    this.root = { ...frame };
    /** @type {Set<any>} */
    this.own = new Set([this.root]);
  }

  /** @param {string[]} path @param {boolean} present whether the value is to be there afterwards @param {any} value */
  put(path, present, value) {
    let place = this.root;
    const last = path.length - 1;
    for (let depth = 0; depth < last; depth += 1) {
      const child = place[path[depth]];
      if (this.own.has(child)) {
        place = child;
        continue;
      }
      const copy = child !== null && typeof child === 'object' && !Array.isArray(child) ? { ...child } : {};
      this.own.add(copy);
      place[path[depth]] = copy;
      place = copy;
    }
    if (present) place[path[last]] = value;
    else delete place[path[last]];
  }
}

/**
 * The frame after `changes`, which are in the order of their sequences.
 *
 * @param {Frame} frame
 * @param {Change[]} changes
 * @param {number} [from] index of the first change to apply
 * @param {number} [to] index behind the last one
 * @returns {Frame}
 */
export function apply(frame, changes, from = 0, to = changes.length) {
  if (from >= to) return frame;
  const journey = new Journey(frame);
  for (let i = from; i < to; i += 1) journey.put(changes[i].path, 'new' in changes[i], changes[i].new);
  return journey.root;
}

/**
 * The frame before `changes[from..to)`: the inverse of `apply` with the same bounds.
 *
 * @param {Frame} frame
 * @param {Change[]} changes
 * @param {number} [from]
 * @param {number} [to]
 * @returns {Frame}
 */
export function unapply(frame, changes, from = 0, to = changes.length) {
  if (from >= to) return frame;
  const journey = new Journey(frame);
  for (let i = to - 1; i >= from; i -= 1) journey.put(changes[i].path, 'old' in changes[i], changes[i].old);
  return journey.root;
}
