/** A text with its line numbers next to it: lines with a mistake are marked, and one can be put into sight. */

import { h } from './dom.js';
import { textSize } from './text-size.js';

const LINE_PX = 18;

export class NumberedText {
  /** The lines with a mistake, from 1. @type {ReadonlySet<number>} */
  wrong = new Set();

  /** @param {HTMLTextAreaElement} text @param {HTMLElement} gutter */
  constructor(text, gutter) {
    this.text = text;
    this.gutter = gutter;
    text.addEventListener('input', () => this.number());
    text.addEventListener('scroll', () => this.#follow(), { passive: true });
  }

  number() {
    const numbers = this.text.value.split('\n').map((_, index) => index + 1);
    this.gutter.replaceChildren(...numbers.map((line) => (this.wrong.has(line) ? h('b', `${line}\n`) : `${line}\n`)));
    this.#follow();
  }

  #follow() {
    this.gutter.scrollTop = this.text.scrollTop;
  }

  /** Puts the cursor on a line. @param {number} line */
  go(line) {
    const { text } = this;
    const lines = text.value.split('\n');
    const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    text.focus({ preventScroll: true });
    text.setSelectionRange(before, before + (lines[line - 1] ?? '').length);
    text.scrollTop = (line - 1) * LINE_PX * textSize() - text.clientHeight / 2;
  }
}
