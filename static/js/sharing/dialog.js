/**
 * Share this moment: what they see, with names hidden or not, as a link, as one file, as data; and the links that are there.
 *
 * @import {Asked, Preview, Sharing} from './types'
 */

import { h, part, table } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { linkLine } from './lines.js';
import { Sharer } from './share-dialog.js';
import { asStretch, isOrigin } from './words.js';

/** A name that is typed, or a moment that moves, is asked about when it rests. */
const SHOWN_NAMES = 200;

/** Over the names once something was made with those that stood here. */
const NEXT = 'The next link gets new pseudonyms:';

export class ShareDialog {
  /** @type {Preview | null} */
  #preview = null;
  #asking = 0;
  #sharer;

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
    this.#sharer = new Sharer(sharing);
    part('share-hide').addEventListener('change', () => this.#showNames());
    part('share-what').addEventListener('change', () => this.#showNames());
    this.#sharer.makes('share-make', () => this.#make());
    this.#sharer.makes('share-html', () => this.#save('html'));
    this.#sharer.makes('share-data', () => this.#save('data'));
  }

  open() {
    const around = /** @type {HTMLOptionElement | null} */ (part('share-what').querySelector('[value=around]'));
    if (around) around.hidden = this.moments() === null;
    this.#sharer.open(this.now().moment);
    this.#showNames();
  }

  /** @returns {Asked} */
  #asked() {
    const what = /** @type {HTMLSelectElement} */ (part('share-what')).value;
    const view = /** @type {HTMLInputElement} */ (this.#sharer.dialog.querySelector('[name=share-view]:checked')).value;
    return {
      view: /** @type {'reader' | 'investigator'} */ (view),
      hide_names: this.#sharer.hides,
      notes: /** @type {HTMLInputElement} */ (part('share-notes')).checked,
      ...(this.#sharer.hides && this.#preview ? { key: this.#preview.key } : {}),
      ...asStretch(what, this.now().sequence, this.moments()),
    };
  }

  /** What each name will be called. */
  async #showNames(text = '') {
    this.#asking += 1;
    const asking = this.#asking;
    const place = part('share-names');
    this.#preview = null;
    if (!this.#sharer.hides) {
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
        table(
          'table.t',
          ['What', 'Here', 'There'],
          shown.map(({ kind, here, there }) =>
            h('tr', h('td.quiet', kind), h('td', h('s', here)), h('td', h('b', there))),
          ),
        ),
        h('p.quiet', more ? `and ${more} more. ` : '', 'Times, offsets, epochs and counts stay.'),
      );
    } catch (error) {
      if (asking === this.#asking) place.replaceChildren(h('p.quiet', messageOf(error, 'This could not be done.')));
    }
  }

  async #make() {
    const origin = /** @type {HTMLInputElement} */ (part('share-origin')).value.trim();
    if (origin && !isOrigin(origin))
      throw new Error('The origin of a page is its address up to the first path: https://wiki.example');
    const { days, who } = this.#sharer;
    const made = await this.sharing.make({ ...this.#asked(), days, who, embed_origins: origin ? [origin] : [] });
    const at = `?at=${this.now().sequence}`;
    const url = `${location.origin}${made.url}${at}`;
    this.#sharer.say(
      ...this.#sharer.made(url),
      ...(made.embed_url
        ? [
            linkLine(
              'frame',
              `<iframe src="${location.origin}${made.embed_url}${at}" width="100%" height="720" title="Rebalance Explorer"></iframe>`,
            ),
          ]
        : []),
    );
    this.#showNames(NEXT);
    await this.#sharer.list();
  }

  /** @param {'html' | 'data'} format */
  async #save(format) {
    this.#sharer.hand(await this.sharing.file({ ...this.#asked(), format, at: this.now().sequence }));
    this.#showNames(NEXT);
  }
}
