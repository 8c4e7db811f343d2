/**
 * Everything that the board shows about a frame, in words. Pure: the same frame gives the same words.
 *
 * What happens is said first; Kafka's own name is in the tooltip.
 *
 * @import {Frame, Moment, PartitionView} from '../types'
 * @import {Cast} from './cast.js'
 */

import { doesWhat } from './barrier.js';
import { CLOCK_FROM_MS, clock } from '../shared/times.js';
import { counted } from '../shared/numbers.js';
import { arrivesBy, obstacleOf, ofIt, rejoins, untilNamed, untilWhat } from './next-heartbeat.js';
import { epochOf, gapOf, givingUp, isBetween, isClassic, isShare, keysOf, targetIsKnown, waitsOf } from './view.js';

const THIN = '\u202f';

/** More names than this in one sentence are counted instead. */
const NAMED = 3;

/** Durations: to 0.1 s below a minute, then minutes and seconds, then hours and minutes. @param {number} ms */
export function duration(ms) {
  const sign = ms < 0 ? '−' : '';
  const size = Math.abs(ms);
  if (size > 0 && size < 50) return `${sign}${Math.round(size * 10) / 10}${THIN}ms`;
  if (size < 59_950) return `${sign}${(size / 1000).toFixed(1)}${THIN}s`;
  const seconds = Math.round(size / 1000);
  if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)}${THIN}min ${seconds % 60}${THIN}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${sign}${Math.floor(minutes / 60)}${THIN}h ${minutes % 60}${THIN}min`;
  const hours = Math.round(minutes / 60);
  return `${sign}${Math.floor(hours / 24)}${THIN}d ${hours % 24}${THIN}h`;
}

/**
 * When a moment was: seconds from the start for a simulation, the time of day for a log; before a log's first entry there is no time.
 *
 * @param {number} ms
 * @param {number} [start] the first moment of the timeline
 */
export function when(ms, start = 0) {
  if (start < CLOCK_FROM_MS) return duration(ms);
  return ms < CLOCK_FROM_MS ? '' : clock(ms);
}

/** A group's name, or a mark in its place if it has no visible character: Kafka allows "" and " ". @param {string} name */
export function shownName(name) {
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(name)) return name;
  const letters = [...name].map((one) => `U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`);
  return name ? `(blank name: ${letters.slice(0, 4).join(' ')}${letters.length > 4 ? ' …' : ''})` : '(empty name)';
}

/** @param {string[]} names */
export function list(names) {
  if (names.length <= NAMED) return names.join(', ');
  return `${names.slice(0, NAMED - 1).join(', ')} and ${names.length - NAMED + 1} more`;
}

/** `orders-3, orders-4, orders-5` where there is little room: `orders-3, 4, 5`. @param {string} text */
export function shortened(text) {
  return text.replace(
    /(?<![\w.-])([\w.-]+-)(\d+)((?:, \1\d+)+)/g,
    (_, name, first, others) => `${name}${first}${others.replaceAll(`, ${name}`, ', ')}`,
  );
}

/** What a group's state means. @type {{[state: string]: string}} */
export const STATES = {
  Empty: 'No members. Committed offsets are kept.',
  Assigning: 'The group changed; a new target assignment is being computed.',
  Reconciling: 'The target is known. Members move to it, one heartbeat at a time.',
  Stable: 'Every member owns exactly what the target gives it.',
  PreparingRebalance: 'The group changed; all members are asked to rejoin.',
  CompletingRebalance: 'All have joined; the leader computes the assignment.',
  NotReady: 'Topics of the topology are missing; no task is assigned until they are there.',
  Dead: 'The group was deleted.',
};

/** What a group's state means under the classic protocol, where there is no target to compare with. */
const CLASSIC_STABLE = 'Every member has what the leader gave it.';

/** A share group is stable as long as it has members; it is never said to assign or to reconcile. */
const SHARE_STABLE = 'It has members; a share group has no other state while it does.';

/** @param {Frame} frame */
export function stateMeans(frame) {
  if (isShare(frame) && frame.state === 'Stable') return SHARE_STABLE;
  if (isClassic(frame) && frame.state === 'Stable') return CLASSIC_STABLE;
  return STATES[frame.state ?? ''] ?? '';
}

/** @param {string} text */
export const capital = (text) => (/^\p{Ll}/u.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

/** How long a member has been silent, as is inferred from its commits. @param {number} since_ms since its last commit */
export const silentWords = (since_ms) =>
  since_ms > 0 ? `silent: last commit ${duration(since_ms)} ago` : 'silent from this commit on';

/**
 * What a member is doing, and Kafka's name for it.
 *
 * @param {Frame} frame
 * @param {string} member
 * @param {(key: string) => string} label how a partition is written
 * @param {number} [silent_ms] since its last commit, where the member is silent
 * @returns {{says: string, brief: string, kafka: string, term: string}} `term` is the glossary's word for it
 */
export function memberWords(frame, member, label, silent_ms) {
  const state = frame.members[member];
  const kafka = [state.state, state.rebalance_state].filter(Boolean).join(', ');
  const epoch = state.epoch ?? 0;
  const groupEpoch = epochOf(frame) ?? 0;
  const calling = frame.clients?.[member]?.calling;
  const going = givingUp(frame, member);
  const plain = (/** @type {string} */ text, brief = text, term = '') => ({
    says: text,
    brief,
    kafka: calling ? `${kafka}, in ${calling}` : kafka,
    term,
  });

  const settled = (/** @type {string} */ sentence, brief = sentence, term = '') =>
    silent_ms === undefined ? plain(sentence, brief, term) : plain(capital(silentWords(silent_ms)), 'Silent');

  if (isClassic(frame)) return (frame.state === 'Stable' ? settled : plain)(...classicWords(frame, member));
  if (frame.clients?.[member]?.killed) return plain('Process killed; session still open', 'Killed', 'killed');
  if (going.length) return plain(`Revoking ${list(going.map(label))}`, 'Revoking', 'unrevoked_partitions');
  if (frame.clients?.[member]?.fenced) return plain('Fenced: no longer a member', 'Fenced', 'fenced');
  if (epoch === -1 || epoch === -2)
    return plain(epoch === -2 ? 'Static leave: its instance may return' : 'Left', 'Left', epoch === -2 ? 'away' : '');
  if (state.epoch === null) return plain('Its assignment is not in the log yet', 'Unknown', 'unknown');
  if (epoch === 0) {
    return targetIsKnown(frame)
      ? plain('Joined; no assignment received yet', 'Just joined')
      : plain('Joined; no target assignment yet', 'Just joined');
  }
  const held = new Set(keysOf(state.assigned));
  const missing = keysOf(frame.target?.[member]).filter((key) => !held.has(key));
  if (epoch < groupEpoch) {
    const obstacle = obstacleOf(frame, member);
    const comes =
      obstacle === null || obstacle === 'revokes'
        ? rejoins(frame, member)
          ? ' (next JoinGroup)'
          : ' (next heartbeat)'
        : '';
    return plain(`Has not received epoch ${groupEpoch} yet${comes}`, 'Behind', 'member epoch');
  }
  if (missing.length) return plain(`Waiting for ${list(missing.map(label))}`, 'Waiting', 'unreleased_partitions');
  const copies = missingCopies(frame, member);
  if (copies.length) return plain(`Waiting for a copy of ${list(copies.map(label))}`, 'Waiting');
  if (state.rebalance_state === 'CompletingRebalance')
    return plain('Joined; receives its assignment with SyncGroup', 'Joined');
  return settled('Owns its target', 'Owns its target', 'target owner');
}

/** Standby and warm-up tasks that a member should have and has not. @param {Frame} frame @param {string} member */
function missingCopies(frame, member) {
  const state = frame.members[member];
  const has = new Set([...keysOf(state.standby), ...keysOf(state.warmup)]);
  const should = [...keysOf(frame.target_standby?.[member]), ...keysOf(frame.target_warmup?.[member])];
  return should.filter((key) => !has.has(key));
}

/** @param {Frame} frame @param {string} member @returns {[string, string]} */
function classicWords(frame, member) {
  if (frame.barrier) return doesWhat(frame, member, (count) => counted(count, 'partition'));
  const role = frame.leader === member ? 'Leader' : 'Member';
  const state = frame.members[member].state;
  if (frame.clients === null && isBetween(frame)) {
    // Its coordinator described the phase; who leads, and who has come, is in no source.
    return frame.state === 'PreparingRebalance'
      ? ['Joins the next generation', 'Joins']
      : ['Waits until the leader has assigned', 'Waits'];
  }
  if (frame.state === 'PreparingRebalance') {
    return state === 'AwaitingJoin' || state === 'JOINED'
      ? ['Joined; waiting for the others', 'Joined']
      : ['Asked to rejoin', 'Asked to rejoin'];
  }
  if (frame.state === 'CompletingRebalance') {
    return frame.leader === member ? ['Leader, assigns', 'Assigns'] : ['Waits for its assignment', 'Waits'];
  }
  return [`${role}, ${holdingWords(frame.members[member])}`, role];
}

/** What a classic member has, as its generation's record contains it. @param {import('../types').MemberFrame} state */
export function holdingWords(state) {
  if (!state.assigned) return `its assignment cannot be read (${state.unreadable?.assignment})`;
  const count = keysOf(state.assigned).length;
  const { worker } = state;
  if (!worker) return count ? `reads ${counted(count, 'partition')}` : 'reads nothing';
  if (worker.failed) return 'was assigned nothing: its leader was behind the config topic';
  const connectors = worker.connectors.length ? [counted(worker.connectors.length, 'connector')] : [];
  const runs = [...connectors, ...(count ? [counted(count, 'task')] : [])].join(' and ');
  const delay = worker.delay_ms ? `; joins again after ${duration(worker.delay_ms)}` : '';
  return `runs ${runs || 'nothing'}${delay}`;
}

/**
 * The sentence under the group's name: what happened, and what it means for who waits.
 * A case study has its own words for it; else the first part is the moment's own, the rest computed from the frame.
 *
 * @param {Frame} frame
 * @param {Moment | null} moment
 * @param {Map<string, PartitionView> | import('./ownership.js').Ownership} views
 * @param {Cast} cast
 * @param {(key: string) => string} label
 * @param {boolean} [midway] whether the log begins in the middle of the group's life
 */
export function nowWords(frame, moment, views, cast, label, midway = false) {
  const members = Object.keys(frame.members);
  if (!moment) {
    if (midway) return 'The log begins in the middle: what was before its first entry is not known.';
    return members.length
      ? `${counted(members.length, 'member')} at the start.`
      : `No member yet.${views.size ? ' Every partition is unassigned.' : ''}`;
  }
  if (moment.narration) return moment.narration;
  const text = /[.!?…]$/.test(moment.says) ? moment.says : `${moment.says}.`;
  const more = consequence(frame, moment, views, cast, label);
  return more ? `${text} ${more}` : text;
}

/**
 * @param {Frame} frame
 * @param {Moment} moment
 * @param {Map<string, PartitionView> | import('./ownership.js').Ownership} views
 * @param {Cast} cast
 * @param {(key: string) => string} label
 */
function consequence(frame, moment, views, cast, label) {
  if (isClassic(frame)) return '';
  const epoch = frame.group_epoch ?? 0;
  const actor = cast.knows(moment.actor) ? moment.actor : null;
  const state = actor ? frame.members[actor] : undefined;
  const name = actor ? cast.name(actor) : '';
  if (QUIET.has(moment.shape)) return '';
  if (frame.state === 'NotReady')
    return moment.says.includes('not ready') ? '' : 'No task is assigned while the topology is not ready.';
  if (isShare(frame) && targetIsKnown(frame)) {
    const far = gapOf(frame, views);
    return far?.of && !far.off ? `Every member reads what the target of epoch ${epoch} gives it.` : '';
  }
  if (!isShare(frame) && frame.state === 'Stable' && frame.assignment_epoch === epoch) {
    return `Every member owns its target: the group is stable at epoch ${epoch}.`;
  }
  if (!targetIsKnown(frame)) {
    if (!members(frame) || frame.group_epoch === null) return '';
    return frame.assignment_epoch
      ? `The target is still the one of epoch ${frame.assignment_epoch}.`
      : 'There is no target yet.';
  }
  if (actor && state) {
    if (givingUp(frame, actor).length) return `It stays at epoch ${state.epoch} until it has confirmed the revocation.`;
    const { waitsFor, free } = waitsOf(frame, views, actor);
    if (moment.shape !== 'acknowledge' && state.epoch === epoch) {
      if (waitsFor.size) {
        const released = [...waitsFor].map(
          ([holder, keys]) => `${cast.name(holder)} has released ${list(keys.map(label))}`,
        );
        return `It waits until ${list(released)}.`;
      }
      if (free.length) {
        const text = list(free.map(label));
        return obstacleOf(frame, actor)
          ? `${text} ${free.length > 1 ? 'stay' : 'stays'} unassigned until ${ofIt(untilWhat(frame, actor, label))}.`
          : `${name} gets ${text} ${arrivesBy(frame, actor)}.`;
      }
    }
  }
  const waiting = [...views.values()].filter((view) => view.mode === 'free' && view.wants);
  if (waiting.length) {
    const next = waiting[0];
    const takers = new Set(waiting.map((view) => view.wants));
    const taker = /** @type {string} */ (next.wants);
    const held = [...takers].some((one) => obstacleOf(frame, /** @type {string} */ (one)));
    const whom =
      takers.size === 1
        ? untilNamed(frame, taker, cast.name(taker), label)
        : held
          ? 'their target owners are ready for them'
          : [...takers].some((one) => rejoins(frame, /** @type {string} */ (one)))
            ? 'their target owners heartbeat or rejoin'
            : 'their target owners heartbeat';
    return `Released is not assigned: ${list(waiting.map((view) => label(view.key)))} ${waiting.length > 1 ? 'are' : 'is'} unassigned until ${whom}.`;
  }
  const leaving = [...views.values()].filter((view) => view.mode === 'leaving' && view.holder);
  if (leaving.length && moment.shape === 'target') {
    const holders = [...new Set(leaving.map((view) => cast.name(/** @type {string} */ (view.holder))))];
    const them = leaving.length > 1 ? 'them' : 'it';
    return holders.length === 1
      ? `${holders[0]} still owns ${them}; it has not been asked to revoke ${them} yet.`
      : `${list(holders)} still own them; they have not been asked to revoke them yet.`;
  }
  return '';
}

/** After these, what the group waits for is not the news. */
const QUIET = new Set(['commit', 'violation', 'fence', 'fail_over', 'fault']);

/** @param {Frame} frame */
const members = (frame) => Object.keys(frame.members).length;

/** Releases of one log that are named: brokers are rolled once, or there and back. */
const RELEASES_MOST = 3;

/**
 * The releases of the brokers that the records show. A run states its own, so there only a change is news.
 *
 * @param {string[]} releases @param {string} [ofRun]
 */
export function releasesText(releases, ofRun) {
  if (!releases.length || (ofRun && releases.length === 1)) return '';
  const rest = releases.length - RELEASES_MOST;
  return releases.slice(0, RELEASES_MOST).join(', then ') + (rest > 0 ? `, then ${rest} more` : '');
}
