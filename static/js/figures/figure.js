/**
 * Epochs over time: the figure of the board, linked to the playhead.
 *
 * It is a plain drawing until its reader turns to it: Plotly's script is larger than all else together, evaluating it and
 * its first figure are a tenth of a second of a processor, and each move of its playhead is a hundredth. With Plotly come zoom,
 * values under the pointer and the figure as a file. Colours are our tokens, put in here: the figure's JSON has none.
 *
 * @import {Cast} from '../frame/cast.js'
 */

import { EpochsDrawing } from './epochs-drawing.js';
import { setApart, showLegend, showTable, untilItEnds } from './epochs-words.js';
import { enlarged, loadPlotly, token } from '../shared/plotly.js';
import { onTextSize, textSize } from '../shared/text-size.js';
import { offset, onZone, zoneName } from '../shared/times.js';
import { messageOf } from '../shared/errors.js';

/** So long after the last key or movement, while nothing plays, the board is idle. */
const IDLE_MS = 1_000;
const LOOK_MS = 400;
const LETTERS_PX = 11;
const TOUCHES = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll'];

/** So long after the last move Plotly's playhead follows: where it is scrubbed, once, at its end. */
const FOLLOWS_MS = 120;

export class Figure {
  #plotly = /** @type {any} */ (null);
  #json = /** @type {any} */ (null);
  #at = { sequence: 0, at_ms: 0 };
  #shift = 0;
  #drawn = false;
  #asked = false;
  #revision = 0;
  #follows = /** @type {any} */ (null);

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.panel
   * @param {HTMLElement} parts.plot
   * @param {HTMLElement} parts.table
   * @param {HTMLElement} parts.legend
   * @param {HTMLButtonElement} parts.zoom asks for Plotly
   * @param {HTMLElement} parts.says where it is said that Plotly could not come
   * @param {Cast} parts.cast
   * @param {string} parts.script address of Plotly's script
   * @param {() => Promise<any>} parts.fetchFigure
   * @param {(sequence: number) => void} parts.onSeek
   * @param {() => boolean} [parts.isIdle] whether nothing moves that the drawing would hold up
   */
  constructor(parts) {
    this.parts = parts;
    this.drawing = new EpochsDrawing(parts);
    const again = () => {
      if (this.#drawn) this.#draw();
    };
    onZone(again);
    onTextSize(again);
  }

  /** Call once the board is alive. */
  watch() {
    let inView = false;
    const near = new IntersectionObserver((entries) => {
      inView = entries[entries.length - 1].isIntersecting;
    });
    near.observe(this.parts.panel);
    let touched = performance.now();
    const touch = () => {
      touched = performance.now();
    };
    for (const name of TOUCHES) addEventListener(name, touch, { passive: true, capture: true });
    const look = () => {
      if (!inView || this.parts.isIdle?.() === false || performance.now() - touched < IDLE_MS) {
        setTimeout(look, LOOK_MS);
        return;
      }
      near.disconnect();
      for (const name of TOUCHES) removeEventListener(name, touch, { capture: true });
      this.drawing.watch().then(() => {
        this.parts.zoom.hidden = !this.drawing.figure;
      });
    };
    setTimeout(look, LOOK_MS);
    this.parts.zoom.addEventListener('click', () => this.#ask());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw());
  }

  /** @param {number} sequence @param {number} at_ms */
  move(sequence, at_ms) {
    this.#at = { sequence, at_ms };
    if (!this.#drawn) {
      this.drawing.move(sequence, at_ms);
      return;
    }
    clearTimeout(this.#follows);
    this.#follows = setTimeout(() => {
      const x = this.#x(this.#at.at_ms);
      this.#plotly.relayout(this.parts.plot, { 'shapes[0].x0': x, 'shapes[0].x1': x });
    }, FOLLOWS_MS);
  }

  /** The timeline has grown. */
  async refresh() {
    if (!this.#drawn) {
      if (this.drawing.figure) await this.drawing.refresh();
      return;
    }
    this.#revision += 1;
    const revision = this.#revision;
    const json = await this.parts.fetchFigure().catch(() => null);
    if (!json || revision !== this.#revision) return;
    this.#json = json;
    this.#draw();
  }

  /** Plotly, which the reader asked for, takes the drawing's place. */
  async #ask() {
    if (this.#asked) return;
    this.#asked = true;
    this.parts.zoom.disabled = true;
    try {
      const [plotly, json] = await Promise.all([loadPlotly(this.parts.script), this.parts.fetchFigure()]);
      this.drawing.stop();
      this.#plotly = plotly;
      this.#json = json;
      this.parts.plot.replaceChildren();
      await this.#draw();
      this.parts.plot.setAttribute('data-ready', 'plotly');
      this.parts.zoom.hidden = true;
      this.parts.says.textContent = '';
      this.parts.plot.focus();
      /** @type {any} */ (this.parts.plot).on('plotly_click', (/** @type {any} */ event) => {
        const sequence = event.points?.[0]?.customdata;
        if (typeof sequence === 'number') this.parts.onSeek(sequence);
      });
    } catch (error) {
      this.#asked = false;
      this.parts.zoom.disabled = false;
      // On a narrow screen a quiet word is left out.
      this.parts.says.classList.remove('quiet');
      this.parts.says.textContent = `It cannot be zoomed now. ${messageOf(error, '')}`;
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
    const letters = LETTERS_PX * textSize();
    const below = setApart(data);
    const themed = data.map(untilItEnds).map((/** @type {any} */ trace, /** @type {number} */ at) => {
      const member = trace.meta?.member;
      const lane = member ? this.parts.cast.lane(member) : null;
      const color = lane ? token(`--m${lane.hue}`) : trace.meta?.line === 'assignment' ? token('--ink-3') : ink;
      return {
        ...trace,
        y: trace.y.map((/** @type {number | null} */ epoch) => (epoch === null ? null : epoch - below[at])),
        text: trace.y,
        hovertemplate: '%{fullData.name}: %{text}<extra></extra>',
        x: trace.x.map((/** @type {number} */ ms) => this.#x(ms)),
        name: member ? this.parts.cast.name(member) : trace.name,
        line: { ...trace.line, color },
        marker: { color, size: 5 },
      };
    });
    const axis = {
      color: token('--ink-3'),
      linecolor: token('--line-2'),
      gridcolor: token('--line'),
      zeroline: false,
      tickfont: { size: letters },
    };
    await this.#plotly.react(
      this.parts.plot,
      themed,
      {
        ...layout,
        margin: enlarged(layout.margin),
        paper_bgcolor: 'rgba(0,0,0,0)',
        plot_bgcolor: 'rgba(0,0,0,0)',
        font: { family: getComputedStyle(document.body).fontFamily, size: letters, color: token('--ink-2') },
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
    showLegend(this.parts.legend, this.parts.cast, data);
    showTable(this.parts.table, this.parts.cast, data);
  }
}
