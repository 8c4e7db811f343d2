/**
 * What is behind the rows: the window in sight, the answers for it, and the pictures that are painted of them.
 *
 * @import {Source} from '../types'
 * @import {Axis, Entity, Kind, Line, Track, Window} from './types'
 */

import { GREY, NO_HUE } from './paint.js';
import { ABSENT, ofFlags, ofPartition, SETTLED } from './modes.js';
import { Scale, clamped, panned, revealing, zoomed } from './scale.js';
import { Windows } from './windows.js';

/** Bits of flags; each combination is looked up and not worked out for each run. */
const FLAGS = 4096;
const CODES = Uint8Array.from({ length: FLAGS }, (_, flags) => (ofFlags(flags) << 3) | NO_HUE);
/** Columns of the whole timeline, for what is drawn small. */
const WHOLE_COLUMNS = 600;

export class Plot {
  /** @type {Scale | null} */
  scale = null;
  /** @type {Scale | null} */
  far = null;
  /** @type {Axis} */
  axis = 'time';
  /** @type {Window | null} null: all */
  #window = null;
  #width = 1;
  /** @type {Kind} */
  kind = 'members';
  /** @type {Map<string, number>} */
  #rows = new Map();
  #rowsOf = /** @type {unknown} */ (null);

  /**
   * @param {Source} source
   * @param {object} on
   * @param {() => void} on.onAnswer
   * @param {(says: string) => void} on.onFail
   */
  constructor(source, { onAnswer, onFail }) {
    this.windows = new Windows(source, {
      arrived: () => {
        this.#rescale();
        onAnswer();
      },
      failed: onFail,
    });
  }

  get extent() {
    return this.windows.extent;
  }

  /** @returns {Window} */
  get window() {
    return this.#window ? clamped(this.#window, this.extent) : this.extent;
  }

  /** Whether there is anything to paint rows of. */
  get answered() {
    return this.windows.answers[this.kind] !== null;
  }

  /** Whether less than all is in sight. */
  get zoomed() {
    return this.#window !== null;
  }

  /** Partitions that the answer has no rows for: there are too many of them. */
  get leftOut() {
    return this.kind === 'partitions' ? (this.windows.answers.partitions?.left_out ?? 0) : 0;
  }

  /** Ask for what is in sight. @param {number} width of the plot in CSS pixels */
  ask(width) {
    this.#width = Math.max(1, Math.round(width));
    this.windows.want([this.kind, 'group'], this.window, this.#width);
    this.#rescale();
  }

  /** The timeline has grown, or is seen for the first time. */
  whole() {
    return this.windows.wantWhole(WHOLE_COLUMNS);
  }

  #rescale() {
    const { group, whole } = this.windows.answers;
    if (group) this.scale = new Scale(this.axis, group.columns, this.window);
    if (whole) this.far = new Scale(this.axis, whole.columns, this.extent);
  }

  /** @param {Window | null} window null: all */
  show(window) {
    const { extent } = this;
    const held = window && clamped(window, extent);
    this.#window = held && (held.from > extent.from || held.to < extent.to) ? held : null;
    this.ask(this.#width);
  }

  /** @param {number} by above 1 shows more @param {number} around a place */
  zoom(by, around) {
    if (this.scale && this.far) this.show(zoomed(this.window, by, around, this.scale, this.far, this.extent));
  }

  /** @param {number} by in widths */
  pan(by) {
    if (this.#window) this.show(panned(this.window, by, this.extent));
  }

  /** @param {number} sequence */
  reveal(sequence) {
    const moved = revealing(this.window, sequence, this.extent);
    if (moved !== this.window && this.#window) this.show(moved);
  }

  /** The middle of the window at a place of the whole. @param {number} place */
  centre(place) {
    if (!this.far || !this.#window) return;
    const { from, to } = this.window;
    const middle = this.far.at(place);
    this.show({ from: middle - (to - from) / 2, to: middle + (to - from) / 2 });
  }

  /**
   * The rows as they lie in the answer, for the axis in device pixels.
   *
   * @param {number} width in device pixels
   * @param {(lane: string) => string} hueOf a member's lane
   * @returns {Track | null} null: nothing has come yet
   */
  track(width, hueOf) {
    if (!this.scale) return null;
    if (this.kind === 'members') {
      const answer = this.windows.answers.members;
      if (!answer) return null;
      const { offsets, start, flags, columns } = answer;
      return {
        offsets,
        start,
        codeOf: (run) => CODES[flags[run] & (FLAGS - 1)],
        places: this.scale.edges(columns, width),
      };
    }
    const answer = this.windows.answers.partitions;
    if (!answer) return null;
    const { offsets, start, mode, owner, lanes, columns } = answer;
    const hues = Uint8Array.from(lanes, (lane) => {
      const hue = hueOf(lane);
      return hue === 'x' ? GREY : Number(hue);
    });
    const codeOf = (/** @type {number} */ run) => {
      const is = ofPartition(mode[run]);
      return (is << 3) | (is === SETTLED && owner[run] >= 0 ? hues[owner[run]] : NO_HUE);
    };
    return { offsets, start, codeOf, places: this.scale.edges(columns, width) };
  }

  /** Which row of the answer an entity has. @param {readonly Entity[]} entities @returns {(index: number) => number} -1: none */
  rowOf(entities) {
    if (this.kind === 'partitions') {
      const rows = (this.windows.answers.partitions?.offsets.length ?? 1) - 1;
      return (index) => (index < rows ? index : -1);
    }
    const answer = this.windows.answers.members;
    if (this.#rowsOf !== answer) {
      this.#rowsOf = answer;
      this.#rows = new Map(answer?.rows.map((key, row) => [key, row]));
    }
    return (index) => this.#rows.get(entities[index].key) ?? -1;
  }

  /** Which entities change in the window. @param {readonly Entity[]} entities @returns {(index: number) => boolean} */
  changing(entities) {
    const row = this.rowOf(entities);
    const answer = this.kind === 'members' ? this.windows.answers.members : this.windows.answers.partitions;
    if (!answer) return () => true;
    const { offsets } = answer;
    return (index) => {
      const at = row(index);
      if (at < 0) return false;
      const runs = offsets[at + 1] - offsets[at];
      return runs > 1 || (runs === 1 && this.modeOf(offsets[at]) !== SETTLED);
    };
  }

  /** What a run is. @param {number} run */
  modeOf(run) {
    const { members, partitions } = this.windows.answers;
    if (this.kind === 'members') return members ? CODES[members.flags[run] & (FLAGS - 1)] >> 3 : ABSENT;
    return partitions ? ofPartition(partitions.mode[run]) : ABSENT;
  }

  /** What an entity is at a place. @param {readonly Entity[]} entities @param {number} index @param {number} place @returns {number} a mode */
  modeAt(entities, index, place) {
    const answer = this.kind === 'members' ? this.windows.answers.members : this.windows.answers.partitions;
    const row = this.rowOf(entities)(index);
    if (!answer || row < 0 || !this.scale) return ABSENT;
    const edges = this.scale.edges(answer.columns, 1);
    let mode = ABSENT;
    for (let run = answer.offsets[row]; run < answer.offsets[row + 1]; run += 1) {
      if (edges[answer.start[run]] > place) break;
      mode = this.modeOf(run);
    }
    return mode;
  }
}
