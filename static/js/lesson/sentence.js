/**
 * Sentences of a lesson: members in their colours, partitions and values as what they are, words that explain themselves.
 *
 * @import {TextPart} from './types'
 * @import {Cast} from '../frame/cast.js'
 */

import { h } from '../shared/dom.js';
import { term } from '../shared/terms.js';

/** Characters of a value that is not broken into two lines: a duration, a state. */
const ONE_LINE_MOST = 24;

/** A member's disc and name, in its lane's colour. @param {string} name @param {Cast} cast */
export function who(name, cast) {
  const lane = cast.lane(name);
  const own = h('span.who', { 'data-hue': lane.hue }, lane.badge);
  return lane.badge === name ? own : h('span.nowrap', own, ` ${name}`);
}

/** @param {TextPart[] | null | undefined} parts @param {Cast} cast @returns {Node[]} */
export function sentence(parts, cast) {
  return (parts ?? []).map((part) => {
    if (part.kind === 'member') return who(part.text, cast);
    if (part.kind === 'partition' || part.kind === 'code') return h('code', part.text);
    if (part.kind === 'value') {
      const one = part.text.length <= ONE_LINE_MOST ? ' nowrap' : '';
      return h('b', { class: `val${one}` }, part.text);
    }
    if (part.kind === 'term') return term(part.word ?? part.text, part.text);
    return document.createTextNode(part.text);
  });
}

/** The same as plain text, for what is read out. @param {TextPart[] | null | undefined} parts */
export const plain = (parts) => (parts ?? []).map((part) => part.text).join('');
