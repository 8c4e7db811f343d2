/** Two fingers on a drawing: how far they went apart, and how far aside. */

/** Nearer fingers are not told apart. */
const APART_LEAST = 12;

export class Fingers {
  /** By pointer, where each is. @type {Map<number, number>} */
  #at = new Map();

  get many() {
    return this.#at.size;
  }

  /** @param {PointerEvent} event @param {number} x */
  down({ pointerType, pointerId }, x) {
    if (pointerType === 'touch') this.#at.set(pointerId, x);
  }

  /** @param {PointerEvent} event */
  up({ pointerId }) {
    this.#at.delete(pointerId);
  }

  /**
   * @param {PointerEvent} event @param {number} x where this finger is now
   * @returns {{by: number, middle: number, off: number} | null} `by` below 1 shows less; null: these are not two fingers
   */
  move({ pointerId }, x) {
    const before = this.#at.get(pointerId);
    if (before === undefined) return null;
    this.#at.set(pointerId, x);
    const other = [...this.#at].find(([id]) => id !== pointerId)?.[1];
    if (other === undefined || this.#at.size > 2) return null;
    const apart = (/** @type {number} */ one) => Math.max(APART_LEAST, Math.abs(one - other));
    return { by: apart(before) / apart(x), middle: (x + other) / 2, off: (before - x) / 2 };
  }
}
