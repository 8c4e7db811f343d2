/**
 * The files of an import, each with what it was recognised as.
 *
 * @import {Detail} from './types'
 */

import { part } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';
import { sourceRow } from './rows.js';
import { ended } from './states.js';

/** Whether reading has begun: until Spark runs, files are recognised and nothing more. @param {Detail} detail */
const reading = (detail) => ended(detail) || detail.stages.some(({ name, done }) => name === 'Read' && done > 0);

/** @param {Detail} detail */
export function sources(detail) {
  const known = detail.sources;
  part('sources-says').textContent = known.length ? `${counted(known.length, 'file')}, recognised by content` : '';
  part('sources').replaceChildren(...known.map((source) => sourceRow(source, reading(detail))));
}
