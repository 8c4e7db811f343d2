/**
 * Topics that the log knows by their id alone: a small field to name each, and a way to take the name back. Names
 * are shown and never written into the log.
 *
 * @typedef {import('../types').Meta} Meta
 */

import { h } from '../shared/dom.js';

const ID = /^[A-Za-z0-9_-]{22}$/;

/**
 * The topics that stand under their id, and those that a reader has named.
 *
 * @param {Meta} meta
 * @returns {{id: string, name: string | null}[]}
 */
export function nameable(meta) {
  const topics = meta.summary.topics ?? {};
  const bare = Object.entries(topics)
    .filter(([key, { id, was }]) => key === id && !was && ID.test(key))
    .map(([id]) => ({ id, name: null }));
  const given = Object.entries(meta.topic_names ?? {}).map(([id, name]) => ({ id, name }));
  return [...bare, ...given];
}

/**
 * @param {HTMLElement} root
 * @param {Meta} meta
 * @param {(names: {[id: string]: string | null}) => Promise<void>} save
 */
export function showTopicNames(root, meta, save) {
  const topics = nameable(meta);
  root.hidden = !topics.length;
  root.replaceChildren(
    ...topics.map(({ id, name }) => {
      const field = /** @type {HTMLInputElement} */ (
        h('input.field.num', {
          name: 'name',
          value: name ?? '',
          placeholder: 'topic name',
          maxlength: 249,
          required: true,
          'aria-label': `Name of topic ${id}`,
          autocomplete: 'off',
          spellcheck: 'false',
        })
      );
      const problem = h('span.problem', { role: 'alert' });
      const keep = async (/** @type {string | null} */ wanted) => {
        problem.textContent = '';
        try {
          await save({ [id]: wanted });
        } catch (error) {
          problem.textContent = error instanceof Error ? error.message : 'The name could not be kept.';
        }
      };
      return h(
        'form',
        {
          'data-needs': 'change',
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            keep(field.value.trim());
          },
        },
        h('span', name ? 'You named ' : 'No name in the log for ', h('code', id)),
        field,
        h('button.btn.sm', { type: 'submit' }, 'Use this name'),
        name ? h('button.btn.sm.bare', { type: 'button', onclick: () => keep(null) }, 'Take it back') : null,
        problem,
      );
    }),
  );
}
