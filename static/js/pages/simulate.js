/**
 * The form that starts a run: line numbers next to the text, since a mistake is reported with its line, and the line with
 * the mistake in sight. The form works without.
 */

import { part } from '../shared/dom.js';
import { NumberedText } from '../shared/numbered-text.js';

const text = /** @type {HTMLTextAreaElement} */ (part('scenario'));
const study = /** @type {HTMLSelectElement} */ (part('study'));
const wrong = Number(part('editor').dataset.wrong ?? 0);
const numbered = new NumberedText(text, part('gutter'));
const original = text.value;

study.addEventListener('change', () => {
  // What the reader wrote is not thrown away by a choice in a list; the button's text warns that it would be.
  if (text.value === original && !wrong) study.form?.requestSubmit();
});
if (wrong) numbered.wrong = new Set([wrong]);
numbered.number();
if (wrong) numbered.go(wrong);
