/**
 * What the share dialog shows and asks, worked out without a page.
 *
 * @import {ShareLink} from './types'
 * @typedef {() => {first: number, sequence: number, at_ms: number}[] | null} MomentsOf
 */

import { counted } from '../shared/numbers.js';

/** Half of "2 min around". */
const AROUND_MS = 60_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * The stretch that is asked for: `from` and `to` are sequences, left out where that end is the timeline's own. Order is the
 * sequence: time may run backwards, so neighbours are taken as long as they are near.
 *
 * @param {string} what
 * @param {number} sequence
 * @param {ReturnType<MomentsOf>} moments
 * @returns {{from?: number, to?: number}}
 */
export function asStretch(what, sequence, moments) {
  if (what === 'before') return { to: Math.max(1, sequence) };
  if (what === 'after') return { from: Math.max(1, sequence) };
  if (what !== 'around' || !moments?.length) return {};
  const at = Math.max(
    0,
    moments.findLastIndex((moment) => moment.first <= Math.max(sequence, moments[0].first)),
  );
  const near = (/** @type {number} */ index) => Math.abs(moments[index].at_ms - moments[at].at_ms) <= AROUND_MS;
  let [first, last] = [at, at];
  while (first > 0 && near(first - 1)) first -= 1;
  while (last < moments.length - 1 && near(last + 1)) last += 1;
  return { from: moments[first].first, to: moments[last].sequence };
}

/** Whether a text is a page's origin, as the server takes it. @param {string} text */
export const isOrigin = (text) => /^https?:\/\/[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:\d{1,5})?$/i.test(text);

/** Whether an address reaches this machine alone: a link with it opens for nobody else. @param {string} host */
export const isLoopback = (host) => /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/i.test(host);

export const ONLY_HERE =
  'A link would begin with the address of this machine, and open on it alone. Send the file, or start the server at an address that others reach.';

/** How long ago, roughly. @param {number} ms */
export function ago(ms) {
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  if (ms < DAY_MS) return `${counted(Math.floor(ms / HOUR_MS), 'hour')} ago`;
  return `${counted(Math.floor(ms / DAY_MS), 'day')} ago`;
}

/** What a link shows, in a few words. @type {Record<ShareLink['kind'], (link: ShareLink) => string>} */
const SHOWN = {
  timeline: (link) => link.view,
  laboratory: (link) => link.title,
  cell: (link) => `a seed of a sweep: ${link.title}`,
};

/** @param {ShareLink} link @param {number} now in milliseconds */
export function linkWords(link, now) {
  const what = [
    SHOWN[link.kind](link),
    link.hides_names ? 'names hidden' : 'names shown',
    ...(link.author ? [`by ${link.author}`] : []),
    ...(link.who === 'anyone' ? [] : ['signed in']),
    ...(link.embed_origins.length ? [`frame on ${link.embed_origins.join(', ')}`] : []),
  ].join(', ');
  if (link.state === 'withdrawn') return { what, use: 'withdrawn' };
  if (link.state === 'ended') return { what, use: `ended ${link.until.slice(0, 10)}` };
  if (link.state === 'deleted') return { what, use: 'its timeline was deleted' };
  const use =
    link.last_opened === null
      ? 'never opened'
      : `opened ${link.opened === 1 ? 'once,' : `${link.opened} times, last`} ${ago(now - Date.parse(link.last_opened))}`;
  return { what, use: `${use}, until ${link.until.slice(0, 10)}` };
}
