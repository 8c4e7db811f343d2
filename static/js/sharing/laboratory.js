/**
 * Sharing a group of the laboratory, or a cell of a sweep, as a link or as one file.
 *
 * @typedef {{query: string, board: number} | {cell: {sweep: string, cell: number, seed: number, measure: string}}} Asked
 */

import { ask, file, submit } from '../shared/api.js';
import { Sharer } from './share-dialog.js';

const BASE = '/api/laboratory';

export class LaboratorySharing {
  /** @type {Asked | null} */
  #asked = null;
  #sharer = new Sharer({
    links: () => ask(`${BASE}/links`),
    withdraw: (id) => submit(`/api/links/${encodeURIComponent(id)}`, 'DELETE'),
  });

  constructor() {
    this.#sharer.makes('share-make', () => this.#make());
    this.#sharer.makes('share-html', async () => this.#sharer.hand(await file(`${BASE}/exports`, this.#body())));
  }

  /** @param {Asked} asked @param {string} title */
  open(asked, title) {
    this.#asked = asked;
    this.#sharer.open(title);
  }

  #body() {
    return { ...this.#asked, hide_names: this.#sharer.hides };
  }

  async #make() {
    const made = await submit(`${BASE}/links`, 'POST', {
      ...this.#body(),
      days: this.#sharer.days,
      who: this.#sharer.who,
    });
    this.#sharer.say(...this.#sharer.made(`${location.origin}${made.url}`));
    await this.#sharer.list();
  }
}
