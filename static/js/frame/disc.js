/**
 * A member in running text.
 *
 * @import {Cast} from './cast.js'
 */

import { h } from '../shared/dom.js';

/** A member's disc in running text. @param {Cast} cast @param {string} member */
export function disc(cast, member) {
  const lane = cast.lane(member);
  return h('span.who', { 'data-hue': lane.hue, title: cast.name(member) }, lane.badge);
}
