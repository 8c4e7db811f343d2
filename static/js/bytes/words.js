/**
 * Bytes in words: a field's value in a row, where it lies, how much it is. Pure.
 *
 * @import {FieldNode} from './types'
 */

import { counted, grouped } from '../shared/numbers.js';
import { byteCount, fromBase64, toHex } from './edits.js';
import { isArray, isBlob } from './tree.js';

/** Bytes of a field that was not opened, as hex in its row. */
const HEX_MOST = 12;
/** Numbers of a list that stand in a row; the rest is counted. */
export const ITEMS_MOST = 40;

/** What names an element of an array, the first that it has. */
const NAMES = [
  'clientId',
  'memberId',
  'topic',
  'topicName',
  'name',
  'topicId',
  'groupId',
  'group',
  'subtopologyId',
  'type',
];

/**
 * A value in its row: text, and whether it is said of the field (grey) or is the field's own.
 *
 * @param {FieldNode} node
 * @param {boolean} element of an array
 * @returns {{text: string, said: boolean}}
 */
export function valueText(node, element = false) {
  if (isBlob(node)) {
    const version = node.fields?.find((field) => field.name === 'version')?.value;
    const size = counted(node.length - (node.prefix ?? 0), 'byte');
    return {
      text: [node.called, typeof version === 'number' ? `v${version}` : '', size].filter(Boolean).join(', '),
      said: true,
    };
  }
  if (isArray(node)) {
    const fields = node.fields ?? [];
    if (!fields.length) return { text: 'none', said: true };
    if (fields.every((field) => !field.fields)) {
      const more = fields.length > ITEMS_MOST ? `, … ${grouped(fields.length)} in all` : '';
      return {
        text:
          fields
            .slice(0, ITEMS_MOST)
            .map((field) => valueText(field).text)
            .join(', ') + more,
        said: false,
      };
    }
    return { text: counted(fields.length, 'entry', 'entries'), said: true };
  }
  if (node.fields) return { text: element ? nameOf(node) : '', said: false };
  const { value } = node;
  if (value === null) return { text: 'null', said: true };
  if (value === undefined) return { text: counted(node.length, 'byte'), said: true };
  if (Array.isArray(value)) return value.length ? { text: listText(value), said: false } : { text: 'none', said: true };
  if (node.type.startsWith('bytes')) {
    const count = byteCount(value);
    if (!count) return { text: 'no bytes', said: true };
    if (count > HEX_MOST) return { text: counted(count, 'byte'), said: true };
    return { text: toHex(fromBase64(String(value))), said: false };
  }
  if (value === '') return { text: 'empty', said: true };
  return { text: node.text ?? String(value), said: false };
}

/** @param {any[]} value */
function listText(value) {
  const more = value.length > ITEMS_MOST ? ` … ${grouped(value.length)} in all` : '';
  return value.slice(0, ITEMS_MOST).join(' ') + more;
}

/** What distinguishes an element of an array from the others. @param {FieldNode} node @returns {string} */
export function nameOf(node) {
  if (node.called) return node.called;
  const fields = node.fields ?? [];
  for (const name of NAMES) {
    const found = fields.find((field) => field.name === name && !field.fields);
    if (found === undefined || found.value === null || found.value === undefined) continue;
    const partitions = fields.find((field) => field.name === 'partitions' && Array.isArray(field.value));
    const text = found.called ?? found.value;
    return partitions ? `${text} ${listText(/** @type {any[]} */ (partitions.value))}` : String(text);
  }
  return '';
}

/** What a field is called in a sentence: an element of an array has the array's name, too. @param {import('./tree.js').Place} place */
export function titleOf({ node, parent }) {
  if (parent && isArray(parent.node)) return `${parent.node.name}[${node.name}]`;
  return !parent && node.kind && /^\d/.test(node.name) ? `${node.kind} ${node.name}` : node.name;
}

/**
 * Where a field lies and what its bytes are: `at 202, 16 bytes: 4 of length (a count), 12 of content`.
 *
 * @param {FieldNode} node
 * @param {boolean} [lies] in the bytes that are shown, not in those that were unpacked from them
 */
export function placeText(node, lies = true) {
  const prefix = node.prefix ?? 0;
  const size = counted(node.length, 'byte');
  const where = lies ? `at ${node.offset}` : `at ${node.offset} of the unpacked bytes`;
  if (!prefix) return `${where}, ${size}`;
  if (prefix === node.length)
    return `${where}, ${size}: ${node.value === null ? 'the mark of null' : 'the length alone'}`;
  const count = node.type.startsWith('array') ? ' (a count)' : '';
  return `${where}, ${size}: ${prefix} of length${count}, ${node.length - prefix} of content`;
}

/** What a field means, or why it could not be read. @param {FieldNode} node @returns {string} */
export function meaningText(node) {
  return node.problem ? node.problem.sentence : (node.meaning ?? (isBlob(node) ? `opened in place: ${node.kind}` : ''));
}

/** The versions that have a field, in a narrow column; of elements, and of what is no field, nothing. @param {FieldNode} node */
export function sinceText({ name, since = 0, until }) {
  if (/^(_|\d)/.test(name)) return '';
  if (until === undefined) return `v${since}+`;
  return until === since ? `v${since}` : `v${since}–${until}`;
}
