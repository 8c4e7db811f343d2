/**
 * The dialog that shares: its buttons rest while something is made, and it lists the links that there are.
 *
 * @import {ShareLink} from './types'
 */

import { h, part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { linkLine, linksList } from './lines.js';
import { fileFirst, handOver } from './saving.js';

export class Sharer {
  dialog = /** @type {HTMLDialogElement} */ (part('share'));

  /**
   * @param {object} does
   * @param {() => Promise<ShareLink[]>} does.links
   * @param {(id: string) => Promise<unknown>} does.withdraw
   */
  constructor(does) {
    this.does = does;
    fileFirst(location.hostname);
  }

  /** @param {string} title of what is shared */
  open(title) {
    part('share-moment').textContent = title;
    this.say();
    this.dialog.showModal();
    this.list();
  }

  /** @param {...Node} nodes */
  say(...nodes) {
    part('share-says').replaceChildren(...nodes);
  }

  get hides() {
    return /** @type {HTMLInputElement} */ (part('share-hide')).checked;
  }

  get days() {
    return Number(/** @type {HTMLSelectElement} */ (part('share-days')).value);
  }

  /** Who may open a link; without accounts there is no choice. */
  get who() {
    return /** @type {HTMLSelectElement | null} */ (document.getElementById('share-who'))?.value ?? 'anyone';
  }

  /** A link that was made. @param {string} url */
  made(url) {
    return [
      linkLine('link', url),
      h(
        'p.quiet',
        this.who === 'anyone'
          ? 'It is shown once: the server keeps no copy of it.'
          : 'It opens for people who sign in here.',
      ),
    ];
  }

  /** @param {{name: string, blob: Blob}} made */
  hand(made) {
    handOver(made);
    this.say(h('p', `${made.name} was made: ${(made.blob.size / 1e6).toFixed(1)} MB.`));
  }

  async list() {
    const links = await this.does.links().catch(() => []);
    linksList(part('share-links'), links, (link) =>
      this.work(async () => {
        await this.does.withdraw(link.id);
        await this.list();
      }),
    );
  }

  /** @param {string} id of a button @param {() => Promise<void>} run what it makes */
  makes(id, run) {
    part(id).addEventListener('click', () => {
      this.say(h('p.quiet', 'In a moment…'));
      this.work(run);
    });
  }

  /** @param {() => Promise<void>} run */
  async work(run) {
    const buttons = [...this.dialog.querySelectorAll('.acts2 button')];
    const place = part('share-says');
    for (const button of buttons) button.setAttribute('disabled', '');
    place.dataset.busy = 'true';
    try {
      await run();
      if (place.textContent === 'In a moment…') this.say();
    } catch (error) {
      this.say(h('p.bad', messageOf(error, 'This could not be done.')));
    } finally {
      delete place.dataset.busy;
      for (const button of buttons) button.removeAttribute('disabled');
    }
  }
}
