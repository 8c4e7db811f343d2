/**
 * Kafka's metrics at the moment that the board shows: the coordinator's, and a column for each consumer.
 *
 * They are computed on the server from the timeline's entries, so they are asked for only while the panel is open, and only
 * once the playhead rests.
 *
 * @typedef {import('../frame/cast.js').Cast} Cast
 * @typedef {{name: string, unit: string, about: string, where?: string, proposed?: boolean, kip_429?: string | null, tags?: {[tag: string]: string}, value: number | null}} Measured
 * @typedef {{sequence: number, broker: Measured[], clients: {member: string, metrics: Measured[]}[], more?: number, not_told: {name: string, why: string}[]}} Metrics
 */

import { disc } from '../frame/disc.js';
import { h } from '../shared/dom.js';

/** Columns of consumers: more do not fit next to each other; the picker of events chooses nothing here. */
export const COLUMNS_MOST = 8;
/** While the playhead moves nothing is asked; this long after it rests, it is. */
const REST_MS = 180;

/**
 * A value as people read it: whole numbers with thousands apart, others to two digits, NaN where nothing was measured.
 *
 * @param {number | null} value
 */
export function shown(value) {
  if (value === null) return 'NaN';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Math.abs(value) < 0.01 ? value.toPrecision(1) : value.toFixed(2);
}

/** The name with its tags as JMX writes them. @param {Measured} metric */
export function titled(metric) {
  const tags = Object.entries(metric.tags ?? {}).map(([tag, value]) => `${tag}=${value}`);
  return [metric.name, ...tags].join(', ');
}

/** What it measures, and what KIP-429 calls it where that is another name. @param {Measured} metric */
export function proposedAs({ name, about, kip_429: proposed }) {
  return proposed && proposed !== name ? `${about} KIP-429: ${proposed}` : about;
}

/**
 * A row for each metric that any of the consumers has: classic ones have joins and syncs, too.
 *
 * @param {{metrics: Measured[]}[]} clients
 * @returns {{metric: Measured, values: (number | null | undefined)[]}[]} a value is undefined where a consumer has no such metric
 */
export function rowsOf(clients) {
  const longest = clients.reduce((most, one) => (one.metrics.length > most.metrics.length ? one : most));
  return longest.metrics.map((metric) => ({
    metric,
    values: clients.map(({ metrics }) => metrics.find(({ name }) => name === metric.name)?.value),
  }));
}

/** What may be wider than its place, and is then moved by keys, too. @param {string} label @param {...(Node | null)} children */
function scrolled(label, ...children) {
  return h('div.scrolls', { tabindex: '0', role: 'region', 'aria-label': label }, children);
}

export class MetricsPanel {
  #sequence = 0;
  #shown = -1;
  #waiting = /** @type {any} */ (null);
  #asked = 0;

  /**
   * @param {object} parts
   * @param {HTMLDetailsElement} parts.panel
   * @param {HTMLElement} parts.table
   * @param {Cast} parts.cast
   * @param {(at: number) => Promise<Metrics>} parts.fetchMetrics
   */
  constructor({ panel, table, cast, fetchMetrics }) {
    this.panel = panel;
    this.table = table;
    this.cast = cast;
    this.fetchMetrics = fetchMetrics;
    panel.addEventListener('toggle', () => this.#soon(0));
  }

  /** @param {number} sequence */
  move(sequence) {
    this.#sequence = sequence;
    this.#soon(REST_MS);
  }

  /** @param {number} after */
  #soon(after) {
    clearTimeout(this.#waiting);
    if (this.panel.open && this.#shown !== this.#sequence) this.#waiting = setTimeout(() => this.#ask(), after);
  }

  async #ask() {
    const at = this.#sequence;
    this.#asked += 1;
    const asked = this.#asked;
    if (!this.table.childElementCount) this.table.replaceChildren(h('p.why', 'Measuring…'));
    try {
      const metrics = await this.fetchMetrics(at);
      if (asked !== this.#asked) return;
      this.#shown = at;
      this.#draw(metrics);
    } catch (error) {
      if (asked !== this.#asked) return;
      this.table.replaceChildren(
        h('p.why', `The metrics could not be computed. ${error instanceof Error ? error.message : ''}`),
      );
    }
  }

  /** @param {Metrics} metrics */
  #draw(metrics) {
    this.table.replaceChildren(this.#coordinator(metrics), this.#consumers(metrics), this.#missing(metrics));
    this.table.dataset.sequence = String(metrics.sequence);
  }

  /** @param {Metrics} metrics */
  #coordinator({ broker }) {
    return scrolled(
      'Metrics of the coordinator',
      h(
        'table.t',
        h(
          'thead',
          h(
            'tr',
            h('th', { scope: 'col' }, 'Coordinator'),
            h('th.num', { scope: 'col' }, 'Value'),
            h('th', { scope: 'col' }, 'Unit'),
          ),
        ),
        h(
          'tbody',
          broker.map((metric) =>
            h(
              'tr',
              { title: metric.about },
              h('th', { scope: 'row' }, titled(metric)),
              h('td.num', shown(metric.value)),
              h('td.quiet', metric.unit),
            ),
          ),
        ),
      ),
    );
  }

  /** @param {Metrics} metrics */
  #consumers({ clients, more: left = 0 }) {
    if (!clients.length)
      return h('p.why', 'The log holds no request and no callback: it tells nothing of the consumers’ own metrics.');
    const columns = clients.slice(0, COLUMNS_MOST);
    const more = clients.length - columns.length + left;
    return scrolled(
      'Metrics of the consumers',
      h(
        'table.t',
        h(
          'thead',
          h(
            'tr',
            h('th', { scope: 'col' }, 'Consumer'),
            columns.map(({ member }) =>
              h('th.num', { scope: 'col' }, disc(this.cast, member), h('span.sr', this.cast.name(member))),
            ),
            h('th', { scope: 'col' }, 'Unit'),
          ),
        ),
        h(
          'tbody',
          rowsOf(columns).map(({ metric, values }) =>
            h(
              'tr',
              { title: proposedAs(metric) },
              h('th', { scope: 'row' }, metric.name),
              values.map((value) => h('td.num', value === undefined ? '' : shown(value))),
              h('td.quiet', metric.unit),
            ),
          ),
        ),
      ),
      more > 0
        ? h('p.why', `${more} more consumer${more === 1 ? '' : 's'}${left ? '.' : ': the API tells of all.'}`)
        : null,
    );
  }

  /** @param {Metrics} metrics */
  #missing({ not_told: missing }) {
    return h('p.why', `Not in a log: ${missing.map(({ name }) => name).join(', ')}.`);
  }
}
