/**
 * The form that starts a run: line numbers next to the text, since a mistake is reported with its line, and the line with
 * the mistake in sight. The form works without.
 */

import { h, part } from '../shared/dom.js';
import { textSize } from '../shared/text-size.js';

const LINE_PX = 18;

const editor = part('editor');
const gutter = part('gutter');
const text = /** @type {HTMLTextAreaElement} */ (part('scenario'));
const study = /** @type {HTMLSelectElement} */ (part('study'));
const wrong = Number(editor.dataset.wrong ?? 0);

function number() {
  const count = text.value.split('\n').length;
  const lines = Array.from({ length: count }, (_, index) => index + 1);
  gutter.replaceChildren(...lines.map((line) => (line === wrong ? h('b', line) : `${line}\n`)));
  follow();
}

function follow() {
  gutter.scrollTop = text.scrollTop;
}

/** Puts the cursor on a line. @param {number} line */
function go(line) {
  const lines = text.value.split('\n');
  const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  text.focus({ preventScroll: true });
  text.setSelectionRange(before, before + (lines[line - 1] ?? '').length);
  text.scrollTop = (line - 1) * LINE_PX * textSize() - text.clientHeight / 2;
}

text.addEventListener('input', number);
text.addEventListener('scroll', follow, { passive: true });
const original = text.value;
study.addEventListener('change', () => {
  // What the reader wrote is not thrown away by a choice in a list; the button's text warns that it would be.
  if (text.value === original && !wrong) study.form?.requestSubmit();
});
number();
if (wrong) go(wrong);
