/**
 * Which members and partitions there are, which of them are shown, pinned, grouped and coloured. No DOM.
 *
 * @import {MapLane, MapTopic} from '../types'
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 * @import {Entity, Kind, Line} from './types'
 * @typedef {{only: import('./types').Only, grouping: import('./types').Grouping, query: string}} Shown
 */

import { Hues, namedIn } from '../frame/hues.js';
import { ofLanes, ofTopics } from './entities.js';
import { found, haystack, linesOf } from './rows.js';

/** Pinned rows stay above the others; more would leave these no room. */
export const PINS_MOST = 12;

export class Roster {
  /** @type {Kind} */
  kind = 'members';
  /** @type {{[kind in Kind]: Entity[]}} */
  #entities = { members: [], partitions: [] };
  /** @type {{[kind in Kind]: import('./rows.js').Haystack[] | null}} */
  #haystacks = { members: null, partitions: null };
  /** @type {{[kind in Kind]: Map<string, number>}} */
  #index = { members: new Map(), partitions: new Map() };
  /** @type {Map<string, MapLane>} */
  #lanes = new Map();
  /** @type {{[kind in Kind]: string[]}} */
  #pins = { members: [], partitions: [] };
  /** Groups whose rows are in the list: the others show their worst in one line. @type {Set<string>} */
  #open = new Set();
  #topics = '';
  #met = '';
  /** @type {Shown} */
  shown = { only: 'all', grouping: 'none', query: '' };
  hues = new Hues();

  /**
   * @param {object} options
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {() => string} options.verdict members in it have a hue
   */
  constructor({ cast, labels, verdict }) {
    this.cast = cast;
    this.labels = labels;
    this.verdict = verdict;
  }

  get entities() {
    return this.#entities[this.kind];
  }

  get pins() {
    return this.#pins[this.kind];
  }

  /** @param {MapLane[]} all in their order @param {MapTopic[] | undefined} topics @returns {boolean} whether there are others now */
  meet(all, topics) {
    let fresh = false;
    // Every actor has a lane, members or not; who was a member is known with the first answer.
    const lanes = all.some(({ members }) => members.length) ? all.filter(({ members }) => members.length) : all;
    // A lane may be known by its name first, and by its host only with the first answer.
    const known = lanes
      .map(
        ({ members, host, rack_id, client_id }) => `${members.length}${host ?? ''}${rack_id ?? ''}${client_id ?? ''}`,
      )
      .join('\n');
    if (known !== this.#met) {
      this.#met = known;
      this.#lanes = new Map(lanes.map((lane) => [lane.key, lane]));
      this.#put('members', ofLanes(lanes));
      fresh = this.kind === 'members';
      this.paint();
    }
    const counts = topics?.map(({ topic, partitions }) => `${topic}:${partitions}`).join('\n') ?? '';
    if (topics && counts !== this.#topics) {
      this.#topics = counts;
      this.labels.meet(topics.map(({ topic }) => topic));
      this.#put(
        'partitions',
        ofTopics(topics, (key) => this.labels.partition(key)),
      );
      fresh ||= this.kind === 'partitions';
    }
    return fresh;
  }

  /** @param {Kind} kind @param {Entity[]} entities */
  #put(kind, entities) {
    this.#entities[kind] = entities;
    this.#haystacks[kind] = null;
    this.#index[kind] = new Map(entities.map(({ key }, index) => [key, index]));
  }

  /** Beyond a dozen members a hue belongs to those that the verdict names or the reader pins. */
  paint() {
    const lanes = [...this.#lanes.values()];
    this.hues.give([...this.#pins.members, ...namedIn(this.verdict(), lanes)]);
    for (const lane of this.cast.lanes) lane.hue = this.hues.of(lane.key);
  }

  /** @param {string} key @returns {MapLane} */
  lane(key) {
    const lane = this.#lanes.get(key);
    return lane?.members.length ? lane : /** @type {MapLane} */ ({ ...lane, key, name: key, members: [key] });
  }

  /** @param {Kind} kind @param {string} key @returns {Entity | null} */
  entity(kind, key) {
    const index = this.#index[kind].get(key);
    return index === undefined ? null : this.#entities[kind][index];
  }

  /** @param {string} key @returns {'pinned' | 'unpinned' | 'full'} */
  pin(key) {
    const pins = this.#pins[this.kind];
    const at = pins.indexOf(key);
    if (at >= 0) pins.splice(at, 1);
    else if (pins.length >= PINS_MOST) return 'full';
    else pins.push(key);
    if (this.kind === 'members') this.paint();
    return at >= 0 ? 'unpinned' : 'pinned';
  }

  /** Opens or closes a group. @param {string} key */
  fold(key) {
    if (!this.#open.delete(key)) this.#open.add(key);
  }

  /** Whatever hides a row is taken away. @param {string} key */
  uncover(key) {
    this.shown = { ...this.shown, only: 'all', query: '' };
    const entity = this.entity(this.kind, key);
    const { grouping } = this.shown;
    if (entity && grouping !== 'none') this.#open.add(`${grouping}\n${entity[grouping] ?? ''}`);
  }

  /**
   * @param {object} rows
   * @param {(index: number) => boolean} rows.changing
   * @param {ReadonlySet<string>} rows.troubled
   * @returns {{lines: Line[], pins: Line[], count: number, all: number}} `count` of the rows that are asked for, also in
   *   closed groups
   */
  lines({ changing, troubled }) {
    const { entities, kind } = this;
    const { only, grouping, query } = this.shown;
    const wanted = query.trim() ? found((this.#haystacks[kind] ??= entities.map(haystack)), query) : null;
    const set = wanted && new Set(wanted);
    const keep = (/** @type {number} */ index) =>
      (!set || set.has(index)) &&
      (only !== 'changing' || changing(index)) &&
      (only !== 'trouble' || troubled.has(entities[index].key));
    // A reader who searches or filters wants the rows, and few are left of them.
    const closed = (/** @type {string} */ group) => !set && only === 'all' && !this.#open.has(group);
    const lines = linesOf(entities, { grouping, closed, keep: set || only !== 'all' ? keep : null });
    // Of what was found, the best is first.
    if (wanted && grouping === 'none') {
      const rank = new Map(wanted.map((index, place) => [index, place]));
      lines.sort((a, b) => (rank.get(a.index) ?? 0) - (rank.get(b.index) ?? 0));
    }
    const count = lines.reduce((sum, line) => sum + (line.type === 'row' ? 1 : line.open ? 0 : line.indices.length), 0);
    const pins = this.pins.flatMap((key) => {
      const index = this.#index[kind].get(key);
      return index === undefined
        ? []
        : linesOf(entities, { grouping: 'none', closed: () => false, keep: null, of: [index] });
    });
    return { lines, pins, count, all: entities.length };
  }
}
