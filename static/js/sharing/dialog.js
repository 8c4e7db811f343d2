/**
 * Share this moment: what they see, with names hidden or not, as a link, as one file, as data; and the links that are there.
 *
 * @typedef {import('./types').Sharing} Sharing
 * @typedef {import('./types').Preview} Preview
 * @typedef {import('./types').Asked} Asked
 */

import { h, part } from '../shared/dom.js';
import { linkLine, linksList } from './lines.js';
import { fileFirst, handOver } from './saving.js';
import { asStretch, isOrigin } from './words.js';

/** A name that is typed, or a moment that moves, is asked about when it rests. */
const SHOWN_NAMES = 200;

/** Over the names once something was made with those that stood here. */
const NEXT = 'The next link gets new pseudonyms:';

export class ShareDialog {
  #dialog = /** @type {HTMLDialogElement} */ (part('share'));
  /** @type {Preview | null} */
  #preview = null;
  #asking = 0;

  /**
   * @param {object} parts
   * @param {Sharing} parts.sharing
   * @param {() => {sequence: number, moment: string}} parts.now where the board is
   * @param {import('./words.js').MomentsOf} parts.moments of the timeline, where all are here
   */
  constructor({ sharing, now, moments }) {
    this.sharing = sharing;
    this.now = now;
    this.moments = moments;
    fileFirst(location.hostname);
    part('share-hide').addEventListener('change', () => this.#showNames());
    part('share-what').addEventListener('change', () => this.#showNames());
    part('share-make').addEventListener('click', () => this.#work(() => this.#make()));
    part('share-html').addEventListener('click', () => this.#work(() => this.#save('html')));
    part('share-data').addEventListener('click', () => this.#work(() => this.#save('data')));
  }

  open() {
    part('share-moment').textContent = this.now().moment;
    part('share-says').replaceChildren();
    const around = /** @type {HTMLOptionElement | null} */ (part('share-what').querySelector('[value=around]'));
    if (around) around.hidden = this.moments() === null;
    this.#dialog.showModal();
    this.#showNames();
    this.#list();
  }

  get #hides() {
    return /** @type {HTMLInputElement} */ (part('share-hide')).checked;
  }

  /** @returns {Asked} */
  #asked() {
    const what = /** @type {HTMLSelectElement} */ (part('share-what')).value;
    const view = /** @type {HTMLInputElement} */ (this.#dialog.querySelector('[name=share-view]:checked')).value;
    return {
      view: /** @type {'reader' | 'investigator'} */ (view),
      hide_names: this.#hides,
      ...(this.#hides && this.#preview ? { key: this.#preview.key } : {}),
      ...asStretch(what, this.now().sequence, this.moments()),
    };
  }

  /** What each name will be called. */
  async #showNames(text = '') {
    this.#asking += 1;
    const asking = this.#asking;
    const place = part('share-names');
    this.#preview = null;
    if (!this.#hides) {
      place.replaceChildren();
      return;
    }
    place.replaceChildren(h('p.quiet', 'Looking for names…'));
    const { from, to } = this.#asked();
    try {
      const preview = await this.sharing.preview({ ...(from ? { from } : {}), ...(to ? { to } : {}) });
      if (asking !== this.#asking) return;
      this.#preview = preview;
      const shown = preview.pseudonyms.slice(0, SHOWN_NAMES);
      const more = preview.pseudonyms.length - shown.length + preview.more;
      place.replaceChildren(
        text ? h('p.quiet.next-names', text) : '',
        h(
          'table.t',
          h(
            'thead',
            h(
              'tr',
              h('th', { scope: 'col' }, 'What'),
              h('th', { scope: 'col' }, 'Here'),
              h('th', { scope: 'col' }, 'There'),
            ),
          ),
          h(
            'tbody',
            shown.map(({ kind, here, there }) =>
              h('tr', h('td.quiet', kind), h('td', h('s', here)), h('td', h('b', there))),
            ),
          ),
        ),
        h('p.quiet', more ? `and ${more} more. ` : '', 'Times, offsets, epochs and counts stay.'),
      );
    } catch (error) {
      if (asking === this.#asking) place.replaceChildren(h('p.quiet', said(error)));
    }
  }

  async #make() {
    const origin = /** @type {HTMLInputElement} */ (part('share-origin')).value.trim();
    if (origin && !isOrigin(origin))
      throw new Error('The origin of a page is its address up to the first path: https://wiki.example');
    const days = Number(/** @type {HTMLSelectElement} */ (part('share-days')).value);
    const made = await this.sharing.make({ ...this.#asked(), days, embed_origins: origin ? [origin] : [] });
    const at = `?at=${this.now().sequence}`;
    const url = `${location.origin}${made.url}${at}`;
    part('share-says').replaceChildren(
      linkLine('link', url),
      ...(made.embed_url
        ? [
            linkLine(
              'frame',
              `<iframe src="${location.origin}${made.embed_url}${at}" width="100%" height="720" title="Rebalance Explorer"></iframe>`,
            ),
          ]
        : []),
      h('p.quiet', 'It is shown once: the server keeps no copy of it.'),
    );
    this.#showNames(NEXT);
    await this.#list();
  }

  /** @param {'html' | 'data'} format */
  async #save(format) {
    const { name, blob } = await this.sharing.file({ ...this.#asked(), format, at: this.now().sequence });
    handOver({ name, blob });
    part('share-says').replaceChildren(h('p', `${name} was made: ${(blob.size / 1e6).toFixed(1)} MB.`));
    this.#showNames(NEXT);
  }

  async #list() {
    const links = await this.sharing.links().catch(() => []);
    linksList(part('share-links'), links, (link) =>
      this.#work(async () => {
        await this.sharing.withdraw(link.id);
        await this.#list();
      }),
    );
  }

  /** Buttons rest while something is made. @param {() => Promise<void>} run */
  async #work(run) {
    const buttons = [...this.#dialog.querySelectorAll('.acts2 button')];
    for (const button of buttons) button.setAttribute('disabled', '');
    part('share-says').replaceChildren(h('p.quiet', 'In a moment…'));
    try {
      part('share-says').dataset.busy = 'true';
      await run();
    } catch (error) {
      part('share-says').replaceChildren(h('p.bad', said(error)));
    } finally {
      delete part('share-says').dataset.busy;
      if (part('share-says').textContent === 'In a moment…') part('share-says').replaceChildren();
      for (const button of buttons) button.removeAttribute('disabled');
    }
  }
}

/** @param {unknown} error */
const said = (error) => (error instanceof Error ? error.message : 'This could not be done.');
