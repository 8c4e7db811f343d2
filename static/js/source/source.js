/**
 * The one source of what a map draws: windows of the timeline, each at the resolution that is looked at. It asks once for
 * each, keeps what came, and gives at once what is here while the better answer is under way.
 *
 * What gives the answers is put in: HTTP (`api.digest`), or data in the page. Chunks, and the frames in them, are the
 * timeline's.
 *
 * @import {EventGroup, GroupWindow, MapLane, MembersWindow, Moment, PartitionsWindow, WindowAsk} from '../types'
 * @typedef {'members' | 'partitions' | 'group'} Kind
 * @typedef {{from: number, to: number, columns: number, answer: any}} Kept
 */

import { groupOf, membersOf, partitionsOf } from './answers.js';

/** Windows of each kind that are kept: where one has been lately. One is a megabyte or two. */
const KEPT_MOST = 12;
/** Moments of a group of events in one page of its list. */
const EVENTS_PAGE = 500;
/** A chunk that nobody had looked at is opened by the server a few at a time: it is asked again so often at most. */
const UNKNOWN_ASKS_MOST = 200;

export class WindowSource {
  /** @type {{[kind in Kind]: Kept[]}} */
  #kept = { members: [], partitions: [], group: [] };
  /** @type {Map<string, Promise<any>>} */
  #asked = new Map();
  /** @type {Map<string, MapLane>} */
  #lanes = new Map();
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #unknown = 0;

  /**
   * @param {object} parts
   * @param {import('../timeline/timeline.js').Timeline} parts.timeline
   * @param {import('../frame/cast.js').Cast} parts.cast
   * @param {(of: Kind, ask: WindowAsk & {topics?: string[]}) => Promise<any>} parts.fetchDigest what the API answers
   */
  constructor({ timeline, cast, fetchDigest }) {
    this.timeline = timeline;
    this.cast = cast;
    this.fetchDigest = fetchDigest;
  }

  get origin() {
    return this.timeline.origin;
  }

  get last() {
    return this.timeline.last;
  }

  /** @returns {MapLane[]} */
  lanes() {
    for (const lane of this.cast.lanes) if (!this.#lanes.has(lane.key)) this.#lanes.set(lane.key, blank(lane));
    return [...this.#lanes.values()].sort((a, b) => a.order - b.order);
  }

  /** @param {WindowAsk} ask @returns {Promise<MembersWindow>} */
  members(ask) {
    return this.#window('members', ask, (answer) => {
      this.#meet(answer);
      return membersOf(answer, this.#laneOf);
    });
  }

  /** @param {WindowAsk & {topics?: string[]}} ask @returns {Promise<PartitionsWindow>} */
  partitions(ask) {
    return this.#window('partitions', ask, (answer) => partitionsOf(answer, this.#laneOf));
  }

  /** @param {WindowAsk} ask @returns {Promise<GroupWindow>} */
  group(ask) {
    return this.#window('group', ask, (answer) => groupOf(answer, this.#laneOf));
  }

  /**
   * What is here and covers the window: the finest such answer.
   *
   * @param {Kind} of
   * @param {WindowAsk} ask
   * @returns {any}
   */
  now(of, { from, to }) {
    let best = /** @type {Kept | null} */ (null);
    for (const kept of this.#kept[of]) {
      if (kept.from > from || kept.to < Math.min(to, this.last)) continue;
      if (!best || kept.to - kept.from < best.to - best.from || kept.answer.exact) best = kept;
    }
    return best?.answer ?? null;
  }

  /** @param {EventGroup} group @param {number} [after] @returns {Promise<Moment[]>} */
  async eventsOf(group, after = group.first - 1) {
    /** @type {Moment[]} */
    const found = [];
    for (const { first, last } of this.timeline.chunks) {
      if (last < Math.max(group.first, after + 1)) continue;
      if (first > group.last || found.length >= EVENTS_PAGE) break;
      const chunk = await this.timeline.fetch(first);
      for (const moment of chunk.moments) {
        if (moment.sequence <= after || moment.sequence < group.first || moment.sequence > group.last) continue;
        if (moment.shape === group.shape && (group.epoch === null || moment.epoch === group.epoch)) found.push(moment);
        if (found.length >= EVENTS_PAGE) break;
      }
    }
    return found;
  }

  /** @param {number} sequence */
  async frame(sequence) {
    return this.timeline.frameAt(sequence);
  }

  /** @param {() => void} listener */
  onGrow(listener) {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Entries were added: what reaches to the end is no longer all there is. @param {number} from the first of them */
  grown(from) {
    for (const of of /** @type {Kind[]} */ (['members', 'partitions', 'group'])) {
      this.#kept[of] = this.#kept[of].filter((kept) => kept.to < from - 1);
    }
    for (const listener of this.#listeners) listener();
  }

  #laneOf = (/** @type {string} */ member) => this.cast.lane(member);

  /** @param {any} answer */
  #meet(answer) {
    this.cast.meet(
      answer.ids
        .filter((/** @type {string} */ id) => !this.cast.knows(id))
        .map((/** @type {string} */ id) => ({ id, name: id })),
    );
    answer.ids.forEach((/** @type {string} */ id, /** @type {number} */ index) => {
      const lane = this.cast.lane(id);
      const held = this.#lanes.get(lane.key) ?? blank(lane);
      this.#lanes.set(lane.key, held);
      if (!held.members.includes(id)) held.members.push(id);
      const [client_id, host, rack_id, instance_id] = answer.facts[index] ?? [null, null, null, null];
      held.client_id = client_id ?? held.client_id;
      held.host = host ?? held.host;
      held.rack_id = rack_id ?? held.rack_id;
      held.instance_id = instance_id ?? held.instance_id;
      const { first, last } = answer.columns;
      const begin = answer.start[answer.offsets[index]];
      held.first = Math.min(held.first, first[begin]);
      held.last = Math.max(held.last, last[last.length - 1]);
    });
  }

  /** @param {Kind} of @param {WindowAsk & {topics?: string[]}} ask @param {(answer: any) => any} read */
  #window(of, ask, read) {
    const to = Math.min(ask.to, this.last);
    const topics = ask.topics ?? null;
    const here = topics
      ? null
      : this.#kept[of].find(
          (kept) =>
            kept.from <= ask.from &&
            kept.to >= to &&
            (kept.answer.exact || (kept.from === ask.from && kept.to === to && kept.columns === ask.columns)),
        );
    if (here) return Promise.resolve(here.answer);
    const id = JSON.stringify([of, ask.from, to, ask.columns, topics]);
    let asked = this.#asked.get(id);
    if (!asked) {
      asked = this.fetchDigest(of, { ...ask, to })
        .then((answer) => {
          if (answer === null) throw new RangeError('This timeline has no entries yet.');
          const window = read(answer);
          const unknown = answer.columns.unknown.some(Boolean);
          if (unknown) this.#askAgain();
          if (!topics && !unknown) this.#keep(of, { from: ask.from, to, columns: ask.columns, answer: window });
          return window;
        })
        .finally(() => this.#asked.delete(id));
      this.#asked.set(id, asked);
    }
    return asked;
  }

  /** Part of it was not known yet, and the server has opened some of that meanwhile. */
  #askAgain() {
    this.#unknown += 1;
    if (this.#unknown > UNKNOWN_ASKS_MOST) return;
    setTimeout(() => {
      for (const listener of this.#listeners) listener();
    }, 50);
  }

  /** @param {Kind} of @param {Kept} kept */
  #keep(of, kept) {
    const list = this.#kept[of];
    list.unshift(kept);
    if (list.length > KEPT_MOST) {
      // The widest one is what there is to draw at once, wherever one goes.
      const widest = list.reduce((most, one) => (one.to - one.from > most.to - most.from ? one : most));
      const oldest = list.findLastIndex((one) => one !== widest);
      list.splice(oldest, 1);
    }
  }
}

/** @param {import('../types').Lane} lane @returns {MapLane} */
function blank(lane) {
  return {
    ...lane,
    members: [],
    client_id: null,
    host: null,
    rack_id: null,
    instance_id: null,
    first: Infinity,
    last: -1,
  };
}
