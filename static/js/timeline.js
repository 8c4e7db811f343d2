/**
 * A timeline in memory: chunks of changes between checkpoint frames, and a cursor that moves over them.
 *
 * It knows nothing of the DOM and nothing of Kafka's protocol. The board rests on *moments* only: states
 * inside a unit never existed. Chunks come through `load`, the tail of a timeline that grows through `append`.
 *
 * @typedef {import('./types').Chunk} Chunk
 * @typedef {import('./types').Delta} Delta
 * @typedef {import('./types').Frame} Frame
 * @typedef {import('./types').Moment} Moment
 * @typedef {{first: number, last: number, data: Chunk | null, loading: Promise<Chunk> | null, late: Delta[]}} Slot
 * @typedef {{frame: Frame, moment: Moment | null, sequence: number}} Rest
 */

import { apply, unapply } from './changes.js';

/** A tail that grows in the browser is cut at this many changes, so that a seek backwards stays short. */
const TAIL_CHANGES = 4000;

/**
 * The number of items whose sequence is at most `sequence`.
 *
 * @param {{sequence: number}[]} items in the order of their sequences
 * @param {number} sequence
 */
export function countUpTo(items, sequence) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].sequence <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Timeline {
  /** @type {Slot[]} */
  #slots;
  #load;
  #ticket = 0;
  /** @type {{slot: Slot, applied: number, frame: Frame} | null} */
  #cursor = null;

  /**
   * @param {object} options
   * @param {{first: number, last: number}[]} options.chunks in order, without holes
   * @param {(first: number) => Promise<Chunk>} options.load fetches the chunk that begins at `first`
   * @param {(moment: Moment) => boolean} [options.rests] which moments the board stops at
   */
  constructor({ chunks, load, rests = () => true }) {
    this.#slots = chunks.map(({ first, last }) => ({ first, last, data: null, loading: null, late: [] }));
    this.#load = load;
    this.rests = rests;
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

  /** The sequence that stands before the first entry (0, unless retention has cut the log from below). */
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

  /**
   * A chunk that has come with the page.
   *
   * @param {Chunk} chunk
   */
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

  /**
   * One moment forwards or backwards.
   *
   * @param {1 | -1} direction
   * @returns {Promise<Rest | null>} null at the end
   */
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
    const target = direction > 0
      ? epochs.find((epoch) => epoch.sequence > from.sequence)?.sequence ?? this.last
      : epochs.findLast((epoch) => epoch.sequence < first)?.sequence ?? this.origin;
    return this.seek(target);
  }

  /** The place of the rest among the steps: 0 is the state before the first. */
  get position() {
    return this.rest ? countUpTo(this.steps, this.rest.sequence) : 0;
  }

  /** Whether the board stands on the last known step. */
  get atEnd() {
    const end = this.steps[this.steps.length - 1];
    return !end || (this.rest !== null && this.rest.sequence >= end.sequence);
  }

  /** @param {number} sequence @returns {Moment | null} the moment that holds this entry */
  momentAt(sequence) {
    const index = countUpTo(this.moments, sequence - 1);
    const moment = this.moments[index];
    return moment && moment.first <= sequence ? moment : null;
  }

  /**
   * Which moments the board stops at from now on.
   *
   * @param {(moment: Moment) => boolean} rests
   */
  restOn(rests) {
    this.rests = rests;
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

  /**
   * New entries at the end. False if something before them is missing; then nothing was taken.
   *
   * @param {Delta} delta
   */
  append(delta) {
    if (delta.after > this.last) return false;
    if (delta.last <= this.last) return true;
    if (!this.#slots.length) {
      this.#slots.push({ first: 1, last: 0, data: null, loading: null, late: [] });
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
   * @returns {() => void} goes on
   */
  walk(visit, start = () => {}) {
    let index = 0;
    let applied = 0;
    let visited = 0;
    /** @type {Frame | null} */
    let frame = null;
    return () => {
      for (;;) {
        const data = this.#slots[index]?.data;
        if (!data) return;
        if (frame === null) {
          frame = data.frame;
          if (index === 0) start(frame);
        }
        for (; visited < data.moments.length; visited += 1) {
          const moment = data.moments[visited];
          const upTo = countUpTo(data.changes, moment.sequence);
          frame = apply(frame, data.changes, applied, upTo);
          applied = upTo;
          visit(moment, frame);
        }
        // The last chunk may still grow.
        if (!this.#slots[index + 1]?.data) return;
        index += 1;
        applied = 0;
        visited = 0;
        frame = null;
      }
    };
  }

  /** @param {number} sequence */
  #indexOf(sequence) {
    if (!this.#slots.length) return -1;
    let index = 0;
    while (index < this.#slots.length - 1 && this.#slots[index + 1].first <= sequence) index += 1;
    return index;
  }

  /** @param {Slot} slot @param {number} sequence @returns {Moment | null} */
  #momentIn(slot, sequence) {
    const moments = /** @type {Chunk} */ (slot.data).moments.filter(this.rests);
    const before = countUpTo(moments, sequence);
    const next = moments[before];
    if (next && next.first <= sequence) return next;
    return before > 0 ? moments[before - 1] : null;
  }

  /**
   * @param {number} from
   * @param {1 | -1} direction
   * @returns {Promise<number | null>}
   */
  async #neighbour(from, direction) {
    if (direction > 0) {
      for (let index = this.#indexOf(from + 1); index < this.#slots.length && index >= 0; index += 1) {
        const data = await this.fetch(this.#slots[index].first);
        const moment = data.moments.find((candidate) => candidate.sequence > from && this.rests(candidate));
        if (moment) return moment.sequence;
      }
      return null;
    }
    if (from <= this.origin) return null;
    for (let index = this.#indexOf(from); index >= 0; index -= 1) {
      const data = await this.fetch(this.#slots[index].first);
      const moment = data.moments.findLast((candidate) => candidate.sequence < from && this.rests(candidate));
      if (moment) return moment.sequence;
    }
    return this.origin;
  }

  /** @param {Slot} slot @param {Moment | null} moment @returns {Rest} */
  #settle(slot, moment) {
    const data = /** @type {Chunk} */ (slot.data);
    const target = moment ? countUpTo(data.changes, moment.sequence) : 0;
    const cursor = this.#cursor;
    let frame;
    if (cursor && cursor.slot === slot && Math.abs(target - cursor.applied) <= target) {
      frame = target >= cursor.applied
        ? apply(cursor.frame, data.changes, cursor.applied, target)
        : unapply(cursor.frame, data.changes, target, cursor.applied);
    } else {
      frame = apply(data.frame, data.changes, 0, target);
    }
    this.#cursor = { slot, applied: target, frame };
    this.rest = { frame, moment, sequence: moment ? moment.sequence : this.origin };
    return this.rest;
  }

  /** @param {Slot} slot @param {Chunk} chunk */
  #take(slot, chunk) {
    slot.data = { ...chunk, changes: [...chunk.changes], moments: [...chunk.moments] };
    slot.loading = null;
    const { late } = slot;
    slot.late = [];
    slot.last = chunk.last;
    for (const delta of late) if (delta.after <= this.last) this.#extend(this.#slots[this.#slots.length - 1], delta);
    this.#count();
    return slot.data;
  }

  /** @param {Slot} slot @param {Delta} delta */
  #extend(slot, delta) {
    const data = /** @type {Chunk} */ (slot.data);
    const fresh = (/** @type {{sequence: number}} */ item) => item.sequence > data.last;
    data.changes.push(...delta.changes.filter(fresh));
    const moments = delta.moments.filter(fresh);
    data.moments.push(...moments);
    this.moments.push(...moments);
    this.steps.push(...moments.filter(this.rests));
    data.last = Math.max(data.last, delta.last);
    slot.last = data.last;
    if (data.changes.length > TAIL_CHANGES) {
      const frame = apply(data.frame, data.changes);
      const next = { first: data.last + 1, last: data.last, frame, changes: [], moments: [] };
      this.#slots.push({ first: next.first, last: next.last, data: next, loading: null, late: [] });
    }
  }

  #count() {
    this.moments = this.#slots.flatMap((slot) => (slot.data ? slot.data.moments : []));
    this.steps = this.moments.filter(this.rests);
  }
}
