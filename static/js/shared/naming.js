/** A name that is given in its place: a field, its buttons, and why the name was refused. */

import { h } from './dom.js';
import { messageOf } from './errors.js';

/**
 * @param {object} of
 * @param {string} of.label of the field
 * @param {string} of.value
 * @param {(name: string | null) => Promise<unknown>} of.save null: the name is taken back
 * @param {string} [of.button]
 * @param {string} [of.takesBack] the button that takes the name back, where it can be
 * @param {() => void} [of.onCancel] with it there is *Cancel*, and Escape
 * @param {string} [of.kind] classes of the form
 * @param {{[name: string]: string | number | boolean}} [of.field] what else the field is
 * @param {import('./dom.js').Child[]} [of.before] what is before the field
 */
export function nameForm({
  label,
  value,
  save,
  button = 'Save',
  takesBack,
  onCancel,
  kind = '',
  field = {},
  before = [],
}) {
  const input = /** @type {HTMLInputElement} */ (
    h('input.field', { value, maxlength: 200, required: true, 'aria-label': label, autocomplete: 'off', ...field })
  );
  const problem = h('span.problem', { role: 'alert' });
  const keep = async (/** @type {string | null} */ name) => {
    problem.textContent = '';
    try {
      await save(name);
    } catch (error) {
      problem.textContent = messageOf(error, 'The name could not be kept.');
    }
  };
  const form = h(
    'form',
    {
      class: kind || null,
      'data-needs': 'change',
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Escape') onCancel?.();
      },
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        keep(input.value.trim());
      },
    },
    ...before,
    input,
    h('button.btn.sm', { type: 'submit' }, button),
    takesBack && h('button.btn.sm.bare', { onclick: () => keep(null) }, takesBack),
    onCancel && h('button.btn.sm.bare', { onclick: onCancel }, 'Cancel'),
    problem,
  );
  return { form, input };
}

/** A field for the name of a topic, of which the log has the id alone. */
export const TOPIC_FIELD = { placeholder: 'topic name', maxlength: 249, spellcheck: 'false' };
