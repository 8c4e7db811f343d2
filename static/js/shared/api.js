/**
 * The JSON API from the browser: one line of error where it refuses.
 *
 * @import {Chunk, Delta, Entry, Meta} from '../types'
 */

import { parseExactly } from './exact.js';
import { parsed } from './parsed.js';
import { nextTask } from './slices.js';
import { socketUrl } from './socket.js';

/** What the server answered in the place of what was asked. */
export class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * @param {string} url
 * @param {RequestInit} [options]
 * @param {(text: string) => any} [parse]
 * @returns {Promise<any>} null for an answer without a body
 */
export async function ask(url, options, parse = parsed) {
  const answer = await answered(url, options);
  const text = await answer.text();
  return text && answer.headers.get('content-type')?.includes('json') ? parse(text) : null;
}

/** @param {string} url @param {RequestInit} [options] */
async function answered(url, options) {
  const answer = await fetch(url, { headers: { Accept: 'application/json' }, ...options });
  if (answer.ok) return answer;
  const body = await answer
    .text()
    .then(parsed)
    .catch(() => null);
  throw new Refused(answer.status, body?.error?.message ?? `The server answered ${answer.status}.`);
}

/**
 * An object that comes as lines of JSON, each with some of its fields. A megabyte takes some hundredths of a second to
 * parse: between two lines keys are answered and frames drawn.
 *
 * @param {string} url
 * @returns {Promise<any>}
 */
async function askLines(url) {
  const text = await (await answered(url)).text();
  const whole = {};
  for (const line of text.split('\n')) {
    await nextTask();
    Object.assign(whole, parsed(line));
  }
  return whole;
}

/** @param {string} url @param {'POST' | 'PATCH' | 'DELETE'} method @param {unknown} [body] */
export const submit = (url, method, body) => ask(url, requestInit(method, body));

/** What a request that changes something has to carry. */
export const csrfToken = () => document.querySelector('meta[name="csrf-token"]')?.getAttribute('content') ?? '';

/** The options of `fetch` for sending something to the server. @param {string} method @param {unknown} body @returns {RequestInit} */
export function requestInit(method, body) {
  return {
    method,
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'X-CSRFToken': csrfToken() },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** A file that is made for what is asked: its name, and itself. @param {string} url @param {unknown} body */
export async function file(url, body) {
  const answer = await answered(url, requestInit('POST', body));
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'incident';
  return { name, blob: await answer.blob() };
}

/** The addresses of one timeline. @param {Meta} meta */
export function addresses(meta) {
  const base = `/api/timelines/${encodeURIComponent(meta.id)}`;
  const version = meta.version ?? `${meta.entry_format}.${meta.fold_version}`;
  return {
    base,
    meta,
    /** @param {number} first @returns {Promise<Chunk>} */
    chunk: (first) => askLines(`${base}/chunks/${first}?as=lines&v=${encodeURIComponent(version)}`),
    /**
     * @param {'members' | 'partitions' | 'group'} of
     * @param {import('../types').WindowAsk & {topics?: string[]}} window
     */
    digest: (of, { from, to, columns, topics = [] }) =>
      ask(
        `${base}/digest?${new URLSearchParams([['of', of], ['from', `${from}`], ['to', `${to}`], ['columns', `${columns}`], ['v', version], ...topics.map((topic) => ['topic', topic])])}`,
      ),
    /** @param {number} after @returns {Promise<Delta>} */
    after: (after) => ask(`${base}/changes?after=${after}`),
    /** Records hold hashes of 64 bits. @param {number} from @param {number} to @returns {Promise<Entry[]>} */
    entries: async (from, to) => (await ask(`${base}/entries?from=${from}&to=${to}`, {}, parseExactly)).entries,
    /** @param {number} sequence of a record @returns {Promise<import('../bytes/types').RecordBytes>} */
    bytes: (sequence) => ask(`${base}/entries/${sequence}/bytes`),
    /** @type {import('../panels/committed-card.js').FetchOffsets} of all partitions where none is named */
    offsets: ({ from, to, partitions }) =>
      ask(
        `${base}/offsets?${new URLSearchParams([['from', `${from}`], ['to', `${to}`], ...partitions.map((key) => ['partition', key])])}`,
      ),
    /** @param {number} at @returns {Promise<import('../figures/metrics-panel.js').Metrics>} */
    metrics: (at) => ask(`${base}/metrics?at=${at}`),
    /** @param {'partition' | 'member' | 'topic'} by @returns {Promise<import('../figures/lag-words.js').Lag>} */
    lag: (by) => ask(`${base}/lag?by=${by}`),
    /** @param {string} of a watch expression @returns {Promise<import('../figures/watch-panel.js').Watched>} */
    watch: (of) => ask(`${base}/watch?${new URLSearchParams({ of })}`),
    /** @returns {Promise<import('../panels/finding.js').Motifs>} */
    motifs: () => ask(`${base}/motifs`),
    /** @param {{from: number, to: number}} range @returns {Promise<any>} what it cost */
    range: ({ from, to }) => ask(`${base}/range?from=${from}&to=${to}`),
    /** @param {number} at @param {import('../frame/next-assignment.js').Choice} choice @returns {Promise<import('../frame/next-assignment.js').Answer>} */
    assignment: (at, { leaves, joins }) =>
      ask(
        `${base}/assignment?${new URLSearchParams({ at: `${at}`, ...(leaves ? { leaves } : {}), ...(joins ? { joins: '1' } : {}) })}`,
      ),
    /** @returns {Promise<any>} */
    epochs: () => ask(`${base}/figures/epochs`),
    /** @returns {Promise<Meta>} the timeline as it is now */
    detail: () => ask(base),
    /** @param {string} title */
    rename: (title) => submit(base, 'PATCH', { title }),
    cancel: () => submit(`${base}/cancel`, 'POST', {}),
    /** @param {{[id: string]: string | null}} names */
    name: (names) => submit(`${base}/topics`, 'PATCH', names),
    /** @type {import('../sharing/types').Sharing} */
    sharing: {
      preview: (asked) => submit(`${base}/pseudonyms`, 'POST', asked),
      file: (asked) => file(`${base}/exports`, asked),
      make: (asked) => submit(`${base}/links`, 'POST', asked),
      links: () => ask(`${base}/links`),
      withdraw: (id) => submit(`/api/links/${encodeURIComponent(id)}`, 'DELETE'),
    },
    socket: socketUrl(`/ws/timelines/${encodeURIComponent(meta.id)}`),
  };
}
