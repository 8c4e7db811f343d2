/**
 * The head of an import: what was found in one sentence, how long it took, and what can be done with it.
 *
 * @import {Detail} from './types'
 */

import { h, part } from '../shared/dom.js';
import { duration } from '../frame/words.js';
import { counted, grouped } from '../shared/numbers.js';
import { ended, SPARK, total } from './states.js';

/** How long it took, what can be done with it, and the sentence. @param {Detail} detail */
export function head(detail) {
  const took = (detail.finished ? Date.parse(detail.finished) : Date.now()) - Date.parse(detail.created);
  const words = {
    waiting: 'Waiting for',
    running: 'Running for',
    complete: 'Imported in',
    failed: 'Failed after',
    cancelled: 'Cancelled after',
  };
  const since = part('since');
  const by = detail.engine ? (detail.engine.name === 'local' ? ' without Spark' : ' on Spark') : '';
  since.replaceChildren(words[/** @type {'waiting'} */ (detail.status)] ?? '', ' ', h('b.num', duration(took)), by);
  since.title = detail.engine?.why ?? '';
  part('stop').hidden = ended(detail);
  part('delete').hidden = !ended(detail);
  part('rename').hidden = !ended(detail);
  part('report').hidden = !ended(detail);
  const best = detail.timelines[0];
  const open = /** @type {HTMLAnchorElement} */ (part('open'));
  open.hidden = !best;
  if (best) {
    open.href = best.url;
    open.title = `Open ${best.title}`;
    open.replaceChildren(h('span', open.title));
  }
  part('says').replaceChildren(...sentence(detail));
  part('basis').textContent = detail.status === 'complete' && !lostOf(detail).length ? 'Everything was read' : '';
}

/** What was found, in one sentence: every clause leads to its place. @param {Detail} detail @returns {(Node | string)[]} */
function sentence(detail) {
  const said = /** @type {(Node | string)[]} */ ([]);
  if (!total(detail)) {
    if (detail.status === 'complete') return ['No record of a consumer group was found.'];
    if (ended(detail)) return [detail.status === 'cancelled' ? 'The import was cancelled.' : 'Nothing was read.'];
    const stage = part('stage').textContent || detail.stage || 'Waiting for its turn';
    return [stage === SPARK ? `${stage}: this takes 10 to 20 seconds the first time…` : `${stage}…`];
  }
  said.push(h('a.clause', { href: '#troubles' }, counted(total(detail), 'group')));
  said.push(ended(detail) ? ` in ${grouped(detail.records.read)} records. ` : ' found so far. ');
  const lost = lostOf(detail);
  if (lost.length) {
    const number = lost.reduce((sum, { records }) => sum + records, 0);
    const text = number
      ? `${counted(number, 'record')} ${number === 1 ? 'was' : 'were'} skipped`
      : `${counted(lost.length, 'file')} could not be read`;
    said.push(h('a.clause', { href: '#skipped-panel' }, text), '.');
  }
  return said;
}

/** What could not be read, other than what is normal at the end of a log. @param {Detail} detail */
function lostOf(detail) {
  return detail.records.skipped.filter(({ normal }) => !normal);
}
