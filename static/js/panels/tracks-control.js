/**
 * What is looked at on the tracks, or on the map: the zoom, the selected range with what it cost, and the pins; the address
 * follows them. It comes with the first gesture, or with an address that has one of them.
 *
 * @import {Controls} from './board-controls.js'
 * @typedef {{from: number, to: number}} Range sequences, both included
 * @typedef {object} RangeCost
 * @property {number} from_ms
 * @property {number} to_ms
 * @property {boolean} is_known
 * @property {number} rebalances
 * @property {number} moved
 * @property {string[]} interrupted
 * @property {number} unassigned_partition_ms
 * @property {number} unread_partition_ms
 * @property {number | null} unread_partition_ms_most
 * @property {string | null} unread_why
 * @property {number} read_twice_least
 * @property {number | null} read_twice_most
 * @property {string | null} read_twice_why
 */

import { h, part } from '../shared/dom.js';
import { partitionSeconds, REASONS, twiceText, unreadText } from '../figures/lag-words.js';
import { toast } from '../shared/toast.js';
import { keep, pinsOf, rangeOf, secondsOf } from '../shared/url.js';
import { messageOf } from '../shared/errors.js';
import { grouped } from '../shared/numbers.js';
import { when } from '../frame/words.js';
import { Zooming } from '../timeline/zoom.js';

/** The part of a stretch that is shown before its moment. */
const BEFORE = 0.2;
/** Members that are named; the others are counted. */
const NAMES_MOST = 6;

export class TracksControl {
  /** @type {Range | null} */
  range = null;
  #from = /** @type {number | null} */ (null);
  #asked = 0;

  /** @param {Controls} controls */
  constructor(controls) {
    const { stage } = controls;
    this.controls = controls;
    this.panel = part('range-panel');
    this.map = 'map' in stage ? stage.map : null;
    this.zooming =
      'view' in stage
        ? new Zooming(stage.view, {
            onRange: (range) => this.#selected(range),
            onZoom: () => keep('zoom', textOf(/** @type {Zooming} */ (this.zooming).seen)),
          })
        : null;
    if (this.map) {
      this.map.onRange = (range) => this.select(range);
      this.map.onZoom = (seen) => keep('zoom', textOf(seen));
      this.map.onPinned = (pins) => keep('pins', pins.join(',') || null);
    }
  }

  /** What an address wants to be seen. @param {string} search */
  open(search) {
    const [zoom, range] = [rangeOf(search, 'zoom'), rangeOf(search, 'range')];
    const seconds = secondsOf(search);
    if (range) this.select(range);
    if (zoom) (this.zooming ?? this.map)?.see(zoom);
    else if (seconds) this.zooming?.around(seconds * 1000, BEFORE);
    for (const pin of pinsOf(search)) this.#pin(pin);
  }

  /** Exactly what an address has, and nothing that was looked at before. @param {string} search */
  follow(search) {
    const pins = pinsOf(search);
    for (const row of this.map?.roster.entities ?? [])
      if (this.map?.roster.pins.includes(row.key) && !pins.includes(row.name)) this.map.pin(row.key);
    this.select(null);
    if (!rangeOf(search, 'zoom')) this.key('f');
    this.open(search);
  }

  /** @param {string} name of a row of the map */
  #pin(name) {
    const row = this.map?.roster.entities.find((one) => one.name === name);
    if (row && !this.map?.roster.pins.includes(row.key)) this.map?.pin(row.key);
  }

  /** @param {string} key */
  key(key) {
    (this.zooming ?? this.map)?.key(key);
  }

  /** Drags select a range from now on, or scrub again; where there are keys, Shift does that for one drag. */
  toggle() {
    const selects = part('select-range').getAttribute('aria-pressed') !== 'true';
    part('select-range').setAttribute('aria-pressed', String(selects));
    if (this.zooming) this.zooming.selecting = selects;
    if (this.map) this.map.selecting = selects;
    toast(selects ? 'A drag selects a range' : 'A drag selects no range');
  }

  /** The range begins at the playhead; the second time it ends there. */
  mark() {
    const at = this.controls.timeline.rest?.sequence ?? 0;
    if (this.#from === null) {
      this.#from = at;
      toast('The range begins here; M again ends it');
      return;
    }
    const [from, to] = [Math.min(this.#from, at), Math.max(this.#from, at)];
    this.#from = null;
    this.select({ from: Math.max(1, from), to: Math.max(1, to) });
  }

  /** @param {Range | null} range */
  select(range) {
    if (this.zooming) this.zooming.select(range);
    else this.#selected(range);
  }

  /** @param {Range | null} range */
  #selected(range) {
    this.range = range;
    this.controls.seeking.range = range;
    if (this.map) this.map.range = range;
    keep('range', textOf(range));
    this.#show(range);
  }

  /** @param {Range | null} range */
  async #show(range) {
    this.#asked += 1;
    const asked = this.#asked;
    this.panel.hidden = range === null;
    if (!range) return;
    const { server, start_ms } = this.controls;
    const head = (/** @type {string} */ text) =>
      h(
        'div.phead',
        h('h2', 'Range'),
        h('span.quiet', { role: 'status' }, text),
        h('span.grow'),
        h('button.btn.sm', { onclick: () => this.key('f') }, 'Fit'),
        h('button.btn.sm', { onclick: () => this.select(null) }, 'Clear'),
      );
    const entries = `entries ${grouped(range.from)} to ${grouped(range.to)}`;
    this.panel.replaceChildren(head(entries));
    if (!server) return;
    try {
      /** @type {RangeCost} */
      const cost = await server.range(range);
      if (asked !== this.#asked) return;
      const times = `${when(cost.from_ms, start_ms())} to ${when(cost.to_ms, start_ms())}`;
      this.panel.replaceChildren(head(`${times}, ${entries}`), this.#figures(cost));
    } catch (error) {
      const why = messageOf(error, 'What it cost could not be asked.');
      if (asked === this.#asked) this.panel.replaceChildren(head(entries), h('p.problem', why));
    }
  }

  /** @param {RangeCost} cost */
  #figures(cost) {
    if (!cost.is_known) return h('p.quiet', 'Who owned what is still being read: select it again in a moment.');
    const names = cost.interrupted.map((id) => this.controls.stage.cast.name(id));
    const more = names.length - NAMES_MOST;
    const who = names.slice(0, NAMES_MOST).join(', ') + (more > 0 ? ` and ${more} more` : '');
    const why = (/** @type {string | null} */ name) => REASONS[/** @type {keyof REASONS} */ (name ?? '')] ?? '';
    const figures = [
      ['Rebalances', grouped(cost.rebalances), ''],
      ['Partitions moved', grouped(cost.moved), ''],
      ['Unassigned', partitionSeconds(cost.unassigned_partition_ms), 'partition-seconds'],
      ['Not read', unreadText(cost), why(cost.unread_why) || 'partition-seconds'],
      ['Members interrupted', String(names.length), who],
      ['Records read twice', twiceText(cost) ?? 'not known', why(cost.read_twice_why)],
    ];
    return h(
      'dl.rfigures',
      figures.map(([name, value, note]) => h('div', h('dt', name), h('dd', h('b', value), note && h('span', note)))),
    );
  }
}

/** @param {Range | null} range */
const textOf = (range) => (range ? `${range.from}-${range.to}` : null);
