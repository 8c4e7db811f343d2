/** Two fingers on a drawing: how far they went apart, and how far aside. */

/** Nearer fingers are not told apart. */
const APART_LEAST = 12;

const WHEEL = 1.0018;

/**
 * The wheel over a drawing: with Ctrl or ⌘ it zooms, with Shift or to the side it pans.
 *
 * @param {HTMLElement} root
 * @param {{zoom: (by: number, event: WheelEvent) => void, pan: (by: number) => void}} does `by` below 1 shows less; in widths
 */
export function onWheel(root, { zoom, pan }) {
  const turn = (/** @type {WheelEvent} */ event) => {
    const { deltaX, deltaY } = event;
    if (event.ctrlKey || event.metaKey) zoom(WHEEL ** deltaY, event);
    else if (event.shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) pan((deltaX || deltaY) / 1000);
    else return;
    event.preventDefault();
  };
  root.addEventListener('wheel', turn, { passive: false });
}

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
