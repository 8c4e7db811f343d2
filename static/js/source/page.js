/**
 * Where a board has its data from: the server that the page came from, or the page itself. Both answer alike.
 *
 * @import {Chunk, Meta} from '../types'
 * @typedef {Omit<ReturnType<typeof addresses>, 'base' | 'meta' | 'lag' | 'range' | 'watch' | 'motifs' | 'cancel' | 'name' | 'socket' | 'bytes' | 'assignment' | 'metrics' | 'offsets' | 'epochs' | 'after' | 'sharing' | 'detail' | 'rename'>} Answers
 */

import { addresses } from '../shared/api.js';
import { part } from '../shared/dom.js';

/**
 * What only a server can do: `null` where the page is all there is.
 *
 * @typedef {Pick<ReturnType<typeof addresses>, 'base' | 'meta' | 'lag' | 'range' | 'watch' | 'motifs' | 'cancel' | 'name' | 'socket' | 'bytes' | 'assignment' | 'metrics' | 'offsets' | 'epochs' | 'after' | 'sharing' | 'detail' | 'rename'>} Served
 *
 * @typedef {object} Given
 * @property {Meta} meta
 * @property {Chunk | null} first the chunk that the page opens with, where it came with it
 * @property {Answers} api
 * @property {Served | null} server
 * @property {import('./panels.js').Panels | null} panels what is next to the board; null where only its story is shown
 * @property {import('../panels/reading.js').View | null} view what it is shown as, where that is not the reader's choice
 * @property {string[]} changed parts of the page that are not as they were written
 */

/** @param {string} id @returns {any} */
const inlined = (id) => JSON.parse(part(id).textContent ?? 'null');

/** @returns {Promise<Given>} */
export async function openPage() {
  if (document.getElementById('incident')) {
    const { openIncident } = await import('./incident.js');
    return openIncident(document);
  }
  /** @type {Meta} */
  const meta = inlined('timeline-data');
  const api = addresses(meta);
  return { meta, first: inlined('chunk-data'), api, server: api, panels: api, view: null, changed: [] };
}
