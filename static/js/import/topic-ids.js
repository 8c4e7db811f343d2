/**
 * Topic ids that the log does not name: each takes a name that is suggested, typed, or read from a file.
 *
 * @import {Detail, Nameless} from './types'
 */

import { submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { orToast, toast } from '../shared/toast.js';
import { nameForm, TOPIC_FIELD } from '../shared/naming.js';
import { counted } from '../shared/numbers.js';

/** @typedef {() => Promise<void>} Refresh fetches the import again */

/** @param {Detail} detail @param {Refresh} refresh */
export function topicIds(detail, refresh) {
  // A field that somebody is typing into is not taken from under the hands.
  if (part('ids').contains(document.activeElement)) return;
  const rows = detail.nameless;
  const left = rows.filter(({ name }) => !name).length;
  const named = detail.named;
  part('ids-panel').hidden = !rows.length && !named.length;
  part('ids-foot').hidden = !rows.length;
  part('ids-says').textContent = left ? `${counted(left, 'topic id')} without a name` : 'All topic ids have a name';
  part('named-says').textContent = named.map(({ says: text, count: number }) => `${number} ${text}`).join('; ');
  part('ids').replaceChildren(...rows.map((row) => idRow(row, refresh)));
}

/** @param {Nameless} row @param {Refresh} refresh */
function idRow(row, refresh) {
  const where = [
    row.partitions === null ? '' : `${counted(row.partitions, 'partition')} seen`,
    `group ${row.groups.slice(0, 2).join(', ')}${row.groups.length > 2 ? ` and ${row.groups.length - 2} more` : ''}`,
  ]
    .filter(Boolean)
    .join(', ');
  const first = h('div.l1', h('code', row.id), h('span.quiet', where));
  if (row.name) {
    const takeBack = () => orToast('The name could not be taken back.', () => nameTopic(row, null, refresh));
    return h(
      'li',
      first,
      h(
        'div.l2',
        h('span', 'Shown as ', h('b', row.name), ', named by you'),
        h('button.btn.sm.bare', { onclick: takeBack }, 'Take back'),
      ),
    );
  }
  const { form } = nameForm({
    label: `Name of ${row.id}`,
    value: row.suggestion?.name ?? '',
    save: (name) => nameTopic(row, name, refresh),
    button: 'Use this name',
    kind: 'l2',
    field: TOPIC_FIELD,
  });
  return h('li', first, h('div', row.suggestion ? row.suggestion.why : 'No commit names it'), form);
}

/** Gives an id a name in every timeline that shows it, or takes it back. @param {Nameless} row @param {string | null} wanted @param {Refresh} refresh */
async function nameTopic(row, wanted, refresh) {
  for (const timeline of row.timelines)
    await submit(`/api/timelines/${encodeURIComponent(timeline)}/topics`, 'PATCH', { [row.id]: wanted });
  /** @type {HTMLElement} */ (document.activeElement)?.blur();
  await refresh();
  toast(wanted ? `${row.id} is shown as ${wanted}` : `${row.id} is shown by its id again`);
}

/** Names out of a JSON file, for the ids that have none: `{id: name}` or `{id: {name}}`. @param {File} file @param {Detail} detail @param {Refresh} refresh */
export async function loadNames(file, detail, refresh) {
  /** @type {any} */
  let known;
  try {
    known = JSON.parse(await file.text());
  } catch {
    toast(`${file.name} is no JSON`);
    return;
  }
  let given = 0;
  for (const row of detail.nameless.filter(({ name: has }) => !has)) {
    const found = typeof known?.[row.id] === 'string' ? known[row.id] : known?.[row.id]?.name;
    if (!found) continue;
    given += await nameTopic(row, found, refresh).then(
      () => 1,
      () => 0,
    );
  }
  toast(`${file.name} names ${given} of them`);
}
