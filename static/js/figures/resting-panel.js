/**
 * A panel whose content is computed on the server for a moment: it is asked for while the panel is open, once the playhead rests.
 * Of several questions the answer to the last one counts.
 */

/** While the playhead moves nothing is asked; this long after it rests, it is. */
const REST_MS = 180;

/** @template T what the server answers */
export class RestingPanel {
  #waiting = /** @type {any} */ (null);
  #asked = 0;
  #shown = '';

  /**
   * @param {HTMLDetailsElement} panel
   * @param {object} does
   * @param {() => string} does.what is asked for: the same is not asked again
   * @param {() => Promise<T>} does.fetch
   * @param {(answer: T) => void} does.draw
   * @param {(error: unknown) => void} does.fail
   */
  constructor(panel, does) {
    this.panel = panel;
    this.does = does;
    panel.addEventListener('toggle', () => this.soon(0));
  }

  /** Asks after so many milliseconds, unless something else is asked before. */
  soon(after = REST_MS) {
    clearTimeout(this.#waiting);
    if (this.panel.open) this.#waiting = setTimeout(() => this.#ask(), after);
  }

  async #ask() {
    const { what, fetch, draw, fail } = this.does;
    const wanted = what();
    if (wanted === this.#shown) return;
    this.#asked += 1;
    const asked = this.#asked;
    try {
      const answer = await fetch();
      if (asked !== this.#asked) return;
      this.#shown = wanted;
      draw(answer);
    } catch (error) {
      if (asked === this.#asked) fail(error);
    }
  }
}
