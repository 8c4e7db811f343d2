/**
 * Topics that the log knows by their id alone: a small field to name each, and a way to take the name back. Names
 * are shown and never written into the log.
 *
 * @import {Meta} from '../types'
 */

import { h } from '../shared/dom.js';
import { nameForm, TOPIC_FIELD } from '../shared/naming.js';

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
    ...topics.map(
      ({ id, name }) =>
        nameForm({
          label: `Name of topic ${id}`,
          value: name ?? '',
          save: (wanted) => save({ [id]: wanted }),
          button: 'Use this name',
          takesBack: name ? 'Take it back' : undefined,
          field: { ...TOPIC_FIELD, class: 'field num', name: 'name' },
          before: [h('span', name ? 'You named ' : 'No name in the log for ', h('code', id))],
        }).form,
    ),
  );
}
