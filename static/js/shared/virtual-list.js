import { onTextSize, rem, textSize } from './text-size.js';

/**
 * The scrolling of a list of which only the lines exist that can be seen. What is in sight is remembered: to ask for it while
 * drawing would lay the whole page out.
 */
export class VirtualList {
  #seen = { top: 0, height: 0 };
  #count = 0;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root what scrolls
   * @param {HTMLElement} parts.inner what holds the lines, as high as all of them
   * @param {number} parts.line the height of a line in pixels at the usual size of text
   * @param {number} parts.beyond lines that exist above and below those in sight
   * @param {string} parts.key the name of the `data-` value by which a line is known again: it keeps its focus
   * @param {(from: number, to: number) => HTMLElement[]} parts.draw the lines `from` up to but not including `to`
   */
  constructor({ root, inner, line, beyond, key, draw }) {
    this.root = root;
    this.inner = inner;
    this.lineHigh = line;
    this.beyond = beyond;
    this.key = key;
    this.drawn = draw;
    root.addEventListener(
      'scroll',
      () => {
        if (this.#seen.top === root.scrollTop) return;
        this.#seen.top = root.scrollTop;
        this.draw();
      },
      { passive: true },
    );
    new ResizeObserver(() => {
      this.#seen = { top: root.scrollTop, height: root.clientHeight };
      this.draw();
    }).observe(root);
    onTextSize(() => this.draw());
  }

  /** The height of a line, in pixels. */
  get line() {
    return this.lineHigh * textSize();
  }

  /** @param {number} count */
  set count(count) {
    this.#count = count;
    this.inner.style.height = rem(count * this.lineHigh);
    this.draw();
  }

  /** Scrolls a line into sight; without one (−1) to the top. @param {number} line */
  reveal(line) {
    if (line < 0) {
      this.#seen.top = 0;
      this.root.scrollTop = 0;
      return;
    }
    const top = line * this.line;
    const { top: above, height } = this.#seen;
    if (top >= above + this.line && top <= above + height - 2 * this.line) return;
    this.#seen.top = Math.max(0, Math.min(Math.round(top - height / 2), this.#count * this.line - height));
    this.root.scrollTop = this.#seen.top;
  }

  draw() {
    const from = Math.max(0, Math.floor(this.#seen.top / this.line) - this.beyond);
    const to = Math.min(this.#count, Math.ceil((this.#seen.top + this.#seen.height) / this.line) + this.beyond);
    const focused = /** @type {HTMLElement | null} */ (
      this.inner.contains(document.activeElement) ? document.activeElement : null
    );
    const keep = focused?.dataset[this.key];
    this.inner.replaceChildren(...this.drawn(from, to));
    if (keep)
      /** @type {HTMLElement | null} */ (this.inner.querySelector(`[data-${this.key}="${CSS.escape(keep)}"]`))?.focus({
        preventScroll: true,
      });
  }
}
