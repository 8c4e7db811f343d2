/** Colours and marks: the first six lanes have a hue, topics a shape. */

import { badgeOf } from '../frame/cast.js';
import { s } from '../shared/dom.js';

const HUES = 6;

/** @param {number} place of a member */
export const hueOf = (place) => (place < HUES ? String(place) : 'x');

/** A disc here may be a pill: names that the laboratory gives are written in full. */
const LABEL_MOST = 5;

/** @param {string} name of a member */
export const labelOf = (name) => (name.length <= LABEL_MOST ? name : badgeOf(name));

const MARKS = [
  ['circle', { cx: 4.5, cy: 4.5, r: 3.6 }],
  ['rect', { x: 1, y: 1, width: 7, height: 7 }],
  ['path', { d: 'M4.5 .6 8.6 8H.4z' }],
  ['path', { d: 'M4.5 0 9 4.5 4.5 9 0 4.5z' }],
  ['path', { d: 'M.4 1H8.6L4.5 8.4z' }],
];

/** A topic's shape, 9 by 9. @param {number} place */
export function markOf(place) {
  const [tag, attributes] = MARKS[place % MARKS.length];
  return s(/** @type {string} */ (tag), /** @type {any} */ (attributes));
}

/** The shape as a picture of its own. @param {number} place */
export const markIcon = (place) =>
  s('svg.mk', { viewBox: '0 0 9 9', fill: 'currentColor', 'aria-hidden': 'true' }, markOf(place));
