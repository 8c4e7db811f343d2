/**
 * What to do about an incident: each finding that comes with advice, with its evidence, how bad it is, what usually causes it and where
 * to look; and the patterns that this log neither shows nor rules out, with the source that it lacks.
 *
 * @typedef {Partial<import('../types').Summary>} Summary
 * @import {Finding, Untold} from '../shapes'
 */

import { h } from '../shared/dom.js';
import { counted, grouped } from '../shared/numbers.js';
import { append } from '../shared/lists.js';

/** Where a team has a source from. @type {Record<string, string>} */
const SOURCES = {
  records: 'the records of __consumer_offsets',
  commits: 'the committed offsets',
  requests: 'the request log',
  timers: 'the coordinator’s log',
  callbacks: 'the clients’ logs',
};

/** Findings of one kind and advice that are listed; more are counted. */
const ALIKE_MOST = 5;

/** Of findings without a rank: what holds somebody up now is before all patterns, the rest behind them. */
const RANK = { critical: 0, other: 200 };

/**
 * Findings that come with advice, as the verdict ranks them, those of one kind and advice as one; and what the log cannot determine, by
 * the sources that it lacks.
 *
 * @param {Summary} summary
 * @returns {{found: Finding[][], untold: {lacks: string, titles: string[]}[]}}
 */
export function patternsOf(summary) {
  /** @type {Map<string, Finding[]>} */
  const alike = new Map();
  for (const finding of summary.findings ?? []) {
    if (!finding.look_at?.length && !finding.explained_by) continue;
    const key = finding.pattern ? String(alike.size) : `${finding.kind} ${finding.why ?? ''}`;
    append(alike, key, finding);
  }
  const found = [...alike.values()];
  found.sort(([one], [other]) => Number(harmless(one)) - Number(harmless(other)) || rankOf(one) - rankOf(other));
  /** @type {Map<string, string[]>} */
  const untold = new Map();
  for (const { title, lacks } of summary.cannot_tell ?? []) {
    const what = lacks.map((source) => SOURCES[source] ?? source).join(' and ');
    append(untold, what, title);
  }
  return { found, untold: [...untold].map(([lacks, titles]) => ({ lacks, titles })) };
}

/** @param {Finding} finding */
const harmless = ({ severity }) => severity === 'harmless';

/** @param {Finding} finding */
const rankOf = ({ rank, severity }) => rank ?? (severity === 'critical' ? RANK.critical : RANK.other);

/** @param {HTMLDetailsElement} root @param {Summary} summary */
export function showPatterns(root, summary) {
  const { found, untold } = patternsOf(summary);
  root.hidden = !found.length && !untold.length;
  const asks = found.length ? 'Causes, and where to look' : 'What this log cannot tell';
  const next = found.length ? '' : counted(untold.flatMap(({ titles }) => titles).length, 'pattern');
  root.replaceChildren(
    h('summary', asks, next && h('span.quiet', ` ${next}`)),
    h(
      'div.patterns-body',
      { tabindex: '0', role: 'region', 'aria-label': asks },
      ...found.map(shown),
      untold.length > 0 &&
        h(
          'div.pattern',
          h('h3', 'This log cannot show'),
          ...untold.map(({ lacks, titles }) =>
            h('p', `${titles.join(', ')}: `, h('span.quiet', `nobody can tell without ${lacks}.`)),
          ),
        ),
    ),
  );
}

/** @param {Finding[]} alike */
function shown(alike) {
  const [{ causes = [], look_at = [], differs, explained_by }] = alike;
  const more = alike.length - ALIKE_MOST;
  return h(
    'div.pattern',
    ...alike
      .slice(0, ALIKE_MOST)
      .map(({ says: text, severity, sequences }) =>
        h(
          'h3',
          h('a.clause', { href: `?at=${sequences[0]}`, 'data-at': sequences[0] ?? '' }, text),
          ' ',
          severity && h('span', { class: `tag severity ${severity}` }, severity),
        ),
      ),
    more > 0 && h('p.quiet', `${grouped(more)} more like these`),
    explained_by && h('p', h('b', 'Explained by: '), `${explained_by}.`),
    causes.length > 0 && h('p', h('b', 'Usual causes: '), `${causes.join('; ')}.`),
    look_at.length > 0 && h('p', h('b', 'Where to look: '), `${look_at.join('; ')}.`),
    differs && h('p.quiet', h('b', 'Proposal and release: '), differs),
  );
}
