/**
 * The headline, its figures, and the story beneath it. Every clause that has a proof is a link to its moment; one that
 * counts several things leads from each to the next. Times are marked as such.
 *
 * @typedef {Partial<import('../types').Summary>} Summary
 * @import {Clause} from '../types'
 */

import { duration, releasesText } from '../frame/words.js';
import { h, hit, unbroken } from '../shared/dom.js';
import { patternsOf } from './patterns.js';

/** A time from here on (March 1973) is a clock's; one below is a simulation's. */
const CLOCK_FROM_MS = 1e11;

/** What the figure counts. */
const UNREAD = 'Partitions that have no owner at the end, or one that commits nothing of them';

/** Words of a story before "more". */
const WORDS_MOST = 90;

/**
 * @param {(id: string) => HTMLElement} part
 * @param {Summary} summary one of an earlier fold has no headline: its story is shown in full
 * @param {string | undefined} release of a run: its brokers follow the rules of this one
 */
export function showVerdict(part, summary, release = '') {
  const { verdict } = summary;
  if (!verdict?.clauses.length) return;
  const { headline, clauses } = verdict;
  part('headline').replaceChildren(...(headline?.clauses ?? clauses).flatMap(shown));
  part('badge').hidden = !headline?.severity;
  if (headline?.severity) part('badge').replaceChildren(...badge(headline, summary));
  part('figures').replaceChildren(...(headline ? figuresOf(headline, release) : []));
  const story = part('verdict');
  const brief = briefOf(clauses);
  const more = () => story.classList.add('all');
  story.replaceChildren(
    ...clauses.flatMap((clause, at) => {
      const until = brief.get(at) ?? 0;
      const [now, later] = [clause.text.slice(0, until), clause.text.slice(until)];
      const piece = (/** @type {string} */ text) => [shown({ ...clause, text })].flat();
      return [...(now ? piece(now) : []), later && h('span.rest', piece(later))];
    }),
    clauses.some(({ text }, at) => brief.get(at) !== text.length) ? h('button.btn.sm', { onclick: more }, 'more') : '',
  );
}

/** The end of a sentence; a point within a number or a name is none. */
const ENDS = /\.(?= |$)/g;

/**
 * What a story shows at first: what happened, without how the group formed and without sums, up to the sentence that
 * would be too long.
 *
 * @param {Clause[]} clauses
 * @returns {Map<number, number>} how many letters of which clauses
 */
export function briefOf(clauses) {
  /** @type {Map<number, number>} */
  const brief = new Map();
  /** @type {number[]} */
  let sentence = [];
  let words = 0;
  for (const [at, { text, sequence, part }] of clauses.entries()) {
    if (part) continue;
    words += text.split(/\s+/).filter(Boolean).length;
    if (words > WORDS_MOST) break;
    const end = sequence === null ? [...text.matchAll(ENDS)].at(-1) : undefined;
    if (!end) sentence.push(at);
    else {
      for (const one of sentence) brief.set(one, clauses[one]?.text.length ?? 0);
      brief.set(at, end.index + 1);
      // A clause that ends a sentence may begin the next one.
      sentence = end.index + 1 < text.length ? [at] : [];
    }
  }
  return brief;
}

/**
 * The pattern that opens the verdict, as the table of what is wrong has it, and whether that is certain.
 *
 * @param {import('../shapes').Headline} headline @param {Summary} summary
 */
function badge({ severity, certain }, summary) {
  const pattern = patternsOf(summary).found.find(([one]) => one?.pattern)?.[0];
  return [
    h('span', { class: `tag severity ${severity}` }, pattern?.title ?? 'Other trouble'),
    h('span.sr', `${severity}, `),
    (pattern?.certain ?? certain) ? 'shown by the log' : 'inferred',
  ];
}

/** @param {import('../shapes').Headline} headline @param {string} [release] */
function figuresOf({ figures, clauses }, release) {
  const { unread, partitions, longest_ms: ms, longest, still, releases = [] } = figures;
  const kafka = releasesText(releases, release);
  const since = clauses.find(({ at_ms: at }) => at !== undefined);
  return [
    since && figure(still ? 'Since' : 'From', shown(since)),
    // What is not over has partitions that this log may not show as unread: none is not said of it.
    (unread || (still === false && partitions)) &&
      figure('Unread', partitions ? `${unread} of ${partitions}` : `${unread}`, unread ? '.bad' : '', UNREAD),
    ms && figure('Longest wait', duration(ms), still ? '.bad' : '', longest ?? ''),
    still !== null && figure('Still so', still ? 'yes' : 'no'),
    kafka &&
      figure('Kafka', kafka, '', 'Releases of the brokers that wrote these records, as far as the records show them'),
  ].filter((one) => one instanceof Node);
}

/** @param {string} name @param {string | Node | (string | Node)[]} value */
function figure(name, value, kind = '', title = '') {
  return h('div', { title }, h('dt', name), h(`dd.num${kind}`, value));
}

/** @param {Clause} clause */
function shown({ text, sequence, sequences = [], at_ms }) {
  if (at_ms !== undefined && at_ms >= CLOCK_FROM_MS)
    return h('time', { datetime: new Date(at_ms).toISOString() }, text);
  if (sequence === null) return unbroken(text);
  const steps =
    sequences.length > 1
      ? { 'data-steps': sequences.join(' '), title: `Leads through ${sequences.length} moments, one a click` }
      : {};
  return h('a.clause', { href: `?at=${sequence}`, 'data-at': sequence, ...steps }, ...unbroken(text));
}

/**
 * Where a clause that counts several things leads next: to the one that its words are of, then on with each click, and
 * round again.
 *
 * @param {string} steps sequences, as `data-steps` has them
 * @param {number} own the sequence of the clause itself
 * @param {string | undefined} last the ordinal of the last one, from 0
 * @returns {{nth: number, of: number, sequence: number}}
 */
export function nextStep(steps, own, last) {
  const sequences = steps.split(' ').map(Number);
  const nth = last === undefined ? Math.max(sequences.indexOf(own), 0) : (Number(last) + 1) % sequences.length;
  return { nth, of: sequences.length, sequence: /** @type {number} */ (sequences[nth]) };
}

/**
 * Links to moments move the board instead of loading the page again.
 *
 * @param {HTMLElement} root
 * @param {(sequence: number) => void} onSeek
 */
export function followLinks(root, onSeek) {
  root.addEventListener('click', (event) => {
    const link = hit(event, '[data-at]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onSeek(link.dataset.steps === undefined ? Number(link.dataset.at) : stepped(link, link.dataset.steps));
  });
}

/** @param {HTMLElement} link @param {string} steps */
function stepped(link, steps) {
  const { nth, of, sequence } = nextStep(steps, Number(link.dataset.at), link.dataset.nth);
  link.dataset.nth = String(nth);
  const count = link.querySelector('.num') ?? link.appendChild(h('span', { class: 'num' }));
  count.textContent = ` (${nth + 1} of ${of})`;
  return sequence;
}
