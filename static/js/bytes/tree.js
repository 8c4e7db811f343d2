/**
 * The fields of an inspection as a tree that can be folded: which rows are in sight, and which field a byte is of.
 * Pure.
 *
 * @import {FieldNode} from './types'
 */

import { countWhile } from '../shared/sorted.js';

/** Beyond so many fields, long arrays begin folded. */
const FIELDS_MANY = 200;
/** Elements of an array that begin in sight where there are many fields. */
const ELEMENTS_MANY = 20;
/** Elements with more fields than this are alike but for their values: only the first begins open. */
const ELEMENT_LARGE = 8;

/** A field and its place in the tree. */
export class Place {
  /** @param {FieldNode} node @param {Place | null} parent @param {number} index among its siblings */
  constructor(node, parent, index) {
    /** @type {FieldNode} */
    this.node = node;
    /** @type {Place | null} */
    this.parent = parent;
    this.index = index;
    this.path = parent ? `${parent.path}.${node.name}` : node.name;
    /** @type {number} */
    this.depth = parent ? parent.depth + 1 : 0;
    /** Whether it lies in bytes that were opened in place. @type {boolean} */
    this.within = parent ? parent.within || isBlob(parent.node) : false;
    /** Whether its offset counts in the bytes that are shown. @type {boolean} */
    this.lies = parent ? parent.lies && !parent.node.in : true;
    /** @type {Place[]} */
    this.places = (node.fields ?? []).map((child, at) => new Place(child, this, at));
    /** How many fields it is, itself and all below. @type {number} */
    this.count = this.places.reduce((sum, place) => sum + place.count, 1);
  }

  get end() {
    return this.node.offset + this.node.length;
  }

  /** @param {number} byte */
  holds(byte) {
    return this.lies && byte >= this.node.offset && byte < this.end;
  }
}

/** Whether a field of bytes was opened in place. @param {FieldNode} node */
export const isBlob = (node) => node.kind !== undefined && node.fields !== undefined;

/** Whether a field is a list of fields. @param {FieldNode} node */
export const isArray = (node) => node.type.startsWith('array') && node.fields !== undefined;

export class FieldTree {
  /** @param {FieldNode[]} fields */
  constructor(fields) {
    this.roots = fields.map((node, at) => new Place(node, null, at));
    /** @type {Map<string, Place>} */
    this.byPath = new Map();
    for (const place of this.all()) this.byPath.set(place.path, place);
  }

  get count() {
    return this.byPath.size;
  }

  /** Every place, in the order of the fields. @returns {Generator<Place>} */
  *all() {
    const waiting = [...this.roots].reverse();
    for (let place = waiting.pop(); place; place = waiting.pop()) {
      yield place;
      for (let at = place.places.length - 1; at >= 0; at -= 1) waiting.push(place.places[at]);
    }
  }

  /** The paths that are open to begin with. @returns {Set<string>} */
  opening() {
    const open = new Set();
    const many = this.count > FIELDS_MANY;
    for (const place of this.all()) {
      if (!place.places.length) continue;
      const { node, parent } = place;
      const plain = isArray(node) && place.places.every((element) => !element.places.length);
      const long = many && isArray(node) && place.places.length > ELEMENTS_MANY;
      const like = parent !== null && isArray(parent.node) && place.index > 0 && place.count > ELEMENT_LARGE;
      const small = isBlob(node) && place.places.length === 1;
      if (!plain && !long && !like && !small) open.add(place.path);
    }
    return open;
  }

  /** The places in sight, in their order. @param {Set<string>} open @returns {Place[]} */
  rows(open) {
    /** @type {Place[]} */
    const rows = [];
    const waiting = [...this.roots].reverse();
    for (let place = waiting.pop(); place; place = waiting.pop()) {
      rows.push(place);
      if (!open.has(place.path)) continue;
      for (let at = place.places.length - 1; at >= 0; at -= 1) waiting.push(place.places[at]);
    }
    return rows;
  }

  /** The innermost place in sight that holds a byte. @param {number} byte @param {Set<string>} open @returns {Place | null} */
  at(byte, open) {
    let found = null;
    let among = this.roots;
    for (;;) {
      const place = holding(among, byte);
      if (!place) return found;
      found = place;
      if (!place.places.length || !open.has(place.path)) return found;
      among = place.places;
    }
  }
}

/** Fields lie one after another, so half of what is left can be left out at each look. @param {Place[]} places @param {number} byte */
function holding(places, byte) {
  const last = Math.max(0, countWhile(places, ({ node }) => node.offset <= byte) - 1);
  return [places[last], places[last - 1]].find((place) => place?.holds(byte)) ?? null;
}

/** Bytes that an element of an array of integers takes; 0 if that varies. @param {FieldNode} node */
export function itemSize(node) {
  const bits = /^array u?int(8|16|32|64)\??$/.exec(node.type);
  return bits ? Number(bits[1]) / 8 : 0;
}

/** Where the element of an array of integers lies, from and to. @param {FieldNode} node @param {number} item @returns {[number, number]} */
export function itemExtent(node, item) {
  const size = itemSize(node);
  const from = node.offset + (node.prefix ?? 0) + item * size;
  return [from, from + size];
}

/** The values as Kafka's JSON form has them. @param {FieldNode[]} fields @returns {{[name: string]: any}} */
export function jsonOf(fields) {
  return Object.fromEntries(fields.filter(({ name }) => !LAYOUT.test(name)).map((node) => [node.name, valueOf(node)]));
}

/** Names of what is no field of the message: the count of tagged fields, the bytes that are left over. */
const LAYOUT = /^_(taggedFields|rest)$/;

/** A field's value as Kafka's JSON form has it. @param {FieldNode} node @returns {any} */
export function valueOf(node) {
  if (!node.fields) return node.text ?? node.value ?? null;
  return isArray(node) ? node.fields.map(valueOf) : jsonOf(node.fields);
}
