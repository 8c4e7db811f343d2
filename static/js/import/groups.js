/**
 * The groups of an import, the gravest first: narrowed by name and by time, more of them on demand.
 *
 * @typedef {import('./types').Detail} Detail
 * @typedef {import('./types').Row} Row
 */

import { ask } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { stretch } from '../shared/times.js';
import { toast } from '../shared/toast.js';
import { shownName } from '../frame/words.js';
import { count, groupRow, spark } from './rows.js';
import { ended, total } from './states.js';

/** Groups that wait to be folded are listed by name up to here; their number stands above. */
const WAITING_SHOWN = 100;
/** How long the search waits for the next letter. */
const SEARCH_AFTER_MS = 200;

/** What the groups are narrowed to, beyond the first page of all. */
const asked = { q: '', hours: '' };
/** @type {{timelines: Row[], matching: number} | null} */
let narrowed = null;
let asking = 0;

/** @param {Detail} detail */
export function groups(detail) {
  const { timelines: rows, matching } = narrowed ?? detail;
  const [from, to] = detail.span ?? [0, 0];
  part('groups-says').textContent = total(detail)
    ? ended(detail)
      ? narrowed
        ? `${count(matching)} of ${count(total(detail))}`
        : `${count(total(detail))}, the gravest first`
      : `${count(total(detail))} found so far`
    : '';
  part('window-says').textContent = detail.span
    ? `rebalances, ${stretch(from, to)}; red: unassigned for over 10 s`
    : '';
  part('narrow').hidden = !ended(detail) || !detail.timelines_in_all;
  part('groups').replaceChildren(
    ...rows.map((row) => groupRow(row, from, to)),
    ...detail.waiting_groups
      .slice(0, WAITING_SHOWN)
      .map((group) =>
        h(
          'tr.wait',
          h('td.gn', shownName(group.group)),
          h('td', group.protocol),
          h('td', spark([], [], 0, 0, false)),
          h('td.vd', 'Waiting to be folded'),
          h('td.r.num', count(group.records)),
        ),
      ),
  );
  part('groups-none').textContent =
    narrowed && !rows.length
      ? 'No group fits.'
      : ended(detail)
        ? 'No group was found.'
        : 'Groups appear as soon as their first record is read.';
  const hidden = matching - rows.length;
  part('more').hidden = hidden <= 0;
  part('more-groups').textContent = `Show more of ${count(hidden)}`;
}

/** Asks for the groups that fit what is asked, from the one after those that are shown. @param {Detail} detail @param {number} after */
async function narrow(detail, after) {
  const mine = (asking += 1);
  const query = new URLSearchParams({ q: asked.q, after: String(after) });
  if (asked.hours && detail.span)
    query.set('from_ms', String(Math.max(0, Math.round(detail.span[1] - Number(asked.hours) * 3_600_000))));
  try {
    const found = await ask(`/api/imports/${encodeURIComponent(detail.id)}/groups?${query}`);
    // An answer to what was asked before must not stand in the place of a later one.
    if (mine !== asking) return;
    narrowed = after ? { ...found, timelines: [...(narrowed ?? detail).timelines, ...found.timelines] } : found;
  } catch (error) {
    toast(error instanceof Error ? error.message : 'The groups could not be fetched.');
  }
  groups(detail);
}

/** What narrows the groups, and shows more. @param {() => Detail} now the import as it is by now */
export function wireGroups(now) {
  let typing = 0;
  part('more-groups').addEventListener('click', () => narrow(now(), (narrowed ?? now()).timelines.length));
  part('search').addEventListener('input', (event) => {
    asked.q = /** @type {HTMLInputElement} */ (event.target).value.trim();
    clearTimeout(typing);
    typing = setTimeout(() => narrow(now(), 0), SEARCH_AFTER_MS);
  });
  part('hours').addEventListener('change', (event) => {
    asked.hours = /** @type {HTMLSelectElement} */ (event.target).value;
    narrow(now(), 0);
  });
}
