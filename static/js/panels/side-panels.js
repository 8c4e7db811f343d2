/**
 * What is next to a board and follows its playhead: the figure of the epochs, the measures, the next assignment. Where only
 * its story is shown there is none of them.
 *
 * @import {Rest} from '../timeline/timeline.js'
 */

import { part } from '../shared/dom.js';
import { watchesOf } from '../shared/url.js';
import { EpochsDrawing } from '../figures/epochs-drawing.js';
import { Figure } from '../figures/figure.js';

export class SidePanels {
  /** @type {import('../figures/metrics-panel.js').MetricsPanel | null} */
  #metrics = null;
  /** @type {import('./assignment-panel.js').AssignmentPanel | null} */
  #assignment = null;
  /** @type {import('../figures/lag-panel.js').LagPanel | null} */
  #lag = null;
  /** @type {import('../figures/watch-panel.js').WatchPanel | null} */
  #watch = null;

  /**
   * @param {object} options
   * @param {import('../source/panels.js').Panels | null} options.panels
   * @param {import('../source/page.js').Served | null} options.server
   * @param {import('../frame/cast.js').Cast} options.cast
   * @param {import('../timeline/timeline.js').Timeline} options.timeline
   * @param {(sequence: number) => void} options.onSeek
   * @param {() => boolean} options.isIdle
   */
  constructor({ panels, server, cast, timeline, onSeek, isIdle }) {
    const rest = () => timeline.rest;
    this.figure = panels && figureOf({ panels, served: server !== null, cast, onSeek, isIdle });
    this.#opens('metrics-panel', panels, async (panel, { metrics }) => {
      const { MetricsPanel } = await import('../figures/metrics-panel.js');
      this.#metrics = new MetricsPanel({ panel, root: part('metrics'), cast, fetchMetrics: metrics });
      return rest();
    });
    this.#opens('assignment-panel', server, async (panel, { assignment }) => {
      const { AssignmentPanel } = await import('./assignment-panel.js');
      this.#assignment = new AssignmentPanel({ panel, cast, fetchAssignment: assignment });
      return rest();
    });
    this.#opens('lag-panel', server, async (panel, { lag, meta }) => {
      const { LagPanel } = await import('../figures/lag-panel.js');
      this.#lag = new LagPanel({ panel, cast, fetchLag: lag, meta, moments: () => timeline.moments, onSeek });
      return rest();
    });
    this.#opens('watch-panel', server, async (panel, { watch }) => {
      const { WatchPanel } = await import('../figures/watch-panel.js');
      this.#watch = new WatchPanel({ panel, fetchWatched: watch, onSeek });
      return rest();
    });
    this.#opens('times-panel', server, async (panel, { detail }) => {
      const { showRun } = await import('./times.js');
      await showRun(panel, detail);
      return null;
    });
    const watched = document.getElementById('watch-panel');
    if (watched instanceof HTMLDetailsElement && watchesOf(location.search).length) watched.open = true;
  }

  /**
   * A panel that comes when it is opened first.
   *
   * @template T
   * @param {string} id
   * @param {T | null} from what it asks; null where there is no such panel
   * @param {(panel: HTMLDetailsElement, from: T) => Promise<Rest | null>} make gives where the playhead rests by then
   */
  #opens(id, from, make) {
    const panel = document.getElementById(id);
    if (from === null || !(panel instanceof HTMLDetailsElement)) return;
    const open = async () => {
      const now = await make(panel, from);
      if (now) this.move(now);
    };
    panel.addEventListener('toggle', open, { once: true });
  }

  /** The playhead rests elsewhere. @param {Rest} rest */
  move(rest) {
    this.figure?.move(rest.sequence, rest.moment?.at_ms ?? rest.frame.at_ms);
    this.#metrics?.move(rest.sequence);
    this.#watch?.move(rest.sequence, rest.moment?.at_ms ?? rest.frame.at_ms);
    this.#lag?.move(rest.moment?.at_ms ?? rest.frame.at_ms);
    this.#assignment?.move(rest.sequence, Object.keys(rest.frame.members ?? {}));
  }
}

/**
 * Plotly's figure where a server draws it, else a drawing of the page's own.
 *
 * @param {{panels: import('../source/panels.js').Panels, served: boolean, cast: import('../frame/cast.js').Cast,
 *   onSeek: (sequence: number) => void, isIdle: () => boolean}} parts
 */
function figureOf({ panels, served, cast, onSeek, isIdle }) {
  const parts = {
    plot: part('figure'),
    table: part('figure-table'),
    legend: part('figure-legend'),
    cast,
    fetchFigure: panels.epochs,
    onSeek,
  };
  if (!served) return new EpochsDrawing(parts);
  return new Figure({
    ...parts,
    panel: part('figure-panel'),
    zoom: /** @type {HTMLButtonElement} */ (part('figure-zoom')),
    says: part('figure-says'),
    script: part('figure-panel').dataset.script ?? '',
    isIdle,
  });
}
