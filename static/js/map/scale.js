/**
 * From entries to places on the axis, and back, over the columns of an answer. Pure.
 *
 * On the axis *Events* each moment has the same width, on *Time* places are those of a clock. A place is a part of the
 * width: 0 is the window's left edge and 1 its right one.
 *
 * @import {Axis, Window} from './types'
 * @import {WindowColumns} from '../types'
 */

import { countWhile } from '../shared/sorted.js';

/** A window holds at least as many entries, or there is nothing between them to see. */
export const LEAST = 4;
/** A tick needs as much room, in pixels. */
const TICK_PX = 76;
/** The last moment gets some room after it, or its state could not be seen. */
const AFTER = 0.012;

export class Scale {
  /** Sequences at which a column begins, and one that ends the last one. @type {number[]} */
  #sequences = [];
  /** Their places, in the axis's own unit: moments, or milliseconds. @type {number[]} */
  #places = [];
  #left = 0;
  #size = 1;

  /** @param {Axis} axis @param {WindowColumns} columns of an answer that covers the window @param {Window} window */
  constructor(axis, columns, window) {
    this.axis = axis;
    this.window = window;
    const { first, last, from_ms, to_ms, moments } = columns;
    let place = 0;
    for (let index = 0; index < first.length; index += 1) {
      // A fail-over may turn the clock back: the axis does not move until it has caught up.
      if (axis === 'time') place = Math.max(place, from_ms[index]);
      this.#sequences.push(first[index]);
      this.#places.push(place);
      if (axis === 'events') place += moments[index];
      else place = Math.max(place, to_ms[index]);
    }
    const final = first.length - 1;
    this.#sequences.push(final < 0 ? window.to + 1 : Math.max(last[final], first[final]) + 1);
    this.#places.push(place);
    this.#left = this.#unit(window.from);
    const right = window.to >= (last[final] ?? 0) ? this.#places[this.#places.length - 1] : this.#unit(window.to + 1);
    this.#size = Math.max(axis === 'time' ? 1 : 1e-3, right - this.#left) * (1 + AFTER);
  }

  /** @param {number} sequence in the axis's unit */
  #unit(sequence) {
    const index = below(this.#sequences, sequence);
    if (index < 0) return this.#places[0];
    if (index >= this.#sequences.length - 1) return this.#places[this.#places.length - 1];
    const [from, to] = [this.#sequences[index], this.#sequences[index + 1]];
    const share = to > from ? (sequence - from) / (to - from) : 0;
    return this.#places[index] + share * (this.#places[index + 1] - this.#places[index]);
  }

  /** The place of an entry; on *Time* that of its time where it is known. @param {number} sequence @param {number | null} [at_ms] */
  of(sequence, at_ms = null) {
    if (this.axis === 'time' && at_ms !== null) return (at_ms - this.#left) / this.#size;
    return (this.#unit(sequence) - this.#left) / this.#size;
  }

  /** The entry whose state holds at a place. @param {number} place */
  at(place) {
    const unit = this.#left + place * this.#size;
    const index = Math.min(Math.max(0, below(this.#places, unit)), this.#sequences.length - 2);
    const [from, to] = [this.#places[index], this.#places[index + 1]];
    const share = to > from ? Math.min(1, Math.max(0, (unit - from) / (to - from))) : 0;
    return Math.floor(this.#sequences[index] + 1e-6 + share * (this.#sequences[index + 1] - this.#sequences[index]));
  }

  /** The time at a place, on *Time*. @param {number} place in milliseconds */
  timeAt(place) {
    return this.#left + place * this.#size;
  }

  /** Where each column of an answer begins, and where the last one ends. @param {WindowColumns} columns @param {number} width */
  edges(columns, width) {
    const places = new Float64Array(columns.first.length + 1);
    for (let index = 0; index < columns.first.length; index += 1) {
      places[index] = this.of(columns.first[index], columns.from_ms[index]) * width;
      if (index && places[index] < places[index - 1]) places[index] = places[index - 1];
    }
    places[columns.first.length] = width;
    return places;
  }

  /** Round places for the ticks: numbers of milliseconds on *Time*, of entries on *Events*. @param {number} width in pixels */
  ticks(width) {
    const many = Math.max(1, Math.floor(width / TICK_PX));
    const [from, to] = this.axis === 'time' ? [this.timeAt(0), this.timeAt(1)] : [this.window.from, this.window.to];
    const least = (to - from) / many;
    const step = this.axis === 'time' ? clockStep(least) : Math.max(1, decimalStep(least));
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      ticks.push({ at, place: this.axis === 'time' ? (at - this.#left) / this.#size : this.of(at) });
    }
    return ticks;
  }
}

/** The last index whose value is at most `value`, or -1. @param {number[]} values in order @param {number} value */
const below = (values, value) => countWhile(values, (one) => one <= value) - 1;

/** Steps of a clock, in milliseconds. */
const CLOCK_MS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map(
  (seconds) => seconds * 1000,
);

/** @param {number} least */
function clockStep(least) {
  if (least <= 30_000) {
    const step = decimalStep(least);
    return step > 20_000 ? 30_000 : step;
  }
  return CLOCK_MS.find((step) => step >= least) ?? Math.ceil(least / 86_400_000) * 86_400_000;
}

/** @param {number} least */
function decimalStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-6)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}

/**
 * Held within what there is, and no narrower than can be seen.
 *
 * @param {Window} window
 * @param {Window} extent
 * @returns {Window}
 */
export function clamped({ from, to }, extent) {
  const whole = Math.max(extent.to - extent.from, LEAST);
  const size = Math.min(Math.max(to - from, LEAST), whole);
  const least = Math.round(Math.min(Math.max((from + to) / 2 - size / 2, extent.from), extent.from + whole - size));
  return { from: least, to: Math.min(Math.round(least + size), Math.max(extent.to, least + LEAST)) };
}

/**
 * @param {Window} window
 * @param {number} by above 1 shows more, below 1 less
 * @param {number} around a place of the axis, which stays where it is
 * @param {Scale} near of the window: it knows what lies within it
 * @param {Scale} far of the whole: it knows what lies around it
 * @param {Window} extent
 * @returns {Window}
 */
export function zoomed(window, by, around, near, far, extent) {
  if (by <= 1) {
    return clamped({ from: near.at(around - around * by), to: near.at(around + (1 - around) * by) }, extent);
  }
  const [left, right] = [far.of(window.from), far.of(window.to)];
  const middle = left + (right - left) * around;
  const wide = { from: far.at(middle - (middle - left) * by), to: far.at(middle + (right - middle) * by) };
  return clamped({ from: Math.min(wide.from, window.from), to: Math.max(wide.to, window.to) }, extent);
}

/** @param {Window} window @param {number} by in widths of the window @param {Window} extent */
export function panned({ from, to }, by, extent) {
  const off = Math.trunc((to - from) * by) || Math.sign(by);
  return clamped({ from: from + off, to: to + off }, extent);
}

/** The window moved just so far that an entry is in sight. @param {Window} window @param {number} sequence @param {Window} extent */
export function revealing(window, sequence, extent) {
  if (sequence >= window.from && sequence <= window.to) return window;
  const size = window.to - window.from;
  const from = sequence < window.from ? sequence - size * 0.1 : sequence - size * 0.9;
  return clamped({ from, to: from + size }, extent);
}
