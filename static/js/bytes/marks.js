/**
 * What each byte looks like: part of the field that is selected, of its length, of its parent, of an opened blob,
 * unread by the chosen client, changed. Pure; the names are classes of inspector.css.
 *
 * @import {FieldTree, Place} from './tree.js'
 * @typedef {[number, number]} Extent from and to, the end not included
 */

import { isBlob, itemExtent } from './tree.js';
import { countWhile } from '../shared/sorted.js';

/** A parent of more bytes than this would shade the whole view and say nothing. */
const PARENT_MOST = 160;

/**
 * @typedef {object} Shown
 * @property {Place | null} selected
 * @property {number | null} item of an array of integers
 * @property {Extent[]} blobs
 * @property {Extent | null} unread
 * @property {Set<number>} changed
 */

/** The outermost opened blobs, in their order. @param {FieldTree} tree @returns {Extent[]} */
export function blobsOf(tree) {
  /** @type {Extent[]} */
  const found = [];
  for (const place of tree.all()) {
    if (isBlob(place.node) && !place.within && place.lies)
      found.push([place.node.offset + (place.node.prefix ?? 0), place.end]);
  }
  return found;
}

/** Whether one of the extents, which lie one after another, holds a byte. @param {Extent[]} extents @param {number} byte */
export function within(extents, byte) {
  const extent = extents[countWhile(extents, ([from]) => from <= byte) - 1];
  return extent !== undefined && byte < extent[1];
}

/** The field whose bytes stand for it: itself, or what encloses it where its own bytes are not shown. @param {Place | null} place */
export function shownAs(place) {
  let found = place;
  while (found && !found.lies) found = found.parent;
  return found;
}

/** The class of a byte. @param {Shown} shown @returns {(byte: number) => string} */
export function marking({ selected, item, blobs, unread, changed }) {
  const place = shownAs(selected);
  const own = place === selected;
  const parent = place?.parent && place.parent.node.length <= PARENT_MOST ? place.parent : null;
  const prefixEnd = place && own ? place.node.offset + (place.node.prefix ?? 0) : -1;
  const only = place && own && item !== null ? itemExtent(place.node, item) : null;
  return (byte) => {
    const names = ['by'];
    if (within(blobs, byte)) names.push('blob');
    if (place?.holds(byte)) {
      if (only && !(byte >= only[0] && byte < only[1])) names.push('pa');
      else names.push('lit', ...(byte < prefixEnd ? ['pre'] : []));
    } else if (parent?.holds(byte)) names.push('pa');
    if (changed.has(byte)) names.push('ch');
    else if (unread && byte >= unread[0] && byte < unread[1] && !names.includes('lit')) names.push('un');
    return names.join(' ');
  };
}
