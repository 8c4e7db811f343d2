/**
 * What the timeline draws, collected moment by moment: spans of ownership, stretches without an owner, group
 * states and epochs. Pure, and incremental: a timeline that grows adds to what is there.
 *
 * @import {Frame, Moment, Span} from '../types'
 * @import {Cast} from './cast.js'
 * @typedef {{from: number, to: number | null, from_ms: number, to_ms: number | null}} Stretch
 * @typedef {'killed' | 'paused' | 'cut' | 'fenced' | 'outside'} HardKind
 */

import { stillReads } from './hardships.js';
import { columnsOf, epochOf, isShare, partitionsOf, targetIsKnown, unowned, widen } from './view.js';

export class Spans {
  /** @type {Map<string, Span>} */
  #open = new Map();
  /** @type {Map<string, Stretch & {key: string}>} */
  #bare = new Map();
  /** @type {Map<string, Stretch>} */
  #suffered = new Map();
  /** @type {Frame | null} */
  #frame = null;
  #end = { sequence: 0, at_ms: 0 };

  /** @param {Cast} cast */
  constructor(cast) {
    this.cast = cast;
    /** @type {Span[]} */
    this.spans = [];
    /** @type {(Stretch & {key: string})[]} */
    this.bare = [];
    /** @type {(Stretch & {state: string})[]} */
    this.states = [];
    /** @type {{epoch: number, sequence: number, at_ms: number}[]} */
    this.epochs = [];
    /** @type {Map<string, number>} */
    this.counts = new Map();
    this.mostMembers = 0;
    /** Each coordinator that was named, from its fail-over on. @type {(Stretch & {name: string})[]} */
    this.coordinators = [];
    /** When a new one read the log and answered nobody. @type {(Stretch & {name: string})[]} */
    this.loads = [];
    /** What members suffered. @type {(Stretch & {lane: string, kind: HardKind})[]} */
    this.hard = [];
    /** @type {{sequence: number, at_ms: number, says: string}[]} */
    this.violations = [];
  }

  /** The state that the walk begins at: nothing has happened, but somebody may own something. @param {Frame} frame */
  start(frame) {
    this.#see(frame, frame.sequence, frame.at_ms, true);
  }

  /** @param {Moment} moment @param {Frame} frame */
  add(moment, frame) {
    if (moment.shape === 'violation')
      this.violations.push({ sequence: moment.sequence, at_ms: moment.at_ms, says: moment.says });
    this.#see(frame, moment.sequence, moment.at_ms, false);
  }

  /** The last sequence and time that were seen. */
  get end() {
    return this.#end;
  }

  /** @param {Frame} frame @param {number} sequence @param {number} at_ms @param {boolean} first */
  #see(frame, sequence, at_ms, first) {
    const before = this.#frame;
    this.#frame = frame;
    this.#end = { sequence, at_ms };
    this.cast.meetFrame(frame);

    const epoch = epochOf(frame);
    const known = this.epochs[this.epochs.length - 1];
    const begun = !first || Object.keys(frame.members).length > 0;
    if (
      begun &&
      epoch !== null &&
      epoch > 0 &&
      (!known || known.epoch !== epoch) &&
      (!before || epochOf(before) !== epoch || !known)
    ) {
      this.epochs.push({ epoch, sequence, at_ms });
    }
    const state = frame.state ?? 'unknown';
    const running = this.states[this.states.length - 1];
    if (!running || running.state !== state) {
      if (running) close(running, sequence, at_ms);
      this.states.push({ state, from: sequence, to: null, from_ms: at_ms, to_ms: null });
    }
    this.#coordinate(frame, sequence, at_ms);
    if (!before || before.clients !== frame.clients || before.members !== frame.members)
      this.#suffer(frame, sequence, at_ms);
    // Commits, heartbeats and timers leave these parts as they are, and so the spans.
    const still =
      before &&
      before.members === frame.members &&
      before.target === frame.target &&
      before.clients === frame.clients &&
      before.topics === frame.topics &&
      before.group_epoch === frame.group_epoch &&
      before.assignment_epoch === frame.assignment_epoch;
    if (still) return;

    this.mostMembers = Math.max(this.mostMembers, Object.keys(frame.members).length);
    widen(frame, this.counts);
    const views = partitionsOf(frame);
    this.#own(frame, views, sequence, at_ms);
    if (begun) this.#miss(frame, views, sequence, at_ms);
  }

  /** Who coordinates, and until when it loads: the end of that is a time, which may be in no entry. @param {Frame} frame @param {number} sequence @param {number} at_ms */
  #coordinate(frame, sequence, at_ms) {
    const it = frame.coordinator;
    const load = this.loads[this.loads.length - 1];
    if (load && load.to === null && at_ms >= (load.to_ms ?? 0)) load.to = sequence;
    if (!it?.name) return;
    const last = this.coordinators[this.coordinators.length - 1];
    const same = this.#epochOfCoordinator === it.epoch && last?.name === it.name;
    if (same) return;
    this.#epochOfCoordinator = it.epoch;
    if (last) close(last, sequence, at_ms);
    if (load && load.to === null) close(load, sequence, at_ms);
    this.coordinators.push({ name: it.name, from: sequence, to: null, from_ms: at_ms, to_ms: null });
    if (typeof it.loading_until_ms === 'number' && it.loading_until_ms > at_ms) {
      this.loads.push({ name: it.name, from: sequence, to: null, from_ms: at_ms, to_ms: it.loading_until_ms });
    }
  }

  /** @type {number | null | undefined} */
  #epochOfCoordinator = undefined;

  /** @param {Frame} frame @param {number} sequence @param {number} at_ms */
  #suffer(frame, sequence, at_ms) {
    /** @type {Map<string, {lane: string, kind: HardKind}>} */
    const now = new Map();
    for (const [member, client] of Object.entries(frame.clients ?? {})) {
      /** @type {HardKind[]} */
      const kinds = [];
      if (client.killed) kinds.push('killed');
      if (client.paused) kinds.push('paused');
      if (client.cut?.length) kinds.push('cut');
      if (client.fenced) kinds.push('fenced');
      if (stillReads(frame, member).length) kinds.push('outside');
      const lane = kinds.length ? this.cast.lane(member).key : '';
      for (const kind of kinds) now.set(`${lane}\n${kind}`, { lane, kind });
    }
    for (const [id, stretch] of this.#suffered) {
      if (now.has(id)) continue;
      close(stretch, sequence, at_ms);
      this.#suffered.delete(id);
    }
    for (const [id, what] of now) {
      if (this.#suffered.has(id)) continue;
      const stretch = { ...what, from: sequence, to: null, from_ms: at_ms, to_ms: null };
      this.#suffered.set(id, stretch);
      this.hard.push(stretch);
    }
  }

  /** @param {Frame} frame @param {Map<string, import('../types').PartitionView>} views @param {number} sequence @param {number} at_ms */
  #own(frame, views, sequence, at_ms) {
    /** @type {Map<string, {lane: string, key: string, mode: Span['mode']}>} */
    const now = new Map();
    const known = targetIsKnown(frame);
    for (const view of views.values()) {
      for (const holder of view.holders) {
        const lane = this.cast.lane(holder).key;
        const mode = view.mode === 'revoking' ? 'revoking' : 'own';
        now.set(`${lane}\n${view.key}`, { lane, key: view.key, mode });
      }
      for (const member of known ? view.wanted : []) {
        if (view.holders.includes(member) || (member !== view.wants && !isShare(frame))) continue;
        const lane = this.cast.lane(member).key;
        if (!now.has(`${lane}\n${view.key}`)) now.set(`${lane}\n${view.key}`, { lane, key: view.key, mode: 'want' });
      }
    }
    for (const [id, span] of this.#open) {
      if (now.get(id)?.mode !== span.mode) {
        close(span, sequence, at_ms);
        this.#open.delete(id);
      }
    }
    for (const [id, what] of now) {
      if (!this.#open.has(id)) {
        const span = { ...what, from: sequence, to: null, from_ms: at_ms, to_ms: null };
        this.#open.set(id, span);
        this.spans.push(span);
      }
    }
  }

  /** @param {Frame} frame @param {Map<string, import('../types').PartitionView>} views @param {number} sequence @param {number} at_ms */
  #miss(frame, views, sequence, at_ms) {
    const free = unowned(frame, columnsOf(this.counts), views);
    for (const [key, stretch] of this.#bare) {
      if (!free.has(key)) {
        close(stretch, sequence, at_ms);
        this.#bare.delete(key);
      }
    }
    for (const key of free) {
      if (!this.#bare.has(key)) {
        const stretch = { key, from: sequence, to: null, from_ms: at_ms, to_ms: null };
        this.#bare.set(key, stretch);
        this.bare.push(stretch);
      }
    }
  }
}

/** @param {Stretch} stretch @param {number} sequence @param {number} at_ms */
function close(stretch, sequence, at_ms) {
  stretch.to = sequence;
  stretch.to_ms = at_ms;
}

/**
 * Stretches without an owner that begin and end together are one band with several names.
 *
 * @param {(Stretch & {key: string})[]} bare
 * @returns {(Stretch & {keys: string[]})[]}
 */
export function bands(bare) {
  /** @type {Map<string, Stretch & {keys: string[]}>} */
  const merged = new Map();
  for (const { key, ...stretch } of bare) {
    const id = `${stretch.from}:${stretch.to}`;
    const band = merged.get(id);
    if (band) band.keys.push(key);
    else merged.set(id, { ...stretch, keys: [key] });
  }
  return [...merged.values()];
}
