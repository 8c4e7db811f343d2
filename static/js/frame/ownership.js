/**
 * Who holds and should hold each partition at the playhead, kept change by change: what a step costs follows what it
 * changed, never the size of the group. It gives the same as `partitionsOf`, `unowned` and `distance` (view.js) for the whole frame.
 *
 * @import {Change, Frame, PartitionView, Partitions} from '../types'
 * @typedef {{topic: string, partition: number, holders: Map<string, number>, wanted: Set<string>}} Place
 */

import { columnOf, givingUp, hasStopped, heldBy, isShare, isStreams, keyOf, keysOf, targetIsKnown } from './view.js';

const ASSIGNED = 1;
const PENDING = 2;
const CLIENT = 4;
const GIVING_UP = PENDING | CLIENT;

/** Where more members than this have changed, and a third of all: to restart costs less than to compare. */
const MANY = 50;

const NONE = /** @type {Partitions} */ ({});

export class Ownership {
  /** @type {Map<string, Place>} */
  #places = new Map();
  /** Partitions that each topic has, of those that the group has had to do with. @type {Map<string, number>} */
  #exist = new Map();
  /** Topics that it had to do with before this frame. @type {Set<string>} */
  #met = new Set();
  /** @type {Set<string>} */
  #free = new Set();
  /** One holder, who is not the target owner: it counts while the target is known. @type {Set<string>} */
  #astray = new Set();
  /** Being revoked, or held twice. @type {Set<string>} */
  #busy = new Set();
  /** @type {Set<string> | null} */
  #moving = null;
  #mentioned = 0;
  /** While a whole frame is taken in, places alone are filled. */
  #beginning = false;
  #known = false;
  #share = false;
  #streams = false;
  /** @type {Frame | null} */
  frame = null;

  /** From a whole frame: costs as much as the group is large. @param {Frame} frame */
  start(frame) {
    this.#places.clear();
    this.#members.clear();
    for (const topic of this.#exist.keys()) this.#met.add(topic);
    this.#exist.clear();
    this.#free.clear();
    this.#astray.clear();
    this.#busy.clear();
    this.#mentioned = 0;
    this.frame = frame;
    this.#share = isShare(frame);
    this.#streams = isStreams(frame);
    this.#beginning = true;
    for (const [id, member] of Object.entries(frame.members)) {
      for (const topic of member.subscribed ?? [])
        if (!this.#exist.has(topic) && frame.topics?.[topic]?.partitions) this.#size(topic);
      this.#hold(id, ASSIGNED, NONE, heldBy(frame, id));
      this.#hold(id, PENDING, NONE, member.pending_revocation);
      this.#hold(id, CLIENT, NONE, frame.clients?.[id]?.revoking);
    }
    for (const [id, target] of Object.entries(frame.target ?? {})) this.#want(id, NONE, target);
    this.#beginning = false;
    for (const topic of this.#met) this.#size(topic);
    for (const [key, place] of this.#places) {
      this.#mentioned += 1;
      this.#sort(key, place);
      if (place.holders.size) this.#free.delete(key);
      else this.#free.add(key);
    }
    this.#known = targetIsKnown(frame);
    this.#moving = null;
  }

  /**
   * On to `frame`, which these changes lead to, forwards or backwards: they say where to look, the frames what was and is.
   *
   * @param {Frame} frame
   * @param {Change[]} changes
   * @param {number} from
   * @param {number} to

   */
  follow(frame, changes, from, to) {
    if (!this.frame || isShare(frame) !== this.#share || isStreams(frame) !== this.#streams) {
      this.start(frame);
      return;
    }
    const before = this.frame;
    this.frame = frame;
    /** Members that came, went, or whose clients say something else. @type {Set<string>} */
    const members = new Set();
    let topics = false;
    for (let at = from; at < to; at += 1) {
      const { path } = changes[at];
      if (
        (path[0] === 'barrier' && Boolean(before.barrier) !== Boolean(frame.barrier)) ||
        (path[0] === 'state' && hasStopped(before) !== hasStopped(frame))
      ) {
        this.start(frame);
        return;
      }
      if (path[0] === 'topics') topics = true;
      else if (path[0] !== 'members' && path[0] !== 'target' && path[0] !== 'clients') continue;
      else if (path.length === 1) {
        this.start(frame);
        return;
      } else if (matters(path)) members.add(path[1]);
    }
    if (members.size > MANY && members.size > Object.keys(frame.members).length / 3) {
      this.start(frame);
      return;
    }
    for (const id of members) {
      this.#members.delete(id);
      this.#again(id, before, frame);
    }
    if (topics) this.#recount(before, frame);
    const known = targetIsKnown(frame);
    if (known !== this.#known) {
      this.#moving = null;
      this.#members.clear();
    }
    this.#known = known;
  }

  /** Partitions that exist and that nobody holds. @returns {ReadonlySet<string>} */
  get free() {
    return this.#free;
  }

  /** Partitions that change hands: their holder is not the target owner, or revokes them, or is not the only one. @returns {ReadonlySet<string>} */
  get moving() {
    if (!this.#known || this.#share) return this.#busy;
    this.#moving ??= new Set([...this.#busy, ...this.#astray]);
    return this.#moving;
  }

  /** @param {string} key @returns {PartitionView | null} */
  of(key) {
    const place = this.#places.get(key);
    if (!place || (!place.holders.size && !place.wanted.size)) {
      if (!this.#free.has(key)) return null;
      return { ...columnOf(key), holders: [], holder: null, wants: null, wanted: [], mode: 'free' };
    }
    const holders = [...place.holders.keys()];
    if (holders.length > 1)
      holders.sort((a, b) => Number(this.#held(place, b)) - Number(this.#held(place, a)) || (a < b ? -1 : 1));
    const wanted = [...place.wanted].sort();
    return {
      key,
      topic: place.topic,
      partition: place.partition,
      holders,
      holder: holders[0] ?? null,
      wants: wanted[wanted.length - 1] ?? null,
      wanted,
      mode: this.#mode(place),
    };
  }

  /** What was worked out of members, until something of them changes. @type {Map<string, {owned: string[], revoking: string[], wanted: string[]}>} */
  #members = new Map();

  /** @param {string} id */
  member(id) {
    const known = this.#members.get(id);
    if (known) return known;
    const frame = /** @type {Frame} */ (this.frame);
    const revoking = givingUp(frame, id);
    const held = new Set([...keysOf(frame.members[id] && heldBy(frame, id)), ...revoking]);
    const wanted = this.#known
      ? keysOf(frame.target?.[id]).filter((key) => !held.has(key) && this.#waitsFor(id, key))
      : [];
    const given = { owned: [...held], revoking, wanted };
    this.#members.set(id, given);
    return given;
  }

  /** How many partitions have an owner or a target owner, and how many of them are where they should be: null without a target. */
  distance() {
    if (!this.#known) return null;
    let waiting = 0;
    for (const key of this.#free) if (this.#places.get(key)?.wanted.size) waiting += 1;
    return { of: this.#mentioned, off: this.moving.size + waiting };
  }

  /** As many as are held or should be: what a `Map` of all views has. */
  get size() {
    return this.#mentioned;
  }

  /** @param {string} key */
  get(key) {
    const view = this.of(key);
    return view && (view.holder || view.wants) ? view : undefined;
  }

  /** The views of all that is free, changes hands or has to: nothing is ever said of the others. */
  *values() {
    for (const key of new Set([...this.#busy, ...this.#astray])) yield /** @type {PartitionView} */ (this.of(key));
    for (const key of this.#free) {
      const view = this.get(key);
      if (view) yield view;
    }
  }

  /** @param {string} id @param {Frame} before @param {Frame} after */
  #again(id, before, after) {
    const [was, is] = [before.members[id], after.members[id]];
    if (was !== is) {
      for (const topic of is?.subscribed ?? [])
        if (!this.#exist.has(topic) && after.topics?.[topic]?.partitions) this.#size(topic);
      this.#hold(id, PENDING, was?.pending_revocation, is?.pending_revocation);
    }
    this.#hold(id, ASSIGNED, was && heldBy(before, id), is && heldBy(after, id));
    this.#hold(id, CLIENT, was && before.clients?.[id]?.revoking, is && after.clients?.[id]?.revoking);
    this.#want(id, before.target?.[id], after.target?.[id]);
  }

  /** @param {Frame} before @param {Frame} after */
  #recount(before, after) {
    for (const topic of new Set([...Object.keys(before.topics), ...Object.keys(after.topics)])) {
      const partitions = after.topics[topic]?.partitions ?? null;
      if (before.topics[topic]?.partitions === partitions) continue;
      if (this.#exist.has(topic) || Object.values(after.members).some((member) => member.subscribed?.includes(topic)))
        this.#size(topic);
    }
  }

  /** @param {string} topic */
  #size(topic) {
    const before = this.#exist.get(topic) ?? 0;
    const after = this.#streams ? 0 : (this.frame?.topics?.[topic]?.partitions ?? 0);
    this.#exist.set(topic, after);
    for (let partition = Math.min(before, after); partition < Math.max(before, after); partition += 1)
      this.#freed(keyOf(topic, partition), topic, partition);
  }

  /** @param {string} key @param {string} topic @param {number} partition */
  #freed(key, topic, partition) {
    const place = this.#places.get(key);
    const free = !place?.holders.size && (Boolean(place?.wanted.size) || partition < (this.#exist.get(topic) ?? 0));
    if (free) this.#free.add(key);
    else this.#free.delete(key);
  }

  /** @param {string} id @param {number} bit @param {Partitions | null | undefined} old @param {Partitions | null | undefined} now */
  #hold(id, bit, old, now) {
    moved(old, now, (topic, partition, there) =>
      this.#alter(topic, partition, (place) => {
        const held = place.holders.get(id) ?? 0;
        const holds = there ? held | bit : held & ~bit;
        if (holds) place.holders.set(id, holds);
        else place.holders.delete(id);
      }),
    );
  }

  /** @param {string} id @param {Partitions | null | undefined} old @param {Partitions | null | undefined} now */
  #want(id, old, now) {
    moved(old, now, (topic, partition, there) =>
      this.#alter(topic, partition, (place) => {
        if (there) place.wanted.add(id);
        else place.wanted.delete(id);
        for (const other of place.wanted) this.#members.delete(other);
      }),
    );
  }

  /** @param {string} topic @param {number} partition @param {(place: Place) => void} act */
  #alter(topic, partition, act) {
    const key = keyOf(topic, partition);
    let place = this.#places.get(key);
    if (!place) {
      place = { topic, partition, holders: new Map(), wanted: new Set() };
      this.#places.set(key, place);
      if (!this.#exist.has(topic)) this.#size(topic);
    }
    const mentioned = place.holders.size > 0 || place.wanted.size > 0;
    act(place);
    if (this.#beginning) return;
    this.#mentioned += Number(place.holders.size > 0 || place.wanted.size > 0) - Number(mentioned);
    this.#sort(key, place);
    this.#moving = null;
    this.#freed(key, topic, partition);
  }

  /** @param {string} key @param {Place} place */
  #sort(key, place) {
    put(this.#busy, key, !this.#share && (place.holders.size > 1 || this.#givenUp(place)));
    put(this.#astray, key, this.#isAstray(place));
  }

  /** @param {Place} place */
  #isAstray(place) {
    if (place.holders.size !== 1 || this.#givenUp(place)) return false;
    const [holder] = place.holders.keys();
    return this.#targetOwner(place) !== holder;
  }

  /** Of several the last id. @param {Place} place */
  #targetOwner(place) {
    let last = '';
    for (const id of place.wanted) if (id > last) last = id;
    return last;
  }

  /** Whether a partition of its target is one that the member is to own: any number may in a share group. @param {string} id @param {string} key */
  #waitsFor(id, key) {
    const place = this.#places.get(key);
    return this.#share || (place !== undefined && this.#targetOwner(place) === id);
  }

  /** @param {Place} place */
  #givenUp(place) {
    for (const held of place.holders.values()) if (held & GIVING_UP) return true;
    return false;
  }

  /** @param {Place} place @param {string} holder */
  #held(place, holder) {
    return Boolean((place.holders.get(holder) ?? 0) & ASSIGNED);
  }

  /** @param {Place} place @returns {PartitionView['mode']} */
  #mode(place) {
    if (!place.holders.size) return 'free';
    if (place.holders.size > 1 && !this.#share) return 'twice';
    if (this.#givenUp(place)) return 'revoking';
    return this.#known && !this.#share && this.#isAstray(place) ? 'leaving' : 'own';
  }
}

/** Whether a change can alter who holds what: heartbeats and epochs do not. @param {string[]} path */
function matters(path) {
  if (path.length === 2 || path[0] === 'target') return true;
  if (path[0] === 'clients') return path[2] === 'revoking' || path[2] === 'owned';
  return path[2] === 'assigned' || path[2] === 'pending_revocation' || path[2] === 'subscribed';
}

/** @param {Set<string>} set @param {string} key @param {boolean} there */
function put(set, key, there) {
  if (there) set.add(key);
  else set.delete(key);
}

/**
 * Partitions that went and came; lists that are the same object are passed over.
 *
 * @param {Partitions | null | undefined} old
 * @param {Partitions | null | undefined} now
 * @param {(topic: string, partition: number, there: boolean) => void} visit
 */
function moved(old, now, visit) {
  if (old === now) return;
  for (const topic in old ?? NONE) {
    const before = /** @type {Partitions} */ (old)[topic];
    const after = now?.[topic];
    if (before === after) continue;
    const stays = new Set(after);
    for (const partition of before) if (!stays.has(partition)) visit(topic, partition, false);
  }
  for (const topic in now ?? NONE) {
    const after = /** @type {Partitions} */ (now)[topic];
    const before = old?.[topic];
    if (before === after) continue;
    if (!before?.length) {
      for (const partition of after) visit(topic, partition, true);
      continue;
    }
    const was = new Set(before);
    for (const partition of after) if (!was.has(partition)) visit(topic, partition, true);
  }
}
