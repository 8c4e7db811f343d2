/**
 * The board of more than sixty members: the same lanes as with fewer, and below them a map with a row for each member over time.
 * Nothing here is made of all moments. Windows of the timeline come from the source, the state at the
 * playhead from the frame and the ownership that follows it, and like events are one line.
 *
 * @import {MapScene, Meta, Moment} from '../types'
 * @import {Rest} from '../timeline/timeline.js'
 */

import { addCommitted } from '../panels/committed-card.js';
import { EventGroups } from '../panels/event-groups.js';
import { showPartition } from '../panels/partition-card.js';
import { WindowSource } from '../source/source.js';
import { stretchesOf } from '../source/stretches.js';
import { sceneAt } from '../frame/unread.js';
import { columnOf, columnsOf, widen } from '../frame/view.js';
import { Crowd } from '../board/crowd.js';
import { h } from '../shared/dom.js';

/** As fine as the list of events needs it: it is collapsed on the server, whatever the columns are. */
const COLUMNS = 800;
/** Of more partitions the quiet ones are not even counted in runs. */
const LISTED_MOST = 20_000;
/** For the owners of one partition, whose rows are few. */
const COLUMNS_OF_ONE = 4000;

export class CrowdStage {
  #picked = /** @type {string | null} */ (null);
  #asked = 0;
  /** The last entry when it was looked at. @type {number | null} */
  #last = null;

  /**
   * @param {object} parts
   * @param {import('../timeline/timeline.js').Timeline} parts.timeline
   * @param {import('../frame/ownership.js').Ownership} parts.ownership that follows the timeline
   * @param {Meta} parts.meta
   * @param {import('../frame/cast.js').Cast} parts.cast
   * @param {import('../frame/labels.js').Labels} parts.labels
   * @param {{[name: string]: HTMLElement}} parts.places
   * @param {(of: 'members' | 'partitions' | 'group', ask: import('../types').WindowAsk & {topics?: string[]}) => Promise<any>} parts.fetchDigest
   * @param {import('../panels/committed-card.js').FetchOffsets | null} parts.fetchOffsets
   * @param {(moment: Moment) => import('../frame/hardships.js').Violation | null} parts.violationAt
   * @param {(sequence: number) => void} parts.onSeek
   * @param {(key: string | null) => void} parts.onPick
   * @param {() => void} parts.onSettled
   * @param {(parts: {source: WindowSource, root: HTMLElement, onPins: (members: string[]) => void}) => import('../map/map.js').BoardMap} parts.draws makes what draws the scene
   */
  constructor({
    timeline,
    ownership,
    meta,
    cast,
    labels,
    places,
    fetchDigest,
    fetchOffsets,
    violationAt,
    onSeek,
    onPick,
    onSettled,
    draws,
  }) {
    this.timeline = timeline;
    this.ownership = ownership;
    this.meta = meta;
    this.cast = cast;
    this.labels = labels;
    this.places = places;
    this.violationAt = violationAt;
    this.fetchOffsets = fetchOffsets;
    this.onPick = onPick;
    this.onSettled = onSettled;
    this.source = new WindowSource({ timeline, cast, fetchDigest });
    this.events = new EventGroups({
      root: places.log,
      note: places.chain,
      cast,
      eventsOf: (group, after) => this.source.eventsOf(group, after),
      onSeek,
    });
    places.filter.hidden = true;
    places.commits.hidden = true;
    const [lanes, rows] = [h('div'), h('div')];
    places.board.replaceChildren(lanes, rows);
    this.map = draws({ source: this.source, root: rows, onPins: (members) => this.crowd.pin(members) });
    this.crowd = new Crowd(lanes, {
      cast,
      labels,
      onPick,
      headline: () => meta.summary.verdict?.headline?.text ?? '',
      onOpen: () => this.map.first(),
    });
    lanes.addEventListener('click', (event) => this.#follow(/** @type {Element} */ (event.target)));
  }

  /** From a lane to the member's row. @param {Element} target */
  #follow(target) {
    const lane = /** @type {HTMLElement | null} */ (target.closest('[role="rowheader"]')?.closest('[data-lane]'));
    if (lane?.dataset.lane) this.map.go('members', lane.dataset.lane);
  }

  /** Partitions of the topics that have been seen. @type {Map<string, number>} */
  #counts = new Map();
  /** @type {import('../types').Frame['topics'] | undefined} */
  #topics = undefined;
  /** @type {import('../types').Column[]} */
  #columns = [];

  /** All partitions, of which few have a column of their own. @param {import('../types').Frame} frame */
  #columnsAt(frame) {
    const before = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    if (!before || frame.topics !== this.#topics) widen(frame, this.#counts);
    this.#topics = frame.topics;
    const after = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    if (after !== before) this.#columns = after > LISTED_MOST ? [] : columnsOf(this.#counts);
    return this.#columns;
  }

  /** Only what the entries themselves contain. @param {Moment} moment */
  causeOf(moment) {
    return moment.cause;
  }

  /** @returns {{sequence: number}[]} */
  get epochs() {
    return this.meta.summary.epochs ?? [];
  }

  /** @param {Rest} rest */
  show(rest) {
    const seen = sceneAt(rest, this.meta.summary.silences ?? []);
    const { frame, moment, silent } = seen;
    const { sequence } = rest;
    this.labels.follow(frame.protocol, frame.protocol_type);
    this.labels.remember(frame.topics);
    const violation = moment?.shape === 'violation' ? this.violationAt(moment) : null;
    const { ownership } = this;
    this.crowd.render(
      { ...seen, views: ownership, free: ownership.free, since: () => null, forward: false, violation },
      false,
      this.#columnsAt(frame),
    );
    this.map.render({ frame, moment, sequence, ownership, violation, silent });
    this.events.move(sequence);
    return { views: this.ownership, violation };
  }

  /** Entries were added, or it begins. */
  async grow() {
    this.#asked += 1;
    const asked = this.#asked;
    const { timeline, source } = this;
    if (this.#last !== null && timeline.last > this.#last) source.grown(this.#last + 1);
    this.#last = timeline.last;
    if (timeline.empty) return;
    const group = await source.group({ from: timeline.origin, to: timeline.last, columns: COLUMNS });
    if (asked !== this.#asked) return;
    this.events.load(group.events, group.more, this.meta.summary.first_ms ?? group.columns.from_ms[0] ?? 0);
    if (timeline.rest) this.events.move(timeline.rest.sequence);
    this.onSettled();
  }

  /** Chunks come when somebody looks at them. */
  async fetchBehind() {}

  /** @param {'events' | 'time'} axis */
  set axis(axis) {
    this.map.axis = axis;
  }

  /** Rows of a crowd are coloured by what they say. @param {'member' | 'partition'} _hue */
  set hue(_hue) {}

  /** @param {string | null} key */
  async pick(key) {
    this.#picked = key;
    this.crowd.pick(key);
    const { cast, labels } = this;
    const shown = { key, cast, labels, onClose: () => this.onPick(null) };
    if (key === null) {
      showPartition(this.places.partition, { ...shown, spans: { spans: [], bare: [] } });
      return;
    }
    const window = await this.source.partitions({
      from: this.timeline.origin,
      to: this.timeline.last,
      columns: COLUMNS_OF_ONE,
      topics: [columnOf(key).topic],
    });
    if (this.#picked !== key) return;
    const spans = stretchesOf(window, key);
    showPartition(this.places.partition, { ...shown, spans, rounded: !window.exact });
    await addCommitted(this, key, spans.bare, () => this.#picked === key);
  }
}
