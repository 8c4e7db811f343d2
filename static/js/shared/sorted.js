/** Looks into what is in order, each time at the middle of what is left. Pure. */

/**
 * How many items come first that are inside: all of those are before all others.
 *
 * @template T
 * @param {ArrayLike<T>} items
 * @param {(item: T) => boolean} isInside
 */
export function countWhile(items, isInside) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isInside(items[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
