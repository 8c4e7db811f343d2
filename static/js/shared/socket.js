/**
 * A socket that is opened again when it was lost: what pages listen with.
 *
 * @typedef {object} Options
 * @property {string} url
 * @property {(message: any) => void} hear each message, parsed
 * @property {() => void} [onLost] its connection is gone; it is opened again if it `goesOn`
 * @property {() => boolean} [goesOn] false where nothing more will be said
 * @property {(() => Promise<unknown>) | null} [before] what is done first each time it is opened again: what was said meanwhile is gone
 * @property {number | null} [silence_ms] no message for so long means that the connection is dead; null where a server may be silent
 * @property {(url: string) => any} [connect] a WebSocket, or its replacement in a test
 * @property {typeof setTimeout} [later]
 * @property {typeof clearTimeout} [never]
 */

import { parsed } from './parsed.js';

/** Waits between attempts to open it again: doubled each time, so that a server that restarts is not stormed. */
export const FIRST_WAIT_MS = 500;
export const LONGEST_WAIT_MS = 15_000;

/** The close code of a socket whose session has ended. */
const SIGNED_OUT = 4401;

/** The address of a socket of this server. @param {string} path */
export const socketUrl = (path) => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`;

export class Socket {
  #socket = /** @type {any} */ (null);
  #wait = FIRST_WAIT_MS;
  #retry = /** @type {any} */ (null);
  #watch = /** @type {any} */ (null);
  #closed = false;

  /** @param {Options} options */
  constructor(options) {
    this.parts = {
      onLost: () => {},
      goesOn: () => true,
      before: null,
      silence_ms: null,
      connect: (/** @type {string} */ address) => new WebSocket(address),
      later: (/** @type {() => void} */ run, /** @type {number} */ ms) => setTimeout(run, ms),
      never: (/** @type {any} */ timer) => clearTimeout(timer),
      ...options,
    };
  }

  get isClosed() {
    return this.#closed;
  }

  open() {
    this.#closed = false;
    const socket = this.parts.connect(this.parts.url);
    this.#socket = socket;
    socket.onmessage = (/** @type {{data: string}} */ event) => {
      if (socket !== this.#socket) return;
      this.#wait = FIRST_WAIT_MS;
      this.#listen();
      this.parts.hear(parsed(event.data));
    };
    socket.onclose = (/** @type {{code?: number} | undefined} */ event) => {
      // Where the page is opened next, nobody is signed in, or with other rights.
      if (event?.code === SIGNED_OUT) location.reload();
      else if (socket === this.#socket) this.#lose();
    };
    this.#listen();
  }

  close() {
    this.#closed = true;
    this.parts.never(this.#retry);
    this.parts.never(this.#watch);
    const socket = this.#socket;
    this.#socket = null;
    if (socket) socket.close();
  }

  /** Open it at once instead of waiting for the next attempt. */
  hurry() {
    if (this.#socket || this.#closed) return;
    this.parts.never(this.#retry);
    this.#again();
  }

  #listen() {
    if (this.parts.silence_ms === null) return;
    this.parts.never(this.#watch);
    this.#watch = this.parts.later(() => {
      const socket = this.#socket;
      if (socket) socket.close();
      this.#lose();
    }, this.parts.silence_ms);
  }

  #lose() {
    if (this.#closed) return;
    this.#socket = null;
    this.parts.never(this.#watch);
    this.parts.onLost();
    if (!this.parts.goesOn()) return;
    const wait = this.#wait;
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    this.parts.never(this.#retry);
    this.#retry = this.parts.later(() => this.#again(), wait);
  }

  #again() {
    if (!this.parts.before) {
      this.open();
      return;
    }
    this.parts.before().then(() => {
      if (!this.#closed && !this.#socket && this.parts.goesOn()) this.open();
    });
  }
}

/**
 * What is asked again and again, and not more often than every so many milliseconds: asked meanwhile, it is done once more at the end.
 *
 * @param {() => Promise<void>} act
 * @param {number} every_ms
 * @returns {(now?: boolean) => Promise<void>} `now`: it does not wait for its turn
 */
export function seldom(act, every_ms) {
  let busy = false;
  let again = false;
  return async function ask(now = false) {
    if (busy && !now) {
      again = true;
      return;
    }
    busy = true;
    await act();
    setTimeout(() => {
      busy = false;
      if (again) {
        again = false;
        ask();
      }
    }, every_ms);
  };
}
