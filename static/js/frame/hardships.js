/**
 * What goes wrong around the group, in words: a member that does not move, is cut off or was fenced, a client that
 * does not know of its removal, a coordinator that loads, an invariant that is broken. Pure.
 *
 * @import {Frame} from '../types'
 * @typedef {Partial<import('../types').Summary>} Summary
 * @import {Cast} from './cast.js'
 * @typedef {{says: string, kafka: string, bad: boolean, duty?: boolean}} Hardship a `duty` is work, no trouble
 * @typedef {{member: string, says: string[], bad: boolean}} Troubled
 * @typedef {{sequence: number, says: string, invariant: string, members: string[], keys: string[], proof: number[]}} Violation
 */

import { keysOf } from './view.js';
import { capital, duration, silentWords } from './words.js';
import { counted } from '../shared/numbers.js';

const ANYBODY = 'anybody';

/** Clocks that differ by less are those of any two machines. */
const CLOCK_LEAST_MS = 100;

/**
 * What a member suffers at a frame, the worst first.
 *
 * @param {Frame} frame
 * @param {string} member
 * @returns {Hardship[]}
 */
export function hardshipsOf(frame, member) {
  const client = frame.clients?.[member];
  if (!client) return [];
  const found = [];
  if (client.fenced) {
    found.push({ says: 'Fenced: abandons its partitions and rejoins', kafka: client.fenced, bad: true });
  }
  if (client.killed)
    found.push({ says: 'Process killed; session still open', kafka: 'its session runs out', bad: false });
  if (client.paused)
    found.push({ says: 'Paused', kafka: 'the process is paused: it sends and receives nothing', bad: false });
  if (client.cut?.length) {
    const whom = client.cut.includes(ANYBODY) ? '' : ` from ${client.cut.join(', ')}`;
    found.push({ says: `Cut off${whom}`, kafka: 'what it sends, and what is sent to it, is lost', bad: false });
  }
  if (Math.abs(client.clock_ms ?? 0) >= CLOCK_LEAST_MS) {
    const off = client.clock_ms ?? 0;
    found.push({
      says: `Clock ${duration(Math.abs(off))} ${off > 0 ? 'ahead' : 'behind'}`,
      kafka: 'its clock jumped',
      bad: false,
    });
  }
  if (client.computing) {
    found.push({ says: 'Computes the assignment', kafka: 'shouldComputeAssignment', bad: false, duty: true });
  }
  return found;
}

/**
 * Clients that are no members and yet have something to do with the group: they still read what others may have by
 * now, or have learned that they are out.
 *
 * @param {Frame} frame
 * @returns {string[]}
 */
export function outsiders(frame) {
  return Object.keys(frame.clients ?? {}).filter(
    (client) =>
      !frame.members[client] && (stillReads(frame, client).length > 0 || Boolean(frame.clients?.[client].fenced)),
  );
}

/**
 * Who suffers something at a frame, members or not, those for whom it is worst first.
 *
 * @param {Frame} frame
 * @param {Violation | null | undefined} violation that this moment is
 * @param {Map<string, number>} [silent] members, and the time since the last commit of each
 * @returns {Troubled[]}
 */
export function troubledOf(frame, violation, silent) {
  const found = [];
  for (const member of outsiders(frame)) {
    const { says: text, bad } = outsiderWords(frame, member);
    const reads = stillReads(frame, member).length;
    found.push({ member, says: [text, ...(reads ? [`still reads ${counted(reads, 'partition')}`] : [])], bad });
  }
  for (const member of Object.keys(frame.members)) {
    const hard = hardshipsOf(frame, member).filter((one) => !one.duty);
    const broken = violation?.members.includes(member) ?? false;
    const silent_ms = silent?.get(member);
    if (!hard.length && !broken && silent_ms === undefined) continue;
    found.push({
      member,
      says: [
        ...(broken ? ['Part of the broken invariant'] : []),
        ...hard.map((one) => one.says),
        ...(silent_ms === undefined ? [] : [capital(silentWords(silent_ms))]),
      ],
      bad: broken || hard.some((one) => one.bad),
    });
  }
  return found.sort((a, b) => Number(b.bad) - Number(a.bad));
}

/** What the client of a member that is gone still has. @param {Frame} frame @param {string} member @returns {string[]} */
export function stillReads(frame, member) {
  return frame.members[member] ? [] : keysOf(frame.clients?.[member]?.owned);
}

/** @param {Frame} frame @param {string} member @returns {Hardship} */
export function outsiderWords(frame, member) {
  const client = frame.clients?.[member];
  if (client?.fenced) {
    const left = stillReads(frame, member).length > 0;
    return {
      says: left ? 'Fenced: abandons its partitions' : 'Fenced: has to rejoin',
      kafka: client.fenced,
      bad: true,
    };
  }
  if (client?.calling) return { says: 'Removed; busy in a callback', kafka: client.calling, bad: false };
  const [worst] = hardshipsOf(frame, member);
  return {
    says: worst ? `Removed; ${worst.says.toLowerCase()}` : 'Removed; the client has not been notified (zombie)',
    kafka: 'no member of the group any more',
    bad: false,
  };
}

/**
 * What is to be said of the coordinator: its name once it is known, and whether it answers.
 *
 * @param {Frame} frame
 * @returns {{says: string, title: string, waits: boolean, loads?: boolean} | null}
 */
export function coordinatorWords(frame) {
  const it = frame.coordinator;
  if (!it) return null;
  const name = it.name ?? 'coordinator';
  if (it.cut.length) {
    return {
      says: `${name} is cut off`,
      title: 'Nothing reaches the coordinator: what it writes is not replicated, what it answers is lost.',
      waits: true,
    };
  }
  const left = (it.loading_until_ms ?? 0) - frame.at_ms;
  if (left > 0) {
    return {
      says: `${name} loads for ${duration(left)} more`,
      title:
        'The new coordinator reads the log. Until it has done so it answers no request (COORDINATOR_LOAD_IN_PROGRESS), and no session runs.',
      waits: true,
      loads: true,
    };
  }
  return it.name
    ? {
        says: `coordinator ${name}`,
        title: 'The broker that is the coordinator since the last fail-over.',
        waits: false,
      }
    : null;
}

/** @param {Summary} summary @returns {Violation[]} */
export function violationsOf(summary) {
  return (summary.findings ?? [])
    .filter(({ kind }) => kind === 'violation')
    .map((finding) => {
      const at = Number(finding.at);
      const partitions = /** @type {import('../types').Partitions} */ (finding.partitions ?? {});
      return {
        sequence: at,
        says: String(finding.says),
        invariant: String(finding.invariant),
        keys: keysOf(partitions),
        members: /** @type {string[]} */ (finding.members ?? []),
        proof: finding.sequences.filter((sequence) => sequence !== at),
      };
    });
}

/**
 * Why members are gone whose removal a moment shows, where no record contains the reason and it is inferred.
 *
 * @param {Summary} summary
 * @param {{first: number, sequence: number}} moment
 * @returns {string} a sentence, or nothing
 */
export function looksLike(summary, { first, sequence }) {
  const guesses = (summary.findings ?? [])
    .filter(({ kind, sequences, short }) => {
      const at = sequences[sequences.length - 1];
      return kind === 'removed' && at >= first && at <= sequence && Boolean(short);
    })
    .map(({ short }) => String(short));
  return guesses.length ? `Looks like ${[...new Set(guesses)].join('; ')} (inferred).` : '';
}

/**
 * What a member's expression matched.
 *
 * @param {Frame} frame
 * @param {string} member
 * @returns {{regex: string, topics: string[] | null} | null} `topics` is null where no record contains them
 */
export function expressionOf(frame, member) {
  const regex = frame.members[member]?.subscribed_regex;
  return regex ? { regex, topics: frame.regexes?.[regex] ?? null } : null;
}

/**
 * Whose place a static member took: the one before it in its lane.
 *
 * @param {Frame} frame
 * @param {string} member
 * @param {Cast} cast
 */
export function replacedBy(frame, member, cast) {
  if (!frame.members[member]?.instance_id) return null;
  const found = /^(.*)~(\d+)$/.exec(cast.name(member));
  if (!found) return null;
  const number = Number(found[2]);
  return number > 2 ? `${found[1]}~${number - 1}` : found[1];
}
