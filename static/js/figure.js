/**
 * Epochs over time: the one Plotly figure of the board, linked to the playhead.
 *
 * Plotly's script is larger than all else together, so it is asked for when the panel comes near the window and
 * the board has been alive for a while. Colours are our tokens, put in here: the figure's JSON has none.
 *
 * @typedef {import('./cast.js').Cast} Cast
 */

import { h } from './dom.js';
import { setApart, showLegend, showTable, untilItEnds } from './epochs-words.js';
import { loadPlotly, token } from './plotly.js';
import { offset, onZone, zoneName } from './times.js';

/** So long after the last key or movement, while nothing plays, the board is idle. */
const IDLE_MS = 1_000;
const LOOK_MS = 400;

export class Figure {
  #plotly = /** @type {any} */ (null);
  #json = /** @type {any} */ (null);
  #at = { sequence: 0, at_ms: 0 };
  #shift = 0;
  #drawn = false;
  #revision = 0;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.panel
   * @param {HTMLElement} parts.plot
   * @param {HTMLElement} parts.table
   * @param {HTMLElement} parts.legend
   * @param {Cast} parts.cast
   * @param {string} parts.script address of Plotly's script
   * @param {() => Promise<any>} parts.fetchFigure
   * @param {(sequence: number) => void} parts.onSeek
   * @param {() => boolean} [parts.isIdle] whether nothing moves that a long task would hold up
   */
  constructor({ panel, plot, table, legend, cast, script, fetchFigure, onSeek, isIdle = () => true }) {
    this.isIdle = isIdle;
    this.panel = panel;
    this.plot = plot;
    this.table = table;
    this.legend = legend;
    this.cast = cast;
    this.script = script;
    this.fetchFigure = fetchFigure;
    this.onSeek = onSeek;
    onZone(() => {
      if (this.#drawn) this.#draw();
    });
  }

  /** Call once the board is alive. */
  watch() {
    let inView = false;
    const near = new IntersectionObserver((entries) => {
      inView = entries[entries.length - 1].isIntersecting;
    });
    near.observe(this.panel);
    let touched = performance.now();
    const touch = () => {
      touched = performance.now();
    };
    for (const name of ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll'])
      addEventListener(name, touch, { passive: true, capture: true });
    // Evaluating the script is one task of some tenths of a second: it waits for a moment at which nobody feels it.
    const look = () => {
      if (!inView || !this.isIdle() || performance.now() - touched < IDLE_MS) {
        setTimeout(look, LOOK_MS);
        return;
      }
      near.disconnect();
      for (const name of ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll'])
        removeEventListener(name, touch, { capture: true });
      this.#start();
    };
    setTimeout(look, LOOK_MS);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw());
  }

  /** @param {number} sequence @param {number} at_ms */
  move(sequence, at_ms) {
    this.#at = { sequence, at_ms };
    if (this.#drawn)
      this.#plotly.relayout(this.plot, { 'shapes[0].x0': this.#x(at_ms), 'shapes[0].x1': this.#x(at_ms) });
  }

  /** The timeline has grown. */
  async refresh() {
    if (!this.#drawn) return;
    this.#revision += 1;
    const revision = this.#revision;
    const json = await this.fetchFigure().catch(() => null);
    if (!json || revision !== this.#revision) return;
    this.#json = json;
    this.#draw();
  }

  async #start() {
    try {
      const [plotly, json] = await Promise.all([loadPlotly(this.script), this.fetchFigure()]);
      this.#plotly = plotly;
      this.#json = json;
      if (!json.data.length) {
        this.plot.replaceChildren(h('p', { class: 'why' }, 'No epoch yet.'));
        return;
      }
      this.plot.replaceChildren();
      await this.#draw();
      this.plot.setAttribute('data-ready', 'true');
      /** @type {any} */ (this.plot).on('plotly_click', (/** @type {any} */ event) => {
        const sequence = event.points?.[0]?.customdata;
        if (typeof sequence === 'number') this.onSeek(sequence);
      });
    } catch (error) {
      this.plot.replaceChildren(
        h('p', { class: 'why' }, `The figure could not be drawn. ${error instanceof Error ? error.message : ''}`),
      );
    }
  }

  /** Dates are shown in the zone that the reader chose, as everywhere on the page; Plotly would show UTC. @param {number} ms */
  #x(ms) {
    return this.#json?.layout?.xaxis?.type === 'date' ? ms + this.#shift : ms / 1000;
  }

  async #draw() {
    if (!this.#plotly || !this.#json) return;
    const { data, layout } = this.#json;
    const first = data[0]?.x?.[0] ?? 0;
    this.#shift = layout.xaxis.type === 'date' ? offset(first) : 0;
    const ink = token('--ink');
    const below = setApart(data);
    const themed = data.map(untilItEnds).map((/** @type {any} */ trace, /** @type {number} */ at) => {
      const member = trace.meta?.member;
      const lane = member ? this.cast.lane(member) : null;
      const color = lane ? token(`--m${lane.hue}`) : trace.meta?.line === 'assignment' ? token('--ink-3') : ink;
      return {
        ...trace,
        y: trace.y.map((/** @type {number | null} */ epoch) => (epoch === null ? null : epoch - below[at])),
        text: trace.y,
        hovertemplate: '%{fullData.name}: %{text}<extra></extra>',
        x: trace.x.map((/** @type {number} */ ms) => this.#x(ms)),
        name: member ? this.cast.name(member) : trace.name,
        line: { ...trace.line, color },
        marker: { color, size: 5 },
      };
    });
    const axis = {
      color: token('--ink-3'),
      linecolor: token('--line-2'),
      gridcolor: token('--line'),
      zeroline: false,
      tickfont: { size: 11 },
    };
    await this.#plotly.react(
      this.plot,
      themed,
      {
        ...layout,
        paper_bgcolor: 'rgba(0,0,0,0)',
        plot_bgcolor: 'rgba(0,0,0,0)',
        font: { family: getComputedStyle(document.body).fontFamily, size: 11, color: token('--ink-2') },
        xaxis: {
          ...layout.xaxis,
          ...axis,
          showgrid: false,
          title: {
            ...layout.xaxis.title,
            text: layout.xaxis.type === 'date' ? zoneName(first) : layout.xaxis.title?.text,
          },
        },
        yaxis: { ...layout.yaxis, ...axis },
        hoverlabel: { bgcolor: token('--raise'), bordercolor: token('--line-2'), font: { color: ink } },
        shapes: [
          {
            type: 'line',
            yref: 'paper',
            y0: 0,
            y1: 1,
            x0: this.#x(this.#at.at_ms),
            x1: this.#x(this.#at.at_ms),
            line: { color: ink, width: 1.6 },
          },
        ],
      },
      {
        responsive: true,
        displaylogo: false,
        displayModeBar: 'hover',
        modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'],
      },
    );
    this.#drawn = true;
    showLegend(this.legend, this.cast, data);
    showTable(this.table, this.cast, data);
  }
}
