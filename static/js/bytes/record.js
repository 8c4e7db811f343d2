/**
 * A record of a timeline that is open: its key and its value are two sheets, of which one is shown; and the record that
 * its key had before.
 *
 * @import {RecordBytes} from './types'
 * @typedef {'key' | 'value'} Part
 */

import { h, press } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';
import { searchOf, searchOfTwo } from './search.js';
import { Sheet } from './sheet.js';

/** Why there is nothing to compare a record with; empty where there is. @param {RecordBytes} record */
export function noneBefore({ before: earlier, searched_from: from, sequence }) {
  if (earlier !== null) return '';
  if (from <= 1) return 'This key has no earlier record in this timeline.';
  return `This key has no earlier record among the ${grouped(sequence - from)} entries before.`;
}

/** The way to the comparison with the record before, or why there is none. @param {RecordBytes} record */
export function before(record) {
  if (record.before === null) return h('span.quiet', noneBefore(record));
  return h(
    'a.btn.sm',
    {
      href: `/inspect${searchOfTwo(record.timeline, record.sequence, record.before)}`,
      title: 'What changed since the record before of the same key',
    },
    'Compare with the one before',
  );
}

export class OpenRecord {
  /** @param {RecordBytes} found */
  constructor(found) {
    this.found = found;
    /** @type {{[part in Part]: Sheet | null}} */
    this.sheets = {
      key: found.key && new Sheet(found.key, found.place),
      value: found.value && new Sheet(found.value, found.place),
    };
    /** @type {Part} */
    this.part = found.value ? 'value' : 'key';
  }

  get sheet() {
    return this.sheets[this.part];
  }

  /** Of the inspector, with this record open. */
  get search() {
    return searchOf(this.found.timeline, this.found.sequence);
  }

  get board() {
    return `/t/${encodeURIComponent(this.found.timeline)}?at=${this.found.sequence}`;
  }
}

/** Presses the part that is shown; what a record has not cannot be pressed. @param {HTMLElement} choice @param {string} shown @param {{[part: string]: unknown}} parts null: it has none */
export function pressPart(choice, shown, parts) {
  press(choice, shown);
  for (const button of choice.querySelectorAll('button')) {
    const part = button.dataset.value ?? '';
    button.disabled = parts[part] === null;
    button.title = button.disabled ? (part === 'value' ? 'A tombstone has no value' : 'This record has no key') : '';
  }
}
