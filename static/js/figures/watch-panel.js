/**
 * Watch expressions: each is a line of steps along the run with its value at the playhead. The server evaluates them; the address
 * has them, one `watch` each.
 *
 * @typedef {{of: string, is_number: boolean, steps: {sequence: number, at_ms: number, value: number | string | null}[], left_out: number, first_ms: number, last_ms: number}} Watched
 */

import { h, s, table } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { counted, grouped } from '../shared/numbers.js';
import { CLOCK_FROM_MS, onZone } from '../shared/times.js';
import { keepAll, watchesOf } from '../shared/url.js';
import { when } from '../frame/words.js';

/** Expressions that are watched at once. */
const MOST = 6;
const ROWS_MOST = 200;
const [WIDE, HIGH, EDGE] = [800, 44, 4];

/** The value that holds at an entry; undefined before the first. @param {Watched} watched @param {number} sequence */
export const valueAt = ({ steps }, sequence) => steps.findLast((step) => step.sequence <= sequence)?.value;

/** @param {number | string | null | undefined} value */
const inWords = (value) => (typeof value === 'number' ? grouped(value) : (value ?? '–'));

/**
 * The line as a path: numbers on a scale of their own, names each at a height of its own in the order of their first coming; it breaks
 * where there is no value.
 *
 * @param {Watched} watched @param {(ms: number) => number} x
 */
export function stepPath({ is_number, steps, last_ms }, x) {
  const names = [...new Set(steps.map(({ value }) => value).filter((value) => value !== null))];
  const heights = steps.map(({ value }) => (value === null ? null : is_number ? Number(value) : names.indexOf(value)));
  const known = heights.filter((height) => height !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const y = (/** @type {number} */ height) =>
    HIGH - EDGE - ((HIGH - 2 * EDGE) * (height - least)) / Math.max(1, most - least);
  let drawn = false;
  const parts = steps.map(({ at_ms }, number) => {
    const height = heights[number];
    const was = drawn;
    drawn = height !== null;
    const across = x(at_ms).toFixed(1);
    if (height === null) return was ? `H${across}` : '';
    return was ? `H${across}V${y(height).toFixed(1)}` : `M${across} ${y(height).toFixed(1)}`;
  });
  return parts.join('') + (drawn ? `H${x(last_ms).toFixed(1)}` : '');
}

export class WatchPanel {
  /** @type {Map<string, {watched: Watched, row: HTMLElement, value: HTMLElement, head: SVGElement, x: (ms: number) => number}>} */
  #rows = new Map();
  #at = { sequence: 0, at_ms: 0 };
  #problem = h('p.problem', { role: 'alert' });
  #list = h('ul.watches');

  /**
   * @param {object} options
   * @param {HTMLDetailsElement} options.panel
   * @param {(of: string) => Promise<Watched>} options.fetchWatched
   * @param {(sequence: number) => void} options.onSeek
   */
  constructor({ panel, fetchWatched, onSeek }) {
    this.fetchWatched = fetchWatched;
    this.onSeek = onSeek;
    const field = h('input.field', {
      'aria-label': 'Watch expression',
      placeholder: 'owner of foo-2, unassigned, group epoch minus member epoch of B …',
      maxlength: 200,
      required: true,
      autocomplete: 'off',
      spellcheck: 'false',
    });
    const form = h('form.watch', field, h('button.btn.sm', 'Watch'));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const input = /** @type {HTMLInputElement} */ (field);
      if (await this.#add(input.value)) input.value = '';
    });
    panel.append(h('div.wbody', form, this.#problem, this.#list));
    for (const of of watchesOf(location.search).slice(0, MOST)) this.#add(of);
    onZone(() => {
      for (const { watched } of this.#rows.values()) this.#draw(watched);
    });
  }

  /** The playhead rests at this entry. @param {number} sequence @param {number} at_ms */
  move(sequence, at_ms) {
    this.#at = { sequence, at_ms };
    for (const { watched, value, head, x } of this.#rows.values()) {
      value.textContent = inWords(valueAt(watched, sequence));
      for (const end of ['x1', 'x2']) head.setAttribute(end, String(x(Math.max(watched.first_ms, at_ms))));
    }
  }

  /** @param {string} of @returns {Promise<boolean>} whether it is watched */
  async #add(of) {
    this.#problem.textContent = '';
    if (this.#rows.size >= MOST) {
      this.#problem.textContent = `${MOST} expressions are watched at most: take one out first.`;
      return false;
    }
    try {
      this.#draw(await this.fetchWatched(of));
    } catch (error) {
      this.#problem.textContent = messageOf(error, 'It could not be evaluated.');
      return false;
    }
    this.#keep();
    return true;
  }

  #keep() {
    keepAll('watch', [...this.#rows.keys()]);
  }

  /** @param {Watched} watched */
  #draw(watched) {
    const { of, steps, first_ms, last_ms, left_out } = watched;
    const x = (/** @type {number} */ ms) =>
      EDGE + ((WIDE - 2 * EDGE) * (ms - first_ms)) / Math.max(1, last_ms - first_ms);
    const value = h('b.num');
    const head = s('line.head', { y1: 0, y2: HIGH });
    const svg = s(
      'svg',
      { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      s('path', { d: stepPath(watched, x) }),
      head,
    );
    svg.addEventListener('click', (/** @type {MouseEvent} */ event) => {
      const { left, width } = svg.getBoundingClientRect();
      const ms = first_ms + ((last_ms - first_ms) * (event.clientX - left)) / width;
      const step = steps.findLast(({ at_ms }) => at_ms <= ms) ?? steps[0];
      if (step) this.onSeek(step.sequence);
    });
    const start = first_ms > CLOCK_FROM_MS ? first_ms : 0;
    const rows = steps
      .slice(-ROWS_MOST)
      .map(({ sequence, at_ms, value: one }) =>
        h(
          'tr',
          h(
            'td',
            h('button.btn.sm.bare', { type: 'button', onclick: () => this.onSeek(sequence) }, when(at_ms, start)),
          ),
          h('td.num', inWords(one)),
        ),
      );
    const left = left_out + Math.max(0, steps.length - ROWS_MOST);
    const out = () => {
      this.#rows.get(of)?.row.remove();
      this.#rows.delete(of);
      this.#keep();
    };
    const row = h(
      'li',
      h(
        'p',
        h('span', of),
        value,
        h('button.btn.sm.bare', { type: 'button', 'aria-label': `Stop watching ${of}`, onclick: out }, '×'),
      ),
      svg,
      h(
        'details',
        h('summary', `${counted(steps.length, 'value')} as a table`),
        table('table.t', ['From', 'Value'], rows),
        left ? h('p.why', `${grouped(left)} earlier ones are left out.`) : null,
      ),
    );
    const before = this.#rows.get(of)?.row;
    if (before) before.replaceWith(row);
    else this.#list.append(row);
    this.#rows.set(of, { watched, row, value, head, x });
    this.move(this.#at.sequence, this.#at.at_ms);
  }
}
