/**
 * The shapes of events: the shape shows the kind, the colour who acted.
 *
 * @import {Shape} from '../types'
 */

import { s, text } from '../shared/dom.js';

/** How wide the number of a note is. */
const PIN = 17;

/** Paths around 0, 0 in a box of about 10 × 10. @type {{[shape in Shape]: string}} */
const PATHS = {
  join: 'M-4.5 -4.5h9v9h-9z M-2.5 0h5 M0 -2.5v5',
  leave: 'M-4.5 -4.5h9v9h-9z M-2.5 0h5',
  remove: 'M-4.5 -4.5h9v9h-9z M-2.2 -2.2 2.2 2.2 M2.2 -2.2 -2.2 2.2',
  target: 'M0 -5.5 5.5 0 0 5.5 -5.5 0z',
  advance: 'M-3.5 -4.5 4 0 -3.5 4.5z',
  revoke: 'M-5 -4h10L0 5z',
  acknowledge: 'M-4.5 .5-1.2 4 5-4',
  gain: 'M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0-9.2 0z',
  commit: 'M-1.8 0a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0z',
  metadata: 'M-5 -3h10 M-5 0h10 M-5 3h10',
  regex: 'M0 -5v10 M-4.3 -2.5 4.3 2.5 M4.3 -2.5 -4.3 2.5',
  state: 'M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0-9.2 0z',
  note: 'M-4 -5h8v10h-8z M-2 -2h4 M-2 1h4',
  fence: 'M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0z M-3 0h6',
  fail_over: 'M-5.5 -5h5v10h-5z M1.5 0h4 M3.5 -2.5 6 0 3.5 2.5',
  replace: 'M-5 -2h9 M1.5 -4.5 4 -2 1.5 .5 M5 3h-9 M-1.5 .5-4 3-1.5 5.5',
  violation: 'M-2.6 -6h5.2L6 -2.6v5.2L2.6 6h-5.2L-6 2.6v-5.2z M0 -3v3.4 M0 2.9v.2',
  fault: 'M1.5 -6-3.5 1h3l-1 5 5-7h-3z',
  gap: 'M-5 -4v8 M5 -4v8 M-2 0h.1 M2 0h.1',
};

/** What a shape means, in the legend's words. @type {{[shape in Shape]: string}} */
export const MEANING = {
  join: 'joins',
  leave: 'leaves',
  remove: 'is removed',
  target: 'a target is computed',
  advance: 'moves to a new member epoch',
  revoke: 'is asked to revoke',
  acknowledge: 'confirms the revocation',
  gain: 'gains',
  commit: 'commits offsets',
  metadata: 'topics change',
  regex: 'a pattern is resolved',
  state: 'the state changes',
  note: 'a note',
  fault: 'a fault',
  fence: 'is fenced',
  fail_over: 'the coordinator fails over',
  replace: '2nd process, same group.instance.id',
  violation: 'an invariant is broken',
  gap: 'not in the log',
};

/** @param {Shape} shape */
export function markOf(shape) {
  const d = PATHS[shape] ?? PATHS.note;
  const filled = shape === 'gain' || shape === 'commit';
  const line =
    shape === 'acknowledge' || shape === 'replace' || shape === 'metadata' || shape === 'regex' || shape === 'gap';
  return s('path', {
    d,
    class: shape === 'violation' ? 'mark violation' : 'mark',
    fill: filled ? 'var(--m)' : line ? 'none' : 'var(--panel)',
    stroke: 'var(--m)',
    'stroke-width': shape === 'acknowledge' ? 2.4 : 1.6,
    'stroke-linejoin': 'round',
    'stroke-linecap': 'round',
  });
}

/**
 * The numbers of notes at their steps.
 *
 * @param {ReturnType<typeof import('./scale.js').scale>} at
 * @param {number[]} notes their entries, as they are listed
 * @param {number} y
 */
export function pins(at, notes, y) {
  let free = -Infinity;
  return notes.flatMap((sequence, index) => {
    if (!at.shows(sequence, sequence)) return [];
    const x = Math.max(at.of(sequence), free);
    free = x + PIN;
    return s(
      'g.pin',
      { transform: `translate(${x.toFixed(1)} ${y})` },
      s('title', `Note ${index + 1}`),
      s('rect', { x: -8, y: -7.5, width: 16, height: 15, rx: 3 }),
      text(0, 4, String(index + 1), undefined, 'middle'),
    );
  });
}

/** A presenter's pointer with the name next to it. @param {number} x @param {number} y @param {string} name */
export function pointer(x, y, name) {
  return s(
    'g.pointer',
    { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    s('path', { d: 'M0 0v13l3.5-3 2.4 5 2-1-2.4-4.8 4.5-.4z' }),
    s('rect', { x: 11, y: 8, width: 6.4 * name.length + 10, height: 15, rx: 3 }),
    text(16, 19, name),
  );
}
