/**
 * What the incident was, by name: each pattern with its evidence, how bad it is, what usually causes it and where to look; and the
 * patterns that this log neither shows nor rules out, with the source that it lacks.
 *
 * @typedef {Partial<import('../types').Summary>} Summary
 * @typedef {import('../shapes').Finding} Finding
 * @typedef {import('../shapes').Untold} Untold
 */

import { h } from '../shared/dom.js';
import { plural } from '../frame/words.js';

/** Where a team has a source from. @type {Record<string, string>} */
const SOURCES = {
  records: 'the records of __consumer_offsets',
  commits: 'the committed offsets',
  requests: 'the request log',
  timers: 'the coordinator’s log',
  callbacks: 'the clients’ logs',
};

/**
 * Those that were found, as the verdict ranks them, and what the log cannot tell, by the sources that it lacks.
 *
 * @param {Summary} summary
 * @returns {{found: Finding[], untold: {lacks: string, titles: string[]}[]}}
 */
export function patternsOf(summary) {
  const found = (summary.findings ?? []).filter(({ pattern }) => pattern);
  found.sort((one, other) => Number(harmless(one)) - Number(harmless(other)) || (one.rank ?? 0) - (other.rank ?? 0));
  /** @type {Map<string, string[]>} */
  const untold = new Map();
  for (const { title, lacks } of summary.cannot_tell ?? []) {
    const what = lacks.map((source) => SOURCES[source] ?? source).join(' and ');
    untold.set(what, [...(untold.get(what) ?? []), title]);
  }
  return { found, untold: [...untold].map(([lacks, titles]) => ({ lacks, titles })) };
}

/** @param {Finding} finding */
const harmless = ({ severity }) => severity === 'harmless';

/**
 * @param {HTMLDetailsElement} root
 * @param {Summary} summary
 */
export function showPatterns(root, summary) {
  const { found, untold } = patternsOf(summary);
  root.hidden = !found.length && !untold.length;
  const asks = found.length ? 'Causes, and where to look' : 'What this log cannot tell';
  const beside = found.length ? '' : plural(untold.flatMap(({ titles }) => titles).length, 'pattern');
  root.replaceChildren(
    h('summary', {}, asks, beside && h('span', { class: 'quiet' }, ` ${beside}`)),
    h(
      'div',
      { class: 'patterns-body', tabindex: '0', role: 'region', 'aria-label': asks },
      ...found.map(shown),
      untold.length > 0 &&
        h(
          'div',
          { class: 'pattern' },
          h('h3', {}, 'Neither shown nor ruled out'),
          ...untold.map(({ lacks, titles }) =>
            h('p', {}, `${titles.join(', ')}: `, h('span', { class: 'quiet' }, `nobody can tell without ${lacks}.`)),
          ),
        ),
    ),
  );
}

/** @param {Finding} finding */
function shown({ says, severity, sequences, causes = [], look_at = [], differs }) {
  return h(
    'div',
    { class: 'pattern' },
    h(
      'h3',
      {},
      h('a', { class: 'clause', href: `?at=${sequences[0]}`, 'data-at': sequences[0] ?? '' }, says),
      ' ',
      h('span', { class: `tag severity ${severity}` }, severity),
    ),
    h('p', {}, h('b', {}, 'Usual causes: '), `${causes.join('; ')}.`),
    h('p', {}, h('b', {}, 'Where to look: '), `${look_at.join('; ')}.`),
    differs && h('p', { class: 'quiet' }, h('b', {}, 'Proposal and release: '), differs),
  );
}
