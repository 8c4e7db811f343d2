/**
 * A field while it is edited: what is typed, and the button for what cannot be typed.
 *
 * @import {Place} from './tree.js'
 */

import { h } from '../shared/dom.js';
import { canBeEmpty, isNullable, textOf } from './edits.js';
import { titleOf } from './words.js';

/**
 * @param {Place} place
 * @param {{commit: (text: string | null) => Promise<string | null>, stop: () => void}} acts `commit` gives what is wrong
 */
export function fieldEditor(place, { commit, stop }) {
  const { node } = place;
  const label = `${titleOf(place)}, ${node.type}`;
  const said = h('span.wrong', { role: 'alert' });
  const input = node.type.startsWith('bool')
    ? h(
        'select',
        { 'aria-label': label },
        ...['true', 'false'].map((text) => h('option', { selected: String(node.value) === text }, text)),
      )
    : h('input', {
        'aria-label': label,
        value: textOf(node),
        spellcheck: false,
        autocomplete: 'off',
        placeholder: node.value === null ? 'null' : null,
      });
  const field = /** @type {HTMLInputElement | HTMLSelectElement} */ (input);
  const wish = async (/** @type {string | null} */ text) => {
    field.setAttribute('aria-busy', 'true');
    const wrong = await commit(text);
    if (wrong) {
      field.removeAttribute('aria-busy');
      field.setAttribute('aria-invalid', 'true');
      field.title = wrong;
      said.textContent = wrong;
      field.focus();
    }
  };
  field.addEventListener('keydown', (/** @type {any} */ event) => {
    event.stopPropagation();
    if (event.key === 'Enter') {
      event.preventDefault();
      // Nothing typed into a field that is null is no edit; to be empty is chosen by the button next to it.
      if (node.value === null && field.value === '') stop();
      else wish(field.value);
    }
    if (event.key === 'Escape') stop();
  });
  const other = otherThanTyped(node);
  return h(
    'span.vl.editor',
    { role: 'gridcell' },
    field,
    other
      ? h(
          'button',
          {
            class: 'null',
            title: other.title,
            onclick: () => wish(other.text),
            onkeydown: (/** @type {any} */ event) => {
              event.stopPropagation();
              if (event.key === 'Escape') stop();
            },
          },
          other.says,
        )
      : null,
    said,
  );
}

/**
 * What a nullable field can be set to that cannot be typed: null, or where it is null, empty.
 *
 * @param {import('./types').FieldNode} node
 * @returns {{says: string, title: string, text: string | null} | null}
 */
function otherThanTyped(node) {
  if (!isNullable(node)) return null;
  if (node.value !== null) return { says: 'null', title: 'Set to null', text: null };
  return canBeEmpty(node) ? { says: 'empty', title: 'Set to empty: there, but of no length', text: '' } : null;
}
