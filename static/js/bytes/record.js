/**
 * A record of a timeline that is open: its key and its value are two sheets, of which one is shown.
 *
 * @typedef {import('./types').RecordBytes} RecordBytes
 * @typedef {'key' | 'value'} Part
 */

import { Sheet } from './sheet.js';

export class OpenRecord {
  /** @param {RecordBytes} found */
  constructor(found) {
    this.found = found;
    /** @type {{[part in Part]: Sheet | null}} */
    this.sheets = { key: found.key && new Sheet(found.key, found.place), value: found.value && new Sheet(found.value, found.place) };
    /** @type {Part} */
    this.part = found.value ? 'value' : 'key';
  }

  get sheet() {
    return this.sheets[this.part];
  }

  /** Of the inspector, with this record open. */
  get search() {
    return `?timeline=${encodeURIComponent(this.found.timeline)}&entry=${this.found.sequence}`;
  }

  get board() {
    return `/t/${encodeURIComponent(this.found.timeline)}?at=${this.found.sequence}`;
  }

  /** @param {HTMLElement} choice the buttons for its parts */
  dress(choice) {
    for (const button of choice.querySelectorAll('button')) {
      const part = /** @type {Part} */ (button.dataset.value);
      button.setAttribute('aria-pressed', String(part === this.part));
      button.disabled = this.sheets[part] === null;
      button.title = button.disabled ? (part === 'value' ? 'A tombstone has no value' : 'This record has no key') : '';
    }
  }
}
