/**
 * The board: lanes with chips for a dozen members; beyond, lanes for those that matter and one row for the others.
 *
 * @import {Column, Frame} from '../types'
 * @import {Rest} from '../timeline/timeline.js'
 * @import {Spans} from '../frame/spans.js'
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 */

import { textSize } from '../shared/text-size.js';
import { sceneAt } from '../frame/unread.js';
import { offsetMarks, placeOf } from '../frame/offset-marks.js';
import { columnsOf, partitionsOf, unowned, widen } from '../frame/view.js';
import { Lanes } from './lanes.js';

const LANES_MOST = 12;
export const COLUMNS_MOST = 24;
/** Room is kept for as many members as there will be, so that nothing below moves under a finger that scrubs. */
const ROOM_MOST = 60;
/** Below this a column cannot show even a number. */
const COLUMN_LEAST = 22;
const HEAD_LEAST = 118;

export class Board {
  /** @type {Lanes | import('./crowd.js').Crowd | null} */
  #drawn = null;
  /** Loaded for the first group that needs it. @type {typeof import('./crowd.js').Crowd | null} */
  #Crowd = null;
  /** The last rest, while that loads. @type {(() => void) | null} */
  #waiting = null;
  #shape = '';
  /** @type {Map<string, number>} */
  #counts = new Map();
  #members = 0;
  #picked = /** @type {string | null} */ (null);

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {(key: string) => void} [options.onPick]
   * @param {(moment: import('../types').Moment) => import('../frame/hardships.js').Violation | null} [options.violationAt]
   * @param {() => import('../types').SilentSpan[]} [options.silences] of the timeline
   * @param {() => import('../shapes').Finding[]} [options.findings] of the timeline
   * @param {() => string} [options.headline] of the timeline
   * @param {() => string} [options.story] of the timeline
   */
  constructor(
    root,
    { cast, labels, onPick, violationAt = () => null, silences = () => [], findings = () => [], headline, story },
  ) {
    this.texts = { headline, story };
    this.findings = findings;
    this.violationAt = violationAt;
    this.silences = silences;
    this.root = root;
    this.cast = cast;
    this.labels = labels;
    this.onPick = onPick;
  }

  /** What the whole timeline needs room for, so that columns stand still while it plays. @param {Spans} spans */
  room(spans) {
    for (const [topic, count] of spans.counts) this.#counts.set(topic, Math.max(count, this.#counts.get(topic) ?? 0));
    this.#members = Math.max(this.#members, spans.mostMembers);
  }

  /** @returns {Column[]} */
  get columns() {
    return columnsOf(this.#counts);
  }

  /** @param {string | null} key */
  pick(key) {
    this.#picked = key;
    this.#drawn?.pick(key);
  }

  /**
   * @param {Rest} rest
   * @param {object} how
   * @param {boolean} how.animate
   * @param {boolean} how.forward whether the last rest was the step before this one
   * @param {(key: string) => number | null} how.since when a partition lost its owner
   */
  render(rest, { animate, forward, since }) {
    const seen = sceneAt(rest, this.silences());
    const { frame, moment } = seen;
    this.cast.meetFrame(frame);
    this.labels.follow(frame.protocol, frame.protocol_type);
    this.labels.remember(frame.topics);
    widen(frame, this.#counts);
    this.#members = Math.max(this.#members, Object.keys(frame.members).length);
    const columns = this.columns;
    const drawn = this.#fitting(columns);
    const views = partitionsOf(frame);
    const violation = moment?.shape === 'violation' ? this.violationAt(moment) : null;
    const scene = {
      ...seen,
      views,
      free: unowned(frame, columns, views),
      since,
      forward,
      violation,
      marked: offsetMarks(this.findings(), placeOf(rest)),
    };
    if (!drawn) {
      this.#waiting = () => this.render(rest, { animate: false, forward, since });
      return scene;
    }
    this.root.style.setProperty('--most', String(Math.min(this.#members, ROOM_MOST)));
    drawn.render(scene, animate, columns);
    drawn.pick(this.#picked);
    return scene;
  }

  /** The board of many members, while it is one. */
  get crowd() {
    return this.#Crowd && this.#drawn instanceof this.#Crowd ? this.#drawn : null;
  }

  async #load() {
    this.#Crowd = (await import('./crowd.js')).Crowd;
    this.#waiting?.();
    this.#waiting = null;
  }

  /** @param {Column[]} columns */
  #fitting(columns) {
    const width = this.root.clientWidth / textSize() || 1000;
    const many =
      this.#members > LANES_MOST || columns.length > COLUMNS_MOST || columns.length * COLUMN_LEAST + HEAD_LEAST > width;
    const shape = many ? 'crowd' : columns.map((column) => column.key).join(' ');
    if (many && !this.#Crowd) {
      if (!this.#waiting) this.#load();
      return null;
    }
    this.#waiting = null;
    if (!this.#drawn || shape !== this.#shape) {
      this.#drawn?.destroy();
      this.labels.meet(this.#counts.keys());
      this.#shape = shape;
      const { cast, labels, onPick } = this;
      const options = { cast, labels, onPick };
      this.#drawn =
        many && this.#Crowd
          ? new this.#Crowd(this.root, { ...options, ...this.texts })
          : new Lanes(this.root, { ...options, columns });
    }
    return this.#drawn;
  }
}
