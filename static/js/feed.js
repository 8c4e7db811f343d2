/**
 * Keeps a timeline at its tail: a socket tells what is new, HTTP fills what the socket missed.
 *
 * The channel behind the socket may drop any message, the last one too. So the feed trusts sequences alone:
 * `hello`, `tail` and `changes` all say where the tail stands, and whatever lies between what is here and there
 * is fetched. A reload, a lost message and a lost connection are the same path.
 *
 * @typedef {import('./types').Delta} Delta
 * @typedef {'connecting' | 'live' | 'behind' | 'lost' | 'closed'} Link
 */

/** Waits between attempts to reconnect: doubled each time, so that a server that restarts is not stormed. */
export const FIRST_WAIT_MS = 500;
export const LONGEST_WAIT_MS = 15_000;
/** Two of the server's tails may be lost before silence means that the connection is dead. */
export const SILENCE_MS = 20_000;
/** A summary that is too large to come with each message is asked for so often, and up to twice as late: not by all at once. */
export const SUMMARY_EVERY_MS = 3000;

export class Feed {
  #socket = /** @type {any} */ (null);
  #wait = FIRST_WAIT_MS;
  #retry = /** @type {any} */ (null);
  #watch = /** @type {any} */ (null);
  #filling = false;
  #wanted = 0;
  #closed = false;
  #asking = /** @type {any} */ (null);

  /**
   * @param {object} options
   * @param {string} options.url of the socket
   * @param {() => number} options.last the last sequence that is here
   * @param {(delta: Delta) => boolean} options.append takes a delta; false if something before it is missing
   * @param {(after: number) => Promise<Delta>} options.fetchAfter one page of what came after a sequence
   * @param {(link: Link) => void} [options.onLink]
   * @param {(message: any) => void} [options.onStatus]
   * @param {(hello: any) => void} [options.onHello]
   * @param {(summary: any) => void} [options.onSummary] what the whole comes to with the entries that just came
   * @param {boolean} [options.asksSummary] whether one that did not come with them is asked for
   * @param {(url: string) => any} [options.connect] a WebSocket, or what stands for one in a test
   * @param {typeof setTimeout} [options.later]
   * @param {typeof clearTimeout} [options.never]
   */
  constructor({
    url,
    last,
    append,
    fetchAfter,
    onLink = () => {},
    onStatus = () => {},
    onHello = () => {},
    onSummary = () => {},
    asksSummary = false,
    connect = (address) => new WebSocket(address),
    later = (run, ms) => setTimeout(run, ms),
    never = (timer) => clearTimeout(timer),
  }) {
    this.url = url;
    this.last = last;
    this.append = append;
    this.fetchAfter = fetchAfter;
    this.onLink = onLink;
    this.onStatus = onStatus;
    this.onHello = onHello;
    this.onSummary = onSummary;
    this.asksSummary = asksSummary;
    this.connect = connect;
    this.later = later;
    this.never = never;
  }

  open() {
    this.#closed = false;
    this.onLink('connecting');
    const socket = this.connect(this.url);
    this.#socket = socket;
    socket.onmessage = (/** @type {{data: string}} */ event) => {
      if (socket === this.#socket) this.#hear(JSON.parse(event.data));
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#lose();
    };
    this.#listen();
  }

  close() {
    this.#closed = true;
    this.never(this.#retry);
    this.never(this.#watch);
    this.never(this.#asking);
    const socket = this.#socket;
    this.#socket = null;
    if (socket) socket.close();
    this.onLink('closed');
  }

  /** Connect at once instead of waiting for the next attempt. */
  hurry() {
    if (this.#socket || this.#closed) return;
    this.never(this.#retry);
    this.open();
  }

  /** @param {any} message */
  #hear(message) {
    this.#listen();
    if (message.type === 'hello') {
      this.#wait = FIRST_WAIT_MS;
      this.onHello(message);
      this.#reach(message.last);
    } else if (message.type === 'tail') {
      this.#reach(message.last);
    } else if (message.type === 'changes') {
      this.append(message);
      if (message.summary) this.onSummary(message.summary);
      else if (this.asksSummary) this.#askSummary();
      this.#reach(message.last);
    } else if (message.type === 'status') {
      this.onStatus(message);
    }
  }

  /** @param {number} sequence where the tail stands */
  #reach(sequence) {
    this.#wanted = Math.max(this.#wanted, sequence);
    if (this.last() >= this.#wanted) this.onLink('live');
    else this.#fill();
  }

  async #fill() {
    if (this.#filling) return;
    this.#filling = true;
    this.onLink('behind');
    try {
      while (!this.#closed && this.last() < this.#wanted) {
        const before = this.last();
        const delta = await this.fetchAfter(before);
        this.append(delta);
        if (delta.summary) this.onStatus({ type: 'status', summary: delta.summary });
        // A server that is itself behind its announcement has nothing yet; the next tail asks again.
        if (this.last() === before) break;
      }
      if (this.last() >= this.#wanted) this.onLink('live');
    } catch {
      // The next tail, or the next connection, asks again.
    } finally {
      this.#filling = false;
    }
  }

  #askSummary() {
    this.#asking ??= this.later(
      async () => {
        this.#asking = null;
        try {
          const delta = await this.fetchAfter(this.last());
          if (this.#closed) return;
          this.append(delta);
          if (delta.summary) this.onSummary(delta.summary);
        } catch {
          // The next message asks again.
        }
      },
      SUMMARY_EVERY_MS * (1 + Math.random()),
    );
  }

  #listen() {
    this.never(this.#watch);
    this.#watch = this.later(() => {
      const socket = this.#socket;
      if (socket) socket.close();
      this.#lose();
    }, SILENCE_MS);
  }

  #lose() {
    if (this.#closed) return;
    this.#socket = null;
    this.never(this.#watch);
    this.onLink('lost');
    const wait = this.#wait;
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    this.never(this.#retry);
    this.#retry = this.later(() => this.open(), wait);
  }
}
