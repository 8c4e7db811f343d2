/**
 * The chosen cell: what its seeds come to, each seed of every assignor as a dot, and the way into the laboratory.
 *
 * @import {Cell, Seed} from './types'
 */

import { ask, submit } from '../shared/api.js';
import { h, hit } from '../shared/dom.js';
import { orToast } from '../shared/toast.js';
import { messageOf } from '../shared/errors.js';
import { counted, grouped } from '../shared/numbers.js';
import { drawStrip } from './plots.js';

/** A wider number is set smaller. */
const WIDE = 10;

export class CellPanel {
  #cell = /** @type {Cell | null} */ (null);
  #seed = 0;
  #plotly = /** @type {any} */ (null);
  #strip = h('div.strip');
  #asked = 0;

  /** @param {HTMLElement} root @param {string} url of the sweep in the API @param {(cell: Cell, seed: number) => void} onShare */
  constructor(root, url, onShare) {
    this.root = root;
    this.url = url;
    this.onShare = onShare;
  }

  /** @param {any} plotly */
  draw(plotly) {
    this.#plotly = plotly;
    this.#drawStrip();
  }

  /** @param {Cell} cell @param {string} measure what is measured, in one word, or nothing */
  show(cell, measure) {
    const same = this.#cell?.cell === cell.cell;
    const had = this.#seed;
    this.#cell = cell;
    const known = cell.seeds.some(({ seed }) => seed === had) || cell.thrown.some(({ seed }) => seed === had);
    this.#seed = same && known ? had : (cell.worst ?? 0);
    const focused = /** @type {HTMLElement | null} */ (
      this.root.contains(document.activeElement) ? document.activeElement : null
    )?.dataset.seed;
    const title = h('p.ttl', h('b', cell.assignor), `, ${cell.shape}, ${cell.event.toLowerCase()}`);
    if (!cell.in) {
      this.root.replaceChildren(h('div.ch', title, h('p.quiet', 'No results yet for this square.')));
      return;
    }
    this.root.replaceChildren(
      h(
        'div.ch',
        title,
        this.#numbers(cell, measure),
        this.#strip,
        this.#seeds(cell),
        this.#thrown(cell),
        h('div.acts'),
      ),
    );
    this.#drawStrip();
    this.#acts();
    if (focused) /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-seed="${focused}"]`))?.focus();
  }

  /** @param {Cell} cell @param {string} measure */
  #numbers(cell, measure) {
    const span = cell.least === cell.most ? (cell.most ?? '') : `${cell.least} to ${cell.most}`;
    return h(
      'div.big',
      h(
        'div',
        h('b', cell.median === null ? 'none' : `${cell.median}${cell.unit}`),
        h('span', `median ${measure}`.trim()),
      ),
      h('div', h('b', { class: span.length > WIDE ? 'tight' : '' }, span || 'none'), h('span', 'least to most')),
      h('div', h('b', grouped(cell.in)), h('span', cell.in === 1 ? 'seed' : 'seeds')),
    );
  }

  /** @param {Cell} cell */
  #seeds(cell) {
    if (!cell.seeds.length) return null;
    const all = cell.seeds.length + cell.thrown.length >= cell.in;
    const rows = h(
      'div.sd',
      { role: 'group', 'aria-label': 'Seeds of this cell' },
      cell.seeds.map(({ seed, text }) =>
        h(
          'button',
          { 'data-seed': seed, 'aria-pressed': String(seed === this.#seed), title: `Choose seed ${seed}` },
          text,
          h('span', `seed ${seed}`),
        ),
      ),
    );
    rows.addEventListener('click', (event) => {
      const button = hit(event, 'button');
      if (!button) return;
      this.#seed = Number(button.dataset.seed);
      for (const other of rows.querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === button));
      this.#acts();
    });
    return [
      h('h3', all ? 'Seeds of this cell' : `The ${cell.seeds.length} worst of ${counted(cell.in, 'seed')}`),
      rows,
    ];
  }

  /** @param {Cell} cell */
  #thrown(cell) {
    if (!cell.thrown.length) return null;
    const [first] = cell.thrown;
    return h(
      'p.throws',
      `Kafka throws at ${counted(cell.thrown.length, 'seed')}, such as ${first.seed}: ${first.says}`,
    );
  }

  #drawStrip() {
    if (!this.#plotly || !this.#cell?.in || !this.#strip.isConnected) return;
    drawStrip(this.#plotly, this.#strip, this.#cell.strip);
    this.#strip.setAttribute('role', 'img');
    this.#strip.setAttribute('aria-label', `Each seed of all assignors, ${this.#cell.shape}, ${this.#cell.event}`);
  }

  /** The way on, once it is known where it leads. */
  async #acts() {
    const cell = this.#cell;
    const seed = this.#seed;
    const acts = this.root.querySelector('.acts');
    if (!cell || !acts || !seed) return;
    const label = `Open seed ${seed} in the laboratory`;
    const open = h('a.btn.go', { 'aria-disabled': 'true' }, label);
    acts.replaceChildren(open);
    this.#asked += 1;
    const asked = this.#asked;
    let found = /** @type {Seed | null} */ (null);
    try {
      found = await ask(`${this.url}/cells/${cell.cell}/seeds/${seed}`);
    } catch (error) {
      if (asked === this.#asked) acts.replaceChildren(h('p.throws', messageOf(error, 'It cannot be opened.')));
      return;
    }
    if (asked !== this.#asked || !found) return;
    if (!found.url) {
      acts.replaceChildren(h('p.throws', found.reason ?? 'It cannot be opened.'));
      return;
    }
    open.setAttribute('href', found.url);
    open.removeAttribute('aria-disabled');
    acts.append(h('button.btn', { onclick: () => this.onShare(cell, seed) }, 'Share this seed'));
    if (!found.reason)
      acts.append(
        h(
          'button',
          { class: 'btn', 'data-needs': 'run', onclick: () => this.#play(/** @type {Seed} */ (found)) },
          'Play it',
        ),
      );
  }

  /** @param {Seed} seed */
  async #play({ query, board }) {
    await orToast('It could not be played.', async () => {
      const { url } = await submit('/api/laboratory/runs', 'POST', { query, board });
      location.href = url;
    });
  }
}
