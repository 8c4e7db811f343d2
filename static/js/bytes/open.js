/**
 * What of the inspector's page is open: one sheet of bytes or two that are compared, by which the page shows its parts, and what
 * an address carries of it.
 *
 * @typedef {object} Open
 * @property {'one' | 'compare'} mode
 * @property {import('./sheet.js').Sheet | null} sheet
 * @property {import('./record.js').OpenRecord | null} record of a timeline
 * @property {import('./sheet.js').Side[]} pair what is compared
 */

import { part, press } from '../shared/dom.js';
import { fragmentOf } from './link.js';
import { before } from './record.js';
import { searchOfTwo } from './search.js';
import { asVersion } from './sheet.js';

/** What is open, in the head of the page and in its title. @param {Open} open */
export function showWhere({ mode, sheet, record }) {
  const crumb = mode === 'compare' ? 'Two compared' : record ? record.found.title : (sheet?.current.title ?? '');
  part('crumb').textContent = crumb;
  part('crumb-slash').hidden = !crumb;
  document.title = `${crumb ? `${crumb} · ` : ''}Inspector · Rebalance Explorer`;
  part('from').hidden = !sheet || (mode === 'compare' && !record);
  part('from').textContent = sheet?.source ?? '';
  document.body.classList.toggle('of-record', record !== null);
  const link = /** @type {HTMLAnchorElement} */ (part('board-link'));
  link.hidden = !record;
  if (record) link.href = record.board;
  part('part').hidden = !record || mode === 'compare';
  part('before').replaceChildren(...(record && mode === 'one' ? [before(record.found)] : []));
}

/** Which parts of the page there are. @param {Open} open */
export function arrange({ mode, sheet }) {
  const comparing = mode === 'compare';
  const ready = comparing ? part('two').childElementCount > 0 : sheet !== null;
  part('start').hidden = ready || comparing;
  part('start-two').hidden = ready || !comparing;
  document.body.classList.toggle('nothing', !ready);
  part('tree').hidden = !ready;
  part('side').hidden = !ready;
  for (const id of ['one', 'hexes']) part(id).hidden = comparing;
  for (const id of ['two', 'pair', 'second', 'second-label']) part(id).hidden = !comparing;
  part('text-label').textContent = comparing ? 'First' : 'Bytes';
  part('hint').hidden = comparing;
  if (comparing) part('clients').hidden = true;
  for (const id of ['copy-json', 'copy-hex', 'copy-link'])
    /** @type {HTMLButtonElement} */ (part(id)).disabled = !ready;
  press(part('mode'), mode);
}

/** What the address would carry of two entries; null where it is not two entries that are compared. @param {Open} open */
function ofEntries({ mode, record, pair }) {
  const [first, other] = pair;
  if (mode !== 'compare' || !record || first?.entry === undefined || other?.entry === undefined) return null;
  return searchOfTwo(record.found.timeline, other.entry, first.entry);
}

/** What the address would carry; null where that is too much for an address. @param {Open} open */
export function fragment(open) {
  const { mode, sheet, pair } = open;
  const entries = ofEntries(open);
  if (entries !== null) return entries;
  if (mode === 'compare')
    return fragmentOf(
      pair.map(({ body }) => ({ kind: body.kind ?? '', version: body.version ?? null, bytes: body.bytes ?? '' })),
    );
  if (!sheet) return '';
  const { kind, bytes } = sheet.current;
  return fragmentOf([{ kind, version: asVersion(sheet.current) ?? null, bytes }]);
}
