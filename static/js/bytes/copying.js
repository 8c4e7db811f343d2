/**
 * What is copied: a field's value as one would type or paste it, the whole as hex or JSON, or both of two.
 *
 * @import {FieldNode} from './types'
 * @typedef {'json' | 'hex'} Form
 */

import { toast } from '../shared/toast.js';
import { copy } from '../shared/url.js';
import { fromBase64, textOf, toHex } from './edits.js';
import { isBlob, jsonOf, valueOf } from './tree.js';

const REFUSED = 'The clipboard did not take it';

/**
 * Text and numbers as they are, numbers of a list with spaces between, bytes as hex (opened in place or not), other
 * lists and structs as JSON.
 *
 * @param {FieldNode} node
 * @param {number | null} [item] of a list of numbers, that one alone
 * @returns {string}
 */
export function copyText(node, item = null) {
  if (item !== null && Array.isArray(node.value)) return String(node.value[item]);
  if (isBlob(node))
    return typeof node.value === 'string' ? toHex(fromBase64(node.value)) : JSON.stringify(valueOf(node), null, 2);
  if (node.fields) return JSON.stringify(valueOf(node), null, 2);
  return node.value === null ? 'null' : textOf(node);
}

/** @param {FieldNode | undefined} node @param {number | null} item @param {string} title of the field */
export async function copyValue(node, item, title) {
  if (!node) return;
  const text = copyText(node, item);
  if (!text) toast(`${title} is empty`);
  else toast((await copy(text)) ? `Copied ${title}` : REFUSED);
}

/** @param {Form} form @param {import('./types').Inspected} inspected */
export async function copySheet(form, { bytes, fields }) {
  const text = form === 'hex' ? toHex(fromBase64(bytes)) : JSON.stringify(jsonOf(fields), null, 2);
  toast((await copy(text)) ? `Copied as ${form === 'hex' ? 'hex' : 'JSON'}` : REFUSED);
}

/** @param {Form} form @param {import('./sheet.js').Side[]} pair */
export async function copyPair(form, pair) {
  const text =
    form === 'hex'
      ? pair.map(({ body }) => toHex(fromBase64(body.bytes))).join('\n')
      : JSON.stringify(
          pair.map(({ body }) => body),
          null,
          2,
        );
  toast((await copy(text)) ? 'Both copied' : REFUSED);
}
