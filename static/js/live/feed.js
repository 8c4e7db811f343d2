/**
 * Keeps a timeline at its tail: a socket shows what is new, HTTP fills what the socket missed.
 *
 * The channel behind the socket may drop any message, the last one too. So the feed trusts sequences alone:
 * `hello`, `tail` and `changes` all say where the tail is, and whatever lies between what is here and there
 * is fetched. A reload, a lost message and a lost connection are the same path.
 *
 * @import {Delta} from '../types'
 * @typedef {'connecting' | 'live' | 'behind' | 'lost' | 'closed'} Link
 */

import { Socket } from '../shared/socket.js';

/** Two of the server's tails may be lost before silence means that the connection is dead. */
export const SILENCE_MS = 20_000;
/** A summary that is too large to come with each message is asked for so often, and up to twice as late: not by all at once. */
export const SUMMARY_EVERY_MS = 3000;

export class Feed {
  #filling = false;
  #wanted = 0;
  #asking = /** @type {any} */ (null);
  /** Why no worker takes the run, as the last tail reported it. */
  #waits = '';

  /**
   * @param {object} options
   * @param {string} options.url of the socket
   * @param {() => number} options.last the last sequence that is here
   * @param {(delta: Delta) => boolean} options.append takes a delta; false if something before it is missing
   * @param {(after: number) => Promise<Delta>} options.fetchAfter one page of what came after a sequence
   * @param {(link: Link) => void} [options.onLink]
   * @param {(message: any) => void} [options.onStatus]
   * @param {(hello: any) => void} [options.onHello]
   * @param {(live: import('../types').LiveSource | null) => void} [options.onLive] how the source of a live group is now
   * @param {(summary: any) => void} [options.onSummary] what the whole comes to with the entries that just came
   * @param {boolean} [options.asksSummary] whether one that did not come with them is asked for
   * @param {Pick<import('../shared/socket.js').Options, 'connect' | 'later' | 'never'>} [options.means] of its socket, where it has others
   */
  constructor(options) {
    this.parts = {
      onLink: () => {},
      onStatus: () => {},
      onHello: () => {},
      onLive: () => {},
      onSummary: () => {},
      asksSummary: false,
      ...options,
    };
    this.socket = new Socket({
      url: options.url,
      hear: (message) => this.#hear(message),
      onLost: () => this.parts.onLink('lost'),
      silence_ms: SILENCE_MS,
      ...options.means,
    });
  }

  open() {
    this.parts.onLink('connecting');
    this.socket.open();
  }

  close() {
    this.socket.parts.never(this.#asking);
    this.socket.close();
    this.parts.onLink('closed');
  }

  /** Connect at once instead of waiting for the next attempt. */
  hurry() {
    this.socket.hurry();
  }

  /** @param {any} message */
  #hear(message) {
    if (message.live !== undefined) this.parts.onLive(message.live);
    if (message.type === 'hello') {
      this.parts.onHello(message);
      this.#reach(message.last);
    } else if (message.type === 'tail') {
      this.#reach(message.last);
      if ((message.waits ?? '') !== this.#waits) {
        this.#waits = message.waits ?? '';
        this.parts.onStatus({ type: 'status', waits: this.#waits });
      }
    } else if (message.type === 'changes') {
      this.parts.append(message);
      if (message.summary) this.parts.onSummary(message.summary);
      else if (this.parts.asksSummary) this.#askSummary();
      this.#reach(message.last);
    } else if (message.type === 'status') {
      this.parts.onStatus(message);
    }
  }

  /** @param {number} sequence where the tail is */
  #reach(sequence) {
    this.#wanted = Math.max(this.#wanted, sequence);
    if (this.parts.last() >= this.#wanted) this.parts.onLink('live');
    else this.#fill();
  }

  async #fill() {
    if (this.#filling) return;
    this.#filling = true;
    this.parts.onLink('behind');
    try {
      while (!this.socket.isClosed && this.parts.last() < this.#wanted) {
        const before = this.parts.last();
        const delta = await this.parts.fetchAfter(before);
        this.parts.append(delta);
        if (delta.summary) this.parts.onStatus({ type: 'status', summary: delta.summary });
        // A server that is itself behind its announcement has nothing yet; the next tail asks again.
        if (this.parts.last() === before) break;
      }
      if (this.parts.last() >= this.#wanted) this.parts.onLink('live');
    } catch {
      // The next tail, or the next connection, asks again.
    } finally {
      this.#filling = false;
    }
  }

  #askSummary() {
    this.#asking ??= this.socket.parts.later(
      async () => {
        this.#asking = null;
        try {
          const delta = await this.parts.fetchAfter(this.parts.last());
          if (this.socket.isClosed) return;
          this.parts.append(delta);
          if (delta.summary) this.parts.onSummary(delta.summary);
        } catch {
          // The next message asks again.
        }
      },
      SUMMARY_EVERY_MS * (1 + Math.random()),
    );
  }
}
