/**
 * An incident that is handed on in its page (`sealed.js`): the answers that its board otherwise asks a server for.
 *
 * @import {Meta} from '../types'
 * @import {Given} from './page.js'
 */

import { parseExactly } from '../shared/exact.js';
import { panelsOf } from './panels.js';
import { openSealed } from './sealed.js';

/** @param {Document} page @returns {Promise<Given>} */
export async function openIncident(page) {
  const { manifest, changed, read, needed } = await openSealed(page);
  /** @type {Meta} */
  const meta = await needed('timeline');
  const holding = (/** @type {number} */ from, /** @type {number} */ to) =>
    meta.chunks.filter(({ first, last }) => last >= from && first <= to);
  /** @type {Map<string, Promise<any>>} */
  const digests = new Map();
  return {
    meta,
    first: null,
    view: manifest.view,
    changed,
    server: null,
    panels: panelsOf(
      new Set(manifest.blocks.map(({ name }) => name)),
      (name) => read(name),
      (sequence) => holding(sequence, sequence)[0]?.first,
    ),
    api: {
      chunk: (first) => read(`chunk-${first}`),
      // One answer for all windows: nothing finer is there.
      digest: (of) => {
        const held = digests.get(of) ?? read(`digest-${of}`);
        digests.set(of, held);
        return held;
      },
      entries: async (from, to) => {
        const parts = await Promise.all(holding(from, to).map(({ first }) => read(`entries-${first}`, parseExactly)));
        return parts.flat().filter(({ sequence }) => sequence >= from && sequence <= to);
      },
    },
  };
}
