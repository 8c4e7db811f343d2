/**
 * The zoom of the tracks: which of the timeline they show, changed by wheel, pinch, keys and buttons; and the range that is
 * selected on them. Steps are the unit on *Events*, milliseconds on *Time*.
 *
 * @typedef {{from: number, to: number}} Range sequences, both included
 * @import {TimelineView} from './view.js'
 */

import { h } from '../shared/dom.js';
import { Fingers, onWheel } from '../shared/pinch.js';
import { rem, textSize } from '../shared/text-size.js';
import { counted } from '../shared/numbers.js';
import { leftOf } from './view.js';
import { RIGHT } from './scale.js';
import { countUpTo } from './timeline.js';

/** More steps than this are not drawn at once. */
export const SHOWN_MOST = 400;
/** Less is not zoomed into: there is nothing between steps to see. */
const STEPS_LEAST = 3;
const MS_LEAST = 20;
/** One press of a key or button: a zoom, and a share of the window. */
const ZOOM = 0.6;
const PAN = 0.3;
/** Around a range that is fitted, as a share of it. */
const AROUND = 0.06;

/**
 * A stretch zoomed around a value that keeps its place, within bounds. Pure.
 *
 * @param {[number, number]} span @param {number} by below 1 shows less @param {number} share where the value lies in the span
 * @param {[number, number]} bounds @param {number} least
 * @returns {[number, number]}
 */
export function zoomedSpan([from, to], by, share, bounds, least) {
  const size = Math.min(Math.max((to - from) * by, least), Math.max(least, bounds[1] - bounds[0]));
  const kept = from + share * (to - from);
  return heldSpan([kept - share * size, kept + (1 - share) * size], bounds);
}

/** A stretch moved back within bounds. Pure. @param {[number, number]} span @param {[number, number]} bounds @returns {[number, number]} */
export function heldSpan([from, to], [low, high]) {
  const off = Math.max(low - from, 0) || Math.min(high - to, 0);
  return [Math.max(low, from + off), Math.min(Math.max(high, low), to + off)];
}

export class Zooming {
  /** @type {[number, number] | null} */
  #span = null;
  #of = '';
  /** @type {Range | null} */
  range = null;
  /** Whether a drag selects a range, as with Shift. */
  selecting = false;
  #from = /** @type {number | null} */ (null);
  #fingers = new Fingers();
  #drawing = 0;

  /**
   * @param {TimelineView} view
   * @param {object} on
   * @param {(range: Range | null) => void} on.onRange a range was selected
   * @param {() => void} on.onZoom another window is in sight
   */
  constructor(view, { onRange, onZoom }) {
    this.view = view;
    this.onRange = onRange;
    this.onZoom = onZoom;
    this.label = h('span');
    this.band = h('div.rband', { hidden: true, 'aria-hidden': 'true' }, this.label);
    view.root.append(this.band);
    view.zooming = this;
    this.#wire(view.root);
  }

  get #least() {
    return this.view.axis === 'time' ? MS_LEAST : STEPS_LEAST;
  }

  /** All that there is, in the axis's unit. @returns {[number, number]} */
  get #bounds() {
    const { steps, end_ms } = this.view.play;
    if (this.view.axis === 'events') return [0, steps.length];
    const first = steps[0]?.at_ms ?? 0;
    return [first, Math.max(first + 1, end_ms, steps[steps.length - 1]?.at_ms ?? 0)];
  }

  /** What is in sight, in the axis's unit. @returns {[number, number]} */
  get #seen() {
    this.#adapt();
    if (this.#span) return this.#span;
    const { from, to } = this.view.shown;
    if (this.view.axis === 'events') return [from, to];
    const { steps } = this.view.play;
    return [steps[from]?.at_ms ?? 0, to >= steps.length ? this.#bounds[1] : steps[to - 1].at_ms];
  }

  /**
   * What the view shows; null: it chooses.
   *
   * @returns {{from: number, to: number, from_ms?: number, to_ms?: number} | null}
   */
  get shown() {
    this.#adapt();
    return this.#span && this.#window(this.#span);
  }

  /** Of other steps, or in another unit, what was in sight is no stretch. */
  #adapt() {
    const { axis, play } = this.view;
    const of = `${axis}:${play.steps[0]?.sequence ?? 0}`;
    if (of !== this.#of) this.#span = null;
    this.#of = of;
  }

  /** @param {[number, number]} span */
  #window([from, to]) {
    const { axis, play } = this.view;
    const many = play.steps.length;
    if (axis === 'events') return { from: Math.max(0, Math.floor(from)), to: Math.min(many, Math.ceil(to)) };
    const first = play.steps.findIndex((step) => step.at_ms >= from);
    const last = play.steps.findLastIndex((step) => step.at_ms <= to);
    return {
      from: first < 0 ? many : first,
      to: Math.max(last + 1, first < 0 ? many : first),
      from_ms: from,
      to_ms: to,
    };
  }

  /** @param {[number, number] | null} span @param {boolean} [isNews] whether the address is to have it */
  #show(span, isNews = true) {
    this.#adapt();
    const { steps } = this.view.play;
    const all = this.#bounds;
    const isAll = span !== null && span[0] <= all[0] && span[1] >= all[1];
    if (span) {
      const { from, to } = this.#window(span);
      if (to - from > SHOWN_MOST) return;
    }
    this.#span = isAll && steps.length <= this.view.most ? null : span;
    if (this.#drawing) return;
    this.#drawing = requestAnimationFrame(() => {
      this.#drawing = 0;
      this.view.redraw();
      if (isNews) this.onZoom();
    });
  }

  /** @param {number} by below 1 shows less @param {number} [share] the place that stays, of the width */
  zoom(by, share = this.#playhead) {
    this.#show(zoomedSpan(this.#seen, by, share, this.#bounds, this.#least));
  }

  /** @param {number} by in widths */
  pan(by) {
    const [from, to] = this.#seen;
    const off = (to - from) * by;
    this.#show(heldSpan([from + off, to + off], this.#bounds));
  }

  /** The selected range, or else all that can be drawn. */
  fit() {
    if (this.range) this.see(this.range);
    else this.#show(this.view.play.steps.length <= SHOWN_MOST ? this.#bounds : null);
  }

  /** Brings a range into sight. @param {Range} range */
  see({ from, to }) {
    const { steps } = this.view.play;
    const [first, last] = [this.#stepOf(from), this.#stepOf(to)];
    if (!steps[last]) return;
    const [a, b] = this.view.axis === 'events' ? [first, last + 1] : [steps[first]?.at_ms ?? 0, steps[last].at_ms];
    const around = Math.max((b - a) * AROUND, this.#least / 2);
    this.#show(heldSpan([a - around, b + around], this.#bounds));
  }

  /**
   * So long a stretch of time with the playhead near its beginning, if the axis is time; an axis of steps shows those around it anyway.
   *
   * The address keeps what it asked for: steps inside may be fewer than the stretch is long.
   *
   * @param {number} length_ms @param {number} before
   */
  around(length_ms, before) {
    if (this.view.axis === 'events') return;
    const from = this.view.play.rest.at_ms - length_ms * before;
    this.#show(heldSpan([from, from + length_ms], this.#bounds), false);
  }

  /** The playhead has moved: the window follows it. */
  follow() {
    const { axis, play } = this.view;
    if (!this.#span || !play.position) return;
    const at = axis === 'events' ? play.position - 0.5 : play.rest.at_ms;
    const [from, to] = this.#span;
    if (at >= from && at <= to) return;
    const begin = at < from ? at - (to - from) * 0.1 : at - (to - from) * 0.9;
    this.#span = heldSpan([begin, begin + to - from], this.#bounds);
  }

  /** @param {Range | null} range */
  select(range) {
    this.range = range;
    this.place();
    this.onRange(range);
  }

  /** What is in sight, as sequences; null: the view chose it. @returns {Range | null} */
  get seen() {
    const { steps } = this.view.play;
    const shown = this.#span && this.#window(this.#span);
    if (!shown || !steps.length) return null;
    const at = (/** @type {number} */ index) => steps[Math.min(Math.max(0, index), steps.length - 1)].sequence;
    return { from: at(shown.from), to: at(shown.to - 1) };
  }

  #stepOf(/** @type {number} */ sequence) {
    return Math.max(0, countUpTo(this.view.play.steps, sequence) - 1);
  }

  get #playhead() {
    const { axis, play } = this.view;
    const [from, to] = this.#seen;
    const at = axis === 'events' ? play.position - 0.5 : play.rest.at_ms;
    return at >= from && at <= to ? (at - from) / Math.max(1e-9, to - from) : 0.5;
  }

  /** The band of the range, where the view was drawn. */
  place() {
    const { scale, shown, play } = this.view;
    const range = this.range;
    if (!scale || !range) {
      this.band.hidden = true;
      return;
    }
    const [first, last] = [this.#stepOf(range.from), this.#stepOf(range.to)];
    this.band.hidden = last < shown.from || first >= shown.to;
    const edge = this.view.axis === 'events' ? 6 : 1;
    const x = scale.ofStep(Math.max(first, shown.from)) - edge;
    const end = scale.ofStep(Math.min(last, Math.max(shown.from, shown.to - 1))) + edge;
    this.band.style.left = rem(x);
    this.band.style.width = rem(Math.max(2, end - x));
    const steps = last - first + 1;
    const seconds = ((play.steps[last]?.at_ms ?? 0) - (play.steps[first]?.at_ms ?? 0)) / 1000;
    this.label.textContent = `${seconds.toFixed(1)} s, ${counted(steps, 'event')}`;
  }

  /** @param {{clientX: number}} event in pixels of the drawing */
  #x({ clientX }) {
    return (clientX - this.view.root.getBoundingClientRect().left) / textSize();
  }

  #share(/** @type {number} */ x) {
    const left = leftOf(this.view.width);
    return Math.min(1, Math.max(0, (x - left) / (this.view.width - RIGHT - left)));
  }

  /** Whether a press is no scrubbing: it selects, or it is a second finger. @param {PointerEvent} event */
  takes(event) {
    return event.shiftKey || this.selecting || this.#fingers.many > 1 || this.#from !== null;
  }

  /** @param {HTMLElement} root */
  #wire(root) {
    const drag = (/** @type {PointerEvent} */ event) => {
      const { scale, play } = this.view;
      if (this.#from === null || !scale) return;
      const index = scale.nearest(this.#x(event));
      const [from, to] = [Math.min(this.#from, index), Math.max(this.#from, index)];
      if (play.steps[to]) this.range = { from: play.steps[from].sequence, to: play.steps[to].sequence };
      this.place();
    };
    root.addEventListener(
      'pointerdown',
      (event) => {
        if (event.button !== 0) return;
        this.#fingers.down(event, this.#x(event));
        if (this.#fingers.many > 1) this.#from = null;
        else if ((event.shiftKey || this.selecting) && this.view.scale) {
          this.#from = this.view.scale.nearest(this.#x(event));
          root.setPointerCapture(event.pointerId);
          drag(event);
        }
      },
      { capture: true },
    );
    root.addEventListener('pointermove', (event) => {
      const pinch = this.#fingers.move(event, this.#x(event));
      if (pinch) {
        this.zoom(pinch.by, this.#share(pinch.middle));
        this.pan(pinch.off / Math.max(1, this.view.width));
      }
      drag(event);
    });
    for (const name of ['pointerup', 'pointercancel']) {
      root.addEventListener(name, (event) => {
        this.#fingers.up(/** @type {PointerEvent} */ (event));
        if (this.#from === null) return;
        this.#from = null;
        this.onRange(this.range);
      });
    }
    onWheel(root, { zoom: (by, event) => this.zoom(by, this.#share(this.#x(event))), pan: (by) => this.pan(by) });
  }

  /** What a key or its button does. @param {string} key @returns {boolean} whether it does anything */
  key(key) {
    if (key === 'w') this.zoom(ZOOM);
    else if (key === 's') this.zoom(1 / ZOOM);
    else if (key === 'a') this.pan(-PAN);
    else if (key === 'd') this.pan(PAN);
    else if (key === 'f') this.fit();
    else return false;
    return true;
  }
}
