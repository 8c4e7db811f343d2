/**
 * A row at the playhead, in words: what a member owns, revokes and waits for, and who holds up whom. Pure.
 *
 * @import {MapLane, MapScene} from '../types'
 * @import {RowText, Trouble} from './types'
 * @typedef {{member: (id: string) => string, lane: (id: string) => string, partition: (key: string) => string}} Names
 *   how members and partitions are written, and in whose lane a member is
 */

import { hardshipsOf, outsiderWords, stillReads, troubledOf } from '../frame/hardships.js';
import { arrivesBy, obstacleOf, ofIt, untilWhat } from '../frame/next-heartbeat.js';
import { epochOf, targetIsKnown } from '../frame/view.js';
import { list, silentWords } from '../frame/words.js';
import { counted, grouped } from '../shared/numbers.js';
import { append } from '../shared/lists.js';
import { ABSENT, BEHIND, LOST, meaning, REVOKING, SETTLED, STALLED, TWICE, UNASSIGNED, WAITING } from './modes.js';
import { isolated } from '../frame/names.js';

/** Few by name, many by number. @param {string[]} keys @param {Names} names */
const partitions = (keys, names) =>
  keys.length > 3 ? counted(keys.length, 'partition') : list(keys.map((key) => isolated(names.partition(key))));

/**
 * @param {MapScene} scene
 * @param {string} member
 * @returns {{blocks: Map<string, string[]>, waits: Map<string, string[]>, free: string[]}} whom it holds up and who holds
 *   it up, by member ids; `free` are partitions that it should own and nobody does
 */
export function holdUps({ ownership, frame }, member) {
  /** @type {Map<string, string[]>} */
  const blocks = new Map();
  /** @type {Map<string, string[]>} */
  const waits = new Map();
  /** @type {string[]} */
  const free = [];
  if (frame.protocol === 'share' || !targetIsKnown(frame)) return { blocks, waits, free };
  const { revoking, wanted } = ownership.member(member);
  for (const key of revoking) {
    const wants = ownership.of(key)?.wants;
    if (wants && wants !== member) append(blocks, wants, key);
  }
  for (const key of wanted) {
    const holder = ownership.of(key)?.holder;
    if (holder && holder !== member) append(waits, holder, key);
    else free.push(key);
  }
  return { blocks, waits, free };
}

/**
 * A member's row.
 *
 * @param {MapScene} scene
 * @param {{key: string, members: string[]}} lane
 * @param {Names} names
 * @returns {RowText}
 */
export function memberText(scene, lane, names) {
  const { frame, ownership, violation } = scene;
  const id = lane.members.findLast((one) => frame.members[one]);
  if (id === undefined) return outside(scene, lane);
  const state = frame.members[id];
  const group = epochOf(frame) ?? 0;
  const behind = typeof state.epoch === 'number' && state.epoch >= 0 && state.epoch < group;
  const { owned, revoking } = ownership.member(id);
  const { blocks, waits, free } = holdUps(scene, id);
  const hard = hardshipsOf(frame, id).filter((one) => !one.duty);
  const broken = violation?.members.includes(id) ?? false;
  const name = (/** @type {string} */ member) => isolated(names.member(member));
  const link = (/** @type {string} */ member, /** @type {string} */ text) => ({
    key: names.lane(member),
    kind: /** @type {const} */ ('members'),
    text,
  });
  const sentence = [];
  const links = [];
  if (broken) sentence.push('part of the broken invariant');
  for (const one of hard) sentence.push(one.says.toLowerCase());
  sentence.push(
    owned.length ? `${scene.silent?.has(id) ? 'is assigned' : 'owns'} ${partitions(owned, names)}` : 'owns nothing',
  );
  if (revoking.length && !blocks.size) sentence.push(`revoking ${partitions(revoking, names)}`);
  for (const [whom, keys] of first(blocks)) {
    const text = `blocks ${name(whom)} on ${partitions(keys, names)}, which it is revoking`;
    sentence.push(text);
    links.push(link(whom, text));
  }
  for (const [whom, keys] of first(waits)) {
    const text = `waits for ${name(whom)} to release ${partitions(keys, names)}`;
    sentence.push(text);
    links.push(link(whom, text));
  }
  const left = Math.max(0, blocks.size - NAMED) + Math.max(0, waits.size - NAMED);
  if (left) sentence.push(`and ${counted(left, 'more member')} so`);
  if (free.length) {
    sentence.push(
      obstacleOf(frame, id)
        ? `${partitions(free, names)} ${free.length > 1 ? 'stay' : 'stays'} unassigned until ${ofIt(untilWhat(frame, id, names.partition))}`
        : `receives ${partitions(free, names)} ${arrivesBy(frame, id)}`,
    );
  }
  const silent_ms = scene.silent?.get(id);
  if (silent_ms !== undefined) sentence.push(silentWords(silent_ms));
  if (behind) sentence.push(`has not received epoch ${group} yet (at epoch ${state.epoch})`);
  const mode = broken
    ? TWICE
    : hard.some((one) => one.bad) || frame.clients?.[id]?.killed
      ? LOST
      : hard.length || silent_ms !== undefined
        ? STALLED
        : revoking.length
          ? REVOKING
          : waits.size || free.length
            ? WAITING
            : behind
              ? BEHIND
              : SETTLED;
  return { says: sentence.join('; '), mode, links };
}

/** As many are named of those that hold up one member. */
const NAMED = 3;
/** @param {Map<string, string[]>} map */
const first = (map) => [...map].slice(0, NAMED);

/** Who is no member: gone, or out without knowing it. @param {MapScene} scene @param {{members: string[]}} lane @returns {RowText} */
function outside({ frame }, lane) {
  const id = lane.members.findLast(
    (one) => frame.clients?.[one] && (stillReads(frame, one).length || frame.clients[one].fenced),
  );
  if (id === undefined) return { says: meaning('members', ABSENT), mode: ABSENT, links: [] };
  const reads = stillReads(frame, id).length;
  const { says: text } = outsiderWords(frame, id);
  return {
    says: `${text.toLowerCase()}${reads ? `; still reads ${counted(reads, 'partition')}` : ''}`,
    mode: LOST,
    links: [],
  };
}

/** A partition's row. @param {MapScene} scene @param {string} key @param {Names} names @returns {RowText} */
export function partitionText({ ownership, frame, violation }, key, names) {
  const view = ownership.of(key);
  if (!view) return { says: meaning('partitions', ABSENT), mode: ABSENT, links: [] };
  const name = (/** @type {string} */ member) => isolated(names.member(member));
  const links = [...view.holders, ...(view.wants && !view.holders.includes(view.wants) ? [view.wants] : [])].map(
    (member) => ({ key: names.lane(member), kind: /** @type {const} */ ('members'), text: name(member) }),
  );
  const to = view.wants ? `, target owner ${name(view.wants)}` : '';
  const owners = list(view.holders.map(name));
  const broken = violation?.keys.includes(key) ?? false;
  if (frame.protocol === 'share' && view.holders.length) return { says: `read by ${owners}`, mode: SETTLED, links };
  if (view.mode === 'twice' || broken)
    return { says: `owned by ${owners || 'nobody'}: an invariant is broken`, mode: TWICE, links };
  if (view.mode === 'free') return { says: `unassigned${to}`, mode: UNASSIGNED, links };
  if (view.mode === 'revoking') return { says: `being revoked by ${owners}${to}`, mode: REVOKING, links };
  if (view.mode === 'leaving') return { says: `owned by ${owners}, will be revoked${to}`, mode: BEHIND, links };
  return { says: `owned by ${owners}`, mode: SETTLED, links };
}

/**
 * Who is in trouble: members that suffer something, that revoke and so hold up another, that wait for another, and what has no
 * owner. Its cost is that of what is under way, not of the group.
 *
 * @param {MapScene} scene
 * @param {Names} names
 * @returns {Trouble[]} the worst first
 */
export function troublesOf(scene, names) {
  const { frame, ownership, violation } = scene;
  /** @type {Trouble[]} */
  const found = [];
  /** @type {Set<string>} */
  const known = new Set();
  const member = (/** @type {string} */ id, /** @type {string} */ text, /** @type {number} */ mode) => {
    known.add(id);
    found.push({ kind: 'members', key: names.lane(id), says: text, mode });
  };
  const broken = violation ? { ...violation, sequence: 0, invariant: '', proof: [] } : null;
  for (const one of troubledOf(frame, broken, scene.silent)) {
    const lost = one.bad || !frame.members[one.member] || frame.clients?.[one.member]?.killed;
    member(one.member, one.says.join('; '), broken?.members.includes(one.member) ? TWICE : lost ? LOST : STALLED);
  }
  for (const key of ownership.free) {
    const wants = ownership.of(key)?.wants;
    found.push({
      kind: 'partitions',
      key,
      says: wants ? `unassigned, target owner ${isolated(names.member(wants))}` : 'unassigned',
      mode: UNASSIGNED,
    });
  }
  /** @type {Set<string>} */
  const ends = new Set();
  for (const key of ownership.moving) {
    const view = ownership.of(key);
    if (view?.mode === 'twice')
      found.push({
        kind: 'partitions',
        key,
        says: `owned by ${list(view.holders.map((id) => isolated(names.member(id))))}`,
        mode: TWICE,
      });
    if (view?.mode !== 'revoking') continue;
    if (view.holder) ends.add(view.holder);
    if (view.wants) ends.add(view.wants);
  }
  for (const id of ends) {
    if (known.has(id) || !frame.members[id]) continue;
    const { blocks, waits } = holdUps(scene, id);
    const [whom, held] = blocks.size ? [...blocks][0] : waits.size ? [...waits][0] : [null, []];
    const others = Math.max(blocks.size, waits.size) - 1;
    const so = others > 0 ? ` and ${others} more` : '';
    if (blocks.size)
      member(id, `blocks ${isolated(names.member(whom ?? ''))}${so} on ${partitions(held, names)}`, REVOKING);
    else if (waits.size)
      member(id, `waits for ${isolated(names.member(whom ?? ''))}${so} to release ${partitions(held, names)}`, WAITING);
    else if (ownership.member(id).revoking.length)
      member(id, `revoking ${partitions(ownership.member(id).revoking, names)}`, REVOKING);
  }
  return found.sort((a, b) => b.mode - a.mode);
}

/**
 * What stands where there is no row. Only rows are searched: of more partitions than have one it is not known.
 *
 * @param {{waits: boolean, query: string, only: import('./types').Only, kind: import('./types').Kind, all: number, left_out: number}} of
 */
export function emptyText({ waits, query, only, kind, all, left_out }) {
  if (waits) return 'The map is being made…';
  if (query && left_out)
    return `None of the ${grouped(all)} partitions that have a row matches “${query}”; ${grouped(left_out)} more have none, and are not searched.`;
  if (query)
    return `No ${kind === 'members' ? 'member' : 'partition'} matches “${query}”. A word may be limited: host:10.1, rack:b, client:orders.`;
  return only === 'trouble' ? 'Nobody is in trouble at this moment.' : 'Nothing changes in this window.';
}
