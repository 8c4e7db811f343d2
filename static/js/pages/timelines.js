/**
 * The list of all timelines: search and filters on the server, an import opens to its worst groups, rows are selected,
 * compared, renamed and deleted. A deletion is sent after some seconds, or when the page is left; until then it can be
 * undone.
 *
 * @import {Inner, Kept, Page} from '../kept/types'
 */

import { fieldOf, queryOf, readAddress } from '../kept/filters.js';
import { innerRow, keptRow, keyOf, restRow } from '../kept/rows.js';
import { ask, submit, requestInit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { onZone, showSwitch } from '../shared/times.js';
import { orToast, toast } from '../shared/toast.js';
import { messageOf } from '../shared/errors.js';
import { nameForm } from '../shared/naming.js';
import { counted } from '../shared/numbers.js';

/** Between the last key press and the question. */
const TYPED_MS = 200;

/** How long a deletion can be undone. */
const UNDO_MS = 10_000;

/** Groups of an import that are shown here; its page has the others. */
const INNER_MOST = 5;

const COMPARED_MOST = 4;

const form = /** @type {HTMLFormElement} */ (part('kept-filters'));
const body = part('kept-rows');

/** @type {Page} */
let page = JSON.parse(part('kept-data').textContent ?? 'null');
/** @type {Map<string, Kept>} */
const picked = new Map();
/** @type {Map<string, {groups: Inner[], matching: number}>} */
const opened = new Map();
/** @type {{rows: Kept[], timer: any}[]} what is deleted unless it is undone, the newest last */
const doomed = [];
/** The row that keys are about. */
let cursor = '';
let asking = 0;
/** Of the table: one more where people sign in. */
const columns = document.querySelectorAll('#kept-table th').length;

/** @param {string} name */
const field = (name) => fieldOf(form, name);

/** @param {number} [after] */
const query = (after) => queryOf(form, after);

const gone = () => new Set(doomed.flatMap(({ rows }) => rows.map(keyOf)));
const shown = () => {
  const left = gone();
  return page.rows.filter((row) => !left.has(keyOf(row)));
};

function draw() {
  const rows = shown();
  if (!rows.some((row) => keyOf(row) === cursor)) cursor = '';
  const focused = document.activeElement?.closest('tr')?.getAttribute('data-key');
  body.replaceChildren(
    ...rows.flatMap((row) => {
      const key = keyOf(row);
      const inner = opened.get(key);
      return [
        keptRow(row, {
          picked: picked.has(key),
          opened: Boolean(inner),
          columns,
          onPick: () => pick(row),
          onOpen: () => open(row),
        }),
        ...(inner ? inner.groups.map((group) => innerRow(group, columns)) : []),
        ...(inner && inner.matching > inner.groups.length
          ? [restRow(row, inner.groups.length, inner.matching, columns)]
          : []),
      ];
    }),
  );
  const filtered = query().size > 0;
  const left = page.matching - (page.rows.length - rows.length);
  part('kept-table').hidden = rows.length === 0;
  part('kept-none').hidden = rows.length > 0;
  part('kept-none').replaceChildren(
    ...(filtered
      ? ['Nothing matches. ', h('button.btn.sm', { onclick: clear }, 'Clear filters')]
      : ['No timelines yet. ', h('a', { href: '/import/' }, 'Import a log'), ', or run a scenario: it appears here.']),
  );
  part('kept-count').textContent = filtered ? `${left} match` : `${counted(left, 'row')}; an import is one row`;
  part('kept-foot').textContent = left > rows.length ? `${rows.length} of ${left} are shown` : '';
  part('kept-more').hidden = left <= rows.length;
  drawChosen();
  place();
  if (focused && focused === cursor) rowOf(cursor)?.focus();
}

/** What can be done with the selection, in the place of the filters. */
function drawChosen() {
  const rows = [...picked.values()];
  const bar = part('kept-chosen');
  bar.hidden = rows.length === 0;
  form.hidden = rows.length > 0;
  const all = /** @type {HTMLInputElement} */ (part('kept-all'));
  all.checked = rows.length > 0 && rows.length === shown().length;
  all.indeterminate = rows.length > 0 && !all.checked;
  if (!rows.length) return;
  const compared = comparable();
  const [only] = rows;
  bar.replaceChildren(
    h('b', `${rows.length} selected`),
    h('span.grow'),
    h(
      'button.btn.sm',
      {
        onclick: compare,
        'aria-disabled': compared ? null : 'true',
        title: compared ? null : `Select 2 to ${COMPARED_MOST} timelines; an import is opened first`,
      },
      'Compare',
    ),
    ...(rows.length === 1 && only
      ? [h('button.btn.sm', { 'data-needs': 'change', onclick: () => rename(only) }, 'Rename')]
      : []),
    h('button.btn.sm', { 'data-needs': 'delete', onclick: remove }, 'Delete'),
    h('button.btn.sm.bare', { onclick: unpick }, 'Clear selection'),
  );
}

const comparable = () =>
  picked.size >= 2 && picked.size <= COMPARED_MOST && [...picked.values()].every((row) => row.kind === 'timeline');

function compare() {
  if (!comparable()) return toast(`Select 2 to ${COMPARED_MOST} timelines to compare.`);
  const runs = [...picked.values()].map((row) => encodeURIComponent(row.id)).join(',');
  location.assign(`/compare?runs=${runs}`);
}

/** @param {Kept} row */
function pick(row) {
  const key = keyOf(row);
  if (!picked.delete(key)) picked.set(key, row);
  cursor = key;
  draw();
}

function unpick() {
  picked.clear();
  draw();
}

/** @param {Kept} row */
async function open(row) {
  const key = keyOf(row);
  cursor = key;
  if (opened.delete(key)) return draw();
  const asked = new URLSearchParams();
  // A search that the import's own name answers is about all its groups.
  if (row.matching) asked.set('q', field('q').value.trim());
  await orToast('The import could not be read.', async () => {
    const found = await ask(`/api/imports/${encodeURIComponent(row.id)}/groups?${asked}`);
    opened.set(key, { groups: found.timelines.slice(0, INNER_MOST), matching: found.matching });
    draw();
  });
}

/** @param {Kept} row */
function rename(row) {
  const { form: renaming, input } = nameForm({
    label: `New name of ${row.title}`,
    value: row.title,
    save: async (title) => {
      const what = row.kind === 'import' ? 'imports' : 'timelines';
      row.title = (await submit(`/api/${what}/${encodeURIComponent(row.id)}`, 'PATCH', { title })).title;
      unpick();
    },
    onCancel: drawChosen,
    kind: 'kbar',
  });
  part('kept-chosen').replaceChildren(renaming);
  input.select();
}

/** The selected rows, or the one at the cursor, go; they are deleted when nobody takes it back. */
function remove() {
  const at = shown().find((row) => keyOf(row) === cursor);
  const rows = picked.size ? [...picked.values()] : at ? [at] : [];
  if (!rows.length) return;
  const held = rows.find((row) => row.not_deletable);
  if (held) return toast(held.not_deletable);
  const one = { rows, timer: setTimeout(() => send(one), UNDO_MS) };
  doomed.push(one);
  for (const row of rows) picked.delete(keyOf(row));
  draw();
  const what = rows.length === 1 && rows[0] ? `“${rows[0].title}”` : counted(rows.length, 'row');
  toast(`Deleted ${what}; links to it end.`, { label: 'Undo', act: undo, shown_ms: UNDO_MS });
}

function undo() {
  const last = doomed.pop();
  if (!last) return;
  clearTimeout(last.timer);
  draw();
  toast('Nothing was deleted.');
}

/** @param {Kept[]} rows */
const ids = (rows) => ({
  timelines: rows.filter(({ kind }) => kind === 'timeline').map(({ id }) => id),
  imports: rows.filter(({ kind }) => kind === 'import').map(({ id }) => id),
});

/** @param {{rows: Kept[], timer: any}} one */
async function send(one) {
  await orToast('It could not be deleted.', async () => {
    const { refused } = await submit('/api/kept/delete', 'POST', ids(one.rows));
    if (refused.length) toast(refused[0].why);
    const left = new Set(refused.map((/** @type {{id: string}} */ { id }) => id));
    const before = page.rows.length;
    // The list may have been read again meanwhile.
    const keys = new Set(one.rows.map(keyOf));
    page.rows = page.rows.filter((row) => !keys.has(keyOf(row)) || left.has(row.id));
    page.matching -= before - page.rows.length;
  });
  doomed.splice(doomed.indexOf(one), 1);
  draw();
}

/** What waits is deleted when the page is left: the browser sends it though the page is gone. */
function sendAll() {
  for (const one of doomed.splice(0)) {
    clearTimeout(one.timer);
    fetch('/api/kept/delete', { ...requestInit('POST', ids(one.rows)), keepalive: true });
  }
}

const loading = () =>
  body.replaceChildren(
    ...Array.from({ length: 6 }, () =>
      h(
        'tr.wait',
        Array.from({ length: columns }, () => h('td', h('i'))),
      ),
    ),
  );

/** @param {boolean} [more] whether rows are added to those that are shown */
async function refresh(more = false) {
  const number = ++asking;
  part('kept-period').hidden = field('days').value !== 'period';
  const slow = more ? null : setTimeout(loading, 300);
  try {
    const found = /** @type {Page} */ (await ask(`/api/kept?${query(more ? page.rows.length : 0)}`));
    if (number !== asking) return;
    page = more ? { ...found, rows: [...page.rows, ...found.rows] } : found;
    if (!more) {
      opened.clear();
      const asked = query();
      history.replaceState(null, '', asked.size ? `?${asked}` : location.pathname);
    }
    draw();
    // What only a group answers is shown with that group.
    if (field('q').value.trim()) for (const row of page.rows.slice(0, 3)) if (row.matching) open(row);
  } catch (error) {
    if (number !== asking) return;
    draw();
    toast(messageOf(error, 'The list could not be read.'));
  } finally {
    if (slow !== null) clearTimeout(slow);
  }
}

function clear() {
  form.reset();
  refresh();
}

/** @param {string} key @returns {HTMLElement | null} */
const rowOf = (key) => body.querySelector(`tr[data-key="${CSS.escape(key)}"]`);

function place() {
  for (const row of body.querySelectorAll('tr.at')) row.classList.remove('at');
  if (cursor) rowOf(cursor)?.classList.add('at');
}

/** @param {number} by */
function move(by) {
  const rows = shown();
  const at = rows.findIndex((row) => keyOf(row) === cursor);
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))];
  if (!next) return;
  cursor = keyOf(next);
  place();
  rowOf(cursor)?.focus();
  rowOf(cursor)?.scrollIntoView({ block: 'nearest' });
}

const here = () => shown().find((row) => keyOf(row) === cursor);

readAddress(form, location.search);
let timer = /** @type {any} */ (null);
form.addEventListener('input', (event) => {
  clearTimeout(timer);
  timer = setTimeout(refresh, /** @type {HTMLElement} */ (event.target).matches('[type=search]') ? TYPED_MS : 0);
});
form.addEventListener('submit', (event) => event.preventDefault());
part('kept-more').addEventListener('click', () => refresh(true));
part('kept-all').addEventListener('change', () => {
  const rows = shown();
  if (picked.size === rows.length) picked.clear();
  else for (const row of rows) picked.set(keyOf(row), row);
  draw();
});
listen({
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  ArrowRight: () => {
    const row = here();
    if (row?.kind === 'import' && row.groups && !opened.has(keyOf(row))) open(row);
  },
  ArrowLeft: () => {
    if (opened.delete(cursor)) draw();
  },
  Enter: () => {
    const row = here();
    if (row) location.assign(row.url);
  },
  x: () => {
    const row = here();
    if (row) pick(row);
  },
  c: compare,
  Delete: remove,
  z: undo,
  '/': () => field('q').focus(),
  Escape: unpick,
});
addEventListener('pagehide', sendAll);
onZone(draw);
showSwitch(part('zone'), Date.now());
part('kept-period').hidden = field('days').value !== 'period';
draw();
document.documentElement.dataset.alive = '';
