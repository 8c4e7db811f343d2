/**
 * Apply the changes of entries to a frame, forwards and backwards.
 *
 * Frames are never altered in place: a changed branch is copied, everything else is shared, so that two
 * frames can be compared by identity and a frame that somebody holds stays what it was.
 *
 * @typedef {import('./types').Change} Change
 * @typedef {import('./types').Frame} Frame
 */

/**
 * @param {any} node
 * @param {string[]} path
 * @param {number} depth
 * @param {boolean} present whether the value is to be there afterwards
 * @param {any} value
 * @returns {any}
 */
function put(node, path, depth, present, value) {
  const copy = node !== null && typeof node === 'object' && !Array.isArray(node) ? { ...node } : {};
  const key = path[depth];
  if (depth < path.length - 1) {
    copy[key] = put(copy[key], path, depth + 1, present, value);
  } else if (present) {
    copy[key] = value;
  } else {
    delete copy[key];
  }
  return copy;
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
  let result = frame;
  for (let i = from; i < to; i += 1) {
    const change = changes[i];
    result = put(result, change.path, 0, 'new' in change, change.new);
  }
  return result;
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
  let result = frame;
  for (let i = to - 1; i >= from; i -= 1) {
    const change = changes[i];
    result = put(result, change.path, 0, 'old' in change, change.old);
  }
  return result;
}
