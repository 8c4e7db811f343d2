/**
 * Kafka's metrics at the moment that the board shows: the coordinator's, and a column for each consumer.
 *
 * They are computed on the server from the timeline's entries, so they are asked for only while the panel is open, and only
 * once the playhead rests.
 *
 * @import {Cast} from '../frame/cast.js'
 * @typedef {{name: string, unit: string, about: string, where?: string, proposed?: boolean, kip_429?: string | null, tags?: {[tag: string]: string}, value: number | null}} Measured
 * @typedef {{sequence: number, broker: Measured[], clients: {member: string, metrics: Measured[]}[], more?: number, not_told: {name: string, why: string}[]}} Metrics
 */

import { disc } from '../frame/disc.js';
import { h, table } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { counted, grouped } from '../shared/numbers.js';
import { RestingPanel } from './resting-panel.js';

/** Columns of consumers: more do not fit next to each other; the picker of events chooses nothing here. */
export const COLUMNS_MOST = 8;

/**
 * A value as people read it: whole numbers with thousands apart, others to two digits, NaN where nothing was measured.
 *
 * @param {number | null} value
 */
export function shown(value) {
  if (value === null) return 'NaN';
  if (Number.isInteger(value)) return grouped(value);
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

  /**
   * @param {object} parts
   * @param {HTMLDetailsElement} parts.panel
   * @param {HTMLElement} parts.root of the tables
   * @param {Cast} parts.cast
   * @param {(at: number) => Promise<Metrics>} parts.fetchMetrics
   */
  constructor({ panel, root, cast, fetchMetrics }) {
    this.root = root;
    this.cast = cast;
    this.resting = new RestingPanel(panel, {
      what: () => `${this.#sequence}`,
      fetch: () => {
        if (!root.childElementCount) root.replaceChildren(h('p.why', 'Measuring…'));
        return fetchMetrics(this.#sequence);
      },
      draw: (metrics) => this.#draw(metrics),
      fail: (error) => root.replaceChildren(h('p.why', `The metrics could not be computed. ${messageOf(error)}`)),
    });
  }

  /** @param {number} sequence */
  move(sequence) {
    this.#sequence = sequence;
    this.resting.soon();
  }

  /** @param {Metrics} metrics */
  #draw(metrics) {
    this.root.replaceChildren(this.#coordinator(metrics), this.#consumers(metrics), this.#missing(metrics));
    this.root.dataset.sequence = String(metrics.sequence);
  }

  /** @param {Metrics} metrics */
  #coordinator({ broker }) {
    const row = (/** @type {Measured} */ metric) =>
      h(
        'tr',
        { title: metric.about },
        h('th', { scope: 'row' }, titled(metric)),
        h('td.num', shown(metric.value)),
        h('td.quiet', metric.unit),
      );
    return scrolled(
      'Metrics of the coordinator',
      table('table.t', ['Coordinator', h('th.num', { scope: 'col' }, 'Value'), 'Unit'], broker.map(row)),
    );
  }

  /** @param {Metrics} metrics */
  #consumers({ clients, more: left = 0 }) {
    if (!clients.length)
      return h('p.why', 'The log holds no request and no callback: it tells nothing of the consumers’ own metrics.');
    const columns = clients.slice(0, COLUMNS_MOST);
    const more = clients.length - columns.length + left;
    const heads = columns.map(({ member }) =>
      h('th.num', { scope: 'col' }, disc(this.cast, member), h('span.sr', this.cast.name(member))),
    );
    const rows = rowsOf(columns).map(({ metric, values }) =>
      h(
        'tr',
        { title: proposedAs(metric) },
        h('th', { scope: 'row' }, metric.name),
        values.map((value) => h('td.num', value === undefined ? '' : shown(value))),
        h('td.quiet', metric.unit),
      ),
    );
    return scrolled(
      'Metrics of the consumers',
      table('table.t', ['Consumer', ...heads, 'Unit'], rows),
      more > 0 ? h('p.why', `${counted(more, 'more consumer')}${left ? '.' : ': the API tells of all.'}`) : null,
    );
  }

  /** @param {Metrics} metrics */
  #missing({ not_told: missing }) {
    return h('p.why', `Not in a log: ${missing.map(({ name }) => name).join(', ')}.`);
  }
}
