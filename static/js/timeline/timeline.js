/**
 * A timeline in memory: chunks of changes between checkpoint frames, and a cursor that moves over them.
 *
 * It knows nothing of the DOM and nothing of Kafka's protocol. The board rests on *moments* only: states
 * inside a unit never existed. Chunks come through `load`, the tail of a timeline that grows through `append`.
 *
 * @import {Chunk, Delta, Frame, Moment} from '../types'
 * @import {Slot} from '../shared/slots.js'
 * @import {Follower} from './cursor.js'
 * @typedef {{frame: Frame, moment: Moment | null, sequence: number}} Rest
 */

import { apply } from '../frame/changes.js';
import { Cursor } from './cursor.js';
import { countUpTo, forget, indexOf, momentsBefore, slotOf, stepsBefore, stepsIn } from '../shared/slots.js';
import { walkOver } from './walk.js';

export { countUpTo } from '../shared/slots.js';

/** A tail that grows in the browser is cut at this many changes, so that a seek backwards stays short. */
const TAIL_CHANGES = 4000;

export class Timeline {
  /** @type {Slot[]} */
  #slots;
  #load;
  #ticket = 0;
  #cursor = new Cursor();

  /**
   * @param {object} options
   * @param {{first: number, last: number, moments?: number | null}[]} options.chunks in order, without holes
   * @param {(first: number) => Promise<Chunk>} options.load fetches the chunk that begins at `first`
   * @param {(moment: Moment) => boolean} [options.rests] which moments the board stops at
   * @param {Follower | null} [options.follower] is notified of each move of the cursor, by the changes where they are few
   * @param {number} [options.keep] chunks that stay in memory: the others are fetched again when they are needed
   */
  constructor({ chunks, load, rests = () => true, follower = null, keep = Infinity }) {
    this.#slots = chunks.map(({ first, last, moments = null }) => slotOf(first, last, moments));
    this.#load = load;
    this.rests = rests;
    this.follower = follower;
    this.keep = keep;
    /** The moments of all loaded chunks, in order. @type {Moment[]} */
    this.moments = [];
    /** The moments that the board stops at. @type {Moment[]} */
    this.steps = [];
    /** @type {Rest | null} */
    this.rest = null;
  }

  /** The sequence of the last entry that is known to exist. */
  get last() {
    return this.#slots.length ? this.#slots[this.#slots.length - 1].last : 0;
  }

  /** The sequence that is before the first entry (0, unless retention has cut the log from below). */
  get origin() {
    return this.#slots.length ? this.#slots[0].first - 1 : 0;
  }

  get empty() {
    return this.#slots.length === 0;
  }

  /** Whether every chunk is here, so that steps can be counted. */
  get whole() {
    return this.#slots.every((slot) => slot.data !== null);
  }

  /** @returns {{first: number, last: number, loaded: boolean}[]} */
  get chunks() {
    return this.#slots.map(({ first, last, data }) => ({ first, last, loaded: data !== null }));
  }

  /** A chunk that has come with the page. @param {Chunk} chunk */
  give(chunk) {
    const slot = this.#slots.find((candidate) => candidate.first === chunk.first);
    if (slot && !slot.data) this.#take(slot, chunk);
  }

  /**
   * Move to the moment that holds `sequence`, or else the last one before it. A later call takes over: the
   * earlier one then answers null.
   *
   * @param {number} sequence
   * @returns {Promise<Rest | null>}
   */
  async seek(sequence) {
    this.#ticket += 1;
    const ticket = this.#ticket;
    let index = this.#indexOf(sequence);
    while (index >= 0) {
      const slot = this.#slots[index];
      if (!slot.data) await this.fetch(slot.first);
      if (ticket !== this.#ticket) return null;
      const moment = this.#momentIn(slot, sequence);
      if (moment) return this.#settle(slot, moment);
      if (index === 0) return this.#settle(slot, null);
      index -= 1;
    }
    return null;
  }

  /** @param {number} sequence @returns {Rest | null} what `seek` answers where all is loaded, at once */
  seekLoaded(sequence) {
    for (let index = this.#indexOf(sequence); index >= 0; index -= 1) {
      const slot = this.#slots[index];
      if (!slot.data) return null;
      const moment = this.#momentIn(slot, sequence);
      if (moment || index === 0) {
        this.#ticket += 1;
        return this.#settle(slot, moment);
      }
    }
    return null;
  }

  /** One moment forwards or backwards. @param {1 | -1} direction @returns {Promise<Rest | null>} null at the end */
  async step(direction) {
    const from = this.rest ? this.rest.sequence : this.origin;
    const target = await this.#neighbour(from, direction);
    if (target === null) return null;
    return this.seekLoaded(target) ?? this.seek(target);
  }

  /**
   * The start of the next epoch, or the start of this one and then of the one before; the ends where there is none.
   *
   * @param {1 | -1} direction
   * @param {{sequence: number}[]} epochs starts of epochs, in order
   * @returns {Promise<Rest | null>}
   */
  async stepEpoch(direction, epochs) {
    const from = this.rest ? this.rest : { sequence: this.origin, moment: null };
    const first = from.moment ? from.moment.first : from.sequence;
    const target =
      direction > 0
        ? (epochs.find((epoch) => epoch.sequence > from.sequence)?.sequence ?? this.last)
        : (epochs.findLast((epoch) => epoch.sequence < first)?.sequence ?? this.origin);
    return this.seek(target);
  }

  /** The place of the rest among the steps: 0 is the state before the first. Where chunks were not fetched, by the index's counts. */
  get position() {
    if (!this.rest) return 0;
    if (this.whole) return countUpTo(this.steps, this.rest.sequence);
    const index = this.#indexOf(this.rest.sequence);
    return (
      stepsBefore(this.#slots, index, this.rests) + countUpTo(this.#stepsIn(this.#slots[index]), this.rest.sequence)
    );
  }

  /** The number of the rest (`numberOf`), 0 before the first moment. */
  get number() {
    return this.rest?.moment ? this.numberOf(this.rest.moment.sequence) : 0;
  }

  /** How many moments there are; null where chunks were not fetched that nobody counted. */
  get count() {
    return momentsBefore(this.#slots, this.#slots.length);
  }

  /** Whether the board is on the last known step. */
  get atEnd() {
    if (!this.#slots.length) return true;
    if (!this.rest) return this.whole && !this.steps.length;
    const { sequence } = this.rest;
    for (let index = this.#slots.length - 1; index >= 0; index -= 1) {
      const slot = this.#slots[index];
      if (slot.last <= sequence && slot.last > 0) return true;
      if (!slot.data) {
        if (slot.moments === 0) continue;
        return false;
      }
      const steps = this.#stepsIn(slot);
      if (steps.length) return sequence >= steps[steps.length - 1].sequence;
    }
    return true;
  }

  /** @param {Slot} slot @returns {Moment[]} where the board stops in it */
  #stepsIn(slot) {
    return stepsIn(slot, this.rests);
  }

  /** The steps around the rest: those of its chunk. @returns {Moment[]} */
  get near() {
    const slot = this.rest ? this.#slots[this.#indexOf(this.rest.sequence)] : null;
    return slot ? this.#stepsIn(slot) : [];
  }

  /** The frame after an entry, wherever the cursor is. @param {number} sequence @returns {Promise<Frame>} */
  async frameAt(sequence) {
    const slot = this.#slots[Math.max(0, this.#indexOf(sequence))];
    if (!slot) throw new RangeError('This timeline has no entries yet.');
    const data = await this.fetch(slot.first);
    return apply(data.frame, data.changes, 0, countUpTo(data.changes, sequence));
  }

  /** @param {number} sequence @returns {Moment | null} the moment that holds this entry */
  momentAt(sequence) {
    const moments = this.#slots[this.#indexOf(sequence)]?.data?.moments ?? [];
    const moment = moments[countUpTo(moments, sequence - 1)];
    return moment && moment.first <= sequence ? moment : null;
  }

  /** What the entries of a moment changed in the frame. @param {Moment} moment */
  changesOf({ first, sequence }) {
    const changes = this.#slots[this.#indexOf(sequence)]?.data?.changes ?? [];
    return changes.slice(countUpTo(changes, first - 1), countUpTo(changes, sequence));
  }

  /** Which moments the board stops at from now on. @param {(moment: Moment) => boolean} rests */
  restOn(rests) {
    this.rests = rests;
    for (const slot of this.#slots) slot.steps = null;
    this.steps = this.moments.filter(rests);
  }

  /** @param {number} first @returns {Promise<Chunk>} */
  fetch(first) {
    const slot = this.#slots.find((candidate) => candidate.first === first);
    if (!slot) return Promise.reject(new RangeError(`no chunk begins at ${first}`));
    if (slot.data) return Promise.resolve(slot.data);
    slot.loading ??= this.#load(first).then(
      (chunk) => this.#take(slot, chunk),
      (error) => {
        slot.loading = null;
        throw error;
      },
    );
    return slot.loading;
  }

  /** New entries at the end. False if something before them is missing; then nothing was taken. @param {Delta} delta */
  append(delta) {
    if (delta.after > this.last) return false;
    if (delta.last <= this.last) return true;
    if (!this.#slots.length) {
      this.#slots.push(slotOf(1, 0, null));
    }
    const slot = this.#slots[this.#slots.length - 1];
    if (slot.data) this.#extend(slot, delta);
    else {
      // The chunk that is fetched later may have been closed before this delta: both together leave no hole.
      slot.late.push(delta);
      slot.last = delta.last;
    }
    return true;
  }

  /**
   * A walk over the moments from the first on, each with its frame. A walk goes as far as chunks are loaded, and
   * goes on from there when it is asked again: what has been visited is never visited twice.
   *
   * @param {(moment: Moment, frame: Frame) => void} visit
   * @param {(frame: Frame) => void} [start] called once with the frame before the first moment
   * @param {number | null} [only] the first entry of the chunk that alone is walked over
   * @returns {(over?: () => boolean) => boolean} goes on until `over()`; whether all that is here was visited
   */
  walk(visit, start = () => {}, only = null) {
    return walkOver(this.#slots, {
      begin: only === null ? 0 : Math.max(0, this.#indexOf(only)),
      only: only !== null,
      visit,
      start,
    });
  }

  /** Where the chunk begins in which an entry is. @param {number} sequence */
  chunkOf(sequence) {
    return this.#slots[Math.max(0, this.#indexOf(sequence))]?.first ?? 1;
  }

  /** The number of an entry's moment among all moments, whatever is loaded and wherever the board stops; null while unknown. @param {number} sequence */
  numberOf(sequence) {
    const index = this.#indexOf(sequence);
    const data = this.#slots[index]?.data;
    const before = data ? momentsBefore(this.#slots, index) : null;
    return data && before !== null ? before + countUpTo(data.moments, sequence - 1) + 1 : null;
  }

  /** @param {number} sequence */
  #indexOf(sequence) {
    return indexOf(this.#slots, sequence);
  }

  /** @param {Slot} slot @param {number} sequence @returns {Moment | null} */
  #momentIn(slot, sequence) {
    const moments = this.#stepsIn(slot);
    const before = countUpTo(moments, sequence);
    const next = moments[before];
    if (next && next.first <= sequence) return next;
    return before > 0 ? moments[before - 1] : null;
  }

  /** @param {number} from @param {1 | -1} direction @returns {Promise<number | null>} */
  async #neighbour(from, direction) {
    if (direction > 0) {
      for (let index = this.#indexOf(from + 1); index < this.#slots.length && index >= 0; index += 1) {
        const data = await this.fetch(this.#slots[index].first);
        const steps = data.moments.length ? this.#stepsIn(this.#slots[index]) : [];
        const moment = steps[countUpTo(steps, from)];
        if (moment) return moment.sequence;
      }
      return null;
    }
    if (from <= this.origin) return null;
    for (let index = this.#indexOf(from); index >= 0; index -= 1) {
      const data = await this.fetch(this.#slots[index].first);
      const steps = data.moments.length ? this.#stepsIn(this.#slots[index]) : [];
      const moment = steps[countUpTo(steps, from - 1) - 1];
      if (moment) return moment.sequence;
    }
    return this.origin;
  }

  /** @param {Slot} slot @param {Moment | null} moment @returns {Rest} */
  #settle(slot, moment) {
    const frame = this.#cursor.move(slot, moment, this.follower);
    this.#touch(slot);
    this.rest = { frame, moment, sequence: moment ? moment.sequence : this.origin };
    return this.rest;
  }

  #clock = 0;

  /** A slot was used; of those that were not for the longest, as many are forgotten as are too many. @param {Slot} slot */
  #touch(slot) {
    this.#clock += 1;
    slot.used = this.#clock;
    if (forget(this.#slots, this.keep, this.#cursor.slot)) this.#count();
  }

  /** @param {Slot} slot @param {Chunk} chunk */
  #take(slot, chunk) {
    slot.data = { ...chunk, changes: [...chunk.changes], moments: [...chunk.moments] };
    slot.steps = null;
    slot.loading = null;
    const { late } = slot;
    slot.late = [];
    slot.last = chunk.last;
    for (const delta of late) if (delta.after <= this.last) this.#extend(this.#slots[this.#slots.length - 1], delta);
    this.#count();
    const { data } = slot;
    this.#touch(slot);
    return data;
  }

  /** @param {Slot} slot @param {Delta} delta */
  #extend(slot, delta) {
    const data = /** @type {Chunk} */ (slot.data);
    const fresh = (/** @type {{sequence: number}} */ item) => item.sequence > data.last;
    data.changes.push(...delta.changes.filter(fresh));
    const moments = delta.moments.filter(fresh);
    data.moments.push(...moments);
    slot.steps = null;
    this.moments.push(...moments);
    this.steps.push(...moments.filter(this.rests));
    data.last = Math.max(data.last, delta.last);
    slot.last = data.last;
    if (data.changes.length > TAIL_CHANGES) {
      const frame = apply(data.frame, data.changes);
      const next = { first: data.last + 1, last: data.last, frame, changes: [], moments: [] };
      this.#slots.push({ ...slotOf(next.first, next.last, null), data: next });
    }
  }

  #count() {
    this.moments = this.#slots.flatMap((slot) => (slot.data ? slot.data.moments : []));
    this.steps = this.moments.filter(this.rests);
  }
}
