/** Plotly beneath the maps and in the strip: the figures come from the server, their colours from our tokens. */

import { enlarged, token } from '../shared/plotly.js';
import { textSize } from '../shared/text-size.js';

const STILL = { staticPlot: true, responsive: true, displayModeBar: false };

/** Any CSS colour as Plotly reads it. @param {string} css */
function plain(css) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));
  pen.fillStyle = css;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return `rgb(${red},${green},${blue})`;
}

/** The nine inks, read off the legend. @param {Iterable<Element>} swatches */
export function rampOf(swatches) {
  return [...swatches].map((swatch) => plain(getComputedStyle(swatch).backgroundColor));
}

const BARE = { paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)' };

/**
 * One map beneath its buttons, which are its text.
 *
 * @param {any} plotly @param {HTMLElement} node @param {{data: any[], layout: any}} figure @param {string[]} ramp
 */
export function drawMap(plotly, node, figure, ramp) {
  const [trace] = figure.data;
  // A step is a band of the scale, not a point of it: between two of them there is no third.
  const colorscale = ramp.flatMap((color, step) => [
    [step / ramp.length, color],
    [(step + 1) / ramp.length, color],
  ]);
  const { texttemplate: _, ...rest } = trace;
  return plotly.react(
    node,
    [{ ...rest, colorscale, zmin: -0.5, zmax: ramp.length - 0.5 }],
    {
      ...figure.layout,
      ...BARE,
      xaxis: { ...figure.layout.xaxis, visible: false },
      yaxis: { ...figure.layout.yaxis, visible: false },
    },
    STILL,
  );
}

/** The seeds of a cell. @param {any} plotly @param {HTMLElement} node @param {{data: any[], layout: any}} figure */
export function drawStrip(plotly, node, figure) {
  const ink = token('--ink');
  const size = textSize();
  const data = figure.data.map((trace) => {
    if (trace.meta.line === 'median') {
      return { ...trace, marker: { ...trace.marker, color: ink, line: { ...trace.marker.line, color: ink } } };
    }
    const marker = trace.meta.chosen
      ? { ...trace.marker, color: ink, line: { color: token('--panel'), width: 1 } }
      : { ...trace.marker, color: token('--panel'), line: { color: token('--ink-3'), width: 1.3 } };
    return { ...trace, marker, textfont: { size: 11 * size, color: token('--ink-3') }, cliponaxis: false };
  });
  const chosen = figure.data.findIndex((trace) => trace.meta.chosen);
  const lines = figure.layout.yaxis.tickvals.length;
  return plotly.react(
    node,
    data,
    {
      ...figure.layout,
      ...BARE,
      margin: enlarged(figure.layout.margin),
      height: (lines * 27 + 30) * size,
      font: { family: getComputedStyle(document.body).fontFamily, size: 12 * size, color: token('--ink-2') },
      xaxis: {
        ...figure.layout.xaxis,
        gridcolor: token('--line'),
        tickfont: { size: 11 * size, color: token('--ink-3') },
      },
      yaxis: { ...figure.layout.yaxis, ticklen: 0 },
      annotations: figure.layout.annotations.map((/** @type {any} */ note) =>
        note.text.startsWith('<b>') ? { ...note, font: { color: ink } } : note,
      ),
      hoverlabel: { bgcolor: token('--raise'), bordercolor: token('--line-2'), font: { color: ink } },
      shapes: [
        {
          type: 'rect',
          xref: 'paper',
          x0: -0.6,
          x1: 1.1,
          y0: chosen - 0.5,
          y1: chosen + 0.5,
          fillcolor: token('--shade'),
          line: { width: 0 },
          layer: 'below',
        },
      ],
    },
    { responsive: true, displayModeBar: false },
  );
}
