/**
 * Editing a field: its value as text and back, which bytes an edit changed, and the way back. Pure.
 *
 * @import {FieldNode, Inspected} from './types'
 * @import {FieldTree} from './tree.js'
 */

import { itemExtent, itemSize } from './tree.js';

/** Edits that can be taken back; each keeps an answer of the server. */
const STEPS_MOST = 50;

/** Bytes that are shown as hex in a field to be edited; more are changed by pasting them again. */
const EDITED_BYTES_MOST = 256;

/** @param {FieldNode} node */
export const isNullable = (node) => node.type.endsWith('?');

/** Whether no letter, byte or element is a value besides null. @param {FieldNode} node */
export const canBeEmpty = (node) => /^(string|bytes|array)/.test(node.type);

const isInteger = (/** @type {string} */ type) => /^u?int(8|16|32|64)\??$/.test(type);

/** @param {FieldNode} node */
export function isEditable(node) {
  if (node.fields || node.problem || node.name.startsWith('_')) return false;
  const type = node.type.replace(/\?$/, '');
  if (type === 'bytes') return byteCount(node.value) <= EDITED_BYTES_MOST;
  return isInteger(type) || itemSize(node) > 0 || ['bool', 'string', 'uuid', 'float64'].includes(type);
}

/** How many bytes base64 text encodes. @param {unknown} value */
export function byteCount(value) {
  if (typeof value !== 'string') return 0;
  return Math.floor((value.replace(/=+$/, '').length * 3) / 4);
}

/** Base64 or base64url as bytes. @param {string} text @returns {Uint8Array} */
export function fromBase64(text) {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
}

/** @param {Uint8Array} bytes @returns {string} */
export function toBase64(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

/** @param {Uint8Array} bytes @returns {string} */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');

/** A value as the text that is edited; null begins empty. @param {FieldNode} node @returns {string} */
export function textOf(node) {
  const { value, text } = node;
  if (text !== undefined) return text;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(' ');
  if (node.type.startsWith('bytes')) return toHex(fromBase64(String(value)));
  return String(value);
}

/** @typedef {{value: any} | {wrong: string}} Edited */

/** The text of an edit as a value, or what is wrong with it. @param {FieldNode} node @param {string} text @returns {Edited} */
export function edited(node, text) {
  const type = node.type.replace(/\?$/, '');
  if (itemSize(node)) {
    const words = text.trim() ? text.trim().split(/[\s,]+/) : [];
    const wrong = words.find((word) => !fits(word, itemSize(node) * 8, node.type.includes('uint')));
    return wrong === undefined
      ? { value: words.map(whole) }
      : { wrong: `${wrong} is no ${type.replace('array ', '')}: ${rangeText(type)}, with spaces between` };
  }
  if (isInteger(type)) {
    const bits = Number(/\d+$/.exec(type)?.[0]);
    return fits(text.trim(), bits, type.startsWith('u'))
      ? { value: whole(text.trim()) }
      : { wrong: `${text.trim() || 'Nothing'} is no ${type}: ${rangeText(type, 'a whole number')}` };
  }
  if (type === 'bool')
    return ['true', 'false'].includes(text) ? { value: text === 'true' } : { wrong: 'true or false' };
  if (type === 'float64')
    return text.trim() && Number.isFinite(Number(text)) ? { value: Number(text) } : { wrong: `${text} is no number` };
  if (type === 'bytes') {
    const plain = text.replace(/0x|[\s,:]/gi, '');
    if (!/^([0-9a-f]{2})*$/i.test(plain)) return { wrong: 'Bytes are pairs of hex digits' };
    return { value: toBase64(Uint8Array.from(plain.match(/../g) ?? [], (pair) => parseInt(pair, 16))) };
  }
  return { value: text };
}

/** What an integer may be. @param {string} type @param {string} [what] */
function rangeText(type, what = 'whole numbers') {
  const bits = BigInt(/\d+$/.exec(type)?.[0] ?? 32);
  const [least, most] = type.includes('uint') ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return `${what} from ${least} to ${most}`;
}

/** @param {string} text @param {number} bits @param {boolean} unsigned */
function fits(text, bits, unsigned) {
  if (!/^-?\d{1,20}$/.test(text)) return false;
  const number = BigInt(text);
  return (unsigned ? BigInt.asUintN(bits, number) : BigInt.asIntN(bits, number)) === number;
}

/** A number, or its digits where a number would not be exact. @param {string} text */
function whole(text) {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/**
 * Which bytes differ from those before, field by field: what only moved has not changed.
 *
 * @param {FieldTree} before
 * @param {Uint8Array} was
 * @param {FieldTree} after
 * @param {Uint8Array} is
 * @returns {Set<number>} places in the bytes after
 */
export function changedBytes(before, was, after, is) {
  /** @type {Set<number>} */
  const changed = new Set();
  const compare = (/** @type {number} */ to, /** @type {number | null} */ from, /** @type {number} */ length) => {
    for (let at = 0; at < length; at += 1) if (from === null || was[from + at] !== is[to + at]) changed.add(to + at);
  };
  for (const { node, path, lies } of after.all()) {
    if (!lies) continue;
    const place = before.byPath.get(path);
    const old = place?.lies ? place.node : null;
    const prefix = node.prefix ?? 0;
    const samePrefix = old && (old.prefix ?? 0) === prefix;
    if (prefix) compare(node.offset, samePrefix ? old.offset : null, prefix);
    if (node.fields) continue;
    if (itemSize(node) && Array.isArray(node.value)) {
      const had = old && Array.isArray(old.value) ? old.value.length : 0;
      node.value.forEach((_, item) => {
        const [from, to] = itemExtent(node, item);
        compare(from, old && item < had ? itemExtent(old, item)[0] : null, to - from);
      });
      continue;
    }
    const same = samePrefix && old.length === node.length;
    compare(node.offset + prefix, same ? old.offset + prefix : null, node.length - prefix);
  }
  return changed;
}

/** The way back over edits. @template T */
export class History {
  /** @type {T[]} */
  #past = [];

  get length() {
    return this.#past.length;
  }

  /** @param {T} state before the edit */
  push(state) {
    this.#past.push(state);
    if (this.#past.length > STEPS_MOST) this.#past.shift();
  }

  /** @returns {T | undefined} */
  pop() {
    return this.#past.pop();
  }

  clear() {
    this.#past = [];
  }
}
