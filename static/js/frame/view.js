/**
 * From a frame to what the board shows: where each partition is, who wants it, who waits for whom.
 * Pure: no DOM, no clock.
 *
 * @import {Column, Frame, PartitionView, Partitions} from '../types'
 */

import { append } from '../shared/lists.js';

/** @param {string} topic @param {number} partition */
export const keyOf = (topic, partition) => `${topic}-${partition}`;

/** A partition by its key. @param {string} key @returns {Column} */
export function columnOf(key) {
  const cut = key.lastIndexOf('-');
  return { key, topic: key.slice(0, cut), partition: Number(key.slice(cut + 1)) };
}

/**
 * @param {Partitions | null | undefined} partitions
 * @param {(key: string, topic: string, partition: number) => void} visit
 */
export function each(partitions, visit) {
  for (const topic in partitions) {
    for (const partition of partitions[topic]) visit(keyOf(topic, partition), topic, partition);
  }
}

/** @param {Partitions | null | undefined} partitions @returns {string[]} */
export function keysOf(partitions) {
  /** @type {string[]} */
  const keys = [];
  each(partitions, (key) => keys.push(key));
  return keys;
}

/** @param {Frame} frame */
export const isClassic = (frame) => frame.generation !== undefined && frame.group_epoch === undefined;

/** A share group's partitions have readers, not owners: any number of them. @param {Frame} frame */
export const isShare = (frame) => frame.protocol === 'share';

/** A streams group's members hold tasks, which stand under subtopologies in place of topics. @param {Frame} frame */
export const isStreams = (frame) => frame.protocol === 'streams';

/** Assignors with which a member gives everything up before it joins again. */
const EAGER = ['range', 'roundrobin', 'sticky'];

/** Whether a classic group is between two generations. @param {Frame} frame */
export const isBetween = (frame) => frame.state === 'PreparingRebalance' || frame.state === 'CompletingRebalance';

/**
 * Whether an eager classic group is between two generations, as its coordinator described it: its members have given up, or are
 * about to give up, what the old generation assigned to them, and no source contains who has.
 *
 * @param {Frame} frame
 */
export const hasStopped = (frame) =>
  !frame.barrier && frame.clients === null && isBetween(frame) && EAGER.includes(frame.protocol_name ?? '');

/**
 * What a member has. A classic group's record contains what the generation gave it; what it reads meanwhile is known where
 * the joining phase is, from its callbacks.
 *
 * @param {Frame} frame
 * @param {string} member
 */
export const heldBy = (frame, member) => {
  if (hasStopped(frame)) return undefined;
  return frame.barrier ? frame.clients?.[member]?.owned : frame.members[member]?.assigned;
};

/** The group epoch, or the generation of a classic group. @param {Frame} frame */
export const epochOf = (frame) => (isClassic(frame) ? frame.generation : frame.group_epoch) ?? null;

/** Whether the target belongs to the group epoch of this frame. @param {Frame} frame */
export const targetIsKnown = (frame) =>
  !isClassic(frame) && (frame.group_epoch ?? 0) > 0 && frame.assignment_epoch === frame.group_epoch;

/**
 * What a member has been asked to give up and has not yet: by the records, or by what its client was answered
 * (the proposal's own machine has no such state in its records).
 *
 * @param {Frame} frame
 * @param {string} member
 * @returns {string[]}
 */
export function givingUp(frame, member) {
  const keys = keysOf(frame.members[member]?.pending_revocation);
  const known = keysOf(frame.clients?.[member]?.revoking);
  return known.length ? [...new Set([...keys, ...known])] : keys;
}

/**
 * Every partition that a member holds, gives up or should own. Several holders are in the order of their ids, those that have it
 * assigned before those that only give it up; of several target owners the last id counts.
 *
 * @param {Frame} frame
 * @returns {Map<string, PartitionView>}
 */
export function partitionsOf(frame) {
  /** @type {Map<string, PartitionView>} */
  const views = new Map();
  const at = (/** @type {string} */ key, /** @type {string} */ topic, /** @type {number} */ partition) => {
    let view = views.get(key);
    if (!view) {
      view = { key, topic, partition, holders: [], holder: null, wants: null, wanted: [], mode: 'free' };
      views.set(key, view);
    }
    return view;
  };
  const hold = (/** @type {PartitionView} */ view, /** @type {string} */ member) => {
    if (!view.holders.includes(member)) view.holders.push(member);
    view.holder = view.holders[0];
  };
  const members = Object.keys(frame.members).sort();
  for (const member of members) {
    each(heldBy(frame, member), (key, topic, partition) => {
      const view = at(key, topic, partition);
      hold(view, member);
      view.mode = 'own';
    });
  }
  for (const member of members) {
    for (const source of [frame.members[member].pending_revocation, frame.clients?.[member]?.revoking]) {
      each(source, (key, topic, partition) => {
        const view = at(key, topic, partition);
        hold(view, member);
        view.mode = 'revoking';
      });
    }
  }
  for (const member of Object.keys(frame.target ?? {}).sort()) {
    each(frame.target?.[member], (key, topic, partition) => {
      const view = at(key, topic, partition);
      view.wants = member;
      view.wanted.push(member);
    });
  }
  if (isShare(frame)) return views;
  const known = targetIsKnown(frame);
  for (const view of views.values()) {
    if (view.holders.length > 1) view.mode = 'twice';
    else if (known && view.mode === 'own' && view.wants !== view.holder) view.mode = 'leaving';
  }
  return views;
}

/**
 * How many partitions each topic has that this group reads: from the source if it reports them, and at least what
 * is mentioned. A topic that nobody subscribes to, holds or should own has no place on the board.
 *
 * @param {Frame} frame
 * @param {Map<string, number>} [into] widened, never narrowed: columns stay where they are
 * @returns {Map<string, number>}
 */
export function widen(frame, into = new Map()) {
  /** @type {Set<string>} */
  const subscribed = new Set();
  for (const member of Object.values(frame.members)) {
    for (const topic of member.subscribed ?? []) {
      subscribed.add(topic);
    }
  }
  const raise = (/** @type {string} */ topic, /** @type {number} */ count) => {
    if (count > (into.get(topic) ?? 0)) into.set(topic, count);
  };
  const topics = isStreams(frame) ? {} : (frame.topics ?? {});
  for (const [topic, { partitions }] of Object.entries(topics)) {
    if (partitions && (subscribed.has(topic) || into.has(topic))) raise(topic, partitions);
  }
  const mention = (/** @type {Partitions | null | undefined} */ partitions) =>
    each(partitions, (_key, topic, partition) => raise(topic, Math.max(partition + 1, topics[topic]?.partitions ?? 0)));
  for (const member of Object.values(frame.members)) {
    mention(member.assigned);
    mention(member.pending_revocation);
  }
  for (const target of Object.values(frame.target ?? {})) mention(target);
  return into;
}

/** @param {Map<string, number>} counts @returns {Column[]} topics in alphabetical order, partitions in theirs */
export function columnsOf(counts) {
  return [...counts.keys()].sort().flatMap((topic) =>
    Array.from({ length: counts.get(topic) ?? 0 }, (_, partition) => ({
      key: keyOf(topic, partition),
      topic,
      partition,
    })),
  );
}

/**
 * The partitions that exist in this frame and that nobody holds. A partition beyond the topic's count of
 * this moment does not exist yet.
 *
 * @param {Frame} frame
 * @param {Column[]} columns
 * @param {Map<string, PartitionView>} views
 * @returns {Set<string>}
 */
export function unowned(frame, columns, views) {
  /** @type {Set<string>} */
  const keys = new Set();
  for (const { key, topic, partition } of columns) {
    const view = views.get(key);
    if (view ? view.mode === 'free' : exists(frame, topic, partition)) keys.add(key);
  }
  return keys;
}

/** @param {Frame} frame @param {string} topic @param {number} partition */
export function exists(frame, topic, partition) {
  if (isStreams(frame)) return false;
  const count = frame.topics?.[topic]?.partitions;
  return typeof count === 'number' && partition < count;
}

/**
 * Who waits for whom, from both ends. In a share group nobody does.
 *
 * @param {Frame} frame
 * @param {Map<string, PartitionView> | import('./ownership.js').Ownership} views
 * @param {string} member
 */
export function waitsOf(frame, views, member) {
  const known = targetIsKnown(frame);
  /** @type {Map<string, string[]>} */
  const blocks = new Map();
  /** @type {Map<string, string[]>} */
  const waitsFor = new Map();
  /** @type {string[]} */
  const free = [];
  for (const view of views.values()) {
    if (isShare(frame)) continue;
    if (known && view.holder === member && view.wants && view.wants !== member && frame.members[view.wants]) {
      append(blocks, view.wants, view.key);
    }
    if (view.wants === member && !view.holders.includes(member)) {
      if (view.holder) append(waitsFor, view.holder, view.key);
      else free.push(view.key);
    }
  }
  return { blocks, waitsFor, free };
}

/**
 * Who else has what a member has, where one partition has two owners.
 *
 * @param {Map<string, PartitionView> | import('./ownership.js').Ownership} views
 * @param {string} member
 * @returns {Map<string, string[]>} other member → keys
 */
export function alsoOwnedBy(views, member) {
  /** @type {Map<string, string[]>} */
  const others = new Map();
  for (const { key, mode, holders } of views.values()) {
    if (mode !== 'twice' || !holders.includes(member)) continue;
    for (const other of holders) if (other !== member) append(others, other, key);
  }
  return others;
}

/**
 * What a member of a share group begins to read, and leaves, at its next heartbeat.
 *
 * @param {Frame} frame
 * @param {string} member
 */
export function readingChanges(frame, member) {
  if (!targetIsKnown(frame)) return { begins: [], leaves: [] };
  return apart(frame.members[member].assigned, frame.target?.[member]);
}

/** @param {Partitions | null | undefined} has @param {Partitions | undefined} should */
function apart(has, should) {
  const [now, then] = [keysOf(has), keysOf(should)];
  return { begins: then.filter((key) => !now.includes(key)), leaves: now.filter((key) => !then.includes(key)) };
}

/**
 * Whether each thing that a member has or should have is right: several members may read one partition, or keep a
 * copy of one task.
 *
 * @param {Partitions | null | undefined} has
 * @param {Partitions | undefined} should
 */
function reached(has, should) {
  const { begins, leaves } = apart(has, should);
  const right = keysOf(should).length - begins.length;
  return [
    ...Array.from({ length: right }, () => true),
    ...Array.from({ length: begins.length + leaves.length }, () => false),
  ];
}

/**
 * How far the group is from its target: of how many partitions (and copies), how many are not where they should be, and which
 * of them are, in the order of their names, where all were looked at. Null while there is no target for this epoch.
 *
 * @param {Frame} frame
 * @param {Map<string, PartitionView> | import('./ownership.js').Ownership} views
 * @returns {{of: number, off: number, each: boolean[] | null} | null}
 */
export function gapOf(frame, views) {
  if (!(views instanceof Map)) {
    const far = views.distance();
    return far && { ...far, each: null };
  }
  const right = distance(frame, views);
  return right && { of: right.length, off: right.filter((one) => !one).length, each: right };
}

/**
 * Which partitions have reached their target, in the order of their names: null while there is no target for this
 * epoch.
 *
 * @param {Frame} frame
 * @param {Map<string, PartitionView>} views
 */
export function distance(frame, views) {
  if (!targetIsKnown(frame)) return null;
  const members = Object.entries(frame.members);
  if (isShare(frame)) return members.flatMap(([member, state]) => reached(state.assigned, frame.target?.[member]));
  const copies = isStreams(frame)
    ? members.flatMap(([member, state]) => [
        ...reached(state.standby, frame.target_standby?.[member]),
        ...reached(state.warmup, frame.target_warmup?.[member]),
      ])
    : [];
  const owned = [...views.values()]
    .filter((view) => view.wants || view.holder)
    .sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition)
    .map((view) => view.wants === view.holder && view.mode !== 'revoking' && view.mode !== 'twice');
  return [...owned, ...copies];
}
