/**
 * How the source of a live board is now: whether somebody looks, what was seen last and how long ago. Pure.
 *
 * @import {LiveSource, Meta} from '../types'
 * @typedef {{kind: '' | 'warn' | 'bad', title: string, says: string}} SourceSays
 */

import { conditionWords } from './groups.js';
import { duration } from '../frame/words.js';

/** A look that is older than this, and than some periods of looks, is late. */
const LATE_MS = 15_000;
const LATE_PERIODS = 5;
/** A server whose clock was set back by more than this has another clock. */
const SET_BACK_MS = 5_000;

/** The server's clock, by which durations are counted: this machine's may be wrong. */
export class ServerClock {
  #ahead_ms = Number.NaN;

  /** The server's time, as a message has it that came just now. @param {number | undefined} now_ms */
  hear(now_ms, here_ms = Date.now()) {
    if (typeof now_ms !== 'number') return;
    const ahead_ms = now_ms - here_ms;
    // Of all messages the one that came fastest is the best.
    const isFirst = Number.isNaN(this.#ahead_ms) || ahead_ms < this.#ahead_ms - SET_BACK_MS;
    this.#ahead_ms = isFirst ? ahead_ms : Math.max(this.#ahead_ms, ahead_ms);
  }

  now(here_ms = Date.now()) {
    return here_ms + (Number.isNaN(this.#ahead_ms) ? 0 : this.#ahead_ms);
  }
}

/** How a live group is recorded. @param {Pick<Meta, 'provenance' | 'live'>} meta */
export function recordedWords({ provenance, live }) {
  const rewound = 'It can be rewound while it goes on.';
  if (provenance === 'recorded') return `Followed: every record of the group, as the broker wrote it. ${rewound}`;
  const every = live?.every_s ? ` every ${live.every_s} s, and more often while it rebalances` : '';
  return `Polled from the group’s coordinator${every}; what happened between two polls is inferred. ${rewound}`;
}

/**
 * What the banner of a live board shows of its source.
 *
 * @param {Pick<Meta, 'provenance' | 'live'>} meta
 * @param {number} now_ms the server's clock
 * @returns {SourceSays}
 */
export function sourceWords(meta, now_ms) {
  const { live } = meta;
  if (!live) return { kind: '', title: 'Live.', says: recordedWords(meta) };
  const age_ms = live.looked_ms === null ? null : Math.max(0, now_ms - live.looked_ms);
  const ago = age_ms === null ? 'never' : `${duration(age_ms)} ago`;
  const stale = `The board shows what was last seen, ${ago}.`;
  if (live.status === 'paused')
    return { kind: 'warn', title: 'Paused.', says: `${live.problem || 'The cluster is not watched.'} ${stale}` };
  if (live.status === 'failing')
    return { kind: 'bad', title: 'Not watched now.', says: `${live.problem} ${stale} The cluster is tried again.` };
  if (!live.is_watched || age_ms === null)
    return { kind: 'warn', title: 'Nobody looks now.', says: `No process watches the cluster. ${stale}` };
  if (age_ms > Math.max(LATE_MS, LATE_PERIODS * 1000 * (live.every_s ?? 0)))
    return { kind: 'warn', title: 'No answer yet.', says: `The cluster was asked and has not answered. ${stale}` };
  const hidden = conditionWords(live.condition);
  if (hidden) return { kind: 'warn', title: 'Not seen now.', says: `${hidden}. The board shows what was last seen.` };
  return {
    kind: '',
    title: 'Live.',
    says: [stateWords(live, now_ms, ago), skewWords(live), recordedWords(meta)].filter(Boolean).join(' '),
  };
}

/** @param {LiveSource} live @param {number} now_ms @param {string} ago */
function stateWords(live, now_ms, ago) {
  if (!live.state) return `Looked at ${ago}.`;
  const since = (/** @type {number | null} */ at_ms) =>
    at_ms === null ? '' : ` for ${duration(Math.max(0, now_ms - at_ms))}`;
  const rebalancing =
    live.rebalancing && live.since_ms !== live.state_since_ms ? `, rebalancing${since(live.since_ms)}` : '';
  return `The coordinator described it as ${live.state}${since(live.state_since_ms)}${rebalancing}; looked at ${ago}.`;
}

/** @param {Pick<LiveSource, 'skew_ms'>} live */
export function skewWords({ skew_ms }) {
  if (!skew_ms) return '';
  const where = skew_ms > 0 ? 'ahead of' : 'behind';
  return `The broker’s clock is ${duration(Math.abs(skew_ms))} ${where} this server’s; times on the board are the broker’s.`;
}
