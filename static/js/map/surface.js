/**
 * A canvas as sharp as the screen, painted in slices: a picture of ten thousand rows never holds up a key.
 *
 * @import {Palette, Track} from './types'
 * @typedef {{top: number, rowHeight: number, first: number, count: number, rowsOf: (line: number) => readonly number[], track: Track}} Picture
 *   measures in pixels at the usual size of text
 */

import { rem, textSize } from '../shared/text-size.js';
import { paint } from './paint.js';

/** A slice takes no longer, so that a frame has room for all else. */
const SLICE_MS = 8;
/** Above this a canvas would take more memory than it shows. */
const RATIO_MOST = 3;

/** Lets a frame and the reader's keys go first. */
const later = (/** @type {() => void} */ act) => setTimeout(act, 0);

export class Surface {
  #ticket = 0;
  /** @type {Uint32Array} */
  #words = new Uint32Array(0);
  /** @type {ImageData | null} */
  #image = null;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    // Not opaque, or what is not painted yet would be black until its answer has come.
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
  }

  /** Whether a picture is still being painted. */
  busy = false;

  /** @param {number} width in pixels at the usual size of text @param {number} height */
  size(width, height) {
    const ratio = Math.min(RATIO_MOST, globalThis.devicePixelRatio || 1) * textSize();
    const [across, down] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.canvas.width === across && this.canvas.height === down && this.ratio === ratio) return;
    this.#ticket += 1;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas.width = across;
    this.canvas.height = down;
    this.canvas.style.width = rem(width);
    this.canvas.style.height = rem(height);
    this.#image = null;
  }

  /**
   * Paints a picture; one that was still under way is given up.
   *
   * @param {Picture} picture
   * @param {Palette} palette
   * @param {() => void} [done]
   */
  paint({ top, rowHeight, first, count, rowsOf, track }, palette, done = () => {}) {
    this.#ticket += 1;
    const ticket = this.#ticket;
    const { width, height } = this.canvas;
    if (!this.#image) {
      this.#image = new ImageData(width, height);
      this.#words = new Uint32Array(this.#image.data.buffer);
    }
    const image = this.#image;
    const lines = paint({
      words: this.#words,
      width,
      height,
      ratio: this.ratio,
      top: top * this.ratio,
      rowHeight: rowHeight * this.ratio,
      first,
      count,
      rowsOf,
      track,
      palette,
    });
    let shown = 0;
    this.busy = true;
    const slice = () => {
      if (ticket !== this.#ticket) return;
      const until = performance.now() + SLICE_MS;
      let reached;
      for (;;) {
        const { value, done: over } = lines.next();
        if (over) {
          reached = height;
          break;
        }
        reached = value;
        if (performance.now() >= until) break;
      }
      this.context.putImageData(image, 0, 0, 0, shown, width, reached - shown);
      shown = reached;
      if (shown < height) later(slice);
      else {
        this.busy = false;
        done();
      }
    };
    slice();
  }

  destroy() {
    this.#ticket += 1;
  }
}
