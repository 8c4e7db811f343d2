/**
 * What an older client would read of the bytes that are looked at: the whole where it has versions of that sort, else a
 * subscription within; what it would not read is struck out among the bytes.
 *
 * @import {Inspected} from './types'
 * @import {BytesPane} from './pane.js'
 * @import {Sheet} from './sheet.js'
 */

import { submit } from '../shared/api.js';
import { Clients } from './clients.js';
import { toBase64 } from './edits.js';
import { contentOf, subscriptionAround } from './sheet.js';
import { nameOf } from './words.js';

export class Looking {
  /** @type {Sheet | null} */
  #sheet = null;
  /** Answers about subscriptions within, by their bytes. @type {Map<string, Promise<Inspected>>} */
  #blobs = new Map();

  /** @param {{root: HTMLElement, pane: BytesPane}} parts */
  constructor({ root, pane }) {
    this.pane = pane;
    this.clients = new Clients({
      root,
      onChoose: (seen) => {
        const blob = this.#lookedAt();
        pane.strike(seen && blob ? [blob.extent[0] + seen.read, blob.extent[1]] : null);
      },
    });
  }

  /** @param {Sheet | null} sheet what the pane shows; none hides the panel */
  async show(sheet) {
    this.#sheet = sheet;
    const blob = this.#lookedAt();
    if (!blob || !sheet) {
      this.clients.show(null);
      return;
    }
    if (!blob.place) {
      this.clients.show(sheet.current);
      return;
    }
    const bytes = toBase64(this.pane.bytes.subarray(...blob.extent));
    const of = blob.place.parent ? nameOf(blob.place.parent.node) : '';
    const known =
      this.#blobs.get(bytes) ?? submit('/api/inspect', 'POST', { bytes, kind: 'subscription', guess: false });
    this.#blobs.set(bytes, known);
    try {
      const answer = await known;
      if (this.#lookedAt()?.place === blob.place) this.clients.show(answer, of);
    } catch {
      this.#blobs.delete(bytes);
      this.clients.show(null);
    }
  }

  #lookedAt() {
    if (!this.#sheet) return null;
    const { clients, length } = this.#sheet.current;
    if (clients.length) return { extent: [0, length], place: null };
    const place = subscriptionAround(this.pane);
    return place && { extent: contentOf(place), place };
  }
}
