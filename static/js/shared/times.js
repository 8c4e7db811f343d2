/**
 * Times of day: the one place that knows in which zone they are shown, and that writes it next to them.
 *
 * Records hold milliseconds since 1970 and no zone. A reader chooses: where the browser is, UTC, or the zone of who wrote
 * the application's own logs, so that both can be laid side by side. The choice is kept in the browser for all pages.
 *
 * @typedef {'local' | 'utc' | 'log'} Choice
 */

import { h } from './dom.js';
import { keep, kept } from './kept.js';

/** Clock times begin here: a simulation counts from 0, a log from 1970. */
export const CLOCK_FROM_MS = 86_400_000 * 365;

const KEPT = 'zone';
const KEPT_LOG = 'zone-of-logs';

/** Whether the browser knows a zone of this name. @param {string} name */
export function isZone(name) {
  try {
    return Boolean(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

const first = kept(KEPT);
let choice = /** @type {Choice} */ (first === 'utc' || first === 'log' ? first : 'local');
let ofLogs = kept(KEPT_LOG) ?? '';
/** @type {Set<() => void>} */
const listeners = new Set();

/** The name of the zone as `Intl` has it; undefined is the browser's own. */
function zone() {
  if (choice === 'utc') return 'UTC';
  return choice === 'log' && isZone(ofLogs) ? ofLogs : undefined;
}

export const chosen = () => choice;

/** @param {Choice} wanted @param {string} [name] of the logs' zone */
export function choose(wanted, name = ofLogs) {
  choice = wanted;
  ofLogs = name;
  keep(KEPT, choice);
  if (isZone(name)) keep(KEPT_LOG, name);
  for (const listener of listeners) listener();
}

/** @param {() => void} listener */
export function onZone(listener) {
  listeners.add(listener);
}

/** By zone and options: to make one takes a hundred times as long as to use it. @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {number} ms @param {Intl.DateTimeFormatOptions} options */
function parts(ms, options) {
  const wanted = { timeZone: zone(), hourCycle: /** @type {const} */ ('h23'), ...options };
  const key = JSON.stringify(wanted);
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', wanted);
  formats.set(key, format);
  return format.formatToParts(ms);
}

/** @param {Intl.DateTimeFormatPart[]} found @param {string} type */
const partOf = (found, type) => found.find((one) => one.type === type)?.value ?? '';

/** How far the zone is from UTC at a moment: `UTC`, `UTC+1`, `UTC−3:30`. @param {number} ms */
export function zoneName(ms) {
  const name = partOf(parts(ms, { timeZoneName: 'shortOffset' }), 'timeZoneName');
  return name
    .replace(/^GMT(\+0)?$/, 'UTC')
    .replace(/^GMT/, 'UTC')
    .replace('-', '−');
}

/** Milliseconds to add to a moment so that its UTC reads as the zone's clock does. @param {number} ms */
export function offset(ms) {
  const found = parts(ms, {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const of = (/** @type {string} */ type) => Number(partOf(found, type));
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return shown - Math.floor(ms / 1000) * 1000;
}

/** `14:05:01`, or `14:05`. For places where the zone is written next to it. @param {number} ms @param {{seconds?: boolean}} [how] */
export function clock(ms, { seconds = true } = {}) {
  const found = parts(ms, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  const minutes = `${partOf(found, 'hour')}:${partOf(found, 'minute')}`;
  return seconds ? `${minutes}:${partOf(found, 'second')}` : minutes;
}

/** `22 Nov 2026`. @param {number} ms */
export function day(ms) {
  const found = parts(ms, { year: 'numeric', month: 'short', day: 'numeric' });
  return `${partOf(found, 'day')} ${partOf(found, 'month')} ${partOf(found, 'year')}`;
}

/** `22 Nov 2026, 14:05 UTC+1`: whole in itself. @param {number} ms */
export const stamp = (ms) => `${day(ms)}, ${clock(ms, { seconds: false })} ${zoneName(ms)}`;

/** `22 Nov 2026, 14:05 to 15:10 UTC+1`, or with both days. @param {number} from @param {number} to */
export function stretch(from, to) {
  const end = day(from) === day(to) ? clock(to, { seconds: false }) : `${day(to)}, ${clock(to, { seconds: false })}`;
  return `${day(from)}, ${clock(from, { seconds: false })} to ${end} ${zoneName(to)}`;
}

/** Every `<time data-ms>` of the page in the zone that was chosen. @param {ParentNode} root */
export function showTimes(root) {
  for (const node of root.querySelectorAll('time[data-ms]')) {
    const { ms, until } = /** @type {HTMLElement} */ (node).dataset;
    node.textContent = until ? stretch(Number(ms), Number(until)) : stamp(Number(ms));
  }
}

/**
 * The switch: a select, and a field for the logs' zone while that is chosen.
 *
 * @param {HTMLElement} root
 * @param {number} ms a moment of what is shown: summer time is another offset
 */
export function showSwitch(root, ms) {
  const known = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
  const draw = () => {
    const select = /** @type {HTMLSelectElement} */ (
      h(
        'select',
        {
          class: 'field sm',
          'aria-label': 'Zone of all times',
          title: 'Zone of all times',
          onchange: () => choose(/** @type {Choice} */ (select.value)),
        },
        ...[
          ['local', `${nameOf('local', ms)} (local)`],
          ['utc', 'UTC'],
          ['log', isZone(ofLogs) ? `${nameOf('log', ms)} (logs)` : 'Zone of the logs…'],
        ].map(([value, text]) => h('option', { value, selected: value === choice }, text)),
      )
    );
    const field = /** @type {HTMLInputElement} */ (
      h('input.field.sm', {
        list: 'known-zones',
        value: ofLogs,
        placeholder: 'Europe/Berlin',
        'aria-label': 'Zone of the logs',
        onchange: () => {
          field.setCustomValidity(isZone(field.value) ? '' : 'Not a zone: write it as Europe/Berlin or UTC.');
          if (field.reportValidity()) choose('log', field.value);
        },
      })
    );
    root.replaceChildren(
      select,
      ...(choice === 'log'
        ? [field, h('datalist', { id: 'known-zones' }, ...known.map((name) => h('option', { value: name })))]
        : []),
    );
  };
  draw();
  onZone(draw);
}

/** @param {Choice} of @param {number} ms */
function nameOf(of, ms) {
  const now = choice;
  choice = of;
  try {
    return zoneName(ms);
  } finally {
    choice = now;
  }
}
