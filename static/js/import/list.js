/**
 * The list of imports: grouped by day, searched, renamed, deleted. The rows come with the page, so that it reads without
 * scripts, too.
 */

import { submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { day, onZone, showSwitch, showTimes } from '../shared/times.js';
import { orToast, toast } from '../shared/toast.js';
import { nameForm } from '../shared/naming.js';

const body = document.getElementById('imports-rows');
const rows = /** @type {HTMLTableRowElement[]} */ ([...(body?.querySelectorAll('tr[data-id]') ?? [])]);

/** @param {HTMLTableRowElement} row */
const url = (row) => `/api/imports/${encodeURIComponent(row.dataset.id ?? '')}`;
/** @param {HTMLTableRowElement} row */
const link = (row) => /** @type {HTMLAnchorElement} */ (row.querySelector('.nm a'));

/** One heading a day, in the zone that is chosen; a day of which nothing is shown has none. */
function draw() {
  if (!body) return;
  showTimes(body);
  const wanted = /** @type {HTMLInputElement} */ (part('imports-search')).value.trim().toLowerCase();
  const shown = rows.filter(
    (row) => row.isConnected && (!wanted || (row.textContent ?? '').toLowerCase().includes(wanted)),
  );
  for (const heading of body.querySelectorAll('tr.day')) heading.remove();
  let last = '';
  for (const row of rows) {
    row.hidden = !shown.includes(row);
    const own = day(Number(row.dataset.ms));
    if (row.hidden || !row.isConnected || own === last) continue;
    last = own;
    row.before(h('tr.day', h('th', { colspan: 6, scope: 'rowgroup' }, own)));
  }
  part('imports-none').hidden = shown.length > 0;
  part('imports-says').textContent = wanted ? `${shown.length} of ${rows.filter((row) => row.isConnected).length}` : '';
}

/** The name becomes a field; Enter keeps it, Escape leaves it. @param {HTMLTableRowElement} row */
function rename(row) {
  const shown = link(row);
  if (shown.hidden) return;
  const done = () => {
    form.remove();
    shown.hidden = false;
    /** @type {HTMLElement | null} */ (row.querySelector('.ops button'))?.focus();
  };
  const { form, input } = nameForm({
    label: 'Name of the import',
    value: shown.textContent ?? '',
    save: async (title) => {
      shown.textContent = (await submit(url(row), 'PATCH', { title })).title;
      done();
    },
    onCancel: done,
    kind: 'rename',
    field: { class: 'field sm' },
  });
  shown.hidden = true;
  shown.after(form);
  input.select();
}

/** @param {HTMLTableRowElement} row */
async function remove(row) {
  if (!confirm(`Delete “${link(row).textContent}” and its timelines? Links to them end.`)) return;
  await orToast('It could not be deleted.', async () => {
    await submit(url(row), 'DELETE');
    row.remove();
    draw();
    toast('Deleted');
  });
}

if (body) {
  for (const row of rows) {
    const button = (/** @type {string} */ word, /** @type {string} */ needs, /** @type {() => void} */ onclick) =>
      h('button.btn.sm.bare', { 'data-needs': needs, 'aria-label': `${word} ${link(row).textContent}`, onclick }, word);
    row.querySelector('.ops')?.append(
      button('Rename', 'change', () => rename(row)),
      button('Delete', 'delete', () => remove(row)),
    );
  }
  part('imports-narrow').hidden = rows.length < 2;
  part('imports-search').addEventListener('input', draw);
  showSwitch(part('zone'), Date.now());
  onZone(draw);
  draw();
}
