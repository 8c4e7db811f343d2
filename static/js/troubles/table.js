/**
 * The table of what is wrong, in a page's `#troubles`: narrowed, sorted, stepped through by keys. Only the rows in sight exist.
 *
 * @import {Narrowed, Table} from './types'
 */

import { h, part } from '../shared/dom.js';
import { isWithin, onWithin } from '../shared/text-size.js';
import { onZone, showSwitch, stamp, stretch } from '../shared/times.js';
import { VirtualList } from '../shared/virtual-list.js';
import { counted } from '../shared/numbers.js';
import { keyOf, narrowedRows, once, summed, sums, totals } from './order.js';
import { axis, troubleRow } from './rows.js';

/** Heights of a row in pixels: on one line of cells, and on three below `NARROW` pixels. */
const LINE = 40;
const LINE_NARROW = 68;
const NARROW = 819;
const BEYOND = 8;
const ROOT_SIZE = 16;

const NO_GROUP = () => [
  'No groups yet. ',
  h('a', { href: '/import/' }, 'Import a log'),
  ' or ',
  h('a', { href: '/clusters' }, 'connect a cluster'),
  '.',
];

/** @typedef {{show: (table: Table) => void}} TroublesPanel */

/**
 * @param {Table} first
 * @param {{none?: (string | Node)[]}} [words] what is shown while there is no group at all
 * @returns {TroublesPanel}
 */
export function troublesTable(first, { none = NO_GROUP() } = {}) {
  let table = first;
  /** @type {Narrowed} */
  const asked = { all: true, text: '', pattern: '', topic: '', host: '', cause: null, sort: 'severity' };
  /** @type {import('./types').TroubleRow[]} */
  let shown = [];
  let chosen = false;
  const root = part('troubles-rows');
  const inner = h('div.rows', { role: 'rowgroup' });
  root.replaceChildren(inner);
  /** @type {VirtualList} */
  const list = new VirtualList({
    root,
    inner,
    line: LINE,
    beyond: BEYOND,
    key: 'key',
    draw: (from, to) =>
      shown.slice(from, to).map((row, at) => troubleRow(row, table, ((from + at) * list.lineHigh) / ROOT_SIZE)),
  });

  function draw() {
    shown = narrowedRows(table.rows, asked);
    const troubled = table.rows.filter(({ severity }) => severity > 0).length;
    const calm = table.rows.filter((row) => row.severity === 0);
    part('troubles-says').textContent = summed(table);
    part('troubles-figures').replaceChildren(
      ...(table.rows.length ? totals(table) : []).map(([name, value, bad]) =>
        h('div', h('dt', name), h(`dd.num${bad ? '.bad' : ''}`, value)),
      ),
    );
    part('troubles').classList.toggle('no-cause', !shown.some(({ causes }) => causes.length));
    part('troubles-rest').hidden = asked.all || asked.cause !== null || !calm.length;
    part('troubles-rest').textContent =
      `${counted(calm.length, 'group')} without trouble: ${calm.filter((row) => !row.rebalances).length} never rebalanced`;
    for (const [id, words, on] of /** @type {const} */ ([
      ['troubles-in', `In trouble ${troubled}`, asked.cause === null && !asked.all],
      ['troubles-all', `All ${table.rows.length}`, asked.cause === null && asked.all],
    ])) {
      part(id).textContent = words;
      part(id).setAttribute('aria-pressed', String(on));
    }
    for (const head of heads) head.parentElement?.setAttribute('aria-sort', sortOf(head.dataset.sort));
    part('troubles-axis').replaceChildren(...axis(table, sums(shown, table.cells)));
    part('troubles-count').textContent =
      `${counted(shown.length, 'group')} of ${table.matching}` +
      (table.from_ms !== null && table.to_ms !== null ? `, ${stretch(table.from_ms, table.to_ms)}` : '') +
      (table.older
        ? `. ${counted(table.older, 'group')} of an earlier release ${table.older === 1 ? 'is' : 'are'} ranked by the headline alone until analysed again`
        : '');
    part('troubles-none').hidden = shown.length > 0;
    part('troubles-none').replaceChildren(
      ...(table.rows.length
        ? ['No group matches. ', h('button.btn.sm', { onclick: clear }, 'Clear the filters')]
        : none),
    );
    part('troubles-grid').hidden = shown.length === 0;
    part('troubles-causes').replaceChildren(
      ...table.causes.map((cause, at) =>
        h(
          'li',
          h('b', `${cause.text} (${stamp(cause.from_ms)}). `),
          h('span.quiet', 'Not counted in order, worst or rate. '),
          h(
            'button.btn.sm',
            { 'aria-pressed': String(asked.cause === at), onclick: () => ofCause(at) },
            `${asked.cause === at ? 'Showing' : 'Show'} the ${cause.groups.length}`,
          ),
        ),
      ),
    );
    list.lineHigh = isWithin(NARROW) ? LINE_NARROW : LINE;
    list.count = shown.length;
  }

  /** @param {number} at */
  function ofCause(at) {
    asked.cause = asked.cause === at ? null : at;
    list.reveal(-1);
    draw();
    // The button that had the focus was drawn again.
    part('troubles-causes').querySelectorAll('button')[at]?.focus();
  }

  /** @param {string | undefined} sort */
  const sortOf = (sort) => (asked.sort !== sort ? 'none' : sort === 'group' ? 'ascending' : 'descending');

  /** @param {boolean} all */
  function showAll(all) {
    Object.assign(asked, { all, cause: null });
    chosen = true;
    list.reveal(-1);
    draw();
  }

  function clear() {
    Object.assign(asked, { all: true, text: '', pattern: '', topic: '', host: '', cause: null });
    for (const id of ['troubles-search', 'troubles-pattern', 'troubles-topic', 'troubles-host'])
      /** @type {HTMLInputElement} */ (part(id)).value = '';
    draw();
  }

  /** @param {string} id @param {'text' | 'pattern' | 'topic' | 'host'} name @param {'input' | 'change'} event */
  function narrows(id, name, event) {
    part(id).addEventListener(event, () => {
      asked[name] = /** @type {HTMLInputElement} */ (part(id)).value;
      list.reveal(-1);
      draw();
    });
  }

  /** @param {string} id @param {string} every @param {string[]} values */
  function choices(id, every, values) {
    const field = /** @type {HTMLSelectElement} */ (part(id));
    const kept = field.value;
    // A list that somebody has open is not built again for nothing.
    if (
      field.options.length === values.length + 1 &&
      values.every((value, at) => field.options[at + 1]?.value === value)
    )
      return;
    field.replaceChildren(h('option', { value: '' }, every), ...values.map((value) => h('option', value)));
    field.value = values.includes(kept) ? kept : '';
    field.hidden = values.length < 2;
  }

  /** Moves the focus by so many rows. @param {number} by */
  function step(by) {
    const key = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
    const at = shown.findIndex((row) => keyOf(row) === key);
    const next = Math.max(0, Math.min(shown.length - 1, at + by));
    list.reveal(next);
    list.draw();
    const wanted = shown[next] ? keyOf(shown[next]) : '';
    /** @type {HTMLElement | null} */ (inner.querySelector(`[data-key="${CSS.escape(wanted)}"]`))?.focus({
      preventScroll: true,
    });
  }

  const heads = /** @type {HTMLElement[]} */ ([...part('troubles-grid').querySelectorAll('[data-sort]')]);
  for (const head of heads)
    head.addEventListener('click', () => {
      asked.sort = /** @type {Narrowed['sort']} */ (head.dataset.sort);
      list.reveal(-1);
      draw();
    });
  narrows('troubles-search', 'text', 'input');
  narrows('troubles-pattern', 'pattern', 'change');
  narrows('troubles-topic', 'topic', 'change');
  narrows('troubles-host', 'host', 'change');
  part('troubles-in').addEventListener('click', () => showAll(false));
  for (const id of ['troubles-all', 'troubles-rest']) part(id).addEventListener('click', () => showAll(true));
  part('troubles').addEventListener('keydown', (event) => {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const target = /** @type {HTMLElement} */ (event.target);
    if (!by || target.matches('input, select') || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(by);
  });
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') part('troubles-search').focus();
    else if (event.key === 'a') showAll(!asked.all);
    else return;
    event.preventDefault();
  });
  onWithin(NARROW, draw);
  onZone(draw);

  /** @param {Table} newer */
  function show(newer) {
    const cause = asked.cause === null ? undefined : table.causes[asked.cause];
    const at = newer.causes.findIndex(({ kind, from_ms }) => kind === cause?.kind && from_ms === cause.from_ms);
    asked.cause = at < 0 ? null : at;
    table = newer;
    // Unless the reader chose: groups in trouble where there are some, else all.
    if (!chosen) asked.all = !table.rows.some(({ severity }) => severity > 0);
    choices('troubles-pattern', 'any pattern', once(table.rows.map(({ pattern }) => pattern)));
    choices('troubles-topic', 'any topic', once(table.rows.flatMap(({ topics }) => topics)));
    choices('troubles-host', 'any host', once(table.rows.flatMap(({ hosts }) => hosts)));
    if (table.to_ms !== null && !part('troubles-zone').hasChildNodes()) showSwitch(part('troubles-zone'), table.to_ms);
    draw();
  }
  show(first);
  return { show };
}
