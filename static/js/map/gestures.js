/**
 * Pointer and wheel over the rows: a click goes there, a drag opens what it spans, the wheel zooms. Everything that is
 * dragged or turned has a key and a button that does the same.
 *
 * @typedef {{x: number, y: number, place: number, line: number}} Spot in pixels of the plot, a place of the axis, a line
 */

import { h } from '../shared/dom.js';
import { Fingers, onWheel } from '../shared/pinch.js';
import { rem } from '../shared/text-size.js';

/** A hand that clicks moves less. */
const DRAG_PX = 5;

export class Gestures {
  /**
   * @param {HTMLElement} plot
   * @param {object} on
   * @param {(event: {clientX: number, clientY: number}) => Spot} on.spot
   * @param {(from: Spot, to: Spot, selects: boolean) => string} on.says of a brush
   * @param {() => boolean} on.selects whether a drag without Shift selects a range, too
   * @param {(from: Spot, to: Spot) => void} on.onRange
   * @param {(spot: Spot) => void} on.onClick
   * @param {(from: Spot, to: Spot) => void} on.onBrush
   * @param {(by: number, place: number) => void} on.onZoom of time
   * @param {(by: number) => void} on.onPan in widths
   * @param {(spot: Spot | null) => void} on.onPoint
   */
  constructor(plot, { spot, says: text, selects, onRange, onClick, onBrush, onZoom, onPan, onPoint }) {
    this.brush = h('div.mbrush', { hidden: true, 'aria-hidden': 'true' }, h('span'));
    /** @type {Spot | null} */
    let from = null;
    let dragged = false;
    let ranges = false;
    const fingers = new Fingers();
    plot.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      from = spot(event);
      dragged = false;
      ranges = event.shiftKey || selects();
      fingers.down(event, from.x);
      // One finger scrolls the rows, two zoom; where a range is selected, one does that.
      if (event.pointerType !== 'touch' || ranges) plot.setPointerCapture(event.pointerId);
      if (fingers.many > 1) from = null;
    });
    plot.addEventListener('pointermove', (event) => {
      const to = spot(event);
      const pinch = fingers.move(event, to.x);
      if (pinch) {
        const wide = (to.x - pinch.middle) / Math.max(1, plot.clientWidth);
        onZoom(pinch.by, Math.min(1, Math.max(0, to.place - wide)));
        onPan(pinch.off / Math.max(1, plot.clientWidth));
      }
      if (!from || (event.pointerType === 'touch' && !ranges)) {
        onPoint(to);
        return;
      }
      dragged ||= Math.hypot(to.x - from.x, to.y - from.y) > DRAG_PX;
      if (dragged) this.#show(from, to, text(from, to, ranges));
    });
    plot.addEventListener('pointerup', (event) => {
      const to = spot(event);
      fingers.up(event);
      if (from && dragged) (ranges ? onRange : onBrush)(from, to);
      else if (from) onClick(to);
      from = null;
      this.brush.hidden = true;
    });
    plot.addEventListener('pointercancel', (event) => {
      fingers.up(event);
      from = null;
      this.brush.hidden = true;
    });
    plot.addEventListener('pointerleave', () => onPoint(null));
    onWheel(plot, { zoom: (by, event) => onZoom(by, spot(event).place), pan: onPan });
  }

  /** @param {Spot} a @param {Spot} b @param {string} sentence */
  #show(a, b, sentence) {
    this.brush.hidden = false;
    Object.assign(this.brush.style, {
      left: rem(Math.min(a.x, b.x)),
      top: rem(Math.min(a.y, b.y)),
      width: rem(Math.abs(a.x - b.x)),
      height: rem(Math.abs(a.y - b.y)),
    });
    /** @type {HTMLElement} */ (this.brush.firstChild).textContent = sentence;
  }
}
