/**
 * From sequences and times to places on the axis, and back. Pure.
 *
 * On the axis *Events* each step has the same width; on *Time* places are milliseconds. A long timeline shows a
 * window of its steps, and the window follows the playhead.
 *
 * @import {Moment} from '../types'
 */

import { countUpTo } from './timeline.js';

/** Next to the tracks, on their right. */
export const RIGHT = 14;
/** How wide the playhead's flag is. */
export const FLAG = 26;
/** More steps than this would stand closer than their marks are wide. */
export const WINDOW_STEPS = 80;
/** Fewer are not shown, even where they touch. */
const STEPS_LEAST = 16;
/** How wide the mark of a step is. */
const MARK = 11;

/** How many steps fit side by side without overlapping marks. @param {number} room for all of them */
export function stepsIn(room) {
  return Math.min(WINDOW_STEPS, Math.max(STEPS_LEAST, Math.floor(room / MARK)));
}

/**
 * Which steps are shown: all, or the page of them that holds `position`.
 *
 * @param {number} count
 * @param {number} position the number of steps up to the playhead
 * @param {number} most
 * @returns {{from: number, to: number}} indices, `to` excluded
 */
export function windowOf(count, position, most = WINDOW_STEPS) {
  if (count <= most) return { from: 0, to: count };
  // Pages overlap by a quarter, so that the playhead is never at an edge for long.
  const stride = Math.floor((most * 3) / 4);
  const page = Math.max(0, Math.floor((Math.max(1, position) - 1) / stride));
  const from = Math.min(page * stride, count - most);
  return { from, to: from + most };
}

/**
 * @param {object} options
 * @param {'events' | 'time'} options.axis
 * @param {Moment[]} options.steps
 * @param {{from: number, to: number, from_ms?: number, to_ms?: number}} options.window with its edges on the axis *Time*
 * @param {number} options.left
 * @param {number} options.right
 * @param {number} options.end_ms where time ends
 */
export function scale({ axis, steps, window, left, right, end_ms }) {
  const shown = steps.slice(window.from, window.to);
  const room = right - left;
  const count = Math.max(1, shown.length);
  const earliest = shown.length ? Math.min(...shown.map((step) => step.at_ms)) : 0;
  const latest = shown.length ? Math.max(...shown.map((step) => step.at_ms)) : 1;
  const start = window.from_ms ?? earliest;
  const last = window.to_ms ?? (window.to >= steps.length ? Math.max(latest, end_ms) : latest);
  const length = Math.max(1, last - start);
  const byIndex = (/** @type {number} */ index) => left + (room * (index + 0.6)) / (count + 1.05);
  const byTime = (/** @type {number} */ ms) => left + room * (0.02 + (0.95 * (ms - start)) / length);

  /** The place of a step, or of what lies after the last one. @param {number} index among all steps */
  const ofStep = (index) => {
    const inside = index - window.from;
    if (axis === 'events') return byIndex(inside);
    if (inside < 0) return byTime(start);
    return byTime(inside < shown.length ? shown[inside].at_ms : last);
  };
  /** @param {number} sequence */
  const indexOf = (sequence) => countUpTo(steps, sequence) - (stepAt(sequence) ? 1 : 0);
  const stepAt = (/** @type {number} */ sequence) => {
    const at = countUpTo(steps, sequence) - 1;
    return at >= 0 && steps[at].sequence === sequence;
  };

  return {
    shown,
    ofStep,
    /**
     * Where something that began at a sequence begins, held within the axis.
     *
     * @param {number | null} sequence null: it has not ended
     * @param {number | null} [ms]
     */
    of(sequence, ms = null) {
      if (sequence === null) return axis === 'events' ? byIndex(shown.length) : right;
      if (axis === 'time' && ms !== null) return Math.min(Math.max(byTime(ms), byTime(start)), byTime(last));
      const index = Math.min(Math.max(indexOf(sequence), window.from - 0.4), window.to);
      return ofStep(index);
    },
    /**
     * Where something lies that is no step of its own: between the steps around it, by its time.
     *
     * @param {number} sequence
     * @param {number} ms
     */
    between(sequence, ms) {
      if (axis === 'time') return Math.min(Math.max(byTime(ms), byTime(start)), byTime(last));
      const next = countUpTo(steps, sequence);
      const [before, after] = [steps[next - 1], steps[next]];
      if (!before) return ofStep(0);
      const end = after?.at_ms ?? last;
      const share = end > before.at_ms ? (ms - before.at_ms) / (end - before.at_ms) : 0;
      return ofStep(next - 1) + (ofStep(next) - ofStep(next - 1)) * Math.min(1, Math.max(0, share));
    },
    /** Whether any of a stretch lies in the window. @param {number} from @param {number | null} to */
    shows(from, to) {
      if (!steps.length) return false;
      const first = window.from === 0 ? -Infinity : (steps[window.from]?.sequence ?? Infinity);
      // Between two steps there may be time, and no step.
      const final = window.to >= steps.length ? Infinity : (steps[window.to - 1]?.sequence ?? -Infinity);
      return from <= final && (to === null || to >= first);
    },
    /** The index among all steps that is nearest to a place. @param {number} x */
    nearest(x) {
      let best = window.from;
      let least = Infinity;
      for (let index = window.from; index < window.to; index += 1) {
        const off = Math.abs(ofStep(index) - x);
        if (off < least) {
          least = off;
          best = index;
        }
      }
      return best;
    },
  };
}
