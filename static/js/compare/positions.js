/**
 * Where the playhead of several runs can be, by what locks them, and what their boards show differently there. Pure.
 *
 * @import {Seen} from './compare.js'
 * @typedef {'time' | 'event' | 'epoch'} Lock by the time since each run's beginning, by the number of the event, or by the epoch
 * @typedef {{at: number, places: number[]}} Stop `at`: milliseconds, a number of events, or an epoch; `places`: what each run shows, in `seen`
 * @typedef {{seen: Seen[], begin_ms: number}} Timed
 * @typedef {{frame: import('../types').Frame, name: (member: string) => string}} Shown
 * @typedef {{words: string[], keys: string[], members: string[]}} Differences `members`: ids in the board itself, not in the one that it is compared with
 */

import { epochOf } from '../frame/view.js';
import { readersOf } from './compare.js';

/** @type {Lock[]} */
export const LOCKS = ['time', 'event', 'epoch'];

/** Differences that are named; the others are counted. */
const NAMED_MOST = 4;

/** Where the playhead can stop, in order; the first is where all begin. @param {Lock} lock @param {Timed[]} runs @returns {Stop[]} */
export function stopsOf(lock, runs) {
  if (lock === 'event') {
    const most = Math.max(1, ...runs.map(({ seen }) => seen.length));
    return Array.from({ length: most }, (_, at) => ({
      at,
      places: runs.map(({ seen }) => Math.min(at, seen.length - 1)),
    }));
  }
  const values = runs.map(({ seen, begin_ms }) =>
    lock === 'time' ? seen.map(({ at_ms }) => at_ms - begin_ms) : epochsOf(seen),
  );
  const stops = [...new Set(values.flat())].sort((a, b) => a - b);
  const places = values.map((some) => placesIn(some, stops, lock));
  return stops.map((at, number) => ({ at, places: places.map((some) => some[number]) }));
}

/** The greatest epoch so far: where a group began again, a smaller one follows. @param {Seen[]} seen */
function epochsOf(seen) {
  let most = 0;
  return seen.map(({ frame }) => (most = Math.max(most, epochOf(frame) ?? 0)));
}

/** Of each stop the last that was seen by that time, or the first that was seen of that epoch. @param {number[]} values @param {number[]} stops @param {Lock} lock */
function placesIn(values, stops, lock) {
  let place = 0;
  return stops.map((at) => {
    if (lock === 'time') while (values[place + 1] <= at) place += 1;
    else while (values[place] < at && place + 1 < values.length) place += 1;
    return place;
  });
}

/** The last stop that is not behind a place of the playhead. @param {Stop[]} stops @param {number} at */
export const stopAt = (stops, at) => stops.findLast((stop) => stop.at <= at) ?? stops[0];

/**
 * What a board shows otherwise than another one: epoch, state, members with their epochs, and who reads each partition. Members are
 * the same where they have the same name.
 *
 * @param {Shown} one @param {Shown} other @returns {Differences}
 */
export function differences(one, other) {
  const facts = [
    ['epoch', epochOf(one.frame), epochOf(other.frame)],
    ['state', one.frame.state, other.frame.state],
  ];
  const words = facts
    .filter(([, mine, theirs]) => mine !== theirs)
    .map(([name, mine, theirs]) => `${name} ${mine ?? 'unknown'}, not ${theirs ?? 'unknown'}`);
  const [mine, theirs] = [one, other].map(membersOf);
  const members = [];
  for (const name of new Set([...mine.keys(), ...theirs.keys()])) {
    const [here, there] = [mine.get(name), theirs.get(name)];
    // A member of the classic protocol has no epoch to compare: its group's generation is above.
    if (here && there && (here.epoch === there.epoch || here.epoch === null || there.epoch === null)) continue;
    if (here) members.push(here.id);
    if (!here || !there) words.push(`${name} is ${here ? 'a' : 'no'} member`);
    else words.push(`${name} at epoch ${here.epoch}, not ${there.epoch}`);
  }
  const keys = [];
  const [readers, others] = [one, other].map(namedReaders);
  for (const key of new Set([...readers.keys(), ...others.keys()])) {
    const [here, there] = [readers.get(key) ?? 'nobody', others.get(key) ?? 'nobody'];
    if (here === there) continue;
    keys.push(key);
    words.push(`${key} is read by ${here}, not ${there}`);
  }
  return { words, keys, members };
}

/** Name → id and epoch. @param {Shown} shown @returns {Map<string, {id: string, epoch: number | null}>} */
const membersOf = ({ frame, name }) =>
  new Map(Object.entries(frame.members).map(([id, { epoch }]) => [name(id), { id, epoch: epoch ?? null }]));

/** Partition → the names of its readers. @param {Shown} shown */
const namedReaders = ({ frame, name }) =>
  new Map([...readersOf(frame)].map(([key, members]) => [key, members.map(name).sort().join(' and ')]));

/** The differences in a line. @param {Differences} differences @param {number} number of the other board */
export function differenceWords({ words }, number) {
  if (!words.length) return `As ${number}`;
  const more = words.length - NAMED_MOST;
  return `Not as ${number}: ${words.slice(0, NAMED_MOST).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** The first stop at which any board differs from the first one; undefined where none does. @param {Stop[]} stops @param {(Timed & {name: (member: string) => string})[]} runs */
export function firstDifference(stops, runs) {
  return stops.find(({ places }) => {
    const [first, ...others] = runs.map(({ seen, name }, run) => ({ frame: seen[places[run]].frame, name }));
    return others.some((other) => differences(other, first).words.length);
  });
}
