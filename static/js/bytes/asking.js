/** Questions about what was pasted, and the line next to it with how it was read or what is wrong with it. */

import { submit } from '../shared/api.js';
import { messageOf } from '../shared/errors.js';
import { grouped } from '../shared/numbers.js';

/** An answer that takes longer is waited for in words. */
const SLOW_MS = 400;
/** Letters of a text that is sent: a request has 1 MiB at most, with its other fields. */
const LETTERS_MOST = 1_000_000;

export class Asking {
  /** Answers to questions before this one are too late. */
  #last = 0;

  /** @param {{line: HTMLElement, fields: HTMLTextAreaElement[], bytesMost: number}} parts */
  constructor({ line, fields, bytesMost }) {
    this.line = line;
    this.fields = fields;
    this.bytesMost = bytesMost;
  }

  /** Whatever was asked is no longer wanted. */
  forget() {
    this.#last += 1;
  }

  /**
   * @param {string} url
   * @param {{[name: string]: any}} body
   * @returns {Promise<any>} null where a later question was asked meanwhile, or none could be answered
   */
  async ask(url, body) {
    this.#last += 1;
    const mine = this.#last;
    const slow = setTimeout(() => this.say(['Reading…']), SLOW_MS);
    try {
      const answer = await submit(url, 'POST', body);
      return mine === this.#last ? answer : null;
    } catch (error) {
      if (mine === this.#last) this.refuse(messageOf(error, 'This could not be read.'));
      return null;
    } finally {
      clearTimeout(slow);
    }
  }

  /** @param {(Node | string)[]} sentence */
  say(sentence) {
    this.line.classList.remove('no');
    this.line.replaceChildren(...sentence);
    for (const field of this.fields) field.removeAttribute('aria-invalid');
  }

  /** Shows in one line what is wrong; what was open stays. @param {string} words */
  refuse(words) {
    this.line.classList.add('no');
    this.line.textContent = words;
    (this.fields.find((field) => field === document.activeElement) ?? this.fields[0]).setAttribute(
      'aria-invalid',
      'true',
    );
  }

  /** Whether text is of more bytes than are taken; shows a message if so. @param {string} text */
  isTooLong(text) {
    if (text.length <= LETTERS_MOST) return false;
    this.forget();
    this.refuse(
      `The inspector takes ${grouped(this.bytesMost)} bytes at once, in ${grouped(LETTERS_MOST)} letters at most; this text is longer. The command manage.py decode takes more.`,
    );
    return true;
  }
}
