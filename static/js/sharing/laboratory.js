/**
 * Sharing a group of the laboratory, or a cell of a sweep, as a link or as one file.
 *
 * @typedef {import('./types').ShareLink} ShareLink
 * @typedef {{query: string, board: number} | {cell: {sweep: string, cell: number, seed: number, measure: string}}} Asked
 */

import { ask, file, submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { linkLine, linksList } from './lines.js';
import { fileFirst, handOver } from './saving.js';

const BASE = '/api/laboratory';

export class LaboratorySharing {
  #dialog = /** @type {HTMLDialogElement} */ (part('share'));
  /** @type {Asked | null} */
  #asked = null;

  constructor() {
    fileFirst(location.hostname);
    part('share-make').addEventListener('click', () => this.#work(() => this.#make()));
    part('share-html').addEventListener('click', () => this.#work(() => this.#save()));
  }

  /** @param {Asked} asked @param {string} title */
  open(asked, title) {
    this.#asked = asked;
    part('share-moment').textContent = title;
    part('share-says').replaceChildren();
    this.#dialog.showModal();
    this.#list();
  }

  #body() {
    const hides = /** @type {HTMLInputElement} */ (part('share-hide')).checked;
    return { ...this.#asked, hide_names: hides };
  }

  async #make() {
    const days = Number(/** @type {HTMLSelectElement} */ (part('share-days')).value);
    const made = await submit(`${BASE}/links`, 'POST', { ...this.#body(), days });
    part('share-says').replaceChildren(
      linkLine('link', `${location.origin}${made.url}`),
      h('p.quiet', 'It is shown once: the server keeps no copy of it.'),
    );
    await this.#list();
  }

  async #save() {
    const made = await file(`${BASE}/exports`, this.#body());
    handOver(made);
    part('share-says').replaceChildren(h('p', `${made.name} was made: ${(made.blob.size / 1e6).toFixed(1)} MB.`));
  }

  async #list() {
    /** @type {ShareLink[]} */
    const links = await ask(`${BASE}/links`)
      .then((answer) => answer.links)
      .catch(() => []);
    linksList(part('share-links'), links, (link) =>
      this.#work(async () => {
        await submit(`/api/links/${encodeURIComponent(link.id)}`, 'DELETE');
        await this.#list();
      }),
    );
  }

  /** Buttons rest while something is made. @param {() => Promise<void>} run */
  async #work(run) {
    const buttons = [...this.#dialog.querySelectorAll('.acts2 button')];
    for (const button of buttons) button.setAttribute('disabled', '');
    try {
      await run();
    } catch (error) {
      const text = error instanceof Error ? error.message : 'This could not be done.';
      part('share-says').replaceChildren(h('p.bad', text));
    } finally {
      for (const button of buttons) button.removeAttribute('disabled');
    }
  }
}
